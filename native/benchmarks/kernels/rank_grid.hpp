// The grid of ranks in three dimensions.
#pragma once

#include <array>

namespace assay {

/// Factors so many ranks as x <= y <= z, as equal as possible: z is minimal, then y.
inline std::array<int, 3> grid_of(int ranks) {
    std::array<int, 3> best{1, 1, ranks};
    for (int x = 1; x * x * x <= ranks; ++x) {
        for (int y = x; x * y * y <= ranks; ++y) {
            const int z = ranks / (x * y);
            if (x * y * z == ranks && std::array{z, y} < std::array{best[2], best[1]}) {
                best = {x, y, z};
            }
        }
    }
    return best;
}

}  // namespace assay

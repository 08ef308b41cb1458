// The grid of boxes that ranks hold.
#pragma once

#include <array>

namespace assay {

/// So many ranks as x <= y <= z, as close to each other as can be: z is as small as possible, then y.
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

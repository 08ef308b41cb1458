// Cold blocks: each once in a round, neighbours far apart. Checked by walking, not by the formula that chose the
// step.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "harness/walk.hpp"

namespace {

/// Fewest visits between two neighbouring blocks in two rounds; 0 if a round visits a block twice.
std::size_t nearest_neighbours(std::size_t slots) {
    assay::Walk walk(slots);
    std::vector<std::size_t> visited(slots, 0);
    for (std::size_t visit = 1; visit <= slots; ++visit) {
        std::size_t& when = visited[walk.next()];
        if (when != 0) {
            return 0;
        }
        when = visit;
    }
    std::size_t nearest = slots;
    for (std::size_t slot = 0; slot + 1 < slots; ++slot) {
        const std::size_t one = visited[slot];
        const std::size_t other = visited[slot + 1];
        const std::size_t apart = one < other ? other - one : one - other;
        nearest = std::min({nearest, apart, slots - apart});  // the next round begins where this one began
    }
    return nearest;
}

void a_single_block_is_visited_for_ever() {
    assay::Walk walk(1);
    CHECK(walk.next() == 0);
    CHECK(walk.next() == 0);
}

void neighbours_are_a_third_of_a_round_apart() {
    for (std::size_t slots = 2; slots < 3000; ++slots) {
        if (slots != 4 && slots != 6 && slots != 10) {
            CHECK(3 * nearest_neighbours(slots) >= slots);
        }
    }
    for (const std::size_t slots : {1UL << 16U, 1UL << 20U, 510510UL, 1398101UL}) {
        CHECK(3 * nearest_neighbours(slots) >= slots);
    }
    CHECK(nearest_neighbours(4) == 1 && nearest_neighbours(6) == 1 && nearest_neighbours(10) == 3);
}

}  // namespace

int main() {
    a_single_block_is_visited_for_ever();
    neighbours_are_a_third_of_a_round_apart();
    return assay::test::failures == 0 ? 0 : 1;
}

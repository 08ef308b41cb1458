// A round-robin schedule of any number of players: every pair once, no player twice in a round.
#include <set>
#include <utility>

#include "check.hpp"
#include "harness/round_robin.hpp"

using assay::opponent;
using assay::rounds_of;

namespace {

constexpr int max_players = 64;

void every_pair_meets_once_and_nobody_meets_two_in_a_round() {
    for (int players = 2; players <= max_players; ++players) {
        std::set<std::pair<int, int>> met;
        for (int round = 0; round < rounds_of(players); ++round) {
            int resting = 0;
            for (int player = 0; player < players; ++player) {
                const int other = opponent(player, round, players);
                if (other < 0) {
                    ++resting;
                    continue;
                }
                CHECK(other != player && other < players);
                CHECK(opponent(other, round, players) == player);
                if (player < other) {
                    CHECK(met.emplace(player, other).second);
                }
            }
            CHECK(resting == players % 2);
        }
        CHECK(met.size() == static_cast<std::size_t>(players * (players - 1) / 2));
    }
}

void rounds_are_one_less_than_an_even_number_of_players() {
    CHECK(rounds_of(64) == 63 && rounds_of(2) == 1 && rounds_of(3) == 3 && rounds_of(63) == 63);
}

}  // namespace

int main() {
    every_pair_meets_once_and_nobody_meets_two_in_a_round();
    rounds_are_one_less_than_an_even_number_of_players();
    return assay::test::failures == 0 ? 0 : 1;
}

// Round-robin schedule: every pair once, in the smallest number of rounds.
#pragma once

namespace assay {

/// Number of rounds: one less than players, or as many if their number is odd.
constexpr int rounds_of(int players) { return players - 1 + players % 2; }

/// The opponent of a player in a round (from 0); -1 if the player rests, as one does in each round of an odd
/// number.
///
/// The circle method (Kirkman, 1847): in round r players meet whose numbers add up to r modulo the number of
/// rounds; a player who would meet itself meets the last player of an even number, or rests.
constexpr int opponent(int player, int round, int players) {
    const int rounds = rounds_of(players);
    const int last = rounds;  // with an odd number of players nobody has that number
    const auto other = [&](int one) { return (round + rounds - one) % rounds; };
    int met = -1;
    if (player == last) {
        for (int one = 0; one < rounds; ++one) {
            met = other(one) == one ? one : met;
        }
    } else {
        met = other(player) == player ? last : other(player);
    }
    return met < players ? met : -1;
}

}  // namespace assay

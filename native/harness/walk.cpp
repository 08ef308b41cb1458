#include "harness/walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace assay {
namespace {

/// Visits from a block to its nearer neighbour, in either direction: the inverse of the step modulo `slots`, by
/// Euclid's extended algorithm.
std::size_t visits_to_neighbour(std::size_t step, std::size_t slots) {
    std::int64_t inverse = 0;
    std::int64_t next_inverse = 1;
    auto remainder = static_cast<std::int64_t>(slots);
    auto next_remainder = static_cast<std::int64_t>(step);
    while (next_remainder != 0) {
        const std::int64_t quotient = remainder / next_remainder;
        inverse = std::exchange(next_inverse, inverse - quotient * next_inverse);
        remainder = std::exchange(next_remainder, remainder - quotient * next_remainder);
    }
    const auto visits = static_cast<std::size_t>(inverse < 0 ? -inverse : inverse);
    return std::min(visits, slots - visits);
}

/// The first step, from the golden section of a round upwards, that keeps neighbours apart; if none does, the
/// one that keeps them farthest apart.
std::size_t choose_step(std::size_t slots) {
    constexpr double golden = 0.6180339887498949;
    const auto first = static_cast<std::size_t>(std::llround(golden * static_cast<double>(slots)));
    std::size_t best = 0;
    std::size_t best_visits = 0;
    for (std::size_t trial = 0; trial < slots && 3 * best_visits < slots; ++trial) {
        const std::size_t step = (first + trial) % slots;
        if (std::gcd(step, slots) != 1) {
            continue;
        }
        const std::size_t visits = visits_to_neighbour(step, slots);
        if (visits > best_visits) {
            best = step;
            best_visits = visits;
        }
    }
    return best;
}

}  // namespace

Walk::Walk(std::size_t slots) : slots_(slots), step_(choose_step(slots)) {}

}  // namespace assay

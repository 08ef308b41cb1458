// The pseudo-random numbers of the NAS Parallel Benchmarks: x(k+1) = a x(k) mod 2^46 with a = 5^13
// (RNR-94-007, 2.3).
#pragma once

#include <cstdint>

namespace assay::nas {

inline constexpr std::uint64_t modulus_mask = (std::uint64_t{1} << 46U) - 1;
inline constexpr std::uint64_t multiplier = 1'220'703'125;
/// For all problems except EP.
inline constexpr std::uint64_t default_seed = 314'159'265;

/// So many steps in one: the power of the factor. 64-bit integers are exact here, because 2^46 divides 2^64.
constexpr std::uint64_t steps(std::uint64_t count, std::uint64_t factor = multiplier) {
    std::uint64_t all = 1;
    for (; count > 0; count >>= 1U) {
        if (count % 2 == 1) {
            all = all * factor & modulus_mask;
        }
        factor = factor * factor & modulus_mask;
    }
    return all;
}

/// Consecutive numbers in (0, 1).
class Random {
  public:
    /// The first number returned is number `skipped` of the sequence, from 0.
    explicit Random(std::uint64_t seed = default_seed, std::uint64_t skipped = 0)
        : state_(seed * steps(skipped) & modulus_mask) {}

    double next() {
        state_ = state_ * multiplier & modulus_mask;
        return static_cast<double>(state_) * 0x1p-46;
    }

  private:
    std::uint64_t state_;
};

}  // namespace assay::nas

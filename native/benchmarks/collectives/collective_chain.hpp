// Computation inside the core only: what a program does during a non-blocking operation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "harness/clock.hpp"

namespace assay::collective {

/// Dependent multiply-adds.
class Chain {
  public:
    void steps(std::uint64_t count) {
        constexpr double factor = 0.999;
        double value = value_;
        for (std::uint64_t step = 0; step < count; ++step) {
            value = value * factor + 1;
        }
        value_ = value;
    }

    /// Number of steps that last so many seconds on this core, by the median of a few tries; at least one.
    std::uint64_t steps_in(double seconds) {
        constexpr std::uint64_t tried = 20'000;
        std::array<double, 9> tries{};
        for (double& each : tries) {
            const std::int64_t begin = nanoseconds();
            steps(tried);
            each = to_seconds(nanoseconds() - begin);
        }
        std::nth_element(tries.begin(), tries.begin() + tries.size() / 2, tries.end());
        const double step_s = tries[tries.size() / 2] / tried;
        return static_cast<std::uint64_t>(std::max(1.0, std::round(seconds / step_s)));
    }

  private:
    volatile double value_ = 1;
};

}  // namespace assay::collective

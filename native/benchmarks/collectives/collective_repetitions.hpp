// Operations timed one by one, each after a barrier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "harness/clock.hpp"
#include "harness/ranks.hpp"

namespace assay::collective {

/// The rank whose time counts in a repetition.
enum class TimeOf { slowest, own };

/// Every repetition starts after a barrier and is timed alone. The cost of reading the clock is subtracted.
class Repetitions {
  public:
    explicit Repetitions(Ranks& ranks) : ranks_(ranks), clock_s_(measure_clock().overhead_s) {
        seconds_.reserve(at_once);
    }

    /// Seconds of so many repetitions: the sum of the slowest rank's times, or of this rank's own.
    template <class Operation, class Count>
    double run(std::uint64_t repetitions, TimeOf time_of, const Operation& operation, const Count& count) {
        double sum = 0;
        while (repetitions > 0) {
            const std::uint64_t some = std::min<std::uint64_t>(repetitions, at_once);
            seconds_.clear();
            for (std::uint64_t repetition = 0; repetition < some; ++repetition) {
                ranks_.barrier();
                const std::int64_t begin = nanoseconds();
                operation();
                seconds_.push_back(to_seconds(nanoseconds() - begin) - clock_s_);
                count();
            }
            if (time_of == TimeOf::slowest) {
                ranks_.allreduce_max(seconds_);
            }
            sum = std::accumulate(seconds_.begin(), seconds_.end(), sum);
            repetitions -= some;
        }
        return std::max(0.0, sum);
    }

  private:
    static constexpr std::uint64_t at_once = 4096;  ///< repetitions after which ranks exchange their times

    Ranks& ranks_;
    double clock_s_;
    std::vector<double> seconds_;
};

}  // namespace assay::collective

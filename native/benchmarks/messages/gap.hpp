// Sleep before messages, so that cores, clocks and network cards may become idle too.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "benchmarks/messages/message_options.hpp"
#include "harness/clock.hpp"

namespace assay::messages {

inline const Axis gap_axis{
    "gap",
    "asleep before each round trip or window, which is then timed alone; the partner waits as it always does",
    {},
    std::int64_t{0},
    "us",
    0};

/// Runs iterations without a pause, or each one alone after a sleep of the starting side.
class Gap {
  public:
    Gap() = default;

    /// Failure (usage) if both sides start: neither knows when the other one wakes up.
    explicit Gap(const Params& params)
        : asleep_(params.number("gap")), overhead_s_(asleep_.count() > 0 ? measure_clock().overhead_s : 0) {
        if (asleep_.count() > 0 && pattern_of(params) == Pattern::bidirectional) {
            throw Failure(Exit::usage, "--gap cannot be had with " + option_text(params, "pattern"),
                          "both sides start, and neither knows when the other one wakes up", "--pattern latency");
        }
    }

    /// For a sample: an iteration timed alone is its own sample.
    [[nodiscard]] std::uint64_t max_iterations() const {
        return asleep_.count() > 0 ? 1 : std::uint64_t{1} << 40U;
    }

    /// Seconds of so many iterations, without the sleep and without the reading of the clock after it.
    template <class Pass>
    double seconds_of(std::uint64_t iterations, bool starts, const Pass& pass) const {
        if (asleep_.count() == 0) {
            return timed(iterations, pass);
        }
        double seconds = 0;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            if (starts) {
                std::this_thread::sleep_for(asleep_);
            }
            seconds += timed(1, pass) - overhead_s_;
        }
        return seconds;
    }

  private:
    template <class Pass>
    static double timed(std::uint64_t iterations, const Pass& pass) {
        const std::int64_t begin = nanoseconds();
        pass(iterations);
        return to_seconds(nanoseconds() - begin);
    }

    std::chrono::microseconds asleep_{0};
    double overhead_s_ = 0;
};

}  // namespace assay::messages

// The work of each thread in a team, without waiting for others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/barrier.hpp"
#include "harness/clock.hpp"

namespace assay {

/// Seconds of each thread's own work. A single thread never waits and is not timed.
class ThreadTimes {
  public:
    explicit ThreadTimes(int threads) : own_(static_cast<std::size_t>(threads)) {}

    /// Does the work of a thread and adds its time.
    template <class Work>
    void time(int thread, const Work& work) {
        if (own_.size() == 1) {
            work();
            return;
        }
        const std::int64_t begin = nanoseconds();
        work();
        own_[static_cast<std::size_t>(thread)].nanoseconds += nanoseconds() - begin;
    }

    /// All work so far, by thread; empty for a single thread.
    [[nodiscard]] std::vector<double> seconds() const {
        std::vector<double> found(own_.size() == 1 ? 0 : own_.size());
        std::transform(own_.begin(), own_.begin() + static_cast<std::ptrdiff_t>(found.size()), found.begin(),
                       [](const Own& own) { return to_seconds(own.nanoseconds); });
        return found;
    }

  private:
    struct alignas(interference_bytes) Own {
        std::int64_t nanoseconds = 0;
    };

    std::vector<Own> own_;
};

}  // namespace assay

// Where the time of a solution goes: by step and phase, over the threads of a process.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "harness/clock.hpp"
#include "harness/crew.hpp"

namespace assay::hpl {

/// Phases of a solution, timed separately: the declared kernels after `rate`.
enum class Phase : std::size_t { panel, broadcast, swap, update, substitution };
using Phases = std::array<double, 5>;

/// Seconds by step and phase, means over the threads of a process: their sum is the elapsed time.
class Times {
  public:
    /// For a solution in so many steps.
    Times(Crew& crew, std::size_t steps)
        : crew_(crew), steps_(steps), threads_(static_cast<std::size_t>(crew.size())) {}

    /// Clears all of them, and goes to the first step.
    void reset() {
        std::fill(steps_.begin(), steps_.end(), Phases{});
        go_to(0);
    }

    /// What follows belongs to this step.
    void go_to(std::size_t step) { step_ = step; }

    /// Times an action. Within `together` it is that of one thread; otherwise the other threads wait for it.
    template <class Action>
    void add(Phase phase, const Action& action) {
        add(phase, 0, action);
    }
    template <class Action>
    void add(Phase phase, int thread, const Action& action) {
        const double begin = now();
        action();
        Phases& to = together_ ? threads_[static_cast<std::size_t>(thread)].spent : steps_[step_];
        to.at(static_cast<std::size_t>(phase)) += now() - begin;
    }

    /// Calls body(thread) on every thread at once. Time that a thread does not book there is waiting in this
    /// phase.
    template <class Body>
    void together(Phase waiting, const Body& body) {
        const double begin = now();
        together_ = true;
        crew_.run([&](int thread) {
            threads_[static_cast<std::size_t>(thread)].spent = {};
            body(thread);
        });
        together_ = false;
        Phases& step = steps_[step_];
        double waited = now() - begin;
        for (const Thread& each : threads_) {
            for (std::size_t phase = 0; phase < step.size(); ++phase) {
                const double mean = each.spent.at(phase) / static_cast<double>(threads_.size());
                step.at(phase) += mean;
                waited -= mean;
            }
        }
        step.at(static_cast<std::size_t>(waiting)) += waited;
    }

    [[nodiscard]] const std::vector<Phases>& steps() const { return steps_; }

    /// Over all steps.
    [[nodiscard]] Phases sum() const {
        Phases sums{};
        for (const Phases& step : steps_) {
            for (std::size_t phase = 0; phase < sums.size(); ++phase) {
                sums.at(phase) += step.at(phase);
            }
        }
        return sums;
    }

  private:
    /// No two of them share a cache line.
    struct alignas(interference_bytes) Thread {
        Phases spent{};
    };

    Crew& crew_;
    std::vector<Phases> steps_;
    std::vector<Thread> threads_;
    std::size_t step_ = 0;
    bool together_ = false;
};

}  // namespace assay::hpl

// How samples of a kernel are taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/clock.hpp"
#include "harness/ranks.hpp"
#include "harness/team.hpp"

namespace assay {

/// The stopping rule.
struct Stopping {
    double precision = 0.01;  ///< relative half-width of the median's interval
    std::int64_t min_samples = 10;
    std::int64_t max_samples = 200;
    double seconds = 2;  ///< for all kernels of a case
};

/// Samples of one phase, in the order taken.
struct Series {
    std::string phase;
    std::uint64_t iterations = 1;
    std::string stop;
    std::vector<double> start_s;
    std::vector<double> seconds;
    std::vector<double> thread_seconds;  ///< of each thread's own work in all samples; empty if not timed
};

/// Takes the samples of one kernel: calibrates the iterations of a sample, warms up until times are steady, then
/// measures for 20 ms or longer if time allows. Each rank keeps its own times; all decide by the maximum of the
/// times that count.
class Sampler {
  public:
    /// The clock must be the same on every rank.
    Sampler(const Clock& clock, const Team& team, Ranks& ranks, Benchmark& benchmark)
        : clock_(clock), team_(team), ranks_(ranks), benchmark_(benchmark) {}

    /// Times one iteration as a sample; it is verified before the timed phase. If it takes long, it replaces the
    /// calibration and warm-up.
    void first(std::size_t kernel);

    /// Warm-up and measured series, within `stopping.seconds`; each has at least one sample, however long. If
    /// `first` has used the warm-up's time, it is the warm-up.
    std::vector<Series> sample(std::size_t kernel, const Stopping& stopping);

  private:
    struct Interval {
        double start;
        double seconds;
        double slowest;  ///< maximum over the ranks that count
        double next;     ///< end of one more sample, in seconds since sampling began, on the latest rank
    };

    std::vector<Interval> time(std::size_t kernel, std::uint64_t iterations, std::size_t samples = 1);
    [[nodiscard]] std::size_t in_a_row(std::size_t wanted, double until) const;
    [[nodiscard]] double target(const Stopping& stopping) const;
    std::uint64_t calibrate(std::size_t kernel, std::uint64_t iterations, double target);
    Series warm_up(std::size_t kernel, const Stopping& stopping);
    Series warm_up(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping,
                   std::vector<double>& slowest);
    Series measure(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping);

    const Clock& clock_;
    const Team& team_;
    Ranks& ranks_;
    Benchmark& benchmark_;
    bool counts_ = false;  ///< MPI calls: only in measured samples
    double begin_ = 0;
    Interval first_{};  ///< zero if there was none
    Interval last_{};
};

}  // namespace assay

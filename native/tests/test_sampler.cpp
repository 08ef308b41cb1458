// The sampler on a benchmark of known duration: it sleeps on the clock of the samples.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "harness/cpus.hpp"
#include "harness/sampler.hpp"

namespace {

/// Iterations with the given durations, one after another; the last one repeats.
class Wait : public assay::Benchmark {
  public:
    explicit Wait(std::vector<double> seconds) : seconds_(std::move(seconds)) {}

    [[nodiscard]] assay::Work work() const override { return {}; }
    void prepare(std::size_t /*kernel*/) override {}
    double verify(std::size_t /*kernel*/) override { return 0; }
    [[nodiscard]] double tolerance() const override { return 0; }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            const double until = assay::now() + seconds_[std::min(next_++, seconds_.size() - 1)];
            while (assay::now() < until) {
            }
        }
    }

  private:
    std::vector<double> seconds_;
    std::size_t next_ = 0;
};

std::vector<assay::Series> sample(Wait benchmark, const assay::Clock& clock, const assay::Stopping& stopping) {
    const assay::Team team({assay::affinity().front()}, assay::affinity());
    assay::SingleProcess alone;
    return assay::Sampler(clock, team, alone, benchmark).sample(0, stopping);
}

/// The same after an iteration that was timed first.
std::vector<assay::Series> sample_after_first(Wait benchmark, const assay::Stopping& stopping) {
    const assay::Team team({assay::affinity().front()}, assay::affinity());
    const assay::Clock clock{"test", 1e-6, 1e-6};
    assay::SingleProcess alone;
    assay::Sampler sampler(clock, team, alone, benchmark);
    sampler.first(0);
    return sampler.sample(0, stopping);
}

const assay::Clock clock_1us{"test", 1e-6, 1e-6};

void a_sample_lasts_a_hundred_times_the_clocks_resolution() {
    const auto phases = sample(Wait({1e-6}), clock_1us, {.max_samples = 20, .seconds = 5});
    CHECK(phases.size() == 2);
    for (const assay::Series& series : phases) {
        CHECK(series.iterations >= 10);
        for (const double seconds : series.seconds) {
            CHECK(seconds >= 100e-6);
        }
    }
}

void warm_ups_are_kept_apart_and_the_samples_keep_their_order() {
    const auto phases = sample(Wait({1e-3}), clock_1us, {.precision = 1e-12, .max_samples = 12, .seconds = 60});
    CHECK(phases.front().phase == "warmup" && phases.front().seconds.size() >= 10);
    const assay::Series& measured = phases.back();
    CHECK(measured.phase == "measured" && measured.stop == "samples" && measured.seconds.size() == 12);
    CHECK(measured.start_s.size() == 12);
    CHECK(std::is_sorted(measured.start_s.begin(), measured.start_s.end()));
    CHECK(measured.start_s.front() > phases.front().start_s.back());
}

void a_wide_precision_stops_at_the_first_check() {
    const auto phases = sample(Wait({4e-3}), clock_1us, {.precision = 1e6, .min_samples = 7, .seconds = 60});
    CHECK(phases.back().stop == "precision" && phases.back().seconds.size() == 7);
}

double sum_of(const std::vector<double>& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

void nothing_is_precise_before_it_was_sampled_for_20_ms() {
    const auto ample = sample(Wait({1e-5}), clock_1us, {.precision = 1e6, .seconds = 60});
    CHECK(ample.back().stop == "precision" && sum_of(ample.back().seconds) >= 20e-3);
}

void iterations_that_get_faster_as_they_warm_up_are_calibrated_again() {
    std::vector<double> slow_first(12, 1e-3);
    slow_first.push_back(1e-5);
    const auto phases = sample(Wait(slow_first), clock_1us, {.max_samples = 20, .seconds = 60});
    CHECK(phases.size() == 2 && phases.front().iterations == phases.back().iterations);
    CHECK(phases.back().iterations >= 10);
    for (const double seconds : phases.back().seconds) {
        CHECK(seconds >= 100e-6);
    }
}

void time_that_is_short_still_gives_a_sample_of_each_phase() {
    const auto phases = sample(Wait({0.02}), clock_1us, {.seconds = 0.001});
    CHECK(phases.front().stop == "time" && phases.front().seconds.size() == 1);
    CHECK(phases.back().stop == "time" && phases.back().seconds.size() == 1);
}

void a_first_iteration_as_long_as_the_warm_up_may_be_is_the_warm_up() {
    // Only the first iteration takes so long: another one is measured.
    const auto phases = sample_after_first(Wait({0.04, 0.002}), {.max_samples = 3, .seconds = 0.1});
    CHECK(phases.front().stop == "time" && phases.front().seconds.size() == 1);
    CHECK(phases.front().seconds.front() >= 0.04 && phases.front().start_s.size() == 1);
    CHECK(phases.back().iterations == 1 && phases.back().seconds.size() == 3);
    CHECK(phases.back().start_s.front() > phases.front().start_s.front() + 0.04);
}

void a_first_iteration_that_is_shorter_leaves_the_warm_up_as_it_is() {
    const auto long_enough = sample_after_first(Wait({0.02, 0.002}), {.max_samples = 10, .seconds = 60});
    CHECK(long_enough.front().iterations == 1 && long_enough.front().seconds.size() >= 10);
    const auto too_short = sample_after_first(Wait({1e-6}), {.max_samples = 20, .seconds = 1e-6});
    CHECK(too_short.back().iterations >= 10);
}

}  // namespace

int main() {
    a_sample_lasts_a_hundred_times_the_clocks_resolution();
    warm_ups_are_kept_apart_and_the_samples_keep_their_order();
    a_wide_precision_stops_at_the_first_check();
    nothing_is_precise_before_it_was_sampled_for_20_ms();
    iterations_that_get_faster_as_they_warm_up_are_calibrated_again();
    time_that_is_short_still_gives_a_sample_of_each_phase();
    a_first_iteration_as_long_as_the_warm_up_may_be_is_the_warm_up();
    a_first_iteration_that_is_shorter_leaves_the_warm_up_as_it_is();
    return assay::test::failures == 0 ? 0 : 1;
}

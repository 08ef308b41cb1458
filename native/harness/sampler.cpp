#include "harness/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/counted.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr double multiple_of_clock =
    100;  ///< a sample lasts at least this many times the clock's resolution and overhead,
constexpr double min_sample_s = 20e-6;   ///< and at least this long
constexpr double min_sampled_s = 20e-3;  ///< sampling time before the precision is checked
constexpr double typical_samples = 50;   ///< in that time
constexpr double ample = 10;             ///< times the target: even a slow first iteration is then long enough
constexpr int max_calibrations = 3;      ///< after the first; each finds the code warmer
constexpr double warm_up_share = 0.2;    ///< of the time, if the times never become steady
constexpr std::size_t window = 5;        ///< samples in each of the two windows that are compared
constexpr double steady = 0.01;          ///< largest difference of their medians

/// Sampling time before the precision is checked: at most half of the available time.
double sampled_s(const Stopping& stopping) { return std::min(min_sampled_s, stopping.seconds / 2); }

bool is_steady(const std::vector<double>& seconds) {
    if (seconds.size() < 2 * window || seconds.size() % window != 0) {
        return false;
    }
    const auto last = seconds.end() - window;
    const double earlier = median({last - window, last});
    const double later = median({last, seconds.end()});
    return std::abs(later - earlier) <= steady * earlier;
}

/// Median of the last samples.
double latest(const std::vector<double>& seconds) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(window, seconds.size()));
    return median({seconds.end() - count, seconds.end()});
}

/// Nothing is allocated between samples.
void reserve(Series& series, std::vector<double>& slowest, std::size_t samples) {
    series.start_s.reserve(samples);
    series.seconds.reserve(samples);
    slowest.reserve(samples);
}

}  // namespace

/// Takes samples without a pause; ranks meet before the first.
std::vector<Sampler::Interval> Sampler::time(std::size_t kernel, std::uint64_t iterations, std::size_t samples) {
    std::vector<Interval> taken(samples);
    std::vector<double> slowest(samples + 1);
    double elapsed = 0;
    team_.run([&](int thread) {
        if (thread == 0) {
            ranks_.barrier();
            if (counts_) {
                count_calls(true);
            }
        }
        benchmark_.meet(thread);
        team_.barrier();
        for (Interval& sample : taken) {
            const std::int64_t start = thread == 0 ? nanoseconds() : 0;
            benchmark_.iterate(kernel, iterations, thread);
            if (thread == 0) {
                elapsed = to_seconds(nanoseconds() - start);
                sample.start = to_seconds(start);
                sample.seconds = benchmark_.self_timed_seconds().value_or(elapsed);
            }
        }
    });
    for (std::size_t sample = 0; sample < samples; ++sample) {
        slowest[sample] = benchmark_.times() ? taken[sample].seconds : 0;
    }
    slowest.back() = taken.back().start + 2 * elapsed - begin_;
    ranks_.allreduce_max(slowest);
    if (counts_) {
        count_calls(false);  // after the maximum, in which early ranks wait
    }
    for (std::size_t sample = 0; sample < samples; ++sample) {
        taken[sample].slowest = slowest[sample];
        taken[sample].next = slowest.back();
    }
    last_ = taken.back();
    return taken;
}

/// How many samples, of `wanted`, to take without a pause before `until`.
std::size_t Sampler::in_a_row(std::size_t wanted, double until) const {
    if (!benchmark_.flows() || last_.slowest <= 0) {
        return 1;
    }
    const double room = 1 + (until - last_.next) / last_.slowest;
    return static_cast<std::size_t>(std::clamp(room, 1.0, static_cast<double>(wanted)));
}

/// Shortest duration of a sample, in seconds.
double Sampler::target(const Stopping& stopping) const {
    return std::max({min_sample_s, sampled_s(stopping) / typical_samples,
                     multiple_of_clock * std::max(clock_.resolution_s, clock_.overhead_s)});
}

/// The number of iterations, from a given one upwards, with which several samples in a row last long enough. The
/// runs that find it are no samples.
std::uint64_t Sampler::calibrate(std::size_t kernel, std::uint64_t iterations, double target) {
    constexpr int in_a_row = 5;
    constexpr int twice = 2;  // a single one may be an interruption
    constexpr double max_growth = 100;
    constexpr double margin = 1.2;
    const std::uint64_t max_iterations = benchmark_.max_iterations();
    if (first_.slowest > ample * target) {
        return iterations;
    }
    int very_long = 0;
    for (int long_enough = 0; long_enough < in_a_row && very_long < twice && iterations < max_iterations;) {
        const double seconds = time(kernel, iterations).back().slowest;
        very_long = seconds > ample * target ? very_long + 1 : 0;
        if (seconds >= target) {
            ++long_enough;
            continue;
        }
        long_enough = 0;
        const double growth =
            std::clamp(margin * target / std::max(seconds, clock_.resolution_s), margin, max_growth);
        iterations = static_cast<std::uint64_t>(std::ceil(static_cast<double>(iterations) * growth));
        iterations = std::min(iterations, max_iterations);
    }
    return iterations;
}

Series Sampler::warm_up(std::size_t kernel, const Stopping& stopping) {
    const double max_s = warm_up_share * stopping.seconds;
    const double target = this->target(stopping);
    if (first_.slowest > std::max(max_s, ample * target)) {
        return {"warmup", 1, "time", {first_.start}, {first_.seconds}, {}};
    }
    // The first iterations are slow: the number that suits them may be too small after the warm-up.
    std::vector<double> slowest;
    Series series = warm_up(kernel, calibrate(kernel, 1, target), stopping, slowest);
    for (int again = 0; again < max_calibrations && latest(slowest) < target; ++again) {
        const std::uint64_t more = calibrate(kernel, series.iterations, target);
        if (more == series.iterations) {
            break;
        }
        series = warm_up(kernel, more, stopping, slowest);
    }
    return series;
}

Series Sampler::warm_up(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping,
                        std::vector<double>& slowest) {
    const double max_s = warm_up_share * stopping.seconds;
    Series series{"warmup", iterations, "", {}, {}, {}};
    const auto max_count = static_cast<std::size_t>(std::max<std::int64_t>(stopping.max_samples, 2 * window));
    slowest.clear();
    reserve(series, slowest, max_count);
    while (series.stop.empty()) {
        for (const Interval& sample : time(kernel, iterations, in_a_row(window, max_s))) {
            series.start_s.push_back(sample.start);
            series.seconds.push_back(sample.seconds);
            slowest.push_back(sample.slowest);
        }
        if (is_steady(slowest)) {
            series.stop = "steady";
        } else if (slowest.size() >= max_count) {
            series.stop = "samples";
        } else if (last_.next > max_s) {
            series.stop = "time";
        }
    }
    return series;
}

Series Sampler::measure(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping) {
    Series series{"measured", iterations, "", {}, {}, benchmark_.thread_seconds()};
    const auto max_count = static_cast<std::size_t>(stopping.max_samples);
    std::vector<double> slowest;
    reserve(series, slowest, max_count);
    CheckSchedule schedule(static_cast<std::size_t>(stopping.min_samples));
    const double min_s = sampled_s(stopping);
    double sampled = 0;
    counts_ = true;
    while (series.stop.empty()) {
        const std::size_t wanted = std::min(schedule.next(), max_count) - slowest.size();
        for (const Interval& sample : time(kernel, iterations, in_a_row(wanted, stopping.seconds))) {
            series.start_s.push_back(sample.start);
            series.seconds.push_back(sample.seconds);
            slowest.push_back(sample.slowest);
            sampled += sample.slowest;
        }
        const bool check_now = schedule.due(slowest.size()) || slowest.size() == max_count;
        if (check_now && sampled >= min_s &&
            relative_half_width(slowest).value_or(HUGE_VAL) <= stopping.precision) {
            series.stop = "precision";
        } else if (slowest.size() >= max_count) {
            series.stop = "samples";
        } else if (last_.next > stopping.seconds) {
            series.stop = "time";
        }
    }
    counts_ = false;
    const std::vector<double> after = benchmark_.thread_seconds();
    std::transform(after.begin(), after.end(), series.thread_seconds.begin(), series.thread_seconds.begin(),
                   std::minus<>());
    return series;
}

void Sampler::first(std::size_t kernel) { first_ = time(kernel, 1).back(); }

std::vector<Series> Sampler::sample(std::size_t kernel, const Stopping& stopping) {
    begin_ = now();
    std::vector<Series> phases;
    phases.push_back(warm_up(kernel, stopping));
    phases.push_back(measure(kernel, phases.front().iterations, stopping));
    return phases;
}

}  // namespace assay

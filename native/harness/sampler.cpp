#include "harness/sampler.hpp"

#include <algorithm>
#include <cmath>

#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr double multiple_of_clock = 100;  ///< a sample lasts this many times the clock's resolution and overhead,
constexpr double least_sample_s = 20e-6;   ///< and no less than this
constexpr double warm_up_share = 0.2;      ///< of the time, when it never gets steady
constexpr std::size_t window = 5;          ///< samples in each of the two that are compared
constexpr double steady = 0.01;            ///< their medians agree within this

bool is_steady(const std::vector<double>& seconds) {
    if (seconds.size() < 2 * window || seconds.size() % window != 0) {
        return false;
    }
    const auto last = seconds.end() - window;
    const double earlier = median({last - window, last});
    const double later = median({last, seconds.end()});
    return std::abs(later - earlier) <= steady * earlier;
}

}  // namespace

Sampler::Interval Sampler::time(std::size_t kernel, std::uint64_t iterations) {
    std::int64_t start = 0;
    std::int64_t end = 0;
    team_.run([&](int thread) {
        team_.barrier();
        if (thread == 0) {
            start = nanoseconds();
        }
        benchmark_.iterate(kernel, iterations, thread);
        if (thread == 0) {
            end = nanoseconds();
        }
    });
    return {to_seconds(start), to_seconds(end - start)};
}

/// Iterations that make samples last long enough, several in a row: the first ones are slow. What is run to find
/// them out is no sample.
std::uint64_t Sampler::calibrate(std::size_t kernel) {
    constexpr int in_a_row = 5;
    constexpr double ample = 10;  // no start is so slow that this might be too short
    constexpr double most_growth = 100;
    constexpr double margin = 1.2;
    constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40U;
    const double target =
        std::max(least_sample_s, multiple_of_clock * std::max(clock_.resolution_s, clock_.overhead_s));
    std::uint64_t iterations = 1;
    for (int long_enough = 0; long_enough < in_a_row && iterations < most_iterations;) {
        const double seconds = time(kernel, iterations).seconds;
        if (seconds > ample * target) {
            break;
        }
        if (seconds >= target) {
            ++long_enough;
            continue;
        }
        long_enough = 0;
        const double growth =
            std::clamp(margin * target / std::max(seconds, clock_.resolution_s), margin, most_growth);
        iterations = static_cast<std::uint64_t>(std::ceil(static_cast<double>(iterations) * growth));
    }
    return iterations;
}

Series Sampler::warm_up(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping, double until) {
    Series series{"warmup", iterations, "", {}, {}};
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(stopping.max_samples, 2 * window));
    series.start_s.reserve(most);
    series.seconds.reserve(most);
    while (series.stop.empty()) {
        const Interval sample = time(kernel, iterations);
        series.start_s.push_back(sample.start);
        series.seconds.push_back(sample.seconds);
        if (is_steady(series.seconds)) {
            series.stop = "steady";
        } else if (series.seconds.size() >= most) {
            series.stop = "samples";
        } else if (sample.start + 2 * sample.seconds > until) {
            series.stop = "time";
        }
    }
    return series;
}

Series Sampler::measure(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping, double until) {
    Series series{"measured", iterations, "", {}, {}};
    const auto most = static_cast<std::size_t>(stopping.max_samples);
    series.start_s.reserve(most);
    series.seconds.reserve(most);
    Looks looks(static_cast<std::size_t>(stopping.min_samples));
    while (series.stop.empty()) {
        const Interval sample = time(kernel, iterations);
        series.start_s.push_back(sample.start);
        series.seconds.push_back(sample.seconds);
        if (looks.due(series.seconds.size()) &&
            relative_half_width(series.seconds).value_or(HUGE_VAL) <= stopping.precision) {
            series.stop = "precision";
        } else if (series.seconds.size() >= most) {
            series.stop = "samples";
        } else if (sample.start + 2 * sample.seconds > until) {
            series.stop = "time";
        }
    }
    return series;
}

std::vector<Series> Sampler::sample(std::size_t kernel, const Stopping& stopping) {
    const double begin = now();
    const double until = begin + stopping.seconds;
    const double warm = begin + warm_up_share * stopping.seconds;
    const std::uint64_t iterations = calibrate(kernel);
    std::vector<Series> phases;
    phases.push_back(warm_up(kernel, iterations, stopping, warm));
    phases.push_back(measure(kernel, iterations, stopping, until));
    return phases;
}

}  // namespace assay

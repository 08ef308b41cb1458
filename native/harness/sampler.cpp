#include "harness/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr double multiple_of_clock = 100;  ///< a sample lasts this many times the clock's resolution and overhead,
constexpr double least_sample_s = 20e-6;   ///< and no less than this
constexpr double ample = 10;               ///< targets: no start is so slow that this might be too short
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

/// So that nothing is allocated between samples.
void reserve(Series& series, std::vector<double>& agreed, std::size_t samples) {
    series.start_s.reserve(samples);
    series.seconds.reserve(samples);
    agreed.reserve(samples);
}

}  // namespace

Sampler::Interval Sampler::time(std::size_t kernel, std::uint64_t iterations) {
    std::int64_t start = 0;
    std::int64_t end = 0;
    team_.run([&](int thread) {
        if (thread == 0) {
            ranks_.barrier();
        }
        team_.barrier();
        if (thread == 0) {
            start = nanoseconds();
        }
        benchmark_.iterate(kernel, iterations, thread);
        if (thread == 0) {
            end = nanoseconds();
        }
    });
    const double elapsed = to_seconds(end - start);
    const double seconds = benchmark_.own_seconds().value_or(elapsed);
    std::array<double, 2> agreed{benchmark_.times() ? seconds : 0, to_seconds(end) + elapsed - begin_};
    ranks_.most(agreed);
    return {to_seconds(start), seconds, agreed[0], agreed[1]};
}

/// Seconds that a sample lasts at the least.
double Sampler::target() const {
    return std::max(least_sample_s, multiple_of_clock * std::max(clock_.resolution_s, clock_.overhead_s));
}

/// Iterations that make samples last long enough, several in a row: the first ones are slow. What is run to find
/// them out is no sample.
std::uint64_t Sampler::calibrate(std::size_t kernel) {
    constexpr int in_a_row = 5;
    constexpr double most_growth = 100;
    constexpr double margin = 1.2;
    constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40U;
    const double target = this->target();
    std::uint64_t iterations = 1;
    if (first_.agreed > ample * target) {
        return iterations;
    }
    for (int long_enough = 0; long_enough < in_a_row && iterations < most_iterations;) {
        const double seconds = time(kernel, iterations).agreed;
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

Series Sampler::warm_up(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping) {
    const double most_s = warm_up_share * stopping.seconds;
    if (first_.agreed > std::max(most_s, ample * target())) {
        return {"warmup", 1, "time", {first_.start}, {first_.seconds}};
    }
    Series series{"warmup", iterations, "", {}, {}};
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(stopping.max_samples, 2 * window));
    std::vector<double> agreed;
    reserve(series, agreed, most);
    while (series.stop.empty()) {
        const Interval sample = time(kernel, iterations);
        series.start_s.push_back(sample.start);
        series.seconds.push_back(sample.seconds);
        agreed.push_back(sample.agreed);
        if (is_steady(agreed)) {
            series.stop = "steady";
        } else if (agreed.size() >= most) {
            series.stop = "samples";
        } else if (sample.next > most_s) {
            series.stop = "time";
        }
    }
    return series;
}

Series Sampler::measure(std::size_t kernel, std::uint64_t iterations, const Stopping& stopping) {
    Series series{"measured", iterations, "", {}, {}};
    const auto most = static_cast<std::size_t>(stopping.max_samples);
    std::vector<double> agreed;
    reserve(series, agreed, most);
    Looks looks(static_cast<std::size_t>(stopping.min_samples));
    while (series.stop.empty()) {
        const Interval sample = time(kernel, iterations);
        series.start_s.push_back(sample.start);
        series.seconds.push_back(sample.seconds);
        agreed.push_back(sample.agreed);
        if (looks.due(agreed.size()) && relative_half_width(agreed).value_or(HUGE_VAL) <= stopping.precision) {
            series.stop = "precision";
        } else if (agreed.size() >= most) {
            series.stop = "samples";
        } else if (sample.next > stopping.seconds) {
            series.stop = "time";
        }
    }
    return series;
}

void Sampler::first(std::size_t kernel) { first_ = time(kernel, 1); }

std::vector<Series> Sampler::sample(std::size_t kernel, const Stopping& stopping) {
    begin_ = now();
    const std::uint64_t iterations = calibrate(kernel);
    std::vector<Series> phases;
    phases.push_back(warm_up(kernel, iterations, stopping));
    phases.push_back(measure(kernel, iterations, stopping));
    return phases;
}

}  // namespace assay

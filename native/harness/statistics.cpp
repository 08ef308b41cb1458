#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr double tail = 0.025;
constexpr double growth = 1.5;

}  // namespace

std::optional<MedianRanks> median_ranks(std::size_t n) {
    const auto trials = static_cast<double>(n);
    double cumulative = 0;
    std::size_t lower = 0;
    // In logarithms: 2^-n underflows for n > 1074.
    double log_probability = -trials * std::log(2.0);
    for (std::size_t successes = 0; successes < n; ++successes) {
        cumulative += std::exp(log_probability);
        if (cumulative > tail) {
            break;
        }
        lower = successes + 1;
        log_probability +=
            std::log((trials - static_cast<double>(successes)) / static_cast<double>(successes + 1));
    }
    if (lower == 0) {
        return std::nullopt;
    }
    return MedianRanks{lower, n + 1 - lower};
}

double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const std::size_t middle = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

std::optional<double> relative_half_width(std::vector<double> samples) {
    const auto ranks = median_ranks(samples.size());
    if (!ranks) {
        return std::nullopt;
    }
    std::sort(samples.begin(), samples.end());
    return (samples[ranks->upper - 1] - samples[ranks->lower - 1]) / 2 / median(samples);
}

bool CheckSchedule::due(std::size_t n) {
    if (n < next()) {
        return false;
    }
    next_ *= growth;
    return true;
}

}  // namespace assay

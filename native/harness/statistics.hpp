// The statistics of the stopping rule. The analysis judges the samples.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace assay {

/// Ranks, from 1, of the order statistics that bound the median with at least 95 % confidence.
struct MedianRanks {
    std::size_t lower;
    std::size_t upper;
};

/// The lower rank is the largest l with binomial cdf(l-1; n, 1/2) <= 2.5 %, the upper one is n+1-l; none for n
/// <= 5.
std::optional<MedianRanks> median_ranks(std::size_t n);

/// Median of the samples; for an even number the mean of the middle two. Must not be empty.
double median(std::vector<double> samples);

/// Relative half-width of the median's interval; none for n <= 5.
std::optional<double> relative_half_width(std::vector<double> samples);

/// The numbers of samples at which the stopping rule is checked: first, then half as many more each time (10,
/// 15, 23, 34 ...). A check after every sample would reduce the interval's coverage.
class CheckSchedule {
  public:
    explicit CheckSchedule(std::size_t first) : next_(static_cast<double>(first)) {}

    /// Whether the rule is checked after this number of samples.
    bool due(std::size_t n);

    /// Number of samples at the next check.
    [[nodiscard]] std::size_t next() const { return static_cast<std::size_t>(std::lround(next_)); }

  private:
    double next_;
};

}  // namespace assay

// The clock of the samples.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// The clock's properties, measured before it is used.
struct Clock {
    std::string name;
    double resolution_s;  ///< smallest step seen
    double overhead_s;    ///< median cost of one reading
};

/// Nanoseconds since the first call in this process, on CLOCK_MONOTONIC; negative if it cannot be read: timed
/// regions must not throw.
std::int64_t nanoseconds();

/// The nearest double.
constexpr double to_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

/// `nanoseconds` in seconds.
inline double now() { return to_seconds(nanoseconds()); }

/// `2.5 s`.
std::string format_seconds(double seconds);

/// Measures the clock. Failure (environment) if it stands still, goes back or cannot be read.
Clock measure_clock();

}  // namespace assay

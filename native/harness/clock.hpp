// The clock of the samples.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// What the program measured of its clock before it trusted it.
struct Clock {
    std::string name;
    double resolution_s;  ///< smallest step seen
    double overhead_s;    ///< median cost of one reading
};

/// Nanoseconds since the first call in this process, on CLOCK_MONOTONIC; negative if it cannot be read (it is
/// called in timed regions, which nothing may leave by a throw).
std::int64_t nanoseconds();

/// The double nearest to so many nanoseconds.
constexpr double to_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

/// `nanoseconds` in seconds.
inline double now() { return to_seconds(nanoseconds()); }

/// Measures the clock; Failure (environment) if it stands still, goes back or cannot be read.
Clock measure_clock();

}  // namespace assay

// The clock of the samples.
#pragma once

#include <string>

namespace assay {

/// What the program measured of its clock before it trusted it.
struct Clock {
    std::string name;
    double resolution_s;  ///< smallest step seen
    double overhead_s;    ///< median cost of one reading
};

/// Seconds since the first call in this process, on CLOCK_MONOTONIC; not a number if it cannot be read (it is
/// called in timed regions, which nothing may leave by a throw).
double now();

/// Measures the clock; Failure (environment) if it stands still, goes back or cannot be read.
Clock measure_clock();

}  // namespace assay

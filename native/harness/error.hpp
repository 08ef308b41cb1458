// How benchmarks state the errors of their results.
#pragma once

#include <cmath>
#include <limits>

namespace assay {

/// The error; the largest number if it is not finite.
inline double finite_error(double error) {
    return std::isfinite(error) ? error : std::numeric_limits<double>::max();
}

/// The magnitude of a value as a share of its limit; the largest number if it is not finite.
inline double error_of(double value, double limit) { return finite_error(std::abs(value) / limit); }

}  // namespace assay

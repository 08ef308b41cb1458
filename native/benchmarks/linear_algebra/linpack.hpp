// J. Dongarra's LINPACK benchmark: its system of equations, and plain versions of DGEFA and DGESL with DAXPY.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "benchmarks/linear_algebra/level3.hpp"

namespace assay::linpack {

using linear_algebra::Index;
using linear_algebra::View;

/// y += a x: most of the time is spent here.
inline void daxpy(Index count, double a, const double* x, double* y) {
    for (Index i = 0; i < count; ++i) {
        y[i] += a * x[i];
    }
}

inline void dscal(Index count, double a, double* x) {
    for (Index i = 0; i < count; ++i) {
        x[i] *= a;
    }
}

/// Index of the largest magnitude, the first of equal ones.
inline Index idamax(Index count, const double* x) {
    Index place = 0;
    double largest = std::abs(x[0]);
    for (Index i = 1; i < count; ++i) {
        if (std::abs(x[i]) > largest) {
            largest = std::abs(x[i]);
            place = i;
        }
    }
    return place;
}

/// A = L U with partial pivoting, column by column; multipliers are negated and stay where they arise.
inline void dgefa(const View& a, Index* pivots) {
    const Index n = a.columns;
    for (Index k = 0; k + 1 < n; ++k) {
        double* column = a.column(k);
        const Index pivot = k + idamax(n - k, column + k);
        pivots[k] = pivot;
        if (column[pivot] == 0) {
            continue;
        }
        std::swap(column[pivot], column[k]);
        dscal(n - k - 1, -1 / column[k], column + k + 1);
        for (Index j = k + 1; j < n; ++j) {
            double* other = a.column(j);
            const double t = other[pivot];
            if (pivot != k) {
                other[pivot] = other[k];
                other[k] = t;
            }
            daxpy(n - k - 1, t, column + k + 1, other + k + 1);
        }
    }
    pivots[n - 1] = n - 1;
}

/// Replaces b by the solution of A x = b, with the factors from `dgefa`.
inline void dgesl(const View& a, const Index* pivots, double* b) {
    const Index n = a.columns;
    for (Index k = 0; k + 1 < n; ++k) {
        const double t = b[pivots[k]];
        b[pivots[k]] = b[k];
        b[k] = t;
        daxpy(n - k - 1, t, a.column(k) + k + 1, b + k + 1);
    }
    for (Index k = n - 1; k >= 0; --k) {
        b[k] /= a.at(k, k);
        daxpy(k, -b[k], a.column(k), b);
    }
}

/// The same with LAPACK's factors, whose multipliers are positive and were swapped with their rows.
inline void solve_lapack(const View& a, const Index* pivots, double* b) {
    const Index n = a.columns;
    for (Index k = 0; k < n; ++k) {
        std::swap(b[k], b[pivots[k]]);
    }
    for (Index k = 0; k + 1 < n; ++k) {
        daxpy(n - k - 1, -b[k], a.column(k) + k + 1, b + k + 1);
    }
    for (Index k = n - 1; k >= 0; --k) {
        b[k] /= a.at(k, k);
        daxpy(k, -b[k], a.column(k), b);
    }
}

/// The benchmark's matrix (numbers from -2 to 2) and the sums of its rows: each x is 1.
inline void generate(const View& a, double* b) {
    std::uint32_t state = 1325;
    std::fill_n(b, a.rows, 0.);
    for (Index j = 0; j < a.columns; ++j) {
        for (Index i = 0; i < a.rows; ++i) {
            state = 3125 * state % 65536;
            a.at(i, j) = (static_cast<double>(state) - 32768) / 16384;
            b[i] += a.at(i, j);
        }
    }
}

/// The benchmark's normalised residual, max |A x - b| / (n max |A| max |x| eps); the largest number if it is not
/// finite.
inline double residual(const View& a, const double* b, const double* x) {
    std::vector<double> r(b, b + a.rows);
    double largest_a = 0;
    double largest_x = 0;
    double largest_r = 0;
    for (Index j = 0; j < a.columns; ++j) {
        largest_x = std::max(largest_x, std::abs(x[j]));
        for (Index i = 0; i < a.rows; ++i) {
            largest_a = std::max(largest_a, std::abs(a.at(i, j)));
            r[static_cast<std::size_t>(i)] -= a.at(i, j) * x[j];
        }
    }
    bool finite = true;
    for (const double each : r) {
        finite = finite && std::isfinite(each);
        largest_r = std::max(largest_r, std::abs(each));
    }
    const double scale =
        static_cast<double>(a.columns) * largest_a * largest_x * std::numeric_limits<double>::epsilon();
    return finite && scale > 0 ? largest_r / scale : std::numeric_limits<double>::max();
}

}  // namespace assay::linpack

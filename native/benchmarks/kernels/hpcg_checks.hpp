// HPCG's tests of a solver; each returns an error that is at most 1 if it passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "benchmarks/kernels/hpcg_plain.hpp"
#include "benchmarks/kernels/hpcg_solver.hpp"
#include "harness/error.hpp"

namespace assay::hpcg {

/// A pseudo-random number in [1, 2) for each row of this rank.
inline std::vector<double> drawn(std::size_t rows, std::uint64_t seed) {
    std::vector<double> numbers(rows);
    std::uint64_t state = seed;
    for (double& number : numbers) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        number = 1 + static_cast<double>(state >> 11U) * 0x1p-53;
    }
    return numbers;
}

/// Departure from symmetry of the matrix and of the V-cycle, the larger one: |x' M y - y' M x| / (2 ||x|| ||A||
/// ||y|| eps) with ||A|| = 52.
inline double asymmetry(Solver& solver, int rank) {
    const auto rows = static_cast<std::size_t>(solver.finest().domain().rows());
    const std::vector<double> x = drawn(rows, 2 * static_cast<std::uint64_t>(rank) + 1);
    const std::vector<double> y = drawn(rows, 2 * static_cast<std::uint64_t>(rank) + 1000003);
    std::vector<double> product(rows);
    const double norms = std::sqrt(solver.dot(x.data(), x.data()) * solver.dot(y.data(), y.data()));
    const double limit = 2 * 2 * own_value * norms * std::numeric_limits<double>::epsilon();
    solver.multiply(y.data(), product.data());
    double difference = solver.dot(x.data(), product.data());
    solver.multiply(x.data(), product.data());
    difference -= solver.dot(y.data(), product.data());
    double error = error_of(difference, limit);
    solver.precondition(y.data(), product.data());
    difference = solver.dot(x.data(), product.data());
    solver.precondition(x.data(), product.data());
    difference -= solver.dot(y.data(), product.data());
    return std::max(error, error_of(difference, limit));
}

/// With ten distinct values on the diagonal, millions of times larger than all others, conjugate gradients need
/// at most 12 iterations, and 2 with the V-cycle. Returns the larger ratio to these limits.
inline double spectral_excess(Solver& solver) {
    constexpr int first_rows = 9;
    constexpr double large = 1e6;
    constexpr double reduction = 1e-12;
    constexpr int limit = 50;
    const Domain& domain = solver.finest().domain();
    const Triple& at = domain.place().at();
    const bool begins = at[0] == 0 && at[1] == 0 && at[2] == 0;
    const auto factor = [&](Index row) {
        return begins && row < first_rows ? static_cast<double>(row + 2) * large : large;
    };
    std::vector<double> b(solver.b(), solver.b() + domain.rows());
    for (Index row = 0; row < domain.rows(); ++row) {
        solver.finest().scale(row, factor(row));
        solver.b()[row] *= factor(row);
    }
    double error = 0;
    for (const bool preconditioned : {false, true}) {
        solver.reset();
        solver.solve({limit, reduction, preconditioned});
        const double took = static_cast<double>(solver.residuals().size()) - 1;
        const bool reached = solver.residuals().back() <= reduction * solver.residuals().front();
        error = std::max(error,
                         reached ? error_of(took, preconditioned ? 2 : 12) : std::numeric_limits<double>::max());
    }
    for (Index row = 0; row < domain.rows(); ++row) {
        solver.finest().restore(row);
        solver.b()[row] = b[static_cast<std::size_t>(row)];
    }
    return error;
}

/// Deviation of the last solution's residuals from those of the plain definition, over its first iterations, and
/// of the last residual from that of its x.
inline double deviation(const Solver& solver, const double* x, Plain& plain, const Vector& expected) {
    constexpr double tolerance = 1e-9;
    const std::vector<double>& found = solver.residuals();
    double error = 0;
    for (std::size_t each = 0; each < std::min(found.size(), expected.size()); ++each) {
        error = std::max(error, error_of(found[each] - expected[each], tolerance * expected[each]));
    }
    const double last = found.empty() ? std::numeric_limits<double>::quiet_NaN() : found.back();
    return std::max(error, error_of(plain.residual(x) - last, tolerance * expected.front()));
}

}  // namespace assay::hpcg

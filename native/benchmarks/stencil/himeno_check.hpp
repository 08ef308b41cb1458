// What programs of the Himeno benchmark share: named sizes, and how results are checked.
#pragma once

#include <cfloat>
#include <vector>

#include "benchmarks/stencil/himeno.hpp"
#include "harness/benchmark.hpp"

namespace himeno {

/// Pressures are from 0 to 1, sums of six of them are rounded: some of the last bits of a float.
inline constexpr double tolerance = 4 * double{FLT_EPSILON};

/// The grid of a case, by the declaration of its program.
inline Size size_of(const assay::Declaration& declaration, const assay::Params& params) {
    const assay::Numbers& points = declaration.numbers(params, "size");
    const auto along = [&](const char* axis) { return static_cast<std::size_t>(points.at(axis)); };
    return {along("i"), along("j"), along("k")};
}

/// Like `exact_gosa`, by all threads of a team.
inline Gosa exact_gosa(const Size& size, std::uint64_t sweeps, Part modes, const assay::Team& team) {
    std::vector<Gosa> parts(static_cast<std::size_t>(team.size()));
    team.run([&](int thread) {
        const Part mine = assay::part_of(modes.end - modes.begin, thread, team.size(), 1);
        parts[static_cast<std::size_t>(thread)] =
            exact_gosa(size, sweeps, {modes.begin + mine.begin, modes.begin + mine.end});
    });
    Gosa sum;
    for (const Gosa& each : parts) {
        sum.of_sweep += each.of_sweep;
        sum.of_next += each.of_next;
    }
    return sum;
}

/// Like `Grid::residual`, for all rows, by all threads of a team.
inline Residual residual(const Grid& grid, const assay::Team& team) {
    std::vector<Residual> parts(static_cast<std::size_t>(team.size()));
    team.run([&](int thread) {
        parts[static_cast<std::size_t>(thread)] =
            grid.residual(assay::part_of(grid.rows(), thread, team.size(), 1));
    });
    Residual whole;
    for (const Residual& each : parts) {
        whole.squares += each.squares;
        whole.largest = std::max(whole.largest, each.largest);
        whole.misplaced = std::max(whole.misplaced, each.misplaced);
        whole.first = std::max(whole.first, each.first);
    }
    return whole;
}

/// Largest error of a pressure, or of the root mean square of its changes: of those that GOSA reports, and of
/// those of the next sweep. All for the whole grid.
inline double error(const Size& size, std::uint64_t sweeps, double gosa, const Residual& found,
                    const Gosa& exact) {
    const auto mean = [&](double squares) {
        return std::sqrt(squares / static_cast<double>(size.inner_points()));
    };
    double error = std::abs(mean(gosa) - mean(exact.of_sweep));
    error = std::max(error, std::abs(mean(found.squares) - mean(exact.of_next)));
    error = std::max(error, found.largest - first_change(size));  // changes never grow
    error = std::max(error, found.misplaced);
    if (sweeps == 1) {
        error = std::max(error, found.first);
    }
    return std::isfinite(error + gosa + found.squares) ? error : DBL_MAX;
}

}  // namespace himeno

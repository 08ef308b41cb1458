// What HPCG counts: operations and bytes of each phase in a set of iterations, over all ranks.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "benchmarks/kernels/hpcg_domain.hpp"
#include "declared/hpcg.hpp"

namespace assay::hpcg {

/// Grids of the hierarchy.
inline constexpr int levels = 4;

/// Phases of a solution, timed separately: the declared kernels after `rate`.
enum class Phase : std::size_t { ddot, waxpby, spmv, mg, exchange };
using Phases = std::array<double, 5>;

struct Count {
    double flops = 0;
    double bytes = 0;
};
using Counts = std::array<Count, std::tuple_size_v<Phases>>;

/// Rows and entries of the whole matrix of a level.
inline Numbers size_of(const Triple& ranks, int n, int level) {
    double rows = 1;
    double entries = 1;
    for (const int each : ranks) {
        const double points = static_cast<double>(each) * (n >> level);
        rows *= points;
        entries *= 3 * points - 2;
    }
    return {{"rows", rows}, {"entries", entries}};
}

/// Of a set of so many iterations, by the declaration; the V-cycles visit all grids.
inline Counts counts_of(const Triple& ranks, int n, int iterations) {
    const Declaration& declaration = declared::hpcg;
    Counts counts{};
    const auto add = [&](Phase phase, const std::string& part, int level) {
        Numbers numbers = size_of(ranks, n, level);
        numbers["iterations"] = iterations;
        Count& count = counts.at(static_cast<std::size_t>(phase));
        count.flops += declaration.amount(part, "flops", numbers);
        count.bytes += declaration.amount(part, "bytes", numbers);
    };
    for (const Phase phase : {Phase::ddot, Phase::waxpby, Phase::spmv}) {
        add(phase, declaration.kernels.at(static_cast<std::size_t>(phase) + 1), 0);
    }
    for (int level = 0; level < levels; ++level) {
        add(Phase::mg, level + 1 < levels ? "mg" : "mg on the coarsest grid", level);
    }
    return counts;
}

/// Over all phases.
inline Count sum_of(const Counts& counts) {
    Count sum;
    for (const Count& each : counts) {
        sum.flops += each.flops;
        sum.bytes += each.bytes;
    }
    return sum;
}

}  // namespace assay::hpcg

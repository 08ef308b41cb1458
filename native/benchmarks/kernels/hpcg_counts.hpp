// What HPCG counts: operations and bytes of each phase in a set of iterations, over all ranks.
#pragma once

#include <array>
#include <cstddef>

#include "benchmarks/kernels/hpcg_domain.hpp"

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
struct Size {
    double rows;
    double entries;
};

inline Size size_of(const Triple& ranks, int n, int level) {
    Size size{1, 1};
    for (const int each : ranks) {
        const double points = static_cast<double>(each) * (n >> level);
        size.rows *= points;
        size.entries *= 3 * points - 2;
    }
    return size;
}

/// For a set of so many iterations: three dot products, three updates, a matrix product and a V-cycle each, and
/// what precedes the first one. A product reads 12 B for each entry, and the row's number; it writes one number
/// per row.
inline Counts counts_of(const Triple& ranks, int n, int iterations) {
    constexpr double number = sizeof(double);
    constexpr double entry = number + sizeof(Column);
    const Size finest = size_of(ranks, n, 0);
    const double vectors = 3. * iterations + 1;
    const auto product = [&](const Size& size, double times) {
        return Count{times * 2 * size.entries, times * (entry * size.entries + 2 * number * size.rows)};
    };
    Counts counts{};
    counts[static_cast<std::size_t>(Phase::ddot)] = {vectors * 2 * finest.rows,
                                                     vectors * 2 * number * finest.rows};
    counts[static_cast<std::size_t>(Phase::waxpby)] = {vectors * 2 * finest.rows,
                                                       vectors * 3 * number * finest.rows};
    counts[static_cast<std::size_t>(Phase::spmv)] = product(finest, iterations + 1);
    Count& mg = counts[static_cast<std::size_t>(Phase::mg)];
    for (int level = 0; level < levels; ++level) {
        const Size size = size_of(ranks, n, level);
        const double sweeps = level + 1 < levels ? 2 : 1;  // before and after the coarser grid
        const Count residual = product(size, level + 1 < levels ? iterations : 0);
        mg.flops += sweeps * iterations * 4 * size.entries + residual.flops;
        mg.bytes += sweeps * iterations * (2 * entry * size.entries + 2 * number * size.rows) + residual.bytes;
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

// HPL's pseudo-random system, and its distribution over a P x Q grid.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "benchmarks/linear_algebra/level3.hpp"

namespace assay::hpl {

using linear_algebra::Index;
using linear_algebra::RowView;
using linear_algebra::View;

/// HPL's linear congruential generator, X(n+1) = a X(n) + c modulo 2^64, with a = 6364136223846793005 and c = 1
/// (D. E. Knuth, The Art of Computer Programming, volume 2). Any number of steps can be taken at once.
struct Steps {
    std::uint64_t factor = 6364136223846793005U;
    std::uint64_t summand = 1;

    /// So many of these steps in one.
    [[nodiscard]] constexpr Steps times(std::uint64_t count) const {
        Steps all{1, 0};
        for (Steps power = *this; count > 0; count >>= 1U) {
            if (count % 2 == 1) {
                all = {all.factor * power.factor, power.factor * all.summand + power.summand};
            }
            power = {power.factor * power.factor, power.factor * power.summand + power.summand};
        }
        return all;
    }

    [[nodiscard]] constexpr std::uint64_t from(std::uint64_t state) const { return factor * state + summand; }
};

/// State at the first entry: HPL's seed of 100, one step on.
inline constexpr std::uint64_t first_state = Steps{}.from(100);

/// A number in (-1/2, 1/2].
inline double entry(std::uint64_t state) { return .5 - static_cast<double>(state) * 0x1p-64; }

/// Block-cyclic distribution of rows, or of columns, over the processes of one grid dimension.
class BlockCyclic {
  public:
    BlockCyclic(Index block, int place, int places) : block_(block), place_(place), places_(places) {}

    /// Number of local indices below the global index `end`; also the local index of the first one from `end`
    /// on.
    [[nodiscard]] Index before(Index end) const {
        const Index blocks = end / block_;
        const Index here = blocks / places_ * block_;
        const Index beyond = blocks % places_;
        return here + (place_ < beyond ? block_ : place_ == beyond ? end % block_ : 0);
    }

    /// Global index of a local one.
    [[nodiscard]] Index whole(Index here) const {
        return (here / block_ * places_ + place_) * block_ + here % block_;
    }

    /// The process that owns a global index.
    [[nodiscard]] int owner(Index whole) const { return static_cast<int>(whole / block_ % places_); }

    [[nodiscard]] bool here(Index whole) const { return owner(whole) == place_; }
    [[nodiscard]] int place() const { return place_; }
    [[nodiscard]] int places() const { return places_; }
    [[nodiscard]] Index block() const { return block_; }

  private:
    Index block_;
    int place_;
    int places_;
};

/// Distance between rows (or columns) of so many numbers: whole cache lines, but no multiple of a page, because
/// rows a page apart would share cache sets.
inline Index stride_of(Index numbers) {
    constexpr Index line = 8;
    constexpr Index page = 512;
    const Index whole = (std::max<Index>(numbers, 1) + line - 1) / line * line;
    return whole % page == 0 ? whole + line : whole;
}

/// Writes the local part of [A b]: N rows and N + 1 columns, distributed in blocks.
inline void generate(Index n, const BlockCyclic& rows, const BlockCyclic& columns, const RowView& part) {
    constexpr Steps step{};
    constexpr Index together = 16;  // columns, whose numbers are independent
    const Index block = rows.block();
    const Steps skipped = step.times(static_cast<std::uint64_t>(block * (rows.places() - 1)));
    std::array<std::uint64_t, together> states{};
    for (Index first = 0; first < part.columns; first += together) {
        const Index count = std::min(together, part.columns - first);
        for (Index each = 0; each < count; ++each) {
            const auto place = static_cast<std::uint64_t>(columns.whole(first + each) * n + rows.place() * block);
            states[static_cast<std::size_t>(each)] = step.times(place).from(first_state);
        }
        for (Index row = 0; row < part.rows; ++row) {
            if (row > 0 && row % block == 0) {
                for (std::uint64_t& state : states) {
                    state = skipped.from(state);
                }
            }
            double* to = part.row(row) + first;
            for (Index each = 0; each < count; ++each) {
                std::uint64_t& state = states[static_cast<std::size_t>(each)];
                to[each] = entry(state);
                state = step.from(state);
            }
        }
    }
}

/// Numbers of a cache line.
inline constexpr Index line = 8;

/// Copies rows of a matrix to columns of a panel: whole lines of both, and at most as many columns at once as
/// the TLB holds pages.
inline void copy_rows(const RowView& from, const View& to) {
    constexpr Index at_once = 32;
    for (Index begin = 0; begin < from.columns; begin += at_once) {
        const Index end = std::min(begin + at_once, from.columns);
        for (Index row = 0; row < from.rows; row += line) {
            const Index rows = std::min(line, from.rows - row);
            for (Index column = begin; column < end; ++column) {
                for (Index each = 0; each < rows; ++each) {
                    to.at(row + each, column) = from.at(row + each, column);
                }
            }
        }
    }
}

/// Copies rows.
inline void copy(const RowView& from, const RowView& to) {
    for (Index row = 0; row < from.rows; ++row) {
        std::copy_n(from.row(row), from.columns, to.row(row));
    }
}

/// Copies U, which the substitution needs, into the local rows of the matrix. L is no longer needed after its
/// broadcast.
inline void copy_upper(const View& from, const RowView& to) {
    for (Index row = 0; row < to.rows; ++row) {
        for (Index column = row; column < to.columns; ++column) {
            to.at(row, column) = from.at(row, column);
        }
    }
}

}  // namespace assay::hpl

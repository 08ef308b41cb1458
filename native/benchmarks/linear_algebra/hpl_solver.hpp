// The solution of HPL's system: right-looking LU with look-ahead, back substitution, and the residual.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panel.hpp"
#include "benchmarks/linear_algebra/hpl_rows.hpp"
#include "harness/clock.hpp"

namespace assay::hpl {

/// What decides how a system is solved.
struct Options {
    Index n;
    Index block;
    Way way;
    Exchange exchange;
    bool look_ahead;
    bool lapack;
};

/// Parts of a solution whose time is told apart.
enum class Phase : std::size_t { panel, broadcast, swap, update, substitution };
inline constexpr std::array<const char*, 5> phase_names{"panel", "broadcast", "swap", "update", "substitution"};
using Phases = std::array<double, phase_names.size()>;

/// One process of those that solve A x = b. All of its public functions are called by all of them at once.
class Solver {
  public:
    /// Numbers that a process needs, for the matrix and for two panels, largest process first.
    static std::size_t room(const Options& options, int p, int q) {
        const Deal rows(options.block, 0, p);
        const Deal columns(options.block, 0, q);
        const Index height = rows.before(options.n);
        const Index width = columns.before(options.n + 1);
        const Index u = p > 1 ? options.block * width : 0;
        return static_cast<std::size_t>(height * stride_of(width) + 2 * Panel::room(height, options.block) + u);
    }

    Solver(const Options& options, const Grid& grid, const Level3& blas, double* numbers)
        : options_(options),
          grid_(grid),
          blas_(blas),
          row_deal_(options.block, grid.row(), grid.rows()),
          column_deal_(options.block, grid.column(), grid.columns()),
          factor_(grid, blas, row_deal_, options.block),
          rows_(grid, row_deal_, options.exchange) {
        a_.rows = row_deal_.before(options.n);
        a_.columns = column_deal_.before(options.n + 1);
        a_.stride = stride_of(a_.columns);
        a_.first = numbers;
        double* next = numbers + a_.rows * a_.stride;
        for (std::size_t each = 0; each < panels_.size(); ++each) {
            panels_.at(each) = std::make_unique<Panel>(next);
            broadcasts_.at(each) = std::make_unique<Broadcast>(grid, options.way);
            next += Panel::room(a_.rows, options.block);
        }
        u_ = next;
        factor_.use_lapack(options.lapack);
    }

    /// Writes the system anew.
    void generate() { hpl::generate(options_.n, row_deal_, column_deal_, a_); }

    /// Replaces the system by its factors and finds x.
    void solve() {
        phases_ = {};
        const Index blocks = (options_.n + options_.block - 1) / options_.block;
        if (blocks > 0) {
            begin_panel(0);
        }
        for (Index k = 0; k < blocks; ++k) {
            step(k, blocks);
        }
        for (const auto& each : broadcasts_) {
            timed(Phase::broadcast, [&] { each->finish(); });
        }
        timed(Phase::substitution, [&] { substitute(); });
    }

    /// Seconds of each phase of the last solution, on this process.
    [[nodiscard]] const Phases& phases() const { return phases_; }

    /// HPL's scaled residual, ||A x - b|| / (eps (||A|| ||x|| + ||b||) N) in maximum norms, with A and b generated
    /// anew; the largest number there is where it is not finite. The factors are lost.
    double residual() {
        generate();
        const Index own_columns = column_deal_.before(options_.n);
        std::vector<double> r(static_cast<std::size_t>(a_.rows), 0.);
        std::vector<double> sums(r.size(), 0.);
        double b_norm = 0;
        if (own_columns < a_.columns) {
            for (std::size_t i = 0; i < r.size(); ++i) {
                r[i] = -a_.at(static_cast<Index>(i), own_columns);
                b_norm = std::max(b_norm, std::abs(r[i]));
            }
        }
        std::vector<double> x(static_cast<std::size_t>(own_columns));
        for (std::size_t j = 0; j < x.size(); ++j) {
            x[j] = x_[static_cast<std::size_t>(column_deal_.whole(static_cast<Index>(j)))];
        }
        for (std::size_t i = 0; i < r.size(); ++i) {
            const double* row = a_.row(static_cast<Index>(i));
            for (std::size_t j = 0; j < x.size(); ++j) {
                r[i] += row[j] * x[j];
                sums[i] += std::abs(row[j]);
            }
        }
        add_up(r, grid_.along_row());
        add_up(sums, grid_.along_row());
        double x_norm = 0;
        for (const double x : x_) {
            x_norm = std::isnan(x) ? x : std::max(x_norm, std::abs(x));
        }
        std::array<double, 3> norms{0, 0, b_norm};
        for (std::size_t i = 0; i < r.size(); ++i) {
            norms[0] = std::isnan(r[i]) ? HUGE_VAL : std::max(norms[0], std::abs(r[i]));
            norms[1] = std::max(norms[1], sums[i]);
        }
        largest(norms, grid_.along_row());
        largest(norms, grid_.along_column());
        norm_of_a_ = norms[1];
        const double scale = std::numeric_limits<double>::epsilon() / 2 * (norms[1] * x_norm + norms[2]) *
                             static_cast<double>(options_.n);
        const double scaled = norms[0] / scale;
        return std::isfinite(scaled) ? scaled : std::numeric_limits<double>::max();
    }

    /// ||A|| of the last residual.
    [[nodiscard]] double norm_of_a() const { return norm_of_a_; }

    /// The solution, whole, on every process.
    [[nodiscard]] std::vector<double>& x() { return x_; }

    /// Bytes of panels that this process has passed on or received so far.
    [[nodiscard]] double passed_bytes() const { return passed_bytes_; }

  private:
    /// Pieces of an update, between which messages get on as long as there are any.
    static constexpr Index pieces = 4;

    template <class Action>
    void timed(Phase phase, const Action& action) {
        const double begin = now();
        action();
        phases_.at(static_cast<std::size_t>(phase)) += now() - begin;
    }

    [[nodiscard]] Panel& panel(Index k) { return *panels_.at(static_cast<std::size_t>(k % 2)); }
    [[nodiscard]] Broadcast& broadcast(Index k) { return *broadcasts_.at(static_cast<std::size_t>(k % 2)); }

    /// Factors panel k where it is, and sends it along the rows of the grid.
    void begin_panel(Index k) {
        const Index first = k * options_.block;
        const Index columns = std::min(options_.block, options_.n - first);
        const Index row = row_deal_.before(first);
        const Index top_rows = row_deal_.before(first + columns) - row;
        Panel& panel = this->panel(k);
        timed(Phase::broadcast, [&] { broadcast(k).finish(); });
        panel.shape(first, columns, a_.rows - row, top_rows);
        const int holder = column_deal_.holder(first);
        if (grid_.column() == holder) {
            timed(Phase::panel, [&] {
                const RowView part = a_.part(row, column_deal_.before(first), a_.rows - row, columns);
                copy_out(part, panel.rows());
                factor_.factor(panel);
                copy_upper(panel.top(), part.part(0, 0, top_rows, columns));
            });
        }
        timed(Phase::broadcast, [&] { broadcast(k).start(holder, panel.numbers(), panel.count()); });
        passed_bytes_ += grid_.columns() > 1 ? 8. * static_cast<double>(panel.count()) : 0.;
    }

    /// Rows of the matrix as columns of a panel: whole lines of both, and no more columns at once than pages are
    /// at hand for.
    static void copy_out(const RowView& from, const View& to) {
        constexpr Index side = 8;
        constexpr Index at_once = 32;
        for (Index begin = 0; begin < from.columns; begin += at_once) {
            const Index end = std::min(begin + at_once, from.columns);
            for (Index row = 0; row < from.rows; row += side) {
                const Index rows = std::min(side, from.rows - row);
                for (Index column = begin; column < end; ++column) {
                    for (Index each = 0; each < rows; ++each) {
                        to.at(row + each, column) = from.at(row + each, column);
                    }
                }
            }
        }
    }

    /// U, which the substitution needs, into the matrix where its rows are here. L is needed no more once it was
    /// passed on.
    static void copy_upper(const View& from, const RowView& to) {
        for (Index row = 0; row < to.rows; ++row) {
            for (Index column = row; column < to.columns; ++column) {
                to.at(row, column) = from.at(row, column);
            }
        }
    }

    /// What panel k does to the columns right of it. With look-ahead those of the next panel come first: it is
    /// factored, and on its way, while the others are updated.
    void step(Index k, Index blocks) {
        const Index after = (k + 1) * options_.block;
        const bool more = k + 1 < blocks;
        timed(Phase::broadcast, [&] { broadcast(k).wait(); });
        timed(Phase::swap, [&] { rows_.plan(panel(k)); });
        Index column = column_deal_.before(std::min(after, options_.n));
        if (more && options_.look_ahead) {
            const Index next = column_deal_.before(std::min(after + options_.block, options_.n));
            update(k, column, next, nullptr);
            begin_panel(k + 1);
            column = next;
        }
        update(k, column, a_.columns, more && options_.look_ahead ? &broadcast(k + 1) : nullptr);
        if (more && !options_.look_ahead) {
            begin_panel(k + 1);
        }
    }

    /// Columns [begin, end) of those here: rows swapped, U found, and the rest updated in pieces.
    void update(Index k, Index begin, Index end, Broadcast* progressing) {
        if (begin == end) {
            return;
        }
        const Panel& panel = this->panel(k);
        const Index row = row_deal_.before(panel.first_row());
        const Index below = row_deal_.before(panel.first_row() + panel.columns());
        const RowView columns = a_.slice(begin, end - begin);
        RowView u = columns.part(row, 0, below - row, columns.columns);
        const bool alone = grid_.rows() == 1;
        if (!alone) {
            u = {u_, panel.columns(), columns.columns, columns.columns};
        }
        timed(Phase::swap, [&] { alone ? rows_.swap_here(columns) : rows_.exchange(columns, u); });
        const Index piece = std::max<Index>(1, (columns.columns + pieces - 1) / pieces);
        bool passing = progressing != nullptr && !progressing->progress();
        for (Index first = 0, count = 0; first < columns.columns; first += count) {
            count = passing ? std::min(piece, columns.columns - first) : columns.columns - first;
            timed(Phase::update, [&] {
                blas_.solve_unit_lower(panel.top(), u.slice(first, count));
                blas_.subtract_product(panel.below(), u.slice(first, count),
                                       columns.below(below).slice(first, count));
            });
            if (passing) {
                timed(Phase::broadcast, [&] { passing = !progressing->progress(); });
            }
        }
        if (!alone && row_deal_.here(panel.first_row())) {
            timed(Phase::swap, [&] {
                for (Index each = 0; each < u.rows; ++each) {
                    std::copy_n(u.row(each), u.columns, columns.row(row + each));
                }
            });
        }
    }

    /// U x = y from the last block to the first. What the columns of a process take from y it keeps for itself
    /// until the row's turn comes.
    void substitute() {
        const Index n = options_.n;
        std::vector<double> y(static_cast<std::size_t>(a_.rows), 0.);
        if (column_deal_.here(n)) {
            for (Index i = 0; i < a_.rows; ++i) {
                y[static_cast<std::size_t>(i)] = a_.at(i, a_.columns - 1);
            }
        }
        x_.assign(static_cast<std::size_t>(n), 0.);
        std::vector<double> part(static_cast<std::size_t>(options_.block));
        for (Index first = (n - 1) / options_.block * options_.block; first >= 0; first -= options_.block) {
            const Index count = std::min(options_.block, n - first);
            const int holder = column_deal_.holder(first);
            const Index row = row_deal_.before(first);
            const Index column = column_deal_.before(first);
            if (row_deal_.here(first)) {
                MPI_Reduce(y.data() + row, part.data(), count_of(count), MPI_DOUBLE, MPI_SUM, holder,
                           grid_.along_row());
                if (grid_.column() == holder) {
                    blas_.solve_upper(a_.part(row, column, count, count), part.data());
                }
            }
            if (grid_.column() == holder) {
                MPI_Bcast(part.data(), count_of(count), MPI_DOUBLE, row_deal_.holder(first), grid_.along_column());
                blas_.subtract_product(a_.part(0, column, row, count), part.data(), y.data());
                if (grid_.row() == 0) {
                    std::copy_n(part.begin(), count, x_.begin() + first);
                }
            }
        }
        // Each process of the first grid row has its columns' part of x.
        MPI_Bcast(x_.data(), count_of(n), MPI_DOUBLE, 0, grid_.along_column());
        add_up(x_, grid_.along_row());
    }

    static void add_up(std::vector<double>& values, MPI_Comm comm) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(static_cast<Index>(values.size())), MPI_DOUBLE,
                      MPI_SUM, comm);
    }

    static void largest(std::array<double, 3>& values, MPI_Comm comm) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(values.size()), MPI_DOUBLE, MPI_MAX, comm);
    }

    Options options_;
    const Grid& grid_;
    const Level3& blas_;
    Deal row_deal_;
    Deal column_deal_;
    PanelFactor factor_;
    Rows rows_;
    RowView a_;            ///< row by row: rows are what pivoting moves
    double* u_ = nullptr;  ///< U of the columns here, where several processes hold its rows
    std::array<std::unique_ptr<Panel>, 2> panels_;
    std::array<std::unique_ptr<Broadcast>, 2> broadcasts_;
    std::vector<double> x_;
    Phases phases_{};
    double norm_of_a_ = 0;
    double passed_bytes_ = 0;
};

}  // namespace assay::hpl

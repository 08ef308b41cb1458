// The solution of HPL's system: right-looking LU with look-ahead, back substitution, and the residual.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panels.hpp"
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

    /// `crew`: the threads of this process, as many as the library has. `numbers` has `room`.
    Solver(const Options& options, const Grid& grid, const Level3& blas, Crew& crew, double* numbers)
        : options_(options),
          grid_(grid),
          blas_(blas),
          crew_(crew),
          row_deal_(options.block, grid.row(), grid.rows()),
          column_deal_(options.block, grid.column(), grid.columns()),
          factor_(grid, blas, row_deal_, options.block),
          rows_(grid, row_deal_, options.exchange, crew),
          a_{numbers, row_deal_.before(options.n), column_deal_.before(options.n + 1),
             stride_of(column_deal_.before(options.n + 1))},
          places_(grid, options.way == Way::shared, a_.row(a_.rows), Panel::room(a_.rows, options.block)),
          x_(static_cast<std::size_t>(options.n)),
          y_(static_cast<std::size_t>(a_.rows)),
          part_(static_cast<std::size_t>(options.block)),
          steps_(static_cast<std::size_t>((options.n + options.block - 1) / options.block)) {
        // Panels that cannot be shared go the usual way.
        const bool passed = options.way == Way::shared && !places_.shared();
        for (auto& each : broadcasts_) {
            each = std::make_unique<Broadcast>(grid, passed ? Way::modified_ring : options.way);
        }
        double* panels = a_.row(a_.rows);
        u_ = panels + 2 * Panel::room(a_.rows, options.block);
        const Index u_room = grid.rows() > 1 ? options.block * a_.columns : 0;
        std::fill(places_.shared() ? u_ : panels, u_ + u_room, 0.);  // first touch
        rows_.reserve(options.n, options.block, a_.columns);
        factor_.use_lapack(options.lapack);
        // In one column of the grid nobody waits for a panel, and columns that are updated apart only cost.
        options_.look_ahead = options.look_ahead && grid.columns() > 1;
    }

    /// Writes the system anew.
    void generate() { hpl::generate(options_.n, row_deal_, column_deal_, a_); }

    /// Replaces the system by its factors and finds x.
    void solve() {
        phases_ = {};
        std::fill(steps_.begin(), steps_.end(), Phases{});
        const auto blocks = static_cast<Index>(steps_.size());
        step_ = 0;
        if (blocks > 0) {
            begin_panel(0);
        }
        for (Index k = 0; k < blocks; ++k) {
            step_ = static_cast<std::size_t>(k);
            step(k, blocks);
        }
        for (const auto& each : broadcasts_) {
            timed(Phase::broadcast, [&] { each->finish(); });
        }
        timed(Phase::substitution, [&] { substitute(); });
    }

    /// Seconds of each phase of the last solution, on this process.
    [[nodiscard]] const Phases& phases() const { return phases_; }

    /// The same of each step: a panel's updates, with the panel that is factored meanwhile.
    [[nodiscard]] const std::vector<Phases>& steps() const { return steps_; }

    /// Whether the processes of a grid row read panels where they are.
    [[nodiscard]] bool shares_panels() const { return places_.shared(); }

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
        add_up(r);
        add_up(sums);
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

  private:
    /// Pieces of an update, between which messages get on as long as there are any.
    static constexpr Index pieces = 4;
    /// Numbers of a cache line.
    static constexpr Index line = 8;

    template <class Action>
    void timed(Phase phase, const Action& action) {
        const double begin = now();
        action();
        const double seconds = now() - begin;
        phases_.at(static_cast<std::size_t>(phase)) += seconds;
        steps_[step_].at(static_cast<std::size_t>(phase)) += seconds;
    }

    [[nodiscard]] Panel& panel(Index k) { return panels_.at(static_cast<std::size_t>(k % 2)); }
    [[nodiscard]] Broadcast& broadcast(Index k) { return *broadcasts_.at(static_cast<std::size_t>(k % 2)); }

    /// Factors panel k where it is, and sends it along the rows of the grid. `u`: what panel k - 1 has made of the
    /// top of its columns, where the rest of them is not updated yet.
    void begin_panel(Index k, const RowView& u = {}) {
        const Index first = k * options_.block;
        const Index columns = std::min(options_.block, options_.n - first);
        const Index row = row_deal_.before(first);
        const Index top_rows = row_deal_.before(first + columns) - row;
        Panel& panel = this->panel(k);
        const int holder = column_deal_.holder(first);
        timed(Phase::broadcast, [&] { broadcast(k).finish(); });
        panel.shape(places_.place(k, holder), first, columns, a_.rows - row, top_rows);
        if (grid_.column() == holder) {
            const RowView part = a_.part(row, column_deal_.before(first), a_.rows - row, columns);
            timed(Phase::panel, [&] { copy_out(part, panel.rows()); });
            if (u.columns > 0) {  // only now: a library packs L faster for a product that lies by columns as well
                timed(Phase::update, [&] { blas_.subtract_product(this->panel(k - 1).below(), u, panel.rows()); });
            }
            timed(Phase::panel, [&] {
                factor_.factor(panel);
                copy_upper(panel.top(), part.part(0, 0, top_rows, columns));
            });
        }
        timed(Phase::broadcast, [&] {
            places_.agree();
            broadcast(k).start(holder, panel.numbers(), panel.count());
        });
    }

    /// Rows of the matrix as columns of a panel.
    void copy_out(const RowView& from, const View& to) {
        crew_.share(static_cast<std::size_t>(from.rows), line, [&](std::size_t begin, std::size_t end) {
            const auto row = static_cast<Index>(begin);
            const Index rows = static_cast<Index>(end) - row;
            copy_rows(from.part(row, 0, rows, from.columns), to.part(row, 0, rows, from.columns));
        });
    }

    /// Whole lines of both, and no more columns at once than pages are at hand for.
    static void copy_rows(const RowView& from, const View& to) {
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
        timed(Phase::broadcast, [&] {
            broadcast(k).wait();
            if (!options_.look_ahead) {  // nobody gives MPI the processor again before the next panel
                broadcast(k).finish();
            }
            places_.agree();
        });
        timed(Phase::swap, [&] { rows_.plan(panel(k)); });
        Index column = column_deal_.before(std::min(after, options_.n));
        if (more && options_.look_ahead) {
            const Index next = column_deal_.before(std::min(after + options_.block, options_.n));
            begin_panel(k + 1, find_u(k, column, next));
            column = next;
        }
        update(k, find_u(k, column, a_.columns));
        if (more && !options_.look_ahead) {
            begin_panel(k + 1);
        }
    }

    /// Whether a panel is on its way, to this process or from it; gives MPI the processor for a moment.
    bool passing() {
        bool none = true;
        for (const auto& each : broadcasts_) {
            none = each->progress() && none;
        }
        return !none;
    }

    /// Columns [begin, end) of those here: rows swapped, and U = L^-1 U, which is returned.
    RowView find_u(Index k, Index begin, Index end) {
        const Panel& panel = this->panel(k);
        const Index row = row_deal_.before(panel.first_row());
        const RowView columns = a_.slice(begin, end - begin);
        if (begin == end) {
            return {};
        }
        if (grid_.rows() == 1) {
            const RowView u = columns.part(row, 0, panel.columns(), columns.columns);
            const Index strip = 512 * crew_.size();  // still in the caches of the threads when it is solved
            for (Index first = 0; first < u.columns; first += strip) {
                const Index count = std::min(strip, u.columns - first);
                timed(Phase::swap, [&] { rows_.swap_here(columns.slice(first, count)); });
                timed(Phase::update, [&] { blas_.solve_unit_lower(panel.top(), u.slice(first, count)); });
            }
            return u;
        }
        const RowView u{u_, panel.columns(), columns.columns, columns.columns};
        timed(Phase::swap, [&] { rows_.exchange(columns, u); });
        timed(Phase::update, [&] { blas_.solve_unit_lower(panel.top(), u); });
        if (row_deal_.here(panel.first_row())) {
            timed(Phase::swap, [&] {
                crew_.share(static_cast<std::size_t>(u.rows), 1, [&](std::size_t first, std::size_t last) {
                    for (auto each = static_cast<Index>(first); each < static_cast<Index>(last); ++each) {
                        std::copy_n(u.row(each), u.columns, columns.row(row + each));
                    }
                });
            });
        }
        return u;
    }

    /// A -= L U below panel k, in the last columns here. As long as messages are on their way, some rows at a
    /// time: a library packs U, by rows, faster than L.
    void update(Index k, const RowView& u) {
        const Panel& panel = this->panel(k);
        const View l = panel.below();
        const RowView rest = a_.part(a_.rows - l.rows, a_.columns - u.columns, l.rows, u.columns);
        const Index piece = std::max<Index>(1, (rest.rows + pieces - 1) / pieces);
        bool passing = options_.look_ahead && this->passing();
        for (Index first = 0, count = 0; first < rest.rows; first += count) {
            count = passing ? std::min(piece, rest.rows - first) : rest.rows - first;
            timed(Phase::update, [&] {
                blas_.subtract_product(l.part(first, 0, count, l.columns), u,
                                       rest.part(first, 0, count, rest.columns));
            });
            if (passing) {
                timed(Phase::broadcast, [&] { passing = this->passing(); });
            }
        }
    }

    /// U x = y from the last block to the first. What the columns of a process take from y it keeps for itself
    /// until the row's turn comes.
    void substitute() {
        const Index n = options_.n;
        const bool has_b = column_deal_.here(n);
        for (Index i = 0; i < a_.rows; ++i) {
            y_[static_cast<std::size_t>(i)] = has_b ? a_.at(i, a_.columns - 1) : 0;
        }
        std::fill(x_.begin(), x_.end(), 0.);
        for (Index first = (n - 1) / options_.block * options_.block; first >= 0; first -= options_.block) {
            const Index count = std::min(options_.block, n - first);
            const int holder = column_deal_.holder(first);
            const Index row = row_deal_.before(first);
            const Index column = column_deal_.before(first);
            if (row_deal_.here(first)) {
                MPI_Reduce(y_.data() + row, part_.data(), count_of(count), MPI_DOUBLE, MPI_SUM, holder,
                           grid_.along_row());
                grid_.count_sent(grid_.column() == holder ? 0 : count);
                if (grid_.column() == holder) {
                    blas_.solve_upper(a_.part(row, column, count, count), part_.data());
                }
            }
            if (grid_.column() == holder) {
                broadcast_down(part_, count, row_deal_.holder(first));
                blas_.subtract_product(a_.part(0, column, row, count), part_.data(), y_.data());
                if (grid_.row() == 0) {
                    std::copy_n(part_.begin(), count, x_.begin() + first);
                }
            }
        }
        // Each process of the first grid row has its columns' part of x.
        broadcast_down(x_, n, 0);
        add_up(x_);
    }

    /// From one process of a grid column to the others.
    void broadcast_down(std::vector<double>& values, Index count, int root) {
        MPI_Bcast(values.data(), count_of(count), MPI_DOUBLE, root, grid_.along_column());
        grid_.count_sent(grid_.row() == root ? count * (grid_.rows() - 1) : 0);
    }

    /// Over the processes of a grid row.
    void add_up(std::vector<double>& values) {
        const auto count = static_cast<Index>(values.size());
        MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(count), MPI_DOUBLE, MPI_SUM, grid_.along_row());
        grid_.count_sent(grid_.columns() > 1 ? count : 0);
    }

    static void largest(std::array<double, 3>& values, MPI_Comm comm) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(values.size()), MPI_DOUBLE, MPI_MAX, comm);
    }

    Options options_;
    const Grid& grid_;
    const Level3& blas_;
    Crew& crew_;
    Deal row_deal_;
    Deal column_deal_;
    PanelFactor factor_;
    Rows rows_;
    RowView a_;            ///< row by row: rows are what pivoting moves
    double* u_ = nullptr;  ///< U of the columns here, where several processes hold its rows
    Panels places_;
    std::array<Panel, 2> panels_;
    std::array<std::unique_ptr<Broadcast>, 2> broadcasts_;
    std::vector<double> x_;
    std::vector<double> y_;     ///< right side of the substitution
    std::vector<double> part_;  ///< a block of x
    Phases phases_{};
    std::vector<Phases> steps_;
    std::size_t step_ = 0;
    double norm_of_a_ = 0;
};

}  // namespace assay::hpl

// The solution of HPL's system: right-looking LU with look-ahead, back substitution, and the residual.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panels.hpp"
#include "benchmarks/linear_algebra/hpl_rows.hpp"
#include "benchmarks/linear_algebra/hpl_times.hpp"
#include "harness/error.hpp"

namespace assay::hpl {

/// How a system is solved.
struct Options {
    Index n;
    Index block;
    Algorithm algorithm;
    Exchange exchange;
    bool look_ahead;
    bool lapack;
};

/// One of the processes that solve A x = b. All processes call its public functions at once.
class Solver {
  public:
    /// Numbers that the process with the largest part needs, for the matrix and two panels.
    static std::size_t room(const Options& options, int p, int q) {
        const BlockCyclic rows(options.block, 0, p);
        const BlockCyclic columns(options.block, 0, q);
        const Index height = rows.before(options.n);
        const Index width = columns.before(options.n + 1);
        const Index u = p > 1 ? options.block * width : 0;
        return static_cast<std::size_t>(height * stride_of(width) + 2 * Panel::room(height, options.block) + u);
    }

    /// `crew`: the threads of this process; each may call the library. `numbers` has `room`.
    Solver(const Options& options, const Grid& grid, const Level3& blas, Crew& crew, double* numbers)
        : options_(options),
          grid_(grid),
          blas_(blas),
          crew_(crew),
          row_distribution_(options.block, grid.row(), grid.rows()),
          column_distribution_(options.block, grid.column(), grid.columns()),
          factor_(grid, blas, row_distribution_, options.block),
          rows_(grid, row_distribution_, options.exchange, crew),
          a_{numbers, row_distribution_.before(options.n), column_distribution_.before(options.n + 1),
             stride_of(column_distribution_.before(options.n + 1))},
          places_(grid, options.algorithm == Algorithm::shared, a_.row(a_.rows),
                  Panel::room(a_.rows, options.block)),
          x_(static_cast<std::size_t>(options.n)),
          y_(static_cast<std::size_t>(a_.rows)),
          part_(static_cast<std::size_t>(options.block)),
          times_(crew, static_cast<std::size_t>((options.n + options.block - 1) / options.block)) {
        // If panels cannot be shared, they are broadcast.
        const bool passed = options.algorithm == Algorithm::shared && !places_.shared();
        for (auto& each : broadcasts_) {
            each = std::make_unique<Broadcast>(grid, passed ? Algorithm::modified_ring : options.algorithm);
        }
        double* panels = a_.row(a_.rows);
        u_ = panels + 2 * Panel::room(a_.rows, options.block);
        const Index u_room = grid.rows() > 1 ? options.block * a_.columns : 0;
        std::fill(places_.shared() ? u_ : panels, u_ + u_room, 0.);  // first touch
        rows_.reserve(options.n, options.block, a_.columns);
        factor_.use_lapack(options.lapack);
        // All processes exchange the same messages in the same order, whatever their numbers of threads.
        int fewest = crew.size();
        for (MPI_Comm along : {grid.along_row(), grid.along_column()}) {
            MPI_Allreduce(MPI_IN_PLACE, &fewest, 1, MPI_INT, MPI_MIN, along);
        }
        factors_apart_ = fewest > 1;
        // A single thread in a single grid column never waits for a panel: separate updates only cost time.
        options_.look_ahead = options.look_ahead && (grid.columns() > 1 || factors_apart_);
    }

    /// Writes the system.
    void generate() { hpl::generate(options_.n, row_distribution_, column_distribution_, a_); }

    /// Replaces the system by its factors and finds x.
    void solve() {
        const auto blocks = static_cast<Index>(times_.steps().size());
        times_.reset();
        if (blocks > 0) {
            begin_panel(0);
        }
        for (Index k = 0; k < blocks; ++k) {
            times_.go_to(static_cast<std::size_t>(k));
            step(k, blocks);
        }
        for (const auto& each : broadcasts_) {
            times_.add(Phase::broadcast, [&] { each->finish(); });
        }
        times_.add(Phase::substitution, [&] { substitute(); });
    }

    /// Seconds of each phase of the last solution, on this process.
    [[nodiscard]] Phases phases() const { return times_.sum(); }

    /// The same for each step: the updates of a panel, with the factorisation of the next one.
    [[nodiscard]] const std::vector<Phases>& steps() const { return times_.steps(); }

    /// Whether the processes of a grid row read panels in shared memory.
    [[nodiscard]] bool shares_panels() const { return places_.shared(); }

    /// HPL's scaled residual, ||A x - b|| / (eps (||A|| ||x|| + ||b||) N) in maximum norms, with regenerated A
    /// and b; the largest number if it is not finite. The factors are lost.
    double residual() {
        generate();
        const Index own_columns = column_distribution_.before(options_.n);
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
            x[j] = x_[static_cast<std::size_t>(column_distribution_.whole(static_cast<Index>(j)))];
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
        const double scale = std::numeric_limits<double>::epsilon() / 2 * (norms[1] * x_norm + norms[2]) *
                             static_cast<double>(options_.n);
        return finite_error(norms[0] / scale);
    }

    /// The whole solution, on every process.
    [[nodiscard]] std::vector<double>& x() { return x_; }

  private:
    /// Fewest pieces of an update, and most rows of a piece; in between MPI makes progress while messages are in
    /// flight. Short pieces cost time in the library, long ones let a slow network idle.
    static constexpr Index pieces = 4;
    static constexpr Index max_rows = 256;
    /// Calls of MPI between two pieces. Open MPI takes one fragment of 128 KiB from a socket in each.
    static constexpr int polls = 16;
    /// Fewest columns that a thread takes: with fewer, the library loses more time than others wait.
    static constexpr Index fewest_columns = 128;

    [[nodiscard]] Panel& panel(Index k) { return panels_.at(static_cast<std::size_t>(k % 2)); }
    [[nodiscard]] Broadcast& broadcast(Index k) { return *broadcasts_.at(static_cast<std::size_t>(k % 2)); }

    /// Offset and number of the rows or columns of a thread, of so many in all.
    [[nodiscard]] std::pair<Index, Index> share_of(Index size, int thread) const {
        const auto [begin, end] = part_of(static_cast<std::size_t>(size), thread, crew_.size(), line);
        return {static_cast<Index>(begin), static_cast<Index>(end - begin)};
    }

    /// Factors panel k in place, and broadcasts it along the rows of the grid.
    void begin_panel(Index k) {
        take_panel(k, {});
        send_panel(k);
    }

    /// Copies the local columns of panel k. `u`: their top rows after panel k - 1, if the rest is not updated yet.
    void take_panel(Index k, const RowView& u) {
        const Index first = k * options_.block;
        const Index columns = std::min(options_.block, options_.n - first);
        const Index row = row_distribution_.before(first);
        const Index top_rows = row_distribution_.before(first + columns) - row;
        const int owner = column_distribution_.owner(first);
        Panel& panel = this->panel(k);
        times_.add(Phase::broadcast, [&] { broadcast(k).finish(); });
        panel.shape(places_.place(k, owner), first, columns, a_.rows - row, top_rows);
        if (grid_.column() != owner) {
            return;
        }
        const RowView part = a_.part(row, column_distribution_.before(first), a_.rows - row, columns);
        times_.together(Phase::panel, [&](int thread) {
            const auto [top, rows] = share_of(part.rows, thread);
            const RowView mine = part.part(top, 0, rows, columns);
            const View to = panel.rows().part(top, 0, rows, columns);
            times_.add(Phase::panel, thread, [&] { copy_rows(mine, to); });
            if (u.columns > 0) {  // only now: a library packs L faster for a product stored by columns as well
                const View l = this->panel(k - 1).below().part(top, 0, rows, u.rows);
                times_.add(Phase::update, thread, [&] { blas_.subtract_product(l, u, to); });
            }
        });
    }

    /// Factors panel k where it was copied, and broadcasts it along the rows of the grid; by the calling thread.
    void send_panel(Index k) {
        Panel& panel = this->panel(k);
        const int owner = column_distribution_.owner(panel.first_row());
        if (grid_.column() == owner) {
            times_.add(Phase::panel, [&] {
                factor_.factor(panel);
                const Index top_rows = panel.rows().rows - panel.below().rows;
                const RowView here = a_.slice(column_distribution_.before(panel.first_row()), panel.columns());
                copy_upper(panel.top(),
                           here.part(row_distribution_.before(panel.first_row()), 0, top_rows, here.columns));
            });
        }
        times_.add(Phase::broadcast, [&] {
            places_.agree();
            broadcast(k).start(owner, panel.numbers(), panel.count());
        });
    }

    /// Updates the columns right of panel k. With look-ahead those of the next panel come first: it is factored
    /// and broadcast while the others are updated.
    void step(Index k, Index blocks) {
        const Index after = (k + 1) * options_.block;
        const bool more = k + 1 < blocks;
        times_.add(Phase::broadcast, [&] {
            broadcast(k).wait();
            if (!options_.look_ahead) {  // MPI makes no progress before the next panel
                broadcast(k).finish();
            }
            places_.agree();
        });
        times_.add(Phase::swap, [&] { rows_.plan(panel(k)); });
        Index column = column_distribution_.before(std::min(after, options_.n));
        const bool ahead = more && options_.look_ahead;
        if (ahead) {
            const Index next = column_distribution_.before(std::min(after + options_.block, options_.n));
            const RowView u = collect_u(k, column, next);
            times_.together(Phase::update, [&](int thread) {
                const auto [first, count] = share_of(u.columns, thread);
                solve_u(k, column + first, u.slice(first, count), thread);
            });
            take_panel(k + 1, u);
            column = next;
        }
        if (ahead && !factors_apart_) {
            send_panel(k + 1);
        }
        update(k, column, ahead && factors_apart_);
        if (more && !ahead) {
            begin_panel(k + 1);
        }
    }

    /// Whether a panel is in flight, to or from this process; lets MPI make progress.
    bool passing() {
        bool none = false;
        for (int poll = 0; poll < polls && !none; ++poll) {
            none = true;
            for (const auto& each : broadcasts_) {
                none = each->progress() && none;
            }
        }
        return !none;
    }

    /// U of the local columns [begin, end): their top rows, or the rows of the pivots that other processes send.
    RowView collect_u(Index k, Index begin, Index end) {
        const Panel& panel = this->panel(k);
        if (grid_.rows() == 1 || begin == end) {
            return a_.part(row_distribution_.before(panel.first_row()), begin, panel.columns(), end - begin);
        }
        const RowView u{u_, panel.columns(), end - begin, end - begin};
        times_.add(Phase::swap, [&] { rows_.exchange(a_.slice(begin, end - begin), u); });
        return u;
    }

    /// Swaps rows, if that needs no messages, and computes U = L^-1 U, for the local columns from `begin` on.
    void solve_u(Index k, Index begin, const RowView& u, int thread) {
        constexpr Index strip = 512;  // still in the caches when it is solved
        const Panel& panel = this->panel(k);
        for (Index first = 0; first < u.columns; first += strip) {
            const Index count = std::min(strip, u.columns - first);
            const RowView columns = a_.slice(begin + first, count);
            const RowView part = u.slice(first, count);
            if (grid_.rows() == 1) {
                times_.add(Phase::swap, thread, [&] { rows_.swap_here(columns); });
            }
            times_.add(Phase::update, thread, [&] { blas_.solve_unit_lower(panel.top(), part); });
            if (grid_.rows() > 1 && row_distribution_.here(panel.first_row())) {
                const RowView top = columns.part(row_distribution_.before(panel.first_row()), 0, part.rows, count);
                times_.add(Phase::swap, thread, [&] { copy(part, top); });
            }
        }
    }

    /// Applies panel k to the columns from `begin` on. Threads repeatedly take some columns, fewer towards the
    /// end. The calling thread may first factor the next panel (`ahead`), and lets MPI make progress in between.
    void update(Index k, Index begin, bool ahead) {
        const RowView u = collect_u(k, begin, a_.columns);
        std::atomic<Index> taken{0};
        times_.together(ahead ? Phase::panel : Phase::update, [&](int thread) {
            if (ahead && thread == 0) {
                send_panel(k + 1);
            }
            for (Index first = taken; first < u.columns;) {
                const Index share = (u.columns - first + crew_.size() - 1) / crew_.size();
                const Index count = std::min(std::max(share, fewest_columns), u.columns - first);
                if (taken.compare_exchange_weak(first, first + count)) {
                    const RowView part = u.slice(first, count);
                    solve_u(k, begin + first, part, thread);
                    subtract(k, begin + first, part, thread);
                    first = taken;
                }
            }
        });
    }

    /// A -= L U below panel k, in the columns from `begin` on. While messages are in flight, some rows at a
    /// time: a library packs U, by rows, faster than L.
    void subtract(Index k, Index begin, const RowView& u, int thread) {
        const View l = this->panel(k).below();
        const RowView rest = a_.part(a_.rows - l.rows, begin, l.rows, u.columns);
        const Index piece = std::clamp<Index>((rest.rows + pieces - 1) / pieces, 1, max_rows);
        bool passing = options_.look_ahead && thread == 0;
        for (Index first = 0, count = 0; first < rest.rows; first += count) {
            if (passing) {
                times_.add(Phase::broadcast, [&] { passing = this->passing(); });
            }
            count = passing ? std::min(piece, rest.rows - first) : rest.rows - first;
            times_.add(Phase::update, thread, [&] {
                blas_.subtract_product(l.part(first, 0, count, l.columns), u,
                                       rest.part(first, 0, count, rest.columns));
            });
        }
    }

    /// Solves U x = y from the last block to the first. A process keeps its contribution to y until it is needed.
    void substitute() {
        const Index n = options_.n;
        const bool has_b = column_distribution_.here(n);
        for (Index i = 0; i < a_.rows; ++i) {
            y_[static_cast<std::size_t>(i)] = has_b ? a_.at(i, a_.columns - 1) : 0;
        }
        std::fill(x_.begin(), x_.end(), 0.);
        for (Index first = (n - 1) / options_.block * options_.block; first >= 0; first -= options_.block) {
            const Index count = std::min(options_.block, n - first);
            const int owner = column_distribution_.owner(first);
            const Index row = row_distribution_.before(first);
            const Index column = column_distribution_.before(first);
            if (row_distribution_.here(first)) {
                MPI_Reduce(y_.data() + row, part_.data(), count_of(count), MPI_DOUBLE, MPI_SUM, owner,
                           grid_.along_row());
                grid_.count_sent(grid_.column() == owner ? 0 : count);
                if (grid_.column() == owner) {
                    blas_.solve_upper(a_.part(row, column, count, count), part_.data());
                }
            }
            if (grid_.column() == owner) {
                broadcast_down(part_, count, row_distribution_.owner(first));
                crew_.run([&](int thread) {
                    const auto [top, rows] = share_of(row, thread);
                    blas_.subtract_product(a_.part(top, column, rows, count), part_.data(), y_.data() + top);
                });
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
    BlockCyclic row_distribution_;
    BlockCyclic column_distribution_;
    PanelFactor factor_;
    Rows rows_;
    RowView a_;            ///< row by row: pivoting moves rows
    double* u_ = nullptr;  ///< U of the local columns, if several processes have its rows
    Panels places_;
    std::array<Panel, 2> panels_;
    std::array<std::unique_ptr<Broadcast>, 2> broadcasts_;
    std::vector<double> x_;
    std::vector<double> y_;     ///< right-hand side of the substitution
    std::vector<double> part_;  ///< a block of x
    Times times_;
    bool factors_apart_ = false;  ///< one thread factors panels while others update
};

}  // namespace assay::hpl

// One grid of HPCG's hierarchy: its stored matrix, and the work of a rank's threads on it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "benchmarks/kernels/hpcg_domain.hpp"
#include "harness/team.hpp"

namespace assay::hpcg {

/// The matrix: 26 on the diagonal, -1 for each of the up to 26 points around a point.
inline constexpr double own_value = 26;
inline constexpr double other_value = -1;

/// Off-diagonal entries of a row. The nearest two come last: only they can belong to the previous or next row,
/// for which a Gauss-Seidel sweep has to wait.
inline constexpr int others = 26;
inline constexpr int near = 2;
inline constexpr int far = others - near;

/// Allocates pieces of a buffer; each begins at a cache line.
class Arena {
  public:
    explicit Arena(std::byte* first) : next_(first) {}

    /// Bytes of a piece with so many numbers.
    template <class Number>
    static std::size_t room(Index count) {
        return (static_cast<std::size_t>(count) * sizeof(Number) / line + 1) * line;
    }

    template <class Number>
    Number* take(Index count) {
        auto* found = reinterpret_cast<Number*>(next_);
        next_ += room<Number>(count);
        return found;
    }

  private:
    static constexpr std::size_t line = 64;
    std::byte* next_;
};

/// Sum of so many independent products of a row.
inline double sum_far(const double* values, const Column* columns, const double* x) {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    for (std::size_t entry = 0; entry < far; entry += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums[lane] += values[entry + lane] * x[columns[entry + lane]];
        }
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// A grid, with its own solution `x`, right-hand side `r` and product. A thread owns lines along x: those of its
/// y in every plane. All threads call the functions that take a thread at once; a barrier is needed between two
/// of them that share vectors.
class Level {
  public:
    static std::size_t room(const Domain& domain) {
        const Index rows = domain.rows();
        return Arena::room<double>(others * rows) + Arena::room<Column>(others * rows) +
               4 * Arena::room<double>(rows) + Arena::room<double>(domain.columns());
    }

    Level(const Domain& domain, const Team& team, MPI_Comm comm, Arena& arena)
        : domain_(domain),
          team_(team),
          exchange_(domain, comm),
          n_(domain.n()),
          active_(std::min(team.size(), n_)),
          values_(arena.take<double>(others * domain.rows())),
          columns_(arena.take<Column>(others * domain.rows())),
          diagonal_(arena.take<double>(domain.rows())),
          inverse_(arena.take<double>(domain.rows())),
          r_(arena.take<double>(domain.rows())),
          product_(arena.take<double>(domain.rows())),
          x_(arena.take<double>(domain.columns())),
          forward_(static_cast<std::size_t>(active_)),
          backward_(static_cast<std::size_t>(active_)) {
        for (int number = 0; number < steps; ++number) {
            if (number != no_step) {
                order_.push_back(step_of(number));
            }
        }
        std::stable_sort(order_.begin(), order_.end(),
                         [&](const Triple& one, const Triple& other) { return distance(one) < distance(other); });
    }

    [[nodiscard]] const Domain& domain() const { return domain_; }
    [[nodiscard]] Exchange& exchange() { return exchange_; }
    [[nodiscard]] double* x() { return x_; }
    [[nodiscard]] double* r() { return r_; }
    [[nodiscard]] double* product() { return product_; }

    /// Runs of rows that a thread owns.
    template <class Body>
    void own(int thread, const Body& body) const {
        const Part mine = slab(thread);
        if (active_ == 1 && thread == 0) {
            body(Index{0}, domain_.rows());
            return;
        }
        for (int z = 0; z < n_ && mine.begin < mine.end; ++z) {
            body(row(mine.begin, z), row(mine.end, z));
        }
    }

    /// First touch: the matrix, and zeros.
    void write(int thread) {
        own(thread, [&](Index begin, Index end) {
            for (Index row = begin; row < end; ++row) {
                write_row(row);
                r_[row] = product_[row] = 0;
            }
        });
        clear(thread);
    }

    /// Multiplies the diagonal of a row by a factor.
    void scale(Index row, double factor) {
        diagonal_[row] *= factor;
        inverse_[row] = 1 / diagonal_[row];
    }

    void restore(Index row) {
        diagonal_[row] = own_value;
        inverse_[row] = 1 / own_value;
    }

    /// Non-zero off-diagonal entries of a row.
    [[nodiscard]] Index entries(Index row) const {
        const double* values = values_ + others * row;
        return others - std::count(values, values + others, 0.);
    }

    /// x = 0, including the values of other ranks.
    void clear(int thread) {
        own(thread, [&](Index begin, Index end) { std::fill(x_ + begin, x_ + end, 0.); });
        if (thread == 0) {
            std::fill(x_ + domain_.rows(), x_ + domain_.columns(), 0.);
        }
    }

    /// y = A x; `x` has a value for each column.
    void multiply(const double* x, double* y, int thread) const {
        own(thread, [&](Index begin, Index end) {
            const double* values = values_ + others * begin;
            const Column* columns = columns_ + others * begin;
            for (Index row = begin; row < end; ++row, values += others, columns += others) {
                y[row] = diagonal_[row] * x[row] + values[far] * x[columns[far]] +
                         values[far + 1] * x[columns[far + 1]] + sum_far(values, columns, x);
            }
        });
    }

    /// One symmetric Gauss-Seidel sweep of A x = r. The order of rows does not depend on the number of threads:
    /// each thread waits for its neighbours. Needs a barrier before and after it.
    void smooth(int thread) {
        if (thread < active_) {
            sweep<1>(thread);
        }
        team_.barrier();
        if (thread < active_) {
            forward_[static_cast<std::size_t>(thread)].lines.store(0, std::memory_order_relaxed);
            sweep<-1>(thread);
        }
        team_.barrier();
        if (thread < active_) {
            backward_[static_cast<std::size_t>(thread)].lines.store(0, std::memory_order_relaxed);
        }
    }

    /// The right-hand side from the residual of the finer grid, at every second point.
    void restrict_from(const Level& finer, int thread) {
        for_points(thread, [&](Index row, Index fine) { r_[row] = finer.r_[fine] - finer.product_[fine]; });
    }

    /// Adds this solution to that of the finer grid.
    void prolong_to(const Level& finer, int thread) const {
        for_points(thread, [&](Index row, Index fine) { finer.x_[fine] += x_[row]; });
    }

  private:
    /// Lines of a sweep that a thread has finished.
    struct alignas(interference_bytes) Progress {
        std::atomic<Index> lines{0};
    };

    [[nodiscard]] Index distance(const Triple& step) const {
        return std::abs(step[0] + n_ * (step[1] + Index{n_} * step[2]));
    }

    /// Range of y of a thread's lines.
    [[nodiscard]] Part slab(int thread) const {
        return thread < active_ ? part_of(static_cast<std::size_t>(n_), thread, active_, 1) : Part{0, 0};
    }

    /// Lines of a thread in a plane.
    [[nodiscard]] Index height(int thread) const {
        const Part part = slab(thread);
        return static_cast<Index>(part.end - part.begin);
    }

    [[nodiscard]] Index row(std::size_t y, int z) const { return n_ * (static_cast<Index>(y) + Index{n_} * z); }

    void write_row(Index row) {
        const auto x = static_cast<int>(row % n_);
        const auto y = static_cast<int>(row / n_ % n_);
        const auto z = static_cast<int>(row / n_ / n_);
        double* values = values_ + others * row;
        Column* columns = columns_ + others * row;
        int entry = others;
        for (const Triple& step : order_) {
            const Column column = domain_.column(x + step[0], y + step[1], z + step[2]);
            if (column >= 0) {
                --entry;
                values[entry] = other_value;
                columns[entry] = column;
            }
        }
        while (entry-- > 0) {
            values[entry] = 0;
            columns[entry] = static_cast<Column>(row);
        }
        diagonal_[row] = own_value;
        inverse_[row] = 1 / own_value;
    }

    /// Each row of a thread, with the row of the finer grid at the same point.
    template <class Body>
    void for_points(int thread, const Body& body) const {
        const Part mine = slab(thread);
        for (int z = 0; z < n_; ++z) {
            for (std::size_t y = mine.begin; y < mine.end; ++y) {
                const Index first = row(y, z);
                const Index fine = 2 * n_ * (2 * static_cast<Index>(y) + 2 * Index{n_} * 2 * z);
                for (Index x = 0; x < n_; ++x) {
                    body(first + x, fine + 2 * x);
                }
            }
        }
    }

    static void wait_for(const Progress& other, Index lines) {
        wait_until([&] { return other.lines.load(std::memory_order_acquire) >= lines; });
    }

    /// Rows upwards (1) or downwards (-1). The first line of a plane waits until the previous thread has
    /// finished all of its lines in this plane; the last line waits until the next thread has finished its first
    /// line in the previous plane. So every row uses the same values as with one thread.
    template <int step>
    void sweep(int thread) {
        std::vector<Progress>& progress = step > 0 ? forward_ : backward_;
        const Part mine = slab(thread);
        const int before = thread - step;
        const int behind = thread + step;
        const Index before_height = before >= 0 && before < active_ ? height(before) : 0;
        const Index behind_height = behind >= 0 && behind < active_ ? height(behind) : 0;
        const Index lines = static_cast<Index>(mine.end - mine.begin);
        Index done = 0;
        for (Index plane = 0; plane < n_; ++plane) {
            const int z = static_cast<int>(step > 0 ? plane : n_ - 1 - plane);
            for (Index line = 0; line < lines; ++line) {
                if (line == 0 && before_height > 0) {
                    wait_for(progress[static_cast<std::size_t>(before)], (plane + 1) * before_height);
                }
                if (line == lines - 1 && behind_height > 0 && plane > 0) {
                    wait_for(progress[static_cast<std::size_t>(behind)], (plane - 1) * behind_height + 1);
                }
                const std::size_t y = step > 0 ? mine.begin + static_cast<std::size_t>(line)
                                               : mine.end - 1 - static_cast<std::size_t>(line);
                smooth_line<step>(row(y, z));
                progress[static_cast<std::size_t>(thread)].lines.store(++done, std::memory_order_release);
            }
        }
    }

    template <int step>
    void smooth_line(Index first) {
        const Index begin = step > 0 ? first : first + n_ - 1;
        const double* values = values_ + others * begin;
        const Column* columns = columns_ + others * begin;
        for (Index count = 0, row = begin; count < n_; ++count, row += step) {
            const double rest = r_[row] - sum_far(values, columns, x_);
            x_[row] =
                (rest - values[far] * x_[columns[far]] - values[far + 1] * x_[columns[far + 1]]) * inverse_[row];
            values += step * others;
            columns += step * others;
        }
    }

    Domain domain_;
    const Team& team_;
    Exchange exchange_;
    int n_;
    int active_;  ///< threads that own lines
    double* values_;
    Column* columns_;
    double* diagonal_;
    double* inverse_;
    double* r_;
    double* product_;
    double* x_;
    std::vector<Triple> order_;  ///< offsets of the other points, the nearest rows first
    std::vector<Progress> forward_;
    std::vector<Progress> backward_;
};

}  // namespace assay::hpcg

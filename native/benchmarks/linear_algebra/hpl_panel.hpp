// LU of one panel with partial pivoting, by the processes of one grid column.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/linear_algebra/hpl_grid.hpp"
#include "benchmarks/linear_algebra/hpl_matrix.hpp"

namespace assay::hpl {

using linear_algebra::Level3;

/// A panel, column by column, as it is factored and broadcast: its pivots, its topmost square of L and U, and
/// this grid row's part of its rows.
class Panel {
  public:
    /// Room for so many local rows and columns.
    static Index room(Index rows, Index block) { return block + block * block + stride_of(rows) * block; }

    /// The panel of the matrix rows from `first_row` on, with so many local rows; the first `top_rows` of them
    /// belong to its topmost square. `numbers` has room for it.
    void shape(double* numbers, Index first_row, Index columns, Index rows, Index top_rows) {
        numbers_ = numbers;
        first_row_ = first_row;
        columns_ = columns;
        top_rows_ = top_rows;
        rows_ = {numbers_ + columns + columns * columns, rows, columns, stride_of(rows)};
    }

    [[nodiscard]] Index first_row() const { return first_row_; }
    [[nodiscard]] Index columns() const { return columns_; }
    /// Row of the matrix with which row `first_row + c` was swapped.
    [[nodiscard]] Index pivot(Index c) const { return static_cast<Index>(numbers_[c]); }
    void set_pivot(Index c, Index row) { numbers_[c] = static_cast<double>(row); }
    [[nodiscard]] View top() const { return {numbers_ + columns_, columns_, columns_, columns_}; }
    /// All of its local rows.
    [[nodiscard]] View rows() const { return rows_; }
    /// The local rows below the topmost square: L.
    [[nodiscard]] View below() const { return rows_.below(top_rows_); }
    /// The whole panel, for a message.
    [[nodiscard]] double* numbers() const { return numbers_; }
    [[nodiscard]] Index count() const { return columns_ * (1 + columns_ + rows_.stride); }

  private:
    double* numbers_ = nullptr;
    View rows_;
    Index first_row_ = 0;
    Index columns_ = 0;
    Index top_rows_ = 0;
};

/// Factors panels. All processes of the column call it at once; each keeps a copy of the topmost square.
class PanelFactor {
  public:
    PanelFactor(const Grid& grid, const Level3& blas, const BlockCyclic& rows, Index block)
        : grid_(grid),
          blas_(blas),
          rows_(rows),
          message_(static_cast<std::size_t>(head + 2 * block)),
          other_(message_.size()),
          pivots_(static_cast<std::size_t>(block)) {}

    /// Whether LAPACK may factor the panels, if one process has all of their rows.
    void use_lapack(bool use) { lapack_ = use && rows_.places() == 1 && blas_.has_lapack(); }

    /// Factors a panel whose rows are in place.
    void factor(Panel& panel) {
        const View a = panel.rows();
        a_ = a;
        panel_ = &panel;
        start_ = panel.first_row();
        before_ = rows_.before(start_);
        top_ = panel.top();
        if (lapack_) {
            blas_.factor(a, pivots_.data());
            for (Index c = 0; c < a.columns; ++c) {
                panel.set_pivot(c, start_ + pivots_[static_cast<std::size_t>(c)]);
            }
            for (Index j = 0; j < a.columns; ++j) {
                std::copy_n(a.column(j), a.columns, top_.column(j));
            }
            return;
        }
        recurse(0, a.columns);
    }

  private:
    /// Columns that are factored one by one.
    static constexpr Index leaf = 8;
    /// Head of a message: magnitude and row of the candidate, and whether the row that it replaces is included.
    static constexpr Index head = 3;

    /// Local index in the panel of the first row from `start_ + c` on.
    [[nodiscard]] Index from(Index c) const { return rows_.before(start_ + c) - before_; }

    void recurse(Index begin, Index end) {
        if (end - begin <= leaf) {
            for (Index c = begin; c < end; ++c) {
                column(begin, c);
            }
            return;
        }
        const Index middle = begin + (end - begin) / 2 / leaf * leaf;
        const Index half = std::max(middle, begin + 1);
        recurse(begin, half);
        const View right = top_.part(begin, half, half - begin, end - half);
        blas_.solve_unit_lower(top_.part(begin, begin, half - begin, half - begin), right);
        const Index row = from(half);
        blas_.subtract_product(a_.part(row, begin, a_.rows - row, half - begin), right,
                               a_.part(row, half, a_.rows - row, end - half));
        recurse(half, end);
    }

    /// Factors one column; its rows are already updated by the columns before `begin`.
    void column(Index begin, Index c) {
        for (Index i = begin; i < c; ++i) {  // U of the columns in between
            double value = top_.at(i, c);
            for (Index k = begin; k < i; ++k) {
                value -= top_.at(i, k) * top_.at(k, c);
            }
            top_.at(i, c) = value;
        }
        const Index row = from(c);
        subtract(row, begin, c);
        pivot_column(row, c);
        const double pivot = top_.at(c, c);
        double* numbers = a_.column(c);
        const double inverse = 1 / pivot;
        for (Index i = from(c + 1); i < a_.rows; ++i) {
            numbers[i] *= inverse;
        }
    }

    /// Column c -= the columns [begin, c) times U, in pieces that stay in the nearest cache.
    void subtract(Index row, Index begin, Index c) {
        constexpr Index piece = 512;
        double* to = a_.column(c);
        for (Index first = row; first < a_.rows; first += piece) {
            const Index last = std::min(first + piece, a_.rows);
            Index k = begin;
            for (; k + 1 < c; k += 2) {
                const double* one = a_.column(k);
                const double* two = a_.column(k + 1);
                const double u = top_.at(k, c);
                const double v = top_.at(k + 1, c);
                for (Index i = first; i < last; ++i) {
                    to[i] -= one[i] * u + two[i] * v;
                }
            }
            if (k < c) {
                const double* one = a_.column(k);
                const double u = top_.at(k, c);
                for (Index i = first; i < last; ++i) {
                    to[i] -= one[i] * u;
                }
            }
        }
    }

    /// Finds the pivot of a column, brings its row to the top on every process, and moves the row that it
    /// replaces.
    void pivot_column(Index row, Index c) {
        const Index width = a_.columns;
        const bool replaced_here = rows_.here(start_ + c);
        Index own = -1;
        message_[0] = -1;
        message_[1] = 0;
        if (row < a_.rows) {
            own = row + blas_.largest(a_.rows - row, a_.column(c) + row);
            const double magnitude = std::abs(a_.at(own, c));
            message_[0] = magnitude >= 0 ? magnitude : HUGE_VAL;  // all processes agree, also on NaN
            message_[1] = static_cast<double>(rows_.whole(before_ + own));
            gather(own, &message_[head]);
        }
        message_[2] = replaced_here ? 1 : 0;
        if (replaced_here) {
            gather(row, &message_[static_cast<std::size_t>(head + width)]);
        }
        if (rows_.places() > 1) {
            exchange_candidates(head + 2 * width);
        }
        const auto pivot = static_cast<Index>(message_[1]);
        panel_->set_pivot(c, pivot);
        for (Index j = 0; j < width; ++j) {
            top_.at(c, j) = message_[static_cast<std::size_t>(head + j)];
        }
        if (pivot != start_ + c && rows_.here(pivot)) {
            scatter(&message_[static_cast<std::size_t>(head + width)], rows_.before(pivot) - before_);
        }
    }

    void gather(Index row, double* to) const {
        for (Index j = 0; j < a_.columns; ++j) {
            to[j] = a_.at(row, j);
        }
    }

    void scatter(const double* from, Index row) const {
        for (Index j = 0; j < a_.columns; ++j) {
            a_.at(row, j) = from[j];
        }
    }

    /// Binary exchange: after ceil(log2 P) rounds every process knows the largest candidate, the first of equal
    /// ones, and the row that it replaces.
    void exchange_candidates(Index count) {
        const int size = rows_.places();
        const int at = rows_.place();
        const Index width = a_.columns;
        for (int distance = 1; distance < size; distance *= 2) {
            MPI_Sendrecv(message_.data(), count_of(count), MPI_DOUBLE, (at + distance) % size, tag, other_.data(),
                         count_of(count), MPI_DOUBLE, (at + size - distance) % size, tag, grid_.along_column(),
                         MPI_STATUS_IGNORE);
            grid_.count_sent(count);
            if (other_[0] > message_[0] || (other_[0] == message_[0] && other_[1] < message_[1])) {
                std::copy_n(other_.begin(), 2, message_.begin());
                std::copy_n(other_.begin() + head, width, message_.begin() + head);
            }
            if (other_[2] > message_[2]) {
                message_[2] = other_[2];
                std::copy_n(other_.begin() + head + width, width, message_.begin() + head + width);
            }
        }
    }

    static constexpr int tag = 3;

    const Grid& grid_;
    const Level3& blas_;
    BlockCyclic rows_;
    bool lapack_ = false;
    View a_;
    View top_;
    Panel* panel_ = nullptr;
    Index start_ = 0;   ///< first row of the panel in the matrix
    Index before_ = 0;  ///< local rows before it
    std::vector<double> message_;
    std::vector<double> other_;
    std::vector<Index> pivots_;
};

}  // namespace assay::hpl

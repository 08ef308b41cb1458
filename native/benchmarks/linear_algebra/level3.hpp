// Parts of matrices, and what a BLAS library does with them.
#pragma once

#include <cstdint>
#include <string>

#include "harness/blas.hpp"
#include "harness/failure.hpp"

namespace assay::linear_algebra {

using Index = std::int64_t;

/// Part of a matrix that lies column by column: columns lie `stride` numbers apart.
struct View {
    double* first = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 1;

    [[nodiscard]] double* column(Index j) const { return first + j * stride; }
    [[nodiscard]] double& at(Index i, Index j) const { return first[i + j * stride]; }
    [[nodiscard]] View part(Index row, Index column, Index row_count, Index column_count) const {
        return {first + row + column * stride, row_count, column_count, stride};
    }
    /// The rows from this one on.
    [[nodiscard]] View below(Index row) const { return part(row, 0, rows - row, columns); }
    [[nodiscard]] View slice(Index column, Index count) const { return part(0, column, rows, count); }
};

/// Part of a matrix that lies row by row: rows lie `stride` numbers apart.
struct RowView {
    double* first = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 1;

    [[nodiscard]] double* row(Index i) const { return first + i * stride; }
    [[nodiscard]] double& at(Index i, Index j) const { return first[i * stride + j]; }
    [[nodiscard]] RowView part(Index row, Index column, Index row_count, Index column_count) const {
        return {first + row * stride + column, row_count, column_count, stride};
    }
    /// The rows from this one on.
    [[nodiscard]] RowView below(Index row) const { return part(row, 0, rows - row, columns); }
    [[nodiscard]] RowView slice(Index column, Index count) const { return part(0, column, rows, count); }
};

/// The functions of a library that LU calls.
class Level3 {
  public:
    /// Failure (environment) names the function that the library lacks.
    explicit Level3(const Blas& blas)
        : wide_(blas.wide()),
          gemm_(required(blas, "cblas_dgemm")),
          trsm_(required(blas, "cblas_dtrsm")),
          trsv_(required(blas, "cblas_dtrsv")),
          gemv_(required(blas, "cblas_dgemv")),
          iamax_(required(blas, "cblas_idamax")),
          getrf_(blas.find("dgetrf_")) {}

    /// C -= A B.
    void subtract_product(const View& a, const View& b, const View& c) const {
        product(not_transposed, {a.first, c.rows, a.columns, a.stride}, {b.first, a.columns, c.columns, b.stride},
                c);
    }

    /// The same of rows: the transposed matrices lie column by column.
    void subtract_product(const View& a, const RowView& b, const RowView& c) const {
        product(transposed, {b.first, c.columns, a.columns, b.stride}, {a.first, a.columns, c.rows, a.stride},
                {c.first, c.columns, c.rows, c.stride});
    }

    /// B = L^-1 B, L the unit lower triangle of a square part.
    void solve_unit_lower(const View& l, const View& b) const { solve(left, not_transposed, l, b); }

    void solve_unit_lower(const View& l, const RowView& b) const {
        solve(right, transposed, l, {b.first, b.columns, b.rows, b.stride});
    }

    /// x = U^-1 x, U the upper triangle of a square part.
    void solve_upper(const RowView& u, double* x) const { wide_ ? trsv<std::int64_t>(u, x) : trsv<int>(u, x); }

    /// y -= A x.
    void subtract_product(const RowView& a, const double* x, double* y) const {
        if (a.rows > 0 && a.columns > 0) {
            wide_ ? gemv<std::int64_t>(a, x, y) : gemv<int>(a, x, y);
        }
    }

    /// Place of the entry with the largest magnitude; `count` of at least 1.
    [[nodiscard]] Index largest(Index count, const double* x) const {
        if (wide_) {
            return static_cast<Index>(
                call<std::size_t (*)(std::int64_t, const double*, std::int64_t)>(iamax_)(count, x, 1));
        }
        return static_cast<Index>(
            call<std::size_t (*)(int, const double*, int)>(iamax_)(static_cast<int>(count), x, 1));
    }

    /// Whether the library has LAPACK's LU of a whole matrix.
    [[nodiscard]] bool has_lapack() const { return getrf_ != nullptr; }

    /// A = P L U by LAPACK; `pivots` (as many as columns) get rows from 0. The return value is 0 unless a pivot is
    /// 0.
    Index factor(const View& a, Index* pivots) const {
        return wide_ ? getrf<std::int64_t>(a, pivots) : getrf<int>(a, pivots);
    }

  private:
    // CBLAS
    static constexpr int by_rows = 101;
    static constexpr int by_columns = 102;
    static constexpr int not_transposed = 111;
    static constexpr int transposed = 112;
    static constexpr int upper = 121;
    static constexpr int lower = 122;
    static constexpr int not_unit = 131;
    static constexpr int unit = 132;
    static constexpr int left = 141;
    static constexpr int right = 142;

    static void* required(const Blas& blas, const std::string& name) {
        if (void* found = blas.find(name)) {
            return found;
        }
        const auto identity = blas.identity();
        const auto file = identity.find("file");
        throw Failure(Exit::environment, (file == identity.end() ? "the BLAS" : file->second) + " lacks " + name,
                      "LU needs it", "name a library with the whole C interface: --library blas=FILE");
    }

    template <class Function>
    static Function call(void* function) {
        return reinterpret_cast<Function>(function);
    }

    /// C -= A B, or A B^T; the shapes are those of the product.
    template <class Int>
    void gemm(int second, const View& a, const View& b, const View& c) const {
        using Call = void (*)(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int, double,
                              double*, Int);
        call<Call>(gemm_)(by_columns, not_transposed, second, static_cast<Int>(c.rows),
                          static_cast<Int>(c.columns), static_cast<Int>(a.columns), -1, a.first,
                          static_cast<Int>(a.stride), b.first, static_cast<Int>(b.stride), 1, c.first,
                          static_cast<Int>(c.stride));
    }

    void product(int second, const View& a, const View& b, const View& c) const {
        if (c.rows > 0 && c.columns > 0 && a.columns > 0) {
            wide_ ? gemm<std::int64_t>(second, a, b, c) : gemm<int>(second, a, b, c);
        }
    }

    template <class Int>
    void trsm(int side, int turn, const View& l, const View& b) const {
        using Call = void (*)(int, int, int, int, int, Int, Int, double, const double*, Int, double*, Int);
        call<Call>(trsm_)(by_columns, side, lower, turn, unit, static_cast<Int>(b.rows),
                          static_cast<Int>(b.columns), 1, l.first, static_cast<Int>(l.stride), b.first,
                          static_cast<Int>(b.stride));
    }

    void solve(int side, int turn, const View& l, const View& b) const {
        if (b.rows > 0 && b.columns > 0) {
            wide_ ? trsm<std::int64_t>(side, turn, l, b) : trsm<int>(side, turn, l, b);
        }
    }

    template <class Int>
    void trsv(const RowView& u, double* x) const {
        using Call = void (*)(int, int, int, int, Int, const double*, Int, double*, Int);
        call<Call>(trsv_)(by_rows, upper, not_transposed, not_unit, static_cast<Int>(u.columns), u.first,
                          static_cast<Int>(u.stride), x, 1);
    }

    template <class Int>
    void gemv(const RowView& a, const double* x, double* y) const {
        using Call =
            void (*)(int, int, Int, Int, double, const double*, Int, const double*, Int, double, double*, Int);
        call<Call>(gemv_)(by_rows, not_transposed, static_cast<Int>(a.rows), static_cast<Int>(a.columns), -1,
                          a.first, static_cast<Int>(a.stride), x, 1, 1, y, 1);
    }

    template <class Int>
    Index getrf(const View& a, Index* pivots) const {
        using Call = void (*)(const Int*, const Int*, double*, const Int*, Int*, Int*);
        const auto rows = static_cast<Int>(a.rows);
        const auto columns = static_cast<Int>(a.columns);
        const auto stride = static_cast<Int>(a.stride);
        // The library writes integers of its own width into the same place: they fit, for ours are the wider ones.
        auto* own = reinterpret_cast<Int*>(pivots);
        Int info = 0;
        call<Call>(getrf_)(&rows, &columns, a.first, &stride, own, &info);
        for (Index each = (a.rows < a.columns ? a.rows : a.columns) - 1; each >= 0; --each) {
            pivots[each] = static_cast<Index>(own[each]) - 1;
        }
        return static_cast<Index>(info);
    }

    bool wide_;
    void* gemm_;
    void* trsm_;
    void* trsv_;
    void* gemv_;
    void* iamax_;
    void* getrf_;
};

}  // namespace assay::linear_algebra

// Parts of matrices, and the BLAS functions on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/blas.hpp"
#include "harness/failure.hpp"

namespace assay::linear_algebra {

using Index = std::int64_t;

/// Pins the threads of a library after its first product, with which some libraries start their threads.
template <class Number>
void start_threads(Blas& blas) {
    constexpr Index order = 256;
    std::vector<Number> numbers(3 * order * order, Number{1});
    const Number* a = numbers.data();
    blas.multiply(order, a, a + order * order, numbers.data() + 2 * order * order);
    blas.pin_threads();
}

/// Part of a column-major matrix: columns are `stride` numbers apart.
template <class Number>
struct ViewOf {
    Number* first = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 1;

    [[nodiscard]] Number* column(Index j) const { return first + j * stride; }
    [[nodiscard]] Number& at(Index i, Index j) const { return first[i + j * stride]; }
    [[nodiscard]] ViewOf part(Index row, Index column, Index row_count, Index column_count) const {
        return {first + row + column * stride, row_count, column_count, stride};
    }
    /// The rows from this one on.
    [[nodiscard]] ViewOf below(Index row) const { return part(row, 0, rows - row, columns); }
    [[nodiscard]] ViewOf slice(Index column, Index count) const { return part(0, column, rows, count); }
};

/// Part of a row-major matrix: rows are `stride` numbers apart.
template <class Number>
struct RowViewOf {
    Number* first = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 1;

    [[nodiscard]] Number* row(Index i) const { return first + i * stride; }
    [[nodiscard]] Number& at(Index i, Index j) const { return first[i * stride + j]; }
    [[nodiscard]] RowViewOf part(Index row, Index column, Index row_count, Index column_count) const {
        return {first + row * stride + column, row_count, column_count, stride};
    }
    /// The rows from this one on.
    [[nodiscard]] RowViewOf below(Index row) const { return part(row, 0, rows - row, columns); }
    [[nodiscard]] RowViewOf slice(Index column, Index count) const { return part(0, column, rows, count); }
};

using View = ViewOf<double>;
using RowView = RowViewOf<double>;

/// The library functions of an LU, for numbers of one precision.
template <class Number>
class Level3Of {
  public:
    using View = ViewOf<Number>;
    using RowView = RowViewOf<Number>;

    /// Failure (environment) names the function that the library lacks.
    explicit Level3Of(const Blas& blas)
        : wide_(blas.wide()),
          gemm_(required(blas, name("cblas_", "gemm"))),
          trsm_(required(blas, name("cblas_", "trsm"))),
          trsv_(required(blas, name("cblas_", "trsv"))),
          gemv_(required(blas, name("cblas_", "gemv"))),
          iamax_(required(blas, name("cblas_i", "amax"))),
          getrf_(blas.find(name("", "getrf_"))) {}

    /// From now on products of 16-bit numbers are accumulated in numbers of this precision. Failure
    /// (environment) if the library has no such product.
    void use_bfloat16(const Blas& blas) { narrow_ = blas.bfloat16_product(); }

    /// C -= A B.
    void subtract_product(const View& a, const View& b, const View& c) const {
        product<Number>(not_transposed, {a.first, c.rows, a.columns, a.stride},
                        {b.first, a.columns, c.columns, b.stride}, c);
    }

    /// The same for row-major matrices: their transposed matrices are column-major.
    void subtract_product(const View& a, const RowView& b, const RowView& c) const {
        product<Number>(transposed, {b.first, c.columns, a.columns, b.stride},
                        {a.first, a.columns, c.rows, a.stride}, {c.first, c.columns, c.rows, c.stride});
    }

    void subtract_product(const View& a, const RowView& b, const View& c) const {
        product<Number>(transposed, {a.first, c.rows, a.columns, a.stride},
                        {b.first, c.columns, a.columns, b.stride}, c);
    }

    template <class Given>
    void subtract_product(const RowViewOf<Given>& a, const RowViewOf<Given>& b, const RowView& c) const {
        product(not_transposed, turned(b), turned(a), turned(c));
    }

    /// B = L^-1 B, where L is the unit lower triangle of a square part. By halves, so that most of it is
    /// products: OpenBLAS solves triangles at a third of their rate.
    template <class Triangle, class Part>
    void solve_unit_lower(const Triangle& l, const Part& b) const {
        if (l.rows <= widest_triangle) {
            solve_triangle(l, b);
            return;
        }
        const Index half = half_of(l.rows);
        const Index rest = l.rows - half;
        const Part top = b.part(0, 0, half, b.columns);
        solve_unit_lower(l.part(0, 0, half, half), top);
        subtract_product(l.part(half, 0, rest, half), top, b.below(half));
        solve_unit_lower(l.part(half, half, rest, rest), b.below(half));
    }

    /// B = B U^-1, where U is the upper triangle of a square part. Also by halves.
    void divide_by_upper(const RowView& u, const RowView& b) const {
        if (u.rows <= widest_triangle) {
            solve(left, lower, not_transposed, not_unit, turned(u), turned(b));
            return;
        }
        const Index half = half_of(u.rows);
        const Index rest = u.rows - half;
        const RowView first = b.slice(0, half);
        divide_by_upper(u.part(0, 0, half, half), first);
        subtract_product(first, u.part(0, half, half, rest), b.slice(half, rest));
        divide_by_upper(u.part(half, half, rest, rest), b.slice(half, rest));
    }

    /// x = L^-1 x, where L is the unit lower triangle of a square part.
    void solve_unit_lower(const RowView& l, Number* x) const {
        wide_ ? trsv<std::int64_t>(lower, unit, l, x) : trsv<int>(lower, unit, l, x);
    }

    /// x = U^-1 x, where U is the upper triangle of a square part.
    void solve_upper(const RowView& u, Number* x) const {
        wide_ ? trsv<std::int64_t>(upper, not_unit, u, x) : trsv<int>(upper, not_unit, u, x);
    }

    /// y -= A x.
    void subtract_product(const RowView& a, const Number* x, Number* y) const {
        if (a.rows > 0 && a.columns > 0) {
            wide_ ? gemv<std::int64_t>(a, x, y) : gemv<int>(a, x, y);
        }
    }

    /// Index of the entry with the largest magnitude; `count` is at least 1.
    [[nodiscard]] Index largest(Index count, const Number* x) const {
        if (wide_) {
            return static_cast<Index>(
                call<std::size_t (*)(std::int64_t, const Number*, std::int64_t)>(iamax_)(count, x, 1));
        }
        return static_cast<Index>(
            call<std::size_t (*)(int, const Number*, int)>(iamax_)(static_cast<int>(count), x, 1));
    }

    /// Whether the library has LAPACK's LU of a whole matrix.
    [[nodiscard]] bool has_lapack() const { return getrf_ != nullptr; }

    /// A = P L U by LAPACK; `pivots` (as many as columns) receive rows from 0. Returns 0 unless a pivot is 0.
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

    /// Rows of a triangle that the library solves in one call.
    static constexpr Index widest_triangle = 64;

    static Index half_of(Index rows) {
        return (rows / 2 + widest_triangle - 1) / widest_triangle * widest_triangle;
    }

    void solve_triangle(const View& l, const View& b) const { solve(left, lower, not_transposed, unit, l, b); }
    void solve_triangle(const View& l, const RowView& b) const {
        solve(right, lower, transposed, unit, l, turned(b));
    }
    void solve_triangle(const RowView& l, const RowView& b) const {
        solve(right, upper, not_transposed, unit, turned(l), turned(b));
    }

    /// Name of a function, with the letter of the precision in between.
    static std::string name(const std::string& begin, const std::string& end) {
        return begin + (std::is_same_v<Number, float> ? "s" : "d") + end;
    }

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
    template <class Int, class Given>
    void gemm(int second, const ViewOf<Given>& a, const ViewOf<Given>& b, const View& c) const {
        void* function = std::is_same_v<Given, Number> ? gemm_ : narrow_;
        call<Gemm<Int, Given, Number>>(function)(
            by_columns, not_transposed, second, static_cast<Int>(c.rows), static_cast<Int>(c.columns),
            static_cast<Int>(a.columns), -1, a.first, static_cast<Int>(a.stride), b.first,
            static_cast<Int>(b.stride), 1, c.first, static_cast<Int>(c.stride));
    }

    template <class Given>
    void product(int second, const ViewOf<Given>& a, const ViewOf<Given>& b, const View& c) const {
        if (c.rows > 0 && c.columns > 0 && a.columns > 0) {
            wide_ ? gemm<std::int64_t>(second, a, b, c) : gemm<int>(second, a, b, c);
        }
    }

    template <class Int>
    void trsm(int side, int triangle, int turn, int diagonal, const View& l, const View& b) const {
        using Call = void (*)(int, int, int, int, int, Int, Int, Number, const Number*, Int, Number*, Int);
        call<Call>(trsm_)(by_columns, side, triangle, turn, diagonal, static_cast<Int>(b.rows),
                          static_cast<Int>(b.columns), 1, l.first, static_cast<Int>(l.stride), b.first,
                          static_cast<Int>(b.stride));
    }

    void solve(int side, int triangle, int turn, int diagonal, const View& l, const View& b) const {
        if (b.rows > 0 && b.columns > 0) {
            wide_ ? trsm<std::int64_t>(side, triangle, turn, diagonal, l, b)
                  : trsm<int>(side, triangle, turn, diagonal, l, b);
        }
    }

    /// The transposed matrix, which is column-major.
    template <class Given>
    static ViewOf<Given> turned(const RowViewOf<Given>& of) {
        return {of.first, of.columns, of.rows, of.stride};
    }

    template <class Int>
    void trsv(int triangle, int diagonal, const RowView& u, Number* x) const {
        using Call = void (*)(int, int, int, int, Int, const Number*, Int, Number*, Int);
        call<Call>(trsv_)(by_rows, triangle, not_transposed, diagonal, static_cast<Int>(u.columns), u.first,
                          static_cast<Int>(u.stride), x, 1);
    }

    template <class Int>
    void gemv(const RowView& a, const Number* x, Number* y) const {
        using Call =
            void (*)(int, int, Int, Int, Number, const Number*, Int, const Number*, Int, Number, Number*, Int);
        call<Call>(gemv_)(by_rows, not_transposed, static_cast<Int>(a.rows), static_cast<Int>(a.columns), -1,
                          a.first, static_cast<Int>(a.stride), x, 1, 1, y, 1);
    }

    template <class Int>
    Index getrf(const View& a, Index* pivots) const {
        using Call = void (*)(const Int*, const Int*, Number*, const Int*, Int*, Int*);
        const auto rows = static_cast<Int>(a.rows);
        const auto columns = static_cast<Int>(a.columns);
        const auto stride = static_cast<Int>(a.stride);
        // The library writes integers of its own width into the same memory: they fit, because ours are the
        // wider ones.
        Int info = 0;
        call<Call>(getrf_)(&rows, &columns, a.first, &stride, reinterpret_cast<Int*>(pivots), &info);
        for (Index each = std::min(a.rows, a.columns) - 1; each >= 0; --each) {
            Int row = 0;
            std::memcpy(&row, reinterpret_cast<const std::byte*>(pivots) + each * Index{sizeof row}, sizeof row);
            pivots[each] = static_cast<Index>(row) - 1;
        }
        return static_cast<Index>(info);
    }

    bool wide_;
    void* gemm_;
    void* narrow_ = nullptr;  ///< for 16-bit numbers
    void* trsm_;
    void* trsv_;
    void* gemv_;
    void* iamax_;
    void* getrf_;
};

using Level3 = Level3Of<double>;

}  // namespace assay::linear_algebra

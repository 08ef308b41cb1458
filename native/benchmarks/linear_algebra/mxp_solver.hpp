// The solution of HPL-MxP's system: LU in low precision, then GMRES to the accuracy of double precision.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "benchmarks/linear_algebra/hpl_matrix.hpp"
#include "harness/clock.hpp"
#include "harness/crew.hpp"
#include "harness/error.hpp"
#include "harness/sum.hpp"

namespace assay::mxp {

using linear_algebra::Index;
using linear_algebra::Level3Of;
using linear_algebra::RowView;
using linear_algebra::RowViewOf;
using Vector = std::vector<double>;

/// How a system is solved.
struct Options {
    Index n;
    Index block;
    bool narrow;  ///< whether the update multiplies 16-bit numbers, and adds in single precision
};

/// Phases of a solution, timed separately: the declared kernels after `rate`.
enum class Phase : std::size_t { conversion, diagonal, triangles, update, refinement };
using Phases = std::array<double, 5>;

/// The system: HPL's numbers, and on the diagonal the sum of the magnitudes of the others in the row. Each
/// thread writes some rows.
inline void generate(Crew& crew, const RowView& a) {
    const Index n = a.rows;
    const Index block = (n + crew.size() - 1) / crew.size();
    crew.run([&](int place) {
        const hpl::BlockCyclic rows(block, place, crew.size());
        const Index first = std::min(place * block, n);
        const RowView part = a.part(first, 0, std::min(block, n - first), a.columns);
        hpl::generate(n, rows, hpl::BlockCyclic(n + 1, 0, 1), part);
        for (Index row = 0; row < part.rows; ++row) {
            double sum = 0;
            for (Index column = 0; column < n; ++column) {
                sum += std::abs(part.at(row, column));
            }
            part.at(row, first + row) = sum - std::abs(part.at(row, first + row));
        }
    });
}

/// A process that solves A x = b, with one thread for each cpu.
class Solver {
  public:
    /// Bytes of A with b, of its factors, and of a block column and a block row in 16 bits.
    static std::size_t room(const Options& options) {
        const auto [n, block, narrow] = options;
        const Index in_16_bits = narrow ? n * stride(block) + block * stride(n) : 0;
        return static_cast<std::size_t>(n * hpl::stride_of(n + 1)) * sizeof(double) +
               static_cast<std::size_t>(n * stride(n)) * sizeof(float) +
               static_cast<std::size_t>(in_16_bits) * sizeof(Bfloat16) + page;
    }

    /// `crew`: as many threads as the library has. `memory` has `room`.
    Solver(const Options& options, Crew& crew, const Level3Of<float>& single, const Level3Of<double>& exact,
           std::byte* memory)
        : n_(options.n),
          block_(options.block),
          narrow_(options.narrow),
          crew_(crew),
          single_(single),
          exact_(exact),
          a_{reinterpret_cast<double*>(memory), n_, n_ + 1, hpl::stride_of(n_ + 1)},
          lu_{reinterpret_cast<float*>(a_.first + n_ * a_.stride), n_, n_, stride(n_)},
          columns_{reinterpret_cast<Bfloat16*>(lu_.first + n_ * lu_.stride), n_, block_, stride(block_)},
          rows_{columns_.first + n_ * columns_.stride, block_, n_, stride(n_)},
          small_(static_cast<std::size_t>(n_)),
          x_(small_.size()),
          r_(small_.size()),
          basis_(max_steps, r_),
          refined_(max_steps, r_),
          triangle_(max_steps, Vector(max_steps)),
          turns_(max_steps),
          right_(max_steps + 1) {
        step_seconds_.reserve(max_steps);
    }

    /// Writes the system.
    void generate() { mxp::generate(crew_, a_); }

    /// Clears x and the factors of the last solution. The first call touches their memory.
    void forget() {
        std::fill(x_.begin(), x_.end(), 0.);
        by_rows([&](Index row) {
            std::fill_n(lu_.row(row), n_, std::numeric_limits<float>::quiet_NaN());
            if (narrow_) {
                std::fill_n(columns_.row(row), block_, Bfloat16(0));
            }
        });
        for (Index row = 0; narrow_ && row < block_; ++row) {
            std::fill_n(rows_.row(row), n_, Bfloat16(0));
        }
    }

    /// Finds x.
    void solve() {
        phases_ = {};
        since_ = now();
        convert();
        enter(Phase::conversion);
        for (Index first = 0; first < n_; first += block_) {
            eliminate(first, std::min(block_, n_ - first));
        }
        refine();
        enter(Phase::refinement);
    }

    /// Seconds of each phase of the last solution.
    [[nodiscard]] const Phases& phases() const { return phases_; }

    /// Seconds of each of its GMRES steps.
    [[nodiscard]] const std::vector<double>& refinement_steps() const { return step_seconds_; }

    /// The scaled residual, ||A x - b|| / (eps (||A|| ||x|| + ||b||) n) in maximum norms, with regenerated A and
    /// b; the largest number if it is not finite.
    double residual() {
        generate();
        double difference = 0;
        double a_norm = 0;
        double b_norm = 0;
        double x_norm = 0;
        for (Index row = 0; row < n_; ++row) {
            double sum = -a_.at(row, n_);
            double magnitudes = 0;
            for (Index column = 0; column < n_; ++column) {
                sum += a_.at(row, column) * x_[static_cast<std::size_t>(column)];
                magnitudes += std::abs(a_.at(row, column));
            }
            difference = std::isfinite(sum) ? std::max(difference, std::abs(sum)) : HUGE_VAL;
            a_norm = std::max(a_norm, magnitudes);
            b_norm = std::max(b_norm, std::abs(a_.at(row, n_)));
            x_norm = std::max(x_norm, std::abs(x_[static_cast<std::size_t>(row)]));
        }
        const double scale =
            std::numeric_limits<double>::epsilon() / 2 * (a_norm * x_norm + b_norm) * static_cast<double>(n_);
        return finite_error(difference / scale);
    }

    [[nodiscard]] RowView a() const { return a_; }
    [[nodiscard]] Vector& x() { return x_; }

  private:
    static constexpr std::size_t page = 4096;
    /// Columns of a square that is factored row by row.
    static constexpr Index leaf = 32;
    static constexpr std::size_t max_steps = 50;

    /// Like that of doubles: a page holds twice as many numbers.
    static Index stride(Index n) { return 2 * hpl::stride_of((n + 1) / 2); }

    void enter(Phase phase) {
        const double at = now();
        phases_.at(static_cast<std::size_t>(phase)) += at - since_;
        since_ = at;
    }

    /// Calls body(row) for all rows; each thread does some of them.
    template <class Body>
    void by_rows(const Body& body) {
        crew_.share(static_cast<std::size_t>(n_), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                body(static_cast<Index>(row));
            }
        });
    }

    void convert() {
        by_rows([&](Index row) {
            const double* from = a_.row(row);
            float* to = lu_.row(row);
            for (Index column = 0; column < n_; ++column) {
                to[column] = static_cast<float>(from[column]);
            }
        });
    }

    /// One block step: factors the square, then the rest of its rows and columns, then updates what is left.
    void eliminate(Index first, Index count) {
        const Index after = first + count;
        const auto square = lu_.part(first, first, count, count);
        factor(square);
        enter(Phase::diagonal);
        if (after == n_) {
            return;
        }
        const auto right = lu_.part(first, after, count, n_ - after);
        const auto below = lu_.part(after, first, n_ - after, count);
        single_.solve_unit_lower(square, right);
        single_.divide_by_upper(square, below);
        enter(Phase::triangles);
        const auto rest = lu_.part(after, after, n_ - after, n_ - after);
        if (narrow_) {
            single_.subtract_product(narrowed(below, columns_), narrowed(right, rows_), rest);
        } else {
            single_.subtract_product(below, right, rest);
        }
        enter(Phase::update);
    }

    /// A part converted to 16-bit numbers, in memory that has room for them.
    [[nodiscard]] RowViewOf<Bfloat16> narrowed(const RowViewOf<float>& from,
                                               const RowViewOf<Bfloat16>& room) const {
        const auto to = room.part(0, 0, from.rows, from.columns);
        crew_.share(static_cast<std::size_t>(from.rows), 1, [&](std::size_t begin, std::size_t end) {
            for (auto row = static_cast<Index>(begin); row < static_cast<Index>(end); ++row) {
                std::transform(from.row(row), from.row(row) + from.columns, to.row(row),
                               [](float number) { return Bfloat16(number); });
            }
        });
        return to;
    }

    /// Factors a square into L and U, by halves. No pivoting: the diagonal dominates.
    void factor(const RowViewOf<float>& square) const {
        const Index n = square.rows;
        if (n <= leaf) {
            for (Index k = 0; k < n; ++k) {
                const float inverse = 1 / square.at(k, k);
                for (Index row = k + 1; row < n; ++row) {
                    const float factor = square.at(row, k) *= inverse;
                    for (Index column = k + 1; column < n; ++column) {
                        square.at(row, column) -= factor * square.at(k, column);
                    }
                }
            }
            return;
        }
        const Index half = (n / 2 + leaf - 1) / leaf * leaf;
        const auto top = square.part(0, 0, half, half);
        const auto right = square.part(0, half, half, n - half);
        const auto below = square.part(half, 0, n - half, half);
        const auto rest = square.part(half, half, n - half, n - half);
        factor(top);
        single_.solve_unit_lower(top, right);
        single_.divide_by_upper(top, below);
        single_.subtract_product(below, right, rest);
        factor(rest);
    }

    /// v = U^-1 L^-1 v, in single precision, by blocks: products use all threads.
    void precondition(Vector& v) {
        double largest = 0;
        for (const double each : v) {
            largest = std::max(largest, std::abs(each));
        }
        const double scale = largest > 0 ? largest : 1;  // small residuals stay within the range of floats
        std::transform(v.begin(), v.end(), small_.begin(),
                       [&](double each) { return static_cast<float>(each / scale); });
        float* x = small_.data();
        for (Index first = 0; first < n_; first += steps_block) {
            const Index count = std::min(steps_block, n_ - first);
            single_.subtract_product(lu_.part(first, 0, count, first), x, x + first);
            single_.solve_unit_lower(lu_.part(first, first, count, count), x + first);
        }
        for (Index first = (n_ - 1) / steps_block * steps_block; first >= 0; first -= steps_block) {
            const Index count = std::min(steps_block, n_ - first);
            const Index after = first + count;
            single_.subtract_product(lu_.part(first, after, count, n_ - after), x + after, x + first);
            single_.solve_upper(lu_.part(first, first, count, count), x + first);
        }
        std::transform(small_.begin(), small_.end(), v.begin(),
                       [&](float each) { return scale * static_cast<double>(each); });
    }

    static double dot(const Vector& one, const Vector& other) {
        return sum_over(one.size(), [&](std::size_t each) { return one[each] * other[each]; });
    }

    static double norm(const Vector& v) { return std::sqrt(dot(v, v)); }

    /// to += factor v.
    static void add(Vector& to, double factor, const Vector& v) {
        for (std::size_t each = 0; each < v.size(); ++each) {
            to[each] += factor * v[each];
        }
    }

    void copy_b(Vector& to) const {
        for (Index row = 0; row < n_; ++row) {
            to[static_cast<std::size_t>(row)] = a_.at(row, n_);
        }
    }

    /// w = A v.
    void multiply(const Vector& v, Vector& w) const {
        std::fill(w.begin(), w.end(), 0.);
        exact_.subtract_product(a_.part(0, 0, n_, n_), v.data(), w.data());
        for (double& each : w) {
            each = -each;
        }
    }

    /// The diagonal dominates: a norm of A is at most twice its largest entry.
    [[nodiscard]] double largest_of_diagonal() const {
        double largest = 0;
        for (Index row = 0; row < n_; ++row) {
            largest = std::max(largest, a_.at(row, row));
        }
        return largest;
    }

    /// Flexible GMRES without restart (Y. Saad, 1993), with Givens rotations. It starts from the solution by the
    /// factors, which are also the preconditioner, and ends when the residual of b is a rounding error of double
    /// precision. The factors are applied in single precision, slightly differently in each step; in this form
    /// that costs no accuracy.
    void refine() {
        copy_b(x_);
        precondition(x_);
        const double enough = std::numeric_limits<double>::epsilon() / 2 * largest_of_diagonal() * norm(x_);
        copy_b(r_);
        exact_.subtract_product(a_.part(0, 0, n_, n_), x_.data(), r_.data());
        double length = norm(r_);
        right_[0] = length;
        step_seconds_.clear();
        double begin = now();
        for (steps_ = 0; std::abs(right_[steps_]) > enough && steps_ < max_steps; ++steps_) {
            Vector& column = triangle_[steps_];
            Vector& direction = basis_[steps_];
            std::transform(r_.begin(), r_.end(), direction.begin(), [&](double each) { return each / length; });
            refined_[steps_] = direction;
            precondition(refined_[steps_]);
            multiply(refined_[steps_], r_);
            for (std::size_t each = 0; each <= steps_; ++each) {  // modified Gram-Schmidt
                column[each] = dot(r_, basis_[each]);
                add(r_, -column[each], basis_[each]);
            }
            length = norm(r_);
            for (std::size_t each = 0; each < steps_; ++each) {
                const auto [c, s] = turns_[each];
                const double upper = column[each];
                column[each] = c * upper + s * column[each + 1];
                column[each + 1] = c * column[each + 1] - s * upper;
            }
            const double both = std::hypot(column[steps_], length);
            const double c = column[steps_] / both;
            const double s = length / both;
            column[steps_] = both;
            turns_[steps_] = {c, s};
            right_[steps_ + 1] = -s * right_[steps_];
            right_[steps_] *= c;
            const double end = now();
            step_seconds_.push_back(end - std::exchange(begin, end));
        }
        for (std::size_t each = steps_; each-- > 0;) {
            right_[each] /= triangle_[each][each];
            for (std::size_t above = 0; above < each; ++above) {
                right_[above] -= triangle_[each][above] * right_[each];
            }
            add(x_, right_[each], refined_[each]);
        }
    }

    /// Rows of the triangular solutions of one vector.
    static constexpr Index steps_block = 256;

    Index n_;
    Index block_;
    bool narrow_;
    Crew& crew_;
    const Level3Of<float>& single_;
    const Level3Of<double>& exact_;
    RowView a_;
    RowViewOf<float> lu_;
    RowViewOf<Bfloat16> columns_;  ///< below a square, in 16 bits
    RowViewOf<Bfloat16> rows_;     ///< right of it
    std::vector<float> small_;
    Vector x_;
    Vector r_;
    std::vector<Vector> basis_;     ///< of GMRES: one vector for each step
    std::vector<Vector> refined_;   ///< the same, after the preconditioner
    std::vector<Vector> triangle_;  ///< columns
    std::vector<std::pair<double, double>> turns_;
    Vector right_;
    std::vector<double> step_seconds_;
    Phases phases_{};
    double since_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace assay::mxp

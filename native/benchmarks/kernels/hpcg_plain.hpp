// A plain implementation of HPCG's definition without a stored matrix: the reference of the solver.
#pragma once

#include <mpi.h>

#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/kernels/hpcg_counts.hpp"

namespace assay::hpcg {

using Vector = std::vector<double>;

/// One grid, visited point by point in the order of its rows.
class PlainLevel {
  public:
    PlainLevel(const Domain& domain, MPI_Comm comm)
        : domain_(domain), exchange_(domain, comm), x(columns()), r(rows()), product(rows()) {}

    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(domain_.rows()); }
    [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(domain_.columns()); }

    /// y = A v.
    void multiply(Vector& v, Vector& y) {
        exchange_.pass(v.data());
        for (std::size_t row = 0; row < rows(); ++row) {
            y[row] = around(row, v) + 26 * v[row];
        }
    }

    /// One symmetric Gauss-Seidel sweep of A x = r.
    void smooth() {
        exchange_.pass(x.data());
        for (std::size_t row = 0; row < rows(); ++row) {
            x[row] = (r[row] - around(row, x)) / 26;
        }
        for (std::size_t row = rows(); row-- > 0;) {
            x[row] = (r[row] - around(row, x)) / 26;
        }
    }

    /// The row of the finer grid at the same point.
    [[nodiscard]] std::size_t fine(std::size_t row) const {
        const auto n = static_cast<std::size_t>(domain_.n());
        return 2 * (row % n) + 2 * n * (2 * (row / n % n) + 2 * n * 2 * (row / n / n));
    }

    /// Number of points around a point, in the global domain.
    [[nodiscard]] int neighbours(std::size_t row) const {
        int count = 0;
        for_around(row, [&](Column /*column*/) { ++count; });
        return count;
    }

  private:
    template <class Body>
    void for_around(std::size_t row, const Body& body) const {
        const auto n = static_cast<std::size_t>(domain_.n());
        for (int number = 0; number < steps; ++number) {
            const Triple step = step_of(number);
            const Column column =
                domain_.column(static_cast<int>(row % n) + step[0], static_cast<int>(row / n % n) + step[1],
                               static_cast<int>(row / n / n) + step[2]);
            if (number != no_step && column >= 0) {
                body(column);
            }
        }
    }

    [[nodiscard]] double around(std::size_t row, const Vector& v) const {
        double sum = 0;
        for_around(row, [&](Column column) { sum -= v[static_cast<std::size_t>(column)]; });
        return sum;
    }

    Domain domain_;
    Exchange exchange_;

  public:
    Vector x;
    Vector r;
    Vector product;
};

/// Conjugate gradients with the V-cycle, by one thread of each rank.
class Plain {
  public:
    Plain(const Place& place, int n, MPI_Comm comm) : comm_(comm) {
        for (int level = 0; level < levels; ++level) {
            levels_.push_back(std::make_unique<PlainLevel>(Domain(place, n >> level), comm));
        }
        for (std::size_t row = 0; row < finest().rows(); ++row) {
            b_.push_back(26. - finest().neighbours(row));
        }
    }

    /// Norms of b - A x before the first iteration from x = 0 and after each.
    Vector residuals(int iterations) {
        Vector r = b_;
        Vector p(finest().columns());
        Vector product(b_.size());
        Vector found{std::sqrt(dot(r, r))};
        double before = 0;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            finest().r = r;
            cycle(0);
            const double rho = dot(r, finest().x);
            for (std::size_t row = 0; row < r.size(); ++row) {
                p[row] = finest().x[row] + (iteration == 0 ? 0 : rho / before * p[row]);
            }
            before = rho;
            finest().multiply(p, product);
            const double alpha = rho / dot(p, product);
            for (std::size_t row = 0; row < r.size(); ++row) {
                r[row] -= alpha * product[row];
            }
            found.push_back(std::sqrt(dot(r, r)));
        }
        return found;
    }

    /// Norm of b - A x for an x with a number for each row.
    double residual(const double* x) {
        Vector v(x, x + finest().rows());
        v.resize(finest().columns());
        Vector r(b_.size());
        finest().multiply(v, r);
        for (std::size_t row = 0; row < r.size(); ++row) {
            r[row] = b_[row] - r[row];
        }
        return std::sqrt(dot(r, r));
    }

  private:
    [[nodiscard]] PlainLevel& finest() { return *levels_.front(); }

    void cycle(std::size_t level) {
        PlainLevel& here = *levels_[level];
        std::fill(here.x.begin(), here.x.end(), 0.);
        here.smooth();
        if (level + 1 == levels_.size()) {
            return;
        }
        PlainLevel& coarser = *levels_[level + 1];
        here.multiply(here.x, here.product);
        for (std::size_t row = 0; row < coarser.rows(); ++row) {
            coarser.r[row] = here.r[coarser.fine(row)] - here.product[coarser.fine(row)];
        }
        cycle(level + 1);
        for (std::size_t row = 0; row < coarser.rows(); ++row) {
            here.x[coarser.fine(row)] += coarser.x[row];
        }
        here.smooth();
    }

    /// Over all ranks; of as many numbers as the shorter vector has.
    [[nodiscard]] double dot(const Vector& a, const Vector& b) const {
        double sum = 0;
        for (std::size_t row = 0; row < std::min(a.size(), b.size()); ++row) {
            sum += a[row] * b[row];
        }
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
        return sum;
    }

    MPI_Comm comm_;
    std::vector<std::unique_ptr<PlainLevel>> levels_;
    Vector b_;
};

}  // namespace assay::hpcg

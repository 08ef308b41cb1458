// The boxes of points of the ranks in HPCG, and the values that neighbours exchange.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/kernels/rank_grid.hpp"

namespace assay::hpcg {

using Index = std::int64_t;
/// Column index of a matrix entry: a row of this rank, or a value of another rank behind these.
using Column = std::int32_t;
using Triple = std::array<int, 3>;

/// Position of a rank in the grid of all ranks; x changes fastest.
class Place {
  public:
    Place(int ranks, int rank) : size_(grid_of(ranks)) {
        at_ = {rank % size_[0], rank / size_[0] % size_[1], rank / size_[0] / size_[1]};
    }

    [[nodiscard]] const Triple& size() const { return size_; }
    [[nodiscard]] const Triple& at() const { return at_; }

    /// The rank at this offset; -1 outside the grid.
    [[nodiscard]] int neighbour(const Triple& step) const {
        int rank = 0;
        for (std::size_t axis = 3; axis-- > 0;) {
            const int there = at_.at(axis) + step.at(axis);
            if (there < 0 || there >= size_.at(axis)) {
                return -1;
            }
            rank = rank * size_.at(axis) + there;
        }
        return rank;
    }

  private:
    Triple size_;
    Triple at_{};
};

/// The 26 offsets of the points around one, and zero: z, y and x from -1 to 1.
inline constexpr int steps = 27;
inline constexpr int no_step = 13;
inline Triple step_of(int number) { return {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1}; }

/// The box of n^3 points of a rank, x fastest, and the points around it that other ranks own.
class Domain {
  public:
    Domain(const Place& place, int n) : place_(place), n_(n), columns_(rows()) {
        for (int number = 0; number < steps; ++number) {
            const int rank = number == no_step ? -1 : place.neighbour(step_of(number));
            first_.at(static_cast<std::size_t>(number)) = rank < 0 ? -1 : columns_;
            if (rank >= 0) {
                const Triple extent = extent_of(step_of(number));
                columns_ += Index{extent[0]} * extent[1] * extent[2];
            }
        }
    }

    [[nodiscard]] int n() const { return n_; }
    [[nodiscard]] Index rows() const { return Index{n_} * n_ * n_; }
    /// Rows of this rank, and points of others.
    [[nodiscard]] Index columns() const { return columns_; }
    [[nodiscard]] const Place& place() const { return place_; }

    /// The column of a point in the box, or of one around it; -1 outside the global domain.
    [[nodiscard]] Column column(int x, int y, int z) const {
        const auto side = [&](int at) { return at < 0 ? -1 : at >= n_ ? 1 : 0; };
        const Triple step{side(x), side(y), side(z)};
        const int number = step[0] + 1 + 3 * (step[1] + 1) + 9 * (step[2] + 1);
        if (number == no_step) {
            return static_cast<Column>(x + n_ * (y + Index{n_} * z));
        }
        const Index first = first_.at(static_cast<std::size_t>(number));
        if (first < 0) {
            return -1;
        }
        const Triple extent = extent_of(step);
        const auto local = [&](std::size_t axis, int at) { return step.at(axis) == 0 ? at : 0; };
        return static_cast<Column>(first + local(0, x) +
                                   extent[0] * (local(1, y) + Index{extent[1]} * local(2, z)));
    }

    /// Points of the box that touch the neighbour in this direction, in the order of its numbering.
    [[nodiscard]] std::vector<Column> touching(const Triple& step) const {
        const Triple extent = extent_of(step);
        const auto begin = [&](std::size_t axis) { return step.at(axis) > 0 ? n_ - 1 : 0; };
        std::vector<Column> points;
        for (int z = 0; z < extent[2]; ++z) {
            for (int y = 0; y < extent[1]; ++y) {
                for (int x = 0; x < extent[0]; ++x) {
                    points.push_back(column(begin(0) + x, begin(1) + y, begin(2) + z));
                }
            }
        }
        return points;
    }

    /// Column of the first point of the neighbour in direction `number`.
    [[nodiscard]] Index first(int number) const { return first_.at(static_cast<std::size_t>(number)); }

  private:
    /// Number of points along each axis that are in this direction.
    [[nodiscard]] Triple extent_of(const Triple& step) const {
        return {step[0] == 0 ? n_ : 1, step[1] == 0 ? n_ : 1, step[2] == 0 ? n_ : 1};
    }

    Place place_;
    int n_;
    Index columns_;
    std::array<Index, steps> first_{};
};

/// Brings the values of other ranks to their columns in a domain.
class Exchange {
  public:
    Exchange(const Domain& domain, MPI_Comm comm) : comm_(comm) {
        for (int number = 0; number < steps; ++number) {
            if (domain.first(number) >= 0) {
                const Triple step = step_of(number);
                neighbours_.push_back(
                    {domain.place().neighbour(step), domain.first(number), domain.touching(step), {}});
                neighbours_.back().values.resize(neighbours_.back().points.size());
            }
        }
        requests_.resize(2 * neighbours_.size());
    }

    /// Whether this rank has no neighbours.
    [[nodiscard]] bool alone() const { return neighbours_.empty(); }

    /// `x` has a value for each column. One thread of each rank calls it.
    void pass(double* x) {
        std::size_t request = 0;
        for (const Neighbour& each : neighbours_) {
            MPI_Irecv(x + each.first, count(each), MPI_DOUBLE, each.rank, tag, comm_, &requests_[request++]);
        }
        for (Neighbour& each : neighbours_) {
            std::transform(each.points.begin(), each.points.end(), each.values.begin(),
                           [&](Column point) { return x[point]; });
            MPI_Isend(each.values.data(), count(each), MPI_DOUBLE, each.rank, tag, comm_, &requests_[request++]);
            sent_bytes_ += static_cast<double>(each.values.size() * sizeof(double));
        }
        MPI_Waitall(static_cast<int>(request), requests_.data(), MPI_STATUSES_IGNORE);
    }

    /// Bytes that this rank has sent so far.
    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    static constexpr int tag = 11;

    struct Neighbour {
        int rank;
        Index first;                 ///< where its values go
        std::vector<Column> points;  ///< whose values it needs
        std::vector<double> values;
    };

    static int count(const Neighbour& each) { return static_cast<int>(each.points.size()); }

    MPI_Comm comm_;
    std::vector<Neighbour> neighbours_;
    std::vector<MPI_Request> requests_;
    double sent_bytes_ = 0;
};

}  // namespace assay::hpcg

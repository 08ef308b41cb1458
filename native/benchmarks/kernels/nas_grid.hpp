// A cube of points with periodic borders, distributed over MPI ranks as boxes, for MG.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "benchmarks/kernels/nas_problem.hpp"
#include "benchmarks/kernels/rank_grid.hpp"
#include "harness/memory.hpp"

namespace assay::nas {

using Index = std::ptrdiff_t;

/// Points begin ... end - 1 in one direction.
struct Range {
    Index begin;
    Index end;
    [[nodiscard]] Index count() const { return end - begin; }
};

/// Points of this rank along z, y and x.
using Box = std::array<Range, 3>;

/// The ranks as a box of boxes, as close to a cube as possible.
class Boxes {
  public:
    /// Borders of the boxes in a cube of n points a side are multiples of `grain`.
    Boxes(const Messages& messages, Index n, Index grain)
        : n_(n), grain_(grain), ranks_(ranks_along(messages.ranks())) {
        place_ = place_of(messages.rank());
    }

    /// Whether so many ranks all get points of a cube of n points a side.
    static bool has_room(int ranks, Index n) { return min_grain * ranks_along(ranks)[0] <= n; }

    /// The grain with which no rank has many more points than others. The larger it is, the coarser the grids
    /// that can be distributed.
    static Index grain_for(int ranks, Index n) {
        constexpr Index grains_of_rank = 4;
        const Index most = ranks_along(ranks)[0];
        Index grain = n;
        while (most > 1 && grain > min_grain && grain * grains_of_rank * most > n) {
            grain /= 2;
        }
        return grain;
    }

    [[nodiscard]] Box own() const { return box_of(place_); }
    [[nodiscard]] Box of(int rank) const { return box_of(place_of(rank)); }

    /// Number of ranks in a direction.
    [[nodiscard]] int along(std::size_t direction) const { return ranks_.at(direction); }

    /// The rank at so many steps in a direction.
    [[nodiscard]] int neighbour(std::size_t direction, int steps) const {
        auto place = place_;
        place.at(direction) = (place.at(direction) + steps + ranks_.at(direction)) % ranks_.at(direction);
        return (place[0] * ranks_[1] + place[1]) * ranks_[2] + place[2];
    }

  private:
    static constexpr Index min_grain = 2;

    /// Ranks along z, y and x: most along z, whose borders are contiguous.
    static std::array<int, 3> ranks_along(int ranks) {
        const auto [x, y, z] = grid_of(ranks);
        return {z, y, x};
    }

    [[nodiscard]] std::array<int, 3> place_of(int rank) const {
        return {rank / (ranks_[1] * ranks_[2]), rank / ranks_[2] % ranks_[1], rank % ranks_[2]};
    }

    [[nodiscard]] Box box_of(const std::array<int, 3>& place) const {
        Box box{};
        for (std::size_t direction = 0; direction < box.size(); ++direction) {
            const Part part = part_of(static_cast<std::size_t>(n_), place.at(direction), ranks_.at(direction),
                                      static_cast<std::size_t>(grain_));
            box.at(direction) = {static_cast<Index>(part.begin), static_cast<Index>(part.end)};
        }
        return box;
    }

    Index n_;
    Index grain_;
    std::array<int, 3> ranks_;
    std::array<int, 3> place_{};
};

/// A box of points of a cube, and one layer around it. Coordinates are those of the cube, from -1 to n.
class Grid {
  public:
    static std::size_t room(const Box& box) {
        return static_cast<std::size_t>((box[0].count() + 2) * (box[1].count() + 2) * row_room(box[2]));
    }

    Grid(const Box& box, double* numbers)
        : box_(box), row_(row_room(box[2])), plane_(row_ * (box[1].count() + 2)), numbers_(numbers) {
        corner_ = (1 - box[0].begin) * plane_ + (1 - box[1].begin) * row_ + lead - box[2].begin;
    }

    [[nodiscard]] const Range& z() const { return box_[0]; }
    [[nodiscard]] const Range& y() const { return box_[1]; }
    [[nodiscard]] const Range& x() const { return box_[2]; }
    [[nodiscard]] const Box& box() const { return box_; }

    /// A row along x: element x of it is the point there.
    [[nodiscard]] double* row(Index z, Index y) const { return numbers_ + (corner_ + z * plane_ + y * row_); }

    void clear() const { std::fill_n(numbers_, room(box_), 0.); }

  private:
    /// The first point of a row begins a cache line; the layer before it is in the previous line.
    static constexpr Index lead = 8;

    static Index row_room(const Range& x) { return (x.count() + 1 + 2 * lead - 1) / lead * lead; }

    Box box_;
    Index row_;
    Index plane_;
    Index corner_ = 0;
    double* numbers_;
};

/// Fills the layers around boxes with the points of neighbours.
class Borders {
  public:
    /// For grids that are no larger than the finest one of these boxes.
    Borders(const Boxes& boxes, Messages& messages) : boxes_(boxes), messages_(messages) {
        const Box own = boxes.own();
        const auto side = [&](std::size_t direction) { return own.at(direction).count() + 2; };
        const Index most = std::max({side(0) * side(1), side(0) * side(2), side(1) * side(2)});
        sent_.resize(static_cast<std::size_t>(most));
        received_.resize(sent_.size());
    }

    /// `whole`: every rank has all points, so that it is its own neighbour.
    void exchange(const Grid& grid, bool whole) {
        for (const std::size_t direction : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
            const Range& range = grid.box().at(direction);
            if (whole || boxes_.along(direction) == 1) {
                layer(grid, direction, range.begin - 1, range.end - 1, [](double& to, double from) { to = from; });
                layer(grid, direction, range.end, range.begin, [](double& to, double from) { to = from; });
            } else {
                pass(grid, direction, range.begin, range.end, -1);
                pass(grid, direction, range.end - 1, range.begin - 1, 1);
            }
        }
    }

  private:
    /// Calls use(point of layer `to`, point of layer `from`); the edges include layers exchanged earlier.
    template <class Use>
    static void layer(const Grid& grid, std::size_t direction, Index to, Index from, const Use& use) {
        const auto rows = [&](std::size_t other) -> Range {
            const Range& range = grid.box().at(other);
            return other == direction
                       ? Range{0, 1}
                       : Range{range.begin - (other > direction ? 1 : 0), range.end + (other > direction ? 1 : 0)};
        };
        const Range z = rows(0);
        const Range y = rows(1);
        const Range x = rows(2);
        for (Index each_z = z.begin; each_z < z.end; ++each_z) {
            for (Index each_y = y.begin; each_y < y.end; ++each_y) {
                double* target = direction == 0   ? grid.row(to, each_y)
                                 : direction == 1 ? grid.row(each_z, to)
                                                  : grid.row(each_z, each_y) + to;
                double* source = direction == 0   ? grid.row(from, each_y)
                                 : direction == 1 ? grid.row(each_z, from)
                                                  : grid.row(each_z, each_y) + from;
                for (Index each_x = x.begin; each_x < x.end; ++each_x) {
                    use(target[each_x], source[each_x]);
                }
            }
        }
    }

    /// Sends the layer at `from` to the neighbour at so many steps, and receives the layer `to` from the
    /// opposite neighbour.
    void pass(const Grid& grid, std::size_t direction, Index from, Index to, int steps) {
        constexpr int tag = 5;
        double* end = sent_.data();
        layer(grid, direction, to, from, [&](double&, double point) { *end++ = point; });
        const auto count = static_cast<int>(end - sent_.data());
        messages_.pass(static_cast<double>(count) * sizeof(double), [&] {
            MPI_Sendrecv(sent_.data(), count, MPI_DOUBLE, boxes_.neighbour(direction, steps), tag,
                         received_.data(), count, MPI_DOUBLE, boxes_.neighbour(direction, -steps), tag,
                         messages_.comm(), MPI_STATUS_IGNORE);
        });
        const double* next = received_.data();
        layer(grid, direction, to, from, [&](double& point, double) { point = *next++; });
    }

    const Boxes& boxes_;
    Messages& messages_;
    std::vector<double> sent_;
    std::vector<double> received_;
};

}  // namespace assay::nas

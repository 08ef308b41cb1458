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

/// The points of a box that are those of a coarser grid, half as many a side each time.
inline Box halved(Box box, unsigned times) {
    for (Range& range : box) {
        range = {range.begin >> times, range.end >> times};
    }
    return box;
}

/// The ranks as a box of boxes, as close to a cube as possible.
class Boxes {
  public:
    Boxes(const Messages& messages, Index n)
        : n_(n), ranks_(ranks_along(messages.ranks())), grain_(grain_of(ranks_[0], n)) {
        place_ = place_of(messages.rank());
    }

    /// Whether so many ranks all get points of a cube of n points a side.
    static bool has_room(int ranks, Index n) { return min_grain * ranks_along(ranks)[0] <= n; }

    /// How often a box can be halved until it may be a single point. It is even before: coarse points are in the
    /// boxes of their fine points.
    [[nodiscard]] unsigned log_grain() const { return log_of(static_cast<std::size_t>(grain_)); }

    [[nodiscard]] Box own() const { return box_of(place_); }
    [[nodiscard]] Box of(int rank) const { return box_of(place_of(rank)); }

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

    /// Borders of boxes are multiples of the grain, with which no rank has many more points than others. The
    /// larger it is, the coarser the grids that can be distributed. `ranks`: in the direction that has most.
    static Index grain_of(int ranks, Index n) {
        constexpr Index grains_of_rank = 4;
        Index grain = n;
        while (ranks > 1 && grain > min_grain && grain * grains_of_rank * ranks > n) {
            grain /= 2;
        }
        return grain;
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
    std::array<int, 3> ranks_;
    Index grain_;
    std::array<int, 3> place_{};
};

/// A box of points of a cube of `side` points a side, and one layer around it. Coordinates are those of the cube,
/// from -1 to side.
class Grid {
  public:
    static std::size_t room(const Box& box) {
        return static_cast<std::size_t>((box[0].count() + 2) * (box[1].count() + 2) * row_room(box[2]) + lead);
    }

    Grid(const Box& box, Index side, double* numbers)
        : box_(box), side_(side), row_(row_room(box[2])), plane_(row_ * (box[1].count() + 2)), numbers_(numbers) {
        corner_ = (1 - box[0].begin) * plane_ + (1 - box[1].begin) * row_ + lead - box[2].begin;
    }

    [[nodiscard]] const Range& z() const { return box_[0]; }
    [[nodiscard]] const Range& y() const { return box_[1]; }
    [[nodiscard]] const Range& x() const { return box_[2]; }
    [[nodiscard]] const Box& box() const { return box_; }

    /// A row along x: element x of it is the point there.
    [[nodiscard]] double* row(Index z, Index y) const { return numbers_ + (corner_ + z * plane_ + y * row_); }

    /// Whether the box has all points of the cube in a direction: it is its own neighbour there.
    [[nodiscard]] bool is_closed(std::size_t direction) const { return box_.at(direction).count() == side_; }

    /// Fills the layer at both ends of a row that is its own neighbour. Who writes a row calls this: the row is
    /// in the caches then.
    void close_row(Index z, Index y) const {
        if (is_closed(2)) {
            double* points = row(z, y);
            points[x().begin - 1] = points[x().end - 1];
            points[x().end] = points[x().begin];
        }
    }

    void clear() const { std::fill_n(numbers_, room(box_), 0.); }

  private:
    /// The first point of a row begins a cache line. The layer before it is in the previous line, with the layer
    /// behind the previous row.
    static constexpr Index lead = 8;

    static Index row_room(const Range& x) { return (x.count() + 2 + lead - 1) / lead * lead; }

    Box box_;
    Index side_;
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

    /// The layers around a grid; those at the ends of closed rows are there already.
    void exchange(const Grid& grid) {
        for (const std::size_t direction : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
            const Range& range = grid.box().at(direction);
            if (!grid.is_closed(direction)) {
                pass(grid, direction, range.begin, range.end, -1);
                pass(grid, direction, range.end - 1, range.begin - 1, 1);
            } else if (direction != 2) {
                layer(grid, direction, range.begin - 1, range.end - 1, [](double& to, double from) { to = from; });
                layer(grid, direction, range.end, range.begin, [](double& to, double from) { to = from; });
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

/// The points of all ranks on a coarse grid that is whole on every rank.
class Gathered {
  public:
    /// Of the grid that results when boxes are halved so many times.
    Gathered(const Boxes& boxes, Messages& messages, unsigned halvings) : messages_(messages) {
        int all = 0;
        for (int rank = 0; rank < messages.ranks(); ++rank) {
            parts_.push_back(halved(boxes.of(rank), halvings));
            const Box& part = parts_.back();
            counts_.push_back(static_cast<int>(part[0].count() * part[1].count() * part[2].count()));
            starts_.push_back(all);
            all += counts_.back();
        }
        points_.resize(static_cast<std::size_t>(all));
    }

    /// Every rank has its own part, and receives those of all others.
    void gather(const Grid& grid) {
        for_points(grid, messages_.rank(), [](double& packed, double point) { packed = point; });
        messages_.gather(points_.data(), counts_, starts_);
        for (int rank = 0; rank < messages_.ranks(); ++rank) {
            for_points(grid, rank, [](double packed, double& point) { point = packed; });
        }
        for (Index z = grid.z().begin; z < grid.z().end; ++z) {
            for (Index y = grid.y().begin; y < grid.y().end; ++y) {
                grid.close_row(z, y);
            }
        }
    }

  private:
    template <class Use>
    void for_points(const Grid& grid, int rank, const Use& use) {
        const Box& part = parts_[static_cast<std::size_t>(rank)];
        double* next = points_.data() + starts_[static_cast<std::size_t>(rank)];
        for (Index z = part[0].begin; z < part[0].end; ++z) {
            for (Index y = part[1].begin; y < part[1].end; ++y) {
                for (Index x = part[2].begin; x < part[2].end; ++x) {
                    use(*next++, grid.row(z, y)[x]);
                }
            }
        }
    }

    Messages& messages_;
    std::vector<Box> parts_;
    std::vector<int> counts_;
    std::vector<int> starts_;
    std::vector<double> points_;
};

}  // namespace assay::nas

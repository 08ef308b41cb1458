// A grid of the Himeno benchmark distributed over ranks along its three axes, and the halo exchange of a block.
#pragma once

#include <mpi.h>

#include <array>
#include <limits>

#include "benchmarks/stencil/himeno.hpp"

namespace himeno {

/// Ranks along i, j and k.
using Shape = std::array<std::size_t, 3>;

/// Fewest inner points of a rank along k: a vector of any instruction set.
inline constexpr std::size_t fewest_k = 16;

inline std::array<std::size_t, 3> inner_of(const Size& size) { return {size.i - 2, size.j - 2, size.k - 2}; }

/// Whether each rank of a shape has points to work on.
inline bool fits(const Size& size, const Shape& shape) {
    const auto inner = inner_of(size);
    return shape[0] <= inner[0] && shape[1] <= inner[1] &&
           shape[2] <= std::max<std::size_t>(1, inner[2] / fewest_k);
}

/// Largest exchange of a rank, in floats; on a face across k each point is in its own cache line.
inline std::size_t cost(const Size& size, const Shape& shape) {
    constexpr std::size_t line_floats = 16;
    const auto inner = inner_of(size);
    std::array<std::size_t, 3> points{};
    std::array<std::size_t, 3> faces{};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        points[axis] = (inner[axis] + shape[axis] - 1) / shape[axis];
        faces[axis] = std::min<std::size_t>(2, shape[axis] - 1);
    }
    return faces[0] * points[1] * points[2] + faces[1] * points[0] * points[2] +
           line_floats * faces[2] * points[0] * points[1];
}

/// The shape of so many ranks with the smallest exchange; a value of `wanted` that is not 0 fixes the ranks
/// along that axis. The product is 0 if there is no such shape.
inline Shape shape_of(const Size& size, std::size_t ranks, const Shape& wanted) {
    Shape best{};
    std::size_t lowest_cost = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = ranks; i >= 1; --i) {
        for (std::size_t j = ranks % i == 0 ? ranks / i : 0; j >= 1; --j) {
            const Shape shape{i, j, ranks / i / j};
            const auto is_wanted = [&](std::size_t axis) {
                return wanted[axis] == 0 || wanted[axis] == shape[axis];
            };
            const bool whole = ranks / i % j == 0 && is_wanted(0) && is_wanted(1) && is_wanted(2);
            if (whole && fits(size, shape) && cost(size, shape) < lowest_cost) {
                best = shape;
                lowest_cost = cost(size, shape);
            }
        }
    }
    return best;
}

/// Position of a rank in a shape; k changes fastest.
inline std::array<std::size_t, 3> place_of(std::size_t rank, const Shape& shape) {
    return {rank / shape[2] / shape[1], rank / shape[2] % shape[1], rank % shape[2]};
}

/// The block of a rank: inner points distributed as evenly as possible.
inline Block block_of(const Size& size, std::size_t rank, const Shape& shape) {
    const auto inner = inner_of(size);
    const auto place = place_of(rank, shape);
    Block block{size, size};
    std::array<std::size_t, 3> extent{};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const Part part =
            assay::part_of(inner[axis], static_cast<int>(place[axis]), static_cast<int>(shape[axis]), 1);
        block.begin[axis] = part.begin;
        extent[axis] = part.end - part.begin + 2;
    }
    block.size = {extent[0], extent[1], extent[2]};
    return block;
}

/// The halo exchange of a block with neighbouring ranks. Axis by axis (k, then j, then i), each with whole
/// planes, so that edges and corners are passed on.
class Halo {
  public:
    /// Among the ranks of `all`, as many as the shape has. `pressures` must stay at its address.
    Halo(MPI_Comm all, const Shape& shape, const Block& block, float* pressures) {
        int rank = 0;
        MPI_Comm_rank(all, &rank);
        const auto place = place_of(static_cast<std::size_t>(rank), shape);
        const std::size_t row = Grid::stride(block.size);
        const std::array<std::size_t, 3> extent{block.size.i, block.size.j, block.size.k};
        const std::array<std::size_t, 3> step{extent[1] * row, row, 1};
        const std::array<int, 3> ranks{static_cast<int>(shape[1] * shape[2]), static_cast<int>(shape[2]), 1};
        const std::array<MPI_Datatype, 3> planes{plane(extent[1], extent[2], row),
                                                 plane(extent[0], extent[2], step[0]),
                                                 plane(extent[0] * extent[1], 1, row)};
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const auto at = [&](std::size_t index) { return pressures + index * step[axis]; };
            const bool first = place[axis] == 0;
            const bool last = place[axis] + 1 == shape[axis];
            const int below = first ? MPI_PROC_NULL : rank - ranks[axis];
            const int above = last ? MPI_PROC_NULL : rank + ranks[axis];
            const std::size_t end = extent[axis] - 1;
            auto& requests = requests_[axis];
            const int tag = static_cast<int>(axis);
            MPI_Recv_init(at(0), 1, planes[axis], below, tag, all, &requests[0]);
            MPI_Recv_init(at(end), 1, planes[axis], above, tag, all, &requests[1]);
            MPI_Send_init(at(1), 1, planes[axis], below, tag, all, &requests[2]);
            MPI_Send_init(at(end - 1), 1, planes[axis], above, tag, all, &requests[3]);
            const std::size_t points = extent[(axis + 1) % 3] * extent[(axis + 2) % 3];
            const std::size_t sides = (first ? 0U : 1U) + (last ? 0U : 1U);
            sent_bytes_ += static_cast<double>(sides * points * sizeof(float));
        }
        planes_ = planes;
    }
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;
    Halo(Halo&&) = delete;
    Halo& operator=(Halo&&) = delete;
    ~Halo() {
        for (auto& requests : requests_) {
            for (MPI_Request& request : requests) {
                MPI_Request_free(&request);
            }
        }
        for (MPI_Datatype& plane : planes_) {
            MPI_Type_free(&plane);
        }
    }

    void exchange() {
        for (auto requests = requests_.rbegin(); requests != requests_.rend(); ++requests) {
            MPI_Startall(static_cast<int>(requests->size()), requests->data());
            MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
        }
    }

    /// Of one exchange, by this rank.
    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    /// So many runs of floats, at constant distances of so many floats.
    static MPI_Datatype plane(std::size_t runs, std::size_t floats, std::size_t apart) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_vector(static_cast<int>(runs), static_cast<int>(floats), static_cast<int>(apart), MPI_FLOAT,
                        &type);
        MPI_Type_commit(&type);
        return type;
    }

    std::array<std::array<MPI_Request, 4>, 3> requests_{};
    std::array<MPI_Datatype, 3> planes_{};
    double sent_bytes_ = 0;
};

}  // namespace himeno

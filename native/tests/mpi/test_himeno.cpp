// Himeno's grid distributed over ranks: blocks make up the whole, and the exchange fills each point around one.
#include <vector>

#include "benchmarks/stencil/himeno_halo.hpp"
#include "check.hpp"
#include "harness/mpi/world.hpp"

using namespace himeno;

namespace {

constexpr Size extra_small{32, 32, 64};

/// A number for each point of the whole grid.
float at(std::size_t i, std::size_t j, std::size_t k) { return static_cast<float>((i * 32 + j) * 64 + k); }

/// Points around the block that belong to others or to the boundary: all of them must hold their number.
void exchange_brings_every_point_around(MPI_Comm all, const Shape& shape, int rank) {
    const Block block = block_of(extra_small, static_cast<std::size_t>(rank), shape);
    const std::size_t i0 = block.begin[0];
    const std::size_t j0 = block.begin[1];
    const std::size_t k0 = block.begin[2];
    const std::size_t row = Grid::stride(block.size);
    std::vector<float> pressures(block.size.i * block.size.j * row, -1);
    const auto each = [&](const auto& visit) {
        for (std::size_t i = 0; i < block.size.i; ++i) {
            for (std::size_t j = 0; j < block.size.j; ++j) {
                for (std::size_t k = 0; k < block.size.k; ++k) {
                    visit(i, j, k, pressures[(i * block.size.j + j) * row + k]);
                }
            }
        }
    };
    const auto edge = [](std::size_t index, std::size_t count) { return index == 0 || index + 1 == count; };
    each([&](std::size_t i, std::size_t j, std::size_t k, float& value) {
        const bool fixed = edge(i0 + i, 32) || edge(j0 + j, 32) || edge(k0 + k, 64);
        const bool around = edge(i, block.size.i) || edge(j, block.size.j) || edge(k, block.size.k);
        value = fixed || !around ? at(i0 + i, j0 + j, k0 + k) : -1;
    });
    Halo halo(all, shape, block, pressures.data());
    halo.exchange();
    each([&](std::size_t i, std::size_t j, std::size_t k, float value) {
        CHECK(value == at(i0 + i, j0 + j, k0 + k));
    });
}

void blocks_make_up_the_whole() {
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 2, 1}, Shape{7, 5, 3}, Shape{30, 30, 3}}) {
        std::size_t points = 0;
        for (std::size_t rank = 0; rank < shape[0] * shape[1] * shape[2]; ++rank) {
            points += block_of(extra_small, rank, shape).size.inner_points();
        }
        CHECK(points == extra_small.inner_points());
    }
}

void a_shape_has_the_smallest_exchange() {
    CHECK((shape_of(extra_small, 1, {}) == Shape{1, 1, 1}));
    CHECK((shape_of(extra_small, 2, {}) == Shape{2, 1, 1}));
    CHECK((shape_of(extra_small, 16, {}) == Shape{4, 4, 1}));
    CHECK((shape_of(extra_small, 6, {0, 0, 3}) == Shape{2, 1, 3}));
    CHECK(shape_of(extra_small, 2, {0, 0, 4})[0] == 0);
    CHECK(shape_of(extra_small, 64, {0, 0, 64})[0] == 0);
}

}  // namespace

int main() {
    assay::World world(assay::Threads::single);
    blocks_make_up_the_whole();
    a_shape_has_the_smallest_exchange();
    const auto ranks = static_cast<std::size_t>(world.size());
    for (const Shape& shape : {Shape{ranks, 1, 1}, Shape{1, ranks, 1}}) {
        exchange_brings_every_point_around(MPI_COMM_WORLD, shape, world.rank());
    }
    if (ranks <= 3) {
        exchange_brings_every_point_around(MPI_COMM_WORLD, {1, 1, ranks}, world.rank());
    } else {  // edges pass through a neighbour's neighbour
        MPI_Comm four = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, world.rank() < 4 ? 0 : MPI_UNDEFINED, world.rank(), &four);
        for (const Shape& shape : {Shape{2, 2, 1}, Shape{2, 1, 2}, Shape{1, 2, 2}}) {
            if (four != MPI_COMM_NULL) {
                exchange_brings_every_point_around(four, shape, world.rank());
            }
        }
    }
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}

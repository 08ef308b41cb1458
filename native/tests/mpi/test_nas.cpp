// Parts of the NAS kernels that their published values do not check separately. Needs several ranks.
#include "benchmarks/kernels/nas_cg.hpp"
#include "benchmarks/kernels/nas_ep.hpp"
#include "benchmarks/kernels/nas_fft.hpp"
#include "benchmarks/kernels/nas_grid.hpp"
#include "check.hpp"
#include "harness/mpi/world.hpp"

using namespace assay::nas;

namespace {

/// NPB prints these counts for class S.
void deviates_are_counted_by_annuli() {
    const std::array<double, Ep::annuli> published{6140517, 5865300, 1100361, 68546, 1648, 17, 0, 0, 0, 0};
    const std::size_t border = 5'000'000 / Ep::together * Ep::together;
    Ep::Sums sums = Ep::sums_of({0, border});
    const Ep::Sums rest = Ep::sums_of({border, std::size_t{1} << 24U});
    for (std::size_t each = 0; each < sums.size(); ++each) {
        sums.at(each) += rest.at(each);
    }
    for (std::size_t annulus = 0; annulus < published.size(); ++annulus) {
        CHECK(sums.at(2 + annulus) == published.at(annulus));
    }
}

void a_logarithm_is_that_of_the_library() {
    Random random;
    for (int each = 0; each < 10000; ++each) {
        const double number = each < 100 ? std::ldexp(1, -each) : random.next() * random.next();
        const double own = logarithm(assay::Vector{} + number)[0];
        CHECK(std::abs(own - std::log(number)) <= 4e-16 * std::max(1e-3, std::abs(std::log(number))));
    }
    CHECK(logarithm(assay::Vector{} + 1.)[0] == 0);
}

void a_sequence_begins_anywhere() {
    Random all;
    for (std::uint64_t skipped = 0; skipped < 1000; ++skipped) {
        CHECK(Random(default_seed, skipped).next() == all.next());
    }
}

/// Compared with the definition, a different line in each lane.
void a_transform_is_that_of_its_definition() {
    constexpr double pi = std::numbers::pi;
    for (std::size_t n = 1; n <= 128; n *= 2) {
        Random random;
        std::vector<Complexes> numbers(n);
        std::vector<Complexes> room(n);
        for (Complexes& each : numbers) {
            for (int lane = 0; lane < assay::vector_doubles; ++lane) {
                each.real[lane] = random.next();
                each.imaginary[lane] = random.next();
            }
        }
        const std::vector<Complexes> before = numbers;
        const Complexes* after = Transform(n).forward(numbers.data(), room.data());
        for (std::size_t k = 0; k < n; ++k) {
            Complexes sum{};
            for (std::size_t j = 0; j < n; ++j) {
                const double angle = -2 * pi * static_cast<double>(j * k % n) / static_cast<double>(n);
                sum.real += std::cos(angle) * before[j].real - std::sin(angle) * before[j].imaginary;
                sum.imaginary += std::cos(angle) * before[j].imaginary + std::sin(angle) * before[j].real;
            }
            for (int lane = 0; lane < assay::vector_doubles; ++lane) {
                CHECK(std::abs(sum.real[lane] - after[k].real[lane]) < 1e-12);
                CHECK(std::abs(sum.imaginary[lane] - after[k].imaginary[lane]) < 1e-12);
            }
        }
    }
}

void a_matrix_is_symmetric_and_distributed_by_rows() {
    constexpr std::size_t order = 150;
    assay::Memory memory{assay::MemoryPolicy{}};
    const SparseVectors vectors(order, 7);
    const SparseRows whole(vectors, order, {0, order}, -10, memory);
    const SparseRows part(vectors, order, {40, 97}, -10, memory);
    std::vector<std::vector<double>> columns;
    for (std::size_t column = 0; column < order; ++column) {
        std::vector<double> unit(order);
        unit[column] = 1;
        std::vector<double> product(order);
        whole.multiply(unit.data(), product.data());
        std::vector<double> some(part.rows());
        part.multiply(unit.data(), some.data());
        CHECK(std::equal(some.begin(), some.end(), product.begin() + 40));
        columns.push_back(product);
    }
    for (std::size_t row = 0; row < order; ++row) {
        for (std::size_t column = 0; column < row; ++column) {
            CHECK(std::abs(columns[row][column] - columns[column][row]) < 1e-15);
        }
    }
}

/// Every point of the layer around a box is that of the cube, whose borders are periodic.
void borders_are_those_of_the_neighbours() {
    constexpr Index n = 32;
    Messages messages;
    const Boxes boxes(messages, n);
    const Box own = boxes.own();
    const double points = messages.sum(static_cast<double>(own[0].count() * own[1].count() * own[2].count()));
    CHECK(points == static_cast<double>(n * n * n));
    std::vector<double> numbers(Grid::room(own));
    const Grid grid(own, n, numbers.data());
    const auto value = [](Index z, Index y, Index x) {
        return static_cast<double>((((z + n) % n * n) + (y + n) % n) * n + (x + n) % n);
    };
    for (Index z = own[0].begin; z < own[0].end; ++z) {
        for (Index y = own[1].begin; y < own[1].end; ++y) {
            for (Index x = own[2].begin; x < own[2].end; ++x) {
                grid.row(z, y)[x] = value(z, y, x);
            }
            grid.close_row(z, y);
        }
    }
    Borders(boxes, messages).exchange(grid);
    for (Index z = own[0].begin - 1; z <= own[0].end; ++z) {
        for (Index y = own[1].begin - 1; y <= own[1].end; ++y) {
            for (Index x = own[2].begin - 1; x <= own[2].end; ++x) {
                CHECK(grid.row(z, y)[x] == value(z, y, x));
            }
        }
    }
}

}  // namespace

int main() {
    assay::World world(assay::Threads::single);
    deviates_are_counted_by_annuli();
    a_logarithm_is_that_of_the_library();
    a_sequence_begins_anywhere();
    a_transform_is_that_of_its_definition();
    a_matrix_is_symmetric_and_distributed_by_rows();
    borders_are_those_of_the_neighbours();
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}

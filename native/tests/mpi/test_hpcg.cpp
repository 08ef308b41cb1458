// HPCG's solver compared with the plain definition, with each number of ranks of this test, and of threads.
#include <cstdint>

#include "benchmarks/kernels/hpcg_checks.hpp"
#include "check.hpp"
#include "harness/cpus.hpp"
#include "harness/mpi/world.hpp"

using assay::grid_of;
using namespace assay::hpcg;

namespace {

/// Before the first team pins this thread.
const std::vector<int> allowed = assay::affinity();

/// A cpu for each rank, shared by its threads: nothing is timed.
std::vector<int> cpus_of(const assay::Ranks& ranks, int threads) {
    const int cpu = allowed[static_cast<std::size_t>(ranks.rank()) % allowed.size()];
    return std::vector<int>(static_cast<std::size_t>(threads), cpu);
}

/// The solver of one of all ranks, with so many threads.
struct Solved {
    Solved(int n, int threads, const assay::Ranks& ranks)
        : place(ranks.size(), ranks.rank()),
          team(cpus_of(ranks, threads), allowed),
          bytes(Solver::room(place, n) + 64),
          solver(place, n, team, MPI_COMM_WORLD, aligned()),
          plain(place, n, MPI_COMM_WORLD) {
        solver.write();
        solver.reset();
    }

    std::byte* aligned() {
        void* start = bytes.data();
        std::size_t space = bytes.size();
        return static_cast<std::byte*>(std::align(64, space - 64, start, space));
    }

    Place place;
    assay::Team team;
    std::vector<std::byte> bytes;
    Solver solver;
    Plain plain;
};

bool near(double one, double other, double relative) { return std::abs(one / other - 1) <= relative; }

void a_grid_is_as_close_to_a_cube_as_possible() {
    CHECK((grid_of(1) == Triple{1, 1, 1}));
    CHECK((grid_of(2) == Triple{1, 1, 2}));
    CHECK((grid_of(8) == Triple{2, 2, 2}));
    CHECK((grid_of(12) == Triple{2, 2, 3}));
    CHECK((grid_of(7) == Triple{1, 1, 7}));
    CHECK((grid_of(360) == Triple{5, 8, 9}));
}

/// Every point of another rank has its own column, and both ranks agree on which point it is.
void neighbours_mean_the_same_points(const assay::Ranks& ranks) {
    constexpr int n = 6;
    const Place place(ranks.size(), ranks.rank());
    const Domain domain(place, n);
    Exchange exchange(domain, MPI_COMM_WORLD);
    const auto number = [&](int x, int y, int z) {  // of a point in the global domain
        const Triple& at = place.at();
        return x + at[0] * n + 1e3 * (y + at[1] * n) + 1e6 * (z + at[2] * n);
    };
    std::vector<double> values(static_cast<std::size_t>(domain.columns()), -1.);
    for (int z = 0; z < n; ++z) {
        for (int y = 0; y < n; ++y) {
            for (int x = 0; x < n; ++x) {
                values[static_cast<std::size_t>(domain.column(x, y, z))] = number(x, y, z);
            }
        }
    }
    exchange.pass(values.data());
    Index outside = 0;
    for (int z = -1; z <= n; ++z) {
        for (int y = -1; y <= n; ++y) {
            for (int x = -1; x <= n; ++x) {
                const Column column = domain.column(x, y, z);
                outside += column < 0 ? 1 : 0;
                CHECK(column < 0 || values[static_cast<std::size_t>(column)] == number(x, y, z));
            }
        }
    }
    CHECK(outside + domain.columns() == Index{n + 2} * (n + 2) * (n + 2));
}

void iterations_are_those_of_the_definition(const assay::Ranks& ranks) {
    for (const int n : {16, 24}) {
        // Threads that wait for each other on one cpu are slow: with many ranks there is only one.
        for (const int threads : ranks.size() > 2 || n > 16 ? std::vector<int>{1} : std::vector<int>{1, 2, 3}) {
            Solved each(n, threads, ranks);
            constexpr int iterations = 6;
            const Vector expected = each.plain.residuals(iterations);
            each.solver.solve({iterations});
            const std::vector<double>& found = each.solver.residuals();
            CHECK(found.size() == expected.size());
            for (std::size_t at = 0; at < std::min(found.size(), expected.size()); ++at) {
                CHECK(near(found[at], expected[at], 1e-8));
            }
            CHECK(expected.back() < .2 * expected.front());
            CHECK(deviation(each.solver, each.solver.x(), each.plain, expected) < 1);
        }
    }
}

/// Fifty iterations find the solution of ones.
void the_solution_is_ones(const assay::Ranks& ranks) {
    Solved each(16, 1, ranks);
    each.solver.solve({50});
    double error = 0;
    for (Index row = 0; row < each.solver.finest().domain().rows(); ++row) {
        error = std::max(error, std::abs(each.solver.x()[row] - 1));
    }
    CHECK(error < 1e-9);
}

void operators_pass_the_tests_and_faults_do_not(const assay::Ranks& ranks) {
    Solved each(16, 1, ranks);
    CHECK(asymmetry(each.solver, ranks.rank()) < 1);
    CHECK(spectral_excess(each.solver) <= 1);
    CHECK(spectral_excess(each.solver) <= 1);  // it restores the diagonal
    each.solver.reset();
    each.solver.solve({3});
    CHECK(deviation(each.solver, each.solver.x(), each.plain, each.plain.residuals(2)) < 1);
    std::vector<double> wrong_x(each.solver.x(), each.solver.x() + each.solver.finest().domain().rows());
    wrong_x[7] += 1e-3;
    CHECK(deviation(each.solver, wrong_x.data(), each.plain, each.plain.residuals(2)) > 1);
    if (ranks.rank() == 0) {
        each.solver.finest().scale(100, 1.01);
    }
    each.solver.reset();
    each.solver.solve({3});
    CHECK(deviation(each.solver, each.solver.x(), each.plain, each.plain.residuals(2)) > 1);
}

/// For one rank with 16^3 points, counted by hand: 4096 rows with 46^3 entries, 512 with 22^3, 64 with 10^3 and
/// 8 with 4^3.
void counts_are_those_of_the_definition() {
    const double entries = 46. * 46 * 46;
    const double coarse = 22. * 22 * 22 + 10. * 10 * 10;
    const Counts counts = counts_of({1, 1, 1}, 16, 50);
    CHECK(counts[0].flops == 151. * 2 * 4096);
    CHECK(counts[1].flops == 151. * 2 * 4096);
    CHECK(counts[2].flops == 51. * 2 * entries);
    CHECK(counts[3].flops == 50. * (10 * entries + 10 * coarse + 4 * 64));
    CHECK(counts[4].flops == 0);
    CHECK(counts[2].bytes == 51. * (12 * entries + 16 * 4096));
}

}  // namespace

int main() {
    assay::World world(assay::Threads::funneled);
    a_grid_is_as_close_to_a_cube_as_possible();
    neighbours_mean_the_same_points(world);
    iterations_are_those_of_the_definition(world);
    the_solution_is_ones(world);
    operators_pass_the_tests_and_faults_do_not(world);
    counts_are_those_of_the_definition();
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}

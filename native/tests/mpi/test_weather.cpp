// The air of ranks and threads compared with the plain definition, and what its checks accept and reject.
#include "benchmarks/stencil/weather_checks.hpp"
#include "check.hpp"
#include "harness/cpus.hpp"
#include "harness/mpi/world.hpp"

using namespace assay::weather;
using assay::Part;

namespace {

/// Before the first team pins this thread.
const std::vector<int> allowed = assay::affinity();

constexpr Plane plane{64};

/// A cpu for each rank, shared by its threads: nothing is timed.
std::vector<int> cpus_of(int threads) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int cpu = allowed[static_cast<std::size_t>(rank) % allowed.size()];
    return std::vector<int>(static_cast<std::size_t>(threads), cpu);
}

/// The columns of one rank in `comm`, with so many threads.
struct Made {
    Made(MPI_Comm comm, int threads, std::size_t tile)
        : team(cpus_of(threads), allowed),
          columns(columns_of(comm)),
          bytes(Air::bytes(Layout(columns.end - columns.begin, plane.rows)) + 64),
          air(plane, columns, tile, team, aligned()) {
        if (columns.end - columns.begin < plane.columns) {
            air.connect(comm);
        }
        air.start(false);
    }

    static Part columns_of(MPI_Comm comm) {
        int rank = 0;
        int ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        return assay::part_of(plane.columns, rank, ranks, 1);
    }

    std::byte* aligned() {
        void* start = bytes.data();
        std::size_t space = bytes.size();
        return static_cast<std::byte*>(std::align(64, space - 64, start, space));
    }

    assay::Team team;
    Part columns;
    std::vector<std::byte> bytes;
    Air air;
};

void a_series_is_the_power() {
    for (int each = -100; each <= 100; ++each) {
        const double x = each * max_departure / 100;
        const double right = std::expm1(assay::weather::gamma * std::log1p(x));
        CHECK(std::abs(excess(x) - right) <= 1e-15 * std::abs(right));
        CHECK((excess(Lanes{} + x)[0] == excess(x)) || std::abs(excess(Lanes{} + x)[0] - right) <= 1e-16);
    }
}

void air_at_rest_bears_what_is_above_it() {
    for (const double z : {0., 500., 5000., 9999.}) {
        const double slope = (at_rest(z + 1).pressure - at_rest(z - 1).pressure) / 2;
        CHECK(std::abs(slope / (-gravity * at_rest(z).density) - 1) < 1e-7);
        CHECK(std::abs(pressure_of(at_rest(z).heat) / at_rest(z).pressure - 1) < 1e-14);
    }
    CHECK(std::abs(at_rest(0).density - surface_pressure / (gas_constant * rest_temperature)) < 1e-15);
}

void a_bubble_is_in_the_middle_and_three_degrees_warm() {
    double warmest = 0;
    for (std::size_t row = 0; row < plane.rows; ++row) {
        const double z = (static_cast<double>(row) + 0.5) * plane.dz();
        for (std::size_t column = 0; column < plane.columns; ++column) {
            const double warmer = bubble(plane, row, column) / at_rest(z).density;
            warmest = std::max(warmest, warmer);
            CHECK(warmer >= 0);
            CHECK(warmer == bubble(plane, row, plane.columns - 1 - column) / at_rest(z).density);
            CHECK(warmer == 0 || std::abs(z - 2000) < 2000 + plane.dz());
        }
    }
    CHECK(warmest > 2.5 && warmest < 3);
}

/// Each value of the halo is that of its column in the whole plane.
void neighbours_bring_their_columns(MPI_Comm comm) {
    const Part own = Made::columns_of(comm);
    const Layout layout(own.end - own.begin, plane.rows);
    std::vector<double> values(layout.doubles(), -1);
    const auto number = [&](std::size_t row, std::size_t variable, std::size_t column) {
        return static_cast<double>((row * variables + variable) * plane.columns + column % plane.columns);
    };
    const auto each = [&](std::size_t begin, std::size_t end, const auto& visit) {  // of the columns and the halo
        for (std::size_t row = 0; row < plane.rows; ++row) {
            for (std::size_t variable = 0; variable < variables; ++variable) {
                double* first = values.data() + layout.at(row + halo, variable) - halo;
                for (std::size_t column = begin; column < end; ++column) {
                    visit(first[column], number(row, variable, own.begin + plane.columns - halo + column));
                }
            }
        }
    };
    each(halo, halo + layout.columns(), [](double& value, double right) { value = right; });
    Halo between(comm, layout);
    between.pass(values.data());
    each(0, layout.columns() + 2 * halo, [](double value, double right) { CHECK(value == right); });
    const bool alone = layout.columns() == plane.columns;
    CHECK(between.sent_bytes() ==
          (alone ? 0. : static_cast<double>(2 * halo * variables * plane.rows * sizeof(double))));
}

void first_steps_are_those_of_the_definition(const assay::Ranks& ranks) {
    // Threads that wait for each other on one cpu are slow: with many ranks there is only one.
    for (const int threads : ranks.size() > 2 ? std::vector<int>{1} : std::vector<int>{1, 2, 3}) {
        for (const std::size_t tile : {std::size_t{8}, std::size_t{2048}}) {
            Made made(MPI_COMM_WORLD, threads, tile);
            CHECK(deviation(made.air) < 1);
        }
    }
}

/// A narrow part as a plane of its own: its columns are wider than its rows are high.
void a_part_is_a_plane_of_its_own() {
    const Plane part{12, 32};
    const Part columns{0, part.columns};
    assay::Team team(cpus_of(1), allowed);
    std::vector<std::byte> bytes(Air::bytes(Layout(part.columns, part.rows)) + 64);
    void* start = bytes.data();
    std::size_t space = bytes.size();
    Air air(part, columns, 2048, team, static_cast<std::byte*>(std::align(64, space - 64, start, space)));
    air.connect(MPI_COMM_SELF);
    air.start(false);
    const Totals before = totals(air, MPI_COMM_SELF);
    air.advance(100);
    CHECK(imbalance(before, totals(air, MPI_COMM_SELF)) < 1);
    CHECK(asymmetry(air, MPI_COMM_SELF) < 1);
    CHECK(deviation(air) < 1);
    CHECK(air.sent_bytes() == 0);
}

/// For all numbers of ranks and threads.
void a_solution_does_not_depend_on_ranks_and_threads(const assay::Ranks& ranks) {
    constexpr std::uint64_t steps = 40;
    Made alone(MPI_COMM_SELF, 1, 2048);
    Made shared(MPI_COMM_WORLD, ranks.size() > 2 ? 1 : 2, 16);
    alone.air.advance(steps);
    shared.air.advance(steps);
    for (std::size_t variable = 0; variable < variables; ++variable) {
        double largest = 0;
        double difference = 0;
        for (std::size_t row = 0; row < plane.rows; ++row) {
            for (std::size_t column = shared.columns.begin; column < shared.columns.end; ++column) {
                const double right = alone.air.values(row, variable)[column];
                const double found = shared.air.values(row, variable)[column - shared.columns.begin];
                largest = std::max(largest, std::abs(right));
                difference = std::max(difference, std::abs(found - right));
            }
        }
        CHECK(difference <= 1e-12 * largest);
    }
}

void checks_pass_what_is_right_and_nothing_else() {
    Made made(MPI_COMM_WORLD, 1, 2048);
    const Totals before = totals(made.air, MPI_COMM_WORLD);
    made.air.advance(60);
    const Totals after = totals(made.air, MPI_COMM_WORLD);
    CHECK(after.energy < before.energy);
    CHECK(imbalance(before, after) < 1);
    CHECK(asymmetry(made.air, MPI_COMM_WORLD) < 1);
    CHECK(imbalance(before, {after.mass + 2e-13, after.energy, after.departure}) > 1);
    CHECK(imbalance(before, {after.mass, before.energy + 2e-12, after.departure}) > 1);
    CHECK(imbalance(before, {after.mass, before.energy - 5e-5, after.departure}) > 1);
    CHECK(imbalance(before, {after.mass, after.energy, 0.11}) > 1);
    CHECK(imbalance(before, {std::nan(""), after.energy, after.departure}) > 1);
    made.air.start(true);  // winds without mirror symmetry
    CHECK(asymmetry(made.air, MPI_COMM_WORLD) > 1);
    CHECK(imbalance(before, totals(made.air, MPI_COMM_WORLD)) > 1);
}

}  // namespace

int main() {
    assay::World world(assay::Threads::funneled);
    a_series_is_the_power();
    air_at_rest_bears_what_is_above_it();
    a_bubble_is_in_the_middle_and_three_degrees_warm();
    neighbours_bring_their_columns(MPI_COMM_WORLD);
    neighbours_bring_their_columns(MPI_COMM_SELF);
    first_steps_are_those_of_the_definition(world);
    a_part_is_a_plane_of_its_own();
    a_solution_does_not_depend_on_ranks_and_threads(world);
    checks_pass_what_is_right_and_nothing_else();
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}

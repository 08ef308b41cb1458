// HPL's system, and its solution on every grid that the ranks of this test can form. Needs several ranks.
#include <cstdlib>
#include <iostream>

#include "benchmarks/linear_algebra/hpl_solver.hpp"
#include "check.hpp"
#include "harness/cpus.hpp"
#include "harness/mpi/world.hpp"

using namespace assay::hpl;

namespace {

/// The whole [A b] on one process.
struct System {
    explicit System(Index n) : n(n), numbers(static_cast<std::size_t>(n * stride_of(n + 1))) {
        generate(n, BlockCyclic(n, 0, 1), BlockCyclic(n, 0, 1), a());
    }
    [[nodiscard]] RowView a() { return {numbers.data(), n, n + 1, stride_of(n + 1)}; }

    Index n;
    std::vector<double> numbers;
};

/// By elimination of one column after another, without blocks.
std::vector<double> plain_solution(Index n) {
    System system(n);
    const RowView a = system.a();
    for (Index c = 0; c < n; ++c) {
        Index pivot = c;
        for (Index row = c + 1; row < n; ++row) {
            pivot = std::abs(a.at(row, c)) > std::abs(a.at(pivot, c)) ? row : pivot;
        }
        for (Index column = c; column <= n; ++column) {
            std::swap(a.at(c, column), a.at(pivot, column));
        }
        for (Index row = c + 1; row < n; ++row) {
            const double factor = a.at(row, c) / a.at(c, c);
            for (Index column = c; column <= n; ++column) {
                a.at(row, column) -= factor * a.at(c, column);
            }
        }
    }
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index row = n - 1; row >= 0; --row) {
        double sum = a.at(row, n);
        for (Index column = row + 1; column < n; ++column) {
            sum -= a.at(row, column) * x[static_cast<std::size_t>(column)];
        }
        x[static_cast<std::size_t>(row)] = sum / a.at(row, row);
    }
    return x;
}

double largest(const double* values, Index count) {
    double maximum = 0;
    for (Index each = 0; each < count; ++each) {
        maximum = std::max(maximum, std::abs(values[each]));
    }
    return maximum;
}

/// Norms that HPL prints for N = 500 if its residual fails (hpcc 1.5.0).
void the_system_is_that_of_hpl() {
    System system(500);
    double norm = 0;
    for (Index row = 0; row < 500; ++row) {
        double sum = 0;
        for (Index column = 0; column < 500; ++column) {
            sum += std::abs(system.a().at(row, column));
        }
        norm = std::max(norm, sum);
    }
    std::vector<double> b;
    for (Index row = 0; row < 500; ++row) {
        b.push_back(system.a().at(row, 500));
    }
    CHECK(std::abs(norm - 136.012042) < 1e-6);
    CHECK(std::abs(largest(b.data(), 500) - 0.499890) < 1e-6);
    CHECK(std::abs(largest(plain_solution(500).data(), 500) - 3.745726) < 1e-6);
}

void every_process_generates_its_part_of_the_same_system() {
    constexpr Index n = 97;
    System whole(n);
    for (const Index block : {1, 8, 97}) {
        for (int place = 0; place < 3; ++place) {
            const BlockCyclic rows(block, place, 3);
            const BlockCyclic columns(block, 1, 2);
            const Index height = rows.before(n);
            std::vector<double> numbers(static_cast<std::size_t>(height * stride_of(n + 1)));
            const RowView part{numbers.data(), height, columns.before(n + 1), stride_of(n + 1)};
            generate(n, rows, columns, part);
            for (Index j = 0; j < part.columns; ++j) {
                for (Index i = 0; i < height; ++i) {
                    CHECK(part.at(i, j) == whole.a().at(rows.whole(i), columns.whole(j)));
                    CHECK(rows.here(rows.whole(i)) && rows.before(rows.whole(i)) == i);
                }
            }
        }
    }
}

/// Cpus of the threads of a rank: three in some of the cases, because ranks and threads share few cores here; in
/// one of these cases all ranks except the first have two.
std::vector<int> cpus_for(const Options& options, int rank) {
    const std::vector<int> cpus = assay::affinity();
    std::size_t threads = 1;
    if (options.algorithm == Algorithm::ring) {
        threads = options.n == 157 ? 3 : options.n == 300 && rank > 0 ? 2 : 1;
    }
    std::vector<int> found(threads);
    for (std::size_t each = 0; each < found.size(); ++each) {
        found[each] = cpus[each % cpus.size()];
    }
    return found;
}

/// Solves on the first p x q ranks; 0 elsewhere.
template <class Check>
void solve(const Options& options, int p, int q, const assay::Blas& blas, const Check& check) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < p * q ? 0 : MPI_UNDEFINED, rank, &some);
    if (some == MPI_COMM_NULL) {
        return;
    }
    {
        const Grid grid(some, p, q);
        const Level3 level3(blas);
        std::vector<double> numbers(Solver::room(options, p, q));
        assay::Crew crew(cpus_for(options, rank), assay::Crew::Between::asleep);
        Solver solver(options, grid, level3, crew, numbers.data());
        solver.generate();
        solver.solve();
        check(solver);
    }
    MPI_Comm_free(&some);
}

/// Whether the phases of all steps together are those of the solution, except the substitution.
bool steps_add_up(const Solver& solver) {
    Phases sums{};
    for (const Phases& step : solver.steps()) {
        for (std::size_t phase = 0; phase < sums.size(); ++phase) {
            sums.at(phase) += step.at(phase);
        }
    }
    for (std::size_t phase = 0; phase < sums.size(); ++phase) {
        if (std::abs(sums.at(phase) - solver.phases().at(phase)) > 1e-9) {
            return false;
        }
    }
    return !solver.steps().empty();
}

/// On every grid of all ranks, or of all except one: smaller grids are tested with fewer ranks.
void x_is_that_of_plain_elimination_on_every_grid(int ranks, const assay::Blas& blas) {
    const int fewest = std::max(1, ranks - 1);
    for (const auto& [n, block] :
         {std::pair<Index, Index>{157, 16}, {64, 64}, {37, 40}, {1, 1}, {130, 65}, {300, 200}}) {
        const std::vector<double> expected = plain_solution(n);
        for (int p = 1; p <= ranks; ++p) {
            for (int q = (fewest + p - 1) / p; p * q <= ranks; ++q) {
                for (const Algorithm algorithm : {Algorithm::ring, Algorithm::modified_ring,
                                                  Algorithm::spread_roll, Algorithm::library, Algorithm::shared}) {
                    for (const bool both : {false, true}) {
                        const Exchange exchange = both ? Exchange::binary : Exchange::ring;
                        const Options options{n, std::min(n, block), algorithm, exchange, both, both};
                        solve(options, p, q, blas, [&](Solver& solver) {
                            double error = 0;
                            for (std::size_t i = 0; i < expected.size(); ++i) {
                                error = std::max(error, std::abs(solver.x()[i] - expected[i]));
                            }
                            CHECK(error <= 1e-10 * largest(expected.data(), n));
                            CHECK(solver.residual() < 1);
                            CHECK(solver.shares_panels() == (algorithm == Algorithm::shared && q > 1));
                            CHECK(steps_add_up(solver));
                        });
                    }
                }
            }
        }
    }
}

void what_is_wrong_exceeds_the_limit(int ranks, const assay::Blas& blas) {
    const Options options{200, 32, Algorithm::ring, Exchange::ring, true, false};
    const auto check_error = [&](double by) {
        solve(options, 1, ranks, blas, [&](Solver& solver) {
            solver.x()[117] += by;
            CHECK(!(solver.residual() < 16));
        });
    };
    check_error(1e-8);
    check_error(std::numeric_limits<double>::quiet_NaN());
    check_error(std::numeric_limits<double>::infinity());
}

}  // namespace

int main() {
    assay::World world(assay::Threads::single);
    the_system_is_that_of_hpl();
    every_process_generates_its_part_of_the_same_system();
    // A named library must work; without a name a default one is tested, if there is any.
    const char* named = std::getenv("ASSAY_TEST_BLAS");
    const std::string file = named == nullptr ? "" : named;
    const std::string missing = assay::test::failure_of([&] {
        const assay::Blas blas(file, {assay::affinity().front()});
        x_is_that_of_plain_elimination_on_every_grid(world.size(), blas);
        what_is_wrong_exceeds_the_limit(world.size(), blas);
    });
    if (!missing.empty()) {
        std::cerr << "not tested: " << missing << '\n';
        CHECK(file.empty());
    }
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}

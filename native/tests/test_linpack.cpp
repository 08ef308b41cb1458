// LINPACK's generator, and its solution by DGEFA and DGESL.
#include "benchmarks/linear_algebra/linpack.hpp"
#include "check.hpp"

using namespace assay::linpack;

namespace {

struct System {
    System(Index n, Index leading)
        : numbers(static_cast<std::size_t>(leading * n)),
          b(static_cast<std::size_t>(n)),
          a{numbers.data(), n, n, leading} {
        generate(a, b.data());
    }

    std::vector<double> numbers;
    std::vector<double> b;
    View a;
};

/// 3125 x 1325 = 63 x 65536 + 11857, and so on.
void the_generator_is_that_of_linpack() {
    const System system(100, 201);
    CHECK(system.a.at(0, 0) == (11857. - 32768.) / 16384.);
    CHECK(system.a.at(1, 0) == (3125 * 11857 % 65536 - 32768.) / 16384.);
    double sum = 0;
    for (Index j = 0; j < 100; ++j) {
        sum += system.a.at(17, j);
    }
    CHECK(std::abs(sum - system.b[17]) < 1e-13);
}

/// LINPACK's own output has a normalised residual of 1.67 for order 100, and x of 1.
void every_x_is_one_and_the_residual_is_small(Index n, Index leading, double limit) {
    const System given(n, leading);
    System work(n, leading);
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    dgefa(work.a, pivots.data());
    dgesl(work.a, pivots.data(), work.b.data());
    for (const double x : work.b) {
        CHECK(std::abs(x - 1) < 1e-11);
    }
    CHECK(residual(given.a, given.b.data(), work.b.data()) < limit);
    work.b[static_cast<std::size_t>(n / 2)] += 1e-9;
    CHECK(residual(given.a, given.b.data(), work.b.data()) > 1000);
    work.b[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK(residual(given.a, given.b.data(), work.b.data()) > 1e300);
}

}  // namespace

int main() {
    the_generator_is_that_of_linpack();
    every_x_is_one_and_the_residual_is_small(100, 200, 4);
    every_x_is_one_and_the_residual_is_small(100, 201, 4);
    every_x_is_one_and_the_residual_is_small(1, 1, 4);
    every_x_is_one_and_the_residual_is_small(500, 501, 20);
    return assay::test::failures == 0 ? 0 : 1;
}

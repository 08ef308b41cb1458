// The mixes of plain loops: published counts, and correct sums.
#include <cmath>
#include <string>

#include "benchmarks/cores/flops_mixes.hpp"
#include "benchmarks/cores/flops_plain.hpp"
#include "check.hpp"

namespace {

/// A number that counts its operations.
struct Counted {
    double value;
    static inline int adds = 0;
    static inline int subtractions = 0;
    static inline int multiplications = 0;
    static inline int divisions = 0;

    constexpr Counted(double of) : value(of) {}  // NOLINT(google-explicit-constructor)
    friend Counted operator+(Counted a, Counted b) { return ++adds, a.value + b.value; }
    friend Counted operator-(Counted a, Counted b) { return ++subtractions, a.value - b.value; }
    friend Counted operator*(Counted a, Counted b) { return ++multiplications, a.value * b.value; }
    friend Counted operator/(Counted a, Counted b) { return ++divisions, a.value / b.value; }
    Counted& operator+=(Counted other) { return *this = *this + other; }
};

/// The source has the published counts, except the square that some terms do not use.
template <int number>
void a_turn_has_the_counts_that_are_stated() {
    const auto& mix = flops_plain::mixes.at(number - 1);
    Counted::adds = Counted::subtractions = Counted::multiplications = Counted::divisions = 0;
    flops_plain::sum<number, Counted>(1, 0.5);
    const int unused = number == 1 || number == 2 ? 1 : 0;
    CHECK(Counted::adds == mix.adds);
    CHECK(Counted::subtractions == mix.subtractions);
    CHECK(Counted::multiplications - unused == mix.multiplications);
    CHECK(Counted::divisions == mix.divisions);
}

/// The counts of the modules that `flops` has in registers.
void counts_are_those_of_the_modules() {
    for (const auto& plain : flops_plain::mixes) {
        for (const auto& mix : flops::mixes) {
            if (std::string(mix.name) == plain.name) {
                CHECK(mix.adds == plain.adds && mix.subtractions == plain.subtractions);
                CHECK(mix.multiplications == plain.multiplications && mix.divisions == plain.divisions);
            }
        }
    }
}

/// Some of the sums are known integrals: (1 - cos 1), .75 sin 1, .75 (sin 1)^2 / 2.
void sums_are_those_of_the_functions() {
    constexpr int turns = 1 << 14;
    const auto mean = [](double sum, double last) { return (sum - last / 2) / turns; };
    CHECK(std::abs(mean(flops_plain::sum<3>(turns, 1. / turns), std::sin(1.)) - (1 - std::cos(1.))) < 1e-8);
    const double cosine = flops_plain::sum<4>(turns, 1. / turns);
    CHECK(std::abs(mean(cosine, .75 * std::cos(1.)) + .375 / turns - .75 * std::sin(1.)) < 1e-7);
    const double both = flops_plain::sum<6>(turns, 1. / turns);
    CHECK(std::abs(mean(both, .375 * std::sin(2.)) - .375 * std::sin(1.) * std::sin(1.)) < 1e-7);
}

}  // namespace

int main() {
    a_turn_has_the_counts_that_are_stated<1>();
    a_turn_has_the_counts_that_are_stated<2>();
    a_turn_has_the_counts_that_are_stated<3>();
    a_turn_has_the_counts_that_are_stated<4>();
    a_turn_has_the_counts_that_are_stated<5>();
    a_turn_has_the_counts_that_are_stated<6>();
    a_turn_has_the_counts_that_are_stated<7>();
    a_turn_has_the_counts_that_are_stated<8>();
    counts_are_those_of_the_modules();
    sums_are_those_of_the_functions();
    return assay::test::failures == 0 ? 0 : 1;
}

// The mixes of flops: the published counts, spread over their turns, and values that stay normal numbers.
#include <cmath>
#include <map>
#include <string>

#include "benchmarks/cores/flops_mixes.hpp"
#include "check.hpp"

namespace {

using flops::Mix;
using flops::Operation;

const Mix& named(const std::string& name) {
    for (const Mix& mix : flops::mixes) {
        if (mix.name == name) {
            return mix;
        }
    }
    throw std::out_of_range(name);
}

/// As tabulated by the author of flops.c 2.0: FADD, FSUB, FMUL, FDIV and their total, module by module.
void modules_have_the_published_counts() {
    const int published[8][5] = {{7, 0, 6, 1, 14},   {3, 2, 1, 1, 7},    {6, 2, 9, 0, 17}, {7, 0, 8, 0, 15},
                                 {13, 0, 15, 1, 29}, {13, 0, 16, 0, 29}, {3, 3, 3, 3, 12}, {13, 0, 17, 0, 30}};
    for (int module = 1; module <= 8; ++module) {
        const Mix& mix = named("mix-" + std::to_string(module));
        const auto order = flops::order_of(mix);
        std::map<Operation, int> counts;
        for (int position = 0; position < mix.operations(); ++position) {
            ++counts[order.at(static_cast<std::size_t>(position))];
        }
        const auto& wanted = published[module - 1];
        CHECK(counts[Operation::add] == wanted[0]);
        CHECK(counts[Operation::subtract] == wanted[1]);
        CHECK(counts[Operation::multiply] == wanted[2]);
        CHECK(counts[Operation::divide] == wanted[3]);
        CHECK(mix.operations() == wanted[4]);
        CHECK(mix.flops() == wanted[4]);
    }
}

void a_fused_operation_is_two_flops() {
    CHECK(named("fma").flops() == 2 * named("fma").operations());
    CHECK(named("sqrt").flops() == named("sqrt").operations());
}

/// The three divisions of module 7 are four operations apart.
void operations_are_spread_over_a_turn() {
    const Mix& mix = named("mix-7");
    const auto order = flops::order_of(mix);
    for (std::size_t position = 0; position < 12; ++position) {
        CHECK(order.at(position) == order.at((position + 4) % 12));
    }
}

void values_neither_grow_nor_vanish() {
    for (const Mix& mix : flops::mixes) {
        for (std::size_t index = 0; index < 300; ++index) {
            for (const std::uint64_t turns : {1, 2, 3, 50, 99, 100}) {
                const double value = flops::reference(mix, {}, flops::start_value(index), turns);
                CHECK(value > 0.1 && value < 10);
            }
        }
    }
}

void a_hundred_turns_are_as_good_as_more() {
    for (const Mix& mix : flops::mixes) {
        double value = 1.25;
        for (int turn = 0; turn < 100'000; ++turn) {
            value = flops::reference(mix, {}, value, 1);
        }
        CHECK(std::abs(value / flops::reference(mix, {}, 1.25, 100) - 1) < 1e-14);
    }
}

}  // namespace

int main() {
    modules_have_the_published_counts();
    a_fused_operation_is_two_flops();
    operations_are_spread_over_a_turn();
    values_neither_grow_nor_vanish();
    a_hundred_turns_are_as_good_as_more();
    return assay::test::failures == 0 ? 0 : 1;
}

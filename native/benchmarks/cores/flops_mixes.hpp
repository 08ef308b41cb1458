// Which operations flops does, in which order, with which operands, and what the results must be.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace flops {

enum class Operation { add, subtract, multiply, divide, fma, root };

/// Number of each operation in one turn of a mix.
struct Mix {
    const char* name;
    int adds = 0;
    int subtractions = 0;
    int multiplications = 0;
    int divisions = 0;
    int fmas = 0;
    int roots = 0;

    [[nodiscard]] constexpr int operations() const {
        return adds + subtractions + multiplications + divisions + fmas + roots;
    }
    [[nodiscard]] constexpr int flops() const { return operations() + fmas; }
    [[nodiscard]] constexpr bool alone(int count) const { return count == operations(); }
};

/// Single operations, then the modules of flops.c 2.0 with the counts that its author published.
inline constexpr std::array mixes{
    Mix{.name = "add", .adds = 4},
    Mix{.name = "multiply", .multiplications = 4},
    Mix{.name = "fma", .fmas = 4},
    Mix{.name = "divide", .divisions = 2},
    Mix{.name = "sqrt", .roots = 2},
    Mix{.name = "mix-1", .adds = 7, .multiplications = 6, .divisions = 1},
    Mix{.name = "mix-2", .adds = 3, .subtractions = 2, .multiplications = 1, .divisions = 1},
    Mix{.name = "mix-3", .adds = 6, .subtractions = 2, .multiplications = 9},
    Mix{.name = "mix-4", .adds = 7, .multiplications = 8},
    Mix{.name = "mix-5", .adds = 13, .multiplications = 15, .divisions = 1},
    Mix{.name = "mix-6", .adds = 13, .multiplications = 16},
    Mix{.name = "mix-7", .adds = 3, .subtractions = 3, .multiplications = 3, .divisions = 3},
    Mix{.name = "mix-8", .adds = 13, .multiplications = 17},
};
inline constexpr std::size_t max_operations = 30;

/// The operations of a turn in order: each kind is spread evenly.
constexpr std::array<Operation, max_operations> order_of(const Mix& mix) {
    constexpr std::array kinds{Operation::add,    Operation::subtract, Operation::multiply,
                               Operation::divide, Operation::fma,      Operation::root};
    const std::array counts{mix.adds, mix.subtractions, mix.multiplications, mix.divisions, mix.fmas, mix.roots};
    std::array<int, kinds.size()> due{};
    std::array<Operation, max_operations> order{};
    for (std::size_t position = 0; position < static_cast<std::size_t>(mix.operations()); ++position) {
        std::size_t next = 0;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            due[kind] += counts[kind];
            next = due[kind] > due[next] ? kind : next;
        }
        due[next] -= mix.operations();
        order[position] = kinds[next];
    }
    return order;
}

/// Operands. Every turn brings a value closer to a fixed point, or back to its start: nothing overflows or
/// becomes denormal, however long it runs.
template <class Number>
struct Operands {
    Number plus = Number(0.3);
    Number opposite = -plus;
    Number minus = Number(0.17);
    Number factor = Number(0.7);
    Number inverse = 1 / factor;
    Number divisor = Number(1.1);
    Number numerator = Number(2.7);
};

/// Start of a value: different in each chain and lane.
inline double start_value(std::size_t index) { return 1 + static_cast<double>(index % 97) / 128; }

/// The same turns on one number in double precision, with the operands as rounded. After a hundred turns nothing
/// changes.
inline double reference(const Mix& mix, const Operands<double>& of, double x, std::uint64_t turns) {
    const auto turn = order_of(mix);
    for (std::uint64_t done = 0; done < std::min<std::uint64_t>(turns, 100); ++done) {
        for (int position = 0; position < mix.operations(); ++position) {
            const bool other = position % 2 == 1;
            switch (turn[static_cast<std::size_t>(position)]) {
                case Operation::add:
                    x += mix.alone(mix.adds) && other ? of.opposite : of.plus;
                    break;
                case Operation::subtract:
                    x -= of.minus;
                    break;
                case Operation::multiply:
                    x *= mix.alone(mix.multiplications) && other ? of.inverse : of.factor;
                    break;
                case Operation::divide:
                    x = mix.alone(mix.divisions) ? of.numerator / x : x / of.divisor;
                    break;
                case Operation::fma:
                    x += of.factor * (other ? of.opposite : of.plus);
                    break;
                case Operation::root:
                    x = std::sqrt(of.numerator);
                    break;
            }
        }
    }
    return x;
}

}  // namespace flops

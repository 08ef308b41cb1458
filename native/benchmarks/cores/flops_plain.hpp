// Sums of functions in plain C++, with as many operations in a turn as the modules of flops.c 2.0. The compiler
// chooses the instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flops_plain {

/// Operations of a turn in the source: those of the loop (2 additions, 1 multiplication) and of the term.
struct Counts {
    const char* name;
    int adds;
    int subtractions;
    int multiplications;
    int divisions;

    [[nodiscard]] constexpr int flops() const { return adds + subtractions + multiplications + divisions; }
};

inline constexpr std::array mixes{
    Counts{"mix-1", 7, 0, 6, 1}, Counts{"mix-2", 3, 2, 1, 1},   Counts{"mix-3", 6, 2, 9, 0},
    Counts{"mix-4", 7, 0, 8, 0}, Counts{"mix-5", 13, 0, 15, 1}, Counts{"mix-6", 13, 0, 16, 0},
    Counts{"mix-7", 3, 3, 3, 3}, Counts{"mix-8", 13, 0, 17, 0},
};

/// sin(u) / u with w = u^2: 6 additions, 6 multiplications.
template <class Number>
constexpr Number sine(Number w) {
    return (((((Number(1. / 6227020800) * w + Number(-1. / 39916800)) * w + Number(1. / 362880)) * w +
              Number(-1. / 5040)) *
                 w +
             Number(1. / 120)) *
                w +
            Number(-1. / 6)) *
               w +
           Number(1);
}

/// The same, with subtractions instead of two of the additions.
template <class Number>
constexpr Number sine_with_subtractions(Number w) {
    return (((((Number(1. / 6227020800) * w - Number(1. / 39916800)) * w + Number(1. / 362880)) * w -
              Number(1. / 5040)) *
                 w +
             Number(1. / 120)) *
                w +
            Number(-1. / 6)) *
               w +
           Number(1);
}

/// cos(u) with w = u^2: 5 additions, 5 multiplications.
template <class Number>
constexpr Number cosine(Number w) {
    return ((((Number(-1. / 3628800) * w + Number(1. / 40320)) * w + Number(-1. / 720)) * w + Number(1. / 24)) *
                w +
            Number(-1. / 2)) *
               w +
           Number(1);
}

/// The term of mix `number` (from 1) at u in [0, 1].
template <int number, class Number>
constexpr Number term(Number u) {
    [[maybe_unused]] const Number w = u * u;  // not counted where it is not used
    if constexpr (number == 1) {
        return (((Number(.25) * u + Number(.5)) * u + Number(.75)) * u + Number(1)) /
               ((Number(.5) * u + Number(.25)) * u + Number(1));
    } else if constexpr (number == 2) {
        return (Number(4) - u) / (u + Number(1)) - Number(.5);
    } else if constexpr (number == 3) {
        return u * sine_with_subtractions(w);
    } else if constexpr (number == 4) {
        return Number(.75) * cosine(w);
    } else if constexpr (number == 5) {
        return Number(.75) * u * sine(w) / cosine(w);
    } else if constexpr (number == 6) {
        return Number(.75) * u * sine(w) * cosine(w);
    } else if constexpr (number == 7) {
        return Number(1) / (u + Number(1)) - Number(.25) / w - Number(.5) / (Number(2) * u - Number(3));
    } else {
        const Number c = cosine(w);
        return Number(.75) * u * sine(w) * c * c;
    }
}

/// The sum of a term at `turns` points of (0, 1].
template <int number, class Number>
Number sum(std::uint64_t turns, Number step) {
    Number total = 0;
    Number place = 0;
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
        place += Number(1);
        total += term<number>(place * step);
    }
    return total;
}

}  // namespace flops_plain

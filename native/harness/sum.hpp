// Sums of many numbers with the vector instructions of one core.
#pragma once

#include <array>
#include <cstddef>

namespace assay {

/// Sum of term(0) ... term(count - 1), in partial sums that vector instructions can hold.
template <class Term>
double sum_over(std::size_t count, const Term& term) {
    constexpr std::size_t at_once = 16;
    std::array<double, at_once> sums{};
    std::size_t each = 0;
    for (; each + at_once <= count; each += at_once) {
        for (std::size_t lane = 0; lane < at_once; ++lane) {
            sums[lane] += term(each + lane);
        }
    }
    double sum = 0;
    for (const double part : sums) {
        sum += part;
    }
    for (; each < count; ++each) {
        sum += term(each);
    }
    return sum;
}

}  // namespace assay

// Fourier transforms of several lines of complex numbers at once, one line in each lane of a vector.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "harness/vector.hpp"

namespace assay::nas {

/// One complex number of each line.
struct Complexes {
    Vector real;
    Vector imaginary;
};

/// Transforms of one length, a power of two: Stockham's algorithm, radix 4 with a last step of radix 2.
class Transform {
  public:
    explicit Transform(std::size_t length) : roots_(length) {
        for (std::size_t k = 0; k < length; ++k) {
            const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
            roots_[k] = {std::cos(angle), std::sin(angle)};
        }
    }

    /// Sum of x_j exp(-2 pi i j k / n), unscaled. It is the inverse transform if real and imaginary parts are
    /// exchanged before and after it. Returns the one of the two that holds the result; `from` is overwritten.
    [[nodiscard]] Complexes* forward(Complexes* from, Complexes* to) const {
        std::size_t stride = 1;
        for (std::size_t n = roots_.size(); n > 1; std::swap(from, to)) {
            if (n == 2) {
                by_two(from, to, stride);
                n = 1;
            } else {
                by_four(from, to, n, stride);
                n /= 4;
                stride *= 4;
            }
        }
        return from;
    }

  private:
    struct Root {
        double real;
        double imaginary;
    };

    static Complexes times(const Root& root, const Complexes& number) {
        return {root.real * number.real - root.imaginary * number.imaginary,
                root.real * number.imaginary + root.imaginary * number.real};
    }
    static Complexes sum(const Complexes& one, const Complexes& other) {
        return {one.real + other.real, one.imaginary + other.imaginary};
    }
    static Complexes difference(const Complexes& one, const Complexes& other) {
        return {one.real - other.real, one.imaginary - other.imaginary};
    }
    /// Times -i.
    static Complexes turned(const Complexes& number) { return {number.imaginary, -number.real}; }

    static void by_two(const Complexes* from, Complexes* to, std::size_t stride) {
        for (std::size_t q = 0; q < stride; ++q) {
            to[q] = sum(from[q], from[q + stride]);
            to[q + stride] = difference(from[q], from[q + stride]);
        }
    }

    void by_four(const Complexes* from, Complexes* to, std::size_t n, std::size_t stride) const {
        const std::size_t quarter = n / 4;
        const std::size_t step = roots_.size() / n;
        for (std::size_t p = 0; p < quarter; ++p) {
            const Root& one = roots_[p * step];
            const Root& two = roots_[2 * p * step];
            const Root& three = roots_[3 * p * step];
            const Complexes* a = from + stride * p;
            Complexes* y = to + stride * 4 * p;
            for (std::size_t q = 0; q < stride; ++q) {
                const Complexes& b = a[q + stride * quarter];
                const Complexes& c = a[q + stride * 2 * quarter];
                const Complexes& d = a[q + stride * 3 * quarter];
                const Complexes even = sum(a[q], c);
                const Complexes odd = sum(b, d);
                const Complexes even_rest = difference(a[q], c);
                const Complexes odd_rest = turned(difference(b, d));
                y[q] = sum(even, odd);
                y[q + stride] = times(one, sum(even_rest, odd_rest));
                y[q + 2 * stride] = times(two, difference(even, odd));
                y[q + 3 * stride] = times(three, difference(even_rest, odd_rest));
            }
        }
    }

    std::vector<Root> roots_;
};

}  // namespace assay::nas

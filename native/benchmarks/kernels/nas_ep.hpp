// EP, embarrassingly parallel: pairs of Gaussian deviates from pairs of uniform ones, counted by square annuli
// (RNR-94-007, 3.1.1).
#pragma once

#include <bit>
#include <cmath>

#include "benchmarks/kernels/nas_problem.hpp"
#include "benchmarks/kernels/nas_random.hpp"
#include "harness/instructions.hpp"
#include "harness/vector.hpp"

namespace assay::nas {

/// As many whole numbers as a Vector has doubles.
using Words = std::uint64_t __attribute__((vector_size(vector_bytes), may_alias));

inline Words words_of(Vector numbers) { return reinterpret_cast<Words>(numbers); }
inline Vector numbers_of(Words words) { return reinterpret_cast<Vector>(words); }

/// Whole numbers below 2^52 as doubles: their bits become the mantissa of a number in [2^52, 2^53).
inline Vector converted(Words below_2_52) { return numbers_of(below_2_52 | 0x4330'0000'0000'0000U) - 0x1p52; }

inline Vector square_root(Vector numbers) {
#if defined(__AVX512F__)
    return _mm512_maskz_sqrt_pd(0xff, numbers);  // GCC 12 warns about its own header with the plain intrinsic
#elif defined(__AVX__)
    return _mm256_sqrt_pd(numbers);
#elif defined(__SSE2__)
    return _mm_sqrt_pd(numbers);
#else
    for (int lane = 0; lane < vector_doubles; ++lane) {
        numbers[lane] = std::sqrt(numbers[lane]);
    }
    return numbers;
#endif
}

/// Natural logarithms of normal numbers above 0, correct except for the last bits: for m 2^e with m from
/// sqrt(1/2) to sqrt(2) they are e log 2 + 2 artanh((m - 1) / (m + 1)), by the series of artanh.
inline Vector logarithm(Vector numbers) {
    constexpr std::uint64_t one = 0x3ff0'0000'0000'0000U;
    constexpr auto root = std::bit_cast<std::uint64_t>(0.70710678118654752440);
    constexpr unsigned mantissa_bits = 52;
    constexpr double bias = 1023;
    constexpr double log_2 = 0.69314718055994530942;
    const Words exponent = (words_of(numbers) + (one - root)) >> mantissa_bits;  // biased
    const Vector m = numbers_of(words_of(numbers) - (exponent << mantissa_bits) + one);
    const Vector s = (m - 1) / (m + 1);
    const Vector z = s * s;  // below 0.0295, so that eleven terms are enough
    Vector series = z / 21 + 1. / 19;
    series = series * z + 1. / 17;
    series = series * z + 1. / 15;
    series = series * z + 1. / 13;
    series = series * z + 1. / 11;
    series = series * z + 1. / 9;
    series = series * z + 1. / 7;
    series = series * z + 1. / 5;
    series = series * z + 1. / 3;
    return (converted(exponent) - bias) * log_2 + (2 * s + 2 * s * z * series);
}

class Ep final : public Problem {
  public:
    static constexpr std::size_t annuli = 10;

    Ep(Class size, const Numbers& numbers, Messages& messages)
        : published_(of_class(published, size)), pairs_(count_of(numbers, "pairs")), messages_(messages) {}

    void prepare() override { sums_ = {}; }

    void solve() override {
        const Part pairs = messages_.part(pairs_, together);
        sums_ = sums_of(pairs);
        messages_.add_up(sums_);
    }

    [[nodiscard]] double error() override {
        double counted = 0;
        for (std::size_t each = 2; each < sums_.size(); ++each) {
            counted += sums_.at(each);
        }
        // The annuli contain all pairs inside the circle; the sums check everything else.
        const double none = counted > 0 && counted < static_cast<double>(pairs_) ? 0 : 1;
        return std::max({none, deviation(sums_[0], published_.x), deviation(sums_[1], published_.y)});
    }

    [[nodiscard]] double tolerance() const override { return 1e-8; }

    /// Sums of the deviates X and Y, then the number of pairs with max(|X|, |Y|) in [l, l + 1).
    using Sums = std::array<double, 2 + annuli>;

    /// For these pairs; borders are multiples of `together`.
    static Sums sums_of(Part pairs) {
        Words state{};
        for (int lane = 0; lane < vector_doubles; ++lane) {
            state[lane] = seed * steps(2 * pairs.begin + 2 * static_cast<std::uint64_t>(lane) + 1) & modulus_mask;
        }
        const std::uint64_t leap = steps(2 * vector_doubles);
        Vector x_sum{};
        Vector y_sum{};
        std::array<Counts, annuli> at_least{};
        for (std::size_t pair = pairs.begin; pair < pairs.end; pair += vector_doubles) {
            const Vector x = converted(state) * 0x1p-45 - 1;
            const Vector y = converted(state * multiplier & modulus_mask) * 0x1p-45 - 1;
            state = state * leap & modulus_mask;
            const Vector square = x * x + y * y;
            const auto inside = square <= 1;
            // Pairs outside the circle become 0, because log 1 is 0.
            const Vector t = inside ? square : Vector{} + 1;
            const Vector scale = square_root(-2 * logarithm(t) / t);
            const Vector x_deviate = x * scale;
            const Vector y_deviate = y * scale;
            x_sum += x_deviate;
            y_sum += y_deviate;
            const Vector largest = greater(absolute(x_deviate), absolute(y_deviate));
            at_least[0].lanes -= reinterpret_cast<Words>(inside);  // true is -1
            for (std::size_t annulus = 1; annulus < annuli; ++annulus) {
                at_least[annulus].lanes -= reinterpret_cast<Words>(largest >= static_cast<double>(annulus));
            }
        }
        Sums sums{};
        for (int lane = 0; lane < vector_doubles; ++lane) {
            sums[0] += x_sum[lane];
            sums[1] += y_sum[lane];
            for (std::size_t annulus = 0; annulus < annuli; ++annulus) {
                const std::uint64_t beyond = annulus + 1 < annuli ? at_least.at(annulus + 1).lanes[lane] : 0;
                sums.at(2 + annulus) += static_cast<double>(at_least.at(annulus).lanes[lane] - beyond);
            }
        }
        return sums;
    }

    /// Pairs processed at once.
    static constexpr std::size_t together = vector_doubles;

  private:
    struct Published {
        double x;
        double y;
    };

    /// Of each lane.
    struct Counts {
        Words lanes;
    };

    static constexpr std::uint64_t seed = 271'828'183;

    // Sums of X and Y. S, A, B: RNR-94-007, table 3.2 (S: sample code); W, C: NPB 2; D: NPB 3.
    static constexpr ByClass<Published> published{{{-3.247834652034740e3, -6.958407078382297e3},
                                                   {-2.863319731645753e3, -6.320053679109499e3},
                                                   {-4.295875165629892e3, -1.580732573678431e4},
                                                   {4.033815542441498e4, -2.660669192809235e4},
                                                   {4.764367927995374e4, -8.084072988043731e4},
                                                   {1.982481200946593e5, -1.020596636361769e5}}};

    static Vector absolute(Vector numbers) { return numbers_of(words_of(numbers) & ~(std::uint64_t{1} << 63U)); }
    static Vector greater(Vector one, Vector other) { return one > other ? one : other; }

    const Published& published_;
    std::size_t pairs_;
    Messages& messages_;
    Sums sums_{};
};

}  // namespace assay::nas

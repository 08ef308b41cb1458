// Registers of numbers, and instructions on them that the compiler can neither merge, split nor remove.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/// The asm constraint of a register that holds a vector or a floating-point number. If it is unknown, memory is
/// used: correct, but slow.
#if defined(__AVX512VL__)
#define FLOPS_REGISTER "v"
#define FLOPS_REGISTERS 32
#elif defined(__SSE2__)
#define FLOPS_REGISTER "x"
#define FLOPS_REGISTERS 16
#elif defined(__aarch64__)
#define FLOPS_REGISTER "w"
#define FLOPS_REGISTERS 32
#elif defined(__riscv) || defined(__s390x__)
#define FLOPS_REGISTER "f"
#define FLOPS_REGISTERS 16
#elif defined(__powerpc64__)
#define FLOPS_REGISTER "wa"
#define FLOPS_REGISTERS 32
#else
#define FLOPS_REGISTER "m"
#define FLOPS_REGISTERS 16
#endif

#define FLOPS_INLINE [[gnu::always_inline]] inline

namespace flops {

/// Values in flight on a core: enough for five cycles on two units, or nine if there are registers. With twelve
/// of sixteen registers GCC keeps one of them in memory, and a turn waits for it.
inline constexpr std::size_t chains = FLOPS_REGISTERS == 32 ? 18 : 10;

/// Hides the value from the compiler, so that the instructions that make and use it stay as they are.
template <class Register>
FLOPS_INLINE void keep(Register& value) {
    asm volatile("" : "+" FLOPS_REGISTER(value));
}

/// The same for several values: one statement for each would make the compiler slow.
template <std::size_t count, class Register>
FLOPS_INLINE void keep_all(Register* values) {
    static_assert(count % 2 == 0);
    if constexpr (count % 6 == 0 && count > 0) {
        asm volatile(""
                     : "+" FLOPS_REGISTER(values[0]), "+" FLOPS_REGISTER(values[1]), "+" FLOPS_REGISTER(values[2]),
                       "+" FLOPS_REGISTER(values[3]), "+" FLOPS_REGISTER(values[4]),
                       "+" FLOPS_REGISTER(values[5]));
        keep_all<count - 6>(values + 6);
    } else if constexpr (count > 0) {
        asm volatile("" : "+" FLOPS_REGISTER(values[0]), "+" FLOPS_REGISTER(values[1]));
        keep_all<count - 2>(values + 2);
    }
}

#if defined(__FMA__) || defined(__aarch64__) || defined(__powerpc64__) || defined(__s390x__) || defined(__riscv_d)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

/// A vector that this program was not compiled for.
struct Unavailable {
    static constexpr bool available = false;
};

/// Instructions on one kind of register with `lanes_of_use` numbers. (A template would lose the attributes of
/// its type.)
#define FLOPS_INSTRUCTIONS(Number, Type, lanes_of_use, to_all, sum, difference, product, quotient, fused, \
                           square_root)                                                                   \
    using Register = Type;                                                                                \
    static constexpr bool available = true;                                                               \
    static constexpr std::size_t lanes = lanes_of_use;                                                    \
    FLOPS_INLINE static Type all_lanes(Number number) { return to_all; }                                  \
    FLOPS_INLINE static Type add(Type x, Type y) { return sum; }                                          \
    FLOPS_INLINE static Type subtract(Type x, Type y) { return difference; }                              \
    FLOPS_INLINE static Type multiply(Type x, Type y) { return product; }                                 \
    FLOPS_INLINE static Type divide(Type x, Type y) { return quotient; }                                  \
    FLOPS_INLINE static Type accumulate(Type x, Type a, Type b) { return fused; }                         \
    FLOPS_INLINE static Type root(Type x) { return square_root; }

#define FLOPS_VECTOR(Name, Number, Type, fused, square_root)                                                 \
    struct Name {                                                                                            \
        FLOPS_INSTRUCTIONS(Number, Type, sizeof(Type) / sizeof(Number), Type{} + number, x + y, x - y, x* y, \
                           x / y, fused, square_root)                                                        \
    }

#if defined(__FMA__)
#define FLOPS_FMA(instruction) instruction(a, b, x)
#else
#define FLOPS_FMA(instruction) x + a* b  // never called: the mix is refused
#endif

#if defined(__SSE2__)
// The intrinsic keeps the upper half of a factor, which costs a copy.
#if defined(__FMA__)
#define FLOPS_ACCUMULATE_ONE(instruction) \
    asm volatile(instruction " %2, %1, %0" : "+" FLOPS_REGISTER(x) : FLOPS_REGISTER(a), FLOPS_REGISTER(b))
#else
#define FLOPS_ACCUMULATE_ONE(instruction) x += a * b  // never called: the mix is refused
#endif
FLOPS_INLINE __m128d accumulate_one(__m128d x, __m128d a, __m128d b) {
    FLOPS_ACCUMULATE_ONE("vfmadd231sd");
    return x;
}
FLOPS_INLINE __m128 accumulate_one(__m128 x, __m128 a, __m128 b) {
    FLOPS_ACCUMULATE_ONE("vfmadd231ss");
    return x;
}
// Of C++'s own scalars the compiler would put several into one register, and others into memory.
struct Double {
    FLOPS_INSTRUCTIONS(double, __m128d, 1, _mm_set_sd(number), _mm_add_sd(x, y), _mm_sub_sd(x, y),
                       _mm_mul_sd(x, y), _mm_div_sd(x, y), accumulate_one(x, a, b), _mm_sqrt_sd(x, x))
};
struct Float {
    FLOPS_INSTRUCTIONS(float, __m128, 1, _mm_set_ss(number), _mm_add_ss(x, y), _mm_sub_ss(x, y), _mm_mul_ss(x, y),
                       _mm_div_ss(x, y), accumulate_one(x, a, b), _mm_sqrt_ss(x))
};
FLOPS_VECTOR(Doubles128, double, __m128d, FLOPS_FMA(_mm_fmadd_pd), _mm_sqrt_pd(x));
FLOPS_VECTOR(Floats128, float, __m128, FLOPS_FMA(_mm_fmadd_ps), _mm_sqrt_ps(x));
#elif defined(__aarch64__)
FLOPS_VECTOR(Doubles128, double, float64x2_t, vfmaq_f64(x, a, b), vsqrtq_f64(x));
FLOPS_VECTOR(Floats128, float, float32x4_t, vfmaq_f32(x, a, b), vsqrtq_f32(x));
#endif

#if !defined(__SSE2__)
FLOPS_VECTOR(Double, double, double, std::fma(a, b, x), std::sqrt(x));
FLOPS_VECTOR(Float, float, float, std::fma(a, b, x), std::sqrt(x));
#endif
#if !defined(__SSE2__) && !defined(__aarch64__)
using Doubles128 = Unavailable;
using Floats128 = Unavailable;
#endif

#if defined(__AVX__)
FLOPS_VECTOR(Doubles256, double, __m256d, FLOPS_FMA(_mm256_fmadd_pd), _mm256_sqrt_pd(x));
FLOPS_VECTOR(Floats256, float, __m256, FLOPS_FMA(_mm256_fmadd_ps), _mm256_sqrt_ps(x));
#else
using Doubles256 = Unavailable;
using Floats256 = Unavailable;
#endif

#if defined(__AVX512F__)
// GCC 12 warns about its own intrinsics of these two.
FLOPS_INLINE __m512d root512(__m512d x) {
    asm volatile("vsqrtpd %0, %0" : "+v"(x));
    return x;
}
FLOPS_INLINE __m512 root512(__m512 x) {
    asm volatile("vsqrtps %0, %0" : "+v"(x));
    return x;
}
FLOPS_VECTOR(Doubles512, double, __m512d, _mm512_fmadd_pd(a, b, x), root512(x));
FLOPS_VECTOR(Floats512, float, __m512, _mm512_fmadd_ps(a, b, x), root512(x));
#else
using Doubles512 = Unavailable;
using Floats512 = Unavailable;
#endif

#undef FLOPS_VECTOR
#undef FLOPS_INSTRUCTIONS
#undef FLOPS_FMA
#undef FLOPS_ACCUMULATE_ONE

/// `count` dependent integer adds: one cycle each. From two registers, because some processors merge adds of
/// constants.
template <int count>
FLOPS_INLINE void dependent_adds(std::uint64_t& sum, std::uint64_t one) {
#if defined(__x86_64__)
    asm volatile(".rept %c2\n\taddq %1, %0\n\t.endr" : "+r"(sum) : "r"(one), "i"(count) : "cc");
#elif defined(__aarch64__) || defined(__riscv) || defined(__powerpc64__)
    asm volatile(".rept %2\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one), "i"(count));
#else
    for (int add = 0; add < count; ++add) {
        sum += one;
        asm volatile("" : "+r"(sum));
    }
#endif
}

}  // namespace flops

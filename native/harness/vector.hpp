// Vectors as wide as the compiled instruction set: at any address, and stores that bypass the caches.
#pragma once

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

#if !__has_builtin(__builtin_nontemporal_store) && !__has_builtin(__builtin_ia32_movntpd)
#include "harness/instructions.hpp"
#endif

namespace assay {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__) || defined(__aarch64__)
// Arm's only non-temporal store writes a pair of 16-byte registers (STNP); for a single register clang makes an
// ordinary store.
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

/// May alias arrays of double; its address must be a multiple of its size.
using Vector = double __attribute__((vector_size(vector_bytes), may_alias));

inline constexpr int vector_doubles = vector_bytes / static_cast<int>(sizeof(double));

#if defined(__SSE2__) || __has_builtin(__builtin_nontemporal_store)
inline constexpr bool has_non_temporal_stores = true;
#else
inline constexpr bool has_non_temporal_stores = false;
#endif

/// A vector at the address of any number. Only in here: clang forgets the smaller alignment where such a type is
/// the argument of a template, and then reads the stack of a caller that believes in it.
template <class Type>
struct [[gnu::packed, gnu::may_alias]] Unaligned {
    Type vector;
};

template <class Type, class Number>
[[nodiscard]] inline Type load(const Number* address) {
    return reinterpret_cast<const Unaligned<Type>*>(address)->vector;
}

template <class Type, class Number>
inline void store(Number* address, const Type& vector) {
    reinterpret_cast<Unaligned<Type>*>(address)->vector = vector;
}

/// Stores past the caches. Must not be called if the compiler has no such store: there is no silent substitute.
inline void store_non_temporal([[maybe_unused]] Vector* target, [[maybe_unused]] Vector value) {
#if __has_builtin(__builtin_nontemporal_store)
    __builtin_nontemporal_store(value, target);
#elif __has_builtin(__builtin_ia32_movntpd)
    auto* const numbers = reinterpret_cast<double*>(target);
#if defined(__AVX512F__)
    __builtin_ia32_movntpd512(numbers, value);
#elif defined(__AVX__)
    __builtin_ia32_movntpd256(numbers, value);
#else
    __builtin_ia32_movntpd(numbers, value);
#endif
#elif defined(__AVX512F__)
    _mm512_stream_pd(reinterpret_cast<double*>(target), value);
#elif defined(__AVX__)
    _mm256_stream_pd(reinterpret_cast<double*>(target), value);
#elif defined(__SSE2__)
    _mm_stream_pd(reinterpret_cast<double*>(target), value);
#else
    __builtin_trap();
#endif
}

/// Makes non-temporal stores visible to other cores.
inline void fence_non_temporal() {
#if __has_builtin(__builtin_ia32_sfence)
    __builtin_ia32_sfence();
#elif defined(__SSE2__)
    _mm_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace assay

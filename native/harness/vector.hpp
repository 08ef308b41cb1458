// Vectors of doubles as wide as the instructions compiled for, and stores that bypass the caches.
#pragma once

// The header of all instructions takes a second to compile.
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

namespace assay {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__) || defined(__aarch64__)
// Arm's only non-temporal store is of a pair of 16-byte registers (STNP); of one register clang makes an ordinary
// one.
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

/// Stores past the caches. Where the compiler has no such store it must not be called: there is no silent
/// substitute.
inline void store_non_temporal([[maybe_unused]] Vector* target, [[maybe_unused]] Vector value) {
#if defined(__AVX512F__)
    _mm512_stream_pd(reinterpret_cast<double*>(target), value);
#elif defined(__AVX__)
    _mm256_stream_pd(reinterpret_cast<double*>(target), value);
#elif defined(__SSE2__)
    _mm_stream_pd(reinterpret_cast<double*>(target), value);
#elif __has_builtin(__builtin_nontemporal_store)
    __builtin_nontemporal_store(value, target);
#else
    __builtin_trap();
#endif
}

/// Makes non-temporal stores visible to other cores.
inline void fence_non_temporal() {
#if defined(__SSE2__)
    _mm_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace assay

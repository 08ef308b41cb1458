// The intrinsics of x86: the header of all of them takes a second to compile, so who can does without.
#pragma once

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

// The intrinsics of x86. Their header takes a second to compile: include it only where needed.
#pragma once

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

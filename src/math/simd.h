/* Which of the compiled lane widths this machine runs. */
#ifndef PL_MATH_SIMD_H
#define PL_MATH_SIMD_H

#include "pliant/base.h"

/* Whether kernels of 8 and 16 floats are compiled in. PLIANT_NARROW leaves them out: builds that only look for races need
   not wait for them. */
#if defined(__x86_64__) && !defined(PLIANT_NARROW)
#define PL_SIMD_WIDE 1
#else
#define PL_SIMD_WIDE 0
#endif

/* 4, 8 (AVX2) or 16 (AVX-512 F, DQ, BW, VL): the widest this machine and its operating system support, found once. The
   environment variable PLIANT_SIMD (4, 8 or 16) chooses a narrower one; other values, and widths the machine lacks,
   leave the choice as it is. */
PL_API int pl_simd_width(void);

/* Whether code compiled for that width runs here. */
bool pl_simd_supports(int width);

#endif

/* Which of the compiled lane widths this machine runs. */
#ifndef PL_MATH_SIMD_H
#define PL_MATH_SIMD_H

#include "pliant/base.h"

/* 4, 8 (AVX2) or 16 (AVX-512 F, DQ, BW, VL): the widest this machine and its operating system support, found once. The
   environment variable PLIANT_SIMD (4, 8 or 16) chooses a narrower one; other values, and widths the machine lacks,
   leave the choice as it is. */
PL_API int pl_simd_width(void);

/* Whether code compiled for that width runs here. */
bool pl_simd_supports(int width);

#endif

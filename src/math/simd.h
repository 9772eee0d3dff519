/* Which of the compiled lane widths this machine runs. */
#ifndef PL_MATH_SIMD_H
#define PL_MATH_SIMD_H

#include "pliant/base.h"

/* The widths whose kernels are compiled in: PL_SIMD_EACH(X) is X(4), X(8), X(16), or fewer of them;
   builds that look for other things than numbers leave some out (PLIANT_WIDTHS in
   CMakeLists.txt). */
#if defined(__x86_64__) && !defined(PLIANT_WITHOUT_8)
#define PL_SIMD_8(X) X(8)
#else
#define PL_SIMD_8(X)
#endif
#if defined(__x86_64__) && !defined(PLIANT_WITHOUT_16)
#define PL_SIMD_16(X) X(16)
#else
#define PL_SIMD_16(X)
#endif
#define PL_SIMD_EACH(X) X(4) PL_SIMD_8(X) PL_SIMD_16(X)

/* Where a table made by PL_SIMD_EACH has the kernels of a width: `[PL_SIMD_PLACE(width)] = …,`. */
#define PL_SIMD_PLACE(width) ((width) / 8)

/* 4, 8 (AVX2) or 16 (AVX-512 F, DQ, BW, VL): the widest this machine and its operating system
   support, found once. The environment variable PLIANT_SIMD (4, 8 or 16) chooses a narrower one;
   other values, and widths the machine lacks, leave the choice as it is. */
PL_API int pl_simd_width(void);

/* Whether code compiled for that width runs here. */
bool pl_simd_supports(int width);

#endif

/* Portable SIMD: vectors of PL_W floats (vf), PL_W/2 doubles (vd), and integers of the same shapes (vi, vl), by the
   compilers' vector extensions. A file that includes this is named *_lanes.c and is compiled once per width: 4 (SSE2,
   NEON, WASM), 8 (AVX2), 16 (AVX-512). A vector is never wider than the machine's registers.

   Nothing here crosses lanes: what a lane computes depends on that lane alone, so every width gives the same bits. */
#ifndef PL_MATH_LANES_H
#define PL_MATH_LANES_H

#include <stdint.h>
#include <string.h>

#ifndef PL_W
#error "lanes.h belongs into files named *_lanes.c, which are compiled with PL_W = 4, 8 or 16"
#endif

#define PL_WD (PL_W / 2)

/* Functions of such a file carry the width in their name: PL_LANES(pl_fit) is pl_fit_w16 at PL_W = 16. */
#define PL_LANES_JOIN2(name, width) name##_w##width
#define PL_LANES_JOIN(name, width) PL_LANES_JOIN2(name, width)
#define PL_LANES(name) PL_LANES_JOIN(name, PL_W)

typedef float vf __attribute__((vector_size(PL_W * 4)));
typedef int32_t vi __attribute__((vector_size(PL_W * 4)));
typedef double vd __attribute__((vector_size(PL_WD * 8)));
typedef int64_t vl __attribute__((vector_size(PL_WD * 8)));

#endif

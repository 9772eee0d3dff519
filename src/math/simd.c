/* Finds the widest lane width this machine runs. */
#include "math/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The builtins ask cpuid and, for the wide registers, whether the operating system saves them. */
bool pl_simd_supports(int width)
{
#define IS_COMPILED(w) || width == (w)
    if (!(false PL_SIMD_EACH(IS_COMPILED)))
        return false;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (width == 16)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (width == 8)
        return __builtin_cpu_supports("avx2");
#endif
    return true;
}

static int widest(int limit)
{
    if (limit >= 16 && pl_simd_supports(16))
        return 16;
    if (limit >= 8 && pl_simd_supports(8))
        return 8;
    return 4;
}

static int wish(void)
{
    const char *text = getenv("PLIANT_SIMD");
    if (text && !strcmp(text, "4"))
        return 4;
    if (text && !strcmp(text, "8"))
        return 8;
    return 16;
}

int pl_simd_width(void)
{
    /* Two threads may both find out; they find the same. */
    static _Atomic int found;
    int width = atomic_load_explicit(&found, memory_order_relaxed);
    if (!width) {
        width = widest(wish());
        atomic_store_explicit(&found, width, memory_order_relaxed);
    }
    return width;
}

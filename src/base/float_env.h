/* The floating-point environment results are defined in: round to nearest, subnormals kept,
   exceptions masked. Hosts set others (games flush subnormals to zero), so work is bracketed by
   enter and leave. The compiler may move arithmetic across the two: call the work through a
   function that is not inlined, as base/tasks does. */
#ifndef PL_BASE_FLOAT_ENV_H
#define PL_BASE_FLOAT_ENV_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

#define PL_FLOAT_ENV_SSE 0x1F80
#define PL_FLOAT_ENV_X87 0x037F

/* The x87 unit computes nothing here, but the C library takes its word for the rounding mode. */
typedef struct pl_float_env {
    uint32_t sse;
    uint16_t x87;
} pl_float_env;

static inline pl_float_env pl_float_env_enter(void)
{
    const uint16_t standard = PL_FLOAT_ENV_X87;
    pl_float_env host = {.sse = _mm_getcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(host.x87));
    if (host.x87 != standard)
        __asm__ volatile("fldcw %0" : : "m"(standard));
    _mm_setcsr(PL_FLOAT_ENV_SSE);
    return host;
}

static inline void pl_float_env_leave(pl_float_env host)
{
    if (host.x87 != PL_FLOAT_ENV_X87)
        __asm__ volatile("fldcw %0" : : "m"(host.x87));
    _mm_setcsr(host.sse);
}

#elif defined(__aarch64__)

typedef uint64_t pl_float_env;

static inline pl_float_env pl_float_env_enter(void)
{
    pl_float_env host;
    __asm__ volatile("mrs %0, fpcr" : "=r"(host) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    return host;
}

static inline void pl_float_env_leave(pl_float_env host)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(host) : "memory");
}

#elif defined(__wasm__)

/* WebAssembly knows no other environment. */
typedef uint32_t pl_float_env;

static inline pl_float_env pl_float_env_enter(void)
{
    return 0;
}

static inline void pl_float_env_leave(pl_float_env host)
{
    (void)host;
}

#else
#include <fenv.h>

typedef fenv_t pl_float_env;

static inline pl_float_env pl_float_env_enter(void)
{
    pl_float_env host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    return host;
}

static inline void pl_float_env_leave(pl_float_env host)
{
    fesetenv(&host);
}

#endif

#endif

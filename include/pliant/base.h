/* Pliant: what every part of the interface shares: status codes, errors, memory, tasks, logging,
   strided buffers. */
#ifndef PLIANT_BASE_H
#define PLIANT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define PL_API
#else
#define PL_API __attribute__((visibility("default")))
#endif

/* ---- Status and errors ----------------------------------------------------------------------- */

/* What a call that can fail returns. Nothing is changed by a call that does not return PL_OK. */
typedef enum pl_status {
    PL_OK = 0,
    PL_ERROR_ARGUMENT, /* a value out of range, NaN, or a definition not made by its default function */
    PL_ERROR_HANDLE, /* a handle that is stale or of another world */
    PL_ERROR_MEMORY, /* the allocator, or the limit set for it, gave no memory */
    PL_ERROR_STATE,  /* not now: for example changing the world from inside its own step */
    PL_ERROR_FORMAT, /* bytes or a file that are not what they should be */
    PL_ERROR_IO      /* the file system said no */
} pl_status;

/* Filled in, where the caller passes one, by a call that fails. `where` is the place inside the
   definition or the file ("particles[12].radii"), `text` one sentence with what is wrong and what
   would be right. */
typedef struct pl_error {
    pl_status status;
    char where[128];
    char text[256];
} pl_error;

/* "out of memory" and the like; never NULL. */
PL_API const char *pl_status_text(pl_status status);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The host's allocator. `alloc` returns NULL when it has nothing; `free` gets the size it was asked
   for. Called only from creating, destroying and changing calls, never from a steady-state step,
   and never from a worker thread. */
typedef struct pl_allocator {
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*free)(void *user, void *pointer, size_t size);
    void *user;
} pl_allocator;

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* One piece of work: items begin (included) to end (excluded), on worker 0 … worker_count − 1. No
   two pieces run at the same time with the same worker number. */
typedef void pl_task(void *context, int begin, int end, int worker);

/* The host's job system. `enqueue` may run the items [0, count) in any number of pieces, each of at
   least `grain` items but the last, on any threads, or all of them at once before it returns; what
   it returns is given to `finish`, which returns when all pieces have run. A world without one runs
   on the calling thread, or on its own pool when `threads` asks for it. Results never depend on how
   the items were cut or ordered. */
typedef struct pl_task_system {
    int worker_count;
    void *(*enqueue)(pl_task *task, void *context, int count, int grain, void *user);
    void (*finish)(void *handle, void *user);
    void *user;
} pl_task_system;

/* ---- Logging --------------------------------------------------------------------------------- */

typedef enum pl_log_level { PL_LOG_DEBUG, PL_LOG_INFO, PL_LOG_WARNING, PL_LOG_ERROR } pl_log_level;

typedef void pl_log_function(void *user, pl_log_level level, const char *message);

/* Replaces the handler that is called in debug builds when a caller breaks a promise (stale handle,
   NaN, call from inside a step). The default prints the message and aborts in debug builds and does
   nothing in release builds; a handler that returns lets the call return its error. NULL restores
   the default. */
typedef void pl_assert_function(const char *condition, const char *file, int line,
                                const char *message);
PL_API void pl_set_assert_function(pl_assert_function *function);

/* ---- Strided buffers ------------------------------------------------------------------------- */

typedef enum pl_scalar { PL_F32, PL_F64 } pl_scalar;

/* An array of the caller's: element i starts at data + i * stride bytes and holds consecutive
   scalars of the type (3 for vectors, 4 for quaternions x, y, z, w). A stride of 0 means tightly
   packed. */
typedef struct pl_buffer {
    void *data;
    size_t stride;
    pl_scalar type;
} pl_buffer;

static inline pl_buffer pl_floats(float *data, size_t stride)
{
    pl_buffer buffer = {data, stride, PL_F32};
    return buffer;
}

static inline pl_buffer pl_doubles(double *data, size_t stride)
{
    pl_buffer buffer = {data, stride, PL_F64};
    return buffer;
}

#ifdef __cplusplus
}
#endif

#endif

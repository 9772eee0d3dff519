/* How calls fail: a status, an optional pl_error that says where and why, and, when it was the
   caller who broke a promise, the assertion handler. Also the logging helper. */
#ifndef PL_BASE_ERROR_H
#define PL_BASE_ERROR_H

#include "pliant/base.h"

#if defined(__GNUC__)
#define PL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PL_PRINTF(text, first)
#endif

/* Fills the error, if there is one, and returns the status. `where` (NULL = nowhere in particular)
   is the place inside the definition or file, the rest one sentence in printf's manner. Texts too
   long are cut. */
pl_status pl_fail(pl_error *error, pl_status status, const char *where, const char *format, ...)
    PL_PRINTF(4, 5);

/* A formatted `where`:
       pl_fail(error, PL_ERROR_ARGUMENT, PL_WHERE("particles[%d].radii", i), "must be positive"); */
typedef struct pl_where {
    char text[128];
} pl_where;

pl_where pl_where_format(const char *format, ...) PL_PRINTF(1, 2);
#define PL_WHERE(...) (pl_where_format(__VA_ARGS__).text)

/* Calls the assertion handler. The default one prints and aborts in debug builds and does nothing
   in release builds; one set by the host is called in both. Exported for the other libraries of
   this project, not part of the interface. */
PL_API void pl_broken_promise(const char *condition, const char *file, int line, const char *format,
                              ...) PL_PRINTF(4, 5);

/* What may go wrong without anybody's fault (bytes, files, values from a user): returns from the
   calling function.
       PL_CHECK(count > 0, PL_ERROR_FORMAT, error, "particles", "at least one, not %d", count); */
#define PL_CHECK(condition, status, error, where, ...)                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return pl_fail((error), (status), (where), __VA_ARGS__);                               \
    } while (0)

/* The same for a promise of the caller (fresh handle, no NaN, not from inside a step): tells the
   assertion handler first. */
#define PL_REQUIRE(condition, status, error, where, ...)                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            pl_broken_promise(#condition, __FILE__, __LINE__, __VA_ARGS__);                        \
            return pl_fail((error), (status), (where), __VA_ARGS__);                               \
        }                                                                                          \
    } while (0)

/* Passes a failure on to the caller. */
#define PL_TRY(call)                                                                               \
    do {                                                                                           \
        pl_status pl_try_status = (call);                                                          \
        if (pl_try_status != PL_OK)                                                                \
            return pl_try_status;                                                                  \
    } while (0)

/* What must hold inside the library, whatever the caller does. Debug builds only. */
#ifdef NDEBUG
#define PL_ASSERT(condition) ((void)0)
#else
#define PL_ASSERT(condition)                                                                       \
    ((condition) ? (void)0                                                                         \
                 : pl_broken_promise(#condition, __FILE__, __LINE__,                               \
                                     "an internal assumption does not hold"))
#endif

/* Where messages go: a host function, or nowhere. */
typedef struct pl_logger {
    pl_log_function *function;
    void *user;
} pl_logger;

/* NULL or a logger without a function drops the message. */
void pl_logger_say(const pl_logger *logger, pl_log_level level, const char *format, ...)
    PL_PRINTF(3, 4);

#endif

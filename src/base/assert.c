/* The handler of broken promises, the only variable of the process the library keeps. It has a file
   of its own so that the shared libraries, which each hold a copy of the private helpers they use,
   share this one. */
#include "base/error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void default_handler(const char *condition, const char *file, int line, const char *message)
{
#ifdef NDEBUG
    (void)condition, (void)file, (void)line, (void)message;
#else
    fprintf(stderr, "%s:%d: %s (required: %s)\n", file, line, message, condition);
    abort();
#endif
}

static _Atomic(pl_assert_function *) handler = default_handler;

void pl_set_assert_function(pl_assert_function *function)
{
    atomic_store(&handler, function ? function : default_handler);
}

void pl_broken_promise(const char *condition, const char *file, int line, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pl_assert_function *function = atomic_load(&handler);
    function(condition, file, line, message);
}

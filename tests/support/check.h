/* cmocka with everything it needs to be included before it, and how much a test should do. */
#ifndef PLIANT_TESTS_CHECK_H
#define PLIANT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* PLIANT_THOROUGH=1 in the environment: everything, however long it takes. */
bool check_is_thorough(void);

/* Compiled with a sanitizer; with that of threads; with any, or without optimisation. */
bool check_is_sanitized(void);
bool check_is_thread_sanitized(void);
bool check_is_slow_build(void);

/* Opens a test with one thread at work: the thread sanitizer, which makes it slow, would have
   nothing to see. */
#define CHECK_ONE_THREAD()                                                                         \
    do {                                                                                           \
        if (check_is_thread_sanitized())                                                           \
            skip();                                                                                \
    } while (0)

/* How often to repeat something: `full` times in thorough runs, else `quick` times; a tenth of
   that, at least once, in slow builds, where it matters that every line is reached rather than how
   often. */
int check_rounds(int full, int quick);

#endif

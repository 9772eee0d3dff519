#include "support/check.h"

#include <stdlib.h>

bool check_is_thorough(void)
{
    const char *value = getenv("PLIANT_THOROUGH");
    return value && value[0] && value[0] != '0';
}

/* gcc has macros for the sanitizers, clang has features. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif

bool check_is_thread_sanitized(void)
{
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
    return true;
#else
    return false;
#endif
}

bool check_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||                           \
    __has_feature(undefined_behavior_sanitizer)
    return true;
#else
    return check_is_thread_sanitized();
#endif
}

bool check_is_slow_build(void)
{
#ifdef __OPTIMIZE__
    return check_is_sanitized();
#else
    return true;
#endif
}

int check_rounds(int full, int quick)
{
    if (check_is_thorough())
        return full;
    if (!check_is_slow_build())
        return quick;
    return quick > 10 ? quick / 10 : 1;
}

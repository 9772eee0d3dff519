/* cmocka with everything it needs to be included before it. */
#ifndef PLIANT_TESTS_CHECK_H
#define PLIANT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

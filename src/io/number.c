/* The C library converts exactly, but obeys the host's locale ("0,5"): it is called with the C
   locale in force on this thread. Short numbers, nearly all there are, need no library: a mantissa
   below 2^53 and a power of ten up to 10^22 are both exact doubles, so one division or product
   rounds correctly (Clinger 1990). */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Without memory for a locale object the host's stays in force, which is the C locale unless it
   changed it. */
static locale_t enter_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

static void leave_c_locale(locale_t host)
{
    if (host)
        uselocale(host);
}

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* False where the number is too long or too extreme for one exact operation. */
static bool parse_short(const char *text, size_t length, double *value)
{
    const char *end = text + length;
    bool negative = *text == '-';
    uint64_t mantissa = 0;
    int exponent = 0, digits = 0;
    bool fraction = false;
    text += negative;
    for (; text < end && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        if (++digits > 18)
            return false;
        mantissa = mantissa * 10 + (uint64_t)(*text - '0');
        exponent -= fraction;
    }
    if (text < end) {
        bool down = *++text == '-';
        int written = 0;
        text += *text == '-' || *text == '+';
        for (; text < end; text++) {
            written = written * 10 + (*text - '0');
            if (written > 1000)
                return false;
        }
        exponent += down ? -written : written;
    }
    if (mantissa > UINT64_C(1) << 53 || exponent < -22 || exponent > 22)
        return false;
    double magnitude = exponent < 0 ? (double)mantissa / powers_of_ten[-exponent]
                                    : (double)mantissa * powers_of_ten[exponent];
    *value = negative ? -magnitude : magnitude;
    return true;
}

double pl_number_parse(const char *text, size_t length)
{
    double value;
    if (parse_short(text, length, &value))
        return value;
    locale_t host = enter_c_locale();
    value = strtod(text, NULL);
    leave_c_locale(host);
    return value;
}

int pl_number_format(double value, char out[PL_NUMBER_TEXT])
{
    if (fabs(value) < 1e9 && value == (double)(int32_t)value && !(value == 0 && signbit(value)))
        return snprintf(out, PL_NUMBER_TEXT, "%d", (int)value);
    locale_t host = enter_c_locale();
    int length = snprintf(out, PL_NUMBER_TEXT, "%.15g", value);
    if (strtod(out, NULL) != value)
        length = snprintf(out, PL_NUMBER_TEXT, "%.17g", value);
    leave_c_locale(host);
    return length;
}

int pl_number_format_short(double value, char out[PL_NUMBER_TEXT])
{
    locale_t host = enter_c_locale();
    int length = snprintf(out, PL_NUMBER_TEXT, "%.7g", value);
    leave_c_locale(host);
    return length;
}

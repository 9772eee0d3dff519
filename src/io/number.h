/* Numbers as text, alike in every locale: exact both ways. */
#ifndef PL_IO_NUMBER_H
#define PL_IO_NUMBER_H

#include <stddef.h>

enum { PL_NUMBER_TEXT = 32 }; /* bytes that hold any formatted number and its end */

/* The double nearest to a decimal number in JSON's grammar (already checked) of `length` bytes.
   What follows it must not be a digit, a letter or a dot, and must be there (a 0 is enough). May be
   infinite. */
double pl_number_parse(const char *text, size_t length);

/* Writes digits that read back as exactly this finite value; returns their length. */
int pl_number_format(double value, char out[PL_NUMBER_TEXT]);

/* Seven digits: enough to look at. */
int pl_number_format_short(double value, char out[PL_NUMBER_TEXT]);

#endif

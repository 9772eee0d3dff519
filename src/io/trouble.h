/* What went wrong with a file or a document, and where: file, line, column, path inside the
   document, and a sentence that says what is wrong and what would be right. */
#ifndef PL_IO_TROUBLE_H
#define PL_IO_TROUBLE_H

#include "base/error.h"

typedef struct pl_trouble {
    pl_status status;
    int line, column; /* from 1; 0 = no place in the file. Columns count characters, not bytes */
    char file[256];   /* "" = not about a file */
    char path[256];   /* "bodies[2].material.young"; "" = the document as a whole */
    char text[512];
} pl_trouble;

/* Fills in everything but the place; returns the status. `trouble` may be NULL. */
pl_status pl_trouble_set(pl_trouble *trouble, pl_status status, const char *file,
                         const char *format, ...) PL_PRINTF(4, 5);

/* "file:line:column: path: text", without a line feed; parts that are not there are left out.
   Returns `out`. */
char *pl_trouble_format(const pl_trouble *trouble, char *out, size_t size);

/* Copies at most size − 1 bytes, never half a UTF-8 character, and shows control characters as
   '?'. */
void pl_copy_text(char *out, size_t size, const char *text, size_t length);

#endif

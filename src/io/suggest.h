/* "Did you mean …?": the name of a list that is nearest to one that is not in it. */
#ifndef PL_IO_SUGGEST_H
#define PL_IO_SUGGEST_H

#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours that turn one word into the other,
   letter case counting for nothing. Words of more than 63 bytes are cut. */
int pl_word_distance(const char *a, const char *b);

/* Keeps the better of *best (NULL = none yet) and `candidate`, as long as it is near enough to be a
   likely slip. */
void pl_suggest(const char *word, const char *candidate, const char **best);

/* Writes `; did you mean "best"?`, or nothing when there is no best. Returns `out`. */
char *pl_suggest_text(const char *best, char *out, size_t size);

#endif

#include "io/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static int smallest(int a, int b, int c)
{
    int d = a < b ? a : b;
    return d < c ? d : c;
}

/* Optimal string alignment, three rows of the table at a time. */
int pl_word_distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1];
    size_t m = strnlen(a, LONGEST), n = strnlen(b, LONGEST);
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= n; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int change = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n];
}

void pl_suggest(const char *word, const char *candidate, const char **best)
{
    size_t length = strlen(word);
    int likely = length <= 1 ? 0 : length <= 3 ? 1 : length <= 7 ? 2 : 3;
    int distance = pl_word_distance(word, candidate);
    if (distance <= likely && (!*best || distance < pl_word_distance(word, *best)))
        *best = candidate;
}

char *pl_suggest_text(const char *best, char *out, size_t size)
{
    if (best)
        snprintf(out, size, "; did you mean \"%.64s\"?", best);
    else
        out[0] = 0;
    return out;
}

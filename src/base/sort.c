#include "base/sort.h"

/* Below this many items, moving them one by one is faster than counting bytes. */
enum { SMALL = 32 };

static void insertion_sort(pl_sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        pl_sort_item item = items[i];
        size_t k = i;
        for (; k > 0 && items[k - 1].key > item.key; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

/* One pass of the radix sort, from the lowest byte up; each pass is stable, so all of them together
   are. */
static void sort_by_byte(pl_sort_item *restrict to, const pl_sort_item *restrict from, size_t count,
                         int shift)
{
    size_t start[256] = {0};
    for (size_t i = 0; i < count; i++)
        start[from[i].key >> shift & 255]++;
    size_t sum = 0;
    for (int b = 0; b < 256; b++) {
        size_t n = start[b];
        start[b] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[start[from[i].key >> shift & 255]++] = from[i];
}

void pl_sort(pl_sort_item *items, pl_sort_item *scratch, size_t count)
{
    if (count <= SMALL) {
        insertion_sort(items, count);
        return;
    }
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= items[i].key ^ items[0].key;

    pl_sort_item *from = items, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differing >> shift & 255))
            continue;
        sort_by_byte(to, from, count, shift);
        pl_sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

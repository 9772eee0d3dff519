/* Samples in an order in which neighbours come soon after each other: halved along the longest side
   of their box until one is left. Blue noise finds them far from each other, and whoever goes
   through the particles of a body and looks at their neighbours would read memory from end to
   end. */
#include "base/error.h"
#include "base/sort.h"
#include "shape/sample_parts.h"

#include <string.h>

typedef struct ordering {
    const double *points;
    pl_sort_item *items, *scratch;
} ordering;

/* `from` is where its box begins along it: keys are counted from there, or a body far from the
   origin would have few of them. */
static int longest_axis(const ordering *o, int begin, int end, double *from)
{
    double width[3], lowest[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        double low = o->points[3 * (size_t)o->items[begin].index + (size_t)k], high = low;
        for (int i = begin; i < end; i++) {
            double value = o->points[3 * (size_t)o->items[i].index + (size_t)k];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        width[k] = high - low;
        lowest[k] = low;
        if (width[k] > width[axis])
            axis = k;
    }
    *from = lowest[axis];
    return axis;
}

/* As deep as the logarithm of the count. */
static void halve(ordering *o, int begin, int end)
{
    if (end - begin < 3)
        return;
    double from;
    int axis = longest_axis(o, begin, end, &from), middle = begin + (end - begin) / 2;
    for (int i = begin; i < end; i++) {
        double value = o->points[3 * (size_t)o->items[i].index + (size_t)axis];
        o->items[i].key = pl_sort_float_key((float)(value - from));
    }
    pl_sort(o->items + begin, o->scratch, (size_t)(end - begin));
    halve(o, begin, middle);
    halve(o, middle, end);
}

pl_status pl_samples_order(pl_memory *memory, pl_samples *samples, pl_error *error)
{
    int n = samples->count;
    pl_samples sorted;
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * (size_t)n);
    PL_CHECK(items, PL_ERROR_MEMORY, error, NULL, "no memory for %d samples", n);
    pl_status status = pl_samples_allocate(memory, n, &sorted, error);
    if (status == PL_OK) {
        ordering o = {samples->points, items, items + n};
        for (int i = 0; i < n; i++)
            items[i].index = (uint32_t)i;
        halve(&o, 0, n);
        sorted.distance = samples->distance;
        for (int i = 0; i < n; i++) {
            size_t from = items[i].index;
            memcpy(sorted.points + 3 * (size_t)i, samples->points + 3 * from, 3 * sizeof(double));
            sorted.component[i] = samples->component[from];
            sorted.triangle[i] = samples->triangle[from];
        }
        pl_samples_free(memory, samples);
        *samples = sorted;
    }
    pl_memory_free(memory, items);
    return status;
}

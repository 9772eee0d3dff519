/* Points sorted into cubes, to be asked for those around a place. All cubes of the bounds are
   listed where the points fill them well; else a hash of those that are not empty, so that thin
   things in large bounds cost no more than compact ones. */
#ifndef PL_SHAPE_SAMPLE_BUCKETS_H
#define PL_SHAPE_SAMPLE_BUCKETS_H

#include "base/error.h"
#include "base/memory.h"

typedef struct pl_buckets {
    double lower[3], side;
    int count;
    double *points; /* [count][3], sorted by bucket */
    int32_t *index; /* [count] the caller's number of each */
    bool dense;
    int64_t cubes[3]; /* dense: along each axis */
    int bucket_count; /* dense: all cubes */
    int32_t *start;   /* [bucket_count + 1] */
    uint64_t *keys;   /* [bucket_count], not dense */
    uint32_t mask;
    int32_t *slots; /* [mask + 1] bucket or -1, not dense */
} pl_buckets;

/* On failure nothing is left to free. */
pl_status pl_buckets_make(pl_memory *memory, int count, const double *points, double side,
                          pl_buckets *buckets, pl_error *error);
void pl_buckets_free(pl_memory *memory, pl_buckets *buckets);

/* Sorted points first … end - 1; false ends the visit. */
typedef bool pl_bucket_visitor(void *user, int first, int end);

/* The buckets that reach into a ball, or rows of them. */
void pl_buckets_visit(const pl_buckets *buckets, const double centre[3], double radius,
                      pl_bucket_visitor *visitor, void *user);

/* The nearest point within `radius`, by the caller's numbers (the lowest of equals); -1 = none.
   `place` gives where the points are now if they have moved since, by less than `slack`; NULL =
   they have not. */
int pl_buckets_nearest(const pl_buckets *buckets, const double centre[3], double radius, int except,
                       const double *place, double slack, double *distance2);

static inline double pl_distance2(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

#endif

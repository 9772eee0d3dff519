/* Bridson's active list and farthest-point insertion over candidates. For each candidate the
   distance to its nearest sample is kept, up to REACH times the distance, so that whether a
   candidate is free costs one comparison. */
#include "shape/sample_spread.h"

#include <math.h>

#include "base/array.h"
#include "base/rng.h"
#include "math/elementary.h"

/* Bridson's k, tries per active sample; trials of the distance before giving in to farthest points
   alone. */
enum { TRIES = 30, TRIALS = 6 };

/* How far around a sample candidates learn about it, in distances. */
#define REACH 1.5

typedef struct heap_item {
    double gap2;
    int32_t candidate;
} heap_item;

typedef struct spreading {
    pl_memory *memory;
    const pl_spread_def *def;
    pl_buckets buckets;
    double *gap2;      /* [sorted candidate] squared distance to its nearest sample */
    int32_t *sorted;   /* [candidate] its place in the buckets */
    pl_array chosen;   /* int32_t, sorted candidates */
    pl_array active;   /* int32_t, sorted candidates */
    pl_array ranges;   /* int32_t[2], candidates around an active sample */
    uint32_t around;   /* how many those are */
    pl_array heap;     /* heap_item */
    double distance;   /* of this trial */
    double reach2;     /* what a gap that nobody has measured counts as */
    const double *new; /* the sample being made known */
    pl_rng rng;
} spreading;

static bool tell_candidates(void *user, int first, int end)
{
    spreading *s = user;
    for (int i = first; i < end; i++) {
        double distance2 = pl_distance2(s->buckets.points + 3 * (size_t)i, s->new);
        if (distance2 < s->gap2[i])
            s->gap2[i] = distance2;
    }
    return true;
}

/* Takes a candidate as a sample. */
static bool choose(spreading *s, int candidate, double reach)
{
    int32_t *place = pl_array_add(&s->chosen, 1);
    if (!place)
        return false;
    *place = candidate;
    s->new = s->buckets.points + 3 * (size_t)candidate;
    pl_buckets_visit(&s->buckets, s->new, reach, tell_candidates, s);
    s->gap2[candidate] = 0;
    return true;
}

static bool note_range(void *user, int first, int end)
{
    spreading *s = user;
    int32_t *range = pl_array_add(&s->ranges, 1);
    if (!range)
        return false;
    range[0] = first, range[1] = end;
    s->around += (uint32_t)(end - first);
    return true;
}

static bool choose_active(spreading *s, int candidate)
{
    int32_t *place = pl_array_add(&s->active, 1);
    if (!place || !choose(s, candidate, REACH * s->distance))
        return false;
    *place = candidate;
    return true;
}

static int nth_around(const spreading *s, uint32_t n)
{
    const int32_t *range = s->ranges.data;
    while (n >= (uint32_t)(range[1] - range[0])) {
        n -= (uint32_t)(range[1] - range[0]);
        range += 2;
    }
    return range[0] + (int)n;
}

/* Tries random candidates around one active sample. False without memory. */
static bool surround(spreading *s, int centre, size_t most)
{
    s->ranges.count = s->around = 0;
    pl_buckets_visit(&s->buckets, s->buckets.points + 3 * (size_t)centre, 2 * s->distance,
                     note_range, s);
    for (int k = 0; k < TRIES && s->around && s->chosen.count <= most; k++) {
        int candidate = nth_around(s, pl_random_below(&s->rng, s->around));
        if (s->gap2[candidate] >= s->distance * s->distance && !choose_active(s, candidate))
            return false;
    }
    return s->around > 0;
}

static bool begin(spreading *s)
{
    const pl_spread_def *def = s->def;
    double distance2 = s->distance * s->distance;
    s->chosen.count = s->active.count = 0;
    for (int i = 0; i < def->candidate_count; i++)
        s->gap2[i] = s->reach2;
    for (int k = 0; k < def->first_count && (!def->count || k < def->count); k++) {
        int candidate = s->sorted[def->firsts[k]];
        if (s->gap2[candidate] >= distance2 && !choose_active(s, candidate))
            return false;
    }
    return s->chosen.count ||
           choose_active(s, (int)pl_random_below(&s->rng, (uint32_t)def->candidate_count));
}

/* Bridson's algorithm; stops when there are more than `most` samples. */
static bool grow(spreading *s, size_t most)
{
    s->reach2 = REACH * REACH * s->distance * s->distance;
    if (!begin(s))
        return false;
    while (s->active.count && s->chosen.count <= most) {
        int32_t *active = s->active.data;
        uint32_t k = pl_random_below(&s->rng, (uint32_t)s->active.count);
        int centre = active[k];
        active[k] = active[--s->active.count];
        if (!surround(s, centre, most))
            return false;
    }
    return true;
}

static bool before(const heap_item *a, const heap_item *b)
{
    return a->gap2 > b->gap2 || (a->gap2 == b->gap2 && a->candidate < b->candidate);
}

static void sift(heap_item *heap, size_t count, size_t k)
{
    heap_item item = heap[k];
    for (size_t child = 2 * k + 1; child < count; child = 2 * k + 1) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &item))
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = item;
}

/* The candidates whose gap is at least `floor2`, as a heap. */
static bool gather(spreading *s, double floor2)
{
    s->heap.count = 0;
    for (int i = 0; i < s->def->candidate_count; i++) {
        if (!(s->gap2[i] >= floor2) || s->gap2[i] == 0)
            continue;
        heap_item *item = pl_array_add(&s->heap, 1);
        if (!item)
            return false;
        *item = (heap_item){s->gap2[i], i};
    }
    for (size_t k = s->heap.count / 2; k-- > 0;)
        sift(s->heap.data, s->heap.count, k);
    return true;
}

/* The farthest candidate; items whose gap has shrunk since are put back where they belong. */
static int farthest(spreading *s, double floor2)
{
    heap_item *heap = s->heap.data;
    while (s->heap.count) {
        double gap2 = s->gap2[heap[0].candidate];
        if (gap2 == heap[0].gap2)
            return heap[0].candidate;
        if (gap2 >= floor2 && gap2 > 0)
            heap[0].gap2 = gap2;
        else
            heap[0] = heap[--s->heap.count];
        if (s->heap.count)
            sift(heap, s->heap.count, 0);
    }
    return -1;
}

static bool go_on(const spreading *s, double part)
{
    return !s->def->progress || s->def->progress(s->def->progress_user, part);
}

/* Inserts farthest candidates until there are `most` samples or no gap is as wide as `floor`.
   *least falls to the smallest gap that was filled. */
static pl_status fill(spreading *s, size_t most, double floor, double *least, pl_error *error)
{
    PL_CHECK(gather(s, floor * floor), PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    int candidate;
    while (s->chosen.count < most && (candidate = farthest(s, floor * floor)) >= 0) {
        double gap = sqrt(s->gap2[candidate]);
        PL_CHECK(choose(s, candidate, gap * (1 + 1e-12)), PL_ERROR_MEMORY, error, NULL,
                 "no memory for samples");
        *least = fmin(*least, gap);
        if (s->chosen.count % 4096 == 0)
            PL_CHECK(go_on(s, 0.5 + 0.4 * (double)s->chosen.count / (double)(most + 1)),
                     PL_ERROR_STATE, error, NULL, "stopped");
    }
    return PL_OK;
}

static double widest(const spreading *s)
{
    double gap2 = 0;
    for (int i = 0; i < s->def->candidate_count; i++)
        gap2 = fmax(gap2, s->gap2[i]);
    return sqrt(gap2);
}

/* The share of the candidates that have a sample near. */
static double covered(const spreading *s)
{
    int count = 0;
    for (int i = 0; i < s->def->candidate_count; i++)
        count += s->gap2[i] < s->distance * s->distance;
    return (double)count / s->def->candidate_count;
}

/* Fills up to the wanted count, from wide gaps down to any. */
static pl_status fill_up(spreading *s, size_t wanted, double *least, pl_error *error)
{
    double floor = 0.8 * s->distance;
    while (s->chosen.count < wanted) {
        PL_TRY(fill(s, wanted, floor, least, error));
        if (floor == 0)
            break;
        floor = floor > 0.05 * s->distance ? 0.6 * floor : 0;
    }
    return PL_OK;
}

/* Farthest points alone: slower, but always right. */
static pl_status spread_farthest(spreading *s, double *least, pl_error *error)
{
    s->chosen.count = s->active.count = 0;
    s->distance = 1e300;
    s->reach2 = INFINITY;
    PL_CHECK(begin(s), PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    *least = INFINITY;
    return fill(s, (size_t)s->def->count, 0, least, error);
}

/* A count is wanted. The active list must end with no more samples than wanted: a trial that passes
   them is repeated with a distance larger by what was left uncovered. Then farthest points fill up,
   and the distance is what the last of them needed. */
static pl_status spread_count(spreading *s, double *least, pl_error *error)
{
    const pl_spread_def *def = s->def;
    size_t wanted = (size_t)def->count;
    s->distance = def->distance;
    for (int trial = 0; trial < TRIALS; trial++) {
        PL_CHECK(go_on(s, 0.08 * trial), PL_ERROR_STATE, error, NULL, "stopped");
        s->rng = pl_rng_make(def->seed);
        PL_CHECK(grow(s, wanted), PL_ERROR_MEMORY, error, NULL, "no memory for samples");
        double share = (double)s->chosen.count / (double)wanted;
        if (share > 1) {
            s->distance *= 1.02 * pl_pow(fmax(covered(s), 0.01), -0.4);
        } else if (share < 0.7 && trial < 3) {
            s->distance *= 0.97 * pl_pow(share, 0.4);
        } else {
            *least = s->distance;
            PL_TRY(fill_up(s, wanted, least, error));
            if (widest(s) <= *least)
                return PL_OK;
            s->distance *= 1.1;
        }
    }
    return spread_farthest(s, least, error);
}

static pl_status spread_distance(spreading *s, double *least, pl_error *error)
{
    s->distance = *least = s->def->distance;
    s->rng = pl_rng_make(s->def->seed);
    PL_CHECK(grow(s, INT32_MAX), PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    return fill(s, INT32_MAX, s->distance, least, error);
}

static pl_status prepare(spreading *s, double side, pl_error *error)
{
    size_t n = (size_t)s->def->candidate_count;
    PL_TRY(pl_buckets_make(s->memory, (int)n, s->def->candidates, side, &s->buckets, error));
    s->gap2 = PL_NEW(s->memory, double, n);
    s->sorted = PL_NEW(s->memory, int32_t, n);
    PL_CHECK(s->gap2 && s->sorted, PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    for (size_t i = 0; i < n; i++)
        s->sorted[s->buckets.index[i]] = (int32_t)i;
    return PL_OK;
}

static pl_status hand_over(spreading *s, double least, pl_spread *spread, pl_error *error)
{
    spread->chosen = PL_NEW(s->memory, int32_t, s->chosen.count);
    PL_CHECK(spread->chosen, PL_ERROR_MEMORY, error, NULL, "no memory for samples");
    spread->count = (int)s->chosen.count;
    spread->distance = least;
    spread->gap = widest(s);
    for (size_t i = 0; i < s->chosen.count; i++)
        spread->chosen[i] = s->buckets.index[((int32_t *)s->chosen.data)[i]];
    return PL_OK;
}

pl_status pl_spread_make(pl_memory *memory, const pl_spread_def *def, pl_spread *spread,
                         pl_error *error)
{
    double least = def->distance;
    spreading s = {.memory = memory, .def = def};
    s.chosen = pl_array_make(memory, sizeof(int32_t));
    s.active = pl_array_make(memory, sizeof(int32_t));
    s.ranges = pl_array_make(memory, 2 * sizeof(int32_t));
    s.heap = pl_array_make(memory, sizeof(heap_item));
    *spread = (pl_spread){0};
    pl_status status = prepare(&s, def->distance, error);
    if (status == PL_OK)
        status = def->count ? spread_count(&s, &least, error) : spread_distance(&s, &least, error);
    if (status == PL_OK)
        status = hand_over(&s, least, spread, error);
    pl_array_free(&s.chosen);
    pl_array_free(&s.active);
    pl_array_free(&s.ranges);
    pl_array_free(&s.heap);
    pl_memory_free(memory, s.gap2);
    pl_memory_free(memory, s.sorted);
    pl_buckets_free(memory, &s.buckets);
    return status;
}

void pl_spread_free(pl_memory *memory, pl_spread *spread)
{
    pl_memory_free(memory, spread->chosen);
    *spread = (pl_spread){0};
}

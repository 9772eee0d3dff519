/* Clustering: fuzzy c-means with a radius. Particles stay in their cubes (sample_buckets.h),
   centres move; a round lists the particles in reach of every centre, then moves the centres. */
#include "shape/cluster.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/elementary.h"
#include "shape/sample_buckets.h"

enum {
    SEED_ROUNDS = 8, /* of k-means */
    MOST_ROUNDS = 160,
    FEW_ROUNDS = 8,    /* while the radius is looked for */
    RADIUS_ROUNDS = 4, /* corrections of the radius towards the wanted overlap */
    ADD_ROUNDS = 4, /* of clusters for particles out of reach, before everything is tried again */
    MOST_TRIES = 64,
};
#define LONGEST_STEP 2.0
#define STILL 1e-3 /* radii: a centre that moves less has come to rest */

typedef struct work {
    pl_memory *memory;
    int n, k;
    const double *given;  /* [n][3] the caller's points; all others are in the order of the cubes */
    const double *points; /* [n][3] */
    double *masses;       /* [n] */
    pl_cluster_kernel kernel;
    double radius, spacing; /* spacing: of the centres, about */
    pl_buckets particles;
    double *centres;                  /* [k][3] */
    double *wanted;                   /* [k][3] where they want to be */
    double *sums;                     /* [n] of raw weights */
    double *shares;                   /* [n] mass by that sum */
    int32_t *nearest;                 /* [n] */
    int capacity;                     /* of the arrays of clusters: k and a quarter */
    bool *moved;                      /* [k] in the last round */
    double *step, *last;              /* [k], [k][3] how long the last step was, and where to */
    bool listed;                      /* members were listed before with this radius */
    int32_t *first, *first_before;    /* [k + 1] of the members of each */
    pl_array members, members_before; /* of pl_member */
    int orphans;
} work;

typedef struct pl_member {
    int32_t particle;
    float raw;
} pl_member;

static double extent_of(int n, const double *points, double lower[3], double size[3])
{
    double most = 0;
    for (int k = 0; k < 3; k++) {
        double low = points[k], high = points[k];
        for (int i = 1; i < n; i++) {
            low = fmin(low, points[3 * (size_t)i + k]);
            high = fmax(high, points[3 * (size_t)i + k]);
        }
        lower[k] = low;
        size[k] = high - low;
        most = fmax(most, size[k]);
    }
    return most;
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

static uint64_t spread_bits(uint64_t x) /* 21 bits to every third place */
{
    x = (x | x << 32) & UINT64_C(0x1F00000000FFFF);
    x = (x | x << 16) & UINT64_C(0x1F0000FF0000FF);
    x = (x | x << 8) & UINT64_C(0x100F00F00F00F00F);
    x = (x | x << 4) & UINT64_C(0x10C30C30C30C30C3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

/* Particles in the order of a space-filling curve, cut into k pieces; a random one of each
   piece. */
static bool scatter_seeds(work *w, uint64_t seed)
{
    double lower[3], size[3], most = extent_of(w->n, w->points, lower, size);
    pl_sort_item *items = PL_NEW(w->memory, pl_sort_item, 2 * (size_t)w->n);
    if (!items)
        return false;
    for (int i = 0; i < w->n; i++) {
        uint64_t key = 0;
        for (int k = 0; k < 3 && most > 0; k++) {
            double part = (w->points[3 * (size_t)i + k] - lower[k]) / most;
            key |= spread_bits((uint64_t)(part * 2097151)) << k;
        }
        items[i] = (pl_sort_item){key, (uint32_t)i};
    }
    pl_sort(items, items + w->n, (size_t)w->n);
    pl_rng rng = pl_rng_make(seed);
    for (int c = 0; c < w->k; c++) {
        int64_t from = (int64_t)w->n * c / w->k, to = (int64_t)w->n * (c + 1) / w->k;
        int64_t at = from + pl_random_below(&rng, (uint32_t)(to - from));
        memcpy(w->centres + 3 * (size_t)c, w->points + 3 * (size_t)items[at].index,
               3 * sizeof(double));
    }
    pl_memory_free(w->memory, items);
    return true;
}

static int nearest_centre(const pl_buckets *centres, const double point[3], double spacing)
{
    double d2;
    for (double reach = spacing;; reach *= 2) {
        int found = pl_buckets_nearest(centres, point, reach, -1, NULL, 0, &d2);
        if (found >= 0)
            return found;
    }
}

/* The nearest centre of every particle, or of those that no cluster reaches. */
static pl_status find_nearest(work *w, bool orphans_only, pl_error *error)
{
    pl_buckets centres;
    pl_status status = pl_buckets_make(w->memory, w->k, w->centres, w->spacing, &centres, error);
    if (status)
        return status;
    for (int i = 0; i < w->n; i++)
        if (!orphans_only || w->sums[i] == 0)
            w->nearest[i] = nearest_centre(&centres, w->points + 3 * (size_t)i, w->spacing);
    pl_buckets_free(w->memory, &centres);
    return PL_OK;
}

static pl_status k_means(work *w, pl_error *error)
{
    size_t k = (size_t)w->k;
    double *mass = PL_NEW(w->memory, double, k);
    if (!mass)
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", w->k);
    pl_status status = PL_OK;
    for (int round = 0; round < SEED_ROUNDS && !status; round++) {
        status = find_nearest(w, false, error);
        if (status)
            break;
        memset(w->wanted, 0, 3 * k * sizeof(double));
        memset(mass, 0, k * sizeof(double));
        for (int i = 0; i < w->n; i++) {
            size_t c = (size_t)w->nearest[i];
            double m = w->masses[i];
            mass[c] += m;
            for (int j = 0; j < 3; j++)
                w->wanted[3 * c + j] += m * w->points[3 * (size_t)i + j];
        }
        for (size_t c = 0; c < k; c++)
            for (int j = 0; j < 3 && mass[c] > 0; j++)
                w->centres[3 * c + j] = w->wanted[3 * c + j] / mass[c];
    }
    pl_memory_free(w->memory, mass);
    return status;
}

/* ---- Members --------------------------------------------------------------------------------- */

typedef struct reach {
    const double *centre;
    double radius2;
    work *w;
    int64_t count;
    bool failed;
} reach;

static bool count_reached(void *user, int first, int end)
{
    reach *r = user;
    const double *points = r->w->particles.points;
    for (int i = first; i < end; i++)
        r->count += pl_distance2(points + 3 * (size_t)i, r->centre) <= r->radius2;
    return true;
}

static bool list_reached(void *user, int first, int end)
{
    reach *r = user;
    const pl_buckets *particles = &r->w->particles;
    for (int i = first; i < end; i++) {
        double d2 = pl_distance2(particles->points + 3 * (size_t)i, r->centre);
        if (d2 > r->radius2)
            continue;
        pl_member *member = pl_array_add(&r->w->members, 1);
        if (!member) {
            r->failed = true;
            return false;
        }
        *member = (pl_member){i, (float)pl_cluster_kernel_at(r->w->kernel, d2 / r->radius2)};
    }
    return true;
}

/* Memberships per particle, judged from some of the clusters if there are many. */
static double overlap_at(work *w, double radius)
{
    reach r = {NULL, radius * radius, w, 0, false};
    int stride = 1 + w->k / 512, count = 0;
    for (int c = 0; c < w->k; c += stride, count++) {
        r.centre = w->centres + 3 * (size_t)c;
        pl_buckets_visit(&w->particles, r.centre, radius, count_reached, &r);
    }
    return (double)r.count / w->n * w->k / count;
}

/* The radius with which the centres as they are have the wanted overlap. */
static double radius_for(work *w, double overlap, double most)
{
    double low = 0, high = w->spacing;
    while (high < 2 * most && overlap_at(w, high) < overlap)
        high *= 1.25;
    for (int i = 0; i < 16; i++) {
        double middle = 0.5 * (low + high);
        *(overlap_at(w, middle) < overlap ? &low : &high) = middle;
    }
    return high;
}

/* The members of one cluster: as they were, if its centre has not moved. */
static bool list_cluster(work *w, size_t c, reach *r)
{
    if (w->listed && !w->moved[c]) {
        size_t first = (size_t)w->first_before[c], count = (size_t)w->first_before[c + 1] - first;
        pl_member *members = pl_array_add(&w->members, count);
        if (members && count)
            memcpy(members, (pl_member *)w->members_before.data + first, count * sizeof *members);
        return members;
    }
    r->centre = w->centres + 3 * c;
    pl_buckets_visit(&w->particles, r->centre, w->radius, list_reached, r);
    return !r->failed;
}

/* Who is in reach of which centre; the sums of the particles' raw weights; how many are in nobody's
   reach. */
static bool list_members(work *w)
{
    pl_array members = w->members;
    int32_t *first = w->first;
    w->members = w->members_before, w->members_before = members;
    w->first = w->first_before, w->first_before = first;

    w->members.count = 0;
    reach r = {NULL, w->radius * w->radius, w, 0, false};
    for (int c = 0; c < w->k; c++) {
        w->first[c] = (int32_t)w->members.count;
        if (!list_cluster(w, (size_t)c, &r) || w->members.count > INT32_MAX / 2)
            return false;
    }
    w->first[w->k] = (int32_t)w->members.count;
    w->listed = true;

    memset(w->sums, 0, (size_t)w->n * sizeof(double));
    const pl_member *all = w->members.data;
    for (size_t at = 0; at < w->members.count; at++)
        w->sums[all[at].particle] += (double)all[at].raw;
    w->orphans = 0;
    for (int i = 0; i < w->n; i++)
        w->orphans += w->sums[i] == 0;
    return true;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Orphans join their nearest cluster, with all their weight. */
static pl_status adopt(work *w, double *mass, pl_error *error)
{
    pl_status status = find_nearest(w, true, error);
    for (int i = 0; i < w->n && !status; i++) {
        if (w->sums[i] > 0)
            continue;
        size_t c = (size_t)w->nearest[i];
        mass[c] += w->masses[i];
        for (int j = 0; j < 3; j++)
            w->wanted[3 * c + j] += w->masses[i] * w->points[3 * (size_t)i + j];
    }
    return status;
}

/* A cluster in reach of nothing goes to the nearest particle. */
static void go_to_particle(work *w, size_t c)
{
    int nearest = nearest_centre(&w->particles, w->centres + 3 * c, w->radius);
    for (int j = 0; j < 3; j++)
        w->wanted[3 * c + j] = w->given[3 * (size_t)nearest + j];
}

/* Weighted centres of mass of the members as listed. */
static pl_status find_wanted(work *w, double *mass, pl_error *error)
{
    for (int i = 0; i < w->n; i++)
        w->shares[i] = w->sums[i] > 0 ? w->masses[i] / w->sums[i] : 0;
    const pl_member *members = w->members.data;
    for (size_t c = 0; c < (size_t)w->k; c++) {
        double sum[3] = {0}, total = 0;
        for (int32_t at = w->first[c]; at < w->first[c + 1]; at++) {
            size_t i = (size_t)members[at].particle;
            double wm = (double)members[at].raw * w->shares[i];
            total += wm;
            for (int j = 0; j < 3; j++)
                sum[j] += wm * w->points[3 * i + j];
        }
        mass[c] = total;
        memcpy(w->wanted + 3 * c, sum, sizeof sum);
    }
    pl_status status = w->orphans ? adopt(w, mass, error) : PL_OK;
    for (size_t c = 0; c < (size_t)w->k && !status; c++) {
        if (!(mass[c] > 0)) {
            go_to_particle(w, c);
            continue;
        }
        for (int j = 0; j < 3; j++)
            w->wanted[3 * c + j] /= mass[c];
    }
    return status;
}

/* Moves the centres that are not nearly where they want to be; how many. A hard radius can make a
   centre go to and fro for ever between two sets of members: one that turns back takes shorter
   steps, others longer ones. */
static int move_centres(work *w)
{
    int count = 0;
    double still2 = STILL * w->radius * (STILL * w->radius);
    for (size_t c = 0; c < (size_t)w->k; c++) {
        double *centre = w->centres + 3 * c, *last = w->last + 3 * c, way[3], along = 0, way2 = 0;
        for (int j = 0; j < 3; j++) {
            way[j] = w->wanted[3 * c + j] - centre[j];
            way2 += way[j] * way[j];
            along += way[j] * last[j];
        }
        w->moved[c] = way2 >= still2;
        if (!w->moved[c])
            continue;
        count++;
        w->step[c] = along < 0 ? 0.5 * w->step[c] : fmin(1.2 * w->step[c], LONGEST_STEP);
        for (int j = 0; j < 3; j++)
            centre[j] += w->step[c] * way[j];
        memcpy(last, way, sizeof way);
    }
    return count;
}

/* Rounds until nothing moves; then members do not change either. */
static pl_status settle(work *w, int most_rounds, pl_clustering *result, pl_error *error)
{
    double *mass = PL_NEW(w->memory, double, w->k);
    if (!mass)
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", w->k);
    pl_status status = PL_OK;
    w->listed = result->settled = false;
    for (int c = 0; c < w->k; c++)
        w->step[c] = 1;
    memset(w->last, 0, 3 * (size_t)w->k * sizeof(double));
    for (int round = 0; !status; round++) {
        if (!list_members(w)) {
            status = pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the members of clusters");
            break;
        }
        result->rounds = round;
        status = find_wanted(w, mass, error);
        if (status || round == most_rounds) /* members fit the centres */
            break;
        result->settled = move_centres(w) == 0;
        if (result->settled)
            break;
    }
    pl_memory_free(w->memory, mass);
    return status;
}

/* New clusters at particles that no centre reaches; false if they would be more than a quarter of
   all. */
static bool add_centres(work *w)
{
    int k = w->k;
    for (int i = 0; i < w->n; i++) {
        const double *point = w->points + 3 * (size_t)i;
        bool reached = w->sums[i] > 0;
        for (int c = k; c < w->k && !reached; c++)
            reached = pl_distance2(w->centres + 3 * (size_t)c, point) < w->radius * w->radius;
        if (reached)
            continue;
        if (w->k == w->capacity)
            return false;
        memcpy(w->centres + 3 * (size_t)w->k++, point, 3 * sizeof(double));
    }
    return true;
}

/* ---- Tries ----------------------------------------------------------------------------------- */

static pl_status give(work *w, pl_clustering *result, pl_error *error)
{
    size_t k = (size_t)w->k, count = w->members.count;
    result->start = PL_NEW(w->memory, int32_t, k + 1);
    result->member = PL_NEW(w->memory, int32_t, count);
    result->raw = PL_NEW(w->memory, float, count);
    result->radius = PL_NEW(w->memory, float, k);
    result->centre = PL_NEW(w->memory, double, 3 * k);
    pl_sort_item *items = PL_NEW(w->memory, pl_sort_item, 2 * count);
    if (!result->start || !result->member || !result->raw || !result->radius || !result->centre ||
        !items) {
        pl_memory_free(w->memory, items);
        pl_clustering_free(w->memory, result);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", w->k);
    }
    result->count = w->k;
    memcpy(result->start, w->first, (k + 1) * sizeof(int32_t));
    memcpy(result->centre, w->centres, 3 * k * sizeof(double));
    const pl_member *members = w->members.data;
    for (size_t c = 0; c < k; c++) {
        size_t first = (size_t)w->first[c], size = (size_t)w->first[c + 1] - first;
        result->radius[c] = (float)w->radius;
        for (size_t at = 0; at < size; at++)
            items[at] = (pl_sort_item){(uint64_t)w->particles.index[members[first + at].particle],
                                       (uint32_t)at};
        pl_sort(items, items + count, size);
        for (size_t at = 0; at < size; at++) {
            result->member[first + at] = (int32_t)items[at].key;
            result->raw[first + at] = members[first + items[at].index].raw;
        }
    }
    pl_memory_free(w->memory, items);
    return PL_OK;
}

static void close_work(work *w)
{
    pl_buckets_free(w->memory, &w->particles);
    pl_memory_free(w->memory, w->centres);
    pl_memory_free(w->memory, w->wanted);
    pl_memory_free(w->memory, w->masses);
    pl_memory_free(w->memory, w->sums);
    pl_memory_free(w->memory, w->shares);
    pl_memory_free(w->memory, w->nearest);
    pl_memory_free(w->memory, w->moved);
    pl_memory_free(w->memory, w->step);
    pl_memory_free(w->memory, w->last);
    pl_memory_free(w->memory, w->first);
    pl_memory_free(w->memory, w->first_before);
    pl_array_free(&w->members);
    pl_array_free(&w->members_before);
}

static pl_status open_work(work *w, double most, const double size[3], pl_error *error)
{
    w->capacity = w->k + w->k / 4 < w->n ? w->k + w->k / 4 : w->n;
    size_t n = (size_t)w->n, k = (size_t)w->capacity;
    w->members = w->members_before = pl_array_make(w->memory, sizeof(pl_member));
    w->moved = PL_NEW(w->memory, bool, k);
    w->step = PL_NEW(w->memory, double, k);
    w->last = PL_NEW(w->memory, double, 3 * k);
    w->first_before = PL_NEW(w->memory, int32_t, k + 1);
    w->centres = PL_NEW(w->memory, double, 3 * k);
    w->wanted = PL_NEW(w->memory, double, 3 * k);
    w->sums = PL_NEW(w->memory, double, n);
    w->shares = PL_NEW(w->memory, double, n);
    w->masses = PL_NEW(w->memory, double, n);
    w->nearest = PL_NEW(w->memory, int32_t, n);
    w->first = PL_NEW(w->memory, int32_t, k + 1);
    if (!w->centres || !w->wanted || !w->sums || !w->shares || !w->masses || !w->nearest ||
        !w->first || !w->moved || !w->step || !w->last || !w->first_before)
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", w->k);
    /* A first idea of the distance of centres, as if they filled the bounds; only speed depends on
       it. */
    double part = 1.0 / w->k;
    for (int j = 0; j < 3; j++)
        part *= most > 0 ? fmax(size[j] / most, 0x1p-6) : 1;
    w->spacing = most > 0 ? most * pl_pow(part, 1.0 / 3) : 1;
    return PL_OK;
}

static pl_status sort_particles(work *w, const float *masses, double side, pl_error *error)
{
    pl_status status = pl_buckets_make(w->memory, w->n, w->given, 0.5 * side, &w->particles, error);
    w->points = w->particles.points;
    for (int i = 0; i < w->n && !status; i++)
        w->masses[i] = masses ? (double)masses[w->particles.index[i]] : 1;
    return status;
}

/* One try with a number of clusters and, if it is not 0, a radius. */
static pl_status cluster_once(work *w, const float *masses, const pl_clustering_def *def,
                              double radius, pl_clustering *result, pl_error *error)
{
    double lower[3], size[3], most = extent_of(w->n, w->given, lower, size);
    pl_status status = open_work(w, most, size, error);
    if (!status)
        status = sort_particles(w, masses, radius > 0 ? radius : w->spacing, error);
    if (!status && !scatter_seeds(w, def->seed))
        status = pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", w->k);
    if (!status)
        status = k_means(w, error);
    if (status)
        return status;
    w->radius = radius > 0 ? radius : most > 0 ? radius_for(w, def->overlap, most) : 1;
    for (int round = 0; round < RADIUS_ROUNDS && !(radius > 0) && most > 0 && !status; round++) {
        status = settle(w, FEW_ROUNDS, result, error);
        double overlap = (double)w->members.count / w->n;
        if (fabs(overlap - def->overlap) <= 0.01 * def->overlap)
            break;
        w->radius *= pl_pow(def->overlap / overlap, 0.4);
    }
    if (!status)
        status = settle(w, MOST_ROUNDS, result, error);
    for (int round = 0; round < ADD_ROUNDS && !status && w->orphans && add_centres(w); round++)
        status = settle(w, MOST_ROUNDS, result, error);
    return status;
}

static pl_status check(int n, const double *points, const float *masses,
                       const pl_clustering_def *def, pl_error *error)
{
    if (n < 1)
        return pl_fail(error, PL_ERROR_ARGUMENT, NULL, "there are no particles to cluster");
    if (def->count < 1 || def->count > n)
        return pl_fail(error, PL_ERROR_ARGUMENT, NULL,
                       "%d clusters of %d particles: there must be 1 to %d", def->count, n, n);
    if (!(def->radius >= 0) || isinf(def->radius))
        return pl_fail(error, PL_ERROR_ARGUMENT, NULL, "the radius of clusters must be 0 or more");
    if (def->radius == 0 && !(def->overlap >= 1 && def->overlap <= def->count))
        return pl_fail(error, PL_ERROR_ARGUMENT, NULL,
                       "an overlap of %g: it must be from 1 to the number of clusters, %d",
                       def->overlap, def->count);
    for (size_t i = 0; i < 3 * (size_t)n; i++)
        if (!isfinite(points[i]))
            return pl_fail(error, PL_ERROR_ARGUMENT, NULL, "particle %zu is not at a finite place",
                           i / 3);
    for (int i = 0; i < n && masses; i++)
        if (!(masses[i] > 0) || isinf(masses[i]))
            return pl_fail(error, PL_ERROR_ARGUMENT, NULL, "particle %d has no positive mass", i);
    return PL_OK;
}

pl_status pl_cluster_particles(pl_memory *memory, int n, const double *points, const float *masses,
                               const pl_clustering_def *def, pl_clustering *clustering,
                               pl_error *error)
{
    *clustering = (pl_clustering){0};
    pl_status status = check(n, points, masses, def, error);
    double radius = def->radius;
    for (int count = def->count; !status;) {
        work w = {.memory = memory, .n = n, .k = count, .given = points, .kernel = def->kernel};
        clustering->tries++;
        status = cluster_once(&w, masses, def, radius, clustering, error);
        bool reached = !status && w.orphans == 0;
        if (reached)
            status = give(&w, clustering, error);
        radius = 1.25 * w.radius;
        count = count + (count + 3) / 4 < n ? count + (count + 3) / 4 : n;
        close_work(&w);
        if (reached)
            break;
        if (!status && clustering->tries == MOST_TRIES)
            status =
                pl_fail(error, PL_ERROR_ARGUMENT, NULL,
                        "a radius of %g is too small for clusters of these particles", def->radius);
    }
    return status;
}

void pl_clustering_free(pl_memory *memory, pl_clustering *clustering)
{
    pl_memory_free(memory, clustering->start);
    pl_memory_free(memory, clustering->member);
    pl_memory_free(memory, clustering->raw);
    pl_memory_free(memory, clustering->radius);
    pl_memory_free(memory, clustering->centre);
    *clustering = (pl_clustering){0};
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Neighbours in ascending order with the particle itself among them. */
static int32_t put_ring(int i, const int32_t *neighbour, int32_t count, int32_t *out)
{
    for (int32_t k = 0; k <= count; k++) {
        int32_t member = k < count ? neighbour[k] : i, at = k;
        for (; at > 0 && out[at - 1] > member; at--)
            out[at] = out[at - 1];
        out[at] = member;
    }
    return count + 1;
}

pl_status pl_cluster_rings(pl_memory *memory, int n, const int32_t *start, const int32_t *neighbour,
                           pl_clustering *clustering, pl_error *error)
{
    size_t members = (size_t)n + (size_t)start[n];
    *clustering = (pl_clustering){.count = n, .settled = true};
    clustering->start = PL_NEW(memory, int32_t, n + 1);
    clustering->member = PL_NEW(memory, int32_t, members);
    clustering->raw = PL_NEW(memory, float, members);
    if (!clustering->start || !clustering->member || !clustering->raw) {
        pl_clustering_free(memory, clustering);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d clusters", n);
    }
    for (int i = 0; i < n; i++) {
        int32_t first = clustering->start[i];
        clustering->start[i + 1] =
            first +
            put_ring(i, neighbour + start[i], start[i + 1] - start[i], clustering->member + first);
    }
    for (size_t m = 0; m < members; m++)
        clustering->raw[m] = 1;
    return PL_OK;
}

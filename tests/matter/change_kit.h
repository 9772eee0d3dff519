/* Bodies of clusters for tests of their changes: bars and crowds of particles, clustered; sub-steps
   without a world; what must hold after each; pieces. */
#ifndef PLIANT_TESTS_CHANGE_KIT_H
#define PLIANT_TESTS_CHANGE_KIT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"

#include "base/rng.h"
#include "matter/clustered.h"
#include "math/rotation_lanes.h"
#include "matter/clustered_change.h"
#include "matter/recluster.h"
#include "shape/cluster.h"

typedef struct body {
    pl_memory memory;
    pl_clustered *c;
    int capacity;
    float *x, *u, *from, *push;
    __int128 mass;            /* in all, at first, 2⁻¹⁰⁰ */
    double solving, changing; /* seconds */
    double most;              /* energy there ever was */
    double risen;             /* most that a split ever added to the energy, of that */
    bool contact;             /* with itself: at first as the definition says */
    double friction;
    bool floored; /* nobody goes below y = floor */
    double floor;
} body;

/* Of this thread, whatever else the machine does. */
static inline double kit_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Exact, as long as no mass has bits below 2⁻¹⁰⁰. */
static inline __int128 kit_exact(float mass)
{
    return (__int128)ldexp((double)mass, 100);
}

/* Masses in all. */
static inline __int128 body_mass(const body *b)
{
    __int128 sum = 0;
    for (int i = 0; i < b->c->n; i++)
        sum += kit_exact(b->c->mass[i]);
    return sum;
}

/* About `n` points in a box, at random but not too near to each other (dart throwing). Returns how
   many. */
static inline int kit_box(int n, const double size[3], uint64_t seed, double *points)
{
    pl_rng rng = pl_rng_make(seed);
    double distance = 0.74 * cbrt(size[0] * size[1] * size[2] / n);
    int dims[3], count = 0;
    for (int k = 0; k < 3; k++)
        dims[k] = (int)ceil(size[k] / distance) + 1;
    int cells = dims[0] * dims[1] * dims[2];
    int *head = malloc(sizeof(int) * (size_t)cells), *next = malloc(sizeof(int) * (size_t)n);
    for (int i = 0; i < cells; i++)
        head[i] = -1;
    for (int64_t tries = 0; count < n && tries < 400 * (int64_t)n; tries++) {
        double p[3];
        int at[3];
        for (int k = 0; k < 3; k++) {
            p[k] = size[k] * pl_random_double(&rng);
            at[k] = (int)(p[k] / distance);
        }
        bool free_place = true;
        for (int z = at[2] - 1; z <= at[2] + 1 && free_place; z++)
            for (int y = at[1] - 1; y <= at[1] + 1 && free_place; y++)
                for (int xx = at[0] - 1; xx <= at[0] + 1 && free_place; xx++) {
                    if (xx < 0 || y < 0 || z < 0 || xx >= dims[0] || y >= dims[1] || z >= dims[2])
                        continue;
                    for (int j = head[(z * dims[1] + y) * dims[0] + xx]; j >= 0; j = next[j]) {
                        double d2 = 0;
                        for (int k = 0; k < 3; k++)
                            d2 += (p[k] - points[3 * j + k] - size[k] / 2) *
                                  (p[k] - points[3 * j + k] - size[k] / 2);
                        free_place = free_place && d2 >= distance * distance;
                    }
                }
        if (!free_place)
            continue;
        int cell = (at[2] * dims[1] + at[1]) * dims[0] + at[0];
        for (int k = 0; k < 3; k++)
            points[3 * count + k] = p[k] - size[k] / 2;
        next[count] = head[cell];
        head[cell] = count++;
    }
    free(head);
    free(next);
    return count;
}

/* A body of given points, clustered and then turned; masses from 0.5 to 1.5 where `uneven`. */
static inline void body_open_turned(body *b, int n, const double *points, pl_mat3 turn, bool uneven,
                                    const pl_clustering_def *clustering,
                                    const pl_clustered_def *def)
{
    *b = (body){.capacity = 8 * n + 64, .contact = def->self_contact};
    pl_memory_init(&b->memory, NULL, 0);
    float *rest = malloc(sizeof(float) * 3 * (size_t)n), *mass = malloc(sizeof(float) * (size_t)n),
          *radius = malloc(sizeof(float) * (size_t)n);
    pl_rng rng = pl_rng_make(99);
    for (int i = 0; i < n; i++) {
        const double *p = points + 3 * i;
        pl_v3_to_floats(pl_m3_mul_v3(turn, pl_v3(p[0], p[1], p[2])), rest + 3 * i);
        mass[i] = uneven ? pl_random_between(&rng, 0.5f, 1.5f) : 1;
        radius[i] = 0.01f;
    }
    pl_clustering clusters;
    pl_error error;
    pl_status status =
        pl_cluster_particles(&b->memory, n, points, mass, clustering, &clusters, &error);
    if (status)
        print_error("%s\n", error.text);
    assert_int_equal(status, PL_OK);
    pl_clustered_source source = {.n = n,
                                  .rest = rest,
                                  .mass = mass,
                                  .radius = radius,
                                  .cluster_count = clusters.count,
                                  .start = clusters.start,
                                  .member = clusters.member,
                                  .raw = clusters.raw,
                                  .radii = clusters.radius};
    status = pl_clustered_create(&b->memory, &source, def, &b->c, &error);
    if (status)
        print_error("%s\n", error.text);
    assert_int_equal(status, PL_OK);
    pl_clustering_free(&b->memory, &clusters);
    b->x = calloc(3 * (size_t)b->capacity, sizeof(float));
    b->u = calloc(3 * (size_t)b->capacity, sizeof(float));
    b->from = calloc(3 * (size_t)b->capacity, sizeof(float));
    b->push = calloc(3 * (size_t)b->capacity, sizeof(float));
    memcpy(b->x, rest, sizeof(float) * 3 * (size_t)n);
    for (int i = 0; i < n; i++)
        b->mass += kit_exact(mass[i]);
    free(rest);
    free(mass);
    free(radius);
}

static inline void body_open(body *b, int n, const double *points, bool uneven,
                             const pl_clustering_def *clustering, const pl_clustered_def *def)
{
    body_open_turned(b, n, points, pl_m3_identity(), uneven, clustering, def);
}

static inline void body_close(body *b)
{
    pl_clustered_destroy(b->c);
    assert_int_equal(b->memory.used, 0);
    free(b->x);
    free(b->u);
    free(b->from);
    free(b->push);
}

/* Kinetic and elastic. */
static inline double body_energy(const body *b, double h)
{
    double sum = pl_clustered_elastic(b->c, b->x, h) / (h * h);
    for (int i = 0; i < b->c->n; i++)
        for (int k = 0; k < 3; k++)
            sum += 0.5 * (double)b->c->mass[i] * (double)b->u[3 * i + k] * (double)b->u[3 * i + k];
    return sum;
}

static inline void body_commit(body *b, double h)
{
    uint64_t split = b->c->split;
    double energy = isfinite(b->c->def.toughness) ? body_energy(b, h) : 0;
    pl_clustered_change change = {
        .h = h, .n = b->c->n, .capacity = b->capacity, .x = b->x, .u = b->u};
    double start = kit_seconds();
    pl_clustered_commit(b->c, &change, NULL);
    b->changing += kit_seconds() - start;
    assert_int_equal(change.n, b->c->n);
    b->most = fmax(b->most, energy);
    if (b->c->split != split)
        b->risen = fmax(b->risen, (body_energy(b, h) - energy) / b->most);
}

/* One sub-step; `push` (accelerations) is used. `fixed` particles go to their targets. */
static inline void body_step_held(body *b, double h, int fixed_count, const int32_t *fixed,
                                  const double *targets)
{
    size_t bytes = 3 * sizeof(float) * (size_t)b->c->n;
    memcpy(b->from, b->x, bytes);
    pl_clustered_motion motion = {.h = h,
                                  .from = b->from,
                                  .u = b->u,
                                  .push = b->push,
                                  .x = b->x,
                                  .fixed_count = fixed_count,
                                  .fixed = fixed,
                                  .targets = targets};
    double start = kit_seconds();
    b->c->def.self_contact = b->contact;
    motion.friction = b->friction;
    pl_clustered_solve(b->c, &motion, NULL);
    b->solving += kit_seconds() - start;
    for (int k = 0; k < fixed_count; k++)
        for (int j = 0; j < 3; j++)
            b->x[3 * fixed[k] + j] = (float)targets[7 * k + j];
    for (int i = 0; b->floored && i < b->c->n; i++)
        b->x[3 * i + 1] = fmaxf(b->x[3 * i + 1], (float)b->floor);
    for (size_t j = 0; j < 3 * (size_t)b->c->n; j++)
        b->u[j] = (float)(((double)b->x[j] - (double)b->from[j]) / h);
    body_commit(b, h);
}

static inline void body_step(body *b, double h)
{
    body_step_held(b, h, 0, NULL, NULL);
}

static inline void body_momentum(const body *b, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int i = 0; i < b->c->n; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += (double)b->c->mass[i] * (double)b->u[3 * i + k];
}

/* No part of a particle is smaller than an eighth of it, so that there are no more than eight. */
static inline void body_check_parts(const body *b)
{
    const pl_clustered *c = b->c;
    double *whole = calloc((size_t)c->model_n, sizeof(double));
    for (int i = 0; i < c->n; i++)
        whole[c->origin[i]] += (double)c->mass[i];
    for (int i = 0; i < c->n; i++)
        assert_true((double)c->mass[i] > 0.12499 * whole[c->origin[i]]);
    assert_true(c->n <= 8 * c->model_n);
    free(whole);
}

/* What must hold of the tables, the weights and the numbers, whatever happened. */
static inline void body_check(const body *b)
{
    const pl_clustered *c = b->c;
    double *sum = calloc((size_t)c->n, sizeof(double));
    assert_true(body_mass(b) == b->mass);
    body_check_parts(b);
    int memberships = 0;
    for (int k = 0; k < c->count; k++) {
        const pl_cluster *cluster = c->clusters + k;
        double mean[3] = {0}, mass = 0;
        assert_true(cluster->count > 0 && cluster->room >= cluster->count);
        assert_true(cluster->fade > 0 && cluster->fade <= 1);
        memberships += cluster->count;
        for (int m = cluster->first; m < cluster->first + cluster->count; m++) {
            int i = c->particle[m];
            assert_in_range(i, 0, c->n - 1);
            assert_true(c->raw[m] > 0 && c->weight[m] >= 0 && c->weight[m] <= 1);
            assert_int_equal(c->owner[m], k);
            sum[i] += (double)c->weight[m];
            double w = (double)c->weight[m] * (double)c->mass[i];
            mass += w;
            for (int j = 0; j < 3; j++)
                mean[j] += w * (double)c->p[j][m];
        }
        for (int j = 0; j < 3; j++)
            assert_true(fabs(mean[j]) <= 1e-5 * mass * (double)cluster->width + 1e-12);
        assert_true(fabs(mass - (double)cluster->mass) <= 1e-5 * mass);
        pl_mat3 plastic = pl_m3_from_floats(cluster->plastic);
        assert_true(fabs(pl_m3_det(plastic) - 1) < 1e-3);
        for (int j = 0; j < 9; j++) {
            assert_true(isfinite(cluster->carried[j]));
            assert_true(isfinite(cluster->gradient[j]));
        }
    }
    assert_int_equal(c->start[c->n], memberships);
    for (int i = 0; i < c->n; i++) {
        assert_true(c->mass[i] > 0);
        if (c->start[i + 1] > c->start[i])
            assert_true(fabs(sum[i] - 1) < 1e-5);
        for (int at = c->start[i]; at < c->start[i + 1]; at++)
            assert_int_equal(c->particle[c->place[at]], i);
        for (int j = 0; j < 3; j++)
            assert_true(isfinite(b->x[3 * i + j]) && isfinite(b->u[3 * i + j]));
    }
    free(sum);
}

static inline int kit_root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Pieces held together by clusters; particles without any are debris, not pieces. labels[n] may be
   NULL. */
static inline int body_pieces(const body *b, int *labels, int *debris)
{
    const pl_clustered *c = b->c;
    int *parent = malloc(sizeof(int) * (size_t)c->n), pieces = 0;
    *debris = 0;
    for (int i = 0; i < c->n; i++)
        parent[i] = i;
    for (int k = 0; k < c->count; k++)
        for (int m = 1; m < c->clusters[k].count; m++)
            parent[kit_root(parent, c->particle[c->clusters[k].first + m])] =
                kit_root(parent, c->particle[c->clusters[k].first]);
    for (int i = 0; i < c->n; i++) {
        bool alone = c->start[i] == c->start[i + 1];
        *debris += alone;
        pieces += !alone && kit_root(parent, i) == i;
        if (labels)
            labels[i] = kit_root(parent, i);
    }
    free(parent);
    return pieces;
}

#endif

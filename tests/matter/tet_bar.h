/* Bars of tetrahedra and bodies made of them, for tests and benchmarks of tetrahedral matter. */
#ifndef PLIANT_TESTS_TET_BAR_H
#define PLIANT_TESTS_TET_BAR_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matter/tetrahedral_lanes.h"

typedef struct tet_bar {
    int cells[3], n, tet_count;
    float *rest;   /* [n][3] */
    int32_t *tets; /* [tet_count][4] */
} tet_bar;

static inline void *tet_room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p)
        exit(1);
    return p;
}

static inline int tet_bar_node(const tet_bar *b, int i, int j, int k)
{
    return (i * (b->cells[1] + 1) + j) * (b->cells[2] + 1) + k;
}

/* a × b × c cells of size `spacing`, each cut into five tetrahedra, in alternating directions. */
static inline tet_bar tet_bar_make(int a, int b, int c, double spacing)
{
    static const int odd[5][4] = {
        {0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
    tet_bar bar = {
        .cells = {a, b, c}, .n = (a + 1) * (b + 1) * (c + 1), .tet_count = 5 * a * b * c};
    bar.rest = tet_room(3 * (size_t)bar.n, sizeof(float));
    bar.tets = tet_room(4 * (size_t)bar.tet_count, sizeof(int32_t));
    for (int i = 0; i <= a; i++)
        for (int j = 0; j <= b; j++)
            for (int k = 0; k <= c; k++) {
                float *p = bar.rest + 3 * (size_t)tet_bar_node(&bar, i, j, k);
                p[0] = (float)(i * spacing), p[1] = (float)(j * spacing),
                p[2] = (float)(k * spacing);
            }
    int count = 0;
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < c; k++)
                for (int t = 0; t < 5; t++, count++)
                    for (int v = 0; v < 4; v++) {
                        /* Mirrored cells: corner bits turned over along x. */
                        int bits = odd[t][v] ^ ((i + j + k) % 2 ? 1 : 0);
                        bar.tets[4 * (size_t)count + (size_t)v] = tet_bar_node(
                            &bar, i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2 & 1));
                    }
    return bar;
}

static inline void tet_bar_free(tet_bar *b)
{
    free(b->rest);
    free(b->tets);
}

/* Nodes with lowest x (`end` 0), highest x (1), or both (2). */
static inline int tet_bar_ends(const tet_bar *b, int end, int32_t *nodes)
{
    int count = 0;
    for (int i = 0; i <= b->cells[0]; i++)
        for (int j = 0;
             j <= b->cells[1] && ((end != 1 && i == 0) || (end != 0 && i == b->cells[0])); j++)
            for (int k = 0; k <= b->cells[2]; k++)
                nodes[count++] = tet_bar_node(b, i, j, k);
    return count;
}

/* A system with one body and what moves it. */
typedef struct tet_case {
    pl_memory memory;
    tet_bar bar;
    pl_tet_source source;
    pl_tetrahedral_def def;
    pl_tet_system *system;
    pl_tetrahedral *body;
    int32_t *fixed;
    double *targets;
    float *x, *u, *next;
    pl_tet_motion motion;
    pl_tasks *tasks;
} tet_case;

/* The bar is the case's from here on; `end` −1: nothing fixed. */
static inline void tet_case_make(tet_case *c, tet_bar bar, pl_tetrahedral_def def, double young,
                                 double h, int end)
{
    memset(c, 0, sizeof *c);
    pl_memory_init(&c->memory, NULL, 0);
    c->bar = bar;
    c->def = def;
    c->fixed = tet_room((size_t)bar.n, sizeof *c->fixed);
    c->source = (pl_tet_source){.n = bar.n,
                                .rest = bar.rest,
                                .tet_count = bar.tet_count,
                                .tets = bar.tets,
                                .young = young,
                                .density = 1,
                                .h = h,
                                .fixed = c->fixed,
                                .side_by_side = 1,
                                .workers = 2};
    if (end >= 0)
        c->source.fixed_count = tet_bar_ends(&bar, end, c->fixed);
    pl_error error = {0};
    if (pl_tet_system_create(&c->memory, &c->source, &def, NULL, &c->system, &error) != PL_OK ||
        pl_tetrahedral_create(&c->memory, c->system, &c->body, &error) != PL_OK) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        abort();
    }
    size_t floats = 3 * (size_t)bar.n;
    c->x = tet_room(floats, sizeof(float));
    c->u = tet_room(floats, sizeof(float));
    c->next = tet_room(floats, sizeof(float));
    c->targets = tet_room(7 * (size_t)bar.n, sizeof(double));
    memcpy(c->x, bar.rest, floats * sizeof(float));
    for (int k = 0; k < c->source.fixed_count; k++)
        for (int i = 0; i < 3; i++)
            c->targets[7 * k + i] = (double)bar.rest[3 * c->fixed[k] + i];
    c->motion = (pl_tet_motion){.from = c->x, .u = c->u, .targets = c->targets, .x = c->next};
}

static inline void tet_case_free(tet_case *c)
{
    pl_tetrahedral_destroy(c->body);
    pl_tet_system_drop(c->system);
    tet_bar_free(&c->bar);
    free(c->fixed), free(c->targets), free(c->x), free(c->u), free(c->next);
}

/* One sub-step, with velocities from displacements. */
static inline void tet_case_step(tet_case *c, int iterations)
{
    pl_tetrahedral_solve(&c->body, &c->motion, 1, iterations, c->tasks);
    for (int k = 0; k < 3 * c->bar.n; k++) {
        c->u[k] = (float)(((double)c->next[k] - (double)c->x[k]) / c->source.h);
        c->x[k] = c->next[k];
    }
}

/* A static solve: one step so long that inertia counts for nothing. */
static inline void tet_case_settle(tet_case *c, int iterations)
{
    memset(c->u, 0, 3 * (size_t)c->bar.n * sizeof(float));
    pl_tetrahedral_solve(&c->body, &c->motion, 1, iterations, c->tasks);
    memcpy(c->x, c->next, 3 * (size_t)c->bar.n * sizeof(float));
}

static inline double tet_case_energy(const tet_case *c, const double *y, double *gradient)
{
    double *x = tet_room(3 * (size_t)c->bar.n, sizeof(double));
    for (int k = 0; k < 3 * c->bar.n; k++)
        x[k] = (double)c->x[k];
    double energy = pl_tet_energy(c->system, c->body, x, y, gradient);
    free(x);
    return energy;
}

#endif

/* Definitions to break, random graphs, and an allocator that counts and fails on demand. */
#ifndef PLIANT_TESTS_MODEL_CASES_H
#define PLIANT_TESTS_MODEL_CASES_H

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "pliant/pliant.h"

enum { CASE_PARTICLES = 6, CASE_EDGES = 7, CASE_VERTICES = 10, CASE_TRIANGLES = 3 };

/* A small valid model, all of it writable. */
typedef struct model_case {
    pl_model_def def;
    double positions[CASE_PARTICLES * 3];
    double orientations[CASE_PARTICLES * 4];
    double radii[CASE_PARTICLES * 3];
    int32_t edges[CASE_EDGES * 2];
    double vertices[CASE_VERTICES * 3];
    int32_t influences[CASE_VERTICES * 2];
    float weights[CASE_VERTICES * 2];
    int32_t triangles[CASE_TRIANGLES * 3];
} model_case;

/* In place: the definition points into the case. */
static inline void make_case(model_case *c)
{
    static const int32_t edges[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 0, 3, 1, 4};
    static const int32_t triangles[] = {0, 1, 2, 2, 3, 4, 7, 8, 9};
    pl_rng rng = pl_rng_make(7);
    for (int i = 0; i < CASE_PARTICLES * 3; i++) {
        c->positions[i] = 0.3 * (i / 3 * (i % 3 == 0)) + 0.2 * pl_random_double(&rng) + 5;
        c->radii[i] = 0.1 + 0.05 * pl_random_double(&rng);
    }
    for (int i = 0; i < CASE_PARTICLES * 4; i++)
        c->orientations[i] = pl_random_double(&rng) + 0.1;
    for (int i = 0; i < CASE_VERTICES * 3; i++)
        c->vertices[i] = 5 + pl_random_double(&rng);
    for (int i = 0; i < CASE_VERTICES * 2; i++) {
        c->influences[i] = (i / 2 + i % 2) % CASE_PARTICLES;
        c->weights[i] = 0.5f + (float)(i % 3);
    }
    memcpy(c->edges, edges, sizeof edges);
    memcpy(c->triangles, triangles, sizeof triangles);
    c->def = pl_default_model_def();
    c->def.particle_count = CASE_PARTICLES;
    c->def.positions = pl_doubles(c->positions, 0);
    c->def.orientations = pl_doubles(c->orientations, 0);
    c->def.radii = pl_doubles(c->radii, 0);
    c->def.edge_count = CASE_EDGES;
    c->def.edges = c->edges;
    c->def.vertex_count = CASE_VERTICES;
    c->def.vertices = pl_doubles(c->vertices, 0);
    c->def.influence_count = 2;
    c->def.influences = c->influences;
    c->def.weights = c->weights;
    c->def.triangle_count = CASE_TRIANGLES;
    c->def.triangles = c->triangles;
}

/* ---- Memory -------------------------------------------------------------------------------- */

typedef struct failing_host {
    int calls, fail_at; /* the call with this number and all later ones fail; -1 = none */
    int blocks;
    size_t bytes; /* handed out and not yet back */
} failing_host;

static inline void *failing_alloc(void *user, size_t size, size_t alignment)
{
    failing_host *host = user;
    if (host->fail_at >= 0 && host->calls >= host->fail_at)
        return NULL;
    host->calls++;
    host->blocks++;
    host->bytes += size;
    return aligned_alloc(alignment, size);
}

static inline void failing_free(void *user, void *pointer, size_t size)
{
    failing_host *host = user;
    host->blocks--;
    host->bytes -= size;
    free(pointer);
}

static inline pl_allocator failing_allocator(failing_host *host)
{
    return (pl_allocator){failing_alloc, failing_free, host};
}

/* ---- Random graphs ------------------------------------------------------------------------- */

typedef struct random_graph {
    int n, m;
    double *positions, *radii;
    int32_t *edges;
} random_graph;

/* A random tree and up to `extra` more edges. */
static inline random_graph make_random_graph(uint64_t seed, int n, int extra)
{
    random_graph g = {.n = n};
    pl_rng rng = pl_rng_make(seed);
    g.positions = malloc((size_t)n * 3 * sizeof(double));
    g.radii = malloc((size_t)n * 3 * sizeof(double));
    g.edges = malloc((size_t)(n + extra) * 2 * sizeof(int32_t));
    for (int i = 0; i < 3 * n; i++) {
        g.positions[i] = pl_random_double(&rng) * 10;
        g.radii[i] = 0.1 + pl_random_double(&rng);
    }
    char *present = calloc((size_t)n * (size_t)n, 1);
    for (int k = 1; k < n + extra; k++) {
        int a = k < n ? k : (int)pl_random_below(&rng, (uint32_t)n);
        int b = (int)pl_random_below(&rng, (uint32_t)(k < n ? k : n));
        if (a == b || present[a * n + b])
            continue;
        present[a * n + b] = present[b * n + a] = 1;
        g.edges[2 * g.m] = a;
        g.edges[2 * g.m++ + 1] = b;
    }
    free(present);
    return g;
}

static inline void free_random_graph(random_graph *g)
{
    free(g->positions);
    free(g->radii);
    free(g->edges);
}

static inline pl_model_def random_graph_def(const random_graph *g)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = g->n;
    def.positions = pl_doubles(g->positions, 0);
    def.radii = pl_doubles(g->radii, 0);
    def.edge_count = g->m;
    def.edges = g->edges;
    return def;
}

#endif

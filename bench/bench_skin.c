/* CPU skinning against a plain memory copy of as many bytes: what skinning touches (rest vectors,
   influences and weights as stored, results) is read and written once, so is half of it each by the
   copy. The two alternate in one run, and the fastest of each counts. Also how long the weights
   take to compute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/tasks.h"
#include "pliant/pliant.h"

enum { REPEATS = 40, PIECE = 56 * 1024 };

/* ---- Models ---------------------------------------------------------------------------------- */

/* Particles on a lattice with edges along its axes. */
static pl_model_def make_lattice(const int size[3], double **positions, int32_t **edges)
{
    int n = size[0] * size[1] * size[2], m = 0, stride[3] = {1, size[0], size[0] * size[1]};
    *positions = malloc(sizeof(double) * 3 * (size_t)n);
    *edges = malloc(sizeof(int32_t) * 6 * (size_t)n);
    for (int i = 0; i < n; i++) {
        int at[3] = {i % size[0], i / size[0] % size[1], i / stride[2]};
        for (int k = 0; k < 3; k++) {
            (*positions)[3 * i + k] = at[k];
            if (at[k] + 1 < size[k]) {
                (*edges)[2 * m] = i;
                (*edges)[2 * m++ + 1] = i + stride[k];
            }
        }
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = n;
    def.positions = pl_doubles(*positions, 0);
    def.edge_count = m;
    def.edges = *edges;
    return def;
}

/* The six sides of the box around the lattice, row by row. */
static double *make_surface(const int size[3], int per_side, int *count)
{
    double *vertices = malloc(sizeof(double) * 18 * (size_t)per_side * (size_t)per_side);
    int at = 0;
    for (int side = 0; side < 6; side++)
        for (int i = 0; i < per_side * per_side; i++) {
            int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3;
            double *v = vertices + 3 * at++;
            v[a] = side % 2 ? size[a] - 0.5 : -0.5;
            v[b] = -0.5 + size[b] * (double)(i % per_side) / (per_side - 1);
            v[c] = -0.5 + size[c] * (double)(i / per_side) / (per_side - 1);
        }
    *count = at;
    return vertices;
}

static pl_model *make_model(const int size[3], int per_side)
{
    double *positions, seconds;
    int32_t *edges;
    pl_model_def def = make_lattice(size, &positions, &edges);
    double *radii = malloc(sizeof(double) * 3 * (size_t)def.particle_count);
    for (int i = 0; i < 3 * def.particle_count; i++)
        radii[i] = 0.5;
    def.radii = pl_doubles(radii, 0);
    double *vertices = make_surface(size, per_side, &def.vertex_count);
    def.vertices = pl_doubles(vertices, 0);
    pl_model *model = NULL, *bare = NULL;
    uint64_t begin = pl_clock_ns();
    pl_model_create(&def, &model, NULL);
    seconds = (double)(pl_clock_ns() - begin) * 1e-9;
    def.vertex_count = 0;
    begin = pl_clock_ns();
    pl_model_create(&def, &bare, NULL);
    seconds -= (double)(pl_clock_ns() - begin) * 1e-9;
    if (!model || !bare)
        exit(1);
    pl_model_release(bare);
    printf("  %d particles, %d vertices: weights, normals and hash in %.2f s\n", def.particle_count,
           pl_model_get_info(model).vertex_count, seconds);
    free(positions), free(edges), free(radii), free(vertices);
    return model;
}

/* ---- Copying --------------------------------------------------------------------------------- */

typedef struct copying {
    char *to, *from;
    size_t size;
} copying;

static void copy_pieces(void *context, int begin, int end, int worker)
{
    (void)worker;
    const copying *c = context;
    size_t first = (size_t)begin * PIECE, last = (size_t)end * PIECE;
    last = last < c->size ? last : c->size;
    memcpy(c->to + first, c->from + first, last - first);
}

static double time_copy(pl_tasks *tasks, copying *c)
{
    uint64_t begin = pl_clock_ns();
    int pieces = (int)((c->size + PIECE - 1) / PIECE);
    pl_tasks_run(tasks, copy_pieces, c, pieces, pieces / 16 + 1);
    return (double)(pl_clock_ns() - begin) * 1e-9;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct scene {
    pl_world *world;
    pl_skin_request *requests;
    int count;
    size_t vertices;
    float *positions, *normals;
} scene;

static scene make_scene(pl_model *model, int bodies, int threads)
{
    scene s = {.count = bodies};
    pl_world_def def = pl_default_world_def();
    def.threads = threads;
    pl_world_create(&def, &s.world, NULL);
    size_t each = (size_t)pl_model_get_info(model).vertex_count;
    s.vertices = each * (size_t)bodies;
    s.requests = calloc((size_t)bodies, sizeof *s.requests);
    s.positions = malloc(s.vertices * 12);
    s.normals = malloc(s.vertices * 12);
    for (int i = 0; i < bodies; i++) {
        pl_body_def body = pl_default_body_def(model);
        body.position[0] = 30 * i;
        body.rotation[0] = 0.1 * i;
        s.requests[i].fraction = 1;
        s.requests[i].positions = pl_floats(s.positions + 3 * each * (size_t)i, 0);
        if (pl_body_create(s.world, &body, &s.requests[i].body, NULL) != PL_OK)
            exit(1);
    }
    return s;
}

static void free_scene(scene *s)
{
    pl_world_destroy(s->world);
    free(s->requests), free(s->positions), free(s->normals);
}

static void compare(scene *s, int threads, bool with_normals)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_tasks *tasks = pl_tasks_create(NULL, threads, &memory);
    size_t touched = s->vertices * (size_t)(12 + 32 + 12 + (with_normals ? 24 : 0));
    copying c = {malloc(touched / 2), malloc(touched / 2), touched / 2};
    memset(c.from, 1, c.size); /* memory never written may be one page of zeros, again and again */
    double skin = INFINITY, copy = INFINITY;
    for (int i = 0; i < s->count; i++)
        s->requests[i].normals = pl_floats(
            with_normals ? s->normals + (s->vertices / (size_t)s->count) * 3 * (size_t)i : NULL, 0);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        uint64_t begin = pl_clock_ns();
        if (pl_world_skin(s->world, s->requests, s->count) != PL_OK)
            exit(1);
        skin = fmin(skin, (double)(pl_clock_ns() - begin) * 1e-9);
        copy = fmin(copy, time_copy(tasks, &c));
    }
    printf("  %d thread%s %s %7.3f ms %6.2f ns/vertex %6.1f GB/s; copy %7.3f ms %6.1f GB/s: %3.0f "
           "%%\n",
           threads, threads > 1 ? "s," : ", ", with_normals ? "with normals" : "positions   ",
           skin * 1e3, skin * 1e9 / (double)s->vertices, (double)touched / skin * 1e-9, copy * 1e3,
           (double)touched / copy * 1e-9, copy / skin * 100);
    pl_tasks_destroy(tasks);
    free(c.to), free(c.from);
}

static void measure(const char *name, const int size[3], int per_side, int bodies)
{
    printf("%s\n", name);
    pl_model *model = make_model(size, per_side);
    for (int threads = 1; threads <= 2; threads++) {
        scene s = make_scene(model, bodies, threads);
        compare(&s, threads, false);
        compare(&s, threads, true);
        free_scene(&s);
    }
    pl_model_release(model);
}

int main(void)
{
    printf("kernels of %d floats\n", pl_simd_width());
    measure("180 bodies", (const int[3]){2, 3, 4}, 26, 180);
    measure("one body, few particles", (const int[3]){4, 5, 5}, 342, 1);
    measure("one body, many particles", (const int[3]){20, 20, 25}, 342, 1);
    return 0;
}

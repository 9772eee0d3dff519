/* Milliseconds per sub-step of clustered matter without changes of clusters: the beam of the thesis
   (5,317 particles, 200 clusters), the twisted beam (30 clusters, 8 rounds of strain limiting; with
   contact of the beam with itself and without) and a large body (100,000 particles in four of 4,000
   clusters each, 8 rounds); the others without contact. The same twenty steps again and again:
   minima of each, and the mean of those; by phase.
     calm      swings within the limit of strain: the first round finds nothing to do, and there is no other
     swinging  was twisted by a radian per width and let go: wherever it is beyond the limit, rounds go on
     strained  always starts a sub-step from a state that is beyond the limit in every cluster: the most there can be
   "beyond" are clusters per round that had something to correct. Particles are in random order. A
   step of a new body is not counted: it lists neighbours, and touches memory for the first time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "matter/clustered.h"

typedef struct kit {
    int n, cluster_count;
    float *rest, *mass, *radius, *raw, *radii;
    int32_t *start, *member;
    double size[3];
    int memberships;
} kit;

static void *room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p)
        exit(1);
    return p;
}

/* Particles jittered about a lattice of a × b × c cells, in random order; clusters about a coarser
   one. */
static kit make(int a, int b, int c, int n, int ca, int cb, int cc, double reach)
{
    kit k = {.n = n, .cluster_count = ca * cb * cc, .size = {a, b, c}};
    pl_rng rng = pl_rng_make(7);
    size_t most = (size_t)n * 64;
    k.rest = room((size_t)n * 3, sizeof(float));
    k.mass = room((size_t)n, sizeof(float));
    k.radius = room((size_t)n, sizeof(float));
    k.raw = room(most, sizeof(float));
    k.member = room(most, sizeof(int32_t));
    k.start = room((size_t)k.cluster_count + 1, sizeof(int32_t));
    k.radii = room((size_t)k.cluster_count, sizeof(float));
    int32_t *order = room((size_t)(a * b * c), sizeof(int32_t));
    for (int i = 0; i < a * b * c; i++) {
        int j = (int)(pl_random_double(&rng) * (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < n; i++) {
        int at = order[i], cell[3] = {at / (b * c), at / c % b, at % c};
        for (int m = 0; m < 3; m++)
            k.rest[3 * i + m] = (float)(cell[m] + 0.5 * pl_random_double(&rng));
        k.mass[i] = 1;
        k.radius[i] = 0.5f;
    }
    free(order);
    for (int i = 0; i < k.cluster_count; i++) {
        double at[3] = {(i / (cb * cc) + 0.5) * a / ca, (i / cc % cb + 0.5) * b / cb,
                        (i % cc + 0.5) * c / cc};
        for (int j = 0; j < n; j++) {
            double d = 0;
            for (int m = 0; m < 3; m++)
                d += (k.rest[3 * j + m] - at[m]) * (k.rest[3 * j + m] - at[m]);
            if (d > reach * reach)
                continue;
            k.member[k.memberships] = j;
            k.raw[k.memberships++] = (float)(1 / (d + 0.01 * reach * reach));
        }
        k.start[i + 1] = k.memberships;
        k.radii[i] = (float)reach;
    }
    return k;
}

static void drop(kit *k)
{
    free(k->rest), free(k->mass), free(k->radius), free(k->raw), free(k->radii);
    free(k->start), free(k->member);
}

/* Twisted about the first axis. */
static void twist(const kit *k, double angle, float *x)
{
    for (int i = 0; i < k->n; i++) {
        double t = angle * (k->rest[3 * i] / k->size[0] - 0.5),
               y = k->rest[3 * i + 1] - k->size[1] / 2, z = k->rest[3 * i + 2] - k->size[2] / 2;
        x[3 * i] = (float)(k->rest[3 * i] - k->size[0] / 2);
        x[3 * i + 1] = (float)(cos(t) * y - sin(t) * z);
        x[3 * i + 2] = (float)(sin(t) * y + cos(t) * z);
    }
}

typedef enum mode { CALM, SWINGING, STRAINED } mode;
static const char *const names[] = {"calm", "swinging", "strained"};
static const double twists[] = {0.02, 1, 2.5}; /* radians per width */

typedef struct task {
    const char *name;
    double limit; /* of strain */
    int rounds;
    bool self_contact;
} task;

static pl_clustered *create(pl_memory *memory, const kit *k, const task *t)
{
    pl_clustered *c;
    pl_error error;
    pl_clustered_def def = pl_default_clustered_def();
    def.strain_limit = t->limit;
    def.strain_iterations = t->rounds;
    def.strain_part = 0.2;
    def.yield = 0.1;
    def.self_contact = t->self_contact;
    pl_clustered_source source = {k->n,     k->rest,   k->mass, k->radius, k->cluster_count,
                                  k->start, k->member, k->raw,  k->radii};
    if (pl_clustered_create(memory, &source, &def, &c, &error) != PL_OK) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        exit(1);
    }
    return c;
}

enum {
    STEPS = 20,
    PARTS = 4,
    PHASES = PARTS + 1
}; /* of a way that is gone again and again; the last phase is all of it */

/* Once along the way; best[step][phase] keeps the least so far, in ticks. */
static void go(pl_clustered *c, const kit *k, mode how, pl_tasks *tasks, double best[STEPS][PHASES])
{
    size_t bytes = (size_t)k->n * 3 * sizeof(float);
    float *x = room(1, bytes), *u = room(1, bytes), *out = room(1, bytes);
    twist(k, twists[how] * k->size[0] / k->size[1], x);
    pl_clustered_solve(c, &(pl_clustered_motion){.h = 1.0 / 60, .from = x, .u = u, .x = out},
                       tasks);
    for (int s = 0; s < STEPS; s++) {
        pl_clustered_motion m = {.h = 1.0 / 60, .from = x, .u = u, .x = out};
        uint64_t before[PARTS], now = pl_ticks();
        memcpy(before, c->ticks, sizeof before);
        pl_clustered_solve(c, &m, tasks);
        best[s][PARTS] = fmin(best[s][PARTS], (double)(pl_ticks() - now));
        for (int p = 0; p < PARTS; p++)
            best[s][p] = fmin(best[s][p], (double)(c->ticks[p] - before[p]));
        for (int i = 0; how != STRAINED && i < 3 * k->n; i++)
            u[i] = (out[i] - x[i]) * 60, x[i] = out[i];
    }
    free(x), free(u), free(out);
}

static void measure(const task *t, const kit *k, mode how, int threads, int repeats)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_tasks *tasks = threads > 1 ? pl_tasks_create(NULL, threads, &memory) : NULL;
    double best[STEPS][PHASES], mean[PHASES] = {0}, done = 0, beyond = 0;
    uint64_t ticks = pl_ticks(), ns = pl_clock_ns();
    for (int s = 0; s < STEPS * PHASES; s++)
        best[s / PHASES][s % PHASES] = 1e30;
    for (int r = 0; r < repeats; r++) {
        pl_clustered *c = create(&memory, k, t);
        go(c, k, how, tasks, best);
        done = (double)c->rounds / (STEPS + 1);
        beyond = c->rounds ? (double)c->corrections / (double)c->rounds : 0;
        pl_clustered_destroy(c);
    }
    double ms = (double)(pl_clock_ns() - ns) * 1e-6 / (double)(pl_ticks() - ticks);
    for (int s = 0; s < STEPS * PHASES; s++)
        mean[s % PHASES] += best[s / PHASES][s % PHASES] * ms / STEPS;
    printf("%-6s %-9s %6d particles %4d clusters %6d memberships, %d thread%s, %3.1f rounds with "
           "%6.1f beyond: %7.3f ms (fit and goals %.3f, integration %.3f, strain %.3f",
           t->name, names[how], k->n, k->cluster_count, k->memberships, threads,
           threads > 1 ? "s" : " ", done, beyond, mean[PARTS], mean[0], mean[1], mean[2]);
    if (t->self_contact)
        printf(", contact %.3f", mean[3]);
    printf(")\n");
    pl_tasks_destroy(tasks);
}

/* The most strain there can be needs a lower limit. */
static void measure_all(task t, const kit *k, int threads, int repeats)
{
    for (int how = CALM; how <= STRAINED; how++) {
        t.limit = how == STRAINED ? 0.02 : 0.1;
        measure(&t, k, (mode)how, threads, repeats);
    }
}

static void measure_beam(int scale)
{
    kit beam = make(37, 12, 12, 5317, 13, 4, 4, 3.35);
    for (int how = CALM; how <= SWINGING; how++)
        measure(&(task){.name = "beam"}, &beam, (mode)how, 1, 30 * scale);
    drop(&beam);
}

static void measure_twist(int scale)
{
    kit bar = make(37, 12, 12, 5317, 5, 3, 2, 6.45);
    measure_all((task){.name = "twist", .rounds = 8}, &bar, 1, 15 * scale);
    measure_all((task){.name = "twist", .rounds = 8, .self_contact = true}, &bar, 1, 15 * scale);
    drop(&bar);
}

static void measure_large(int scale, int only)
{
    kit large = make(100, 32, 32, 100000, 40, 10, 10, 2.97);
    for (int threads = only ? only : 1; threads <= (only ? only : 2); threads++)
        measure_all((task){.name = "large", .rounds = 8}, &large, threads, 3 * scale);
    drop(&large);
}

/* bench_clustered [SCALE [NAME [THREADS]]]: so many times the repetitions; one of the bodies only;
   the large one with one number of threads only. */
int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    const char *only = argc > 2 ? argv[2] : NULL;
    if (!only || !strcmp(only, "beam"))
        measure_beam(scale);
    if (!only || !strcmp(only, "twist"))
        measure_twist(scale);
    if (!only || !strcmp(only, "large"))
        measure_large(scale, argc > 3 ? atoi(argv[3]) : 0);
    return 0;
}

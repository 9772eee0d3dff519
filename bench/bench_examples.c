/* Microseconds per sub-step of bodies of rings with examples (METHODS §4), on one core, without contact, beside what the
   paper's Table 1 says (its Core i7 M620) and what is wanted. Lattices cut into five tetrahedra a cell, swinging from a
   twist; the same steps again and again: minima of each, and the mean of those; by phase. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "matter/clustered.h"

typedef struct kit {
    int n, count[3];
    float *rest, *mass, *radius, *raw, *radii;
    int32_t *start, *member;
} kit;

static void *room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p)
        exit(1);
    return p;
}

static int at(const kit *k, int i, int j, int l)
{
    return (i * k->count[1] + j) * k->count[2] + l;
}

/* Neighbours: along the axes, and across faces for every other node. */
static int ring(const kit *k, int i, int j, int l, int32_t *out)
{
    int count = 0;
    for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++)
            for (int c = -1; c <= 1; c++) {
                int far = abs(a) + abs(b) + abs(c), x = i + a, y = j + b, z = l + c;
                if (far > 2 || (far == 2 && (i + j + l) % 2 == 0) || x < 0 || y < 0 || z < 0 ||
                    x >= k->count[0] || y >= k->count[1] || z >= k->count[2])
                    continue;
                out[count++] = at(k, x, y, z);
            }
    return count;
}

static kit make(int a, int b, int c)
{
    kit k = {.n = a * b * c, .count = {a, b, c}};
    size_t n = (size_t)k.n;
    k.rest = room(3 * n, sizeof(float));
    k.mass = room(n, sizeof(float));
    k.radius = room(n, sizeof(float));
    k.radii = room(n, sizeof(float));
    k.start = room(n + 1, sizeof(int32_t));
    k.member = room(20 * n, sizeof(int32_t));
    k.raw = room(20 * n, sizeof(float));
    for (int i = 0; i < k.n; i++) {
        int place[3] = {i / (b * c), i / c % b, i % c};
        for (int m = 0; m < 3; m++)
            k.rest[3 * i + m] = (float)place[m] - 0.5f * (float)(k.count[m] - 1);
        k.mass[i] = 1, k.radius[i] = 0.3f, k.radii[i] = 1;
        k.start[i + 1] = k.start[i] + ring(&k, place[0], place[1], place[2], k.member + k.start[i]);
    }
    for (int m = 0; m < k.start[k.n]; m++)
        k.raw[m] = 1;
    return k;
}

static void drop(kit *k)
{
    free(k->rest), free(k->mass), free(k->radius), free(k->radii), free(k->start);
    free(k->member), free(k->raw);
}

/* Twisted, bent, both, …: pose number `which`, its last axis shortened; `much` 1 is all of it. */
static void pose(const kit *k, int which, double much, float *x)
{
    double length = k->count[2] - 1;
    for (int i = 0; i < k->n; i++) {
        const float *r = k->rest + 3 * i;
        double t = r[2] / length, angle = which % 2 ? 0 : much * (which + 1) * t;
        double side = which % 2 ? much * 0.15 * length * sin((which + 1) * 2.0 * t) : 0;
        x[3 * i] = (float)(cos(angle) * r[0] - sin(angle) * r[1] + side);
        x[3 * i + 1] = (float)(sin(angle) * r[0] + cos(angle) * r[1]);
        x[3 * i + 2] = (float)(r[2] * (1 - 0.2 * much));
    }
}

static pl_clustered *create(pl_memory *memory, const kit *k, int poses, bool local)
{
    pl_clustered *c;
    pl_error error;
    pl_clustered_def def = pl_default_clustered_def();
    def.strain_limit = 0;
    def.self_contact = false;
    def.rotation = PL_ROTATION_LEAST_SQUARES;
    def.damping = 1;
    pl_clustered_source source = {k->n,     k->rest,   k->mass, k->radius, k->n,
                                  k->start, k->member, k->raw,  k->radii};
    if (pl_clustered_create(memory, &source, &def, &c, &error) != PL_OK)
        exit(1);
    if (!poses)
        return c;
    size_t n = (size_t)k->n;
    float *x = room(3 * n, sizeof(float)), *weight = room(n, sizeof(float));
    float *all = room(6 * n * (size_t)poses, sizeof(float));
    int32_t *group = room(n, sizeof(int32_t));
    for (int p = 0; p < poses; p++) {
        pose(k, p, 1, x);
        pl_clustered_describe(c, x, all + 6 * n * (size_t)p, weight);
    }
    for (int i = 0; i < k->n; i++)
        group[i] = local ? i : 0;
    pl_examples_source examples = {.element_count = k->n,
                                   .width = 6,
                                   .pose_count = poses,
                                   .poses = all,
                                   .weight = weight,
                                   .group_count = local ? k->n : 1,
                                   .group = group,
                                   .beta = 0.995};
    pl_examples *made;
    if (pl_examples_create(memory, &examples, &made, &error) != PL_OK ||
        pl_clustered_set_examples(c, made, &error) != PL_OK)
        exit(1);
    free(x), free(weight), free(all), free(group);
    return c;
}

enum { STEPS = 100, PHASES = 4 };

static void go(pl_clustered *c, const kit *k, double best[STEPS][PHASES])
{
    size_t bytes = (size_t)k->n * 3 * sizeof(float);
    float *x = room(1, bytes), *u = room(1, bytes), *out = room(1, bytes);
    pose(k, 2, 0.7, x);
    for (int s = 0; s < STEPS; s++) {
        pl_clustered_motion m = {.h = 1.0 / 100, .from = x, .u = u, .x = out};
        uint64_t before[5], now = pl_ticks();
        memcpy(before, c->ticks, sizeof before);
        pl_clustered_solve(c, &m, NULL);
        best[s][3] = fmin(best[s][3], (double)(pl_ticks() - now));
        for (int p = 0; p < 3; p++) {
            static const int phase[3] = {0, 1, 4};
            best[s][p] = fmin(best[s][p], (double)(c->ticks[phase[p]] - before[phase[p]]));
        }
        for (int i = 0; i < 3 * k->n; i++)
            u[i] = (out[i] - x[i]) * 100, x[i] = out[i];
    }
    free(x), free(u), free(out);
}

static void measure(const char *name, const kit *k, int poses, bool local, double theirs,
                    int repeats)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    double best[STEPS][PHASES], mean[PHASES] = {0};
    uint64_t ticks = pl_ticks(), ns = pl_clock_ns();
    for (int s = 0; s < STEPS * PHASES; s++)
        best[s / PHASES][s % PHASES] = 1e30;
    for (int r = 0; r < repeats; r++) {
        pl_clustered *c = create(&memory, k, poses, local);
        go(c, k, best);
        pl_clustered_destroy(c);
    }
    double us = (double)(pl_clock_ns() - ns) * 1e-3 / (double)(pl_ticks() - ticks);
    for (int s = 0; s < STEPS * PHASES; s++)
        mean[s % PHASES] += best[s / PHASES][s % PHASES] * us / STEPS;
    printf("%-8s %5d particles, %d example%s %-6s %7.2f µs (fit and goals %.2f, rows %.2f, "
           "projection %.2f = %4.1f %%)",
           name, k->n, poses, poses == 1 ? " " : "s",
           !poses  ? ""
           : local ? "local"
                   : "global",
           mean[3], mean[0], mean[1], mean[2], 100 * mean[2] / mean[3]);
    if (theirs > 0)
        printf("; theirs %.0f: %.1f times", theirs, theirs / mean[3]);
    printf("\n");
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    kit cuboid = make(5, 5, 9);
    measure("cuboid", &cuboid, 0, false, 0, 20 * scale);
    measure("cuboid", &cuboid, 1, false, 330, 20 * scale);
    measure("cuboid", &cuboid, 5, false, 330, 20 * scale);
    measure("cuboid", &cuboid, 1, true, 400, 20 * scale);
    measure("cuboid", &cuboid, 5, true, 400, 20 * scale);
    drop(&cuboid);
    kit cylinder = make(9, 9, 25), teddy = make(8, 8, 20), car = make(4, 4, 12);
    measure("cylinder", &cylinder, 1, false, 3100, 4 * scale);
    measure("cylinder", &cylinder, 5, true, 3100, 4 * scale);
    measure("teddy", &teddy, 2, false, 2200, 4 * scale);
    measure("car", &car, 3, false, 270, 20 * scale);
    drop(&cylinder), drop(&teddy), drop(&car);
    return 0;
}

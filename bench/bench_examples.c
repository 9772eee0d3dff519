/* Microseconds per sub-step of bodies of rings with examples (METHODS §4), on one core, without
   contact, beside what the paper's Table 1 says (its Core i7 M620) and what is wanted. Lattices cut
   into five tetrahedra a cell, swinging from a twist; the same steps again and again: minima of
   each, and the mean of those; by phase. Then both rules for the weights: how far what they choose
   is from the body, and how long the choice takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
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

/* ---- Rules ----------------------------------------------------------------------------------- */

enum { WIDTH = PL_CLUSTERED_DESCRIPTOR, BLOCK = PL_EXAMPLES_BLOCK, POSES = 5, WARPS = 200 };

/* Descriptors of the poses that a body was shown, and of others to be compared with them. */
typedef struct shown {
    pl_memory memory;
    int n;
    float *poses, *weight;
    float *warps;  /* [WARPS][n][WIDTH] */
    float *blocks; /* [WARPS][blocks][WIDTH][BLOCK] the same for the projection */
    size_t size;   /* of one in blocks */
    int32_t *group;
} shown;

/* Twisted, bent and shortened, each by no more than the poses are: from one random mixture to the
   next and so on, as a body moves. */
static void warp(const kit *k, int number, float *x)
{
    enum { STEPS_BETWEEN = 20, KINDS = 4 };
    static const double low[KINDS] = {-5, -0.15, 2, 0}, high[KINDS] = {5, 0.15, 8, 0.2};
    double length = k->count[2] - 1, part = number % STEPS_BETWEEN / (double)STEPS_BETWEEN;
    double much[KINDS];
    for (int i = 0; i < KINDS; i++) {
        uint64_t from = (uint64_t)(number / STEPS_BETWEEN * KINDS + i);
        double a = (double)(pl_random_at(1, from) >> 11) * 0x1p-53;
        double b = (double)(pl_random_at(1, from + KINDS) >> 11) * 0x1p-53;
        much[i] = low[i] + (high[i] - low[i]) * (a + part * (b - a));
    }
    for (int i = 0; i < k->n; i++) {
        const float *r = k->rest + 3 * (ptrdiff_t)i;
        double t = (double)r[2] / length, c = cos(much[0] * t), s = sin(much[0] * t);
        double side = much[1] * length * sin(much[2] * t);
        x[3 * i] = (float)(c * (double)r[0] - s * (double)r[1] + side);
        x[3 * i + 1] = (float)(s * (double)r[0] + c * (double)r[1]);
        x[3 * i + 2] = (float)((double)r[2] * (1 - much[3]));
    }
}

static void to_blocks(int n, const float *descriptors, float *blocks)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < WIDTH; c++)
            blocks[((i / BLOCK) * WIDTH + c) * BLOCK + i % BLOCK] = descriptors[WIDTH * i + c];
}

static void show(const kit *k, shown *s)
{
    pl_memory_init(&s->memory, NULL, 0);
    pl_clustered *c = create(&s->memory, k, 0, false);
    size_t numbers = WIDTH * (size_t)k->n;
    float *x = room(3 * (size_t)k->n, sizeof(float));
    s->n = k->n;
    s->size = (size_t)((k->n + BLOCK - 1) / BLOCK) * WIDTH * BLOCK;
    s->poses = room(POSES * numbers, sizeof(float));
    s->warps = room(WARPS * numbers, sizeof(float));
    s->weight = room((size_t)k->n, sizeof(float));
    s->group = room((size_t)k->n, sizeof(int32_t));
    s->blocks = pl_memory_alloc(&s->memory, WARPS * s->size, sizeof(float));
    if (!s->blocks)
        exit(1);
    for (int p = 0; p < POSES; p++) {
        pose(k, p, 1, x);
        pl_clustered_describe(c, x, s->poses + numbers * (size_t)p, s->weight);
    }
    for (int w = 0; w < WARPS; w++) {
        float *descriptors = s->warps + numbers * (size_t)w;
        warp(k, w, x);
        pl_clustered_describe(c, x, descriptors, s->weight);
        to_blocks(k->n, descriptors, s->blocks + s->size * (size_t)w);
    }
    free(x);
    pl_clustered_destroy(c);
}

static void hide(shown *s)
{
    free(s->poses), free(s->warps), free(s->weight), free(s->group);
    pl_memory_free(&s->memory, s->blocks);
}

static pl_examples *examples_of(shown *s, bool local, pl_example_rule rule)
{
    for (int i = 0; i < s->n; i++)
        s->group[i] = local ? i : 0;
    pl_examples_source source = {.element_count = s->n,
                                 .width = WIDTH,
                                 .pose_count = POSES,
                                 .poses = s->poses,
                                 .weight = s->weight,
                                 .group_count = local ? s->n : 1,
                                 .group = s->group,
                                 .beta = PL_EXAMPLES_MOST_BETA,
                                 .rule = rule};
    pl_examples *e;
    if (pl_examples_create(&s->memory, &source, &e, NULL) != PL_OK)
        exit(1);
    return e;
}

/* ‖D − Σ w_k D_k‖ over all regions. */
static double distance(const shown *s, const pl_examples *e, int number)
{
    size_t numbers = WIDTH * (size_t)s->n;
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < WIDTH; c++) {
            size_t at = (size_t)(WIDTH * i + c);
            double off = (double)s->warps[numbers * (size_t)number + at];
            for (int k = 0; k < POSES; k++)
                off -= (double)pl_examples_weights(e)[s->group[i] * POSES + k] *
                       (double)s->poses[numbers * (size_t)k + at];
            sum += (double)s->weight[i] * off * off;
        }
    return sqrt(sum);
}

/* How far each warp is from what the rule chooses; returns microseconds of a projection. */
static double choose(shown *s, bool local, pl_example_rule rule, int repeats, double far[WARPS])
{
    pl_examples *e = examples_of(s, local, rule);
    double least = 1e30;
    for (int w = 0; w < WARPS; w++) {
        pl_examples_project(e, s->blocks + s->size * (size_t)w, NULL);
        far[w] = distance(s, e, w);
    }
    for (int r = 0; r < repeats; r++) {
        uint64_t ns = pl_clock_ns();
        for (int w = 0; w < WARPS; w++)
            pl_examples_project(e, s->blocks + s->size * (size_t)w, NULL);
        least = fmin(least, (double)(pl_clock_ns() - ns) * 1e-3 / WARPS);
    }
    pl_examples_destroy(e);
    return least;
}

static void compare_rules(const kit *k, int repeats)
{
    shown s;
    show(k, &s);
    printf("rules: %d regions with %d examples, %d other warps\n", k->n, POSES, WARPS);
    for (int local = 0; local < 2; local++) {
        double simplex[WARPS], nearest[WARPS], sum = 0, most = 0;
        double us = choose(&s, local, PL_EXAMPLES_SIMPLEX, repeats, simplex);
        double nearest_us = choose(&s, local, PL_EXAMPLES_NEAREST, repeats, nearest);
        for (int w = 0; w < WARPS; w++) {
            sum += simplex[w] / nearest[w];
            most = fmax(most, simplex[w] / nearest[w]);
        }
        printf("  %-6s simplex is %.2f times as far as nearest in the mean, %.2f at most; it takes "
               "%.2f µs, nearest %.2f\n",
               local ? "local" : "global", sum / WARPS, most, us, nearest_us);
    }
    hide(&s);
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
    kit cylinder = make(9, 9, 25), teddy = make(8, 8, 20), car = make(4, 4, 12);
    measure("cylinder", &cylinder, 1, false, 3100, 4 * scale);
    measure("cylinder", &cylinder, 5, true, 3100, 4 * scale);
    measure("teddy", &teddy, 2, false, 2200, 4 * scale);
    measure("car", &car, 3, false, 270, 20 * scale);
    compare_rules(&cuboid, 20 * scale);
    drop(&cuboid), drop(&cylinder), drop(&teddy), drop(&car);
    return 0;
}

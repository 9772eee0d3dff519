/* Boxes of particles falling between walls, here and in Bullet (where it is installed), one after
   the other in one run: lattices of 5 × 4 × 4 (52 of them) and 2 × 3 × 4 (180) particles, 0.25 m
   apart, 1 kg per box, in layers of K × K at 1.5 m pitch, friction 0.5, no sleep; frames of 1/30 s
   with 6 sub-steps of 2 iterations, on one thread. Also how deep boxes are in each other at the
   end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "boxes.h"
#include "lattice.h"
#include "pliant/pliant.h"

#define MOST (180 * 24 > 52 * 80 ? 180 * 24 : 52 * 80)

static const double particle_radius = 0.125;

/* ---- The scene ------------------------------------------------------------------------------- */

static boxes make_boxes(int count, int x, int y, int z, int per_row)
{
    boxes b = {.count = count,
               .side = {x, y, z},
               .per_row = per_row,
               .spacing = 0.25,
               .half = 0.75 * per_row + 0.1};
    pl_rng rng = pl_rng_make(5);
    for (int i = 0; i < count; i++) {
        int layer = i / (per_row * per_row), column = i % per_row, row = i / per_row % per_row;
        double square = 1, *p = b.position[i], *q = b.rotation[i];
        p[0] = (column - (per_row - 1) / 2.0) * 1.5 + (double)pl_random_between(&rng, -0.1f, 0.1f);
        p[1] = 1 + 1.5 * layer;
        p[2] = (row - (per_row - 1) / 2.0) * 1.5 + (double)pl_random_between(&rng, -0.1f, 0.1f);
        q[3] = 1;
        for (int k = 0; k < 3; k++) {
            q[k] = (double)pl_random_between(&rng, -0.2f, 0.2f);
            square += q[k] * q[k];
        }
        for (int k = 0; k < 4; k++)
            q[k] /= sqrt(square);
    }
    return b;
}

static int particles_of(const boxes *b)
{
    return b->side[0] * b->side[1] * b->side[2];
}

/* ---- Here ------------------------------------------------------------------------------------ */

static void fail(const char *what)
{
    fprintf(stderr, "bench_boxes: %s\n", what);
    exit(1);
}

static void add_walls(pl_world *world, const boxes *b)
{
    const double r = sqrt(0.5);
    const double places[5][3] = {
        {0, 0, 0}, {-b->half, 0, 0}, {b->half, 0, 0}, {0, 0, -b->half}, {0, 0, b->half}};
    const double turns[5][4] = {
        {0, 0, 0, 1}, {0, 0, -r, r}, {0, 0, r, r}, {r, 0, 0, r}, {-r, 0, 0, r}};
    for (int i = 0; i < 5; i++) {
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
        pl_collider collider;
        memcpy(def.position, places[i], sizeof def.position);
        memcpy(def.rotation, turns[i], sizeof def.rotation);
        def.friction = 0.5;
        if (pl_collider_create(world, &def, &collider, NULL) != PL_OK)
            fail("no wall");
    }
}

/* Of the world: stiff bodies are moved as a whole. */
static bool stiff_contact;

static pl_world *make_world(const boxes *b, pl_model *model, int threads, pl_body *bodies)
{
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 30;
    def.substeps = 6;
    def.iterations = 2;
    def.threads = threads;
    def.sleeping = false;
    def.stiff_contact = stiff_contact;
    pl_world *world;
    if (pl_world_create(&def, &world, NULL) != PL_OK)
        fail("no world");
    add_walls(world, b);
    for (int i = 0; i < b->count; i++) {
        pl_body_def body = pl_default_body_def(model);
        body.material.young = 1e4;
        body.material.density = 1 / pl_model_get_info(model).volume;
        body.material.damping = 0.5;
        body.material.friction = 0.5;
        memcpy(body.position, b->position[i], sizeof body.position);
        memcpy(body.rotation, b->rotation[i], sizeof body.rotation);
        if (pl_body_create(world, &body, bodies + i, NULL) != PL_OK)
            fail("no body");
    }
    return world;
}

#define MOST_FRAMES 10000

enum { STAGES = 6 };

static const char *const stage_names[STAGES] = {"predict",    "local",   "global",
                                                "accelerate", "contact", "finish"};

typedef struct stages {
    double ms[STAGES];
} stages;

static void add_stages(stages *sum, const pl_report *r)
{
    const double ms[STAGES] = {r->ms_predict,    r->ms_local,   r->ms_global,
                               r->ms_accelerate, r->ms_contact, r->ms_finish};
    for (int k = 0; k < STAGES; k++)
        sum->ms[k] += ms[k];
}

/* The work of a frame is the same in every repetition, here and there: the least time of each frame
   is what the machine's other business did not disturb. */
static void keep_least(double *best, const double *ms, int frames, int repeat)
{
    for (int i = 0; i < frames; i++)
        best[i] = repeat == 0 || ms[i] < best[i] ? ms[i] : best[i];
}

static void run_here(const boxes *b, int frames, int repeats, int threads, double *best,
                     double *positions)
{
    static pl_body bodies[180];
    static double ms[MOST_FRAMES];
    pl_model *model = bench_lattice(b->side, b->spacing);
    stages least_stages = {{0}};
    for (int repeat = 0; repeat < repeats; repeat++) {
        pl_world *world = make_world(b, model, threads, bodies);
        stages sum = {{0}};
        for (int frame = 0; frame < frames; frame++) {
            pl_report r;
            pl_world_step(world, &r);
            ms[frame] = r.ms_total;
            add_stages(&sum, &r);
        }
        keep_least(best, ms, frames, repeat);
        for (int k = 0; k < STAGES; k++)
            if (repeat == 0 || sum.ms[k] < least_stages.ms[k])
                least_stages.ms[k] = sum.ms[k];
        for (int i = 0; i < b->count; i++)
            pl_body_read(world, bodies[i], PL_POSITIONS, 0, particles_of(b), 1,
                         pl_doubles(positions + 3 * i * particles_of(b), 0));
        pl_world_destroy(world);
    }
    printf("  %d thread%s:", threads, threads > 1 ? "s" : "");
    for (int k = 0; k < STAGES; k++)
        printf("%s %s %.3f", k ? "," : "", stage_names[k], least_stages.ms[k] / frames);
    printf(" ms of work per frame\n");
    pl_model_release(model);
}

/* ---- There ----------------------------------------------------------------------------------- */

#ifndef PLIANT_HAVE_BULLET
int boxes_run_bullet(const boxes *b, int frames, double *ms, double *positions)
{
    (void)b, (void)frames, (void)ms, (void)positions;
    return 0;
}
#endif

static bool run_there(const boxes *b, int frames, int repeats, double *best, double *positions)
{
    static double ms[MOST_FRAMES];
    for (int repeat = 0; repeat < repeats; repeat++) {
        if (!boxes_run_bullet(b, frames, ms, positions))
            return false;
        keep_least(best, ms, frames, repeat);
    }
    return true;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* How deep two particles of different boxes are in each other, in parts of their distance when they
   touch, and pairs of boxes that are in each other by more than a fifth of that. */
typedef struct overlap {
    double deepest;
    int pairs_inside;
} overlap;

static double nearest(const double *x, const double *y, int n)
{
    double least = 1e300;
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
            const double *a = x + 3 * p, *b = y + 3 * q;
            double square = 0;
            for (int k = 0; k < 3; k++)
                square += (a[k] - b[k]) * (a[k] - b[k]);
            least = square < least ? square : least;
        }
    return sqrt(least);
}

static overlap measure_overlap(const boxes *b, const double *positions)
{
    int n = particles_of(b);
    overlap result = {0};
    for (int i = 0; i < b->count; i++)
        for (int j = i + 1; j < b->count; j++) {
            double least = nearest(positions + 3 * i * n, positions + 3 * j * n, n);
            double depth = 1 - least / (2 * particle_radius);
            result.deepest = depth > result.deepest ? depth : result.deepest;
            result.pairs_inside += depth > 0.2;
        }
    return result;
}

/* Returns the mean. */
static double print_line(const char *name, const boxes *b, const double *best, int frames,
                         const double *positions, double reference)
{
    double mean = 0, least = 1e300;
    overlap o = measure_overlap(b, positions);
    for (int frame = 0; frame < frames; frame++) {
        mean += best[frame] / frames;
        least = best[frame] < least ? best[frame] : least;
    }
    printf("  %-22s %8.3f ms per frame (least %.3f), deepest overlap %.0f %%, %d pairs of boxes in "
           "each other",
           name, mean, least, 100 * o.deepest, o.pairs_inside);
    if (reference > 0)
        printf(", %.1f times as fast", reference / mean);
    printf("\n");
    return mean;
}

static void compare(const boxes *b, int frames, int repeats, int threads, bool with_bullet)
{
    static double positions[3 * MOST], best[MOST_FRAMES];
    double bullet = 0;
    printf("%d boxes of %d particles, %d frames\n", b->count, particles_of(b), frames);
    if (with_bullet && run_there(b, frames, repeats, best, positions))
        bullet = print_line("Bullet, 1 thread", b, best, frames, positions, 0);
    for (int t = threads ? threads : 1; t <= (threads ? threads : 2); t++) {
        char name[40];
        snprintf(name, sizeof name, "Pliant, %d thread%s", t, t > 1 ? "s" : "");
        run_here(b, frames, repeats, t, best, positions);
        print_line(name, b, best, frames, positions, bullet);
    }
}

int main(int argc, char **argv)
{
    int frames = 300, repeats = 5, only = 0, threads = 0;
    bool with_bullet = true;
    stiff_contact = pl_default_world_def().stiff_contact;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--frames") == 0 && more)
            frames = atoi(argv[++i]);
        else if (strcmp(argv[i], "--repeats") == 0 && more)
            repeats = atoi(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0 && more)
            only = atoi(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0 && more)
            threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--alone") == 0)
            with_bullet = false;
        else if (strcmp(argv[i], "--whole") == 0 || strcmp(argv[i], "--particles") == 0)
            stiff_contact = strcmp(argv[i], "--whole") == 0;
        else
            fail("usage: bench_boxes [--frames N] [--repeats N] [--only 52 | 180] [--threads N] "
                 "[--alone] [--whole | --particles]");
    }
    if (frames <= 0 || frames > MOST_FRAMES || repeats <= 0 || threads < 0)
        fail("frames are from 1 to 10000, repetitions and threads from 1");
    boxes scenes[2] = {make_boxes(52, 5, 4, 4, 4), make_boxes(180, 2, 3, 4, 6)};
    for (int s = 0; s < 2; s++)
        if (!only || scenes[s].count == only)
            compare(scenes + s, frames, repeats, threads, with_bullet);
    return 0;
}

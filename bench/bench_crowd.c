/* What a crowd costs: time per particle and frame from 10,000 to 1,000,000 particles in contact,
   for bodies of one size, of another, and of very unequal sizes; and a settled pile of 1,000 bodies
   that sleeps. Times are minima over repetitions, by stage.

     bench_crowd [--quick] [--threads N] [--only CROWD, from 1 on] [--pile-only] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "lattice.h"
#include "pliant/pliant.h"

static void fail(const char *what)
{
    fprintf(stderr, "bench_crowd: %s\n", what);
    exit(1);
}

/* ---- Models and worlds ----------------------------------------------------------------------- */

static pl_world *make_world(int substeps, int threads, bool sleeping)
{
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 60;
    def.substeps = substeps;
    def.iterations = 2;
    def.threads = threads;
    def.sleeping = sleeping;
    pl_world *world;
    if (pl_world_create(&def, &world, NULL) != PL_OK)
        fail("no world");
    return world;
}

static void add_walls(pl_world *world, double x, double z)
{
    const double r = sqrt(0.5);
    const double places[5][3] = {{0, 0, 0}, {-x, 0, 0}, {x, 0, 0}, {0, 0, -z}, {0, 0, z}};
    const double turns[5][4] = {
        {0, 0, 0, 1}, {0, 0, -r, r}, {0, 0, r, r}, {r, 0, 0, r}, {-r, 0, 0, r}};
    for (int i = 0; i < 5; i++) {
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
        pl_collider collider;
        memcpy(def.position, places[i], sizeof def.position);
        memcpy(def.rotation, turns[i], sizeof def.rotation);
        if (pl_collider_create(world, &def, &collider, NULL) != PL_OK)
            fail("no wall");
    }
}

static pl_body_def body_def(pl_model *model, double x, double y, double z)
{
    pl_body_def def = pl_default_body_def(model);
    def.material.young = 1e5;
    def.material.density = 500;
    def.material.damping = 2;
    def.material.friction = 0.5;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static void add_body(pl_world *world, const pl_body_def *def)
{
    pl_body body;
    if (pl_body_create(world, def, &body, NULL) != PL_OK)
        fail("no body");
}

/* ---- Crowds ---------------------------------------------------------------------------------- */

/* Layers of equal bodies, each a little off its place, so near that they touch from the start. */
typedef struct crowd {
    const char *name;
    int side[3];
    double spacing;
    int layers;
    int small_per_side; /* > 0: on each body of the only layer stand two layers of so many by so many of the same shape, smaller */
} crowd;

static const crowd crowds[] = {
    {"bodies of 24 particles", {2, 3, 4}, 0.25, 8, 0},
    {"bodies of 100 particles", {5, 4, 5}, 0.25, 8, 0},
    {"bodies of 24 particles, one of eight times the size for every 128 small ones",
     {2, 3, 4},
     2,
     1,
     8},
};
enum { CROWDS = sizeof crowds / sizeof crowds[0] };

static int particles_of(const crowd *c)
{
    return c->side[0] * c->side[1] * c->side[2];
}

static int bodies_per_column(const crowd *c)
{
    return c->layers + 2 * c->small_per_side * c->small_per_side;
}

static void fill_column(pl_world *world, const crowd *c, pl_model *model, pl_model *small, double x,
                        double z, pl_rng *rng)
{
    double play = 0.02 * c->spacing, height = c->side[1] * c->spacing;
    for (int layer = 0; layer < c->layers; layer++) {
        pl_body_def def =
            body_def(model, x + play * (2 * pl_random_double(rng) - 1), height * (layer + 0.5),
                     z + play * (2 * pl_random_double(rng) - 1));
        add_body(world, &def);
    }
    int n = c->small_per_side;
    for (int i = 0; i < 2 * n * n; i++) {
        double part = 1.0 / n, across = ((i % n) + 0.5) * part - 0.5,
               deep = ((i / n % n) + 0.5) * part - 0.5;
        pl_body_def def =
            body_def(small, x + across * c->side[0] * c->spacing,
                     height * (1 + (i / (n * n) + 0.5) * part), z + deep * c->side[2] * c->spacing);
        add_body(world, &def);
    }
}

static pl_world *make_crowd(const crowd *c, int particles, int threads, int *bodies)
{
    pl_model *model = bench_lattice(c->side, c->spacing), *small = NULL;
    if (c->small_per_side)
        small = bench_lattice(c->side, c->spacing / c->small_per_side);
    int columns = (int)(sqrt((double)particles / particles_of(c) / bodies_per_column(c)) + 0.5);
    columns = columns < 1 ? 1 : columns;
    double x = c->side[0] * c->spacing * 1.01, z = c->side[2] * c->spacing * 1.01;
    pl_world *world = make_world(2, threads, false);
    pl_rng rng = pl_rng_make(1);
    add_walls(world, x * columns / 2, z * columns / 2);
    for (int i = 0; i < columns * columns; i++)
        fill_column(world, c, model, small, x * (i % columns - (columns - 1) / 2.0),
                    z * (i / columns - (columns - 1) / 2.0), &rng);
    *bodies = columns * columns * bodies_per_column(c);
    pl_model_release(small);
    pl_model_release(model);
    return world;
}

/* The same frames of every crowd are measured, several times from a snapshot: a crowd that has
   settled longer is another one. */
enum { SETTLE = 40, FRAMES = 6, COLUMNS = 6 };

typedef struct cost {
    int particles, bodies;
    double touches; /* per particle, in a frame */
    /* ns per particle and frame: total, predict, solve, contact, finish, and what none of these
       counts (one thread) */
    double ns[COLUMNS];
} cost;

static void add_least(cost *least, double frames[FRAMES][COLUMNS])
{
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < COLUMNS; k++)
            least->ns[k] += frames[f][k] * 1e6 / least->particles / FRAMES;
}

static void measure_frame(pl_world *world, double least[COLUMNS])
{
    pl_report r;
    if (pl_world_step(world, &r) != PL_OK)
        fail("no step");
    double solve = r.ms_local + r.ms_global + r.ms_accelerate + r.ms_stiff;
    double now[COLUMNS] = {
        r.ms_total,   r.ms_predict, solve,
        r.ms_contact, r.ms_finish,  r.ms_total - r.ms_predict - solve - r.ms_contact - r.ms_finish};
    for (int k = 0; k < COLUMNS; k++)
        least[k] = now[k] < least[k] ? now[k] : least[k];
}

static double touches_of(const pl_world *world)
{
    int count;
    double sum = 0;
    const pl_contact_event *events = pl_world_contacts(world, &count);
    for (int i = 0; i < count; i++)
        sum += events[i].touches;
    return sum;
}

static cost measure_crowd(const crowd *c, int particles, int threads, int repetitions)
{
    cost least = {0};
    pl_world *world = make_crowd(c, particles, threads, &least.bodies);
    double frames[FRAMES][COLUMNS];
    size_t size;
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < COLUMNS; k++)
            frames[f][k] = 1e300;
    for (int f = 0; f < SETTLE; f++)
        pl_world_step(world, NULL);
    pl_world_save(world, NULL, 0, &size);
    void *bytes = malloc(size);
    if (!bytes || pl_world_save(world, bytes, size, &size) != PL_OK)
        fail("no snapshot");
    for (int i = 0; i < repetitions; i++) {
        if (pl_world_restore(world, bytes, size, NULL, 0, NULL) != PL_OK)
            fail("not restored");
        for (int f = 0; f < FRAMES; f++)
            measure_frame(world, frames[f]);
    }
    least.particles = least.bodies * particles_of(c);
    least.touches = touches_of(world) / least.particles;
    add_least(&least, frames);
    free(bytes);
    pl_world_destroy(world);
    return least;
}

/* Returns the factor between the costs per particle of the dearest and the smallest crowd. */
static double run_crowd(const crowd *c, int threads, bool quick)
{
    static const int sizes[] = {10000, 30000, 100000, 300000, 1000000};
    static const int repetitions[] = {20, 12, 6, 4, 3};
    double first = 0, worst = 1;
    printf("%s; frames of 2 sub-steps, 2 iterations, %d thread%s\n", c->name, threads,
           threads > 1 ? "s" : "");
    printf(
        "  particles   bodies   touches per particle   ns per particle and frame: total (ratio)   "
        "predict    solve  contact   finish%s\n",
        threads == 1 ? "     rest" : "");
    for (int i = 0; i < (quick ? 3 : 5); i++) {
        cost k = measure_crowd(c, sizes[i], threads, repetitions[i]);
        first = i == 0 ? k.ns[0] : first;
        worst = fmax(worst, k.ns[0] / first);
        printf("  %9d  %7d  %21.2f  %32.1f (%5.2f)", k.particles, k.bodies, k.touches, k.ns[0],
               k.ns[0] / first);
        for (int column = 1; column < (threads == 1 ? COLUMNS : COLUMNS - 1); column++)
            printf("  %7.1f", k.ns[column]);
        printf("\n");
        fflush(stdout);
    }
    return worst;
}

/* ---- The pile -------------------------------------------------------------------------------- */

enum { PILE = 1000, PILE_SIDE = 10 };

static void drop_pile(pl_world *world, pl_model *model)
{
    pl_rng rng = pl_rng_make(2);
    add_walls(world, 0.6 * PILE_SIDE, 0.6 * PILE_SIDE);
    for (int i = 0; i < PILE; i++) {
        double square = 1, at[3] = {i % PILE_SIDE - (PILE_SIDE - 1) / 2.0,
                                    0.7 + 1.2 * (i / (PILE_SIDE * PILE_SIDE)),
                                    i / PILE_SIDE % PILE_SIDE - (PILE_SIDE - 1) / 2.0};
        pl_body_def def = body_def(model, 1.15 * at[0], at[1], 1.15 * at[2]);
        for (int k = 0; k < 3; k++) {
            def.rotation[k] = (double)pl_random_between(&rng, -0.3f, 0.3f);
            square += def.rotation[k] * def.rotation[k];
        }
        for (int k = 0; k < 4; k++)
            def.rotation[k] = (k == 3 ? 1 : def.rotation[k]) / sqrt(square);
        add_body(world, &def);
    }
}

/* Returns ms per frame asleep; a huge number when it does not fall asleep. */
static double run_pile(int threads, bool quick)
{
    const int side[3] = {2, 3, 4};
    pl_model *model = bench_lattice(side, 0.25);
    pl_world *world = make_world(4, threads, true);
    int most = quick ? 1200 : 3600, frame = 0;
    uint64_t start = pl_clock_ns();
    pl_report r = {.iterations = 1};
    double awake = 1e300;
    drop_pile(world, model);
    for (; frame < most && r.iterations > 0; frame++) {
        pl_world_step(world, &r);
        if (frame >= 60 && r.iterations > 0)
            awake = r.ms_total < awake ? r.ms_total : awake;
        if (frame % 600 == 599)
            printf("  after %4.0f s: %.0f %% of the bodies' work\n", (frame + 1) / 60.0,
                   100.0 * (double)r.iterations / (PILE * 4 * 2));
    }
    double seconds = (double)(pl_clock_ns() - start) * 1e-9;
    printf("pile of %d bodies of %d particles, %d thread%s: ", PILE, side[0] * side[1] * side[2],
           threads, threads > 1 ? "s" : "");
    double least = 1e300, sum = 0;
    if (r.iterations > 0) {
        printf("not asleep after %.0f s; %.3f ms per frame\n", frame / 60.0, r.ms_total);
    } else {
        enum { ASLEEP = 1000 };
        for (int i = 0; i < ASLEEP; i++) {
            pl_world_step(world, &r);
            least = r.ms_total < least ? r.ms_total : least;
            sum += r.ms_total / ASLEEP;
        }
        printf(
            "asleep after %.1f s (%.1f s of computing, at least %.2f ms per frame awake); asleep "
            "%.5f ms per frame, mean %.5f\n",
            frame / 60.0, seconds, awake, least, sum);
    }
    pl_world_destroy(world);
    pl_model_release(model);
    return least;
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void print_machine(void)
{
    char line[256], name[256] = "unknown processor\n";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(name, sizeof name, "%s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
    printf("%.*s; compiled by %s %s; kernels of %d floats\n", (int)strcspn(name, "\n"), name,
#ifdef __clang__
           "clang",
#else
           "gcc",
#endif
           __VERSION__, pl_simd_width());
}

int main(int argc, char **argv)
{
    bool quick = false, pile_only = false;
    int threads = 1, only = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--pile-only") == 0)
            pile_only = true;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = atoi(argv[++i]);
        else
            fail("usage: bench_crowd [--quick] [--threads N] [--only CROWD] [--pile-only]");
    }
    double worst = 1;
    print_machine();
    for (int i = 0; i < CROWDS && !pile_only; i++)
        if (!only || only == i + 1)
            worst = fmax(worst, run_crowd(crowds + i, threads, quick));
    double asleep = only ? NAN : run_pile(threads, quick);
    if (!pile_only)
        printf("cost per particle grows by a factor of %.2f: %s\n", worst,
               worst < 2 ? "less than 2" : "NOT less than 2");
    if (!only)
        printf("the pile: %s\n", asleep < 0.05 ? "under 0.05 ms" : "NOT under 0.05 ms");
    return 0;
}

/* Tetrahedral matter: elements per second of the local steps, milliseconds per iteration by phase,
   the interpolated steps beside the exact one, and bodies side by side. Minima over many
   repetitions, on one thread unless it says otherwise. `bench_tets side` measures bodies side by
   side alone. */
#include <stdio.h>

#include "../tests/matter/tet_bar.h"
#include "base/clock.h"
#include "math/simd.h"

static double milliseconds(uint64_t begin)
{
    return (double)(pl_clock_ns() - begin) * 1e-6;
}

/* Bent and swinging, so that rotations have something to do. */
static void disturb(tet_case *c)
{
    double length = c->bar.cells[0];
    for (int i = 0; i < c->bar.n; i++) {
        const float *p = c->bar.rest + 3 * (size_t)i;
        double t = (double)p[0] / length, a = 0.5 * t * t;
        float *x = c->x + 3 * (size_t)i;
        x[1] = (float)((double)p[1] * cos(a) - (double)p[2] * sin(a) + 2 * t * t);
        x[2] = (float)((double)p[1] * sin(a) + (double)p[2] * cos(a));
    }
}

typedef struct phases {
    double local, combine, samples, vectors, solve, iteration;
} phases;

static double best(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static phases measure(tet_case *c, int rounds)
{
    const pl_tet_table *table = pl_tet_table_of(pl_simd_width());
    const pl_tet_system *s = c->system;
    pl_tetrahedral *b = c->body;
    phases p = {0};
    int rows = (s->padded + PL_TET_ROW_BLOCK - 1) / PL_TET_ROW_BLOCK;
    enum { ITERATIONS = 10 };
    disturb(c);
    for (int round = 0; round < rounds; round++) {
        tet_case_step(c, 3);
        uint64_t t = pl_clock_ns();
        tet_case_step(c, ITERATIONS);
        p.iteration = best(p.iteration, milliseconds(t) / ITERATIONS);
        tet_case_step(c, 8);
        if (s->sample_groups) {
            t = pl_clock_ns();
            table->sample(b, 0, s->sample_groups);
            p.samples = best(p.samples, milliseconds(t));
        }
        if (s->def.rotations != PL_TET_FOLDED) {
            t = pl_clock_ns();
            table->local(b, 0, s->block_count);
            p.local = best(p.local, milliseconds(t));
        }
        b->run.history = 0;
        b->run.measured = false;
        t = pl_clock_ns();
        table->combine(b, 0, rows);
        p.combine = best(p.combine, milliseconds(t));
        t = pl_clock_ns();
        pl_supernodal_solve(s->factor, s->scratch[0].x, 1, s->scratch[0].work, NULL);
        p.solve = best(p.solve, milliseconds(t));
    }
    p.vectors = p.iteration - p.solve - p.local - p.combine - p.samples;
    return p;
}

static phases report(const char *name, int a, int b, int c, pl_tetrahedral_def def)
{
    tet_case k;
    tet_case_make(&k, tet_bar_make(a, b, c, 1), def, 1e5, 1.0 / 60, 0);
    phases p = measure(&k, 100);
    double elements = k.bar.tet_count;
    char local[40] = "no elements      "; /* folded: samples and rows are all there is */
    if (p.local > 0)
        snprintf(local, sizeof local, "%6.3f (%5.1f M/s)", p.local, elements / p.local * 1e-3);
    printf("%-34s %6d tets %6d nodes  iteration %7.3f ms  local %s  samples %6.3f  rhs %6.3f  "
           "solve %6.3f  rest %6.3f\n",
           name, k.bar.tet_count, k.bar.n, p.iteration, local, p.samples, p.combine, p.solve,
           p.vectors);
    if (def.rotations == PL_TET_FOLDED)
        printf("%34s %.1f samples and %.1f neighbours for a node\n", "",
               4.0 * k.system->fold_start[k.system->padded / 4] / k.system->unknowns,
               4.0 * k.system->near_start[k.system->padded / 4] / k.system->unknowns);
    tet_case_free(&k);
    return p;
}

/* One thread and two in turn, a few iterations at a time: on a machine that others use too, longer
   spans with both cores to oneself never come. */
static void threads(int a, int b, int c)
{
    enum { ITERATIONS = 4 };
    tet_case k;
    pl_memory memory;
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    double least[2] = {0, 0};
    tet_case_make(&k, tet_bar_make(a, b, c, 1), def, 1e5, 1.0 / 60, 0);
    disturb(&k);
    pl_memory_init(&memory, NULL, 0);
    pl_tasks *tasks = pl_tasks_create(NULL, 2, &memory);
    for (int round = 0; round < 600; round++) {
        k.tasks = round % 2 ? tasks : NULL;
        uint64_t t = pl_clock_ns();
        tet_case_step(&k, ITERATIONS);
        least[round % 2] = best(least[round % 2], milliseconds(t) / ITERATIONS);
    }
    printf("%d tets: %.3f ms per iteration with one thread, %.3f with two\n", k.bar.tet_count,
           least[0], least[1]);
    pl_tasks_destroy(tasks);
    tet_case_free(&k);
}

static void side_by_side(int a, int b, int c, int count)
{
    enum { MOST = 16, ITERATIONS = 10 };
    tet_case k;
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    pl_tetrahedral *bodies[MOST];
    pl_tet_motion motions[MOST];
    tet_case_make(&k, tet_bar_make(a, b, c, 1), def, 1e4, 1.0 / 60, -1);
    pl_tetrahedral_destroy(k.body);
    pl_tet_system_drop(k.system);
    k.source.side_by_side = MOST;
    if (pl_tet_system_create(&k.memory, &k.source, &def, NULL, &k.system, NULL) != PL_OK)
        exit(1);
    disturb(&k);
    double least = 0;
    for (int i = 0; i < count; i++) {
        if (pl_tetrahedral_create(&k.memory, k.system, &bodies[i], NULL) != PL_OK)
            exit(1);
        motions[i] = k.motion;
        motions[i].x = tet_room(3 * (size_t)k.bar.n, sizeof(float));
    }
    k.body = NULL;
    for (int round = 0; round < 50; round++) {
        uint64_t t = pl_clock_ns();
        pl_tetrahedral_solve(bodies, motions, count, ITERATIONS, NULL);
        least = best(least, milliseconds(t) / ITERATIONS / count);
    }
    printf("%2d bodies of %d tets side by side: %.1f us per body and iteration\n", count,
           k.bar.tet_count, 1e3 * least);
    for (int i = 0; i < count; i++) {
        pl_tetrahedral_destroy(bodies[i]);
        free(motions[i].x);
    }
    tet_case_free(&k);
}

static void crowds(void)
{
    for (int count = 1; count <= 16; count *= 4)
        side_by_side(5, 4, 2, count);
    for (int count = 1; count <= 16; count *= 4)
        side_by_side(10, 4, 4, count);
    for (int count = 1; count <= 16; count *= 4)
        side_by_side(16, 5, 5, count);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "side")) {
        crowds();
        return 0;
    }
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    report("bar, exact", 40, 10, 10, def);
    def.accelerated = false;
    report("bar, exact, plain", 40, 10, 10, def);
    def = pl_default_tetrahedral_def();
    report("bar, nu = 0.3, trace", 40, 10, 10, def);
    def.volume = PL_TET_DETERMINANT;
    report("bar, nu = 0.3, determinant", 40, 10, 10, def);
    def = pl_default_tetrahedral_def();
    def.poisson = 0;
    phases exact = report("30,000 tets, exact", 60, 10, 10, def);
    def.rotations = PL_TET_QUATERNION;
    phases blend = report("30,000 tets, quaternions 10 %", 60, 10, 10, def);
    def.rotations = PL_TET_FOLDED;
    phases fold = report("30,000 tets, folded 10 %", 60, 10, 10, def);
    double e = exact.local + exact.combine;
    printf("local step and right-hand side: quaternions %.2f, folded %.2f times as fast as exact\n",
           e / (blend.local + blend.combine + blend.samples), e / (fold.combine + fold.samples));
    threads(60, 10, 10);
    crowds();
    return 0;
}

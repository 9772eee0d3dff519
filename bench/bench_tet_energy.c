/* Energy over iterations and over time (Fig. 5 of Fukuhara et al.): a beam of 2,375 tetrahedra held
   bent and twisted settles from a straight one, with exact rotations and with 5, 10 and 15 % of
   them fitted, plain and accelerated. Writes CSV to the standard output and, to the other one, the
   times at which the energy is within 3 % of the minimum. tools/plot-tets draws it.

   `true_error` is the energy (exact rotations, in doubles) above the exact minimum, as a part of
   it; `own_error` is how far it is from what the same method has after 1,000 iterations, which is
   how the paper measures. Every row is a solve of its own from the same start. */
#include <stdio.h>

#include "../tests/matter/tet_bar.h"
#include "base/clock.h"

#define PI 3.14159265358979323846

static const int steps[] = {0,  1,  2,  3,  4,  5,   6,   8,   10,  12,  15,  20,
                            25, 30, 40, 60, 80, 100, 150, 200, 300, 500, 700, 1000};
enum { STEPS = sizeof steps / sizeof *steps };

typedef struct method {
    const char *name;
    pl_tet_rotations rotations;
    double sampled;
} method;

static const method methods[] = {{"exact", PL_TET_EXACT, 1},
                                 {"quaternion", PL_TET_QUATERNION, 0.05},
                                 {"quaternion", PL_TET_QUATERNION, 0.1},
                                 {"quaternion", PL_TET_QUATERNION, 0.15},
                                 {"folded", PL_TET_FOLDED, 0.05},
                                 {"folded", PL_TET_FOLDED, 0.1},
                                 {"folded", PL_TET_FOLDED, 0.15}};
enum { METHODS = sizeof methods / sizeof *methods };

/* The ends are where a bend by 90° and a twist by 45° would bring them; everything between is still
   straight. */
static void hold(tet_case *c)
{
    double length = c->bar.cells[0], bend = PI / 2, twist = PI / 4, radius = length / bend;
    for (int i = 0; i < c->bar.n; i++) {
        const float *p = c->bar.rest + 3 * (size_t)i;
        double t = (double)p[0] / length, y = (double)p[1] - 2.5, z = (double)p[2] - 2.5;
        double yy = cos(twist * t) * y - sin(twist * t) * z;
        double zz = sin(twist * t) * y + cos(twist * t) * z;
        double at[3] = {sin(bend * t) * (radius - yy), radius - cos(bend * t) * (radius - yy), zz};
        for (int k = 0; k < 3; k++)
            c->x[3 * i + k] = (float)at[k];
    }
    for (int k = 0; k < c->source.fixed_count; k++)
        for (int m = 0; m < 3; m++)
            c->targets[7 * k + m] = (double)c->x[3 * c->fixed[k] + m];
    memcpy(c->x, c->bar.rest, 3 * (size_t)c->bar.n * sizeof(float));
    for (int k = 0; k < c->source.fixed_count; k++)
        for (int m = 0; m < 3; m++)
            c->x[3 * c->fixed[k] + m] = (float)c->targets[7 * k + m];
}

static pl_tetrahedral_def definition(const method *m, bool accelerated)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    def.rotations = m->rotations;
    def.sampled = m->sampled;
    def.accelerated = accelerated;
    return def;
}

/* A step so long that inertia counts for nothing. */
static double settle(const method *m, bool accelerated, int iterations, double *milliseconds)
{
    tet_case c;
    tet_case_make(&c, tet_bar_make(19, 5, 5, 1), definition(m, accelerated), 1e4, 100, 2);
    hold(&c);
    uint64_t begin = pl_clock_ns();
    tet_case_settle(&c, iterations);
    *milliseconds = (double)(pl_clock_ns() - begin) * 1e-6;
    double energy = tet_case_energy(&c, NULL, NULL);
    tet_case_free(&c);
    return energy;
}

typedef struct curve {
    double energy[STEPS], time[STEPS];
} curve;

/* The time of the first rows is the least of some; beyond them it grows as between the last two of
   them: long solves are never left alone by the machine. */
static curve run(const method *m, bool accelerated)
{
    enum { TIMED = 40, ROUNDS = 20 };
    curve r = {{0}, {0}};
    int timed = 0;
    for (int k = 0; k < STEPS; k++) {
        double least = INFINITY, time;
        for (int round = 0; round < (steps[k] <= TIMED ? ROUNDS : 1); round++) {
            r.energy[k] = settle(m, accelerated, steps[k], &time);
            least = fmin(least, time);
        }
        if (steps[k] <= TIMED) {
            r.time[k] = k && least < r.time[k - 1] ? r.time[k - 1] : least;
            timed = k;
        }
    }
    double each = (r.time[timed] - r.time[timed - 2]) / (steps[timed] - steps[timed - 2]);
    for (int k = timed + 1; k < STEPS; k++)
        r.time[k] = r.time[timed] + each * (steps[k] - steps[timed]);
    for (int k = STEPS - 1; k >= 0; k--)
        r.time[k] -= r.time[0]; /* what lies before the first iteration */
    return r;
}

/* When the energy is within `error` of `least`, between the rows by its logarithm. */
static double time_to(const curve *r, double least, double error, double *iterations)
{
    for (int k = 1; k < STEPS; k++) {
        double before = log(r->energy[k - 1] / least - 1), here = log(r->energy[k] / least - 1);
        if (r->energy[k] / least - 1 > error)
            continue;
        double part = (before - log(error)) / (before - here);
        *iterations = steps[k - 1] + part * (steps[k] - steps[k - 1]);
        return r->time[k - 1] + part * (r->time[k] - r->time[k - 1]);
    }
    *iterations = INFINITY;
    return INFINITY;
}

int main(void)
{
    double time, least = settle(&methods[0], true, 3000, &time);
    printf("rotations,sampled,accelerated,iterations,ms,own_error,true_error\n");
    for (int accelerated = 0; accelerated < 2; accelerated++)
        for (int m = 0; m < METHODS; m++) {
            curve r = run(&methods[m], accelerated != 0);
            double iterations, wait = time_to(&r, least, 0.03, &iterations);
            for (int k = 0; k < STEPS; k++)
                printf("%s,%g,%d,%d,%.4f,%.6g,%.6g\n", methods[m].name, methods[m].sampled,
                       accelerated, steps[k], r.time[k],
                       fabs(r.energy[k] - r.energy[STEPS - 1]) / r.energy[STEPS - 1],
                       r.energy[k] / least - 1);
            fprintf(
                stderr,
                "%-10s %3.0f %%, %-11s: 3 %% after %6.1f iterations, %7.3f ms; at last %.2f %%\n",
                methods[m].name, 100 * methods[m].sampled, accelerated ? "accelerated" : "plain",
                iterations, wait, 100 * (r.energy[STEPS - 1] / least - 1));
        }
    return 0;
}

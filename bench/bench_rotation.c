/* How many million rotations (and singular value decompositions) per second one core fits, for each
   lane width the machine has: warm (start within 0.05 rad of the answer), cold (random start), and
   line (all matrices of rank one, which leave one angle undetermined: the slowest case). The best
   of several repeats. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "math/rotation_lanes.h"

enum { COUNT = 2048, REPEATS = 60 };

static float c[9 * COUNT], answer[4 * COUNT], near_start[4 * COUNT], far_start[4 * COUNT],
    q[4 * COUNT];
static float line[9 * COUNT], u[9 * COUNT], s[3 * COUNT], v[9 * COUNT];
static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53 * 2 - 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void normalise(float *a)
{
    double n =
        sqrt((double)a[0] * a[0] + (double)a[1] * a[1] + (double)a[2] * a[2] + (double)a[3] * a[3]);
    for (int k = 0; k < 4; k++)
        a[k] = (float)(a[k] / n);
}

static void prepare(void)
{
    for (int i = 0; i < 9 * COUNT; i++)
        c[i] = (float)uniform();
    for (int i = 0; i < 4 * COUNT; i++)
        far_start[i] = (float)uniform();
    for (int i = 0; i < COUNT; i++) {
        normalise(far_start + 4 * i);
        if (i % 2) /* half of the matrices: a rotation, stretched by up to 30 % */
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    c[9 * i + 3 * j + k] = (j == k) + 0.3f * c[9 * i + 3 * j + k];
    }
    for (int i = 0; i < 9 * COUNT; i++)
        line[i] = c[i / 9 * 9 + i % 9 / 3] * c[i / 9 * 9 + 3 + i % 3];
    memcpy(answer, far_start, sizeof answer);
    pl_rotation_table_of(4)->fit(COUNT, c, answer);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 4; k++)
            near_start[4 * i + k] = answer[4 * i + k] + (float)(0.0125 * uniform());
        normalise(near_start + 4 * i);
    }
}

static double rate_of_fit(const pl_rotation_table *table, const float *matrices, const float *start)
{
    double best = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        memcpy(q, start, sizeof q);
        double begin = now();
        table->fit(COUNT, matrices, q);
        double time = now() - begin;
        best = time < best ? time : best;
    }
    return COUNT / best * 1e-6;
}

static double rate_of_svd(const pl_rotation_table *table)
{
    double best = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = now();
        table->svd(COUNT, c, u, s, v);
        double time = now() - begin;
        best = time < best ? time : best;
    }
    return COUNT / best * 1e-6;
}

int main(void)
{
    prepare();
    printf("million per second, one core\nwidth    warm    cold    line     svd\n");
    for (int width = 4; width <= 16; width *= 2) {
        const pl_rotation_table *table = pl_rotation_table_of(width);
        if (!table)
            printf("%5d  not on this machine\n", width);
        else
            printf("%5d %7.1f %7.1f %7.1f %7.1f\n", width, rate_of_fit(table, c, near_start),
                   rate_of_fit(table, c, far_start), rate_of_fit(table, line, far_start),
                   rate_of_svd(table));
    }
    return 0;
}

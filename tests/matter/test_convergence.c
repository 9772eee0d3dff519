/* How stiff a body is depends on the radius of its clusters, not on how many there are (Falkenstein
   2017, Fig. 4.2): the tip of a loaded bar comes to rest nearer and nearer to the same place as
   clusters of one radius double, and sinks without end where their overlap is kept and they get
   smaller. Label: slow. */
#include "matter/change_kit.h"

enum { N = 1000 };

static double points[3 * N];

/* How far the tip hangs down at rest. */
static double settle(int clusters, double radius, double overlap)
{
    const double size[3] = {4, 1, 1}, h = 1 / 240.0, drag = 4;
    static int32_t fixed[N];
    static double targets[7 * N];
    int n = kit_box(N, size, 1, points), fixed_count = 0, tip_count = 0;
    pl_clustering_def clustering = {.count = clusters, .radius = radius, .overlap = overlap};
    pl_clustered_def def = pl_default_clustered_def();
    def.strain_limit = 0;
    def.frequency = 38;
    body b;
    body_open(&b, n, points, false, &clustering, &def);
    assert_int_equal(b.c->count, clusters);
    for (int i = 0; i < n; i++) {
        b.push[3 * i + 1] = -2;
        tip_count += points[3 * i] > 1.75;
        if (points[3 * i] > -1.75)
            continue;
        for (int k = 0; k < 3; k++)
            targets[7 * fixed_count + k] = (double)b.x[3 * i + k];
        fixed[fixed_count++] = i;
    }
    double sunk = 0, last = -1;
    for (int step = 0; step < 6000 && fabs(sunk - last) > 1e-4 * fabs(sunk); step++) {
        body_step_held(&b, h, fixed_count, fixed, targets);
        for (int i = 0; i < 3 * n; i++)
            b.u[i] *= (float)(1 - drag * h);
        if (step % 120 != 119)
            continue;
        last = sunk, sunk = 0;
        for (int i = 0; i < n; i++)
            if (points[3 * i] > 1.75)
                sunk += (points[3 * i + 1] - (double)b.x[3 * i + 1]) / tip_count;
    }
    printf("%3d clusters, %4.1f per particle: tip at %.4f\n", clusters, (double)b.c->start[n] / n,
           -sunk);
    body_close(&b);
    return sunk;
}

static void test_same_radius(void **state)
{
    (void)state;
    double sunk[4];
    for (int i = 0; i < 4; i++)
        sunk[i] = settle(25 << i, 0.6, 0);
    double first = fabs(sunk[1] - sunk[0]), second = fabs(sunk[2] - sunk[1]),
           third = fabs(sunk[3] - sunk[2]);
    assert_true(sunk[3] > 0.01 && sunk[3] < 1);
    assert_true(second < first && third < second);
    assert_true(third < 0.02 * sunk[3]);
}

static void test_same_overlap(void **state)
{
    (void)state;
    double before = 0;
    for (int i = 0; i < 3; i++) {
        double sunk = settle(25 << i, 0, 4);
        assert_true(sunk > 1.3 * before);
        before = sunk;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_radius),
        cmocka_unit_test(test_same_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Clustering: over random shapes every particle is a member of something, members are exactly the
   particles within the radius, centres are at rest, the overlap is the wanted one; the same again,
   and the same in another unit of length, bit by bit; and what is no clustering is refused. Brute
   force is the judge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"

#include "base/rng.h"
#include "shape/cluster.h"
#include "shape/model.h"

static void point_of(pl_rng *rng, int shape, double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = 2 * pl_random_double(rng) - 1;
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    switch (shape) {
    case 0: /* a bar */
        p[0] *= 4;
        break;
    case 1: /* a shell */
        for (int k = 0; k < 3; k++)
            p[k] /= length;
        break;
    case 2: /* a sheet */
        p[2] = 0;
        break;
    case 3: /* a thread */
        p[1] = p[2] = 0;
        break;
    case 4: /* two crowds far apart */
        p[0] = p[0] > 0 ? 100 + p[0] : p[0];
        break;
    default: /* few places, many in each */
        for (int k = 0; k < 3; k++)
            p[k] = floor(2 * p[k]);
    }
}

static double *make_points(int n, int shape, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    double *points = malloc(3 * sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++)
        point_of(&rng, shape, points + 3 * i);
    return points;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* The largest way a centre still has to the weighted centre of mass of its members, in radii. */
static double check_clusters(int n, const double *points, const float *masses,
                             const pl_clustering *result, pl_cluster_kernel kernel)
{
    double *sums = calloc((size_t)n, sizeof(double)), worst = 0;
    for (int c = 0; c < result->count; c++) {
        const double *centre = result->centre + 3 * c;
        double radius = (double)result->radius[c];
        int32_t at = result->start[c];
        for (int i = 0; i < n; i++) {
            double d = distance(points + 3 * i, centre);
            bool member = at < result->start[c + 1] && result->member[at] == i;
            if (fabs(d - radius) > 1e-6 * radius)
                assert_int_equal(member, d < radius);
            if (!member)
                continue;
            double raw = pl_cluster_kernel_at(kernel, d * d / radius / radius);
            assert_true(fabs((double)result->raw[at] - raw) <= 1e-5 * raw);
            sums[i] += (double)result->raw[at++];
        }
        assert_int_equal(at, result->start[c + 1]);
    }
    for (int i = 0; i < n; i++)
        assert_true(sums[i] > 0);
    for (int c = 0; c < result->count; c++) {
        double middle[3] = {0}, mass = 0;
        for (int32_t at = result->start[c]; at < result->start[c + 1]; at++) {
            int i = result->member[at];
            double wm = (double)result->raw[at] / sums[i] * (masses ? (double)masses[i] : 1);
            mass += wm;
            for (int k = 0; k < 3; k++)
                middle[k] += wm * points[3 * i + k];
        }
        for (int k = 0; k < 3; k++)
            middle[k] /= mass;
        worst = fmax(worst, distance(middle, result->centre + 3 * c) / (double)result->radius[c]);
    }
    free(sums);
    return worst;
}

static void test_random_shapes(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(11);
    int settled = 0, rounds = check_rounds(1200, 150), overlaps = 0, tries = 0;
    double worst = 0, off = 0;
    for (int round = 0; round < rounds; round++) {
        int n = 1 + (int)pl_random_below(&rng, round % 7 ? 700 : 12), shape = round % 6;
        double *points = make_points(n, shape, pl_random_u64(&rng));
        float *masses = malloc(sizeof(float) * (size_t)n);
        for (int i = 0; i < n; i++)
            masses[i] = pl_random_between(&rng, 0.5f, 2);
        int count = 1 + (int)pl_random_below(&rng, (uint32_t)(n / 8 + 1));
        pl_clustering_def def = {
            .count = count, .kernel = (pl_cluster_kernel)(round % 3), .seed = (uint64_t)round};
        if (round % 2)
            def.overlap = fmin(count, 1 + 4 * pl_random_double(&rng));
        else
            def.radius = 0.05 + pl_random_double(&rng);
        pl_clustering result;
        pl_error error;
        assert_int_equal(pl_cluster_particles(&memory, n, points, masses, &def, &result, &error),
                         PL_OK);
        assert_true(result.count >= count);
        double way = check_clusters(n, points, masses, &result, def.kernel);
        settled += result.settled;
        tries += result.tries;
        if (result.settled) {
            assert_true(way < 1.01e-3);
            worst = fmax(worst, way);
        }
        if (!(def.radius > 0) && result.tries == 1 && shape < 4 && n > 100) {
            overlaps++;
            off += fabs(result.start[result.count] / (double)n / def.overlap - 1);
        }
        pl_clustering_free(&memory, &result);
        free(points);
        free(masses);
    }
    printf("%d of %d settled, still to go %.2g radii; overlap off by %.2g %%; %.2f tries\n",
           settled, rounds, worst, 100 * off / fmax(1, overlaps), tries / (double)rounds);
    assert_true(settled >= rounds * 9 / 10);
    assert_true(off / fmax(1, overlaps) < 0.05);
    assert_int_equal(memory.used, 0);
}

static bool same(const pl_clustering *a, const pl_clustering *b)
{
    size_t members = (size_t)a->start[a->count];
    return a->count == b->count &&
           !memcmp(a->start, b->start, sizeof(int32_t) * (size_t)(a->count + 1)) &&
           !memcmp(a->member, b->member, sizeof(int32_t) * members) &&
           !memcmp(a->raw, b->raw, sizeof(float) * members);
}

/* Twice the same, and in units 2^k times as large: the same bits. */
static void test_same_and_scaled(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int shape = 0; shape < 6; shape++) {
        enum { N = 600 };
        double *points = make_points(N, shape, 5 + (uint64_t)shape), scaled[3 * N];
        for (int mode = 0; mode < 2; mode++) {
            pl_clustering_def def = {
                .count = 20, .radius = mode ? 0.8 : 0, .overlap = 3.5, .seed = 3};
            pl_clustering first, other;
            assert_int_equal(pl_cluster_particles(&memory, N, points, NULL, &def, &first, NULL), 0);
            for (int power = -21; power <= 21; power += 7) {
                double scale = ldexp(1, power);
                for (int i = 0; i < 3 * N; i++)
                    scaled[i] = scale * points[i];
                pl_clustering_def def2 = def;
                def2.radius *= scale;
                assert_int_equal(
                    pl_cluster_particles(&memory, N, scaled, NULL, &def2, &other, NULL), 0);
                assert_true(same(&first, &other));
                for (int j = 0; j < 3 * first.count; j++)
                    assert_true(other.centre[j] == scale * first.centre[j]);
                assert_true((double)other.radius[0] == scale * (double)first.radius[0]);
                pl_clustering_free(&memory, &other);
            }
            def.seed = 4;
            assert_int_equal(pl_cluster_particles(&memory, N, points, NULL, &def, &other, NULL), 0);
            if (shape == 0)
                assert_false(same(&first, &other));
            pl_clustering_free(&memory, &other);
            pl_clustering_free(&memory, &first);
        }
        free(points);
    }
    assert_int_equal(memory.used, 0);
}

static void test_refused(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    double *points = make_points(50, 0, 1);
    pl_clustering result;
    pl_error error;
    const pl_clustering_def bad[] = {{.count = 0, .radius = 1},
                                     {.count = 51, .radius = 1},
                                     {.count = 5, .radius = -1},
                                     {.count = 5, .radius = (double)INFINITY},
                                     {.count = 5, .overlap = 0.5},
                                     {.count = 5, .overlap = 6},
                                     {.count = 5, .overlap = (double)NAN},
                                     {.count = 5, .radius = (double)NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pl_cluster_particles(&memory, 50, points, NULL, &bad[i], &result, &error),
                         PL_ERROR_ARGUMENT);
    pl_clustering_def def = {.count = 5, .overlap = 2};
    assert_int_equal(pl_cluster_particles(&memory, 0, points, NULL, &def, &result, &error),
                     PL_ERROR_ARGUMENT);
    float masses[50] = {0};
    assert_int_equal(pl_cluster_particles(&memory, 50, points, masses, &def, &result, &error),
                     PL_ERROR_ARGUMENT);
    points[7] = (double)NAN;
    assert_int_equal(pl_cluster_particles(&memory, 50, points, NULL, &def, &result, &error),
                     PL_ERROR_ARGUMENT);
    points[7] = 0;

    /* A radius that reaches nobody grows until it does. */
    def.radius = 1e-9;
    assert_int_equal(pl_cluster_particles(&memory, 50, points, NULL, &def, &result, &error), PL_OK);
    assert_true(result.tries > 1 && result.count > 5);
    check_clusters(50, points, NULL, &result, def.kernel);
    pl_clustering_free(&memory, &result);

    /* Every allocation may fail. */
    def.radius = 0;
    for (int64_t at = 0;; at++) {
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = at;
        pl_status status = pl_cluster_particles(&memory, 50, points, NULL, &def, &result, &error);
        if (!status)
            break;
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_int_equal(memory.used, 0);
    }
    pl_clustering_free(&memory, &result);
    free(points);
}

/* Of this thread, whatever else the machine does. */
static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void test_speed(void **state)
{
    (void)state;
    enum { N = 100000 };
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    int n = check_is_slow_build() ? N / 20 : N;
    double *points = make_points(n, 0, 77);
    pl_clustering_def def = {.count = n / 25, .overlap = 4, .seed = 1};
    pl_clustering result;
    double start = seconds_now();
    assert_int_equal(pl_cluster_particles(&memory, n, points, NULL, &def, &result, NULL), PL_OK);
    double seconds = seconds_now() - start;
    printf("%d particles, %d clusters, overlap %.3f: %.2f s, %d rounds, %d tries, %s\n", n,
           result.count, result.start[result.count] / (double)n, seconds, result.rounds,
           result.tries, result.settled ? "settled" : "not settled");
    if (!check_is_slow_build())
        assert_true(seconds < 4);
    pl_clustering_free(&memory, &result);
    free(points);
}

/* A chain of three, a fourth beside its ends, a fifth alone. */
static void test_rings(void **state)
{
    (void)state;
    static double positions[15] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 1, 0, 5, 5, 5};
    static double radii[15] = {.3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3, .3};
    static const int32_t edges[8] = {1, 0, 1, 2, 3, 2, 0, 3};
    static const int32_t start[6] = {0, 3, 6, 9, 12, 13};
    static const int32_t members[13] = {0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3, 4};
    pl_model_def def = pl_default_model_def();
    pl_clusters_def rings = pl_default_clusters_def();
    pl_model *model, *ringed;
    def.particle_count = 5;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edge_count = 4;
    def.edges = edges;
    def.several_pieces = true;
    rings.rings = true;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    assert_int_equal(pl_model_cluster(model, &rings, &ringed, NULL), PL_OK);
    assert_int_equal(ringed->cluster_count, 5);
    assert_memory_equal(ringed->cluster_start, start, sizeof start);
    assert_memory_equal(ringed->cluster_members, members, sizeof members);
    for (int m = 0; m < 13; m++)
        assert_true(ringed->cluster_weights[m] == 1);
    for (int c = 0; c < 5; c++)
        assert_true(ringed->cluster_radii[c] > 0);
    pl_model_release(ringed);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_same_and_scaled),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_speed),
        cmocka_unit_test(test_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

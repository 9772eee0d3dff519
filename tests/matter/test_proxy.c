/* Contact of a clustered body with itself: the rest shape is a fixed point, bit by bit; pieces
   thrown at each other do not go through each other, whatever their masses, and nobody is moved
   farther than by one contact; linear momentum stays; friction slows what slides, never more than
   it slid; what was inside before comes out slowly; debris; proxies of thin bodies and of broken
   ones; brute force finds the same contacts. */
#include "matter/change_kit.h"

#include "math/quat.h"

/* Two bars, one above the other at a distance of `gap`, in one body. */
static int two_bars(int n, double gap, double *points)
{
    const double size[3] = {2, 1, 0.6};
    int half = kit_box(n / 2, size, 3, points);
    for (int i = 0; i < half; i++) {
        points[3 * (half + i)] = -points[3 * i];
        points[3 * (half + i) + 1] = points[3 * i + 1];
        points[3 * (half + i) + 2] = -points[3 * i + 2] + gap / 2 + 0.3;
        points[3 * i + 2] -= gap / 2 + 0.3;
    }
    return 2 * half;
}

static void open_two(body *b, int n, double gap, const pl_clustered_def *def)
{
    double *points = malloc(3 * sizeof(double) * (size_t)n);
    n = two_bars(n, gap, points);
    pl_clustering_def clustering = {.count = 40, .radius = 0.3, .seed = 3};
    body_open(b, n, points, true, &clustering, def);
    free(points);
}

static void open_bar(body *b, const double size[3], int n, int clusters,
                     const pl_clustered_def *def)
{
    double *points = malloc(3 * sizeof(double) * (size_t)n);
    n = kit_box(n, size, 17, points);
    pl_clustering_def clustering = {.count = clusters, .overlap = 3, .seed = 5};
    body_open(b, n, points, true, &clustering, def);
    free(points);
}

static double momentum_change(const body *b, const float *before, const float *after, double *size)
{
    double worst = 0;
    *size = 0;
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < b->c->n; i++) {
            double way = (double)after[3 * i + k] - (double)before[3 * i + k];
            sum += (double)b->c->mass[i] * way;
            *size += (double)b->c->mass[i] * fabs(way);
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

/* At rest, turned, sheared and scaled a little: nobody is moved. */
static void test_rest_is_fixed(void **state)
{
    (void)state;
    const double sizes[3][3] = {{4, 1, 1}, {3, 3, 0.05}, {6, 0.1, 0.1}};
    const double maps[3][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                               {0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1},
                               {1.2, 0.3, 0, 0, 0.9, 0, 0, 0.2, 1}};
    pl_clustered_def def = pl_default_clustered_def();
    for (int shape = 0; shape < 3; shape++) {
        body b;
        open_bar(&b, sizes[shape], 1500, 60, &def);
        float *rest = malloc(3 * sizeof(float) * (size_t)b.c->n),
              *x = malloc(3 * sizeof(float) * (size_t)b.c->n);
        memcpy(rest, b.x, 3 * sizeof(float) * (size_t)b.c->n);
        for (int m = 0; m < 3; m++) {
            for (int i = 0; i < b.c->n; i++)
                for (int k = 0; k < 3; k++)
                    b.x[3 * i + k] = (float)(maps[m][3 * k] * (double)rest[3 * i] +
                                             maps[m][3 * k + 1] * (double)rest[3 * i + 1] +
                                             maps[m][3 * k + 2] * (double)rest[3 * i + 2]);
            memcpy(x, b.x, 3 * sizeof(float) * (size_t)b.c->n);
            pl_clustered_collide(b.c, b.x, x, 1 / 60.0, 0.5, NULL);
            assert_memory_equal(x, b.x, 3 * sizeof(float) * (size_t)b.c->n);
        }
        free(rest);
        free(x);
        body_close(&b);
    }
}

/* How many particles of either bar are deeper than `depth` in the box of the other's particles, in
   the direction z. */
static double overlap_of(const body *b, int half)
{
    double upper = (double)INFINITY, lower = -(double)INFINITY;
    for (int i = 0; i < half; i++)
        lower = fmax(lower, (double)b->x[3 * i + 2]);
    for (int i = half; i < 2 * half; i++)
        upper = fmin(upper, (double)b->x[3 * i + 2]);
    return lower - upper;
}

static double meet(bool contact, double speed, double *drift)
{
    pl_clustered_def def = pl_default_clustered_def();
    body b;
    open_two(&b, 1200, 0.7, &def);
    int half = b.c->n / 2, debris;
    double before[3], after[3], worst = -(double)INFINITY;
    b.contact = contact;
    b.friction = 0.3;
    assert_int_equal(body_pieces(&b, NULL, &debris), 2);
    for (int i = 0; i < 2 * half; i++)
        b.u[3 * i + 2] = (float)(i < half ? speed : -speed);
    body_momentum(&b, before);
    for (int step = 0; step < 90; step++) {
        body_step(&b, 1 / 60.0);
        worst = fmax(worst, overlap_of(&b, half));
    }
    body_momentum(&b, after);
    *drift = 0;
    for (int k = 0; k < 3; k++)
        *drift = fmax(*drift, fabs(after[k] - before[k]));
    body_check(&b);
    body_close(&b);
    return worst;
}

static void test_pieces_meet(void **state)
{
    (void)state;
    double drift, with, without;
    without = meet(false, 1, &drift);
    with = meet(true, 1, &drift);
    printf(
        "bars of height 0.6 thrown at each other: %.2f into each other without contact, %.3f with; "
        "momentum off by %.2g of about 1200\n",
        without, with, drift);
    assert_true(without > 0.6);
    assert_true(with < 0.15);
    assert_true(drift < 0.05);
}

static void test_momentum_and_friction(void **state)
{
    (void)state;
    pl_clustered_def def = pl_default_clustered_def();
    double slid[3];
    for (int k = 0; k < 3; k++) {
        body b;
        open_two(&b, 1200, 0.7, &def);
        int half = b.c->n / 2;
        for (int i = half; i < 2 * half; i++)
            b.x[3 * i + 2] -= 0.8f; /* a little into each other */
        size_t bytes = 3 * sizeof(float) * (size_t)b.c->n;
        float *x = malloc(bytes);
        memcpy(b.from, b.x, bytes);
        for (int i = half; i < 2 * half; i++)
            b.x[3 * i] += 0.02f; /* the upper one slid */
        memcpy(x, b.x, bytes);
        pl_clustered_collide(b.c, b.x, b.from, 1 / 60.0, 0.5 * k, NULL);
        double size, change = momentum_change(&b, x, b.x, &size);
        assert_true(size > 0.1);
        assert_true(change < 1e-5 * size + 1e-5);
        slid[k] = 0;
        for (int i = half; i < 2 * half; i++)
            slid[k] += (double)b.c->mass[i] * ((double)b.x[3 * i] - (double)b.from[3 * i]);
        free(x);
        body_close(&b);
    }
    printf("slid by %.3f without friction, %.3f with 0.5, %.3f with 1\n", slid[0], slid[1],
           slid[2]);
    assert_true(slid[1] < slid[0] && slid[2] < slid[1] && slid[2] > 0);
}

/* The farthest that anybody was moved, of the two bars. */
static void farthest_of(const body *b, const float *before, double most[2])
{
    most[0] = most[1] = 0;
    for (int i = 0; i < b->c->n; i++) {
        int bar = i >= b->c->n / 2;
        pl_vec3 to = pl_v3_from_floats(b->x + 3 * i), from = pl_v3_from_floats(before + 3 * i);
        most[bar] = fmax(most[bar], pl_v3_distance(to, from));
    }
}

/* Bars that went into each other by 0.1 in this sub-step: many particles are in each proxy, and
   every one is moved for itself, and as a member. Light as it may be, none goes farther than the
   one contact may take it. */
static void push_light(double ratio, double friction)
{
    pl_clustered_def def = pl_default_clustered_def();
    body b;
    open_two(&b, 1200, 0.7, &def);
    int half = b.c->n / 2;
    size_t bytes = 3 * sizeof(float) * (size_t)b.c->n;
    float *x = malloc(bytes);
    for (int i = half; i < 2 * half; i++)
        b.c->mass[i] *= (float)ratio;
    pl_clustered_index(b.c);
    pl_clustered_weigh(b.c);
    memcpy(b.from, b.x, bytes);
    for (int i = half; i < 2 * half; i++)
        b.x[3 * i + 2] -= 0.8f;
    memcpy(x, b.x, bytes);
    pl_clustered_collide(b.c, b.x, b.from, 1 / 60.0, friction, NULL);
    double most[2], size, change = momentum_change(&b, x, b.x, &size), radius = 0;
    for (int k = 0; k < b.c->count; k++)
        radius = fmax(radius, (double)b.c->clusters[k].radius);
    farthest_of(&b, x, most);
    double limit = 0.25 * radius * sqrt(1 + friction * friction);
    printf("masses 1 and %g, friction %g: moved by %.2g and %.2g at most, one contact by %.2g; "
           "momentum off by %.2g of %.2g\n",
           ratio, friction, most[0], most[1], limit, change, size);
    assert_true(most[0] > 0 && most[1] > 0.02);
    assert_true(most[0] <= 1.0001 * limit && most[1] <= 1.0001 * limit);
    assert_true(change < 1e-5 * size + 3e-6); /* places are floats */
    if (ratio < 0.01)
        assert_true(most[0] < 20 * ratio * most[1]);
    /* Had they been there before, it would be a tenth. */
    memcpy(b.from, x, bytes);
    for (int k = 0; k < b.c->count; k++)
        pl_v3_to_floats(pl_clustered_refit(b.c, k, x).centre, b.c->clusters[k].centre);
    memcpy(b.x, x, bytes);
    pl_clustered_collide(b.c, b.x, b.from, 1 / 60.0, 0, NULL);
    farthest_of(&b, x, most);
    assert_true(most[1] > 0 && most[0] < 0.1 * 0.8 * radius && most[1] < 0.1 * 0.8 * radius);
    free(x);
    body_close(&b);
}

static void test_masses(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        push_light(1, 0.5 * k);
        push_light(1e-3, 0.5 * k);
        push_light(1e-6, 0.5 * k);
    }
}

/* A particle that no cluster holds, thrown at the body. */
static double throw_debris(bool contact, double *drift)
{
    const double size[3] = {2, 1, 1};
    pl_clustered_def def = pl_default_clustered_def();
    def.self_contact = contact;
    double points[3 * 600], before[3], after[3], lowest = (double)INFINITY;
    int n = kit_box(599, size, 5, points), lost = n;
    for (int k = 0; k < 3; k++)
        points[3 * lost + k] = k == 1 ? 1.2 : 0.1;
    pl_clustering_def clustering = {.count = 40, .overlap = 3, .seed = 3};
    body b;
    body_open(&b, n + 1, points, false, &clustering, &def);
    for (int k = 0; k < b.c->count; k++) {
        pl_cluster *cluster = b.c->clusters + k;
        int kept = cluster->first, end = cluster->first + cluster->count;
        for (int m = cluster->first; m < end; m++) {
            if (b.c->particle[m] == lost)
                continue;
            b.c->particle[kept] = b.c->particle[m];
            b.c->raw[kept] = b.c->raw[m];
            for (int j = 0; j < 3; j++)
                b.c->p[j][kept] = b.c->p[j][m];
            kept++;
        }
        cluster->count = kept - cluster->first;
    }
    int left = 0;
    for (int k = 0; k < b.c->count; k++)
        if (b.c->clusters[k].count)
            b.c->clusters[left++] = b.c->clusters[k];
    b.c->count = left;
    pl_clustered_index(b.c);
    pl_clustered_weigh(b.c);
    assert_int_equal(b.c->start[lost], b.c->start[lost + 1]);
    b.u[3 * lost + 1] = -3;
    body_momentum(&b, before);
    for (int step = 0; step < 120; step++) {
        body_step(&b, 1 / 120.0);
        lowest = fmin(lowest, (double)b.x[3 * lost + 1]);
    }
    body_momentum(&b, after);
    *drift = 0;
    for (int k = 0; k < 3; k++)
        *drift = fmax(*drift, fabs(after[k] - before[k]));
    body_check(&b);
    body_close(&b);
    return lowest;
}

static void test_debris(void **state)
{
    (void)state;
    double drift, without = throw_debris(false, &drift), with = throw_debris(true, &drift);
    printf("debris thrown down at a body from −0.5 to 0.5 gets to %.2f without contact, %.2f with; "
           "momentum off by %.2g of 3\n",
           without, with, drift);
    assert_true(without < -1);
    assert_true(with > 0.35);
    assert_true(drift < 1e-2);
}

/* The same bits from several threads; and nothing is allocated once there is room. */
static void test_threads(void **state)
{
    (void)state;
    pl_clustered_def def = pl_default_clustered_def();
    body b;
    open_two(&b, 1200, 0.7, &def);
    int half = b.c->n / 2;
    size_t bytes = 3 * sizeof(float) * (size_t)b.c->n;
    float *x = malloc(bytes), *one = malloc(bytes);
    for (int i = half; i < 2 * half; i++)
        b.x[3 * i + 2] -= 0.8f;
    memcpy(x, b.x, bytes);
    pl_clustered_collide(b.c, b.x, x, 1 / 60.0, 0.5, NULL);
    memcpy(one, b.x, bytes);
    assert_memory_not_equal(one, x, bytes);
    uint64_t allocations = b.memory.allocations;
    memcpy(b.x, x, bytes);
    pl_clustered_collide(b.c, b.x, x, 1 / 60.0, 0.5, NULL);
    assert_int_equal(b.memory.allocations, allocations);
    pl_tasks *tasks = pl_tasks_create(NULL, 3, &b.memory);
    memcpy(b.x, x, bytes);
    pl_clustered_collide(b.c, b.x, x, 1 / 60.0, 0.5, tasks);
    assert_memory_equal(one, b.x, bytes);
    pl_tasks_destroy(tasks);
    free(x);
    free(one);
    body_close(&b);
}

/* Without neighbours being spared, brute force over all particles and proxies says who must be
   moved; bars as they are, and drawn out and turned. */
static void check_by_brute_force(pl_mat3 map)
{
    pl_clustered_def def = pl_default_clustered_def();
    body b;
    open_two(&b, 800, 0.7, &def);
    pl_mat3 inverse = pl_m3_zero();
    assert_true(pl_m3_inverse(map, &inverse));
    int half = b.c->n / 2;
    size_t bytes = 3 * sizeof(float) * (size_t)b.c->n;
    float *x = malloc(bytes);
    for (int i = half; i < 2 * half; i++)
        b.x[3 * i + 2] -= 0.85f, b.x[3 * i] += 0.4f;
    for (int i = 0; i < b.c->n; i++)
        pl_v3_to_floats(pl_m3_mul_v3(map, pl_v3_from_floats(b.x + 3 * i)), b.x + 3 * i);
    for (int k = 0; k < b.c->count; k++) { /* as of the last fit */
        pl_v3_to_floats(pl_clustered_refit(b.c, k, b.x).centre, b.c->clusters[k].centre);
        pl_m3_to_floats(map, b.c->clusters[k].gradient);
    }
    memcpy(x, b.x, bytes);
    memcpy(b.from, b.x, bytes);
    pl_clustered_collide(b.c, b.x, b.from, 1 / 60.0, 0, NULL);
    int inside = 0;
    for (int i = 0; i < b.c->n; i++) {
        bool hit = false;
        for (int k = 0; k < b.c->count; k++) {
            const pl_cluster *cluster = b.c->clusters + k;
            if ((b.c->particle[cluster->first] < half) == (i < half))
                continue; /* its own bar: evenly deformed there */
            pl_vec3 p = pl_m3_mul_v3(inverse, pl_v3_sub(pl_v3_from_floats(x + 3 * i),
                                                        pl_clustered_refit(b.c, k, x).centre));
            bool in = pl_v3_distance(p, pl_v3_from_floats(cluster->middle)) <
                      0.999 * (double)cluster->radius;
            for (int j = 0; j < cluster->cut_count; j++)
                in = in && pl_v3_dot(p, pl_v3_from_floats(cluster->cuts[j].normal)) <
                               (double)cluster->cuts[j].offset - 1e-3 * (double)cluster->radius;
            hit = hit || in;
        }
        inside += hit;
        if (hit)
            assert_memory_not_equal(x + 3 * i, b.x + 3 * i, 3 * sizeof(float));
    }
    printf("%d of %d particles inside proxies, all moved\n", inside, b.c->n);
    assert_true(inside > 20);
    free(x);
    body_close(&b);
}

static void test_brute_force(void **state)
{
    (void)state;
    pl_mat3 turn = pl_quat_to_m3(pl_quat_normalise((pl_quat){0.3, -0.5, 0.2, 0.8}));
    check_by_brute_force(pl_m3_identity());
    check_by_brute_force(pl_m3_mul(turn, (pl_mat3){{{2.5, 0, 0}, {0, 0.7, 0}, {0, 0, 0.6}}}));
}

/* A bar cut through: halves that touch along the crack are at peace, and bear each other when
   pressed. */
static void test_broken_bar(void **state)
{
    (void)state;
    const double size[3] = {4, 1, 1};
    pl_clustered_def def = pl_default_clustered_def();
    def.toughness = 0.05;
    def.recluster = PL_RECLUSTER_NONE;
    body b;
    open_bar(&b, size, 900, 60, &def);
    /* Tear all clusters across x = 0 that a plane there passes, until there are two pieces. */
    int debris, rounds = 0;
    float *rest = malloc(3 * sizeof(float) * (size_t)b.capacity);
    while (body_pieces(&b, NULL, &debris) < 2 && rounds++ < 60) {
        for (int k = 0; k < b.c->count; k++) {
            pl_cluster *cluster = b.c->clusters + k;
            bool near =
                fabs(pl_clustered_refit(b.c, k, b.x).centre.x) < 0.5 * (double)cluster->radius;
            cluster->stretch = near ? 1.5f : 1;
            cluster->toughness = 0.05f;
            cluster->calm = 0;
        }
        memcpy(rest, b.x, 3 * sizeof(float) * (size_t)b.c->n);
        for (int i = 0; i < b.c->n; i++)
            b.x[3 * i] *= 1.5f;
        body_commit(&b, 1 / 60.0);
        for (int i = 0; i < b.c->n; i++)
            b.x[3 * i] /= 1.5f;
    }
    assert_true(body_pieces(&b, NULL, &debris) >= 2);
    body_check(&b);
    size_t bytes = 3 * sizeof(float) * (size_t)b.c->n;
    b.c->def.toughness = (double)INFINITY;
    memcpy(rest, b.x, bytes);
    pl_clustered_collide(b.c, b.x, rest, 1 / 60.0, 0.5, NULL);
    double most = 0;
    for (int j = 0; j < 3 * b.c->n; j++)
        most = fmax(most, fabs((double)b.x[j] - (double)rest[j]));
    printf("a bar cut through by %d rounds: at rest moved by %.3g at most\n", rounds, most);
    assert_true(most < 0.06);
    /* Pressed together for a second. */
    b.contact = true;
    memset(b.u, 0, bytes);
    for (int step = 0; step < 60; step++) {
        for (int i = 0; i < b.c->n; i++)
            b.push[3 * i] = b.x[3 * i] > 0 ? -2 : 2;
        body_step(&b, 1 / 60.0);
    }
    body_check(&b);
    double length = 0;
    for (int i = 0; i < b.c->n; i++)
        for (int j = 0; j < 8; j++)
            length = fmax(length, fabs((double)b.x[3 * i]));
    printf("  pressed together: from −2 … 2 to %.2f\n", length);
    assert_true(length > 1.6 && length < 2.4);
    free(rest);
    body_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_is_fixed),
        cmocka_unit_test(test_pieces_meet),
        cmocka_unit_test(test_momentum_and_friction),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_debris),
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_broken_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

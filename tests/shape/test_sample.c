/* Samples against brute force. Label: slow. */
#include "shape/sample.h"

#include "sample_cases.h"

/* Every third body is looked at, every fifth in slow builds, all when there is time. */
#define SHAPE_STEP (check_is_thorough() ? 1 : check_is_slow_build() ? 5 : 3)

static pl_samples must_sample(body_case *body, const pl_sample_def *def)
{
    pl_samples samples;
    pl_error error = {0};
    if (pl_sample_volume(&body->memory, body->surface, body->inside, def, &samples, &error) !=
        PL_OK)
        fail_msg("%s, %d: %s", body->name, def->count, error.text);
    return samples;
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static double nearest(const pl_samples *samples, const double *point, int except)
{
    double best = INFINITY;
    for (int i = 0; i < samples->count; i++)
        if (i != except)
            best = fmin(best, distance2(samples->points + 3 * i, point));
    return sqrt(best);
}

/* By brute force: all pairs, and random points of the volume. */
static void check_distances(const body_case *body, const pl_samples *samples, int points)
{
    pl_rng rng = pl_rng_make(5);
    int step = samples->count > 3000 ? samples->count / 3000 : 1;
    for (int i = 0; i < samples->count; i += step)
        if (!(nearest(samples, samples->points + 3 * i, i) >= samples->distance))
            fail_msg("%s: %g apart, not %g", body->name,
                     nearest(samples, samples->points + 3 * i, i), samples->distance);
    for (int n = 0; n < points; n++) {
        double point[3];
        if (!body_point(body, &rng, point))
            break;
        if (!(nearest(samples, point, -1) <= 2 * samples->distance))
            fail_msg("%s, %d: a gap of %g distances", body->name, samples->count,
                     nearest(samples, point, -1) / samples->distance);
    }
    for (int i = 0; i < samples->count; i++) {
        assert_true(pl_inside_test(body->inside, samples->points + 3 * i));
        assert_true(samples->component[i] >= 0 &&
                    samples->component[i] < body->surface->component_count);
        assert_int_equal(samples->triangle[i], -1);
    }
}

static void blue_noise_keeps_distance_fills_and_counts(void **state)
{
    (void)state;
    static const int counts[] = {12, 30, 100, 1000};
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        body_make(&body, shape, 1, NULL);
        for (int k = 0; k < 4; k++)
            for (int seed = 0; seed < (k == 0  ? check_rounds(2, 1)
                                       : k < 3 ? (shape + k) % 2
                                               : shape % (check_is_thorough() ? 4 : 14) == 0);
                 seed++) {
                pl_sample_def def = {.count = counts[k], .seed = (uint64_t)seed};
                pl_samples samples = must_sample(&body, &def);
                assert_true(fabs((double)samples.count - counts[k]) <= 0.1 * counts[k]);
                check_distances(&body, &samples, k < 3 ? 300 : 100);
                pl_samples_free(&body.memory, &samples);
            }
        body_free(&body);
    }
}

/* From one to the next, on average, in their least distance. */
static double mean_stride(const pl_samples *samples)
{
    double sum = 0;
    for (int i = 1; i < samples->count; i++) {
        const double *p = samples->points + 3 * (i - 1), *q = p + 3;
        sum += sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) +
                    (q[2] - p[2]) * (q[2] - p[2]));
    }
    return sum / (samples->count - 1) / samples->distance;
}

/* As they are found, one sample after the other is anywhere: many distances away. */
static void numbers_follow_places(void **state)
{
    (void)state;
    static const int shapes[] = {0, 5, 8};
    for (int s = 0; s < 3; s++) {
        body_case body;
        pl_sample_def def = {.count = 1500, .seed = 2};
        pl_samples on_surface;
        body_make(&body, shapes[s], 1, NULL);
        pl_samples inside = must_sample(&body, &def);
        assert_int_equal(pl_sample_surface(&body.memory, body.surface, &def, &on_surface, NULL),
                         PL_OK);
        assert_true(mean_stride(&inside) < 3);
        assert_true(mean_stride(&on_surface) < 3);
        pl_samples_free(&body.memory, &inside);
        pl_samples_free(&body.memory, &on_surface);
        body_free(&body);
    }
}

static void all_small_counts_are_met(void **state)
{
    (void)state;
    static const int shapes[] = {0, 3, 5, 6, 8, 12};
    for (int s = 0; s < 6; s++) {
        body_case body;
        body_make(&body, shapes[s], 1, NULL);
        for (int count = 1; count <= 24; count += s % 2 ? 5 : 4) {
            pl_sample_def def = {.count = count, .seed = (uint64_t)count};
            pl_samples samples = must_sample(&body, &def);
            assert_int_equal(samples.count, count);
            check_distances(&body, &samples, 100);
            pl_samples_free(&body.memory, &samples);
        }
        body_free(&body);
    }
}

static void large_counts_are_met(void **state)
{
    (void)state;
    const int counts[2] = {check_rounds(10000, 2000), check_rounds(100000, 10000)};
    for (int k = 0; k < 2; k++) {
        body_case body;
        body_make(&body, 2, 1, NULL);
        pl_sample_def def = {.count = counts[k], .seed = 3};
        pl_samples samples = must_sample(&body, &def);
        assert_true(fabs((double)samples.count - counts[k]) <= 0.1 * counts[k]);
        check_distances(&body, &samples, 300);
        pl_samples_free(&body.memory, &samples);
        body_free(&body);
    }
}

static void a_distance_is_kept(void **state)
{
    (void)state;
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        body_make(&body, shape, 1, NULL);
        for (int k = shape % 2; k < 2; k += 2) {
            pl_sample_def def = {.distance = body.surface->size / (k ? 17 : 6), .seed = 9};
            pl_samples samples = must_sample(&body, &def);
            assert_true(samples.distance == def.distance);
            check_distances(&body, &samples, 100);
            pl_samples_free(&body.memory, &samples);
        }
        body_free(&body);
    }
}

/* Thin ears far thinner than the distance have samples at their far ends, and every part has
   some. */
static void thin_and_separate_parts_get_samples(void **state)
{
    (void)state;
    body_case body;
    body_make(&body, 12, 1, NULL);
    for (int seed = 0; seed < 4; seed++) {
        pl_sample_def def = {.count = 30, .seed = (uint64_t)seed};
        pl_samples samples = must_sample(&body, &def);
        int ears[2] = {0, 0};
        for (int i = 0; i < samples.count; i++)
            if (samples.points[3 * i + 2] > 1.2)
                ears[samples.points[3 * i] > 0]++;
        assert_true(ears[0] >= 1 && ears[1] >= 1);
        pl_samples_free(&body.memory, &samples);
    }
    body_free(&body);
    body_make(&body, 6, 1, NULL);
    for (int seed = 0; seed < 4; seed++) {
        pl_sample_def def = {.count = 3 + 2 * seed, .seed = (uint64_t)seed};
        pl_samples samples = must_sample(&body, &def);
        int seen[3] = {0};
        for (int i = 0; i < samples.count; i++)
            seen[samples.component[i]]++;
        assert_true(seen[0] && seen[1] && seen[2]);
        pl_samples_free(&body.memory, &samples);
    }
    body_free(&body);
}

static void a_lattice_counts_and_fills(void **state)
{
    (void)state;
    static const int counts[] = {12, 30, 100, 1000};
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        pl_rng rng = pl_rng_make(1);
        body_make(&body, shape, 1, NULL);
        for (int k = shape % 2; k < (shape % 4 == 1 || check_is_thorough() ? 4 : 3); k += 2) {
            pl_sample_def def = {.sampling = PL_COOK_GRID, .count = counts[k]};
            pl_samples samples = must_sample(&body, &def);
            if (!(fabs((double)samples.count - counts[k]) <= 0.1 * counts[k]))
                fail_msg("%s: %d, not %d", body.name, samples.count, counts[k]);
            for (int n = 0; n < 100; n++) {
                double point[3];
                if (body_point(&body, &rng, point))
                    assert_true(nearest(&samples, point, -1) <= 2.5 * samples.distance);
            }
            for (int i = 0; i < samples.count; i++)
                assert_true(pl_inside_test(body.inside, samples.points + 3 * i));
            pl_samples_free(&body.memory, &samples);
        }
        body_free(&body);
    }
}

/* A cube in 4³ parts is exactly that. */
static void a_cube_gets_a_cubic_lattice(void **state)
{
    (void)state;
    body_case body;
    body_make(&body, 1, 1, NULL);
    pl_sample_def def = {.sampling = PL_COOK_GRID, .count = 64};
    pl_samples samples = must_sample(&body, &def);
    assert_int_equal(samples.count, 64);
    assert_true(fabs(samples.distance - 0.25) < 1e-3);
    for (int i = 0; i < 3 * samples.count; i++) {
        double at = samples.points[i] * 4 - 0.5;
        assert_true(fabs(at - floor(at + 0.5)) < 0.05);
    }
    pl_samples_free(&body.memory, &samples);
    body_free(&body);
}

static void the_same_seed_gives_the_same_samples(void **state)
{
    (void)state;
    for (int shape = 0; shape < BODY_CASES; shape += 5) {
        body_case body;
        body_make(&body, shape, 1, NULL);
        pl_sample_def def = {.count = 200, .seed = 77};
        pl_samples first = must_sample(&body, &def), second = must_sample(&body, &def);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.points, second.points, 24 * (size_t)first.count);
        def.seed = 78;
        pl_samples third = must_sample(&body, &def);
        assert_true(third.count != first.count ||
                    memcmp(first.points, third.points, 24 * (size_t)first.count) != 0);
        pl_samples_free(&body.memory, &first);
        pl_samples_free(&body.memory, &second);
        pl_samples_free(&body.memory, &third);
        body_free(&body);
    }
}

static void scale_and_place_do_not_matter(void **state)
{
    (void)state;
    static const double scales[] = {1e-9, 1e-3, 1e6, 1e9};
    for (int shape = 0; shape < 6; shape++)
        for (int s = shape % 2; s < 4; s += 2) {
            body_case body;
            const double offset[3] = {1000 * scales[s], -3000 * scales[s], 1e5 * scales[s]};
            body_make(&body, shape, scales[s], s % 2 ? offset : NULL);
            pl_sample_def def = {.count = 50, .seed = 1};
            pl_samples samples = must_sample(&body, &def);
            assert_int_equal(samples.count, 50);
            check_distances(&body, &samples, 50);
            pl_samples_free(&body.memory, &samples);
            body_free(&body);
        }
}

/* ---- Surfaces and curves ---- */

/* From its plane and, in parts of it, beyond its sides. */
static double distance_to_triangle(const body_case *body, int triangle, const double p[3])
{
    const int32_t *c = body->surface->triangles + 3 * triangle;
    double a[3], b[3], d[3], aa = 0, ab = 0, bb = 0, da = 0, db = 0, far = 0;
    for (int k = 0; k < 3; k++) {
        a[k] = body->surface->points[3 * c[1] + k] - body->surface->points[3 * c[0] + k];
        b[k] = body->surface->points[3 * c[2] + k] - body->surface->points[3 * c[0] + k];
        d[k] = p[k] - body->surface->points[3 * c[0] + k];
        aa += a[k] * a[k], ab += a[k] * b[k], bb += b[k] * b[k];
        da += d[k] * a[k], db += d[k] * b[k];
    }
    double det = aa * bb - ab * ab, u = (da * bb - db * ab) / det, v = (db * aa - da * ab) / det;
    for (int k = 0; k < 3; k++)
        far = fmax(far, fabs(d[k] - u * a[k] - v * b[k]));
    return fmax(far, fmax(fmax(-u, -v), u + v - 1));
}

static void surfaces_are_sampled(void **state)
{
    (void)state;
    static const int counts[] = {1, 12, 30, 100, 1000};
    for (int shape = 0; shape < BODY_CASES; shape += SHAPE_STEP) {
        body_case body;
        pl_rng rng = pl_rng_make(3);
        body_make(&body, shape, 1, NULL);
        for (int k = shape % 2; k < 5; k += 2) {
            pl_sample_def def = {.count = counts[k], .seed = 4};
            pl_samples samples;
            assert_int_equal(pl_sample_surface(&body.memory, body.surface, &def, &samples, NULL),
                             PL_OK);
            assert_int_equal(samples.count, counts[k]);
            for (int i = 0; i < samples.count; i += 1 + samples.count / 1000)
                assert_true(nearest(&samples, samples.points + 3 * i, i) >= samples.distance);
            for (int n = 0; n < 200; n++) {
                uint32_t t = pl_random_below(&rng, (uint32_t)body.surface->triangle_count);
                const int32_t *c = body.surface->triangles + 3 * t;
                double u = pl_random_double(&rng), v = pl_random_double(&rng) * (1 - u), p[3];
                for (int j = 0; j < 3; j++)
                    p[j] = (1 - u - v) * body.surface->points[3 * c[0] + j] +
                           u * body.surface->points[3 * c[1] + j] +
                           v * body.surface->points[3 * c[2] + j];
                assert_true(nearest(&samples, p, -1) <= 2 * samples.distance);
            }
            for (int i = 0; i < samples.count; i += 1 + samples.count / 300) {
                assert_true(pl_inside_closest(body.inside, samples.points + 3 * i, INFINITY, NULL,
                                              NULL) < 1e-9);
                assert_true(distance_to_triangle(&body, samples.triangle[i],
                                                 samples.points + 3 * i) < 1e-9);
                assert_int_equal(samples.component[i],
                                 body.surface->triangle_component[samples.triangle[i]]);
            }
            pl_samples_free(&body.memory, &samples);
        }
        body_free(&body);
    }
}

/* A star of three arms of lengths 1, 2 and 3, and a ring beside it. */
static void make_star_and_ring(body_case *body)
{
    raw_mesh raw = {0};
    int centre = raw_vertex(&raw, 0, 0, 0);
    for (int arm = 0; arm < 3; arm++) {
        int last = centre;
        for (int k = 1; k <= 10; k++) {
            double at = (arm + 1) * k / 10.0;
            int next = raw_vertex(&raw, arm == 0 ? at : 0, arm == 1 ? at : 0, arm == 2 ? at : 0);
            raw_line(&raw, last, next);
            last = next;
        }
    }
    int first = raw.vertex_count;
    for (int k = 0; k < 60; k++)
        raw_vertex(&raw, 10 + cos(2 * CASE_PI * k / 60), sin(2 * CASE_PI * k / 60), 0);
    for (int k = 0; k < 60; k++)
        raw_line(&raw, first + k, first + (k + 1) % 60);
    body_from_raw(body, "star and ring", raw);
}

static void curves_are_sampled_in_equal_steps(void **state)
{
    (void)state;
    body_case body;
    make_star_and_ring(&body);
    for (int count = 12; count < 400; count += 7) {
        pl_sample_def def = {.count = count};
        pl_samples samples;
        assert_int_equal(pl_sample_curves(&body.memory, body.surface, &def, &samples, NULL), PL_OK);
        assert_int_equal(samples.count, count);
        const double ends[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
        for (int e = 0; e < 4; e++)
            assert_true(nearest(&samples, ends[e], -1) == 0);
        for (int i = 0; i < samples.count; i++) {
            double near = nearest(&samples, samples.points + 3 * i, i);
            assert_true(near > 0.5 * samples.distance && near < 1.6 * samples.distance);
        }
        pl_samples_free(&body.memory, &samples);
    }
    body_free(&body);
}

static void a_slender_surface_has_a_centreline(void **state)
{
    (void)state;
    body_case body;
    body_make(&body, 8, 1, NULL);
    pl_sample_def def = {.count = 20};
    pl_samples samples;
    assert_int_equal(pl_sample_curves(&body.memory, body.surface, &def, &samples, NULL), PL_OK);
    assert_int_equal(samples.count, 20);
    for (int i = 0; i < 20; i++) {
        double x = samples.points[3 * i], along = samples.points[0] < 5 ? x : 10 - x;
        assert_true(fabs(along - (i + 0.5) * 0.5) < 1e-3);
        assert_true(fabs(samples.points[3 * i + 1] - 0.05) < 1e-2);
        assert_true(fabs(samples.points[3 * i + 2] - 0.05) < 1e-2);
    }
    pl_samples_free(&body.memory, &samples);
    body_free(&body);
}

/* ---- What goes wrong ---- */

static bool stop_at_once(void *user, double part)
{
    ++*(int *)user;
    assert_true(part >= 0 && part <= 1);
    return false;
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    body_case body;
    pl_samples samples;
    body_make(&body, 0, 1, NULL);
    const pl_sample_def bad[] = {{.count = -1},     {.count = 0},           {.distance = -1},
                                 {.distance = NAN}, {.distance = INFINITY}, {.count = 1000000000},
                                 {.distance = 1e-6}};
    for (int k = 0; k < 7; k++) {
        pl_error error = {0};
        assert_int_equal(
            pl_sample_volume(&body.memory, body.surface, body.inside, &bad[k], &samples, &error),
            PL_ERROR_ARGUMENT);
        assert_true(error.text[0] != 0);
        assert_null(samples.points);
        assert_int_equal(pl_sample_surface(&body.memory, body.surface, &bad[k], &samples, NULL),
                         PL_ERROR_ARGUMENT);
    }
    int calls = 0;
    pl_sample_def def = {.count = 100, .progress = stop_at_once, .progress_user = &calls};
    assert_int_equal(
        pl_sample_volume(&body.memory, body.surface, body.inside, &def, &samples, NULL),
        PL_ERROR_STATE);
    assert_int_equal(calls, 1);
    body_free(&body);
}

typedef pl_status sampler(body_case *body, const pl_sample_def *def, pl_samples *samples);

static pl_status in_volume(body_case *body, const pl_sample_def *def, pl_samples *samples)
{
    return pl_sample_volume(&body->memory, body->surface, body->inside, def, samples, NULL);
}

static pl_status on_surface(body_case *body, const pl_sample_def *def, pl_samples *samples)
{
    return pl_sample_surface(&body->memory, body->surface, def, samples, NULL);
}

static pl_status on_curves(body_case *body, const pl_sample_def *def, pl_samples *samples)
{
    return pl_sample_curves(&body->memory, body->surface, def, samples, NULL);
}

/* Every allocation fails once. */
static void check_failures(body_case *body, sampler *sample, const pl_sample_def *def)
{
    size_t used = body->memory.used;
    for (int64_t n = 0;; n++) {
        pl_samples samples;
        body->memory.fail_at = (int64_t)body->memory.allocations + n;
        pl_status status = sample(body, def, &samples);
        body->memory.fail_at = -1;
        if (status == PL_OK) {
            assert_true(n > 3);
            pl_samples_free(&body->memory, &samples);
        } else {
            assert_int_equal(status, PL_ERROR_MEMORY);
        }
        assert_int_equal(body->memory.used, used);
        if (status == PL_OK)
            return;
    }
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    body_case body;
    pl_sample_def def = {.count = 20, .seed = 1};
    body_make(&body, 8, 1, NULL);
    check_failures(&body, in_volume, &def);
    check_failures(&body, on_surface, &def);
    check_failures(&body, on_curves, &def);
    def.sampling = PL_COOK_GRID;
    check_failures(&body, in_volume, &def);
    body_free(&body);
    make_star_and_ring(&body);
    check_failures(&body, on_curves, &def);
    body_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blue_noise_keeps_distance_fills_and_counts),
        cmocka_unit_test(numbers_follow_places),
        cmocka_unit_test(all_small_counts_are_met),
        cmocka_unit_test(large_counts_are_met),
        cmocka_unit_test(a_distance_is_kept),
        cmocka_unit_test(thin_and_separate_parts_get_samples),
        cmocka_unit_test(a_lattice_counts_and_fills),
        cmocka_unit_test(a_cube_gets_a_cubic_lattice),
        cmocka_unit_test(the_same_seed_gives_the_same_samples),
        cmocka_unit_test(scale_and_place_do_not_matter),
        cmocka_unit_test(surfaces_are_sampled),
        cmocka_unit_test(curves_are_sampled_in_equal_steps),
        cmocka_unit_test(a_slender_surface_has_a_centreline),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

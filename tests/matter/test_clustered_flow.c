/* Plastic flow: the formula, volume, hardening, and what must not flow. */
#include <stdio.h>

#include "support/check.h"

#include "matter/clustered_cases.h"
#include "matter/plastic.h"

/* One cluster of forty particles. */
static pl_clustered *make(body_case *b, const pl_clustered_def *def)
{
    pl_clustered *c;
    pl_rng rng = pl_rng_make(11);
    case_random(b, &rng, 40, 1);
    pl_clustered_source source = case_source(b);
    assert_int_equal(pl_clustered_create(&memory, &source, def, &c, NULL), PL_OK);
    return c;
}

static pl_mat3 of_floats(const float *f)
{
    pl_mat3 m;
    for (int k = 0; k < 9; k++)
        m.m[k / 3][k % 3] = (double)f[k];
    return m;
}

/* Every particle at F p. */
static void fit_to(pl_clustered *c, const body_case *b, pl_mat3 f, double h)
{
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    for (int i = 0; i < b->n; i++) {
        pl_vec3 at = pl_m3_mul_v3(f, ref_at(b->rest, i));
        x[3 * i] = (float)at.x, x[3 * i + 1] = (float)at.y, x[3 * i + 2] = (float)at.z;
    }
    pl_clustered_motion m = {.h = h, .from = x, .u = u, .x = out};
    pl_clustered_solve(c, &m, NULL);
}

static pl_mat3 random_matrix(pl_rng *rng, double size)
{
    pl_mat3 a;
    for (int k = 0; k < 9; k++)
        a.m[k / 3][k % 3] = size * (2 * pl_random_double(rng) - 1);
    return a;
}

static double condition_of(pl_mat3 a)
{
    pl_mat3 u, v;
    double s[3];
    ref_svd(a, &u, s, &v);
    return s[0] / fabs(s[2]);
}

/* ‖(F*)^power − I‖ of Fᵉ. */
static double measure_of(pl_mat3 elastic, double power)
{
    pl_mat3 u, v;
    double s[3], sum = 0;
    ref_svd(elastic, &u, s, &v);
    double scale = cbrt(s[0] * s[1] * s[2]);
    for (int k = 0; k < 3; k++) {
        double e = pow(s[k] / scale, power) - 1;
        sum += e * e;
    }
    return sqrt(sum);
}

/* After a flow the measure of the same deformation is ‖(F*)^(1 − γ) − I‖. */
static void test_measure_after_flow(void **state)
{
    (void)state;
    static body_case b;
    pl_rng rng = pl_rng_make(21);
    for (int round = 0; round < check_rounds(2000, 300); round++) {
        pl_clustered_def def = case_def();
        def.yield = 0.3 * pl_random_double(&rng);
        def.raw_flow = pl_random_double(&rng);
        def.strain_limit = 0;
        pl_clustered *c = make(&b, &def);
        pl_mat3 f = pl_m3_mul(ref_polar(random_matrix(&rng, 1)),
                              pl_m3_add(pl_m3_identity(), random_matrix(&rng, 0.4)));
        if (pl_m3_det(f) < 0.2) {
            pl_clustered_destroy(c);
            continue;
        }
        for (int step = 0; step < 3; step++) {
            pl_mat3 before = pl_m3_mul(f, ref_inverse(of_floats(c->clusters->plastic)));
            double norm = measure_of(before, 1), limit = def.yield;
            fit_to(c, &b, f, 0.01);
            assert_true(c->clusters->flows == (norm > limit));
            double gamma = norm > limit ? def.raw_flow * (norm - limit) / norm : 0;
            memcpy(c->clusters->plastic, c->clusters->flow, sizeof c->clusters->flow);
            pl_mat3 after = pl_m3_mul(f, ref_inverse(of_floats(c->clusters->plastic)));
            assert_float_equal(measure_of(after, 1), measure_of(before, 1 - gamma), 5e-6);
            /* Fᵖ has no spurious rotation after one flow from I: it is symmetric. */
            pl_mat3 p = of_floats(c->clusters->plastic);
            for (int i = 0; step == 0 && i < 3; i++)
                for (int j = 0; j < i; j++)
                    assert_float_equal(p.m[i][j], p.m[j][i], 1e-6);
        }
        pl_clustered_destroy(c);
    }
}

static void test_volume_kept(void **state)
{
    (void)state;
    static body_case b;
    pl_rng rng = pl_rng_make(22);
    pl_clustered_def def = case_def();
    def.yield = 0;
    def.strain_limit = 0;
    double worst = 0, most = 0;
    int flows = 0;
    pl_clustered *c = make(&b, &def);
    for (int round = 0; flows < 10000; round++) {
        c->def.raw_flow = pl_random_double(&rng);
        pl_mat3 f = pl_m3_add(pl_m3_identity(), random_matrix(&rng, 0.5));
        pl_mat3 before = of_floats(c->clusters->plastic);
        fit_to(c, &b, pl_m3_mul(f, before), 0.01);
        if (!c->clusters->flows || condition_of(of_floats(c->clusters->flow)) > 10)
            continue;
        flows++;
        memcpy(c->clusters->plastic, c->clusters->flow, sizeof c->clusters->flow);
        pl_mat3 p = of_floats(c->clusters->plastic);
        worst = fmax(worst, fabs(pl_m3_det(p) - 1));
        most = fmax(most, condition_of(p));
    }
    printf("10,000 flows: det off by at most %.1e, condition up to %.1f\n", worst, most);
    assert_true(most > 8);
    assert_true(worst < 1e-5);
    pl_clustered_destroy(c);
}

/* `worked` is the time times the strain; hardening raises the limit by it, softening lowers it, to
   zero at most. */
static void test_hardening(void **state)
{
    (void)state;
    static body_case b;
    pl_clustered_def def = case_def();
    def.yield = 0.1, def.raw_flow = 0.5, def.strain_limit = 0, def.hardening = 1;
    pl_clustered *c = make(&b, &def);
    pl_mat3 f = pl_m3_diagonal(1.2, 1, 1 / 1.2);
    double strain = sqrt(0.04 + (1 - 1 / 1.2) * (1 - 1 / 1.2));
    fit_to(c, &b, f, 0.25);
    assert_true(c->clusters->flows);
    assert_float_equal(c->clusters->worked, 0.25 * strain, 1e-6);
    fit_to(c, &b, f, 0.25); /* not committed: the same again */
    fit_to(c, &b, f, 0.25);
    assert_float_equal(c->clusters->worked, 0.75 * strain, 1e-6);
    assert_true(c->clusters->flows); /* 0.1 + 0.13 < strain */
    fit_to(c, &b, f, 0.25);
    assert_false(c->clusters->flows); /* 0.1 + 0.195 > 0.26 */
    c->def.hardening = -100;
    fit_to(c, &b, pl_m3_diagonal(1.001, 1, 1), 0.25);
    assert_true(c->clusters->flows);
    double gone = measure_of(pl_m3_diagonal(1.001, 1, 1), 0.5);
    memcpy(c->clusters->plastic, c->clusters->flow, sizeof c->clusters->flow);
    pl_mat3 after =
        pl_m3_mul(pl_m3_diagonal(1.001, 1, 1), ref_inverse(of_floats(c->clusters->plastic)));
    assert_float_equal(measure_of(after, 1), gone, 1e-6);
    pl_clustered_destroy(c);
}

/* Nothing flows in a cluster that is inside out or nearly flat; its rotation is one. */
static void test_inverted(void **state)
{
    (void)state;
    static body_case b;
    static const double third[] = {-1, -0.3, -1e-5, 0, 1e-6, 1e-4};
    pl_clustered_def def = case_def();
    def.yield = 0, def.raw_flow = 1, def.strain_limit = 0;
    for (size_t k = 0; k < sizeof third / sizeof third[0]; k++)
        for (int squares = 0; squares < 2; squares++) {
            def.rotation = squares ? PL_ROTATION_LEAST_SQUARES : PL_ROTATION_OF_GRADIENT;
            pl_clustered *c = make(&b, &def);
            fit_to(c, &b, pl_m3_diagonal(1.5, 1, third[k]), 0.01);
            assert_false(c->clusters->flows);
            assert_float_equal(pl_m3_det(of_floats(c->clusters->rotation)), 1, 1e-5);
            assert_float_equal(c->clusters->stretch, 1.5, 1e-5);
            assert_float_equal(fabs(c->clusters->pull[0]), 1, 1e-5);
            pl_clustered_destroy(c);
        }
}

/* The direction of the largest stretch is that of the world, in a body that is turned. */
static void test_pull(void **state)
{
    (void)state;
    static body_case b;
    pl_rng rng = pl_rng_make(23);
    pl_clustered_def def = case_def();
    def.strain_limit = 0;
    for (int round = 0; round < 50; round++) {
        pl_clustered *c = make(&b, &def);
        pl_mat3 r = ref_polar(random_matrix(&rng, 1)), q = ref_polar(random_matrix(&rng, 1));
        pl_mat3 f = pl_m3_mul(pl_m3_mul(r, pl_m3_diagonal(1.7, 1.1, 0.9)), q);
        fit_to(c, &b, f, 0.01);
        pl_vec3 pull = pl_v3(c->clusters->pull[0], c->clusters->pull[1], c->clusters->pull[2]);
        assert_float_equal(fabs(pl_v3_dot(pull, pl_m3_column(r, 0))), 1, 1e-5);
        assert_float_equal(c->clusters->stretch, 1.7, 1e-5);
        pl_clustered_destroy(c);
    }
}

/* The flow is that of the shape: the same at any size, and none where a singular value is no
   number. */
static void test_any_size(void **state)
{
    (void)state;
    const double v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, wrong[] = {(double)INFINITY, (double)NAN, 0};
    for (double a = 1e-6; a < 1e6; a *= 1.01)
        assert_float_equal(pl_inverse_cube_root(a) * cbrt(a), 1, 2e-15);
    for (int power = -1000; power <= 1000; power += 100) {
        double size = ldexp(1, power);
        pl_mat3 plastic = pl_m3_identity();
        assert_true(pl_plastic_flow((double[3]){2 * size, size, size / 2}, v, 0.5, 0, &plastic));
        assert_float_equal(plastic.m[0][0], sqrt(2), 1e-14);
        assert_float_equal(plastic.m[1][1], 1, 1e-14);
        assert_float_equal(plastic.m[2][2], sqrt(0.5), 1e-14);
    }
    for (int k = 0; k < 3; k++) {
        pl_mat3 plastic = pl_m3_identity();
        assert_false(pl_plastic_flow((double[3]){wrong[k], 1, 0.5}, v, 1, 0, &plastic));
        assert_false(pl_plastic_flow((double[3]){wrong[k], wrong[k], wrong[k]}, v, 1, 0, &plastic));
    }
}

/* The condition of what is singular, too large for a number or none is above every threshold. */
static void test_condition(void **state)
{
    (void)state;
    const double worst[][2] = {{0, 0}, {1, 0}, {1e300, 1e-300}, {(double)INFINITY, 1}};
    pl_mat3 plastic = pl_m3_identity();
    assert_float_equal(pl_condition(plastic), 1, 1e-12);
    for (size_t k = 0; k < sizeof worst / sizeof worst[0]; k++) {
        plastic.m[0][0] = worst[k][0], plastic.m[1][1] = plastic.m[2][2] = worst[k][1];
        assert_true(pl_condition(plastic) > 1e30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measure_after_flow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_volume_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hardening, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inverted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pull, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_condition, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

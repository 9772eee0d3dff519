/* Clustered matter with examples (METHODS §4): rings of a lattice. Poses and blends of them are
   recognised, wherever the body is; it returns to rest; what is conserved is; groups mind their own
   business. */
#include "support/check.h"

#include "math/quat.h"
#include "math/simd.h"
#include "matter/clustered_cases.h"
#include "matter/examples.h"

enum { MOST_POSES = 5 };

/* A lattice with rings: along the axes, and across faces for every other node (five tetrahedra a
   cell). */
typedef struct block {
    int n, count[3];
    float rest[3 * CASE_PARTICLES], mass[CASE_PARTICLES], radius[CASE_PARTICLES];
    int32_t start[CASE_PARTICLES + 1], member[20 * CASE_PARTICLES];
    float raw[20 * CASE_PARTICLES], radii[CASE_PARTICLES];
} block;

static int node(const block *b, int i, int j, int k)
{
    return (i * b->count[1] + j) * b->count[2] + k;
}

static void add_ring(block *b, int at)
{
    int i = at / (b->count[1] * b->count[2]), j = at / b->count[2] % b->count[1];
    int k = at % b->count[2], used = b->start[at];
    for (int o = 0; o < 27; o++) {
        int d[3] = {o / 9 - 1, o / 3 % 3 - 1, o % 3 - 1}, far = abs(d[0]) + abs(d[1]) + abs(d[2]);
        int x = i + d[0], y = j + d[1], z = k + d[2];
        if (far > 2 || (far == 2 && (i + j + k) % 2 == 0) || x < 0 || y < 0 || z < 0 ||
            x >= b->count[0] || y >= b->count[1] || z >= b->count[2])
            continue;
        b->member[used] = node(b, x, y, z);
        b->raw[used++] = 1;
    }
    b->start[at + 1] = used;
}

static block *make_block(int nx, int ny, int nz)
{
    block *b = calloc(1, sizeof *b);
    *b = (block){.n = nx * ny * nz, .count = {nx, ny, nz}};
    for (int i = 0; i < b->n; i++) {
        int place[3] = {i / (ny * nz), i / nz % ny, i % nz};
        for (int k = 0; k < 3; k++)
            b->rest[3 * i + k] = (float)(place[k] - 0.5 * (b->count[k] - 1));
        b->mass[i] = 1 + 0.2f * (float)(i % 3), b->radius[i] = 0.3f, b->radii[i] = 1;
    }
    for (int i = 0; i < b->n; i++)
        add_ring(b, i);
    return b;
}

static pl_clustered *make_limited(const block *b, double damping, double limit)
{
    pl_clustered *c;
    pl_clustered_def def = case_def();
    def.strain_limit = limit;
    def.damping = damping;
    def.rotation = PL_ROTATION_LEAST_SQUARES;
    pl_clustered_source source = {b->n,     b->rest,   b->mass, b->radius, b->n,
                                  b->start, b->member, b->raw,  b->radii};
    assert_int_equal(pl_clustered_create(&memory, &source, &def, &c, NULL), PL_OK);
    return c;
}

static pl_clustered *make_body(const block *b, double damping)
{
    return make_limited(b, damping, 0);
}

/* ---- Poses ----------------------------------------------------------------------------------- */

typedef void warp(const float *rest, double much, double out[3]);

static void twisted(const float *r, double much, double out[3])
{
    double a = 0.25 * much * r[2];
    out[0] = cos(a) * r[0] - sin(a) * r[1];
    out[1] = sin(a) * r[0] + cos(a) * r[1];
    out[2] = (1 - 0.2 * much) * r[2];
}

static void bent(const float *r, double much, double out[3])
{
    double a = 0.15 * much * r[2], radius = 1 / (0.15 * much);
    out[0] = r[0] * cos(a) + radius * (1 - cos(a));
    out[1] = r[1];
    out[2] = (radius - r[0]) * sin(a);
}

/* Symmetric and positive definite: a stretch itself. */
static const double stretches[3][9] = {{1.3, 0.1, 0, 0.1, 0.8, 0, 0, 0, 1},
                                       {0.9, 0, 0.15, 0, 1, 0.05, 0.15, 0.05, 1.2},
                                       {1, -0.2, 0, -0.2, 1.1, 0.1, 0, 0.1, 0.7}};

static void apply(const block *b, warp *how, double much, pl_mat3 turn, pl_vec3 shift, float *x)
{
    for (int i = 0; i < b->n; i++) {
        double to[3];
        how(b->rest + 3 * i, much, to);
        pl_v3_to_floats(pl_v3_add(pl_m3_mul_v3(turn, pl_v3(to[0], to[1], to[2])), shift),
                        x + 3 * i);
    }
}

static void stretch_by(const block *b, const double a[9], pl_mat3 turn, float *x)
{
    pl_mat3 m;
    memcpy(m.m, a, sizeof m.m);
    for (int i = 0; i < b->n; i++)
        pl_v3_to_floats(pl_m3_mul_v3(turn, pl_m3_mul_v3(m, ref_at(b->rest, i))), x + 3 * i);
}

static pl_mat3 some_turn(void)
{
    return pl_quat_to_m3(pl_quat_normalise((pl_quat){0.3, -0.5, 0.2, 0.8}));
}

static pl_examples *examples_of(const pl_clustered *c, int poses, float (*x)[3 * CASE_PARTICLES],
                                int groups, const int32_t *group, double beta, pl_example_rule rule)
{
    static float d[MOST_POSES * 6 * CASE_PARTICLES], weight[CASE_PARTICLES];
    for (int k = 0; k < poses; k++)
        pl_clustered_describe(c, x[k], d + 6 * k * c->count, weight);
    pl_examples_source source = {.element_count = c->count,
                                 .width = 6,
                                 .pose_count = poses,
                                 .poses = d,
                                 .weight = weight,
                                 .group_count = groups,
                                 .group = group,
                                 .beta = beta,
                                 .rule = rule};
    pl_examples *e;
    assert_int_equal(pl_examples_create(&memory, &source, &e, NULL), PL_OK);
    return e;
}

static void give(pl_clustered *c, pl_examples *e)
{
    assert_int_equal(pl_clustered_set_examples(c, e, NULL), PL_OK);
}

static void step(pl_clustered *c, double h, const float *x, const float *u, float *out)
{
    pl_clustered_motion m = {.h = h, .from = x, .u = u, .x = out};
    pl_clustered_solve(c, &m, NULL);
}

/* Weights that positions x lead to. */
static const float *look(pl_clustered *c, const float *x)
{
    static float u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    step(c, 0.01, x, u, out);
    return pl_examples_weights(pl_clustered_examples(c));
}

static float poses[MOST_POSES][3 * CASE_PARTICLES];

static const double beta = 0.995;

/* ---- What is recognised ---------------------------------------------------------------------- */

static void expect_stretch(const pl_clustered *c, int k, const float *pose)
{
    static float d[6 * CASE_PARTICLES], weight[CASE_PARTICLES];
    static const int at[6] = {0, 4, 8, 5, 2, 1};
    (void)k;
    pl_clustered_describe(c, pose, d, weight);
    for (int i = 0; i < c->count; i++) {
        float s[9];
        pl_clustered_stretch(c, c->clusters + i, s);
        for (int j = 0; j < 6; j++) {
            double wanted = beta * d[6 * i + j] * (j < 3 ? 1 : sqrt(0.5)) + (j < 3);
            assert_true(fabs(s[at[j]] - wanted) < 3e-5);
        }
    }
}

static void test_a_body_in_a_pose_has_its_stretch(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static int32_t own[CASE_PARTICLES];
    for (int i = 0; i < b->n; i++)
        own[i] = i;
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, some_turn(), pl_v3(3, 4, 5), poses[1]);
    for (int local = 0; local < 2; local++)
        for (int rule = PL_EXAMPLES_AUTO; rule <= PL_EXAMPLES_NEAREST; rule++) {
            pl_clustered *c = make_body(b, 1);
            give(c, examples_of(c, 2, poses, local ? b->n : 1, local ? own : NULL, beta,
                                (pl_example_rule)rule));
            for (int k = 0; k < 2; k++) {
                static float x[3 * CASE_PARTICLES];
                apply(b, k ? bent : twisted, 1, some_turn(), pl_v3(1, -2, 3), x);
                const float *w = look(c, x);
                for (int j = 0; j < 2 && !local; j++)
                    assert_true(fabs(w[j] - (j == k ? beta : 0)) < 1e-4);
                expect_stretch(c, k, x);
            }
            pl_clustered_destroy(c);
        }
    free(b);
}

static void test_a_blend_of_stretches_is_that_blend(void **state)
{
    (void)state;
    static const double wanted[3] = {0.2, 0.5, 0.15};
    block *b = make_block(4, 4, 7);
    double a[9];
    static float x[3 * CASE_PARTICLES];
    for (int k = 0; k < 3; k++)
        stretch_by(b, stretches[k], pl_m3_identity(), poses[k]);
    for (int i = 0; i < 9; i++) {
        a[i] = i % 4 == 0;
        for (int k = 0; k < 3; k++)
            a[i] += wanted[k] * (stretches[k][i] - (i % 4 == 0));
    }
    for (int turned = 0; turned < 2; turned++) {
        pl_clustered *c = make_body(b, 1);
        give(c, examples_of(c, 3, poses, 1, NULL, beta, PL_EXAMPLES_AUTO));
        stretch_by(b, a, turned ? some_turn() : pl_m3_identity(), x);
        const float *w = look(c, x);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(w[k] - beta * wanted[k]) < 1e-5);
        pl_clustered_destroy(c);
    }
    free(b);
}

/* The same body, poses and state with other axes at rest. */
static void test_axes_do_not_matter(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7), *turned = make_block(4, 4, 7);
    static float x[3 * CASE_PARTICLES];
    double weights[2][3];
    for (int i = 0; i < b->n; i++)
        pl_v3_to_floats(pl_m3_mul_v3(some_turn(), ref_at(b->rest, i)), turned->rest + 3 * i);
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    stretch_by(b, stretches[2], pl_m3_identity(), poses[2]);
    for (int i = 0; i < 3 * b->n; i++)
        x[i] = 0.3f * poses[0][i] + 0.4f * poses[1][i] + 0.3f * poses[2][i];
    for (int which = 0; which < 2; which++) {
        pl_clustered *c = make_body(which ? turned : b, 1);
        give(c, examples_of(c, 3, poses, 1, NULL, beta, PL_EXAMPLES_SIMPLEX));
        const float *w = look(c, x);
        for (int k = 0; k < 3; k++)
            weights[which][k] = w[k];
        pl_clustered_destroy(c);
    }
    assert_true(weights[0][0] > 0.05 && weights[0][1] > 0.05);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(weights[0][k] - weights[1][k]) < 1e-5);
    free(b), free(turned);
}

static void test_halves_mind_their_own_business(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 12);
    static int32_t half[CASE_PARTICLES];
    static float x[3 * CASE_PARTICLES];
    for (int i = 0; i < b->n; i++)
        half[i] = b->rest[3 * i + 2] > 0;
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    for (int i = 0; i < b->n; i++) { /* the upper half alone, from one cell above the border on */
        double up = b->rest[3 * i + 2] - 1.5;
        memcpy(x + 3 * i, b->rest + 3 * i, 3 * sizeof(float));
        if (up <= 0)
            continue;
        x[3 * i] = (float)(cos(0.25 * up) * b->rest[3 * i] - sin(0.25 * up) * b->rest[3 * i + 1]);
        x[3 * i + 1] =
            (float)(sin(0.25 * up) * b->rest[3 * i] + cos(0.25 * up) * b->rest[3 * i + 1]);
        x[3 * i + 2] = (float)(1.5 + 0.8 * up);
    }
    for (int rule = PL_EXAMPLES_SIMPLEX; rule <= PL_EXAMPLES_NEAREST; rule++) {
        pl_clustered *c = make_body(b, 1);
        give(c, examples_of(c, 2, poses, 2, half, beta, (pl_example_rule)rule));
        const float *w = look(c, x);
        assert_true(w[0] < 1e-6 && w[1] < 1e-6); /* the lower half */
        assert_true(w[2] > 0.5);
        pl_clustered_destroy(c);
    }
    free(b);
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* Rest to what the positions are but for a rotation: the largest distance left. */
static double off_rest(const block *b, const float *x)
{
    pl_mat3 a = pl_m3_zero();
    pl_vec3 centre = pl_v3(0, 0, 0), rest = centre;
    double most = 0;
    for (int i = 0; i < b->n; i++) {
        centre = pl_v3_add_scaled(centre, 1.0 / b->n, ref_at(x, i));
        rest = pl_v3_add_scaled(rest, 1.0 / b->n, ref_at(b->rest, i));
    }
    for (int i = 0; i < b->n; i++)
        a = pl_m3_add_scaled(
            a, 1,
            pl_m3_outer(pl_v3_sub(ref_at(x, i), centre), pl_v3_sub(ref_at(b->rest, i), rest)));
    pl_mat3 r = ref_polar(a);
    for (int i = 0; i < b->n; i++)
        most = fmax(most,
                    pl_v3_length(pl_v3_sub(pl_v3_sub(ref_at(x, i), centre),
                                           pl_m3_mul_v3(r, pl_v3_sub(ref_at(b->rest, i), rest)))));
    return most;
}

static void go_on(pl_clustered *c, double h, float *x, float *u)
{
    static float out[3 * CASE_PARTICLES];
    step(c, h, x, u, out);
    for (int i = 0; i < 3 * c->n; i++) {
        u[i] = (float)((out[i] - x[i]) / h);
        x[i] = out[i];
    }
}

static void test_without_load_it_returns_to_rest(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    block *b = make_block(4, 4, 7);
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    static int32_t own[CASE_PARTICLES];
    for (int i = 0; i < b->n; i++)
        own[i] = i;
    for (int local = 0; local < 2; local++) {
        static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
        pl_clustered *c = make_body(b, 3);
        give(c,
             examples_of(c, 2, poses, local ? b->n : 1, local ? own : NULL, 0.9, PL_EXAMPLES_AUTO));
        memcpy(x, poses[0], sizeof x);
        memset(u, 0, sizeof u);
        double before = off_rest(b, x);
        for (int s = 0; s < 8000; s++)
            go_on(c, 0.01, x, u);
        assert_true(before > 0.5);
        assert_true(off_rest(b, x) < 1e-3 * before);
        pl_clustered_destroy(c);
    }
    free(b);
}

static double kinetic(const block *b, const float *u)
{
    double sum = 0;
    for (int i = 0; i < 3 * b->n; i++)
        sum += 0.5 * b->mass[i / 3] * u[i] * u[i];
    return sum;
}

/* The method alone: nothing is damped, and nothing grows. */
static void test_undamped_energy_stays_bounded(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    const double h = 0.01;
    pl_clustered *c = make_body(b, 0);
    apply(b, twisted, 0.5, pl_m3_identity(), pl_v3(0, 0, 0), x);
    memset(u, 0, sizeof u);
    double first = pl_clustered_elastic(c, x, h) / (h * h), most = 0;
    for (int s = 0; s < check_rounds(6000, 6000); s++) {
        go_on(c, h, x, u);
        if (s % 10 == 0)
            most = fmax(most, kinetic(b, u) + pl_clustered_elastic(c, x, h) / (h * h));
    }
    assert_true(first > 1);
    if (!(most < 1.5 * first))
        fail_msg("%g became %g", first, most);
    pl_clustered_destroy(c);
    free(b);
}

static pl_vec3 spin(const block *b, const float *x, const float *u)
{
    pl_vec3 sum = pl_v3(0, 0, 0);
    for (int i = 0; i < b->n; i++)
        sum = pl_v3_add_scaled(sum, b->mass[i], pl_v3_cross(ref_at(x, i), ref_at(u, i)));
    return sum;
}

static void test_momenta_are_kept_with_examples(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    pl_clustered *c = make_body(b, 1);
    give(c, examples_of(c, 2, poses, 1, NULL, beta, PL_EXAMPLES_NEAREST));
    memcpy(x, poses[1], sizeof x);
    for (int i = 0; i < b->n; i++) /* spins about a slanted axis */
        pl_v3_to_floats(pl_v3_cross(pl_v3(1, 2, 0.5), ref_at(x, i)), u + 3 * i);
    pl_vec3 before = spin(b, x, u), after;
    for (int s = 0; s < 500; s++)
        go_on(c, 0.005, x, u);
    /* x_new × u differs from x_old × u by nothing: u is along x_new − x_old. */
    after = spin(b, x, u);
    assert_true(pl_v3_length(pl_v3_sub(after, before)) < 1e-4 * pl_v3_length(before));
    pl_clustered_destroy(c);
    free(b);
}

/* ---- Bad poses, bits, memory ----------------------------------------------------------------- */

static void test_flat_and_inverted_poses_are_defined(void **state)
{
    (void)state;
    static const double bad[4][9] = {{1, 0, 0, 0, 0, 0, 0, 0, 1},  /* a sheet */
                                     {0, 0, 0, 0, 0, 0, 0, 0, 0},  /* a point */
                                     {1, 0, 0, 0, 1, 0, 0, 0, -1}, /* inside out */
                                     {1, 0, 0, 0, 0, 0, 0, 0, 0}}; /* a line */
    block *b = make_block(4, 4, 4);
    for (int k = 0; k < 4; k++)
        stretch_by(b, bad[k], pl_m3_identity(), poses[k]);
    for (int local = 0; local < 2; local++) {
        static int32_t own[CASE_PARTICLES];
        static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
        for (int i = 0; i < b->n; i++)
            own[i] = i;
        pl_clustered *c = make_body(b, 5);
        give(c, examples_of(c, 4, poses, local ? b->n : 1, local ? own : NULL, 0.9,
                            PL_EXAMPLES_NEAREST));
        for (int k = 0; k < 4; k++) {
            memcpy(x, poses[k], sizeof x);
            memset(u, 0, sizeof u);
            for (int s = 0; s < 100; s++)
                go_on(c, 0.01, x, u);
            for (int i = 0; i < 3 * b->n; i++)
                assert_true(fabsf(x[i]) < 100 && fabsf(u[i]) < 1e4);
        }
        pl_clustered_destroy(c);
    }
    free(b);
}

static void test_every_width_and_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    block *b = make_block(6, 6, 14); /* enough members for tasks */
    pl_tasks *tasks = pl_tasks_create(NULL, 3, &memory);
    static float first[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    apply(b, twisted, 0.5, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 0.5, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    apply(b, bent, 0.3, pl_m3_identity(), pl_v3(0, 0, 0), poses[2]);
    for (int with = 0; with < 2; with++)
        for (int width = 4; width <= 16; width *= 2)
            for (int threads = 0; threads < 2 && pl_simd_supports(width); threads++) {
                pl_clustered *c = make_body(b, 1);
                assert_true(c->rings.used);
                if (with)
                    give(c, examples_of(c, 2, poses, 1, NULL, beta, PL_EXAMPLES_NEAREST));
                pl_clustered_motion m = {.h = 0.01, .from = poses[2], .u = u, .x = out};
                pl_clustered_solve_at(c, &m, threads ? tasks : NULL, width);
                if (width == 4 && !threads)
                    memcpy(first, out, sizeof first);
                assert_memory_equal(first, out, sizeof first);
                pl_clustered_destroy(c);
            }
    pl_tasks_destroy(tasks);
    free(b);
}

/* Rings have kernels of their own: against the reference in doubles. */
static void test_rings_against_the_reference(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 4);
    static body_case plain;
    static ref_body ref;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    static pl_vec3 wanted[CASE_PARTICLES];
    pl_rng rng = pl_rng_make(3);
    plain.n = plain.cluster_count = b->n;
    plain.member_count = b->start[b->n];
    memcpy(plain.rest, b->rest, sizeof plain.rest);
    memcpy(plain.mass, b->mass, sizeof plain.mass);
    memcpy(plain.start, b->start, sizeof plain.start);
    memcpy(plain.member, b->member, (size_t)plain.member_count * sizeof(int32_t));
    memcpy(plain.raw, b->raw, (size_t)plain.member_count * sizeof(float));
    pl_clustered *c = make_body(b, 2);
    assert_true(c->rings.used);
    pl_clustered_def def = c->def;
    def.yield = 1e9; /* the reference knows no infinity */
    ref_make(&ref, &plain, &def);
    for (int i = 0; i < 3 * b->n; i++) {
        x[i] = b->rest[i] + pl_random_between(&rng, -0.2f, 0.2f);
        u[i] = pl_random_between(&rng, -1, 1);
    }
    step(c, 0.01, x, u, out);
    ref_step(&ref, 0.01, x, u, wanted);
    for (int i = 0; i < b->n; i++)
        assert_true(pl_v3_length(pl_v3_sub(wanted[i], ref_at(out, i))) < 2e-6);
    pl_clustered_destroy(c);
    free(b);
}

/* A limit that nothing reaches leaves the motion as it is, but goes the way of other clusters: both
   agree, and what others see of the clusters does too. */
static void test_rings_move_as_other_clusters_do(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float x[2][3 * CASE_PARTICLES], u[2][3 * CASE_PARTICLES];
    apply(b, twisted, 1, some_turn(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    for (int with = 0; with < 2; with++) {
        pl_clustered *c[2] = {make_body(b, 3), make_limited(b, 3, 1e6)};
        assert_true(c[0]->rings.used && !c[1]->rings.used);
        for (int i = 0; i < 2; i++) {
            apply(b, bent, 0.7, some_turn(), pl_v3(2, 3, -1), x[i]);
            memset(u[i], 0, sizeof u[i]);
            if (with)
                give(c[i], examples_of(c[i], 2, poses, 1, NULL, beta, PL_EXAMPLES_NEAREST));
            for (int s = 0; s < 20; s++)
                go_on(c[i], 0.01, x[i], u[i]);
            pl_clustered_frames(c[i], NULL);
        }
        for (int i = 0; i < 3 * b->n; i++)
            assert_true(fabsf(x[0][i] - x[1][i]) < 2e-5f);
        for (int i = 0; i < 9 * b->n; i++)
            assert_true(fabsf(c[0]->frame[i] - c[1]->frame[i]) < 2e-5f);
        for (int i = 0; i < c[0]->count; i++)
            for (int k = 0; k < 3; k++)
                assert_true(fabsf(c[0]->clusters[i].centre[k] - c[1]->clusters[i].centre[k]) <
                            2e-5f);
        for (int i = 0; i < 2; i++)
            pl_clustered_destroy(c[i]);
    }
    free(b);
}

/* Nobody asks in a step how they are stretched; who asks later is told. */
static void test_rings_know_their_stretch(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    pl_clustered *c = make_body(b, 1);
    assert_true(c->rings.used && !pl_clustered_measures_strain(c));
    for (int i = 0; i < 3 * b->n; i++)
        x[i] = b->rest[i] * (i % 3 == 1 ? 1.5f : 0.9f);
    step(c, 0.01, x, u, out);
    for (int i = 0; i < c->count; i++)
        assert_true(fabsf(pl_cluster_stretch(c, c->clusters + i) - 1.5f) < 1e-4f);
    pl_clustered_destroy(c);
    free(b);
}

/* Regions that do not agree on where their members are at rest are clusters like others. */
static void test_rings_have_a_common_rest(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    pl_clustered *c = make_body(b, 1);
    assert_true(c->rings.used);
    c->p[1][c->clusters[30].first] += 0.01f;
    pl_clustered_index(c);
    pl_clustered_weigh(c);
    assert_false(c->rings.used);
    step(c, 0.01, b->rest, u, out);
    for (int i = 0; i < 3 * b->n; i++)
        assert_true(fabsf(out[i] - b->rest[i]) < 0.01f);
    pl_clustered_destroy(c);
    free(b);
}

static void test_saved_it_goes_on_and_nothing_is_allocated(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    static float y[3 * CASE_PARTICLES], v[3 * CASE_PARTICLES];
    static int32_t own[CASE_PARTICLES];
    for (int i = 0; i < b->n; i++)
        own[i] = i;
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[1]);
    pl_clustered *c = make_body(b, 1), *d;
    give(c, examples_of(c, 2, poses, b->n, own, beta, PL_EXAMPLES_NEAREST));
    pl_examples *again = examples_of(c, 2, poses, b->n, own, beta, PL_EXAMPLES_NEAREST);
    memcpy(x, poses[1], sizeof x);
    uint64_t allocations = memory.allocations;
    for (int s = 0; s < 50; s++)
        go_on(c, 0.01, x, u);
    assert_int_equal(memory.allocations, allocations);

    size_t size = pl_clustered_save_size(c);
    size_t more = pl_examples_save_size(pl_clustered_examples(c));
    void *bytes = malloc(size), *weights = malloc(more);
    pl_clustered_save(c, bytes);
    pl_examples_save(pl_clustered_examples(c), weights);
    assert_int_equal(pl_clustered_load(&memory, bytes, size, &d, NULL), PL_OK);
    give(d, again);
    assert_int_equal(pl_examples_load(again, weights, more, NULL), PL_OK);
    memcpy(y, x, sizeof y);
    memcpy(v, u, sizeof v);
    for (int s = 0; s < 50; s++) {
        go_on(c, 0.01, x, u);
        go_on(d, 0.01, y, v);
    }
    assert_memory_equal(x, y, sizeof x);
    free(bytes), free(weights);
    pl_clustered_destroy(c);
    pl_clustered_destroy(d);
    free(b);
}

/* Halves of a cluster go on with its element, and only one speaks for it; later clusters have
   none. */
static void test_split_clusters_keep_their_element(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES], s[3][9];
    apply(b, twisted, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    pl_clustered *c = make_body(b, 1);
    give(c, examples_of(c, 1, poses, 1, NULL, beta, PL_EXAMPLES_AUTO));
    const int whole = 20, half = c->count, later = half + 1;
    assert_true(pl_clustered_reserve(c, c->count + 2, c->member_count + 64, c->n));
    for (int i = half; i <= later; i++) {
        pl_cluster *q = c->clusters + i;
        *q = i == half ? c->clusters[whole] : pl_cluster_blank(&c->def);
        q->first = c->member_count;
        q->count = i == half ? c->clusters[whole].count : 4;
        q->room = (q->count + 15) / 16 * 16;
        q->id = c->next_id++;
        for (int k = 0; k < q->count; k++) {
            int from = c->clusters[whole].first + k;
            c->particle[q->first + k] = c->particle[from];
            for (int d = 0; d < 3; d++)
                c->p[d][q->first + k] = c->p[d][from];
            c->raw[q->first + k] = 1;
        }
        c->member_count += q->room;
        c->count++;
    }
    pl_clustered_index(c);
    pl_clustered_weigh(c);
    step(c, 0.01, poses[0], u, out);
    assert_int_equal(c->clusters[half].element, c->clusters[whole].element);
    assert_int_equal(c->clusters[later].element, -1);
    assert_true(c->clusters[whole].speaks && !c->clusters[half].speaks);
    for (int k = 0; k < 3; k++)
        pl_clustered_stretch(c, c->clusters + (k == 0 ? whole : k == 1 ? half : later), s[k]);
    assert_memory_equal(s[0], s[1], sizeof s[0]);
    for (int k = 0; k < 9; k++)
        assert_true(s[2][k] == (k % 4 == 0));
    assert_true(fabs(pl_examples_weights(pl_clustered_examples(c))[0] - beta) < 1e-3);
    for (int i = 0; i < 3 * c->n; i++)
        assert_true(fabsf(out[i]) < 10);
    pl_clustered_destroy(c);
    free(b);
}

/* Without examples it is the plain method again, bit for bit, as before there were any. */
static void test_taken_away_they_leave_nothing(void **state)
{
    (void)state;
    block *b = make_block(4, 4, 7);
    static float u[3 * CASE_PARTICLES], out[2][3 * CASE_PARTICLES];
    apply(b, bent, 1, pl_m3_identity(), pl_v3(0, 0, 0), poses[0]);
    for (int with = 0; with < 2; with++) {
        pl_clustered *c = make_body(b, 1);
        if (with) {
            give(c, examples_of(c, 1, poses, 1, NULL, beta, PL_EXAMPLES_AUTO));
            give(c, NULL);
        }
        step(c, 0.01, poses[0], u, out[with]);
        pl_clustered_destroy(c);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    free(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_body_in_a_pose_has_its_stretch),
        TEST(test_a_blend_of_stretches_is_that_blend),
        TEST(test_axes_do_not_matter),
        TEST(test_halves_mind_their_own_business),
        TEST(test_without_load_it_returns_to_rest),
        TEST(test_undamped_energy_stays_bounded),
        TEST(test_momenta_are_kept_with_examples),
        TEST(test_flat_and_inverted_poses_are_defined),
        TEST(test_every_width_and_number_of_threads_gives_the_same_bits),
        TEST(test_rings_against_the_reference),
        TEST(test_rings_move_as_other_clusters_do),
        TEST(test_rings_know_their_stretch),
        TEST(test_rings_have_a_common_rest),
        TEST(test_saved_it_goes_on_and_nothing_is_allocated),
        TEST(test_split_clusters_keep_their_element),
        TEST(test_taken_away_they_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

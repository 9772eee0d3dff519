/* Clustered matter and everything that can be wrong with it: definitions, degenerate clusters, wild
   states, memory, bytes. */
#include "support/check.h"

#include "base/hash.h"
#include "matter/clustered_cases.h"

static pl_clustered *make(const body_case *b, const pl_clustered_def *def)
{
    pl_clustered *c;
    pl_error error = {0};
    pl_clustered_source source = case_source(b);
    if (pl_clustered_create(&memory, &source, def, &c, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return c;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static void refuses(const pl_clustered_def *def, const char *field)
{
    pl_error error = {0};
    assert_int_equal(pl_clustered_check(def, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, field);
    assert_true(strlen(error.text) > 10);
}

#define REFUSES(field, value)                                                                      \
    do {                                                                                           \
        pl_clustered_def changed = def;                                                            \
        changed.field = (value);                                                                   \
        refuses(&changed, #field);                                                                 \
    } while (0)

#define ACCEPTS(field, value)                                                                      \
    do {                                                                                           \
        pl_clustered_def changed = def;                                                            \
        changed.field = (value);                                                                   \
        assert_int_equal(pl_clustered_check(&changed, NULL), PL_OK);                               \
    } while (0)

static void test_definitions(void **state)
{
    (void)state;
    pl_clustered_def def = case_def(), none = {0};
    assert_int_equal(pl_clustered_check(&def, NULL), PL_OK);
    refuses(&none, "cookie");
    refuses(NULL, "cookie");
    REFUSES(rotation, (pl_cluster_rotation)7);
    REFUSES(frequency, 0);
    REFUSES(frequency, -1);
    REFUSES(frequency, NAN);
    REFUSES(frequency, INFINITY);
    REFUSES(raw_alpha, 0);
    REFUSES(raw_alpha, 1.01);
    REFUSES(raw_alpha, NAN);
    ACCEPTS(raw_alpha, 1);
    ACCEPTS(raw_alpha, 0.01);
    REFUSES(damping, -1);
    REFUSES(damping, NAN);
    ACCEPTS(damping, 0);
    REFUSES(raw_damping, 1.5);
    REFUSES(raw_damping, NAN);
    ACCEPTS(raw_damping, 1);
    REFUSES(strain_limit, -0.1);
    REFUSES(strain_limit, NAN);
    ACCEPTS(strain_limit, 0);
    REFUSES(strain_part, 0);
    REFUSES(strain_part, 1.1);
    REFUSES(strain_part, NAN);
    REFUSES(strain_iterations, -1);
    ACCEPTS(strain_iterations, 0);
    REFUSES(yield, -0.1);
    REFUSES(yield, NAN);
    ACCEPTS(yield, 0);
    REFUSES(flow, -1);
    REFUSES(flow, NAN);
    REFUSES(raw_flow, 2);
    REFUSES(raw_flow, NAN);
    REFUSES(hardening, NAN);
    REFUSES(hardening, INFINITY);
    ACCEPTS(hardening, -3);
    REFUSES(recluster, (pl_recluster_mode)9);
    REFUSES(condition, 1);
    REFUSES(condition, NAN);
    ACCEPTS(condition, INFINITY);
    REFUSES(fade_in, -1);
    REFUSES(fade_out, NAN);
    ACCEPTS(fade_in, 0);
    REFUSES(wanted, -1);
    REFUSES(toughness, 0);
    REFUSES(toughness, -1);
    REFUSES(toughness, NAN);
    REFUSES(toughness_boost, -1);
    REFUSES(boost_decay, NAN);
    REFUSES(calm, -1);
    REFUSES(least_members, 0);
}

/* ---- Sources --------------------------------------------------------------------------------- */

static void source_refused(const body_case *b, const char *where)
{
    pl_error error = {0};
    pl_clustered *c = NULL;
    pl_clustered_def def = case_def();
    pl_clustered_source source = case_source(b);
    assert_int_equal(pl_clustered_create(&memory, &source, &def, &c, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, where);
    assert_null(c);
}

static void test_sources(void **state)
{
    (void)state;
    static body_case good, b;
    pl_rng rng = pl_rng_make(31);
    case_random(&good, &rng, 30, 4);
    b = good, b.n = 0;
    source_refused(&b, "particles");
    b = good, b.cluster_count = 0;
    source_refused(&b, "clusters");
    b = good, b.rest[3 * 7 + 1] = NAN;
    source_refused(&b, "particles[7].position");
    b = good, b.mass[3] = 0;
    source_refused(&b, "particles[3].mass");
    b = good, b.mass[3] = INFINITY;
    source_refused(&b, "particles[3].mass");
    b = good, b.radius[5] = -1;
    source_refused(&b, "particles[5].radius");
    b = good, b.member[b.start[1] + 2] = 30;
    source_refused(&b, "clusters[1].members[2]");
    b = good, b.member[b.start[1] + 2] = -1;
    source_refused(&b, "clusters[1].members[2]");
    b = good, b.member[b.start[1] + 2] = b.member[b.start[1]];
    source_refused(&b, "clusters[1].members[2]");
    b = good, b.raw[b.start[1] + 1] = -0.5f;
    source_refused(&b, "clusters[1].weights[1]");
    b = good, b.raw[b.start[1] + 1] = NAN;
    source_refused(&b, "clusters[1].weights[1]");
    b = good, b.radii[2] = NAN;
    source_refused(&b, "clusters[2].radius");
    b = good, b.start[2] = b.start[1];
    source_refused(&b, "clusters[1].members");
    b = good;
    for (int k = 0; k < b.member_count; k++)
        if (b.member[k] == 12)
            b.raw[k] = 0;
    source_refused(&b, "particles[12].clusters");
    b = good, b.n = 31, b.mass[30] = 1;
    source_refused(&b, "particles[30].clusters");
}

/* ---- Degenerate clusters --------------------------------------------------------------------- */

static bool is_finite(const float *a, int count)
{
    for (int k = 0; k < count; k++)
        if (!isfinite(a[k]))
            return false;
    return true;
}

static void check_cluster(const pl_cluster *q)
{
    assert_true(is_finite(q->centre, 3) && is_finite(q->gradient, 9) && is_finite(q->rotation, 9) &&
                is_finite(q->flow, 9) && is_finite(q->turn, 4) && is_finite(q->pull, 3) &&
                isfinite(q->stretch) && isfinite(q->worked));
    pl_mat3 r;
    for (int k = 0; k < 9; k++)
        r.m[k / 3][k % 3] = q->rotation[k];
    assert_float_equal(pl_m3_det(r), 1, 1e-5);
}

/* Points that span `rank` dimensions, four to a side. */
static void grid(body_case *b, int rank)
{
    memset(b, 0, sizeof *b);
    int side[3] = {rank > 0 ? 4 : 1, rank > 1 ? 4 : 1, rank > 2 ? 4 : 1};
    for (int i = 0; i < side[0]; i++)
        for (int j = 0; j < side[1]; j++)
            for (int k = 0; k < side[2]; k++) {
                /* along axes that are not those of the world */
                double p[3] = {i - (side[0] - 1) / 2.0, j - (side[1] - 1) / 2.0,
                               k - (side[2] - 1) / 2.0};
                case_particle(b, 0.6 * p[0] - 0.8 * p[1], 0.8 * p[0] + 0.6 * p[1], p[2], 1);
            }
    for (int i = 0; i < b->n; i++)
        case_member(b, i, 1);
    case_cluster(b, 2);
}

/* A body of any rank keeps its shape: turned and stretched, it swings back to a turned copy of
   itself, does not flow, and what it does not span is as at rest. */
static void test_ranks(void **state)
{
    (void)state;
    static body_case b;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    for (int rank = 0; rank <= 3; rank++)
        for (int squares = 0; squares < 2; squares++) {
            pl_clustered_def def = case_def();
            def.rotation = squares ? PL_ROTATION_LEAST_SQUARES : PL_ROTATION_OF_GRADIENT;
            def.yield = 0, def.raw_alpha = 1, def.raw_damping = 0, def.strain_limit = 0;
            grid(&b, rank);
            pl_clustered *c = make(&b, &def);
            pl_cluster *q = c->clusters;
            assert_int_equal(q->rank, rank);
            for (int i = 0; i < b.n; i++) { /* a quarter turn about z, 1.3 times as large */
                x[3 * i] = -1.3f * b.rest[3 * i + 1];
                x[3 * i + 1] = 1.3f * b.rest[3 * i];
                x[3 * i + 2] = 1.3f * b.rest[3 * i + 2];
            }
            pl_clustered_motion m = {.h = 1, .from = x, .u = u, .x = out};
            pl_clustered_solve(c, &m, NULL);
            check_cluster(q);
            assert_false(rank < 3 && q->flows);
            assert_float_equal(q->stretch, rank ? 1.3 : 1, 1e-5);
            for (int i = 0; i < b.n; i++)
                assert_float_equal(pl_v3_length(ref_at(out, i)), pl_v3_length(ref_at(b.rest, i)),
                                   1e-5);
            if (rank == 2) /* z is not seen */
                assert_float_equal(q->gradient[8], 1, 1e-5);
            if (rank == 2)
                for (int i = 0; i < b.n; i++)
                    assert_float_equal(out[3 * i], -b.rest[3 * i + 1], 1e-5);
            pl_clustered_destroy(c);
        }
}

/* Clusters of one member, of two, coplanar, collinear and coincident ones, in one body that moves
   wildly. */
static void test_degenerate_motion(void **state)
{
    (void)state;
    static body_case b;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    pl_rng rng = pl_rng_make(41);
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 60; i++) {
        double s = i < 20 ? 0 : 1; /* twenty at one place */
        case_particle(&b, s * pl_random_between(&rng, -1, 1),
                      i < 40 ? 0 : pl_random_between(&rng, -1, 1), i < 50 ? 0 : 1, 1);
    }
    static const int ranges[][2] = {{0, 1},   {0, 2},  {0, 20},  {20, 22}, {20, 40},
                                    {38, 50}, {0, 40}, {45, 46}, {40, 60}, {50, 53}};
    for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
        for (int i = ranges[k][0]; i < ranges[k][1]; i++)
            case_member(&b, i, i % 3 ? 1 : 0.01);
        case_cluster(&b, 1);
    }
    for (int kind = 0; kind < 4; kind++) {
        pl_clustered_def def = case_def();
        def.rotation = kind % 2 ? PL_ROTATION_LEAST_SQUARES : PL_ROTATION_OF_GRADIENT;
        def.strain_balanced = kind < 2;
        def.yield = 0.1, def.strain_limit = 0.01;
        pl_clustered *c = make(&b, &def);
        memcpy(x, b.rest, sizeof x);
        for (int k = 0; k < 3 * b.n; k++)
            u[k] = pl_random_between(&rng, -5, 5);
        double speed = 0;
        for (int step = 0; step < 200; step++) {
            pl_clustered_motion m = {.h = 1.0 / 60, .from = x, .u = u, .x = out};
            pl_clustered_solve(c, &m, NULL);
            assert_true(is_finite(out, 3 * b.n));
            for (int k = 0; k < 3 * b.n; k++) {
                u[k] = (out[k] - x[k]) * 60;
                speed = fmax(speed, fabsf(u[k]));
            }
            memcpy(x, out, sizeof x);
        }
        assert_true(speed < 50);
        for (int i = 0; i < c->count; i++)
            check_cluster(c->clusters + i);
        pl_clustered_destroy(c);
    }
}

/* A cluster that has faded altogether, and particles nobody holds, fly on. */
static void test_no_weights(void **state)
{
    (void)state;
    static body_case b;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    pl_rng rng = pl_rng_make(42);
    case_random(&b, &rng, 50, 5);
    pl_clustered_def def = case_def();
    pl_clustered *c = make(&b, &def);
    for (int i = 0; i < c->count; i++)
        c->clusters[i].fade = 0;
    pl_clustered_weigh(c);
    memcpy(x, b.rest, sizeof x);
    for (int k = 0; k < 3 * b.n; k++)
        u[k] = pl_random_between(&rng, -1, 1);
    pl_clustered_motion m = {.h = 0.125, .from = x, .u = u, .x = out};
    pl_clustered_solve(c, &m, NULL);
    for (int k = 0; k < 3 * b.n; k++)
        assert_true(out[k] == x[k] + 0.125f * u[k]);
    c->count = 0; /* not even clusters */
    pl_clustered_index(c);
    pl_clustered_weigh(c);
    pl_clustered_solve(c, &m, NULL);
    for (int k = 0; k < 3 * b.n; k++)
        assert_true(out[k] == x[k] + 0.125f * u[k]);
    pl_clustered_destroy(c);
}

/* From any finite state, however wild, comes a finite one. */
static void test_wild_states(void **state)
{
    (void)state;
    static body_case b;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], out[3 * CASE_PARTICLES];
    for (int round = 0; round < check_rounds(3000, 600); round++) {
        pl_rng rng = pl_rng_make(9000 + (uint64_t)round);
        case_random(&b, &rng, 5 + (int)(pl_random_u32(&rng) % 40), 4);
        pl_clustered_def def = case_def();
        def.rotation = round % 2 ? PL_ROTATION_LEAST_SQUARES : PL_ROTATION_OF_GRADIENT;
        def.yield = round % 3 ? 0.01 : 0, def.strain_limit = 0.1;
        pl_clustered *c = make(&b, &def);
        for (int step = 0; step < 3; step++) {
            int kind = (int)(pl_random_u32(&rng) % 4);
            for (int k = 0; k < 3 * b.n; k++) {
                float size = (float)pow(10, pl_random_between(&rng, -20, 12));
                float one = kind == 3 ? size : kind == 2 ? 1e-30f : kind == 1 ? 0 : 1e12f;
                x[k] = pl_random_between(&rng, -1, 1) * one;
                u[k] = pl_random_between(&rng, -1, 1) *
                       (float)pow(10, pl_random_between(&rng, -20, 12));
            }
            pl_clustered_motion m = {.h = 1.0 / 60, .from = x, .u = u, .x = out};
            pl_clustered_solve(c, &m, NULL);
            assert_true(is_finite(out, 3 * b.n));
            for (int i = 0; i < c->count; i++) {
                check_cluster(c->clusters + i);
                memcpy(c->clusters[i].plastic, c->clusters[i].flow, sizeof c->clusters[i].flow);
            }
        }
        pl_clustered_destroy(c);
    }
}

/* ---- Tables and weights ---------------------------------------------------------------------- */

static void check_tables(const pl_clustered *c)
{
    int total = 0;
    for (int i = 0; i < c->count; i++) {
        const pl_cluster *q = c->clusters + i;
        double mean[3] = {0}, mass = 0;
        assert_int_equal(q->first % PL_COLUMNS, 0);
        assert_int_equal(q->room, (q->count + 15) / 16 * 16);
        assert_true(q->first + q->room <= c->member_count);
        total += q->count;
        for (int m = q->first; m < q->first + q->room; m++) {
            double w = (double)c->weight[m] * c->mass[c->particle[m]];
            assert_int_equal(c->owner[m], i);
            assert_true(m < q->first + q->count || c->weight[m] == 0);
            mass += w;
            for (int k = 0; k < 3; k++)
                mean[k] += w * c->p[k][m];
        }
        assert_float_equal(q->mass, mass, 1e-6 * mass);
        for (int k = 0; k < 3; k++)
            assert_float_equal(mean[k] / mass, 0, 2e-6 * q->width);
    }
    assert_int_equal(c->start[0], 0);
    assert_int_equal(c->start[c->n], total);
    for (int i = 0; i < c->n; i++) {
        double sum = 0;
        for (int k = c->start[i]; k < c->start[i + 1]; k++) {
            assert_int_equal(c->particle[c->place[k]], i);
            assert_true(k == c->start[i] || c->owner[c->place[k]] > c->owner[c->place[k - 1]]);
            sum += c->weight[c->place[k]];
        }
        if (c->start[i] < c->start[i + 1])
            assert_float_equal(sum, 1, 1e-6);
    }
}

/* Clusters come and go, fade, lose members; tables stay right. */
static void test_changes(void **state)
{
    (void)state;
    static body_case b;
    pl_rng rng = pl_rng_make(51);
    case_random(&b, &rng, 100, 12);
    pl_clustered_def def = case_def();
    pl_clustered *c = make(&b, &def);
    check_tables(c);
    for (int round = 0; round < 200; round++) {
        int at = (int)(pl_random_u32(&rng) % (uint32_t)c->count), last = c->count - 1;
        pl_cluster *q = c->clusters + at;
        q->fade = pl_random_between(&rng, 0.1f, 1);
        if (round % 3 == 0 && at != last && c->count > 4) {
            memmove(q, q + 1, (size_t)(last - at) * sizeof *q);
            c->count--;
        } else if (round % 3 == 1 && q->count > 20) {
            int gone = q->first, from = q->first + q->count - 1;
            c->particle[gone] = c->particle[from], c->raw[gone] = c->raw[from];
            for (int k = 0; k < 3; k++)
                c->p[k][gone] = c->p[k][from];
            q->count--;
        } else {
            int count = q->count, spaces = (count + 15) / 16 * 16;
            assert_true(pl_clustered_reserve(c, c->count + 1, c->member_count + spaces, c->n));
            q = c->clusters + at;
            pl_cluster *made = c->clusters + c->count++;
            *made = pl_cluster_blank(&def);
            made->first = c->member_count, made->count = count, made->room = spaces;
            made->id = c->next_id++;
            for (int k = 0; k < count; k++) {
                int to = made->first + k, from = q->first + k;
                c->particle[to] = c->particle[from], c->raw[to] = c->raw[from];
                for (int j = 0; j < 3; j++)
                    c->p[j][to] = c->p[j][from] + 0.1f;
            }
            c->member_count += spaces;
        }
        pl_clustered_index(c);
        pl_clustered_weigh(c);
        check_tables(c);
    }
    pl_clustered_destroy(c);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_failing_allocations(void **state)
{
    (void)state;
    static body_case b;
    pl_rng rng = pl_rng_make(61);
    case_random(&b, &rng, 60, 6);
    pl_clustered_def def = case_def();
    pl_clustered_source source = case_source(&b);
    pl_clustered *c = NULL;
    int tries = 0;
    for (; !c; tries++) {
        memory.fail_at = (int64_t)memory.allocations + tries;
        pl_status status = pl_clustered_create(&memory, &source, &def, &c, NULL);
        assert_int_equal(status, c ? PL_OK : PL_ERROR_MEMORY);
        assert_true(c || memory.used == 0);
    }
    assert_true(tries > 20);
    size_t size = pl_clustered_save_size(c), used = memory.used;
    memory.fail_at = -1;
    unsigned char *before = malloc(size), *after = malloc(size);
    pl_clustered_save(c, before);
    for (int k = 0;; k++) {
        memory.fail_at = (int64_t)memory.allocations + k;
        if (pl_clustered_reserve(c, 100, 5000, 300))
            break;
        assert_true(memory.used == used);
        pl_clustered_save(c, after);
        assert_memory_equal(before, after, size);
    }
    pl_clustered_save(c, after);
    assert_memory_equal(before, after, size);
    pl_clustered *copy = NULL;
    for (int k = 0; !copy; k++) {
        memory.fail_at = (int64_t)memory.allocations + k;
        used = memory.used;
        pl_status status = pl_clustered_load(&memory, before, size, &copy, NULL);
        assert_int_equal(status, copy ? PL_OK : PL_ERROR_MEMORY);
        assert_true(copy || memory.used == used);
    }
    memory.fail_at = -1;
    pl_clustered_destroy(copy);
    pl_clustered_destroy(c);
    free(before), free(after);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void advance(pl_clustered *c, float *x, float *u, int steps)
{
    static float out[3 * CASE_PARTICLES];
    for (int step = 0; step < steps; step++) {
        pl_clustered_motion m = {.h = 1.0 / 60, .from = x, .u = u, .x = out};
        pl_clustered_solve(c, &m, NULL);
        for (int k = 0; k < 3 * c->n; k++) {
            u[k] = (out[k] - x[k]) * 60;
            x[k] = out[k];
        }
        for (int i = 0; i < c->count; i++)
            memcpy(c->clusters[i].plastic, c->clusters[i].flow, sizeof c->clusters[i].flow);
    }
}

static unsigned char *bytes_of(const pl_clustered *c, size_t *size)
{
    *size = pl_clustered_save_size(c);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    pl_clustered_save(c, bytes);
    return bytes;
}

/* A body some way into its life. */
static pl_clustered *used_body(float *x, float *u)
{
    static body_case b;
    pl_rng rng = pl_rng_make(71);
    case_random(&b, &rng, 80, 8);
    pl_clustered_def def = case_def();
    def.yield = 0.05, def.toughness = 0.5;
    pl_clustered *c = make(&b, &def);
    for (int k = 0; k < 3 * b.n; k++) {
        x[k] = b.rest[k] * (k % 3 ? 0.8f : 1.4f);
        u[k] = pl_random_between(&rng, -1, 1);
    }
    c->clusters[2].fade = 0.25f, c->clusters[2].phase = PL_PHASE_GOING;
    c->clusters[3].toughness = INFINITY;
    c->clusters[1].cut_count = 1;
    c->clusters[1].cuts[0] = (pl_cut){.normal = {0, 0, 1}, .offset = 0.1f, .crack = true};
    pl_clustered_weigh(c);
    advance(c, x, u, 5);
    return c;
}

static void test_save_and_load(void **state)
{
    (void)state;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], y[3 * CASE_PARTICLES],
        v[3 * CASE_PARTICLES];
    pl_clustered *c = used_body(x, u), *copy;
    size_t size, size_again;
    unsigned char *bytes = bytes_of(c, &size), *again;
    assert_int_equal(pl_clustered_load(&memory, bytes, size, &copy, NULL), PL_OK);
    again = bytes_of(copy, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    memcpy(y, x, sizeof y), memcpy(v, u, sizeof v);
    advance(c, x, u, 20);
    advance(copy, y, v, 20);
    assert_memory_equal(x, y, sizeof x);
    free(bytes), free(again);
    bytes = bytes_of(c, &size), again = bytes_of(copy, &size_again);
    assert_memory_equal(bytes, again, size);
    free(bytes), free(again);
    pl_clustered_destroy(c);
    pl_clustered_destroy(copy);
}

static void test_broken_bytes(void **state)
{
    (void)state;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    pl_clustered *c = used_body(x, u), *copy = NULL;
    pl_error error = {0};
    size_t size;
    unsigned char *bytes = bytes_of(c, &size), *part;
    pl_clustered_destroy(c);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 50) {
        part = malloc(cut + 1); /* exactly so many, for the address sanitizer */
        memcpy(part, bytes, cut);
        assert_int_equal(pl_clustered_load(&memory, part, cut, &copy, &error), PL_ERROR_FORMAT);
        free(part);
    }
    pl_rng rng = pl_rng_make(81);
    for (int round = 0; round < 2000; round++) {
        size_t at = (size_t)(pl_random_double(&rng) * (double)size);
        unsigned char old = bytes[at];
        bytes[at] ^= (unsigned char)(1u << pl_random_u32(&rng) % 8);
        assert_int_equal(pl_clustered_load(&memory, bytes, size, &copy, &error), PL_ERROR_FORMAT);
        bytes[at] = old;
    }
    free(bytes);
}

/* Bytes with a right hash and wrong contents: refused, or good enough to go on with. */
static void test_forged_bytes(void **state)
{
    (void)state;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    pl_clustered *c = used_body(x, u);
    size_t size;
    unsigned char *bytes = bytes_of(c, &size);
    unsigned char *forged = malloc(size);
    pl_clustered_destroy(c);
    pl_rng rng = pl_rng_make(82);
    int taken = 0, refused = 0;
    for (int round = 0; round < check_rounds(20000, 4000); round++) {
        memcpy(forged, bytes, size);
        size_t reach = round % 2 ? 600 : size - 8;
        for (int k = 0; k <= round % 3; k++) {
            size_t at = (size_t)(pl_random_double(&rng) * (double)reach);
            forged[at] = round % 5 ? (unsigned char)pl_random_u32(&rng) : 0xff;
        }
        uint64_t hash = pl_hash_of(forged, size - 8, 0);
        memcpy(forged + size - 8, &hash, 8);
        pl_clustered *copy = NULL;
        if (pl_clustered_load(&memory, forged, size, &copy, NULL) != PL_OK) {
            refused++;
            continue;
        }
        taken++;
        if (copy->n <= CASE_PARTICLES && copy->def.strain_iterations < 100)
            advance(copy, x, u, 1);
        for (int k = 0; k < 3 * CASE_PARTICLES; k++)
            x[k] = u[k] = 0.01f * (float)(k % 17);
        pl_clustered_destroy(copy);
    }
    assert_true(taken > 100 && refused > 100);
    free(bytes), free(forged);
}

/* Nothing is left of a cluster without members: no body has one. */
static void test_empty_clusters(void **state)
{
    (void)state;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES];
    pl_clustered *c = used_body(x, u), *copy = NULL;
    pl_error error = {0};
    size_t size;
    for (int i = 0; i < c->count; i++)
        c->clusters[i].count = i % 2 ? c->clusters[i].count : 0;
    unsigned char *bytes = bytes_of(c, &size);
    assert_int_equal(pl_clustered_load(&memory, bytes, size, &copy, &error), PL_ERROR_FORMAT);
    pl_clustered_index(c); /* runs are cut all the same */
    assert_int_equal(c->rows.run_count, 1);
    free(bytes);
    pl_clustered_destroy(c);
}

/* What a step beyond all numbers leaves in rows that are nobody's must not wait there for a
   particle to come. */
static void test_rows_of_nobody(void **state)
{
    (void)state;
    static body_case b;
    static float x[3 * CASE_PARTICLES], u[3 * CASE_PARTICLES], y[3 * CASE_PARTICLES];
    pl_rng rng = pl_rng_make(72);
    pl_clustered_def def = case_def();
    case_random(&b, &rng, PL_ROW_BLOCK, 8); /* so that they have a block of their own */
    pl_clustered *c = make(&b, &def);
    for (int k = 0; k < 3 * CASE_PARTICLES; k++)
        y[k] = INFINITY;
    memcpy(x, b.rest, 3 * (size_t)b.n * sizeof *x);
    pl_clustered_motion wild = {.h = 1.0 / 60, .from = y, .u = u, .x = y};
    pl_clustered_solve(c, &wild, NULL);
    for (int i = 0; i < c->count; i++)
        assert_true(isfinite(c->clusters[i].centre[0]));
    advance(c, x, u, 1);
    for (int k = 4 * c->n; k < 4 * (c->n + PL_COLUMNS); k++)
        assert_true(c->rows.sum[k] == 0);
    pl_clustered_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_definitions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_degenerate_motion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_weights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wild_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failing_allocations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_save_and_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forged_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_clusters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_of_nobody, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tetrahedral matter: equal bits at all widths, numbers of threads, alone and side by side,
   whatever was solved before in the same room, and after saving and loading; no allocation while
   solving; bad input; numbers that are not finite; plastic flow. Speaks of threads and tasks.
   Label: slow. */
#include "support/check.h"

#include "base/rng.h"
#include "tet_bar.h"

static pl_tetrahedral_def material(int kind)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = kind == 0 || kind == 5 ? 0 : 0.3;
    if (kind == 2)
        def.volume = PL_TET_DETERMINANT;
    if (kind == 3)
        def.yield = 0.01;
    if (kind == 4)
        def.rotations = PL_TET_QUATERNION;
    if (kind == 5)
        def.rotations = PL_TET_FOLDED;
    if (kind == 6)
        def.accelerated = false;
    return def;
}

enum { KINDS = 7, STEPS = 4, ITERATIONS = 12 };

static void shake(tet_case *c, double by, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    for (int k = 0; k < 3 * c->bar.n; k++)
        c->x[k] += (float)(by * (2 * pl_random_double(&rng) - 1));
}

/* A few steps from a shaken start at one width. */
static void march(tet_case *c, int width, int steps)
{
    for (int k = 0; k < steps; k++) {
        pl_tetrahedral_solve_at(&c->body, &c->motion, 1, ITERATIONS, c->tasks, width);
        for (int i = 0; i < 3 * c->bar.n; i++) {
            c->u[i] = (c->next[i] - c->x[i]) * 60;
            c->x[i] = c->next[i];
        }
        pl_tetrahedral_flow(c->body, c->x, c->tasks);
    }
}

static void start(tet_case *c, int kind, int end)
{
    tet_case_make(c, tet_bar_make(12, 6, 5, 0.5), material(kind), 1e4, 1.0 / 60, end);
    c->motion.fall[1] = -10;
    shake(c, 0.2, 4);
}

/* The factor has kernels of its own, whose widths its own tests compare. */
static void test_widths(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int end = -1; end <= 0; end++) {
            float *first = NULL;
            size_t bytes = 0;
            for (int width = 4; width <= 16; width *= 2) {
                tet_case c;
                if (!pl_tet_table_of(width))
                    continue;
                start(&c, kind, end);
                march(&c, width, STEPS);
                bytes = 3 * (size_t)c.bar.n * sizeof(float);
                if (!first) {
                    first = tet_room(3 * (size_t)c.bar.n, sizeof(float));
                    memcpy(first, c.x, bytes);
                }
                if (memcmp(first, c.x, bytes))
                    fail_msg("material %d differs at width %d", kind, width);
                tet_case_free(&c);
            }
            free(first);
        }
}

static void test_threads(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        float *first = NULL;
        for (int threads = 1; threads <= 2; threads++) {
            tet_case c;
            start(&c, kind, 0);
            c.tasks = pl_tasks_create(NULL, threads, &c.memory);
            march(&c, 4, STEPS);
            size_t bytes = 3 * (size_t)c.bar.n * sizeof(float);
            if (!first) {
                first = tet_room(3 * (size_t)c.bar.n, sizeof(float));
                memcpy(first, c.x, bytes);
            }
            if (memcmp(first, c.x, bytes))
                fail_msg("material %d differs with %d threads", kind, threads);
            pl_tasks_destroy(c.tasks);
            tet_case_free(&c);
        }
        free(first);
    }
}

static void test_side_by_side(void **state)
{
    (void)state;
    enum { COUNT = 7 };
    for (int kind = 0; kind < KINDS; kind++) {
        tet_case c;
        pl_tetrahedral *bodies[COUNT];
        pl_tet_motion motions[COUNT];
        float *from[COUNT], *out[COUNT];
        start(&c, kind, 0);
        pl_tet_system_drop(c.system);
        pl_tetrahedral_destroy(c.body);
        c.source.side_by_side = 4;
        assert_int_equal(pl_tet_system_create(&c.memory, &c.source, &c.def, NULL, &c.system, NULL),
                         PL_OK);
        assert_int_equal(pl_tetrahedral_create(&c.memory, c.system, &c.body, NULL), PL_OK);
        size_t floats = 3 * (size_t)c.bar.n;
        for (int k = 0; k < COUNT; k++) {
            assert_int_equal(pl_tetrahedral_create(&c.memory, c.system, &bodies[k], NULL), PL_OK);
            from[k] = tet_room(floats, sizeof(float));
            out[k] = tet_room(floats, sizeof(float));
            memcpy(c.x, c.bar.rest, floats * sizeof(float));
            shake(&c, 0.1 * (k + 1), 9);
            memcpy(from[k], c.x, floats * sizeof(float));
            motions[k] = c.motion;
            motions[k].from = from[k];
            motions[k].x = out[k];
        }
        c.tasks = pl_tasks_create(NULL, 2, &c.memory);
        pl_tetrahedral_solve(bodies, motions, COUNT, ITERATIONS, c.tasks);
        for (int k = 0; k < COUNT; k++) {
            pl_tetrahedral *lone;
            assert_int_equal(pl_tetrahedral_create(&c.memory, c.system, &lone, NULL), PL_OK);
            motions[k].x = c.next;
            pl_tetrahedral_solve(&lone, motions + k, 1, ITERATIONS, NULL);
            if (memcmp(c.next, out[k], floats * sizeof(float)))
                fail_msg("material %d: body %d differs when alone", kind, k);
            pl_tetrahedral_destroy(lone);
            pl_tetrahedral_destroy(bodies[k]);
            free(from[k]), free(out[k]);
        }
        pl_tasks_destroy(c.tasks);
        tet_case_free(&c);
    }
}

static void spoil(float *numbers, int rows)
{
    for (int i = 0; i < 4 * rows; i++)
        numbers[i] = NAN;
}

/* What other bodies left where a body is solved does not reach it, be it no number. */
static void test_rooms_keep_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int end = -1; end <= 0; end++) {
            tet_case a, b;
            start(&a, kind, end);
            start(&b, kind, end);
            const pl_tet_system *s = b.system;
            const pl_tet_room *room = s->scratch[0].rooms;
            float *of_rows[] = {room->d, room->y, room->start, room->before};
            float *of_unknowns[] = {room->r,    room->r_before, room->z,
                                    room->s[0], room->dr[0],    room->s[1]};
            for (int k = 0; k < 4; k++)
                spoil(of_rows[k], s->rows);
            for (int k = 0; k < (b.def.accelerated ? 6 : 5); k++)
                spoil(of_unknowns[k], s->padded);
            march(&a, 4, STEPS);
            march(&b, 4, STEPS);
            assert_memory_equal(a.x, b.x, 3 * (size_t)a.bar.n * sizeof(float));
            tet_case_free(&a);
            tet_case_free(&b);
        }
}

static void test_save(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        tet_case a, b;
        start(&a, kind, 0);
        start(&b, kind, 0);
        march(&a, 4, STEPS);
        size_t size = pl_tetrahedral_save_size(a.body), floats = 3 * (size_t)a.bar.n;
        char *bytes = tet_room(size, 1);
        pl_tetrahedral_save(a.body, bytes);
        memcpy(b.x, a.x, floats * sizeof(float));
        memcpy(b.u, a.u, floats * sizeof(float));
        for (size_t k = 0; k < size;
             k += 97) { /* damaged bytes are refused, and leave the body alone */
            bytes[k] ^= 16;
            assert_int_equal(pl_tetrahedral_load(b.body, bytes, size, NULL), PL_ERROR_FORMAT);
            bytes[k] ^= 16;
        }
        assert_int_equal(pl_tetrahedral_load(b.body, bytes, size - 1, NULL), PL_ERROR_FORMAT);
        assert_int_equal(pl_tetrahedral_load(b.body, bytes, size, NULL), PL_OK);
        march(&a, 4, STEPS);
        march(&b, 4, STEPS);
        assert_memory_equal(a.x, b.x, floats * sizeof(float));
        free(bytes);
        tet_case_free(&a);
        tet_case_free(&b);
    }
}

static void test_allocations(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        tet_case c;
        start(&c, kind, 0);
        uint64_t before = c.memory.allocations;
        march(&c, 4, STEPS);
        assert_true(c.memory.allocations == before);
        tet_case_free(&c);
        assert_int_equal(c.memory.used, 0);
    }
}

/* Every allocation fails once: an error, and nothing is kept. */
static void test_no_memory(void **state)
{
    (void)state;
    for (int kind = 3; kind < 6; kind++) {
        tet_case c;
        start(&c, kind, 0);
        for (int64_t at = 0;; at++) {
            pl_memory memory;
            pl_tet_system *system = NULL;
            pl_tetrahedral *body = NULL;
            pl_memory_init(&memory, NULL, 0);
            memory.fail_at = at;
            pl_status status =
                pl_tet_system_create(&memory, &c.source, &c.def, NULL, &system, NULL);
            if (status == PL_OK)
                status = pl_tetrahedral_create(&memory, system, &body, NULL);
            pl_tetrahedral_destroy(body);
            pl_tet_system_drop(system);
            assert_int_equal(memory.used, 0);
            if (status == PL_OK)
                break;
            assert_int_equal(status, PL_ERROR_MEMORY);
        }
        tet_case_free(&c);
    }
}

static void expect(tet_case *c, const char *where)
{
    pl_error error = {0};
    pl_tet_system *system = NULL;
    assert_int_equal(pl_tet_system_create(&c->memory, &c->source, &c->def, NULL, &system, &error),
                     PL_ERROR_ARGUMENT);
    assert_null(system);
    assert_string_equal(error.where, where);
    assert_true(error.text[0]);
}

#define WRONG(field, value, where)                                                                 \
    do {                                                                                           \
        tet_case copy = c;                                                                         \
        copy.field = (value);                                                                      \
        expect(&copy, where);                                                                      \
    } while (0)

static void test_bad_input(void **state)
{
    (void)state;
    tet_case c;
    start(&c, 0, 0);
    WRONG(source.young, 0, "young");
    WRONG(source.young, -1, "young");
    WRONG(source.young, NAN, "young");
    WRONG(source.density, 0, "density");
    WRONG(source.density, INFINITY, "density");
    WRONG(source.h, 0, "h");
    WRONG(source.tet_count, 0, "tets");
    WRONG(def.poisson, 0.5, "poisson");
    WRONG(def.poisson, -0.1, "poisson");
    WRONG(def.poisson, NAN, "poisson");
    WRONG(def.sampled, 0, "sampled");
    WRONG(def.sampled, 1.5, "sampled");
    WRONG(def.weight_cap, 0, "weight_cap");
    WRONG(def.threshold, 0.6, "threshold");
    WRONG(def.window, 13, "window");
    WRONG(def.yield, -1, "yield");
    WRONG(def.condition, 1, "condition");
    c.def.rotations = PL_TET_FOLDED;
    WRONG(def.poisson, 0.3, "poisson");
    WRONG(def.yield, 1, "yield");
    c.def.rotations = PL_TET_EXACT;
    int32_t corner = c.bar.tets[7];
    c.bar.tets[7] = c.bar.n;
    expect(&c, "tets[1][3]");
    c.bar.tets[7] = corner;
    corner = c.fixed[2];
    c.fixed[2] = -1;
    expect(&c, "fixed[2]");
    c.fixed[2] = corner;
    c.bar.rest[8] = NAN;
    expect(&c, "nodes[2]");
    c.bar.rest[8] = 1;
    for (int i = 0; i < c.bar.n; i++)
        c.bar.rest[3 * i + 1] = 0;
    expect(&c, "tets"); /* all flat */
    tet_case_free(&c);
}

/* Wrong winding, flat and duplicate elements, unused nodes, two pieces, everything fixed. */
static void test_odd_input(void **state)
{
    (void)state;
    static const float rest[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0},
                                    {5, 5, 5}, {9, 0, 0}, {10, 0, 0}, {9, 1, 0}, {9, 0, 1}};
    static const int32_t tets[][4] = {
        {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 2, 4}, {1, 2, 4, 3}, {6, 7, 8, 9}};
    static const int32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (int kind = 0; kind < KINDS; kind++)
        for (int fixed = 0; fixed < 3; fixed++) {
            pl_memory memory;
            pl_memory_init(&memory, NULL, 0);
            pl_tetrahedral_def def = material(kind);
            pl_tet_source source = {.n = 10,
                                    .rest = rest[0],
                                    .tet_count = 5,
                                    .tets = tets[0],
                                    .young = 1000,
                                    .density = 1,
                                    .h = 0.01,
                                    .fixed_count = fixed == 0   ? 0
                                                   : fixed == 1 ? 1
                                                                : 10,
                                    .fixed = all};
            pl_tet_system *system;
            pl_tetrahedral *body;
            assert_int_equal(pl_tet_system_create(&memory, &source, &def, NULL, &system, NULL),
                             PL_OK);
            assert_int_equal(pl_tetrahedral_create(&memory, system, &body, NULL), PL_OK);
            pl_tet_counts counts = pl_tet_system_counts(system);
            assert_int_equal(counts.tets, 3);
            assert_int_equal(counts.flat, 1);
            assert_int_equal(counts.turned, 2);
            assert_int_equal(counts.duplicate, 1);
            assert_int_equal(counts.unused, 1);
            assert_int_equal(counts.pieces, 2);
            assert_true(fabs(counts.volume - 0.5) < 1e-6 &&
                        fabs(counts.mass - counts.volume) < 1e-9);
            float x[10][3], u[10][3] = {{0}};
            double targets[10][7] = {{0}};
            for (int i = 0; i < 10; i++)
                for (int k = 0; k < 3; k++)
                    targets[i][k] = (double)rest[i][k] + (fixed == 2 ? 1 : 0);
            u[5][0] = 1;
            pl_tet_motion motion = {.from = rest[0], .u = u[0], .targets = targets[0], .x = x[0]};
            pl_tetrahedral_solve(&body, &motion, 1, 5, NULL);
            for (int i = 0; i < 10; i++)
                for (int k = 0; k < 3; k++) {
                    double goal = (double)rest[i][k] + (fixed == 2         ? 1
                                                        : i == 5 && k == 0 ? 0.01
                                                                           : 0);
                    assert_true(fabs((double)x[i][k] - goal) < 1e-6);
                }
            u[6][1] = NAN; /* mended and counted */
            u[0][1] = INFINITY;
            pl_tetrahedral_solve(&body, &motion, 1, 5, NULL);
            for (int i = 0; i < 30; i++)
                assert_true(fabsf((&x[0][0])[i]) < 20);
            assert_true(pl_tetrahedral_get_report(body).mended >= 2);
            pl_tetrahedral_destroy(body);
            pl_tet_system_drop(system);
            assert_int_equal(memory.used, 0);
        }
}

/* Pulled beyond the yield and let go: a bar keeps most of it, and its volume; one below the yield
   keeps nothing. */
static void test_flow(void **state)
{
    (void)state;
    for (int flows = 0; flows < 2; flows++) {
        tet_case c;
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        def.yield = flows ? 0.05 : 0.5;
        def.flow = 20;
        tet_case_make(&c, tet_bar_make(12, 3, 3, 1), def, 1e5, 1.0 / 60, -1);
        for (int i = 0; i < c.bar.n; i++)
            for (int k = 0; k < 3; k++)
                c.x[3 * i + k] *= k == 0 ? 1.3f : 0.87706f; /* volume 1 */
        for (int k = 0; k < 60; k++)
            pl_tetrahedral_flow(c.body, c.x, NULL);
        c.motion.damping = 10;
        for (int k = 0; k < 120; k++)
            tet_case_step(&c, 10);
        double length = (double)c.x[3 * tet_bar_node(&c.bar, 12, 1, 1)] -
                        (double)c.x[3 * tet_bar_node(&c.bar, 0, 1, 1)];
        double width = (double)c.x[3 * tet_bar_node(&c.bar, 6, 3, 1) + 1] -
                       (double)c.x[3 * tet_bar_node(&c.bar, 6, 0, 1) + 1];
        double expected = flows ? 1.25 : 1;
        if (!(fabs(length / 12 - expected) < 0.02) ||
            !(fabs(length / 12 * width / 3 * width / 3 - 1) < 0.01))
            fail_msg("length %g, width %g", length / 12, width / 3);
        float *frame = tet_room(9 * (size_t)c.bar.n, sizeof(float));
        pl_tetrahedral_frames(c.body, c.x, 0, frame);
        for (int i = 0; i < c.bar.n; i++)
            assert_true(fabs((double)frame[9 * i] - length / 12) < 0.02 &&
                        fabs((double)frame[9 * i + 1]) < 0.02);
        free(frame);
        tet_case_free(&c);
    }
}

/* However fast it flows, an element drawn far keeps what the limit allows: stretches a and a^-½
   differ by 6 at a = 3.302. */
static void test_flow_to_limit(void **state)
{
    (void)state;
    for (double flow = 10; flow < 1e4; flow *= 10) {
        tet_case c;
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        def.yield = 0.05;
        def.flow = flow;
        tet_case_make(&c, tet_bar_make(4, 1, 1, 1), def, 1e5, 1.0 / 60, -1);
        for (int i = 0; i < 3 * c.bar.n; i++)
            c.x[i] *= i % 3 == 0 ? 3.5f : 0.534522f;
        for (int k = 0; k < 120; k++)
            pl_tetrahedral_flow(c.body, c.x, NULL);
        for (int e = 0; e < c.bar.tet_count; e++) {
            int slot = c.system->slot[e];
            double along = (double)c.body->plastic[slot / 16 * 9 * 16 + slot % 16];
            if (!(fabs(along - 3.302) < 0.005))
                fail_msg("flow %g: element %d keeps %g", flow, e, along);
        }
        tet_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flow_to_limit),
                                       cmocka_unit_test(test_widths),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_rooms_keep_nothing),
                                       cmocka_unit_test(test_save),
                                       cmocka_unit_test(test_allocations),
                                       cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_bad_input),
                                       cmocka_unit_test(test_odd_input),
                                       cmocka_unit_test(test_flow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

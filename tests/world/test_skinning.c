/* Skinned surfaces: the kernel against plain C, many bodies against one, rest and rigid motions,
   degenerate bodies, bad requests, memory. Label: serial. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/quat.h"
#include "math/simd.h"
#include "support/world_kit.h"
#include "world/skin_lanes.h"

/* ---- The kernel against plain C -------------------------------------------------------------- */

enum { MOST_VERTICES = 41, MOST_PARTICLES = 12, GUARD = 0xAB };

typedef struct span_case {
    pl_rng rng;
    float poses[(MOST_PARTICLES + 1) * PL_POSE] __attribute__((aligned(64)));
    int32_t influences[MOST_VERTICES * PL_MAX_INFLUENCES];
    float weights[MOST_VERTICES * PL_MAX_INFLUENCES];
    float *vertices, *normals, *tangents; /* exactly as long as needed: the sanitizer sees more */
    pl_skin_span span;
} span_case;

static float number(pl_rng *rng)
{
    return pl_random_between(rng, -2, 2);
}

static float *numbers(pl_rng *rng, int count)
{
    float *out = malloc(sizeof(float) * (size_t)count + 1);
    for (int i = 0; i < count; i++)
        out[i] = number(rng);
    return out;
}

static void make_span(span_case *c, uint64_t seed)
{
    c->rng = pl_rng_make(seed);
    pl_rng *rng = &c->rng;
    int count = (int)pl_random_below(rng, MOST_VERTICES + 1);
    int k = pl_random_below(rng, 3) ? 4 : 1 + (int)pl_random_below(rng, PL_MAX_INFLUENCES);
    for (int i = 0; i < (MOST_PARTICLES + 1) * PL_POSE; i++)
        c->poses[i] = i < PL_POSE || i % PL_POSE >= 12 ? 0 : number(rng);
    bool still = pl_random_below(rng, 8) == 0; /* nothing left of normals */
    for (int i = PL_POSE; i < (MOST_PARTICLES + 1) * PL_POSE && still; i++)
        c->poses[i] = i % 4 == 3 ? c->poses[i] : 0;
    for (int i = 0; i < count * k; i++) {
        bool none = i % k > 0 && pl_random_below(rng, 4) == 0;
        c->influences[i] = none ? -1 : (int32_t)pl_random_below(rng, MOST_PARTICLES);
        c->weights[i] = none ? 0 : pl_random_float(rng);
    }
    c->vertices = numbers(rng, 3 * count);
    c->normals = numbers(rng, 3 * count);
    c->tangents = numbers(rng, 4 * count);
    c->span = (pl_skin_span){.count = count,
                             .poses = c->poses + PL_POSE,
                             .influence_count = k,
                             .influences = c->influences,
                             .weights = c->weights,
                             .vertices = c->vertices,
                             .normals = c->normals,
                             .tangents = c->tangents,
                             .origin = {1e3 * (double)number(rng), (double)number(rng), 1e6}};
}

static void free_span(span_case *c)
{
    free(c->vertices), free(c->normals), free(c->tangents);
}

/* One row of the blend times (v, 1) or (v, 0), in the order of operations the kernel promises. */
static float row_times(const pl_skin_span *s, int vertex, int row, const float v[3], bool is_point)
{
    float blend[4], product[4];
    for (int c = 0; c < 4; c++)
        for (int j = 0; j < s->influence_count; j++) {
            int at = vertex * s->influence_count + j;
            float part = s->weights[at] * s->poses[PL_POSE * s->influences[at] + 4 * row + c];
            blend[c] = j ? blend[c] + part : part;
        }
    for (int c = 0; c < 3; c++)
        product[c] = blend[c] * v[c];
    product[3] = is_point ? blend[3] : 0;
    return (product[0] + product[2]) + (product[1] + product[3]);
}

static void reference_direction(const pl_skin_span *s, int vertex, const float *v, int axis,
                                double out[3])
{
    float d[3];
    for (int r = 0; r < 3; r++)
        d[r] = row_times(s, vertex, r, v, false);
    float length2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    bool usable = length2 > 1e-30f && length2 < 1e30f;
    float inverse = 1 / sqrtf(length2);
    for (int r = 0; r < 3; r++)
        out[r] = usable ? (double)(d[r] * inverse) : r == axis;
}

static void reference(const pl_skin_span *s, int vertex, int what, double out[4])
{
    if (what == 0)
        for (int r = 0; r < 3; r++)
            out[r] = (double)row_times(s, vertex, r, s->vertices + 3 * vertex, true) + s->origin[r];
    else if (what == 1)
        reference_direction(s, vertex, s->normals + 3 * vertex, 1, out);
    else {
        reference_direction(s, vertex, s->tangents + 4 * vertex, 0, out);
        out[3] = (double)s->tangents[4 * vertex + 3];
    }
}

/* What was asked for, bit by bit, and nothing beside it. */
static void check_output(const pl_skin_span *s, int what, pl_buffer out, const unsigned char *bytes,
                         size_t before, size_t size)
{
    int scalars = what == 2 ? 4 : 3;
    size_t scalar = out.type == PL_F64 ? 8 : 4;
    size_t stride = out.stride ? out.stride : (size_t)scalars * scalar;
    unsigned char *want = malloc(size);
    memset(want, GUARD, size);
    for (int v = 0; v < s->count; v++) {
        double value[4];
        reference(s, v, what, value);
        for (int k = 0; k < scalars; k++) {
            float narrow = (float)value[k];
            memcpy(want + before + (size_t)v * stride + (size_t)k * scalar,
                   out.type == PL_F64 ? (void *)&value[k] : &narrow, scalar);
        }
    }
    assert_memory_equal(bytes, want, size);
    free(want);
}

static pl_buffer random_buffer(pl_rng *rng, int count, int scalars, size_t *before,
                               unsigned char **bytes, size_t *size)
{
    pl_buffer out = {.type = pl_random_below(rng, 2) ? PL_F64 : PL_F32};
    size_t packed = (size_t)scalars * (out.type == PL_F64 ? 8 : 4);
    static const size_t gaps[] = {0, 0, 1, 4, 20};
    size_t gap = gaps[pl_random_below(rng, 5)], stride = packed + gap;
    out.stride = gap || pl_random_below(rng, 2) ? stride : 0;
    *before = pl_random_below(rng, 2) ? 0 : pl_random_below(rng, 9);
    *size = *before + (size_t)count * stride + 5;
    *bytes = malloc(*size);
    memset(*bytes, GUARD, *size);
    out.data = *bytes + *before;
    return out;
}

static void check_span(span_case *c, int width)
{
    unsigned char *bytes[3];
    size_t before[3], size[3];
    pl_skin_span s = c->span;
    pl_buffer *outs[3] = {&s.positions_out, &s.normals_out, &s.tangents_out};
    pl_rng rng = c->rng;
    int wanted = 1 + (int)pl_random_below(&rng, 7);
    for (int w = 0; w < 3; w++) {
        *outs[w] = random_buffer(&rng, s.count, w == 2 ? 4 : 3, before + w, bytes + w, size + w);
        if (!(wanted >> w & 1))
            outs[w]->data = NULL;
    }
    pl_skin_function_of(width)(&s);
    for (int w = 0; w < 3; w++) {
        if (outs[w]->data)
            check_output(&c->span, w, *outs[w], bytes[w], before[w], size[w]);
        free(bytes[w]);
    }
}

static void every_width_gives_the_bits_of_plain_c(void **state)
{
    (void)state;
    int cases = world_scaled(6000);
    for (int i = 0; i < cases; i++) {
        span_case c;
        make_span(&c, (uint64_t)i);
        for (int width = 4; width <= 16; width *= 2)
            if (pl_skin_function_of(width))
                check_span(&c, width);
        free_span(&c);
    }
    assert_true(pl_skin_function_of(pl_simd_width()) != NULL);
}

/* ---- Models ---------------------------------------------------------------------------------- */

/* A random cloud with a surface of random triangles, tangents included. `scale` in metres. */
static pl_model *cloud_model(uint64_t seed, double scale, double place)
{
    enum { MOST = 60, VERTICES = 150 };
    pl_rng rng = pl_rng_make(seed);
    int n = 1 + (int)pl_random_below(&rng, MOST), m = 0;
    static double positions[3 * MOST], radii[3 * MOST], vertices[3 * VERTICES];
    static float normals[3 * VERTICES], tangents[4 * VERTICES];
    static int32_t edges[2 * MOST], triangles[3 * VERTICES];
    for (int i = 0; i < 3 * n; i++) {
        positions[i] = place + scale * 4 * pl_random_double(&rng);
        radii[i] = scale * (0.2 + pl_random_double(&rng));
    }
    for (int i = 1; i < n; i++, m++)
        edges[2 * m] = i, edges[2 * m + 1] = (int32_t)pl_random_below(&rng, (uint32_t)i);
    for (int i = 0; i < 3 * VERTICES; i++) {
        vertices[i] = place + scale * 4 * pl_random_double(&rng);
        triangles[i] = (int32_t)pl_random_below(&rng, VERTICES);
    }
    for (int v = 0; v < VERTICES; v++) {
        pl_vec3 a = pl_v3_normalise((pl_vec3){(double)number(&rng), (double)number(&rng), 0.3});
        pl_vec3 b = pl_v3_normalise((pl_vec3){a.y, -a.x, 0});
        memcpy(normals + 3 * v, (float[3]){(float)a.x, (float)a.y, (float)a.z}, 12);
        memcpy(tangents + 4 * v, (float[4]){(float)b.x, (float)b.y, 0, v % 3 ? 1 : -1}, 16);
    }
    pl_look look = {.normals = seed % 2 ? normals : NULL, .tangents = tangents};
    pl_model_def def = pl_default_model_def();
    def.particle_count = n;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edge_count = m;
    def.edges = edges;
    def.vertex_count = VERTICES;
    def.vertices = pl_doubles(vertices, 0);
    def.triangle_count = VERTICES;
    def.triangles = triangles;
    def.look = &look;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    return model;
}

typedef struct surface {
    int count;
    double *x, *n, *t;
} surface;

static surface make_surface(const pl_model *model)
{
    surface s = {.count = pl_model_get_info(model).vertex_count};
    s.x = malloc(sizeof(double) * 3 * (size_t)s.count);
    s.n = malloc(sizeof(double) * 3 * (size_t)s.count);
    s.t = malloc(sizeof(double) * 4 * (size_t)s.count);
    return s;
}

static void free_surface(surface *s)
{
    free(s->x), free(s->n), free(s->t);
}

static surface skin_one(pl_world *world, pl_body body, double fraction, bool with_tangents)
{
    surface s = make_surface(pl_body_model(world, body));
    pl_skin_request request = {.body = body,
                               .fraction = fraction,
                               .positions = pl_doubles(s.x, 0),
                               .normals = pl_doubles(s.n, 0)};
    if (with_tangents)
        request.tangents = pl_doubles(s.t, 0);
    assert_int_equal(pl_world_skin(world, &request, 1), PL_OK);
    return s;
}

static double size_of(const pl_model *model)
{
    surface s = make_surface(model);
    double size = 0;
    assert_int_equal(pl_model_read(model, PL_REST_VERTICES, 0, s.count, pl_doubles(s.x, 0)), PL_OK);
    for (int i = 3; i < 3 * s.count; i++)
        size = fmax(size, fabs(s.x[i] - s.x[i % 3]));
    free_surface(&s);
    return size;
}

/* ---- Rest and rigid motion ------------------------------------------------------------------- */

/* The rest surface, turned and moved. */
static void check_rigid(pl_world *world, pl_body body, pl_quat turn, const double shift[3],
                        double slack)
{
    pl_model *model = pl_body_model(world, body);
    surface rest = make_surface(model), now = skin_one(world, body, 1, true);
    double tolerance = 1e-5 * size_of(model) + slack;
    assert_int_equal(pl_model_read(model, PL_REST_VERTICES, 0, rest.count, pl_doubles(rest.x, 0)),
                     PL_OK);
    assert_int_equal(pl_model_read(model, PL_REST_NORMALS, 0, rest.count, pl_doubles(rest.n, 0)),
                     PL_OK);
    const float *tangents = pl_model_look(model)->tangents;
    for (int v = 0; v < rest.count; v++) {
        const double *x = rest.x + 3 * v, *n = rest.n + 3 * v;
        const float *t = tangents + 4 * v;
        pl_vec3 at = pl_quat_rotate(turn, (pl_vec3){x[0], x[1], x[2]});
        pl_vec3 up = pl_quat_rotate(turn, (pl_vec3){n[0], n[1], n[2]});
        pl_vec3 along = pl_quat_rotate(turn, (pl_vec3){(double)t[0], (double)t[1], (double)t[2]});
        assert_true(fabs(now.x[3 * v] - at.x - shift[0]) <= tolerance);
        assert_true(fabs(now.x[3 * v + 1] - at.y - shift[1]) <= tolerance);
        assert_true(fabs(now.x[3 * v + 2] - at.z - shift[2]) <= tolerance);
        const double *m = now.n + 3 * v, *s = now.t + 4 * v;
        assert_true(fabs(m[0] - up.x) + fabs(m[1] - up.y) + fabs(m[2] - up.z) < 3e-6);
        assert_true(fabs(s[0] - along.x) + fabs(s[1] - along.y) + fabs(s[2] - along.z) < 3e-6);
        assert_true(s[3] == (double)t[3]);
    }
    free_surface(&rest);
    free_surface(&now);
}

static void rest_and_rigid_motion_are_reproduced(void **state)
{
    (void)state;
    static const double scales[] = {1, 1e-6, 1e6, 0.01};
    int cases = world_scaled(400);
    for (int i = 0; i < cases; i++) {
        double scale = scales[i % 4], far = i % 5 == 0 ? 1e6 : i % 3 * scale;
        pl_rng rng = pl_rng_make((uint64_t)i + 77);
        pl_model *model = cloud_model((uint64_t)i, scale, i % 7 == 0 ? 30 * scale : 0);
        pl_world *world = world_empty();
        pl_body_def def = pl_default_body_def(model);
        pl_quat turn = {0, 0, 0, 1};
        if (i % 6)
            turn = pl_quat_normalise((pl_quat){(double)number(&rng), (double)number(&rng),
                                               (double)number(&rng), (double)number(&rng)});
        memcpy(def.rotation, (double[4]){turn.x, turn.y, turn.z, turn.w}, sizeof def.rotation);
        for (int k = 0; k < 3; k++)
            def.position[k] = far * (double)number(&rng);
        pl_body body;
        pl_status status = pl_body_create(world, &def, &body, NULL);
        /* A thousandth of a millimetre at a thousand kilometres is beyond double, and refused. */
        assert_true(status == PL_OK || (scale < 1e-3 && far > 1));
        if (status == PL_OK)
            check_rigid(world, body, turn, def.position, far * 0x1p-50);
        pl_world_destroy(world);
        pl_model_release(model);
    }
}

static void untouched_bodies_show_the_rest_mesh(void **state)
{
    (void)state;
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_model *model = world_model((pl_shape_kind)kind, 0, 0, 0);
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        surface rest = make_surface(model), now = skin_one(world, body, 1, false);
        pl_buffer out = pl_doubles(rest.x, 0);
        assert_int_equal(pl_model_read(model, PL_REST_VERTICES, 0, rest.count, out), PL_OK);
        double size = size_of(model);
        for (int i = 0; i < 3 * rest.count; i++)
            assert_true(fabs(now.x[i] - rest.x[i]) <= 1e-6 * size);
        free_surface(&rest);
        free_surface(&now);
        pl_world_destroy(world);
        pl_model_release(model);
    }
}

/* ---- Many bodies ----------------------------------------------------------------------------- */

/* pl_world_skin, whatever its tasks, gives what pl_body_read gives. */
static void check_against_reading(pl_world *world, const pl_body *bodies, int count)
{
    pl_skin_request *requests = calloc((size_t)count, sizeof *requests);
    float **positions = calloc((size_t)count, sizeof *positions);
    double **normals = calloc((size_t)count, sizeof *normals);
    for (int i = 0; i < count; i++) {
        int vertices = pl_model_get_info(pl_body_model(world, bodies[i])).vertex_count;
        positions[i] = malloc(sizeof(float) * 3 * (size_t)vertices + 1);
        normals[i] = malloc(sizeof(double) * 5 * (size_t)vertices + 1);
        requests[i] = (pl_skin_request){.body = bodies[i],
                                        .fraction = i % 4 / 3.0,
                                        .positions = pl_floats(positions[i], 0),
                                        .normals = pl_doubles(normals[i], 5 * sizeof(double))};
        if (i % 5 == 4)
            requests[i].normals.data = NULL;
    }
    uint64_t allocations = pl_world_allocations(world), hash = pl_world_hash(world);
    assert_int_equal(pl_world_skin(world, requests, count), PL_OK);
    assert_true(pl_world_allocations(world) == allocations && pl_world_hash(world) == hash);
    for (int i = 0; i < count; i++) {
        int vertices = pl_model_get_info(pl_body_model(world, bodies[i])).vertex_count;
        size_t size = sizeof(float) * 3 * (size_t)vertices;
        float *x = malloc(size + 1);
        double *n = malloc(2 * size + 1);
        assert_int_equal(
            pl_body_read(world, bodies[i], PL_VERTICES, 0, vertices, i % 4 / 3.0, pl_floats(x, 0)),
            PL_OK);
        assert_int_equal(
            pl_body_read(world, bodies[i], PL_NORMALS, 0, vertices, i % 4 / 3.0, pl_doubles(n, 0)),
            PL_OK);
        assert_true(!vertices || !memcmp(x, positions[i], size));
        for (int v = 0; v < vertices && i % 5 != 4; v++)
            assert_memory_equal(n + 3 * v, normals[i] + 5 * v, 3 * sizeof *n);
        free(x), free(n), free(positions[i]), free(normals[i]);
    }
    free(requests), free(positions), free(normals);
}

static void many_bodies_give_what_one_gives(void **state)
{
    (void)state;
    pl_task_system reverse = world_reverse_tasks(), threads = world_thread_tasks();
    for (int kind = 0; kind < 4; kind++) {
        world_mix mix;
        pl_world_def def = world_mix_def();
        def.threads = kind == 1 ? 3 : 0;
        def.tasks = kind == 2 ? &reverse : kind == 3 ? &threads : NULL;
        world_mix_create(&mix, &def);
        world_mix_run(&mix, 0, 12);
        check_against_reading(mix.world, mix.bodies, mix.body_count);
        /* The same ones again and again: more than fit at once. */
        enum { REPEATED = 2600 };
        pl_body *bodies = malloc(sizeof *bodies * REPEATED);
        for (int i = 0; i < REPEATED; i++)
            bodies[i] = mix.bodies[i * 7 % mix.body_count];
        check_against_reading(mix.world, bodies, world_scaled(REPEATED));
        free(bodies);
        world_mix_destroy(&mix);
    }
}

/* Bodies larger than what is worked on at once, and next to one without a surface. */
static void large_and_bare_bodies_are_served(void **state)
{
    (void)state;
    pl_model *large = world_model(PL_SHAPE_CHAIN, 17000, 0, 0);
    pl_model *small = world_model(PL_SHAPE_BOX, 2, 2, 2);
    pl_model_def def = pl_default_model_def();
    double position[3] = {0}, radii[3] = {1, 1, 1};
    def.particle_count = 1;
    def.positions = pl_doubles(position, 0);
    def.radii = pl_doubles(radii, 0);
    pl_model *bare;
    assert_int_equal(pl_model_create(&def, &bare, NULL), PL_OK);
    pl_world *world = world_empty();
    pl_body bodies[5] = {world_body(world, bare), world_body(world, small),
                         world_body(world, large), world_body(world, small),
                         world_body(world, large)};
    check_against_reading(world, bodies, 5);
    pl_world_destroy(world);
    pl_model_release(large);
    pl_model_release(small);
    pl_model_release(bare);
}

/* Any range of vertices reads the same bits. */
static void ranges_are_cut_from_the_whole(void **state)
{
    (void)state;
    pl_model *model = cloud_model(5, 1, 0);
    pl_world *world = world_empty();
    pl_body body = world_body_at(world, model, 3, -2, 1e4);
    world_step(world, 3);
    surface all = skin_one(world, body, 0.4, true);
    pl_rng rng = pl_rng_make(3);
    for (int i = 0; i < world_scaled(2000); i++) {
        int first = (int)pl_random_below(&rng, (uint32_t)all.count + 1);
        int count = (int)pl_random_below(&rng, (uint32_t)(all.count - first) + 1);
        double part[4 * 150];
        for (int field = PL_VERTICES; field <= PL_TANGENTS; field++) {
            int scalars = field == PL_TANGENTS ? 4 : 3;
            const double *want = field == PL_VERTICES ? all.x : field == PL_NORMALS ? all.n : all.t;
            assert_int_equal(pl_body_read(world, body, (pl_body_field)field, first, count, 0.4,
                                          pl_doubles(part, 0)),
                             PL_OK);
            assert_memory_equal(part, want + scalars * first,
                                sizeof *part * (size_t)(scalars * count));
        }
    }
    free_surface(&all);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Degenerate bodies ----------------------------------------------------------------------- */

static void check_finite(pl_world *world, pl_body body)
{
    surface s = skin_one(world, body, 1, true);
    for (int v = 0; v < s.count; v++) {
        const double *n = s.n + 3 * v, *t = s.t + 4 * v;
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(s.x[3 * v + k]));
        assert_true(fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-5);
        assert_true(fabs(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] - 1) < 1e-5);
        assert_true(fabs(t[3]) == 1);
    }
    free_surface(&s);
}

static void collapsed_and_torn_bodies_have_directions(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (uint64_t)world_scaled(60); seed++) {
        pl_model *model = cloud_model(seed, 1, 0);
        int n = pl_model_get_info(model).particle_count;
        pl_world *world = world_empty();
        pl_body body = world_body(world, model);
        double x[3 * 60] = {0}, q[4 * 60] = {0};
        for (int i = 0; i < n; i++) {
            if (seed % 3 == 1)
                x[3 * i] = i % 2 ? 1e12 : -1e12;
            q[4 * i + i % 4] = 1; /* half turns against each other: sums may vanish */
        }
        assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
        assert_int_equal(pl_body_write(world, body, PL_ROTATIONS, 0, n, pl_doubles(q, 0)), PL_OK);
        check_finite(world, body);
        world_step(world, 2);
        check_finite(world, body);
        pl_world_destroy(world);
        pl_model_release(model);
    }
}

/* Two particles of equal weight, turned against each other: nothing is left of the normal. */
static void cancelled_directions_are_replaced(void **state)
{
    (void)state;
    double positions[6] = {-1, 0, 0, 1, 0, 0}, radii[6] = {1, 1, 1, 1, 1, 1}, vertex[3] = {0};
    int32_t edges[2] = {0, 1}, influences[2] = {0, 1};
    float weights[2] = {1, 1}, normal[3] = {0, 0, 1}, tangent[4] = {0, 1, 0, -1};
    pl_look look = {.normals = normal, .tangents = tangent};
    pl_model_def def = pl_default_model_def();
    def.particle_count = 2;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edge_count = 1;
    def.edges = edges;
    def.vertex_count = 1;
    def.vertices = pl_doubles(vertex, 0);
    def.influence_count = 2;
    def.influences = influences;
    def.weights = weights;
    def.look = &look;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model);
    double turned[4] = {1, 0, 0, 0};
    assert_int_equal(pl_body_write(world, body, PL_ROTATIONS, 1, 1, pl_doubles(turned, 0)), PL_OK);
    surface s = skin_one(world, body, 1, true);
    assert_true(s.n[0] == 0 && s.n[1] == 1 && s.n[2] == 0);
    assert_true(s.t[0] == 1 && s.t[1] == 0 && s.t[2] == 0 && s.t[3] == -1);
    free_surface(&s);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Bad requests ---------------------------------------------------------------------------- */

static pl_world *inner_world;
static pl_skin_request inner_request;
static pl_status inner_status;

static void skin_from_inside(void *user, const pl_field_query *query)
{
    (void)user, (void)query;
    inner_status = pl_world_skin(inner_world, &inner_request, 1);
}

/* The good request before the bad one is not served either. */
static void expect_refusal(pl_world *world, pl_skin_request good, pl_skin_request bad,
                           pl_status want)
{
    float *out = good.positions.data;
    pl_skin_request both[2] = {good, bad};
    int broken = world_broken_promises();
    out[0] = 123;
    assert_int_equal(pl_world_skin(world, both, 2), want);
    assert_int_equal(world_broken_promises(), broken + 1);
    assert_true(out[0] == 123);
}

static void bad_requests_are_refused_whole(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 2, 2, 2);
    int count = pl_model_get_info(model).vertex_count;
    float *a = malloc(sizeof(float) * 3 * (size_t)count);
    double *b = malloc(sizeof(double) * 4 * (size_t)count);
    pl_world *world = world_empty();
    pl_body body = world_body(world, model), gone = world_body(world, model);
    assert_int_equal(pl_body_destroy(world, gone), PL_OK);
    pl_skin_request good = {.body = body, .fraction = 1, .positions = pl_floats(a, 0)};
    pl_skin_request other = {.body = body, .fraction = 0, .positions = pl_doubles(b, 0)};
    pl_skin_request bad = other;
    bad.body = gone;
    expect_refusal(world, good, bad, PL_ERROR_HANDLE);
    bad.body = (pl_body){0, 0};
    expect_refusal(world, good, bad, PL_ERROR_HANDLE);
    static const double fractions[] = {NAN, -0.001, 1.001, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        bad = other;
        bad.fraction = fractions[i];
        expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    }
    bad = other;
    bad.positions.data = NULL;
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    bad = other;
    bad.positions.stride = 3 * sizeof(double) - 1;
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    bad.positions = pl_floats((float *)b, 11);
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    bad = other;
    bad.positions.type = (pl_scalar)7;
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    bad = other;
    bad.normals = pl_doubles(b, 8);
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    bad = other;
    bad.tangents = pl_doubles(b, 0); /* there are none */
    expect_refusal(world, good, bad, PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_skin(world, NULL, 1), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_skin(world, &good, -1), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_skin(NULL, &good, 1), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_world_skin(world, NULL, 0), PL_OK);
    assert_int_equal(pl_body_read(world, body, PL_TANGENTS, 0, 1, 1, pl_doubles(b, 0)),
                     PL_ERROR_ARGUMENT);
    inner_world = world;
    inner_request = good;
    assert_int_equal(pl_world_set_field(world, skin_from_inside, NULL), PL_OK);
    a[0] = 123;
    world_step(world, 1);
    assert_int_equal(inner_status, PL_ERROR_STATE);
    assert_true(a[0] == 123);
    assert_int_equal(pl_world_skin(world, &good, 1), PL_OK);
    assert_true(a[0] != 123);
    pl_world_destroy(world);
    pl_model_release(model);
    free(a), free(b);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A body that cannot be made for want of memory leaves a world that still skins the others. */
static void bodies_without_memory_leave_the_room_usable(void **state)
{
    (void)state;
    pl_model *small = world_model(PL_SHAPE_BOX, 2, 2, 2),
             *large = world_model(PL_SHAPE_BOX, 5, 5, 5);
    for (int fail = 0;; fail++) {
        world_heap heap;
        world_heap_init(&heap);
        pl_world_def def = pl_default_world_def();
        def.allocator = &heap.allocator;
        pl_world *world;
        assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
        pl_body bodies[2] = {world_body(world, small)};
        heap.fail_from = heap.calls + fail;
        pl_body_def body = pl_default_body_def(large);
        pl_status status = pl_body_create(world, &body, bodies + 1, NULL);
        check_against_reading(world, bodies, status == PL_OK ? 2 : 1);
        heap.fail_from = -1;
        pl_world_destroy(world);
        assert_int_equal(heap.blocks, 0);
        if (status == PL_OK)
            break;
        assert_int_equal(status, PL_ERROR_MEMORY);
    }
    pl_model_release(small);
    pl_model_release(large);
}

static void restored_worlds_have_room(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 3, 3, 3);
    pl_world *world = world_empty(), *other = world_empty();
    pl_body bodies[2] = {world_body(world, model), world_body_at(world, model, 5, 0, 0)};
    size_t size;
    void *bytes = world_snapshot(world, &size);
    assert_int_equal(pl_world_restore(other, bytes, size, &model, 1, NULL), PL_OK);
    check_against_reading(other, bodies, 2);
    assert_int_equal(pl_world_restore(world, bytes, size, NULL, 0, NULL), PL_OK);
    check_against_reading(world, bodies, 2);
    free(bytes);
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
}

int main(void)
{
    world_hush();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_gives_the_bits_of_plain_c),
        cmocka_unit_test(rest_and_rigid_motion_are_reproduced),
        cmocka_unit_test(untouched_bodies_show_the_rest_mesh),
        cmocka_unit_test(many_bodies_give_what_one_gives),
        cmocka_unit_test(large_and_bare_bodies_are_served),
        cmocka_unit_test(ranges_are_cut_from_the_whole),
        cmocka_unit_test(collapsed_and_torn_bodies_have_directions),
        cmocka_unit_test(cancelled_directions_are_replaced),
        cmocka_unit_test(bad_requests_are_refused_whole),
        cmocka_unit_test(bodies_without_memory_leave_the_room_usable),
        cmocka_unit_test(restored_worlds_have_room),
    };
    return cmocka_run_group_tests_name("world/skinning", tests, NULL, NULL);
}

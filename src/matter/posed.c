/* Oriented particles with a modified rest shape: their memory, plastic flow, bytes, and the kernels
   at the width in use. */
#include "matter/posed.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "matter/posed_lanes.h"

static const uint32_t plasticity_cookie = 0x706c7063;

pl_plasticity_def pl_default_plasticity_def(void)
{
    return (pl_plasticity_def){.yield = 0.05, .flow = 50, .limit = 2, .cookie = plasticity_cookie};
}

static pl_status check_plasticity(const pl_plasticity_def *def, pl_error *error)
{
    PL_REQUIRE(def->cookie == plasticity_cookie, PL_ERROR_ARGUMENT, error, "plasticity.cookie",
               "the definition was not made by pl_default_plasticity_def");
    PL_CHECK(def->yield >= 0, PL_ERROR_ARGUMENT, error, "plasticity.yield",
             "is %g; use a strain of 0 or more (infinity = nothing flows)", def->yield);
    PL_CHECK(def->flow > 0 && isfinite(def->flow), PL_ERROR_ARGUMENT, error, "plasticity.flow",
             "is %g; use a positive rate per second (50 is usual)", def->flow);
    PL_CHECK(isfinite(def->hardening), PL_ERROR_ARGUMENT, error, "plasticity.hardening",
             "is %g; use a finite number (0 = none)", def->hardening);
    PL_CHECK(def->limit > 0 && def->limit <= 100, PL_ERROR_ARGUMENT, error, "plasticity.limit",
             "is %g; use a strain above 0, up to 100", def->limit);
    return PL_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { CONSTANTS = 17, MEASURES = 10, TARGETS = 7, LANES = PL_POSED_LANES, WIDTH = PL_POSED_WIDTH };

static bool allocate(pl_posed *p, size_t m, size_t blocks)
{
    pl_memory *memory = p->memory;
    size_t directed = 2 * blocks * WIDTH * LANES;
    return (p->flowed = PL_NEW(memory, float, directed)) &&
           (p->blend = PL_NEW(memory, float, directed)) &&
           (p->present = PL_NEW(memory, float, directed)) &&
           (p->worked = PL_NEW(memory, float, blocks *LANES)) &&
           (p->strain = PL_NEW(memory, float, blocks *LANES)) &&
           (p->ends = PL_NEW(memory, int32_t, blocks * 2 * LANES)) &&
           (p->places = PL_NEW(memory, int32_t, blocks * 2 * LANES)) &&
           (p->rest = PL_NEW(memory, float, blocks * 3 * LANES)) &&
           (p->target = PL_NEW(memory, float, 2 * blocks * TARGETS * LANES)) &&
           (p->shape = PL_NEW(memory, float, blocks *CONSTANTS *LANES)) &&
           (p->constant = PL_NEW(memory, double, blocks *CONSTANTS *LANES)) &&
           (p->measured = PL_NEW(memory, double, blocks *MEASURES *LANES)) &&
           (p->around = pl_memory_alloc(memory, 2 * m, PL_POSED_STAR_SIZE)) &&
           (p->spring = pl_memory_alloc(memory, m, PL_POSED_SPRING_SIZE));
}

static void enter_edge(pl_posed *p, int e)
{
    const pl_model *model = p->model;
    size_t block = (size_t)e / LANES, lane = (size_t)e % LANES;
    int a = model->edges[2 * e], b = model->edges[2 * e + 1];
    const float *d = model->edge_offset + 3 * e;
    double va = model->volumes[a], vb = model->volumes[b];
    double length2 = (double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2];
    double scale = 1 / ((va + vb) * length2);
    p->ends[2 * LANES * block + lane] = a;
    p->ends[2 * LANES * block + LANES + lane] = b;
    for (size_t k = 0; k < 3; k++)
        p->rest[(3 * block + k) * LANES + lane] = d[k];
    float *shape = p->shape + block * CONSTANTS * LANES + lane;
    shape[0] = (float)scale;
    shape[LANES] = (float)(scale * vb);
    shape[2 * LANES] = (float)(scale * va);
    for (int k = 0; k < 6; k++) {
        shape[(3 + k) * LANES] = (float)model->moments[6 * a + k];
        shape[(9 + k) * LANES] = (float)model->moments[6 * b + k];
    }
}

static void enter_places(pl_posed *p)
{
    const pl_model *model = p->model;
    for (int i = 0; i < model->particle_count; i++)
        for (int k = model->start[i]; k < model->start[i + 1]; k++) {
            int e = model->edge_of[k], side = model->edges[2 * e] == i ? 0 : LANES;
            p->places[2 * LANES * (e / LANES) + side + e % LANES] = k;
        }
}

pl_status pl_posed_create(pl_memory *memory, const pl_model *model,
                          const pl_plasticity_def *plastic, pl_posed **out, pl_error *error)
{
    *out = NULL;
    if (plastic)
        PL_TRY(check_plasticity(plastic, error));
    pl_posed *p = PL_NEW(memory, pl_posed, 1);
    PL_CHECK(p, PL_ERROR_MEMORY, error, "", "no memory for a modified body");
    p->memory = memory;
    p->model = model;
    p->edge_count = model->edge_count;
    p->blocks = pl_posed_backward(model->edge_count) / LANES;
    p->plastic = plastic ? *plastic : pl_default_plasticity_def();
    if (!plastic)
        p->plastic.yield = (double)INFINITY;
    if (!allocate(p, (size_t)p->edge_count, (size_t)p->blocks)) {
        pl_posed_destroy(p);
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for the targets of %d edges",
                       model->edge_count);
    }
    for (int e = 0; e < p->edge_count; e++)
        enter_edge(p, e);
    enter_places(p);
    pl_posed_renew(p);
    *out = p;
    return PL_OK;
}

void pl_posed_destroy(pl_posed *p)
{
    if (!p)
        return;
    void *blocks[] = {p->flowed, p->blend,  p->present,  p->worked,  p->strain,
                      p->ends,   p->places, p->rest,     p->target,  p->shape,
                      p->around, p->spring, p->constant, p->measured};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(p->memory, blocks[i]);
    pl_examples_destroy(p->examples);
    pl_memory_free(p->memory, p);
}

void pl_posed_set_examples(pl_posed *posed, pl_examples *examples, double beta)
{
    pl_examples_destroy(posed->examples);
    posed->examples = examples;
    posed->beta = beta;
    memset(posed->blend, 0, sizeof(float) * 2 * (size_t)posed->blocks * WIDTH * LANES);
    pl_posed_renew(posed);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct kernels {
    size_t (*scratch)(const pl_system *);
    void (*solve)(const pl_block *, double, int, pl_work *);
    void (*retarget)(pl_posed *);
    void (*strains)(pl_posed *, const float *, const float *);
} kernels;

#define KERNELS(width)                                                                             \
    [PL_SIMD_PLACE(width)] = {pl_posed_scratch_w##width, pl_posed_solve_w##width,                  \
                              pl_posed_retarget_w##width, pl_posed_strains_w##width},

static const kernels *in_use(void)
{
    static const kernels table[] = {PL_SIMD_EACH(KERNELS)};
    return table + PL_SIMD_PLACE(pl_simd_width());
}

size_t pl_posed_scratch(const pl_system *system)
{
    return in_use()->scratch(system);
}

void pl_posed_renew(pl_posed *posed)
{
    in_use()->retarget(posed);
}

void pl_posed_measure(pl_posed *posed, const pl_oriented *body)
{
    in_use()->strains(posed, body->now.x, body->now.q);
}

/* Weights of examples are unknowns, too, and plain iterations move them slowly: acceleration pays
   from the second on. */
static pl_solver way_of(const pl_posed *posed, const pl_oriented *body, int iterations)
{
    if (body->solver == PL_SOLVER_PLAIN)
        return PL_SOLVER_PLAIN;
    if (body->solver == PL_SOLVER_STIFF || posed->examples)
        return PL_SOLVER_FAST;
    return pl_oriented_way(body, iterations);
}

void pl_posed_solve(pl_posed *posed, pl_oriented *body, double h, int iterations, bool backward,
                    pl_work *work)
{
    body->posed = posed;
    pl_block block = {.system = body->system,
                      .solver = way_of(posed, body, iterations),
                      .bodies = &body,
                      .count = 1,
                      .lone = true,
                      .backward = backward};
    in_use()->solve(&block, h, iterations, work);
    pl_oriented_settle(body, h);
}

/* ---- Plastic flow ---------------------------------------------------------------------------- */

/* log of the present turn of an edge, by whichever way round is nearer to `near`. */
static void turn_of(const float *measured, const double near[3], double turn[3])
{
    double v[3], length = 0, along = 0, w = (double)measured[9 * LANES];
    for (int k = 0; k < 3; k++) {
        v[k] = (double)measured[(6 + k) * LANES];
        length += v[k] * v[k];
    }
    length = sqrt(length);
    if (!(length > 0)) {
        turn[0] = turn[1] = turn[2] = 0;
        return;
    }
    double angle = 2 * pl_atan2(w < 0 ? -length : length, fabs(w));
    for (int k = 0; k < 3; k++) {
        v[k] /= length;
        along += v[k] * near[k];
    }
    const double pi = 3.14159265358979323846;
    if (along - angle > pi)
        angle += 2 * pi;
    else if (angle - along > pi)
        angle -= 2 * pi;
    for (int k = 0; k < 3; k++)
        turn[k] = angle * v[k];
}

/* φᵀ (tr Ā I − Ā) φ */
static double turning(const float *moment, const double turn[3])
{
    double m[6];
    for (int k = 0; k < 6; k++)
        m[k] = (double)moment[k * LANES];
    return (m[3] + m[5]) * turn[0] * turn[0] + (m[0] + m[5]) * turn[1] * turn[1] +
           (m[0] + m[3]) * turn[2] * turn[2] -
           2 * (m[1] * turn[0] * turn[1] + m[2] * turn[0] * turn[2] + m[4] * turn[1] * turn[2]);
}

/* e of what has flowed in an edge; `there` and `back` are its two directions. */
static double flowed_strain(const float *shape, const float *there, const float *back)
{
    double ab = 0, ba = 0, turn[2][3];
    for (int k = 0; k < 3; k++) {
        ab += (double)there[k * LANES] * there[k * LANES];
        ba += (double)back[k * LANES] * back[k * LANES];
        turn[0][k] = (double)there[(3 + k) * LANES];
        turn[1][k] = (double)back[(3 + k) * LANES];
    }
    return sqrt((double)shape[LANES] * ab + (double)shape[2 * LANES] * ba +
                (double)shape[0] *
                    (turning(shape + 9 * LANES, turn[0]) + turning(shape + 3 * LANES, turn[1])));
}

/* One direction of an edge: its target goes the part γ towards what is. */
static void follow(const float *measured, int offset, double sign, const float *target,
                   const float *blend, double gamma, float *flowed)
{
    double wanted[3], near[3], turn[3];
    for (int k = 0; k < 3; k++) {
        wanted[k] = (double)flowed[(3 + k) * LANES] + (double)blend[(3 + k) * LANES];
        near[k] = sign * wanted[k];
    }
    turn_of(measured, near, turn);
    for (int k = 0; k < 3; k++) {
        double d = (double)measured[(offset + k) * LANES] - (double)target[k * LANES];
        flowed[k * LANES] = (float)((double)flowed[k * LANES] + gamma * d);
        flowed[(3 + k) * LANES] =
            (float)((double)flowed[(3 + k) * LANES] + gamma * (sign * turn[k] - wanted[k]));
    }
}

static void flow_edge(pl_posed *p, int e, double gamma)
{
    size_t block = (size_t)e / LANES, lane = (size_t)e % LANES;
    size_t back = block + (size_t)p->blocks;
    const float *measured = (const float *)p->measured + block * MEASURES * LANES + lane;
    float *there = p->flowed + block * WIDTH * LANES + lane,
          *return_way = p->flowed + back * WIDTH * LANES + lane;
    follow(measured, 0, 1, p->target + block * TARGETS * LANES + lane,
           p->blend + block * WIDTH * LANES + lane, gamma, there);
    follow(measured, 3, -1, p->target + back * TARGETS * LANES + lane,
           p->blend + back * WIDTH * LANES + lane, gamma, return_way);
    double strain = flowed_strain(p->shape + block * CONSTANTS * LANES + lane, there, return_way);
    for (int k = 0; k < WIDTH && strain > p->plastic.limit; k++) {
        there[k * LANES] = (float)((double)there[k * LANES] * (p->plastic.limit / strain));
        return_way[k * LANES] =
            (float)((double)return_way[k * LANES] * (p->plastic.limit / strain));
    }
}

void pl_posed_flow(pl_posed *posed, const pl_oriented *body, double h)
{
    const pl_plasticity_def *plastic = &posed->plastic;
    if (!isfinite(plastic->yield))
        return;
    pl_posed_measure(posed, body);
    double rate = 1 - pl_exp(-plastic->flow * h);
    bool any = false;
    for (int e = 0; e < posed->edge_count; e++) {
        double strain = (double)posed->strain[e], worked = (double)posed->worked[e];
        double limit = plastic->yield + plastic->hardening * worked;
        limit = limit > 0 ? limit : 0;
        if (!(strain <= 1e6)) /* nothing to learn from */
            continue;
        double sum = worked + h * strain;
        posed->worked[e] = sum < 1e30 ? (float)sum : 1e30f;
        if (!(strain > limit))
            continue;
        flow_edge(posed, e, rate * (strain - limit) / strain);
        any = true;
    }
    if (any)
        pl_posed_renew(posed);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

#define MAGIC UINT32_C(0x53504c50) /* "PLPS" */
enum { VERSION = 1 };

typedef struct header {
    uint32_t magic, version, edge_count, examples;
} header;

static size_t state_size(const pl_posed *p)
{
    return sizeof(float) * (size_t)p->blocks * LANES * (4 * WIDTH + 1);
}

size_t pl_posed_save_size(const pl_posed *posed)
{
    return sizeof(header) + state_size(posed) +
           (posed->examples ? pl_examples_save_size(posed->examples) : 0);
}

void pl_posed_save(const pl_posed *posed, void *bytes)
{
    header h = {MAGIC, VERSION, (uint32_t)posed->edge_count, posed->examples != NULL};
    unsigned char *at = bytes;
    size_t directed = sizeof(float) * 2 * (size_t)posed->blocks * WIDTH * LANES;
    memcpy(at, &h, sizeof h);
    memcpy(at += sizeof h, posed->flowed, directed);
    memcpy(at += directed, posed->blend, directed);
    memcpy(at += directed, posed->worked, sizeof(float) * (size_t)posed->blocks * LANES);
    if (posed->examples)
        pl_examples_save(posed->examples, at + sizeof(float) * (size_t)posed->blocks * LANES);
}

/* No target is further away than this, and nothing has worked more. */
static bool are_sound(const unsigned char *bytes, size_t count, float most)
{
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!(fabsf(value) <= most))
            return false;
    }
    return true;
}

pl_status pl_posed_load(pl_posed *posed, const void *bytes, size_t size, pl_error *error)
{
    header h;
    const unsigned char *at = bytes;
    size_t count = 2 * (size_t)posed->blocks * WIDTH * LANES, edges = (size_t)posed->blocks * LANES;
    size_t directed = sizeof(float) * count;
    PL_CHECK(size >= sizeof h + state_size(posed), PL_ERROR_FORMAT, error, "targets",
             "are cut short");
    memcpy(&h, at, sizeof h);
    PL_CHECK(h.magic == MAGIC && h.version == VERSION, PL_ERROR_FORMAT, error, "targets",
             "are of another kind or version");
    PL_CHECK(h.edge_count == (uint32_t)posed->edge_count && h.examples == (posed->examples != NULL),
             PL_ERROR_FORMAT, error, "targets", "are of another body");
    at += sizeof h;
    PL_CHECK(are_sound(at, 2 * count, 1e6f) && are_sound(at + 2 * directed, edges, 1e30f),
             PL_ERROR_FORMAT, error, "targets", "hold numbers that are none");
    size_t before = sizeof h + state_size(posed);
    if (posed->examples)
        PL_TRY(pl_examples_load(posed->examples, (const unsigned char *)bytes + before,
                                size - before, error));
    memcpy(posed->flowed, at, directed);
    memcpy(posed->blend, at + directed, directed);
    memcpy(posed->worked, at + 2 * directed, sizeof(float) * edges);
    pl_posed_renew(posed);
    return PL_OK;
}

uint64_t pl_posed_digest(const pl_posed *posed)
{
    pl_hash hash;
    size_t directed = 2 * (size_t)posed->blocks * WIDTH * LANES;
    pl_hash_init(&hash, 0);
    pl_hash_f32_array(&hash, posed->flowed, directed);
    pl_hash_f32_array(&hash, posed->blend, directed);
    pl_hash_f32_array(&hash, posed->worked, (size_t)posed->blocks * LANES);
    if (posed->examples)
        pl_hash_f32_array(&hash, pl_examples_weights(posed->examples),
                          (size_t)pl_examples_pose_count(posed->examples) *
                              (size_t)pl_examples_group_count(posed->examples));
    return pl_hash_final(&hash);
}

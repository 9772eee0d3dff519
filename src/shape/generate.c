/* Ready-made shapes: the table of kinds with their defaults, the checking of a definition, and the
   way from a finished shape to a model definition. What each kind looks like is in rods.c,
   lattices.c, creature.c and block.c. */
#include "pliant/shape.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "pliant/pliant.h"
#include "shape/builder.h"

#define SHAPE_COOKIE 0x504C5331u

enum { KINDS = PL_SHAPE_BLOCK + 1, MAX_PARTICLES = 10000000 };

/* Metres: products of three stay finite, and a model is told its own limits when it is made. */
#define MIN_SIZE 1e-12
#define MAX_SIZE 1e12

typedef struct kind_entry {
    const char *name;
    int count[3]; /* default */
    int least[3];
    int most;       /* particles in all */
    double size[3]; /* default, metres */
    void (*build)(pl_shape *shape, const pl_shape_plan *plan);
} kind_entry;

static const kind_entry kinds[KINDS] = {
    [PL_SHAPE_BAR] = {"bar", {20, 1, 1}, {1, 1, 1}, MAX_PARTICLES, {2, 0.2, 0.2}, pl_build_bar},
    [PL_SHAPE_CHAIN] =
        {"chain", {50, 1, 1}, {1, 1, 1}, MAX_PARTICLES, {5, 0.06, 0.06}, pl_build_chain},
    [PL_SHAPE_SHEET] =
        {"sheet", {16, 1, 16}, {1, 1, 1}, MAX_PARTICLES, {1.6, 0.02, 1.6}, pl_build_sheet},
    [PL_SHAPE_BOX] = {"box", {5, 4, 4}, {1, 1, 1}, MAX_PARTICLES, {1, 0.8, 0.8}, pl_build_box},
    [PL_SHAPE_CREATURE] =
        {"creature", {100, 1, 1}, {10, 1, 1}, 10000, {2.4, 1.25, 0.4}, pl_build_creature},
    [PL_SHAPE_KNOT] =
        {"knot", {96, 1, 1}, {12, 1, 1}, MAX_PARTICLES, {0.6, 0.6, 0.2}, pl_build_knot},
    [PL_SHAPE_COIL] = {"coil", {80, 1, 1}, {12, 1, 1}, MAX_PARTICLES, {0.4, 1, 0.4}, pl_build_coil},
    [PL_SHAPE_BLOCK] = {
        "block", {20, 6, 6}, {2, 2, 2}, MAX_PARTICLES, {1.9, 0.5, 0.5}, pl_build_block}};

static bool is_kind(pl_shape_kind kind)
{
    return (int)kind >= 0 && (int)kind < KINDS;
}

/* ---- Definitions --------------------------------------------------------------------------- */

/* A sheet lies in the x-z plane: its second number may stand in the second or the third place. */
static pl_status plan_axes(const pl_shape_def *def, int count[3], pl_error *error)
{
    memcpy(count, def->count, sizeof def->count);
    if (def->kind == PL_SHAPE_SHEET && count[1] > 1 && count[2] == 0) {
        count[2] = count[1];
        count[1] = 0;
    }
    bool solid = def->kind == PL_SHAPE_BOX || def->kind == PL_SHAPE_BLOCK;
    int axes = solid ? 3 : def->kind == PL_SHAPE_SHEET ? 2 : 1;
    PL_CHECK(axes == 3 || (count[1] <= 1 && (axes == 2 || count[2] <= 1)), PL_ERROR_ARGUMENT, error,
             "count", "is %d, %d, %d, but a %s has only %s; leave the other numbers 0",
             def->count[0], def->count[1], def->count[2], kinds[def->kind].name,
             axes == 2 ? "two" : "one");
    return PL_OK;
}

static pl_status plan_counts(const pl_shape_def *def, pl_shape_plan *plan, pl_error *error)
{
    const kind_entry *kind = &kinds[def->kind];
    for (int k = 0; k < 3; k++)
        PL_CHECK(def->count[k] >= 0, PL_ERROR_ARGUMENT, error, "count",
                 "has %d in place %d; it must be positive, or 0 for the default", def->count[k], k);
    PL_TRY(plan_axes(def, plan->count, error));
    int64_t total = 1;
    for (int k = 0; k < 3; k++) {
        plan->count[k] = plan->count[k] ? plan->count[k] : kind->count[k];
        PL_CHECK(plan->count[k] >= kind->least[k], PL_ERROR_ARGUMENT, error, "count",
                 "is %d; a %s needs at least %d particles", plan->count[k], kind->name,
                 kind->least[k]);
        total = total > kind->most ? total : total * plan->count[k];
    }
    PL_CHECK(total <= kind->most, PL_ERROR_ARGUMENT, error, "count",
             "asks for more than the %d particles a %s may have", kind->most, kind->name);
    return PL_OK;
}

static pl_status plan_size(const pl_shape_def *def, pl_shape_plan *plan, pl_error *error)
{
    for (int k = 0; k < 3; k++) {
        double size = def->size[k] == 0 ? kinds[def->kind].size[k] : def->size[k];
        PL_CHECK(isfinite(size) && size >= MIN_SIZE && size <= MAX_SIZE, PL_ERROR_ARGUMENT, error,
                 "size", "has %g in place %d; it must be from %g to %g m, or 0 for the default",
                 size, k, MIN_SIZE, MAX_SIZE);
        plan->size[k] = size;
    }
    return PL_OK;
}

static pl_status check_def(const pl_shape_def *def, pl_shape_plan *plan, pl_error *error)
{
    PL_CHECK(def, PL_ERROR_ARGUMENT, error, "def", "is NULL; it must be a shape definition");
    PL_CHECK(def->cookie == SHAPE_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
             "definition was not made by pl_default_shape_def; start from what that returns");
    PL_CHECK(is_kind(def->kind), PL_ERROR_ARGUMENT, error, "kind",
             "is %d; it must be one of pl_shape_kind, 0 to %d", (int)def->kind, KINDS - 1);
    PL_CHECK(!def->allocator || (def->allocator->alloc && def->allocator->free), PL_ERROR_ARGUMENT,
             error, "allocator", "lacks a function; it needs both alloc and free");
    plan->braced = def->braced;
    PL_TRY(plan_counts(def, plan, error));
    return plan_size(def, plan, error);
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status create(const pl_shape_def *def, pl_shape **out,
                                                  pl_error *error)
{
    pl_shape_plan plan;
    PL_TRY(check_def(def, &plan, error));
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "shape",
             "is NULL; it must be where the shape is to be put");
    pl_memory memory;
    pl_memory_init(&memory, def->allocator, 0);
    pl_shape *shape = PL_NEW(&memory, pl_shape, 1);
    PL_CHECK(shape, PL_ERROR_MEMORY, error, NULL, "no memory for a shape");
    shape->memory = memory;
    kinds[def->kind].build(shape, &plan);
    if (shape->failed) {
        pl_shape_destroy(shape);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the particles and skin of a %s",
                       kinds[def->kind].name);
    }
    *out = shape;
    return PL_OK;
}

/* ---- Interface ----------------------------------------------------------------------------- */

pl_shape_def pl_default_shape_def(pl_shape_kind kind)
{
    return (pl_shape_def){.kind = kind, .braced = kind == PL_SHAPE_BOX, .cookie = SHAPE_COOKIE};
}

pl_status pl_shape_create(const pl_shape_def *def, pl_shape **shape, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = create(def, shape, error);
    pl_float_env_leave(host);
    return status;
}

void pl_shape_destroy(pl_shape *shape)
{
    if (!shape)
        return;
    pl_memory memory = shape->memory; /* outlives the shape, which lies in it */
    pl_memory_free(&memory, shape->positions.data);
    pl_memory_free(&memory, shape->orientations.data);
    pl_memory_free(&memory, shape->radii.data);
    pl_memory_free(&memory, shape->edges.data);
    pl_memory_free(&memory, shape->vertices.data);
    pl_memory_free(&memory, shape->triangles.data);
    pl_memory_free(&memory, shape->tets.data);
    pl_memory_free(&memory, shape);
}

const char *pl_shape_kind_name(pl_shape_kind kind)
{
    return is_kind(kind) ? kinds[kind].name : NULL;
}

bool pl_find_shape_kind(const char *name, pl_shape_kind *kind)
{
    for (int k = 0; name && k < KINDS; k++) {
        if (strcmp(name, kinds[k].name) == 0) {
            *kind = (pl_shape_kind)k;
            return true;
        }
    }
    return false;
}

pl_model_def pl_shape_model_def(const pl_shape *shape)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = (int)shape->positions.count;
    def.positions = pl_doubles(shape->positions.data, 0);
    def.orientations = pl_doubles(shape->orientations.data, 0);
    def.radii = pl_doubles(shape->radii.data, 0);
    def.edge_count = (int)shape->edges.count;
    def.edges = shape->edges.data;
    def.dimension = shape->dimension;
    def.volume = shape->volume;
    def.vertex_count = (int)shape->vertices.count;
    def.vertices = pl_doubles(shape->vertices.data, 0);
    def.triangle_count = (int)shape->triangles.count;
    def.triangles = shape->triangles.data;
    if (shape->tets.count) {
        def.tet_point_count = def.particle_count;
        def.tet_points = def.positions;
        def.tet_count = (int)shape->tets.count;
        def.tets = shape->tets.data;
    }
    return def;
}

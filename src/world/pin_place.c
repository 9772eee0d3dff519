/* Definitions of pins: which particles carry a point of a body, and where it is now. */
#include <math.h>

#include "math/quat.h"
#include "shape/skin.h"
#include "world/pin.h"

/* Particles that carry a point which is none itself. */
enum { CARRIERS = 4 };

pl_pin_def pl_default_pin_def(pl_pin_kind kind)
{
    return (pl_pin_def){.kind = kind,
                        .rest = {0, kind == PL_PIN_DIRECTION, 0},
                        .strength = 100,
                        .cookie = PL_PIN_COOKIE};
}

/* ---- Where it is now ------------------------------------------------------------------------- */

static pl_quat rotation_of(const pl_state *state, int i)
{
    const float *q = state->q + 4 * i;
    return (pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
}

/* Σ w_j (x_j + R_j (v̄ − x̄_j)), metres. */
static pl_vec3 present_point(const pl_record *record, const pl_pin_def *def)
{
    const pl_model *model = record->model;
    const pl_state *now = &record->matter.now;
    pl_vec3 sum = {0, 0, 0};
    for (int j = 0; j < def->count; j++) {
        int i = def->particles[j];
        const float *x = now->x + 3 * i, *rest = model->rest + 3 * pl_record_origin(record, i);
        double arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = (def->rest[k] - model->centre[k]) / model->unit - (double)rest[k];
        pl_vec3 turned = pl_quat_rotate(rotation_of(now, i), (pl_vec3){arm[0], arm[1], arm[2]});
        pl_vec3 at = {now->origin[0] + (double)x[0] + turned.x,
                      now->origin[1] + (double)x[1] + turned.y,
                      now->origin[2] + (double)x[2] + turned.z};
        sum = pl_v3_add_scaled(sum, (double)def->weights[j] * model->unit, at);
    }
    return sum;
}

/* Σ w_j R_j n̄ at length one; n̄ where that has none. */
static pl_vec3 present_direction(const pl_record *record, const pl_pin_def *def)
{
    pl_vec3 rest = pl_v3_normalise((pl_vec3){def->rest[0], def->rest[1], def->rest[2]});
    pl_vec3 sum = {0, 0, 0};
    for (int j = 0; j < def->count; j++) {
        pl_quat turn = rotation_of(&record->matter.now, def->particles[j]);
        sum = pl_v3_add_scaled(sum, (double)def->weights[j], pl_quat_rotate(turn, rest));
    }
    return pl_v3_length(sum) > 1e-6 ? pl_v3_normalise(sum) : rest;
}

static void aim(const pl_record *record, pl_pin_def *def)
{
    pl_vec3 target =
        def->kind == PL_PIN_POSITION ? present_point(record, def) : present_direction(record, def);
    def->target[0] = target.x, def->target[1] = target.y, def->target[2] = target.z;
}

/* ---- Which particles carry it ---------------------------------------------------------------- */

/* Everything is put together aside, so that a call that fails leaves the definition as it was. */
static pl_status begin(const pl_world *world, pl_body body, const pl_pin_def *def,
                       const pl_record **record)
{
    *record = pl_world_record(world, body);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_REQUIRE(def && def->cookie == PL_PIN_COOKIE, PL_ERROR_ARGUMENT, NULL, NULL,
               "the definition was not made by pl_default_pin_def");
    PL_REQUIRE(def->kind == PL_PIN_POSITION || pl_is_direction(def->rest), PL_ERROR_ARGUMENT, NULL,
               NULL, "the rest direction has no length");
    return PL_OK;
}

static void set_rest(const pl_model *model, pl_pin_def *def, const float *point)
{
    for (int k = 0; k < 3 && def->kind == PL_PIN_POSITION; k++)
        def->rest[k] = model->centre[k] + (double)point[k] * model->unit;
}

static PL_APART pl_status at_particle(const pl_world *world, pl_body body, int particle,
                                      pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(begin(world, body, def, &record));
    PL_REQUIRE(particle >= 0 && particle < record->matter.n, PL_ERROR_ARGUMENT, NULL, NULL,
               "there is no particle %d", particle);
    def->count = 1;
    def->particles[0] = particle;
    def->weights[0] = 1;
    set_rest(record->model, def,
             record->model->rest + 3 * (size_t)pl_record_origin(record, particle));
    aim(record, def);
    return PL_OK;
}

pl_status pl_pin_at_particle(const pl_world *world, pl_body body, int particle, pl_pin_def *def)
{
    PL_COMPUTE(at_particle(world, body, particle, def));
}

static PL_APART pl_status at_vertex(const pl_world *world, pl_body body, int vertex,
                                    pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(begin(world, body, def, &record));
    const pl_model *model = record->model;
    PL_REQUIRE(vertex >= 0 && vertex < model->vertex_count, PL_ERROR_ARGUMENT, NULL, NULL,
               "there is no vertex %d", vertex);
    const int32_t *influences = model->influences + (size_t)vertex * (size_t)model->influence_count;
    const float *weights = model->weights + (size_t)vertex * (size_t)model->influence_count;
    def->count = 0;
    for (int k = 0; k < model->influence_count && influences[k] >= 0; k++)
        if (weights[k] > 0) {
            def->particles[def->count] = influences[k];
            def->weights[def->count++] = weights[k];
        }
    set_rest(model, def, model->vertices + 3 * (size_t)vertex);
    aim(record, def);
    return PL_OK;
}

pl_status pl_pin_at_vertex(const pl_world *world, pl_body body, int vertex, pl_pin_def *def)
{
    PL_COMPUTE(at_vertex(world, body, vertex, def));
}

static PL_APART pl_status at_point(const pl_world *world, pl_body body, const double rest_point[3],
                                   pl_pin_def *def)
{
    const pl_record *record;
    PL_TRY(begin(world, body, def, &record));
    const pl_model *model = record->model;
    PL_REQUIRE(pl_pin_is_near(model, rest_point), PL_ERROR_ARGUMENT, NULL, NULL,
               "the point is not finite, or too far from the body");
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = (rest_point[k] - model->centre[k]) / model->unit;
    def->count = pl_skin_point(model, point, CARRIERS, def->particles, def->weights);
    for (int k = 0; k < 3 && def->kind == PL_PIN_POSITION; k++)
        def->rest[k] = rest_point[k];
    aim(record, def);
    return PL_OK;
}

pl_status pl_pin_at_point(const pl_world *world, pl_body body, const double rest_point[3],
                          pl_pin_def *def)
{
    PL_COMPUTE(at_point(world, body, rest_point, def));
}

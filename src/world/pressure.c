/* Pressure inside closed shells: the force on a particle is p a, a = ∂V/∂x its share of the
   surface. Where the body has a skin, V is what that encloses, each triangle turned outwards as the
   repair of meshes finds it (the skin itself stays as it is); otherwise flat particles have an
   area a̅ that turns and grows with them, a = s² R a̅ with s the stretch of their edges, and V = Σ
   a·x / 3. The gas is stiff against a light shell (an explicit force would explode), so the volume
   is implicit: the solve is shown the pressure p of the sub-step before, and afterwards

       δp = (P(V) − p) / (1 + h² G |P'|),   G = Σ |a|²/m,   x += h² δp a/m

   which is the implicit Euler step of the gas. P(V) = (p₀ + pressure) V̅/V − p₀, p₀ the atmosphere.
   What would move or turn the whole body is taken out: gas inside cannot. The solve lets its forces
   act where the particles will be: of a body that has turned by then, forces with the directions of
   before are a brake, p · 3 V · sin of the angle. So they are turned by Q, the rotation nearest to
   Σ m (x + h u) xᵀ about the centre of mass. */
#include "world/pressure.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "shape/surface.h"
#include "world/world.h"

#define ATMOSPHERE 101325.0
/* Below this part of its volume a shell resists no more: it is turning inside out, and the law has
   no meaning. */
#define LEAST_VOLUME 0.1
/* The part of the spacing by which pressure may move a particle, held by its neighbours as it is,
   in a sub-step: a skin that bears less than that bursts in reality, and here gives way slowly. */
#define LARGEST_MOVE 0.25

bool pl_is_pressure(double pressure)
{
    return pressure >= 0 && pressure <= 1e12;
}

/* ---- Areas at rest --------------------------------------------------------------------------- */

static pl_vec3 row(const float *rows, size_t i)
{
    return pl_v3_from_floats(rows + 3 * i);
}

static void add_row(float *rows, size_t i, double scale, pl_vec3 v)
{
    pl_v3_to_floats(pl_v3_add_scaled(row(rows, i), scale, v), rows + 3 * i);
}

/* Vertices nearer than this part of the surface's size are one, as cooking has it by default. */
#define WELD 1e-6

/* Which way triangles face: a model has them as its mesh had, be it inside out, in part or as a
   whole. Where nothing can be repaired nothing is enclosed either. False without memory. */
static bool find_winding(pl_memory *memory, const pl_model *model, signed char *winding)
{
    size_t values = 3 * (size_t)model->vertex_count;
    double *positions = PL_NEW(memory, double, values);
    pl_surface *surface = NULL;
    if (!positions)
        return false;
    for (size_t i = 0; i < values; i++)
        positions[i] = (double)model->vertices[i];
    const pl_mesh mesh = {.vertex_count = model->vertex_count,
                          .positions = positions,
                          .triangle_count = model->triangle_count,
                          .triangles = model->triangles};
    pl_status status = pl_surface_create(memory, &mesh, WELD, &surface, NULL);
    bool twice = surface && surface->report.duplicate > 0;
    memset(winding, twice ? 0 : 1, (size_t)model->triangle_count);
    for (size_t i = 0; surface && i < (size_t)surface->triangle_count; i++) {
        size_t t = (size_t)surface->source[i];
        int32_t second = surface->point_of_vertex[model->triangles[3 * t + 1]];
        winding[t] = surface->triangles[3 * i + 1] == second ? 1 : -1;
    }
    pl_surface_destroy(surface);
    pl_memory_free(memory, positions);
    return status != PL_ERROR_MEMORY;
}

/* Finding it takes as long as a step: bodies of one model find it once, and so do those that a
   snapshot replaces. */
static const signed char *known_winding(const pl_world *world, const pl_model *model)
{
    for (; world; world = world->before)
        for (const pl_record *record = world->first; record; record = record->next)
            if (record->model == model && record->gas.winding)
                return record->gas.winding;
    return NULL;
}

/* A third of each triangle to each corner, and from there to the particles that carry it. Returns
   six times the volume (units³). */
static double share_surface(const pl_model *model, const signed char *winding,
                            const float *vertices, float *shares, float *area)
{
    size_t influences = (size_t)model->influence_count, count = (size_t)model->vertex_count;
    pl_vec3 middle = row(vertices, (size_t)model->triangles[0]);
    double volume = 0, scale = model->unit * model->unit / 6;
    memset(shares, 0, sizeof *shares * 3 * count);
    for (int t = 0; t < model->triangle_count; t++) {
        const int32_t *corner = model->triangles + 3 * (size_t)t;
        pl_vec3 a = pl_v3_sub(row(vertices, (size_t)corner[0]), middle);
        pl_vec3 b = pl_v3_sub(row(vertices, (size_t)corner[1]), middle);
        pl_vec3 c = pl_v3_sub(row(vertices, (size_t)corner[2]), middle);
        pl_vec3 twice = pl_v3_cross(pl_v3_sub(b, a), pl_v3_sub(c, a));
        volume += winding[t] * pl_v3_dot(a, pl_v3_cross(b, c));
        for (int k = 0; k < 3; k++)
            add_row(shares, (size_t)corner[k], winding[t], twice);
    }
    for (size_t j = 0; j < influences * count; j++)
        if (model->influences[j] >= 0)
            add_row(area, (size_t)model->influences[j], scale * (double)model->weights[j],
                    row(shares, j / influences));
    return volume;
}

static int smallest_of(const float *radii)
{
    int least = radii[1] < radii[0] ? 1 : 0;
    return radii[2] < radii[least] ? 2 : least;
}

/* Without a surface: flat ellipsoids that lie side by side, turned away from the middle of the
   body. A disc that touches its neighbours covers π/4 of its share. */
static void share_ellipsoids(const pl_model *model, float *area)
{
    for (size_t i = 0; i < (size_t)model->particle_count; i++) {
        const float *radii = model->radii + 3 * i, *q = model->orientation + 4 * i;
        int flat = smallest_of(radii);
        pl_vec3 axis = {flat == 0, flat == 1, flat == 2};
        axis =
            pl_quat_rotate((pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]}, axis);
        double size = 4 * (double)radii[(flat + 1) % 3] * (double)radii[(flat + 2) % 3];
        double side = pl_v3_dot(axis, row(model->rest, i)) < 0 ? -1 : 1;
        add_row(area, i, side * size * model->unit * model->unit, axis);
    }
}

/* ---- Now ------------------------------------------------------------------------------------- */

/* How much a particle's share has grown: by the squares of its edges. */
static double growth(const pl_model *model, const float *x, int i)
{
    double now = 0, rest = 0;
    for (int e = model->start[i]; e < model->start[i + 1]; e++) {
        size_t j = (size_t)model->neighbour[e];
        now += pl_v3_length2(pl_v3_sub(row(x, j), row(x, (size_t)i)));
        rest += pl_v3_length2(pl_v3_sub(row(model->rest, j), row(model->rest, (size_t)i)));
    }
    return rest > 0 ? now / rest : 1;
}

typedef struct sums {
    pl_vec3 centre, force, torque; /* torque about the centre */
    pl_mat3 inertia;
    double mass;
} sums;

static void sum_up(const pl_oriented *matter, const float *area, sums *s)
{
    const double *mass = matter->system->mass;
    *s = (sums){.inertia = pl_m3_zero()};
    for (int i = 0; i < matter->n; i++) {
        s->mass += mass[i];
        s->centre = pl_v3_add_scaled(s->centre, mass[i], row(matter->now.x, (size_t)i));
        s->force = pl_v3_add(s->force, row(area, (size_t)i));
    }
    s->centre = pl_v3_scale(s->centre, 1 / s->mass);
    for (int i = 0; i < matter->n; i++) {
        pl_vec3 arm = pl_v3_sub(row(matter->now.x, (size_t)i), s->centre);
        double square = pl_v3_length2(arm);
        s->torque = pl_v3_add(s->torque, pl_v3_cross(arm, row(area, (size_t)i)));
        s->inertia = pl_m3_add_scaled(s->inertia, mass[i] * square, pl_m3_identity());
        s->inertia = pl_m3_add_scaled(s->inertia, -mass[i], pl_m3_outer(arm, arm));
    }
}

/* a −= m (F/M + α × r), α = I⁻¹ τ: no net force and no net torque. */
static void balance(const pl_oriented *matter, float *area)
{
    sums s;
    pl_mat3 inverse;
    sum_up(matter, area, &s);
    pl_vec3 along = pl_v3_scale(s.force, 1 / s.mass), turn = {0, 0, 0};
    double size = pl_m3_trace(s.inertia);
    if (size > 0 && pl_m3_det(s.inertia) > 1e-9 * size * size * size &&
        pl_m3_inverse(s.inertia, &inverse))
        turn = pl_m3_mul_v3(inverse, s.torque);
    for (int i = 0; i < matter->n; i++) {
        pl_vec3 arm = pl_v3_sub(row(matter->now.x, (size_t)i), s.centre);
        add_row(area, (size_t)i, -matter->system->mass[i],
                pl_v3_add(along, pl_v3_cross(turn, arm)));
    }
}

/* Eq. 2, relative to the body's origin. */
static void skin(const pl_record *record, float *vertices)
{
    const pl_model *model = record->model;
    const pl_state *now = &record->matter.now;
    size_t influences = (size_t)model->influence_count;
    for (size_t v = 0; v < (size_t)model->vertex_count; v++) {
        pl_vec3 sum = {0, 0, 0};
        for (size_t j = v * influences, end = j + influences; j < end; j++) {
            if (model->influences[j] < 0)
                continue;
            size_t i = (size_t)model->influences[j];
            const float *q = now->q + 4 * i;
            pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
            pl_vec3 arm =
                pl_quat_rotate(turn, pl_v3_sub(row(model->vertices, v), row(model->rest, i)));
            sum = pl_v3_add_scaled(sum, (double)model->weights[j], pl_v3_add(row(now->x, i), arm));
        }
        pl_v3_to_floats(sum, vertices + 3 * v);
    }
}

/* Newtons per pascal on each particle, into `present`; returns the volume. */
static double measure(pl_record *record)
{
    pl_oriented *matter = &record->matter;
    const pl_gas *gas = &record->gas;
    if (gas->skin) {
        double unit = record->model->unit;
        skin(record, gas->skin);
        memset(gas->present, 0, sizeof *gas->present * 3 * (size_t)matter->n);
        double six =
            share_surface(record->model, gas->winding, gas->skin,
                          gas->skin + 3 * (size_t)record->model->vertex_count, gas->present);
        balance(matter, gas->present);
        return six / 6 * unit * unit * unit;
    }
    pl_vec3 middle = {0, 0, 0};
    double volume = 0;
    for (int i = 0; i < matter->n; i++)
        middle = pl_v3_add_scaled(middle, 1.0 / matter->n, row(matter->now.x, (size_t)i));
    for (int i = 0; i < matter->n; i++) {
        const float *q = matter->now.q + 4 * (size_t)i;
        pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        pl_vec3 now = pl_v3_scale(pl_quat_rotate(turn, row(gas->area, (size_t)i)),
                                  growth(record->model, matter->now.x, i));
        volume += pl_v3_dot(now, pl_v3_sub(row(matter->now.x, (size_t)i), middle)) / 3;
        pl_v3_to_floats(now, gas->present + 3 * (size_t)i);
    }
    balance(matter, gas->present);
    return volume * record->model->unit;
}

static double law(const pl_gas *gas, double volume, double *slope)
{
    double least = LEAST_VOLUME * gas->rest_volume, v = volume > least ? volume : least;
    double all = (ATMOSPHERE + gas->pressure) * gas->rest_volume / v;
    *slope = all / v;
    return all - ATMOSPHERE;
}

/* The largest pressure that the solve, and the largest change that the masses alone, can be shown.
   L_ii is the mass and what its neighbours add to it. */
static void find_limits(const pl_record *record, double h, double *most_now, double *most_by)
{
    const pl_system *system = record->matter.system;
    double reach =
        LARGEST_MOVE * record->model->spacing * record->model->unit * system->mass_unit / (h * h);
    *most_now = *most_by = INFINITY;
    for (int i = 0; i < record->matter.n; i++) {
        double size = pl_v3_length(row(record->gas.present, (size_t)i));
        *most_now = fmin(*most_now, reach * system->diagonal[i] / size);
        *most_by = fmin(*most_by, reach * system->mass[i] / size);
    }
}

static double within(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* How the body turns in the sub-step that begins, by its velocities. */
static pl_quat turn_ahead(const pl_oriented *matter, double h)
{
    const double *mass = matter->system->mass;
    pl_quat turn = pl_quat_identity();
    pl_vec3 x = {0, 0, 0}, way = {0, 0, 0};
    pl_mat3 moved = pl_m3_zero();
    double total = 0;
    for (int i = 0; i < matter->n; i++) {
        total += mass[i];
        x = pl_v3_add_scaled(x, mass[i], row(matter->now.x, (size_t)i));
        way = pl_v3_add_scaled(way, mass[i] * h, row(matter->now.u, (size_t)i));
    }
    for (int i = 0; i < matter->n; i++) {
        pl_vec3 arm = pl_v3_add_scaled(row(matter->now.x, (size_t)i), -1 / total, x);
        pl_vec3 gone = pl_v3_add_scaled(arm, h, row(matter->now.u, (size_t)i));
        gone = pl_v3_add_scaled(gone, -1 / total, way);
        moved = pl_m3_add_scaled(moved, mass[i], pl_m3_outer(gone, arm));
    }
    pl_rotations_fit_double(1, &moved.m[0][0], &turn.x);
    return turn;
}

void pl_gas_push(pl_record *record, double h)
{
    float *present = record->gas.present;
    double most_now, most_by;
    measure(record);
    find_limits(record, h, &most_now, &most_by);
    record->gas.now = within(record->gas.now, most_now);
    pl_quat turn = turn_ahead(&record->matter, h);
    for (size_t i = 0; i < (size_t)record->matter.n; i++)
        pl_v3_to_floats(pl_quat_rotate(turn, row(present, i)), present + 3 * i);
}

void pl_gas_settle(pl_record *record, double h)
{
    pl_oriented *matter = &record->matter;
    const pl_system *system = matter->system;
    pl_gas *gas = &record->gas;
    double slope, wanted = law(gas, measure(record), &slope), give = 0;
    for (int i = 0; i < matter->n; i++)
        if (!system->is_fixed[i])
            give +=
                pl_v3_length2(row(gas->present, (size_t)i)) / (system->mass[i] * system->mass_unit);
    double most_now, most_by, by = (wanted - gas->now) / (1 + h * h * give * slope);
    find_limits(record, h, &most_now, &most_by);
    by = within(gas->now + by, most_now) - gas->now;
    if (!isfinite(by))
        return;
    gas->now += by;
    by = within(by, most_by);
    for (int i = 0; i < matter->n; i++)
        if (!system->is_fixed[i])
            add_row(matter->now.x, (size_t)i,
                    h * h * by / (system->mass[i] * system->mass_unit * record->model->unit),
                    row(gas->present, (size_t)i));
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* At rest; 0 where nothing is enclosed: an open or a flat shape. */
static double enclosed(const pl_model *model, const float *area)
{
    pl_vec3 sum = {0, 0, 0};
    double volume = 0, size = 0;
    for (size_t i = 0; i < (size_t)model->particle_count; i++) {
        sum = pl_v3_add(sum, row(area, i));
        size += pl_v3_length(row(area, i));
        volume += pl_v3_dot(row(area, i), row(model->rest, i)) * model->unit / 3;
    }
    /* Much less than a ball of this surface holds, V = (size)^(3/2) / (6 √π): nothing. */
    bool closed = pl_v3_length(sum) <= 0.1 * size && volume > 1e-3 * size * sqrt(size) / 10.6;
    return closed ? volume : 0;
}

void pl_gas_empty(pl_world *world, pl_record *record)
{
    pl_memory_free(world->memory, record->gas.area);
    pl_memory_free(world->memory, record->gas.present);
    pl_memory_free(world->memory, record->gas.winding);
    pl_memory_free(world->memory, record->gas.skin);
    record->gas = (pl_gas){0};
}

static bool make_gas(pl_world *world, pl_record *record, double pressure)
{
    const pl_model *model = record->model;
    bool surface = model->triangle_count > 0;
    size_t n = (size_t)model->particle_count;
    pl_gas *gas = &record->gas;
    pl_gas_empty(world, record);
    const signed char *known = known_winding(world, model);
    gas->area = PL_NEW(world->memory, float, 3 * n);
    gas->present = PL_NEW(world->memory, float, 3 * n);
    if (surface) {
        gas->skin = PL_NEW(world->memory, float, 6 * (size_t)model->vertex_count);
        gas->winding = PL_NEW(world->memory, signed char, model->triangle_count);
    }
    bool good = gas->area && gas->present && (!surface || (gas->skin && gas->winding));
    if (good && known)
        memcpy(gas->winding, known, (size_t)model->triangle_count);
    if (!good || (surface && !known && !find_winding(world->memory, model, gas->winding))) {
        pl_gas_empty(world, record);
        return false;
    }
    if (surface)
        share_surface(model, gas->winding, model->vertices, gas->skin, gas->area);
    else
        share_ellipsoids(model, gas->area);
    gas->rest_volume = enclosed(model, gas->area);
    if (surface && gas->rest_volume > 0)
        gas->rest_volume =
            share_surface(model, gas->winding, model->vertices, gas->skin, gas->present) / 6 *
            model->unit * model->unit * model->unit;
    gas->now = pressure;
    return true;
}

pl_status pl_gas_fill(pl_world *world, pl_record *record, double pressure, pl_error *error)
{
    PL_CHECK(pl_is_pressure(pressure), PL_ERROR_ARGUMENT, error, "pressure",
             "is %g; use pascals of 0 or more (a toy balloon has some 3000)", pressure);
    if (pressure > 0 && !record->gas.area)
        PL_CHECK(make_gas(world, record, pressure), PL_ERROR_MEMORY, error, "",
                 "no memory for the gas");
    if (pressure > 0 && !(record->gas.rest_volume > 0)) {
        pl_gas_empty(world, record);
        return pl_fail(error, PL_ERROR_ARGUMENT, "pressure",
                       "needs a closed shell; this body encloses nothing");
    }
    if (pressure == 0)
        pl_gas_empty(world, record);
    record->gas.pressure =
        pressure > 0 ? pressure : 0; /* -0 as well, as it comes back from a snapshot */
    return PL_OK;
}

static PL_APART pl_status set_pressure(pl_world *world, pl_body body, double pressure,
                                       pl_error *error)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, error));
    PL_TRY(pl_gas_fill(world, record, pressure, error));
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_set_pressure(pl_world *world, pl_body body, double pressure, pl_error *error)
{
    PL_COMPUTE(set_pressure(world, body, pressure, error));
}

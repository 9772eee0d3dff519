/* Rays against bodies (their ellipsoids) and colliders, as they are now: between steps, and after
   any change from outside. Bodies are sorted out by boxes that the step leaves behind, particles by
   their spheres; what is left is exact (contact/cast.h). */
#include <math.h>
#include <string.h>

#include "contact/cast.h"
#include "math/quad.h"
#include "math/quat.h"
#include "world/world.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

static double widest(const float *radii)
{
    return (double)fmaxf(radii[0], fmaxf(radii[1], radii[2]));
}

/* Of the body's largest particle, units. */
static double largest_radius(const pl_record *record)
{
    double most = 0;
    for (int i = 0; i < record->matter.n; i++)
        most = fmax(most, widest(record->radii + 3 * (size_t)i));
    return most;
}

typedef int32_t quad_bits __attribute__((vector_size(16)));

static inline pl_quad choose(quad_bits which, pl_quad a, pl_quad b)
{
    return (pl_quad)(((quad_bits)a & which) | ((quad_bits)b & ~which));
}

/* Four particles at a time, in three vectors: least and most of twelve columns, folded into
   three. */
static void extent_of(const float *x, int n, float low[3], float high[3])
{
    float least[12], most[12];
    pl_quad below[3], above[3];
    for (int k = 0; k < 12; k++)
        below[k / 4][k % 4] = above[k / 4][k % 4] = x[k % 3];
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int v = 0; v < 3; v++) {
            pl_quad values = pl_quad_load(x + 3 * (size_t)i + 4 * v);
            below[v] = choose(values < below[v], values, below[v]);
            above[v] = choose(values > above[v], values, above[v]);
        }
    memcpy(least, below, sizeof least);
    memcpy(most, above, sizeof most);
    for (; i < n; i++)
        for (int k = 0; k < 3; k++) {
            float value = x[3 * (size_t)i + (size_t)k];
            least[k] = value < least[k] ? value : least[k];
            most[k] = value > most[k] ? value : most[k];
        }
    for (int k = 0; k < 12; k++) {
        low[k % 3] = k < 3 || least[k] < low[k % 3] ? least[k] : low[k % 3];
        high[k % 3] = k < 3 || most[k] > high[k % 3] ? most[k] : high[k % 3];
    }
}

/* `radius` of the largest particle, units. */
static void box_of(const pl_record *record, double radius, double box[6])
{
    const pl_oriented *matter = &record->matter;
    float low[3], high[3];
    extent_of(matter->now.x, matter->n, low, high);
    for (int k = 0; k < 3; k++) {
        double origin = matter->now.origin[k], unit = record->model->unit;
        double pad = radius + 1e-6 * (fabs((double)low[k]) + fabs((double)high[k]) + radius);
        box[k] = (origin + (double)low[k] - pad) * unit;
        box[3 + k] = (origin + (double)high[k] + pad) * unit;
    }
}

static void bound_bodies(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        pl_record *record = world->live[i];
        double radius = (double)world->contact->bodies[record->contact].largest;
        box_of(record, radius / record->model->unit, record->bounds);
        record->bounded = true;
    }
}

void pl_world_bound_bodies(pl_world *world)
{
    pl_tasks_run(world->tasks, bound_bodies, world, world->awake_count, PL_BODIES_PER_TASK);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Relative to a place near by, so that nothing is lost far from the origin. */
static pl_ray ray_from(const pl_ray *ray, const double place[3])
{
    pl_ray moved = *ray;
    for (int k = 0; k < 3; k++)
        moved.origin[k] = ray->origin[k] - place[k];
    return moved;
}

/* Whether the line passes the sphere within the ray's length. */
static bool passes(const pl_ray *ray, const double x[3], double radius)
{
    double to[3], along = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        to[k] = x[k] - ray->origin[k];
        along += to[k] * ray->direction[k];
    }
    for (int k = 0; k < 3; k++) {
        double off = to[k] - along * ray->direction[k];
        square += off * off;
    }
    double reach = 1.0001 * radius;
    return square <= reach * reach && along >= -reach && along <= ray->length + reach;
}

static pl_quat quat_of(const float *q)
{
    return pl_quat_normalise((pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]});
}

static bool cast_particle(const pl_record *record, int i, const pl_ray *ray, const double x[3],
                          double *distance, double normal[3])
{
    const float *radii = record->radii + 3 * (size_t)i;
    size_t own_axes = 4 * (size_t)pl_record_origin(record, i);
    double unit = record->model->unit, axes[3][3];
    double size[3] = {(double)radii[0] * unit, (double)radii[1] * unit, (double)radii[2] * unit};
    pl_mat3 turn = pl_quat_to_m3(pl_quat_mul(quat_of(record->matter.now.q + 4 * (size_t)i),
                                             quat_of(record->model->orientation + own_axes)));
    pl_ray own = ray_from(ray, x);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            axes[k][m] = turn.m[m][k];
    return pl_cast_ellipsoid(&own, axes, size, distance, normal);
}

/* x̄ + Rᵀ (p − x), in the model's own space. */
static void find_rest(const pl_record *record, int i, const double place[3], pl_ray_hit *hit)
{
    const pl_model *model = record->model;
    const pl_oriented *matter = &record->matter;
    size_t origin = (size_t)pl_record_origin(record, i);
    double from[3];
    for (int k = 0; k < 3; k++)
        from[k] = hit->position[k] - place[k] -
                  (double)matter->now.x[3 * (size_t)i + (size_t)k] * model->unit;
    pl_vec3 arm = pl_quat_rotate(pl_quat_conjugate(quat_of(matter->now.q + 4 * (size_t)i)),
                                 (pl_vec3){from[0], from[1], from[2]});
    double arms[3] = {arm.x, arm.y, arm.z};
    for (int k = 0; k < 3; k++)
        hit->rest[k] =
            model->centre[k] + (double)model->rest[3 * origin + (size_t)k] * model->unit + arms[k];
}

static void set_hit(const pl_ray *ray, double distance, const double normal[3], pl_ray_hit *hit)
{
    hit->body = hit->collider = UINT32_MAX;
    hit->particle = -1;
    hit->distance = distance;
    for (int k = 0; k < 3; k++) {
        hit->position[k] = ray->origin[k] + distance * ray->direction[k];
        hit->normal[k] = (float)normal[k];
        hit->rest[k] = 0;
    }
}

/* The nearest particle that is met, -1 = none; ray->length shrinks to it. */
static int cast_body(const pl_record *record, pl_ray *ray, double normal[3])
{
    const pl_model *model = record->model;
    const pl_oriented *matter = &record->matter;
    double place[3], distance, n[3];
    int met = -1;
    for (int k = 0; k < 3; k++)
        place[k] = matter->now.origin[k] * model->unit;
    pl_ray own = ray_from(ray, place);
    for (int i = 0; i < matter->n; i++) {
        const float *at = matter->now.x + 3 * (size_t)i;
        double x[3] = {(double)at[0] * model->unit, (double)at[1] * model->unit,
                       (double)at[2] * model->unit};
        if (!passes(&own, x, widest(record->radii + 3 * (size_t)i) * model->unit) ||
            !cast_particle(record, i, &own, x, &distance, n) ||
            (met >= 0 && distance >= own.length))
            continue;
        met = i;
        own.length = distance;
        memcpy(normal, n, sizeof n);
    }
    ray->length = own.length;
    return met;
}

static bool cast_bodies(const pl_world *world, pl_ray *ray, const pl_record *past, uint32_t mask,
                        pl_ray_hit *hit)
{
    bool any = false;
    for (const pl_record *record = world->first; record; record = record->next) {
        double box[6], normal[3] = {0, 0, 0}, length = ray->length;
        if (record == past || !(record->category & mask))
            continue;
        if (record->bounded)
            memcpy(box, record->bounds, sizeof box);
        else
            box_of(record, largest_radius(record), box);
        if (!pl_ray_meets_box(ray, box))
            continue;
        int particle = cast_body(record, ray, normal);
        if (particle < 0 || (any && !(ray->length < length)))
            continue;
        double place[3];
        for (int k = 0; k < 3; k++)
            place[k] = record->matter.now.origin[k] * record->model->unit;
        any = true;
        set_hit(ray, ray->length, normal, hit);
        hit->body = record->slot;
        hit->particle = particle;
        find_rest(record, particle, place, hit);
    }
    return any;
}

/* ---- Colliders ------------------------------------------------------------------------------- */

static bool cast_shape(const pl_contact_collider *c, const pl_ray *ray, double *distance,
                       double normal[3])
{
    static const double middle[3] = {0, 0, 0};
    switch (c->kind) {
    case PL_COLLIDER_PLANE:
        return pl_cast_plane(ray, distance, normal);
    case PL_COLLIDER_BOX:
        return pl_cast_box(ray, c->size, distance, normal);
    case PL_COLLIDER_SPHERE:
        return pl_cast_sphere(ray, middle, c->size[0], distance, normal);
    case PL_COLLIDER_CAPSULE:
        return pl_cast_capsule(ray, c->size[0], c->size[1], distance, normal);
    case PL_COLLIDER_MESH:
        return pl_cast_solid(ray, c->solid, c->two_sided, distance, normal);
    }
    return false;
}

/* In the collider's frame. */
static bool cast_collider(const pl_collider_record *record, const pl_ray *ray, double *distance,
                          double normal[3])
{
    const double *q = record->from.rotation;
    pl_mat3 turn = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    pl_ray own = ray_from(ray, record->from.position), seen = own;
    double n[3];
    for (int k = 0; k < 3; k++) {
        seen.origin[k] = seen.direction[k] = 0;
        for (int m = 0; m < 3; m++) {
            seen.origin[k] += turn.m[m][k] * own.origin[m];
            seen.direction[k] += turn.m[m][k] * own.direction[m];
        }
    }
    if (!cast_shape(&record->shape, &seen, distance, n))
        return false;
    for (int k = 0; k < 3; k++)
        normal[k] = turn.m[k][0] * n[0] + turn.m[k][1] * n[1] + turn.m[k][2] * n[2];
    return true;
}

static bool cast_colliders(const pl_world *world, pl_ray *ray, uint32_t mask, bool any,
                           pl_ray_hit *hit)
{
    for (int i = 0; i < world->colliders.slot_count; i++) {
        const pl_collider_record *record = world->colliders.slots[i].record;
        double distance, normal[3];
        if (!record || !(record->shape.category & mask) ||
            !cast_collider(record, ray, &distance, normal) || (any && !(distance < ray->length)))
            continue;
        any = true;
        ray->length = distance;
        set_hit(ray, distance, normal, hit);
        hit->collider = (uint32_t)i;
    }
    return any;
}

/* ---- Interface ------------------------------------------------------------------------------- */

static bool make_ray(const double origin[3], const double direction[3], double length, pl_ray *ray)
{
    double most = 0, square = 0;
    if (!pl_is_finite3(origin) || !pl_is_finite3(direction) || !(length >= 0))
        return false;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fabs(direction[k]));
    if (!(most > 0))
        return false;
    for (int k = 0; k < 3; k++)
        square += (direction[k] / most) * (direction[k] / most);
    for (int k = 0; k < 3; k++) {
        ray->origin[k] = origin[k];
        ray->direction[k] = direction[k] / most / sqrt(square);
    }
    ray->length = fmin(length, 1e30);
    return true;
}

static PL_APART bool cast(const pl_world *world, pl_body past, const double origin[3],
                          const double direction[3], double length, uint32_t mask, pl_ray_hit *hit)
{
    static const double none[3] = {0, 0, 0};
    pl_ray ray = {.length = 0};
    bool good = world && make_ray(origin, direction, length, &ray); /* may stand in the hit */
    set_hit(&ray, 0, none, hit);
    if (!good)
        return false;
    bool any = cast_bodies(world, &ray, pl_world_record(world, past), mask, hit);
    return cast_colliders(world, &ray, mask, any, hit);
}

bool pl_world_cast_ray_past(const pl_world *world, pl_body body, const double origin[3],
                            const double direction[3], double length, uint32_t mask,
                            pl_ray_hit *hit)
{
    pl_ray_hit own;
    pl_float_env host = pl_float_env_enter();
    bool any = cast(world, body, origin, direction, length, mask, hit ? hit : &own);
    pl_float_env_leave(host);
    return any;
}

bool pl_world_cast_ray(const pl_world *world, const double origin[3], const double direction[3],
                       double length, uint32_t mask, pl_ray_hit *hit)
{
    return pl_world_cast_ray_past(world, (pl_body){0, 0}, origin, direction, length, mask, hit);
}

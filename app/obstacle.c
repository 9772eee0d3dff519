#ifdef PLIANT_HAVE_DRAW

#include "obstacle.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "world/world.h"

enum {
    AROUND = 48,   /* vertices of a circle */
    CAP_ROWS = 12, /* rings of a hemisphere, without its pole */
    CUT = 6,       /* corners of a plane in a box, at most */
    MOST = CUT + 6
};

/* ---- Shapes ---------------------------------------------------------------------------------- */

static pl_status make_room(pl_memory *memory, app_obstacle *o, int vertices, int triangles)
{
    o->vertex_count = vertices;
    o->triangle_count = triangles;
    o->rest = PL_NEW(memory, double, 3 * (size_t)vertices);
    o->vertices = PL_NEW(memory, double, 3 * (size_t)vertices);
    o->triangles = PL_NEW(memory, int32_t, 3 * (size_t)triangles);
    return o->rest && o->vertices && o->triangles ? PL_OK : PL_ERROR_MEMORY;
}

static void put(double *to, double x, double y, double z)
{
    to[0] = x, to[1] = y, to[2] = z;
}

static int32_t *put_triangle(int32_t *to, int a, int b, int c)
{
    to[0] = a, to[1] = b, to[2] = c;
    return to + 3;
}

static pl_status make_box(pl_memory *memory, app_obstacle *o, const double half[3])
{
    /* Corner i is on the upper side along axis k where bit k of i is set. */
    static const int sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    PL_TRY(make_room(memory, o, 8, 12));
    for (int i = 0; i < 8; i++)
        put(o->rest + 3 * i, i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
            i & 4 ? half[2] : -half[2]);
    int32_t *to = o->triangles;
    for (int i = 0; i < 6; i++) {
        const int *s = sides[i];
        to = put_triangle(to, s[0], s[1], s[2]);
        to = put_triangle(to, s[0], s[2], s[3]);
    }
    return PL_OK;
}

/* Along y; a sphere is one without length. Rings from the lower pole to the upper one, the equator
   twice. */
static pl_status make_capsule(pl_memory *memory, app_obstacle *o, double radius, double half)
{
    enum { RINGS = 2 * CAP_ROWS };
    PL_TRY(make_room(memory, o, RINGS * AROUND + 2, 2 * RINGS * AROUND));
    for (int row = 0; row < RINGS; row++) {
        bool upper = row >= CAP_ROWS;
        double up = 1.5707963267948966 * (upper ? row - CAP_ROWS : row + 1 - CAP_ROWS) / CAP_ROWS;
        double height = radius * pl_sin(up) + (upper ? half : -half), wide = radius * pl_cos(up);
        for (int i = 0; i < AROUND; i++) {
            double turn = 6.283185307179586 * i / AROUND;
            put(o->rest + 3 * (row * AROUND + i), wide * pl_cos(turn), height, wide * pl_sin(turn));
        }
    }
    const int low = RINGS * AROUND, high = low + 1;
    put(o->rest + 3 * low, 0, -half - radius, 0);
    put(o->rest + 3 * high, 0, half + radius, 0);
    int32_t *to = o->triangles;
    for (int i = 0; i < AROUND; i++) {
        int next = (i + 1) % AROUND, last = (RINGS - 1) * AROUND;
        to = put_triangle(to, low, i, next);
        for (int row = 0; row + 1 < RINGS; row++) {
            int a = row * AROUND, b = a + AROUND;
            to = put_triangle(to, a + i, b + i, a + next);
            to = put_triangle(to, a + next, b + i, b + next);
        }
        to = put_triangle(to, last + i, high, last + next);
    }
    return PL_OK;
}

/* What is touched is drawn: the triangles that the world has kept. */
static pl_status make_mesh(pl_memory *memory, app_obstacle *o, const pl_solid *solid)
{
    PL_TRY(make_room(memory, o, 3 * solid->count, solid->count));
    if (solid->count)
        memcpy(o->rest, solid->corners, (size_t)solid->count * sizeof *solid->corners);
    for (int i = 0; i < o->vertex_count; i++)
        o->triangles[i] = i;
    return PL_OK;
}

/* A fan that is moved into place when it is known what there is to see. */
static pl_status make_plane(pl_memory *memory, app_obstacle *o)
{
    o->is_plane = true;
    PL_TRY(make_room(memory, o, CUT, CUT - 2));
    for (int i = 0; i < CUT; i++) {
        double turn = 6.283185307179586 * i / CUT;
        put(o->rest + 3 * i, pl_cos(turn), 0, pl_sin(turn));
    }
    for (int i = 0; i < CUT - 2; i++)
        put_triangle(o->triangles + 3 * i, 0, i + 1, i + 2);
    return PL_OK;
}

pl_status app_obstacle_of_collider(pl_memory *memory, const pl_play *play, int collider,
                                   app_obstacle *o)
{
    *o = (app_obstacle){0};
    const pl_collider_record *record = pl_collider_find(play->world, play->colliders[collider]);
    if (!record)
        return PL_ERROR_STATE;
    const pl_contact_collider *shape = &record->shape;
    pl_status status = PL_OK;
    switch (shape->kind) {
    case PL_COLLIDER_PLANE:
        status = make_plane(memory, o);
        break;
    case PL_COLLIDER_BOX:
        status = make_box(memory, o, shape->size);
        break;
    case PL_COLLIDER_SPHERE:
        status = make_capsule(memory, o, shape->size[0], 0);
        break;
    case PL_COLLIDER_CAPSULE:
        status = make_capsule(memory, o, shape->size[0], shape->size[1]);
        break;
    case PL_COLLIDER_MESH:
        status = make_mesh(memory, o, record->solid);
        break;
    }
    return status == PL_OK ? app_obstacle_follow(o, play, collider) : status;
}

pl_status app_obstacle_dress(app_obstacle *o, pl_draw *draw, pl_error *error)
{
    if (o->triangle_count == 0)
        return PL_OK;
    const pl_draw_surface_def def = {.vertex_count = o->vertex_count,
                                     .triangle_count = o->triangle_count,
                                     .rest = o->rest,
                                     .triangles = o->triangles,
                                     .paint = pl_paint_from_srgb(0xB4B1AB, 0.8f)};
    return pl_draw_surface_create(draw, &def, &o->surface, error);
}

void app_obstacle_free(pl_memory *memory, app_obstacle *o)
{
    pl_draw_surface_destroy(o->surface);
    pl_memory_free(memory, o->rest);
    pl_memory_free(memory, o->vertices);
    pl_memory_free(memory, o->triangles);
    *o = (app_obstacle){0};
}

/* ---- Places ---------------------------------------------------------------------------------- */

pl_status app_obstacle_follow(app_obstacle *o, const pl_play *play, int collider)
{
    pl_collider_state state;
    o->gone = !pl_collider_is_valid(play->world, play->colliders[collider]);
    if (o->gone)
        return PL_OK;
    PL_TRY(pl_collider_get_state(play->world, play->colliders[collider], &state));
    memcpy(o->position, state.position, sizeof o->position);
    memcpy(o->rotation, state.rotation, sizeof o->rotation);
    for (int i = 0; !o->is_plane && i < o->vertex_count; i++) {
        double *to = o->vertices + 3 * (size_t)i;
        pl_quaternion_rotate(o->rotation, o->rest + 3 * (size_t)i, to);
        for (int k = 0; k < 3; k++)
            to[k] += o->position[k];
    }
    return PL_OK;
}

void app_obstacle_normal(const app_obstacle *o, double normal[3])
{
    pl_quaternion_rotate(o->rotation, (const double[3]){0, 1, 0}, normal);
}

/* A convex polygon cut by  side · p[axis] <= limit  (Sutherland & Hodgman). */
static int cut_side(double (*p)[3], int count, int axis, double side, double limit)
{
    double kept[MOST][3];
    int made = 0;
    for (int i = 0; i < count; i++) {
        const double *a = p[i], *b = p[(i + 1) % count];
        double out_a = side * a[axis] - limit, out_b = side * b[axis] - limit;
        if (out_a <= 0)
            memcpy(kept[made++], a, sizeof kept[0]);
        if ((out_a < 0 && out_b > 0) || (out_a > 0 && out_b < 0)) {
            for (int k = 0; k < 3; k++)
                kept[made][k] = a[k] + (b[k] - a[k]) * (out_a / (out_a - out_b));
            made++;
        }
    }
    memcpy(p, kept, (size_t)made * sizeof *kept);
    return made;
}

/* A square in the plane around the box's middle, large enough to be cut to the box. */
static void lay_square(const app_obstacle *o, const double middle[3], double size, double (*p)[3])
{
    double normal[3], side[3], ahead[3], above = 0;
    app_obstacle_normal(o, normal);
    pl_quaternion_rotate(o->rotation, (const double[3]){1, 0, 0}, side);
    pl_quaternion_rotate(o->rotation, (const double[3]){0, 0, 1}, ahead);
    for (int k = 0; k < 3; k++)
        above += normal[k] * (middle[k] - o->position[k]);
    static const double corners[4][2] = {{-1, -1}, {-1, 1}, {1, 1}, {1, -1}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            p[i][k] = middle[k] - above * normal[k] +
                      size * (corners[i][0] * side[k] + corners[i][1] * ahead[k]);
}

bool app_obstacle_cut(app_obstacle *o, const double lower[3], const double upper[3])
{
    double p[MOST][3], middle[3], size = 0;
    for (int k = 0; k < 3; k++) {
        middle[k] = (lower[k] + upper[k]) / 2;
        size += upper[k] - lower[k];
    }
    lay_square(o, middle, size, p);
    int count = 4;
    for (int k = 0; k < 3 && count > 0; k++) {
        count = cut_side(p, count, k, 1, upper[k]);
        count = count ? cut_side(p, count, k, -1, -lower[k]) : 0;
    }
    if (count < 3 || count > CUT)
        return false;
    /* Corners that are not needed fall on the last one. */
    for (int i = 0; i < CUT; i++)
        memcpy(o->vertices + 3 * i, p[i < count ? i : count - 1], sizeof p[0]);
    return true;
}

#endif

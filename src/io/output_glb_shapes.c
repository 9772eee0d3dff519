/* Surfaces of colliders. */
#include "io/output_glb_shapes.h"

#include "math/elementary.h"

enum { AROUND = 32, CAP_ROWS = 8, RINGS = 2 * CAP_ROWS };

static pl_status make_room(pl_memory *memory, int vertices, int triangles, pl_glb_solid *solid)
{
    *solid = (pl_glb_solid){.vertex_count = vertices, .triangle_count = triangles};
    solid->positions = PL_NEW(memory, float, 3 * (size_t)vertices);
    solid->normals = PL_NEW(memory, float, 3 * (size_t)vertices);
    solid->triangles = PL_NEW(memory, int32_t, 3 * (size_t)triangles);
    return solid->positions && solid->normals && solid->triangles ? PL_OK : PL_ERROR_MEMORY;
}

void pl_glb_solid_free(pl_memory *memory, pl_glb_solid *solid)
{
    pl_memory_free(memory, solid->positions);
    pl_memory_free(memory, solid->normals);
    pl_memory_free(memory, solid->triangles);
}

static void put(float *to, double x, double y, double z)
{
    to[0] = (float)x, to[1] = (float)y, to[2] = (float)z;
}

/* Six sides with corners of their own, so that its edges are sharp. */
static pl_status make_box(pl_memory *memory, const double half[3], pl_glb_solid *solid)
{
    PL_TRY(make_room(memory, 24, 12, solid));
    for (int side = 0; side < 6; side++) {
        int k = side / 2, a = (k + 1) % 3, b = (k + 2) % 3;
        double sign = side % 2 ? 1 : -1;
        for (int corner = 0; corner < 4; corner++) {
            double p[3], n[3] = {0, 0, 0};
            n[k] = sign;
            p[k] = sign * half[k];
            p[a] = (corner == 1 || corner == 2 ? 1 : -1) * sign * half[a];
            p[b] = (corner >= 2 ? 1 : -1) * half[b];
            put(solid->positions + 3 * (4 * side + corner), p[0], p[1], p[2]);
            put(solid->normals + 3 * (4 * side + corner), n[0], n[1], n[2]);
        }
        const int32_t first = 4 * side, corners[6] = {0, 1, 2, 0, 2, 3};
        for (int i = 0; i < 6; i++)
            solid->triangles[6 * side + i] = first + corners[i];
    }
    return PL_OK;
}

static int32_t *put_triangle(int32_t *to, int a, int b, int c)
{
    to[0] = a, to[1] = b, to[2] = c;
    return to + 3;
}

/* Along y; a sphere is one without length. Rings from the lower pole to the upper one, the equator
   twice. */
static pl_status make_capsule(pl_memory *memory, double radius, double half, pl_glb_solid *solid)
{
    const int low = RINGS * AROUND, high = low + 1, last = (RINGS - 1) * AROUND;
    PL_TRY(make_room(memory, low + 2, 2 * RINGS * AROUND, solid));
    for (int i = 0; i < low; i++) {
        int row = i / AROUND;
        bool upper = row >= CAP_ROWS;
        double up = 1.5707963267948966 * (upper ? row - CAP_ROWS : row + 1 - CAP_ROWS) / CAP_ROWS;
        double turn = 6.283185307179586 * (i % AROUND) / AROUND;
        double x = pl_cos(up) * pl_cos(turn), y = pl_sin(up), z = pl_cos(up) * pl_sin(turn);
        put(solid->normals + 3 * i, x, y, z);
        put(solid->positions + 3 * i, radius * x, radius * y + (upper ? half : -half), radius * z);
    }
    put(solid->normals + 3 * low, 0, -1, 0);
    put(solid->positions + 3 * low, 0, -half - radius, 0);
    put(solid->normals + 3 * high, 0, 1, 0);
    put(solid->positions + 3 * high, 0, half + radius, 0);
    int32_t *to = solid->triangles;
    for (int i = 0; i < AROUND; i++) {
        int next = (i + 1) % AROUND;
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

/* The triangles that the world has kept, each with corners of its own. */
static pl_status make_mesh(pl_memory *memory, const pl_solid *from, pl_glb_solid *solid)
{
    PL_TRY(make_room(memory, 3 * from->count, from->count, solid));
    for (int i = 0; i < from->count; i++) {
        const double(*c)[3] = (const double(*)[3])from->corners[i];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = c[1][k] - c[0][k];
            v[k] = c[2][k] - c[0][k];
        }
        for (int corner = 0; corner < 3; corner++) {
            put(solid->positions + 9 * (size_t)i + 3 * corner, c[corner][0], c[corner][1],
                c[corner][2]);
            put(solid->normals + 9 * (size_t)i + 3 * corner, u[1] * v[2] - u[2] * v[1],
                u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
            solid->triangles[3 * i + corner] = 3 * i + corner;
        }
    }
    return PL_OK;
}

pl_status pl_glb_solid_of(pl_memory *memory, const pl_scene_collider *collider,
                          const pl_collider_record *record, pl_glb_solid *solid)
{
    *solid = (pl_glb_solid){0};
    switch (collider->kind) {
    case PL_COLLIDER_BOX:
        return make_box(memory, collider->half, solid);
    case PL_COLLIDER_SPHERE:
        return make_capsule(memory, collider->radius, 0, solid);
    case PL_COLLIDER_CAPSULE:
        return make_capsule(memory, collider->radius, collider->length / 2, solid);
    case PL_COLLIDER_MESH:
        return record ? make_mesh(memory, record->solid, solid) : PL_ERROR_STATE;
    case PL_COLLIDER_PLANE:
        break;
    }
    return PL_OK;
}

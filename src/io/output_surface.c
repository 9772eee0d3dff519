#include "io/output_surface.h"

#include <string.h>

enum { TIPS = 6, FACES = 8 };

static bool has_surface(const pl_play_body *body)
{
    return body->info.triangle_count > 0;
}

int64_t pl_surface_vertices(const pl_play_body *body)
{
    return has_surface(body) ? body->info.vertex_count : (int64_t)TIPS * body->info.particle_count;
}

int64_t pl_surface_triangles(const pl_play_body *body)
{
    return has_surface(body) ? body->info.triangle_count
                             : (int64_t)FACES * body->info.particle_count;
}

pl_status pl_surface_totals(const pl_play *play, int32_t *vertices, int32_t *triangles)
{
    int64_t v = 0, t = 0;
    for (int i = 0; i < play->body_count; i++) {
        v += pl_surface_vertices(&play->bodies[i]);
        t += pl_surface_triangles(&play->bodies[i]);
    }
    *vertices = (int32_t)v;
    *triangles = (int32_t)t;
    return v <= INT32_MAX && t <= INT32_MAX ? PL_OK : PL_ERROR_ARGUMENT;
}

void pl_surface_triangle(const pl_play_body *body, int64_t i, int32_t corners[3])
{
    static const int32_t faces[FACES][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                            {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    const int32_t *triangles = pl_model_triangles(body->model);
    for (int k = 0; k < 3; k++)
        corners[k] = has_surface(body) ? triangles[3 * i + k]
                                       : faces[i % FACES][k] + (int32_t)(TIPS * (i / FACES));
}

/* The six tips of the ellipsoid's axes: x + R Ē (±a, 0, 0) and so on. The surface of an ellipsoid
   is at right angles to its axes there. */
static void make_tips(const double *x, const double *rotation, const double *orientation,
                      const double *radii, double *positions, double *normals)
{
    double q[4];
    pl_quaternion_multiply(rotation, orientation, q);
    for (int tip = 0; tip < TIPS; tip++) {
        double axis[3] = {0, 0, 0}, arm[3] = {0, 0, 0};
        axis[tip / 2] = tip % 2 ? -1 : 1;
        arm[tip / 2] = tip % 2 ? -radii[tip / 2] : radii[tip / 2];
        pl_quaternion_rotate(q, arm, arm);
        pl_quaternion_rotate(q, axis, axis);
        for (int k = 0; k < 3; k++)
            positions[3 * tip + k] = x[k] + arm[k];
        for (int k = 0; k < 3 && normals; k++)
            normals[3 * tip + k] = axis[k];
    }
}

static pl_status read_particles(const pl_play *play, const pl_play_body *body, double *positions,
                                double *normals)
{
    size_t n = (size_t)body->info.particle_count;
    double *all = PL_NEW(play->memory, double, 14 * n);
    if (!all)
        return PL_ERROR_MEMORY;
    double *x = all, *radii = all + 3 * n, *rotations = all + 6 * n, *orientations = all + 10 * n;
    pl_status status =
        pl_body_read(play->world, body->handle, PL_POSITIONS, 0, (int)n, 1, pl_doubles(x, 0));
    if (status == PL_OK)
        status = pl_body_read(play->world, body->handle, PL_ROTATIONS, 0, (int)n, 1,
                              pl_doubles(rotations, 0));
    if (status == PL_OK)
        status = pl_model_read(body->model, PL_REST_RADII, 0, (int)n, pl_doubles(radii, 0));
    if (status == PL_OK)
        status = pl_model_read(body->model, PL_REST_ORIENTATIONS, 0, (int)n,
                               pl_doubles(orientations, 0));
    for (size_t i = 0; i < n && status == PL_OK; i++)
        make_tips(x + 3 * i, rotations + 4 * i, orientations + 4 * i, radii + 3 * i,
                  positions + 3 * TIPS * i, normals ? normals + 3 * TIPS * i : NULL);
    pl_memory_free(play->memory, all);
    return status;
}

pl_status pl_surface_read(const pl_play *play, const pl_play_body *body, double *positions,
                          double *normals)
{
    if (body->removed) { /* the mesh keeps its triangles; these have no size any more */
        size_t size = 3 * sizeof(double) * (size_t)pl_surface_vertices(body);
        memset(positions, 0, size);
        if (normals)
            memset(normals, 0, size);
        return PL_OK;
    }
    if (!has_surface(body))
        return read_particles(play, body, positions, normals);
    pl_skin_request request = {
        .body = body->handle, .fraction = 1, .positions = pl_doubles(positions, 0)};
    if (normals)
        request.normals = pl_doubles(normals, 0);
    return pl_world_skin(play->world, &request, 1);
}

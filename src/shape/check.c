/* Checks a model definition element by element: counts, pointers, strides, numbers that are none,
   indices out of range. Each message names the place and says what would be right. */
#include "shape/check.h"

#include <math.h>

#include "base/error.h"
#include "shape/buffer.h"
#include "shape/look.h"

/* Squares of coordinates and sums of them stay far from overflow. */
#define MAX_COORDINATE 1e30

static pl_status check_count(int count, int least, const char *name, pl_error *error)
{
    PL_CHECK(count >= least && count <= PL_MAX_MODEL_COUNT, PL_ERROR_ARGUMENT, error, name,
             "is %d; it must be from %d to %d", count, least, PL_MAX_MODEL_COUNT);
    return PL_OK;
}

static pl_status check_pointer(const void *pointer, int count, const char *name, pl_error *error)
{
    PL_CHECK(pointer || count == 0, PL_ERROR_ARGUMENT, error, name,
             "is NULL; it must hold %d elements", count);
    return PL_OK;
}

static pl_status check_buffer(pl_buffer buffer, int count, int scalars, const char *name,
                              pl_error *error)
{
    if (count == 0)
        return PL_OK;
    PL_TRY(check_pointer(buffer.data, count, name, error));
    PL_CHECK(buffer.type == PL_F32 || buffer.type == PL_F64, PL_ERROR_ARGUMENT, error, name,
             "has the unknown type %d; it must be PL_F32 or PL_F64", (int)buffer.type);
    size_t packed = (size_t)scalars * pl_buffer_scalar_size(buffer);
    PL_CHECK(buffer.stride == 0 || buffer.stride >= packed, PL_ERROR_ARGUMENT, error, name,
             "has a stride of %zu bytes; it must be 0 or at least the %zu of one element",
             buffer.stride, packed);
    return PL_OK;
}

static pl_status check_points(pl_buffer points, int count, const char *name, pl_error *error)
{
    PL_TRY(check_buffer(points, count, 3, name, error));
    for (int i = 0; i < count; i++) {
        double p[3];
        pl_buffer_get(points, (size_t)i, 3, p);
        PL_CHECK(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]), PL_ERROR_ARGUMENT, error,
                 PL_WHERE("%s[%d]", name, i), "is (%g, %g, %g); coordinates must be finite", p[0],
                 p[1], p[2]);
        PL_CHECK(fabs(p[0]) <= MAX_COORDINATE && fabs(p[1]) <= MAX_COORDINATE &&
                     fabs(p[2]) <= MAX_COORDINATE,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("%s[%d]", name, i),
                 "is (%g, %g, %g); coordinates are in metres and must be below %g", p[0], p[1],
                 p[2], MAX_COORDINATE);
    }
    return PL_OK;
}

static pl_status check_radii(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_buffer(def->radii, def->particle_count, 3, "radii", error));
    for (int i = 0; i < def->particle_count; i++) {
        double r[3];
        pl_buffer_get(def->radii, (size_t)i, 3, r);
        bool finite = isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]);
        PL_CHECK(finite && r[0] > 0 && r[1] > 0 && r[2] > 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("radii[%d]", i),
                 "is (%g, %g, %g); all three radii must be finite and greater than 0", r[0], r[1],
                 r[2]);
    }
    return PL_OK;
}

static pl_status check_orientations(const pl_model_def *def, pl_error *error)
{
    if (!def->orientations.data)
        return PL_OK;
    PL_TRY(check_buffer(def->orientations, def->particle_count, 4, "orientations", error));
    for (int i = 0; i < def->particle_count; i++) {
        double q[4];
        pl_buffer_get(def->orientations, (size_t)i, 4, q);
        bool finite = isfinite(q[0]) && isfinite(q[1]) && isfinite(q[2]) && isfinite(q[3]);
        PL_CHECK(finite, PL_ERROR_ARGUMENT, error, PL_WHERE("orientations[%d]", i),
                 "is (%g, %g, %g, %g); a quaternion must be finite", q[0], q[1], q[2], q[3]);
        PL_CHECK(q[0] != 0 || q[1] != 0 || q[2] != 0 || q[3] != 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("orientations[%d]", i),
                 "is a quaternion of zero length; (0, 0, 0, 1) means not turned, in the order x, "
                 "y, z, w");
    }
    return PL_OK;
}

static pl_status check_edges(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_pointer(def->edges, def->edge_count, "edges", error));
    for (int e = 0; e < def->edge_count; e++) {
        int a = def->edges[2 * (size_t)e], b = def->edges[2 * (size_t)e + 1];
        PL_CHECK(a >= 0 && a < def->particle_count && b >= 0 && b < def->particle_count,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
                 "joins particles %d and %d; they must be from 0 to %d", a, b,
                 def->particle_count - 1);
    }
    return PL_OK;
}

static pl_status check_vertex_weights(const pl_model_def *def, int vertex, pl_error *error)
{
    size_t first = (size_t)vertex * (size_t)def->influence_count;
    double sum = 0;
    for (int k = 0; k < def->influence_count; k++) {
        int32_t particle = def->influences[first + (size_t)k];
        float weight = def->weights[first + (size_t)k];
        PL_CHECK(particle >= -1 && particle < def->particle_count, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("influences[%d]", vertex),
                 "names particle %d; it must be from 0 to %d, or -1 for none", (int)particle,
                 def->particle_count - 1);
        PL_CHECK(isfinite(weight) && weight >= 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("weights[%d]", vertex),
                 "has the weight %g in place %d; weights must be finite and not negative", weight,
                 k);
        sum += particle >= 0 ? weight : 0;
    }
    PL_CHECK(sum > 0, PL_ERROR_ARGUMENT, error, PL_WHERE("weights[%d]", vertex),
             "are all zero; at least one particle must carry the vertex");
    return PL_OK;
}

static pl_status check_weights(const pl_model_def *def, pl_error *error)
{
    PL_CHECK(def->influence_count >= 0 && def->influence_count <= PL_MAX_INFLUENCES,
             PL_ERROR_ARGUMENT, error, "influence_count",
             "is %d; it must be from 1 to %d, or 0 to have weights computed", def->influence_count,
             PL_MAX_INFLUENCES);
    if (def->influence_count == 0 || (!def->influences && !def->weights))
        return PL_OK;
    PL_TRY(check_pointer(def->influences, def->vertex_count, "influences", error));
    PL_TRY(check_pointer(def->weights, def->vertex_count, "weights", error));
    for (int v = 0; v < def->vertex_count; v++)
        PL_TRY(check_vertex_weights(def, v, error));
    return PL_OK;
}

static pl_status check_triangles(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_pointer(def->triangles, def->triangle_count, "triangles", error));
    for (int t = 0; t < def->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int v = def->triangles[3 * (size_t)t + (size_t)k];
            PL_CHECK(v >= 0 && v < def->vertex_count, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("triangles[%d]", t), "names vertex %d; there are %d, counted from 0",
                     v, def->vertex_count);
        }
    }
    return PL_OK;
}

static pl_status check_tets(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_count(def->tet_count, 0, "tet_count", error));
    if (def->tet_count == 0)
        return PL_OK;
    PL_TRY(check_count(def->tet_point_count, 4, "tet_point_count", error));
    PL_TRY(check_points(def->tet_points, def->tet_point_count, "tet_points", error));
    PL_TRY(check_pointer(def->tets, def->tet_count, "tets", error));
    PL_CHECK(!def->vertex_tets == !def->vertex_barycentric, PL_ERROR_ARGUMENT, error,
             def->vertex_tets ? "vertex_barycentric" : "vertex_tets",
             "is NULL; vertex_tets and vertex_barycentric go together");
    return PL_OK;
}

static pl_status check_clusters(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_count(def->cluster_count, 0, "cluster_count", error));
    PL_TRY(check_pointer(def->cluster_start, def->cluster_count, "cluster_start", error));
    PL_TRY(check_pointer(def->cluster_members, def->cluster_count, "cluster_members", error));
    if (def->cluster_count == 0)
        return PL_OK;
    PL_CHECK(def->cluster_start[0] == 0, PL_ERROR_ARGUMENT, error, "cluster_start[0]",
             "is %d; it must be 0", (int)def->cluster_start[0]);
    for (int c = 0; c < def->cluster_count; c++) {
        PL_CHECK(def->cluster_start[c + 1] > def->cluster_start[c] &&
                     def->cluster_start[c + 1] <= PL_MAX_MODEL_COUNT,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("cluster_start[%d]", c + 1),
                 "is %d; every cluster needs a member, so it must be above %d",
                 (int)def->cluster_start[c + 1], (int)def->cluster_start[c]);
        if (def->cluster_radii)
            PL_CHECK(def->cluster_radii[c] > 0 && def->cluster_radii[c] <= MAX_COORDINATE,
                     PL_ERROR_ARGUMENT, error, PL_WHERE("cluster_radii[%d]", c),
                     "is %g; it must be finite and greater than 0", def->cluster_radii[c]);
    }
    return PL_OK;
}

static pl_status check_scalars(const pl_model_def *def, pl_error *error)
{
    PL_TRY(check_count(def->particle_count, 1, "particle_count", error));
    PL_TRY(check_count(def->edge_count, 0, "edge_count", error));
    PL_TRY(check_count(def->vertex_count, 0, "vertex_count", error));
    PL_TRY(check_count(def->triangle_count, 0, "triangle_count", error));
    PL_CHECK(def->dimension >= 1 && def->dimension <= 3, PL_ERROR_ARGUMENT, error, "dimension",
             "is %d; it must be 1 for a rod, 2 for a sheet or 3 for a solid", def->dimension);
    PL_CHECK(isfinite(def->volume) && def->volume >= 0, PL_ERROR_ARGUMENT, error, "volume",
             "is %g; it must be finite and greater than 0, or 0 for the sum of the ellipsoids",
             def->volume);
    PL_CHECK(!def->allocator || (def->allocator->alloc && def->allocator->free), PL_ERROR_ARGUMENT,
             error, "allocator", "lacks a function; it needs both alloc and free");
    return PL_OK;
}

pl_status pl_model_def_check(const pl_model_def *def, pl_error *error)
{
    PL_CHECK(def, PL_ERROR_ARGUMENT, error, "def", "is NULL; it must be a model definition");
    PL_CHECK(def->cookie == PL_MODEL_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
             "definition was not made by pl_default_model_def; start from what that returns");
    PL_TRY(check_scalars(def, error));
    PL_TRY(check_points(def->positions, def->particle_count, "positions", error));
    PL_TRY(check_radii(def, error));
    PL_TRY(check_orientations(def, error));
    PL_TRY(check_edges(def, error));
    PL_TRY(check_points(def->vertices, def->vertex_count, "vertices", error));
    PL_TRY(check_weights(def, error));
    PL_TRY(check_triangles(def, error));
    PL_TRY(check_tets(def, error));
    PL_TRY(check_clusters(def, error));
    return def->look ? pl_look_check(def->look, def->vertex_count, def->triangle_count, error)
                     : PL_OK;
}

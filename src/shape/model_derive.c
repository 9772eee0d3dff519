/* What follows from a model's particles and edges: volumes v = 4/3 π abc, oriented moments Ā = Ē
   (v/5 diag(a², b², c²)) Ēᵀ (METHODS §1), the extent, edge offsets; the elimination order and the
   hash of the content. A pure function of what a packed model holds. */
#include <math.h>

#include "base/error.h"
#include "base/hash.h"
#include "shape/clumps.h"
#include "shape/look.h"
#include "shape/model_parts.h"

#define PI 3.14159265358979323846

bool pl_model_allocate_derived(pl_model *model)
{
    pl_memory *memory = &model->memory;
    size_t n = (size_t)model->particle_count, m = (size_t)model->edge_count;
    return (model->volumes = PL_NEW(memory, double, n)) &&
           (model->moments = PL_NEW(memory, double, 6 * n)) &&
           (model->edge_offset = PL_NEW(memory, float, 3 * m)) &&
           (model->start = PL_NEW(memory, int32_t, n + 1)) &&
           (model->neighbour = PL_NEW(memory, int32_t, 2 * m)) &&
           (model->edge_of = PL_NEW(memory, int32_t, 2 * m));
}

/* Columns are the particle's axes. The float quaternion is unit only nearly: 2/|q|² makes the
 * matrix a rotation. */
static void rotation_matrix(const float q[4], double e[3][3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double s = 2 / (x * x + y * y + z * z + w * w);
    e[0][0] = 1 - s * (y * y + z * z);
    e[0][1] = s * (x * y - w * z);
    e[0][2] = s * (x * z + w * y);
    e[1][0] = s * (x * y + w * z);
    e[1][1] = 1 - s * (x * x + z * z);
    e[1][2] = s * (y * z - w * x);
    e[2][0] = s * (x * z - w * y);
    e[2][1] = s * (y * z + w * x);
    e[2][2] = 1 - s * (x * x + y * y);
}

static void compute_moment(const float orientation[4], const float radii[3], double volume,
                           double out[6])
{
    double e[3][3], a[3];
    rotation_matrix(orientation, e);
    for (int k = 0; k < 3; k++)
        a[k] = volume / 5 * ((double)radii[k] * radii[k]);
    int at = 0;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++)
            out[at++] =
                e[r][0] * a[0] * e[c][0] + e[r][1] * a[1] * e[c][1] + e[r][2] * a[2] * e[c][2];
}

static pl_status derive_particles(pl_model *model, pl_error *error)
{
    double sum = 0, farthest2 = 0;
    for (size_t i = 0; i < (size_t)model->particle_count; i++) {
        const float *r = model->radii + 3 * i;
        model->volumes[i] = 4.0 / 3 * PI * ((double)r[0] * r[1] * r[2]);
        compute_moment(model->orientation + 4 * i, r, model->volumes[i], model->moments + 6 * i);
        sum += model->volumes[i];
        double x = model->rest[3 * i], y = model->rest[3 * i + 1], z = model->rest[3 * i + 2];
        farthest2 = fmax(farthest2, x * x + y * y + z * z);
    }
    model->reach = sqrt(farthest2);
    double unit3 = model->unit * model->unit * model->unit, given = model->volume;
    if (!(given > 0))
        model->volume = sum;
    PL_CHECK(model->volume <= PL_MAX_VOLUME_RATIO * sum &&
                 sum <= PL_MAX_VOLUME_RATIO * model->volume,
             PL_ERROR_ARGUMENT, error, "volume",
             "is %g m³, but the ellipsoids have %g m³ in all; is the unit right?", given * unit3,
             sum * unit3);
    return PL_OK;
}

/* The sum runs in edge order, as everywhere. */
static pl_status derive_edges(pl_model *model, pl_error *error)
{
    for (size_t e = 0; e < (size_t)model->edge_count; e++) {
        int a = model->edges[2 * e], b = model->edges[2 * e + 1];
        float *offset = model->edge_offset + 3 * e;
        for (int k = 0; k < 3; k++)
            offset[k] =
                model->rest[3 * (size_t)b + (size_t)k] - model->rest[3 * (size_t)a + (size_t)k];
        PL_CHECK(offset[0] != 0 || offset[1] != 0 || offset[2] != 0, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("edges[%d]", (int)e),
                 "particles %d and %d are at the same place to float precision: too near for a "
                 "model of this extent",
                 a, b);
        model->edge_volume += model->volumes[a] + model->volumes[b];
    }
    return PL_OK;
}

pl_status pl_model_derive(pl_model *model, pl_error *error)
{
    PL_TRY(derive_particles(model, error));
    return derive_edges(model, error);
}

/* Particles that overlap at rest are listed, so that they never touch. Where far more of them are
   wanted than have room, as in a rod with steps of a thousandth of its thickness, that would be
   nearly all pairs there are: tens of gigabytes for nothing. Solids overlap some dozens. */
static pl_status check_crowding(const pl_model *model, pl_error *error)
{
    const double enough = 100, most_in_all = 5e7;
    double n = model->particle_count, limit = fmax(enough, most_in_all / n);
    if (n <= limit)
        return PL_OK;
    double others =
        pl_clumps_crowding(model->particle_count, model->rest, model->orientation, model->radii);
    PL_CHECK(others <= limit, PL_ERROR_ARGUMENT, error, "radii",
             "each of the %d particles overlaps some %.0f others at rest; at most %.0f: take fewer "
             "particles, or make them thinner",
             model->particle_count, others, limit);
    return PL_OK;
}

pl_status pl_model_analyse(pl_model *model, const int32_t *order, pl_error *error)
{
    PL_TRY(check_crowding(model, error));
    model->clumps =
        pl_clumps_create(&model->memory, model->particle_count, model->rest, model->orientation,
                         model->radii, model->start, model->neighbour);
    PL_CHECK(model->clumps, PL_ERROR_MEMORY, error, NULL, "no memory for %d particles",
             model->particle_count);
    pl_status status = pl_symbolic_create(&model->memory, model->particle_count, model->start,
                                          model->neighbour, order, &model->symbolic);
    PL_CHECK(status == PL_OK, status, error, NULL,
             "no elimination order for %d particles and %d edges: %s", model->particle_count,
             model->edge_count, pl_status_text(status));
    return PL_OK;
}

static void hash_tets(pl_hash *hash, const pl_model *model)
{
    size_t v = (size_t)model->vertex_count;
    pl_hash_string(hash, "tetrahedra");
    pl_hash_u32(hash, (uint32_t)model->tet_point_count);
    pl_hash_u32(hash, (uint32_t)model->tet_count);
    pl_hash_f32_array(hash, model->tet_points, 3 * (size_t)model->tet_point_count);
    pl_hash_u32_array(hash, (const uint32_t *)model->tets, 4 * (size_t)model->tet_count);
    pl_hash_u32_array(hash, (const uint32_t *)model->vertex_tet, v);
    pl_hash_f32_array(hash, model->vertex_barycentric, 4 * v);
}

static void hash_clusters(pl_hash *hash, const pl_model *model)
{
    size_t count = (size_t)model->cluster_count, members = (size_t)model->cluster_start[count];
    pl_hash_string(hash, "clusters");
    pl_hash_u32(hash, (uint32_t)count);
    pl_hash_u32_array(hash, (const uint32_t *)model->cluster_start, count + 1);
    pl_hash_u32_array(hash, (const uint32_t *)model->cluster_members, members);
    pl_hash_f32_array(hash, model->cluster_weights, members);
    pl_hash_f32_array(hash, model->cluster_radii, count);
}

/* Everything that was given, and the two orders that a later version might choose otherwise.
   Normals that were computed follow from the rest. */
uint64_t pl_model_hash_content(const pl_model *model)
{
    size_t n = (size_t)model->particle_count, v = (size_t)model->vertex_count;
    size_t w = v * (size_t)model->influence_count;
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_string(&hash, "pliant model 1");
    pl_hash_u32(&hash, (uint32_t)model->particle_count);
    pl_hash_u32(&hash, (uint32_t)model->edge_count);
    pl_hash_u32(&hash, (uint32_t)model->vertex_count);
    pl_hash_u32(&hash, (uint32_t)model->triangle_count);
    pl_hash_u32(&hash, (uint32_t)model->influence_count);
    pl_hash_u32(&hash, (uint32_t)model->dimension);
    pl_hash_f64(&hash, model->unit);
    pl_hash_f64(&hash, model->volume);
    pl_hash_f64_array(&hash, model->centre, 3);
    pl_hash_f32_array(&hash, model->rest, 3 * n);
    pl_hash_f32_array(&hash, model->orientation, 4 * n);
    pl_hash_f32_array(&hash, model->radii, 3 * n);
    pl_hash_u32_array(&hash, (const uint32_t *)model->edges, 2 * (size_t)model->edge_count);
    pl_hash_u32_array(&hash, (const uint32_t *)model->order, n);
    pl_hash_u32_array(&hash, (const uint32_t *)model->colour_start,
                      (size_t)model->colour_count + 1);
    pl_hash_u32_array(&hash, (const uint32_t *)model->symbolic->perm, n);
    pl_hash_f32_array(&hash, model->vertices, 3 * v);
    pl_hash_u32_array(&hash, (const uint32_t *)model->influences, w);
    pl_hash_f32_array(&hash, model->weights, w);
    pl_hash_u32_array(&hash, (const uint32_t *)model->triangles, 3 * (size_t)model->triangle_count);
    if (!pl_look_is_empty(&model->look)) {
        pl_hash_string(&hash, "look");
        pl_look_hash(&hash, &model->look, model->vertex_count, model->triangle_count);
    }
    if (model->tet_count > 0)
        hash_tets(&hash, model);
    if (model->cluster_count > 0)
        hash_clusters(&hash, model);
    return pl_hash_final(&hash);
}

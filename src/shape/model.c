/* Makes a model from a definition, in the order in which its parts need each other, and answers
   questions about it. The parts themselves come from model_convert.c, model_derive.c,
   model_surface.c, model_tets.c, graph.c and skin.c. */
#include "shape/model.h"

#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "shape/buffer.h"
#include "shape/check.h"
#include "shape/clumps.h"
#include "shape/graph.h"
#include "shape/model_parts.h"
#include "shape/skin.h"

/* ---- Creation -------------------------------------------------------------------------------- */

static void copy_counts(pl_model *model, const pl_model_def *def)
{
    int wanted = def->influence_count ? def->influence_count : PL_SKIN_INFLUENCES;
    int computed = def->particle_count < wanted ? def->particle_count : wanted;
    model->particle_count = def->particle_count;
    model->edge_count = def->edge_count;
    model->vertex_count = def->vertex_count;
    model->triangle_count = def->triangle_count;
    model->tet_count = def->tet_count;
    model->tet_point_count = def->tet_count ? def->tet_point_count : 0;
    model->dimension = def->dimension;
    if (def->vertex_count > 0)
        model->influence_count =
            def->influence_count && def->influences ? def->influence_count : computed;
}

static bool allocate_arrays(pl_model *model)
{
    pl_memory *memory = &model->memory;
    size_t n = (size_t)model->particle_count, m = (size_t)model->edge_count;
    size_t v = (size_t)model->vertex_count, w = v * (size_t)model->influence_count;
    return (model->rest = PL_NEW(memory, float, 3 * n)) &&
           (model->orientation = PL_NEW(memory, float, 4 * n)) &&
           (model->radii = PL_NEW(memory, float, 3 * n)) &&
           (model->edges = PL_NEW(memory, int32_t, 2 * m)) &&
           (model->order = PL_NEW(memory, int32_t, n)) &&
           (model->vertices = PL_NEW(memory, float, 3 * v)) &&
           (model->normals = PL_NEW(memory, float, 3 * v)) &&
           (model->influences = PL_NEW(memory, int32_t, w)) &&
           (model->weights = PL_NEW(memory, float, w)) &&
           (model->triangles = PL_NEW(memory, int32_t, 3 * (size_t)model->triangle_count)) &&
           pl_model_allocate_derived(model);
}

pl_model *pl_model_allocate(const pl_memory *memory)
{
    pl_memory counted = *memory;
    pl_model *model = PL_NEW(&counted, pl_model, 1);
    if (!model)
        return NULL;
    model->memory = counted;
    atomic_init(&model->references, 1);
    return model;
}

/* What lies inside the packed bytes goes with them. */
static void free_array(pl_memory *memory, const pl_model *model, void *array)
{
    uintptr_t address = (uintptr_t)array, packed = (uintptr_t)model->packed;
    if (model->packed && address >= packed && address < packed + model->packed_size)
        return;
    pl_memory_free(memory, array);
}

void pl_model_free(pl_model *model)
{
    pl_memory memory = model->memory; /* outlives the model, which lies in it */
    void *arrays[] = {model->rest,
                      model->orientation,
                      model->radii,
                      model->volumes,
                      model->moments,
                      model->edges,
                      model->edge_offset,
                      model->start,
                      model->neighbour,
                      model->edge_of,
                      model->order,
                      model->colour_start,
                      model->vertices,
                      model->influences,
                      model->weights,
                      model->triangles,
                      model->normals,
                      model->tangents,
                      model->tet_points,
                      model->tets,
                      model->vertex_tet,
                      model->vertex_barycentric,
                      model->cluster_start,
                      model->cluster_members,
                      model->cluster_weights,
                      model->cluster_radii};
    pl_symbolic_destroy(&memory, model->symbolic);
    pl_clumps_destroy(&memory, model->clumps);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free_array(&memory, model, arrays[k]);
    pl_memory_free(&memory, model->look_block);
    pl_memory_free(&memory, model->packed);
    pl_memory_free(&memory, model);
}

static pl_status fill_model(pl_model *model, const pl_model_def *def, pl_error *error)
{
    copy_counts(model, def);
    PL_CHECK(allocate_arrays(model), PL_ERROR_MEMORY, error, NULL,
             "no memory for a model of %d particles, %d edges and %d vertices", def->particle_count,
             def->edge_count, def->vertex_count);
    if (def->edge_count > 0)
        memcpy(model->edges, def->edges, (size_t)def->edge_count * 2 * sizeof *model->edges);
    PL_TRY(pl_graph_connect(model, def->several_pieces, error));
    PL_TRY(pl_model_convert_particles(model, def, error));
    PL_TRY(pl_model_derive(model, error));
    PL_TRY(pl_model_convert_skin(model, def, error));
    PL_TRY(pl_model_convert_look(model, def->look, error));
    PL_TRY(pl_model_convert_tets(model, def, error));
    PL_TRY(pl_model_convert_clusters(model, def, error));
    PL_TRY(pl_graph_colour(model, error));
    PL_TRY(pl_model_analyse(model, NULL, error));
    model->hash = pl_model_hash_content(model);
    return PL_OK;
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status create(const pl_model_def *def, pl_model **out,
                                                  pl_error *error)
{
    PL_TRY(pl_model_def_check(def, error));
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "model",
             "is NULL; it must be where the model is to be put");
    pl_memory memory;
    pl_memory_init(&memory, def->allocator, def->memory_limit);
    pl_model *model = pl_model_allocate(&memory);
    PL_CHECK(model, PL_ERROR_MEMORY, error, NULL, "no memory for a model");
    pl_status status = fill_model(model, def, error);
    if (status == PL_OK)
        *out = model;
    else
        pl_model_free(model);
    return status;
}

/* ---- Interface ------------------------------------------------------------------------------- */

pl_model_def pl_default_model_def(void)
{
    return (pl_model_def){.dimension = 3, .cookie = PL_MODEL_COOKIE};
}

pl_status pl_model_create(const pl_model_def *def, pl_model **model, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = create(def, model, error);
    pl_float_env_leave(host);
    return status;
}

void pl_model_retain(pl_model *model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void pl_model_release(pl_model *model)
{
    if (model && atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) == 1)
        pl_model_free(model);
}

static double in_metres(const pl_model *model, const float *points, size_t index, int k)
{
    return model->centre[k] + model->unit * points[3 * index + (size_t)k];
}

static void find_bounds(const pl_model *model, double lower[3], double upper[3])
{
    for (int k = 0; k < 3; k++) {
        lower[k] = upper[k] = in_metres(model, model->rest, 0, k);
        for (size_t i = 1; i < (size_t)model->particle_count; i++) {
            double x = in_metres(model, model->rest, i, k);
            lower[k] = x < lower[k] ? x : lower[k];
            upper[k] = x > upper[k] ? x : upper[k];
        }
    }
}

pl_model_info pl_model_get_info(const pl_model *model)
{
    pl_model_info info = {.particle_count = model->particle_count,
                          .edge_count = model->edge_count,
                          .vertex_count = model->vertex_count,
                          .triangle_count = model->triangle_count,
                          .piece_count = model->piece_count,
                          .influence_count = model->influence_count,
                          .tet_point_count = model->tet_point_count,
                          .tet_count = model->tet_count,
                          .cluster_count = model->cluster_count,
                          .membership_count =
                              model->cluster_count ? model->cluster_start[model->cluster_count] : 0,
                          .dimension = model->dimension,
                          .colour_count = model->colour_count,
                          .factor_count = model->symbolic->nnz,
                          .volume = model->volume * (model->unit * model->unit * model->unit),
                          .spacing = model->spacing * model->unit,
                          .unit = model->unit,
                          .hash = model->hash};
    find_bounds(model, info.lower, info.upper);
    return info;
}

static void read_element(const pl_model *model, pl_model_field field, size_t i, double values[4])
{
    const float *points = field == PL_REST_POSITIONS    ? model->rest
                          : field == PL_REST_TET_POINTS ? model->tet_points
                                                        : model->vertices;
    for (int k = 0; k < 3; k++) {
        if (field == PL_REST_RADII)
            values[k] = model->unit * model->radii[3 * i + (size_t)k];
        else if (field == PL_REST_NORMALS)
            values[k] = model->normals[3 * i + (size_t)k];
        else if (field != PL_REST_ORIENTATIONS)
            values[k] = in_metres(model, points, i, k);
    }
    for (int k = 0; k < 4 && field == PL_REST_ORIENTATIONS; k++)
        values[k] = model->orientation[4 * i + (size_t)k];
}

static int element_count(const pl_model *model, pl_model_field field)
{
    bool of_vertices = field == PL_REST_VERTICES || field == PL_REST_NORMALS;
    return of_vertices                   ? model->vertex_count
           : field == PL_REST_TET_POINTS ? model->tet_point_count
                                         : model->particle_count;
}

pl_status pl_model_read(const pl_model *model, pl_model_field field, int first, int count,
                        pl_buffer out)
{
    PL_REQUIRE(field >= PL_REST_POSITIONS && field <= PL_REST_TET_POINTS, PL_ERROR_ARGUMENT, NULL,
               "field", "there is no model field %d", (int)field);
    int available = element_count(model, field);
    PL_REQUIRE(first >= 0 && count >= 0 && first <= available && count <= available - first,
               PL_ERROR_ARGUMENT, NULL, "first", "elements %d to %lld of %d were asked for", first,
               (long long)first + count - 1, available);
    PL_REQUIRE(out.data || count == 0, PL_ERROR_ARGUMENT, NULL, "out", "the buffer is NULL");
    PL_REQUIRE(out.type == PL_F32 || out.type == PL_F64, PL_ERROR_ARGUMENT, NULL, "out",
               "the buffer has the unknown type %d", (int)out.type);
    int scalars = field == PL_REST_ORIENTATIONS ? 4 : 3;
    for (int i = 0; i < count; i++) {
        double values[4] = {0};
        read_element(model, field, (size_t)first + (size_t)i, values);
        pl_buffer_set(out, (size_t)i, scalars, values);
    }
    return PL_OK;
}

const int32_t *pl_model_edges(const pl_model *model)
{
    return model->edges;
}

const int32_t *pl_model_triangles(const pl_model *model)
{
    return model->triangles;
}

const int32_t *pl_model_influences(const pl_model *model)
{
    return model->influences;
}

const float *pl_model_weights(const pl_model *model)
{
    return model->weights;
}

const pl_look *pl_model_look(const pl_model *model)
{
    return &model->look;
}

const int32_t *pl_model_tets(const pl_model *model)
{
    return model->tets;
}

const int32_t *pl_model_vertex_tets(const pl_model *model)
{
    return model->vertex_tet;
}

const float *pl_model_vertex_barycentric(const pl_model *model)
{
    return model->vertex_barycentric;
}

const int32_t *pl_model_cluster_start(const pl_model *model)
{
    return model->cluster_start;
}

const int32_t *pl_model_cluster_members(const pl_model *model)
{
    return model->cluster_members;
}

const float *pl_model_cluster_weights(const pl_model *model)
{
    return model->cluster_weights;
}

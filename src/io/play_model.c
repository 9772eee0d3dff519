/* The models of a scene: from ready-made shapes, particle by particle, from mesh and model files,
   from built-in meshes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/model_file.h"
#include "io/play_parts.h"
#include "pliant/files.h"

static pl_status make_model(const pl_builder *builder, uint32_t node, pl_model_def *def,
                            pl_model **model)
{
    pl_error error = {0};
    def->memory_limit = builder->options->memory_limit;
    pl_status status = pl_model_create(def, model, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, node, status, &error);
}

static pl_status make_shape_model(const pl_builder *builder, const pl_scene_model *source,
                                  pl_model **model)
{
    pl_shape_def def = pl_default_shape_def(source->kind);
    for (int i = 0; i < 3; i++) {
        if (source->count[i] > 0)
            def.count[i] = source->count[i];
        if (source->size[i] > 0)
            def.size[i] = source->size[i];
    }
    if (source->has_braced)
        def.braced = source->braced;
    pl_shape *shape;
    pl_error error = {0};
    pl_status status = pl_shape_create(&def, &shape, &error);
    if (status != PL_OK)
        return pl_build_fail(builder, source->place.node, status, &error);
    pl_model_def model_def = pl_shape_model_def(shape);
    status = make_model(builder, source->place.node, &model_def, model);
    pl_shape_destroy(shape);
    return status;
}

static pl_status make_explicit_model(const pl_builder *builder, const pl_scene_model *source,
                                     pl_model **model)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = source->particle_count;
    def.positions = pl_doubles(source->positions, 0);
    def.radii = pl_doubles(source->radii, 0);
    if (source->orientations)
        def.orientations = pl_doubles(source->orientations, 0);
    def.edge_count = source->edge_count;
    def.edges = source->edges;
    def.dimension = source->dimension;
    def.volume = source->volume;
    def.vertex_count = source->vertex_count;
    if (source->vertex_count > 0)
        def.vertices = pl_doubles(source->vertices, 0);
    def.influence_count = source->influence_count;
    def.influences = source->influences;
    def.weights = source->weights;
    def.triangle_count = source->triangle_count;
    def.triangles = source->triangles;
    const pl_scene_clusters *clusters = &source->clusters;
    def.several_pieces = clusters->wanted && source->edge_count == 0;
    def.cluster_count = clusters->explicit_count;
    def.cluster_start = clusters->member_start;
    def.cluster_members = clusters->members;
    def.cluster_weights = clusters->weights;
    return make_model(builder, source->place.node, &def, model);
}

/* ---- Cooked models --------------------------------------------------------------------------- */

static void add_wishes(const pl_scene_cooking *cooking, pl_cook_def *def)
{
    if (cooking->particles > 0 || cooking->spacing > 0) {
        def->particle_count = cooking->particles;
        def->spacing = cooking->spacing;
        def->edge_count = 0; /* a built-in's own count belongs to its own particles */
    }
    if (cooking->edges > 0)
        def->edge_count = cooking->edges;
    if (cooking->influences > 0)
        def->influence_count = cooking->influences;
    if (cooking->has_kind)
        def->kind = cooking->kind;
    if (cooking->grid)
        def->sampling = PL_COOK_GRID;
    if (cooking->scale[0] > 0)
        def->scale = cooking->scale[0];
    if (cooking->thickness > 0)
        def->thickness = cooking->thickness;
    if (cooking->has_weld)
        def->weld = cooking->weld;
    def->tet_count = cooking->tets;
    def->seed = (uint64_t)cooking->seed;
}

/* Other axes are stretched against x; normals the other way. The mesh is ours: it was just read or
   made. */
static void stretch(const pl_scene_cooking *cooking, pl_mesh *mesh)
{
    double factor[3];
    for (int k = 0; k < 3; k++)
        factor[k] = cooking->scale[0] > 0 ? cooking->scale[k] / cooking->scale[0] : 1;
    if (factor[1] == 1 && factor[2] == 1)
        return;
    double *x = (double *)(uintptr_t)mesh->positions;
    float *n = (float *)(uintptr_t)mesh->look.normals;
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        double length = 0, turned[3] = {0, 0, 0};
        for (size_t k = 0; k < 3; k++) {
            x[3 * v + k] *= factor[k];
            turned[k] = n ? (double)n[3 * v + k] / factor[k] : 0;
            length += turned[k] * turned[k];
        }
        for (size_t k = 0; n && length > 0 && k < 3; k++)
            n[3 * v + k] = (float)(turned[k] / sqrt(length));
    }
}

static pl_status cook_model(const pl_builder *builder, const pl_scene_model *source,
                            pl_cook_def *def, pl_model **model)
{
    pl_error error = {0};
    add_wishes(&source->cooking, def);
    def->memory_limit = builder->options->memory_limit;
    pl_status status = pl_cook(def, model, NULL, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, source->place.node, status, &error);
}

pl_status pl_build_builtin_mesh(const pl_builder *builder, uint32_t node, const char *name,
                                double detail, pl_mesh *mesh)
{
    pl_error error = {0};
    pl_status status = pl_builtin_mesh(name, detail, NULL, mesh, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, node, status, &error);
}

static pl_status make_builtin_model(const pl_builder *builder, const pl_scene_model *source,
                                    pl_model **model)
{
    pl_mesh mesh;
    pl_cook_def def;
    PL_TRY(pl_build_builtin_mesh(builder, source->place.node, source->builtin,
                                 source->cooking.detail, &mesh));
    stretch(&source->cooking, &mesh);
    pl_status status = pl_builtin_cook_def(source->builtin, &mesh, &def);
    if (status == PL_OK)
        status = cook_model(builder, source, &def, model);
    pl_mesh_free(&mesh);
    return status;
}

static pl_status find_path(const pl_builder *builder, uint32_t node, const char *name, char *path,
                           size_t size)
{
    return pl_scene_path(builder->scene, node, name, path, size) == PL_OK
               ? PL_OK
               : PL_BUILD_FAIL(builder, node, "the name is too long");
}

pl_status pl_build_file_mesh(const pl_builder *builder, uint32_t node, const char *name,
                             pl_mesh *mesh)
{
    char path[4096];
    pl_error error = {0};
    PL_TRY(find_path(builder, node, name, path, sizeof path));
    pl_status status = pl_mesh_load(path, NULL, mesh, &error);
    return status == PL_OK ? PL_OK : pl_build_fail(builder, node, status, &error);
}

static pl_status make_file_model(const pl_builder *builder, const pl_scene_model *source,
                                 pl_model **model)
{
    char path[4096];
    pl_error error = {0};
    uint32_t node = pl_json_member(builder->scene->json, source->place.node, "file");
    PL_TRY(find_path(builder, node, source->file, path, sizeof path));
    if (pl_file_is_model(path)) {
        pl_status status =
            pl_model_load_within(path, NULL, builder->options->memory_limit, model, &error);
        return status == PL_OK ? PL_OK : pl_build_fail(builder, node, status, &error);
    }
    pl_mesh mesh;
    PL_TRY(pl_build_file_mesh(builder, node, source->file, &mesh));
    stretch(&source->cooking, &mesh);
    pl_cook_def def = pl_default_cook_def(&mesh);
    pl_status status = cook_model(builder, source, &def, model);
    pl_mesh_free(&mesh);
    return status;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* In place of the model itself. */
static pl_status add_clusters(const pl_builder *builder, const pl_scene_clusters *source,
                              pl_model **model)
{
    pl_clusters_def def = pl_default_clusters_def();
    pl_model *clustered;
    pl_error error = {0};
    def.count = source->count;
    def.radius = source->radius;
    def.overlap = source->overlap;
    def.kernel = source->kernel;
    def.seed = (uint64_t)source->seed;
    def.shards = source->shards;
    def.rings = source->rings;
    pl_status status = pl_model_cluster(*model, &def, &clustered, &error);
    if (status != PL_OK)
        return pl_build_fail(builder, source->node, status, &error);
    pl_model_release(*model);
    *model = clustered;
    return PL_OK;
}

/* ---- Tetrahedra ------------------------------------------------------------------------------ */

/* In place of the model itself. */
static pl_status take_tetrahedra(const pl_builder *builder, const pl_scene_model *source,
                                 pl_model **model)
{
    pl_model *tetrahedral;
    pl_error error = {0};
    uint32_t node = pl_json_member(builder->scene->json, source->place.node, "tetrahedra");
    if (pl_model_get_info(*model).tet_count == 0)
        return PL_BUILD_FAIL(builder, node,
                             "the model has none; say with \"tets\" how many to fill it with, or "
                             "use a mesh that has some, or the shape \"block\"");
    pl_status status = pl_model_tetrahedral(*model, &tetrahedral, &error);
    if (status != PL_OK)
        return pl_build_fail(builder, node, status, &error);
    pl_model_release(*model);
    *model = tetrahedral;
    return PL_OK;
}

pl_status pl_build_models(const pl_builder *builder)
{
    pl_play *play = builder->play;
    play->models = PL_NEW(builder->memory, pl_model *, builder->scene->model_count);
    if (!play->models)
        return pl_build_no_memory(builder);
    for (int i = 0; i < builder->scene->model_count; i++) {
        const pl_scene_model *source = &builder->scene->models[i];
        PL_TRY(source->is_shape  ? make_shape_model(builder, source, &play->models[i])
               : source->builtin ? make_builtin_model(builder, source, &play->models[i])
               : source->file    ? make_file_model(builder, source, &play->models[i])
                                 : make_explicit_model(builder, source, &play->models[i]));
        play->model_count = i + 1;
        if (source->tetrahedra)
            PL_TRY(take_tetrahedra(builder, source, &play->models[i]));
        if (source->clusters.wanted && !source->clusters.explicit_count)
            PL_TRY(add_clusters(builder, &source->clusters, &play->models[i]));
    }
    return PL_OK;
}

/* Models of a scene: a ready-made shape, a mesh or model file, or particle by particle. */
#include <stdio.h>
#include <string.h>

#include "io/scene_parts.h"
#include "io/suggest.h"

/* ---- Ready-made ------------------------------------------------------------------------------ */

static pl_status find_shape(pl_scene_reader *reader, uint32_t node, const char *name,
                            pl_shape_kind *kind)
{
    if (pl_find_shape_kind(name, kind))
        return PL_OK;
    char list[160] = "", hint[96], shown[64];
    const char *best = NULL, *known;
    for (int i = 0; (known = pl_shape_kind_name((pl_shape_kind)i)); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known);
        pl_suggest(name, known, &best);
    }
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no shape \"%s\"%s known are %s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint) : ";", list);
}

static pl_status read_shape(pl_scene_reader *reader, const pl_raw_model *raw, pl_scene_model *model)
{
    double counts[3] = {0};
    model->is_shape = true;
    PL_TRY(find_shape(reader, pl_json_member(reader->json, raw->place.node, "shape"), raw->shape,
                      &model->kind));
    if (raw->count)
        PL_TRY(pl_read_measures(reader, raw->count, true, counts));
    for (int i = 0; i < 3; i++)
        model->count[i] = (int)counts[i];
    if (raw->size)
        PL_TRY(pl_read_measures(reader, raw->size, false, model->size));
    model->has_braced = pl_was_given(&pl_object_model, &raw->place, "braced");
    model->braced = raw->braced;
    return PL_OK;
}

/* ---- Particle by particle -------------------------------------------------------------------- */

static pl_status read_radii(pl_scene_reader *reader, uint32_t node, double out[3])
{
    PL_TRY(pl_read_vector(reader, node, out));
    for (int i = 0; i < 3; i++)
        if (!(out[i] > 0))
            return PL_SCENE_FAIL(reader, node + 1 + (uint32_t)i, "a radius must be greater than 0");
    return PL_OK;
}

static pl_status read_particle(pl_scene_reader *reader, uint32_t node, pl_scene_model *model, int i)
{
    pl_raw_particle raw = {0};
    PL_TRY(pl_read_object(reader, node, &pl_object_particle, &raw));
    double *radii = model->radii + 3 * (size_t)i,
           *orientation = model->orientations + 4 * (size_t)i;
    memcpy(model->positions + 3 * (size_t)i, raw.position, sizeof raw.position);
    orientation[3] = 1;
    if (raw.orientation)
        PL_TRY(pl_read_rotation(reader, raw.orientation, orientation));
    bool has_radius = pl_was_given(&pl_object_particle, &raw.place, "radius");
    if (has_radius == (raw.radii != 0))
        return PL_SCENE_FAIL(reader, node,
                             "give either \"radius\" (a ball) or \"radii\" (an ellipsoid's three)");
    for (int k = 0; k < 3; k++)
        radii[k] = raw.radius;
    return raw.radii ? read_radii(reader, raw.radii, radii) : PL_OK;
}

static pl_status read_particles(pl_scene_reader *reader, uint32_t node, pl_scene_model *model)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of particles"));
    size_t n = pl_node_count(reader, node);
    model->particle_count = (int)n;
    model->positions = PL_SCENE_NEW(reader, double, 3 * n);
    model->radii = PL_SCENE_NEW(reader, double, 3 * n);
    model->orientations = PL_SCENE_NEW(reader, double, 4 * n);
    if (!model->positions || !model->radii || !model->orientations)
        return pl_scene_no_memory(reader);
    uint32_t particle = node + 1;
    for (size_t i = 0; i < n; i++, particle = pl_json_next(reader->json, particle))
        PL_TRY(read_particle(reader, particle, model, (int)i));
    return PL_OK;
}

static pl_status check_count(pl_scene_reader *reader, uint32_t node, int count, int expected,
                             const char *things)
{
    if (count == expected)
        return PL_OK;
    return PL_SCENE_FAIL(reader, node, "must have one element per %s, %d, not %d", things, expected,
                         count);
}

/* "radius": one number for all particles, or one each. */
static pl_status read_balls(pl_scene_reader *reader, uint32_t node, pl_scene_model *model)
{
    static const pl_field positive = {.low = 0, .above = true, .high = 1e9};
    bool single = pl_json_kind_of(reader->json, node) == PL_JSON_NUMBER;
    if (!single) {
        PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "a number or an array of numbers"));
        PL_TRY(check_count(reader, node, (int)pl_node_count(reader, node), model->particle_count,
                           "particle"));
    }
    model->radii = PL_SCENE_NEW(reader, double, 3 * (size_t)model->particle_count);
    if (!model->radii)
        return pl_scene_no_memory(reader);
    for (int i = 0; i < model->particle_count; i++) {
        double *radii = model->radii + 3 * (size_t)i;
        PL_TRY(pl_read_number(reader, single ? node : node + 1 + (uint32_t)i, &positive, radii));
        radii[1] = radii[2] = radii[0];
    }
    return PL_OK;
}

static pl_status read_ellipsoids(pl_scene_reader *reader, uint32_t node, pl_scene_model *model)
{
    int count;
    PL_TRY(pl_read_rows(reader, node, 3, &count, &model->radii));
    PL_TRY(check_count(reader, node, count, model->particle_count, "particle"));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            if (!(model->radii[3 * (size_t)i + (size_t)k] > 0))
                return PL_SCENE_FAIL(
                    reader, pl_json_element(reader->json, node, (uint32_t)i) + 1 + (uint32_t)k,
                    "a radius must be greater than 0");
    return PL_OK;
}

static pl_status read_positions(pl_scene_reader *reader, const pl_raw_model *raw,
                                pl_scene_model *model)
{
    int count;
    PL_TRY(pl_read_rows(reader, raw->positions, 3, &model->particle_count, &model->positions));
    if ((raw->radius != 0) == (raw->radii != 0))
        return PL_SCENE_FAIL(
            reader, raw->place.node,
            "give either \"radius\" (balls) or \"radii\" (three per particle: ellipsoids)");
    PL_TRY(raw->radii ? read_ellipsoids(reader, raw->radii, model)
                      : read_balls(reader, raw->radius, model));
    if (!raw->orientations)
        return PL_OK;
    PL_TRY(pl_read_rows(reader, raw->orientations, 4, &count, &model->orientations));
    PL_TRY(check_count(reader, raw->orientations, count, model->particle_count, "particle"));
    uint32_t row = raw->orientations + 1;
    for (int i = 0; i < count; i++, row = pl_json_next(reader->json, row))
        PL_TRY(pl_read_rotation(reader, row, model->orientations + 4 * (size_t)i));
    return PL_OK;
}

/* ---- Surface --------------------------------------------------------------------------------- */

/* One row per vertex, all of one width; particles -1 = none. */
static pl_status read_influences(pl_scene_reader *reader, const pl_raw_model *raw,
                                 pl_scene_model *model)
{
    PL_TRY(pl_expect(reader, raw->influences, PL_JSON_ARRAY, "an array of arrays of particles"));
    PL_TRY(pl_expect(reader, raw->weights, PL_JSON_ARRAY, "an array of arrays of weights"));
    PL_TRY(check_count(reader, raw->influences, (int)pl_node_count(reader, raw->influences),
                       model->vertex_count, "vertex"));
    PL_TRY(check_count(reader, raw->weights, (int)pl_node_count(reader, raw->weights),
                       model->vertex_count, "vertex"));
    static const pl_field weight_range = {.low = 0, .high = 1e9};
    uint32_t particles = raw->influences + 1, weights = raw->weights + 1;
    for (int v = 0; v < model->vertex_count; v++) {
        PL_TRY(pl_expect(reader, particles, PL_JSON_ARRAY, "an array of particles"));
        PL_TRY(pl_expect(reader, weights, PL_JSON_ARRAY, "an array of weights"));
        uint32_t width = pl_node_count(reader, particles);
        if (v == 0) {
            if (width < 1 || width > PL_MAX_INFLUENCES)
                return PL_SCENE_FAIL(reader, particles, "must name 1 to %d particles",
                                     PL_MAX_INFLUENCES);
            size_t n = (size_t)model->vertex_count * width;
            model->influence_count = (int)width;
            model->influences = PL_SCENE_NEW(reader, int32_t, n);
            model->weights = PL_SCENE_NEW(reader, float, n);
            if (!model->influences || !model->weights)
                return pl_scene_no_memory(reader);
        }
        if (width != (uint32_t)model->influence_count)
            return PL_SCENE_FAIL(reader, particles,
                                 "must name %d particles like the first; fill up with -1",
                                 model->influence_count);
        PL_TRY(check_count(reader, weights, (int)pl_node_count(reader, weights), (int)width,
                           "particle"));
        for (uint32_t k = 0; k < width; k++) {
            int particle;
            double weight;
            PL_TRY(pl_read_integer(reader, particles + 1 + k, -1, model->particle_count - 1,
                                   &particle));
            PL_TRY(pl_read_number(reader, weights + 1 + k, &weight_range, &weight));
            model->influences[(size_t)v * width + k] = particle;
            model->weights[(size_t)v * width + k] = (float)weight;
        }
        particles = pl_json_next(reader->json, particles);
        weights = pl_json_next(reader->json, weights);
    }
    return PL_OK;
}

static pl_status read_surface(pl_scene_reader *reader, const pl_raw_model *raw,
                              pl_scene_model *model)
{
    if (raw->vertices)
        PL_TRY(pl_read_rows(reader, raw->vertices, 3, &model->vertex_count, &model->vertices));
    if ((raw->influences != 0) != (raw->weights != 0))
        return PL_SCENE_FAIL(reader, raw->place.node, "\"influences\" and \"weights\" go together");
    if (raw->influences)
        PL_TRY(read_influences(reader, raw, model));
    if (raw->triangles)
        PL_TRY(pl_read_index_rows(reader, raw->triangles, 3, model->vertex_count, "vertex",
                                  &model->triangle_count, &model->triangles));
    return PL_OK;
}

static pl_status read_explicit(pl_scene_reader *reader, const pl_raw_model *raw,
                               pl_scene_model *model)
{
    uint32_t node = raw->place.node, given = raw->particles ? raw->particles : raw->positions;
    if ((raw->particles != 0) == (raw->positions != 0))
        return PL_SCENE_FAIL(
            reader, node,
            "give one of \"shape\", \"file\", \"builtin\", \"particles\" or \"positions\"");
    if (raw->particles && (raw->radii || raw->radius || raw->orientations))
        return PL_SCENE_FAIL(reader, node,
                             "\"radius\", \"radii\" and \"orientations\" go with \"positions\"; in "
                             "\"particles\" each particle has its own");
    PL_TRY(raw->particles ? read_particles(reader, raw->particles, model)
                          : read_positions(reader, raw, model));
    if (model->particle_count == 0)
        return PL_SCENE_FAIL(reader, given,
                             "must not be empty: a model needs at least one particle");
    if (raw->edges)
        PL_TRY(pl_read_index_rows(reader, raw->edges, 2, model->particle_count, "particle",
                                  &model->edge_count, &model->edges));
    else if (model->particle_count > 1 && !raw->clusters)
        return PL_SCENE_FAIL(reader, node,
                             "the key \"edges\" is missing: it says which particles are joined");
    model->dimension =
        pl_was_given(&pl_object_model, &raw->place, "dimension") ? raw->dimension : 3;
    model->volume = raw->volume;
    return read_surface(reader, raw, model);
}

/* ---- Cooked ---------------------------------------------------------------------------------- */

pl_status pl_check_builtin(pl_scene_reader *reader, uint32_t node, const char *name)
{
    char list[160] = "", hint[96], shown[64];
    const char *best = NULL, *known;
    for (int i = 0; (known = pl_builtin_name(i)); i++) {
        if (strcmp(name, known) == 0)
            return PL_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known);
        pl_suggest(name, known, &best);
    }
    pl_copy_text(shown, sizeof shown, name, strlen(name));
    return PL_SCENE_FAIL(reader, node, "there is no built-in mesh \"%s\"%s known are %s", shown,
                         best ? pl_suggest_text(best, hint, sizeof hint) : ";", list);
}

bool pl_names_model_file(const char *file)
{
    size_t length = strlen(file);
    return length > 7 && strcmp(file + length - 7, ".pliant") == 0;
}

static pl_status read_counts(pl_scene_reader *reader, const pl_raw_model *raw,
                             pl_scene_cooking *cooking)
{
    if (raw->particles)
        PL_TRY(pl_read_integer(reader, raw->particles, 1, 10000000, &cooking->particles));
    if (raw->edges)
        PL_TRY(pl_read_integer(reader, raw->edges, 1, 100000000, &cooking->edges));
    if (raw->influences)
        PL_TRY(
            pl_read_integer(reader, raw->influences, 1, PL_MAX_INFLUENCES, &cooking->influences));
    if (raw->particles && raw->spacing > 0)
        return PL_SCENE_FAIL(reader, raw->particles,
                             "\"particles\" and \"spacing\" say the same; give one of them");
    return PL_OK;
}

/* One factor for all axes, or three. */
static pl_status read_scale(pl_scene_reader *reader, uint32_t node, double scale[3])
{
    static const pl_field range = {.low = 0, .above = true, .high = 1e30};
    if (pl_json_kind_of(reader->json, node) == PL_JSON_ARRAY) {
        PL_TRY(pl_read_vector(reader, node, scale));
        for (uint32_t k = 0; k < 3; k++)
            PL_TRY(pl_read_number(reader, node + 1 + k, &range, &scale[k]));
        return PL_OK;
    }
    PL_TRY(pl_read_number(reader, node, &range, &scale[0]));
    scale[1] = scale[2] = scale[0];
    return PL_OK;
}

static pl_status read_cooked(pl_scene_reader *reader, const pl_raw_model *raw,
                             pl_scene_model *model)
{
    static const char *const kinds[] = {"auto", "solid", "shell", "rod"};
    pl_scene_cooking *cooking = &model->cooking;
    uint32_t node = raw->place.node;
    int kind = PL_COOK_AUTO;
    if (raw->file && raw->builtin)
        return PL_SCENE_FAIL(reader, node, "give one of \"file\" and \"builtin\"");
    if (raw->builtin)
        PL_TRY(
            pl_check_builtin(reader, pl_json_member(reader->json, node, "builtin"), raw->builtin));
    model->file = raw->file;
    model->builtin = raw->builtin;
    PL_TRY(read_counts(reader, raw, cooking));
    if (raw->kind)
        PL_TRY(pl_read_word(reader, raw->kind, kinds, 4, &kind));
    cooking->has_kind = raw->kind != 0;
    cooking->kind = (pl_cook_kind)kind;
    cooking->grid = raw->grid;
    cooking->spacing = raw->spacing;
    for (int k = 0; k < 3; k++)
        cooking->scale[k] = 1;
    if (raw->scale)
        PL_TRY(read_scale(reader, raw->scale, cooking->scale));
    cooking->tets = raw->tets;
    cooking->thickness = raw->thickness;
    cooking->has_weld = pl_was_given(&pl_object_model, &raw->place, "weld");
    cooking->weld = raw->weld;
    cooking->seed = raw->seed;
    cooking->detail = raw->detail > 0 ? raw->detail : 1;
    return PL_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* The keys of one way to make a model, and what is said about others beside them. */
typedef struct family {
    const char *keys[16];
    const char *others;
} family;

static const family with_shape = {
    {"shape", "count", "size", "braced", "clusters", "tetrahedra"},
    "does not go with \"shape\": a ready-made shape has \"count\", \"size\" and \"braced\""};
static const family with_file = {
    {"file", "particles", "edges", "influences", "kind", "grid", "spacing", "scale", "tets",
     "thickness", "weld", "seed", "clusters", "tetrahedra"},
    "does not go with \"file\": a mesh is cooked with \"particles\", \"edges\", \"kind\", "
    "\"scale\" and the like"};
static const family with_model_file = {
    {"file", "clusters", "tetrahedra"},
    "does not go with a model file, which is cooked already: it is taken as it is"};
static const family with_builtin = {
    {"builtin", "detail", "particles", "edges", "influences", "kind", "grid", "spacing", "scale",
     "tets", "thickness", "weld", "seed", "clusters", "tetrahedra"},
    "does not go with \"builtin\": a built-in mesh has \"detail\", \"particles\", \"edges\", "
    "\"kind\" and the like"};
static const family only_cooked = {
    {"detail", "kind", "grid", "spacing", "scale", "tets", "thickness", "weld", "seed"},
    "goes with \"file\" or \"builtin\" only"};
static const family only_shape = {{"count", "size", "braced"}, "goes with \"shape\" only"};

static bool has_key(const family *f, const char *key)
{
    for (int i = 0; i < 16 && f->keys[i]; i++)
        if (strcmp(key, f->keys[i]) == 0)
            return true;
    return false;
}

/* Fails at the first key given that is (`wanted` false) or is not (true) in the family. */
static pl_status check_family(pl_scene_reader *reader, const pl_raw_model *raw, const family *f,
                              bool wanted)
{
    for (int i = 0; i < pl_object_model.field_count; i++) {
        const char *key = pl_object_model.fields[i].key;
        if ((raw->place.given & 1u << i) && has_key(f, key) != wanted)
            return PL_SCENE_FAIL(reader, pl_json_member(reader->json, raw->place.node, key) - 1,
                                 "%s", f->others);
    }
    return PL_OK;
}

static pl_status check_mixture(pl_scene_reader *reader, const pl_raw_model *raw)
{
    if (raw->shape)
        return check_family(reader, raw, &with_shape, true);
    PL_TRY(check_family(reader, raw, &only_shape, false));
    if (raw->file && pl_names_model_file(raw->file))
        return check_family(reader, raw, &with_model_file, true);
    if (raw->file && !raw->builtin)
        return check_family(reader, raw, &with_file, true);
    if (raw->builtin)
        return raw->file ? PL_OK : check_family(reader, raw, &with_builtin, true);
    return check_family(reader, raw, &only_cooked, false);
}

pl_status pl_read_model(pl_scene_reader *reader, uint32_t node, const char *name,
                        pl_scene_model *model)
{
    pl_raw_model raw = {0};
    PL_TRY(pl_read_object(reader, node, &pl_object_model, &raw));
    PL_TRY(check_mixture(reader, &raw));
    model->place = raw.place;
    model->name = name;
    model->tetrahedra = raw.tetrahedra;
    if (raw.clusters)
        PL_TRY(pl_read_clusters(reader, raw.clusters, !raw.file && !raw.builtin && !raw.shape,
                                &model->clusters));
    if (raw.file || raw.builtin)
        return read_cooked(reader, &raw, model);
    if (raw.shape)
        return read_shape(reader, &raw, model);
    PL_TRY(read_explicit(reader, &raw, model));
    return model->clusters.members
               ? pl_check_members(reader, &model->clusters, model->particle_count)
               : PL_OK;
}

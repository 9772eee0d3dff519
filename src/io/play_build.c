/* From a scene to a world: the world, and bodies in their start states. Models come from
   play_model.c. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "io/play_parts.h"

/* ---- World ----------------------------------------------------------------------------------- */

static pl_status make_world(const pl_builder *builder)
{
    const pl_scene_world *settings = &builder->play->settings;
    pl_world_def def = pl_default_world_def();
    def.step = settings->step;
    def.substeps = settings->substeps;
    def.iterations = settings->iterations;
    def.stiff_iterations = settings->stiff_iterations;
    memcpy(def.gravity, settings->gravity, sizeof def.gravity);
    def.sleeping = settings->sleeping;
    def.stiff_contact = settings->stiff_contact;
    def.threads = builder->options->threads;
    def.memory_limit = builder->options->memory_limit;
    pl_error error = {0};
    pl_status status = pl_world_create(&def, &builder->play->world, &error);
    return status == PL_OK ? PL_OK
                           : pl_build_fail(builder, builder->scene->world_node, status, &error);
}

/* ---- Start states ---------------------------------------------------------------------------- */

typedef struct start {
    const pl_builder *builder;
    const pl_scene_body *source;
    pl_body body;
    int count;
    double *positions;
    bool *held; /* fixed particles stay where they are */
    double centre[3];
} start;

/* Onto the point given, else the first fixed particle, else the centre of mass. */
static void collapse(start *s, const int32_t *fixed, int fixed_count)
{
    const pl_scene_state *state = &s->source->state;
    const double *point = state->has_point  ? state->point
                          : fixed_count > 0 ? s->positions + 3 * (size_t)fixed[0]
                                            : s->centre;
    double target[3] = {point[0], point[1], point[2]};
    for (int i = 0; i < s->count; i++)
        if (!s->held[i])
            memcpy(s->positions + 3 * (size_t)i, target, sizeof target);
}

static void mirror(start *s)
{
    int axis = s->source->state.axis;
    for (int i = 0; i < s->count; i++) {
        double *x = &s->positions[3 * (size_t)i + (size_t)axis];
        if (!s->held[i])
            *x = 2 * s->centre[axis] - *x;
    }
}

/* Anywhere in a cube about the centre, `extent` wide; by default as wide as the body is long. */
static void scatter(start *s, const pl_model_info *info)
{
    const pl_scene_state *state = &s->source->state;
    double extent = state->extent;
    for (int k = 0; k < 3 && state->extent == 0; k++)
        extent = fmax(extent, info->upper[k] - info->lower[k]);
    pl_rng rng = pl_rng_make((uint64_t)state->seed);
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++) {
            double x = s->centre[k] + extent * (pl_random_double(&rng) - 0.5);
            if (!s->held[i])
                s->positions[3 * (size_t)i + (size_t)k] = x;
        }
}

static pl_status write_arrays(const start *s)
{
    static const pl_body_field fields[] = {PL_POSITIONS, PL_ROTATIONS, PL_VELOCITIES, PL_SPINS};
    const pl_scene_state *state = &s->source->state;
    for (int f = 0; f < 4; f++) {
        if (!state->nodes[f])
            continue;
        if (state->counts[f] != s->count)
            return PL_BUILD_FAIL(s->builder, state->nodes[f],
                                 "must have one element per particle, %d, not %d", s->count,
                                 state->counts[f]);
        pl_status status = pl_body_write(s->builder->play->world, s->body, fields[f], 0, s->count,
                                         pl_doubles(state->arrays[f], 0));
        if (status != PL_OK)
            return PL_BUILD_FAIL(s->builder, state->nodes[f], "%s", pl_status_text(status));
    }
    return PL_OK;
}

static pl_status move_particles(start *s, const pl_model_info *info, const int32_t *fixed,
                                int fixed_count)
{
    pl_world *world = s->builder->play->world;
    pl_body_state state;
    PL_TRY(pl_body_read(world, s->body, PL_POSITIONS, 0, s->count, 1, pl_doubles(s->positions, 0)));
    PL_TRY(pl_body_get_state(world, s->body, &state));
    memcpy(s->centre, state.centre, sizeof s->centre);
    for (int i = 0; i < fixed_count; i++)
        s->held[fixed[i]] = true;
    if (s->source->state.kind == PL_START_COLLAPSE)
        collapse(s, fixed, fixed_count);
    else if (s->source->state.kind == PL_START_MIRROR)
        mirror(s);
    else
        scatter(s, info);
    return pl_body_write(world, s->body, PL_POSITIONS, 0, s->count, pl_doubles(s->positions, 0));
}

static pl_status set_start(const pl_builder *builder, const pl_scene_body *source,
                           const pl_play_body *body, const int32_t *fixed, int fixed_count)
{
    pl_memory *memory = builder->memory;
    start s = {.builder = builder,
               .source = source,
               .body = body->handle,
               .count = body->info.particle_count};
    if (source->state.kind != PL_START_REST) {
        s.positions = PL_NEW(memory, double, 3 * (size_t)s.count);
        s.held = PL_NEW(memory, bool, s.count);
        pl_status status = s.positions && s.held
                               ? move_particles(&s, &body->info, fixed, fixed_count)
                               : PL_ERROR_MEMORY;
        pl_memory_free(memory, s.positions);
        pl_memory_free(memory, s.held);
        if (status == PL_ERROR_MEMORY)
            return pl_build_no_memory(builder);
        if (status != PL_OK)
            return PL_BUILD_FAIL(builder, source->state_node, "%s", pl_status_text(status));
    }
    return write_arrays(&s);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* A painted map: one factor per thing, spread from one number if need be. NULL where there is
   none. */
static pl_status expand_map(const pl_builder *builder, uint32_t node, const float *factors,
                            int given, int wanted, const char *thing, float **out)
{
    *out = NULL;
    if (given == 0 && !factors)
        return PL_OK;
    if (given >= 0 && given != wanted)
        return PL_BUILD_FAIL(builder, node, "must have one factor per %s, %d, not %d", thing,
                             wanted, given);
    *out = PL_NEW(builder->memory, float, wanted);
    if (!*out)
        return pl_build_no_memory(builder);
    for (int i = 0; i < wanted; i++)
        (*out)[i] = given < 0 ? factors[0] : factors[i];
    return PL_OK;
}

static double mean_factor(const float *map, int count)
{
    double sum = 0;
    for (int i = 0; map && i < count; i++)
        sum += map[i];
    return map && count > 0 ? sum / count : 1;
}

pl_status pl_fixed_particles(const pl_builder *builder, int index, int32_t **fixed, int *count)
{
    const pl_scene_body *source = &builder->scene->bodies[index];
    const pl_play_body *body = &builder->play->bodies[index];
    int32_t *picked = NULL;
    *count = 0;
    *fixed = PL_NEW(builder->memory, int32_t, body->info.particle_count);
    if (!*fixed)
        return pl_build_no_memory(builder);
    if (!body->released) {
        PL_TRY(pl_resolve_picks(builder, body->model, false, source->fixed, source->fixed_count,
                                &picked, count));
        memcpy(*fixed, picked, sizeof(int32_t) * (size_t)*count);
        pl_memory_free(builder->memory, picked);
    }
    return pl_add_driven(builder, index, body->model, *fixed, count);
}

pl_status pl_body_maps(const pl_builder *builder, int index, float **stiffness, float **density)
{
    const pl_scene_body *source = &builder->scene->bodies[index];
    const pl_model_info *info = &builder->play->bodies[index].info;
    *density = NULL;
    PL_TRY(expand_map(builder, source->stiffness_node, source->stiffness, source->stiffness_count,
                      info->edge_count, "edge", stiffness));
    return expand_map(builder, source->density_node, source->density, source->density_count,
                      info->particle_count, "particle", density);
}

/* Where the model's origin comes to lie so that the tumble leaves the middle of the body in
   place. */
static void place_body(const pl_scene_body *source, const pl_model_info *info, pl_body_def *def)
{
    double middle[3], before[3], after[3];
    for (int k = 0; k < 3; k++)
        middle[k] = 0.5 * (info->lower[k] + info->upper[k]);
    pl_quaternion_multiply(source->tumble, source->rotation, def->rotation);
    pl_quaternion_rotate(source->rotation, middle, before);
    pl_quaternion_rotate(def->rotation, middle, after);
    for (int k = 0; k < 3; k++)
        def->position[k] = source->position[k] + (before[k] - after[k]);
}

static pl_status create_body(const pl_builder *builder, int index, pl_body_def *def)
{
    const pl_scene_body *source = &builder->scene->bodies[index];
    pl_play_body *body = &builder->play->bodies[index];
    def->material = source->material;
    def->solver = body->solver;
    def->gravity_scale = source->gravity_scale;
    def->pressure = source->pressure;
    def->category = source->category;
    def->mask = source->mask;
    if (source->has_self_contact)
        def->self_contact = source->self_contact;
    place_body(source, &body->info, def);
    memcpy(def->velocity, source->velocity, sizeof def->velocity);
    memcpy(def->spin, source->spin, sizeof def->spin);
    pl_error error = {0};
    pl_status status = pl_body_create(builder->play->world, def, &body->handle, &error);
    if (status == PL_OK)
        return PL_OK;
    /* A material with a name stands elsewhere in the document. */
    bool about_material = strncmp(error.where, "material.", 9) == 0;
    if (about_material) {
        memmove(error.where, error.where + 9, strlen(error.where + 9) + 1);
        bool own = pl_json_member(builder->scene->json, source->place.node, error.where) != 0;
        return pl_build_fail(
            builder, own || !source->material_node ? source->place.node : source->material_node,
            status, &error);
    }
    return pl_build_fail(builder, source->place.node, status, &error);
}

/* Clusters made while running weigh their members as those of the model do. */
static pl_clustered_def clustered_of(const pl_builder *builder, const pl_scene_body *source)
{
    pl_clustered_def def = source->clustered.def;
    const pl_scene_clusters *clusters = &builder->scene->models[source->model].clusters;
    def.kernel = clusters->rings ? PL_KERNEL_CONSTANT : clusters->kernel;
    return def;
}

static pl_status make_body(const pl_builder *builder, int index)
{
    const pl_scene_body *source = &builder->scene->bodies[index];
    pl_play_body *body = &builder->play->bodies[index];
    int32_t *fixed = NULL;
    float *stiffness = NULL, *density = NULL, *tet_factors = NULL;
    pl_play_examples examples = {0};
    body->name = source->name;
    body->model = builder->play->models[source->model];
    body->info = pl_model_get_info(body->model);
    body->material = source->material;
    body->solver = source->has_solver ? source->solver : builder->play->settings.solver;
    if (builder->options->solver >= 0)
        body->solver = (pl_solver)builder->options->solver;
    if (source->tetrahedral.wanted && !builder->scene->models[source->model].tetrahedra)
        return PL_BUILD_FAIL(builder, source->tetrahedral_node,
                             "needs a model with \"tetrahedra\": true");
    if (source->tetrahedral.wanted && builder->scene->models[source->model].clusters.wanted)
        return PL_BUILD_FAIL(builder, source->tetrahedral_node,
                             "needs a model without \"clusters\": these are for clustered bodies");
    pl_status status = pl_fixed_particles(builder, index, &fixed, &body->fixed_count);
    if (status == PL_OK)
        status = pl_body_maps(builder, index, &stiffness, &density);
    if (status == PL_OK)
        status =
            expand_map(builder, source->tet_factor_node, source->tet_factors,
                       source->tet_factor_count, body->info.tet_count, "tetrahedron", &tet_factors);
    if (status == PL_OK && source->examples.pose_count)
        status = pl_build_examples(builder, &source->examples, body->model, &examples);
    if (status == PL_OK) {
        pl_body_def def = pl_default_body_def(body->model);
        pl_clustered_def clustered = clustered_of(builder, source);
        def.edge_stiffness = stiffness;
        body->stiffness_factor = mean_factor(stiffness, body->info.edge_count) *
                                 mean_factor(tet_factors, body->info.tet_count);
        def.particle_density = density;
        def.tet_stiffness = tet_factors;
        def.fixed = fixed;
        def.fixed_count = body->fixed_count;
        def.clustered = source->clustered.wanted ? &clustered : NULL;
        def.tetrahedral = source->tetrahedral.wanted ? &source->tetrahedral.def : NULL;
        def.plasticity = source->plasticity.wanted ? &source->plasticity.def : NULL;
        def.examples = source->examples.pose_count ? &examples.def : NULL;
        status = create_body(builder, index, &def);
    }
    if (status == PL_OK && source->examples.bias)
        status = pl_body_set_example_bias(builder->play->world, body->handle, -1,
                                          source->examples.bias, NULL);
    pl_free_examples(builder, &examples);
    if (status == PL_OK)
        status = set_start(builder, source, body, fixed, body->fixed_count);
    pl_memory_free(builder->memory, fixed);
    pl_memory_free(builder->memory, stiffness);
    pl_memory_free(builder->memory, density);
    pl_memory_free(builder->memory, tet_factors);
    return status;
}

static pl_status make_bodies(const pl_builder *builder)
{
    builder->play->bodies = PL_NEW(builder->memory, pl_play_body, builder->scene->body_count);
    if (!builder->play->bodies)
        return pl_build_no_memory(builder);
    for (int i = 0; i < builder->scene->body_count; i++) {
        PL_TRY(make_body(builder, i));
        builder->play->body_count = i + 1;
    }
    return PL_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void override_settings(pl_scene_world *settings, const pl_play_options *options)
{
    if (options->step > 0)
        settings->step = options->step;
    if (options->substeps > 0)
        settings->substeps = options->substeps;
    if (options->iterations > 0)
        settings->iterations = options->iterations;
    if (options->stiff_iterations > 0)
        settings->stiff_iterations = options->stiff_iterations;
    if (options->solver >= 0)
        settings->solver = (pl_solver)options->solver;
}

pl_status pl_play_create(const pl_scene *scene, int run, const pl_play_options *options,
                         pl_play **play, pl_trouble *trouble)
{
    *play = NULL;
    pl_play *made = PL_NEW(scene->memory, pl_play, 1);
    pl_builder builder = {made, scene, scene->memory, trouble, options};
    if (!made)
        return pl_build_no_memory(&builder);
    made->memory = scene->memory;
    made->scene = scene;
    made->settings = scene->runs[run].world;
    override_settings(&made->settings, options);
    made->dropped_drives = PL_NEW(scene->memory, bool, scene->drive_count);
    pl_status status =
        made->dropped_drives ? pl_build_models(&builder) : pl_build_no_memory(&builder);
    if (status == PL_OK)
        status = make_world(&builder);
    if (status == PL_OK)
        status = make_bodies(&builder);
    if (status == PL_OK)
        status = pl_build_holds(&builder);
    if (status == PL_OK)
        status = pl_build_colliders(&builder);
    if (status == PL_OK)
        status = pl_build_attachments(&builder);
    if (status == PL_OK)
        status = pl_build_events(&builder);
    if (status != PL_OK) {
        pl_play_destroy(made);
        return status;
    }
    *play = made;
    return PL_OK;
}

/* pliant inspect: what is in a scene, a mesh or a model, in words and numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "describe.h"
#include "io/model_file.h"
#include "pliant/files.h"
#include "shape/surface.h"

static const char *const solver_names[] = {"fast", "stiff", "plain"};

static double body_mass(const pl_play *play, int body)
{
    pl_body_state state;
    return pl_body_get_state(play->world, play->bodies[body].handle, &state) == PL_OK ? state.mass
                                                                                      : 0;
}

static void print_world(const pl_scene *scene, const pl_play *play)
{
    const pl_scene_world *w = &play->settings;
    if (scene->name)
        printf("%s\n", scene->name);
    if (scene->about)
        printf("%s\n", scene->about);
    printf("\nworld: %d frames of %.6g s, %d sub-step%s, %d iterations (stiff: %d), gravity (%g, "
           "%g, %g)\n",
           w->frames, w->step, w->substeps, w->substeps == 1 ? "" : "s", w->iterations,
           w->stiff_iterations, w->gravity[0], w->gravity[1], w->gravity[2]);
    for (int i = 0; scene->run_count > 1 && i < scene->run_count; i++)
        printf("run \"%s\": %d iterations, %d sub-steps\n", scene->runs[i].name,
               scene->runs[i].world.iterations, scene->runs[i].world.substeps);
}

static void print_model(const pl_scene *scene, const pl_play *play, int index)
{
    pl_model_info info = pl_model_get_info(play->models[index]);
    const char *name = scene->models[index].name;
    printf("\nmodel %s: %d particles, %d edges, dimension %d\n", name ? name : "(inside a body)",
           info.particle_count, info.edge_count, info.dimension);
    if (info.cluster_count > 0)
        printf("  %d clusters, %.3g for each particle\n", info.cluster_count,
               (double)info.membership_count / info.particle_count);
    if (info.tet_count > 0)
        printf("  %d tetrahedra with %d corners\n", info.tet_count, info.tet_point_count);
    printf("  surface: %d vertices, %d triangles\n", info.vertex_count, info.triangle_count);
    printf("  volume %.6g m^3, spacing %.6g m, unit %g m\n", info.volume, info.spacing, info.unit);
    printf("  from (%g, %g, %g) to (%g, %g, %g)\n", info.lower[0], info.lower[1], info.lower[2],
           info.upper[0], info.upper[1], info.upper[2]);
    printf("  %d colours, factor with %" PRId64 " entries below the diagonal, hash %016" PRIx64
           "\n",
           info.colour_count, info.factor_count, info.hash);
}

static void print_clustered(const pl_play *play, int index)
{
    const pl_play_body *body = &play->bodies[index];
    const pl_clustered_def *def = &play->scene->bodies[index].clustered.def;
    printf("\nbody %s: %.6g kg, clustered, %d fixed, %d pins\n", body->name, body_mass(play, index),
           body->fixed_count, body->pin_count);
    if (def->raw_alpha >= 0)
        printf("  alpha %.6g", def->raw_alpha);
    else
        printf("  frequency %.6g Hz", def->frequency);
    printf(", density %.6g kg/m^3", body->material.density);
    if (isfinite(def->yield))
        printf(", yields at %.6g", def->yield);
    if (isfinite(def->toughness))
        printf(", splits at %.6g", def->toughness);
    putchar('\n');
}

static void print_tetrahedral(const pl_play *play, int index)
{
    static const char *const rotations[] = {"exact", "quaternion", "folded"};
    const pl_play_body *body = &play->bodies[index];
    const pl_material *m = &body->material;
    const pl_tetrahedral_def *def = &play->scene->bodies[index].tetrahedral.def;
    pl_body_info info = {0};
    pl_body_get_info(play->world, body->handle, &info);
    printf("\nbody %s: %.6g kg, %d tetrahedra, %d fixed, %d pins\n", body->name,
           body_mass(play, index), info.tet_count, body->fixed_count, body->pin_count);
    printf("  Young's modulus %.6g Pa, Poisson's ratio %.6g (%s), density %.6g kg/m^3, damping "
           "%.6g 1/s\n",
           m->young, def->poisson, def->volume == PL_TET_TRACE ? "trace" : "determinant",
           m->density, m->damping);
    printf("  rotations %s", rotations[def->rotations]);
    if (def->rotations != PL_TET_EXACT)
        printf(", %d fitted", info.sample_count);
    if (isfinite(def->yield))
        printf(", yields at %.6g", def->yield);
    putchar('\n');
}

static void print_body(const pl_play *play, int index)
{
    const pl_play_body *body = &play->bodies[index];
    const pl_material *m = &body->material;
    if (play->scene->bodies[index].tetrahedral.wanted) {
        print_tetrahedral(play, index);
        return;
    }
    if (play->scene->bodies[index].clustered.wanted) {
        print_clustered(play, index);
        return;
    }
    printf("\nbody %s: %.6g kg, solver %s, %d fixed, %d pins\n", body->name, body_mass(play, index),
           solver_names[body->solver], body->fixed_count, body->pin_count);
    if (m->stiffness > 0)
        printf("  stiffness k %.6g kg/m^3/s^2", m->stiffness);
    else
        printf("  Young's modulus %.6g Pa", m->young);
    printf(", density %.6g kg/m^3, damping %.6g 1/s\n", m->density, m->damping);
    printf("  kh^2/rho %.4g\n", pl_play_stiffness_ratio(play, index));
}

static void print_examples(const pl_play *play, int index)
{
    static const char *const scopes[] = {"as a whole", "by groups", "by regions"};
    const pl_scene_examples *examples = &play->scene->bodies[index].examples;
    pl_body_info info;
    if (!examples->pose_count ||
        pl_body_get_info(play->world, play->bodies[index].handle, &info) != PL_OK)
        return;
    printf("  %d example pose%s, chosen %s (%d), beta %.6g\n", info.example_pose_count,
           info.example_pose_count == 1 ? "" : "s", scopes[examples->scope],
           info.example_group_count, examples->beta);
}

/* What happens, and what is seen and written. */
static void print_rest(const pl_scene *scene)
{
    if (scene->event_count + scene->camera_count + scene->output_count > 0)
        putchar('\n');
    for (int i = 0; i < scene->event_count; i++) {
        const pl_scene_event *e = &scene->events[i];
        int drops = e->pins.count + e->drives.count + e->attachments.count + e->released.count;
        printf("event at %g s:%s%s%s%s%s%s%s\n", e->time, drops ? " lets go" : "",
               e->removed.count + e->removed_colliders.count ? " removes" : "",
               e->moved.count ? " velocity" : "", e->pushed.count ? " impulse" : "",
               e->changed.count ? " material" : "", e->inflated.count ? " pressure" : "",
               e->has_gravity ? " gravity" : "");
    }
    for (int i = 0; i < scene->camera_count; i++)
        printf("camera %s%s\n", scene->cameras[i].name ? scene->cameras[i].name : "without a name",
               i == 0 ? " (used unless another is chosen)" : "");
    for (int i = 0; i < scene->output_count; i++)
        printf("output %s\n", scene->outputs[i].file);
}

static void print_text(const pl_scene *scene, const pl_play *play)
{
    int particles = 0, edges = 0;
    double mass = 0;
    print_world(scene, play);
    for (int i = 0; i < play->model_count; i++)
        print_model(scene, play, i);
    for (int i = 0; i < play->body_count; i++) {
        print_body(play, i);
        print_examples(play, i);
        particles += play->bodies[i].info.particle_count;
        edges += play->bodies[i].info.edge_count;
        mass += body_mass(play, i);
    }
    print_rest(scene);
    printf("\nin all: %d bod%s, %d particles, %d edges, %.6g kg\n", play->body_count,
           play->body_count == 1 ? "y" : "ies", particles, edges, mass);
}

static void print_json(const pl_scene *scene, const pl_play *play)
{
    printf("{\"name\":");
    app_print_json_string(scene->name ? scene->name : "");
    printf(
        ",\"step\":%.17g,\"substeps\":%d,\"iterations\":%d,\"frames\":%d,\"runs\":%d,\"bodies\":[",
        play->settings.step, play->settings.substeps, play->settings.iterations,
        play->settings.frames, scene->run_count);
    for (int i = 0; i < play->body_count; i++) {
        const pl_play_body *body = &play->bodies[i];
        printf("%s{\"name\":", i ? "," : "");
        app_print_json_string(body->name);
        printf(",\"solver\":\"%s\",\"particles\":%d,\"edges\":%d,\"vertices\":%d,\"triangles\":%d,"
               "\"colours\":%d,"
               "\"factor\":%" PRId64 ",\"volume\":%.17g,\"mass\":%.17g,\"fixed\":%d,\"pins\":%d,"
               "\"stiffness_ratio\":%.17g,\"clusters\":%d}",
               solver_names[body->solver], body->info.particle_count, body->info.edge_count,
               body->info.vertex_count, body->info.triangle_count, body->info.colour_count,
               body->info.factor_count, body->info.volume, body_mass(play, i), body->fixed_count,
               body->pin_count, pl_play_stiffness_ratio(play, i), body->info.cluster_count);
    }
    printf("]}\n");
}

static int inspect_scene(const char *name, const app_list *sets, bool json)
{
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    int result = app_load_changed_scene(&memory, name, sets, &scene);
    if (result >= 0)
        return result;
    pl_play_options play_options = pl_default_play_options();
    pl_play *play;
    pl_trouble trouble;
    if (pl_play_create(scene, 0, &play_options, &play, &trouble) != PL_OK) {
        result = app_fail_scene(&trouble);
    } else {
        (json ? print_json : print_text)(scene, play);
        result = app_finish(APP_DONE);
        pl_play_destroy(play);
    }
    pl_scene_free(scene);
    return result;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* Of those that are left after repair. */
static app_tet_quality measure_mesh_tets(const pl_mesh *mesh)
{
    pl_memory memory;
    pl_surface *surface;
    app_tet_quality quality = {0};
    pl_memory_init(&memory, NULL, 0);
    if (mesh->tet_count > 0 &&
        pl_surface_create(&memory, mesh, pl_default_cook_def(mesh).weld, &surface, NULL) == PL_OK) {
        quality = app_measure_tets(surface->points, surface->tets, surface->tet_count);
        pl_surface_destroy(surface);
    }
    return quality;
}

static void print_mesh(const char *name, const pl_mesh *mesh, const pl_mesh_report *report,
                       bool json)
{
    app_tet_quality tets = measure_mesh_tets(mesh);
    if (!json) {
        printf("%s: mesh\n", name);
        app_describe_mesh(mesh, report);
        if (tets.count > 0)
            app_describe_tets(&tets);
        return;
    }
    printf("{\"name\":");
    app_print_json_string(name);
    printf(",\"mesh\":");
    app_mesh_report_json(report);
    printf(",\"look\":");
    app_look_json(&mesh->look);
    if (tets.count > 0) {
        printf(",\"tets\":");
        app_tets_json(&tets);
    }
    printf("}\n");
}

static int inspect_mesh(const char *name, bool json)
{
    pl_mesh mesh;
    pl_mesh_report report;
    pl_error error = {0};
    int result = app_load_mesh(name, 1, &mesh);
    if (result >= 0)
        return result;
    pl_status status =
        pl_mesh_examine(&mesh, pl_default_cook_def(&mesh).weld, NULL, &report, &error);
    if (status == PL_OK)
        print_mesh(name, &mesh, &report, json);
    result = status == PL_OK ? app_finish(APP_DONE) : app_fail_about(name, status, &error);
    pl_mesh_free(&mesh);
    return result;
}

/* ---- Models ---------------------------------------------------------------------------------- */

static app_tet_quality measure_model_tets(pl_memory *memory, const pl_model *model)
{
    pl_model_info info = pl_model_get_info(model);
    app_tet_quality quality = {0};
    double *points = PL_NEW(memory, double, 3 * (size_t)info.tet_point_count);
    if (points && pl_model_read(model, PL_REST_TET_POINTS, 0, info.tet_point_count,
                                pl_doubles(points, 0)) == PL_OK)
        quality = app_measure_tets(points, pl_model_tets(model), info.tet_count);
    pl_memory_free(memory, points);
    return quality;
}

static int inspect_model(const char *name, bool json)
{
    pl_model *model;
    pl_memory memory;
    pl_error error = {0};
    pl_memory_init(&memory, NULL, 0);
    uint64_t begin = pl_clock_ns();
    pl_status status = pl_model_load(name, NULL, &model, &error);
    double seconds = (double)(pl_clock_ns() - begin) / 1e9;
    if (status != PL_OK)
        return app_fail_about(name, status, &error);
    bool has_tets = pl_model_get_info(model).tet_count > 0;
    app_tet_quality tets = has_tets ? measure_model_tets(&memory, model) : (app_tet_quality){0};
    if (json) {
        printf("{\"name\":");
        app_print_json_string(name);
        printf(",\"load_seconds\":%.6f,\"model\":", seconds);
        app_model_json(model);
        if (has_tets) {
            printf(",\"tets\":");
            app_tets_json(&tets);
        }
        printf("}\n");
    } else {
        printf("%s: model, loaded in %.1f ms\n", name, 1e3 * seconds);
        app_describe_model(model);
        if (has_tets)
            app_describe_tets(&tets);
    }
    pl_model_release(model);
    return app_finish(APP_DONE);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* What is not a file is the name of a scene. */
static bool is_scene(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "-") == 0 || (length > 5 && strcmp(name + length - 5, ".json") == 0) ||
           access(name, F_OK) != 0;
}

static int inspect(int argc, char **argv)
{
    bool json = false;
    app_list words = {0}, sets = {0};
    const app_option options[] = {
        APP_SET_OPTION(sets),
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "print the numbers as JSON"},
        {0}};
    int result = app_parse(&app_inspect_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("inspect",
                               "which scene, mesh or model? Name a file or something built in");
    const char *name = words.items[0];
    app_nothing_to_finish(true); /* nothing is written */
    bool mesh = app_builtin_name(name) != NULL,
         model = !mesh && (pl_file_is_model(name) || app_ends_with(name, ".pliant"));
    if (!mesh && !model && is_scene(name))
        return inspect_scene(name, &sets, json);
    if (sets.count > 0)
        return app_usage_error("inspect", "--set is for scenes; %s is none", name);
    return model ? inspect_model(name, json) : inspect_mesh(name, json);
}

const app_command app_inspect_command = {
    .name = "inspect",
    .usage = "FILE [OPTIONS]",
    .summary = "what is in a scene, a mesh or a model, in words and numbers",
    .details = "FILE is a scene, a mesh, a model (.pliant), the name of a built-in scene, or a "
               "built-in mesh\n"
               "(builtin:NAME). A scene is built without running it: every mistake in it is "
               "reported as\n"
               "'pliant run' would.",
    .run = inspect,
};

/* pliant inspect: what is in a scene, in words and numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "app.h"

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
    printf("  surface: %d vertices, %d triangles\n", info.vertex_count, info.triangle_count);
    printf("  volume %.6g m^3, spacing %.6g m, unit %g m\n", info.volume, info.spacing, info.unit);
    printf("  from (%g, %g, %g) to (%g, %g, %g)\n", info.lower[0], info.lower[1], info.lower[2],
           info.upper[0], info.upper[1], info.upper[2]);
    printf("  %d colours, factor with %" PRId64 " entries below the diagonal, hash %016" PRIx64
           "\n",
           info.colour_count, info.factor_count, info.hash);
}

static void print_body(const pl_play *play, int index)
{
    const pl_play_body *body = &play->bodies[index];
    const pl_material *m = &body->material;
    printf("\nbody %s: %.6g kg, solver %s, %d fixed, %d pins\n", body->name, body_mass(play, index),
           solver_names[body->solver], body->fixed_count, body->pin_count);
    if (m->stiffness > 0)
        printf("  stiffness k %.6g kg/m^3/s^2", m->stiffness);
    else
        printf("  Young's modulus %.6g Pa", m->young);
    printf(", density %.6g kg/m^3, damping %.6g 1/s\n", m->density, m->damping);
    printf("  kh^2/rho %.4g\n", pl_play_stiffness_ratio(play, index));
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
        particles += play->bodies[i].info.particle_count;
        edges += play->bodies[i].info.edge_count;
        mass += body_mass(play, i);
    }
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
               "\"stiffness_ratio\":%.17g}",
               solver_names[body->solver], body->info.particle_count, body->info.edge_count,
               body->info.vertex_count, body->info.triangle_count, body->info.colour_count,
               body->info.factor_count, body->info.volume, body_mass(play, i), body->fixed_count,
               body->pin_count, pl_play_stiffness_ratio(play, i));
    }
    printf("]}\n");
}

static int inspect(int argc, char **argv)
{
    bool json = false;
    app_list words = {0};
    const app_option options[] = {
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "print the numbers as JSON"}, {0}};
    int result = app_parse(&app_inspect_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("inspect", "which scene? Name a file or a built-in scene");
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    result = app_load_scene(&memory, words.items[0], &scene);
    if (result >= 0)
        return result;
    pl_play_options play_options = pl_default_play_options();
    pl_play *play;
    pl_trouble trouble;
    if (pl_play_create(scene, 0, &play_options, &play, &trouble) != PL_OK) {
        result = app_fail(&trouble);
    } else {
        (json ? print_json : print_text)(scene, play);
        result = app_finish(APP_DONE);
        pl_play_destroy(play);
    }
    pl_scene_free(scene);
    return result;
}

const app_command app_inspect_command = {
    .name = "inspect",
    .usage = "SCENE [OPTIONS]",
    .summary = "what is in a scene, in words and numbers",
    .details = "Builds the scene without running it: every mistake in it is reported as 'pliant "
               "run' would.",
    .run = inspect,
};

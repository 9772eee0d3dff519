/* pliant picture: a model, a mesh or a built-in creature at rest, as a picture. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "describe.h"
#include "painter.h"
#include "picture.h"
#include "pliant/cook.h"
#include "pliant/files.h"
#include "pliant/pliant.h"

/* What is shown: a mesh, or a model (with the mesh it was cooked from, if any). */
typedef struct exhibit {
    pl_mesh mesh;
    pl_model *model;
} exhibit;

/* A file that cannot be read is bad input, whatever the reason. */
static int fail(const char *name, pl_status status, const pl_error *error)
{
    app_fail_about(name, status, error);
    return status == PL_ERROR_MEMORY || status == PL_ERROR_STATE ? APP_FAILED : APP_BAD_INPUT;
}

/* Here only the particles can be counted; what else cooking wants to know, 'pliant cook' can be
   told. */
static int fail_cooking(const char *name, pl_status status, const pl_error *error)
{
    pl_error said = *error;
    if (strcmp(said.where, "tet_count") == 0)
        snprintf(said.where, sizeof said.where, "--show tets");
    int result = fail(name, status, &said);
    if (status == PL_ERROR_ARGUMENT)
        fprintf(stderr, "'pliant cook %s' has more options; its model can be drawn, too.\n", name);
    return result;
}

static void note_unused_layers(const char *show)
{
    static const char *const layers[] = {"clusters", "contacts"};
    for (int i = 0; i < 2; i++)
        if (show && strstr(show, layers[i]))
            fprintf(stderr,
                    "pliant: --show %s is for runs (pliant run SCENE): at rest there are none\n",
                    layers[i]);
}

static bool needs_particles(const char *show)
{
    return show && (strstr(show, "particles") || strstr(show, "graph") || strstr(show, "tets") ||
                    strstr(show, "stress"));
}

/* About how many fill a mesh that has none, where they are to be shown. */
enum { TETS = 1500 };

typedef struct request {
    const char *name, *output;
    app_look look;
    double detail;
    int particles; /* 0 = as many as fit */
} request;

static int load(const request *wanted, exhibit *shown)
{
    pl_error error = {0};
    const char *builtin = app_builtin_name(wanted->name);
    pl_status status;
    if (app_ends_with(wanted->name, ".pliant")) {
        status = pl_model_load(wanted->name, NULL, &shown->model, &error);
        return status == PL_OK ? -1 : fail(wanted->name, status, &error);
    }
    if (app_ends_with(wanted->name, ".json") ||
        (app_is_builtin_scene(wanted->name) && access(wanted->name, F_OK) != 0))
        return app_usage_error("picture", "%s is a scene; draw it with 'pliant run %s -n 0 -o %s'",
                               wanted->name, wanted->name, wanted->output);
    int result = app_load_mesh(wanted->name, wanted->detail, &shown->mesh);
    if (result >= 0 || !needs_particles(wanted->look.show))
        return result;
    pl_cook_def def = pl_default_cook_def(&shown->mesh);
    if (builtin)
        pl_builtin_cook_def(builtin, &shown->mesh, &def);
    if (wanted->particles > 0)
        def.particle_count = wanted->particles, def.edge_count = 0;
    if (strstr(wanted->look.show, "tets") && shown->mesh.tet_count == 0)
        def.tet_count = TETS;
    status = pl_cook(&def, &shown->model, NULL, &error);
    return status == PL_OK ? -1 : fail_cooking(wanted->name, status, &error);
}

static int paint(pl_memory *memory, const request *wanted, const exhibit *shown)
{
    app_painter *painter;
    int result = app_painter_open(memory, "picture", &wanted->look, &painter);
    if (result < 0)
        result = shown->model ? app_painter_take_model(painter, shown->model)
                              : app_painter_take_mesh(painter, &shown->mesh);
    if (result < 0)
        result = app_painter_paint(painter, NULL);
    if (result < 0)
        result = app_painter_write_png(painter, wanted->output);
    app_painter_close(painter);
    return result;
}

static int picture(int argc, char **argv)
{
    request wanted = {.detail = 2};
    app_list words = {0};
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &wanted.output, 0, 0, "FILE.png", "where to write it"},
        APP_LOOK_OPTIONS(wanted.look),
        {"particles", 'n', APP_INTEGER, &wanted.particles, 1, 1e6, "N",
         "how many, where a mesh is shown with them"},
        {"detail", 0, APP_NUMBER, &wanted.detail, 0, 16, "D", "of a built-in mesh (default 2)"},
        {0},
    };
    int result = app_parse(&app_picture_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("picture", "of what? Name a mesh, a model or builtin:NAME");
    if (!wanted.output || !app_ends_with(wanted.output, ".png"))
        return app_usage_error("picture",
                               wanted.output ? "-o writes a .png file, not \"%s\""
                                             : "where to? Name a file: -o NAME.png",
                               wanted.output);
    wanted.name = words.items[0];
    note_unused_layers(wanted.look.show);
    pl_memory memory;
    exhibit shown = {0};
    pl_memory_init(&memory, NULL, 0);
    app_nothing_to_finish(true); /* while it loads and cooks */
    result = load(&wanted, &shown);
    app_nothing_to_finish(false);
    if (result < 0)
        result = paint(&memory, &wanted, &shown);
    pl_model_release(shown.model);
    pl_mesh_free(&shown.mesh);
    return app_finish(result < 0 ? APP_DONE : result);
}

const app_command app_picture_command = {
    .name = "picture",
    .usage = "FILE -o NAME.png [OPTIONS]",
    .summary = "draw a mesh, a model or a built-in creature at rest",
    .details = "FILE is a mesh (.obj, .ply, .stl, .off, .glb, ...), a cooked model (.pliant) or\n"
               "builtin:NAME. With --show particles, graph or tets a mesh is cooked first.\n"
               "The film of a scene is made by 'pliant run SCENE -o film.mp4'.",
    .run = picture,
};

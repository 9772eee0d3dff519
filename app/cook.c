/* pliant cook: a mesh becomes a model file. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "describe.h"
#include "io/model_file.h"
#include "io/suggest.h"
#include "pliant/files.h"

#define SECOND UINT64_C(1000000000)

typedef struct order {
    const char *source, *target, *kind;
    double detail, spacing, scale, weld, thickness;
    int particles, edges, tets, influences, seed;
    bool grid, json, quiet;
} order;

/* ---- What was asked for ---------------------------------------------------------------------- */

static int find_kind(const char *name, pl_cook_kind *kind)
{
    static const char *const names[] = {"auto", "solid", "shell", "rod"};
    const char *best = NULL;
    for (int i = 0; name && i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            *kind = (pl_cook_kind)i;
            return -1;
        }
        pl_suggest(name, names[i], &best);
    }
    if (!name)
        return -1;
    return app_usage_error(
        "cook",
        best ? "--kind must be auto, solid, shell or rod, not \"%s\"; did you mean \"%s\"?"
             : "--kind must be auto, solid, shell or rod, not \"%s\"",
        name, best);
}

static int make_def(const order *asked, const pl_mesh *mesh, pl_cook_def *def)
{
    *def = pl_default_cook_def(mesh);
    const char *builtin = app_builtin_name(asked->source);
    if (builtin)
        pl_builtin_cook_def(builtin, mesh, def);
    if (asked->particles >= 0 || asked->spacing > 0) {
        def->particle_count = asked->particles >= 0 ? asked->particles : 0;
        def->spacing = asked->spacing;
        def->edge_count = 0; /* a built-in's own count belongs to its own particles */
    }
    if (asked->edges >= 0)
        def->edge_count = asked->edges;
    if (asked->influences > 0)
        def->influence_count = asked->influences;
    if (asked->weld >= 0)
        def->weld = asked->weld;
    if (asked->scale > 0)
        def->scale = asked->scale;
    def->thickness = asked->thickness > 0 ? asked->thickness : def->thickness;
    def->tet_count = asked->tets;
    def->seed = (uint64_t)asked->seed;
    def->sampling = asked->grid ? PL_COOK_GRID : PL_COOK_POISSON;
    return find_kind(asked->kind, &def->kind);
}

/* The name of the mesh with another ending, in the current directory. */
static const char *default_target(const char *source, char *buffer, size_t size)
{
    const char *builtin = app_builtin_name(source), *slash = strrchr(source, '/');
    const char *name = builtin ? builtin : slash ? slash + 1 : source;
    const char *dot = strrchr(name, '.');
    size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    return snprintf(buffer, size, "%.*s.pliant", (int)length, name) < (int)size ? buffer : NULL;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), wanted = strlen(ending);
    return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

/* ---- Progress -------------------------------------------------------------------------------- */

typedef struct bar {
    bool wanted, drawn;
    uint64_t started, printed;
} bar;

static bool show_progress(void *user, double part, const char *stage)
{
    enum { WIDTH = 24 };
    bar *b = user;
    uint64_t now = pl_clock_ns();
    if (b->wanted && now - b->started > SECOND && now - b->printed > SECOND / 15) {
        char cells[WIDTH + 1];
        for (int i = 0; i < WIDTH; i++)
            cells[i] = i < (int)(part * WIDTH) ? '=' : i == (int)(part * WIDTH) ? '>' : ' ';
        cells[WIDTH] = 0;
        fprintf(stderr, "\rcooking [%s] %3.0f %%  %s\033[K", cells, 100 * part, stage);
        fflush(stderr);
        b->printed = now;
        b->drawn = true;
    }
    return app_signal() == 0;
}

static void end_progress(const bar *b)
{
    if (b->drawn)
        fputs("\r\033[K", stderr);
}

/* ---- What came out --------------------------------------------------------------------------- */

static const char *kind_name(pl_cook_kind kind)
{
    return kind == PL_COOK_SOLID ? "solid" : kind == PL_COOK_SHELL ? "shell" : "rod";
}

static void print_words(const order *asked, const pl_mesh *mesh, const pl_model *model,
                        const pl_cook_report *report, double read_seconds, double write_seconds)
{
    printf("%s\n", asked->source);
    app_describe_mesh(mesh, &report->mesh);
    printf("cooked as a %s, %d particles %.6g apart, %d edge%s, %d piece%s",
           kind_name(report->kind), report->particles, report->spacing, report->edges,
           report->edges == 1 ? "" : "s", report->pieces, report->pieces == 1 ? "" : "s");
    if (report->tets)
        printf(", %d tetrahedra", report->tets);
    printf("\n%s: %.1f kB; read in %.3f s, cooked in %.3f s, written in %.3f s\n", asked->target,
           (double)pl_model_pack_size(model) / 1e3, read_seconds, report->seconds, write_seconds);
}

static void print_json(const order *asked, const pl_mesh *mesh, const pl_model *model,
                       const pl_cook_report *report, double read_seconds, double write_seconds)
{
    printf("{\"source\":");
    app_print_json_string(asked->source);
    printf(",\"target\":");
    app_print_json_string(asked->target);
    printf(",\"kind\":\"%s\",\"spacing\":%.17g,\"read_seconds\":%.6f,\"cook_seconds\":%.6f,"
           "\"write_seconds\":%.6f,\"bytes\":%zu,\"mesh\":",
           kind_name(report->kind), report->spacing, read_seconds, report->seconds, write_seconds,
           pl_model_pack_size(model));
    app_mesh_report_json(&report->mesh);
    printf(",\"look\":");
    app_look_json(&mesh->look);
    printf(",\"model\":");
    app_model_json(model);
    printf("}\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

static double seconds_since(uint64_t begin)
{
    return (double)(pl_clock_ns() - begin) / 1e9;
}

static int cook_mesh(const order *asked, const pl_mesh *mesh, double read_seconds)
{
    pl_cook_def def;
    int result = make_def(asked, mesh, &def);
    if (result >= 0)
        return result;
    bar b = {.wanted = !asked->quiet && isatty(STDERR_FILENO), .started = pl_clock_ns()};
    pl_model *model;
    pl_cook_report report;
    pl_error error = {0};
    def.progress = show_progress;
    def.progress_user = &b;
    pl_status status = pl_cook(&def, &model, &report, &error);
    end_progress(&b);
    if (status == PL_ERROR_STATE && app_signal()) {
        fprintf(stderr, "pliant: interrupted; nothing was written\n");
        return 128 + app_signal();
    }
    if (status != PL_OK)
        return app_fail_about(asked->source, status, &error);
    uint64_t begin = pl_clock_ns();
    status = pl_model_save(model, asked->target, &error);
    if (status != PL_OK)
        result = app_fail_about(asked->target, status, &error);
    else if (asked->json)
        print_json(asked, mesh, model, &report, read_seconds, seconds_since(begin));
    else if (!asked->quiet)
        print_words(asked, mesh, model, &report, read_seconds, seconds_since(begin));
    pl_model_release(model);
    return result >= 0 ? result : app_finish(APP_DONE);
}

static int cook(int argc, char **argv)
{
    order asked = {.detail = 1, .weld = -1, .particles = -1, .edges = -1};
    app_list words = {0};
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &asked.target, 0, 0, "OUT.pliant",
         "the model file; MESH with the ending .pliant in this directory otherwise"},
        {"particles", 'n', APP_INTEGER, &asked.particles, 1, 1e7, "N", "how many; 100 otherwise"},
        {"edges", 0, APP_INTEGER, &asked.edges, 1, 1e8, "N", "how many; as it fits otherwise"},
        {"spacing", 0, APP_NUMBER, &asked.spacing, 0, 1e90, "D",
         "distance of particles in the mesh's unit, instead of their number"},
        {"kind", 0, APP_TEXT, &asked.kind, 0, 0, "KIND", "auto, solid, shell or rod"},
        {"grid", 0, APP_FLAG, &asked.grid, 0, 0, NULL, "particles on a lattice"},
        {"tets", 0, APP_INTEGER, &asked.tets, 1, 1e7, "N",
         "also fill the volume with about N tetrahedra"},
        {"influences", 0, APP_INTEGER, &asked.influences, 1, PL_MAX_INFLUENCES, "K",
         "particles per vertex; 4 otherwise"},
        {"scale", 0, APP_NUMBER, &asked.scale, 0, 1e30, "S", "metres per unit of the mesh"},
        {"weld", 0, APP_NUMBER, &asked.weld, -1e-300, 0.1, "W",
         "vertices nearer than this part of the mesh's size are one; 1e-6 otherwise"},
        {"thickness", 0, APP_NUMBER, &asked.thickness, 0, 1e90, "T",
         "of a shell, diameter of a rod, in the mesh's unit"},
        {"detail", 0, APP_NUMBER, &asked.detail, 0, 16, "D",
         "of a built-in mesh; 2 has four times the triangles of 1"},
        {"seed", 0, APP_INTEGER, &asked.seed, 0, 2147483647, "N", "of the random numbers"},
        {"json", 0, APP_FLAG, &asked.json, 0, 0, NULL, "print what was found and done as JSON"},
        {"quiet", 'q', APP_FLAG, &asked.quiet, 0, 0, NULL, "print nothing"},
        {0},
    };
    char name[4096];
    int result = app_parse(&app_cook_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (words.count == 0)
        return app_usage_error("cook",
                               "which mesh? Name a file or a built-in one: builtin:dinosaur");
    if (asked.particles >= 0 && asked.spacing > 0)
        return app_usage_error("cook", "--particles and --spacing say the same; give one of them");
    asked.source = words.items[0];
    const char *builtin = app_builtin_name(asked.source);
    if (has_ending(asked.source, ".json"))
        return app_usage_error("cook", "%s is a scene; only meshes can be cooked", asked.source);
    if (pl_file_is_model(asked.source))
        return app_usage_error("cook", "%s is a model already; cook the mesh it came from",
                               asked.source);
    if (builtin && !*builtin)
        return app_usage_error("cook", "which built-in mesh? For example builtin:dinosaur");
    if (!asked.target)
        asked.target = default_target(asked.source, name, sizeof name);
    if (!asked.target ||
        (!has_ending(asked.target, ".pliant") && strncmp(asked.target, "/dev/", 5)))
        return app_usage_error("cook", "the model file must end with .pliant, not be \"%s\"",
                               asked.target ? asked.target : asked.source);
    pl_mesh mesh;
    uint64_t begin = pl_clock_ns();
    result = app_load_mesh(asked.source, asked.detail, &mesh);
    if (result >= 0)
        return result;
    result = cook_mesh(&asked, &mesh, seconds_since(begin));
    pl_mesh_free(&mesh);
    return result;
}

const app_command app_cook_command = {
    .name = "cook",
    .usage = "MESH|builtin:NAME [-o OUT.pliant] [OPTIONS]",
    .summary = "turn a mesh into a model: repair, fill with particles, connect, skin",
    .details = "MESH is an OBJ, PLY, STL, OFF, glTF or GLB file, or one with tetrahedra: TetGen "
               ".node/.ele,\n"
               "Gmsh .msh, Medit .mesh, VTK. Built in are dinosaur, rabbit, armadillo, teddy, "
               "torus, column,\n"
               "car, cylinder, cuboid, sheet and rope. The model file appears whole or not at all.",
    .run = cook,
};

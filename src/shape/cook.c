/* From a mesh to a model: repair, choose the kind, sample, connect, fill with tetrahedra, skin.
   Every step has a file of its own; here is their order, what they are told, and what is
   reported. */
#include "pliant/cook.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/float_env.h"
#include "shape/check.h"
#include "shape/cook_parts.h"

/* Where each stage begins, in parts of the whole. */
#define AT_INSIDE 0.1
#define AT_SAMPLING 0.2
#define AT_GRAPH 0.6
#define AT_TETS 0.75
#define AT_SKIN 0.85

pl_cook_def pl_default_cook_def(const pl_mesh *mesh)
{
    return (pl_cook_def){.mesh = mesh,
                         .particle_count = 100,
                         .scale = 1,
                         .weld = 1e-6,
                         .influence_count = 4,
                         .cookie = PL_COOK_COOKIE};
}

/* ---- Checking -------------------------------------------------------------------------------- */

static pl_status check_number(double value, double low, double high, const char *name,
                              pl_error *error)
{
    PL_CHECK(value >= low && value <= high, PL_ERROR_ARGUMENT, error, name,
             "is %g; it must be from %g to %g", value, low, high);
    return PL_OK;
}

static pl_status check_def(const pl_cook_def *def, pl_error *error)
{
    PL_CHECK(def, PL_ERROR_ARGUMENT, error, "def", "is NULL; it must be a definition");
    PL_CHECK(def->cookie == PL_COOK_COOKIE, PL_ERROR_ARGUMENT, error, "cookie",
             "definition was not made by pl_default_cook_def; start from what that returns");
    PL_CHECK(def->mesh, PL_ERROR_ARGUMENT, error, "mesh", "is NULL; it must be a mesh");
    PL_CHECK(def->kind >= PL_COOK_AUTO && def->kind <= PL_COOK_ROD, PL_ERROR_ARGUMENT, error,
             "kind", "is %d; there is no such kind", (int)def->kind);
    PL_CHECK(def->sampling == PL_COOK_POISSON || def->sampling == PL_COOK_GRID, PL_ERROR_ARGUMENT,
             error, "sampling", "is %d; there is no such sampling", (int)def->sampling);
    PL_TRY(check_number(def->particle_count, 0, 1e7, "particle_count", error));
    PL_TRY(check_number(def->edge_count, 0, PL_MAX_MODEL_COUNT, "edge_count", error));
    PL_TRY(check_number(def->tet_count, 0, 1e7, "tet_count", error));
    PL_TRY(check_number(def->influence_count, 1, PL_MAX_INFLUENCES, "influence_count", error));
    PL_TRY(check_number(def->scale, 1e-30, 1e30, "scale", error));
    PL_TRY(check_number(def->thickness, 0, 1e90, "thickness", error));
    PL_TRY(check_number(def->weld, 0, 0.1, "weld", error));
    if (def->particle_count == 0)
        PL_TRY(check_number(def->spacing, 1e-90, 1e90, "spacing", error));
    PL_CHECK(!def->allocator || (def->allocator->alloc && def->allocator->free), PL_ERROR_ARGUMENT,
             error, "allocator", "lacks a function; it needs both alloc and free");
    return PL_OK;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static pl_status tell(const pl_kitchen *kitchen, double part, const char *stage, pl_error *error)
{
    const pl_cook_def *def = kitchen->def;
    PL_CHECK(!def->progress || def->progress(def->progress_user, part, stage), PL_ERROR_STATE,
             error, NULL, "stopped, as asked for, before %s", stage);
    return PL_OK;
}

static bool tell_sampling(void *user, double part)
{
    const pl_kitchen *kitchen = user;
    double inside = part < 0 ? 0 : part > 1 ? 1 : part;
    return tell(kitchen, AT_SAMPLING + inside * (AT_GRAPH - AT_SAMPLING), "sampling", NULL) ==
           PL_OK;
}

static pl_status repair(pl_kitchen *kitchen, pl_error *error)
{
    PL_TRY(tell(kitchen, 0, "repair", error));
    PL_TRY(pl_surface_create(&kitchen->memory, kitchen->def->mesh, kitchen->def->weld,
                             &kitchen->surface, error));
    kitchen->report.mesh = kitchen->surface->report;
    if (kitchen->surface->triangle_count == 0)
        return PL_OK;
    PL_TRY(tell(kitchen, AT_INSIDE, "inside test", error));
    PL_TRY(pl_inside_create(&kitchen->memory, kitchen->surface, &kitchen->inside, error));
    kitchen->report.mesh.volume = pl_inside_settle_volume(kitchen->inside);
    return PL_OK;
}

static pl_status choose_kind(pl_kitchen *kitchen, pl_error *error)
{
    pl_cook_kind kind = kitchen->def->kind;
    bool has_triangles = kitchen->surface->triangle_count > 0;
    if (kind == PL_COOK_AUTO)
        kind = !has_triangles              ? PL_COOK_ROD
               : pl_cook_is_solid(kitchen) ? PL_COOK_SOLID
                                           : PL_COOK_SHELL;
    PL_CHECK(kind == PL_COOK_ROD || has_triangles, PL_ERROR_ARGUMENT, error, "kind",
             "the mesh has lines only, which make a rod; cook it as one");
    PL_CHECK(kind != PL_COOK_SOLID || kitchen->report.mesh.volume > 0, PL_ERROR_ARGUMENT, error,
             "kind", "the surface encloses no volume to fill; cook it as a shell");
    kitchen->report.kind = kind;
    return PL_OK;
}

static pl_status sample_and_connect(pl_kitchen *kitchen, pl_error *error)
{
    const pl_cook_def *def = kitchen->def;
    bool rod = kitchen->report.kind == PL_COOK_ROD;
    pl_sample_def sample_def = {.sampling = def->sampling,
                                .count = def->particle_count,
                                .distance = def->spacing,
                                .seed = def->seed,
                                .progress = def->progress ? tell_sampling : NULL,
                                .progress_user = kitchen};
    pl_connect_def connect_def = {kitchen->report.kind, def->edge_count, kitchen->thickness,
                                  def->seed};
    return pl_sample_and_connect(&kitchen->memory, rod ? kitchen->curve : kitchen->surface,
                                 rod ? NULL : kitchen->inside, &sample_def, &connect_def,
                                 &kitchen->samples, &kitchen->parts, error);
}

static pl_status make_graph(pl_kitchen *kitchen, pl_error *error)
{
    kitchen->thickness = kitchen->def->thickness;
    if (kitchen->report.kind == PL_COOK_ROD)
        PL_TRY(pl_cook_find_curve(kitchen, error));
    PL_TRY(tell(kitchen, AT_SAMPLING, "sampling", error));
    PL_TRY(sample_and_connect(kitchen, error));
    return tell(kitchen, AT_GRAPH, "graph", error);
}

static void drop_graph(pl_kitchen *kitchen)
{
    if (kitchen->curve != kitchen->surface)
        pl_surface_destroy(kitchen->curve);
    pl_graph_parts_free(&kitchen->memory, &kitchen->parts);
    pl_samples_free(&kitchen->memory, &kitchen->samples);
    kitchen->curve = NULL;
    kitchen->parts = (pl_graph_parts){0};
    kitchen->samples = (pl_samples){0};
}

/* A volume so thin that no particle finds room in it is a shell, unless a solid was asked for. */
static pl_status make_some_graph(pl_kitchen *kitchen, pl_error *error)
{
    pl_status status = make_graph(kitchen, error);
    if (status != PL_ERROR_ARGUMENT || kitchen->def->kind != PL_COOK_AUTO ||
        kitchen->report.kind != PL_COOK_SOLID)
        return status;
    drop_graph(kitchen);
    kitchen->report.kind = PL_COOK_SHELL;
    return make_graph(kitchen, error);
}

static pl_status cook(pl_kitchen *kitchen, pl_model **model, pl_error *error)
{
    PL_TRY(repair(kitchen, error));
    PL_TRY(choose_kind(kitchen, error));
    PL_TRY(make_some_graph(kitchen, error));
    PL_TRY(tell(kitchen, AT_TETS, "tetrahedra", error));
    PL_TRY(pl_cook_find_tets(kitchen, error));
    PL_TRY(tell(kitchen, AT_SKIN, "skin", error));
    return pl_cook_make_model(kitchen, model, error);
}

static void clean_up(pl_kitchen *kitchen)
{
    drop_graph(kitchen);
    pl_tets_free(&kitchen->memory, &kitchen->tets);
    pl_inside_destroy(kitchen->inside);
    pl_surface_destroy(kitchen->surface);
}

static void finish_report(pl_kitchen *kitchen, const pl_model *model, uint64_t begin)
{
    pl_cook_report *report = &kitchen->report;
    report->spacing = kitchen->samples.distance;
    report->pieces = model->piece_count;
    report->particles = model->particle_count;
    report->edges = model->edge_count;
    report->tets = model->tet_count;
    report->seconds = (double)(pl_clock_ns() - begin) / 1e9;
}

/* Not inlined: nothing of it may move out of the floating-point environment the caller sets up. */
__attribute__((noinline)) static pl_status cook_whole(const pl_cook_def *def, pl_model **out,
                                                      pl_cook_report *report, pl_error *error)
{
    uint64_t begin = pl_clock_ns();
    PL_TRY(check_def(def, error));
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "model",
             "is NULL; it must be where the model is to be put");
    pl_kitchen kitchen = {.def = def};
    pl_model *model = NULL;
    pl_memory_init(&kitchen.memory, def->allocator, def->memory_limit);
    pl_status status = cook(&kitchen, &model, error);
    if (status == PL_OK) {
        finish_report(&kitchen, model, begin);
        *out = model;
    }
    clean_up(&kitchen);
    if (report)
        *report = kitchen.report;
    return status;
}

pl_status pl_cook(const pl_cook_def *def, pl_model **model, pl_cook_report *report, pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = cook_whole(def, model, report, error);
    pl_float_env_leave(host);
    return status;
}

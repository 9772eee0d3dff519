/* A model once more, with its particles as spheres in clusters: what clustered bodies are made
   of. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/float_env.h"
#include "math/elementary.h"
#include "shape/cluster.h"
#include "shape/model.h"
#include "shape/shards.h"

static const uint32_t clusters_cookie = 0x706c636c;

pl_clusters_def pl_default_clusters_def(void)
{
    return (pl_clusters_def){.overlap = 4, .cookie = clusters_cookie};
}

/* About fifty particles each, where nobody says otherwise. */
static int count_for(const pl_model *model, const pl_clusters_def *def)
{
    int n = model->particle_count, count = def->count ? def->count : (n + 49) / 50;
    return count < n ? count : n;
}

static pl_status check(const pl_model *model, const pl_clusters_def *def, pl_error *error)
{
    PL_CHECK(model, PL_ERROR_ARGUMENT, error, "model", "is NULL");
    PL_CHECK(def && def->cookie == clusters_cookie, PL_ERROR_ARGUMENT, error, "cookie",
             "definition was not made by pl_default_clusters_def; start from what that returns");
    PL_CHECK(def->count >= 0 && def->count <= model->particle_count, PL_ERROR_ARGUMENT, error,
             "count", "is %d; it must be from 1 to the %d particles, or 0 for a usual number",
             def->count, model->particle_count);
    PL_CHECK(def->radius >= 0 && isfinite(def->radius), PL_ERROR_ARGUMENT, error, "radius",
             "is %g; it must be greater than 0, or 0 to have it found", def->radius);
    PL_CHECK(def->rings || def->radius > 0 ||
                 (def->overlap >= 1 && def->overlap <= model->particle_count),
             PL_ERROR_ARGUMENT, error, "overlap",
             "is %g; it must be from 1 to the number of particles (4 is usual)", def->overlap);
    PL_CHECK(def->kernel >= PL_KERNEL_FUZZY && def->kernel <= PL_KERNEL_CONSTANT, PL_ERROR_ARGUMENT,
             error, "kernel", "is %d; there is no such kernel", (int)def->kernel);
    return PL_OK;
}

typedef struct parts {
    double *positions, *radii, *vertices, *cluster_radii;
    float *masses;
    pl_shards shards;
} parts;

/* In metres, as definitions are; spheres of the same volume. */
static bool lay_out(pl_memory *memory, const pl_model *model, parts *p)
{
    size_t n = (size_t)model->particle_count, v = (size_t)model->vertex_count;
    p->positions = PL_NEW(memory, double, 3 * n);
    p->radii = PL_NEW(memory, double, 3 * n);
    p->vertices = PL_NEW(memory, double, 3 * v);
    p->masses = PL_NEW(memory, float, n);
    if (!p->positions || !p->radii || !p->vertices || !p->masses)
        return false;
    for (size_t i = 0; i < 3 * n; i++)
        p->positions[i] = model->centre[i % 3] + model->unit * (double)model->rest[i];
    for (size_t i = 0; i < 3 * v; i++)
        p->vertices[i] = model->centre[i % 3] + model->unit * (double)model->vertices[i];
    for (size_t i = 0; i < n; i++) {
        const float *r = model->radii + 3 * i;
        double radius = r[0] == r[1] && r[1] == r[2]
                            ? (double)r[0]
                            : pl_pow((double)r[0] * (double)r[1] * (double)r[2], 1.0 / 3);
        p->masses[i] = (float)model->volumes[i];
        for (size_t k = 0; k < 3; k++)
            p->radii[3 * i + k] = radius * model->unit;
    }
    return true;
}

static pl_status make(pl_memory *memory, const pl_model *model, const pl_clustering *clusters,
                      parts *p, pl_model **out, pl_error *error)
{
    pl_model_def def = pl_default_model_def();
    if (clusters->radius) {
        p->cluster_radii = PL_NEW(memory, double, clusters->count);
        PL_CHECK(p->cluster_radii, PL_ERROR_MEMORY, error, NULL, "no memory for %d clusters",
                 clusters->count);
        for (int c = 0; c < clusters->count; c++)
            p->cluster_radii[c] = (double)clusters->radius[c];
    }
    def.particle_count = model->particle_count;
    def.positions = pl_doubles(p->positions, 0);
    def.radii = pl_doubles(p->radii, 0);
    def.several_pieces = true;
    def.dimension = model->dimension;
    def.volume = model->volume * model->unit * model->unit * model->unit;
    def.vertex_count = model->vertex_count;
    def.vertices = pl_doubles(p->vertices, 0);
    def.influence_count = model->influence_count;
    def.influences = model->influences;
    def.weights = model->weights;
    def.triangle_count = model->triangle_count;
    def.triangles = model->triangles;
    def.look = &model->look;
    if (p->shards.vertex_count) {
        const pl_shards *s = &p->shards;
        def.vertex_count = s->vertex_count;
        def.vertices = pl_doubles(s->vertices, 0);
        def.influences = s->influences;
        def.weights = s->weights;
        def.triangle_count = s->triangle_count;
        def.triangles = s->triangles;
        def.look = &s->look;
    }
    def.cluster_count = clusters->count;
    def.cluster_start = clusters->start;
    def.cluster_members = clusters->member;
    def.cluster_weights = clusters->raw;
    def.cluster_radii = p->cluster_radii;
    return pl_model_create(&def, out, error);
}

static pl_status find(pl_memory *memory, const pl_model *model, const pl_clusters_def *def,
                      const parts *p, pl_clustering *clusters, pl_error *error)
{
    pl_clustering_def wanted = {.count = count_for(model, def),
                                .radius = def->radius,
                                .overlap = fmin(def->overlap, count_for(model, def)),
                                .kernel = def->kernel,
                                .seed = def->seed};
    return def->rings ? pl_cluster_rings(memory, model->particle_count, model->start,
                                         model->neighbour, clusters, error)
                      : pl_cluster_particles(memory, model->particle_count, p->positions, p->masses,
                                             &wanted, clusters, error);
}

__attribute__((noinline)) static pl_status cluster(const pl_model *model,
                                                   const pl_clusters_def *def, pl_model **out,
                                                   pl_error *error)
{
    PL_TRY(check(model, def, error));
    PL_CHECK(out, PL_ERROR_ARGUMENT, error, "model",
             "is NULL; it must be where the model is to be put");
    pl_memory memory = model->memory;
    parts p = {0};
    pl_clustering clusters = {0};
    pl_status status = lay_out(&memory, model, &p)
                           ? find(&memory, model, def, &p, &clusters, error)
                           : pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for %d particles",
                                     model->particle_count);
    if (status == PL_OK && def->shards && model->triangle_count)
        status = pl_shards_make(&memory, model, &p.shards, error);
    if (status == PL_OK)
        status = make(&memory, model, &clusters, &p, out, error);
    pl_clustering_free(&memory, &clusters);
    pl_shards_free(&memory, &p.shards);
    void *arrays[] = {p.positions, p.radii, p.vertices, p.cluster_radii, p.masses};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_memory_free(&memory, arrays[i]);
    return status;
}

pl_status pl_model_cluster(const pl_model *model, const pl_clusters_def *def, pl_model **out,
                           pl_error *error)
{
    pl_float_env host = pl_float_env_enter();
    pl_status status = cluster(model, def, out, error);
    pl_float_env_leave(host);
    return status;
}

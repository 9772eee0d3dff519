/* Tetrahedral bodies in a world: made from a model whose particles are the corners of its
   tetrahedra. Bodies that share a system are solved side by side, a large one by itself with all
   tasks; single small ones one task each. */
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "math/rotation_lanes.h"

/* From this many particles on a body is worth cutting into tasks of its own. */
enum { LARGE = 1024, BODIES_PER_TASK = 4 };

/* ---- Making ---------------------------------------------------------------------------------- */

static bool has_corners_as_particles(const pl_model *model)
{
    size_t n = (size_t)model->particle_count;
    return model->tet_count > 0 && model->tet_point_count == model->particle_count &&
           memcmp(model->tet_points, model->rest, 3 * n * sizeof(float)) == 0;
}

/* The matter names its own fields; to the caller they are parts of a larger definition. */
static pl_status lead_back(pl_status status, const char *part, pl_error *error)
{
    char where[sizeof error->where];
    if (status == PL_OK || !error || !error->where[0])
        return status;
    memcpy(where, error->where, sizeof where);
    snprintf(error->where, sizeof error->where, "%s.%.*s", part,
             (int)(sizeof where - strlen(part) - 2), where);
    return status;
}

pl_status pl_tetrahedral_fill(pl_world *world, pl_record *record, const pl_tetrahedral_def *def,
                              pl_error *error)
{
    const pl_model *model = record->model;
    PL_TRY(lead_back(pl_tetrahedral_check(def, error), "tetrahedral", error));
    PL_CHECK(model->tet_count > 0, PL_ERROR_ARGUMENT, error, "model",
             "has no tetrahedra; cook it with a number of them, then use pl_model_tetrahedral");
    PL_CHECK(has_corners_as_particles(model), PL_ERROR_ARGUMENT, error, "model",
             "has other particles than the corners of its tetrahedra; use what "
             "pl_model_tetrahedral makes of it");
    record->frames = PL_NEW(world->memory, float, 9 * (size_t)model->particle_count);
    PL_CHECK(record->frames, PL_ERROR_MEMORY, error, "", "no memory for a body of %d particles",
             model->particle_count);
    record->tets = *def;
    record->tetrahedral = true;
    return PL_OK;
}

/* The number of the edge between two particles. */
static int edge_between(const pl_model *model, int32_t a, int32_t b)
{
    for (int32_t at = model->start[a]; at < model->start[a + 1]; at++)
        if (model->neighbour[at] == b)
            return model->edge_of[at];
    return -1;
}

/* Factors of elements: the mean over their edges. */
static void average_edges(const pl_model *model, const float *edge_factor, float *factor)
{
    for (ptrdiff_t t = 0; t < model->tet_count; t++) {
        const int32_t *tet = model->tets + 4 * t;
        double sum = 0, count = 0;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++) {
                int edge = edge_between(model, tet[a], tet[b]);
                if (edge < 0) /* a model that was made by hand may lack some */
                    continue;
                sum += (double)edge_factor[edge];
                count++;
            }
        factor[t] = count > 0 ? (float)(sum / count) : 1;
    }
}

static bool has_map(const pl_system_key *key)
{
    return key->edge_stiffness || key->tet_stiffness;
}

/* Both maps in one, as far as they are there. */
static void mix_maps(const pl_system_key *key, float *factor)
{
    if (key->edge_stiffness)
        average_edges(key->model, key->edge_stiffness, factor);
    for (int t = 0; key->tet_stiffness && t < key->model->tet_count; t++)
        factor[t] = key->tet_stiffness[t] * (key->edge_stiffness ? factor[t] : 1);
}

static pl_status make_tets(pl_world *world, const pl_system_key *key, const float *stiffness,
                           pl_tet_system **out, pl_error *error)
{
    const pl_model *model = key->model;
    double unit = model->unit;
    pl_tet_source source = {.n = model->particle_count,
                            .rest = model->rest,
                            .tet_count = model->tet_count,
                            .tets = model->tets,
                            .stiffness = stiffness,
                            .node_density = key->particle_density,
                            .young = key->material.young / (key->material.density * unit * unit),
                            .density = 1,
                            .h = key->h,
                            .fixed_count = key->fixed_count,
                            .fixed = key->fixed,
                            .workers = world->worker_count};
    pl_status status =
        pl_tet_system_create(world->memory, &source, key->tetrahedral, world->tasks, out, error);
    bool about_young = status != PL_OK && error && strcmp(error->where, "young") == 0;
    return about_young ? lead_back(status, "material", error) : status;
}

/* Particles of elements too flat to count have no mass; they get a little. */
static void weigh(const pl_tet_system *tets, int n, float *mass)
{
    double least = 1e-6 * pl_tet_system_counts(tets).mass / n;
    for (int i = 0; i < n; i++)
        mass[i] = (float)fmax(pl_tet_system_mass(tets, i), least);
}

static pl_status make_with(pl_world *world, const pl_system_key *key, float *stiffness, float *mass,
                           pl_system **out, pl_error *error)
{
    int n = key->model->particle_count;
    pl_tet_system *tets;
    PL_CHECK(mass && (stiffness || !has_map(key)), PL_ERROR_MEMORY, error, "",
             "no memory for %d tetrahedra", key->model->tet_count);
    mix_maps(key, stiffness);
    PL_TRY(make_tets(world, key, stiffness, &tets, error));
    weigh(tets, n, mass);
    pl_status status = pl_system_create_loose(world->memory, key, n, n, mass, out, error);
    if (status == PL_OK)
        (*out)->tets = tets;
    else
        pl_tet_system_drop(tets);
    return status;
}

pl_status pl_tetrahedral_make_system(pl_world *world, const pl_system_key *key, pl_system **out,
                                     pl_error *error)
{
    PL_CHECK(!(key->material.stiffness > 0), PL_ERROR_ARGUMENT, error, "stiffness",
             "is for oriented particles; tetrahedral bodies have Young's modulus (young)");
    size_t tet_count = (size_t)key->model->tet_count, n = (size_t)key->model->particle_count;
    float *stiffness = has_map(key) ? PL_NEW(world->memory, float, tet_count) : NULL;
    float *mass = PL_NEW(world->memory, float, n);
    pl_status status = make_with(world, key, stiffness, mass, out, error);
    pl_memory_free(world->memory, stiffness);
    pl_memory_free(world->memory, mass);
    return status;
}

/* ---- Outfits --------------------------------------------------------------------------------- */

/* The present state in a body of another system. */
static pl_status carry_over(pl_world *world, const pl_tetrahedral *from, pl_tetrahedral *to,
                            pl_error *error)
{
    size_t size = pl_tetrahedral_save_size(from);
    void *bytes = pl_memory_alloc(world->memory, size, 1);
    PL_CHECK(bytes, PL_ERROR_MEMORY, error, "", "no memory for the state of a body");
    pl_tetrahedral_save(from, bytes);
    pl_status status = pl_tetrahedral_load(to, bytes, size, error);
    pl_memory_free(world->memory, bytes);
    return status;
}

pl_status pl_tetrahedral_equip(pl_world *world, pl_model *model, const pl_setup *setup,
                               pl_outfit *outfit, pl_error *error)
{
    pl_system_key key = {.model = model,
                         .h = setup->h,
                         .material = setup->material,
                         .edge_stiffness = setup->edge_stiffness,
                         .particle_density = setup->particle_density,
                         .fixed = setup->fixed,
                         .fixed_count = setup->fixed_count,
                         .tetrahedral = setup->tets,
                         .tet_stiffness = setup->tet_stiffness};
    for (int i = 0; i < outfit->hold_count; i++)
        outfit->holds[i].stiffness = outfit->holds[i].strength;
    PL_TRY(pl_world_get_system(world, &key, &outfit->shared, error));
    pl_tet_system *tets = outfit->shared.system->tets;
    if (setup->present && pl_tetrahedral_system(setup->present) == tets)
        return PL_OK;
    PL_TRY(pl_tetrahedral_create(world->memory, tets, &outfit->tetrahedral, error));
    if (setup->examples)
        PL_TRY(pl_examples_equip_tets(world, setup->examples, outfit->tetrahedral, error));
    return setup->present ? carry_over(world, setup->present, outfit->tetrahedral, error) : PL_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

void pl_world_group_tets(pl_world *world)
{
    pl_sort_item *items = world->sort_items;
    int count = 0;
    for (int i = 0; i < world->awake_count; i++)
        if (world->live[i]->tetrahedral)
            items[count++] = (pl_sort_item){world->live[i]->system_ordinal, (uint32_t)i};
    world->tet_count = count;
    world->tet_group_count = 0;
    if (!count)
        return;
    pl_sort(items, items + count, (size_t)count);
    for (int i = 0; i < count; i++) {
        world->tets[i] = world->live[items[i].index];
        world->tet_bodies[i] = world->tets[i]->matter.tetrahedral;
        if (i == 0 || items[i].key != items[i - 1].key)
            world->tet_groups[world->tet_group_count++] = i;
    }
    world->tet_groups[world->tet_group_count] = count;
}

/* ---- Solving --------------------------------------------------------------------------------- */

/* The mean of a free body moves by itself; what is held falls with its particles. */
static void prepare(const pl_world *world, pl_record *record, pl_tet_motion *motion)
{
    pl_oriented *matter = &record->matter;
    double h = world->h;
    bool held = matter->system->grounded;
    *motion = (pl_tet_motion){.from = matter->old.x,
                              .u = matter->old.u,
                              .push = matter->pushed ? matter->push : NULL,
                              .targets = matter->drive_now,
                              .x = matter->now.x};
    for (int k = 0; k < 3; k++) {
        matter->c[k] = held ? 0 : matter->drift[k];
        motion->fall[k] = held ? matter->drift[k] / (h * h) : 0;
    }
}

static int group_size(const pl_world *world, int group)
{
    return world->tet_groups[group + 1] - world->tet_groups[group];
}

/* One small body, for which tasks within would be too small. */
static bool is_single(const pl_world *world, int group)
{
    return group_size(world, group) == 1 && world->tets[world->tet_groups[group]]->matter.n < LARGE;
}

static void solve_group(pl_world *world, int group, pl_tasks *tasks)
{
    int first = world->tet_groups[group];
    pl_tetrahedral_solve(world->tet_bodies + first, world->tet_motions + first,
                         group_size(world, group), world->iterations, tasks);
}

static void solve_singles(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    (void)worker;
    for (int group = begin; group < end; group++)
        if (is_single(world, group))
            solve_group(world, group, NULL);
}

static void settle(void *context, int begin, int end, int number)
{
    pl_world *world = context;
    pl_work *work = &world->workers[number].work;
    for (int i = begin; i < end; i++) {
        pl_record *record = world->tets[i];
        pl_oriented *matter = &record->matter;
        pl_tet_report report = pl_tetrahedral_get_report(matter->tetrahedral);
        work->iterations += report.iterations - record->solved.iterations;
        work->refused += report.refused - record->solved.refused;
        work->ticks[PL_STAGE_LOCAL] += report.local - record->solved.local;
        work->ticks[PL_STAGE_GLOBAL] += report.global - record->solved.global;
        work->ticks[PL_STAGE_ACCELERATE] += report.accelerate - record->solved.accelerate;
        record->solved = report;
        memcpy(matter->now.q, matter->old.q, sizeof(float) * 4 * (size_t)matter->n);
        pl_matter_draw_to_pins(matter);
        pl_oriented_settle(matter, world->h);
    }
}

void pl_world_solve_tets(pl_world *world)
{
    int singles = 0;
    if (!world->tet_count)
        return;
    for (int i = 0; i < world->tet_count; i++)
        prepare(world, world->tets[i], world->tet_motions + i);
    for (int group = 0; group < world->tet_group_count; group++)
        singles += is_single(world, group);
    bool apart = singles > 1;
    if (apart)
        pl_tasks_run(world->tasks, solve_singles, world, world->tet_group_count, 1);
    for (int group = 0; group < world->tet_group_count; group++)
        if (!apart || !is_single(world, group))
            solve_group(world, group, world->tasks);
    pl_tasks_run(world->tasks, settle, world, world->tet_count, BODIES_PER_TASK);
}

/* ---- After the contacts ---------------------------------------------------------------------- */

void pl_world_change_tets(pl_world *world)
{
    uint64_t clock = pl_ticks();
    for (int i = 0; i < world->tet_count; i++)
        if (isfinite(world->tets[i]->tets.yield))
            pl_tetrahedral_flow(world->tet_bodies[i], world->tets[i]->matter.now.x, world->tasks);
    world->workers[0].work.ticks[PL_STAGE_CHANGE] += pl_ticks() - clock;
}

/* The rotation nearest to how their surroundings are deformed, from the last one on: the surface
   turns with it. What stretches it are the particles themselves. */
static void orient(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    uint64_t clock = pl_ticks();
    for (int i = begin; i < end; i++) {
        const pl_record *record = world->tets[i];
        const pl_oriented *matter = &record->matter;
        pl_tetrahedral_frames(matter->tetrahedral, matter->now.x, worker, record->frames);
        pl_rotations_fit((size_t)matter->n, record->frames, matter->now.q);
    }
    world->workers[worker].work.ticks[PL_STAGE_FINISH] += pl_ticks() - clock;
}

void pl_world_finish_tets(pl_world *world)
{
    if (world->tet_count)
        pl_tasks_run(world->tasks, orient, world, world->tet_count, 1);
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool pl_tetrahedral_elastic(const pl_world *world, const pl_record *record, double *out)
{
    const pl_oriented *matter = &record->matter;
    size_t count = 3 * (size_t)matter->n;
    double *x = PL_NEW(world->memory, double, count), unit = record->model->unit;
    if (!x)
        return false;
    for (size_t i = 0; i < count; i++)
        x[i] = (double)matter->now.x[i];
    *out = pl_tet_energy(matter->system->tets, matter->tetrahedral, x, NULL, NULL) *
           matter->system->mass_unit * unit * unit;
    pl_memory_free(world->memory, x);
    return true;
}

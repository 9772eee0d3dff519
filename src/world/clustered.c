/* Clustered bodies in a world: made from a model's clusters, solved beside the blocks of oriented
   ones, changed after the contacts. Small bodies are solved side by side, one task each; large ones
   one after the other, each with all tasks. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "math/rotation_lanes.h"
#include "world/world.h"

/* From this many particles on a body is worth cutting into tasks of its own. */
enum { LARGE = 2048 };

/* ---- Making ---------------------------------------------------------------------------------- */

/* Particles may be divided only where something can break. */
static int room_for(const pl_clustered *clustered)
{
    int n = clustered->n;
    return isfinite(clustered->def.toughness) ? n + n / 4 + 64 : n;
}

/* Radii and clumps of its own as soon as there may be more particles than the model has. */
static bool make_own(pl_world *world, pl_record *record)
{
    pl_memory *memory = world->memory;
    const pl_model *model = record->model;
    const pl_oriented *matter = &record->matter;
    int n = model->particle_count;
    if (matter->capacity == n)
        return true;
    pl_clumps *clumps = pl_clumps_copy(memory, model->clumps, n, matter->capacity);
    float *radii = PL_NEW(memory, float, 3 * (size_t)matter->capacity);
    if (!clumps || !radii) {
        pl_clumps_destroy(memory, clumps);
        pl_memory_free(memory, radii);
        return false;
    }
    memcpy(radii, model->radii, sizeof(float) * 3 * (size_t)n);
    for (int i = n; i < matter->n; i++) {
        float radius = matter->clustered->radius[i];
        pl_clumps_add_sphere(clumps, n, i, radius);
        radii[3 * i] = radii[3 * i + 1] = radii[3 * i + 2] = radius;
    }
    pl_clumps_destroy(memory, record->own_clumps);
    pl_memory_free(memory, record->own_radii);
    record->clumps = record->own_clumps = clumps;
    record->radii = record->own_radii = radii;
    return true;
}

static void weigh(const pl_record *record, float *mass, float *radius)
{
    const pl_model *model = record->model;
    for (int i = 0; i < model->particle_count; i++) {
        const float *r = model->radii + 3 * i;
        double factor = record->particle_density ? (double)record->particle_density[i] : 1;
        mass[i] = (float)(model->volumes[i] * factor);
        radius[i] = fmaxf(r[0], fmaxf(r[1], r[2]));
    }
}

static pl_status adopt(pl_world *world, pl_record *record, pl_clustered *clustered, pl_error *error)
{
    pl_oriented *matter = &record->matter;
    matter->clustered = clustered;
    matter->damping = 0; /* it has its own kind of damping, in the solver */
    bool good = pl_record_grow(world, record, room_for(clustered));
    if (good) {
        matter->n = clustered->n;
        good = make_own(world, record);
    }
    PL_CHECK(good, PL_ERROR_MEMORY, error, "", "no memory for a body of %d particles",
             clustered->n);
    record->room = matter->capacity;
    return PL_OK;
}

pl_status pl_clustered_fill(pl_world *world, pl_record *record, const pl_clustered_def *def,
                            pl_error *error)
{
    pl_memory *memory = world->memory;
    const pl_model *model = record->model;
    PL_CHECK(model->cluster_count > 0, PL_ERROR_ARGUMENT, error, "model",
             "has no clusters; give it some: \"clusters\" in a scene, pl_model_cluster in C");
    float *mass = PL_NEW(memory, float, model->particle_count);
    float *radius = PL_NEW(memory, float, model->particle_count);
    pl_clustered *clustered = NULL;
    pl_status status = PL_ERROR_MEMORY;
    if (mass && radius) {
        weigh(record, mass, radius);
        pl_clustered_source source = {.n = model->particle_count,
                                      .rest = model->rest,
                                      .mass = mass,
                                      .radius = radius,
                                      .cluster_count = model->cluster_count,
                                      .start = model->cluster_start,
                                      .member = model->cluster_members,
                                      .raw = model->cluster_weights,
                                      .radii = model->cluster_radii};
        status = pl_clustered_create(memory, &source, def, &clustered, error);
    } else {
        pl_fail(error, status, "", "no memory for a clustered body");
    }
    pl_memory_free(memory, mass);
    pl_memory_free(memory, radius);
    PL_TRY(status);
    return adopt(world, record, clustered, error);
}

pl_status pl_clustered_restore(pl_world *world, pl_record *record, const void *bytes, size_t size,
                               pl_error *error)
{
    pl_clustered *clustered;
    PL_TRY(pl_clustered_load(world->memory, bytes, size, &clustered, error));
    bool fits = clustered->n >= record->model->particle_count;
    for (int i = 0; i < clustered->n && fits; i++)
        fits = clustered->origin[i] >= 0 && clustered->origin[i] < record->model->particle_count &&
               (i >= record->model->particle_count || clustered->origin[i] == i);
    if (!fits) {
        pl_clustered_destroy(clustered);
        return pl_fail(error, PL_ERROR_FORMAT, "clusters", "are not of this model");
    }
    PL_TRY(adopt(world, record, clustered, error));
    pl_record_tear(world, record);
    return PL_OK;
}

void pl_clustered_empty(pl_world *world, pl_record *record)
{
    pl_clustered_destroy(record->matter.clustered);
    pl_clumps_destroy(world->memory, record->own_clumps);
    pl_memory_free(world->memory, record->own_radii);
    pl_memory_free(world->memory, record->own_weights);
    record->matter.clustered = NULL;
    record->own_clumps = NULL;
    record->own_radii = record->own_weights = NULL;
}

/* ---- Digest ---------------------------------------------------------------------------------- */

static void digest_cluster(pl_hash *hash, const pl_cluster *c)
{
    const uint32_t words[] = {(uint32_t)c->first,     (uint32_t)c->count, (uint32_t)c->phase, c->id,
                              (uint32_t)c->cut_count, (uint32_t)c->rank};
    const float numbers[] = {c->radius, c->worked, c->toughness, c->calm, c->fade};
    pl_hash_u32_array(hash, words, sizeof words / sizeof *words);
    pl_hash_f32_array(hash, numbers, sizeof numbers / sizeof *numbers);
    pl_hash_f32_array(hash, c->plastic, 9);
    pl_hash_f32_array(hash, c->carried, 9);
    for (int k = 0; k < c->cut_count; k++) {
        pl_hash_f32_array(hash, c->cuts[k].normal, 3);
        pl_hash_f32_array(hash, &c->cuts[k].offset, 1);
        pl_hash_u32(hash, c->cuts[k].crack);
    }
}

uint64_t pl_clustered_digest(const pl_clustered *clustered)
{
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_u32(&hash, (uint32_t)clustered->n);
    pl_hash_u32(&hash, (uint32_t)clustered->count);
    pl_hash_u32(&hash, clustered->next_id);
    pl_hash_f32_array(&hash, clustered->mass, (size_t)clustered->n);
    pl_hash_f32_array(&hash, clustered->radius, (size_t)clustered->n);
    pl_hash_u32_array(&hash, (const uint32_t *)clustered->origin, (size_t)clustered->n);
    for (int c = 0; c < clustered->count; c++) {
        const pl_cluster *cluster = clustered->clusters + c;
        size_t first = (size_t)cluster->first, count = (size_t)cluster->count;
        digest_cluster(&hash, cluster);
        pl_hash_u32_array(&hash, (const uint32_t *)clustered->particle + first, count);
        pl_hash_f32_array(&hash, clustered->raw + first, count);
        for (int k = 0; k < 3; k++)
            pl_hash_f32_array(&hash, clustered->p[k] + first, count);
    }
    return pl_hash_final(&hash);
}

/* ---- Solving --------------------------------------------------------------------------------- */

static void solve(const pl_world *world, pl_record *record, pl_tasks *tasks)
{
    pl_oriented *matter = &record->matter;
    double h = world->h;
    bool held = matter->system->grounded;
    pl_clustered_motion motion = {.h = h,
                                  .from = matter->old.x,
                                  .u = matter->old.u,
                                  .push = matter->pushed ? matter->push : NULL,
                                  .friction = record->material.friction,
                                  .fixed_count = matter->fixed_count,
                                  .fixed = matter->fixed,
                                  .targets = matter->drive_now,
                                  .x = matter->now.x,
                                  .inner = world->inner};
    for (int k = 0; k < 3; k++) {
        matter->c[k] = held ? 0 : matter->drift[k];
        motion.fall[k] = held ? matter->drift[k] / (h * h) : 0;
    }
    pl_clustered_solve(matter->clustered, &motion, tasks);
    memcpy(matter->now.q, matter->old.q, sizeof(float) * 4 * (size_t)matter->n);
    pl_matter_draw_to_pins(matter);
    pl_oriented_settle(matter, h);
}

static void solve_small(void *context, int begin, int end, int worker)
{
    pl_world *world = context;
    uint64_t clock = pl_ticks();
    for (int i = begin; i < end; i++)
        if (world->others[i]->matter.n < LARGE)
            solve(world, world->others[i], NULL);
    world->workers[worker].work.ticks[PL_STAGE_LOCAL] += pl_ticks() - clock;
}

void pl_world_solve_others(pl_world *world)
{
    if (!world->other_count)
        return;
    pl_tasks_run(world->tasks, solve_small, world, world->other_count, 1);
    uint64_t clock = pl_ticks();
    for (int i = 0; i < world->other_count; i++)
        if (world->others[i]->matter.n >= LARGE)
            solve(world, world->others[i], world->tasks);
    world->workers[0].work.ticks[PL_STAGE_LOCAL] += pl_ticks() - clock;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* New particles, in everything that has a row for each. They are where they were divided from. */
static void enter_new(pl_record *record, int before)
{
    pl_oriented *matter = &record->matter;
    for (int i = before; i < matter->n; i++) {
        size_t from = (size_t)record->matter.clustered->origin[i], to = (size_t)i;
        float radius = matter->clustered->radius[i];
        pl_state *states[3] = {&matter->now, &matter->old, &matter->shown};
        for (int s = 0; s < 3; s++) {
            memcpy(states[s]->q + 4 * to, matter->now.q + 4 * from, 4 * sizeof(float));
            if (s > 0)
                memcpy(states[s]->x + 3 * to, matter->now.x + 3 * to, 3 * sizeof(float));
            if (s > 0 && states[s]->u)
                memcpy(states[s]->u + 3 * to, matter->now.u + 3 * to, 3 * sizeof(float));
            if (states[s]->w)
                memset(states[s]->w + 3 * to, 0, 3 * sizeof(float));
        }
        for (size_t k = 0; k < 3; k++) {
            matter->push[3 * to + k] = 0;
            record->force[3 * to + k] = 0;
            record->own_radii[3 * to + k] = radius;
        }
        pl_clumps_add_sphere(record->own_clumps, record->model->particle_count, i, radius);
    }
}

/* True when there are other particles than before. */
static bool change(const pl_world *world, pl_record *record, pl_tasks *tasks)
{
    pl_oriented *matter = &record->matter;
    pl_clustered_change c = {.h = world->h,
                             .n = matter->n,
                             .capacity = record->room,
                             .x = matter->now.x,
                             .u = matter->now.u};
    int before = matter->n;
    uint64_t split = matter->clustered->split;
    if (matter->clustered->settled)
        return false;
    pl_clustered_commit(matter->clustered, &c, tasks);
    record->torn |= matter->clustered->split != split;
    if (c.changed)
        pl_system_reload(matter->system, c.n, matter->clustered->mass);
    if (c.n == before)
        return false;
    matter->n = c.n;
    enter_new(record, before);
    record->bounded = record->boxed = false;
    return true;
}

void pl_world_change_others(pl_world *world)
{
    bool changed = false;
    if (!world->other_count)
        return;
    uint64_t clock = pl_ticks();
    for (int i = 0; i < world->other_count; i++)
        changed |= change(world, world->others[i], world->tasks);
    world->workers[0].work.ticks[PL_STAGE_CHANGE] += pl_ticks() - clock;
    if (changed) {
        world->reenter = true;
        pl_world_regroup(world);
    }
}

/* ---- The end of a step ----------------------------------------------------------------------- */

/* The rotation nearest to how their surroundings are deformed, from the last one on: the surface
   turns with it. What stretches it are the particles themselves. */
static void orient(const pl_world *world, pl_oriented *matter)
{
    pl_clustered_frames(matter->clustered, world->tasks);
    pl_rotations_fit((size_t)matter->n, matter->clustered->frame, matter->now.q);
}

/* Room for what may break in the next step. Without memory less can break, and that is counted. */
static void make_room(pl_world *world, pl_record *record)
{
    pl_oriented *matter = &record->matter;
    int wanted = room_for(matter->clustered);
    if (wanted == matter->n || record->room - matter->n > (wanted - matter->n) / 2)
        return;
    pl_outfit outfit;
    if (!pl_record_grow(world, record, wanted) || !make_own(world, record) ||
        !pl_world_reserve_field(world, wanted) || !pl_world_reserve_contacts(world, NULL))
        return;
    pl_setup setup = pl_world_setup_of(world, record);
    if (pl_world_equip(world, record->model, &setup, &outfit, NULL) != PL_OK)
        return;
    pl_world_adopt(world, record, &outfit);
    record->room = wanted;
}

void pl_world_finish_others(pl_world *world)
{
    uint64_t clock = pl_ticks();
    for (int i = 0; i < world->other_count; i++) {
        orient(world, &world->others[i]->matter);
        if (world->others[i]->torn)
            pl_record_tear(world, world->others[i]);
        world->others[i]->torn = false;
        make_room(world, world->others[i]);
    }
    world->workers[0].work.ticks[PL_STAGE_FINISH] += pl_ticks() - clock;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Parts that no cluster joins: particles of a cluster are one part, by union–find over a caller's
   array. */
static int find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static int count_pieces(const pl_clustered *clustered, int32_t *parent)
{
    int pieces = clustered->n;
    for (int i = 0; i < clustered->n; i++)
        parent[i] = i;
    for (int c = 0; c < clustered->count; c++) {
        const pl_cluster *cluster = clustered->clusters + c;
        const int32_t *members = clustered->particle + cluster->first;
        for (int k = 1; k < cluster->count; k++) {
            int a = find_root(parent, members[0]), b = find_root(parent, members[k]);
            pieces -= a != b;
            *(a < b ? parent + b : parent + a) = a < b ? a : b;
        }
    }
    return pieces;
}

pl_status pl_body_get_info(const pl_world *world, pl_body body, pl_body_info *info)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_REQUIRE(info, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put the answer");
    const pl_clustered *clustered = record->matter.clustered;
    *info = (pl_body_info){.particle_count = record->matter.n,
                           .piece_count = record->model->piece_count};
    pl_examples_count(record, &info->example_pose_count, &info->example_group_count);
    if (record->matter.tetrahedral) {
        pl_tet_counts counts = pl_tet_system_counts(record->matter.system->tets);
        info->kind = PL_MATTER_TETRAHEDRAL;
        info->tet_count = counts.tets;
        info->sample_count = counts.samples;
        info->piece_count = counts.pieces;
    }
    if (!clustered)
        return PL_OK;
    int32_t *parent = PL_NEW(world->memory, int32_t, clustered->n);
    PL_CHECK(parent, PL_ERROR_MEMORY, NULL, NULL, "no memory to count the pieces");
    *info = (pl_body_info){.kind = PL_MATTER_CLUSTERED,
                           .particle_count = clustered->n,
                           .cluster_count = clustered->count,
                           .piece_count = count_pieces(clustered, parent),
                           .topology = clustered->topology,
                           .clusters_added = clustered->added,
                           .clusters_removed = clustered->removed,
                           .clusters_split = clustered->split,
                           .particles_divided = clustered->divided,
                           .changes_lost = clustered->unchanged};
    pl_examples_count(record, &info->example_pose_count, &info->example_group_count);
    pl_memory_free(world->memory, parent);
    return PL_OK;
}

static pl_status open_clusters(const pl_world *world, pl_body body, int first, int count,
                               bool of_particles, const void *out, const pl_record **record)
{
    *record = pl_world_record(world, body);
    PL_REQUIRE(*record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    const pl_clustered *clustered = (*record)->matter.clustered;
    PL_REQUIRE(clustered, PL_ERROR_ARGUMENT, NULL, NULL, "the body is not clustered");
    int size = of_particles ? clustered->n : clustered->count;
    PL_REQUIRE(first >= 0 && count >= 0 && first <= size && count <= size - first,
               PL_ERROR_ARGUMENT, NULL, NULL, "elements %d to %lld of %d", first,
               (long long)first + count, size);
    PL_REQUIRE(out || !count, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put them");
    return PL_OK;
}

static PL_APART pl_status read_clusters(const pl_world *world, pl_body body, int first, int count,
                                        pl_cluster_state *out)
{
    const pl_record *record;
    PL_TRY(open_clusters(world, body, first, count, false, out, &record));
    const pl_oriented *matter = &record->matter;
    for (int i = 0; i < count; i++) {
        const pl_cluster *c = matter->clustered->clusters + first + i;
        out[i] = (pl_cluster_state){.id = c->id,
                                    .member_count = c->count,
                                    .fade = c->fade,
                                    .going = c->phase == PL_PHASE_GOING,
                                    .worked = c->worked,
                                    .stretch = pl_cluster_stretch(matter->clustered, c),
                                    .mass = (float)((double)c->mass * matter->system->mass_unit)};
        for (int k = 0; k < 3; k++)
            out[i].centre[k] = (matter->now.origin[k] + (double)c->centre[k]) * record->model->unit;
        memcpy(out[i].gradient, c->gradient, sizeof c->gradient);
        memcpy(out[i].rotation, c->rotation, sizeof c->rotation);
        memcpy(out[i].plastic, c->plastic, sizeof c->plastic);
        for (int k = 0; k < c->cut_count; k++)
            out[i].crack_count += c->cuts[k].crack;
    }
    return PL_OK;
}

pl_status pl_body_read_clusters(const pl_world *world, pl_body body, int first, int count,
                                pl_cluster_state *out)
{
    PL_COMPUTE(read_clusters(world, body, first, count, out));
}

pl_status pl_body_read_owners(const pl_world *world, pl_body body, int first, int count,
                              int32_t *out)
{
    const pl_record *record;
    PL_TRY(open_clusters(world, body, first, count, true, out, &record));
    const pl_clustered *clustered = record->matter.clustered;
    for (int i = 0; i < count; i++) {
        float most = 0;
        out[i] = -1;
        for (int k = clustered->start[first + i]; k < clustered->start[first + i + 1]; k++)
            if (clustered->weight[clustered->place[k]] > most) {
                most = clustered->weight[clustered->place[k]];
                out[i] = clustered->owner[clustered->place[k]];
            }
    }
    return PL_OK;
}

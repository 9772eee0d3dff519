/* Everything about tetrahedral matter that does not move, put together: see the files
   tetrahedral_mesh, _blocks, _matrix, _frames and _samples. */
#include <math.h>

#include "base/error.h"
#include "base/hash.h"
#include "matter/tetrahedral_build.h"

pl_status pl_tet_no_memory(pl_error *error)
{
    return pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
}

/* ---- Checks ---------------------------------------------------------------------------------- */

#define CHECK(condition, field, ...)                                                               \
    PL_CHECK(condition, PL_ERROR_ARGUMENT, error, field, __VA_ARGS__)

static bool is_positive(double value)
{
    return value > 0 && value < (double)INFINITY;
}

static pl_status check_mesh(const pl_tet_source *source, pl_error *error)
{
    CHECK(source->n >= 1 && source->rest, "nodes", "there are %d; at least four are needed",
          source->n);
    CHECK(source->tet_count >= 1 && source->tets, "tets", "there are %d; at least one is needed",
          source->tet_count);
    CHECK(source->tet_count <= 100000000, "tets", "there are %d; at most 100000000 will do",
          source->tet_count);
    for (int i = 0; i < 3 * source->n; i++)
        CHECK(fabsf(source->rest[i]) <= 1e9f, PL_WHERE("nodes[%d]", i / 3),
              "is not a place; use finite numbers");
    for (int e = 0; e < source->tet_count; e++)
        for (int a = 0; a < 4; a++) {
            int32_t i = source->tets[4 * (ptrdiff_t)e + a];
            CHECK(i >= 0 && i < source->n, PL_WHERE("tets[%d][%d]", e, a),
                  "is node %d; there are nodes 0 to %d", i, source->n - 1);
        }
    return PL_OK;
}

static pl_status check_source(const pl_tet_source *source, pl_error *error)
{
    CHECK(is_positive(source->young), "young", "is %g; use a positive modulus (pascals)",
          source->young);
    CHECK(is_positive(source->density), "density", "is %g; use a positive density",
          source->density);
    CHECK(is_positive(source->h), "h", "is %g; use a positive step", source->h);
    PL_TRY(check_mesh(source, error));
    for (int e = 0; source->stiffness && e < source->tet_count; e++)
        CHECK(is_positive((double)source->stiffness[e]), PL_WHERE("stiffness[%d]", e),
              "is %g; use a positive factor", (double)source->stiffness[e]);
    for (int i = 0; source->node_density && i < source->n; i++)
        CHECK(is_positive((double)source->node_density[i]), PL_WHERE("node_density[%d]", i),
              "is %g; use a positive factor", (double)source->node_density[i]);
    for (int k = 0; k < source->fixed_count; k++)
        CHECK(source->fixed[k] >= 0 && source->fixed[k] < source->n, PL_WHERE("fixed[%d]", k),
              "is node %d; there are nodes 0 to %d", source->fixed[k], source->n - 1);
    return PL_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool make_room(const pl_tet_system *s, pl_tet_room *room)
{
    pl_memory *m = s->memory;
    size_t rows = 4 * (size_t)s->rows, padded = 4 * (size_t)s->padded;
    size_t row_blocks = (size_t)(s->padded + PL_TET_ROW_BLOCK - 1) / PL_TET_ROW_BLOCK;
    bool folded = s->def.rotations == PL_TET_FOLDED, fine = true;
    float **of_rows[] = {&room->d, &room->y, &room->start, &room->before};
    float **of_unknowns[] = {&room->r, &room->r_before, &room->z};
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++)
        *of_rows[k] = PL_TET_TAKE(m, float, rows, fine);
    for (size_t k = 0; k < sizeof of_unknowns / sizeof *of_unknowns; k++)
        *of_unknowns[k] = PL_TET_TAKE(m, float, padded, fine);
    for (int k = 0; k < (s->def.accelerated ? s->def.window + 1 : 1); k++) {
        room->s[k] = PL_TET_TAKE(m, float, padded, fine);
        room->dr[k] = PL_TET_TAKE(m, float, padded, fine);
    }
    room->partial = PL_TET_TAKE(m, float, folded ? 0 : 4 * (size_t)s->place_count, fine);
    room->sample_row = PL_TET_TAKE(m, float, (folded ? 16 : 4) * (size_t)s->sample_count, fine);
    room->block_energy = PL_TET_TAKE(m, double, s->block_count, fine);
    room->row_sums = PL_TET_TAKE(m, double, row_blocks *(PL_TET_MOST_WINDOW + 2), fine);
    return fine;
}

static void free_room(pl_memory *memory, pl_tet_room *room)
{
    void *blocks[] = {room->d,        room->y, room->start,   room->before,     room->r,
                      room->r_before, room->z, room->partial, room->sample_row, room->block_energy,
                      room->row_sums};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    for (int k = 0; k <= PL_TET_MOST_WINDOW; k++) {
        pl_memory_free(memory, room->s[k]);
        pl_memory_free(memory, room->dr[k]);
    }
}

/* As many bodies as one source asks for, or as many as there is a use for with few iterations. */
static void choose_together(pl_tet_system *s, int wanted)
{
    enum { FEW_ITERATIONS = 5 };
    int most = pl_tet_together(s, FEW_ITERATIONS);
    s->together = wanted > 0 && wanted < most ? wanted : most;
}

/* Rooms of large bodies are worth having for every worker only while these are few: else bodies are
   solved one after the other, each by all workers, in the first one's. */
static int workers_with_rooms(const pl_tet_system *s)
{
    enum { MOST_BYTES = 64 << 20 };
    double vectors = 2.0 * (s->def.accelerated ? s->def.window + 1 : 1) + 7;
    double bytes = 4 * sizeof(float) * (vectors * s->rows + s->place_count);
    return bytes * s->together * s->workers <= MOST_BYTES ? s->workers : 1;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool make_scratch(pl_tet_system *s)
{
    bool fine = true;
    int furnished = workers_with_rooms(s);
    size_t numbers = 3 * (size_t)s->unknowns * (size_t)s->together;
    s->scratch = PL_TET_TAKE(s->memory, pl_tet_scratch, s->workers, fine);
    for (int k = 0; fine && k < s->workers; k++) {
        pl_tet_scratch *scratch = s->scratch + k;
        if (k < furnished)
            scratch->rooms = PL_TET_TAKE(s->memory, pl_tet_room, s->together, fine);
        for (int i = 0; fine && k < furnished && i < s->together; i++)
            fine = make_room(s, scratch->rooms + i);
        /* Displacements of all nodes find room in it, too: for frames. */
        scratch->x = PL_TET_TAKE(s->memory, float, larger(numbers, 4 * (size_t)s->rows), fine);
        if (s->factor)
            scratch->work =
                PL_TET_TAKE(s->memory, float, pl_supernodal_work(s->factor, s->together), fine);
    }
    return fine;
}

/* Of what the state of a body depends on. */
static uint64_t hash_of(const pl_tet_system *s)
{
    pl_hash hash;
    pl_hash_init(&hash, 7);
    pl_hash_u32(&hash, (uint32_t)s->n);
    pl_hash_u32(&hash, (uint32_t)s->tet_count);
    pl_hash_u32_array(&hash, (const uint32_t *)s->tets, 4 * (size_t)s->tet_count);
    pl_hash_f64_array(&hash, s->gradient, 9 * (size_t)s->tet_count);
    pl_hash_u32(&hash, (uint32_t)s->def.rotations);
    pl_hash_u32(&hash, (uint32_t)s->sample_count);
    pl_hash_u32(&hash, s->def.yield < (double)INFINITY);
    return pl_hash_final(&hash);
}

static pl_status make(pl_tet_draft *d, pl_tasks *tasks)
{
    pl_tet_system *s = d->s;
    PL_TRY(pl_tet_make_elements(d));
    if (!pl_tet_make_rows(d) || !pl_tet_find_pieces(d) || !pl_tet_make_blocks(d))
        return pl_tet_no_memory(d->error);
    PL_TRY(pl_tet_make_matrix(d, tasks));
    if (!pl_tet_make_frames(d) || !pl_tet_make_samples(d))
        return pl_tet_no_memory(d->error);
    choose_together(s, d->source->side_by_side);
    if (!make_scratch(s))
        return pl_tet_no_memory(d->error);
    s->hash = hash_of(s);
    return PL_OK;
}

pl_status pl_tet_system_create(pl_memory *memory, const pl_tet_source *source,
                               const pl_tetrahedral_def *def, pl_tasks *tasks,
                               pl_tet_system **system, pl_error *error)
{
    *system = NULL;
    PL_TRY(pl_tetrahedral_check(def, error));
    PL_TRY(check_source(source, error));
    pl_tet_system *s = PL_NEW(memory, pl_tet_system, 1);
    if (!s)
        return pl_tet_no_memory(error);
    s->memory = memory;
    s->references = 1;
    s->def = *def;
    s->h = source->h;
    s->n = source->n;
    s->fixed_count = source->fixed_count;
    s->source_count = source->tet_count;
    s->workers = source->workers > 0 ? source->workers : 1;
    pl_tet_draft d = {.s = s, .source = source, .error = error};
    pl_status status = make(&d, tasks);
    void *blocks[] = {d.is_fixed,    d.is_used, d.order, d.tet_piece,
                      d.touch_start, d.touch,   d.sample};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    pl_tet_weights_free(memory, &d.weights);
    if (status == PL_OK)
        *system = s;
    else
        pl_tet_system_drop(s);
    return status;
}

void pl_tet_system_keep(pl_tet_system *system)
{
    system->references++;
}

void pl_tet_system_drop(pl_tet_system *s)
{
    if (!s || --s->references > 0)
        return;
    pl_memory *memory = s->memory;
    for (int k = 0; s->scratch && k < s->workers; k++) {
        for (int i = 0; s->scratch[k].rooms && i < s->together; i++)
            free_room(memory, s->scratch[k].rooms + i);
        pl_memory_free(memory, s->scratch[k].rooms);
        pl_memory_free(memory, s->scratch[k].x);
        pl_memory_free(memory, s->scratch[k].work);
    }
    pl_supernodal_destroy(memory, s->factor);
    void *blocks[] = {s->row_of,
                      s->node_of,
                      s->fixed,
                      s->rest,
                      s->mass,
                      s->node_mass,
                      s->node_volume,
                      s->piece,
                      s->piece_mass,
                      s->tets,
                      s->gradient,
                      s->volume,
                      s->mu,
                      s->bulk,
                      s->slot,
                      s->source_of,
                      s->example_at,
                      s->blocks,
                      s->corner,
                      s->lanes,
                      s->place_row,
                      s->sum_start,
                      s->sum_place,
                      s->sample_corner,
                      s->sample_gradient,
                      s->blend_count,
                      s->blend_sample,
                      s->blend_weight,
                      s->fold_start,
                      s->fold,
                      s->fold_order,
                      s->near_order,
                      s->near_start,
                      s->near,
                      s->lean_start,
                      s->lean,
                      s->scratch,
                      s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

pl_tet_counts pl_tet_system_counts(const pl_tet_system *system)
{
    return system->counts;
}

double pl_tet_system_mass(const pl_tet_system *system, int node)
{
    return system->node_mass[node];
}

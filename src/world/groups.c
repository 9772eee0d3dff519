/* Who is solved with whom: bodies that share a system and a solver, in the order of their creation,
   cut into blocks of as many as there are lanes. */
#include <stddef.h>
#include <string.h>

#include "world/world.h"

static uint64_t group_of(const pl_world *world, const pl_record *record)
{
    return record->system_ordinal * 4 +
           (uint64_t)pl_oriented_way(&record->matter, world->iterations);
}

static void add_block(pl_world *world, pl_oriented **bodies, int count, bool lone)
{
    world->blocks[world->block_count++] =
        (pl_block){.system = bodies[0]->system,
                   .solver = pl_oriented_way(bodies[0], world->iterations),
                   .bodies = bodies,
                   .count = count,
                   .lone = lone};
}

/* Full blocks first, and the rest alone or side by side, whichever is faster. */
static void cut_group(pl_world *world, pl_oriented **bodies, int count)
{
    const pl_system *system = bodies[0]->system;
    pl_solver solver = pl_oriented_way(bodies[0], world->iterations);
    int lanes = pl_oriented_lanes(system, solver, world->iterations);
    while (count > 0) {
        int part = count < lanes ? count : lanes;
        if (pl_oriented_prefers_lone(system, solver, world->iterations, part))
            for (int i = 0; i < part; i++)
                add_block(world, bodies + i, 1, true);
        else
            add_block(world, bodies, part, false);
        bodies += part;
        count -= part;
    }
}

/* About how long a block takes, in any unit: by its graph, however many of the lanes are filled. */
static uint64_t effort_of(const pl_block *block)
{
    const pl_model *model = block->system->key.model;
    uint64_t size = (uint64_t)model->particle_count + (uint64_t)model->edge_count;
    return size * (block->lone ? 1 : 4) * (block->solver == PL_SOLVER_STIFF ? 20 : 1);
}

/* Workers take blocks from both ends (base/tasks.c): the longest first, each to the end where there
   is less to do by then; of those as long as each other the first go to the front, so that what was
   made together stays together. Returns how many are at the front. */
static int spread_blocks(pl_world *world)
{
    int count = world->block_count, front = 0, back = count;
    pl_sort_item *items = world->sort_items;
    pl_block *blocks = world->blocks, *cut = blocks + world->group_capacity;
    uint64_t at_front = 0, at_back = 0;
    if (count <= 0)
        return 0;
    for (int i = 0; i < count; i++)
        items[i] = (pl_sort_item){UINT64_MAX - effort_of(blocks + i), (uint32_t)i};
    pl_sort(items, items + count, (size_t)count);
    memcpy(cut, blocks, sizeof *blocks * (size_t)count);
    for (int i = 0, next, split; i < count; i = next) {
        uint64_t effort = UINT64_MAX - items[i].key;
        for (next = split = i; next < count && items[next].key == items[i].key; next++) {
            bool to_front = at_front <= at_back;
            *(to_front ? &at_front : &at_back) += effort;
            split += to_front;
        }
        for (int k = i; k < split; k++)
            blocks[front++] = cut[items[k].index];
        for (int k = next - 1; k >= split; k--)
            blocks[--back] = cut[items[k].index];
    }
    return front;
}

static pl_record *record_of(pl_oriented *matter)
{
    return (pl_record *)((char *)matter - offsetof(pl_record, matter));
}

static int add_blocks(pl_world *world, int begin, int end, int at)
{
    for (int b = begin; b < end; b++)
        for (int k = 0; k < world->blocks[b].count; k++)
            world->live[at++] = record_of(world->blocks[b].bodies[k]);
    return at;
}

/* Bodies are taken from both ends as well: by those who have just solved them. */
static void spread_bodies(pl_world *world, int front)
{
    int at = add_blocks(world, 0, front, 0);
    for (pl_record *record = world->first; record; record = record->next) {
        const pl_oriented *matter = &record->matter;
        if (!record->asleep && (matter->clustered || matter->posed || matter->tetrahedral))
            world->live[at++] = record;
    }
    add_blocks(world, front, world->block_count, at);
}

void pl_world_regroup(pl_world *world)
{
    int count = 0, all = 0, awake = 0;
    world->other_count = world->posed_count = 0;
    pl_sort_item *items = world->sort_items;
    for (pl_record *record = world->first; record; record = record->next) {
        record->contact = all;
        world->entered[all++] = record;
        if (record->asleep)
            continue;
        world->live[awake] = record;
        if (record->matter.clustered)
            world->others[world->other_count++] = record;
        else if (record->matter.posed)
            world->posed_count++;
        else if (!record->matter.tetrahedral)
            items[count++] = (pl_sort_item){group_of(world, record), (uint32_t)awake};
        awake++;
    }
    world->awake_count = awake;
    if (count)
        pl_sort(items, items + count, (size_t)count);
    for (int i = 0; i < count; i++)
        world->members[i] = &world->live[items[i].index]->matter;
    world->block_count = 0;
    for (int first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && items[next].key == items[first].key)
            next++;
        cut_group(world, world->members + first, next - first);
    }
    pl_world_group_tets(world);
    spread_bodies(world, spread_blocks(world));
    world->regroup = false;
    pl_world_enter_contacts(world);
}

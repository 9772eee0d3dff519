/* Groups of sixteen clusters at one vector width, a part of clustered_lanes.c: their members or
   slots, the sums over them, and which rows they add to. */

enum { GROUP = 16 };

typedef struct group {
    int count;
    int run;
    int place; /* among all groups */
    pl_cluster *cluster[GROUP];
    members members[GROUP];
    float sums[GROUP][4 * SUM_ALL] ALIGNED;
    /* For the members: T = R Fᵖ and t of the goal T p + t, and what else the pass wants. */
    float goal[12][GROUP] ALIGNED;
    float spin[6][GROUP] ALIGNED;
    float from[3][GROUP] ALIGNED; /* what positions are counted from */
    float *table;                 /* of PL_GROUP_FIELDS columns */
    const float *fixed;           /* lane_fixed; NULL = the rows of rest are with the clusters */
} group;

static void name_group(const pl_clustered_step *step, int run, int first, group *g)
{
    pl_clustered *c = step->clustered;
    const pl_clustered_rows *r = &c->rows;
    int end = r->run_start[run + 1];
    g->count = end - first < GROUP ? end - first : GROUP;
    g->run = run;
    g->place = first / GROUP;
    g->table = r->group + (size_t)g->place * PL_GROUP_FIELDS * GROUP;
    g->fixed = r->narrow && !(c->def.yield < (double)INFINITY)
                   ? r->lane_fixed + (size_t)g->place * PL_FIXED * GROUP
                   : NULL;
    for (int i = 0; i < g->count; i++)
        g->cluster[i] = c->clusters + r->sequence[first + i];
}

/* Clusters lie far apart in memory: those of the next group are asked for while this one is at
   work. */
static void expect_group(const pl_clustered_step *step, int run, int first)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    int end = r->run_start[run + 1];
    for (int i = first; i < first + GROUP && i < end; i++) {
        const pl_cluster *cluster = step->clustered->clusters + r->sequence[i];
        __builtin_prefetch(cluster->centre);
        __builtin_prefetch(cluster->turn);
        __builtin_prefetch(cluster->rotation + 8);
    }
}

/* Members of the clusters at these places, which get room for columns one after the other. */
static void open_members(const pl_clustered_rows *r, const float *places, group *g)
{
    float *columns = columns_of(r, g->run);
    int used = 0;
    for (int i = 0; i < g->count; i++) {
        const pl_cluster *cluster = g->cluster[i];
        bool fits = cluster->room <= r->column_room - used;
        g->members[i] = (members){.x = places,
                                  .old = r->old,
                                  .u = r->u,
                                  .row = r->row + cluster->first,
                                  .rest = r->rest + 4 * (size_t)cluster->first,
                                  .room = cluster->room,
                                  .offset = fits ? columns + 3 * used : NULL};
        used += fits ? cluster->room : 0;
    }
}

/* The group that starts at `first` in the sequence; its members where the kernels go through them
   cluster by cluster. */
static void open_group(const pl_clustered_step *step, const float *places, int run, int first,
                       group *g)
{
    name_group(step, run, first, g);
    if (!step->clustered->rows.narrow)
        open_members(&step->clustered->rows, places, g);
}

/* Sums of PL_W clusters from lane `first` on. */
PL_LANES_INLINE void take_sums(const group *g, int first, int count, vf *out)
{
    static const float nothing[4 * SUM_ALL] ALIGNED;
    const float *rows[PL_W];
    vf column[4 * SUM_ALL];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = first + lane < g->count ? g->sums[first + lane] : nothing;
    pl_lanes_gather(rows, 4 * count, (float *)column);
    for (int k = 0; k < count; k++)
        out[k] = (column[4 * k] + column[4 * k + 1]) + (column[4 * k + 2] + column[4 * k + 3]);
}

/* First pass over the members, where it goes cluster by cluster. */
static void sum_clusters(group *g)
{
    for (int i = 0; i < g->count; i++) {
        memcpy(g->members[i].centre, g->cluster[i]->centre, sizeof g->members[i].centre);
        sum_all(&g->members[i], g->sums[i]);
    }
}

/* Sums of a group's clusters: over slots, or as the first pass over the members left them. */
PL_LANES_INLINE void bring_sums(const pl_clustered_step *step, const group *g, int first,
                                const vf from[3], vf *sums)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    slots s;
    if (r->narrow) {
        s = slots_of(r, g->run, g->place, first);
        sum_slots(r, &s, from, SUM_ALL, sums);
    } else {
        take_sums(g, first, SUM_ALL, sums);
    }
}

/* Notes which blocks of rows cluster i of a group has added to. */
static void mark(const pl_clustered_rows *r, const group *g, int i)
{
    uint8_t *added = r->added + (size_t)g->run * (size_t)(r->row_capacity / PL_ROW_BLOCK);
    const int32_t *start = r->touch_start + (ptrdiff_t)g->place * GROUP + i;
    for (int k = start[0]; k < start[1]; k++)
        added[r->touch[k]] = 1;
}

/* The same for all of its clusters. */
static void mark_all(const pl_clustered_rows *r, const group *g)
{
    uint8_t *added = r->added + (size_t)g->run * (size_t)(r->row_capacity / PL_ROW_BLOCK);
    for (int k = r->reach_start[g->place]; k < r->reach_start[g->place + 1]; k++)
        added[r->reach[k]] = 1;
}

PL_LANES_INLINE float *sum_of(const pl_clustered_rows *r, int run)
{
    return r->sum + (size_t)run * 4 * (size_t)r->row_capacity;
}

/* Asks for the rows that the next group will be the first of its run to look at: of two kinds, and
   of what the run has for them. */
static void expect_rows(const pl_clustered_rows *r, const group *g, const float *places,
                        const float *others)
{
    const float *sum = sum_of(r, g->run);
    if ((g->place + 1) * GROUP >= r->run_start[g->run + 1])
        return;
    for (int k = r->first_start[g->place + 1]; k < r->first_start[g->place + 2]; k++) {
        size_t block = (size_t)r->first[k] * 4 * PL_ROW_BLOCK;
        for (size_t at = block; at < block + 4 * PL_ROW_BLOCK; at += GROUP) {
            __builtin_prefetch(places + at, 0, 2);
            __builtin_prefetch(others + at, 0, 2);
            __builtin_prefetch(sum + at, 0, 2);
        }
    }
}

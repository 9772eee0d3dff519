/* Strain limiting at one vector width (Bargteil & Jones 2014, METHODS §2), a part of
   clustered_lanes.c: in a round the clusters are fitted again, and members that are farther than ℓ
   times the width from their goal come back to that distance. From what all members of a cluster
   did its rigid part is taken.

   Two passes over the members of a group in a round: sums for the fit; corrections, added to the
   rows, and their force and moment. The rigid part is linear in the corrections, and the arms it is
   taken with, those of the old places, are the same in all rounds: so it is taken once, after the
   last of them, from force and moment of them all, and the momenta of the body are what they were
   as exactly as if every round had done so. Until then clusters may drift, which is no strain to
   themselves. */

/* ---- What both layouts do -------------------------------------------------------------------- */

/* PL_W clusters as the last fit left them, fitted to the sums of this round. */
static void limit_lanes(group *g, int first, const vf *sums)
{
    fit f;
    vf map[9];
    float *t = g->table + first;
    f.share = pl_load_f(t + PL_GROUP_SHARE * GROUP);
    f.mass = pl_load_f(t + PL_GROUP_MASS * GROUP);
    for (int k = 0; k < 3; k++)
        f.lean[k] = pl_load_f(t + (PL_GROUP_LEAN + k) * GROUP);
    for (int k = 0; k < 9; k++) {
        f.plastic[k] = pl_load_f(t + (PL_GROUP_PLASTIC + k) * GROUP);
        map[k] = pl_load_f(t + (PL_GROUP_MAP + k) * GROUP);
    }
    for (int k = 0; k < 4; k++)
        f.turn[k] = pl_load_f(t + (PL_GROUP_TURN + k) * GROUP);
    take_moments(sums, &f);
    turn(map, &f);
    store_goal(&f, g, first);
    for (int k = 0; k < 4; k++)
        pl_store_f(t + (PL_GROUP_TURN + k) * GROUP, f.turn[k]);
}

/* y − goal, and its square. */
PL_LANES_INLINE vf stray(const vmember *v, const vf goal[12], vf d[3])
{
    for (int k = 0; k < 3; k++) {
        vf to = goal[3 * k] * v->p[0] + goal[3 * k + 1] * v->p[1] + goal[3 * k + 2] * v->p[2];
        d[k] = v->y[k] - (to + goal[9 + k]);
    }
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/* Whoever is so far that squares leave a float is left alone: where arms are out of all proportion,
   rounds may drive each other on, and must come to an end. */
PL_LANES_INLINE vi are_beyond(vf mass, vf square, vf limit)
{
    return (square > limit * limit) & (square < pl_splat_f(3e38f)) & (mass > pl_splat_f(0));
}

/* Corrections of so many times sixteen members are found before they are added: together the two
   would want more registers than there are. */
enum { CHUNK = 16 };
typedef float corrections[CHUNK][3][PL_COLUMNS];

/* The corrections of members, w m times: they come back part of the way from the goal, which is as
   far as d; `back` is that part, as a negative number. Returns who is beyond the limit. */
PL_LANES_INLINE vi correct(const vf d[3], vf square, vf mass, vf limit, float *out)
{
    vi beyond = are_beyond(mass, square, limit);
    vf back = limit / pl_sqrt_f(square) - 1.0f;
    back = pl_select_f(beyond, back, pl_splat_f(0)) * mass;
    for (int k = 0; k < 3; k++)
        pl_store_f(out + k * PL_COLUMNS, d[k] * back);
    return beyond;
}

/* The old places from the old centre. */
PL_LANES_INLINE void load_arms(const float *old, const int32_t *row, const vf centre[3], vf arm[4])
{
    load_rows(old, row, arm);
    for (int k = 0; k < 3; k++)
        arm[k] -= centre[k];
}

/* Adds force and moment of corrections. */
PL_LANES_INLINE void add_push(vf sum[6], const vf e[3], const vf arm[3])
{
    vf moment[3];
    cross(arm, e, moment);
    for (int k = 0; k < 3; k++) {
        sum[k] += e[k];
        sum[3 + k] += moment[k];
    }
}

/* What is taken away: w m times a rigid motion, so far and such a turn. */
PL_LANES_INLINE void turn_back(const vf rigid[6], const vf arm[3], vf mass, vf e[3])
{
    vf around[3];
    cross(arm, rigid + 3, around);
    for (int k = 0; k < 3; k++)
        e[k] = (around[k] - rigid[k]) * mass;
}

/* The rigid motions of a group's clusters with the force and moment of all their corrections. */
static void find_rigid(group *g)
{
    for (int first = 0; first < g->count; first += PL_W) {
        const float *t = g->table + first;
        vf inertia[6], push[6], m[9], turned[3];
        for (int k = 0; k < 6; k++) {
            inertia[k] = pl_load_f(t + (PL_GROUP_INERTIA + k) * GROUP);
            push[k] = pl_load_f(t + (PL_GROUP_PUSH + k) * GROUP);
        }
        full(inertia, m);
        mul33_3(m, push + 3, turned);
        for (int k = 0; k < 3; k++) {
            pl_store_f(g->spin[k] + first, push[k] * pl_load_f(t + PL_GROUP_SHARE * GROUP));
            pl_store_f(g->spin[3 + k] + first, turned[k]);
        }
    }
}

/* Whether a cluster has corrected anything in this sub-step. */
static bool has_pushed(const group *g, int i)
{
    float all = 0;
    for (int k = 0; k < 6; k++)
        all += fabsf(g->table[(PL_GROUP_PUSH + k) * GROUP + i]);
    return all > 0;
}

/* ---- Cluster by cluster ---------------------------------------------------------------------- */

PL_LANES_INLINE void load_goal(const group *g, int i, vf goal[12])
{
    for (int k = 0; k < 12; k++)
        goal[k] = pl_splat_f(g->goal[k][i]);
}

PL_LANES_INLINE void load_centre(const group *g, int i, vf centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = pl_splat_f(g->table[(PL_GROUP_OLD + k) * GROUP + i]);
}

/* Finds the corrections of members from `begin` to `end`; whether there are any. */
PL_LANES_INLINE bool correct_some(const members *m, bool kept, int begin, int end, const group *g,
                                  int i, float (*e)[3][PL_COLUMNS])
{
    vf goal[12], limit = pl_splat_f(g->table[PL_GROUP_LIMIT * GROUP + i]);
    vi any = pl_splat_bits_f(0);
    load_goal(g, i, goal);
    for (int at = begin; at < end; at += PL_W) {
        vmember v;
        vf d[3];
        reload_offsets(m, kept, at, v.y);
        load_rest(m->rest, at, &v);
        vf square = stray(&v, goal, d);
        any |= correct(d, square, v.mass, limit, e[(at - begin) / PL_COLUMNS][0] + at % PL_COLUMNS);
    }
    return pl_any_f(any);
}

/* Adds them to the rows, and their force and moment to the columns. */
PL_LANES_INLINE void push_some(const members *m, int begin, int end, const group *g, int i,
                               float (*e)[3][PL_COLUMNS], float *rows, float column[6][PL_COLUMNS])
{
    vf centre[3];
    load_centre(g, i, centre);
    for (int part = 0; part < PL_COLUMNS; part += PL_W) {
        vf sum[6], arm[4], way[3];
        for (int k = 0; k < 6; k++)
            sum[k] = pl_load_f(column[k] + part);
        for (int at = begin + part; at < end; at += PL_COLUMNS) {
            for (int k = 0; k < 3; k++)
                way[k] = pl_load_f(e[(at - begin) / PL_COLUMNS][k] + part);
            load_arms(m->old, m->row + at, centre, arm);
            add_push(sum, way, arm);
            add_different_rows(rows, m->row + at, 3, way);
        }
        for (int k = 0; k < 6; k++)
            pl_store_f(column[k] + part, sum[k]);
    }
}

/* Corrections of a cluster's members; whether there were any. */
PL_LANES_INLINE bool correct_kept(const members *m, bool kept, const group *g, int i, float *rows,
                                  float column[6][PL_COLUMNS])
{
    corrections e ALIGNED;
    bool any = false;
    for (int begin = 0; begin < m->room; begin += CHUNK * PL_COLUMNS) {
        int end = m->room - begin < CHUNK * PL_COLUMNS ? m->room : begin + CHUNK * PL_COLUMNS;
        if (!correct_some(m, kept, begin, end, g, i, e))
            continue;
        push_some(m, begin, end, g, i, e, rows, column);
        any = true;
    }
    return any;
}

static bool correct_members(const members *m, const group *g, int i, float *rows)
{
    float column[6][PL_COLUMNS] ALIGNED = {{0}}, four[4];
    members own = *m;
    bool any = own.offset ? correct_kept(&own, true, g, i, rows, column)
                          : correct_kept(&own, false, g, i, rows, column);
    for (int k = 0; any && k < 6; k++) {
        fold(column[k], four);
        g->table[(PL_GROUP_PUSH + k) * GROUP + i] += (four[0] + four[1]) + (four[2] + four[3]);
    }
    return any;
}

/* Takes the rigid part of all its corrections from the members of a cluster. */
static void balance_members(const members *m, const group *g, int i, float *rows)
{
    vf centre[3], rigid[6];
    load_centre(g, i, centre);
    for (int k = 0; k < 6; k++)
        rigid[k] = pl_splat_f(g->spin[k][i]);
    for (int at = 0; at < m->room; at += PL_W) {
        vf e[3], arm[4];
        load_arms(m->old, m->row + at, centre, arm);
        turn_back(rigid, arm, pl_load_f(m->rest + column_of(at, 4, 3)), e);
        add_different_rows(rows, m->row + at, 3, e);
    }
}

/* Nothing about a cluster has changed since the last round when none of its rows moved: then it has
   nothing to say, as it had not then. */
static bool has_moved(const pl_clustered_rows *r, const group *g, int i)
{
    const int32_t *start = r->touch_start + (ptrdiff_t)g->place * GROUP + i;
    for (int k = start[0]; k < start[1]; k++)
        if (r->moved[r->touch[k]])
            return true;
    return false;
}

static void limit_clusters(pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    bool active[GROUP], any = false;
    for (int i = 0; i < g->count; i++) {
        active[i] = has_moved(r, g, i);
        any = any || active[i];
        if (!active[i]) {
            memset(g->sums[i], 0, sizeof g->sums[i]);
            continue;
        }
        for (int k = 0; k < 3; k++)
            g->members[i].centre[k] = g->table[(PL_GROUP_OLD + k) * GROUP + i];
        sum_short(&g->members[i], g->sums[i]);
    }
    if (!any)
        return;
    for (int lane = 0; lane < g->count; lane += PL_W) {
        vf sums[SUM_SHORT];
        take_sums(g, lane, SUM_SHORT, sums);
        limit_lanes(g, lane, sums);
    }
    for (int i = 0; i < g->count; i++)
        if (active[i] && correct_members(&g->members[i], g, i, sum_of(r, run))) {
            mark(r, g, i);
            step->hits[run]++;
        }
}

/* ---- Narrow bodies: a cluster per lane ------------------------------------------------------- */

PL_LANES_INLINE void load_centres(const group *g, int first, vf centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = pl_load_f(g->table + (PL_GROUP_OLD + k) * GROUP + first);
}

static void fit_slots(const pl_clustered_rows *r, group *g, int first)
{
    slots s = slots_of(r, g->run, g->place, first);
    vf from[3], sums[SUM_SHORT];
    load_centres(g, first, from);
    sum_slots(r, &s, from, SUM_SHORT, sums);
    limit_lanes(g, first, sums);
}

/* The corrections of PL_W clusters in some slots; not zero for clusters that have any. Notes in
   which slots there are some. How far the members of the next slot are is found before the root for
   this one is there: what waits for that has the registers that the next would need. */
PL_LANES_INLINE vi correct_slots(const slots *s, int begin, int end, const group *g, int first,
                                 float (*e)[3][PL_COLUMNS], bool some[CHUNK])
{
    vf goal[12], limit = pl_load_f(g->table + PL_GROUP_LIMIT * GROUP + first), d[3];
    vi any = pl_splat_bits_f(0);
    vmember v;
    for (int k = 0; k < 12; k++)
        goal[k] = pl_load_f(g->goal[k] + first);
    reload_slot(s, begin, &v);
    vf square = stray(&v, goal, d);
    for (int slot = begin; slot < end; slot++) {
        vf way[3] = {d[0], d[1], d[2]}, far = square, mass = v.mass;
        if (slot + 1 < end) {
            reload_slot(s, slot + 1, &v);
            square = stray(&v, goal, d);
        }
        if (first == 0)
            expect_next(s, slot);
        vi beyond = correct(way, far, mass, limit, e[slot - begin][0] + first);
        some[slot - begin] |= pl_any_f(beyond);
        any |= beyond;
    }
    return any;
}

/* Adds them to the rows, slot by slot, so that every width adds in one order, and their force and
   moment to the table. */
static void push_slots(const pl_clustered_rows *r, int begin, int end, const group *g,
                       float (*e)[3][PL_COLUMNS], const bool some[CHUNK], float *rows)
{
    slots all = slots_of(r, g->run, g->place, 0);
    enum { PARTS = GROUP / PL_W };
    vf sum[PARTS][6], centre[PARTS][3];
    for (int k = 0; k < PARTS; k++) {
        load_centres(g, k * PL_W, centre[k]);
        for (int j = 0; j < 6; j++)
            sum[k][j] = pl_load_f(g->table + (PL_GROUP_PUSH + j) * GROUP + k * PL_W);
    }
    for (int slot = begin; slot < end; slot++)
        for (int part = 0; some[slot - begin] && part < PARTS && part * PL_W < g->count; part++) {
            const int32_t *row = slot_row(&all, slot) + part * PL_W;
            vf way[3], arm[4];
            for (int k = 0; k < 3; k++)
                way[k] = pl_load_f(e[slot - begin][k] + part * PL_W);
            load_arms(r->old, row, centre[part], arm);
            add_push(sum[part], way, arm);
            add_rows(rows, row, 3, way);
        }
    for (int k = 0; k < PARTS; k++)
        for (int j = 0; j < 6; j++)
            pl_store_f(g->table + (PL_GROUP_PUSH + j) * GROUP + k * PL_W, sum[k][j]);
}

/* Corrections of a group; hit is not zero for clusters that had any. */
static void correct_group(const pl_clustered_rows *r, const group *g, float *rows,
                          vi hit[GROUP / PL_W])
{
    corrections e ALIGNED;
    int count = slots_of(r, g->run, g->place, 0).count;
    for (int k = 0; k < GROUP / PL_W; k++)
        hit[k] = pl_splat_bits_f(0);
    for (int begin = 0; begin < count; begin += CHUNK) {
        int end = count - begin < CHUNK ? count : begin + CHUNK;
        vi any = pl_splat_bits_f(0);
        bool some[CHUNK] = {false};
        for (int first = 0; first < g->count; first += PL_W) {
            slots s = slots_of(r, g->run, g->place, first);
            vi beyond = correct_slots(&s, begin, end, g, first, e, some);
            hit[first / PL_W] |= beyond;
            any |= beyond;
        }
        if (pl_any_f(any))
            push_slots(r, begin, end, g, e, some, rows);
    }
}

static void balance_slots(const pl_clustered_rows *r, const group *g, float *rows)
{
    enum { PARTS = GROUP / PL_W };
    slots all = slots_of(r, g->run, g->place, 0);
    vf centre[PARTS][3], rigid[PARTS][6];
    int parts = (g->count + PL_W - 1) / PL_W;
    for (int part = 0; part < PARTS; part++) {
        load_centres(g, part * PL_W, centre[part]);
        for (int k = 0; k < 6; k++)
            rigid[part][k] = pl_load_f(g->spin[k] + part * PL_W);
    }
    for (int slot = 0; slot < all.count; slot++)
        for (int part = 0; part < PARTS && part < parts; part++) {
            const int32_t *row = slot_row(&all, slot) + part * PL_W;
            const float *mass = slot_rest(&all, slot) + 3 * PL_COLUMNS + part * PL_W;
            vf arm[4], e[3];
            if (part == 0) {
                __builtin_prefetch(row + AHEAD * PL_COLUMNS);
                __builtin_prefetch(mass + (ptrdiff_t)4 * AHEAD * PL_COLUMNS);
            }
            load_arms(r->old, row, centre[part], arm);
            turn_back(rigid[part], arm, pl_load_f(mass), e);
            add_rows(rows, row, 3, e);
        }
}

static void limit_narrow(pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    vi hit[GROUP / PL_W];
    bool any = false;
    for (int i = 0; i < g->count && !any; i++)
        any = has_moved(r, g, i);
    if (!any)
        return;
    for (int first = 0; first < g->count; first += PL_W)
        fit_slots(r, g, first);
    expect_rows(r, g, r->x, r->old);
    correct_group(r, g, sum_of(r, run), hit);
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += hit[i / PL_W][i % PL_W] != 0;
    step->hits[run] += count;
    if (count == g->count)
        mark_all(r, g);
    for (int i = 0; count < g->count && i < g->count; i++)
        if (hit[i / PL_W][i % PL_W])
            mark(r, g, i);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void balance_group(const pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    bool any = false;
    find_rigid(g);
    for (int i = 0; i < g->count; i++) {
        if (!has_pushed(g, i))
            continue;
        any = true;
        if (!r->narrow) {
            balance_members(&g->members[i], g, i, sum_of(r, run));
            mark(r, g, i);
        }
    }
    if (any && r->narrow) {
        expect_rows(r, g, r->x, r->old);
        balance_slots(r, g, sum_of(r, run));
        mark_all(r, g);
    }
}

void PL_LANES(pl_clustered_limit)(pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    step->hits[run] = 0;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        open_group(step, r->x, run, first, &g);
        if (r->narrow)
            limit_narrow(step, run, &g);
        else
            limit_clusters(step, run, &g);
        if (step->balances)
            balance_group(step, run, &g);
        move_own(step, &g, settle_block);
    }
    PL_LANES_LEAVE();
}

void PL_LANES(pl_clustered_balance)(const pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        open_group(step, r->x, run, first, &g);
        balance_group(step, run, &g);
        move_own(step, &g, settle_block);
    }
    PL_LANES_LEAVE();
}

/* Strain limiting at one vector width (Bargteil & Jones 2014, METHODS §2), a part of clustered_lanes.c: in a round the clusters
   are fitted again, members that are farther than ℓ times the width from their goal are to come back to that distance, and
   from what all members of a cluster are to do its rigid part is taken.

   Passes over the members of a group: sums for the fit; a look whether anybody is beyond, which is the end of it if not;
   corrections, and the sums for their rigid part; what remains of them, added to the rows.

   The arms for the rigid part are the same in all rounds of a sub-step: the first round that wants them keeps them. Not so in
   large bodies, where they would be nearly half of what a round reads, and memory is what it waits for: there each round finds them
   again, from old places that several clusters have in common. */

/* ---- What both layouts do ------------------------------------------------------------------------ */

/* 1 / √a to about two units in the last place: a guess at half the exponent, a step of Newton's, and with what is left, the
   r = 1 − a y² of y = √((1 − r) / a), the series of 1 / √(1 − r). A root and a division take twice as long. Of subnormal or
   infinite numbers, and of those that are none, it is something. */
PL_LANES_INLINE vf inverse_root(vf a)
{
    vf y = (vf)(0x5f375a86 - ((vi)a >> 1));
    y *= 1.5f - (a * 0.5f) * y * y;
    vf r = 1.0f - (a * y) * y;
    return y + (y * r) * (0.5f + r * 0.375f);
}

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

/* Whoever is so far that squares leave a float is left alone: where arms are out of all proportion, rounds may drive each
   other on, and must come to an end. */
PL_LANES_INLINE vi are_beyond(const vmember *v, vf square, vf limit)
{
    return (square > limit * limit) & (square < pl_splat_f(3e38f)) & (v->weight > pl_splat_f(0));
}

/* So many vectors of members at once: the roots of one need not wait for those of the other. */
enum { CHUNK = 4 };

/* Corrections in place of offsets from the centre, of `count` vectors of members that lie PL_COLUMNS apart: the vote is which
   part of the way from the goal members come back, as a negative number. */
PL_LANES_INLINE void correct(const float *rest, int at, int count, const vf goal[12], vf limit,
                             vf (*e)[3])
{
    vf back[CHUNK];
    vi beyond[CHUNK];
    for (int j = 0; j < count; j++) {
        vmember v = {.y = {e[j][0], e[j][1], e[j][2]}};
        load_rest(rest, at + j * PL_COLUMNS, &v);
        back[j] = stray(&v, goal, e[j]);
        beyond[j] = are_beyond(&v, back[j], limit);
    }
    for (int j = 0; j < count; j++)
        back[j] = pl_select_f(beyond[j], limit * inverse_root(back[j]) - 1.0f, pl_splat_f(0));
    for (int j = 0; j < count; j++)
        for (int k = 0; k < 3; k++)
            e[j][k] *= back[j];
}

/* Adds force and moment of corrections e. */
PL_LANES_INLINE void add_push(vf sum[6], const vf e[3], const vf arm[4])
{
    vf pushed[3], moment[3];
    for (int k = 0; k < 3; k++) {
        pushed[k] = e[k] * arm[3];
        sum[k] += pushed[k];
    }
    cross(arm, pushed, moment);
    for (int k = 0; k < 3; k++)
        sum[3 + k] += moment[k];
}

/* The rigid motion with that force and moment: how far, and the turn. */
PL_LANES_INLINE void rigid_motion(const vf sum[6], vf share, const vf inertia[6], vf rigid[6])
{
    vf m[9];
    full(inertia, m);
    for (int k = 0; k < 3; k++)
        rigid[k] = sum[k] * share;
    mul33_3(m, sum + 3, rigid + 3);
}

/* e − (moved + turned × arm) */
PL_LANES_INLINE void take_away(const vf rigid[6], const vf arm[3], vf e[3])
{
    vf around[3];
    cross(rigid + 3, arm, around);
    for (int k = 0; k < 3; k++)
        e[k] -= rigid[k] + around[k];
}

/* ---- Cluster by cluster ------------------------------------------------------------------------ */

PL_LANES_INLINE void load_goal(const group *g, int i, vf goal[12])
{
    for (int k = 0; k < 12; k++)
        goal[k] = pl_splat_f(g->goal[k][i]);
}

/* Whether any member is beyond the limit. */
PL_LANES_INLINE bool is_any_beyond(const members *m, bool kept, const group *g, int i)
{
    vf goal[12], d[3], limit = pl_splat_f(g->table[PL_GROUP_LIMIT * GROUP + i]);
    load_goal(g, i, goal);
    for (int at = 0; at < m->room; at += PL_W) {
        vmember v;
        reload_offsets(m, kept, at, v.y);
        load_rest(m->rest, at, &v);
        if (pl_any_f(are_beyond(&v, stray(&v, goal, d), limit)))
            return true;
    }
    return false;
}

static bool is_beyond(const members *m, const group *g, int i)
{
    members own = *m;
    return own.offset ? is_any_beyond(&own, true, g, i) : is_any_beyond(&own, false, g, i);
}

/* Arms, the old places from the old centre, and w m of members: kept in this sub-step, or else to be kept. */
PL_LANES_INLINE void bring_arms(const members *m, bool known, int at, const vf centre[3], vf arm[4])
{
    float *own = m->arm + column_of(at, 4, 0);
    if (!known) {
        load_rows(m->old, m->row + at, arm);
        for (int k = 0; k < 3; k++)
            arm[k] -= centre[k];
        arm[3] *= pl_load_f(m->rest + column_of(at, 4, 3));
    }
    for (int k = 0; k < 4; k++)
        if (known)
            arm[k] = pl_load_f(own + k * PL_COLUMNS);
        else
            pl_store_f(own + k * PL_COLUMNS, arm[k]);
}

/* The corrections of `count` vectors of members, left in place of the offsets, and their force and moment. */
PL_LANES_INLINE void correct_some(const members *m, bool kept, bool known, int at, int count,
                                  const vf goal[12], vf limit, const vf centre[3], vf sum[6])
{
    vf e[CHUNK][3], arm[4];
    for (int j = 0; j < count; j++)
        reload_offsets(m, kept, at + j * PL_COLUMNS, e[j]);
    correct(m->rest, at, count, goal, limit, e);
    for (int j = 0; j < count; j++) {
        int place = at + j * PL_COLUMNS;
        bring_arms(m, known, place, centre, arm);
        add_push(sum, e[j], arm);
        for (int k = 0; kept && k < 3; k++)
            pl_store_f(m->offset + column_of(place, 3, k), e[j][k]);
    }
}

PL_LANES_INLINE void correct_members(const members *m, bool kept, bool known, const group *g, int i,
                                     float total[6])
{
    float column[6][PL_COLUMNS] ALIGNED, four[4];
    vf goal[12], centre[3], limit = pl_splat_f(g->table[PL_GROUP_LIMIT * GROUP + i]);
    load_goal(g, i, goal);
    for (int k = 0; k < 3; k++)
        centre[k] = pl_splat_f(g->table[(PL_GROUP_OLD + k) * GROUP + i]);
    for (int part = 0; part < PL_COLUMNS; part += PL_W) {
        vf sum[6];
        int at = part;
        for (int k = 0; k < 6; k++)
            sum[k] = pl_splat_f(0);
        for (; at + (CHUNK - 1) * PL_COLUMNS < m->room; at += CHUNK * PL_COLUMNS)
            correct_some(m, kept, known, at, CHUNK, goal, limit, centre, sum);
        for (; at < m->room; at += PL_COLUMNS)
            correct_some(m, kept, known, at, 1, goal, limit, centre, sum);
        for (int k = 0; k < 6; k++)
            pl_store_f(column[k] + part, sum[k]);
    }
    for (int k = 0; k < 6; k++) {
        fold(column[k], four);
        total[k] = (four[0] + four[1]) + (four[2] + four[3]);
    }
}

static void rigid_part(const members *m, bool known, const group *g, int i, float rigid[6])
{
    const float *t = g->table + i, *s = t + PL_GROUP_INERTIA * GROUP;
    float total[6];
    members own = *m;
    if (!own.offset)
        correct_members(&own, false, false, g, i, total);
    else if (known)
        correct_members(&own, true, true, g, i, total);
    else
        correct_members(&own, true, false, g, i, total);
    for (int k = 0; k < 3; k++)
        rigid[k] = total[k] * t[PL_GROUP_SHARE * GROUP];
    rigid[3] = s[0] * total[3] + s[GROUP] * total[4] + s[2 * GROUP] * total[5];
    rigid[4] = s[GROUP] * total[3] + s[3 * GROUP] * total[4] + s[4 * GROUP] * total[5];
    rigid[5] = s[2 * GROUP] * total[3] + s[4 * GROUP] * total[4] + s[5 * GROUP] * total[5];
}

/* Adds w (e − rigid part) to the rows of the members. */
PL_LANES_INLINE void push_kept(const members *m, bool kept, const group *g, int i,
                               const float rigid[6], float *sum)
{
    vf motion[6], goal[12], limit = pl_splat_f(g->table[PL_GROUP_LIMIT * GROUP + i]);
    for (int k = 0; k < 6; k++)
        motion[k] = pl_splat_f(rigid[k]);
    if (!kept)
        load_goal(g, i, goal);
    for (int at = 0; at < m->room; at += PL_W) {
        vf e[1][3], arm[3], weight = pl_load_f(m->rest + column_of(at, 4, 3));
        reload_offsets(m, kept, at, e[0]);
        if (!kept)
            correct(m->rest, at, 1, goal, limit, e);
        for (int k = 0; k < 3; k++)
            arm[k] = pl_load_f(m->arm + column_of(at, 4, k));
        take_away(motion, arm, e[0]);
        add_different_rows(sum, m->row + at, e[0][0] * weight, e[0][1] * weight, e[0][2] * weight,
                           pl_splat_f(0));
    }
}

static void push_members(const members *m, const group *g, int i, const float rigid[6], float *sum)
{
    members own = *m;
    if (own.offset)
        push_kept(&own, true, g, i, rigid, sum);
    else
        push_kept(&own, false, g, i, rigid, sum);
}

/* Nothing about a cluster has changed since the last round when none of its rows moved: then it has nothing to say, as it
   had not then. */
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
    for (int i = 0; i < g->count; i++) {
        float rigid[6];
        if (!active[i] || !is_beyond(&g->members[i], g, i))
            continue;
        rigid_part(&g->members[i], g->armed[i], g, i, rigid);
        g->armed[i] = true;
        if (!step->balanced)
            memset(rigid, 0, sizeof rigid);
        push_members(&g->members[i], g, i, rigid, sum_of(r, run));
        mark(r, g, i);
        step->hits[run]++;
    }
}

/* ---- Narrow bodies: a cluster per lane ---------------------------------------------------------- */

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
    if (!r->keeps_arms && g->armed[0])
        sum_slots(r, &s, from, SUM_SHORT, true, sums);
    else
        sum_slots(r, &s, from, SUM_SHORT, false, sums);
    limit_lanes(g, first, sums);
}

PL_LANES_INLINE void load_goals(const group *g, int first, vf goal[12])
{
    for (int k = 0; k < 12; k++)
        goal[k] = pl_load_f(g->goal[k] + first);
}

/* Whether one of PL_W clusters has a member beyond the limit. */
static bool are_slots_beyond(const pl_clustered_rows *r, const group *g, int first)
{
    slots s = slots_of(r, g->run, g->place, first);
    vf goal[12], d[3], limit = pl_load_f(g->table + PL_GROUP_LIMIT * GROUP + first);
    load_goals(g, first, goal);
    for (int slot = 0; slot < s.count; slot++) {
        vmember v;
        reload_slot(&s, slot, &v);
        if (pl_any_f(are_beyond(&v, stray(&v, goal, d), limit)))
            return true;
    }
    return false;
}

PL_LANES_INLINE vi correct_some_slots(const pl_clustered_rows *r, const slots *s, bool known,
                                      int slot, int count, const vf goal[12], vf limit,
                                      const vf centre[3], vf sum[6])
{
    vf e[CHUNK][3], arm[4];
    vi any = pl_splat_bits_f(0);
    for (int j = 0; j < count; j++)
        for (int k = 0; k < 3; k++)
            e[j][k] = pl_load_f(slot_kept(s, slot + j, k));
    correct(s->rest, slot * PL_COLUMNS, count, goal, limit, e);
    for (int j = 0; j < count; j++) {
        if (!known)
            keep_arms(r, s, slot + j, centre, arm);
        for (int k = 0; known && k < 4; k++)
            arm[k] = pl_load_f(slot_arm(s, slot + j, k));
        add_push(sum, e[j], arm);
        for (int k = 0; k < 3; k++) {
            any |= (vi)e[j][k];
            pl_store_f(slot_kept(s, slot + j, k), e[j][k]);
        }
    }
    return any;
}

/* Corrections of PL_W clusters, left in place of the offsets, and the rigid part of them; not zero for clusters that have
   any. */
PL_LANES_INLINE vi correct_slots(const pl_clustered_rows *r, bool known, const group *g, int first,
                                 float rigid[6][GROUP])
{
    slots s = slots_of(r, g->run, g->place, first);
    const float *t = g->table + first;
    vf goal[12], centre[3], sum[6], inertia[6], out[6];
    vf limit = pl_load_f(t + PL_GROUP_LIMIT * GROUP);
    vi any = pl_splat_bits_f(0);
    int slot = 0;
    load_goals(g, first, goal);
    load_centres(g, first, centre);
    for (int k = 0; k < 6; k++) {
        sum[k] = pl_splat_f(0);
        inertia[k] = pl_load_f(t + (PL_GROUP_INERTIA + k) * GROUP);
    }
    for (; slot + CHUNK <= s.count; slot += CHUNK)
        any |= correct_some_slots(r, &s, known, slot, CHUNK, goal, limit, centre, sum);
    for (; slot < s.count; slot++)
        any |= correct_some_slots(r, &s, known, slot, 1, goal, limit, centre, sum);
    rigid_motion(sum, pl_load_f(t + PL_GROUP_SHARE * GROUP), inertia, out);
    for (int k = 0; k < 6; k++)
        pl_store_f(rigid[k] + first, out[k]);
    return any & 0x7fffffff;
}

/* Adds w (e − rigid part) to the rows of the members, slot by slot, so that every width adds in one order. Clusters with
   nobody beyond have zeros to add. */
static void push_slots(const pl_clustered_rows *r, const group *g, const float rigid[6][GROUP],
                       float *sum)
{
    slots all = slots_of(r, g->run, g->place, 0);
    for (int slot = 0; slot < all.count; slot++)
        for (int first = 0; first < g->count; first += PL_W) {
            vf e[3], arm[3], motion[6];
            vf weight = pl_load_f(slot_rest(&all, slot) + 3 * PL_COLUMNS + first);
            for (int k = 0; k < 3; k++) {
                e[k] = pl_load_f(slot_kept(&all, slot, k) + first);
                arm[k] = pl_load_f(slot_arm(&all, slot, k) + first);
            }
            for (int k = 0; k < 6; k++)
                motion[k] = pl_load_f(rigid[k] + first);
            take_away(motion, arm, e);
            add_rows(sum, slot_row(&all, slot) + first, e[0] * weight, e[1] * weight, e[2] * weight,
                     pl_splat_f(0));
        }
}

/* Where arms are not kept, and somebody was beyond the limit when the group was last looked at, as will mostly be so again, they
   are found in the first pass, which has the rows at hand; or else when they are wanted. */
static void limit_narrow(pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    float rigid[6][GROUP] ALIGNED;
    int32_t hit[GROUP] ALIGNED;
    bool any = false;
    for (int i = 0; i < g->count && !any; i++)
        any = has_moved(r, g, i);
    if (!any)
        return;
    any = false;
    for (int first = 0; first < g->count; first += PL_W) {
        fit_slots(r, g, first);
        any = any || are_slots_beyond(r, g, first);
    }
    if (!any) {
        g->armed[0] = r->keeps_arms && g->armed[0];
        return;
    }
    for (int first = 0; first < g->count; first += PL_W) {
        vi beyond = g->armed[0] ? correct_slots(r, true, g, first, rigid)
                                : correct_slots(r, false, g, first, rigid);
        memcpy(hit + first, &beyond, sizeof beyond);
    }
    g->armed[0] = true;
    if (!step->balanced)
        memset(rigid, 0, sizeof rigid);
    push_slots(r, g, rigid, sum_of(r, run));
    for (int i = 0; i < g->count; i++)
        if (hit[i]) {
            mark(r, g, i);
            step->hits[run]++;
        }
}

/* ---- A run ----------------------------------------------------------------------------------------- */

void PL_LANES(pl_clustered_limit)(pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    step->hits[run] = 0;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        open_group(step, run, first, &g);
        if (r->narrow)
            limit_narrow(step, run, &g);
        else
            limit_clusters(step, run, &g);
        move_own(step, &g, settle_block);
    }
    PL_LANES_LEAVE();
}

/* What the fit of a sub-step has for the members, at one vector width, a part of clustered_lanes.c:
   the way to the goals, and the rigid motion of the cluster. */

/* Adds w m ((α/h) (T p + t − y) + d ū), and w m, to the rows of a cluster's members. */
PL_LANES_INLINE void pull_kept(const members *m, bool kept, const group *g, int i, float pull,
                               float *sum)
{
    vf goal[12], spin[6];
    for (int k = 0; k < 12; k++)
        goal[k] = pl_splat_f(g->goal[k][i]);
    for (int k = 0; k < 6; k++)
        spin[k] = pl_splat_f(g->spin[k][i]);
    for (int at = 0; at < m->room; at += PL_W) {
        vmember v;
        vf way[4];
        reload_offsets(m, kept, at, v.y);
        load_rest(m->rest, at, &v);
        cross(spin, v.y, way);
        for (int k = 0; k < 3; k++) {
            vf to = goal[3 * k] * v.p[0] + goal[3 * k + 1] * v.p[1] + goal[3 * k + 2] * v.p[2];
            way[k] = ((to + goal[9 + k] - v.y[k]) * pull + (way[k] + spin[3 + k])) * v.mass;
        }
        way[3] = v.mass;
        add_different_rows(sum, m->row + at, 4, way);
    }
}

static void pull_members(const members *m, const group *g, int i, float pull, float *sum)
{
    members own = *m;
    if (own.offset)
        pull_kept(&own, true, g, i, pull, sum);
    else
        pull_kept(&own, false, g, i, pull, sum);
}

/* Places of the members in slots again, where other groups have been gone through since they were
   kept. */
static void keep_places(const pl_clustered_rows *r, const group *g)
{
    for (int first = 0; first < g->count; first += PL_W) {
        slots s = slots_of(r, g->run, g->place, first);
        vf from[3], x[4];
        vmember v;
        for (int k = 0; k < 3; k++)
            from[k] = pl_load_f(g->from[k] + first);
        for (int slot = 0; slot < s.count; slot++) {
            load_rows(r->old, slot_row(&s, slot), x);
            keep_slot(&s, slot, x, from, &v);
        }
    }
}

/* The same for narrow bodies, slot by slot, so that every width adds in one order. */
static void pull_slots(const pl_clustered_rows *r, const group *g, float pull, float *sum)
{
    enum { PARTS = GROUP / PL_W };
    slots s[PARTS];
    vf goal[PARTS][12], spin[PARTS][6];
    int parts = (g->count + PL_W - 1) / PL_W;
    for (int part = 0; part < PARTS; part++) {
        s[part] = slots_of(r, g->run, g->place, part * PL_W);
        for (int k = 0; k < 12; k++)
            goal[part][k] = pl_load_f(g->goal[k] + part * PL_W);
        for (int k = 0; k < 6; k++)
            spin[part][k] = pl_load_f(g->spin[k] + part * PL_W);
    }
    for (int slot = 0, count = s[0].count; slot < count; slot++)
        for (int part = 0; part < PARTS && part < parts; part++) {
            const vf *to = goal[part], *turn = spin[part];
            vmember v;
            vf way[4];
            reload_slot(&s[part], slot, &v);
            if (part == 0)
                expect_next(&s[part], slot);
            cross(turn, v.y, way);
            for (int k = 0; k < 3; k++) {
                vf at = to[3 * k] * v.p[0] + to[3 * k + 1] * v.p[1] + to[3 * k + 2] * v.p[2];
                way[k] = ((at + to[9 + k] - v.y[k]) * pull + (way[k] + turn[3 + k])) * v.mass;
            }
            way[3] = v.mass;
            add_rows(sum, slot_row(&s[part], slot), 4, way);
        }
}

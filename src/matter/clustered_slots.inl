/* The same for narrow bodies, with a cluster per lane all the way: a slot holds one member of each of sixteen clusters. */

/* The slots of a group from lane `first` on; `kept` of them between the passes are three columns: x − centre. Arms are kept from
   round to round, or else from pass to pass, behind those. */
typedef struct slots {
    const int32_t *row;
    const float *rest;
    float *kept, *arm;
    int count;
} slots;

PL_LANES_INLINE slots slots_of(const pl_clustered_rows *r, int run, int group, int first)
{
    size_t start = (size_t)r->lane_start[group] * PL_COLUMNS;
    float *columns = columns_of(r, run);
    return (slots){
        .row = r->lane_row + start + first,
        .rest = r->rest + 4 * start + first,
        .kept = columns + first,
        .arm = (r->keeps_arms ? r->arm + 4 * start : columns + 3 * (size_t)r->column_room) + first,
        .count = r->lane_start[group + 1] - r->lane_start[group]};
}

PL_LANES_INLINE const int32_t *slot_row(const slots *s, int slot)
{
    return s->row + (ptrdiff_t)slot * PL_COLUMNS;
}

PL_LANES_INLINE const float *slot_rest(const slots *s, int slot)
{
    return s->rest + (ptrdiff_t)slot * 4 * PL_COLUMNS;
}

PL_LANES_INLINE float *slot_kept(const slots *s, int slot, int column)
{
    return s->kept + ((ptrdiff_t)slot * 3 + column) * PL_COLUMNS;
}

PL_LANES_INLINE float *slot_arm(const slots *s, int slot, int column)
{
    return s->arm + ((ptrdiff_t)slot * 4 + column) * PL_COLUMNS;
}

/* Positions counted from the centres `from`, kept for later passes; returns w m. */
PL_LANES_INLINE vf load_slot(const pl_clustered_rows *r, const slots *s, int slot, const vf from[3],
                             vmember *v)
{
    vf x[4];
    load_rows(r->x, slot_row(s, slot), x);
    load_rest(slot_rest(s, slot), 0, v);
    for (int k = 0; k < 3; k++) {
        v->y[k] = x[k] - from[k];
        pl_store_f(slot_kept(s, slot, k), v->y[k]);
    }
    return x[3] * v->weight;
}

PL_LANES_INLINE void reload_slot(const slots *s, int slot, vmember *v)
{
    load_rest(slot_rest(s, slot), 0, v);
    for (int k = 0; k < 3; k++)
        v->y[k] = pl_load_f(slot_kept(s, slot, k));
}

/* For strain limiting: arms, the old places from the old centre, and w m. */
PL_LANES_INLINE void keep_arms(const pl_clustered_rows *r, const slots *s, int slot,
                               const vf from[3], vf arm[4])
{
    load_rows(r->old, slot_row(s, slot), arm);
    for (int k = 0; k < 3; k++)
        arm[k] -= from[k];
    arm[3] *= pl_load_f(slot_rest(s, slot) + 3 * PL_COLUMNS);
    for (int k = 0; k < 4; k++)
        pl_store_f(slot_arm(s, slot, k), arm[k]);
}

/* Sums of PL_W clusters: all of them, or those of SUM_SHORT; with arms on the way. */
PL_LANES_INLINE void sum_slots(const pl_clustered_rows *r, const slots *s, const vf from[3],
                               int count, bool arms, vf *sum)
{
    for (int k = 0; k < count; k++)
        sum[k] = pl_splat_f(0);
    for (int slot = 0; slot < s->count; slot++) {
        vmember v;
        vf wy[3], u[4], arm[4];
        vf mass = load_slot(r, s, slot, from, &v);
        for (int k = 0; k < 3; k++)
            wy[k] = mass * v.y[k];
        add_fit(sum, wy, v.p);
        if (arms)
            keep_arms(r, s, slot, from, arm);
        if (count == SUM_ALL) {
            load_rows(r->u, slot_row(s, slot), u);
            add_motion(sum, v.y, wy, u, mass);
        }
    }
}

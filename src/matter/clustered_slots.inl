/* The same for narrow bodies, with a cluster per lane all the way: a slot holds one member of each
   of sixteen clusters. */

/* The slots of a group from lane `first` on; `kept` of them between the passes are three columns: x
   − centre. */
typedef struct slots {
    const int32_t *row;
    const float *rest;
    float *kept;
    int count;
} slots;

PL_LANES_INLINE slots slots_of(const pl_clustered_rows *r, int run, int group, int first)
{
    size_t start = (size_t)r->lane_start[group] * PL_COLUMNS;
    return (slots){.row = r->lane_row + start + first,
                   .rest = r->rest + 4 * start + first,
                   .kept = columns_of(r, run) + first,
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

/* Slots are gone through from the first to the last of a run, and large bodies have more of them
   than caches hold: so many before they are wanted, they are asked for. What the processor does of
   that by itself ends with every page of memory. */
enum { AHEAD = 8 };

PL_LANES_INLINE void expect_slot(const slots *s, int slot)
{
    __builtin_prefetch(slot_row(s, slot));
    for (int k = 0; k < 4; k++)
        __builtin_prefetch(slot_rest(s, slot) + k * PL_COLUMNS);
}

/* The first pass over the members of a group reads faster than memory gives, the later ones read
   little that is new: while they go through a slot, the same one of the next group, which lies
   behind this, is asked for as far as the second cache. */
PL_LANES_INLINE void expect_next(const slots *s, int slot)
{
    __builtin_prefetch(slot_row(s, slot + s->count), 0, 2);
    for (int k = 0; k < 4; k++)
        __builtin_prefetch(slot_rest(s, slot + s->count) + k * PL_COLUMNS, 0, 2);
}

PL_LANES_INLINE void reload_slot(const slots *s, int slot, vmember *v)
{
    load_rest(slot_rest(s, slot), 0, v);
    for (int k = 0; k < 3; k++)
        v->y[k] = pl_load_f(slot_kept(s, slot, k));
}

/* Of the places x of members: from the centres, kept for later passes. */
PL_LANES_INLINE void keep_slot(const slots *s, int slot, const vf x[3], const vf from[3],
                               vmember *v)
{
    for (int k = 0; k < 3; k++) {
        v->y[k] = x[k] - from[k];
        pl_store_f(slot_kept(s, slot, k), v->y[k]);
    }
}

/* Sums of PL_W clusters: all of them, or those of SUM_SHORT. Rows are fetched a slot before they
   are wanted: what waits for one of them has the registers that the next ones would need. */
PL_LANES_INLINE void sum_slots(const pl_clustered_rows *r, const slots *s, const vf from[3],
                               int count, vf *sum)
{
    const float *places = count == SUM_ALL ? r->old : r->x;
    vf x[4], u[4];
    for (int k = 0; k < count; k++)
        sum[k] = pl_splat_f(0);
    if (s->count > 0)
        load_rows(places, slot_row(s, 0), x);
    for (int slot = 0; slot < s->count; slot++) {
        vmember v;
        vf wy[3], here[3] = {x[0], x[1], x[2]};
        if (slot + 1 < s->count)
            load_rows(places, slot_row(s, slot + 1), x);
        expect_slot(s, slot + AHEAD);
        load_rest(slot_rest(s, slot), 0, &v);
        keep_slot(s, slot, here, from, &v);
        for (int k = 0; k < 3; k++)
            wy[k] = v.mass * v.y[k];
        add_fit(sum, wy, v.p);
        if (count == SUM_ALL) {
            load_rows(r->u, slot_row(s, slot), u);
            add_motion(sum, v.y, wy, u, v.mass);
        }
    }
}

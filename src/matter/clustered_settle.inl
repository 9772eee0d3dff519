/* What the runs have for the rows, at one vector width, a part of clustered_lanes.c: added up, and
   the rows moved by it, block by block. */

/* Which runs have added to a block: their sums of it, one after the other. The mark is taken
   away. */
PL_LANES_INLINE int take_runs(const pl_clustered_rows *r, int block, int begin, int end,
                              float *sums[PL_MOST_RUNS])
{
    size_t blocks = (size_t)(r->row_capacity / PL_ROW_BLOCK);
    int count = 0;
    for (int run = begin; run < end; run++) {
        uint8_t *added = r->added + (size_t)run * blocks + block;
        if (*added)
            sums[count++] = sum_of(r, run) + (size_t)block * 4 * PL_ROW_BLOCK;
        *added = 0;
    }
    return count;
}

/* The sum over the runs, which are left at zero. */
PL_LANES_INLINE vf take_sum(float *const *sums, int count, int at)
{
    vf sum = pl_load_f(sums[0] + at);
    pl_store_f(sums[0] + at, pl_splat_f(0));
    for (int k = 1; k < count; k++) {
        sum += pl_load_f(sums[k] + at);
        pl_store_f(sums[k] + at, pl_splat_f(0));
    }
    return sum;
}

/* The last of every four numbers, in place of all four. */
PL_LANES_INLINE vf fourth(vf a)
{
#if PL_LANES_NATIVE
    return (vf)PL_MM(shuffle_ps)((PL_MM_F)a, (PL_MM_F)a, 0xFF);
#else
    vf b = a;
    for (int lane = 0; lane < PL_W; lane++)
        b[lane] = a[lane | 3];
    return b;
#endif
}

/* a in the place of what is fourth in rows. */
PL_LANES_INLINE vf with_fourth(vf rows, vf a)
{
    vi is_fourth = pl_splat_bits_f(0);
    for (int lane = 3; lane < PL_W; lane += 4)
        is_fourth[lane] = -1;
    return pl_select_f(is_fourth, a, rows);
}

/* x += θ/m Σ w m (…), of one block and what these runs have for it. */
static void settle_block(const pl_clustered_step *step, int block, int begin, int end)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    vf part = pl_splat_f(step->part);
    float *sums[PL_MOST_RUNS], *rows = r->x + (size_t)block * 4 * PL_ROW_BLOCK;
    int count = take_runs(r, block, begin, end, sums);
    r->moved[block] = count > 0;
    for (int at = 0; count && at < 4 * PL_ROW_BLOCK; at += PL_W) {
        vf x = pl_load_f(rows + at);
        vf moved = x + take_sum(sums, count, at) * (fourth(x) * part);
        pl_store_f(rows + at, with_fourth(moved, x));
    }
}

/* u += h a + 1/m Σ w m ((α/h) (g − x) + d (ū − u)), x += h u. What is fourth in a row of x stays: h
   is 0 there. */
static void integrate_block(const pl_clustered_step *step, int block, int begin, int end)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    float all[PL_W] ALIGNED, fall[PL_W] ALIGNED;
    for (int lane = 0; lane < PL_W; lane++) {
        all[lane] = lane % 4 < 3 ? step->h : 0;
        fall[lane] = lane % 4 < 3 ? (float)(step->motion->h * step->motion->fall[lane % 4]) : 0;
    }
    vf h = pl_load_f(all), down = pl_load_f(fall);
    size_t first = (size_t)block * 4 * PL_ROW_BLOCK;
    float *sums[PL_MOST_RUNS], *old = r->old + first, *u = r->u + first;
    int count = take_runs(r, block, begin, end, sums);
    r->moved[block] = 1;
    for (int at = 0; at < 4 * PL_ROW_BLOCK; at += PL_W) {
        vf x = pl_load_f(old + at), speed = pl_load_f(u + at), more = down;
        if (step->motion->push)
            more += pl_load_f(r->push + first + at) * h;
        if (count) {
            vf sum = take_sum(sums, count, at);
            more += (sum - speed * (fourth(sum) * step->damping)) * fourth(x);
        }
        pl_store_f(r->x + first + at, x + (speed + more) * h);
    }
}

/* One of the two above. */
typedef void move(const pl_clustered_step *step, int block, int begin, int end);

/* Moves the blocks that only this run has anything for and none of its later groups looks at. */
PL_LANES_INLINE void move_own(const pl_clustered_step *step, const group *g, move *how)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    for (int k = r->last_start[g->place]; k < r->last_start[g->place + 1]; k++)
        how(step, r->last[k], g->run, g->run + 1);
}

/* And all others, when every run is done. */
PL_LANES_INLINE void move_shared(const pl_clustered_step *step, int begin, int end, move *how)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    for (int block = begin; block < end; block++)
        if (!r->alone[block])
            how(step, block, 0, r->run_count);
    PL_LANES_LEAVE();
}

void PL_LANES(pl_clustered_settle)(const pl_clustered_step *step, int begin, int end)
{
    move_shared(step, begin, end, settle_block);
}

void PL_LANES(pl_clustered_integrate)(const pl_clustered_step *step, int begin, int end)
{
    move_shared(step, begin, end, integrate_block);
}

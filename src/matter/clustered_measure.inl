/* Examples (METHODS §4), a part of clustered_lanes.c: what their projection is to see of the
   clusters, and what is kept of the first pass until it is done. */

/* From one pass to the next. */
enum { KEPT_FROM = SUM_ALL, KEPT_TURN = KEPT_FROM + 3, KEPT_ALL = KEPT_TURN + 4 };
_Static_assert((int)KEPT_ALL == (int)PL_KEPT, "what is kept between the passes");

PL_LANES_INLINE float *kept_of(const pl_clustered_step *step, const group *g, int first)
{
    return step->clustered->rows.kept + (size_t)g->place * PL_KEPT * GROUP + first;
}

PL_LANES_INLINE void keep(const pl_clustered_step *step, const group *g, int first, const vf *sums,
                          const fit *f)
{
    float *k = kept_of(step, g, first);
    for (int i = 0; i < SUM_ALL; i++)
        pl_store_f(k + i * GROUP, sums[i]);
    for (int i = 0; i < 3; i++)
        pl_store_f(k + (KEPT_FROM + i) * GROUP, f->from[i]);
    for (int i = 0; i < 4; i++)
        pl_store_f(k + (KEPT_TURN + i) * GROUP, f->turn[i]);
}

PL_LANES_INLINE void take_back(const pl_clustered_step *step, const group *g, int first, vf *sums,
                               fit *f)
{
    const float *k = kept_of(step, g, first);
    for (int i = 0; i < SUM_ALL; i++)
        sums[i] = pl_load_f(k + i * GROUP);
    load_rest_row(g, first, f);
    for (int i = 0; i < 3; i++)
        f->from[i] = pl_load_f(k + (KEPT_FROM + i) * GROUP);
    for (int i = 0; i < 4; i++)
        f->turn[i] = pl_load_f(k + (KEPT_TURN + i) * GROUP);
}

/* S − I of Fᵉ = R S, for those that speak for their element; q becomes R, which is near what the
   goals will have. */
PL_LANES_INLINE void describe(const pl_clustered_step *step, const group *g, int first,
                              const vf elastic[9], vf q[4])
{
    vf r[9], s[9], d[6];
    pl_rotation_fit_f(elastic, q);
    pl_rotation_matrix_f(q, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s[3 * i + j] =
                r[i] * elastic[j] + r[3 + i] * elastic[3 + j] + r[6 + i] * elastic[6 + j];
    for (int k = 0; k < 3; k++)
        d[k] = s[4 * k] - 1.0f;
    vf half = pl_splat_f(0.70710678f); /* √2 times the mean of two */
    d[3] = (s[5] + s[7]) * half;
    d[4] = (s[2] + s[6]) * half;
    d[5] = (s[1] + s[3]) * half;
    const int32_t *spoken = step->clustered->rows.spoken + (ptrdiff_t)g->place * GROUP + first;
    float *present = step->clustered->manifold->present, out[6][PL_W] ALIGNED;
    for (int k = 0; k < 6; k++)
        pl_store_f(out[k], d[k]);
    for (int lane = 0; lane < PL_W && first + lane < g->count; lane++)
        for (int k = 0; k < 6; k++)
            present[spoken[lane] + k * GROUP] = out[k][lane];
}

static void measure_lanes(const pl_clustered_step *step, group *g, int first)
{
    fit f;
    vf sums[SUM_ALL], unplastic[9], gradient[9], elastic[9];
    load_fit(g, first, &f);
    bring_sums(step, g, first, f.from, sums);
    take_moments(sums, &f);
    invert33(f.plastic, unplastic);
    mul33(f.a, f.inverse, gradient);
    mul33(gradient, unplastic, elastic);
    describe(step, g, first, elastic, f.turn);
    keep(step, g, first, sums, &f);
}

/* Sums over the members of each cluster, kept for the fit, and the stretch that the examples are to
   see. */
void PL_LANES(pl_clustered_measure)(const pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        open_group(step, r->old, run, first, &g);
        if (r->narrow)
            expect_group(step, run, first + GROUP);
        else
            sum_clusters(&g);
        for (int lane = 0; lane < g.count; lane += PL_W)
            measure_lanes(step, &g, lane);
    }
    PL_LANES_LEAVE();
}

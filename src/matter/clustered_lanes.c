/* Clustered shape matching at one vector width: the fit of clusters, what it means for their
   particles, strain limiting.

   A group of sixteen clusters is gone through three times: sums over the members of each cluster,
   sixteen members at a time; then rotations and the rest with one cluster per lane; then what each
   cluster has for its members. Particles are rows of four floats, which sixteen loads and a
   transposition bring into lanes faster than three gathers do, and from which the way back goes the
   same. Offsets of members from the centre of their cluster are kept between the passes while there
   is room.

   Narrow bodies, of many small clusters, have one per lane in all three. With examples the first
   pass is made for all clusters before the second: in between their stretches are projected.
   Elastic bodies of smaller ones still have kernels of their own (rings_lanes.c).

   The parts: members of a cluster and slots of a narrow body with the sums over them; groups of
   both; the fit, and its pull on the members; what examples want of it; rows that are moved by what
   the runs have for them; strain limiting. */
#include "matter/clustered_lanes.h"

#include <math.h>
#include <stddef.h>

#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"
#include "math/svd.inl"
#include "matter/clustered_rows.inl"
#include "matter/matching.inl"

#include "matter/clustered_members.inl"
#include "matter/clustered_slots.inl"
#include "matter/clustered_group.inl"
#include "matter/clustered_flow.inl"
#include "matter/clustered_fit.inl"
#include "matter/clustered_pull.inl"
#include "matter/clustered_measure.inl"
#include "matter/clustered_settle.inl"
#include "matter/clustered_limit.inl"

/* ---- The fit of a run ------------------------------------------------------------------------ */

static void fit_all(const pl_clustered_step *step, group *g)
{
    for (int lane = 0; lane < g->count; lane += PL_W) {
        fit f;
        vf sums[SUM_ALL];
        if (step->clustered->manifold) {
            take_back(step, g, lane, sums, &f);
        } else {
            load_fit(g, lane, &f);
            bring_sums(step, g, lane, f.from, sums);
        }
        for (int k = 0; k < 3; k++)
            pl_store_f(g->from[k] + lane, f.from[k]);
        fit_lanes(step, g, lane, sums, &f);
    }
}

static void fit_narrow(const pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    fit_all(step, g);
    if (step->clustered->manifold)
        keep_places(r, g);
    expect_rows(r, g, r->old, r->u);
    pull_slots(r, g, step->pull, sum_of(r, run));
}

static void fit_clusters(const pl_clustered_step *step, int run, group *g)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    bool kept = step->clustered->manifold != NULL;
    if (!kept)
        sum_clusters(g);
    for (int i = 0; kept && i < g->count; i++) {
        memcpy(g->members[i].centre, g->cluster[i]->centre, sizeof g->members[i].centre);
        g->members[i].offset = NULL;
    }
    fit_all(step, g);
    for (int i = 0; i < g->count; i++)
        pull_members(&g->members[i], g, i, step->pull, sum_of(r, run));
}

void PL_LANES(pl_clustered_fit)(const pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        open_group(step, r->old, run, first, &g);
        if (r->narrow) {
            expect_group(step, run, first + GROUP);
            fit_narrow(step, run, &g);
        } else {
            fit_clusters(step, run, &g);
        }
        mark_all(r, &g);
        move_own(step, &g, integrate_block);
    }
    PL_LANES_LEAVE();
}

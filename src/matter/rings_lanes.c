/* Elastic rings at one vector width (rings.h): regions with one of them per lane, sixteen to a
   group; then particles. With examples the stretches of all regions are measured before any is
   fitted. */
#include "matter/rings.h"

#include <math.h>
#include <string.h>

#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"
#include "math/svd.inl"
#include "matter/clustered_rows.inl"
#include "matter/matching.inl"

enum { GROUP = PL_COLUMNS };

/* ---- Regions --------------------------------------------------------------------------------- */

/* A region per lane. */
typedef struct region {
    vf inverse[9], lean[3], mass, share, thin;
    vf from[3];   /* what positions are counted from: the last centre */
    vf shift[3];  /* of the centre from there */
    vf moment[9]; /* A_xp */
    vf turn[4], gradient[9];
    vf spin[6]; /* d ω, and d (ū − ω × shift), so that d ū_i is their sum with d ω × y */
} region;

PL_LANES_INLINE const float *fixed_of(const pl_clustered *c, int group, int first)
{
    return c->rings.fixed + (size_t)group * PL_RING_FIXED * GROUP + first;
}

PL_LANES_INLINE float *state_of(const pl_clustered *c, int group, int first)
{
    return c->rings.state + (size_t)group * PL_RING_STATE * GROUP + first;
}

PL_LANES_INLINE float *kept_of(const pl_clustered *c, int group, int first)
{
    return c->rings.kept + (size_t)group * PL_RING_KEPT * GROUP + first;
}

PL_LANES_INLINE void load_columns(const float *columns, int count, vf *out)
{
    for (int k = 0; k < count; k++)
        out[k] = pl_load_f(columns + k * GROUP);
}

PL_LANES_INLINE void store_columns(float *columns, int count, const vf *in)
{
    for (int k = 0; k < count; k++)
        pl_store_f(columns + k * GROUP, in[k]);
}

PL_LANES_INLINE void load_region(const pl_clustered *c, int group, int first, region *r)
{
    const float *fixed = fixed_of(c, group, first), *state = state_of(c, group, first);
    vf inverse[6];
    load_columns(fixed + PL_RING_INVERSE * GROUP, 6, inverse);
    full(inverse, r->inverse);
    load_columns(fixed + PL_RING_LEAN * GROUP, 3, r->lean);
    r->mass = pl_load_f(fixed + PL_RING_MASS * GROUP);
    r->share = pl_load_f(fixed + PL_RING_SHARE * GROUP);
    r->thin = pl_load_f(fixed + PL_RING_THIN * GROUP);
    load_columns(state + PL_RING_CENTRE * GROUP, 3, r->from);
    load_columns(state + PL_RING_TURN * GROUP, 4, r->turn);
}

/* Sums over the members, y = x − from and u of each: what is about `from` here. */
typedef struct sums {
    vf centre[3];   /* w m y */
    vf moment[9];   /* w m y pᵀ */
    vf motion[3];   /* w m u */
    vf momentum[3]; /* w m y × u */
    vf spread[6];   /* w m y yᵀ: xx xy xz yy yz zz */
} sums;

PL_LANES_INLINE void add_member(sums *s, const vf y[3], const vf u[3], const vf p[3], vf mass)
{
    vf wy[3], around[3];
    for (int i = 0; i < 3; i++)
        wy[i] = mass * y[i];
    for (int i = 0; i < 3; i++) {
        s->centre[i] += wy[i];
        for (int j = 0; j < 3; j++)
            s->moment[3 * i + j] += wy[i] * p[j];
    }
    cross(wy, u, around);
    for (int i = 0; i < 3; i++) {
        s->motion[i] += mass * u[i];
        s->momentum[i] += around[i];
    }
    s->spread[0] += wy[0] * y[0];
    s->spread[1] += wy[0] * y[1];
    s->spread[2] += wy[0] * y[2];
    s->spread[3] += wy[1] * y[1];
    s->spread[4] += wy[1] * y[2];
    s->spread[5] += wy[2] * y[2];
}

PL_LANES_INLINE void sum_members(const pl_rings *rings, int group, int first, const vf from[3],
                                 sums *s)
{
    vf none = pl_splat_f(0);
    for (int i = 0; i < 3; i++)
        s->centre[i] = s->motion[i] = s->momentum[i] = none;
    for (int i = 0; i < 9; i++)
        s->moment[i] = none;
    for (int i = 0; i < 6; i++)
        s->spread[i] = none;
    for (int slot = rings->start[group]; slot < rings->start[group + 1]; slot++) {
        const int32_t *row = rings->row + (size_t)slot * GROUP + first;
        const float *rest = rings->rest + (size_t)slot * 4 * GROUP + first;
        vf x[4], u[4], y[3], p[3];
        load_rows(rings->x, row, x);
        load_rows(rings->x + 4, row, u);
        for (int k = 0; k < 3; k++)
            y[k] = x[k] - from[k];
        load_columns(rest, 3, p);
        add_member(s, y, u, p, pl_load_f(rest + 3 * GROUP));
    }
}

/* The rigid motion of the members: moments about the centre, ω = I⁺ L. */
PL_LANES_INLINE void take_spin(const sums *s, float damping, region *r)
{
    vf mean[3], shared[3], spin[3], turned[3], spread[6], omega[3], inertia[6], m[9];
    int at = 0;
    cross(r->shift, s->motion, turned);
    for (int i = 0; i < 3; i++) {
        mean[i] = s->motion[i] * r->share;
        spin[i] = s->momentum[i] - turned[i];
        shared[i] = r->mass * r->shift[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++)
            spread[at] = s->spread[at] - shared[i] * r->shift[j];
    vf tensor[6] = {spread[3] + spread[5], -spread[1], -spread[2],
                    spread[0] + spread[5], -spread[4], spread[0] + spread[3]};
    invert_inertia(tensor, inertia);
    full(inertia, m);
    mul33_3(m, spin, omega);
    cross(omega, r->shift, turned);
    for (int i = 0; i < 3; i++) {
        r->spin[i] = omega[i] * damping;
        r->spin[3 + i] = (mean[i] - turned[i]) * damping;
    }
}

PL_LANES_INLINE void measure(const pl_clustered_step *step, int group, int first, region *r)
{
    sums s;
    load_region(step->clustered, group, first, r);
    sum_members(&step->clustered->rings, group, first, r->from, &s);
    for (int i = 0; i < 3; i++)
        r->shift[i] = s.centre[i] * r->share;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r->moment[3 * i + j] = s.moment[3 * i + j] - (r->mass * r->shift[i]) * r->lean[j];
    mul33(r->moment, r->inverse, r->gradient);
    take_spin(&s, step->damping, r);
}

/* S − I of F = R S, off-diagonals by √2; `turn` becomes R, which is near what the goals will
   have. */
PL_LANES_INLINE void describe(const pl_clustered_step *step, int group, int first, region *r)
{
    vf m[9], s[9], d[6];
    pl_rotation_fit_f(r->gradient, r->turn);
    pl_rotation_matrix_f(r->turn, m);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s[3 * i + j] = m[i] * r->gradient[j] + m[3 + i] * r->gradient[3 + j] +
                           m[6 + i] * r->gradient[6 + j];
    for (int k = 0; k < 3; k++)
        d[k] = s[4 * k] - 1.0f;
    vf half = pl_splat_f(0.70710678f); /* √2 times the mean of two */
    d[3] = (s[5] + s[7]) * half;
    d[4] = (s[2] + s[6]) * half;
    d[5] = (s[1] + s[3]) * half;
    const pl_clustered *c = step->clustered;
    const int32_t *spoken = c->rows.spoken + (ptrdiff_t)group * GROUP + first;
    float *present = c->manifold->present, out[6][PL_W] ALIGNED;
    for (int k = 0; k < 6; k++)
        pl_store_f(out[k], d[k]);
    for (int lane = 0; lane < PL_W && group * GROUP + first + lane < c->count; lane++)
        for (int k = 0; k < 6; k++)
            present[spoken[lane] + k * GROUP] = out[k][lane];
}

/* With examples: everything but the goals. */
void PL_LANES(pl_rings_measure)(const pl_clustered_step *step, int begin, int end)
{
    pl_clustered *c = step->clustered;
    for (int group = begin; group < end; group++)
        for (int first = 0; first < GROUP; first += PL_W) {
            region r;
            float *kept = kept_of(c, group, first), *state = state_of(c, group, first);
            measure(step, group, first, &r);
            describe(step, group, first, &r);
            store_columns(kept + PL_RING_SHIFT * GROUP, 3, r.shift);
            store_columns(kept + PL_RING_MOMENT * GROUP, 9, r.moment);
            store_columns(kept + PL_RING_SPIN * GROUP, 6, r.spin);
            store_columns(state + PL_RING_GRADIENT * GROUP, 9, r.gradient);
            store_columns(state + PL_RING_TURN * GROUP, 4, r.turn);
        }
    PL_LANES_LEAVE();
}

/* ---- Goals ----------------------------------------------------------------------------------- */

/* S̃ of the examples, I where there are none. */
PL_LANES_INLINE void load_stretch(const pl_clustered *c, int group, int first, vf out[9])
{
    const int32_t *heard = c->rows.heard + (ptrdiff_t)group * GROUP + first;
    const float *blend = c->manifold->blend;
    float s[6][PL_W] ALIGNED;
    for (int lane = 0; lane < PL_W; lane++)
        for (int k = 0; k < 6; k++)
            s[k][lane] = blend[heard[lane] + k * GROUP];
    vf off = pl_splat_f(0.70710678f);
    for (int k = 0; k < 3; k++)
        out[4 * k] = pl_load_f(s[k]) + 1.0f;
    out[5] = out[7] = pl_load_f(s[3]) * off;
    out[2] = out[6] = pl_load_f(s[4]) * off;
    out[1] = out[3] = pl_load_f(s[5]) * off;
}

/* What the rotation is taken of without examples: F, or A_xp for the least-squares one, which
   serves in any case where F is mostly noise: of slivers and of what is stretched out of all
   proportion. */
PL_LANES_INLINE void choose_matrix(const pl_clustered_step *step, const region *r, vf matrix[9])
{
    vf norm = pl_splat_f(0);
    for (int i = 0; i < 9; i++)
        norm += r->gradient[i] * r->gradient[i];
    vi use = (r->thin > PL_CLUSTER_SLIVER) | ~(norm < PL_CLUSTER_DRAWN);
    if (step->least_squares)
        use = ~(vi){0};
    for (int i = 0; i < 9; i++)
        matrix[i] = pl_select_f(use, r->moment[i], r->gradient[i]);
}

/* Where A_pp has no rank 3, F is what is seen of it, and R of the rest: F P + R (I − P), P = A_pp
   A_pp⁺. Rare. */
static void complete(const pl_clustered *c, int group)
{
    float *state = state_of(c, group, 0);
    for (int lane = 0; lane < GROUP && group * GROUP + lane < c->count; lane++) {
        const pl_cluster *cluster = c->clusters + c->rows.sequence[group * GROUP + lane];
        const float *s = cluster->seen;
        float p[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]};
        if (cluster->rank == 3)
            continue;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    state[(PL_RING_GRADIENT + 3 * i + j) * GROUP + lane] +=
                        state[(PL_RING_ROTATION + 3 * i + k) * GROUP + lane] *
                        ((k == j ? 1.0f : 0.0f) - p[3 * k + j]);
    }
}

/* T, ω, e and 1, in the rows of the regions. */
PL_LANES_INLINE void store_rows(const pl_clustered_step *step, int group, int first,
                                const region *r, const vf goal[9])
{
    const pl_clustered *c = step->clustered;
    vf out[PL_RING_ROW], home[3], lean[3], at[3], around[3];
    float *rows[PL_W];
    load_columns(fixed_of(c, group, first) + PL_RING_HOME * GROUP, 3, home);
    for (int k = 0; k < 3; k++)
        lean[k] = r->lean[k] + home[k];
    mul33_3(goal, lean, at);
    cross(r->spin, r->from, around);
    for (int k = 0; k < 9; k++)
        out[k] = goal[k];
    for (int k = 0; k < 3; k++) {
        out[9 + k] = r->spin[k];
        out[12 + k] =
            ((r->from[k] + r->shift[k]) - at[k]) * step->pull + (r->spin[3 + k] - around[k]);
    }
    out[15] = pl_splat_f(1);
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = c->rings.rows + ((size_t)group * GROUP + (size_t)(first + lane)) * PL_RING_ROW;
    pl_lanes_scatter((const float *)out, PL_RING_ROW, rows);
}

PL_LANES_INLINE void take_back(const pl_clustered *c, int group, int first, region *r)
{
    const float *kept = kept_of(c, group, first);
    load_region(c, group, first, r);
    load_columns(kept + PL_RING_SHIFT * GROUP, 3, r->shift);
    load_columns(kept + PL_RING_MOMENT * GROUP, 9, r->moment);
    load_columns(kept + PL_RING_SPIN * GROUP, 6, r->spin);
}

/* The rotation and T. With examples the rest shape is S̃, and the rotation that of A_xp S̃ᵀ: it
   exerts no torque. */
PL_LANES_INLINE void turn_to_examples(const pl_clustered *c, int group, int first, region *r,
                                      vf rotation[9], vf goal[9])
{
    vf matrix[9], stretch[9];
    take_back(c, group, first, r);
    load_stretch(c, group, first, stretch);
    mul33(r->moment, stretch, matrix);
    pl_rotation_fit_f(matrix, r->turn);
    pl_rotation_matrix_f(r->turn, rotation);
    mul33(rotation, stretch, goal);
}

PL_LANES_INLINE void turn_to_rest(const pl_clustered_step *step, int group, int first, region *r,
                                  vf rotation[9], vf goal[9])
{
    vf matrix[9];
    measure(step, group, first, r);
    store_columns(state_of(step->clustered, group, first) + PL_RING_GRADIENT * GROUP, 9,
                  r->gradient);
    choose_matrix(step, r, matrix);
    pl_rotation_fit_f(matrix, r->turn);
    pl_rotation_matrix_f(r->turn, rotation);
    for (int k = 0; k < 9; k++)
        goal[k] = rotation[k];
}

PL_LANES_INLINE void aim(const pl_clustered_step *step, int group, int first)
{
    const pl_clustered *c = step->clustered;
    float *state = state_of(c, group, first);
    vf rotation[9], goal[9], centre[3];
    region r;
    if (c->manifold)
        turn_to_examples(c, group, first, &r, rotation, goal);
    else
        turn_to_rest(step, group, first, &r, rotation, goal);
    for (int k = 0; k < 3; k++) {
        centre[k] = r.from[k] + r.shift[k];
        centre[k] = pl_select_f(centre[k] - centre[k] == pl_splat_f(0), centre[k], r.from[k]);
    }
    store_columns(state + PL_RING_CENTRE * GROUP, 3, centre);
    store_columns(state + PL_RING_TURN * GROUP, 4, r.turn);
    store_columns(state + PL_RING_ROTATION * GROUP, 9, rotation);
    store_rows(step, group, first, &r, goal);
}

void PL_LANES(pl_rings_fit)(const pl_clustered_step *step, int begin, int end)
{
    const pl_clustered *c = step->clustered;
    for (int group = begin; group < end; group++) {
        for (int first = 0; first < GROUP; first += PL_W)
            aim(step, group, first);
        if (c->rings.flat[group])
            complete(c, group);
    }
    PL_LANES_LEAVE();
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* Σ w row over the regions of sixteen particles. */
PL_LANES_INLINE void sum_regions(const pl_rings *rings, int row, float out[GROUP][PL_RING_ROW])
{
    enum { PARTS = PL_RING_ROW / PL_W };
    for (int i = 0; i < GROUP; i++) {
        vf sum[PARTS];
        for (int part = 0; part < PARTS; part++)
            sum[part] = pl_splat_f(0);
        for (int k = rings->of_start[row + i]; k < rings->of_start[row + i + 1]; k++) {
            const float *from = rings->rows + rings->of[k];
            vf weight = pl_splat_f(rings->share[k]);
            for (int part = 0; part < PARTS; part++)
                sum[part] += weight * pl_load_f(from + part * PL_W);
        }
        for (int part = 0; part < PARTS; part++)
            pl_store_f(out[i] + part * PL_W, sum[part]);
    }
}

/* u += h a + Σ w ((α/h) (T q − x) + ω × x + e) − d Σ w u, x += h u, for PL_W of the sixteen. */
PL_LANES_INLINE void move(const pl_clustered_step *step, int row, const float *sum, vf out[4])
{
    const pl_clustered *c = step->clustered;
    int32_t at[PL_W], four[PL_W], eight[PL_W];
    vf t[PL_RING_ROW], x[4], u[4], q[4], push[4], to[3], around[3];
    for (int lane = 0; lane < PL_W; lane++)
        at[lane] = PL_RING_ROW * lane, eight[lane] = 8 * lane, four[lane] = 4 * lane;
    for (int k = 0; k < PL_RING_ROW; k += 4)
        load_rows(sum + k, at, t + k);
    load_rows(c->rings.x + 8 * (size_t)row, eight, x);
    load_rows(c->rings.x + 8 * (size_t)row + 4, eight, u);
    load_rows(c->rings.home + 4 * (size_t)row, four, q);
    if (step->motion->push)
        load_rows(c->rows.push + 4 * (size_t)row, four, push);
    mul33_3(t, q, to);
    cross(t + 9, x, around);
    for (int k = 0; k < 3; k++) {
        vf more = (to[k] - t[15] * x[k]) * step->pull + (around[k] + t[12 + k]);
        more += pl_splat_f((float)(step->motion->h * step->motion->fall[k]));
        if (step->motion->push)
            more += push[k] * step->h;
        more -= u[k] * (t[15] * step->damping);
        out[k] = x[k] + (u[k] + more) * step->h;
    }
    out[3] = pl_splat_f(0);
}

/* Blocks of rows. */
void PL_LANES(pl_rings_move)(const pl_clustered_step *step, int begin, int end)
{
    const pl_clustered *c = step->clustered;
    int last = end * PL_ROW_BLOCK < c->n ? end * PL_ROW_BLOCK : c->n;
    for (int row = begin * PL_ROW_BLOCK; row < last; row += GROUP) {
        float sum[GROUP][PL_RING_ROW] ALIGNED, place[GROUP][4] ALIGNED;
        sum_regions(&c->rings, row, sum);
        for (int first = 0; first < GROUP; first += PL_W) {
            vf out[4];
            float *rows[PL_W];
            move(step, row + first, sum[first], out);
            for (int lane = 0; lane < PL_W; lane++)
                rows[lane] = place[first + lane];
            pl_lanes_scatter((const float *)out, 4, rows);
        }
        for (int i = 0; i < GROUP && row + i < last; i++)
            memcpy(step->motion->x + 3 * (size_t)c->rows.order[row + i], place[i],
                   3 * sizeof(float));
    }
    PL_LANES_LEAVE();
}

/* ---- For others to see ----------------------------------------------------------------------- */

/* What was fitted, to the clusters. */
void PL_LANES(pl_rings_show)(const pl_clustered *c, int begin, int end)
{
    for (int group = begin; group < end; group++)
        for (int first = 0; first < GROUP; first += PL_W) {
            float spare[PL_W][PL_RING_STATE], *rows[PL_W];
            vf row[PL_RING_STATE];
            load_columns(state_of(c, group, first), PL_RING_STATE, row);
            for (int lane = 0; lane < PL_W; lane++) {
                int at = group * GROUP + first + lane;
                rows[lane] = at < c->count
                                 ? (float *)((char *)(c->clusters + c->rows.sequence[at]) +
                                             offsetof(pl_cluster, centre))
                                 : spare[lane];
            }
            pl_lanes_scatter((const float *)row, PL_RING_STATE, rows);
        }
    PL_LANES_LEAVE();
}

/* frame = Σ w F, from the rows of the regions, which have F in them now. */
void PL_LANES(pl_rings_average)(const pl_clustered *c, int begin, int end)
{
    for (int row = begin * GROUP; row < end * GROUP && row < c->n; row += GROUP) {
        float sum[GROUP][PL_RING_ROW] ALIGNED;
        sum_regions(&c->rings, row, sum);
        for (int i = 0; i < GROUP && row + i < c->n; i++) {
            float *frame = c->frame + 9 * (size_t)c->rows.order[row + i];
            for (int k = 0; k < 9; k++)
                frame[k] = sum[i][15] > 0 ? sum[i][k] : k % 4 == 0;
        }
    }
    PL_LANES_LEAVE();
}

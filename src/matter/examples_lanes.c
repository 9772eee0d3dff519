/* Example manifolds at one vector width: products with the duals and blends with an element per
   lane, weights with a group per lane. The nearest point is found in doubles: what distinguishes
   examples that nearly depend on each other is lost in floats. */
#include "matter/examples_lanes.h"

#include "math/lanes.h"

enum { BLOCK = PL_EXAMPLES_BLOCK };

/* Loops over the poses, whose number is known where it matters. */
#define UNROLL _Pragma("GCC unroll 8")

/* ---- Elements -------------------------------------------------------------------------------- */

/* t_k = (M D_k) · δ */
PL_LANES_INLINE void measure_block(const pl_examples *e, const float *descriptor,
                                   const float *duals, float *out, int width)
{
    for (int part = 0; part < BLOCK; part += PL_W) {
        vf delta[PL_EXAMPLES_WIDEST];
        for (int c = 0; c < width; c++)
            delta[c] = pl_load_f(descriptor + c * BLOCK + part);
        for (int k = 0; k < e->pose_count; k++) {
            const float *dual = duals + k * width * BLOCK + part;
            vf sum = pl_load_f(dual) * delta[0];
            for (int c = 1; c < width; c++)
                sum += pl_load_f(dual + c * BLOCK) * delta[c];
            pl_store_f(out + k * BLOCK + part, sum);
        }
    }
}

void PL_LANES(pl_examples_measure)(pl_examples *e, const float *descriptors, int begin, int end)
{
    size_t row = (size_t)e->width * BLOCK, poses = (size_t)e->pose_count;
    for (int block = begin; block < end; block++) {
        const float *descriptor = descriptors + (size_t)block * row;
        const float *duals = e->duals + (size_t)block * poses * row;
        float *out = e->measured + (size_t)block * poses * BLOCK;
        if (e->width == 6)
            measure_block(e, descriptor, duals, out, 6);
        else
            measure_block(e, descriptor, duals, out, e->width);
    }
    PL_LANES_LEAVE();
}

/* Weights of the elements of a block, [poses][16]. */
static const float *weights_of(const pl_examples *e, int block, float *room)
{
    int poses = e->pose_count, group = e->block_group[block];
    if (e->own)
        return e->weight + (size_t)block * (size_t)poses * BLOCK;
    for (int lane = 0; lane < BLOCK; lane++) {
        int g = group == PL_EXAMPLES_MIXED ? e->group[block * BLOCK + lane] : group;
        const float *w = e->weights + (size_t)(g < 0 ? 0 : g) * (size_t)poses;
        for (int k = 0; k < poses; k++)
            room[k * BLOCK + lane] = g < 0 ? 0 : w[k];
    }
    return room;
}

PL_LANES_INLINE void blend_block(int poses, const float *d, const float *weights, float *blend,
                                 int width)
{
    for (int part = 0; part < BLOCK; part += PL_W) {
        vf sum[PL_EXAMPLES_WIDEST], w = pl_load_f(weights + part);
        for (int c = 0; c < width; c++)
            sum[c] = w * pl_load_f(d + c * BLOCK + part);
        for (int k = 1; k < poses; k++) {
            w = pl_load_f(weights + k * BLOCK + part);
            for (int c = 0; c < width; c++)
                sum[c] += w * pl_load_f(d + (k * width + c) * BLOCK + part);
        }
        for (int c = 0; c < width; c++)
            pl_store_f(blend + c * BLOCK + part, sum[c]);
    }
}

void PL_LANES(pl_examples_blend)(const pl_examples *e, float *blend, int begin, int end)
{
    float room[PL_MAX_POSES * BLOCK] __attribute__((aligned(64)));
    size_t row = (size_t)e->width * BLOCK, poses = (size_t)e->pose_count;
    int filled = PL_EXAMPLES_MIXED;
    const float *weights = room;
    for (int block = begin; block < end; block++) {
        const float *d = e->poses + (size_t)block * poses * row;
        float *out = blend + (size_t)block * row;
        if (e->own || e->block_group[block] == PL_EXAMPLES_MIXED || e->block_group[block] != filled)
            weights = weights_of(e, block, room);
        filled = e->block_group[block];
        if (e->width == 6)
            blend_block(e->pose_count, d, weights, out, 6);
        else
            blend_block(e->pose_count, d, weights, out, e->width);
    }
    PL_LANES_LEAVE();
}

/* ---- Weights that are none negative ---------------------------------------------------------- */

/* The nearest w >= 0 with Σ w <= 1, by rounds (METHODS §4): with v₀ = 1 − Σ v all are shifted alike
   so that those alive sum to one, those that would be negative are out, and again. What all are
   shifted by before does not matter: counted from the largest, huge ones lose nothing. */
PL_LANES_INLINE void to_simplex(int poses, vf *w)
{
    vf none = pl_splat_f(0), one = pl_splat_f(1);
    vf first = one, most, shift = none;
    vi alive[PL_MAX_POSES + 1];
    for (int k = 0; k < poses; k++)
        first -= w[k];
    most = first;
    for (int k = 0; k < poses; k++)
        most = pl_max_f(w[k], most);
    first -= most;
    alive[poses] = ~(vi){0};
    for (int k = 0; k < poses; k++) {
        w[k] -= most;
        alive[k] = ~(vi){0};
    }
    for (int round = 0; round <= poses; round++) {
        vf sum = pl_select_f(alive[poses], first, none);
        vf count = pl_select_f(alive[poses], one, none);
        vi dropped = (vi){0};
        for (int k = 0; k < poses; k++) {
            sum += pl_select_f(alive[k], w[k], none);
            count += pl_select_f(alive[k], one, none);
        }
        shift = (one - sum) / count;
        for (int k = 0; k <= poses; k++) {
            vi out = alive[k] & ((k < poses ? w[k] : first) + shift < none);
            alive[k] &= ~out;
            dropped |= out;
        }
        if (!pl_any_f(dropped))
            break;
    }
    for (int k = 0; k < poses; k++)
        w[k] = pl_select_f(alive[k], w[k] + shift, none);
}

/* With one pose both rules are this. */
PL_LANES_INLINE vf clamp(vf w)
{
    return pl_min_f(pl_max_f(w, pl_splat_f(0)), pl_splat_f(1));
}

/* ---- The nearest point ----------------------------------------------------------------------- */

/* a > b. Without SSE 4 there are no comparisons of 64-bit integers, and gcc 12 fails where it makes
   one of masks it can see through. */
PL_LANES_INLINE vl above(vd a, vd b)
{
#if PL_W == 4 && PL_LANES_NATIVE
    return (vl)_mm_cmpgt_pd((__m128d)a, (__m128d)b);
#else
    return a > b;
#endif
}

typedef float half __attribute__((vector_size(PL_WD * 4)));

PL_LANES_INLINE vd load_wide(const float *p)
{
    half h;
    memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, vd);
}

PL_LANES_INLINE void store_narrow(float *p, vd v)
{
    half h = __builtin_convertvector(v, half);
    memcpy(p, &h, sizeof h);
}

/* Two vectors of groups at once: each of them alone would mostly wait for its own divisions. */
enum { PAIR = 2 };
#define BOTH for (int h = 0; h < PAIR; h++)
#define MOST PL_EXAMPLES_LANES

/* A search: x and x0 are admissible; `in` are the points it is a blend of. */
typedef struct search {
    vd t[MOST][PAIR], x[MOST][PAIR], x0[PAIR];
    vl in[MOST][PAIR], in0[PAIR];
    vl last[MOST][PAIR], last0[PAIR];     /* the point that came in last */
    vl barred[MOST][PAIR], barred0[PAIR]; /* those that came in without effect: rounding */
    vl done[PAIR];
    const double *gram;
    double *factors; /* of these lanes: which points were in last, 1/d, L and more */
} search;

PL_LANES_INLINE vd gram_at(const search *s, int i, int j, int h)
{
    int at = i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
    return pl_load_d(s->gram + at * BLOCK + h * PL_WD);
}

/* L D Lᵀ out = in, with 1/d given. */
PL_LANES_INLINE void substitute(int poses, vd low[][PAIR], vd inverse[][PAIR], vd in[][PAIR],
                                vd out[][PAIR])
{
    UNROLL
    for (int i = 0; i < poses; i++) {
        BOTH out[i][h] = in[i][h];
        UNROLL
        for (int k = 0; k < i; k++)
            BOTH out[i][h] -= low[i * (i + 1) / 2 + k][h] * out[k][h];
    }
    UNROLL
    for (int i = poses - 1; i >= 0; i--) {
        BOTH out[i][h] *= inverse[i][h];
        UNROLL
        for (int k = i + 1; k < poses; k++)
            BOTH out[i][h] -= low[k * (k + 1) / 2 + i][h] * out[k][h];
    }
}

/* LDLᵀ of G + lift 1 1ᵀ; points that are not in, or depend on those before them, have 1/d = 0 and
   so the weight 0. */
PL_LANES_INLINE void factor(search *s, int poses, const vd lift[PAIR], vd low[][PAIR],
                            vd inverse[][PAIR])
{
    vd none = pl_splat_d(0), one = pl_splat_d(1);
    UNROLL
    for (int j = 0; j < poses; j++) {
        vd pivot[PAIR], least[PAIR];
        BOTH
        {
            pivot[h] = gram_at(s, j, j, h) + lift[h];
            least[h] = pivot[h] * PL_EXAMPLES_DEPENDENT;
        }
        UNROLL
        for (int k = 0; k < j; k++) /* l d becomes l */
            BOTH
            {
                vd scaled = low[j * (j + 1) / 2 + k][h];
                low[j * (j + 1) / 2 + k][h] = scaled * inverse[k][h];
                pivot[h] -= scaled * low[j * (j + 1) / 2 + k][h];
            }
        BOTH inverse[j][h] =
            pl_select_d(s->in[j][h] & above(pivot[h], least[h]), one / pivot[h], none);
        UNROLL
        for (int i = j + 1; i < poses; i++) {
            vd sum[PAIR];
            BOTH sum[h] = gram_at(s, i, j, h) + lift[h];
            UNROLL
            for (int k = 0; k < j; k++)
                BOTH sum[h] -= low[i * (i + 1) / 2 + k][h] * low[j * (j + 1) / 2 + k][h];
            BOTH low[i * (i + 1) / 2 + j][h] = sum[h];
        }
    }
}

PL_LANES_INLINE int diagonal(int i)
{
    return i * (i + 1) / 2 + i;
}

/* As `factor`, with the solution for a right-hand side of ones where the diagonal of L would be; or
   what there is of both from last time: mostly the points are those they were. */
PL_LANES_INLINE void recall_factor(search *s, int poses, const vd lift[PAIR], vd low[][PAIR],
                                   vd inverse[][PAIR])
{
    vl other = {0};
    vd none = pl_splat_d(0), set[PAIR];
    BOTH set[h] = pl_select_d(s->in0[h], pl_splat_d(1), none);
    for (int k = 0; k < poses; k++)
        BOTH set[h] += pl_select_d(s->in[k][h], pl_splat_d((double)(2 << k)), none);
    BOTH other |= set[h] != pl_load_d(s->factors + h * PL_WD);
    double *at = s->factors + BLOCK;
    if (!pl_any_d(other)) {
        for (int k = 0; k < poses; k++, at += BLOCK)
            BOTH inverse[k][h] = pl_load_d(at + h * PL_WD);
        for (int k = 0; k < poses * (poses + 1) / 2; k++, at += BLOCK)
            BOTH low[k][h] = pl_load_d(at + h * PL_WD);
        return;
    }
    vd z[MOST][PAIR];
    for (int j = 0; j < poses; j++)
        BOTH z[j][h] = pl_splat_d(1);
    factor(s, poses, lift, low, inverse);
    substitute(poses, low, inverse, z, z);
    for (int j = 0; j < poses; j++)
        BOTH low[diagonal(j)][h] = z[j][h];
    BOTH pl_store_d(s->factors + h * PL_WD, set[h]);
    for (int k = 0; k < poses; k++, at += BLOCK)
        BOTH pl_store_d(at + h * PL_WD, inverse[k][h]);
    for (int k = 0; k < poses * (poses + 1) / 2; k++, at += BLOCK)
        BOTH pl_store_d(at + h * PL_WD, low[k][h]);
}

/* The nearest point u of the plane through the points of `in`. With rest among them G w = t.
   Without, Σ w = 1 takes a multiplier, and G + 1 1ᵀ in place of G changes nothing but that
   dependent directions, of which the points may still be a simplex, are no trouble. */
PL_LANES_INLINE void solve(search *s, int poses, vd u[][PAIR], vd u0[PAIR])
{
    vd low[MOST * (MOST + 1) / 2][PAIR], inverse[MOST][PAIR], lift[PAIR];
    vd none = pl_splat_d(0), one = pl_splat_d(1);
    BOTH lift[h] = pl_select_d(s->in0[h], none, one);
    recall_factor(s, poses, lift, low, inverse);
    substitute(poses, low, inverse, s->t, u);
    if (pl_any_d((~s->in0[0] & ~s->done[0]) | (~s->in0[1] & ~s->done[1]))) {
        vd y[PAIR] = {none, none}, sum[PAIR] = {none, none}, shift[PAIR];
        for (int i = 0; i < poses; i++)
            BOTH
            {
                y[h] += u[i][h];
                sum[h] += low[diagonal(i)][h];
            }
        BOTH shift[h] = pl_select_d(~s->in0[h] & above(sum[h], none), (one - y[h]) / sum[h], none);
        for (int i = 0; i < poses; i++)
            BOTH u[i][h] += shift[h] * low[diagonal(i)][h];
    }
    BOTH u0[h] = one;
    for (int i = 0; i < poses; i++)
        BOTH u0[h] -= u[i][h];
    BOTH u0[h] = pl_select_d(s->in0[h], u0[h], none);
}

/* x / (x − u), where u < 0, as a fraction n / d: less than the one there is? */
PL_LANES_INLINE vl is_nearer(vd x, vd u, vd n, vd d)
{
    return above(pl_splat_d(0), u) & above(n * (x - u), x * d);
}

/* A weight on its way from x to u, and 0 where this is the one that ends it. */
PL_LANES_INLINE vd part_way(vd x, vd u, vd n, vd d, vd way)
{
    vl ends = above(pl_splat_d(0), u) & ~above(x * d, n * (x - u));
    return pl_select_d(ends, pl_splat_d(0), x + way * (u - x));
}

/* How far x may go towards u: to where the first weight is 0, and that one goes out. `beyond`: in
   which lanes it did not get there. Ways are compared as fractions: divisions take long. */
PL_LANES_INLINE void go(search *s, int poses, vd u[][PAIR], vd u0[PAIR], vl beyond[PAIR])
{
    vd none = pl_splat_d(0), one = pl_splat_d(1);
    BOTH beyond[h] = above(none, u0[h]);
    for (int k = 0; k < poses; k++)
        BOTH beyond[h] |= above(none, u[k][h]);
    if (pl_any_d((beyond[0] & ~s->done[0]) | (beyond[1] & ~s->done[1]))) {
        vd n[PAIR] = {one, one}, d[PAIR] = {one, one}, way[PAIR];
        for (int k = -1; k < poses; k++)
            BOTH
            {
                vd from = k < 0 ? s->x0[h] : s->x[k][h], to = k < 0 ? u0[h] : u[k][h];
                vl nearer = is_nearer(from, to, n[h], d[h]);
                n[h] = pl_select_d(nearer, from, n[h]);
                d[h] = pl_select_d(nearer, from - to, d[h]);
            }
        BOTH
        {
            way[h] = n[h] / d[h];
            u0[h] = pl_select_d(beyond[h], part_way(s->x0[h], u0[h], n[h], d[h], way[h]), u0[h]);
        }
        for (int k = 0; k < poses; k++)
            BOTH u[k][h] =
                pl_select_d(beyond[h], part_way(s->x[k][h], u[k][h], n[h], d[h], way[h]), u[k][h]);
    }
    BOTH
    {
        s->x0[h] = pl_select_d(s->done[h], s->x0[h], pl_max_d(u0[h], none)); /* not −0 either */
        s->in0[h] = above(s->x0[h], none);
        s->barred0[h] |= s->last0[h] & ~s->in0[h];
    }
    for (int k = 0; k < poses; k++)
        BOTH
        {
            s->x[k][h] = pl_select_d(s->done[h], s->x[k][h], pl_max_d(u[k][h], none));
            s->in[k][h] = above(s->x[k][h], none);
            s->barred[k][h] |= s->last[k][h] & ~s->in[k][h];
        }
}

/* Of the points that were the best so far the last comes in; none: done. */
PL_LANES_INLINE void let_in(search *s, int poses, const vl beyond[PAIR])
{
    vl found[PAIR] = {{0}};
    for (int k = poses - 1; k >= 0; k--)
        BOTH
        {
            s->last[k][h] &= ~found[h] & ~beyond[h];
            found[h] |= s->last[k][h];
            s->in[k][h] |= s->last[k][h];
        }
    BOTH
    {
        s->last0[h] &= ~found[h] & ~beyond[h];
        found[h] |= s->last0[h];
        s->in0[h] |= s->last0[h];
        s->done[h] |= ~(found[h] | beyond[h]);
    }
}

/* The point towards which the residual δ − Σ x D points most comes in. Lanes in which x is not yet
   the nearest point of its plane go on as they are. */
PL_LANES_INLINE void admit(search *s, int poses, const vl beyond[PAIR])
{
    vd none = pl_splat_d(0), square = pl_splat_d(PL_EXAMPLES_TOLERANCE * PL_EXAMPLES_TOLERANCE);
    vd blend[MOST][PAIR], mean[PAIR] = {none, none}, length[PAIR] = {none, none}, best[PAIR];
    UNROLL
    for (int i = 0; i < poses; i++) {
        BOTH blend[i][h] = gram_at(s, i, 0, h) * s->x[0][h];
        UNROLL
        for (int j = 1; j < poses; j++)
            BOTH blend[i][h] += gram_at(s, i, j, h) * s->x[j][h];
        BOTH
        {
            mean[h] += s->x[i][h] * (s->t[i][h] - blend[i][h]);
            length[h] += s->x[i][h] * blend[i][h];
        }
    }
    BOTH
    {
        vd gain = none - mean[h], reach = pl_max_d(length[h], none);
        s->last0[h] =
            ~s->in0[h] & ~s->barred0[h] & above(gain, none) & above(gain * gain, square * reach);
        best[h] = pl_select_d(s->last0[h], gain, none);
    }
    for (int k = 0; k < poses; k++)
        BOTH
        {
            vd gain = (s->t[k][h] - blend[k][h]) - mean[h];
            vd reach = gram_at(s, k, k, h) - (blend[k][h] + blend[k][h]) + length[h];
            s->last[k][h] = ~s->in[k][h] & ~s->barred[k][h] & above(gain, best[h]) &
                            above(gain * gain, square * pl_max_d(reach, none));
            best[h] = pl_select_d(s->last[k][h], gain, best[h]);
        }
    let_in(s, poses, beyond);
}

/* Wolfe's nearest point of a simplex's corner points: finite, every step downhill, and wherever it
   is stopped what it has is admissible. */
PL_LANES_INLINE void search_nearest(search *s, int poses)
{
    for (int round = 0; round < 6 * (poses + 1); round++) {
        vd u[MOST][PAIR], u0[PAIR];
        vl beyond[PAIR];
        if (pl_all_d(s->done[0] & s->done[1]))
            break;
        solve(s, poses, u, u0);
        go(s, poses, u, u0, beyond);
        admit(s, poses, beyond);
    }
}

/* Rest in lanes whose numbers are none. */
PL_LANES_INLINE void start_search(search *s, int poses, const float *t, const float *start)
{
    vd none = pl_splat_d(0), sum[PAIR] = {none, none}, far[PAIR] = {none, none};
    for (int k = 0; k < poses; k++)
        BOTH
        {
            s->t[k][h] = load_wide(t + k * BLOCK + h * PL_WD);
            far[h] += s->t[k][h] * none;
        }
    BOTH s->done[h] = ~above(pl_splat_d(1), far[h]); /* 0, or not a number */
    for (int k = 0; k < poses; k++)
        BOTH
        {
            s->t[k][h] = pl_select_d(s->done[h], none, s->t[k][h]);
            s->x[k][h] = pl_select_d(s->done[h], none, load_wide(start + k * BLOCK + h * PL_WD));
            sum[h] += s->x[k][h];
            s->in[k][h] = above(s->x[k][h], none);
            s->barred[k][h] = s->last[k][h] = (vl){0};
        }
    BOTH
    {
        s->x0[h] = 1.0 - sum[h];
        s->in0[h] = above(s->x0[h], pl_splat_d(1e-6)); /* else it is what rounding to float left */
        s->x0[h] = pl_select_d(s->in0[h], s->x0[h], none);
        s->barred0[h] = s->last0[h] = (vl){0};
    }
}

PL_LANES_INLINE void nearest_block(const pl_examples *e, int block, int poses)
{
    size_t size = (size_t)poses * BLOCK, triangle = (size_t)(poses * (poses + 1) / 2) * BLOCK;
    for (int part = 0; part < BLOCK && block * BLOCK + part < e->group_count;
         part += PAIR * PL_WD) {
        search s;
        s.gram = e->gram + (size_t)block * triangle + part;
        s.factors = e->factors + (size_t)block * PL_EXAMPLES_FACTOR(poses) + part;
        float *start = e->start + (size_t)block * size + part;
        start_search(&s, poses, e->sums + (size_t)block * size + part, start);
        search_nearest(&s, poses);
        for (int k = 0; k < poses; k++)
            BOTH store_narrow(start + k * BLOCK + h * PL_WD, s.x[k][h]);
    }
}

/* With more poses than lanes are good for. */
static void nearest_far(const pl_examples *e, int block)
{
    int poses = e->pose_count;
    size_t size = (size_t)poses * BLOCK, triangle = (size_t)(poses * (poses + 1) / 2) * BLOCK;
    for (int lane = 0; lane < BLOCK && block * BLOCK + lane < e->group_count; lane++) {
        double t[PL_MAX_POSES], w[PL_MAX_POSES];
        float *start = e->start + (size_t)block * size + lane;
        for (int k = 0; k < poses; k++) {
            t[k] = (double)e->sums[(size_t)block * size + (size_t)(k * BLOCK + lane)];
            w[k] = (double)start[k * BLOCK];
        }
        pl_examples_nearest(poses, e->gram + (size_t)block * triangle + lane, t, w);
        for (int k = 0; k < poses; k++)
            start[k * BLOCK] = (float)w[k];
    }
}

/* A function of its own for every number of poses: loops of known length. */
static void nearest_few(const pl_examples *e, int block)
{
    switch (e->pose_count) {
    case 2:
        nearest_block(e, block, 2);
        break;
    case 3:
        nearest_block(e, block, 3);
        break;
    case 4:
        nearest_block(e, block, 4);
        break;
    case 5:
        nearest_block(e, block, 5);
        break;
    case 6:
        nearest_block(e, block, 6);
        break;
    default:
        nearest_block(e, block, e->pose_count);
        break;
    }
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* By the rule, from the sums of a block of groups: rest where they are no numbers. */
PL_LANES_INLINE void choose(const pl_examples *e, size_t at, int part, vf *w)
{
    int poses = e->pose_count;
    bool nearest = e->rule == PL_EXAMPLES_NEAREST && poses > 1;
    const float *from = (nearest ? e->start : e->sums) + at + part;
    vf none = pl_splat_f(0), check = none;
    for (int k = 0; k < poses; k++) {
        w[k] = pl_load_f(from + k * BLOCK);
        check += w[k] * none;
    }
    for (int k = 0; k < poses; k++)
        w[k] = pl_select_f(check == none, w[k], none);
    if (poses == 1)
        w[0] = clamp(w[0]);
    else if (!nearest)
        to_simplex(poses, w);
}

static void weigh_block(pl_examples *e, int block)
{
    int poses = e->pose_count;
    size_t at = (size_t)block * (size_t)poses * BLOCK;
    for (int part = 0; part < BLOCK && block * BLOCK + part < e->group_count; part += PL_W) {
        vf w[PL_MAX_POSES];
        float spare[PL_W][PL_MAX_POSES], *rows[PL_W];
        choose(e, at, part, w);
        if (e->biased) {
            for (int k = 0; k < poses; k++)
                w[k] += pl_load_f(e->bias_lanes + at + (size_t)(k * BLOCK + part));
            to_simplex(poses, w);
            for (int k = 0; k < poses; k++) /* what rounding gave to poses that are rest */
                w[k] *= pl_load_f(e->present + at + (size_t)(k * BLOCK + part));
        }
        for (int k = 0; k < poses; k++) {
            w[k] *= e->beta;
            pl_store_f(e->weight + at + (size_t)(k * BLOCK + part), w[k]);
        }
        for (int lane = 0; lane < PL_W; lane++) {
            int group = block * BLOCK + part + lane;
            rows[lane] =
                group < e->group_count ? e->weights + (size_t)group * (size_t)poses : spare[lane];
        }
        pl_lanes_scatter((const float *)w, poses, rows);
    }
}

void PL_LANES(pl_examples_weigh)(pl_examples *e, int begin, int end)
{
    for (int block = begin; block < end; block++) {
        if (e->rule == PL_EXAMPLES_NEAREST && e->pose_count > PL_EXAMPLES_LANES)
            nearest_far(e, block);
        else if (e->rule == PL_EXAMPLES_NEAREST && e->pose_count > 1)
            nearest_few(e, block);
        weigh_block(e, block);
    }
    PL_LANES_LEAVE();
}

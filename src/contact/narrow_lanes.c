/* Narrow phase: of the groups of two clumps, rows of one particle against sixteen become pairs whose spheres meet, pairs become touches where their ellipsoids
   do. What is fast against its size is looked at along its way through the sub-step: the line of centres is then the
   one at which the two first meet, and nothing passes through anything. */
#include <stddef.h>

#include "contact/contact_lanes.h"
#include "contact/ellipsoid.inl"
#include "contact/share.inl"

PL_LANES_INLINE uint32_t bits_of(vi mask)
{
#if PL_LANES_NATIVE
    return PL_MOVEMASK_F(mask);
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_W; i++)
        bits |= (uint32_t)(mask[i] & 1) << i;
    return bits;
#endif
}

#define ALL_LANES ((uint32_t)((UINT64_C(1) << PL_W) - 1))

/* Bits of the first `count` lanes, or of all. */
PL_LANES_INLINE uint32_t lanes_up_to(int count)
{
    return count < PL_W ? (1u << count) - 1 : ALL_LANES;
}

/* Bits of a < b: compilers make a vector of a comparison before they make bits of it. */
PL_LANES_INLINE uint32_t bits_less(vf a, vf b)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
    return bits_of(a < b);
#endif
}

/* ---- What a search has in hand ---------------------------------------------------------------------- */

/* What all rows of a group have in common: a cache line. */
typedef struct between {
    float offset[3]; /* base of the other's body − base of mine */
    float friction, bounce;
    int32_t clump, other; /* mine, the other's */
    int32_t body, other_body;
    uint32_t rows; /* my particles that have come near */
    uint32_t used; /* the other's places with particles */
    uint32_t fast; /* my particles of whom some pair may be swept */
    const pl_primitive *mine, *others;
} between;

/* Groups are taken in portions, and go through one short loop after the other: in each of them whatever is left over is written down by
   adding 0 or 1 to a count instead of branching, because nobody could guess the branches. Pairs looked at along their way cost
   four times as much and wait apart. */
enum { GROUPS = 128, PAIRS = 1024, FULL = 3 * PL_CLUMP };
enum { SWIFT = FULL + PL_CLUMP };

/* A pair is one number: that of its group in `two`, and behind it four bits each for my particle and for the other clump's. */
typedef struct pairs {
    uint32_t of[PAIRS + PL_CLUMP];
    int count;
} pairs;

PL_LANES_INLINE const between *two_of(const between *two, uint32_t pair)
{
    return two + (pair >> 8);
}

PL_LANES_INLINE int mine_of(uint32_t pair)
{
    return pair >> 4 & 15;
}

PL_LANES_INLINE int other_of(uint32_t pair)
{
    return pair & 15;
}

typedef struct search {
    const pl_contact *contact;
    pl_contact_buffer *buffer; /* where touches go */
    pl_segment *segment;
    between two[GROUPS + SWIFT]; /* of groups; behind them, of swift pairs */
    float since;                 /* groups were made, seconds */
    pairs slow, swift, close;
} search;

/* ---- Groups to rows --------------------------------------------------------------------------------- */

/* Which groups of a block may find something, from the `from`th on, as many as there is room for. Returns their number. */
static int live_groups(const search *s, const pl_group *groups, int *from, int count, int32_t *live)
{
    const pl_clump_motion *motion = s->contact->motion;
    float closed = s->since + (float)s->contact->h;
    int kept = 0, i = *from;
    for (; i < count && kept < GROUPS; i++) {
        float reach = motion[groups[i].clump].loose + motion[groups[i].other].loose;
        live[kept] = i;
        kept += !(groups[i].gap - groups[i].closing * closed > reach);
    }
    *from = i;
    return kept;
}

/* Pairs of the same body that never touch, or come twice: those of the other clump whom this particle leaves alone. */
static uint32_t excused(const pl_contact *contact, int32_t particle, int other)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[other];
    const pl_clumps *clumps = body->clumps;
    int32_t own = clumps->particle[particle - body->first_clump * PL_CLUMP];
    uint32_t mask = particle / PL_CLUMP == other ? (2u << particle % PL_CLUMP) - 1 : 0;
    for (int32_t k = clumps->apart_start[own]; k < clumps->apart_start[own + 1]; k++)
        if (clumps->apart_clump[k] == other - body->first_clump)
            mask |= clumps->apart_mask[k];
    return mask;
}

/* The least of d² − r² of my particles (in lanes, from the k-th on) and all of the other clump. Places that are not used repeat another one,
   smaller. */
PL_LANES_INLINE vf least_square(const vf x[3], vf radius, const pl_clump_places *others,
                                const float *radii)
{
    vf least = pl_splat_f(1e30f);
    for (int i = 0; i < PL_CLUMP; i++) {
        vf dx = x[0] - others->x[i], dy = x[1] - others->y[i], dz = x[2] - others->z[i],
           r = radius + radii[i];
        least = pl_min_f(dx * dx + dy * dy + dz * dz - r * r, least);
    }
    return least;
}

/* The same inside one body, where many never touch. */
static vf least_square_inside(const vf x[3], vf radius, const pl_clump_places *others,
                              const float *radii, const uint32_t *excuses)
{
    vf least = pl_splat_f(1e30f);
    for (int i = 0; i < PL_CLUMP; i++) {
        vi may;
        for (int lane = 0; lane < PL_W; lane++)
            may[lane] = excuses[lane] >> i & 1 ? 0 : -1;
        vf dx = x[0] - others->x[i], dy = x[1] - others->y[i], dz = x[2] - others->z[i],
           r = radius + radii[i];
        least = pl_select_f(may, pl_min_f(dx * dx + dy * dy + dz * dz - r * r, least), least);
    }
    return least;
}

/* Whole steps, rounded down: at most PL_ROW_GAPS, and none where it is no number. */
PL_LANES_INLINE void note_gaps(vf steps, uint8_t *out)
{
    int32_t whole[PL_W] __attribute__((aligned(64)));
    steps = pl_min_f(pl_max_f(steps, pl_splat_f(0)), pl_splat_f(PL_ROW_GAPS));
    vi down = __builtin_convertvector(steps, vi);
    memcpy(whole, &down, sizeof whole);
    for (int lane = 0; lane < PL_W; lane++)
        out[lane] = (uint8_t)whole[lane];
}

/* The rows that have no more than so many steps of a gap. */
PL_LANES_INLINE uint32_t rows_within(const pl_row_gaps *gaps, int32_t steps)
{
#if defined(__SSE2__)
    __m128i all = _mm_loadu_si128((const __m128i *)gaps->of);
    __m128i less = _mm_min_epu8(all, _mm_set1_epi8((char)steps));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, less));
#else
    uint32_t rows = 0;
    for (int k = 0; k < PL_CLUMP; k++)
        rows |= (uint32_t)(gaps->of[k] <= steps) << k;
    return rows;
#endif
}

/* A closer look at two clumps whose spheres come near each other: all their particles, where their paths have brought them by now.
   What is found is good until a gap of `keep` is used up; those of mine with less of it are left alone until that is. The gap d − r of
   one pair is √(d² − r² + r²) − r, and the less the larger r: one root for all of them, with the largest. */
static __attribute__((noinline)) void look_closely(const search *s, pl_group *group,
                                                   pl_row_gaps *gaps, float keep)
{
    const pl_contact *contact = s->contact;
    int mine = group->clump, other = group->other;
    const pl_contact_body *a = contact->bodies + contact->body_of[mine];
    const pl_contact_body *b = contact->bodies + contact->body_of[other];
    const pl_clump_places *from = contact->marks + mine, *to = contact->marks + other;
    const float *radius = contact->radius + (size_t)mine * PL_CLUMP;
    const float *radii = contact->radius + (size_t)other * PL_CLUMP;
    float offset[3], rounding = a->largest + b->largest;
    uint32_t excuses[PL_CLUMP];
    vf least = pl_splat_f(1e30f);
    for (int k = 0; k < 3; k++) {
        float apart = (float)(b->mark_base[k] - a->mark_base[k]);
        float way = (contact->path[other][k] - contact->path[mine][k]) * s->since;
        offset[k] = apart + way;
        rounding += __builtin_fabsf(apart) + __builtin_fabsf(way) +
                    __builtin_fabsf(contact->spheres[mine][k]) +
                    __builtin_fabsf(contact->spheres[other][k]);
    }
    for (int i = 0; a == b && i < PL_CLUMP; i++)
        excuses[i] = excused(contact, mine * PL_CLUMP + i, other) | ~(uint32_t)contact->used[other];
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x[3] = {pl_load_f(from->x + k) - offset[0], pl_load_f(from->y + k) - offset[1],
                   pl_load_f(from->z + k) - offset[2]};
        vf r = pl_load_f(radius + k);
        vf square = a == b ? least_square_inside(x, r, to, radii, excuses + k)
                           : least_square(x, r, to, radii);
        vf most = r + contact->thick[other];
        vf gap =
            pl_sqrt_f(pl_max_f(square + most * most, pl_splat_f(0))) - (most + 2e-6f * rounding);
        note_gaps(gap * (PL_ROW_GAPS / keep), gaps->of + k);
        least = pl_select_f(gap > least, least, gap);
    }
    group->keep = keep;
    group->beyond = keep + group->closing * s->since;
    group->gap = pl_least_f(least) + group->closing * s->since;
}

/* How much further than needed a closer look goes: so that it lasts. */
static float foresight(const pl_contact *contact, const pl_group *group)
{
    return 6 * group->closing * (float)contact->h +
           0.3f * (contact->motion[group->clump].slack + contact->motion[group->other].slack);
}

/* Of PL_W groups and clumps, in the order in which they lie in memory. */
typedef struct vgroup {
    vf closing, gap, beyond, keep;
} vgroup;

typedef struct vmotion {
    vf mean[3], swing, stray, loose, excess, slack;
} vmotion;

_Static_assert(sizeof(pl_clump_motion) == sizeof(vmotion) / PL_W, "one vector for each number");

/* How near PL_W groups may have come. */
typedef struct nearness {
    float reach[PL_W], closed[PL_W];
    int32_t fast[PL_W], steps[PL_W]; /* `steps`: rows with no more of a gap than that are near */
    uint32_t look, may;              /* a closer look is due; something may be found */
} nearness;

PL_LANES_INLINE void load_groups(const pl_group *groups, const int32_t *live, vgroup *out)
{
    const float *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = &groups[live[lane]].closing;
    pl_lanes_gather(rows, 4, (float *)out);
}

/* What is left of the gaps that the last closer looks have found, in whole steps of which PL_ROW_GAPS are `keep`; all of them where that is no
   number. */
PL_LANES_INLINE void use_up_gaps(const vgroup *group, vf reach, vf closed, nearness *out)
{
    vf need = reach + group->keep - (group->beyond - closed), all = pl_splat_f(PL_ROW_GAPS);
    vf steps = need / group->keep * (PL_ROW_GAPS * 1.00001f);
    steps = pl_select_f(steps < all, pl_max_f(steps, pl_splat_f(0)), all);
    vi whole = __builtin_convertvector(steps, vi);
    memcpy(out->steps, &whole, sizeof whole);
    out->may = ~bits_of(group->gap - closed > reach) & ALL_LANES;
}

/* Those that are not fast end nearer to their path than they may have been on the way: more of them find nothing. */
PL_LANES_INLINE void look_at_groups(const search *s, const pl_group *groups, const int32_t *live,
                                    nearness *out)
{
    const pl_contact *contact = s->contact;
    vgroup group;
    vmotion mine, others;
    vf apart[3];
    const float *of_mine[PL_W], *of_others[PL_W];
    for (int lane = 0; lane < PL_W; lane++) {
        const pl_group *at = groups + live[lane];
        of_mine[lane] = contact->motion[at->clump].mean;
        of_others[lane] = contact->motion[at->other].mean;
    }
    load_groups(groups, live, &group);
    pl_lanes_gather(of_mine, 8, (float *)&mine);
    pl_lanes_gather(of_others, 8, (float *)&others);
    for (int k = 0; k < 3; k++)
        apart[k] = others.mean[k] - mine.mean[k];
    vf way = pl_sqrt_f(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
    /* No particle of one moves further than this against any of the other, on top of a part of their half axes. */
    vi fast = way * 1.0001f + (mine.excess + others.excess) > 0.0f;
    /* Gaps are known for the end of a sub-step: during it their paths may have been nearer. */
    vf during = mine.loose + others.loose + group.closing * (float)contact->h;
    vf after = mine.stray + others.stray;
    vf reach = pl_select_f(fast, during, after), closed = group.closing * s->since;
    memcpy(out->reach, &reach, sizeof reach);
    memcpy(out->closed, &closed, sizeof closed);
    memcpy(out->fast, &fast, sizeof fast);
    use_up_gaps(&group, reach, closed, out);
    out->look = ~bits_of(group.beyond - closed > reach) & out->may;
}

/* Where one is due. */
static __attribute__((noinline)) void look_closer(const search *s, pl_group *groups,
                                                  pl_row_gaps *gaps, const int32_t *live,
                                                  uint32_t which, nearness *n)
{
    vgroup group;
    vf reach, closed;
    for (; which; which &= which - 1) {
        int lane = __builtin_ctz(which);
        pl_group *at = groups + live[lane];
        look_closely(s, at, gaps + live[lane], n->reach[lane] + foresight(s->contact, at));
    }
    memcpy(&reach, n->reach, sizeof reach);
    memcpy(&closed, n->closed, sizeof closed);
    load_groups(groups, live, &group);
    use_up_gaps(&group, reach, closed, n);
}

/* My particles that may be fast against one of the other clump. */
PL_LANES_INLINE uint32_t fast_rows(const pl_contact *contact, const pl_group *group)
{
    const pl_clump_places *ways = contact->ways + group->clump;
    const pl_clump_motion *others = contact->motion + group->other;
    const float *least = contact->least + (size_t)group->clump * PL_CLUMP;
    uint32_t rows = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(ways->x + k) - others->mean[0],
           y = pl_load_f(ways->y + k) - others->mean[1],
           z = pl_load_f(ways->z + k) - others->mean[2];
        vf way = 1.0001f * pl_sqrt_f(x * x + y * y + z * z);
        rows |= bits_less(PL_SLOW_PART * pl_load_f(least + k), way + others->excess) << k;
    }
    return rows;
}

/* What the two clumps have in common. */
PL_LANES_INLINE void join(const pl_contact *contact, const pl_group *group, between *two)
{
    two->clump = group->clump, two->body = contact->body_of[two->clump];
    two->other = group->other, two->other_body = contact->body_of[two->other];
    two->mine = contact->primitives + (size_t)two->clump * PL_CLUMP;
    two->others = contact->primitives + (size_t)two->other * PL_CLUMP;
    two->used = contact->used[two->other];
    const pl_contact_body *a = contact->bodies + two->body;
    const pl_contact_body *b = contact->bodies + two->other_body;
    for (int k = 0; k < 3; k++)
        two->offset[k] = (float)(b->base[k] - a->base[k]);
    two->friction = a->grip * b->grip;
    two->bounce = a->restitution > b->restitution ? a->restitution : b->restitution;
}

/* Returns the number of those that may find something. */
static int look_between(search *s, pl_group *groups, pl_row_gaps *gaps, int32_t *live, int count)
{
    const pl_contact *contact = s->contact;
    int kept = 0;
    for (int i = count; i < count + PL_W && count; i++)
        live[i] = live[count - 1];
    for (int i = 0; i < count; i += PL_W) {
        nearness n;
        look_at_groups(s, groups, live + i, &n);
        uint32_t look = n.look & lanes_up_to(count - i);
        if (look)
            look_closer(s, groups, gaps, live + i, look, &n);
        for (uint32_t left = n.may & lanes_up_to(count - i); left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            const pl_group *group = groups + live[i + lane];
            between *two = s->two + kept;
            join(contact, group, two);
            two->fast = n.fast[lane] ? fast_rows(contact, group) : 0;
            two->rows =
                rows_within(gaps + live[i + lane], n.steps[lane]) & contact->used[two->clump];
            kept += two->rows != 0;
        }
    }
    return kept;
}

/* ---- Rows to pairs --------------------------------------------------------------------------------- */

typedef struct grounds {
    const pl_clump_places *places, *ways;
    const float *radius, *least;
} grounds;

/* My particles, measured from the base of the other's body, and all of the other clump in lanes. */
typedef struct view {
    float x[3][PL_CLUMP];
    const float *radius;
    vf others[PL_CLUMP / PL_W][4]; /* places, radii */
} view;

PL_LANES_INLINE void look_across(const grounds *g, const between *two, view *out)
{
    const pl_clump_places *m = g->places + two->clump, *o = g->places + two->other;
    const float *radius = g->radius + (size_t)two->other * PL_CLUMP;
    out->radius = g->radius + (size_t)two->clump * PL_CLUMP;
    for (int i = 0; i < PL_CLUMP / PL_W; i++) {
        int k = i * PL_W;
        pl_storeu_f(out->x[0] + k, pl_load_f(m->x + k) - two->offset[0]);
        pl_storeu_f(out->x[1] + k, pl_load_f(m->y + k) - two->offset[1]);
        pl_storeu_f(out->x[2] + k, pl_load_f(m->z + k) - two->offset[2]);
        out->others[i][0] = pl_load_f(o->x + k);
        out->others[i][1] = pl_load_f(o->y + k);
        out->others[i][2] = pl_load_f(o->z + k);
        out->others[i][3] = pl_load_f(radius + k);
    }
}

/* Whose spheres overlap. */
PL_LANES_INLINE uint32_t spheres_meet(const view *v, int at)
{
    uint32_t result = 0;
    for (int i = 0; i < PL_CLUMP / PL_W; i++) {
        const vf *o = v->others[i];
        vf x = o[0] - v->x[0][at], y = o[1] - v->x[1][at], z = o[2] - v->x[2][at],
           r = o[3] + v->radius[at];
        result |= bits_less(x * x + y * y + z * z, r * r) << i * PL_W;
    }
    return result;
}

/* Who moved far. */
PL_LANES_INLINE uint32_t are_fast(const grounds *g, int32_t mine, int at, const between *two)
{
    const pl_clump_places *way = g->ways + mine, *ways = g->ways + two->other;
    const float *least = g->least + (size_t)two->other * PL_CLUMP;
    float thin = g->least[mine * PL_CLUMP + at];
    uint32_t result = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf u = pl_load_f(ways->x + k) - way->x[at], v = pl_load_f(ways->y + k) - way->y[at],
           w = pl_load_f(ways->z + k) - way->z[at];
        vf small = PL_SWEPT_PART * (pl_load_f(least + k) + thin);
        result |= bits_less(small * small, u * u + v * v + w * w) << k;
    }
    return result;
}

/* Whose spheres overlap on their way. */
static __attribute__((noinline)) uint32_t paths_meet(const grounds *g, int32_t mine, int at,
                                                     const between *two)
{
    const pl_clump_places *m = g->places + mine, *o = g->places + two->other;
    const pl_clump_places *way = g->ways + mine, *ways = g->ways + two->other;
    const float *radius = g->radius + (size_t)two->other * PL_CLUMP;
    float px = m->x[at] - two->offset[0], py = m->y[at] - two->offset[1],
          pz = m->z[at] - two->offset[2], reach = g->radius[mine * PL_CLUMP + at];
    uint32_t result = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(o->x + k) - px, y = pl_load_f(o->y + k) - py, z = pl_load_f(o->z + k) - pz,
           r = pl_load_f(radius + k) + reach;
        vf u = pl_load_f(ways->x + k) - way->x[at], v = pl_load_f(ways->y + k) - way->y[at],
           w = pl_load_f(ways->z + k) - way->z[at];
        vf back = (u * x + v * y + w * z) / pl_max_f(u * u + v * v + w * w, pl_splat_f(1e-37f));
        back = pl_min_f(pl_max_f(back, pl_splat_f(0)), pl_splat_f(1));
        x -= back * u;
        y -= back * v;
        z -= back * w;
        result |= bits_less(x * x + y * y + z * z, r * r) << k;
    }
    return result;
}

/* Adds at most sixteen, of one of my particles, behind the first `count`; returns how many there are then. */
PL_LANES_INLINE int add_pairs(pairs *to, int count, int32_t two, int particle, uint32_t mask)
{
    uint32_t row = (uint32_t)two << 8 | (uint32_t)particle << 4;
#if PL_W == 16 && PL_LANES_NATIVE
    const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i all = _mm512_or_epi32(places, _mm512_set1_epi32((int32_t)row));
    _mm512_storeu_si512(to->of + count, _mm512_maskz_compress_epi32((__mmask16)mask, all));
    return count + __builtin_popcount(mask);
#else
    for (; mask; mask &= mask - 1)
        to->of[count++] = row | (uint32_t)__builtin_ctz(mask);
    return count;
#endif
}

/* They outlive the portion they are from. */
static void add_swift(search *s, int particle, int32_t of, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int number = GROUPS + s->swift.count;
        s->two[number] = s->two[of];
        s->swift.count = add_pairs(&s->swift, s->swift.count, number, particle, mask & (0u - mask));
    }
}

/* The rows of a group in which nobody is fast and none are excused: no branches but the loop's. */
PL_LANES_INLINE int plain_rows(const grounds *g, const between *two, int32_t of, pairs *to)
{
    int count = to->count;
    view v;
    look_across(g, two, &v);
    for (uint32_t rows = two->rows; rows; rows &= rows - 1) {
        int at = __builtin_ctz(rows);
        uint32_t mask = spheres_meet(&v, at) & two->used;
        count = add_pairs(to, count, of, at, mask);
    }
    return count;
}

/* Any group's. Returns the rows that are left over when too many pairs are swift. */
static uint32_t careful_rows(search *s, const grounds *g, const between *two, int32_t of)
{
    const pl_contact *contact = s->contact;
    uint32_t rows = two->rows;
    view v;
    look_across(g, two, &v);
    for (; rows && s->swift.count <= FULL; rows &= rows - 1) {
        int at = __builtin_ctz(rows);
        int32_t mine = two->clump;
        uint32_t all = two->used, swept = 0;
        if (two->body == two->other_body)
            all &= ~excused(contact, mine * PL_CLUMP + at, two->other);
        if (two->fast >> at & 1)
            swept = are_fast(g, mine, at, two) & all;
        uint32_t mask = spheres_meet(&v, at) & all & ~swept;
        s->slow.count = add_pairs(&s->slow, s->slow.count, of, at, mask);
        if (swept)
            swept &= paths_meet(g, mine, at, two);
        if (swept)
            add_swift(s, at, of, swept);
    }
    return rows;
}

/* Pairs from the rows of this portion's groups, from the `from`th on, until there is no room for more. */
static int rows_to_pairs(search *s, int from, int count)
{
    const pl_contact *contact = s->contact;
    const grounds g = {contact->places, contact->ways, contact->radius, contact->least};
    int room = PAIRS - PL_CLUMP * PL_CLUMP;
    for (; from < count && s->slow.count <= room && s->swift.count <= FULL; from++) {
        between *two = s->two + from;
        if (!two->fast && two->body != two->other_body)
            s->slow.count = plain_rows(&g, two, from, &s->slow);
        else if ((two->rows = careful_rows(s, &g, two, from)))
            break;
    }
    return from;
}

/* ---- Pairs to touches ------------------------------------------------------------------------------ */

typedef struct vgrain {
    vf x[3], moved[3], turned[3];
    vshape shape;
    vf yield;
} vgrain;

/* What their groups have in common. */
typedef struct vbetween {
    vf offset[3], friction, bounce, others[3];
} vbetween;

/* Both particles of PL_W pairs, and what is between them. */
static void load_pairs(const search *s, const uint32_t *which, vgrain *a, vgrain *b, vbetween *out)
{
    const float *mine[PL_W], *others[PL_W], *rows[PL_W];
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        mine[lane] = two->mine[mine_of(which[lane])].x;
        others[lane] = two->others[other_of(which[lane])].x;
        rows[lane] = two->offset;
    }
    pl_lanes_gather(mine, 16, (float *)a);
    pl_lanes_gather(others, 16, (float *)b);
    pl_lanes_gather(rows, 8, (float *)out);
}

PL_LANES_INLINE vf dot(const vf a[3], const vf b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PL_LANES_INLINE void normalise(const vf a[3], vf out[3], vf *length)
{
    vf square = dot(a, a);
    vi none = square < 1e-36f;
    *length = pl_sqrt_f(square);
    vf inverse = 1.0f / pl_select_f(none, pl_splat_f(1), *length);
    /* Centres at one place: any direction will do. */
    out[0] = pl_select_f(none, pl_splat_f(0), a[0] * inverse);
    out[1] = pl_select_f(none, pl_splat_f(1), a[1] * inverse);
    out[2] = pl_select_f(none, pl_splat_f(0), a[2] * inverse);
}

/* 2^-e for 2^e ≤ value < 2^(e + 1): shapes are scaled by it, so that nothing over- or underflows. */
PL_LANES_INLINE vf inverse_power(vf value)
{
    return (vf)(0x7f000000 - ((vi)value & 0x7f800000));
}

PL_LANES_INLINE void scale_shape(vshape *b, vf by)
{
    b->xx *= by, b->xy *= by, b->xz *= by, b->yy *= by, b->yz *= by, b->zz *= by;
}

/* Both by the same power of two; returns it. */
PL_LANES_INLINE vf scale_both(vshape *a, vshape *b)
{
    vf scale = inverse_power(pl_max_f(a->xx + a->yy + a->zz, b->xx + b->yy + b->zz));
    scale_shape(a, scale);
    scale_shape(b, scale);
    return scale;
}

PL_LANES_INLINE void shape_times(const vshape *b, const vf v[3], vf out[3])
{
    out[0] = b->xx * v[0] + b->xy * v[1] + b->xz * v[2];
    out[1] = b->xy * v[0] + b->yy * v[1] + b->yz * v[2];
    out[2] = b->xz * v[0] + b->yz * v[1] + b->zz * v[2];
}

PL_LANES_INLINE void cross(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Distance of closest approach along n, and y; `beyond` = distances from which on nothing touches, to leave early. */
static vf closest_approach(const vshape *a, const vshape *b, const vf n[3], vf beyond, vf normal[3])
{
    vf one = pl_splat_f(1), y[3];
    vshape p = *a, q = *b;
    vapproach approach;
    vf scale = scale_both(&p, &q);
    approach_begin(&approach);
    approach_evaluate(&approach, &p, &q, n, true);
    for (int i = 1; i < PL_APPROACH_EVALUATIONS; i++) {
        if (!pl_any_f(approach.square > beyond * beyond * scale))
            break;
        if (i < PL_APPROACH_EVALUATIONS - 1)
            approach_evaluate(&approach, &p, &q, n, false);
        else
            approach_try(&approach, &p, &q, n, y);
    }
    /* No estimate is below the true distance, and they only fall: these are apart, however many evaluations their
       neighbours in the lanes asked for. */
    vi apart = ~(approach.square > beyond * beyond * scale);
    for (int k = 0; k < 3; k++)
        normal[k] = approach.normal[k];
    return pl_select_f(apart, pl_splat_f(0), pl_sqrt_f(approach.square * (one / scale)));
}

/* Where along its way (from `start`, by `way`) b first comes as near to a as `reach`; 2 = never. */
PL_LANES_INLINE vf first_meeting(const vf start[3], const vf way[3], vf reach)
{
    vf square = dot(way, way), half = dot(start, way), gap = dot(start, start) - reach * reach;
    vf under = half * half - square * gap;
    vf t =
        (-half - pl_sqrt_f(pl_max_f(under, pl_splat_f(0)))) / pl_max_f(square, pl_splat_f(1e-37f));
    vi never = (under < 0.0f) | (t > 1.0f) | (half > 0.0f);
    t = pl_select_f(never, pl_splat_f(2), pl_max_f(t, pl_splat_f(0)));
    return pl_select_f(gap <= 0.0f, pl_splat_f(0), t);
}

typedef struct meeting {
    vf n[3], normal[3], distance,
        along; /* direction, surface normal, closest approach, n · (x_b − x_a) */
} meeting;

static void meet_at_end(const vgrain *a, const vgrain *b, const vf r[3], meeting *m)
{
    normalise(r, m->n, &m->along);
    m->distance = closest_approach(&a->shape, &b->shape, m->n, m->along, m->normal);
}

/* Two rounds: the direction from spheres, then from the approach along that direction. */
static void meet_on_the_way(const vgrain *a, const vgrain *b, const vf r[3], vf reach, meeting *m)
{
    vf way[3], start[3], n[3], normal[3], length, zero = pl_splat_f(0);
    for (int k = 0; k < 3; k++) {
        way[k] = b->moved[k] - a->moved[k];
        start[k] = r[k] - way[k];
    }
    for (int round = 0; round < 3; round++) {
        vf t = first_meeting(start, way, reach), at[3];
        vi never = t > 1.0f;
        for (int k = 0; k < 3; k++)
            at[k] = start[k] + pl_min_f(t, pl_splat_f(1)) * way[k];
        normalise(at, n, &length);
        vf distance = closest_approach(&a->shape, &b->shape, n, zero, normal);
        reach = pl_select_f(never, reach, distance);
        vi take = ~never;
        if (round == 2) {
            m->distance = pl_select_f(take, distance, m->distance);
            m->along = pl_select_f(take, dot(n, r), m->along);
            for (int k = 0; k < 3; k++) {
                m->n[k] = pl_select_f(take, n[k], m->n[k]);
                m->normal[k] = pl_select_f(take, normal[k], m->normal[k]);
            }
        }
    }
}

/* Of two that were looked at along their way: they overlapped when it began, and are apart by now. Their touch is kept, with the room they have as a depth below zero: it
   does nothing unless others push them back. Springs pull a small tip out of where it is caught and contact pushes it back, in every sub-step: whoever
   is only met where it is pushed to would never be looked at, and they stay as deep in each other as they are. */
PL_LANES_INLINE vi have_parted(const meeting *m, const vf moved[3])
{
    vf before = m->along - dot(m->n, moved);
    return (m->distance > 0.0f) & (m->distance > before) & ~(m->distance > m->along);
}

/* From the centre to the point of the surface whose normal is n. */
PL_LANES_INLINE void surface_point(const vshape *b, const vf n[3], vf sign, vf out[3])
{
    shape_times(b, n, out);
    vf scale = sign / pl_sqrt_f(pl_max_f(dot(n, out), pl_splat_f(1e-37f)));
    for (int k = 0; k < 3; k++)
        out[k] *= scale;
}

/* Displacement of b's surface against a's. */
static void slide_of(const vgrain *a, const vgrain *b, const vf normal[3], vf out[3])
{
    vf arm_a[3], arm_b[3], turn_a[3], turn_b[3];
    surface_point(&a->shape, normal, pl_splat_f(1), arm_a);
    surface_point(&b->shape, normal, pl_splat_f(-1), arm_b);
    cross(a->turned, arm_a, turn_a);
    cross(b->turned, arm_b, turn_b);
    for (int k = 0; k < 3; k++)
        out[k] = (b->moved[k] + turn_b[k]) - (a->moved[k] + turn_a[k]);
}

/* What is computed of a touch, in the order in which it lies in memory. */
typedef struct vtouch {
    vf n[3], depth, slide[3], friction, normal[3], recover, give_a, give_b, mass, kick;
} vtouch;

enum { TOUCH_VALUES = sizeof(vtouch) / sizeof(vf) };
_Static_assert(offsetof(pl_touch, kick) == (TOUCH_VALUES - 1) * sizeof(float),
               "one vector for each value of a touch");

static int store_touches(const search *s, const pairs *p, int at, uint32_t swept, uint32_t which,
                         const vtouch *touch, pl_touch *out)
{
    pl_touch nowhere;
    float *rows[PL_W];
    int count = 0;
    for (int lane = 0; lane < PL_W; lane++) {
        bool wanted = which >> lane & 1;
        uint32_t pair = p->of[at + lane];
        const between *two = two_of(s->two, pair);
        pl_touch *t = wanted ? out + count : &nowhere;
        t->a = two->clump * PL_CLUMP + mine_of(pair);
        t->b = two->other * PL_CLUMP + other_of(pair);
        t->pushed = t->rubbed = 0;
        t->swept = swept >> lane & 1 ? PL_SWEPT : 0;
        rows[lane] = t->n;
        count += wanted;
    }
    pl_lanes_scatter((const float *)touch, TOUCH_VALUES, rows);
    return count;
}

/* Two bodies deep in each other are parted along the line between the middles of the two clumps, which is where the one came into the other, whatever
   the rest of the bodies looks like: the lines of their particles' centres point every way, and would lock them together. Where the two lines point
   against each other, as of links of a chain, only what is very deep is. They are apart when a plane across that line fits
   between them: by the closest approach along it, flat particles that lie askew are apart while they are deep in each other. */
#define DEEP 0.12f
#define VERY_DEEP 0.3f
#define SAME_LINE 0.999f /* cosine: then they are parted as all others */

/* Where the middle of a clump is, from the base of its body. */
static void middle_of(const pl_contact *contact, int32_t clump, float out[3])
{
    const pl_clump_places *at = contact->places + clump;
    float sum[3] = {0, 0, 0};
    for (int i = 0; i < PL_CLUMP; i++)
        sum[0] += at->x[i], sum[1] += at->y[i], sum[2] += at->z[i];
    for (int k = 0; k < 3; k++)
        out[k] = sum[k] * (1.0f / PL_CLUMP);
}

/* From the middle of my clump to the other's, unit; zero inside one body. */
static void way_out(const search *s, const uint32_t *which, uint32_t lanes, vf out[3])
{
    float columns[3][PL_W] __attribute__((aligned(64))) = {{0}};
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        const between *two = two_of(s->two, which[lane]);
        float from[3], to[3], length = 0;
        if (two->body == two->other_body)
            continue;
        middle_of(s->contact, two->clump, from);
        middle_of(s->contact, two->other, to);
        for (int k = 0; k < 3; k++) {
            to[k] = (to[k] + two->offset[k]) - from[k];
            length += to[k] * to[k];
        }
        float scale = length > 0 ? 1 / __builtin_sqrtf(length) : 0;
        for (int k = 0; k < 3; k++)
            columns[k][lane] = to[k] * scale;
    }
    for (int k = 0; k < 3; k++)
        out[k] = pl_load_f(columns[k]);
}

/* √(nᵀ B n) */
PL_LANES_INLINE vf half_width(const vshape *b, const vf n[3])
{
    vf bn[3];
    shape_times(b, n, bn);
    return pl_sqrt_f(pl_max_f(dot(n, bn), pl_splat_f(0)));
}

static void leave_deep(const search *s, const uint32_t *which, const vgrain *a, const vgrain *b,
                       const vf r[3], const vf moved[3], meeting *m)
{
    vf out[3];
    vf before = m->distance - m->along + dot(m->n, moved);
    vi deep = (m->distance > m->along) & (before > DEEP * m->distance);
    if (!pl_any_f(deep))
        return;
    way_out(s, which, bits_of(deep), out);
    vf along = dot(out, r);
    vf distance = half_width(&a->shape, out) + half_width(&b->shape, out);
    deep &= (dot(out, out) > 0.5f) & (dot(out, m->n) < SAME_LINE) & (distance > along) &
            ((along > 0.0f) | (before > VERY_DEEP * m->distance));
    m->distance = pl_select_f(deep, distance, m->distance);
    m->along = pl_select_f(deep, along, m->along);
    for (int k = 0; k < 3; k++) {
        m->n[k] = pl_select_f(deep, out[k], m->n[k]);
        m->normal[k] = pl_select_f(deep, out[k], m->normal[k]);
    }
}

/* How fast the two came nearer along n before the solver had its say, metres per sub-step. */
static vf coming(const search *s, const uint32_t *which, const vf n[3])
{
    float apart[3][PL_W] __attribute__((aligned(64)));
    vf sum = pl_splat_f(0);
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        const float *a = s->contact->came[two->clump * PL_CLUMP + mine_of(which[lane])];
        const float *b = s->contact->came[two->other * PL_CLUMP + other_of(which[lane])];
        for (int k = 0; k < 3; k++)
            apart[k][lane] = a[k] - b[k];
    }
    for (int k = 0; k < 3; k++)
        sum += n[k] * pl_load_f(apart[k]);
    return sum;
}

static vf reach_of(const search *s, const uint32_t *which)
{
    const float *radius = s->contact->radius;
    float sum[PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++) {
        const between *two = two_of(s->two, which[lane]);
        sum[lane] = radius[two->clump * PL_CLUMP + mine_of(which[lane])] +
                    radius[two->other * PL_CLUMP + other_of(which[lane])];
    }
    return pl_load_f(sum);
}

/* Lanes behind the last pair repeat it. */
static void fill_up(pairs *p)
{
    for (int i = p->count; i < p->count + PL_W - 1; i++)
        p->of[i] = p->of[p->count - 1];
}

PL_LANES_INLINE uint32_t lanes_left(const pairs *p, int at)
{
    return lanes_up_to(p->count - at);
}

/* The pairs from the `at`th on, as many as there are lanes. */
static int touch_lanes(const search *s, const pairs *p, int at, bool swept, pl_touch *out)
{
    const pl_contact *contact = s->contact;
    const uint32_t *pair = p->of + at;
    vgrain a, b;
    vbetween two;
    vf r[3], moved[3], length;
    meeting m;
    load_pairs(s, pair, &a, &b, &two);
    for (int k = 0; k < 3; k++) {
        r[k] = b.x[k] + two.offset[k] - a.x[k];
        moved[k] = b.moved[k] - a.moved[k];
    }
    vi parted = pl_splat_bits_f(0);
    meet_at_end(&a, &b, r, &m);
    if (swept) {
        meet_on_the_way(&a, &b, r, reach_of(s, pair), &m);
        parted = have_parted(&m, moved);
    }
    leave_deep(s, pair, &a, &b, r, moved, &m);
    vf overlap = m.distance - m.along, yield = a.yield + b.yield;
    uint32_t which = bits_of(((overlap > 0.0f) | parted) & (yield > 0.0f)) & lanes_left(p, at);
    if (!which)
        return 0;
    vtouch t;
    vf approach = -dot(m.n, moved);
    normalise(m.normal, t.normal, &length);
    slide_of(&a, &b, t.normal, t.slide);
    share_overlap(overlap, approach, m.distance, recovery_part(contact->h), &t.depth, &t.recover);
    t.depth = pl_select_f(parted, overlap, t.depth);
    t.kick = pl_splat_f(0);
    if (contact->bouncy)
        t.kick = bounce_of(coming(s, pair, m.n), approach, t.depth, two.bounce,
                           bounce_floor(contact->h, contact->gravity));
    for (int k = 0; k < 3; k++)
        t.n[k] = m.n[k];
    t.friction = two.friction;
    t.mass = 1.0f / pl_max_f(yield, pl_splat_f(1e-37f));
    t.give_a = a.yield * t.mass;
    t.give_b = b.yield * t.mass;
    /* What only slides past is resolved like anything slow. */
    uint32_t head_on = swept ? bits_of(approach > PL_SWEPT_PART * m.distance) : 0;
    s->segment->swept |= (head_on & which) != 0;
    return store_touches(s, p, at, head_on, which, &t, out);
}

/* Four floats of each pair from element k on: b + a, or with more, b + more − a. Added row by row they are turned into lanes only once. */
PL_LANES_INLINE void gather_pairs(const float *const *a, const float *const *b,
                                  const float *const *more, int k, vf out[4])
{
#if PL_LANES_NATIVE
    for (int i = 0; i < 4; i++) {
        vf one = pl_lanes_load_quarters(a + i, k), two = pl_lanes_load_quarters(b + i, k);
        out[i] = more ? two + pl_lanes_load_quarters(more + i, 0) - one : two + one;
    }
    pl_lanes_transpose4(out, out + 1, out + 2, out + 3);
#else
    for (int i = 0; i < 4; i++)
        for (int lane = 0; lane < PL_W; lane++)
            out[i][lane] = more ? b[lane][k + i] + more[lane][i] - a[lane][k + i]
                                : b[lane][k + i] + a[lane][k + i];
#endif
}

/* The same pairs: which of them are not found apart by the first evaluation already. That is d² = 4 det G/(nᵀ adj(G) n) at s = 1/2, and
   d² > r² needs no root and no division: 4 det G > rᵀ adj(G) r, with something to spare for rounding. */
static __attribute__((noinline)) uint32_t look_once(const search *s, const pairs *p, int at)
{
    enum { SHAPE = offsetof(pl_primitive, shape) / sizeof(float) };
    const float *a[PL_W], *b[PL_W], *offset[PL_W];
    vf r[4], front[4], back[4]; /* the shape begins with the second of `front` */
    for (int lane = 0; lane < PL_W; lane++) {
        uint32_t pair = p->of[at + lane];
        const between *two = two_of(s->two, pair);
        a[lane] = two->mine[mine_of(pair)].x;
        b[lane] = two->others[other_of(pair)].x;
        offset[lane] = two->offset;
    }
    gather_pairs(a, b, offset, 0, r);
    gather_pairs(a, b, NULL, SHAPE - 1, front);
    gather_pairs(a, b, NULL, SHAPE + 3, back);
    vf scale = inverse_power(front[1] + back[0] + back[2]), square = pl_splat_f(0);
    vshape sum = {front[1] * scale, front[2] * scale, front[3] * scale,
                  back[0] * scale,  back[1] * scale,  back[2] * scale};
    vf y[3], det = shape_adjoint(&sum, r, y);
    for (int k = 0; k < 3; k++)
        square += r[k] * (y[k] * scale);
    /* B₁ + B₂ is twice G: its determinant eight times, its adjoint four times as large. */
    vi apart = square > 2.00002f * det;
    return ~bits_of(apart) & lanes_left(p, at);
}

/* ---- A block of clumps ----------------------------------------------------------------------------- */

PL_LANES_INLINE void keep_pairs(const pairs *from, int at, uint32_t which, pairs *to)
{
#if PL_W == 16 && PL_LANES_NATIVE
    __m512i all = _mm512_loadu_si512(from->of + at);
    _mm512_storeu_si512(to->of + to->count, _mm512_maskz_compress_epi32((__mmask16)which, all));
    to->count += __builtin_popcount(which);
#else
    for (int lane = 0; lane < PL_W; lane++) {
        to->of[to->count] = from->of[at + lane];
        to->count += which >> lane & 1;
    }
#endif
}

/* False when there is no room for what might be found. */
static bool take_pairs(search *s, pairs *p, bool swept)
{
    pl_contact_buffer *buffer = s->buffer;
    if (p->count)
        fill_up(p);
    for (int at = 0; at < p->count; at += PL_W) {
        if (buffer->touch_count + PL_W > buffer->touch_capacity)
            return false;
        buffer->touch_count += touch_lanes(s, p, at, swept, buffer->touches + buffer->touch_count);
    }
    p->count = 0;
    return true;
}

/* Most pairs whose spheres meet are apart all the same, and seen to be so at the first look: the others go on in full lanes. */
static bool take_slow(search *s)
{
    if (s->slow.count)
        fill_up(&s->slow);
    s->close.count = 0;
    for (int at = 0; at < s->slow.count; at += PL_W)
        keep_pairs(&s->slow, at, look_once(s, &s->slow, at), &s->close);
    s->slow.count = 0;
    return take_pairs(s, &s->close, false);
}

/* The order of touches does not depend on the width, nor on how groups are cut into portions: the slow ones in the order of rows, then the
   swift ones, when there are many of them or the block is done. */
static bool take_groups(search *s, int count)
{
    for (int at = 0; at < count;) {
        at = rows_to_pairs(s, at, count);
        if (!take_slow(s) || (s->swift.count > FULL && !take_pairs(s, &s->swift, true)))
            return false;
    }
    return true;
}

static bool find_in_block(search *s, pl_group *groups, pl_row_gaps *gaps, int count)
{
    s->slow.count = s->swift.count = 0;
    for (int done = 0; done < count;) {
        int32_t live[GROUPS + PL_CLUMP];
        int kept = live_groups(s, groups, &done, count, live);
        kept = look_between(s, groups, gaps, live, kept);
        if (!take_groups(s, kept))
            return false;
    }
    return take_pairs(s, &s->swift, true);
}

void PL_LANES(pl_contact_touches)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    const pl_segment *source = contact->group_segments + block;
    pl_segment *segment = contact->touch_segments + block;
    pl_group *groups = contact->buffers[source->worker].groups + source->first;
    pl_row_gaps *gaps = contact->buffers[source->worker].gaps + source->first;
    search s;
    s.contact = contact;
    s.buffer = buffer;
    s.segment = segment;
    s.since = (float)(contact->time - contact->made);
    *segment = (pl_segment){.worker = worker, .first = buffer->touch_count};
    segment->full = !find_in_block(&s, groups, gaps, source->count);
    if (segment->full)
        buffer->touch_count = segment->first;
    segment->count = buffer->touch_count - segment->first;
    PL_LANES_LEAVE();
}

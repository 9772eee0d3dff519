/* Groups to rows, a part of narrow_lanes.c: which groups of a block may find something in this
   sub-step, and which of my particles have come near the other clump. */

/* Which groups of a block may find something, from the `from`th on, as many as there is room for.
   Returns their number. */
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

/* Pairs of the same body that never touch, or come twice: those of the other clump whom this
   particle leaves alone. */
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

/* The least of d² − r² of my particles (in lanes, from the k-th on) and all of the other clump.
   Places that are not used repeat another one, smaller. */
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

/* A closer look at two clumps whose spheres come near each other: all their particles, where their
   paths have brought them by now. What is found is good until a gap of `keep` is used up; those of
   mine with less of it are left alone until that is. The gap d − r of one pair is √(d² − r² + r²) −
   r, and the less the larger r: one root for all of them, with the largest. */
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

/* What is left of the gaps that the last closer looks have found, in whole steps of which
   PL_ROW_GAPS are `keep`; all of them where that is no number. */
PL_LANES_INLINE void use_up_gaps(const vgroup *group, vf reach, vf closed, nearness *out)
{
    vf need = reach + group->keep - (group->beyond - closed), all = pl_splat_f(PL_ROW_GAPS);
    vf steps = need / group->keep * (PL_ROW_GAPS * 1.00001f);
    steps = pl_select_f(steps < all, pl_max_f(steps, pl_splat_f(0)), all);
    vi whole = __builtin_convertvector(steps, vi);
    memcpy(out->steps, &whole, sizeof whole);
    out->may = ~pl_bits_f(group->gap - closed > reach) & ALL_LANES;
}

/* Those that are not fast end nearer to their path than they may have been on the way: more of them
   find nothing. */
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
    /* No particle of one moves further than this against any of the other, on top of a part of
       their half axes. */
    vi fast = way * 1.0001f + (mine.excess + others.excess) > 0.0f;
    /* Gaps are known for the end of a sub-step: during it their paths may have been nearer. */
    vf during = mine.loose + others.loose + group.closing * (float)contact->h;
    vf after = mine.stray + others.stray;
    vf reach = pl_select_f(fast, during, after), closed = group.closing * s->since;
    memcpy(out->reach, &reach, sizeof reach);
    memcpy(out->closed, &closed, sizeof closed);
    memcpy(out->fast, &fast, sizeof fast);
    use_up_gaps(&group, reach, closed, out);
    out->look = ~pl_bits_f(group.beyond - closed > reach) & out->may;
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
    if (a ==
        b) /* what is folded against itself would bounce at every fold, and make energy of it */
        two->bounce = 0;
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

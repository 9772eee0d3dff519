/* Rows to pairs, a part of narrow_lanes.c: whose spheres overlap, or did on their way. */

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

/* Where a particle was when the sub-step began, measured from the base of the other's body. */
PL_LANES_INLINE void start_of(const grounds *g, int32_t clump, int at, const float offset[3],
                              float out[3])
{
    const pl_clump_places *x = g->places + clump, *way = g->ways + clump;
    out[0] = x->x[at] - way->x[at] - offset[0];
    out[1] = x->y[at] - way->y[at] - offset[1];
    out[2] = x->z[at] - way->z[at] - offset[2];
}

/* Whose spheres it met there. */
PL_LANES_INLINE uint32_t were_near(const grounds *g, const float from[3], float reach,
                                   int32_t clump)
{
    const pl_clump_places *places = g->places + clump, *ways = g->ways + clump;
    const float *radius = g->radius + (size_t)clump * PL_CLUMP;
    uint32_t result = 0;
    for (int k = 0; k < PL_CLUMP; k += PL_W) {
        vf x = pl_load_f(places->x + k) - pl_load_f(ways->x + k) - from[0],
           y = pl_load_f(places->y + k) - pl_load_f(ways->y + k) - from[1],
           z = pl_load_f(places->z + k) - pl_load_f(ways->z + k) - from[2],
           r = pl_load_f(radius + k) + reach;
        result |= bits_less(x * x + y * y + z * z, r * r) << k;
    }
    return result;
}

/* Of each of my particles in the rows those of the other clump whom it met when the sub-step began, if one of the two was pulled. Returns whether
   there are any. */
static __attribute__((noinline)) bool find_caught(const grounds *g, const between *two,
                                                  uint32_t out[PL_CLUMP])
{
    const float back[3] = {-two->offset[0], -two->offset[1], -two->offset[2]};
    float from[3];
    uint32_t any = 0;
    memset(out, 0, sizeof *out * PL_CLUMP);
    for (uint32_t left = two->pulled; left; left &= left - 1) {
        int at = __builtin_ctz(left);
        start_of(g, two->clump, at, two->offset, from);
        any |= out[at] =
            were_near(g, from, g->radius[two->clump * PL_CLUMP + at], two->other) & two->used;
    }
    for (uint32_t left = two->other_pulled; left; left &= left - 1) {
        int at = __builtin_ctz(left);
        start_of(g, two->other, at, back, from);
        uint32_t mine = were_near(g, from, g->radius[two->other * PL_CLUMP + at], two->clump);
        for (mine &= two->rows; mine; mine &= mine - 1)
            any |= out[__builtin_ctz(mine)] |= 1u << at;
    }
    return any;
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

/* They outlive the portion they are from: what their groups have in common is kept from `first` on. */
static void add_apart(search *s, pairs *to, int first, int particle, int32_t of, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int number = first + to->count;
        s->two[number] = s->two[of];
        to->count = add_pairs(to, to->count, number, particle, mask & (0u - mask));
    }
}

static bool is_full(const search *s)
{
    return s->swift.count > FULL || s->caught.count > FULL;
}

/* The rows of a group in which nobody is fast or pulled and none are excused: no branches but the loop's. */
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

/* Any group's. Returns the rows that are left over when too many pairs wait apart. */
static uint32_t careful_rows(search *s, const grounds *g, const between *two, int32_t of)
{
    const pl_contact *contact = s->contact;
    uint32_t rows = two->rows, held[PL_CLUMP];
    bool pulled = (two->pulled | two->other_pulled) && find_caught(g, two, held);
    if (!(pulled | two->fast) && two->body != two->other_body) {
        s->slow.count = plain_rows(g, two, of, &s->slow);
        return 0;
    }
    view v;
    look_across(g, two, &v);
    for (; rows && !is_full(s); rows &= rows - 1) {
        int at = __builtin_ctz(rows);
        int32_t mine = two->clump;
        uint32_t all = two->used, swept = 0, caught = 0;
        if (two->body == two->other_body)
            all &= ~excused(contact, mine * PL_CLUMP + at, two->other);
        if (two->fast >> at & 1)
            swept = are_fast(g, mine, at, two) & all;
        if (pulled)
            caught = held[at] & all & ~swept;
        uint32_t mask = spheres_meet(&v, at) & all & ~(swept | caught);
        s->slow.count = add_pairs(&s->slow, s->slow.count, of, at, mask);
        if (swept)
            swept &= paths_meet(g, mine, at, two);
        if (swept)
            add_apart(s, &s->swift, GROUPS, at, of, swept);
        if (caught)
            add_apart(s, &s->caught, GROUPS + APART, at, of, caught);
    }
    return rows;
}

/* Pairs from the rows of this portion's groups, from the `from`th on, until there is no room for more. */
static int rows_to_pairs(search *s, int from, int count)
{
    const pl_contact *contact = s->contact;
    const grounds g = {contact->places, contact->ways, contact->radius, contact->least};
    int room = PAIRS - PL_CLUMP * PL_CLUMP;
    for (; from < count && s->slow.count <= room && !is_full(s); from++) {
        between *two = s->two + from;
        if (!(two->fast | two->pulled | two->other_pulled) && two->body != two->other_body)
            s->slow.count = plain_rows(&g, two, from, &s->slow);
        else if ((two->rows = careful_rows(s, &g, two, from)))
            break;
    }
    return from;
}

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

/* Adds at most sixteen, of one of my particles, behind the first `count`; returns how many there
   are then. */
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

/* Pairs from the rows of this portion's groups, from the `from`th on, until there is no room for
   more. */
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

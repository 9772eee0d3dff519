/* The members of one cluster at one vector width, a part of clustered_lanes.c: sixteen at a time,
   their places, and the sums over them that a fit wants. */

typedef struct members {
    const float *x; /* rows of the places that are looked at */
    const float *old, *u;
    const int32_t *row;
    const float *rest; /* p and w m, in blocks of sixteen members */
    int room;
    float centre[3]; /* positions are counted from here */
    float *offset;   /* x − centre, which the first pass leaves for the others; NULL = no room */
} members;

/* What the clusters of a run keep between their passes. */
PL_LANES_INLINE float *columns_of(const pl_clustered_rows *r, int run)
{
    return r->columns + (size_t)run * 3 * (size_t)r->column_room;
}

/* Where number k of `count` columns has member `at`: blocks of sixteen lie together, so that no two
   columns are a power of two apart, which caches do not like. */
PL_LANES_INLINE int column_of(int at, int count, int k)
{
    return at / PL_COLUMNS * PL_COLUMNS * count + k * PL_COLUMNS + at % PL_COLUMNS;
}

typedef struct vmember {
    vf y[3], p[3], mass;
} vmember;

PL_LANES_INLINE void load_rest(const float *rest, int at, vmember *v)
{
    for (int k = 0; k < 3; k++)
        v->p[k] = pl_load_f(rest + column_of(at, 4, k));
    v->mass = pl_load_f(rest + column_of(at, 4, 3));
}

/* Positions from the rows. */
PL_LANES_INLINE void load_places(const members *m, int at, vf y[3])
{
    vf x[4];
    load_rows(m->x, m->row + at, x);
    for (int k = 0; k < 3; k++)
        y[k] = x[k] - m->centre[k];
}

/* As the first pass has left them, if it has. */
PL_LANES_INLINE void reload_offsets(const members *m, bool kept, int at, vf y[3])
{
    if (!kept)
        load_places(m, at, y);
    for (int k = 0; kept && k < 3; k++)
        y[k] = pl_load_f(m->offset + column_of(at, 3, k));
}

/* Sums over a cluster's members, four columns each. */
enum {
    SUM_CENTRE,      /* w m y */
    SUM_FIT = 3,     /* w m y pᵀ */
    SUM_SHORT = 12,  /* this far for strain limiting */
    SUM_MOTION = 12, /* w m u */
    SUM_SPIN = 15,   /* w m y × u */
    SUM_SPREAD = 18, /* w m y yᵀ: xx xy xz yy yz zz */
    SUM_ALL = 24
};

PL_LANES_INLINE void add_fit(vf *sum, const vf wy[3], const vf p[3])
{
    for (int i = 0; i < 3; i++) {
        sum[SUM_CENTRE + i] += wy[i];
        for (int j = 0; j < 3; j++)
            sum[SUM_FIT + 3 * i + j] += wy[i] * p[j];
    }
}

PL_LANES_INLINE void add_motion(vf *sum, const vf y[3], const vf wy[3], const vf u[3], vf mass)
{
    vf spin[3];
    cross(wy, u, spin);
    for (int i = 0; i < 3; i++) {
        sum[SUM_MOTION + i] += mass * u[i];
        sum[SUM_SPIN + i] += spin[i];
    }
    sum[SUM_SPREAD] += wy[0] * y[0];
    sum[SUM_SPREAD + 1] += wy[0] * y[1];
    sum[SUM_SPREAD + 2] += wy[0] * y[2];
    sum[SUM_SPREAD + 3] += wy[1] * y[1];
    sum[SUM_SPREAD + 4] += wy[1] * y[2];
    sum[SUM_SPREAD + 5] += wy[2] * y[2];
}

PL_LANES_INLINE void sum_members(const members *m, bool kept, int count, float *out)
{
    float column[SUM_ALL][PL_COLUMNS] ALIGNED;
    for (int part = 0; part < PL_COLUMNS; part += PL_W) {
        vf sum[SUM_ALL];
        for (int k = 0; k < count; k++)
            sum[k] = pl_splat_f(0);
        for (int at = part; at < m->room; at += PL_COLUMNS) {
            vmember v;
            vf wy[3];
            load_places(m, at, v.y);
            load_rest(m->rest, at, &v);
            for (int k = 0; kept && k < 3; k++)
                pl_store_f(m->offset + column_of(at, 3, k), v.y[k]);
            for (int k = 0; k < 3; k++)
                wy[k] = v.mass * v.y[k];
            add_fit(sum, wy, v.p);
            if (count == SUM_ALL) {
                vf u[4];
                load_rows(m->u, m->row + at, u);
                add_motion(sum, v.y, wy, u, v.mass);
            }
        }
        for (int k = 0; k < count; k++)
            pl_store_f(column[k] + part, sum[k]);
    }
    for (int k = 0; k < count; k++)
        fold(column[k], out + 4 * k);
}

/* Copies of `members`, so that compilers know that nobody changes them; and whether there is room
   is asked once. */
static void sum_all(const members *m, float *out)
{
    members own = *m;
    if (own.offset)
        sum_members(&own, true, SUM_ALL, out);
    else
        sum_members(&own, false, SUM_ALL, out);
}

static void sum_short(const members *m, float *out)
{
    members own = *m;
    if (own.offset)
        sum_members(&own, true, SUM_SHORT, out);
    else
        sum_members(&own, false, SUM_SHORT, out);
}

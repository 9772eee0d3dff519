/* Clustered shape matching at one vector width: the fit of clusters, what it means for their particles, strain limiting.

   A group of sixteen clusters is gone through three times: sums over the members of each cluster, sixteen members at a
   time; then rotations and the rest with one cluster per lane; then what each cluster has for its members. Particles are rows
   of four floats, which sixteen loads and a transposition bring into lanes faster than three gathers do, and from which the way
   back goes the same. Offsets of members from the centre of their cluster are kept between the passes while there is room.

   Narrow bodies, of many small clusters, have one per lane in all three. Strain limiting is in clustered_limit.inl. With examples
   (METHODS §4) the first pass is made for all clusters before the second: in between their stretches are projected. Elastic
   bodies of smaller ones still have kernels of their own (rings_lanes.c). */
#include "matter/clustered_lanes.h"

#include <math.h>
#include <stddef.h>

#define PL_REAL_IS_DOUBLE 0
#include "math/lanes_real.inl"
#include "math/svd.inl"
#include "matter/clustered_rows.inl"
#include "matter/matching.inl"

/* ---- The members of a cluster ------------------------------------------------------------------ */

typedef struct members {
    const float *x, *old, *u;
    const int32_t *row;
    const float *rest; /* p and w, in blocks of sixteen members */
    int room;
    float centre[3]; /* positions are counted from here */
    float *offset;   /* x − centre, which the first pass leaves for the others; NULL = no room */
    float *arm;      /* for strain limiting */
} members;

/* Where number k of `count` columns has member `at`: blocks of sixteen lie together, so that no two columns are a power of
   two apart, which caches do not like. */
PL_LANES_INLINE int column_of(int at, int count, int k)
{
    return at / PL_COLUMNS * PL_COLUMNS * count + k * PL_COLUMNS + at % PL_COLUMNS;
}

typedef struct vmember {
    vf y[3], p[3], weight;
} vmember;

PL_LANES_INLINE void load_rest(const float *rest, int at, vmember *v)
{
    for (int k = 0; k < 3; k++)
        v->p[k] = pl_load_f(rest + column_of(at, 4, k));
    v->weight = pl_load_f(rest + column_of(at, 4, 3));
}

/* Positions from the rows; returns the masses. */
PL_LANES_INLINE vf load_places(const members *m, int at, vf y[3])
{
    vf x[4];
    load_rows(m->x, m->row + at, x);
    for (int k = 0; k < 3; k++)
        y[k] = x[k] - m->centre[k];
    return x[3];
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
            vf mass = load_places(m, at, v.y) * pl_load_f(m->rest + column_of(at, 4, 3));
            load_rest(m->rest, at, &v);
            for (int k = 0; kept && k < 3; k++)
                pl_store_f(m->offset + column_of(at, 3, k), v.y[k]);
            for (int k = 0; k < 3; k++)
                wy[k] = mass * v.y[k];
            add_fit(sum, wy, v.p);
            if (count == SUM_ALL) {
                vf u[4];
                load_rows(m->u, m->row + at, u);
                add_motion(sum, v.y, wy, u, mass);
            }
        }
        for (int k = 0; k < count; k++)
            pl_store_f(column[k] + part, sum[k]);
    }
    for (int k = 0; k < count; k++)
        fold(column[k], out + 4 * k);
}

/* Copies of `members`, so that compilers know that nobody changes them; and whether there is room is asked once. */
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

/* ---- Narrow bodies: a cluster per lane all the way --------------------------------------------- */

/* The slots of a group from lane `first` on; `kept` of them between the passes are three columns: x − centre. */
typedef struct slots {
    const int32_t *row;
    const float *rest;
    float *kept, *arm;
    int count;
} slots;

PL_LANES_INLINE slots slots_of(const pl_clustered_rows *r, int run, int group, int first)
{
    size_t start = (size_t)r->lane_start[group] * PL_COLUMNS;
    return (slots){.row = r->lane_row + start + first,
                   .rest = r->rest + 4 * start + first,
                   .kept = r->columns + (size_t)run * 3 * (size_t)r->column_room + first,
                   .arm = r->arm + 4 * start + first,
                   .count = r->lane_start[group + 1] - r->lane_start[group]};
}

PL_LANES_INLINE const int32_t *slot_row(const slots *s, int slot)
{
    return s->row + (ptrdiff_t)slot * PL_COLUMNS;
}

PL_LANES_INLINE const float *slot_rest(const slots *s, int slot)
{
    return s->rest + (ptrdiff_t)slot * 4 * PL_COLUMNS;
}

PL_LANES_INLINE float *slot_kept(const slots *s, int slot, int column)
{
    return s->kept + ((ptrdiff_t)slot * 3 + column) * PL_COLUMNS;
}

PL_LANES_INLINE const float *slot_arm(const slots *s, int slot)
{
    return s->arm + (ptrdiff_t)slot * 4 * PL_COLUMNS;
}

/* Positions counted from the centres `from`, kept for later passes; returns w m. */
PL_LANES_INLINE vf load_slot(const pl_clustered_rows *r, const slots *s, int slot, const vf from[3],
                             vmember *v)
{
    vf x[4];
    load_rows(r->x, slot_row(s, slot), x);
    load_rest(slot_rest(s, slot), 0, v);
    for (int k = 0; k < 3; k++) {
        v->y[k] = x[k] - from[k];
        pl_store_f(slot_kept(s, slot, k), v->y[k]);
    }
    return x[3] * v->weight;
}

PL_LANES_INLINE void reload_slot(const slots *s, int slot, vmember *v)
{
    load_rest(slot_rest(s, slot), 0, v);
    for (int k = 0; k < 3; k++)
        v->y[k] = pl_load_f(slot_kept(s, slot, k));
}

/* Sums of PL_W clusters: all of them, or those of SUM_SHORT. */
PL_LANES_INLINE void sum_slots(const pl_clustered_rows *r, const slots *s, const vf from[3],
                               int count, vf *sum)
{
    for (int k = 0; k < count; k++)
        sum[k] = pl_splat_f(0);
    for (int slot = 0; slot < s->count; slot++) {
        vmember v;
        vf wy[3], u[4];
        vf mass = load_slot(r, s, slot, from, &v);
        for (int k = 0; k < 3; k++)
            wy[k] = mass * v.y[k];
        add_fit(sum, wy, v.p);
        if (count == SUM_ALL) {
            load_rows(r->u, slot_row(s, slot), u);
            add_motion(sum, v.y, wy, u, mass);
        }
    }
}

/* ---- Groups of sixteen ------------------------------------------------------------------------- */

enum { GROUP = 16 };

typedef struct group {
    int count;
    int run;
    int place; /* among all groups */
    pl_cluster *cluster[GROUP];
    int32_t number[GROUP];
    members members[GROUP];
    float sums[GROUP][4 * SUM_ALL] ALIGNED;
    /* For the members: T = R Fᵖ and t of the goal T p + t, and what else the pass wants. */
    float goal[12][GROUP] ALIGNED;
    float spin[6][GROUP] ALIGNED;
    float from[3][GROUP] ALIGNED; /* what positions are counted from */
    float *table;                 /* of PL_GROUP_FIELDS columns */
    uint8_t *armed;     /* whether a cluster's arms are known; where narrow, the first is for all */
    const float *fixed; /* lane_fixed; NULL = the rows of rest are with the clusters */
} group;

/* The group that starts at `first` in the sequence; its members where the kernels go through them cluster by cluster. */
static void name_group(const pl_clustered_step *step, int run, int first, group *g)
{
    pl_clustered *c = step->clustered;
    const pl_clustered_rows *r = &c->rows;
    int end = r->run_start[run + 1];
    g->count = end - first < GROUP ? end - first : GROUP;
    g->run = run;
    g->place = first / GROUP;
    g->table = r->group + (size_t)g->place * PL_GROUP_FIELDS * GROUP;
    g->armed = r->armed + (size_t)g->place * GROUP;
    g->fixed = r->narrow && !(c->def.yield < (double)INFINITY)
                   ? r->lane_fixed + (size_t)g->place * PL_FIXED * GROUP
                   : NULL;
    for (int i = 0; i < g->count; i++) {
        g->number[i] = r->sequence[first + i];
        g->cluster[i] = c->clusters + g->number[i];
    }
}

/* Clusters lie far apart in memory: those of the next group are asked for while this one is at work. */
static void expect_group(const pl_clustered_step *step, int run, int first)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    int end = r->run_start[run + 1];
    for (int i = first; i < first + GROUP && i < end; i++) {
        const pl_cluster *cluster = step->clustered->clusters + r->sequence[i];
        __builtin_prefetch(cluster->centre);
        __builtin_prefetch(cluster->turn);
        __builtin_prefetch(cluster->rotation + 8);
    }
}

/* With its members, which get room for columns one after the other. */
static void open_group(const pl_clustered_step *step, int run, int first, group *g)
{
    pl_clustered *c = step->clustered;
    pl_clustered_rows *r = &c->rows;
    float *columns = r->columns + (size_t)run * 3 * (size_t)r->column_room;
    int used = 0;
    name_group(step, run, first, g);
    for (int i = 0; i < g->count; i++) {
        pl_cluster *cluster = g->cluster[i];
        bool fits = cluster->room <= r->column_room - used;
        g->members[i] = (members){.x = r->x,
                                  .old = r->old,
                                  .u = r->u,
                                  .row = r->row + cluster->first,
                                  .rest = r->rest + 4 * (size_t)cluster->first,
                                  .room = cluster->room,
                                  .offset = fits ? columns + 3 * used : NULL,
                                  .arm = r->arm + 4 * (size_t)cluster->first};
        used += fits ? cluster->room : 0;
    }
}

/* Sums of PL_W clusters from lane `first` on. */
PL_LANES_INLINE void take_sums(const group *g, int first, int count, vf *out)
{
    static const float nothing[4 * SUM_ALL] ALIGNED;
    const float *rows[PL_W];
    vf column[4 * SUM_ALL];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = first + lane < g->count ? g->sums[first + lane] : nothing;
    pl_lanes_gather(rows, 4 * count, (float *)column);
    for (int k = 0; k < count; k++)
        out[k] = (column[4 * k] + column[4 * k + 1]) + (column[4 * k + 2] + column[4 * k + 3]);
}

/* By cofactors; 0 where there is none. */
PL_LANES_INLINE void invert33(const vf a[9], vf out[9])
{
    out[0] = a[4] * a[8] - a[5] * a[7], out[1] = a[2] * a[7] - a[1] * a[8],
    out[2] = a[1] * a[5] - a[2] * a[4];
    out[3] = a[5] * a[6] - a[3] * a[8], out[4] = a[0] * a[8] - a[2] * a[6],
    out[5] = a[2] * a[3] - a[0] * a[5];
    out[6] = a[3] * a[7] - a[4] * a[6], out[7] = a[1] * a[6] - a[0] * a[7],
    out[8] = a[0] * a[4] - a[1] * a[3];
    vf det = a[0] * out[0] + a[1] * out[3] + a[2] * out[6];
    vf scale = pl_select_f(pl_abs_f(det) > pl_splat_f(1e-30f), 1.0f / det, pl_splat_f(0));
    for (int k = 0; k < 9; k++)
        out[k] *= scale;
}

/* The row of floats of a cluster that the fit starts from, and that it leaves. */
enum {
    ROW_INVERSE = 0,
    ROW_LEAN = 6,
    ROW_MASS = 9,
    ROW_WIDTH = 10,
    ROW_PLASTIC = 12,
    ROW_REST = 21
};
enum { ROW_CENTRE = 0, ROW_GRADIENT = 3, ROW_TURN = 12, ROW_ROTATION = 16, ROW_FITTED = 25 };

#define AT(field) (offsetof(pl_cluster, field) / sizeof(float))
_Static_assert(AT(plastic) - AT(inverse) == ROW_PLASTIC && AT(mass) - AT(inverse) == ROW_MASS &&
                   AT(lean) - AT(inverse) == ROW_LEAN && AT(width) - AT(inverse) == ROW_WIDTH,
               "the row a fit starts from");
_Static_assert((int)ROW_REST == (int)PL_FIXED, "the row a fit starts from");
_Static_assert(AT(gradient) - AT(centre) == ROW_GRADIENT && AT(turn) - AT(centre) == ROW_TURN &&
                   AT(rotation) - AT(centre) == ROW_ROTATION,
               "the row a fit leaves");

PL_LANES_INLINE float *row_of_rest(pl_cluster *cluster)
{
    return (float *)((char *)cluster + offsetof(pl_cluster, inverse));
}

PL_LANES_INLINE float *row_of_fit(pl_cluster *cluster)
{
    return (float *)((char *)cluster + offsetof(pl_cluster, centre));
}

/* A cluster per lane. */
typedef struct fit {
    vf inverse[9], lean[3], mass, share, width, plastic[9];
    vf from[3];  /* what positions are counted from */
    vf shift[3]; /* of the centre from there */
    vf a[9];     /* A_xp */
    vf turn[4], rotation[9], goal[9], aim[3];
} fit;

PL_LANES_INLINE void load_rest_row(const group *g, int first, fit *f)
{
    static const float rest[ROW_REST];
    vf row[ROW_REST];
    if (g->fixed) {
        for (int k = 0; k < ROW_REST; k++)
            row[k] = pl_load_f(g->fixed + k * GROUP + first);
    } else {
        const float *rows[PL_W];
        for (int lane = 0; lane < PL_W; lane++)
            rows[lane] = first + lane < g->count ? row_of_rest(g->cluster[first + lane]) : rest;
        pl_lanes_gather(rows, ROW_REST, (float *)row);
    }
    full(row + ROW_INVERSE, f->inverse);
    for (int k = 0; k < 3; k++)
        f->lean[k] = row[ROW_LEAN + k];
    for (int k = 0; k < 9; k++)
        f->plastic[k] = row[ROW_PLASTIC + k];
    f->mass = row[ROW_MASS], f->width = row[ROW_WIDTH];
    f->share = pl_select_f(f->mass > pl_splat_f(0), 1.0f / f->mass, pl_splat_f(0));
}

PL_LANES_INLINE void load_fit(const group *g, int first, fit *f)
{
    static const float blank[ROW_FITTED] = {[ROW_TURN + 3] = 1};
    const float *rows[PL_W];
    vf row[ROW_FITTED];
    load_rest_row(g, first, f);
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = first + lane < g->count ? row_of_fit(g->cluster[first + lane]) : blank;
    pl_lanes_gather(rows, ROW_ROTATION, (float *)row);
    for (int k = 0; k < 3; k++)
        f->from[k] = row[ROW_CENTRE + k];
    for (int k = 0; k < 4; k++)
        f->turn[k] = row[ROW_TURN + k];
}

/* The centre, A_xp about it, and from the matrix A_xp · map the rotation and the goal T p + t. */
PL_LANES_INLINE void take_moments(const vf *sums, fit *f)
{
    for (int i = 0; i < 3; i++)
        f->shift[i] = sums[SUM_CENTRE + i] * f->share;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f->a[3 * i + j] = sums[SUM_FIT + 3 * i + j] - (f->mass * f->shift[i]) * f->lean[j];
}

PL_LANES_INLINE void turn(const vf map[9], fit *f)
{
    vf matrix[9], lean[3];
    mul33(f->a, map, matrix);
    pl_rotation_fit_f(matrix, f->turn);
    pl_rotation_matrix_f(f->turn, f->rotation);
    mul33(f->rotation, f->plastic, f->goal);
    mul33_3(f->goal, f->lean, lean);
    for (int i = 0; i < 3; i++)
        f->aim[i] = f->shift[i] - lean[i];
}

PL_LANES_INLINE void store_goal(const fit *f, group *g, int first)
{
    for (int k = 0; k < 9; k++)
        pl_store_f(g->goal[k] + first, f->goal[k]);
    for (int k = 0; k < 3; k++)
        pl_store_f(g->goal[9 + k] + first, f->aim[k]);
}

/* ---- The fit of a sub-step --------------------------------------------------------------------- */

/* The rigid motion of the members: d ω, and d (ū − ω × shift), so that d ū_i is their sum with d ω × y. */
PL_LANES_INLINE void take_spin(const vf *sums, const fit *f, float damping, vf inertia[6],
                               vf out[6])
{
    vf mean[3], shared[3], spin[3], turned[3], spread[6], omega[3], m[9];
    int at = 0;
    cross(f->shift, sums + SUM_MOTION, turned);
    for (int i = 0; i < 3; i++) {
        mean[i] = sums[SUM_MOTION + i] * f->share;
        spin[i] = sums[SUM_SPIN + i] - turned[i];
        shared[i] = f->mass * f->shift[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++)
            spread[at] = sums[SUM_SPREAD + at] - shared[i] * f->shift[j];
    vf tensor[6] = {spread[3] + spread[5], -spread[1], -spread[2],
                    spread[0] + spread[5], -spread[4], spread[0] + spread[3]};
    invert_inertia(tensor, inertia);
    full(inertia, m);
    mul33_3(m, spin, omega);
    cross(omega, f->shift, turned);
    for (int i = 0; i < 3; i++) {
        out[i] = omega[i] * damping;
        out[3 + i] = (mean[i] - turned[i]) * damping;
    }
}

/* Where A_pp has no rank 3, F is what is seen of it, and R Fᵖ of the rest: F P + R Fᵖ (I − P), P = A_pp A_pp⁺. Rare. */
static void complete(const group *g, int first, const float *plastic, const float *rotation,
                     float *gradient)
{
    for (int lane = 0; lane < PL_W && first + lane < g->count; lane++) {
        const pl_cluster *cluster = g->cluster[first + lane];
        if (cluster->rank == 3)
            continue;
        const float *s = cluster->seen;
        float p[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]}, goal[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                goal[3 * i + j] = 0;
                for (int k = 0; k < 3; k++)
                    goal[3 * i + j] +=
                        rotation[(3 * i + k) * PL_W + lane] * plastic[(3 * k + j) * PL_W + lane];
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    gradient[(3 * i + j) * PL_W + lane] +=
                        goal[3 * i + k] * ((k == j ? 1.0f : 0.0f) - p[3 * k + j]);
    }
}

PL_LANES_INLINE void take_gradient(const group *g, int first, const fit *f, const vf plastic[9],
                                   vf gradient[9])
{
    mul33(f->a, f->inverse, gradient);
    complete(g, first, (const float *)plastic, (const float *)f->rotation, (float *)gradient);
}

/* The singular values of Fᵉ = F Fᵖ⁻¹: stretch, flow, work. */
static void take_strain(const pl_clustered_step *step, group *g, int first, const fit *f,
                        const vf unplastic[9], const vf gradient[9])
{
    vf elastic[9], q[4], u[9], s[3], v[9];
    float right[9 * PL_W] ALIGNED, values[3 * PL_W] ALIGNED, left[3 * PL_W] ALIGNED;
    mul33(gradient, unplastic, elastic);
    for (int k = 0; k < 4; k++)
        q[k] = f->turn[k];
    pl_svd3_f(elastic, q, u, s, v);
    for (int k = 0; k < 9; k++)
        pl_store_f(right + k * PL_W, v[k]);
    for (int k = 0; k < 3; k++) {
        pl_store_f(values + k * PL_W, s[k]);
        pl_store_f(left + k * PL_W, u[3 * k]);
    }
    for (int lane = 0; lane < PL_W && first + lane < g->count; lane++) {
        pl_cluster *cluster = g->cluster[first + lane];
        float own[3], vectors[9];
        for (int k = 0; k < 3; k++) {
            own[k] = values[k * PL_W + lane];
            cluster->pull[k] = left[k * PL_W + lane];
        }
        for (int k = 0; k < 9; k++)
            vectors[k] = right[k * PL_W + lane];
        cluster->stretch = own[0];
        pl_cluster_flow(cluster, step, own, vectors);
    }
}

PL_LANES_INLINE void store_fit(group *g, int first, const fit *f, const vf gradient[9])
{
    float spare[PL_W][ROW_FITTED];
    float *rows[PL_W];
    vf row[ROW_FITTED];
    for (int k = 0; k < 3; k++) {
        vf centre = f->from[k] + f->shift[k];
        row[ROW_CENTRE + k] = pl_select_f(centre - centre == pl_splat_f(0), centre, f->from[k]);
    }
    for (int k = 0; k < 9; k++)
        row[ROW_GRADIENT + k] = gradient[k], row[ROW_ROTATION + k] = f->rotation[k];
    for (int k = 0; k < 4; k++)
        row[ROW_TURN + k] = f->turn[k];
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = first + lane < g->count ? row_of_fit(g->cluster[first + lane]) : spare[lane];
    pl_lanes_scatter((const float *)row, ROW_FITTED, rows);
}

/* What strain limiting will want to know. */
PL_LANES_INLINE void store_table(const pl_clustered_step *step, group *g, int first, const fit *f,
                                 const vf map[9], const vf inertia[6])
{
    float *t = g->table + first;
    memset(g->armed + first, 0, PL_W);
    pl_store_f(t + PL_GROUP_SHARE * GROUP, f->share);
    pl_store_f(t + PL_GROUP_MASS * GROUP, f->mass);
    pl_store_f(t + PL_GROUP_LIMIT * GROUP, f->width * step->limit);
    for (int k = 0; k < 3; k++) {
        pl_store_f(t + (PL_GROUP_LEAN + k) * GROUP, f->lean[k]);
        pl_store_f(t + (PL_GROUP_OLD + k) * GROUP, f->from[k] + f->shift[k]);
    }
    for (int k = 0; k < 9; k++) {
        pl_store_f(t + (PL_GROUP_PLASTIC + k) * GROUP, f->plastic[k]);
        pl_store_f(t + (PL_GROUP_MAP + k) * GROUP, map[k]);
    }
    for (int k = 0; k < 4; k++)
        pl_store_f(t + (PL_GROUP_TURN + k) * GROUP, f->turn[k]);
    for (int k = 0; k < 6; k++)
        pl_store_f(t + (PL_GROUP_INERTIA + k) * GROUP, inertia[k]);
}

/* What the rotation is taken of: A_xp · map is Fᵉ, or A_xp Fᵖᵀ for the least-squares one. Of slivers and of what is
   stretched out of all proportion, Fᵉ is mostly noise, and a rotation made of it gains energy: there the least-squares
   one serves in any case. */
PL_LANES_INLINE void choose_map(const pl_clustered_step *step, const fit *f, const vf unplastic[9],
                                vf map[9])
{
    vf squares[9], elastic[9], norm = pl_splat_f(0);
    for (int i = 0; i < 9; i++)
        squares[i] = f->plastic[3 * (i % 3) + i / 3];
    mul33(f->inverse, unplastic, map);
    mul33(f->a, map, elastic);
    for (int i = 0; i < 9; i++)
        norm += elastic[i] * elastic[i];
    vf thin = (f->inverse[0] + f->inverse[4] + f->inverse[8]) * (f->mass * f->width * f->width);
    vi use = (thin > PL_CLUSTER_SLIVER) | ~(norm < PL_CLUSTER_DRAWN);
    if (step->least_squares)
        use = ~(vi){0};
    for (int i = 0; i < 9; i++)
        map[i] = pl_select_f(use, squares[i], map[i]);
}

/* S̃ of the examples, I where there are none. */
PL_LANES_INLINE void load_stretch(const pl_clustered_step *step, const group *g, int first,
                                  vf out[9])
{
    const int32_t *heard = step->clustered->rows.heard + (ptrdiff_t)g->place * GROUP + first;
    const float *blend = step->clustered->manifold->blend;
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

/* The rest shape is S̃ Fᵖ, and the rotation that of A_xp (S̃ Fᵖ)ᵀ: it exerts no torque. Fᵖ is left where it was. */
PL_LANES_INLINE void modify(const pl_clustered_step *step, const group *g, int first, fit *f,
                            vf map[9])
{
    vf stretch[9], shape[9];
    load_stretch(step, g, first, stretch);
    mul33(stretch, f->plastic, shape);
    for (int i = 0; i < 9; i++) {
        f->plastic[i] = shape[i];
        map[i] = shape[3 * (i % 3) + i / 3];
    }
}

PL_LANES_INLINE void fit_lanes(const pl_clustered_step *step, group *g, int first, const vf *sums,
                               fit *f)
{
    vf unplastic[9], map[9], inertia[6], spin[6], gradient[9], plastic[9];
    take_moments(sums, f);
    invert33(f->plastic, unplastic);
    for (int k = 0; k < 9; k++)
        plastic[k] = f->plastic[k];
    if (step->clustered->manifold)
        modify(step, g, first, f, map);
    else
        choose_map(step, f, unplastic, map);
    turn(map, f);
    store_goal(f, g, first);
    take_spin(sums, f, step->damping, inertia, spin);
    for (int k = 0; k < 6; k++)
        pl_store_f(g->spin[k] + first, spin[k]);
    if (step->limit > 0)
        store_table(step, g, first, f, map, inertia);
    take_gradient(g, first, f, plastic, gradient);
    if (pl_clustered_measures_strain(step->clustered))
        take_strain(step, g, first, f, unplastic, gradient);
    store_fit(g, first, f, gradient);
}

/* Adds w ((α/h) (T p + t − y) + d ū), and w, to the rows of a cluster's members. */
PL_LANES_INLINE void pull_kept(const members *m, bool kept, const group *g, int i, float pull,
                               float *sum)
{
    vf goal[12], spin[6];
    for (int k = 0; k < 12; k++)
        goal[k] = pl_splat_f(g->goal[k][i]);
    for (int k = 0; k < 6; k++)
        spin[k] = pl_splat_f(g->spin[k][i]);
    for (int at = 0; at < m->room; at += PL_W) {
        vmember v;
        vf way[3];
        reload_offsets(m, kept, at, v.y);
        load_rest(m->rest, at, &v);
        cross(spin, v.y, way);
        for (int k = 0; k < 3; k++) {
            vf to = goal[3 * k] * v.p[0] + goal[3 * k + 1] * v.p[1] + goal[3 * k + 2] * v.p[2];
            way[k] = ((to + goal[9 + k] - v.y[k]) * pull + (way[k] + spin[3 + k])) * v.weight;
        }
        add_different_rows(sum, m->row + at, way[0], way[1], way[2], v.weight);
    }
}

static void pull_members(const members *m, const group *g, int i, float pull, float *sum)
{
    members own = *m;
    if (own.offset)
        pull_kept(&own, true, g, i, pull, sum);
    else
        pull_kept(&own, false, g, i, pull, sum);
}

/* Places of the members in slots again, where other groups have been gone through since they were kept. */
static void keep_places(const pl_clustered_rows *r, const group *g)
{
    for (int first = 0; first < g->count; first += PL_W) {
        slots s = slots_of(r, g->run, g->place, first);
        vf from[3];
        vmember v;
        for (int k = 0; k < 3; k++)
            from[k] = pl_load_f(g->from[k] + first);
        for (int slot = 0; slot < s.count; slot++)
            load_slot(r, &s, slot, from, &v);
    }
}

/* The same for narrow bodies, slot by slot, so that every width adds in one order. */
static void pull_slots(const pl_clustered_rows *r, const group *g, float pull, float *sum)
{
    int count = slots_of(r, g->run, g->place, 0).count;
    for (int slot = 0; slot < count; slot++)
        for (int first = 0; first < g->count; first += PL_W) {
            slots s = slots_of(r, g->run, g->place, first);
            vmember v;
            vf spin[3], way[3];
            reload_slot(&s, slot, &v);
            for (int k = 0; k < 3; k++)
                spin[k] = pl_load_f(g->spin[k] + first);
            cross(spin, v.y, way);
            for (int k = 0; k < 3; k++) {
                vf to = pl_load_f(g->goal[3 * k] + first) * v.p[0] +
                        pl_load_f(g->goal[3 * k + 1] + first) * v.p[1] +
                        pl_load_f(g->goal[3 * k + 2] + first) * v.p[2];
                way[k] = ((to + pl_load_f(g->goal[9 + k] + first) - v.y[k]) * pull +
                          (way[k] + pl_load_f(g->spin[3 + k] + first))) *
                         v.weight;
            }
            add_rows(sum, slot_row(&s, slot), way[0], way[1], way[2], v.weight);
        }
}

/* Notes which blocks of rows a run has added to. */
static void mark(const pl_clustered_rows *r, int run, int number)
{
    uint8_t *added = r->added + (size_t)run * (size_t)(r->row_capacity / PL_ROW_BLOCK);
    for (int k = r->touch_start[number]; k < r->touch_start[number + 1]; k++)
        added[r->touch[k]] = 1;
}

PL_LANES_INLINE float *sum_of(const pl_clustered_rows *r, int run)
{
    return r->sum + (size_t)run * 4 * (size_t)r->row_capacity;
}

/* Sums of a group's clusters: over slots, or as the first pass over the members left them. */
PL_LANES_INLINE void bring_sums(const pl_clustered_step *step, const group *g, int first,
                                const vf from[3], vf *sums)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    slots s;
    if (r->narrow) {
        s = slots_of(r, g->run, g->place, first);
        sum_slots(r, &s, from, SUM_ALL, sums);
    } else {
        take_sums(g, first, SUM_ALL, sums);
    }
}

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

/* First pass over the members, where it goes cluster by cluster. */
static void sum_clusters(group *g)
{
    for (int i = 0; i < g->count; i++) {
        memcpy(g->members[i].centre, g->cluster[i]->centre, sizeof g->members[i].centre);
        sum_all(&g->members[i], g->sums[i]);
    }
}

/* ---- Examples ------------------------------------------------------------------------------------ */

/* S − I of Fᵉ = R S, for those that speak for their element; q becomes R, which is near what the goals will have. */
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

/* Sums over the members of each cluster, kept for the fit, and the stretch that the examples are to see. */
void PL_LANES(pl_clustered_measure)(const pl_clustered_step *step, int run)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    group g;
    for (int first = r->run_start[run]; first < r->run_start[run + 1]; first += GROUP) {
        if (r->narrow) {
            name_group(step, run, first, &g);
            expect_group(step, run, first + GROUP);
        } else {
            open_group(step, run, first, &g);
            sum_clusters(&g);
        }
        for (int lane = 0; lane < g.count; lane += PL_W)
            measure_lanes(step, &g, lane);
    }
    PL_LANES_LEAVE();
}

/* ---- What the runs have for the rows --------------------------------------------------------------- */

/* Which runs have added to a block: their sums of it, one after the other. The mark is taken away. */
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

/* x += θ Σ w (…), of one block and what these runs have for it. */
static void settle_block(const pl_clustered_step *step, int block, int begin, int end)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    vf part = pl_splat_f(step->part);
    float *sums[PL_MOST_RUNS], *x = r->x + (size_t)block * 4 * PL_ROW_BLOCK;
    int count = take_runs(r, block, begin, end, sums);
    r->moved[block] = count > 0;
    for (int at = 0; count && at < 4 * PL_ROW_BLOCK; at += PL_W)
        pl_store_f(x + at, pl_load_f(x + at) + take_sum(sums, count, at) * part);
}

void PL_LANES(pl_clustered_settle)(const pl_clustered_step *step, int begin, int end)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    for (int block = begin; block < end; block++)
        if (!r->alone[block])
            settle_block(step, block, 0, r->run_count);
    PL_LANES_LEAVE();
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

/* u += h a + Σ w ((α/h) (g − x) + d (ū − u)), x += h u. The mass in a row of x stays: h is 0 there. */
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
    float *sums[PL_MOST_RUNS], *x = r->x + first, *u = r->u + first;
    int count = take_runs(r, block, begin, end, sums);
    r->moved[block] = 1;
    for (int at = 0; at < 4 * PL_ROW_BLOCK; at += PL_W) {
        vf speed = pl_load_f(u + at), more = down;
        if (step->motion->push)
            more += pl_load_f(r->push + first + at) * h;
        if (count) {
            vf sum = take_sum(sums, count, at);
            more += sum - speed * (fourth(sum) * step->damping);
        }
        pl_store_f(x + at, pl_load_f(x + at) + (speed + more) * h);
    }
}

void PL_LANES(pl_clustered_integrate)(const pl_clustered_step *step, int begin, int end)
{
    const pl_clustered_rows *r = &step->clustered->rows;
    for (int block = begin; block < end; block++)
        if (!r->alone[block])
            integrate_block(step, block, 0, r->run_count);
    PL_LANES_LEAVE();
}

/* ---- A run ----------------------------------------------------------------------------------------- */

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
        if (r->narrow) {
            name_group(step, run, first, &g);
            expect_group(step, run, first + GROUP);
            fit_narrow(step, run, &g);
        } else {
            open_group(step, run, first, &g);
            fit_clusters(step, run, &g);
        }
        for (int i = 0; i < g.count; i++)
            mark(r, run, g.number[i]);
        for (int k = r->last_start[g.place]; k < r->last_start[g.place + 1]; k++)
            integrate_block(step, r->last[k], run, run + 1);
    }
    PL_LANES_LEAVE();
}

#include "matter/clustered_limit.inl"

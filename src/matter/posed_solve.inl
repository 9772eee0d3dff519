/* What oriented_solve.inl needs of targets (posed.h): the neighbourhood with turns of its own for
   every edge, the claims of the two ends, the energy, and the examples. Edges go through the lanes
   sixteen at a time, and sums run in sixteen columns, so that all widths give the same bits. Only
   for the lone layout.

   The offset d_ij = R_iᵀ (x_j − x_i) and the turn u = q_a⁻¹ q_b of all edges ("measured") say
   everything: lengths do not change when turned, so the energy of an edge is
       κ v_b ‖d̃_ab − d_ab‖² + κ v_a ‖d̃_ba − d_ba‖² + 4 κ Σ (tr(Ā) |w|² − wᵀ Ā w),
   w the vector part of Q̃_ab⁻¹ u with Ā_b, and of Q̃_ba⁻¹ u⁻¹ with Ā_a. */
#ifndef PL_MATTER_POSED_SOLVE_INL
#define PL_MATTER_POSED_SOLVE_INL
enum {
    PL_POSED_CONSTANTS = 17, /* κ, κ v_b, κ v_a, Ā_a, Ā_b, √(κ v_b), √(κ v_a) */
    PL_POSED_MEASURES = 10,
    PL_POSED_TARGETS = 7
};
/* Beyond this nothing is an offset or a turn any more, and examples are shown rest instead. */
#define PL_POSED_FARTHEST 1e6
#endif

#include "math/elementary.inl"

/* One neighbour j of a particle i: column k of κ (Ā_j Q̃_ijᵀ + Q̃_ji Ā_i), and behind it component
   k of √(κ v_j) d̃_ij. */
typedef struct NAME(pose_star) {
    REAL column[3][4];
    REAL root; /* √(κ v_j) */
    int32_t j;
} __attribute__((aligned(4 * sizeof(REAL)))) NAME(pose_star);

/* What the ends of an edge want for x_b − x_a in their own axes: d̃_ab and −d̃_ba. */
typedef struct NAME(pose_spring) {
    REAL rest_a[4], rest_b[4];
} NAME(pose_spring);

_Static_assert(sizeof(NAME(pose_star)) <= PL_POSED_STAR_SIZE &&
                   sizeof(NAME(pose_spring)) <= PL_POSED_SPRING_SIZE,
               "there is room for them");

/* Component k of row l goes to row k of component l. */
PL_LANES_INLINE void NAME(transpose)(COL m[4])
{
#if __has_builtin(__builtin_shufflevector)
    COL a = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5),
        b = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7),
        c = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5),
        d = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
    m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    m[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    m[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < k; l++) {
            REAL other = m[k][l];
            m[k][l] = m[l][k];
            m[l][k] = other;
        }
#endif
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* C_i = f R* Ā_i + Σ_j κ [ R_j (Ā_j Q̃_ijᵀ + Q̃_ji Ā_i) + v_j (x_j − x_i) d̃_ijᵀ ] */
PL_LANES_INLINE MAT NAME(neighbourhood)(CONTEXT *s, int i)
{
    const NAME(pose_star) *stars = s->posed->around;
    MAT c = s->pull[i];
    COL x = s->x[i];
    for (int p = s->model->start[i]; p < s->model->start[i + 1]; p++) {
        const NAME(pose_star) *star = stars + p;
        const MAT *r = s->r + star->j;
        COL d = NAME(scale)(NAME(sub)(s->x[star->j], x), star->root);
        for (int k = 0; k < 3; k++) {
            c.c[k] = NAME(add)(c.c[k], NAME(apply)(r, star->column[k]));
            c.c[k] = NAME(mad)(c.c[k], d, star->column[k][3]);
        }
    }
    return c;
}

/* R d̃ − d of edge e as either end claims it. */
PL_LANES_INLINE void NAME(claims)(const CONTEXT *s, int e, const MAT *r, COL d, COL *ea, COL *eb)
{
    const SPRING *spring = s->spring + e;
    const NAME(pose_spring) *springs = s->posed->spring;
    const NAME(pose_spring) *pose = springs + s->system->edge_order[e];
    *ea = NAME(sub)(NAME(apply)(r, pose->rest_a), d);
    *eb = NAME(sub)(NAME(apply)(s->r + spring->b, pose->rest_b), d);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* conj(q) v q */
PL_LANES_INLINE void NAME(turn_back)(const VR q[4], const VR v[3], VR out[3])
{
    VR t[3] = {v[1] * q[2] - v[2] * q[1], v[2] * q[0] - v[0] * q[2], v[0] * q[1] - v[1] * q[0]};
    for (int k = 0; k < 3; k++)
        t[k] = t[k] + t[k];
    out[0] = v[0] + (q[3] * t[0] + (t[1] * q[2] - t[2] * q[1]));
    out[1] = v[1] + (q[3] * t[1] + (t[2] * q[0] - t[0] * q[2]));
    out[2] = v[2] + (q[3] * t[2] + (t[0] * q[1] - t[1] * q[0]));
}

/* The vector part of conj(a) b. */
PL_LANES_INLINE void NAME(turn_between)(const VR a[4], const VR b[4], VR v[3])
{
    v[0] = (a[3] * b[0] - b[3] * a[0]) - (a[1] * b[2] - a[2] * b[1]);
    v[1] = (a[3] * b[1] - b[3] * a[1]) - (a[2] * b[0] - a[0] * b[2]);
    v[2] = (a[3] * b[2] - b[3] * a[2]) - (a[0] * b[1] - a[1] * b[0]);
}

/* From x_b − x_a, q_a and q_b of sixteen edges: d_ab, d_ba and q_a⁻¹ q_b. */
static void NAME(measure_block)(REAL (*in)[PL_POSED_LANES], REAL *out)
{
    for (int l = 0; l < PL_POSED_LANES; l += PL_WR) {
        VR v[11], d[3], e[3], u[4];
        for (int k = 0; k < 11; k++)
            v[k] = vr_load(in[k] + l);
        const VR *a = v + 3, *b = v + 7;
        NAME(turn_back)(a, v, d);
        NAME(turn_back)(b, v, e);
        NAME(turn_between)(a, b, u);
        u[3] = (a[3] * b[3] + a[0] * b[0]) + (a[1] * b[1] + a[2] * b[2]);
        for (int k = 0; k < 3; k++) {
            vr_store(out + PL_POSED_LANES * k + l, d[k]);
            vr_store(out + PL_POSED_LANES * (3 + k) + l, -e[k]);
        }
        for (int k = 0; k < 4; k++)
            vr_store(out + PL_POSED_LANES * (6 + k) + l, u[k]);
    }
}

static void NAME(measure)(const CONTEXT *s)
{
    const pl_posed *posed = s->posed;
    REAL in[12][PL_POSED_LANES] __attribute__((aligned(64)));
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const int32_t *a = posed->ends + 2 * PL_POSED_LANES * block, *b = a + PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES; l += 4) {
            COL d[4], qa[4], qb[4];
            for (int k = 0; k < 4; k++) {
                d[k] = NAME(sub)(s->x[b[l + k]], s->x[a[l + k]]);
                qa[k] = s->q[a[l + k]];
                qb[k] = s->q[b[l + k]];
            }
            NAME(transpose)(d);
            NAME(transpose)(qa);
            NAME(transpose)(qb);
            for (int k = 0; k < 4; k++) {
                memcpy(in[3 + k] + l, qa + k, sizeof qa[k]);
                memcpy(in[7 + k] + l, qb + k, sizeof qb[k]);
                if (k < 3)
                    memcpy(in[k] + l, d + k, sizeof d[k]);
            }
        }
        NAME(measure_block)
        (in, (REAL *)posed->measured + block * PL_POSED_MEASURES * PL_POSED_LANES);
    }
}

/* ---- Energy ---------------------------------------------------------------------------------- */

PL_LANES_INLINE VR NAME(from_float)(const float *p)
{
#if PL_REAL_IS_DOUBLE
    VR v = vr_splat(0);
    for (int l = 0; l < PL_WR; l++)
        v[l] = (double)p[l];
    return v;
#else
    return vr_load(p);
#endif
}

PL_LANES_INLINE void NAME(target_quaternion)(const float *target, VR q[4])
{
    for (int k = 0; k < 4; k++)
        q[k] = NAME(from_float)(target + PL_POSED_LANES * (3 + k));
#if PL_REAL_IS_DOUBLE
    PL_R(pl_rotation_normalise)(q); /* a float's unit length is none for a double */
#endif
}

/* tr(S) |v|² − vᵀ S v for a symmetric S that stands in the rows of `s`. */
PL_LANES_INLINE VR NAME(turning_form)(const REAL *s, const VR v[3])
{
    VR m[6];
    for (int k = 0; k < 6; k++)
        m[k] = vr_load(s + PL_POSED_LANES * k);
    VR off = v[0] * (m[1] * v[1] + m[2] * v[2]) + v[1] * (m[4] * v[2]);
    return ((m[3] + m[5]) * (v[0] * v[0]) + (m[0] + m[5]) * (v[1] * v[1])) +
           ((m[0] + m[3]) * (v[2] * v[2]) - (off + off));
}

/* Twice the energy of PL_WR edges. */
PL_LANES_INLINE VR NAME(pose_terms)(const REAL *constant, const REAL *measured,
                                    const float *forward, const float *backward)
{
    VR u[4], q[4], w[3], ab = vr_splat(0), ba = vr_splat(0);
    for (int k = 0; k < 3; k++) {
        VR d =
            NAME(from_float)(forward + PL_POSED_LANES * k) - vr_load(measured + PL_POSED_LANES * k);
        VR e = NAME(from_float)(backward + PL_POSED_LANES * k) -
               vr_load(measured + PL_POSED_LANES * (3 + k));
        ab = ab + d * d;
        ba = ba + e * e;
    }
    for (int k = 0; k < 4; k++)
        u[k] = vr_load(measured + PL_POSED_LANES * (6 + k));
    NAME(target_quaternion)(forward, q);
    NAME(turn_between)(q, u, w);
    VR turn = NAME(turning_form)(constant + PL_POSED_LANES * 9, w);
    NAME(target_quaternion)(backward, q);
    for (int k = 0; k < 3; k++)
        u[k] = -u[k];
    NAME(turn_between)(q, u, w);
    turn = turn + NAME(turning_form)(constant + PL_POSED_LANES * 3, w);
    return (vr_load(constant + PL_POSED_LANES) * ab + vr_load(constant + PL_POSED_LANES * 2) * ba) +
           vr_splat(4) * (vr_load(constant) * turn);
}

static double NAME(column_sum)(const double column[PL_POSED_LANES])
{
    double sum = 0;
    for (int l = 0; l < PL_POSED_LANES; l++)
        sum += column[l];
    return sum;
}

/* Ee with the present targets, and what these cost. */
static double NAME(pose_energy)(const CONTEXT *s)
{
    const pl_posed *posed = s->posed;
    if (!s->measured)
        NAME(measure)(s);
    double column[PL_POSED_LANES] = {0};
    REAL terms[PL_POSED_LANES] __attribute__((aligned(64)));
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const REAL *constant =
            (const REAL *)posed->constant + block * PL_POSED_CONSTANTS * PL_POSED_LANES;
        const REAL *measured =
            (const REAL *)posed->measured + block * PL_POSED_MEASURES * PL_POSED_LANES;
        const float *forward = posed->target + block * PL_POSED_TARGETS * PL_POSED_LANES;
        const float *backward = forward + (size_t)posed->blocks * PL_POSED_TARGETS * PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES; l += PL_WR)
            vr_store(terms + l,
                     NAME(pose_terms)(constant + l, measured + l, forward + l, backward + l));
        for (int l = 0; l < PL_POSED_LANES; l++)
            column[l] += (double)terms[l];
    }
    return 0.5 * NAME(column_sum)(column) + s->penalty;
}

/* ---- Targets --------------------------------------------------------------------------------- */

/* The numbers of a system that do not change with the targets. */
static void NAME(prepare)(CONTEXT *s)
{
    pl_posed *posed = s->posed;
    const pl_model *model = s->model;
    NAME(pose_star) *stars = posed->around;
    for (int e = 0; e < posed->edge_count; e++) {
        int a = model->edges[2 * e], b = model->edges[2 * e + 1];
        double kappa = s->system->kappa[e];
        REAL *at = (REAL *)posed->constant +
                   (size_t)(e / PL_POSED_LANES) * PL_POSED_CONSTANTS * PL_POSED_LANES +
                   e % PL_POSED_LANES;
        at[0] = (REAL)kappa;
        at[PL_POSED_LANES] = (REAL)(kappa * model->volumes[b]);
        at[2 * PL_POSED_LANES] = (REAL)(kappa * model->volumes[a]);
        for (int k = 0; k < 6; k++) {
            at[(3 + k) * PL_POSED_LANES] = (REAL)model->moments[6 * a + k];
            at[(9 + k) * PL_POSED_LANES] = (REAL)model->moments[6 * b + k];
        }
        const int32_t *places = posed->places + 2 * PL_POSED_LANES * (e / PL_POSED_LANES);
        at[15 * PL_POSED_LANES] = s->star[places[e % PL_POSED_LANES]].root;
        at[16 * PL_POSED_LANES] = s->star[places[PL_POSED_LANES + e % PL_POSED_LANES]].root;
    }
    for (int p = 0; p < 2 * posed->edge_count; p++) {
        stars[p].j = s->star[p].j;
        stars[p].root = s->star[p].root;
    }
}

/* N = κ Q S for a symmetric S that stands in rows. */
PL_LANES_INLINE void NAME(turned_moment)(const float *target, const REAL *moment, VR kappa, VR n[9])
{
    VR q[4], r[9], m[6];
    NAME(target_quaternion)(target, q);
    PL_R(pl_rotation_matrix)(q, r);
    for (int k = 0; k < 6; k++)
        m[k] = kappa * vr_load(moment + PL_POSED_LANES * k);
    for (int i = 0; i < 3; i++) {
        const VR *row = r + 3 * i;
        n[3 * i] = row[0] * m[0] + row[1] * m[1] + row[2] * m[2];
        n[3 * i + 1] = row[0] * m[1] + row[1] * m[3] + row[2] * m[4];
        n[3 * i + 2] = row[0] * m[2] + row[1] * m[4] + row[2] * m[5];
    }
}

/* Rows of what the iterations read: M = κ (Ā_b Q̃_abᵀ + Q̃_ba Ā_a), for C_a gets R_b M and C_b gets
   R_a Mᵀ; the arms of both ends, and what they want. */
typedef struct NAME(pose_rows) {
    REAL turn[9][PL_POSED_LANES], arm_a[3][PL_POSED_LANES], arm_b[3][PL_POSED_LANES],
        rest_a[3][PL_POSED_LANES], rest_b[3][PL_POSED_LANES];
} __attribute__((aligned(64))) NAME(pose_rows);

static void NAME(make_rows)(const REAL *constant, const float *forward, const float *backward,
                            NAME(pose_rows) * rows)
{
    for (int l = 0; l < PL_POSED_LANES; l += PL_WR) {
        VR ab[9], ba[9], kappa = vr_load(constant + l);
        VR root_a = vr_load(constant + 15 * PL_POSED_LANES + l),
           root_b = vr_load(constant + 16 * PL_POSED_LANES + l);
        NAME(turned_moment)(forward + l, constant + 9 * PL_POSED_LANES + l, kappa, ab);
        NAME(turned_moment)(backward + l, constant + 3 * PL_POSED_LANES + l, kappa, ba);
        for (int i = 0; i < 3; i++) {
            VR there = NAME(from_float)(forward + PL_POSED_LANES * i + l),
               back = NAME(from_float)(backward + PL_POSED_LANES * i + l);
            vr_store(rows->arm_a[i] + l, root_a * there);
            vr_store(rows->arm_b[i] + l, root_b * back);
            vr_store(rows->rest_a[i] + l, there);
            vr_store(rows->rest_b[i] + l, -back);
            for (int j = 0; j < 3; j++)
                vr_store(rows->turn[3 * i + j] + l, ab[3 * j + i] + ba[3 * i + j]);
        }
    }
}

/* Four rows, from lane l on, as four edges see them. */
PL_LANES_INLINE void NAME(read_rows)(const REAL *a, const REAL *b, const REAL *c, const REAL *d,
                                     COL m[4])
{
    memcpy(m, a, sizeof *m);
    memcpy(m + 1, b, sizeof *m);
    memcpy(m + 2, c, sizeof *m);
    memcpy(m + 3, d, sizeof *m);
    NAME(transpose)(m);
}

/* Edges l to l + 3 of a block, `count` of which there are. */
static void NAME(put_rows)(pl_posed *posed, const NAME(pose_rows) * rows, size_t block, int l,
                           int count)
{
    NAME(pose_star) *stars = posed->around;
    NAME(pose_spring) *springs = posed->spring;
    const int32_t *a = posed->places + 2 * PL_POSED_LANES * block + l, *b = a + PL_POSED_LANES;
    springs += block * PL_POSED_LANES + (size_t)l;
    COL m[4];
    for (int k = 0; k < 3; k++) {
        NAME(read_rows)
        (rows->turn[k] + l, rows->turn[3 + k] + l, rows->turn[6 + k] + l, rows->arm_a[k] + l, m);
        for (int e = 0; e < count; e++)
            memcpy(stars[a[e]].column[k], m + e, sizeof *m);
        NAME(read_rows)
        (rows->turn[3 * k] + l, rows->turn[3 * k + 1] + l, rows->turn[3 * k + 2] + l,
         rows->arm_b[k] + l, m);
        for (int e = 0; e < count; e++)
            memcpy(stars[b[e]].column[k], m + e, sizeof *m);
    }
    NAME(read_rows)
    (rows->rest_a[0] + l, rows->rest_a[1] + l, rows->rest_a[2] + l, rows->rest_a[2] + l, m);
    for (int e = 0; e < count; e++)
        memcpy(springs[e].rest_a, m + e, sizeof *m);
    NAME(read_rows)
    (rows->rest_b[0] + l, rows->rest_b[1] + l, rows->rest_b[2] + l, rows->rest_b[2] + l, m);
    for (int e = 0; e < count; e++)
        memcpy(springs[e].rest_b, m + e, sizeof *m);
}

/* From the targets to what the iterations read. */
static void NAME(fill_targets)(CONTEXT *s)
{
    pl_posed *posed = s->posed;
    NAME(pose_rows) rows;
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const float *forward = posed->target + block * PL_POSED_TARGETS * PL_POSED_LANES;
        const float *backward = forward + (size_t)posed->blocks * PL_POSED_TARGETS * PL_POSED_LANES;
        NAME(make_rows)
        ((const REAL *)posed->constant + block * PL_POSED_CONSTANTS * PL_POSED_LANES, forward,
         backward, &rows);
        int left = posed->edge_count - (int)block * PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES && l < left; l += 4)
            NAME(put_rows)(posed, &rows, block, l, left - l < 4 ? left - l : 4);
    }
}

/* ---- Examples -------------------------------------------------------------------------------- */

/* One row of a descriptor: value − rest − flowed, or nothing where that is no number of use. */
PL_LANES_INLINE void NAME(show_row)(float *out, VR value, const float *flowed)
{
    VR v = value - NAME(from_float)(flowed);
    v = vr_select(vr_abs(v) < vr_splat(PL_POSED_FARTHEST), v, vr_splat(0));
#if PL_REAL_IS_DOUBLE
    for (int l = 0; l < PL_WR; l++)
        out[l] = (float)v[l];
#else
    vr_store(out, v);
#endif
}

/* What the examples are shown: the present offsets and turns against rest and what has flowed. */
static void NAME(show)(CONTEXT *s)
{
    pl_posed *posed = s->posed;
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const REAL *measured =
            (const REAL *)posed->measured + block * PL_POSED_MEASURES * PL_POSED_LANES;
        size_t there = block * PL_POSED_WIDTH * PL_POSED_LANES,
               back = (block + (size_t)posed->blocks) * PL_POSED_WIDTH * PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES; l += PL_WR) {
            VR u[4], turn[3];
            for (int k = 0; k < 4; k++)
                u[k] = vr_load(measured + PL_POSED_LANES * (6 + k) + l);
            PL_R(pl_quat_log)(u, turn);
            for (int k = 0; k < 3; k++) {
                size_t d = (size_t)(PL_POSED_LANES * k + l),
                       t = (size_t)(PL_POSED_LANES * (3 + k) + l);
                VR rest = NAME(from_float)(posed->rest + block * 3 * PL_POSED_LANES + d);
                NAME(show_row)
                (posed->present + there + d, vr_load(measured + d) - rest,
                 posed->flowed + there + d);
                NAME(show_row)(posed->present + there + t, turn[k], posed->flowed + there + t);
                NAME(show_row)
                (posed->present + back + d, vr_load(measured + t) + rest, posed->flowed + back + d);
                NAME(show_row)(posed->present + back + t, -turn[k], posed->flowed + back + t);
            }
        }
    }
}

/* κ (v ‖d‖² + φᵀ (tr Ā I − Ā) φ) of PL_WR descriptors; the offset's and the moment's constants as
   given. */
PL_LANES_INLINE VR NAME(cost_terms)(const float *blend, const REAL *kappa, const REAL *claim,
                                    const REAL *moment)
{
    VR square = vr_splat(0), turn[3];
    for (int k = 0; k < 3; k++) {
        VR d = NAME(from_float)(blend + PL_POSED_LANES * k);
        square = square + d * d;
        turn[k] = NAME(from_float)(blend + PL_POSED_LANES * (3 + k));
    }
    return vr_load(claim) * square + vr_load(kappa) * NAME(turning_form)(moment, turn);
}

static double NAME(cost_of_blend)(const pl_posed *posed)
{
    double column[PL_POSED_LANES] = {0};
    REAL terms[PL_POSED_LANES] __attribute__((aligned(64)));
    for (size_t block = 0; block < (size_t)posed->blocks; block++) {
        const REAL *constant =
            (const REAL *)posed->constant + block * PL_POSED_CONSTANTS * PL_POSED_LANES;
        const float *there = posed->blend + block * PL_POSED_WIDTH * PL_POSED_LANES;
        const float *back = there + (size_t)posed->blocks * PL_POSED_WIDTH * PL_POSED_LANES;
        for (int l = 0; l < PL_POSED_LANES; l += PL_WR) {
            const REAL *c = constant + l;
            VR sum = NAME(cost_terms)(there + l, c, c + PL_POSED_LANES, c + 9 * PL_POSED_LANES) +
                     NAME(cost_terms)(back + l, c, c + 2 * PL_POSED_LANES, c + 3 * PL_POSED_LANES);
            vr_store(terms + l, sum);
        }
        for (int l = 0; l < PL_POSED_LANES; l++)
            column[l] += (double)terms[l];
    }
    double draw = posed->beta > 0 ? 1 / posed->beta - 1 : 0; /* at 0 there is no blend */
    return 0.5 * draw * NAME(column_sum)(column);
}

/* Whatever the present state asks of the targets. */
static void NAME(renew)(CONTEXT *s)
{
    pl_posed *posed = s->posed = s->block->bodies[0]->posed;
    uint64_t made_for = s->system->hash * 2 + 1 + PL_REAL_IS_DOUBLE;
    if (posed->made_for != made_for) {
        NAME(prepare)(s);
        posed->made_for = made_for;
        posed->stale = true;
    }
    s->measured = posed->examples != NULL; /* until something moves */
    if (posed->examples) {
        NAME(measure)(s);
        NAME(show)(s);
        pl_examples_project(posed->examples, posed->present, NULL);
        pl_examples_blend(posed->examples, posed->blend, NULL);
        PL_LANES(pl_posed_retarget)(posed);
        s->penalty = NAME(cost_of_blend)(posed);
    }
    if (posed->stale)
        NAME(fill_targets)(s);
    posed->stale = false;
}

/* The fast and the plain solver (METHODS §1): Gauss–Seidel fits of the rotations, one prefactored
   solve for the positions, Anderson acceleration with an energy guard. A template over number type
   and layout: see oriented_types.inl. */
#include "matter/oriented_types.inl"

#undef STAR
#undef SPRING
#undef GRAIN
#undef CONTEXT
#define STAR PL_R(pl_star)
#define SPRING PL_R(pl_spring)
#define GRAIN PL_R(pl_grain)
#define CONTEXT NAME(context)

/* How many lanes a fit of rotations has, and what fits sets of them. */
#undef FIT_LANES
#undef FIT
#if defined(PL_WIDE_FIT) && !PL_REAL_IS_DOUBLE
#define FIT_LANES (2 * BODIES)
#define FIT PL_WIDE_FIT
#else
#define FIT_LANES BODIES
#define FIT PL_R(pl_rotation_fit_columns)
#endif

#ifndef PL_WINDOW
#define PL_WINDOW 5             /* differences that Anderson remembers */
#define PL_SOLVE_TOLERANCE 2e-5 /* units: what a solve in float may be off by */
#endif

typedef struct CONTEXT {
    const pl_block *block;
    const pl_system *system;
    const pl_model *model;
    const STAR *star;
    const SPRING *spring;
    const GRAIN *grain;
    const REAL *row_values, *col_values, *inverse_d;
    int n, lanes;
    REAL h;
    COL *x;      /* [n] positions beyond origin + c */
    COL *target; /* [n] x* − (drift): where inertia alone would take x */
    MAT *r;      /* [n] rotations */
    MAT *spin;   /* [n] R*_i */
    MAT *pull;   /* [n] f_i R*_i Ā_i: the inertial part of C_i */
    QUAD *q;     /* [n] the rotations as quaternions */
    COL *rhs;    /* [n] in pivot order: b − L x, then Δ */
    COL *spare;  /* [n] for a second one */
    QUAD *turn;  /* [n] what the local step changed q by; NULL when nobody asks */
    COL *last_x,
        *last_rhs; /* [n] of the iteration before: G(y), and G(y) − y; exchanged with x, rhs, q, turn */
    QUAD *last_q, *last_turn;        /* [n] */
    ENTRY last_mean, last_mean_step; /* the same of c */
    ENTRY *change[PL_WINDOW],
        *change_of_step[PL_WINDOW];                   /* [n + 1] ΔG and ΔF; the last entry is c */
    TEE gram[PL_WINDOW][PL_WINDOW], slope[PL_WINDOW]; /* ΔF·ΔF, ΔF·f */
    double c[3][BODIES], drift[3][BODIES], start_c[3][BODIES]; /* c at the start of the iteration */
    int held[BODIES], held_count;                              /* lanes with pins */
    int32_t cursor[BODIES];                                    /* next grip of each */
    ACC drop;                 /* twice the energy that the last local and global step took away */
    double energy[BODIES];    /* of the state the iteration started from */
    double evaluated[BODIES]; /* the last energy that was not bookkeeping */
    double trust[BODIES];     /* which part of an extrapolation is tried */
#ifdef PL_POSED
    pl_posed *posed;
    bool measured;  /* posed->measured is of the present state */
    double penalty; /* what the examples' part of the targets costs */
#endif
    pl_work *work;
} CONTEXT;

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The next piece of scratch memory; without any, only *used counts. */
static void *NAME(carve)(char *scratch, size_t *used, size_t count, size_t size)
{
    void *piece = scratch ? scratch + *used : NULL;
    *used += (count * size + 63) / 64 * 64;
    return piece;
}

/* Lays out the arrays; with scratch NULL only the size is of interest. Returns the bytes used. */
static size_t NAME(lay_out)(CONTEXT *s, int n, pl_solver solver, char *scratch)
{
    size_t used = 0, count = (size_t)n;
    s->x = NAME(carve)(scratch, &used, count, sizeof(COL));
    s->r = NAME(carve)(scratch, &used, count, sizeof(MAT));
    s->q = NAME(carve)(scratch, &used, count, sizeof(QUAD));
    s->rhs = NAME(carve)(scratch, &used, count, sizeof(COL));
    s->spare = NAME(carve)(scratch, &used, count, sizeof(COL));
    s->pull = NAME(carve)(scratch, &used, count, sizeof(MAT));
    s->target = NAME(carve)(scratch, &used, count, sizeof(COL));
    s->spin = NAME(carve)(scratch, &used, count, sizeof(MAT));
    if (solver == PL_SOLVER_FAST) {
        s->turn = NAME(carve)(scratch, &used, count, sizeof(QUAD));
        s->last_x = NAME(carve)(scratch, &used, count, sizeof(COL));
        s->last_q = NAME(carve)(scratch, &used, count, sizeof(QUAD));
        s->last_rhs = NAME(carve)(scratch, &used, count, sizeof(COL));
        s->last_turn = NAME(carve)(scratch, &used, count, sizeof(QUAD));
        for (int k = 0; k < PL_WINDOW; k++) {
            s->change[k] = NAME(carve)(scratch, &used, count + 1, sizeof(ENTRY));
            s->change_of_step[k] = NAME(carve)(scratch, &used, count + 1, sizeof(ENTRY));
        }
    }
    return used;
}

static void NAME(set_up)(CONTEXT *s, const pl_block *block, double h, pl_work *work)
{
    const pl_system *system = block->system;
    *s = (CONTEXT){
        .block = block, .system = system, .model = system->key.model, .n = system->n, .work = work};
    s->lanes = block->count;
    s->h = (REAL)h;
    s->star = system->PL_R(star);
    s->spring = system->PL_R(spring);
    s->grain = system->PL_R(grain);
#if PL_REAL_IS_DOUBLE
    s->row_values = system->factor->row_values;
    s->col_values = system->factor->col_values;
    s->inverse_d = system->factor->inverse_d;
#else
    s->row_values = system->factor->row_values_f;
    s->col_values = system->factor->col_values_f;
    s->inverse_d = system->factor->inverse_d_f;
#endif
    NAME(lay_out)(s, s->n, block->solver, work->scratch);
    for (int l = 0; l < s->lanes; l++)
        if (block->bodies[l]->hold_count)
            s->held[s->held_count++] = l;
}

/* ---- Predict --------------------------------------------------------------------------------- */

/* From q and h ω: R* = R + [h ω]× R, row by row. */
PL_LANES_INLINE void NAME(predict_spin)(const VR q[4], const VR hw[3], VR star[9])
{
    VR r[9];
    PL_R(pl_rotation_matrix)(q, r);
    for (int k = 0; k < 3; k++) {
        star[k] = r[k] + (hw[1] * r[6 + k] - hw[2] * r[3 + k]);
        star[3 + k] = r[3 + k] + (hw[2] * r[k] - hw[0] * r[6 + k]);
        star[6 + k] = r[6 + k] + (hw[0] * r[3 + k] - hw[1] * r[k]);
    }
}

/* The start, polar(R*). I + [a]× is the rotation by atan |a| about a, times a stretch. With k = 1 +
   √(1 + |a|²) its quaternion is (a, k) up to length. Not yet of unit length. */
PL_LANES_INLINE void NAME(predict_start)(const VR q[4], const VR hw[3], VR p[4])
{
    VR k = vr_splat(1) + vr_sqrt(vr_splat(1) + (hw[0] * hw[0] + hw[1] * hw[1] + hw[2] * hw[2]));
    p[0] = hw[0] * q[3] + (hw[1] * q[2] - hw[2] * q[1]) + k * q[0];
    p[1] = hw[1] * q[3] + (hw[2] * q[0] - hw[0] * q[2]) + k * q[1];
    p[2] = hw[2] * q[3] + (hw[0] * q[1] - hw[1] * q[0]) + k * q[2];
    p[3] = k * q[3] - (hw[0] * q[0] + hw[1] * q[1] + hw[2] * q[2]);
}

/* (t, 1) p, a rotation about t on top of p. */
PL_LANES_INLINE void NAME(turn_start)(const VR t[3], VR p[4])
{
    VR x = p[0] + t[0] * p[3] + (t[1] * p[2] - t[2] * p[1]);
    VR y = p[1] + t[1] * p[3] + (t[2] * p[0] - t[0] * p[2]);
    VR z = p[2] + t[2] * p[3] + (t[0] * p[1] - t[1] * p[0]);
    p[3] = p[3] - (t[0] * p[0] + t[1] * p[1] + t[2] * p[2]);
    p[0] = x, p[1] = y, p[2] = z;
}

/* The inertial part of C, from R*. */
PL_LANES_INLINE void NAME(weigh)(CONTEXT *s, int i)
{
    const GRAIN *grain = s->grain + i;
    MAT a = NAME(apply_moment)(s->spin + i, grain->moment);
    for (int k = 0; k < 3; k++)
        s->pull[i].c[k] = NAME(scale)(a.c[k], grain->density);
}

#if LONE

/* Writes rotations of `count` particles that stand side by side in the lanes. */
PL_LANES_INLINE void NAME(put_matrices)(MAT *to, const int32_t *particles, int count, const VR m[9])
{
    REAL buffer[9][PL_WR] __attribute__((aligned(64)));
    for (int k = 0; k < 9; k++)
        vr_store(buffer[k], m[k]);
    for (int l = 0; l < count; l++)
        for (int k = 0; k < 3; k++)
            to[particles[l]].c[k] = (COL){buffer[k][l], buffer[3 + k][l], buffer[6 + k][l], 0};
}

PL_LANES_INLINE void NAME(put_quaternions)(QUAD *to, const int32_t *particles, int count,
                                           const VR q[4])
{
    REAL buffer[4][PL_WR] __attribute__((aligned(64)));
    for (int k = 0; k < 4; k++)
        vr_store(buffer[k], q[k]);
    for (int l = 0; l < count; l++)
        to[particles[l]] = (QUAD){buffer[0][l], buffer[1][l], buffer[2][l], buffer[3][l]};
}

static void NAME(load)(CONTEXT *s)
{
    const pl_oriented *body = s->block->bodies[0];
    const pl_state *old = &body->old;
    const pl_lead *lead = &body->lead;
    bool leads = pl_system_leads(s->system);
    for (int i = 0; i < s->n; i++) {
        COL x = {old->x[3 * i], old->x[3 * i + 1], old->x[3 * i + 2], 0};
        COL u = {old->u[3 * i], old->u[3 * i + 1], old->u[3 * i + 2], 0};
        s->x[i] = NAME(mad)(x, u, s->h);
        s->target[i] = s->x[i];
        for (int k = 0; leads && k < 3; k++) {
            COL column = {lead->bend[k], lead->bend[3 + k], lead->bend[6 + k], 0};
            s->x[i] = NAME(mad)(s->x[i], column, x[k] - lead->centre[k]);
        }
    }
    for (int i = 0; body->pushed && i < s->n; i++) {
        COL a = {body->push[3 * i], body->push[3 * i + 1], body->push[3 * i + 2], 0};
        s->target[i] = NAME(mad)(s->target[i], a, s->h * s->h);
    }
    for (int first = 0; first < s->n; first += PL_WR) {
        int count = s->n - first < PL_WR ? s->n - first : PL_WR;
        REAL in[7][PL_WR] __attribute__((aligned(64))) = {{0}};
        int32_t particles[PL_WR];
        for (int l = 0; l < count; l++) {
            particles[l] = first + l;
            for (int k = 0; k < 4; k++)
                in[k][l] = old->q[4 * (first + l) + k];
            for (int k = 0; k < 3; k++)
                in[4 + k][l] = s->h * (REAL)old->w[3 * (first + l) + k];
        }
        for (int l = count; l < PL_WR; l++)
            in[3][l] = 1;
        VR old_q[4] = {vr_load(in[0]), vr_load(in[1]), vr_load(in[2]), vr_load(in[3])};
        VR hw[3] = {vr_load(in[4]), vr_load(in[5]), vr_load(in[6])}, q[4], star[9], r[9];
        NAME(predict_spin)(old_q, hw, star);
        for (int k = 0; leads && k < 3; k++)
            hw[k] -= vr_splat(lead->spun[k]);
        NAME(predict_start)(old_q, hw, q);
        if (leads) {
            VR turn[3] = {vr_splat(lead->turn[0]), vr_splat(lead->turn[1]),
                          vr_splat(lead->turn[2])};
            NAME(turn_start)(turn, q);
        }
        PL_R(pl_rotation_normalise)(q);
        PL_R(pl_rotation_matrix)(q, r);
        NAME(put_matrices)(s->spin, particles, count, star);
        NAME(put_matrices)(s->r, particles, count, r);
        NAME(put_quaternions)(s->q, particles, count, q);
        for (int l = 0; l < count; l++)
            NAME(weigh)(s, first + l);
    }
}

static void NAME(store)(CONTEXT *s)
{
    pl_oriented *body = s->block->bodies[0];
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < 3; k++)
            body->now.x[3 * i + k] = (float)s->x[i][k];
        for (int k = 0; k < 4; k++)
            body->now.q[4 * i + k] = (float)s->q[i][k];
    }
}

#else

#if PL_REAL_IS_DOUBLE
#define GATHER pl_lanes_gather_d
#define SCATTER pl_lanes_scatter_d
#else
#define GATHER pl_lanes_gather
#define SCATTER pl_lanes_scatter
#endif

/* What the bodies are asked for at a time: it stays in the nearest cache. */
enum { NAME(chunk) = 8 };

typedef struct NAME(loaded) {
    COL x[NAME(chunk)], u[NAME(chunk)], w[NAME(chunk)];
    QUAD q[NAME(chunk)];
} NAME(loaded);

/* Apart from what follows: roots and a division that wait for each other, and for which a processor
   has time when it sees the next particle. */
PL_LANES_INLINE void NAME(start)(CONTEXT *s, int i, NAME(loaded) * from, int at)
{
    COL hw = NAME(scale)(from->w[at], s->h);
    const QUAD *now = from->q + at;
    VR q[4] = {now->x, now->y, now->z, now->w}, spin[3] = {hw.x, hw.y, hw.z}, p[4];
    NAME(predict_start)(q, spin, p);
    PL_R(pl_rotation_normalise)(p);
    s->q[i] = (QUAD){p[0], p[1], p[2], p[3]};
    from->w[at] = hw;
    s->target[i] = s->x[i] = NAME(mad)(from->x[at], from->u[at], s->h);
}

/* The leads of the bodies side by side, in the order in which they lie in memory. */
typedef struct NAME(leads) {
    COL bend[3], centre, turn, spun; /* bend row by row */
} NAME(leads);

_Static_assert(sizeof(pl_lead) == 18 * sizeof(float), "one vector for each number");

/* The start of a stiff body: what is rigid in its motion strains nothing. */
PL_LANES_INLINE void NAME(start_led)(CONTEXT *s, int i, const NAME(leads) * lead,
                                     const NAME(loaded) * from, int at)
{
    const COL *x = from->x + at, *hw = from->w + at, *turn = &lead->turn, *spun = &lead->spun;
    const QUAD *now = from->q + at;
    VR q[4] = {now->x, now->y, now->z, now->w}, p[4], t[3] = {turn->x, turn->y, turn->z};
    VR spin[3] = {hw->x - spun->x, hw->y - spun->y, hw->z - spun->z};
    NAME(predict_start)(q, spin, p);
    NAME(turn_start)(t, p);
    PL_R(pl_rotation_normalise)(p);
    s->q[i] = (QUAD){p[0], p[1], p[2], p[3]};
    const COL *rows = lead->bend;
    VR r[3] = {x->x - lead->centre.x, x->y - lead->centre.y, x->z - lead->centre.z};
    COL *out = s->x + i;
    out->x = out->x + rows[0].x * r[0] + rows[0].y * r[1] + rows[0].z * r[2];
    out->y = out->y + rows[1].x * r[0] + rows[1].y * r[1] + rows[1].z * r[2];
    out->z = out->z + rows[2].x * r[0] + rows[2].y * r[1] + rows[2].z * r[2];
}

PL_LANES_INLINE void NAME(start_matrices)(CONTEXT *s, int i, const NAME(loaded) * from, int at)
{
    const COL *hw = from->w + at;
    const QUAD *old = from->q + at, *now = s->q + i;
    VR old_q[4] = {old->x, old->y, old->z, old->w}, q[4] = {now->x, now->y, now->z, now->w};
    VR spin[3] = {hw->x, hw->y, hw->z}, star[9], r[9];
    NAME(predict_spin)(old_q, spin, star);
    PL_R(pl_rotation_matrix)(q, r);
    for (int k = 0; k < 3; k++) {
        s->spin[i].c[k] = (COL){star[k], star[3 + k], star[6 + k]};
        s->r[i].c[k] = (COL){r[k], r[3 + k], r[6 + k]};
    }
    NAME(weigh)(s, i);
}

/* Absent lanes repeat the first body: their results are thrown away. */
static void NAME(load)(CONTEXT *s)
{
    NAME(loaded) loaded;
    NAME(leads) leads;
    const float *x[BODIES], *u[BODIES], *q[BODIES], *w[BODIES], *lead[BODIES];
    bool led = pl_system_leads(s->system);
    for (int l = 0; l < BODIES; l++) {
        const pl_oriented *body = s->block->bodies[l < s->lanes ? l : 0];
        const pl_state *old = &body->old;
        x[l] = old->x, u[l] = old->u, q[l] = old->q, w[l] = old->w;
        lead[l] = body->lead.bend;
    }
    if (led)
        GATHER(lead, 18, (REAL *)&leads);
    for (int first = 0; first < s->n; first += NAME(chunk)) {
        int count = s->n - first < NAME(chunk) ? s->n - first : NAME(chunk);
        GATHER(x, 3 * count, (REAL *)loaded.x);
        GATHER(u, 3 * count, (REAL *)loaded.u);
        GATHER(q, 4 * count, (REAL *)loaded.q);
        GATHER(w, 3 * count, (REAL *)loaded.w);
        for (int l = 0; l < BODIES; l++)
            x[l] += 3 * count, u[l] += 3 * count, q[l] += 4 * count, w[l] += 3 * count;
        for (int at = 0; at < count; at++)
            NAME(start)(s, first + at, &loaded, at);
        for (int at = 0; led && at < count; at++)
            NAME(start_led)(s, first + at, &leads, &loaded, at);
        for (int at = 0; at < count; at++)
            NAME(start_matrices)(s, first + at, &loaded, at);
    }
    for (int l = 0; l < s->lanes; l++) {
        const pl_oriented *body = s->block->bodies[l];
        for (int i = 0; body->pushed && i < s->n; i++)
            for (int k = 0; k < 3; k++)
                *NAME(part)(s->target + i, k, l) += (REAL)body->push[3 * i + k] * (s->h * s->h);
    }
}

static void NAME(store)(CONTEXT *s)
{
    float *x[BODIES], *q[BODIES];
    float *spare =
        (float *)
            s->pull; /* no longer needed; holds 9 columns of each lane, more than the 4 asked for */
    for (int l = 0; l < BODIES; l++) {
        x[l] = l < s->lanes ? s->block->bodies[l]->now.x : spare + (size_t)l * 4 * (size_t)s->n;
        q[l] = l < s->lanes ? s->block->bodies[l]->now.q : spare + (size_t)l * 4 * (size_t)s->n;
    }
    SCATTER((const REAL *)s->x, 3 * s->n, x);
    SCATTER((const REAL *)s->q, 4 * s->n, q);
}

#undef GATHER
#undef SCATTER

#endif

/* Fixed particles are where they are driven to. */
static void NAME(place_fixed)(CONTEXT *s)
{
    for (int l = 0; l < s->lanes; l++) {
        const pl_oriented *body = s->block->bodies[l];
        for (int f = 0; f < body->fixed_count; f++) {
            int i = body->fixed[f];
            const double *at = body->drive_now + 7 * f;
            REAL q[4] = {(REAL)at[3], (REAL)at[4], (REAL)at[5], (REAL)at[6]};
            for (int k = 0; k < 3; k++)
                *NAME(part)(s->x + i, k, l) = (REAL)at[k];
            for (int k = 0; k < 4; k++)
                *NAME(part)(s->q + i, k, l) = q[k];
            REAL x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
            REAL xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2, xy = q[0] * y2, xz = q[0] * z2,
                 yz = q[1] * z2;
            REAL xw = q[3] * x2, yw = q[3] * y2, zw = q[3] * z2;
            REAL r[9] = {1 - (yy + zz), xy - zw, xz + yw, xy + zw,      1 - (xx + zz),
                         yz - xw,       xz - yw, yz + xw, 1 - (xx + yy)};
            for (int k = 0; k < 9; k++)
                *NAME(part)(s->r[i].c + k % 3, k / 3, l) = r[k];
        }
    }
}

static void NAME(predict)(CONTEXT *s)
{
    NAME(load)(s);
    if (s->system->key.fixed_count)
        NAME(place_fixed)(s);
    for (int l = 0; l < BODIES; l++) {
        const pl_oriented *body = s->block->bodies[l < s->lanes ? l : 0];
        for (int k = 0; k < 3; k++) {
            s->drift[k][l] = body->drift[k];
            s->c[k][l] = body->c[k];
        }
    }
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static void NAME(turned)(const CONTEXT *s, int i, int lane, const double v[3], double out[3])
{
    const MAT *r = s->r + i;
    for (int row = 0; row < 3; row++)
        out[row] = (double)((const REAL *)(r->c + 0))[row * STRIDE + lane] * v[0] +
                   (double)((const REAL *)(r->c + 1))[row * STRIDE + lane] * v[1] +
                   (double)((const REAL *)(r->c + 2))[row * STRIDE + lane] * v[2];
}

/* Target − Σ_j w_j (R_j arm_j + x_j). */
static void NAME(gap)(const CONTEXT *s, const pl_hold *hold, int lane, double gap[3])
{
    for (int k = 0; k < 3; k++)
        gap[k] = hold->now[k] - s->c[k][lane];
    for (int j = 0; j < hold->count; j++) {
        double arm[3];
        NAME(turned)(s, hold->particle[j], lane, hold->arm[j], arm);
        for (int k = 0; k < 3; k++)
            gap[k] -=
                hold->weight[j] *
                (arm[k] + (double)*((const REAL *)(s->x + hold->particle[j]) + k * STRIDE + lane));
    }
}

/* Σ_j w_j R_j axis and its length. */
static double NAME(direction)(const CONTEXT *s, const pl_hold *hold, int lane, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int j = 0; j < hold->count; j++) {
        double turned[3];
        NAME(turned)(s, hold->particle[j], lane, hold->arm[j], turned);
        for (int k = 0; k < 3; k++)
            sum[k] += hold->weight[j] * turned[k];
    }
    return __builtin_sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

/* A direction whose particles point every way has no length to normalise by, and exerts nothing. */
static const double NAME(shortest_direction) = 1e-3;

/* C_i += w t t̄ᵀ (position) or w r r̄ᵀ (direction). */
static void NAME(add_grip)(const CONTEXT *s, const pl_grip *grip, int lane, MAT *c)
{
    const pl_hold *hold = s->block->bodies[lane]->holds + grip->hold;
    const double *arm = hold->arm[grip->slot];
    double own[3], t[3], weight = hold->weight[grip->slot];
    NAME(turned)(s, grip->particle, lane, arm, own);
    if (hold->kind == PL_PIN_POSITION) {
        NAME(gap)(s, hold, lane, t);
    } else {
        double length = NAME(direction)(s, hold, lane, t);
        if (length < NAME(shortest_direction))
            return;
        weight /= length;
        for (int k = 0; k < 3; k++)
            t[k] = hold->now[k] - t[k] / length;
    }
    for (int row = 0; row < 3; row++)
        for (int col = 0; col < 3; col++)
            *NAME(part)(c->c + col, row, lane) +=
                (REAL)(hold->stiffness * (t[row] + weight * own[row]) * (weight * arm[col]));
}

/* The next grip of a lane if it is on particle i, else NULL. Grips stand in the order of the sweep,
   or its reverse. */
static const pl_grip *NAME(grip_on)(const CONTEXT *s, int lane, int i)
{
    const pl_oriented *body = s->block->bodies[lane];
    if (s->cursor[lane] >= body->grip_count)
        return NULL;
    int at = s->block->backward ? body->grip_count - 1 - s->cursor[lane] : s->cursor[lane];
    return body->grips[at].particle == i ? body->grips + at : NULL;
}

static void NAME(add_grips)(CONTEXT *s, int i, MAT *c)
{
    for (int k = 0; k < s->held_count; k++) {
        int lane = s->held[k];
        for (const pl_grip *grip; (grip = NAME(grip_on)(s, lane, i)); s->cursor[lane]++)
            NAME(add_grip)(s, grip, lane, c);
    }
}

/* Ec of one lane. */
static double NAME(pin_energy)(const CONTEXT *s, int lane)
{
    const pl_oriented *body = s->block->bodies[lane];
    double energy = 0;
    for (int p = 0; p < body->hold_count; p++) {
        const pl_hold *hold = body->holds + p;
        double t[3];
        if (hold->kind == PL_PIN_POSITION) {
            NAME(gap)(s, hold, lane, t);
        } else {
            double length = NAME(direction)(s, hold, lane, t);
            if (length < NAME(shortest_direction))
                continue;
            for (int k = 0; k < 3; k++)
                t[k] = t[k] / length - hold->now[k];
        }
        energy += 0.5 * hold->stiffness * (t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    }
    return energy;
}

/* ---- Local step ------------------------------------------------------------------------------ */

#ifdef PL_POSED
#include "matter/posed_solve.inl"
#else

/* C_i = f R* Ā_i + Σ_j κ [ R_j (Ā_i + Ā_j) + v_j (x_j − x_i)(x̄_j − x̄_i)ᵀ ] + pins. R_j Ā_j beside
   R_j would take a tenth fewer operations, but twice the room: what is read of a neighbour
   decides. */
PL_LANES_INLINE MAT NAME(neighbourhood)(CONTEXT *s, int i)
{
    const STAR *star = s->star + s->model->start[i], *end = s->star + s->model->start[i + 1];
    const COL x = s->x[i];
    MAT c = s->pull[i];
    for (; star < end; star++) {
        const REAL *m = star->moment,
                   column[3][3] = {{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}};
        const MAT *r = s->r + star->j;
        COL d = NAME(scale)(NAME(sub)(s->x[star->j], x), star->root);
        for (int k = 0; k < 3; k++) {
            for (int a = 0; a < 3; a++)
                c.c[k] = NAME(mad)(c.c[k], r->c[a], column[k][a]);
            c.c[k] = NAME(mad)(c.c[k], d, star->arm[k]);
        }
    }
    return c;
}

/* R d̄ − d of edge e as either end claims it; `r` is the rotation of the first. */
PL_LANES_INLINE void NAME(claims)(const CONTEXT *s, int e, const MAT *r, COL d, COL *ea, COL *eb)
{
    const SPRING *spring = s->spring + e;
    *ea = NAME(sub)(NAME(apply)(r, spring->rest), d);
    *eb = NAME(sub)(NAME(apply)(s->r + spring->b, spring->rest), d);
}

/* Targets that follow the state: only posed.h has them. */
PL_LANES_INLINE void NAME(renew)(CONTEXT *s)
{
    (void)s;
}

#endif

/* q_aᵀ q_b without its real part: v = sin(θ/2) n for the rotation by θ about n between the two. */
PL_LANES_INLINE void NAME(between)(QUAD a, QUAD b, TEE v[3])
{
#if LONE
    const TEE ax = a[0], ay = a[1], az = a[2], aw = a[3], bx = b[0], by = b[1], bz = b[2],
              bw = b[3];
#else
    const TEE ax = a.x, ay = a.y, az = a.z, aw = a.w, bx = b.x, by = b.y, bz = b.z, bw = b.w;
#endif
    v[0] = (aw * bx - bw * ax) - (ay * bz - az * by);
    v[1] = (aw * by - bw * ay) - (az * bx - ax * bz);
    v[2] = (aw * bz - bw * az) - (ax * by - ay * bx);
}

/* As a function of R_i alone the energy is a constant − tr(R_iᵀ C_i). With B = Rᵀ C, symmetric at
   the new rotation, and v the vector part of the turn from the old one, it falls by 2 (tr(B) |v|² −
   vᵀ B v): no difference of large numbers. */
PL_LANES_INLINE void NAME(note_turn)(CONTEXT *s, int i, QUAD before, const MAT *c)
{
    const MAT *r = s->r + i;
    TEE v[3];
    NAME(between)(before, s->q[i], v);
    COL cv = NAME(add)(NAME(add)(NAME(times)(c->c[0], v[0]), NAME(times)(c->c[1], v[1])),
                       NAME(times)(c->c[2], v[2]));
    COL rv = NAME(add)(NAME(add)(NAME(times)(r->c[0], v[0]), NAME(times)(r->c[1], v[1])),
                       NAME(times)(r->c[2], v[2]));
    COL trace = NAME(mul)(r->c[0], c->c[0]);
    trace = NAME(add)(trace, NAME(mul)(r->c[1], c->c[1]));
    trace = NAME(add)(trace, NAME(mul)(r->c[2], c->c[2]));
    TEE square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    COL fall = NAME(scale)(NAME(sub)(NAME(times)(trace, square), NAME(mul)(rv, cv)), 4);
    NAME(accumulate)(&s->drop, fall);
    s->turn[i] = NAME(quad_sub)(s->q[i], before);
}

#if LONE

/* Fits the rotations of the particles that have been collected, side by side in the lanes. */
static void NAME(fit_collected)(CONTEXT *s, const int32_t *particles, int count, const MAT *around,
                                REAL (*in)[PL_WR])
{
    VR c[9], q[4], r[9];
    for (int k = 0; k < 9; k++) {
        for (int l = count; l < PL_WR; l++)
            in[k][l] = 0; /* left out of the fit */
        c[k] = vr_load(in[k]);
    }
    for (int l = 0; l < PL_WR; l++)
        for (int k = 0; k < 4; k++)
            in[9 + k][l] = s->q[particles[l < count ? l : 0]][k];
    for (int k = 0; k < 4; k++)
        q[k] = vr_load(in[9 + k]);
    PL_R(pl_rotation_fit)(c, q);
    PL_R(pl_rotation_matrix)(q, r);
    QUAD before[PL_WR];
    for (int l = 0; l < count; l++)
        before[l] = s->q[particles[l]];
    NAME(put_quaternions)(s->q, particles, count, q);
    NAME(put_matrices)(s->r, particles, count, r);
    for (int l = 0; s->turn && l < count; l++)
        NAME(note_turn)(s, particles[l], before[l], &around[l]);
}

/* Particles of one colour do not see each other and are fitted together; a pin couples what the
   colours do not know, so whatever was collected is fitted before a pinned particle looks
   around. */
static void NAME(local)(CONTEXT *s)
{
    const pl_model *model = s->model;
    REAL in[13][PL_WR] __attribute__((aligned(64)));
    MAT around[PL_WR];
    int32_t particles[PL_WR];
    s->cursor[0] = 0;
    s->drop = (ACC){0};
    bool backward = s->block->backward;
    for (int turn = 0; turn < model->colour_count; turn++) {
        int colour = backward ? model->colour_count - 1 - turn : turn, count = 0;
        int first = model->colour_start[colour], last = model->colour_start[colour + 1] - 1;
        for (int k = first; k <= last; k++) {
            int i = model->order[backward ? first + last - k : k];
            if (s->system->is_fixed[i])
                continue;
            bool gripped = s->held_count && NAME(grip_on)(s, 0, i);
            if (count == PL_WR || (gripped && count)) {
                NAME(fit_collected)(s, particles, count, around, in);
                count = 0;
            }
            MAT c = NAME(neighbourhood)(s, i);
            if (gripped)
                NAME(add_grips)(s, i, &c);
            for (int m = 0; m < 9; m++)
                in[m][count] = c.c[m % 3][m / 3];
            around[count] = c;
            particles[count++] = i;
        }
        if (count)
            NAME(fit_collected)(s, particles, count, around, in);
    }
}

#else

/* So many particles of one colour are fitted together, and so many of them side by side: a block of
   half as many bodies as there are lanes fills them with two. */
enum { NAME(together) = 8, NAME(abreast) = FIT_LANES / BODIES };

typedef struct NAME(fits) {
    _Alignas(64) REAL c[NAME(together) / NAME(abreast)][9][FIT_LANES];
    _Alignas(64) REAL q[NAME(together) / NAME(abreast)][4][FIT_LANES];
} NAME(fits);

/* Takes up the rotation that was fitted to c. */
PL_LANES_INLINE void NAME(turn_to)(CONTEXT *s, int i, const VR q[4], const MAT *c)
{
    VR r[9];
    QUAD before = s->q[i];
    PL_R(pl_rotation_matrix)(q, r);
    s->q[i] = (QUAD){q[0], q[1], q[2], q[3]};
    for (int k = 0; k < 3; k++)
        s->r[i].c[k] = (COL){r[k], r[3 + k], r[6 + k]};
    if (s->turn)
        NAME(note_turn)(s, i, before, c);
}

static void NAME(look_around)(CONTEXT *s, const int32_t *particles, int count, NAME(fits) * f)
{
    for (int p = 0; p < count; p++) {
        int i = particles[p], set = p / NAME(abreast), lane = p % NAME(abreast) * BODIES;
        MAT m = NAME(neighbourhood)(s, i);
        for (int k = 0; k < 3; k++) {
            vr_store(f->c[set][k] + lane, m.c[k].x);
            vr_store(f->c[set][3 + k] + lane, m.c[k].y);
            vr_store(f->c[set][6 + k] + lane, m.c[k].z);
        }
        memcpy(f->q[set][0] + lane, &s->q[i].x, sizeof(VR));
        memcpy(f->q[set][1] + lane, &s->q[i].y, sizeof(VR));
        memcpy(f->q[set][2] + lane, &s->q[i].z, sizeof(VR));
        memcpy(f->q[set][3] + lane, &s->q[i].w, sizeof(VR));
    }
}

/* Particles of one colour, stage by stage: a fit is a chain of operations that wait for each other,
   and the processor fills the gaps of one with the next. */
static void NAME(fit_together)(CONTEXT *s, const int32_t *particles, int count, NAME(fits) * f)
{
    int sets = (count + NAME(abreast) - 1) / NAME(abreast);
    if (count % NAME(abreast)) { /* an absent one is left out of the fit */
        memset(f->c[sets - 1], 0, sizeof f->c[0]);
        memset(f->q[sets - 1], 0, sizeof f->q[0]);
    }
    NAME(look_around)(s, particles, count, f);
    FIT(sets, f->c[0][0], f->q[0][0]);
    for (int p = 0; p < count; p++) {
        int set = p / NAME(abreast), lane = p % NAME(abreast) * BODIES;
        VR q[4];
        MAT m;
        for (int k = 0; k < 4; k++)
            q[k] = vr_load(f->q[set][k] + lane);
        for (int k = 0; s->turn && k < 3; k++)
            m.c[k] = (COL){vr_load(f->c[set][k] + lane), vr_load(f->c[set][3 + k] + lane),
                           vr_load(f->c[set][6 + k] + lane)};
        NAME(turn_to)(s, particles[p], q, &m);
    }
}

/* A pin looks at what others of the colour have just done. */
static void NAME(fit_held)(CONTEXT *s, int i)
{
    MAT m = NAME(neighbourhood)(s, i);
    NAME(add_grips)(s, i, &m);
    VR c[9] = {m.c[0].x, m.c[1].x, m.c[2].x, m.c[0].y, m.c[1].y,
               m.c[2].y, m.c[0].z, m.c[1].z, m.c[2].z};
    VR q[4] = {s->q[i].x, s->q[i].y, s->q[i].z, s->q[i].w};
    PL_R(pl_rotation_fit)(c, q);
    NAME(turn_to)(s, i, q, &m);
}

/* The particles of one colour do not see each other; only pins couple what the colours do not
   know. */
static void NAME(local)(CONTEXT *s)
{
    const pl_model *model = s->model;
    int32_t particles[NAME(together)];
    NAME(fits) f;
    bool backward = s->block->backward;
    for (int l = 0; l < BODIES; l++)
        s->cursor[l] = 0;
    s->drop = (ACC){0};
    for (int turn = 0; turn < model->colour_count; turn++) {
        int colour = backward ? model->colour_count - 1 - turn : turn, count = 0;
        int first = model->colour_start[colour], last = model->colour_start[colour + 1] - 1;
        for (int k = first; k <= last; k++) {
            int i = model->order[backward ? first + last - k : k];
            if (s->system->is_fixed[i])
                continue;
            if (s->held_count) {
                NAME(fit_held)(s, i);
                continue;
            }
            particles[count++] = i;
            if (count == NAME(together)) {
                NAME(fit_together)(s, particles, count, &f);
                count = 0;
            }
        }
        if (count)
            NAME(fit_together)(s, particles, count, &f);
    }
}

#endif

/* ---- Global step ----------------------------------------------------------------------------- */

/* What the edges from e on that begin at the same particle pull with. Returns the next edge. */
PL_LANES_INLINE int NAME(pull_from)(CONTEXT *s, int e)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    int a = s->spring[e].a, count = s->system->edge_count;
    const MAT r = s->r[a];
    const COL x = s->x[a];
    COL sum = s->rhs[pivot[a]];
    for (; e < count && s->spring[e].a == a; e++) {
        const SPRING *spring = s->spring + e;
        COL ea, eb, *b = s->rhs + pivot[spring->b];
        NAME(claims)(s, e, &r, NAME(sub)(s->x[spring->b], x), &ea, &eb);
        COL pull = NAME(mad)(NAME(scale)(ea, spring->claim_a), eb, spring->claim_b);
        sum = NAME(sub)(sum, pull);
        *b = NAME(add)(*b, pull);
    }
    s->rhs[pivot[a]] = sum;
    return e;
}

/* b − L x, written so that a body at rest gives exactly zero: each edge pulls with the difference
   of what its ends claim and what is. Free bodies leave their mean out: it is known. */
static void NAME(residual)(CONTEXT *s)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    double lag[3][BODIES];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            lag[k][l] = s->system->grounded ? s->drift[k][l] - s->c[k][l] : 0;
    COL behind = NAME(column_of)(lag);
    for (int i = 0; i < s->n; i++)
        s->rhs[pivot[i]] =
            NAME(scale)(NAME(add)(NAME(sub)(s->target[i], s->x[i]), behind), s->grain[i].mass);
    for (int e = 0; e < s->system->edge_count;)
        e = NAME(pull_from)(s, e);
    for (int f = 0; f < s->system->key.fixed_count; f++)
        s->rhs[pivot[s->system->key.fixed[f]]] = NAME(zero)();
}

/* Pins that are part of the matrix pull through the right-hand side. */
static void NAME(add_absorbed)(CONTEXT *s)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    for (int k = 0; k < s->held_count; k++) {
        const pl_oriented *body = s->block->bodies[s->held[k]];
        for (int p = 0; p < body->hold_count; p++) {
            const pl_hold *hold = body->holds + p;
            if (hold->kind != PL_PIN_POSITION)
                continue;
            double gap[3];
            NAME(gap)(s, hold, s->held[k], gap);
            for (int j = 0; j < hold->count; j++)
                for (int m = 0; m < 3 && !s->system->is_fixed[hold->particle[j]]; m++)
                    *NAME(part)(s->rhs + pivot[hold->particle[j]], m, s->held[k]) +=
                        (REAL)(hold->stiffness * hold->weight[j] * gap[m]);
        }
    }
}

/* L D Lᵀ Δ = rhs, in place, in gather form. The energy falls by 1/2 Δᵀ L D Lᵀ Δ = 1/2 Σ y_k² /
   D_k. */
static void NAME(solve)(CONTEXT *s)
{
    const pl_symbolic *symbolic = s->system->symbolic;
    for (int k = 0; k < s->n; k++) {
        COL y = s->rhs[k];
        for (int64_t p = symbolic->row_start[k]; p < symbolic->row_start[k + 1]; p++)
            y = NAME(sub)(y, NAME(scale)(s->rhs[symbolic->row_index[p]], s->row_values[p]));
        s->rhs[k] = y;
    }
    for (int k = s->n - 1; k >= 0; k--) {
        COL y = NAME(scale)(s->rhs[k], s->inverse_d[k]);
        if (s->turn)
            NAME(accumulate)(&s->drop, NAME(mul)(s->rhs[k], y));
        for (int64_t p = symbolic->col_start[k]; p < symbolic->col_start[k + 1]; p++)
            y = NAME(sub)(y, NAME(scale)(s->rhs[symbolic->col_index[p]], s->col_values[p]));
        s->rhs[k] = y;
    }
}

/* Rounding leaves a mean in Δ that the exact solution does not have. */
static void NAME(remove_mean)(CONTEXT *s)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    ACC sum = {0};
    double mean[3][BODIES];
    for (int i = 0; i < s->n; i++)
        NAME(accumulate)(&sum, NAME(scale)(s->rhs[pivot[i]], s->grain[i].mass));
    NAME(components)(&sum, mean);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            mean[k][l] /= s->system->total_mass;
    COL shift = NAME(column_of)(mean);
    for (int i = 0; i < s->n; i++)
        s->rhs[i] = NAME(sub)(s->rhs[i], shift);
}

/* Δ = y + Z S⁻¹ (gap − Aᵀ y) for the pins of one lane; `step` is the mean part of y. */
static void NAME(correct)(CONTEXT *s, const pl_oriented *body, int lane, const double step[3])
{
    const int32_t *pivot = s->system->symbolic->inverse;
    const pl_pins *pins = body->correction;
    double t[PL_MOST_CORRECTIONS][3];
    for (int p = 0; p < body->hold_count; p++) {
        const pl_hold *hold = body->holds + p;
        if (hold->column < 0)
            continue;
        double *gap = t[hold->column];
        NAME(gap)(s, hold, lane, gap);
        for (int k = 0; k < 3; k++)
            gap[k] -= step[k];
        for (int j = 0; j < hold->count; j++)
            for (int k = 0; k < 3; k++)
                gap[k] -= hold->weight[j] *
                          (double)*NAME(part)(s->rhs + pivot[hold->particle[j]], k, lane);
    }
    pl_pins_solve(pins, t[0], 3, 3);
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 3; k++) {
            REAL *at = NAME(part)(s->rhs + pivot[i], k, lane);
            double sum = (double)*at;
            for (int p = 0; p < pins->count; p++)
                sum += pins->columns[(size_t)p * (size_t)s->n + (size_t)i] * t[p][k];
            *at = (REAL)sum;
        }
    for (int p = 0; p < pins->count; p++)
        for (int k = 0; k < 3; k++)
            s->c[k][lane] += pins->mean[p] * t[p][k];
}

/* Pinned bodies: the mean part of y, and the correction. */
static void NAME(apply_pins)(CONTEXT *s)
{
    for (int h = 0; h < s->held_count; h++) {
        int lane = s->held[h];
        const pl_oriented *body = s->block->bodies[lane];
        double step[3] = {0, 0, 0};
        for (int k = 0; k < 3 && !s->system->grounded; k++)
            step[k] = s->drift[k][lane] - s->c[k][lane];
        if (body->correction)
            NAME(correct)(s, body, lane, step);
        for (int k = 0; k < 3; k++)
            s->c[k][lane] += step[k];
    }
}

/* rhs = Δ at the present state. */
static void NAME(solve_for_step)(CONTEXT *s)
{
    NAME(residual)(s);
    if (s->system->key.absorbed_count && !s->system->key.pattern_only)
        NAME(add_absorbed)(s);
    NAME(solve)(s);
    if (!s->system->grounded)
        NAME(remove_mean)(s);
}

static void NAME(advance)(CONTEXT *s)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    if (s->held_count)
        NAME(apply_pins)(s);
    for (int i = 0; i < s->n; i++)
        s->x[i] = NAME(add)(s->x[i], s->rhs[pivot[i]]);
}

/* The error of a solve in float is about its condition number times 6·10⁻⁸ of the step. Flags the
   lanes whose step is so long that this matters. */
static bool NAME(is_long)(const CONTEXT *s, REAL flags[BODIES])
{
    bool any = false;
    (void)s; /* doubles are never too short */
    for (int l = 0; l < BODIES; l++)
        flags[l] = 0;
#if !PL_REAL_IS_DOUBLE
    COL reach = NAME(zero)();
    for (int i = 0; i < s->n; i++)
        reach = NAME(reach)(reach, s->rhs[i]);
    REAL limit = (REAL)(PL_SOLVE_TOLERANCE / 6e-8 / s->system->condition);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            if (!(((const REAL *)&reach)[k * STRIDE + l] <= limit))
                flags[l] = 1;
#endif
    for (int l = 0; l < BODIES; l++)
        any = any || flags[l] > 0;
    return any;
}

/* Flags the lanes with pins: their columns are rounded to float, and what cancels is long. */
static bool NAME(has_pins)(const CONTEXT *s, REAL flags[BODIES])
{
    bool any = false;
    for (int h = 0; h < s->held_count; h++) {
        if (s->block->bodies[s->held[h]]->correction) {
            flags[s->held[h]] = 1;
            any = true;
        }
    }
    return any;
}

/* A second solve from where the first has led takes its error away. Other lanes stay as they
   are. */
static void NAME(refine)(CONTEXT *s, const REAL flags[BODIES])
{
    const int32_t *pivot = s->system->symbolic->inverse;
    double c[3][BODIES];
    QUAD *turn = s->turn;
    TEE flag;
    memcpy(&flag, flags, sizeof flag);
    memcpy(c, s->c, sizeof c);
    COL *first = s->rhs;
    s->rhs = s->spare;
    s->turn = NULL; /* what this takes from the energy is nothing to speak of */
    NAME(solve_for_step)(s);
    if (s->held_count)
        NAME(apply_pins)(s);
    for (int i = 0; i < s->n; i++) {
        COL more = NAME(pick)(flag, s->rhs[pivot[i]], NAME(zero)());
        s->x[i] = NAME(pick)(flag, NAME(add)(s->x[i], more), s->x[i]);
        first[pivot[i]] = NAME(pick)(flag, NAME(add)(first[pivot[i]], more), first[pivot[i]]);
    }
    for (int l = 0; l < BODIES; l++)
        for (int k = 0; k < 3 && !(flags[l] > 0); k++)
            s->c[k][l] = c[k][l];
    s->rhs = first;
    s->turn = turn;
}

static void NAME(global)(CONTEXT *s)
{
    REAL flags[BODIES] __attribute__((aligned(64)));
    NAME(solve_for_step)(s);
    bool again = NAME(is_long)(s, flags);
    again = NAME(has_pins)(s, flags) || again;
    NAME(advance)(s);
    if (again)
        NAME(refine)(s, flags);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

/* tr(D S Dᵀ) for a constant symmetric S, component by component; `doubled` holds 2 S_xy, 2 S_xz, 2
   S_yz. */
PL_LANES_INLINE COL NAME(strain)(const MAT *d, const REAL s[6], const REAL doubled[3])
{
    COL v = NAME(mul)(d->c[0], NAME(mad)(NAME(mad)(NAME(scale)(d->c[0], s[0]), d->c[1], doubled[0]),
                                         d->c[2], doubled[1]));
    v = NAME(add)(v,
                  NAME(mul)(d->c[1], NAME(mad)(NAME(scale)(d->c[1], s[3]), d->c[2], doubled[2])));
    return NAME(add)(v, NAME(mul)(d->c[2], NAME(scale)(d->c[2], s[5])));
}

PL_LANES_INLINE MAT NAME(difference)(const MAT *a, const MAT *b)
{
    return (MAT){
        {NAME(sub)(a->c[0], b->c[0]), NAME(sub)(a->c[1], b->c[1]), NAME(sub)(a->c[2], b->c[2])}};
}

enum { NAME(terms_per_sum) = 8 };

PL_LANES_INLINE COL NAME(inertia_term)(const CONTEXT *s, int i, COL ahead)
{
    const GRAIN *grain = s->grain + i;
    COL d = NAME(add)(NAME(sub)(s->x[i], s->target[i]), ahead);
    MAT turn = NAME(difference)(s->r + i, s->spin + i);
    COL v = NAME(scale)(NAME(strain)(&turn, grain->moment, grain->doubled), grain->density);
    return NAME(add)(v, NAME(mul)(d, NAME(scale)(d, grain->mass)));
}

#ifndef PL_POSED
/* tr((R_a − R_b) M (R_a − R_b)ᵀ) = 4 vᵀ (tr(M) I − M) v: exact, and without a difference of large
   numbers. */
PL_LANES_INLINE TEE NAME(turning_term)(const CONTEXT *s, const SPRING *spring)
{
    const REAL *t = spring->turning;
    TEE v[3];
    NAME(between)(s->q[spring->a], s->q[spring->b], v);
    return v[0] * (v[0] * t[0] + v[1] * t[1] + v[2] * t[2]) + v[1] * (v[1] * t[3] + v[2] * t[4]) +
           v[2] * (v[2] * t[5]);
}

PL_LANES_INLINE COL NAME(elastic_term)(const CONTEXT *s, int e)
{
    const SPRING *spring = s->spring + e;
    COL ea, eb;
    NAME(claims)(s, e, s->r + spring->a, NAME(sub)(s->x[spring->b], s->x[spring->a]), &ea, &eb);
    COL v = NAME(mul)(ea, NAME(scale)(ea, spring->claim_a));
    v = NAME(add)(v, NAME(mul)(eb, NAME(scale)(eb, spring->claim_b)));
    return NAME(add_to_first)(v, NAME(turning_term)(s, spring));
}
#endif

/* E of each lane: terms and short sums in REAL (none is negative), long sums in double, in a fixed
   order. */
static void NAME(energies)(const CONTEXT *s, double out[BODIES])
{
    ACC sum = {0};
    double lag[3][BODIES];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            lag[k][l] = s->c[k][l] - s->drift[k][l];
    COL ahead = NAME(column_of)(lag);
    for (int i = 0; i < s->n;) {
        COL part = NAME(inertia_term)(s, i++, ahead);
        for (int k = 1; k < NAME(terms_per_sum) && i < s->n; k++)
            part = NAME(add)(part, NAME(inertia_term)(s, i++, ahead));
        NAME(accumulate)(&sum, part);
    }
#ifndef PL_POSED
    for (int e = 0; e < s->system->edge_count;) {
        COL part = NAME(elastic_term)(s, e++);
        for (int k = 1; k < NAME(terms_per_sum) && e < s->system->edge_count; k++)
            part = NAME(add)(part, NAME(elastic_term)(s, e++));
        NAME(accumulate)(&sum, part);
    }
#endif
    NAME(total)(&sum, out);
    for (int l = 0; l < BODIES; l++)
        out[l] *= 0.5;
#ifdef PL_POSED
    out[0] += NAME(pose_energy)(s);
#endif
    for (int k = 0; k < s->held_count; k++)
        out[s->held[k]] += NAME(pin_energy)(s, s->held[k]);
}

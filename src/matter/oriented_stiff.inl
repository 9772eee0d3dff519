/* The stiff solver (METHODS §1): Gauss–Newton in positions and rotations together, R_i ← exp([θ_i])
   R_i. The residuals are the terms of the energy under square roots; their normal equations are a
   sparse system of 6 × 6 blocks (x, θ) on the same graph, factored anew in every iteration as L D
   Lᵀ along the model's elimination order. A step is kept only where its energy is lower than that
   of a local/global step from the same state; otherwise that one is taken. A template over the
   layout, in double: see oriented_types.inl. Blocks are row major. */
#include "math/elementary.inl"

#undef BLOCK
#undef STIFF
#define BLOCK NAME(block)
#define STIFF NAME(stiff)

typedef struct BLOCK {
    TEE m[6][6];
} BLOCK;

typedef struct STIFF {
    CONTEXT base;
    BLOCK *diagonal;        /* [n] by pivot; after factoring L below the diagonal */
    BLOCK *lower;           /* [nnz] in the column form of the symbolic factor */
    TEE (*inverse_d)[6];    /* [n] */
    TEE (*step)[6];         /* [n] by pivot: minus the gradient, then the Gauss–Newton step */
    int32_t *place;         /* [n] where the rows of the current column stand in `lower` */
    COL *start_x, *plain_x; /* [n] states to go back to */
    QUAD *start_q, *plain_q;
} STIFF;

static size_t NAME(lay_out_stiff)(STIFF *s, const pl_system *system, char *scratch)
{
    size_t n = (size_t)system->n;
    size_t used = NAME(lay_out)(&s->base, system->n, PL_SOLVER_STIFF, scratch);
    s->diagonal = NAME(carve)(scratch, &used, n, sizeof(BLOCK));
    s->lower = NAME(carve)(scratch, &used, (size_t)system->symbolic->nnz, sizeof(BLOCK));
    s->inverse_d = NAME(carve)(scratch, &used, n, sizeof *s->inverse_d);
    s->step = NAME(carve)(scratch, &used, n, sizeof *s->step);
    s->place = NAME(carve)(scratch, &used, n, sizeof *s->place);
    s->start_x = NAME(carve)(scratch, &used, n, sizeof(COL));
    s->start_q = NAME(carve)(scratch, &used, n, sizeof(QUAD));
    s->plain_x = NAME(carve)(scratch, &used, n, sizeof(COL));
    s->plain_q = NAME(carve)(scratch, &used, n, sizeof(QUAD));
    return used;
}

/* ---- Small algebra --------------------------------------------------------------------------- */

/* block += s I at (row, col). */
PL_LANES_INLINE void NAME(add_identity)(BLOCK *b, int row, int col, TEE s)
{
    for (int k = 0; k < 3; k++)
        b->m[row + k][col + k] += s;
}

/* block += s [v]× at (row, col). */
PL_LANES_INLINE void NAME(add_cross)(BLOCK *b, int row, int col, const TEE v[3], TEE s)
{
    b->m[row + 0][col + 1] -= s * v[2], b->m[row + 0][col + 2] += s * v[1];
    b->m[row + 1][col + 0] += s * v[2], b->m[row + 1][col + 2] -= s * v[0];
    b->m[row + 2][col + 0] -= s * v[1], b->m[row + 2][col + 1] += s * v[0];
}

/* block += s (tr(N) I − Nᵀ) at (3, 3): Σ [p]×ᵀ [q]× for N = Σ p qᵀ. */
PL_LANES_INLINE void NAME(add_turning)(BLOCK *b, TEE n[3][3], TEE s)
{
    TEE trace = n[0][0] + n[1][1] + n[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b->m[3 + i][3 + j] += s * ((i == j ? trace : NAME(tee)(0)) - n[j][i]);
}

/* step −= s Σ p × q at the rotation, for N = Σ p qᵀ. */
PL_LANES_INLINE void NAME(add_twist)(TEE step[6], TEE n[3][3], TEE s)
{
    step[3] += s * (n[1][2] - n[2][1]);
    step[4] += s * (n[2][0] - n[0][2]);
    step[5] += s * (n[0][1] - n[1][0]);
}

/* ---- Normal equations ------------------------------------------------------------------------ */

static void NAME(assemble_particle)(STIFF *s, int i, const COL *behind)
{
    const CONTEXT *b = &s->base;
    const GRAIN *grain = b->grain + i;
    int k = b->system->symbolic->inverse[i];
    BLOCK *h = s->diagonal + k;
    TEE n[3][3], push[3], density = NAME(tee)(grain->density);
    *h = (BLOCK){0};
    NAME(add_identity)(h, 0, 0, NAME(tee)(grain->mass));
    MAT turned = NAME(apply_moment)(b->r + i, grain->moment);
    NAME(outer)(&turned, b->r + i, n);
    NAME(add_turning)(h, n, density);
    for (int m = 0; m < 6; m++)
        s->step[k][m] = NAME(tee)(0);
    NAME(outer)(&turned, b->spin + i, n);
    NAME(add_twist)(s->step[k], n, density);
    NAME(get)(NAME(scale)(NAME(add)(NAME(sub)(b->target[i], b->x[i]), *behind), grain->mass), push);
    for (int m = 0; m < 3; m++)
        s->step[k][m] += push[m];
}

/* One end of an edge: e = R d̄ − d has the derivatives ± I by the positions and −[R d̄]× by the
   rotation. */
PL_LANES_INLINE void NAME(assemble_end)(STIFF *s, int i, const MAT *turned, const TEE arm[3],
                                        const TEE e[3], TEE claim, TEE both, TEE sign)
{
    int k = s->base.system->symbolic->inverse[i];
    BLOCK *h = s->diagonal + k;
    TEE n[3][3], torque[3];
    NAME(add_identity)(h, 0, 0, both);
    NAME(add_cross)(h, 0, 3, arm, -(claim * sign));
    NAME(add_cross)(h, 3, 0, arm, claim * sign);
    NAME(outer)(turned, s->base.r + i, n);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            n[a][c] += claim * (arm[a] * arm[c]);
    NAME(add_turning)(h, n, NAME(tee)(1));
    NAME(cross)(arm, e, torque);
    for (int m = 0; m < 3; m++)
        s->step[k][3 + m] -= claim * torque[m];
}

static void NAME(assemble_edge)(STIFF *s, int e)
{
    const CONTEXT *b = &s->base;
    const SPRING *spring = b->spring + e;
    const MAT *ra = b->r + spring->a, *rb = b->r + spring->b;
    int pa = b->system->symbolic->inverse[spring->a], pb = b->system->symbolic->inverse[spring->b];
    COL d = NAME(sub)(b->x[spring->b], b->x[spring->a]);
    COL arm_a = NAME(apply)(ra, spring->rest), arm_b = NAME(apply)(rb, spring->rest);
    TEE sa[3], sb[3], ea[3], eb[3], n[3][3];
    TEE ca = NAME(tee)(spring->claim_a), cb = NAME(tee)(spring->claim_b);
    NAME(get)(arm_a, sa);
    NAME(get)(arm_b, sb);
    NAME(get)(NAME(sub)(arm_a, d), ea);
    NAME(get)(NAME(sub)(arm_b, d), eb);
    MAT turned_a = NAME(apply_moment)(ra, spring->moment),
        turned_b = NAME(apply_moment)(rb, spring->moment);
    NAME(assemble_end)(s, spring->a, &turned_a, sa, ea, ca, ca + cb, NAME(tee)(1));
    NAME(assemble_end)(s, spring->b, &turned_b, sb, eb, cb, ca + cb, NAME(tee)(-1));
    NAME(outer)(&turned_a, rb, n);
    for (int m = 0; m < 3; m++) {
        TEE pull = ca * ea[m] + cb * eb[m];
        s->step[pa][m] -= pull;
        s->step[pb][m] += pull;
    }
    NAME(add_twist)(s->step[pa], n, NAME(tee)(1));
    NAME(add_twist)(s->step[pb], n, NAME(tee)(-1));
    /* The coupling with rows of the later pivot. Rows of a: (x_a θ_b) = −cb [sb], (θ_a x_b) = −ca
       [sa]; the transpose of s [v] is −s [v]. */
    BLOCK *h = s->lower + b->system->edge_entry[e];
    *h = (BLOCK){0};
    NAME(add_identity)(h, 0, 0, -(ca + cb));
    if (pa > pb) {
        NAME(add_cross)(h, 0, 3, sb, -cb);
        NAME(add_cross)(h, 3, 0, sa, -ca);
    } else {
        NAME(add_cross)(h, 3, 0, sb, cb);
        NAME(add_cross)(h, 0, 3, sa, ca);
        for (int i = 0; i < 3; i++)
            for (int j = i + 1; j < 3; j++) {
                TEE swap = n[i][j];
                n[i][j] = n[j][i];
                n[j][i] = swap;
            }
    }
    NAME(add_turning)(h, n, NAME(tee)(-1));
}

/* One lane of a 3 × 3 part of a block: s (x I) and so on, written out for pins, which are few. */
PL_LANES_INLINE double *NAME(cell)(BLOCK *b, int row, int col, int lane)
{
    return (double *)&b->m[row][col] + lane;
}

/* block (rows j, columns l) += w J_jᵀ J_l with J = weight (I, −[o]×), or without the I for
   directions. */
static void NAME(add_pin_pair)(BLOCK *b, int lane, bool position, double w, const double oj[3],
                               const double ol[3])
{
    double dot = oj[0] * ol[0] + oj[1] * ol[1] + oj[2] * ol[2];
    const double cj[3][3] = {{0, -oj[2], oj[1]}, {oj[2], 0, -oj[0]}, {-oj[1], oj[0], 0}};
    const double cl[3][3] = {{0, -ol[2], ol[1]}, {ol[2], 0, -ol[0]}, {-ol[1], ol[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            *NAME(cell)(b, 3 + i, 3 + k, lane) += w * ((i == k ? dot : 0) - ol[i] * oj[k]);
            if (!position)
                continue;
            *NAME(cell)(b, i, k, lane) += i == k ? w : 0;
            *NAME(cell)(b, i, 3 + k, lane) -= w * cl[i][k];
            *NAME(cell)(b, 3 + i, k, lane) += w * cj[i][k];
        }
}

/* The entry of `lower` with the given earlier and later pivot; the pattern holds it. */
static int64_t NAME(find_entry)(const pl_symbolic *symbolic, int earlier, int later)
{
    int64_t low = symbolic->col_start[earlier], high = symbolic->col_start[earlier + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (symbolic->col_index[middle] < later)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void NAME(assemble_pin)(STIFF *s, const pl_hold *hold, int lane)
{
    const CONTEXT *b = &s->base;
    const pl_symbolic *symbolic = b->system->symbolic;
    double arm[PL_MAX_INFLUENCES][3], gap[3], length = 1;
    bool position = hold->kind == PL_PIN_POSITION;
    if (position) {
        NAME(gap)(b, hold, lane, gap);
    } else {
        length = NAME(direction)(b, hold, lane, gap);
        if (length < NAME(shortest_direction))
            return;
        for (int k = 0; k < 3; k++)
            gap[k] = hold->now[k] - gap[k] / length;
    }
    for (int j = 0; j < hold->count; j++)
        NAME(turned)(b, hold->particle[j], lane, hold->arm[j], arm[j]);
    for (int j = 0; j < hold->count; j++) {
        int pj = symbolic->inverse[hold->particle[j]];
        double w = hold->stiffness * hold->weight[j] / length;
        const double torque[3] = {arm[j][1] * gap[2] - arm[j][2] * gap[1],
                                  arm[j][2] * gap[0] - arm[j][0] * gap[2],
                                  arm[j][0] * gap[1] - arm[j][1] * gap[0]};
        for (int k = 0; k < 3; k++) {
            ((double *)&s->step[pj][k])[lane] += position ? w * gap[k] : 0;
            ((double *)&s->step[pj][3 + k])[lane] += w * torque[k];
        }
        for (int l = 0; l < hold->count; l++) {
            int pl = symbolic->inverse[hold->particle[l]];
            if (pl > pj)
                continue;
            BLOCK *block =
                pl == pj ? s->diagonal + pj : s->lower + NAME(find_entry)(symbolic, pl, pj);
            NAME(add_pin_pair)(block, lane, position, w * hold->weight[l] / length, arm[j], arm[l]);
        }
    }
}

/* Fixed particles do not move: unit diagonal, no coupling. */
static void NAME(assemble_fixed)(STIFF *s)
{
    const pl_symbolic *symbolic = s->base.system->symbolic;
    const pl_system_key *key = &s->base.system->key;
    for (int f = 0; f < key->fixed_count; f++) {
        int k = symbolic->inverse[key->fixed[f]];
        s->diagonal[k] = (BLOCK){0};
        for (int m = 0; m < 6; m++) {
            s->diagonal[k].m[m][m] = NAME(tee)(1);
            s->step[k][m] = NAME(tee)(0);
        }
        for (int64_t p = symbolic->col_start[k]; p < symbolic->col_start[k + 1]; p++)
            s->lower[p] = (BLOCK){0};
        for (int64_t p = symbolic->row_start[k]; p < symbolic->row_start[k + 1]; p++)
            s->lower[symbolic->row_to_col[p]] = (BLOCK){0};
    }
}

static void NAME(assemble)(STIFF *s)
{
    const CONTEXT *b = &s->base;
    double lag[3][BODIES];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            lag[k][l] = b->drift[k][l] - b->c[k][l];
    COL behind = NAME(column_of)(lag);
    for (int64_t p = 0; p < b->system->symbolic->nnz; p++)
        s->lower[p] = (BLOCK){0};
    for (int i = 0; i < b->n; i++)
        NAME(assemble_particle)(s, i, &behind);
    for (int e = 0; e < b->system->edge_count; e++)
        NAME(assemble_edge)(s, e);
    for (int h = 0; h < b->held_count; h++) {
        const pl_oriented *body = b->block->bodies[b->held[h]];
        for (int p = 0; p < body->hold_count; p++)
            NAME(assemble_pin)(s, body->holds + p, b->held[h]);
    }
    NAME(assemble_fixed)(s);
}

/* ---- Factor and solve ------------------------------------------------------------------------ */

/* out −= a bᵀ */
PL_LANES_INLINE void NAME(subtract_product)(BLOCK *out, const BLOCK *a, const BLOCK *b)
{
    for (int i = 0; i < 6; i++) {
        TEE row[6];
        for (int k = 0; k < 6; k++)
            row[k] = a->m[i][k];
        for (int j = 0; j < 6; j++) {
            TEE sum = out->m[i][j];
            for (int k = 0; k < 6; k++)
                sum = sum - row[k] * b->m[j][k];
            out->m[i][j] = sum;
        }
    }
}

/* L D Lᵀ of a diagonal block in place; 1 / D apart. */
static void NAME(factor_diagonal)(BLOCK *b, TEE inverse_d[6])
{
    for (int j = 0; j < 6; j++) {
        TEE scaled[6] = {0}, d = b->m[j][j];
        for (int k = 0; k < j; k++) {
            scaled[k] = b->m[j][k] / inverse_d[k];
            d = d - b->m[j][k] * scaled[k];
        }
        inverse_d[j] = NAME(tee)(1) / d;
        for (int i = j + 1; i < 6; i++) {
            TEE sum = b->m[i][j];
            for (int k = 0; k < j; k++)
                sum = sum - b->m[i][k] * scaled[k];
            b->m[i][j] = sum * inverse_d[j];
        }
    }
}

/* A ← A L⁻ᵀ D⁻¹ with the factored diagonal block. */
static void NAME(divide)(BLOCK *a, const BLOCK *diagonal, const TEE inverse_d[6])
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            TEE sum = a->m[i][j];
            for (int k = 0; k < j; k++)
                sum = sum - a->m[i][k] * diagonal->m[j][k];
            a->m[i][j] = sum;
        }
        for (int j = 0; j < 6; j++)
            a->m[i][j] = a->m[i][j] * inverse_d[j];
    }
}

/* Left-looking by columns: column k first loses what the earlier columns c with L_kc ≠ 0 take from
   it. */
static void NAME(factor)(STIFF *s)
{
    const pl_symbolic *symbolic = s->base.system->symbolic;
    for (int k = 0; k < s->base.n; k++) {
        int64_t end = symbolic->col_start[k + 1];
        for (int64_t p = symbolic->col_start[k]; p < end; p++)
            s->place[symbolic->col_index[p]] = (int32_t)(p - symbolic->col_start[k]);
        for (int64_t r = symbolic->row_start[k]; r < symbolic->row_start[k + 1]; r++) {
            int c = symbolic->row_index[r];
            int64_t at = symbolic->row_to_col[r];
            BLOCK scaled;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    scaled.m[i][j] = s->lower[at].m[i][j] / s->inverse_d[c][j];
            NAME(subtract_product)(s->diagonal + k, s->lower + at, &scaled);
            for (int64_t p = at + 1; p < symbolic->col_start[c + 1]; p++)
                NAME(subtract_product)
            (s->lower + symbolic->col_start[k] + s->place[symbolic->col_index[p]], s->lower + p,
             &scaled);
        }
        NAME(factor_diagonal)(s->diagonal + k, s->inverse_d[k]);
        for (int64_t p = symbolic->col_start[k]; p < end; p++)
            NAME(divide)(s->lower + p, s->diagonal + k, s->inverse_d[k]);
    }
}

static void NAME(back_substitute)(STIFF *s)
{
    const pl_symbolic *symbolic = s->base.system->symbolic;
    for (int k = 0; k < s->base.n; k++) {
        TEE *y = s->step[k];
        for (int64_t r = symbolic->row_start[k]; r < symbolic->row_start[k + 1]; r++) {
            const BLOCK *l = s->lower + symbolic->row_to_col[r];
            const TEE *z = s->step[symbolic->row_index[r]];
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    y[i] = y[i] - l->m[i][j] * z[j];
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < i; j++)
                y[i] = y[i] - s->diagonal[k].m[i][j] * y[j];
    }
    for (int k = s->base.n - 1; k >= 0; k--) {
        TEE *y = s->step[k];
        for (int i = 0; i < 6; i++)
            y[i] = y[i] * s->inverse_d[k][i];
        for (int64_t p = symbolic->col_start[k]; p < symbolic->col_start[k + 1]; p++) {
            const BLOCK *l = s->lower + p;
            const TEE *z = s->step[symbolic->col_index[p]];
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    y[i] = y[i] - l->m[j][i] * z[j];
        }
        for (int i = 5; i >= 0; i--)
            for (int j = i + 1; j < 6; j++)
                y[i] = y[i] - s->diagonal[k].m[j][i] * y[j];
    }
}

/* ---- The guarded step ------------------------------------------------------------------------ */

/* q ← exp(θ) q and the matrices, for `count` quaternions in lanes. */
PL_LANES_INLINE void NAME(turn)(const VR theta[3], VR q[4], VR r[9])
{
    VR e[4], p[4];
    PL_R(pl_quat_exp)(theta, e);
    p[0] = e[3] * q[0] + e[0] * q[3] + (e[1] * q[2] - e[2] * q[1]);
    p[1] = e[3] * q[1] + e[1] * q[3] + (e[2] * q[0] - e[0] * q[2]);
    p[2] = e[3] * q[2] + e[2] * q[3] + (e[0] * q[1] - e[1] * q[0]);
    p[3] = e[3] * q[3] - (e[0] * q[0] + e[1] * q[1] + e[2] * q[2]);
    PL_R(pl_rotation_normalise)(p);
    PL_R(pl_rotation_matrix)(p, r);
    for (int k = 0; k < 4; k++)
        q[k] = p[k];
}

#if LONE
static void NAME(turn_all)(STIFF *s)
{
    CONTEXT *b = &s->base;
    for (int next = 0; next < b->n;) {
        REAL in[7][PL_WR] __attribute__((aligned(64))) = {{0}};
        int32_t particles[PL_WR];
        int count = 0;
        for (; next < b->n && count < PL_WR; next++)
            if (!b->system->is_fixed[next])
                particles[count++] = next;
        for (int l = 0; l < count; l++) {
            for (int k = 0; k < 3; k++)
                in[k][l] = s->step[b->system->symbolic->inverse[particles[l]]][3 + k];
            for (int k = 0; k < 4; k++)
                in[3 + k][l] = b->q[particles[l]][k];
        }
        for (int l = count; l < PL_WR; l++)
            in[6][l] = 1;
        VR theta[3] = {vr_load(in[0]), vr_load(in[1]), vr_load(in[2])}, r[9];
        VR q[4] = {vr_load(in[3]), vr_load(in[4]), vr_load(in[5]), vr_load(in[6])};
        NAME(turn)(theta, q, r);
        NAME(put_quaternions)(b->q, particles, count, q);
        NAME(put_matrices)(b->r, particles, count, r);
    }
}
#else
static void NAME(turn_all)(STIFF *s)
{
    CONTEXT *b = &s->base;
    for (int i = 0; i < b->n; i++) {
        if (b->system->is_fixed[i])
            continue;
        const TEE *theta = s->step[b->system->symbolic->inverse[i]] + 3;
        VR q[4] = {b->q[i].x, b->q[i].y, b->q[i].z, b->q[i].w}, r[9];
        NAME(turn)(theta, q, r);
        b->q[i] = (QUAD){q[0], q[1], q[2], q[3]};
        for (int k = 0; k < 3; k++)
            b->r[i].c[k] = (COL){r[k], r[3 + k], r[6 + k]};
    }
}
#endif

static void NAME(keep)(const CONTEXT *b, COL *x, QUAD *q)
{
    memcpy(x, b->x, sizeof *x * (size_t)b->n);
    memcpy(q, b->q, sizeof *q * (size_t)b->n);
}

static bool NAME(is_held)(const CONTEXT *b, int lane)
{
    return b->block->bodies[lane < b->lanes ? lane : 0]->hold_count > 0;
}

/* Takes the step. The mean of a step goes to c, where it belongs; that of a body that nothing holds
   is known beforehand, and what the step has of it is error: where springs are strained far, it is
   a multiple of the rounding of a float. */
static void NAME(take_step)(STIFF *s)
{
    CONTEXT *b = &s->base;
    const int32_t *pivot = b->system->symbolic->inverse;
    for (int i = 0; i < b->n; i++) {
        const TEE *y = s->step[pivot[i]];
#if LONE
        b->rhs[pivot[i]] = (COL){y[0], y[1], y[2], 0};
#else
        b->rhs[pivot[i]] = (COL){y[0], y[1], y[2]};
#endif
    }
    if (!b->system->grounded) {
        ACC sum = {0};
        double mean[3][BODIES];
        for (int i = 0; i < b->n; i++)
            NAME(accumulate)(&sum, NAME(scale)(b->rhs[pivot[i]], b->grain[i].mass));
        NAME(components)(&sum, mean);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < BODIES; l++) {
                mean[k][l] /= b->system->total_mass;
                b->c[k][l] += NAME(is_held)(b, l) ? mean[k][l] : 0;
            }
        COL shift = NAME(column_of)(mean);
        for (int i = 0; i < b->n; i++)
            b->rhs[i] = NAME(sub)(b->rhs[i], shift);
    }
    for (int i = 0; i < b->n; i++)
        b->x[i] = NAME(add)(b->x[i], b->rhs[pivot[i]]);
    NAME(turn_all)(s);
}

/* Lanes in which the Gauss–Newton step has no less energy than the plain one get the plain one.
   True if there are any; `taken` tells the others. */
static bool NAME(choose)(STIFF *s, const double plain_energy[BODIES], double plain_c[3][BODIES],
                         REAL taken[BODIES])
{
    CONTEXT *b = &s->base;
    double energy[BODIES];
    REAL refused[BODIES] __attribute__((aligned(64)));
    bool any = false;
    NAME(energies)(b, energy);
    for (int l = 0; l < BODIES; l++) {
        bool worse = !(energy[l] < plain_energy[l]);
        refused[l] = worse;
        taken[l] = !worse;
        any = any || worse;
        b->work->refused += worse && l < b->lanes;
        for (int k = 0; k < 3 && worse; k++)
            b->c[k][l] = plain_c[k][l];
    }
    NAME(put_back)(b, refused, s->plain_x, s->plain_q);
    return any;
}

/* Where Gauss–Newton was refused the body is far from its minimum, and a single plain step would
   not get it near enough: as many follow as still cost little beside the factorisation. */
static void NAME(go_on_plainly)(STIFF *s, const double plain_energy[BODIES],
                                const REAL taken[BODIES])
{
    enum { PLAIN_STEPS = 8 };
    CONTEXT *b = &s->base;
    double c[3][BODIES], energy[BODIES];
    REAL back[BODIES] __attribute__((aligned(64)));
    NAME(keep)(b, s->plain_x, s->plain_q);
    memcpy(c, b->c, sizeof c);
    for (int i = 1; i < PLAIN_STEPS; i++) {
        NAME(local)(b);
        NAME(global)(b);
    }
    NAME(energies)(b, energy);
    for (int l = 0; l < BODIES; l++) {
        /* Plain steps lower the energy, but for directions, whose local step is an
           approximation. */
        back[l] = taken[l] > 0 || !(energy[l] < plain_energy[l]);
        for (int k = 0; k < 3 && back[l] > 0; k++)
            b->c[k][l] = c[k][l];
    }
    NAME(put_back)(b, back, s->plain_x, s->plain_q);
}

static void NAME(stiff_iteration)(STIFF *s)
{
    CONTEXT *b = &s->base;
    double plain_energy[BODIES], plain_c[3][BODIES], start_c[3][BODIES];
    REAL taken[BODIES] __attribute__((aligned(64)));
    NAME(assemble)(s);
    NAME(factor)(s);
    NAME(back_substitute)(s);
    NAME(keep)(b, s->start_x, s->start_q);
    memcpy(start_c, b->c, sizeof start_c);
    NAME(local)(b);
    NAME(global)(b);
    NAME(energies)(b, plain_energy);
    NAME(keep)(b, s->plain_x, s->plain_q);
    memcpy(plain_c, b->c, sizeof plain_c);
    memcpy(b->x, s->start_x, sizeof *b->x * (size_t)b->n);
    memcpy(b->q, s->start_q, sizeof *b->q * (size_t)b->n);
    memcpy(b->c, start_c, sizeof start_c);
    NAME(take_step)(s);
    if (NAME(choose)(s, plain_energy, plain_c, taken))
        NAME(go_on_plainly)(s, plain_energy, taken);
}

static void NAME(minimise_stiff)(const pl_block *block, double h, int iterations, pl_work *work)
{
    STIFF stiff, *s = &stiff;
    uint64_t clock = pl_ticks();
    NAME(set_up)(&s->base, block, h, work);
    NAME(lay_out_stiff)(s, block->system, work->scratch);
    s->base.turn = NULL;
    NAME(predict)(&s->base);
    NAME(trace)(&s->base, 0);
    clock = NAME(lap)(work, PL_STAGE_PREDICT, clock);
    for (int k = 0; k < iterations; k++) {
        NAME(stiff_iteration)(s);
        NAME(trace)(&s->base, k + 1);
    }
    clock = NAME(lap)(work, PL_STAGE_STIFF, clock);
    work->iterations += (uint64_t)iterations * (uint64_t)block->count;
    NAME(finish)(&s->base);
    NAME(lap)(work, PL_STAGE_PREDICT, clock);
}

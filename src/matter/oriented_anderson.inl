/* Anderson acceleration of the local/global iteration y → G(y), guarded by the energy (METHODS §1).
   With f = G(y) − y and the last few differences ΔF, ΔG of f and G(y), the coefficients γ minimise
   ‖f − Σ γ ΔF‖ and the accelerated state is G(y) − Σ γ ΔG. It is taken only where its energy is
   below that of G(y). The unknowns are positions and quaternions, in the metric (x, 2√2 r q), r the
   mean radius: to first order that of (x, r R). */

PL_LANES_INLINE QUAD NAME(quad_pick)(TEE flag, QUAD yes, QUAD no)
{
#if LONE
    return flag > 0 ? yes : no;
#else
    VM mask = flag > vr_splat(0);
    return (QUAD){vr_select(mask, yes.x, no.x), vr_select(mask, yes.y, no.y),
                  vr_select(mask, yes.z, no.z), vr_select(mask, yes.w, no.w)};
#endif
}

/* sum + a_x b_x + a_q b_q, component by component. */
PL_LANES_INLINE QUAD NAME(quad_inner)(QUAD sum, COL ax, QUAD aq, const ENTRY *b)
{
#if LONE
    return sum + (ax * b->x + aq * b->q);
#else
    return (QUAD){sum.x + (ax.x * b->x.x + aq.x * b->q.x), sum.y + (ax.y * b->x.y + aq.y * b->q.y),
                  sum.z + (ax.z * b->x.z + aq.z * b->q.z), sum.w + aq.w * b->q.w};
#endif
}

PL_LANES_INLINE TEE NAME(quad_sum)(QUAD a)
{
#if LONE
    return (a[0] + a[1]) + (a[2] + a[3]);
#else
    return (a.x + a.y) + (a.z + a.w);
#endif
}

PL_LANES_INLINE QUAD NAME(quad_zero)(void)
{
#if LONE
    return (QUAD){0, 0, 0, 0};
#else
    return (QUAD){vr_splat(0), vr_splat(0), vr_splat(0), vr_splat(0)};
#endif
}

/* A difference of means, which is small, as the last entry sees it. */
static ENTRY NAME(mean_entry)(const double a[3][BODIES], const double b[3][BODIES])
{
    double lag[3][BODIES];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            lag[k][l] = a[k][l] - b[k][l];
    return (ENTRY){NAME(column_of)(lag), NAME(quad_zero)()};
}

/* ΔG = g − last_g and ΔF = f − last_f of entry i go to a slot; sums[j] += ΔF·ΔF_j, sums[count] +=
   ΔF·f. */
PL_LANES_INLINE void NAME(record)(CONTEXT *s, int i, ENTRY g, ENTRY f, ENTRY last_g, ENTRY last_f,
                                  REAL weight, REAL scale, int slot, int count, QUAD *sums)
{
    ENTRY *df = s->change_of_step[slot] + i;
    df->x = NAME(sub)(f.x, last_f.x);
    df->q = NAME(quad_sub)(f.q, last_f.q);
    s->change[slot][i].x = NAME(sub)(g.x, last_g.x);
    s->change[slot][i].q = NAME(quad_sub)(g.q, last_g.q);
    COL x = NAME(scale)(df->x, weight);
    QUAD q = NAME(quad_times)(df->q, NAME(tee)(scale));
    for (int j = 0; j < count; j++)
        sums[j] = NAME(quad_inner)(sums[j], x, q, s->change_of_step[j] + i);
    sums[count] = NAME(quad_inner)(sums[count], x, q, &f);
}

/* q and −q are one rotation: the one near the start of the iteration counts. Seldom is there
   anything to do. */
PL_LANES_INLINE void NAME(align)(CONTEXT *s, int i)
{
    QUAD q = s->q[i], turn = s->turn[i];
    TEE side = NAME(quad_dot)(q, NAME(quad_sub)(q, turn));
#if LONE
    if (side >= 0)
        return;
#else
    if (!vm_any(side < vr_splat(0)))
        return;
#endif
    s->q[i] = NAME(quad_pick)(-side, NAME(quad_times)(q, NAME(tee)(-1)), q);
    s->turn[i] =
        NAME(quad_pick)(-side, NAME(quad_sub)(turn, NAME(quad_times)(q, NAME(tee)(2))), turn);
}

/* Takes G(y) of iteration k > 0 into the history and its products with the others into the normal
   equations. f is what the local step has noted (turn) and what the global step left behind
   (rhs). */
static void NAME(extend_history)(CONTEXT *s, int k)
{
    const int32_t *pivot = s->system->symbolic->inverse;
    int slot = (k - 1) % PL_WINDOW, count = k < PL_WINDOW ? k : PL_WINDOW;
    QUAD sums[PL_WINDOW + 1];
    for (int j = 0; j <= PL_WINDOW; j++)
        sums[j] = NAME(quad_zero)();
    for (int i = 0; i < s->n; i++) {
        NAME(align)(s, i);
        NAME(record)
        (s, i, (ENTRY){s->x[i], s->q[i]}, (ENTRY){s->rhs[pivot[i]], s->turn[i]},
         (ENTRY){s->last_x[i], s->last_q[i]}, (ENTRY){s->last_rhs[pivot[i]], s->last_turn[i]}, 1,
         s->grain[i].scale, slot, count, sums);
    }
    if (s->held_count)
        NAME(record)
    (s, s->n, NAME(mean_entry)(s->c, s->drift), NAME(mean_entry)(s->c, s->start_c), s->last_mean,
     s->last_mean_step, (REAL)s->n, 0, slot, count, sums);
    for (int j = 0; j < count; j++) {
        TEE product = NAME(quad_sum)(sums[j]);
        s->gram[slot][j] = s->gram[j][slot] = product;
        if (j != slot)
            s->slope[j] = s->slope[j] + product; /* because f has grown by the newest ΔF */
    }
    s->slope[slot] = NAME(quad_sum)(sums[count]);
}

/* What is `last` for the next iteration. x and q are in last_x and last_q already, or are copied
   there. */
static void NAME(turn_page)(CONTEXT *s)
{
    COL *rhs = s->rhs;
    QUAD *turn = s->turn;
    s->rhs = s->last_rhs;
    s->last_rhs = rhs;
    s->turn = s->last_turn;
    s->last_turn = turn;
}

/* γ from the normal equations, scaled to unit diagonal plus 10⁻⁶; differences that vanish are left
   out. */
static void NAME(coefficients)(const CONTEXT *s, int count, TEE gamma[PL_WINDOW])
{
    TEE a[PL_WINDOW][PL_WINDOW], norm[PL_WINDOW], inverse[PL_WINDOW];
    const TEE tiny = NAME(tee)((REAL)1e-20), zero = NAME(tee)(0), one = NAME(tee)(1);
    for (int i = 0; i < count; i++) {
        TEE d = s->gram[i][i];
        norm[i] = NAME(where_greater)(d, tiny,
                                      one / NAME(root)(NAME(where_greater)(d, tiny, d, one)), zero);
        gamma[i] = s->slope[i] * norm[i];
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++)
            a[i][j] = s->gram[i][j] * norm[i] * norm[j];
        a[i][i] = NAME(tee)((REAL)(1 + 1e-6));
    }
    /* a = L D Lᵀ with the entries of L D kept below the diagonal. */
    for (int j = 0; j < count; j++) {
        TEE d = a[j][j];
        for (int k = 0; k < j; k++)
            d = d - a[j][k] * (a[j][k] * inverse[k]);
        inverse[j] = one / NAME(where_greater)(d, NAME(tee)((REAL)1e-7), d, NAME(tee)((REAL)1e-7));
        for (int i = j + 1; i < count; i++)
            for (int k = 0; k < j; k++)
                a[i][j] = a[i][j] - a[i][k] * (a[j][k] * inverse[k]);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            gamma[i] = gamma[i] - a[i][k] * (gamma[k] * inverse[k]);
    for (int i = count - 1; i >= 0; i--) {
        TEE sum = gamma[i];
        for (int k = i + 1; k < count; k++)
            sum = sum - a[k][i] * gamma[k];
        gamma[i] = sum * inverse[i];
    }
    for (int i = 0; i < count; i++)
        gamma[i] = gamma[i] * norm[i];
}

#if LONE
/* Normalises (or not) the quaternions of the particles that are not fixed and makes their
   matrices. */
static void NAME(refresh_rotations)(CONTEXT *s, bool normalise)
{
    REAL in[4][PL_WR] __attribute__((aligned(64)));
    int32_t particles[PL_WR];
    for (int next = 0; next < s->n;) {
        int count = 0;
        for (; next < s->n && count < PL_WR; next++)
            if (!s->system->is_fixed[next])
                particles[count++] = next;
        for (int l = 0; l < PL_WR; l++)
            for (int k = 0; k < 4; k++)
                in[k][l] = l < count ? s->q[particles[l]][k] : (REAL)(k == 3);
        VR q[4] = {vr_load(in[0]), vr_load(in[1]), vr_load(in[2]), vr_load(in[3])}, r[9];
        if (normalise)
            PL_R(pl_rotation_normalise)(q);
        PL_R(pl_rotation_matrix)(q, r);
        NAME(put_quaternions)(s->q, particles, count, q);
        NAME(put_matrices)(s->r, particles, count, r);
    }
}
#else
PL_LANES_INLINE void NAME(refresh_rotation)(CONTEXT *s, int i, QUAD from, bool normalise)
{
    VR q[4] = {from.x, from.y, from.z, from.w}, r[9];
    if (normalise)
        PL_R(pl_rotation_normalise)(q);
    PL_R(pl_rotation_matrix)(q, r);
    s->q[i] = (QUAD){q[0], q[1], q[2], q[3]};
    MAT m;
    for (int k = 0; k < 3; k++)
        m.c[k] = (COL){r[k], r[3 + k], r[6 + k]};
    s->r[i] = m;
}

#endif

/* y = G(y) − Σ γ ΔG for everything but c, written to the pages where the last G(y) stood; G(y)
   becomes the last one. */
static void NAME(mix)(CONTEXT *s, int count, const TEE gamma[PL_WINDOW])
{
    COL *plain_x = s->x;
    QUAD *plain_q = s->q;
    s->x = s->last_x;
    s->q = s->last_q;
    s->last_x = plain_x;
    s->last_q = plain_q;
    for (int i = 0; i < s->n; i++) {
        COL x = plain_x[i];
        QUAD q = plain_q[i];
        for (int j = 0; j < count; j++) {
            x = NAME(sub)(x, NAME(times)(s->change[j][i].x, gamma[j]));
            q = NAME(quad_sub)(q, NAME(quad_times)(s->change[j][i].q, gamma[j]));
        }
        s->x[i] = x;
        s->q[i] = q;
#if !LONE
        if (!s->system->is_fixed[i])
            NAME(refresh_rotation)(s, i, q, true);
#endif
    }
#if LONE
    NAME(refresh_rotations)(s, true);
#endif
}

static void NAME(mix_mean)(CONTEXT *s, int count, const TEE gamma[PL_WINDOW])
{
    for (int h = 0; h < s->held_count; h++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < count; j++)
                s->c[k][s->held[h]] -= (double)((const REAL *)&gamma[j])[s->held[h]] *
                                       (double)*NAME(part)(&s->change[j][s->n].x, k, s->held[h]);
}

/* Puts flagged lanes back to the given positions and quaternions. */
static void NAME(put_back)(CONTEXT *s, const REAL flags[BODIES], const COL *x, const QUAD *q)
{
    TEE flag;
    memcpy(&flag, flags, sizeof flag);
    for (int i = 0; i < s->n; i++) {
        s->x[i] = NAME(pick)(flag, x[i], s->x[i]);
        s->q[i] = NAME(quad_pick)(flag, q[i], s->q[i]);
#if !LONE
        if (!s->system->is_fixed[i])
            NAME(refresh_rotation)(s, i, s->q[i], false);
#endif
    }
#if LONE
    NAME(refresh_rotations)(s, false);
#endif
}

/* Puts the lanes in which the accelerated state has no less energy back to the plain one. */
static void NAME(guard)(CONTEXT *s, const double plain_energy[BODIES], double plain_c[3][BODIES])
{
    double energy[BODIES];
    REAL refused[BODIES] __attribute__((aligned(64)));
    bool any = false;
    NAME(renew)(s);
    NAME(energies)(s, energy);
    for (int l = 0; l < BODIES; l++) {
        bool worse = !(energy[l] < plain_energy[l]);
        refused[l] = worse;
        s->energy[l] = worse ? plain_energy[l] : energy[l];
        s->evaluated[l] = worse ? s->evaluated[l] : energy[l];
        s->trust[l] = worse ? 0.25 * s->trust[l] : s->trust[l] < 0.5 ? 2 * s->trust[l] : 1;
        s->trust[l] = s->trust[l] < 1e-3 ? 1e-3 : s->trust[l];
        s->work->refused += worse && l < s->lanes;
        any = any || worse;
        for (int k = 0; k < 3 && worse; k++)
            s->c[k][l] = plain_c[k][l];
    }
    if (any) {
        NAME(put_back)(s, refused, s->last_x, s->last_q);
        NAME(renew)(s);
    }
}

/* The energy of G(y): that of y less what the two steps took away, which needs no other look at the
   edges. Where little is left of the energy that was last evaluated, its rounding errors are not
   little, and it is evaluated again; so are bodies with pins, which see to more than these steps
   account for. */
static void NAME(plain_energies)(CONTEXT *s, int k, double out[BODIES])
{
    double dropped[BODIES], fresh[BODIES];
    bool doubtful[BODIES], any = false;
    NAME(total)(&s->drop, dropped);
    for (int l = 0; l < BODIES; l++) {
        out[l] = s->energy[l] - 0.5 * dropped[l];
        doubtful[l] = k == 0 || !(out[l] > 0.5 * s->evaluated[l]);
    }
    for (int h = 0; h < s->held_count; h++)
        doubtful[s->held[h]] = true;
    for (int l = 0; l < BODIES; l++)
        any = any || doubtful[l];
    if (!any)
        return;
    NAME(energies)(s, fresh);
    for (int l = 0; l < BODIES; l++)
        if (doubtful[l])
            s->evaluated[l] = out[l] = fresh[l];
}

/* Where the last extrapolations were refused, the next is a part of what the equations ask for. */
static void NAME(shorten)(const CONTEXT *s, int count, TEE gamma[PL_WINDOW])
{
    REAL trust[BODIES] __attribute__((aligned(64)));
    TEE factor;
    for (int l = 0; l < BODIES; l++)
        trust[l] = (REAL)s->trust[l];
    memcpy(&factor, trust, sizeof factor);
    for (int j = 0; j < count; j++)
        gamma[j] = gamma[j] * factor;
}

/* After iteration k (from 0) of local and global step. */
static void NAME(accelerate)(CONTEXT *s, int k)
{
    int count = k < PL_WINDOW ? k : PL_WINDOW;
    double plain_energy[BODIES], plain_c[3][BODIES];
    TEE gamma[PL_WINDOW];
    NAME(plain_energies)(s, k, plain_energy);
    memcpy(plain_c, s->c, sizeof plain_c);
    if (k == 0) {
        memcpy(s->energy, plain_energy, sizeof plain_energy);
        for (int i = 0; i < s->n; i++)
            NAME(align)(s, i);
        memcpy(s->last_x, s->x, sizeof *s->x * (size_t)s->n);
        memcpy(s->last_q, s->q, sizeof *s->q * (size_t)s->n);
        NAME(renew)(s);
    } else {
        NAME(extend_history)(s, k);
        NAME(coefficients)(s, count, gamma);
        NAME(shorten)(s, count, gamma);
        NAME(mix)(s, count, gamma);
    }
    s->last_mean = NAME(mean_entry)(s->c, s->drift);
    s->last_mean_step = NAME(mean_entry)(s->c, s->start_c);
    NAME(turn_page)(s);
    if (k > 0) {
        NAME(mix_mean)(s, count, gamma);
        NAME(guard)(s, plain_energy, plain_c);
    }
}

/* ---- Turning as a whole ---------------------------------------------------------------------- */

/* The elastic energy does not change when the whole body turns by θ about its centre of mass;
   inertia alone decides:
       dE/dθ = Σ_i x_i × m_i (x_i − x*_i) − Σ_i Σ p × q,   Σ p qᵀ = f_i R_i Ā_i R*_iᵀ,
       H     = Σ_i m_i (|x_i|² I − x_i x_iᵀ) + f_i (tr(Ā_i) I − R_i Ā_i R_iᵀ).
   One Newton step at the end of a sub-step takes the torque away that rounding errors of stiff
   edges exert: without it a body at rest would slowly begin to spin. Turns beyond 10⁻⁶ rad are not
   rounding, and left alone. */
typedef struct NAME(whole) {
    TEE centre[3], torque[3], inertia[3][3];
} NAME(whole);

static void NAME(measure_whole)(const CONTEXT *s, NAME(whole) * w)
{
    for (int k = 0; k < 3; k++)
        w->centre[k] = w->torque[k] = w->inertia[k][0] = w->inertia[k][1] = w->inertia[k][2] =
            NAME(tee)(0);
    for (int i = 0; i < s->n; i++) {
        TEE x[3];
        NAME(get)(NAME(scale)(s->x[i], s->grain[i].mass), x);
        for (int k = 0; k < 3; k++)
            w->centre[k] = w->centre[k] + x[k];
    }
    for (int k = 0; k < 3; k++)
        w->centre[k] = w->centre[k] * NAME(tee)((REAL)(1 / s->system->total_mass));
    for (int i = 0; i < s->n; i++) {
        const GRAIN *grain = s->grain + i;
        TEE x[3], d[3], t[3], n[3][3], density = NAME(tee)(grain->density),
                                       mass = NAME(tee)(grain->mass);
        NAME(get)(s->x[i], x);
        NAME(get)(NAME(scale)(NAME(sub)(s->x[i], s->target[i]), grain->mass), d);
        for (int k = 0; k < 3; k++)
            x[k] = x[k] - w->centre[k];
        NAME(cross)(x, d, t);
        MAT turned = NAME(apply_moment)(s->r + i, grain->moment);
        NAME(outer)(&turned, s->spin + i, n);
        w->torque[0] = w->torque[0] + (t[0] - density * (n[1][2] - n[2][1]));
        w->torque[1] = w->torque[1] + (t[1] - density * (n[2][0] - n[0][2]));
        w->torque[2] = w->torque[2] + (t[2] - density * (n[0][1] - n[1][0]));
        NAME(outer)(&turned, s->r + i, n);
        TEE square = mass * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) +
                     density * (n[0][0] + n[1][1] + n[2][2]);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++)
                w->inertia[a][b] = w->inertia[a][b] - (mass * (x[a] * x[b]) + density * n[a][b]);
        for (int a = 0; a < 3; a++)
            w->inertia[a][a] = w->inertia[a][a] + square;
    }
}

/* θ/2 = −H⁻¹ dE/dθ / 2 by cofactors; nothing where that is more than rounding, or where something
   holds the body. */
static void NAME(whole_turn)(const CONTEXT *s, const NAME(whole) * w, TEE half[3])
{
    const TEE a = w->inertia[0][0], b = w->inertia[1][0], c = w->inertia[2][0];
    const TEE d = w->inertia[1][1], e = w->inertia[2][1], f = w->inertia[2][2];
    const TEE k00 = d * f - e * e, k01 = c * e - b * f, k02 = b * e - c * d;
    const TEE k11 = a * f - c * c, k12 = b * c - a * e, k22 = a * d - b * b;
    const TEE *t = w->torque;
    TEE det = a * k00 + b * k01 + c * k02, scale = NAME(tee)((REAL)-0.5) / det;
    half[0] = (k00 * t[0] + k01 * t[1] + k02 * t[2]) * scale;
    half[1] = (k01 * t[0] + k11 * t[1] + k12 * t[2]) * scale;
    half[2] = (k02 * t[0] + k12 * t[1] + k22 * t[2]) * scale;
    TEE square = half[0] * half[0] + half[1] * half[1] + half[2] * half[2], zero = NAME(tee)(0);
    for (int k = 0; k < 3; k++)
        half[k] = NAME(where_greater)(NAME(tee)((REAL)2.5e-13), square, half[k], zero);
    for (int h = 0; h < s->held_count; h++)
        for (int k = 0; k < 3; k++)
            ((REAL *)&half[k])[s->held[h]] = 0;
}

PL_LANES_INLINE void NAME(turn_particle)(CONTEXT *s, int i, const TEE centre[3], const TEE p[4])
{
    TEE x[3], a[3], b[3], q[4];
    NAME(get)(s->x[i], x);
    for (int k = 0; k < 3; k++)
        x[k] = x[k] - centre[k];
    NAME(cross)(p, x, a);
    for (int k = 0; k < 3; k++)
        a[k] = a[k] + a[k];
    NAME(cross)(p, a, b);
    TEE more[3] = {p[3] * a[0] + b[0], p[3] * a[1] + b[1], p[3] * a[2] + b[2]};
#if LONE
    QUAD old = s->q[i];
    s->x[i] = s->x[i] + (COL){more[0], more[1], more[2], 0};
    for (int k = 0; k < 4; k++)
        q[k] = old[k];
#else
    QUAD old = s->q[i];
    s->x[i] = NAME(add)(s->x[i], (COL){more[0], more[1], more[2]});
    q[0] = old.x, q[1] = old.y, q[2] = old.z, q[3] = old.w;
#endif
    TEE r[4] = {p[3] * q[0] + p[0] * q[3] + (p[1] * q[2] - p[2] * q[1]),
                p[3] * q[1] + p[1] * q[3] + (p[2] * q[0] - p[0] * q[2]),
                p[3] * q[2] + p[2] * q[3] + (p[0] * q[1] - p[1] * q[0]),
                p[3] * q[3] - (p[0] * q[0] + p[1] * q[1] + p[2] * q[2])};
    s->q[i] = (QUAD){r[0], r[1], r[2], r[3]};
}

/* Only for bodies that nothing holds. The matrices are not needed any more and stay behind. */
static void NAME(turn_whole_body)(CONTEXT *s)
{
    NAME(whole) w;
    TEE p[4];
    if (s->system->grounded)
        return;
    NAME(measure_whole)(s, &w);
    NAME(whole_turn)(s, &w, p);
    p[3] = NAME(tee)(1) / NAME(root)(NAME(tee)(1) + (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
    for (int k = 0; k < 3; k++)
        p[k] = p[k] * p[3];
    for (int i = 0; i < s->n; i++)
        NAME(turn_particle)(s, i, w.centre, p);
}

/* ---- The whole sub-step ---------------------------------------------------------------------- */

static void NAME(finish)(CONTEXT *s)
{
    NAME(store)(s);
    for (int l = 0; l < s->lanes; l++)
        for (int k = 0; k < 3; k++)
            s->block->bodies[l]->c[k] = s->c[k][l];
}

static uint64_t NAME(lap)(pl_work *work, pl_stage stage, uint64_t since)
{
    uint64_t now = pl_ticks();
    work->ticks[stage] += now - since;
    return now;
}

static void NAME(trace)(CONTEXT *s, int k)
{
    if (!s->work->trace)
        return;
    double energy[BODIES];
    NAME(energies)(s, energy);
    s->work->trace[k] = energy[0];
}

static void NAME(minimise)(const pl_block *block, double h, int iterations, pl_work *work)
{
    CONTEXT context, *s = &context;
    uint64_t clock = pl_ticks();
    NAME(set_up)(s, block, h, work);
    NAME(predict)(s);
    NAME(renew)(s);
    bool fast = block->solver == PL_SOLVER_FAST && iterations > 1;
    if (fast)
        for (int i = 0; i < s->n; i++) /* and so it stays where particles are fixed */
            s->turn[i] = s->last_turn[i] = NAME(quad_zero)();
    else
        s->turn = NULL;
    for (int l = 0; l < BODIES; l++)
        s->trust[l] = 1;
    NAME(trace)(s, 0);
    clock = NAME(lap)(work, PL_STAGE_PREDICT, clock);
    for (int k = 0; k < iterations; k++) {
        memcpy(s->start_c, s->c, sizeof s->c);
#ifdef PL_POSED
        s->measured = false;
#endif
        NAME(local)(s);
        clock = NAME(lap)(work, PL_STAGE_LOCAL, clock);
        NAME(global)(s);
        clock = NAME(lap)(work, PL_STAGE_GLOBAL, clock);
        if (fast) {
            NAME(accelerate)(s, k);
            clock = NAME(lap)(work, PL_STAGE_ACCELERATE, clock);
        } else {
            NAME(renew)(s);
        }
        NAME(trace)(s, k + 1);
    }
    NAME(turn_whole_body)(s);
    work->iterations += (uint64_t)iterations * (uint64_t)block->count;
    NAME(finish)(s);
    NAME(lap)(work, PL_STAGE_PREDICT, clock);
}

/* The fit of clusters at one vector width (METHODS §2), a part of clustered_lanes.c: from the sums
   over their members centre, rotation and goals, F, the rigid motion, stretch and flow, with a
   cluster per lane. */

/* ---- What strain limiting does as well ------------------------------------------------------- */

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
enum { ROW_FLOW = 0, ROW_STRETCH = 9, ROW_PULL = 10, ROW_STRAIN = 13 }; /* and, of its strain */

#define AT(field) (offsetof(pl_cluster, field) / sizeof(float))
_Static_assert(AT(plastic) - AT(inverse) == ROW_PLASTIC && AT(mass) - AT(inverse) == ROW_MASS &&
                   AT(lean) - AT(inverse) == ROW_LEAN && AT(width) - AT(inverse) == ROW_WIDTH,
               "the row a fit starts from");
_Static_assert((int)ROW_REST == (int)PL_FIXED, "the row a fit starts from");
_Static_assert(AT(gradient) - AT(centre) == ROW_GRADIENT && AT(turn) - AT(centre) == ROW_TURN &&
                   AT(rotation) - AT(centre) == ROW_ROTATION,
               "the row a fit leaves");
_Static_assert(AT(stretch) - AT(flow) == ROW_STRETCH && AT(pull) - AT(flow) == ROW_PULL,
               "the row a strain leaves");

PL_LANES_INLINE float *row_of_rest(pl_cluster *cluster)
{
    return (float *)((char *)cluster + offsetof(pl_cluster, inverse));
}

PL_LANES_INLINE float *row_of_fit(pl_cluster *cluster)
{
    return (float *)((char *)cluster + offsetof(pl_cluster, centre));
}

PL_LANES_INLINE float *row_of_strain(pl_cluster *cluster)
{
    return (float *)((char *)cluster + offsetof(pl_cluster, flow));
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

/* ---- The fit of a sub-step ------------------------------------------------------------------- */

/* The rigid motion of the members: d ω, and d (ū − ω × shift), so that d ū_i is their sum with d ω
   × y. */
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

/* Where A_pp has no rank 3, F is what is seen of it, and R Fᵖ of the rest: F P + R Fᵖ (I − P), P =
   A_pp A_pp⁺. Rare. */
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
                        const vf plastic[9], const vf unplastic[9], const vf gradient[9])
{
    vf elastic[9], q[4], u[9], s[3], v[9];
    float row[ROW_STRAIN * PL_W] ALIGNED, spare[PL_W][ROW_STRAIN], *rows[PL_W];
    mul33(gradient, unplastic, elastic);
    for (int k = 0; k < 4; k++)
        q[k] = f->turn[k];
    pl_svd3_f(elastic, q, u, s, v);
    flow_lanes(step, g, first, s, v, plastic, row);
    pl_store_f(row + ROW_STRETCH * PL_W, s[0]);
    for (int k = 0; k < 3; k++)
        pl_store_f(row + (ROW_PULL + k) * PL_W, u[3 * k]);
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] =
            first + lane < g->count ? row_of_strain(g->cluster[first + lane]) : spare[lane];
    pl_lanes_scatter(row, ROW_STRAIN, rows);
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
    for (int k = 0; k < 6; k++)
        pl_store_f(t + (PL_GROUP_PUSH + k) * GROUP, pl_splat_f(0));
}

/* What the rotation is taken of: A_xp · map is Fᵉ, or A_xp Fᵖᵀ for the least-squares one. Of
   slivers and of what is stretched out of all proportion, Fᵉ is mostly noise, and a rotation made
   of it gains energy: there the least-squares one serves in any case. */
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

/* The rest shape is S̃ Fᵖ, and the rotation that of A_xp (S̃ Fᵖ)ᵀ: it exerts no torque. Fᵖ is left
   where it was. */
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
        take_strain(step, g, first, f, plastic, unplastic, gradient);
    store_fit(g, first, f, gradient);
}

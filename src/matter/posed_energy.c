/* The energy of a sub-step with targets, and its gradient, in plain double arithmetic, term by term
   as posed.h prints it: what the kernels are tested against. */
#include <string.h>

#include "math/quat.h"
#include "matter/posed.h"

typedef struct view {
    const pl_posed *posed;
    const pl_oriented *body;
    const double *x, *r; /* NULL = the present state */
    double *gradient;    /* NULL = not wanted */
} view;

static pl_vec3 position(const view *v, int i)
{
    const pl_state *now = &v->body->now, *old = &v->body->old;
    if (v->x)
        return pl_v3(v->x[3 * i], v->x[3 * i + 1], v->x[3 * i + 2]);
    return pl_v3(now->origin[0] - old->origin[0] + (double)now->x[3 * i],
                 now->origin[1] - old->origin[1] + (double)now->x[3 * i + 1],
                 now->origin[2] - old->origin[2] + (double)now->x[3 * i + 2]);
}

static pl_mat3 rotation(const view *v, int i)
{
    const float *q = v->body->now.q + 4 * i;
    pl_mat3 r;
    if (!v->r)
        return pl_quat_to_m3((pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]});
    memcpy(&r, v->r + 9 * (size_t)i, sizeof r);
    return r;
}

static void add(const view *v, int i, int offset, double s, pl_vec3 g)
{
    if (!v->gradient)
        return;
    double *at = v->gradient + 6 * i + offset;
    at[0] += s * g.x, at[1] += s * g.y, at[2] += s * g.z;
}

/* One directed edge i → j: 1/2 κ ( ‖(R_i Q̃ − R_j) Ā_j^½‖² + v_j ‖R_i d̃ − d‖² ). */
static double directed(const view *v, double kappa, int i, int j, const float *target)
{
    enum { LANES = PL_POSED_LANES };
    const pl_model *model = v->posed->model;
    const double *a = model->moments + 6 * j;
    pl_mat3 moment = {{{a[0], a[1], a[2]}, {a[1], a[3], a[4]}, {a[2], a[4], a[5]}}};
    pl_vec3 offset = pl_v3((double)target[0], (double)target[LANES], (double)target[2 * LANES]);
    pl_quat turn =
        pl_quat_normalise((pl_quat){(double)target[3 * LANES], (double)target[4 * LANES],
                                    (double)target[5 * LANES], (double)target[6 * LANES]});
    pl_mat3 ri = rotation(v, i), rj = rotation(v, j);
    pl_vec3 arm = pl_m3_mul_v3(ri, offset);
    pl_vec3 gap = pl_v3_sub(arm, pl_v3_sub(position(v, j), position(v, i)));
    pl_mat3 wanted = pl_m3_mul(ri, pl_quat_to_m3(turn)), off = pl_m3_sub(wanted, rj);
    double claim = kappa * model->volumes[j];
    add(v, i, 3, claim, pl_v3_cross(arm, gap));
    add(v, i, 0, claim, gap);
    add(v, j, 0, -claim, gap);
    /* The derivative of the turning part by a rotation of R_i Q̃ is −κ Σ p × q for Σ p qᵀ = R_i Q̃
       Ā R_jᵀ, and the opposite by one of R_j. */
    pl_mat3 n = pl_m3_mul(pl_m3_mul(wanted, moment), pl_m3_transpose(rj));
    pl_vec3 twist = pl_v3(n.m[1][2] - n.m[2][1], n.m[2][0] - n.m[0][2], n.m[0][1] - n.m[1][0]);
    add(v, i, 3, -kappa, twist);
    add(v, j, 3, kappa, twist);
    double turning = pl_m3_trace(pl_m3_mul(pl_m3_mul(off, moment), pl_m3_transpose(off)));
    return 0.5 * (kappa * turning + claim * pl_v3_length2(gap));
}

pl_oriented_energy pl_posed_evaluate(const pl_posed *posed, const pl_oriented *body, double h,
                                     const double *x, const double *r, double *gradient)
{
    pl_oriented alone = *body;
    pl_system without = *body->system;
    alone.system = &without;
    without.edge_count = 0;
    pl_oriented_energy energy = pl_oriented_evaluate(&alone, h, x, r, gradient);
    view v = {posed, body, x, r, gradient};
    size_t back = (size_t)posed->blocks * 7 * PL_POSED_LANES;
    for (int e = 0; e < posed->edge_count; e++) {
        const float *target =
            posed->target + (size_t)(e / PL_POSED_LANES) * 7 * PL_POSED_LANES + e % PL_POSED_LANES;
        int a = posed->model->edges[2 * e], b = posed->model->edges[2 * e + 1];
        double kappa = body->system->kappa[e];
        energy.elastic +=
            directed(&v, kappa, a, b, target) + directed(&v, kappa, b, a, target + back);
    }
    return energy;
}

/* v_j ‖d‖² + φᵀ (tr Ā_j I − Ā_j) φ of the blend of one directed edge. */
static double blend_square(const pl_posed *posed, int element, int j)
{
    enum { LANES = PL_POSED_LANES, WIDTH = PL_POSED_WIDTH };
    const float *at = posed->blend + (size_t)(element / LANES) * WIDTH * LANES + element % LANES;
    const double *m = posed->model->moments + 6 * (size_t)j;
    pl_mat3 moment = {{{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}}};
    pl_vec3 d = pl_v3((double)at[0], (double)at[LANES], (double)at[2 * LANES]);
    pl_vec3 turn = pl_v3((double)at[3 * LANES], (double)at[4 * LANES], (double)at[5 * LANES]);
    return posed->model->volumes[j] * pl_v3_length2(d) + pl_m3_trace(moment) * pl_v3_length2(turn) -
           pl_v3_dot(turn, pl_m3_mul_v3(moment, turn));
}

double pl_posed_example_energy(const pl_posed *posed, const pl_oriented *body)
{
    double sum = 0;
    if (!posed->examples || !(posed->beta > 0))
        return 0;
    for (int e = 0; e < posed->edge_count; e++) {
        int a = posed->model->edges[2 * e], b = posed->model->edges[2 * e + 1];
        sum +=
            body->system->kappa[e] * (blend_square(posed, e, b) +
                                      blend_square(posed, posed->blocks * PL_POSED_LANES + e, a));
    }
    return 0.5 * (1 / posed->beta - 1) * sum;
}

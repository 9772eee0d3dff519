/* The energy of a sub-step and its gradient (METHODS §1) in plain double arithmetic, term by term
   as printed: what the kernels are tested against, and what dumps and reports show. */
#include <math.h>
#include <string.h>

#include "matter/oriented.h"

/* R (row major) of a unit quaternion. */
static void matrix_of(const float *q, double *r)
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                   2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                   2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    memcpy(r, m, sizeof m);
}

/* x* and R* of particle i. */
static void target_of(const pl_oriented *body, double h, int i, double x[3], double r[9])
{
    const pl_state *old = &body->old;
    const float *w = old->w + 3 * i;
    double m[9], a[3] = {h * (double)w[0], h * (double)w[1], h * (double)w[2]};
    for (int k = 0; k < 3; k++) {
        double push = body->pushed ? (double)body->push[3 * i + k] : 0;
        x[k] = (double)old->x[3 * i + k] + h * (double)old->u[3 * i + k] + h * h * push +
               body->drift[k];
    }
    matrix_of(old->q + 4 * i, m);
    for (int c = 0; c < 3; c++) {
        r[c] = m[c] + (a[1] * m[6 + c] - a[2] * m[3 + c]);
        r[3 + c] = m[3 + c] + (a[2] * m[c] - a[0] * m[6 + c]);
        r[6 + c] = m[6 + c] + (a[0] * m[3 + c] - a[1] * m[c]);
    }
}

void pl_oriented_targets(const pl_oriented *body, double h, double *x, double *r)
{
    for (int i = 0; i < body->n; i++)
        target_of(body, h, i, x + 3 * i, r + 9 * i);
}

/* Where positions and rotations come from: the caller's arrays, or, without them, the body's
   present state. */
typedef struct view {
    const pl_oriented *body;
    const double *x, *r;
} view;

static void position(const view *v, int i, double x[3])
{
    const pl_oriented *body = v->body;
    for (int k = 0; k < 3; k++)
        x[k] = v->x ? v->x[3 * i + k]
                    : (body->now.origin[k] - body->old.origin[k]) + (double)body->now.x[3 * i + k];
}

static void rotation(const view *v, int i, double r[9])
{
    if (v->r)
        memcpy(r, v->r + 9 * (size_t)i, sizeof(double) * 9);
    else
        matrix_of(v->body->now.q + 4 * i, r);
}

static void apply(const double *r, const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = r[3 * k] * v[0] + r[3 * k + 1] * v[1] + r[3 * k + 2] * v[2];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void add_cross(const double *a, const double *b, double s, double *out)
{
    out[0] += s * (a[1] * b[2] - a[2] * b[1]);
    out[1] += s * (a[2] * b[0] - a[0] * b[2]);
    out[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

/* 1/2 tr(D S Dᵀ) with D = A − B; its derivative by a rotation of A is −Σ p × q for Σ p qᵀ = A S Bᵀ,
   and the opposite by one of B. */
static double turning(const double *a, const double *b, const double s[6], double *ga, double *gb)
{
    const double m[3][3] = {{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}};
    double energy = 0, n[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = a[3 * i + k] - b[3 * i + k];
        for (int k = 0; k < 3; k++)
            energy += 0.5 * d[k] * dot(m[k], d);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                n[i][j] += a[3 * i + k] * dot(m[k], b + 3 * j);
    double twist[3] = {n[1][2] - n[2][1], n[2][0] - n[0][2], n[0][1] - n[1][0]};
    for (int k = 0; k < 3 && ga; k++)
        ga[k] -= twist[k];
    for (int k = 0; k < 3 && gb; k++)
        gb[k] += twist[k];
    return energy;
}

static double *slot(double *gradient, int i, int offset)
{
    return gradient ? gradient + 6 * i + offset : NULL;
}

static double inertia(const view *v, double h, int i, double *gradient)
{
    const pl_grain_d *grain = v->body->system->grain_d + i;
    double s[6], x[3], r[9], target_x[3], target_r[9];
    position(v, i, x);
    rotation(v, i, r);
    target_of(v->body, h, i, target_x, target_r);
    for (int k = 0; k < 6; k++)
        s[k] = grain->density * grain->moment[k];
    double energy = turning(r, target_r, s, slot(gradient, i, 3), NULL);
    for (int k = 0; k < 3; k++) {
        double d = x[k] - target_x[k];
        energy += 0.5 * grain->mass * d * d;
        if (gradient)
            gradient[6 * i + k] += grain->mass * d;
    }
    return energy;
}

/* One end's claim: 1/2 c ‖R d̄ − d‖². */
static double claim(const double *r, const double *rest, const double *d, double c, double *g_turn,
                    double *g_near, double *g_far)
{
    double arm[3], e[3];
    apply(r, rest, arm);
    for (int k = 0; k < 3; k++)
        e[k] = arm[k] - d[k];
    if (g_turn) {
        add_cross(arm, e, c, g_turn);
        for (int k = 0; k < 3; k++) {
            g_near[k] += c * e[k];
            g_far[k] -= c * e[k];
        }
    }
    return 0.5 * c * dot(e, e);
}

static double elastic(const view *v, const pl_spring_d *spring, double *gradient)
{
    double xa[3], xb[3], d[3], ra[9], rb[9];
    position(v, spring->a, xa);
    position(v, spring->b, xb);
    rotation(v, spring->a, ra);
    rotation(v, spring->b, rb);
    for (int k = 0; k < 3; k++)
        d[k] = xb[k] - xa[k];
    double *ga = slot(gradient, spring->a, 0), *gb = slot(gradient, spring->b, 0);
    double *ta = slot(gradient, spring->a, 3), *tb = slot(gradient, spring->b, 3);
    return turning(ra, rb, spring->moment, ta, tb) +
           claim(ra, spring->rest, d, spring->claim_a, ta, ga, gb) +
           claim(rb, spring->rest, d, spring->claim_b, tb, ga, gb);
}

/* Directions are normalised: the derivative of s/‖s‖ is (I − n nᵀ)/‖s‖. */
static double pinned(const view *v, const pl_hold *hold, double *gradient)
{
    double e[3] = {0, 0, 0}, arm[PL_MAX_INFLUENCES][3], scale = 1;
    for (int j = 0; j < hold->count; j++) {
        double x[3], r[9];
        position(v, hold->particle[j], x);
        rotation(v, hold->particle[j], r);
        apply(r, hold->arm[j], arm[j]);
        for (int k = 0; k < 3; k++)
            e[k] += hold->weight[j] * (arm[j][k] + (hold->kind == PL_PIN_POSITION ? x[k] : 0));
    }
    double along[3] = {0, 0, 0};
    if (hold->kind == PL_PIN_DIRECTION) {
        double length = sqrt(dot(e, e));
        if (length < 1e-3)
            return 0;
        scale = 1 / length;
        for (int k = 0; k < 3; k++) {
            e[k] *= scale;
            along[k] = e[k];
        }
    }
    for (int k = 0; k < 3; k++)
        e[k] -= hold->now[k];
    double energy = 0.5 * hold->stiffness * dot(e, e), part = dot(e, along);
    for (int k = 0; k < 3; k++)
        e[k] = (e[k] - part * along[k]) * scale;
    for (int j = 0; gradient && j < hold->count; j++) {
        double w = hold->stiffness * hold->weight[j];
        add_cross(arm[j], e, w, gradient + 6 * hold->particle[j] + 3);
        for (int k = 0; k < 3 && hold->kind == PL_PIN_POSITION; k++)
            gradient[6 * hold->particle[j] + k] += w * e[k];
    }
    return energy;
}

pl_oriented_energy pl_oriented_evaluate(const pl_oriented *body, double h, const double *x,
                                        const double *r, double *gradient)
{
    pl_oriented_energy energy = {0};
    view v = {body, x, r};
    if (gradient)
        memset(gradient, 0, sizeof *gradient * 6 * (size_t)body->n);
    for (int i = 0; i < body->n; i++)
        energy.inertia += inertia(&v, h, i, gradient);
    for (int e = 0; e < body->system->edge_count; e++)
        energy.elastic += elastic(&v, body->system->spring_d + e, gradient);
    for (int p = 0; p < body->hold_count; p++)
        energy.pins += pinned(&v, body->holds + p, gradient);
    return energy;
}

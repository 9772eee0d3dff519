/* Where the iteration starts for stiff bodies that turn.

   Velocities are chords and tangents: x + h u turns a body by less than the angle of its last
   sub-step and makes it larger across the axis, while the rotations R* of its particles turn by
   more. Both are right to the second order in that angle, but strain springs; and where these are
   stiff, κ = k h²/ρ in the hundreds, a few iterations do not get rid of it: they leave more energy
   in the springs than the body has. So what is linear in the motion is taken out of the start, and
   the nearest rotation of everything is put in its place. With A = (Σ m x* xᵀ)(Σ m x xᵀ)⁻¹ about
   the centre of mass c, and Q = polar of Σ m x* xᵀ and the particles' own moments,

       x + h u + (Q − A)(x − c)       and       Q polar(R_i + [h (ω_i − ω)]× R_i),     ω the mean of the ω_i.

   Stretching is left out with it: for that the first global step is exact, as rotations need not
   follow. What is minimised is the same; only where that begins is not. */
#include <math.h>

#include "math/quad.h"
#include "math/quat.h"
#include "matter/oriented.h"

/* Σ m x, Σ m u, Σ m ω, and Σ m x xᵀ, Σ m u xᵀ column by column. */
typedef struct swing {
    pl_quad x, u, w, xx[3], ux[3];
} swing;

static inline void add(swing *s, float mass, pl_quad x, pl_quad u, pl_quad w)
{
    pl_quad mx = x * mass, mu = u * mass;
    s->x += mx;
    s->u += mu;
    s->w += w * mass;
    for (int k = 0; k < 3; k++) {
        s->xx[k] += mx * x[k];
        s->ux[k] += mu * x[k];
    }
}

/* In floats: it is only where to start. */
static swing sum_of(const pl_oriented *body)
{
    const float *x = body->old.x, *u = body->old.u, *w = body->old.w;
    const pl_grain_f *grain = body->system->grain_f;
    int last = body->n - 1;
    swing s = {0};
    for (int i = 0; i < last; i++)
        add(&s, grain[i].mass, pl_quad_three(x + 3 * i), pl_quad_three(u + 3 * i),
            pl_quad_three(w + 3 * i));
    add(&s, grain[last].mass, pl_quad_of(x + 3 * last), pl_quad_of(u + 3 * last),
        pl_quad_of(w + 3 * last));
    return s;
}

/* The rotation nearest to 1 + [v]×: by atan ‖v‖ about v. */
static pl_quat turn_along(pl_vec3 v)
{
    double scale = 1 / (1 + sqrt(1 + pl_v3_length2(v)));
    return pl_quat_normalise((pl_quat){v.x * scale, v.y * scale, v.z * scale, 1});
}

/* What maximises tr(Rᵀ m) nearby, where m is about symmetric: half of the rotation vector that m
   asks for, with `about` in place of its symmetric part. */
static bool lean_of(pl_mat3 m, pl_mat3 about, pl_vec3 *by)
{
    pl_vec3 slope = {m.m[2][1] - m.m[1][2], m.m[0][2] - m.m[2][0], m.m[1][0] - m.m[0][1]};
    pl_mat3 hessian = pl_m3_scale(pl_m3_add(about, pl_m3_transpose(about)), -0.5), inverse;
    for (int k = 0; k < 3; k++)
        hessian.m[k][k] += pl_m3_trace(about);
    if (!pl_m3_inverse(hessian, &inverse))
        return false;
    *by = pl_v3_scale(pl_m3_mul_v3(inverse, slope), 0.5);
    return true;
}

/* The rotation nearest to `moved`, by Newton steps (METHODS, "Rotations fast and safe"), each of
   which has the cube of the error before. They start where that of a rigid body is, `rest` turned
   along its tangent: from none, what turns by a radian in a sub-step would be led astray. */
static pl_quat turn_of(pl_mat3 rest, pl_mat3 moved)
{
    pl_vec3 by;
    if (!lean_of(moved, rest, &by))
        return pl_quat_identity();
    pl_quat q = turn_along(pl_v3_scale(by, 2));
    for (int i = 0; i < 4; i++) {
        pl_mat3 b = pl_m3_mul(pl_m3_transpose(pl_quat_to_m3(q)), moved);
        if (!lean_of(b, b, &by))
            break;
        q = pl_quat_normalise(pl_quat_mul(q, (pl_quat){by.x, by.y, by.z, 1}));
        if (pl_v3_length(by) <= 1e-3)
            break;
    }
    return q;
}

/* Σ m x xᵀ about the centre, symmetric to the last bit, so that what stands is not turned; and Σ m
   h u xᵀ. */
static void moments_of(const swing *s, double h, const double centre[3], pl_mat3 *rest,
                       pl_mat3 *way)
{
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            int row = j < k ? k : j, column = j < k ? j : k;
            rest->m[k][j] = (double)s->xx[column][row] - centre[column] * (double)s->x[row];
            way->m[k][j] = h * ((double)s->ux[j][k] - centre[j] * (double)s->u[k]);
        }
}

/* What turns by less in a sub-step, radians, is strained by the square of it: let it be. Two
   particles of a stiff body tell of all, by how they turn and by how they move against the mean, in
   units that are about their spacing. */
#define SLOW 3e-4

static bool is_slow(const pl_oriented *body, double h)
{
    const float *of[4] = {body->old.w, body->old.w + 3 * (body->n - 1), body->old.u,
                          body->old.u + 3 * (body->n - 1)};
    double most = 0;
    for (int i = 0; i < 4; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++)
            square += (double)of[i][k] * (double)of[i][k];
        most = square > most ? square : most;
    }
    return !(h * h * most > SLOW * SLOW);
}

/* The nearest rotation to where the body goes; the particles' own moments count as if they were
   round, 1 + [h ω]× of them. */
static pl_quat rotation_of(pl_mat3 rest, const pl_mat3 *way, pl_vec3 spun, double moment)
{
    for (int k = 0; k < 3; k++)
        rest.m[k][k] += moment / 3;
    pl_mat3 own = pl_m3_cross(pl_v3_scale(spun, moment / 3));
    return turn_of(rest, pl_m3_add(pl_m3_add(rest, *way), own));
}

void pl_oriented_lead(pl_oriented *body, double h)
{
    pl_lead *lead = &body->lead;
    if (!pl_system_leads(body->system))
        return; /* nobody looks at it */
    *lead = (pl_lead){.bend = {0}};
    /* What hangs on pins swings about them: turned about its centre, it would gain more and
       more. */
    if (body->hold_count || is_slow(body, h))
        return;
    swing s = sum_of(body);
    double centre[3], spun[3], size = 0, mass = body->system->total_mass;
    pl_mat3 rest, way, inverse;
    for (int k = 0; k < 3; k++) {
        centre[k] = (double)s.x[k] / mass;
        spun[k] = h * (double)s.w[k] / mass;
    }
    moments_of(&s, h, centre, &rest, &way);
    /* A flat body says nothing about what is across it, and need not. */
    pl_mat3 firm = rest;
    for (int k = 0; k < 3; k++)
        firm.m[k][k] += 1e-6 * pl_m3_trace(rest);
    if (!pl_m3_inverse(firm, &inverse))
        return;
    pl_quat q = rotation_of(rest, &way, pl_v3(spun[0], spun[1], spun[2]), body->system->own_moment);
    /* (Q − 1) − (A − 1): nothing where nobody moves. */
    pl_mat3 turned = pl_m3_sub(pl_quat_to_m3(q), pl_m3_identity());
    pl_mat3 bend = pl_m3_sub(turned, pl_m3_mul(way, inverse));
    for (int k = 0; k < 9; k++)
        size += fabs(bend.m[k / 3][k % 3]);
    /* Torn apart, or no numbers. */
    if (!(size < 1000 && q.w > 0.3))
        return;
    const double turn[3] = {q.x / q.w, q.y / q.w, q.z / q.w};
    for (int k = 0; k < 9; k++)
        lead->bend[k] = (float)bend.m[k / 3][k % 3];
    for (int k = 0; k < 3; k++) {
        lead->centre[k] = (float)centre[k];
        lead->turn[k] = (float)turn[k];
        lead->spun[k] = (float)spun[k];
    }
}

/* How a body of one particle turns. Nothing strains it, so there is nothing to solve for; and what
   the solver makes of its turn, the rotation nearest to the tangent R + h [ω]× R, is an arc tangent
   of it: a ball would lose half of a spin of 30 rad/s in 5 sub-steps of 1/30 s. With J its inertia,
   φ = h Rᵀ ω and m the mean of φ before and after,

       φ' − φ = −J⁻¹ (m × J m),     R' = R exp([m]×),     ω' = R' φ' / h,

   Euler's equations by the midpoint rule, which keeps φᵀJφ and |Jφ|: energy and the length of the
   angular momentum. A ball keeps ω, however fast it is. */
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "matter/oriented.h"

enum { NEWTON_STEPS = 4 };

/* What is no more than this part of it from round turns as a ball does. */
#define ROUND 1e-5

/* I = tr Ā − Ā, in units that do not matter. */
static pl_mat3 inertia_of(const double moment[6])
{
    double trace = moment[0] + moment[3] + moment[5];
    return (pl_mat3){{{trace - moment[0], -moment[1], -moment[2]},
                      {-moment[1], trace - moment[3], -moment[4]},
                      {-moment[2], -moment[4], trace - moment[5]}}};
}

static bool is_round(const double moment[6])
{
    double mean = (moment[0] + moment[3] + moment[5]) / 3, off = 0;
    for (int k = 0; k < 6; k++)
        off = fmax(off, fabs(moment[k] - (k == 0 || k == 3 || k == 5 ? mean : 0)));
    return off <= ROUND * mean;
}

static double energy_of(pl_mat3 inertia, pl_vec3 spin)
{
    return pl_v3_dot(spin, pl_m3_mul_v3(inertia, spin));
}

/* The mean of the spins before and after: 2 J (m − φ) + m × J m = 0 by Newton steps. Turns that are
   too large for them stay what they are. */
static pl_vec3 mean_of(pl_mat3 inertia, pl_vec3 spin)
{
    pl_vec3 mean = spin;
    for (int i = 0; i < NEWTON_STEPS; i++) {
        pl_vec3 carried = pl_m3_mul_v3(inertia, mean);
        pl_vec3 off = pl_v3_add_scaled(pl_v3_cross(mean, carried), 2,
                                       pl_m3_mul_v3(inertia, pl_v3_sub(mean, spin)));
        pl_mat3 slope = pl_m3_sub(pl_m3_mul(pl_m3_cross(mean), inertia), pl_m3_cross(carried));
        pl_mat3 inverse;
        if (!pl_m3_inverse(pl_m3_add_scaled(slope, 2, inertia), &inverse))
            return spin;
        mean = pl_v3_sub(mean, pl_m3_mul_v3(inverse, off));
    }
    pl_vec3 after = pl_v3_add_scaled(mean, 1, pl_v3_sub(mean, spin));
    double before = energy_of(inertia, spin), error = energy_of(inertia, after) - before;
    return fabs(error) <= 1e-9 * before ? mean : spin;
}

static void store(pl_vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

void pl_oriented_spin(pl_oriented *body, double h)
{
    const double *moment = body->system->grain_d->moment;
    const float *q = body->old.q, *w = body->old.w;
    memcpy(body->now.q, q, 4 * sizeof *q);
    body->spin[0] = body->spin[1] = body->spin[2] = 0;
    if (w[0] == 0 && w[1] == 0 && w[2] == 0)
        return;
    pl_quat turn = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    pl_vec3 way = {h * (double)w[0], h * (double)w[1], h * (double)w[2]}, by = way;
    bool round = is_round(moment);
    pl_vec3 before = pl_quat_rotate(pl_quat_conjugate(turn), way), mean = before;
    if (!round) {
        mean = mean_of(inertia_of(moment), before);
        by = pl_quat_rotate(turn, mean);
    }
    turn = pl_quat_normalise(pl_quat_mul(pl_quat_axis_angle(by, sqrt(pl_v3_length2(by))), turn));
    if (!round)
        way = pl_quat_rotate(turn, pl_v3_sub(pl_v3_scale(mean, 2), before));
    store(way, body->spin);
    body->now.q[0] = (float)turn.x, body->now.q[1] = (float)turn.y;
    body->now.q[2] = (float)turn.z, body->now.q[3] = (float)turn.w;
}

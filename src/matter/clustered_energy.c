/* The elastic energy of a clustered body, in double, for those who ask: what its goals pull with.

       E = α / (2 h²) Σ_c Σ_i w m ‖x_i − (R S̃ Fᵖ p_i + c)‖²

   with every cluster fitted to the positions as they are, by the rotation that leaves the least; S̃
   is that of the last sub-step (I without examples). */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "matter/clustered.h"

/* α of a sub-step. */
static double alpha_of(const pl_clustered_def *def, double h)
{
    const double pi = 3.14159265358979323846;
    double turn = 2 * pi * def->frequency * h;
    return def->raw_alpha >= 0 ? def->raw_alpha : turn * turn < 1 ? turn * turn : 1;
}

typedef struct fit {
    double centre[3], moment[9]; /* A_xp */
} fit;

static fit fit_cluster(const pl_clustered *body, const pl_cluster *cluster, const float *x)
{
    fit f = {{0, 0, 0}, {0}};
    double mass = 0;
    for (int32_t m = cluster->first; m < cluster->first + cluster->count; m++) {
        size_t i = (size_t)body->particle[m];
        double share = (double)body->weight[m] * (double)body->mass[i];
        mass += share;
        for (size_t k = 0; k < 3; k++)
            f.centre[k] += share * (double)x[3 * i + k];
    }
    for (int k = 0; k < 3 && mass > 0; k++)
        f.centre[k] /= mass;
    for (int32_t m = cluster->first; m < cluster->first + cluster->count; m++) {
        size_t i = (size_t)body->particle[m];
        double share = (double)body->weight[m] * (double)body->mass[i];
        for (size_t k = 0; k < 3; k++)
            for (size_t l = 0; l < 3; l++)
                f.moment[3 * k + l] +=
                    share * ((double)x[3 * i + k] - f.centre[k]) * (double)body->p[l][m];
    }
    return f;
}

/* S̃ Fᵖ: what the rest offsets are multiplied by. */
static void shape_of(const pl_clustered *body, const pl_cluster *cluster, double out[9])
{
    float stretch[9];
    pl_clustered_stretch(body, cluster, stretch);
    for (int k = 0; k < 9; k++) {
        out[k] = (double)cluster->plastic[k];
        if (body->manifold) {
            out[k] = 0;
            for (int m = 0; m < 3; m++)
                out[k] += (double)stretch[k / 3 * 3 + m] * (double)cluster->plastic[3 * m + k % 3];
        }
    }
}

/* A_xp times the transpose of the shape: the rotation nearest to it leaves the least. */
static void matrix_to_turn(const double shape[9], const fit *f, double out[9])
{
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            out[3 * k + l] = 0;
            for (int m = 0; m < 3; m++)
                out[3 * k + l] += f->moment[3 * k + m] * shape[3 * l + m];
        }
}

static double energy_of(const pl_clustered *body, const pl_cluster *cluster, const float *x)
{
    fit f = fit_cluster(body, cluster, x);
    double turn[9], q[4], shape[9], sum = 0;
    shape_of(body, cluster, shape);
    matrix_to_turn(shape, &f, turn);
    for (int k = 0; k < 4; k++)
        q[k] = (double)cluster->turn[k];
    pl_rotations_fit_double(1, turn, q);
    pl_mat3 r = pl_quat_to_m3((pl_quat){q[0], q[1], q[2], q[3]});
    for (int32_t m = cluster->first; m < cluster->first + cluster->count; m++) {
        size_t i = (size_t)body->particle[m];
        double share = (double)body->weight[m] * (double)body->mass[i], rest[3];
        for (int k = 0; k < 3; k++)
            rest[k] = shape[3 * k] * (double)body->p[0][m] +
                      shape[3 * k + 1] * (double)body->p[1][m] +
                      shape[3 * k + 2] * (double)body->p[2][m];
        for (size_t k = 0; k < 3; k++) {
            double goal =
                f.centre[k] + r.m[k][0] * rest[0] + r.m[k][1] * rest[1] + r.m[k][2] * rest[2];
            double off = (double)x[3 * i + k] - goal;
            sum += share * off * off;
        }
    }
    return sum;
}

double pl_clustered_elastic(const pl_clustered *clustered, const float *x, double h)
{
    double sum = 0;
    for (int c = 0; c < clustered->count; c++)
        if (clustered->clusters[c].count > 1)
            sum += energy_of(clustered, clustered->clusters + c, x);
    return 0.5 * alpha_of(&clustered->def, h) * sum;
}

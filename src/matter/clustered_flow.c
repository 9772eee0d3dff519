/* Plastic flow of one cluster, in doubles: few clusters flow, and det Fᵖ = 1 must last. */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "matter/clustered_lanes.h"

/* With Fᵉ = U Σ Vᵀ and Fᵖ, sets F = V diag(e) Vᵀ Fᵖ at determinant 1. */
static void deform(const float v[9], const double e[3], const float plastic[9], float flow[9])
{
    double a[9], f[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                a[3 * i + j] += (double)v[3 * i + k] * e[k] * (double)v[3 * j + k];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f[3 * i + j] = a[3 * i] * (double)plastic[j] + a[3 * i + 1] * (double)plastic[3 + j] +
                           a[3 * i + 2] * (double)plastic[6 + j];
    double det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                 f[2] * (f[3] * f[7] - f[4] * f[6]);
    double scale = det > 1e-6 && det < 1e6 ? pl_exp(pl_log(det) / -3) : 1;
    for (int k = 0; k < 9; k++)
        flow[k] = (float)(f[k] * scale);
}

/* Below this part of the largest, a singular value is nearly zero, and nothing flows. */
#define FLATTEST 1e-3f

/* F* = Σ / det(Σ)^⅓ has the logarithms l, whose sum is 0, and F*^γ the logarithms γ l. Where s1 / s3 − 1 is below
   limit / √3, ‖F* − I‖ is below the limit: most clusters need no logarithm. */
static void flow(pl_cluster *cluster, double rate, double limit, const float s[3], const float v[9])
{
    double l[3], e[3], measure = 0;
    if (s[2] <= FLATTEST * s[0] || (s[0] - s[2]) * 1.7321 <= s[2] * limit)
        return;
    for (int k = 0; k < 3; k++)
        l[k] = pl_log(s[k]);
    double mean = (l[0] + l[1] + l[2]) / 3;
    for (int k = 0; k < 3; k++) {
        l[k] -= mean;
        e[k] = pl_exp(l[k]) - 1;
        measure += e[k] * e[k];
    }
    measure = sqrt(measure);
    if (!(measure > limit))
        return;
    double gamma = rate * (measure - limit) / measure;
    for (int k = 0; k < 3; k++)
        e[k] = pl_exp((gamma < 1 ? gamma : 1) * l[k]);
    deform(v, e, cluster->plastic, cluster->flow);
    cluster->flows = true;
}

void pl_cluster_flow(pl_cluster *cluster, const pl_clustered_step *step, const float s[3],
                     const float v[9])
{
    const pl_clustered_def *def = &step->clustered->def;
    double strain = 0;
    cluster->flows = false;
    memcpy(cluster->flow, cluster->plastic, sizeof cluster->flow);
    if (def->yield < INFINITY && cluster->rank == 3) {
        double limit = def->yield + def->hardening * cluster->worked;
        flow(cluster, step->flow, limit > 0 ? limit : 0, s, v);
    }
    for (int k = 0; k < 3; k++)
        strain += ((double)s[k] - 1) * ((double)s[k] - 1);
    double worked = cluster->worked + step->motion->h * sqrt(strain);
    cluster->worked = worked < 1e30 ? (float)worked : 1e30f;
}

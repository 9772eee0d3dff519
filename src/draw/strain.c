#include "draw/strain.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"

static double volume_of(const pl_strain_graph *g, int32_t i)
{
    const double *r = g->radii + 3 * (size_t)i;
    return 4.1887902047863905 * r[0] * r[1] * r[2];
}

static pl_vec3 vector_at(const double *array, int32_t i)
{
    return pl_v3(array[3 * (size_t)i], array[3 * (size_t)i + 1], array[3 * (size_t)i + 2]);
}

static pl_mat3 turn_at(const double *array, int32_t i)
{
    const double *q = array + 4 * (size_t)i;
    return pl_quat_to_m3(pl_quat_normalise((pl_quat){q[0], q[1], q[2], q[3]}));
}

/* ‖(R_i − R_j) Ē diag(a, b, c)‖² / 5, which is the rotational term without the volume. */
static double twist(pl_mat3 ri, pl_mat3 rj, pl_mat3 axes, const double radii[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        pl_vec3 axis = pl_v3_scale(pl_m3_column(axes, k), radii[k]);
        sum += pl_v3_length2(pl_v3_sub(pl_m3_mul_v3(ri, axis), pl_m3_mul_v3(rj, axis)));
    }
    return sum / 5;
}

/* The term of particle i for its neighbour j. */
static void add_term(const pl_strain_graph *g, int32_t i, int32_t j, pl_mat3 ri, pl_mat3 rj,
                     pl_vec3 apart, double *strains, double *weights)
{
    pl_vec3 rest = pl_v3_sub(vector_at(g->positions, j), vector_at(g->positions, i));
    double length2 = pl_v3_length2(rest), v = volume_of(g, j);
    if (!(length2 > 0) || !(v > 0))
        return;
    double off = pl_v3_length2(pl_v3_sub(pl_m3_mul_v3(ri, rest), apart));
    double turned = twist(ri, rj, turn_at(g->axes, j), g->radii + 3 * (size_t)j);
    strains[i] += v * (turned + off) / length2;
    weights[i] += v;
}

void pl_strain_find(const pl_strain_graph *g, const double *positions, const double *rotations,
                    double *strains, double *weights)
{
    size_t n = (size_t)g->particle_count;
    memset(strains, 0, n * sizeof *strains);
    memset(weights, 0, n * sizeof *weights);
    for (size_t e = 0; e < (size_t)g->edge_count; e++) {
        int32_t i = g->edges[2 * e], j = g->edges[2 * e + 1];
        pl_mat3 ri = turn_at(rotations, i), rj = turn_at(rotations, j);
        pl_vec3 apart = pl_v3_sub(vector_at(positions, j), vector_at(positions, i));
        add_term(g, i, j, ri, rj, apart, strains, weights);
        add_term(g, j, i, rj, ri, pl_v3_neg(apart), strains, weights);
    }
    for (size_t i = 0; i < n; i++) {
        double square = weights[i] > 0 ? g->dimension * strains[i] / weights[i] : 0;
        strains[i] = isfinite(square) ? sqrt(square) : 0;
    }
}

/* k = D Y V / Σ_edges (v_i + v_j) / ‖x̄_j − x̄_i‖², with the mean of the squared lengths. */
double pl_strain_young(const pl_strain_graph *g, double stiffness, double volume)
{
    double volumes = 0, lengths = 0;
    for (size_t e = 0; e < (size_t)g->edge_count; e++) {
        int32_t i = g->edges[2 * e], j = g->edges[2 * e + 1];
        pl_vec3 apart = pl_v3_sub(vector_at(g->positions, j), vector_at(g->positions, i));
        volumes += volume_of(g, i) + volume_of(g, j);
        lengths += pl_v3_length2(apart) / g->edge_count;
    }
    return volume > 0 ? stiffness * volumes * lengths / (g->dimension * volume) : 0;
}

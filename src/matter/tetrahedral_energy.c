/* The energy of tetrahedral matter and its gradient in doubles, element by element: what the
   kernels are judged by. */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/mat3.h"
#include "math/rotation_lanes.h"
#include "matter/tetrahedral_lanes.h"

/* As in tetrahedral_lanes.c, until nothing changes any more. */
void pl_tet_unit_determinant(const double s[3], double p[3])
{
    double product = 1;
    for (int k = 0; k < 3; k++) {
        p[k] = fmin(fmax(s[k], 0.2), 4);
        product *= p[k];
    }
    for (int k = 0; k < 3 && product < 1; k++)
        p[k] /= pl_pow(product, 1.0 / 3);
    for (int round = 0; round < 3; round++) {
        double g[3] = {p[1] * p[2], p[0] * p[2], p[0] * p[1]}, along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            along += g[k] * (p[k] - s[k]);
            square += g[k] * g[k];
        }
        double by = (along - (p[0] * g[0] - 1)) / square;
        for (int k = 0; k < 3; k++)
            p[k] = fmax(s[k] + by * g[k], 0.25 * p[k]);
    }
    for (int round = 0; round < 60; round++) {
        double slope[3], soft[3], sum = 0, softness = 0, miss = p[0] * p[1] * p[2] - 1;
        for (int k = 0; k < 3; k++) {
            slope[k] = p[k] * (p[k] - s[k]);
            soft[k] = 1 / fmax(p[k] * (2 * p[k] - s[k]), 0.5 * p[k] * p[k]);
            sum += slope[k] * soft[k];
            softness += soft[k];
        }
        double level = (sum - miss / (1 + 0.5 * miss)) / softness;
        for (int k = 0; k < 3; k++) {
            double half = fmin(fmax(0.5 * (level - slope[k]) * soft[k], -0.5), 0.5);
            p[k] *= (1 + half) / (1 - half);
        }
    }
}

static pl_mat3 deformation(const pl_tet_system *s, int e, const double *x)
{
    const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
    const double *g = s->gradient + 9 * (ptrdiff_t)e;
    pl_mat3 f = pl_m3_zero();
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                f.m[i][j] +=
                    (x[3 * (ptrdiff_t)tet[a] + i] - x[3 * (ptrdiff_t)tet[3] + i]) * g[3 * a + j];
    return f;
}

static double square_of(pl_mat3 a)
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += a.m[k / 3][k % 3] * a.m[k / 3][k % 3];
    return sum;
}

/* Fᵖ, with examples S̃ Fᵖ. */
static pl_mat3 modifier_of(const pl_tetrahedral *b, int e)
{
    pl_mat3 p = pl_m3_identity();
    if (b && b->plastic) {
        ptrdiff_t slot = b->system->slot[e], group = slot / PL_TET_LANES;
        for (int k = 0; k < 9; k++)
            p.m[k / 3][k % 3] =
                (double)b->plastic[(group * 9 + k) * PL_TET_LANES + slot % PL_TET_LANES];
    }
    return b && b->examples ? pl_m3_mul(pl_tet_stretch_of(b, e), p) : p;
}

/* V μ (1/β − 1) ‖S̃ − I‖². */
static double example_energy(const pl_tetrahedral *b, int e)
{
    pl_mat3 off = pl_m3_sub(pl_tet_stretch_of(b, e), pl_m3_identity());
    return pl_tet_example_hold(b) * b->system->volume[e] * b->system->mu[e] * square_of(off);
}

static double product_of(pl_mat3 a, pl_mat3 b)
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += a.m[k / 3][k % 3] * b.m[k / 3][k % 3];
    return sum;
}

static pl_mat3 rotation_of(pl_mat3 c)
{
    double u[9], s[3], v[9];
    pl_mat3 r;
    pl_svd3_double(1, &c.m[0][0], u, s, v);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] =
                u[3 * i] * v[3 * j] + u[3 * i + 1] * v[3 * j + 1] + u[3 * i + 2] * v[3 * j + 2];
    return r;
}

/* F − P of the nearest matrix with the determinant of S̃ Fᵖ; that of Fᵖ is one. */
static pl_mat3 off_volume(pl_mat3 f, pl_mat3 modifier)
{
    double u[9], s[3], v[9], p[3], size = pl_pow(fmax(pl_m3_det(modifier), 1e-3), 1.0 / 3);
    pl_mat3 off;
    pl_svd3_double(1, &f.m[0][0], u, s, v);
    for (int k = 0; k < 3; k++)
        s[k] /= size;
    pl_tet_unit_determinant(s, p);
    for (int k = 0; k < 3; k++)
        s[k] *= size, p[k] *= size;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            off.m[i][j] = 0;
            for (int k = 0; k < 3; k++)
                off.m[i][j] += u[3 * i + k] * (s[k] - p[k]) * v[3 * j + k];
        }
    return off;
}

/* Energy density, and its derivative by F. */
static double density(const pl_tet_system *s, int e, pl_mat3 f, pl_mat3 plastic, pl_mat3 *stress)
{
    pl_mat3 target = pl_m3_mul(rotation_of(pl_m3_mul(f, pl_m3_transpose(plastic))), plastic);
    pl_mat3 off = pl_m3_sub(f, target);
    double energy = s->mu[e] * square_of(off);
    *stress = pl_m3_scale(off, 2 * s->mu[e]);
    if (s->bulk[e] > 0) {
        if (s->def.volume == PL_TET_TRACE)
            off = pl_m3_scale(target, product_of(target, off) / square_of(target));
        else
            off = off_volume(f, plastic);
        energy += s->bulk[e] * square_of(off);
        *stress = pl_m3_add_scaled(*stress, 2 * s->bulk[e], off);
    }
    return energy;
}

static void add_forces(const pl_tet_system *s, int e, pl_mat3 stress, double *gradient)
{
    const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
    const double *g = s->gradient + 9 * (ptrdiff_t)e;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            double f = s->volume[e] * (stress.m[i][0] * g[3 * a] + stress.m[i][1] * g[3 * a + 1] +
                                       stress.m[i][2] * g[3 * a + 2]);
            gradient[3 * (ptrdiff_t)tet[a] + i] += f;
            gradient[3 * (ptrdiff_t)tet[3] + i] -= f;
        }
}

double pl_tet_energy(const pl_tet_system *s, const pl_tetrahedral *body, const double *x,
                     const double *y, double *gradient)
{
    double energy = 0;
    if (gradient)
        memset(gradient, 0, 3 * (size_t)s->n * sizeof *gradient);
    for (int e = 0; e < s->tet_count; e++) {
        pl_mat3 stress;
        energy += s->volume[e] * density(s, e, deformation(s, e, x), modifier_of(body, e), &stress);
        if (body && body->examples)
            energy += example_energy(body, e);
        if (gradient)
            add_forces(s, e, stress, gradient);
    }
    for (ptrdiff_t k = 0; k < 3 * (ptrdiff_t)s->n && y; k++) {
        double scale = s->node_mass[k / 3] / (s->h * s->h), off = x[k] - y[k];
        energy += 0.5 * scale * off * off;
        if (gradient)
            gradient[k] += scale * off;
    }
    return energy;
}

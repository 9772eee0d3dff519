/* Bodies of clusters for the tests, and one whole sub-step of METHODS §2 written down once more,
   plainly and in doubles. */
#ifndef PLIANT_TESTS_CLUSTERED_CASES_H
#define PLIANT_TESTS_CLUSTERED_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "math/mat3.h"
#include "math/rotation_lanes.h"
#include "matter/clustered.h"
#include "matter/clustered_lanes.h"

enum { CASE_PARTICLES = 512, CASE_CLUSTERS = 64, CASE_MEMBERS = 8192 };

typedef struct body_case {
    int n, cluster_count, member_count;
    float rest[3 * CASE_PARTICLES], mass[CASE_PARTICLES], radius[CASE_PARTICLES];
    int32_t start[CASE_CLUSTERS + 1], member[CASE_MEMBERS];
    float raw[CASE_MEMBERS], radii[CASE_CLUSTERS];
} body_case;

/* Clusters of the cases overlap as they like: they do not touch each other. */
static inline pl_clustered_def case_def(void)
{
    pl_clustered_def def = pl_default_clustered_def();
    def.self_contact = false;
    return def;
}

static inline pl_clustered_source case_source(const body_case *b)
{
    return (pl_clustered_source){b->n,     b->rest,   b->mass, b->radius, b->cluster_count,
                                 b->start, b->member, b->raw,  b->radii};
}

static inline void case_particle(body_case *b, double x, double y, double z, double mass)
{
    int i = b->n++;
    b->rest[3 * i] = (float)x, b->rest[3 * i + 1] = (float)y, b->rest[3 * i + 2] = (float)z;
    b->mass[i] = (float)mass;
    b->radius[i] = 0.1f;
}

static inline void case_member(body_case *b, int particle, double raw)
{
    b->member[b->member_count] = particle;
    b->raw[b->member_count++] = (float)raw;
}

/* The members added so far since the last one are a cluster. */
static inline void case_cluster(body_case *b, double radius)
{
    b->radii[b->cluster_count++] = (float)radius;
    b->start[b->cluster_count] = b->member_count;
}

/* Particles at random, clusters of those near random ones of them; everybody is somewhere. */
static inline void case_random(body_case *b, pl_rng *rng, int n, int clusters)
{
    memset(b, 0, sizeof *b);
    for (int i = 0; i < n; i++)
        case_particle(b, pl_random_between(rng, -1, 1), pl_random_between(rng, -1, 1),
                      pl_random_between(rng, -1, 1), pl_random_between(rng, 0.5f, 2));
    for (int c = 0; c < clusters; c++) {
        int seed = (int)(pl_random_double(rng) * n), first = b->member_count;
        float reach = pl_random_between(rng, 0.8f, 1.6f);
        for (int i = 0; i < n && b->member_count < CASE_MEMBERS; i++) {
            float d = 0;
            for (int k = 0; k < 3; k++)
                d += (b->rest[3 * i + k] - b->rest[3 * seed + k]) *
                     (b->rest[3 * i + k] - b->rest[3 * seed + k]);
            bool last = c == clusters - 1; /* that one has everybody */
            if (last || d <= reach * reach)
                case_member(b, i, last ? 0.3 : 1 / (d + 0.1));
        }
        if (b->member_count - first > 0)
            case_cluster(b, reach);
    }
}

/* ---- The reference --------------------------------------------------------------------------- */

typedef struct ref_cluster {
    pl_mat3 plastic, flow, rotation, gradient;
    pl_vec3 p[CASE_PARTICLES];
    double w[CASE_PARTICLES]; /* 0 = no member */
    double worked, stretch, width, mass;
    pl_vec3 centre;
    bool flows;
} ref_cluster;

typedef struct ref_body {
    int n, count;
    double mass[CASE_PARTICLES];
    ref_cluster clusters[CASE_CLUSTERS];
    pl_clustered_def def;
} ref_body;

static inline pl_vec3 ref_at(const float *x, int i)
{
    return pl_v3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

static inline void ref_make(ref_body *r, const body_case *b, const pl_clustered_def *def)
{
    double total[CASE_PARTICLES] = {0};
    memset(r, 0, sizeof *r);
    r->n = b->n, r->count = b->cluster_count, r->def = *def;
    for (int k = 0; k < b->member_count; k++)
        total[b->member[k]] += b->raw[k];
    for (int i = 0; i < b->n; i++)
        r->mass[i] = b->mass[i];
    for (int c = 0; c < b->cluster_count; c++) {
        ref_cluster *q = r->clusters + c;
        pl_vec3 sum = pl_v3(0, 0, 0);
        q->plastic = q->flow = q->rotation = pl_m3_identity();
        for (int k = b->start[c]; k < b->start[c + 1]; k++) {
            int i = b->member[k];
            q->w[i] = b->raw[k] / total[i];
            q->mass += q->w[i] * r->mass[i];
            sum = pl_v3_add_scaled(sum, q->w[i] * r->mass[i], ref_at(b->rest, i));
        }
        pl_vec3 centre = pl_v3_scale(sum, 1 / q->mass);
        for (int k = b->start[c]; k < b->start[c + 1]; k++) {
            int i = b->member[k];
            q->p[i] = pl_v3_sub(ref_at(b->rest, i), centre);
            q->width = fmax(q->width, pl_v3_length(q->p[i]));
        }
    }
}

static inline void ref_svd(pl_mat3 a, pl_mat3 *u, double s[3], pl_mat3 *v)
{
    pl_svd3_double(1, &a.m[0][0], &u->m[0][0], s, &v->m[0][0]);
}

static inline pl_mat3 ref_polar(pl_mat3 a)
{
    pl_mat3 u, v;
    double s[3];
    ref_svd(a, &u, s, &v);
    return pl_m3_mul(u, pl_m3_transpose(v));
}

static inline pl_mat3 ref_inverse(pl_mat3 a)
{
    pl_mat3 inverse = pl_m3_zero();
    pl_m3_inverse(a, &inverse);
    return inverse;
}

/* Centre, F, R at positions x. */
static inline void ref_fit(const ref_body *r, ref_cluster *q, const pl_vec3 *x)
{
    pl_mat3 axp = pl_m3_zero(), app = pl_m3_zero();
    pl_vec3 sum = pl_v3(0, 0, 0);
    for (int i = 0; i < r->n; i++)
        sum = pl_v3_add_scaled(sum, q->w[i] * r->mass[i], x[i]);
    q->centre = pl_v3_scale(sum, 1 / q->mass);
    for (int i = 0; i < r->n; i++) {
        double m = q->w[i] * r->mass[i];
        axp = pl_m3_add_scaled(axp, m, pl_m3_outer(pl_v3_sub(x[i], q->centre), q->p[i]));
        app = pl_m3_add_scaled(app, m, pl_m3_outer(q->p[i], q->p[i]));
    }
    q->gradient = pl_m3_mul(axp, ref_inverse(app));
    pl_mat3 inverse = ref_inverse(app), elastic = pl_m3_mul(q->gradient, ref_inverse(q->plastic));
    double thin = 0, norm = 0, width = 0;
    for (int i = 0; i < r->n; i++)
        width = q->w[i] > 0 ? fmax(width, pl_v3_length(q->p[i])) : width;
    for (int k = 0; k < 9; k++) {
        thin += k % 4 == 0 ? inverse.m[k / 3][k / 3] * q->mass * width * width : 0;
        norm += elastic.m[k / 3][k % 3] * elastic.m[k / 3][k % 3];
    }
    bool squares = r->def.rotation == PL_ROTATION_LEAST_SQUARES || thin > 200 || !(norm < 11);
    q->rotation = squares ? ref_polar(pl_m3_mul(axp, pl_m3_transpose(q->plastic)))
                          : ref_polar(pl_m3_mul(q->gradient, ref_inverse(q->plastic)));
}

static inline void ref_flow(const ref_body *r, ref_cluster *q, double h)
{
    pl_mat3 u, v;
    double s[3], det, norm = 0, strain = 0, star[3];
    double nu = r->def.raw_flow >= 0 ? r->def.raw_flow : 1 - exp(-r->def.flow * h);
    ref_svd(pl_m3_mul(q->gradient, ref_inverse(q->plastic)), &u, s, &v);
    q->stretch = s[0];
    q->flow = q->plastic;
    q->flows = false;
    det = s[0] * s[1] * s[2];
    for (int k = 0; k < 3; k++) {
        star[k] = s[k] / cbrt(det);
        norm += (star[k] - 1) * (star[k] - 1);
        strain += (s[k] - 1) * (s[k] - 1);
    }
    norm = sqrt(norm);
    double limit = fmax(0, r->def.yield + r->def.hardening * q->worked);
    if (s[2] > 1e-3 * s[0] && norm > limit) {
        double g = fmin(1, nu * (norm - limit) / norm);
        pl_mat3 d = pl_m3_diagonal(pow(star[0], g), pow(star[1], g), pow(star[2], g));
        q->flow = pl_m3_mul(pl_m3_mul(pl_m3_mul(v, d), pl_m3_transpose(v)), q->plastic);
        q->flows = true;
    }
    q->worked += h * sqrt(strain);
}

static inline pl_vec3 ref_goal(const ref_cluster *q, int i)
{
    return pl_v3_add(q->centre, pl_m3_mul_v3(q->rotation, pl_m3_mul_v3(q->plastic, q->p[i])));
}

static inline pl_mat3 ref_inertia(const ref_body *r, const ref_cluster *q, const pl_vec3 *x,
                                  pl_vec3 centre)
{
    pl_mat3 inertia = pl_m3_zero();
    for (int i = 0; i < r->n; i++) {
        pl_mat3 a = pl_m3_cross(pl_v3_sub(x[i], centre));
        inertia = pl_m3_add_scaled(inertia, -q->w[i] * r->mass[i], pl_m3_mul(a, a));
    }
    return inertia;
}

/* Force and moment of all corrections of a cluster in a sub-step, about where its centre was. */
typedef struct ref_push {
    pl_vec3 force, moment;
} ref_push;

static inline pl_vec3 ref_old_centre(const ref_body *r, const ref_cluster *q, const pl_vec3 *old)
{
    pl_vec3 centre = pl_v3(0, 0, 0);
    for (int i = 0; i < r->n; i++)
        centre = pl_v3_add_scaled(centre, q->w[i] * r->mass[i] / q->mass, old[i]);
    return centre;
}

/* One round. */
static inline void ref_strain(const ref_body *r, ref_cluster *clusters, const pl_vec3 *old,
                              ref_push *pushes, pl_vec3 *x)
{
    static pl_vec3 moved[CASE_PARTICLES];
    memset(moved, 0, sizeof moved);
    for (int c = 0; c < r->count; c++) {
        ref_cluster *q = clusters + c;
        ref_push *push = pushes + c;
        ref_fit(r, q, x);
        pl_vec3 before = ref_old_centre(r, q, old);
        for (int i = 0; i < r->n; i++) {
            pl_vec3 d = pl_v3_sub(x[i], ref_goal(q, i));
            double length = pl_v3_length(d), limit = r->def.strain_limit * q->width;
            if (!(q->w[i] > 0 && length > limit))
                continue;
            pl_vec3 e = pl_v3_scale(d, limit / length - 1);
            pl_vec3 f = pl_v3_scale(e, q->w[i] * r->mass[i]);
            push->force = pl_v3_add(push->force, f);
            push->moment = pl_v3_add(push->moment, pl_v3_cross(pl_v3_sub(old[i], before), f));
            moved[i] = pl_v3_add_scaled(moved[i], q->w[i], e);
        }
    }
    for (int i = 0; i < r->n; i++)
        x[i] = pl_v3_add_scaled(x[i], r->def.strain_part, moved[i]);
}

/* Takes the rigid part of all rounds away. */
static inline void ref_balance(const ref_body *r, const ref_cluster *clusters, const pl_vec3 *old,
                               const ref_push *pushes, pl_vec3 *x)
{
    for (int c = 0; c < r->count; c++) {
        const ref_cluster *q = clusters + c;
        pl_vec3 before = ref_old_centre(r, q, old);
        pl_vec3 turn = pl_m3_mul_v3(ref_inverse(ref_inertia(r, q, old, before)), pushes[c].moment);
        for (int i = 0; i < r->n; i++) {
            pl_vec3 rigid = pl_v3_add_scaled(pl_v3_cross(turn, pl_v3_sub(old[i], before)),
                                             1 / q->mass, pushes[c].force);
            x[i] = pl_v3_add_scaled(x[i], -r->def.strain_part * q->w[i], rigid);
        }
    }
}

/* From x and u (floats) to x, as pl_clustered_solve. */
static inline void ref_step(ref_body *r, double h, const float *from, const float *speed,
                            pl_vec3 *x)
{
    static pl_vec3 old[CASE_PARTICLES], u[CASE_PARTICLES];
    double alpha = r->def.raw_alpha > 0
                       ? r->def.raw_alpha
                       : fmin(1, pow(2 * 3.14159265358979323846 * r->def.frequency * h, 2));
    double d = r->def.raw_damping >= 0 ? r->def.raw_damping : 1 - exp(-r->def.damping * h);
    for (int i = 0; i < r->n; i++) {
        old[i] = x[i] = ref_at(from, i);
        u[i] = ref_at(speed, i);
    }
    for (int c = 0; c < r->count; c++) {
        ref_fit(r, r->clusters + c, old);
        ref_flow(r, r->clusters + c, h);
    }
    for (int i = 0; i < r->n; i++)
        x[i] = u[i];
    for (int c = 0; c < r->count; c++) {
        ref_cluster *q = r->clusters + c;
        pl_vec3 mean = pl_v3(0, 0, 0), spin = mean;
        for (int i = 0; i < r->n; i++) {
            double m = q->w[i] * r->mass[i];
            mean = pl_v3_add_scaled(mean, m / q->mass, u[i]);
            spin = pl_v3_add_scaled(spin, m, pl_v3_cross(pl_v3_sub(old[i], q->centre), u[i]));
        }
        pl_vec3 omega = pl_m3_mul_v3(ref_inverse(ref_inertia(r, q, old, q->centre)), spin);
        for (int i = 0; i < r->n; i++) {
            pl_vec3 rigid = pl_v3_add(mean, pl_v3_cross(omega, pl_v3_sub(old[i], q->centre)));
            x[i] = pl_v3_add_scaled(x[i], q->w[i] * alpha / h, pl_v3_sub(ref_goal(q, i), old[i]));
            x[i] = pl_v3_add_scaled(x[i], q->w[i] * d, pl_v3_sub(rigid, u[i]));
        }
    }
    for (int i = 0; i < r->n; i++)
        x[i] = pl_v3_add_scaled(old[i], h, x[i]);
    static ref_cluster copy[CASE_CLUSTERS];
    ref_push pushes[CASE_CLUSTERS] = {{.force = pl_v3(0, 0, 0)}};
    memcpy(copy, r->clusters, sizeof copy);
    for (int round = 0; r->def.strain_limit > 0 && round < r->def.strain_iterations; round++)
        ref_strain(r, copy, old, pushes, x);
    if (r->def.strain_balanced)
        ref_balance(r, copy, old, pushes, x);
}

/* ---- Set-up of every test -------------------------------------------------------------------- */

static pl_memory memory;

static int set_up(void **state)
{
    (void)state;
    pl_memory_init(&memory, NULL, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(memory.used, 0);
    return 0;
}

#endif

/* Bodies of oriented particles with targets for tests: made, solved without a world, bent into
   coils. */
#ifndef PLIANT_TESTS_POSED_KIT_H
#define PLIANT_TESTS_POSED_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_env.h"
#include "math/quat.h"
#include "matter/posed.h"
#include "support/check.h"
#include "support/oriented_reference.h"
#include "world/world.h"

enum { LANES = PL_POSED_LANES };

/* ---- Solving --------------------------------------------------------------------------------- */

static __attribute__((unused)) pl_memory *kit_memory(void)
{
    static pl_memory memory;
    static bool made;
    if (!made)
        pl_memory_init(&memory, NULL, 0);
    made = true;
    return &memory;
}

static __attribute__((unused)) pl_posed *make_posed(const oriented_case *c,
                                                    const pl_plasticity_def *plastic)
{
    pl_posed *posed;
    assert_int_equal(pl_posed_create(kit_memory(), c->model, plastic, &posed, NULL), PL_OK);
    return posed;
}

/* Number k (0–5) of directed edge: e, or e in the other direction. */
static __attribute__((unused)) float *flowed_at(pl_posed *posed, int e, bool back, int k)
{
    size_t block = (size_t)(e / LANES) + (back ? (size_t)posed->blocks : 0);
    return posed->flowed + (block * 6 + (size_t)k) * LANES + (size_t)(e % LANES);
}

static __attribute__((unused)) void scatter_targets(pl_rng *rng, pl_posed *posed, double size)
{
    for (int e = 0; e < posed->edge_count; e++)
        for (int k = 0; k < 12; k++)
            *flowed_at(posed, e, k >= 6, k % 6) = (float)(size * oriented_normal(rng));
    pl_posed_renew(posed);
}

static __attribute__((noinline, unused)) void solve_in_env(pl_posed *posed, pl_oriented *body,
                                                           double h, int iterations, pl_work *work)
{
    pl_posed_solve(posed, body, h, iterations, false, work);
}

/* As oriented_solve: from the state the body had before. */
static __attribute__((unused)) pl_work solve(oriented_scene *scene, pl_posed *posed,
                                             pl_solver solver, int iterations, double *trace)
{
    pl_oriented *body = oriented_matter(scene, 0);
    double h = scene->world->h;
    memcpy(body->now.origin, body->old.origin, sizeof body->now.origin);
    memcpy(body->now.velocity, body->old.velocity, sizeof body->now.velocity);
    for (int k = 0; k < 3; k++)
        body->c[k] =
            body->system->grounded || body->hold_count ? h * body->old.velocity[k] : body->drift[k];
    size_t size = (pl_posed_scratch(body->system) + 63) / 64 * 64;
    pl_work work = {.scratch = aligned_alloc(64, size), .trace = trace};
    body->solver = solver;
    pl_float_env host = pl_float_env_enter();
    solve_in_env(posed, body, h, iterations, &work);
    pl_float_env_leave(host);
    body->posed = NULL;
    free(work.scratch);
    return work;
}

static __attribute__((unused)) double total(pl_oriented_energy e)
{
    return e.inertia + e.elastic + e.pins;
}

/* A straight rod of n particles along x, one unit apart (before the model's own unit). */
static __attribute__((unused)) oriented_case make_rod(int n, double kappa)
{
    oriented_graph g = oriented_shape_graph(PL_SHAPE_CHAIN, n, 0, 0);
    return oriented_plain_case(g, 0.01, kappa);
}

/* Frames along a helix of radius a and rise b for each radian, turn by turn t per edge: positions
   and, as columns, the axes that a straight rod along x gets when it is bent into it (tangent
   first). */
static __attribute__((unused)) void helix(int n, double a, double b, double t, double sign,
                                          double *x, double *q)
{
    for (int i = 0; i < n; i++) {
        double s = t * i, c = sqrt(a * a + b * b);
        double tangent[3] = {-a * sin(s) / c, a * cos(s) / c * sign, b / c};
        double normal[3] = {-cos(s), -sin(s) * sign, 0};
        double side[3] = {tangent[1] * normal[2] - tangent[2] * normal[1],
                          tangent[2] * normal[0] - tangent[0] * normal[2],
                          tangent[0] * normal[1] - tangent[1] * normal[0]};
        x[3 * i] = a * cos(s), x[3 * i + 1] = a * sin(s) * sign, x[3 * i + 2] = b * s;
        pl_mat3 r = {{{tangent[0], normal[0], side[0]},
                      {tangent[1], normal[1], side[1]},
                      {tangent[2], normal[2], side[2]}}};
        pl_quat p = pl_quat_from_m3(r);
        q[4 * i] = p.x, q[4 * i + 1] = p.y, q[4 * i + 2] = p.z, q[4 * i + 3] = p.w;
    }
}

/* As if everything stood still at the end of every step: a descent to the least elastic energy. */
static __attribute__((unused)) void settle(oriented_scene *scene, pl_posed *posed, int steps,
                                           int iterations)
{
    pl_oriented *body = oriented_matter(scene, 0);
    size_t n = (size_t)body->n;
    for (int s = 0; s < steps; s++) {
        memset(body->old.u, 0, sizeof(float) * 3 * n);
        memset(body->old.w, 0, sizeof(float) * 3 * n);
        solve(scene, posed, PL_SOLVER_FAST, iterations, NULL);
        memcpy(body->old.x, body->now.x, sizeof(float) * 3 * n);
        memcpy(body->old.q, body->now.q, sizeof(float) * 4 * n);
    }
}

/* A pose in SI as a body's kernels see it. */
static __attribute__((unused)) void to_units(const oriented_case *c, const double *x,
                                             const double *q, float *fx, float *fq)
{
    for (int i = 0; i < 3 * c->graph.n; i++)
        fx[i] = (float)(x[i] / c->model->unit);
    for (int i = 0; i < 4 * c->graph.n; i++)
        fq[i] = (float)q[i];
}

/* The descriptors of a pose become the targets. */
static __attribute__((unused)) void take_pose(pl_posed *posed, const oriented_case *c,
                                              const float *x, const float *q)
{
    int backward = pl_posed_backward(posed->edge_count);
    float *d = malloc(sizeof(float) * 6 * (size_t)pl_posed_element_count(c->model));
    assert_int_equal(
        pl_posed_describe(kit_memory(), c->model, &c->material, NULL, x, q, d, NULL, NULL), PL_OK);
    for (int e = 0; e < posed->edge_count; e++)
        for (int k = 0; k < 12; k++)
            *flowed_at(posed, e, k >= 6, k % 6) = d[6 * (k >= 6 ? backward + e : e) + k % 6];
    free(d);
    pl_posed_renew(posed);
}

#endif

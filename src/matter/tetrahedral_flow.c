/* Plastic flow of the elements after a sub-step (plastic.h). */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "matter/plastic.h"
#include "matter/tetrahedral_lanes.h"

#define LANES PL_TET_LANES

static pl_mat3 deformation(const pl_tet_system *s, int e, const float *x)
{
    const int32_t *tet = s->tets + 4 * (ptrdiff_t)e;
    const double *g = s->gradient + 9 * (ptrdiff_t)e;
    pl_mat3 f = pl_m3_zero();
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            double edge =
                (double)x[3 * (ptrdiff_t)tet[a] + i] - (double)x[3 * (ptrdiff_t)tet[3] + i];
            for (int j = 0; j < 3; j++)
                f.m[i][j] += edge * g[3 * a + j];
        }
    return f;
}

/* An element flows until cond(Fᵖ) is at the limit, and from there only where that makes it less.
   Rebasing the rest shape instead would need a matrix and a factor for that body alone, at a step
   that is not known before, while all bodies of a system share theirs. */

typedef struct flowing {
    pl_tetrahedral *body;
    const float *x;
    double rate; /* ν */
} flowing;

/* What flows is the deformation beyond S̃ Fᵖ, and Fᵖ alone is changed by it: p = S̃⁻¹ p at
   determinant one; false where there is none. */
static bool without(pl_mat3 stretch, pl_mat3 *p)
{
    pl_mat3 inverse;
    if (!pl_m3_inverse(stretch, &inverse))
        return false;
    *p = pl_m3_mul(inverse, *p);
    double det = pl_m3_det(*p);
    if (!(det > 1e-6 && det < 1e6))
        return false;
    *p = pl_m3_scale(*p, pl_exp(pl_log(det) / -3));
    return true;
}

/* One element's: S̃, S̃ Fᵖ, and the elastic deformation beyond it. */
typedef struct strained {
    pl_mat3 stretch, plastic;
    double values[3], v[9], yield;
} strained;

typedef enum outcome { STAYED, FLOWED, PASSED } outcome; /* passed: the limit */

static outcome flow_by(const flowing *w, const strained *e, double rate, pl_mat3 *next)
{
    *next = e->plastic;
    if (!pl_plastic_flow(e->values, e->v, rate, e->yield, next) ||
        (w->body->examples && !without(e->stretch, next)))
        return STAYED;
    return pl_condition(*next) <= w->body->system->def.condition ? FLOWED : PASSED;
}

/* The most of an update that would pass the limit, by halving; nothing where Fᵖ is at it. */
static bool flow_to_limit(const flowing *w, const strained *e, pl_mat3 before, pl_mat3 *next)
{
    enum { HALVINGS = 16 };
    if (pl_condition(before) > 0.999 * w->body->system->def.condition)
        return false;
    double low = 0, high = w->rate;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = 0.5 * (low + high);
        *(flow_by(w, e, middle, next) == PASSED ? &high : &low) = middle;
    }
    return flow_by(w, e, low, next) == FLOWED;
}

static void flow_element(const flowing *w, int e)
{
    const pl_tet_system *s = w->body->system;
    const pl_tetrahedral_def *def = &s->def;
    ptrdiff_t group = s->slot[e] / LANES, lane = s->slot[e] % LANES;
    float *out = w->body->plastic + group * 9 * LANES + lane;
    float *worked = w->body->worked + group * LANES + lane;
    strained here = {.stretch = pl_m3_identity()};
    pl_mat3 before, inverse, next;
    double u[9];
    for (int k = 0; k < 9; k++)
        before.m[k / 3][k % 3] = (double)out[k * LANES];
    here.plastic = before;
    if (w->body->examples) {
        here.stretch = pl_tet_stretch_of(w->body, e);
        here.plastic = pl_m3_mul(here.stretch, before);
    }
    if (!pl_m3_inverse(here.plastic, &inverse))
        return;
    pl_mat3 elastic = pl_m3_mul(deformation(s, e, w->x), inverse);
    pl_svd3_double(1, &elastic.m[0][0], u, here.values, here.v);
    here.yield = fmax(0, def->yield + def->hardening * (double)*worked);
    outcome whole = flow_by(w, &here, w->rate, &next);
    if (whole == FLOWED || (whole == PASSED && flow_to_limit(w, &here, before, &next)))
        for (int k = 0; k < 9; k++)
            out[k * LANES] = (float)next.m[k / 3][k % 3];
    *worked = pl_plastic_worked(*worked, here.values, s->h);
}

static void flow_elements(void *context, int begin, int end, int worker)
{
    (void)worker;
    for (int e = begin; e < end; e++)
        flow_element(context, e);
}

void pl_tetrahedral_flow(pl_tetrahedral *body, const float *x, pl_tasks *tasks)
{
    if (!body->plastic)
        return;
    flowing w = {body, x, 1 - pl_exp(-body->system->def.flow * body->system->h)};
    pl_tasks_run(tasks, flow_elements, &w, body->system->tet_count, 256);
}

/* Shape matching of overlapping groups, each a particle and its one-ring (METHODS §1, last part). A
   group is matched with
       Σ_j (ρ R_j Ā_j + m_j x_j x̄_jᵀ) − M c c̄ᵀ,
   its rotation becomes that of the particle in its middle, and every particle moves to the mean of
   the goals c + R (x̄_j − c̄) of the groups it is in. */
#include "matter/shape_matching.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"

struct pl_matching {
    pl_memory *memory;
    const pl_model *model;
    int n;
    uint8_t *fixed;
    pl_vec3 *x, *old_x, *u, *w, *rest, *goal;
    pl_quat *q, *old_q;
    pl_vec3 *centre, *rest_centre; /* of each group */
    double *c;                     /* [n][9] matrices to be matched */
    int *goals;                    /* groups each particle is in */
};

static bool allocate(pl_matching *m, size_t n)
{
    pl_vec3 **vectors[] = {&m->x,    &m->old_x, &m->u,      &m->w,
                           &m->rest, &m->goal,  &m->centre, &m->rest_centre};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = PL_NEW(m->memory, pl_vec3, n)))
            return false;
    return (m->fixed = PL_NEW(m->memory, uint8_t, n)) && (m->q = PL_NEW(m->memory, pl_quat, n)) &&
           (m->old_q = PL_NEW(m->memory, pl_quat, n)) &&
           (m->c = PL_NEW(m->memory, double, 9 * n)) && (m->goals = PL_NEW(m->memory, int, n));
}

/* The members of group i are i itself and its neighbours: member −1 and the entries of the
   adjacency. */
static int member(const pl_model *model, int i, int p)
{
    return p < 0 ? i : model->neighbour[model->start[i] + p];
}

static int neighbours(const pl_model *model, int i)
{
    return model->start[i + 1] - model->start[i];
}

static pl_vec3 group_centre(const pl_matching *m, int i, const pl_vec3 *x)
{
    pl_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int p = -1; p < neighbours(m->model, i); p++) {
        int j = member(m->model, i, p);
        sum = pl_v3_add_scaled(sum, m->model->volumes[j], x[j]);
        mass += m->model->volumes[j];
    }
    return pl_v3_scale(sum, 1 / mass);
}

pl_matching *pl_matching_create(pl_memory *memory, const pl_model *model, const int32_t *fixed,
                                int fixed_count)
{
    pl_matching *m = PL_NEW(memory, pl_matching, 1);
    if (!m)
        return NULL;
    m->memory = memory;
    m->model = model;
    m->n = model->particle_count;
    if (!allocate(m, (size_t)m->n)) {
        pl_matching_destroy(m);
        return NULL;
    }
    for (int i = 0; i < m->n; i++) {
        m->rest[i] = m->x[i] = pl_v3_from_floats(model->rest + 3 * i);
        m->q[i] = pl_quat_identity();
    }
    for (int i = 0; i < m->n; i++)
        m->rest_centre[i] = group_centre(m, i, m->rest);
    for (int i = 0; i < fixed_count; i++)
        m->fixed[fixed[i]] = 1;
    return m;
}

void pl_matching_destroy(pl_matching *m)
{
    if (!m)
        return;
    void *blocks[] = {m->x,     m->old_x, m->u,     m->w,     m->rest,        m->goal,  m->q,
                      m->old_q, m->c,     m->goals, m->fixed, m->rest_centre, m->centre};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(m->memory, blocks[i]);
    pl_memory_free(m->memory, m);
}

static pl_mat3 moment_of(const pl_model *model, int i)
{
    const double *a = model->moments + 6 * i;
    return (pl_mat3){{{a[0], a[1], a[2]}, {a[1], a[3], a[4]}, {a[2], a[4], a[5]}}};
}

/* Taken about the centres, the matrix is Σ_j (R_j Ā_j + v_j (x_j − c)(x̄_j − c̄)ᵀ): the same
   without large numbers. */
static void match(pl_matching *m, int i)
{
    pl_mat3 c = pl_m3_zero();
    m->centre[i] = group_centre(m, i, m->x);
    for (int p = -1; p < neighbours(m->model, i); p++) {
        int j = member(m->model, i, p);
        c = pl_m3_add_scaled(c, 1, pl_m3_mul(pl_quat_to_m3(m->q[j]), moment_of(m->model, j)));
        c = pl_m3_add_scaled(c, m->model->volumes[j],
                             pl_m3_outer(pl_v3_sub(m->x[j], m->centre[i]),
                                         pl_v3_sub(m->rest[j], m->rest_centre[i])));
    }
    for (int k = 0; k < 9; k++)
        m->c[9 * i + k] = m->fixed[i] ? 0 : c.m[k / 3][k % 3];
}

static void gather_goals(pl_matching *m)
{
    for (int i = 0; i < m->n; i++) {
        m->goal[i] = (pl_vec3){0, 0, 0};
        m->goals[i] = 0;
    }
    for (int i = 0; i < m->n; i++)
        for (int p = -1; p < neighbours(m->model, i); p++) {
            int j = member(m->model, i, p);
            pl_vec3 arm = pl_quat_rotate(m->q[i], pl_v3_sub(m->rest[j], m->rest_centre[i]));
            m->goal[j] = pl_v3_add(m->goal[j], pl_v3_add(m->centre[i], arm));
            m->goals[j]++;
        }
}

static void iterate(pl_matching *m)
{
    for (int i = 0; i < m->n; i++)
        match(m, i);
    pl_rotations_fit_double((size_t)m->n, m->c, &m->q[0].x);
    gather_goals(m);
    for (int i = 0; i < m->n; i++)
        if (!m->fixed[i])
            m->x[i] = pl_v3_scale(m->goal[i], 1.0 / m->goals[i]);
}

static pl_vec3 logarithm(pl_quat q)
{
    double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double angle = 2 * pl_atan2(sine, fabs(q.w));
    double scale = sine > 1e-12 ? angle / sine : 2;
    return pl_v3_scale((pl_vec3){q.x, q.y, q.z}, q.w < 0 ? -scale : scale);
}

static pl_quat turned(pl_quat q, pl_vec3 by)
{
    double angle = pl_v3_length(by);
    return angle > 0 ? pl_quat_mul(pl_quat_axis_angle(pl_v3_scale(by, 1 / angle), angle), q) : q;
}

void pl_matching_step(pl_matching *m, double h, const double gravity[3], double damping,
                      int iterations)
{
    double scale = 1 / m->model->unit, decay = pl_exp(-damping * h);
    pl_vec3 pull = {gravity[0] * scale, gravity[1] * scale, gravity[2] * scale};
    for (int i = 0; i < m->n; i++) {
        m->old_x[i] = m->x[i];
        m->old_q[i] = m->q[i];
        if (m->fixed[i])
            continue;
        m->x[i] = pl_v3_add_scaled(pl_v3_add_scaled(m->x[i], h, m->u[i]), h * h, pull);
        m->q[i] = pl_quat_normalise(turned(m->q[i], pl_v3_scale(m->w[i], h)));
    }
    for (int k = 0; k < iterations; k++)
        iterate(m);
    for (int i = 0; i < m->n; i++) {
        m->u[i] = pl_v3_scale(pl_v3_sub(m->x[i], m->old_x[i]), decay / h);
        m->w[i] =
            pl_v3_scale(logarithm(pl_quat_mul(m->q[i], pl_quat_conjugate(m->old_q[i]))), decay / h);
    }
}

void pl_matching_position(const pl_matching *m, int i, double out[3])
{
    const double *centre = m->model->centre;
    out[0] = m->x[i].x * m->model->unit + centre[0];
    out[1] = m->x[i].y * m->model->unit + centre[1];
    out[2] = m->x[i].z * m->model->unit + centre[2];
}

double pl_matching_speed(const pl_matching *m)
{
    double largest = 0;
    for (int i = 0; i < m->n; i++) {
        double speed = pl_v3_length(m->u[i]) * m->model->unit;
        largest = speed > largest ? speed : largest;
    }
    return largest;
}

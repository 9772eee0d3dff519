/* Poses as oriented particles see them (METHODS, "Rest-shape modifiers"): offsets and turns of the
   directed edges, the metric they are compared in, and the rotations that positions alone leave
   open. Set-up code, in doubles. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/quat.h"
#include "math/rotation_lanes.h"
#include "matter/posed.h"

/* ---- Rotations ------------------------------------------------------------------------------- */

typedef struct fit {
    const pl_model *model;
    const float *x;
    double *q;      /* [n][4] */
    int32_t *queue; /* [n] */
    uint8_t *known; /* [n] */
} fit;

static pl_quat get(const double *q)
{
    return (pl_quat){q[0], q[1], q[2], q[3]};
}

static void put(double *to, pl_quat q)
{
    to[0] = q.x, to[1] = q.y, to[2] = q.z, to[3] = q.w;
}

/* The rest offset of the edge at place p of particle i, from i on. */
static pl_vec3 rest_offset(const pl_model *model, int i, int p)
{
    const float *d = model->edge_offset + 3 * model->edge_of[p];
    double sign = model->edges[2 * model->edge_of[p]] == i ? 1 : -1;
    return pl_v3(sign * (double)d[0], sign * (double)d[1], sign * (double)d[2]);
}

static pl_vec3 offset(const float *x, int i, int j)
{
    return pl_v3((double)x[3 * j] - (double)x[3 * i], (double)x[3 * j + 1] - (double)x[3 * i + 1],
                 (double)x[3 * j + 2] - (double)x[3 * i + 2]);
}

static pl_mat3 moment_of(const pl_model *model, int i)
{
    const double *m = model->moments + 6 * i;
    return (pl_mat3){{{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}}};
}

/* Σ_j v_j (x_j − x_i) d̄ᵀ / |d̄|², and with `turns` the neighbours' rotations: C_i of the elastic
   energy. */
static pl_mat3 gather(const fit *f, int i, bool turns)
{
    const pl_model *model = f->model;
    pl_mat3 c = pl_m3_zero();
    for (int p = model->start[i]; p < model->start[i + 1]; p++) {
        int j = model->neighbour[p];
        pl_vec3 rest = rest_offset(model, i, p);
        double k = 1 / pl_v3_length2(rest);
        c = pl_m3_add_scaled(c, k * model->volumes[j], pl_m3_outer(offset(f->x, i, j), rest));
        if (turns)
            c = pl_m3_add_scaled(c, k,
                                 pl_m3_mul(pl_quat_to_m3(get(f->q + 4 * j)),
                                           pl_m3_add(moment_of(model, i), moment_of(model, j))));
    }
    return c;
}

/* From one particle to its neighbours: each starts as the one it was reached from, and turns as its
   offsets say. What these leave open (the twist of a straight piece) stays as it was, so that a rod
   carries its axes along without twisting. */
static void carry(fit *f, int first)
{
    const pl_model *model = f->model;
    int count = 0;
    f->queue[count++] = first;
    f->known[first] = 1;
    put(f->q + 4 * first, pl_quat_identity());
    for (int at = 0; at < count; at++) {
        int i = f->queue[at];
        pl_mat3 c = gather(f, i, false);
        pl_rotations_fit_double(1, &c.m[0][0], f->q + 4 * i);
        for (int p = model->start[i]; p < model->start[i + 1]; p++) {
            int j = model->neighbour[p];
            if (f->known[j])
                continue;
            f->known[j] = 1;
            memcpy(f->q + 4 * j, f->q + 4 * i, sizeof(double) * 4);
            f->queue[count++] = j;
        }
    }
}

/* Gauss–Seidel until nothing turns any more. */
static void relax(fit *f)
{
    enum { MOST_SWEEPS = 400 };
    const pl_model *model = f->model;
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double most = 0;
        for (int k = 0; k < model->particle_count; k++) {
            int i = model->order[sweep % 2 ? model->particle_count - 1 - k : k];
            pl_quat before = get(f->q + 4 * i);
            pl_mat3 c = gather(f, i, true);
            pl_rotations_fit_double(1, &c.m[0][0], f->q + 4 * i);
            pl_quat turn = pl_quat_mul(pl_quat_conjugate(before), get(f->q + 4 * i));
            most = fmax(most, turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
        }
        if (most < 1e-16)
            return;
    }
}

pl_status pl_posed_fit_rotations(pl_memory *memory, const pl_model *model, const float *x, float *q,
                                 pl_error *error)
{
    int n = model->particle_count;
    fit f = {.model = model,
             .x = x,
             .q = PL_NEW(memory, double, 4 * (size_t)n),
             .queue = PL_NEW(memory, int32_t, n),
             .known = PL_NEW(memory, uint8_t, n)};
    bool good = f.q && f.queue && f.known;
    if (good) {
        for (int i = 0; i < n; i++)
            if (!f.known[i])
                carry(&f, i);
        relax(&f);
        for (int i = 0; i < 4 * n; i++)
            q[i] = (float)f.q[i];
    }
    pl_memory_free(memory, f.q);
    pl_memory_free(memory, f.queue);
    pl_memory_free(memory, f.known);
    PL_CHECK(good, PL_ERROR_MEMORY, error, "", "no memory for the rotations of a pose");
    return PL_OK;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static pl_quat rotation_of(const float *q, int i)
{
    const float *r = q + 4 * i;
    return pl_quat_normalise((pl_quat){(double)r[0], (double)r[1], (double)r[2], (double)r[3]});
}

static pl_vec3 logarithm(pl_quat q)
{
    double sign = q.w < 0 ? -1 : 1;
    pl_vec3 v = pl_v3(sign * q.x, sign * q.y, sign * q.z);
    double length = pl_v3_length(v);
    return length > 0 ? pl_v3_scale(v, 2 * pl_atan2(length, fabs(q.w)) / length) : pl_v3(0, 0, 0);
}

static void describe_edge(const pl_model *model, int e, int i, int j, const float *x,
                          const float *q, float *out)
{
    const float *rest = model->edge_offset + 3 * e;
    float sign = model->edges[2 * e] == i ? 1.0f : -1.0f;
    pl_quat back = pl_quat_conjugate(rotation_of(q, i));
    pl_vec3 d = pl_quat_rotate(back, offset(x, i, j));
    pl_vec3 turn = logarithm(pl_quat_mul(back, rotation_of(q, j)));
    out[0] = (float)(d.x - (double)(sign * rest[0]));
    out[1] = (float)(d.y - (double)(sign * rest[1]));
    out[2] = (float)(d.z - (double)(sign * rest[2]));
    out[3] = (float)turn.x, out[4] = (float)turn.y, out[5] = (float)turn.z;
}

/* k (v_j I, tr(Ā_j) I − Ā_j), lower triangle. */
static void weigh_edge(const pl_model *model, double k, int j, float *out)
{
    const double *m = model->moments + 6 * j;
    const double turning[6] = {m[3] + m[5], -m[1], m[0] + m[5], -m[2], -m[4], m[0] + m[3]};
    memset(out, 0, sizeof *out * PL_POSED_METRIC);
    out[0] = out[2] = out[5] = (float)(k * model->volumes[j]);
    out[9] = (float)(k * turning[0]);
    out[13] = (float)(k * turning[1]), out[14] = (float)(k * turning[2]);
    out[18] = (float)(k * turning[3]), out[19] = (float)(k * turning[4]);
    out[20] = (float)(k * turning[5]);
}

/* Only proportions count, and floats have no room for units: the mean edge of the body has k =
   1. */
static double mean_stiffness(const pl_model *model, const pl_material *material)
{
    double sum = 0;
    for (int e = 0; e < model->edge_count; e++)
        sum += pl_edge_stiffness(model, material, e);
    return model->edge_count && sum > 0 ? sum / model->edge_count : 1;
}

pl_status pl_posed_describe(pl_memory *memory, const pl_model *model, const pl_material *material,
                            const float *edge_stiffness, const float *x, const float *q,
                            float *descriptors, float *metric, pl_error *error)
{
    int backward = pl_posed_backward(model->edge_count), all = pl_posed_element_count(model);
    float *fitted = NULL;
    if (!q) {
        fitted = PL_NEW(memory, float, 4 * (size_t)model->particle_count);
        PL_CHECK(fitted, PL_ERROR_MEMORY, error, "", "no memory for the rotations of a pose");
        pl_status status = pl_posed_fit_rotations(memory, model, x, fitted, error);
        if (status != PL_OK) {
            pl_memory_free(memory, fitted);
            return status;
        }
        q = fitted;
    }
    memset(descriptors, 0, sizeof *descriptors * PL_POSED_WIDTH * (size_t)all);
    if (metric)
        memset(metric, 0, sizeof *metric * PL_POSED_METRIC * (size_t)all);
    double unit = mean_stiffness(model, material);
    for (int e = 0; e < model->edge_count; e++) {
        int a = model->edges[2 * e], b = model->edges[2 * e + 1];
        size_t there = (size_t)e, back = (size_t)(backward + e);
        double k = pl_edge_stiffness(model, material, e) / unit *
                   (edge_stiffness ? (double)edge_stiffness[e] : 1);
        describe_edge(model, e, a, b, x, q, descriptors + PL_POSED_WIDTH * there);
        describe_edge(model, e, b, a, x, q, descriptors + PL_POSED_WIDTH * back);
        if (metric) {
            weigh_edge(model, k, b, metric + PL_POSED_METRIC * there);
            weigh_edge(model, k, a, metric + PL_POSED_METRIC * back);
        }
    }
    pl_memory_free(memory, fitted);
    return PL_OK;
}

int pl_posed_groups(const pl_model *model, const int32_t *particle_groups, int group_count,
                    bool local, int32_t *groups)
{
    int backward = pl_posed_backward(model->edge_count), all = pl_posed_element_count(model);
    for (int i = 0; i < all; i++)
        groups[i] = -1;
    for (int e = 0; e < 2 * model->edge_count; e++) {
        int i = model->edges[e];
        int32_t group = particle_groups ? particle_groups[i] : 0;
        groups[e % 2 ? backward + e / 2 : e / 2] = local && group >= 0 ? i : group;
    }
    return local ? model->particle_count : particle_groups ? group_count : 1;
}

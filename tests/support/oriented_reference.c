#include "support/oriented_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/reference_svd.h"
#include "support/check.h"

#define PI 3.14159265358979323846

/* ---- Matrices, row by row -------------------------------------------------------------------- */

static void *room(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

static void apply(const double m[9], const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = m[3 * k] * v[0] + m[3 * k + 1] * v[1] + m[3 * k + 2] * v[2];
}

/* out += s A B */
static void add_product(double s, const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                out[3 * i + j] += s * a[3 * i + k] * b[3 * k + j];
}

/* out += s a bᵀ */
static void add_outer(double s, const double a[3], const double b[3], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] += s * a[i] * b[j];
}

static double square3(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* ‖(A − B) H‖²_F */
static double turned_apart(const double a[9], const double b[9], const double half[9])
{
    double d[9], e[9] = {0}, sum = 0;
    for (int k = 0; k < 9; k++)
        d[k] = a[k] - b[k];
    add_product(1, d, half, e);
    for (int k = 0; k < 9; k++)
        sum += e[k] * e[k];
    return sum;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static void read_particles(oriented_problem *p, const oriented_case *c)
{
    size_t n = (size_t)p->n;
    double *orientation = room(4 * n, sizeof(double)), *radii = room(3 * n, sizeof(double));
    pl_model_read(c->model, PL_REST_POSITIONS, 0, p->n, pl_doubles(p->rest, 0));
    pl_model_read(c->model, PL_REST_ORIENTATIONS, 0, p->n, pl_doubles(orientation, 0));
    pl_model_read(c->model, PL_REST_RADII, 0, p->n, pl_doubles(radii, 0));
    for (size_t i = 0; i < n; i++) {
        const double *a = radii + 3 * i;
        double e[9];
        oriented_matrix(orientation + 4 * i, e);
        p->volume[i] = 4.0 / 3 * PI * a[0] * a[1] * a[2];
        p->density[i] =
            c->material.density * (c->particle_density ? (double)c->particle_density[i] : 1);
        p->mass[i] = p->density[i] * p->volume[i];
        for (int k = 0; k < 9; k++)
            p->half[9 * i + (size_t)k] = e[k] * sqrt(p->volume[i] / 5) * a[k % 3];
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    p->moment[9 * i + 3 * (size_t)j + (size_t)k] +=
                        p->half[9 * i + 3 * (size_t)j + (size_t)l] *
                        p->half[9 * i + 3 * (size_t)k + (size_t)l];
    }
    free(orientation);
    free(radii);
}

/* k_ij = D Y V / (Σ_edges (v_i + v_j)) / ‖x̄_j − x̄_i‖², or the raw k. */
static void read_edges(oriented_problem *p, const oriented_case *c)
{
    double claims = 0, volume = c->graph.volume;
    for (int i = 0; i < p->n && c->graph.volume == 0; i++)
        volume += p->volume[i];
    for (int e = 0; e < p->m; e++)
        claims += p->volume[p->edges[2 * e]] + p->volume[p->edges[2 * e + 1]];
    for (int e = 0; e < p->m; e++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = p->rest[3 * p->edges[2 * e + 1] + k] - p->rest[3 * p->edges[2 * e] + k];
        p->stiffness[e] = c->material.stiffness > 0 ? c->material.stiffness
                                                    : c->graph.dimension * c->material.young *
                                                          volume / claims / square3(d);
        p->stiffness[e] *= c->edge_stiffness ? (double)c->edge_stiffness[e] : 1;
    }
}

/* w_p = s Σ_j w_j L_jj and w_d = s Σ_j w_j Σ_l k_jl tr Ā_j. */
static double weight_of(const oriented_problem *p, const oriented_pull *pin, double strength)
{
    double sum = 0;
    for (int k = 0; k < pin->count; k++) {
        int j = pin->particle[k];
        const double *a = p->moment + 9 * j;
        double own = pin->kind == PL_PIN_POSITION ? p->mass[j] / (p->h * p->h) : 0;
        for (int e = 0; e < p->m; e++)
            if (p->edges[2 * e] == j || p->edges[2 * e + 1] == j)
                own += p->stiffness[e] *
                       (pin->kind == PL_PIN_POSITION
                            ? p->volume[p->edges[2 * e]] + p->volume[p->edges[2 * e + 1]]
                            : a[0] + a[4] + a[8]);
        sum += pin->weight[k] * own;
    }
    return strength * sum;
}

static oriented_pull read_pin(const oriented_problem *p, const pl_pin_def *def,
                              const double origin[3])
{
    oriented_pull pin = {.kind = def->kind, .count = def->count};
    bool position = def->kind == PL_PIN_POSITION;
    double sum = 0, rest = position ? 1 : sqrt(square3(def->rest)),
           target = position ? 1 : sqrt(square3(def->target));
    for (int k = 0; k < def->count; k++)
        sum += (double)def->weights[k];
    for (int k = 0; k < def->count; k++) {
        pin.particle[k] = def->particles[k];
        pin.weight[k] = (double)def->weights[k] / sum;
    }
    for (int k = 0; k < 3; k++) {
        pin.rest[k] = def->rest[k] / rest;
        pin.target[k] = def->target[k] / target - (position ? origin[k] : 0);
    }
    pin.w = weight_of(p, &pin, def->strength);
    return pin;
}

/* x* = x + h u + h² g, R* = R + h [ω]× R. */
static void aim(oriented_problem *p, const oriented_case *c, const pl_oriented *body)
{
    const pl_state *old = &body->old;
    double unit = body->system->key.model->unit, h = p->h;
    for (int i = 0; i < p->n; i++) {
        const float *f = old->q + 4 * i, *w = old->w + 3 * i;
        double q[4] = {(double)f[0], (double)f[1], (double)f[2], (double)f[3]}, r[9];
        double cross[9] = {0, -(double)w[2], (double)w[1],  (double)w[2],
                           0, -(double)w[0], -(double)w[1], (double)w[0],
                           0};
        oriented_matrix(q, r);
        memcpy(p->target_r + 9 * i, r, sizeof r);
        add_product(h, cross, r, p->target_r + 9 * i);
        for (int k = 0; k < 3; k++) {
            double force = c->forces ? c->forces[3 * i + k] : 0;
            p->target_x[3 * i + k] = (double)old->x[3 * i + k] * unit +
                                     h * (old->velocity[k] + (double)old->u[3 * i + k]) * unit +
                                     h * h * (c->gravity[k] + force / p->mass[i]);
        }
    }
}

oriented_problem oriented_make_problem(const oriented_case *c, const pl_oriented *body, bool pinned)
{
    size_t n = (size_t)c->graph.n, m = (size_t)c->graph.m;
    oriented_problem p = {.n = c->graph.n, .m = c->graph.m, .edges = c->graph.edges, .h = c->h};
    p.order = c->model->order;
    p.rest = room(3 * n, sizeof(double));
    p.volume = room(n, sizeof(double));
    p.density = room(n, sizeof(double));
    p.mass = room(n, sizeof(double));
    p.half = room(9 * n, sizeof(double));
    p.moment = room(9 * n, sizeof(double));
    p.stiffness = room(m, sizeof(double));
    p.target_x = room(3 * n, sizeof(double));
    p.target_r = room(9 * n, sizeof(double));
    p.fixed = room(n, sizeof(bool));
    read_particles(&p, c);
    read_edges(&p, c);
    aim(&p, c, body);
    for (int f = 0; f < c->fixed_count; f++)
        p.fixed[c->fixed[f]] = true;
    double origin[3];
    for (int k = 0; k < 3; k++)
        origin[k] = body->old.origin[k] * c->model->unit;
    p.pin_count = pinned ? c->pin_count : 0;
    for (int i = 0; i < p.pin_count; i++)
        p.pins[i] = read_pin(&p, c->pins + i, origin);
    return p;
}

void oriented_free_problem(oriented_problem *p)
{
    void *blocks[] = {p->rest,      p->volume,   p->density,  p->mass,  p->half,   p->moment,
                      p->stiffness, p->target_x, p->target_r, p->fixed, p->matrix, p->factor};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

void oriented_to_metres(const pl_oriented *body, double *x)
{
    for (int i = 0; i < 3 * body->n; i++)
        x[i] *= body->system->key.model->unit;
}

/* ---- Energy ---------------------------------------------------------------------------------- */

/* Σ_j w_j (R_j (v̄ − x̄_j) + x_j), or Σ_j w_j R_j n̄. */
static void pinned_point(const oriented_problem *p, const oriented_pull *pin, const double *x,
                         const double *r, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < pin->count; k++) {
        int j = pin->particle[k];
        double arm[3], turned[3];
        for (int d = 0; d < 3; d++)
            arm[d] = pin->rest[d] - (pin->kind == PL_PIN_POSITION ? p->rest[3 * j + d] : 0);
        apply(r + 9 * j, arm, turned);
        for (int d = 0; d < 3; d++)
            out[d] +=
                pin->weight[k] * (turned[d] + (pin->kind == PL_PIN_POSITION ? x[3 * j + d] : 0));
    }
}

/* One ordered pair (i, j): k/2 (‖(R_i − R_j) Ē_j A_j^½‖² + v_j ‖R_i (x̄_j − x̄_i) − (x_j −
   x_i)‖²). */
static double pair_energy(const oriented_problem *p, double k, int i, int j, const double *x,
                          const double *r)
{
    double rest[3], e[3];
    for (int d = 0; d < 3; d++)
        rest[d] = p->rest[3 * j + d] - p->rest[3 * i + d];
    apply(r + 9 * i, rest, e);
    for (int d = 0; d < 3; d++)
        e[d] -= x[3 * j + d] - x[3 * i + d];
    return k / 2 *
           (turned_apart(r + 9 * i, r + 9 * j, p->half + 9 * j) + p->volume[j] * square3(e));
}

oriented_terms oriented_energy(const oriented_problem *p, const double *x, const double *r)
{
    oriented_terms terms = {0};
    for (int i = 0; i < p->n; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = x[3 * i + k] - p->target_x[3 * i + k];
        terms.inertia +=
            (p->density[i] * turned_apart(r + 9 * i, p->target_r + 9 * i, p->half + 9 * i) +
             p->mass[i] * square3(d)) /
            (2 * p->h * p->h);
    }
    for (int e = 0; e < p->m; e++) {
        int a = p->edges[2 * e], b = p->edges[2 * e + 1];
        terms.elastic += pair_energy(p, p->stiffness[e], a, b, x, r) +
                         pair_energy(p, p->stiffness[e], b, a, x, r);
    }
    for (int c = 0; c < p->pin_count; c++) {
        const oriented_pull *pin = p->pins + c;
        double v[3], length = 1;
        pinned_point(p, pin, x, r, v);
        if (pin->kind == PL_PIN_DIRECTION)
            length = sqrt(square3(v));
        for (int k = 0; k < 3; k++)
            v[k] = v[k] / length - pin->target[k];
        terms.pins += pin->w / 2 * square3(v);
    }
    return terms;
}

double oriented_total(const oriented_problem *p, const double *x, const double *r)
{
    oriented_terms terms = oriented_energy(p, x, r);
    return terms.inertia + terms.elastic + terms.pins;
}

/* ---- Gradient: by x, and by the entries of R_i, which a turn then projects ------------------- */

/* Of ½ s ‖(A − B) H‖² by A: s (A − B) H Hᵀ. */
static void add_apart(double s, const double a[9], const double b[9], const double moment[9],
                      double by_a[9])
{
    double d[9];
    for (int k = 0; k < 9; k++)
        d[k] = a[k] - b[k];
    add_product(s, d, moment, by_a);
}

static void add_pair(const oriented_problem *p, double k, int i, int j, const double *x,
                     const double *r, double *gx, double *gr)
{
    double rest[3], e[3], s = k * p->volume[j];
    for (int d = 0; d < 3; d++)
        rest[d] = p->rest[3 * j + d] - p->rest[3 * i + d];
    apply(r + 9 * i, rest, e);
    for (int d = 0; d < 3; d++)
        e[d] -= x[3 * j + d] - x[3 * i + d];
    add_apart(k, r + 9 * i, r + 9 * j, p->moment + 9 * j, gr + 9 * i);
    add_apart(k, r + 9 * j, r + 9 * i, p->moment + 9 * j, gr + 9 * j);
    add_outer(s, e, rest, gr + 9 * i);
    for (int d = 0; d < 3; d++) {
        gx[3 * i + d] += s * e[d];
        gx[3 * j + d] -= s * e[d];
    }
}

static void add_pull(const oriented_problem *p, const oriented_pull *pin, const double *x,
                     const double *r, double *gx, double *gr)
{
    double v[3], e[3];
    pinned_point(p, pin, x, r, v);
    for (int d = 0; d < 3; d++)
        e[d] = v[d] - pin->target[d];
    if (pin->kind == PL_PIN_DIRECTION) { /* ½ ‖v/|v| − n‖² = 1 − v·n/|v| */
        double length = sqrt(square3(v)), along = 0;
        for (int d = 0; d < 3; d++)
            along += v[d] * pin->target[d];
        for (int d = 0; d < 3; d++)
            e[d] = -pin->target[d] / length + along * v[d] / (length * length * length);
    }
    for (int k = 0; k < pin->count; k++) {
        int j = pin->particle[k];
        double arm[3];
        for (int d = 0; d < 3; d++)
            arm[d] = pin->rest[d] - (pin->kind == PL_PIN_POSITION ? p->rest[3 * j + d] : 0);
        add_outer(pin->w * pin->weight[k], e, arm, gr + 9 * j);
        for (int d = 0; d < 3 && pin->kind == PL_PIN_POSITION; d++)
            gx[3 * j + d] += pin->w * pin->weight[k] * e[d];
    }
}

void oriented_gradient(const oriented_problem *p, const double *x, const double *r, double *g)
{
    double *gx = room(3 * (size_t)p->n, sizeof(double)),
           *gr = room(9 * (size_t)p->n, sizeof(double));
    double scale = 1 / (p->h * p->h);
    for (int i = 0; i < p->n; i++) {
        add_apart(scale * p->density[i], r + 9 * i, p->target_r + 9 * i, p->moment + 9 * i,
                  gr + 9 * i);
        for (int d = 0; d < 3; d++)
            gx[3 * i + d] += scale * p->mass[i] * (x[3 * i + d] - p->target_x[3 * i + d]);
    }
    for (int e = 0; e < p->m; e++) {
        add_pair(p, p->stiffness[e], p->edges[2 * e], p->edges[2 * e + 1], x, r, gx, gr);
        add_pair(p, p->stiffness[e], p->edges[2 * e + 1], p->edges[2 * e], x, r, gx, gr);
    }
    for (int c = 0; c < p->pin_count; c++)
        add_pull(p, p->pins + c, x, r, gx, gr);
    for (int i = 0; i < p->n; i++) {
        /* d/dθ_a of R is [e_a]× R: ⟨M, [e_a]× R⟩ = (M Rᵀ) in its antisymmetric part. */
        double n[9] = {0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int k = 0; k < 3; k++)
                    n[3 * a + b] += gr[9 * i + 3 * a + k] * r[9 * i + 3 * b + k];
        memcpy(g + 6 * i, gx + 3 * i, sizeof(double) * 3);
        g[6 * i + 3] = n[7] - n[5], g[6 * i + 4] = n[2] - n[6], g[6 * i + 5] = n[3] - n[1];
    }
    free(gx);
    free(gr);
}

/* ---- Local and global step ------------------------------------------------------------------- */

static void add_neighbour(const oriented_problem *p, double k, int i, int j, const double *x,
                          const double *r, double c[9])
{
    double d[3], rest[3], both[9];
    for (int m = 0; m < 9; m++)
        both[m] = p->moment[9 * i + m] + p->moment[9 * j + m];
    for (int m = 0; m < 3; m++) {
        d[m] = x[3 * j + m] - x[3 * i + m];
        rest[m] = p->rest[3 * j + m] - p->rest[3 * i + m];
    }
    add_product(k, r + 9 * j, both, c);
    add_outer(k * p->volume[j], d, rest, c);
}

/* t_i t̄_iᵀ or r_i r̄_iᵀ of particle number `slot` of a pin. */
static void add_grip(const oriented_problem *p, const oriented_pull *pin, int slot, const double *x,
                     const double *r, double c[9])
{
    int i = pin->particle[slot];
    double v[3], arm[3], own[3], t[3], w = pin->weight[slot], m = 1;
    pinned_point(p, pin, x, r, v);
    if (pin->kind == PL_PIN_DIRECTION)
        m = sqrt(square3(v));
    for (int d = 0; d < 3; d++)
        arm[d] = pin->rest[d] - (pin->kind == PL_PIN_POSITION ? p->rest[3 * i + d] : 0);
    apply(r + 9 * i, arm, own);
    for (int d = 0; d < 3; d++)
        t[d] = pin->target[d] - (v[d] - w * own[d]) / m;
    add_outer(pin->w * w / m, t, arm, c);
}

static void pull_matrix(const oriented_problem *p, int i, const double *x, const double *r,
                        double c[9])
{
    memset(c, 0, sizeof(double) * 9);
    add_product(p->density[i] / (p->h * p->h), p->target_r + 9 * i, p->moment + 9 * i, c);
    for (int e = 0; e < p->m; e++) {
        int a = p->edges[2 * e], b = p->edges[2 * e + 1];
        if (a == i || b == i)
            add_neighbour(p, p->stiffness[e], i, a == i ? b : a, x, r, c);
    }
    for (int k = 0; k < p->pin_count; k++)
        for (int s = 0; s < p->pins[k].count; s++)
            if (p->pins[k].particle[s] == i)
                add_grip(p, p->pins + k, s, x, r, c);
}

double oriented_local(const oriented_problem *p, const double *x, double *r)
{
    double worth = 1;
    for (int k = 0; k < p->n; k++) {
        int i = p->order[k];
        double c[9], u[9], s[3], v[9], *out = r + 9 * i, scale = 0;
        if (p->fixed[i])
            continue;
        pull_matrix(p, i, x, r, c);
        for (int m = 0; m < 9; m++)
            scale = fmax(scale, fabs(c[m]));
        for (int m = 0; m < 9; m++)
            c[m] /= scale;
        pl_test_svd(c, u, s, v);
        worth = fmin(worth, (s[1] + s[2]) / s[0]);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                out[3 * a + b] =
                    u[3 * a] * v[3 * b] + u[3 * a + 1] * v[3 * b + 1] + u[3 * a + 2] * v[3 * b + 2];
    }
    return worth;
}

bool oriented_cholesky(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        if (!(a[j * n + j] > 0))
            return false;
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / a[j * n + j];
        }
    }
    return true;
}

void oriented_cholesky_solve(int n, const double *l, int columns, double *b)
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < columns; c++) {
            for (int k = 0; k < i; k++)
                b[i * columns + c] -= l[i * n + k] * b[k * columns + c];
            b[i * columns + c] /= l[i * n + i];
        }
    for (int i = n - 1; i >= 0; i--)
        for (int c = 0; c < columns; c++) {
            for (int k = i + 1; k < n; k++)
                b[i * columns + c] -= l[k * n + i] * b[k * columns + c];
            b[i * columns + c] /= l[i * n + i];
        }
}

void oriented_make_matrix(oriented_problem *p)
{
    int n = p->n;
    if (p->matrix)
        return;
    double *l = p->matrix = room((size_t)n * (size_t)n, sizeof(double));
    for (int i = 0; i < n; i++)
        l[i * n + i] = p->mass[i] / (p->h * p->h);
    for (int e = 0; e < p->m; e++) {
        int a = p->edges[2 * e], b = p->edges[2 * e + 1];
        double s = p->stiffness[e] * (p->volume[a] + p->volume[b]);
        l[a * n + a] += s, l[b * n + b] += s;
        l[a * n + b] -= s, l[b * n + a] -= s;
    }
    for (int c = 0; c < p->pin_count; c++) {
        const oriented_pull *pin = p->pins + c;
        for (int j = 0; j < pin->count && pin->kind == PL_PIN_POSITION; j++)
            for (int k = 0; k < pin->count; k++)
                l[pin->particle[j] * n + pin->particle[k]] +=
                    pin->w * pin->weight[j] * pin->weight[k];
    }
}

void oriented_right_side(const oriented_problem *p, const double *x, const double *r, double *b)
{
    int n = p->n;
    for (int i = 0; i < 3 * n; i++)
        b[i] = p->mass[i / 3] / (p->h * p->h) * p->target_x[i];
    for (int e = 0; e < p->m; e++)
        for (int side = 0; side < 2; side++) {
            int i = p->edges[2 * e + side], j = p->edges[2 * e + 1 - side];
            double rest[3], own[3], other[3];
            for (int d = 0; d < 3; d++)
                rest[d] = p->rest[3 * i + d] - p->rest[3 * j + d];
            apply(r + 9 * i, rest, own);
            apply(r + 9 * j, rest, other);
            for (int d = 0; d < 3; d++)
                b[3 * i + d] += p->stiffness[e] * (p->volume[j] * own[d] + p->volume[i] * other[d]);
        }
    for (int c = 0; c < p->pin_count; c++) {
        const oriented_pull *pin = p->pins + c;
        double turned[3], v[3] = {0, 0, 0};
        for (int k = 0; k < pin->count && pin->kind == PL_PIN_POSITION; k++) {
            double arm[3];
            for (int d = 0; d < 3; d++)
                arm[d] = pin->rest[d] - p->rest[3 * pin->particle[k] + d];
            apply(r + 9 * pin->particle[k], arm, turned);
            for (int d = 0; d < 3; d++)
                v[d] += pin->weight[k] * turned[d];
        }
        for (int k = 0; k < pin->count && pin->kind == PL_PIN_POSITION; k++)
            for (int d = 0; d < 3; d++)
                b[3 * pin->particle[k] + d] += pin->w * pin->weight[k] * (pin->target[d] - v[d]);
    }
    for (int f = 0; f < n; f++)
        if (p->fixed[f])
            for (int i = 0; i < n; i++)
                for (int d = 0; d < 3 && !p->fixed[i]; d++)
                    b[3 * i + d] -= p->matrix[i * n + f] * x[3 * f + d];
    for (int f = 0; f < n; f++)
        for (int d = 0; d < 3 && p->fixed[f]; d++)
            b[3 * f + d] = x[3 * f + d];
}

void oriented_global(oriented_problem *p, double *x, const double *r)
{
    int n = p->n;
    oriented_make_matrix(p);
    if (!p->factor) {
        p->factor = room((size_t)n * (size_t)n, sizeof(double));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                p->factor[i * n + j] = p->fixed[i] || p->fixed[j] ? (i == j) : p->matrix[i * n + j];
        assert_true(oriented_cholesky(n, p->factor));
    }
    double *b = room(3 * (size_t)n, sizeof(double));
    oriented_right_side(p, x, r, b);
    oriented_cholesky_solve(n, p->factor, 3, b);
    memcpy(x, b, sizeof(double) * 3 * (size_t)n);
    free(b);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void centre_of(int n, const double *x, double centre[3])
{
    centre[0] = centre[1] = centre[2] = 0;
    for (int i = 0; i < 3 * n; i++)
        centre[i % 3] += x[i] / n;
}

double oriented_misfit(int n, const double *a, const double *b)
{
    double from[3], to[3], c[9] = {0}, u[9], s[3], v[9], worst = 0;
    centre_of(n, a, to);
    centre_of(n, b, from);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 9; j++)
            c[j] += (a[3 * i + j / 3] - to[j / 3]) * (b[3 * i + j % 3] - from[j % 3]);
    pl_test_svd(c, u, s, v);
    for (int i = 0; i < n; i++) {
        double d[3];
        for (int row = 0; row < 3; row++) {
            d[row] = to[row] - a[3 * i + row];
            for (int k = 0; k < 9; k++)
                d[row] +=
                    u[3 * row + k / 3] * v[3 * (k % 3) + k / 3] * (b[3 * i + k % 3] - from[k % 3]);
        }
        worst = fmax(worst, sqrt(square3(d)));
    }
    return worst;
}

/* ---- Newton ---------------------------------------------------------------------------------- */

static void turn_rotation(const double theta[3], double r[9])
{
    double angle = sqrt(square3(theta)), s = angle > 1e-9 ? sin(angle / 2) / angle : 0.5, by[9],
           out[9] = {0};
    double q[4] = {s * theta[0], s * theta[1], s * theta[2], cos(angle / 2)};
    oriented_matrix(q, by);
    add_product(1, by, r, out);
    memcpy(r, out, sizeof out);
}

/* y is scaled: angles times spacing. */
static void take(const oriented_problem *p, double spacing, const double *y, const double *x,
                 const double *r, double *x_out, double *r_out)
{
    memcpy(x_out, x, sizeof(double) * 3 * (size_t)p->n);
    memcpy(r_out, r, sizeof(double) * 9 * (size_t)p->n);
    for (int i = 0; i < p->n; i++) {
        double theta[3];
        for (int d = 0; d < 3; d++) {
            x_out[3 * i + d] += y[6 * i + d];
            theta[d] = y[6 * i + 3 + d] / spacing;
        }
        turn_rotation(theta, r_out + 9 * i);
    }
}

static void scaled_gradient(const oriented_problem *p, double spacing, const double *x,
                            const double *r, double *g)
{
    oriented_gradient(p, x, r, g);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 6; k++)
            g[6 * i + k] *= p->fixed[i] ? 0 : k < 3 ? 1 : 1 / spacing;
}

static void hessian(const oriented_problem *p, double spacing, const double *x, const double *r,
                    double *h)
{
    int size = 6 * p->n;
    size_t n = (size_t)p->n;
    double *y = room(6 * n, sizeof(double)), *a = room(6 * n, sizeof(double)),
           *b = room(6 * n, sizeof(double));
    double *x1 = room(3 * n, sizeof(double)), *r1 = room(9 * n, sizeof(double)),
           step = 1e-5 * spacing;
    for (int i = 0; i < size; i++) {
        y[i] = step;
        take(p, spacing, y, x, r, x1, r1);
        scaled_gradient(p, spacing, x1, r1, a);
        y[i] = -step;
        take(p, spacing, y, x, r, x1, r1);
        scaled_gradient(p, spacing, x1, r1, b);
        y[i] = 0;
        for (int j = 0; j < size; j++)
            h[i * size + j] = (a[j] - b[j]) / (2 * step);
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            h[i * size + j] = h[j * size + i] = 0.5 * (h[i * size + j] + h[j * size + i]);
    for (int i = 0; i < size; i++)
        if (p->fixed[i / 6]) {
            for (int j = 0; j < size; j++)
                h[i * size + j] = h[j * size + i] = 0;
            h[i * size + i] = 1;
        }
    free(y), free(a), free(b), free(x1), free(r1);
}

static bool damped_solve(int size, const double *h, double mu, const double *g, double *factor,
                         double *step)
{
    memcpy(factor, h, sizeof(double) * (size_t)size * (size_t)size);
    for (int i = 0; i < size; i++) {
        factor[i * size + i] += mu;
        step[i] = -g[i];
    }
    if (!oriented_cholesky(size, factor))
        return false;
    oriented_cholesky_solve(size, factor, 1, step);
    return true;
}

double oriented_newton(const oriented_problem *p, int iterations, double spacing, double *x,
                       double *r, bool *is_minimum)
{
    int size = 6 * p->n;
    size_t n = (size_t)p->n, count = (size_t)size;
    double *h = room(count * count, sizeof(double)), *factor = room(count * count, sizeof(double));
    double *g = room(count, sizeof(double)), *step = room(count, sizeof(double));
    double *x1 = room(3 * n, sizeof(double)), *r1 = room(9 * n, sizeof(double)), largest = 0,
           mu = 0, scale = 0;
    for (int k = 0; k < iterations; k++) {
        double energy = oriented_total(p, x, r);
        scaled_gradient(p, spacing, x, r, g);
        hessian(p, spacing, x, r, h);
        scale = 0;
        for (int i = 0; i < size; i++)
            scale = fmax(scale, h[i * size + i]);
        bool taken = false;
        for (int attempt = 0; attempt < 40 && !taken; attempt++) {
            if (damped_solve(size, h, mu, g, factor, step)) {
                largest = 0;
                for (int i = 0; i < size; i++)
                    largest = fmax(largest, fabs(step[i]));
                take(p, spacing, step, x, r, x1, r1);
                /* Within rounding of the same energy a small step is a good one. */
                double change = oriented_total(p, x1, r1) - energy;
                taken = largest < 0.3 * spacing &&
                        (change < 0 || (largest < 1e-6 * spacing && change < 1e-12 * energy));
            }
            if (!taken)
                mu = fmax(4 * mu, 1e-6 * scale);
        }
        if (!taken)
            break;
        memcpy(x, x1, sizeof(double) * 3 * n);
        memcpy(r, r1, sizeof(double) * 9 * n);
        mu = mu < 1e-9 * scale ? 0 : mu / 10;
        if (mu == 0 && largest < 1e-10 * spacing)
            break;
    }
    if (is_minimum) {
        hessian(p, spacing, x, r, h);
        *is_minimum = damped_solve(size, h, 1e-7 * scale, g, factor, step);
    }
    free(h), free(factor), free(g), free(step), free(x1), free(r1);
    return largest;
}

#include "support/oriented_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_env.h"
#include "support/check.h"
#include "world/world.h"

#define PI 3.14159265358979323846

int oriented_cases(int full)
{
    if (check_is_thorough())
        return full;
    if (check_is_slow_build())
        return full > 20 ? full / 20 : 1;
    return full > 20 ? full / 3 : full;
}

/* ---- Random numbers -------------------------------------------------------------------------- */

double oriented_uniform(pl_rng *rng, double low, double high)
{
    return low + (high - low) * pl_random_double(rng);
}

double oriented_decades(pl_rng *rng, double low, double high)
{
    return pow(10, oriented_uniform(rng, low, high));
}

double oriented_normal(pl_rng *rng)
{
    double a = pl_random_double(rng), b = pl_random_double(rng);
    return sqrt(-2 * log(1 - a)) * cos(2 * PI * b);
}

bool oriented_chance(pl_rng *rng, double probability)
{
    return pl_random_double(rng) < probability;
}

void oriented_random_quat(pl_rng *rng, double q[4])
{
    double length = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = oriented_normal(rng);
        length += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++)
        q[k] /= sqrt(length);
}

void oriented_random_direction(pl_rng *rng, double v[3])
{
    double length = 0;
    for (int k = 0; k < 3; k++) {
        v[k] = oriented_normal(rng);
        length += v[k] * v[k];
    }
    for (int k = 0; k < 3; k++)
        v[k] /= sqrt(length);
}

void oriented_matrix(const double q[4], double r[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3], s = 2 / (x * x + y * y + z * z + w * w);
    r[0] = 1 - s * (y * y + z * z), r[1] = s * (x * y - z * w), r[2] = s * (x * z + y * w);
    r[3] = s * (x * y + z * w), r[4] = 1 - s * (x * x + z * z), r[5] = s * (y * z - x * w);
    r[6] = s * (x * z - y * w), r[7] = s * (y * z + x * w), r[8] = 1 - s * (x * x + y * y);
}

static void turn(const double r[9], double v[3])
{
    double a = v[0], b = v[1], c = v[2];
    for (int k = 0; k < 3; k++)
        v[k] = r[3 * k] * a + r[3 * k + 1] * b + r[3 * k + 2] * c;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static void *room(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void reserve(oriented_graph *g, int n, int edges)
{
    g->n = n;
    g->rest = room((size_t)n * 3, sizeof(double));
    g->orientation = room((size_t)n * 4, sizeof(double));
    g->radii = room((size_t)n * 3, sizeof(double));
    g->edges = room((size_t)edges * 2, sizeof(int32_t));
}

static void join(oriented_graph *g, int a, int b)
{
    g->edges[2 * g->m] = a;
    g->edges[2 * g->m++ + 1] = b;
}

/* Turns and rings keep to the first `dimension` axes, up to some jitter in them. */
static void grow_chain(pl_rng *rng, oriented_graph *g)
{
    double heading[3] = {1, 0, 0};
    for (int i = 1; i < g->n; i++) {
        for (int k = 0; k < g->dimension && g->dimension > 1; k++)
            heading[k] += 0.4 * oriented_normal(rng);
        double length =
            sqrt(heading[0] * heading[0] + heading[1] * heading[1] + heading[2] * heading[2]);
        double step = oriented_uniform(rng, 0.6, 1.4);
        for (int k = 0; k < 3; k++) {
            heading[k] /= length;
            g->rest[3 * i + k] = g->rest[3 * i - 3 + k] + step * heading[k];
        }
        join(g, i - 1, i);
    }
}

static void grow_ring(pl_rng *rng, oriented_graph *g)
{
    double radius = g->n / (2 * PI);
    for (int i = 0; i < g->n; i++) {
        double angle = 2 * PI * (i + oriented_uniform(rng, -0.2, 0.2)) / g->n;
        g->rest[3 * i] = radius * cos(angle);
        g->rest[3 * i + 1] = g->dimension > 1 ? radius * sin(angle) : 0;
        g->rest[3 * i + 2] = g->dimension > 2 ? 0.3 * oriented_normal(rng) : 0;
        if (g->dimension == 1) /* there and back on a line */
            g->rest[3 * i] = i < (g->n + 1) / 2 ? i : g->n - i - 0.45;
    }
    for (int i = 0; i < g->n && g->n > 1; i++)
        if (g->n > 2 || i == 0)
            join(g, i, (i + 1) % g->n);
}

static void grow_tree(pl_rng *rng, oriented_graph *g)
{
    for (int i = 1; i < g->n; i++) {
        int parent = (int)pl_random_below(rng, (uint32_t)i);
        double v[3];
        oriented_random_direction(rng, v);
        double step = oriented_uniform(rng, 0.6, 1.4), length = 0;
        for (int k = 0; k < g->dimension; k++)
            length += v[k] * v[k];
        for (int k = 0; k < 3; k++)
            g->rest[3 * i + k] =
                g->rest[3 * parent + k] + (k < g->dimension ? step * v[k] / sqrt(length) : 0);
        join(g, oriented_chance(rng, 0.5) ? i : parent, 0);
        int32_t *edge = g->edges + 2 * (g->m - 1);
        edge[1] = edge[0] == i ? parent : i;
    }
}

static void grow_grid(pl_rng *rng, oriented_graph *g, const int size[3])
{
    for (int i = 0; i < g->n; i++) {
        int at[3] = {i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
        for (int k = 0; k < g->dimension; k++)
            g->rest[3 * i + k] = at[k] + 0.1 * oriented_normal(rng) * (g->dimension > 1);
        for (int k = 0, stride = 1; k < 3; stride *= size[k], k++)
            if (at[k] + 1 < size[k])
                join(g, i, i + stride);
    }
}

static void grow_cloud(pl_rng *rng, oriented_graph *g)
{
    double side = g->dimension == 1 ? 0.8 * g->n : pow(g->n * 0.7, 1.0 / g->dimension) + 0.3;
    for (int i = 0; i < g->n; i++) {
        double nearest = 0;
        int closest = 0;
        for (int attempt = 0; attempt < 200 && nearest < 0.35; attempt++) {
            nearest = INFINITY;
            for (int k = 0; k < g->dimension; k++)
                g->rest[3 * i + k] = oriented_uniform(rng, 0, side);
            for (int j = 0; j < i; j++)
                if (distance(g->rest + 3 * i, g->rest + 3 * j) < nearest) {
                    nearest = distance(g->rest + 3 * i, g->rest + 3 * j);
                    closest = j;
                }
        }
        for (int j = 0; j < i; j++)
            if (j == closest || distance(g->rest + 3 * i, g->rest + 3 * j) < 1.1)
                join(g, j, i);
    }
}

static void measure(oriented_graph *g)
{
    double sum = 0;
    g->size = g->n == 1 ? g->radii[0] : 0;
    for (int i = 0; i < g->n; i++)
        for (int j = 0; j < i; j++)
            g->size = fmax(g->size, distance(g->rest + 3 * i, g->rest + 3 * j));
    for (int e = 0; e < g->m; e++)
        sum += distance(g->rest + 3 * g->edges[2 * e], g->rest + 3 * g->edges[2 * e + 1]);
    g->spacing = g->m ? sum / g->m : g->radii[0];
}

/* Ellipsoids of up to aspect 4, turned anyhow; then the whole thing turned, scaled and moved. */
static void dress(pl_rng *rng, oriented_graph *g)
{
    double q[4], r[9], scale = oriented_decades(rng, -2, 1), shift[3];
    bool turned = oriented_chance(rng, 0.7), spheres = oriented_chance(rng, 0.2),
         aligned = oriented_chance(rng, 0.3);
    oriented_random_quat(rng, q);
    oriented_matrix(q, r);
    for (int k = 0; k < 3; k++)
        shift[k] = oriented_chance(rng, 0.5) ? 0 : scale * oriented_uniform(rng, -5, 5);
    for (int i = 0; i < g->n; i++) {
        double radius = oriented_uniform(rng, 0.2, 0.6);
        if (turned)
            turn(r, g->rest + 3 * i);
        for (int k = 0; k < 3; k++) {
            g->rest[3 * i + k] = g->rest[3 * i + k] * scale + shift[k];
            g->radii[3 * i + k] =
                scale * (spheres ? radius : radius * oriented_decades(rng, -0.3, 0.3));
        }
        oriented_random_quat(rng, g->orientation + 4 * i);
        if (aligned)
            memcpy(g->orientation + 4 * i, (double[4]){0, 0, 0, 1}, sizeof(double) * 4);
    }
    measure(g);
}

static void choose_grid(pl_rng *rng, int dimension, int most, int size[3])
{
    size[0] = size[1] = size[2] = 1;
    int limit = dimension == 1 ? most : dimension == 2 ? 7 : 4;
    for (int k = 0; k < dimension; k++) {
        int left = most / (size[0] * size[1]);
        int bound = limit < left ? limit : left;
        size[k] = 1 + (int)pl_random_below(rng, (uint32_t)(bound > 0 ? bound : 1));
    }
}

oriented_graph oriented_random_graph(pl_rng *rng, oriented_kind kind, int dimension, int most)
{
    oriented_graph g = {.dimension = dimension ? dimension : 1 + (int)pl_random_below(rng, 3)};
    int size[3], n = 1 + (int)pl_random_below(rng, (uint32_t)most);
    choose_grid(rng, g.dimension, most, size);
    if (kind == ORIENTED_GRID)
        n = size[0] * size[1] * size[2];
    reserve(&g, n, n * n / 2 + 3);
    switch (kind) {
    case ORIENTED_RING:
        grow_ring(rng, &g);
        break;
    case ORIENTED_TREE:
        grow_tree(rng, &g);
        break;
    case ORIENTED_GRID:
        grow_grid(rng, &g, size);
        break;
    case ORIENTED_CLOUD:
        grow_cloud(rng, &g);
        break;
    default:
        grow_chain(rng, &g);
        break;
    }
    dress(rng, &g);
    return g;
}

static void copy_scalars(pl_buffer from, int count, int scalars, double *to)
{
    size_t stride = from.stride ? from.stride : (size_t)scalars * sizeof(double);
    for (int i = 0; i < count; i++)
        memcpy(to + (size_t)(i * scalars), (const char *)from.data + (size_t)i * stride,
               (size_t)scalars * sizeof(double));
}

oriented_graph oriented_shape_graph(pl_shape_kind kind, int nx, int ny, int nz)
{
    pl_shape_def def = pl_default_shape_def(kind);
    def.count[0] = nx, def.count[1] = ny, def.count[2] = nz;
    pl_shape *shape;
    pl_error error = {0};
    if (pl_shape_create(&def, &shape, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_def model = pl_shape_model_def(shape);
    oriented_graph g = {.dimension = model.dimension, .volume = model.volume};
    reserve(&g, model.particle_count, model.edge_count);
    g.m = model.edge_count;
    copy_scalars(model.positions, g.n, 3, g.rest);
    copy_scalars(model.orientations, g.n, 4, g.orientation);
    copy_scalars(model.radii, g.n, 3, g.radii);
    memcpy(g.edges, model.edges, sizeof(int32_t) * 2 * (size_t)g.m);
    pl_shape_destroy(shape);
    measure(&g);
    return g;
}

oriented_graph oriented_scaled_graph(const oriented_graph *graph, double factor)
{
    oriented_graph g = *graph;
    reserve(&g, g.n, g.m);
    memcpy(g.orientation, graph->orientation, sizeof(double) * 4 * (size_t)g.n);
    memcpy(g.edges, graph->edges, sizeof(int32_t) * 2 * (size_t)g.m);
    for (int i = 0; i < 3 * g.n; i++) {
        g.rest[i] = graph->rest[i] * factor;
        g.radii[i] = graph->radii[i] * factor;
    }
    g.volume *= factor * factor * factor;
    g.size *= factor;
    g.spacing *= factor;
    return g;
}

void oriented_free_graph(oriented_graph *g)
{
    free(g->rest);
    free(g->orientation);
    free(g->radii);
    free(g->edges);
}

pl_model *oriented_model(const oriented_graph *g)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = g->n;
    def.positions = pl_doubles(g->rest, 0);
    def.orientations = pl_doubles(g->orientation, 0);
    def.radii = pl_doubles(g->radii, 0);
    def.edge_count = g->m;
    def.edges = g->edges;
    def.dimension = g->dimension;
    def.volume = g->volume;
    pl_model *model;
    pl_error error = {0};
    if (pl_model_create(&def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

/* ---- What is done to a graph ----------------------------------------------------------------- */

oriented_case oriented_plain_case(oriented_graph graph, double h, double kappa)
{
    oriented_case c = {
        .graph = graph,
        .h = h,
        .material = {.stiffness = kappa * 1000 / (h * h), .young = 1, .density = 1000},
        .rotation = {0, 0, 0, 1},
        .iterations = 10,
        .stiff_iterations = 1};
    c.model = oriented_model(&graph);
    c.fixed = room((size_t)graph.n, sizeof(int32_t));
    c.pins = room(64, sizeof(pl_pin_def));
    return c;
}

void oriented_free_case(oriented_case *c)
{
    free(c->edge_stiffness);
    free(c->particle_density);
    free(c->fixed);
    free(c->pins);
    free(c->forces);
    pl_model_release(c->model);
    oriented_free_graph(&c->graph);
}

void oriented_paint(pl_rng *rng, oriented_case *c)
{
    c->edge_stiffness = room((size_t)c->graph.m, sizeof(float));
    c->particle_density = room((size_t)c->graph.n, sizeof(float));
    for (int e = 0; e < c->graph.m; e++)
        c->edge_stiffness[e] = (float)oriented_decades(rng, -0.5, 0.5);
    for (int i = 0; i < c->graph.n; i++)
        c->particle_density[i] = (float)oriented_decades(rng, -0.5, 0.5);
}

void oriented_fix_some(pl_rng *rng, oriented_case *c, int most)
{
    int count = 1 + (int)pl_random_below(rng, (uint32_t)most);
    for (int k = 0; k < count && c->fixed_count < c->graph.n; k++) {
        int32_t i = (int32_t)pl_random_below(rng, (uint32_t)c->graph.n);
        bool known = false;
        for (int j = 0; j < c->fixed_count; j++)
            known = known || c->fixed[j] == i;
        if (!known)
            c->fixed[c->fixed_count++] = i;
    }
}

/* Newtons that move a particle by some tenths of the spacing in one step. */
void oriented_push_some(pl_rng *rng, oriented_case *c)
{
    double volume = 4.0 / 3 * PI * c->graph.radii[0] * c->graph.radii[1] * c->graph.radii[2];
    double force = 0.2 * volume * c->material.density * c->graph.spacing / (c->h * c->h);
    c->forces = room((size_t)c->graph.n * 3, sizeof(double));
    for (int i = 0; i < 3 * c->graph.n; i++)
        c->forces[i] = oriented_chance(rng, 0.5) ? force * oriented_normal(rng) : 0;
}

/* The `count` particles nearest to one chosen at random. */
static void choose_carriers(pl_rng *rng, const oriented_graph *g, int count, int32_t *out)
{
    int centre = (int)pl_random_below(rng, (uint32_t)g->n);
    bool anywhere = oriented_chance(rng, 0.15);
    for (int k = 0; k < count; k++) {
        double best = INFINITY;
        for (int i = 0; i < g->n; i++) {
            bool known = false;
            for (int j = 0; j < k; j++)
                known = known || out[j] == i;
            double d =
                anywhere ? pl_random_double(rng) : distance(g->rest + 3 * i, g->rest + 3 * centre);
            if (!known && d < best) {
                best = d;
                out[k] = i;
            }
        }
    }
}

pl_pin_def oriented_random_pin(pl_rng *rng, const oriented_case *c, pl_pin_kind kind)
{
    const oriented_graph *g = &c->graph;
    pl_pin_def pin = pl_default_pin_def(kind);
    int most = g->n < PL_MAX_INFLUENCES ? g->n : PL_MAX_INFLUENCES;
    pin.count = oriented_chance(rng, 0.4) ? 1 : 1 + (int)pl_random_below(rng, (uint32_t)most);
    choose_carriers(rng, g, pin.count, pin.particles);
    pin.strength = oriented_decades(rng, -2, 4);
    double far = oriented_chance(rng, 0.3) ? 3 : 0.3;
    const double *first = g->rest + 3 * pin.particles[0];
    bool on_particle = pin.count == 1 && oriented_chance(rng, 0.5);
    double r[9], at[3];
    oriented_matrix(c->rotation, r);
    for (int j = 0; j < pin.count; j++)
        pin.weights[j] = (float)oriented_uniform(rng, 0.1, 1);
    for (int k = 0; k < 3; k++)
        at[k] = pin.rest[k] =
            first[k] + (on_particle ? 0 : 0.5 * g->spacing * oriented_normal(rng));
    turn(r, at);
    for (int k = 0; k < 3; k++)
        pin.target[k] = c->position[k] + at[k] + far * g->spacing * oriented_normal(rng);
    if (kind == PL_PIN_DIRECTION) {
        oriented_random_direction(rng, pin.rest);
        oriented_random_direction(rng, pin.target);
    }
    return pin;
}

void oriented_add_pin(oriented_case *c, const pl_pin_def *pin)
{
    assert_true(c->pin_count < 64);
    c->pins[c->pin_count++] = *pin;
}

void oriented_hold_lightly(oriented_case *c)
{
    if (c->pin_count || c->fixed_count)
        return;
    pl_pin_def pin = pl_default_pin_def(PL_PIN_POSITION);
    double r[9];
    pin.count = 1;
    pin.weights[0] = 1;
    pin.strength = 1e-12;
    memcpy(pin.rest, c->graph.rest, sizeof pin.rest);
    memcpy(pin.target, c->graph.rest, sizeof pin.target);
    oriented_matrix(c->rotation, r);
    turn(r, pin.target);
    for (int k = 0; k < 3; k++)
        pin.target[k] += c->position[k];
    oriented_add_pin(c, &pin);
}

void oriented_drop_pin(oriented_case *c, int index)
{
    c->pin_count--;
    memmove(c->pins + index, c->pins + index + 1, sizeof *c->pins * (size_t)(c->pin_count - index));
}

oriented_case oriented_random_case(pl_rng *rng, int most, double low, double high, bool directions)
{
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 240, 0.01};
    oriented_graph g =
        oriented_random_graph(rng, (oriented_kind)pl_random_below(rng, ORIENTED_KINDS), 0, most);
    double kappa = oriented_decades(rng, log10(low), log10(high));
    oriented_case c = oriented_plain_case(g, steps[pl_random_below(rng, 4)], kappa);
    if (oriented_chance(rng, 0.5))
        oriented_paint(rng, &c);
    if (oriented_chance(rng, 0.4))
        oriented_fix_some(rng, &c, 1 + g.n / 4);
    if (oriented_chance(rng, 0.2))
        oriented_push_some(rng, &c);
    for (int k = 0; k < 3 && oriented_chance(rng, 0.6); k++)
        c.gravity[k] = 0.1 * g.spacing / (c.h * c.h) * oriented_normal(rng);
    oriented_random_quat(rng, c.rotation);
    if (oriented_chance(rng, 0.5))
        memcpy(c.rotation, (double[4]){0, 0, 0, 1}, sizeof c.rotation);
    for (int k = 0; k < 3; k++)
        c.position[k] = oriented_chance(rng, 0.5) ? 0 : 1000 * g.spacing * oriented_normal(rng);
    while (oriented_chance(rng, 0.45) && c.pin_count < 20) {
        pl_pin_def pin = oriented_random_pin(rng, &c, PL_PIN_POSITION);
        oriented_add_pin(&c, &pin);
    }
    while (directions && oriented_chance(rng, 0.5) && c.pin_count < 24) {
        pl_pin_def pin = oriented_random_pin(rng, &c, PL_PIN_DIRECTION);
        oriented_add_pin(&c, &pin);
    }
    return c;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

static void multiply(const double a[4], const double b[4], double out[4])
{
    double q[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
                   a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
                   a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
                   a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, q, sizeof q);
}

static void turn_by(const double v[3], double q[4])
{
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double s = angle > 1e-12 ? sin(angle / 2) / angle : 0.5,
           by[4] = {s * v[0], s * v[1], s * v[2], cos(angle / 2)};
    multiply(by, q, q);
}

static void deform(pl_rng *rng, const oriented_graph *g, oriented_pose_kind kind,
                   oriented_pose *pose)
{
    double centre[3] = {0, 0, 0}, map[9], wave[3][3], shift[3];
    double little = oriented_decades(rng, -5, -1);
    bool random_turns = oriented_chance(rng, 0.5);
    for (int i = 0; i < 3 * g->n; i++)
        centre[i % 3] += g->rest[i] / g->n;
    for (int k = 0; k < 9; k++) {
        map[k] = (k % 4 == 0 ? oriented_uniform(rng, 0.4, 1.8) : 0.3 * oriented_normal(rng));
        wave[k / 3][k % 3] = oriented_normal(rng) / (g->size > 0 ? g->size : 1);
    }
    for (int k = 0; k < 3; k++)
        shift[k] = g->spacing * oriented_normal(rng);
    for (int i = 0; i < g->n; i++) {
        double *x = pose->x + 3 * i, *q = pose->q + 4 * i, d[3], v[3];
        for (int k = 0; k < 3; k++)
            d[k] = x[k] - centre[k];
        for (int k = 0; k < 3; k++)
            v[k] = sin(wave[k][0] * d[0] + wave[k][1] * d[1] + wave[k][2] * d[2] + k);
        switch (kind) {
        case ORIENTED_NEAR:
            for (int k = 0; k < 3; k++) {
                x[k] += little * g->spacing * oriented_normal(rng);
                v[k] = little * oriented_normal(rng);
            }
            turn_by(v, q);
            break;
        case ORIENTED_STRETCHED:
            turn(map, d);
            for (int k = 0; k < 3; k++)
                x[k] = centre[k] + d[k];
            break;
        case ORIENTED_BENT:
            for (int k = 0; k < 3; k++)
                x[k] += 0.3 * g->size * v[(k + 1) % 3];
            turn_by(v, q);
            break;
        case ORIENTED_SCRAMBLED:
            for (int k = 0; k < 3; k++)
                x[k] = centre[k] + g->size * oriented_uniform(rng, -0.5, 0.5);
            oriented_random_quat(rng, q);
            break;
        case ORIENTED_COLLAPSED:
            for (int k = 0; k < 3; k++)
                x[k] = centre[k] + shift[k];
            if (random_turns)
                oriented_random_quat(rng, q);
            break;
        case ORIENTED_MIRRORED:
            x[0] = centre[0] - d[0];
            if (random_turns)
                oriented_random_quat(rng, q);
            break;
        default:
            break;
        }
    }
}

static void set_in_motion(pl_rng *rng, const oriented_case *c, double speed, oriented_pose *pose)
{
    double v[3], spin[3];
    for (int k = 0; k < 3; k++) {
        v[k] = speed * c->graph.spacing / c->h * oriented_normal(rng);
        spin[k] = speed / c->h * oriented_normal(rng);
    }
    bool own = oriented_chance(rng, 0.5);
    for (int i = 0; i < 3 * pose->n; i++) {
        pose->u[i] = v[i % 3] + 0.3 * speed * own * c->graph.spacing / c->h * oriented_normal(rng);
        pose->w[i] = spin[i % 3] + 0.3 * speed * own / c->h * oriented_normal(rng);
    }
}

oriented_pose oriented_make_pose(pl_rng *rng, const oriented_case *c, oriented_pose_kind kind)
{
    size_t n = (size_t)c->graph.n;
    oriented_pose pose = {.n = c->graph.n,
                          .x = room(3 * n, sizeof(double)),
                          .q = room(4 * n, sizeof(double)),
                          .u = room(3 * n, sizeof(double)),
                          .w = room(3 * n, sizeof(double))};
    double r[9];
    memcpy(pose.x, c->graph.rest, sizeof(double) * 3 * n);
    for (size_t i = 0; i < n; i++)
        pose.q[4 * i + 3] = 1;
    deform(rng, &c->graph, kind, &pose);
    oriented_matrix(c->rotation, r);
    for (size_t i = 0; i < n; i++) {
        turn(r, pose.x + 3 * i);
        multiply(c->rotation, pose.q + 4 * i, pose.q + 4 * i);
        for (int k = 0; k < 3; k++)
            pose.x[3 * i + (size_t)k] += c->position[k];
    }
    if (kind == ORIENTED_MOVING || (kind != ORIENTED_REST && oriented_chance(rng, 0.3)))
        set_in_motion(rng, c, kind == ORIENTED_MOVING ? 0.5 : 0.1, &pose);
    return pose;
}

void oriented_free_pose(oriented_pose *pose)
{
    free(pose->x);
    free(pose->q);
    free(pose->u);
    free(pose->w);
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

static void enter_body(oriented_scene *scene, pl_solver solver, int index, bool pinned)
{
    const oriented_case *c = scene->of;
    pl_body_def def = pl_default_body_def(c->model);
    def.mask = 0; /* matter alone */
    def.self_contact = false;
    pl_error error = {0};
    def.material = c->material;
    def.edge_stiffness = c->edge_stiffness;
    def.particle_density = c->particle_density;
    def.solver = solver;
    def.fixed = c->fixed;
    def.fixed_count = c->fixed_count;
    memcpy(def.position, c->position, sizeof def.position);
    memcpy(def.rotation, c->rotation, sizeof def.rotation);
    if (pl_body_create(scene->world, &def, scene->bodies + index, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    for (int p = 0; p < c->pin_count && pinned; p++)
        if (pl_pin_create(scene->world, scene->bodies[index], c->pins + p, scene->pins[index] + p,
                          &error) != PL_OK)
            fail_msg("%s: %s", error.where, error.text);
}

oriented_scene oriented_make_scene(const oriented_case *c, pl_solver solver, int count,
                                   const bool *pinned)
{
    oriented_scene scene = {.of = c, .count = count};
    pl_world_def def = pl_default_world_def();
    def.step = c->h;
    def.iterations = c->iterations;
    def.stiff_iterations = c->stiff_iterations;
    memcpy(def.gravity, c->gravity, sizeof def.gravity);
    pl_error error = {0};
    if (pl_world_create(&def, &scene.world, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    scene.bodies = room((size_t)count, sizeof *scene.bodies);
    scene.pins = room((size_t)count, sizeof *scene.pins);
    for (int i = 0; i < count; i++)
        enter_body(&scene, solver, i, !pinned || pinned[i]);
    return scene;
}

void oriented_free_scene(oriented_scene *scene)
{
    pl_world_destroy(scene->world);
    free(scene->bodies);
    free(scene->pins);
    free(scene->scratch);
}

pl_oriented *oriented_matter(const oriented_scene *scene, int body)
{
    return &pl_world_record(scene->world, scene->bodies[body])->matter;
}

void oriented_set_pose(const oriented_scene *scene, int body, const oriented_pose *pose)
{
    const double *data[] = {pose->x, pose->q, pose->u, pose->w};
    static const pl_body_field fields[] = {PL_POSITIONS, PL_ROTATIONS, PL_VELOCITIES, PL_SPINS};
    for (int k = 0; k < 4; k++)
        assert_int_equal(pl_body_write(scene->world, scene->bodies[body], fields[k], 0, pose->n,
                                       pl_doubles((double *)data[k], 0)),
                         PL_OK);
}

pl_report oriented_step(const oriented_scene *scene)
{
    const oriented_case *c = scene->of;
    pl_report report;
    for (int b = 0; b < scene->count && c->forces; b++)
        for (int i = 0; i < c->graph.n; i++)
            pl_body_apply_force(scene->world, scene->bodies[b], i, c->forces + 3 * i);
    assert_int_equal(pl_world_step(scene->world, &report), PL_OK);
    assert_int_equal(report.rescued, 0);
    return report;
}

/* ---- Solving without a world ----------------------------------------------------------------- */

void oriented_begin(oriented_scene *scene)
{
    pl_world_set_iterations(scene->world, 1, 1);
    oriented_step(scene);
    pl_world_set_iterations(scene->world, scene->of->iterations, scene->of->stiff_iterations);
}

static __attribute__((noinline)) void solve(const pl_block *block, double h, int iterations,
                                            pl_work *work)
{
    pl_oriented_solve(block, h, iterations, work);
}

pl_work oriented_solve(oriented_scene *scene, pl_solver solver, int first, int count, bool lone,
                       int iterations)
{
    pl_oriented *bodies[64];
    double h = scene->world->h;
    assert_true(count <= 64 && (count == 1 || !lone));
    for (int b = 0; b < count; b++) {
        pl_oriented *body = bodies[b] = oriented_matter(scene, first + b);
        assert_ptr_equal(body->system, bodies[0]->system);
        body->lead = (pl_lead){.bend = {0}}; /* held or not, all start from x + h u */
        memcpy(body->now.origin, body->old.origin, sizeof body->now.origin);
        memcpy(body->now.velocity, body->old.velocity, sizeof body->now.velocity);
        for (int k = 0; k < 3; k++)
            body->c[k] = body->system->grounded || body->hold_count ? h * body->old.velocity[k]
                                                                    : body->drift[k];
    }
    pl_block block = {.system = bodies[0]->system,
                      .solver = solver,
                      .bodies = bodies,
                      .count = count,
                      .lone = lone};
    size_t size = pl_oriented_scratch(block.system, solver, lone);
    if (size > scene->scratch_size) {
        free(scene->scratch);
        scene->scratch_size = (size + 63) / 64 * 64;
        scene->scratch = aligned_alloc(64, scene->scratch_size);
    }
    pl_work work = {.scratch = scene->scratch};
    pl_float_env host = pl_float_env_enter();
    solve(&block, h, iterations, &work);
    pl_float_env_leave(host);
    return work;
}

void oriented_result(const pl_oriented *body, double *x, double *r)
{
    for (int i = 0; i < body->n; i++) {
        const float *f = body->now.q + 4 * i;
        double q[4] = {(double)f[0], (double)f[1], (double)f[2], (double)f[3]};
        oriented_matrix(q, r + 9 * i);
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = (double)body->now.x[3 * i + k] + body->c[k];
    }
}

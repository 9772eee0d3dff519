/* Skin weights against a plain reference, their smoothness, gaps and pieces; normals.
   Label: slow. */
#include "shape/skin.h"

#include <math.h>

#include "model_cases.h"
#include "support/check.h"

static pl_model *make_shape_model(pl_shape_kind kind, pl_shape **shape)
{
    pl_shape_def def = pl_default_shape_def(kind);
    assert_int_equal(pl_shape_create(&def, shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(*shape);
    pl_model *model;
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    return model;
}

/* Eq. 2, v = Σ w (R (v̄ - x̄) + x), with every particle moved by the same shift and none turned. */
static void skin_vertex(const pl_model *model, int vertex, const double shift[3], double out[3])
{
    int k = model->influence_count;
    out[0] = out[1] = out[2] = 0;
    for (int j = 0; j < k && model->influences[vertex * k + j] >= 0; j++) {
        const float *x = model->rest + 3 * model->influences[vertex * k + j];
        const float *v = model->vertices + 3 * vertex;
        for (int c = 0; c < 3; c++)
            out[c] += model->weights[vertex * k + j] * ((double)v[c] - x[c] + (x[c] + shift[c]));
    }
}

static void weights_are_a_partition_of_unity(void **state)
{
    (void)state;
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_shape *shape;
        pl_model *model = make_shape_model((pl_shape_kind)kind, &shape);
        assert_int_equal(model->influence_count, 4);
        for (int v = 0; v < model->vertex_count; v++) {
            double sum = 0;
            for (int j = 0; j < 4; j++) {
                int32_t i = model->influences[4 * v + j];
                float w = model->weights[4 * v + j];
                assert_true(i >= 0 && i < model->particle_count);
                assert_true(w > 0 && w <= 1);
                assert_true(j == 0 || w <= model->weights[4 * v + j - 1]);
                for (int other = 0; other < j; other++)
                    assert_true(model->influences[4 * v + other] != i);
                sum += w;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
        pl_model_release(model);
        pl_shape_destroy(shape);
    }
}

static void the_rest_pose_is_reproduced(void **state)
{
    (void)state;
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_shape *shape;
        pl_model *model = make_shape_model((pl_shape_kind)kind, &shape);
        const double shift[3] = {0.5, -2, 1};
        for (int v = 0; v < model->vertex_count; v++) {
            double out[3];
            skin_vertex(model, v, shift, out);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(out[c] - model->vertices[3 * v + c] - shift[c]) < 1e-5);
        }
        pl_model_release(model);
        pl_shape_destroy(shape);
    }
}

/* ---- Against a reference --------------------------------------------------------------------- */

static double distance_to(const pl_model *model, int particle, const double point[3])
{
    const float *x = model->rest + 3 * particle;
    return sqrt((x[0] - point[0]) * (x[0] - point[0]) + (x[1] - point[1]) * (x[1] - point[1]) +
                (x[2] - point[2]) * (x[2] - point[2]));
}

/* How far the point is in multiples of the ellipsoid. Orientations are the identity here. */
static double scaled_distance(const pl_model *model, int particle, const double point[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = (point[k] - model->rest[3 * particle + k]) / model->radii[3 * particle + k];
        sum += d * d;
    }
    return sqrt(sum);
}

/* Among the 8 nearest, and not 1.5 times as far as the nearest. */
static int reference_seed(const pl_model *model, const double point[3])
{
    int n = model->particle_count, seed = -1;
    double nearest = INFINITY, best = INFINITY;
    for (int i = 0; i < n; i++)
        nearest = fmin(nearest, distance_to(model, i, point));
    for (int i = 0; i < n; i++) {
        int nearer = 0;
        double d = distance_to(model, i, point);
        for (int j = 0; j < n; j++)
            nearer += distance_to(model, j, point) < d;
        if (nearer < 8 && d <= 1.5 * nearest && scaled_distance(model, i, point) < best) {
            best = scaled_distance(model, i, point);
            seed = i;
        }
    }
    return seed;
}

/* Bellman and Ford's paths along the edges. */
static void reference_paths(const pl_model *model, int seed, double *path)
{
    for (int i = 0; i < model->particle_count; i++)
        path[i] = i == seed ? 0 : INFINITY;
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < 2 * model->edge_count; e++) {
            int a = model->edges[e], b = model->edges[e ^ 1];
            const float *x = model->rest + 3 * b;
            double length = distance_to(model, a, (double[3]){x[0], x[1], x[2]});
            if (path[a] + length < path[b] - 1e-12) {
                path[b] = path[a] + length;
                changed = true;
            }
        }
    }
}

/* Every particle's weight by the formula at the top of skin.c. */
static void reference_weights(const pl_model *model, const double point[3], int k, double *weights)
{
    int n = model->particle_count, seed = reference_seed(model, point);
    double path[128], e[128], sum = 0;
    reference_paths(model, seed, path);
    for (int i = 0; i < n; i++) {
        double d = distance_to(model, i, point);
        e[i] = d + fmax(0, path[i] - distance_to(model, seed, point) - 3 * d);
    }
    for (int i = 0; i < n; i++) {
        int nearer = 0;
        double beyond = INFINITY, farthest = 0;
        for (int j = 0; j < n; j++) {
            int rank = 0;
            for (int l = 0; l < n; l++)
                rank += e[l] < e[j] || (e[l] == e[j] && l < j);
            nearer += e[j] < e[i] || (e[j] == e[i] && j < i);
            if (rank == k)
                beyond = e[j];
            farthest = fmax(farthest, e[j]);
        }
        double reach = n > k ? beyond : 1.5 * farthest, near = reach > 0 ? 1 - e[i] / reach : 1;
        weights[i] = nearer < k ? near * near + 1e-6 : 0;
        sum += weights[i];
    }
    for (int i = 0; i < n; i++)
        weights[i] /= sum;
}

static void weights_are_those_of_the_formula(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        random_graph g = make_random_graph(seed, 1 + (int)seed * 2, 3 * (int)seed);
        enum { VERTICES = 20 };
        double vertices[3 * VERTICES];
        pl_rng rng = pl_rng_make(seed + 1000);
        for (int i = 0; i < 3 * VERTICES; i++)
            vertices[i] = 20 * pl_random_double(&rng) - 5;
        pl_model_def def = random_graph_def(&g);
        def.vertex_count = VERTICES;
        def.vertices = pl_doubles(vertices, 0);
        pl_model *model;
        assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
        int k = model->influence_count;
        for (int v = 0; v < VERTICES; v++) {
            const float *vertex = model->vertices + 3 * v;
            double point[3] = {vertex[0], vertex[1], vertex[2]}, want[128];
            reference_weights(model, point, k, want);
            for (int j = 0; j < k && model->influences[v * k + j] >= 0; j++) {
                assert_true(j == 0 || model->weights[v * k + j] <= model->weights[v * k + j - 1]);
                double *expected = want + model->influences[v * k + j];
                assert_true(fabs(*expected - model->weights[v * k + j]) < 1e-6);
                *expected = 0;
            }
            for (int i = 0; i < g.n; i++)
                assert_true(want[i] < 1e-5);
            /* The search without a tree gives the same. */
            int32_t particles[PL_MAX_INFLUENCES];
            float weights[PL_MAX_INFLUENCES];
            int count = pl_skin_point(model, point, k, particles, weights);
            assert_memory_equal(particles, model->influences + v * k,
                                (size_t)count * sizeof *particles);
            assert_memory_equal(weights, model->weights + v * k, (size_t)count * sizeof *weights);
        }
        pl_model_release(model);
        free_random_graph(&g);
    }
}

/* ---- Gaps, pieces, smoothness ---------------------------------------------------------------- */

/* Two ropes side by side, closer than their spacing, joined far away: a hairpin. */
static void skin_does_not_jump_across_air(void **state)
{
    (void)state;
    enum { N = 40 };
    double positions[3 * N], radii[3 * N], vertices[3 * N];
    int32_t edges[2 * N];
    for (int i = 0; i < N; i++) {
        bool back = i >= N / 2;
        const double p[3] = {back ? N - 1 - i : i, back ? 0.3 : 0, 0};
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = p[k];
            radii[3 * i + k] = 0.15;
            vertices[3 * i + k] = p[k] + (k == 1 ? (back ? -0.1 : 0.1) : 0);
        }
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = N;
    def.edge_count = N - 1;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edges = edges;
    def.vertex_count = N;
    def.vertices = pl_doubles(vertices, 0);
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int v = 0; v < N; v++)
        for (int j = 0; j < 4; j++)
            assert_true(abs(model->influences[4 * v + j] - v) <= 4);
    pl_model_release(model);
}

static void weights_vary_smoothly_along_a_rope(void **state)
{
    (void)state;
    pl_shape *shape;
    pl_model *model = make_shape_model(PL_SHAPE_CHAIN, &shape);
    double blend = 0;
    for (int step = 0; step <= 4000; step++) {
        /* A function that is linear over the particles moves steadily along the rope. */
        double point[3] = {(step / 4000.0 - 0.5) * 30 * model->spacing, 0.2, 0.1}, sum = 0;
        int32_t particles[PL_MAX_INFLUENCES];
        float weights[PL_MAX_INFLUENCES];
        int count = pl_skin_point(model, point, 4, particles, weights);
        assert_int_equal(count, 4);
        for (int j = 0; j < count; j++)
            sum += weights[j] * (double)particles[j];
        assert_true(step == 0 || fabs(sum - blend) < 0.05);
        blend = sum;
    }
    pl_model_release(model);
    pl_shape_destroy(shape);
}

/* A box of particles with edges along the axes, added to a definition's arrays. */
typedef struct lattices {
    int n, m;
    double positions[3 * 4096], radii[3 * 4096];
    int32_t edges[2 * 16384];
} lattices;

static void add_lattice(lattices *l, const int size[3], const double corner[3], double spacing)
{
    int first = l->n, stride[3] = {1, size[0], size[0] * size[1]};
    for (int i = 0; i < size[0] * size[1] * size[2]; i++, l->n++) {
        int at[3] = {i % size[0], i / size[0] % size[1], i / stride[2]};
        for (int k = 0; k < 3; k++) {
            l->positions[3 * l->n + k] = corner[k] + spacing * at[k];
            l->radii[3 * l->n + k] = 0.5 * spacing;
            if (at[k] + 1 < size[k]) {
                l->edges[2 * l->m] = first + i;
                l->edges[2 * l->m++ + 1] = first + i + stride[k];
            }
        }
    }
}

static pl_model_def lattices_def(lattices *l)
{
    pl_model_def def = pl_default_model_def();
    def.particle_count = l->n;
    def.positions = pl_doubles(l->positions, 0);
    def.radii = pl_doubles(l->radii, 0);
    def.edge_count = l->m;
    def.edges = l->edges;
    return def;
}

/* Two legs, 0.4 spacings between them, joined at the top: the sides that face each other keep to
   their leg. */
static void legs_keep_their_own_skin(void **state)
{
    (void)state;
    lattices *l = calloc(1, sizeof *l);
    enum { LONG = 14, VERTICES = 400 };
    add_lattice(l, (const int[3]){2, LONG, 2}, (const double[3]){0, 0, 0}, 1);
    add_lattice(l, (const int[3]){2, LONG, 2}, (const double[3]){1.4, 0, 0}, 1);
    int leg = l->n / 2;
    for (int z = 0; z < 2; z++, l->m++) { /* joined at the top */
        l->edges[2 * l->m] = 2 * LONG * (z + 1) - 1;
        l->edges[2 * l->m + 1] = leg + 2 * LONG * (z + 1) - 2;
    }
    double vertices[3 * VERTICES];
    pl_rng rng = pl_rng_make(11);
    for (int v = 0; v < VERTICES; v++) {
        vertices[3 * v] = v % 2 ? 1.199 : 1.201;
        vertices[3 * v + 1] = (LONG - 5) * pl_random_double(&rng);
        vertices[3 * v + 2] = pl_random_double(&rng);
    }
    pl_model_def def = lattices_def(l);
    def.vertex_count = VERTICES;
    def.vertices = pl_doubles(vertices, 0);
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int v = 0; v < VERTICES; v++)
        for (int j = 0; j < 4; j++)
            assert_true((model->influences[4 * v + j] < leg) == v % 2);
    pl_model_release(model);
    free(l);
}

/* A core within a hollow block, closer to it than the spacing: two pieces, two patches of surface.
   Vertices of each patch keep to one piece, although some are nearer to particles of the other. */
static void patches_keep_to_one_piece(void **state)
{
    (void)state;
    lattices *l = calloc(1, sizeof *l);
    enum { SIDE = 30, PATCH = SIDE * SIDE, CELLS = (SIDE - 1) * (SIDE - 1) };
    add_lattice(l, (const int[3]){7, 7, 2}, (const double[3]){0, 0, 0}, 1);
    int first = l->n;
    add_lattice(l, (const int[3]){7, 7, 2}, (const double[3]){0.3, 0.4, 1.3}, 1);
    double *vertices = malloc(sizeof(double) * 6 * PATCH);
    int32_t *triangles = malloc(sizeof(int32_t) * 12 * CELLS);
    for (int v = 0; v < 2 * PATCH; v++) {
        int i = v % PATCH;
        vertices[3 * v] = 6.0 * (i % SIDE) / (SIDE - 1);
        vertices[3 * v + 1] = 6.0 * (i / SIDE) / (SIDE - 1);
        /* Both waver about the middle between the pieces, mostly on their own side. */
        vertices[3 * v + 2] = 1.15 + (v < PATCH ? -1 : 1) * (0.1 - 0.2 * (i % 5 == 0));
    }
    int at = 0;
    for (int v = 0; v < 2 * PATCH; v++)
        if (v % SIDE < SIDE - 1 && v % PATCH / SIDE < SIDE - 1) {
            const int32_t corners[6] = {v, v + 1, v + SIDE, v + 1, v + SIDE + 1, v + SIDE};
            memcpy(triangles + at, corners, sizeof corners);
            at += 6;
        }
    pl_model_def def = lattices_def(l);
    def.several_pieces = true;
    def.vertex_count = 2 * PATCH;
    def.vertices = pl_doubles(vertices, 0);
    def.triangle_count = at / 3;
    def.triangles = triangles;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int v = 0; v < 2 * PATCH; v++)
        for (int j = 0; j < 4; j++)
            assert_true((model->influences[4 * v + j] < first) == (v < PATCH));
    pl_model_release(model);
    free(l), free(vertices), free(triangles);
}

/* What the weights blend at a point of a line, and how far apart that is for two of them. */
static void blend_at(const pl_model *model, const double line[2][3], double t, double blend[3])
{
    double point[3];
    int32_t particles[PL_MAX_INFLUENCES];
    float weights[PL_MAX_INFLUENCES];
    for (int k = 0; k < 3; k++) {
        point[k] = line[0][k] + (line[1][k] - line[0][k]) * t;
        blend[k] = 0;
    }
    int count = pl_skin_point(model, point, 4, particles, weights);
    for (int j = 0; j < count; j++)
        for (int k = 0; k < 3; k++)
            blend[k] += weights[j] * (double)model->rest[3 * particles[j] + k];
}

static double change(const pl_model *model, const double line[2][3], double from, double to)
{
    double a[3], b[3];
    blend_at(model, line, from, a);
    blend_at(model, line, to, b);
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

/* The largest change over short parts of a line, followed into smaller and smaller ones: a steep
   place becomes flat, a jump remains. */
static double largest_jump(const pl_model *model, const double line[2][3])
{
    enum { STEPS = 300 };
    double largest = 0, from = 0, to = 0;
    for (int step = 0; step < STEPS; step++) {
        double a = (double)step / STEPS, b = (step + 1.0) / STEPS, size = change(model, line, a, b);
        if (size > largest)
            largest = size, from = a, to = b;
    }
    for (int i = 0; i < 30; i++) {
        double middle = (from + to) / 2;
        bool first = change(model, line, from, middle) > change(model, line, middle, to);
        *(first ? &to : &from) = middle;
    }
    return change(model, line, from, to);
}

static void weights_vary_smoothly_in_a_volume(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        lattices *l = calloc(1, sizeof *l);
        pl_rng rng = pl_rng_make(4);
        add_lattice(l, (const int[3]){7, 7, 7}, (const double[3]){0, 0, 0}, 1);
        for (int i = 0; i < 3 * l->n; i++)
            l->positions[i] += 0.3 * (pl_random_double(&rng) - 0.5);
        for (int i = 0; i < 3 * l->n && kind; i++) /* and ellipsoids of different sizes */
            l->radii[i] *= 0.7 + 0.6 * pl_random_double(&rng);
        pl_model_def def = lattices_def(l);
        pl_model *model;
        assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
        for (int i = 0; i < 80; i++) {
            double line[2][3];
            for (int k = 0; k < 6; k++)
                line[k / 3][k % 3] = 8 * pl_random_double(&rng) - 4;
            assert_true(largest_jump(model, line) < 1e-4);
        }
        pl_model_release(model);
        free(l);
    }
}

static void equidistant_particles_get_equal_weights(void **state)
{
    (void)state;
    /* The corners of a cube around the point, each joined to each. */
    enum { N = 8 };
    double positions[3 * N], radii[3 * N];
    int32_t edges[N * (N - 1)];
    int m = 0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = i >> k & 1 ? 1 : -1;
            radii[3 * i + k] = 1;
        }
        for (int j = 0; j < i; j++, m++)
            edges[2 * m] = j, edges[2 * m + 1] = i;
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = N;
    def.edge_count = m;
    def.positions = pl_doubles(positions, 0);
    def.radii = pl_doubles(radii, 0);
    def.edges = edges;
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    int32_t particles[4];
    float weights[4];
    assert_int_equal(pl_skin_point(model, (const double[3]){0, 0, 0}, 4, particles, weights), 4);
    for (int j = 0; j < 4; j++)
        assert_true(weights[j] == 0.25f);
    pl_model_release(model);
}

/* Around a particle with more neighbours than are looked at. */
static void hubs_are_no_obstacle(void **state)
{
    (void)state;
    enum { N = 3000, VERTICES = 500 };
    random_graph g = {.n = N, .m = N - 1};
    g.positions = malloc(sizeof(double) * 3 * N);
    g.radii = malloc(sizeof(double) * 3 * N);
    g.edges = malloc(sizeof(int32_t) * 2 * N);
    double vertices[3 * VERTICES];
    pl_rng rng = pl_rng_make(8);
    for (int i = 0; i < 3 * N; i++) {
        g.positions[i] = i < 3 ? 0.5 : pl_random_double(&rng);
        g.radii[i] = 0.05;
    }
    for (int i = 1; i < N; i++)
        g.edges[2 * i - 2] = 0, g.edges[2 * i - 1] = i;
    for (int i = 0; i < 3 * VERTICES; i++)
        vertices[i] = pl_random_double(&rng);
    pl_model_def def = random_graph_def(&g);
    def.vertex_count = VERTICES;
    def.vertices = pl_doubles(vertices, 0);
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int v = 0; v < VERTICES; v++) {
        float sum = 0;
        for (int j = 0; j < 4; j++)
            sum += model->weights[4 * v + j];
        assert_true(fabsf(sum - 1) < 1e-5f);
    }
    pl_model_release(model);
    free_random_graph(&g);
}

/* ---- Normals --------------------------------------------------------------------------------- */

static void seams_share_their_normals(void **state)
{
    (void)state;
    /* The unit cube of 6 separate sides: the three vertices of a corner are one point, and each
       side has two triangles of the same area, which meet a corner once or twice. */
    enum { V = 24 };
    float positions[3 * V], normals[3 * V];
    int32_t triangles[36], point_of[V];
    for (int side = 0; side < 6; side++) {
        int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3, up = side % 2;
        for (int i = 0; i < 4; i++) {
            float *p = positions + 3 * (4 * side + i);
            p[a] = (float)up, p[b] = (float)(i & 1), p[c] = (float)(i >> 1);
            p[a] = p[a] == 0 && i % 2 ? -0.0f : p[a]; /* the same place */
        }
        const int32_t outwards[6] = {0, 1, 3, 0, 3, 2}, inwards[6] = {0, 3, 1, 0, 2, 3};
        for (int i = 0; i < 6; i++)
            triangles[6 * side + i] = 4 * side + (up ? outwards[i] : inwards[i]);
    }
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    assert_true(pl_skin_weld(&memory, V, positions, point_of));
    assert_int_equal(pl_skin_normals(&memory, V, positions, 12, triangles, normals, NULL), PL_OK);
    for (int v = 0; v < V; v++) {
        const float *p = positions + 3 * v, *n = normals + 3 * v;
        assert_true(point_of[v] <= v && point_of[point_of[v]] == point_of[v]);
        assert_true(fabsf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-6f);
        for (int k = 0; k < 3; k++)
            assert_true(n[k] * (p[k] - 0.5f) > 0);
        for (int u = 0; u < V; u++) {
            const float *q = positions + 3 * u;
            bool same = p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
            assert_true(same == (point_of[u] == point_of[v]));
            if (same)
                assert_memory_equal(n, normals + 3 * u, 3 * sizeof *n);
        }
    }
    assert_int_equal(memory.used, 0);
}

/* By area: a long thin triangle and a short one at right angles. */
static void normals_count_areas(void **state)
{
    (void)state;
    for (int exponent = -60; exponent <= 60; exponent += 30) {
        float s = ldexpf(1, exponent), normals[18];
        const float positions[18] = {0, 0, 0, 3 * s, 0, 0, 0, s, 0, 0, 0, s, 7, 7, 7, 8, 8, 8};
        const int32_t triangles[9] = {0, 1, 2, 0, 2, 3, 4, 4, 4};
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        assert_int_equal(pl_skin_normals(&memory, 6, positions, 3, triangles, normals, NULL),
                         PL_OK);
        assert_true(fabsf(normals[0] - sqrtf(0.1f)) < 1e-6f && normals[1] == 0);
        assert_true(fabsf(normals[2] - sqrtf(0.9f)) < 1e-6f);
        assert_true(normals[5] == 1 && normals[9] == 1); /* of one triangle each */
        for (int v = 4; v < 6; v++)                      /* without area, and without a triangle */
            assert_true(normals[3 * v] == 0 && normals[3 * v + 1] == 1 && normals[3 * v + 2] == 0);
    }
}

static void normals_and_weights_survive_without_memory(void **state)
{
    (void)state;
    float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, normals[9];
    const int32_t triangles[3] = {0, 1, 2};
    for (int fail = 0; fail < 3; fail++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_error error;
        assert_int_equal(pl_skin_normals(&memory, 3, positions, 1, triangles, normals, &error),
                         PL_ERROR_MEMORY);
        assert_int_equal(memory.used, 0);
    }
    /* Of a model in two pieces, which needs the most. */
    lattices *l = calloc(1, sizeof *l);
    add_lattice(l, (const int[3]){3, 3, 3}, (const double[3]){0, 0, 0}, 1);
    add_lattice(l, (const int[3]){3, 3, 3}, (const double[3]){5, 0, 0}, 1);
    pl_model_def def = lattices_def(l);
    def.several_pieces = true;
    def.vertex_count = 20;
    def.vertices = pl_doubles(l->positions, 0);
    pl_model *model;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    for (int64_t fail = 0;; fail++) {
        size_t used = model->memory.used;
        model->memory.fail_at = (int64_t)model->memory.allocations + fail;
        pl_status status = pl_skin_compute(model, NULL);
        model->memory.fail_at = -1;
        assert_int_equal(model->memory.used, used);
        if (status == PL_OK) {
            assert_true(fail > 6);
            break;
        }
        assert_int_equal(status, PL_ERROR_MEMORY);
    }
    pl_model_release(model);
    free(l);
}

/* At a particle it counts most, but not alone. */
static void points_at_particles_have_neighbours(void **state)
{
    (void)state;
    pl_shape *shape;
    pl_model *model = make_shape_model(PL_SHAPE_BOX, &shape);
    for (int i = 0; i < model->particle_count; i++) {
        const float *rest = model->rest + 3 * i;
        int32_t particles[PL_MAX_INFLUENCES];
        float weights[PL_MAX_INFLUENCES];
        const double point[3] = {rest[0], rest[1], rest[2]};
        assert_int_equal(pl_skin_point(model, point, 4, particles, weights), 4);
        assert_int_equal(particles[0], i);
        assert_true(weights[0] > 0.5f);
    }
    pl_model_release(model);
    pl_shape_destroy(shape);
}

static void the_number_of_particles_is_limited(void **state)
{
    (void)state;
    pl_shape *shape;
    pl_model *model = make_shape_model(PL_SHAPE_BOX, &shape);
    const double point[3] = {0.1, 0.2, 0.3};
    for (int max = -1; max < 12; max++) {
        int32_t particles[PL_MAX_INFLUENCES];
        float weights[PL_MAX_INFLUENCES];
        int expected = max < 1 ? 1 : max > PL_MAX_INFLUENCES ? PL_MAX_INFLUENCES : max;
        int count = pl_skin_point(model, point, max, particles, weights);
        assert_int_equal(count, expected);
        double sum = 0;
        for (int j = 0; j < count; j++)
            sum += weights[j];
        assert_true(fabs(sum - 1) < 1e-6);
    }
    pl_model_release(model);
    pl_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_a_partition_of_unity),
        cmocka_unit_test(the_rest_pose_is_reproduced),
        cmocka_unit_test(weights_are_those_of_the_formula),
        cmocka_unit_test(skin_does_not_jump_across_air),
        cmocka_unit_test(legs_keep_their_own_skin),
        cmocka_unit_test(patches_keep_to_one_piece),
        cmocka_unit_test(weights_vary_smoothly_along_a_rope),
        cmocka_unit_test(weights_vary_smoothly_in_a_volume),
        cmocka_unit_test(equidistant_particles_get_equal_weights),
        cmocka_unit_test(hubs_are_no_obstacle),
        cmocka_unit_test(points_at_particles_have_neighbours),
        cmocka_unit_test(the_number_of_particles_is_limited),
        cmocka_unit_test(seams_share_their_normals),
        cmocka_unit_test(normals_count_areas),
        cmocka_unit_test(normals_and_weights_survive_without_memory),
    };
    return cmocka_run_group_tests_name("shape/skin", tests, NULL, NULL);
}

/* Clustered bodies in a world: they fall as everything falls, meet oriented ones and colliders,
   flow, break into pieces that are bodies of their own in all but name, and all of it gives the
   same bits with any number of threads and through snapshots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "math/simd.h"
#include "pliant/pliant.h"
#include "support/check.h"
#include "world/world.h"

/* ---- Things ---------------------------------------------------------------------------------- */

static pl_model *box_model(int x, int y, int z, double spacing)
{
    pl_shape *shape;
    pl_model *model;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BOX);
    def.count[0] = x, def.count[1] = y, def.count[2] = z;
    def.size[0] = x * spacing, def.size[1] = y * spacing, def.size[2] = z * spacing;
    assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    assert_int_equal(pl_model_create(&model_def, &model, NULL), PL_OK);
    pl_shape_destroy(shape);
    return model;
}

static pl_model *clusters_by(pl_model *model, int count, pl_cluster_kernel kernel)
{
    pl_model *clustered;
    pl_error error = {0};
    pl_clusters_def def = pl_default_clusters_def();
    def.count = count;
    def.kernel = kernel;
    if (pl_model_cluster(model, &def, &clustered, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_release(model);
    return clustered;
}

static pl_model *clusters_of(pl_model *model, int count)
{
    return clusters_by(model, count, PL_KERNEL_FUZZY);
}

static pl_world *world_of(int threads, double gravity)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.substeps = 2;
    def.threads = threads;
    def.gravity[1] = -gravity;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

static pl_body put(pl_world *world, pl_model *model, const pl_clustered_def *clustered, double x,
                   double y, double z)
{
    pl_body body;
    pl_error error = {0};
    pl_body_def def = pl_default_body_def(model);
    def.clustered = clustered;
    def.material.damping = 0;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    if (pl_body_create(world, &def, &body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return body;
}

static pl_body_state state_of(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state;
}

static pl_body_info info_of(const pl_world *world, pl_body body)
{
    pl_body_info info;
    assert_int_equal(pl_body_get_info(world, body, &info), PL_OK);
    return info;
}

static void step(pl_world *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pl_world_step(world, NULL), PL_OK);
}

static void add_floor(pl_world *world)
{
    pl_collider collider;
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
}

static void assert_finite(const pl_world *world, pl_body body)
{
    int n = info_of(world, body).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n);
    assert_int_equal(pl_body_read(world, body, PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < 3 * n; i++)
        assert_true(isfinite(x[i]));
    free(x);
}

/* ---- Motion ---------------------------------------------------------------------------------- */

static void test_free_fall(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(6, 4, 5, 0.1), 8);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body body = put(world, model, &def, 0, 100, 0);
    double start = state_of(world, body).centre[1], h = 1.0 / 120;
    step(world, 60);
    double n = 120, fallen = start - state_of(world, body).centre[1];
    assert_true(fabs(fallen - 9.81 * h * h * n * (n + 1) / 2) < 1e-9);
    /* and keeps its shape */
    pl_energy energy;
    assert_int_equal(pl_body_get_energy(world, body, &energy), PL_OK);
    assert_true(energy.elastic < 1e-6 * energy.kinetic);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* An oriented and a clustered box meet in empty space: their momenta sum to what they were. */
static void test_momentum_between_kinds(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 0);
    pl_model *solid = box_model(4, 4, 4, 0.1), *model = clusters_of(box_model(5, 4, 4, 0.1), 6);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body a = put(world, solid, NULL, -0.5, 0, 0), b = put(world, model, &def, 0.5, 0.05, 0);
    const double right[3] = {2, 0, 0}, left[3] = {-1, 0, 0}, none[3] = {0, 0, 0};
    assert_int_equal(pl_body_set_velocity(world, a, right, none), PL_OK);
    assert_int_equal(pl_body_set_velocity(world, b, left, none), PL_OK);
    double before = 0, size = 0, mass = state_of(world, b).mass;
    for (int i = 0; i < 2; i++) {
        pl_body_state s = state_of(world, i ? b : a);
        before += s.momentum[0];
        size += fabs(s.momentum[0]);
    }
    step(world, 60);
    double after = state_of(world, a).momentum[0] + state_of(world, b).momentum[0];
    print_message("momentum: %.3g of its size\n", fabs(after - before) / size);
    assert_true(fabs(after - before) < 1e-5 * size);
    assert_true(state_of(world, b).velocity[0] > 0); /* they did meet */
    assert_true(state_of(world, b).mass == mass);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(solid);
}

static void test_rest_on_floor(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(6, 4, 5, 0.1), 8);
    pl_clustered_def def = pl_default_clustered_def();
    pl_body body = put(world, model, &def, 0, 0.5, 0);
    add_floor(world);
    step(world, 240);
    assert_finite(world, body);
    pl_body_state s = state_of(world, body);
    assert_true(s.centre[1] > 0.1 && s.centre[1] < 0.25);
    assert_true(fabs(s.velocity[1]) < 0.05);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Flow and fracture ----------------------------------------------------------------------- */

enum { PULLED_X = 24, PULLED_YZ = 5 };

/* A bar whose ends are led apart. */
typedef struct pulled {
    pl_world *world;
    pl_body body;
    int32_t held[2 * PULLED_YZ * PULLED_YZ];
    int held_count;
    double at[2 * PULLED_YZ * PULLED_YZ][3];
} pulled;

static pulled pull_begin(pl_model *model, const pl_clustered_def *def, int threads)
{
    pulled p = {.world = world_of(threads, 0)};
    int n = pl_model_get_info(model).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n), low = 1e9, high = -1e9;
    assert_int_equal(pl_model_read(model, PL_REST_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
    for (int i = 0; i < n; i++) {
        low = fmin(low, x[3 * i]);
        high = fmax(high, x[3 * i]);
    }
    for (int i = 0; i < n; i++)
        if (x[3 * i] < low + 0.01 || x[3 * i] > high - 0.01) {
            memcpy(p.at[p.held_count], x + 3 * i, sizeof p.at[0]);
            p.held[p.held_count++] = i;
        }
    free(x);
    pl_body_def body_def = pl_default_body_def(model);
    body_def.clustered = def;
    body_def.fixed = p.held;
    body_def.fixed_count = p.held_count;
    pl_error error = {0};
    if (pl_body_create(p.world, &body_def, &p.body, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return p;
}

static void pull(pulled *p, double by)
{
    for (int f = 0; f < p->held_count; f++) {
        p->at[f][0] += p->at[f][0] < 0 ? -by : by;
        assert_int_equal(pl_body_drive(p->world, p->body, p->held[f], p->at[f], NULL), PL_OK);
    }
    step(p->world, 1);
}

static pl_clustered_def brittle(void)
{
    pl_clustered_def def = pl_default_clustered_def();
    def.toughness = 0.15;
    def.strain_limit = 0;
    return def;
}

static pl_model *bar_model(void)
{
    return clusters_of(box_model(PULLED_X, PULLED_YZ, PULLED_YZ, 0.1), 24);
}

static void test_pulled_apart(void **unused)
{
    (void)unused;
    pl_model *model = bar_model();
    pl_clustered_def def = brittle();
    pulled p = pull_begin(model, &def, 1);
    double mass = state_of(p.world, p.body).mass;
    for (int i = 0; i < 90; i++)
        pull(&p, 0.01);
    pl_body_info info = info_of(p.world, p.body);
    print_message("%d pieces, %d particles, %d clusters, %d splits, %d divided\n", info.piece_count,
                  info.particle_count, info.cluster_count, (int)info.clusters_split,
                  (int)info.particles_divided);
    assert_int_equal(info.piece_count, 2);
    assert_finite(p.world, p.body);
    assert_true(fabs(state_of(p.world, p.body).mass / mass - 1) < 1e-6);
    pl_world_destroy(p.world);
    pl_model_release(model);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The piece of every particle, as the smallest number of a particle in it. */
static void find_pieces(const pl_clustered *c, int32_t *piece)
{
    for (int i = 0; i < c->n; i++)
        piece[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (const pl_cluster *q = c->clusters; q < c->clusters + c->count; q++) {
            const int32_t *member = c->particle + q->first;
            int32_t least = piece[member[0]];
            for (int k = 1; k < q->count; k++)
                least = piece[member[k]] < least ? piece[member[k]] : least;
            for (int k = 0; k < q->count; k++) {
                changed |= piece[member[k]] != least;
                piece[member[k]] = least;
            }
        }
    }
}

/* What part of the balls around the particles of one piece lies within balls of another one: on a
   grid, `radius` as far as they reach where particles next to each other touch. Pieces within each
   other would have about a half in common. */
static double common_part(const double *x, const int32_t *piece, int n, double radius)
{
    enum { SIDE = 5 };
    int inside = 0, common = 0;
    for (int i = 0; i < n; i++)
        for (int cell = 0; cell < SIDE * SIDE * SIDE; cell++) {
            const int at[3] = {cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE};
            double p[3], square = 0;
            bool other = false;
            for (int k = 0; k < 3; k++) {
                double d = radius * ((2 * at[k] + 1.0) / SIDE - 1);
                p[k] = x[3 * i + k] + d;
                square += d * d;
            }
            if (square > radius * radius)
                continue;
            for (int j = 0; j < n && !other; j++)
                if (piece[j] != piece[i]) {
                    double d[3] = {x[3 * j] - p[0], x[3 * j + 1] - p[1], x[3 * j + 2] - p[2]};
                    other = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius * radius;
                }
            inside++;
            common += other;
        }
    return (double)common / inside;
}

typedef struct halves {
    int n;
    double *x, *v;
    int32_t *piece;
} halves;

static halves halves_of(const pulled *p)
{
    halves h = {.n = info_of(p->world, p->body).particle_count};
    h.x = malloc(sizeof *h.x * 3 * (size_t)h.n);
    h.v = malloc(sizeof *h.v * 3 * (size_t)h.n);
    h.piece = malloc(sizeof *h.piece * (size_t)h.n);
    find_pieces(pl_world_record(p->world, p->body)->matter.clustered, h.piece);
    pl_buffer x = pl_doubles(h.x, 0), v = pl_doubles(h.v, 0);
    assert_int_equal(pl_body_read(p->world, p->body, PL_POSITIONS, 0, h.n, 1, x), PL_OK);
    assert_int_equal(pl_body_read(p->world, p->body, PL_VELOCITIES, 0, h.n, 1, v), PL_OK);
    return h;
}

static void free_halves(halves *h)
{
    free(h->x), free(h->v), free(h->piece);
}

static double speed_of(const halves *h)
{
    double most = 0;
    for (int i = 0; i < h->n; i++) {
        const double *v = h->v + 3 * i;
        most = fmax(most, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return sqrt(most);
}

/* How near two pieces come. */
static double gap_of(const halves *h)
{
    double least = INFINITY;
    for (int i = 0; i < h->n; i++)
        for (int j = 0; j < i; j++)
            if (h->piece[i] != h->piece[j]) {
                const double *a = h->x + 3 * i, *b = h->x + 3 * j;
                least = fmin(least, (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                        (a[2] - b[2]) * (a[2] - b[2]));
            }
    return sqrt(least);
}

/* Down is against x, the floor just below the left end. */
static void let_fall(pulled *p, double floor)
{
    const double down[3] = {-9.81, 0, 0},
                 turned[4] = {0, 0, -0.70710678118654752, 0.70710678118654752};
    pl_collider collider;
    pl_collider_def plane = pl_default_collider_def(PL_COLLIDER_PLANE);
    plane.position[0] = floor;
    memcpy(plane.rotation, turned, sizeof turned);
    assert_int_equal(pl_collider_create(p->world, &plane, &collider, NULL), PL_OK);
    assert_int_equal(pl_world_set_gravity(p->world, down), PL_OK);
    assert_int_equal(pl_body_set_fixed(p->world, p->body, NULL, 0, NULL), PL_OK);
}

/* A bar is torn and let go: one half falls on the floor, the other one on that; both come to
   rest. */
static void test_pieces_rest(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    const double spacing = 0.1;
    pl_model *model = bar_model();
    pl_clustered_def def = brittle();
    def.damping = 20;
    def.toughness = 0.3;
    pulled p = pull_begin(model, &def, 1);
    for (int i = 0; i < 60; i++)
        pull(&p, 0.01);
    assert_int_equal(info_of(p.world, p.body).piece_count, 2);
    halves h = halves_of(&p);
    double floor = p.at[0][0] - spacing, nearest = gap_of(&h), lowest = INFINITY;
    assert_true(nearest > 2 * spacing);
    free_halves(&h);
    let_fall(&p, floor);
    for (int i = 0; i < 40; i++) {
        step(p.world, 3);
        h = halves_of(&p);
        nearest = fmin(nearest, gap_of(&h));
        free_halves(&h);
    }
    step(p.world, 780);
    h = halves_of(&p);
    double common = common_part(h.x, h.piece, h.n, spacing / 2);
    for (int i = 0; i < h.n; i++)
        lowest = fmin(lowest, h.x[3 * i] - floor);
    print_message("%d pieces, which came as near as %.3f; lowest particle at %.3f, fastest %.2g "
                  "m/s, %.2g of the volume in common\n",
                  info_of(p.world, p.body).piece_count, nearest, lowest, speed_of(&h), common);
    assert_finite(p.world, p.body);
    assert_int_equal(info_of(p.world, p.body).piece_count, 2);
    assert_true(nearest < 1.2 * spacing);    /* they did touch */
    assert_true(lowest > 0.8 * spacing / 2); /* particles are balls, and touch the floor */
    assert_true(common < 0.01);
    assert_true(speed_of(&h) < 0.02);
    free_halves(&h);
    pl_world_destroy(p.world);
    pl_model_release(model);
}

/* ---- The same bits --------------------------------------------------------------------------- */

enum { PULLED_FRAMES = 60 };

static pl_world *restored(pl_world *world, pl_model *model, int threads)
{
    size_t size;
    assert_int_equal(pl_world_save(world, NULL, 0, &size), PL_OK);
    void *bytes = malloc(size);
    assert_int_equal(pl_world_save(world, bytes, size, &size), PL_OK);
    pl_world *other = world_of(threads, 1);
    pl_error error = {0};
    if (pl_world_restore(other, bytes, size, &model, 1, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    assert_int_equal(pl_world_hash(other), pl_world_hash(world));
    free(bytes);
    return other;
}

static uint64_t hash_after(pl_model *model, const pl_clustered_def *def, int threads, int save_at,
                           pl_body_info *info)
{
    pulled p = pull_begin(model, def, threads);
    for (int i = 0; i < PULLED_FRAMES; i++) {
        if (i == save_at) {
            pl_world *other = restored(p.world, model, threads);
            pl_world_destroy(p.world);
            p.world = other;
        }
        pull(&p, 0.015);
    }
    uint64_t hash = pl_world_hash(p.world);
    *info = info_of(p.world, p.body);
    pl_world_destroy(p.world);
    return hash;
}

/* Flows so far that clusters are replaced, and is torn. */
static pl_clustered_def flowing(void)
{
    pl_clustered_def def = brittle();
    def.yield = 0.02;
    def.flow = 10;
    def.condition = 1.15;
    return def;
}

static uint64_t hash_of_flowing(int threads, int save_at)
{
    pl_model *model = bar_model();
    pl_clustered_def def = flowing();
    pl_body_info info;
    uint64_t hash = hash_after(model, &def, threads, save_at, &info);
    print_message("%d added, %d removed, %d split, %d divided\n", (int)info.clusters_added,
                  (int)info.clusters_removed, (int)info.clusters_split,
                  (int)info.particles_divided);
    assert_true(info.clusters_added > 0 && info.clusters_removed > 0);
    assert_true(info.clusters_split > 0 && info.particles_divided > 0);
    pl_model_release(model);
    return hash;
}

/* Another process, because the width is chosen once. */
static uint64_t hash_of_width(int width)
{
    char self[512], command[600];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    unsigned long long hash = 0;
    assert_true(length > 0);
    snprintf(command, sizeof command, "PLIANT_SIMD=%d '%.*s' --hash", width, (int)length, self);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    while (fscanf(child, "hash %llx", &hash) != 1 && fscanf(child, "%*[^\n]\n") != EOF)
        ;
    pclose(child);
    return hash;
}

static void test_same_bits(void **unused)
{
    (void)unused;
    uint64_t hash = hash_of_flowing(1, -1);
    assert_int_equal(hash_of_flowing(2, -1), hash);
    assert_int_equal(hash_of_flowing(7, -1), hash);
    for (int at = 0; at < PULLED_FRAMES; at += 13)
        assert_int_equal(hash_of_flowing(1, at), hash);
    for (int width = 4; width <= 16; width *= 2)
        if (pl_simd_supports(width))
            assert_int_equal(hash_of_width(width), hash);
}

/* Clusters that are made after a snapshot was read have the kernel of those before. */
static void test_kernel_is_kept(void **unused)
{
    (void)unused;
    CHECK_ONE_THREAD();
    pl_clustered_def def = flowing();
    pl_body_info info;
    uint64_t hashes[PL_KERNEL_CONSTANT + 1];
    pl_model *model =
        clusters_by(box_model(PULLED_X, PULLED_YZ, PULLED_YZ, 0.1), 24, PL_KERNEL_CONSTANT);
    def.toughness = INFINITY;
    for (int kernel = PL_KERNEL_FUZZY; kernel <= PL_KERNEL_CONSTANT; kernel++) {
        def.kernel = (pl_cluster_kernel)kernel;
        hashes[kernel] = hash_after(model, &def, 1, -1, &info);
        assert_true(info.clusters_added > 0);
        assert_int_equal(hash_after(model, &def, 1, 10, &info), hashes[kernel]);
        for (int other = 0; other < kernel; other++)
            assert_int_not_equal(hashes[kernel], hashes[other]);
    }
    pl_model_release(model);
}

/* ---- Memory and mistakes --------------------------------------------------------------------- */

static void test_no_allocation(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *model = clusters_of(box_model(8, 4, 5, 0.1), 10);
    pl_clustered_def def = pl_default_clustered_def();
    put(world, model, &def, 0, 0.5, 0);
    add_floor(world);
    step(world, 2);
    uint64_t before = pl_world_allocations(world);
    step(world, 30);
    assert_int_equal(pl_world_allocations(world), before);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void test_mistakes(void **unused)
{
    (void)unused;
    pl_world *world = world_of(1, 9.81);
    pl_model *solid = box_model(3, 3, 3, 0.1);
    pl_clustered_def clustered = pl_default_clustered_def();
    pl_body_def def = pl_default_body_def(solid);
    pl_body body;
    pl_error error = {0};
    def.clustered = &clustered;
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "clusters"));
    pl_model_retain(solid);
    pl_model *model = clusters_of(solid, 2);
    def.model = model;
    static const double bad[] = {-1, NAN};
    for (int i = 0; i < 2; i++) {
        clustered = pl_default_clustered_def();
        clustered.yield = bad[i];
        assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.where, "yield"));
        clustered = pl_default_clustered_def();
        clustered.toughness = bad[i];
        assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(error.where, "toughness"));
    }
    clustered = pl_default_clustered_def();
    clustered.kernel = (pl_cluster_kernel)99;
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.where, "kernel"));
    clustered = pl_default_clustered_def();
    assert_int_equal(pl_body_create(world, &def, &body, &error), PL_OK);
    pl_pin pin;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_DIRECTION);
    assert_int_equal(pl_pin_at_particle(world, body, 0, &pin_def), PL_OK);
    assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, &error), PL_ERROR_ARGUMENT);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(solid);
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--hash") == 0) {
        printf("hash %llx\n", (unsigned long long)hash_of_flowing(2, -1));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_fall),      cmocka_unit_test(test_momentum_between_kinds),
        cmocka_unit_test(test_rest_on_floor),  cmocka_unit_test(test_pulled_apart),
        cmocka_unit_test(test_pieces_rest),    cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_kernel_is_kept), cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rays: against every kind of collider and against ellipsoids they find what brute force finds;
   bodies are met where they are now, whatever happened to them; and what was picked can be
   dragged. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/cast.h"
#include "support/world_kit.h"

static double between(pl_rng *rng, double low, double high)
{
    return low + (high - low) * pl_random_double(rng);
}

static void random_unit(pl_rng *rng, int count, double *out)
{
    double square = 0;
    while (!(square > 0.01 && square <= 1)) {
        square = 0;
        for (int k = 0; k < count; k++) {
            out[k] = between(rng, -1, 1);
            square += out[k] * out[k];
        }
    }
    for (int k = 0; k < count; k++)
        out[k] /= sqrt(square);
}

static void rotate(const double q[4], const double v[3], double out[3])
{
    double t[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = v[k] + 2 * (q[3] * t[k] + q[a] * t[b] - q[b] * t[a]);
    }
}

/* ---- Shapes: marching ------------------------------------------------------------------------ */

/* A bound of the distance to the surface from below: how far one may march. */
typedef double distance_function(const double p[3], const void *shape);

typedef struct shape {
    double size[3];
} shape;

static double to_box(const double p[3], const void *s)
{
    const double *half = ((const shape *)s)->size;
    double outside = 0;
    for (int k = 0; k < 3; k++) {
        double over = fmax(fabs(p[k]) - half[k], 0);
        outside += over * over;
    }
    return sqrt(outside);
}

static double to_sphere(const double p[3], const void *s)
{
    return fmax(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - ((const shape *)s)->size[0], 0);
}

static double to_capsule(const double p[3], const void *s)
{
    const double *size = ((const shape *)s)->size;
    double over = fmax(fabs(p[1]) - size[1], 0);
    return fmax(sqrt(p[0] * p[0] + p[2] * p[2] + over * over) - size[0], 0);
}

static double to_plane(const double p[3], const void *s)
{
    (void)s;
    return fmax(p[1], 0);
}

/* Lipschitz bound: |p/r| − 1 grows at most by 1/min r per metre. */
static double to_ellipsoid(const double p[3], const void *s)
{
    const double *r = ((const shape *)s)->size;
    double scaled = 0, least = fmin(r[0], fmin(r[1], r[2]));
    for (int k = 0; k < 3; k++)
        scaled += p[k] * p[k] / (r[k] * r[k]);
    return fmax((sqrt(scaled) - 1) * least, 0);
}

/* -1 = nothing within the length; -2 = too close to say. */
static double march(const pl_ray *ray, distance_function *distance, const shape *s)
{
    double t = 0, closest = INFINITY;
    for (int i = 0; i < 20000; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = ray->origin[k] + t * ray->direction[k];
        double step = distance(p, s);
        closest = fmin(closest, step);
        if (step < 1e-9)
            return t;
        t += step;
        if (t > ray->length)
            return closest < 1e-4 ? -2 : -1;
    }
    return -2;
}

static bool cast(int kind, const pl_ray *ray, const shape *s, double *distance, double normal[3])
{
    static const double middle[3] = {0, 0, 0};
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    switch (kind) {
    case 0:
        return pl_cast_plane(ray, distance, normal);
    case 1:
        return pl_cast_box(ray, s->size, distance, normal);
    case 2:
        return pl_cast_sphere(ray, middle, s->size[0], distance, normal);
    case 3:
        return pl_cast_capsule(ray, s->size[0], s->size[1], distance, normal);
    default:
        return pl_cast_ellipsoid(ray, axes, s->size, distance, normal);
    }
}

static void shapes_are_met_where_marching_meets_them(void **state)
{
    (void)state;
    distance_function *functions[] = {to_plane, to_box, to_sphere, to_capsule, to_ellipsoid};
    pl_rng rng = pl_rng_make(11);
    int hits[5] = {0}, misses[5] = {0};
    for (int i = 0; i < world_scaled(20000); i++) {
        int kind = i % 5;
        shape s;
        pl_ray ray = {.length = between(&rng, 0, 6)};
        double distance, normal[3], aim[3], square = 0;
        for (int k = 0; k < 3; k++) {
            s.size[k] = between(&rng, 0.05, 1);
            ray.origin[k] = between(&rng, -2, 2);
            aim[k] = between(&rng, -1.2, 1.2) - ray.origin[k];
            square += aim[k] * aim[k];
        }
        for (int k = 0; k < 3; k++)
            ray.direction[k] = aim[k] / sqrt(square);
        bool met = cast(kind, &ray, &s, &distance, normal);
        double wanted = march(&ray, functions[kind], &s);
        if (wanted == -2)
            continue;
        assert_int_equal(met, wanted >= 0);
        hits[kind] += met;
        misses[kind] += !met;
        if (!met)
            continue;
        assert_true(fabs(distance - wanted) < 1e-4);
        double length = 0, against = 0;
        for (int k = 0; k < 3; k++) {
            length += normal[k] * normal[k];
            against += normal[k] * ray.direction[k];
        }
        assert_true(fabs(length - 1) < 1e-9 && against < 1e-6);
    }
    for (int k = 0; k < 5; k++)
        assert_true(hits[k] > world_scaled(400) && misses[k] > world_scaled(100));
}

/* ---- Colliders of a world -------------------------------------------------------------------- */

static const pl_mesh *box_mesh(const double half[3], double positions[24])
{
    static int32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    static pl_mesh mesh;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            positions[3 * i + k] = (i >> k & 1 ? 1 : -1) * half[k];
    mesh = (pl_mesh){
        .vertex_count = 8, .positions = positions, .triangle_count = 12, .triangles = triangles};
    return &mesh;
}

/* A box as a mesh is met as the box is, from outside; and only the first of several, by
   category. */
static void meshes_and_frames(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(12);
    int hits = 0;
    for (int i = 0; i < world_scaled(400); i++) {
        pl_world *world = world_empty();
        pl_collider box, mesh;
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
        double positions[24], far[3];
        for (int k = 0; k < 3; k++) {
            def.position[k] = between(&rng, -100, 100);
            def.size[k] = between(&rng, 0.1, 1);
        }
        random_unit(&rng, 4, def.rotation);
        def.category = 1;
        assert_int_equal(pl_collider_create(world, &def, &box, NULL), PL_OK);
        def.kind = PL_COLLIDER_MESH;
        def.mesh = box_mesh(def.size, positions);
        def.category = 2;
        def.two_sided = i % 2;
        assert_int_equal(pl_collider_create(world, &def, &mesh, NULL), PL_OK);
        for (int j = 0; j < 20; j++) {
            double origin[3], way[3], target[3];
            random_unit(&rng, 3, far);
            for (int k = 0; k < 3; k++) {
                origin[k] = def.position[k] + 3 * far[k];
                target[k] = def.position[k] + between(&rng, -0.8, 0.8);
                way[k] = 5 * (target[k] - origin[k]);
            }
            pl_ray_hit a, b;
            bool met = pl_world_cast_ray(world, origin, way, 10, 1, &a);
            assert_int_equal(pl_world_cast_ray(world, origin, way, 10, 2, &b), met);
            assert_false(pl_world_cast_ray(world, origin, way, 10, 4, NULL));
            if (!met)
                continue;
            hits++;
            assert_true(a.collider == box.index && b.collider == mesh.index);
            assert_true(a.body == UINT32_MAX && a.particle == -1);
            assert_true(fabs(a.distance - b.distance) < 1e-9);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(a.position[k] - b.position[k]) < 1e-9);
                assert_true(fabs((double)a.normal[k] - (double)b.normal[k]) < 1e-5);
            }
            assert_true(
                fabs(a.distance - sqrt((a.position[0] - origin[0]) * (a.position[0] - origin[0]) +
                                       (a.position[1] - origin[1]) * (a.position[1] - origin[1]) +
                                       (a.position[2] - origin[2]) * (a.position[2] - origin[2]))) <
                1e-9);
            assert_false(pl_world_cast_ray(world, origin, way, 0.999 * a.distance, 3, NULL));
        }
        pl_world_destroy(world);
    }
    assert_true(hits > world_scaled(1000));
}

static pl_world *world_of_mesh(const pl_mesh *mesh, bool two_sided)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
    pl_collider collider;
    pl_world *world = world_empty();
    def.mesh = mesh;
    def.two_sided = two_sided;
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
    return world;
}

/* From anywhere, along anything, of any length: a one-sided box of triangles is as solid as the
   box. */
static void a_one_sided_mesh_is_solid_inside(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(31);
    int within = 0;
    for (int i = 0; i < world_scaled(200); i++) {
        pl_world *world = world_empty();
        pl_collider box, mesh;
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
        double positions[24];
        for (int k = 0; k < 3; k++) {
            def.position[k] = i % 4 ? between(&rng, -100, 100) : 0;
            def.size[k] = i % 4 ? between(&rng, 0.1, 1) : 1;
        }
        if (i % 4)
            random_unit(&rng, 4, def.rotation);
        assert_int_equal(pl_collider_create(world, &def, &box, NULL), PL_OK);
        def.kind = PL_COLLIDER_MESH;
        def.mesh = box_mesh(def.size, positions);
        def.category = 2;
        def.two_sided = false;
        assert_int_equal(pl_collider_create(world, &def, &mesh, NULL), PL_OK);
        for (int j = 0; j < 40; j++) {
            /* Now and then from the very middle, along an axis or through an edge. */
            double origin[3], way[3], length = j % 3 ? between(&rng, 0, 3) : 10;
            random_unit(&rng, 3, way);
            for (int k = 0; k < 3; k++) {
                origin[k] = def.position[k] + (j % 5 ? between(&rng, -0.7, 0.7) : 0);
                if (j % 5 == 0)
                    way[k] = ((j / 5) % 7 + 1) >> k & 1;
            }
            pl_ray_hit a, b;
            bool met = pl_world_cast_ray(world, origin, way, length, 1, &a);
            assert_int_equal(pl_world_cast_ray(world, origin, way, length, 2, &b), met);
            if (!met)
                continue;
            assert_int_equal(b.collider, mesh.index);
            assert_true(fabs(a.distance - b.distance) < 1e-9);
            within += a.distance == 0;
            for (int k = 0; k < 3; k++)
                assert_true(fabs((double)a.normal[k] - (double)b.normal[k]) < 1e-5);
        }
        pl_world_destroy(world);
    }
    assert_true(within > world_scaled(2000));
}

static double distance_of(const pl_world *world, double x, double y, double z, double dx, double dy,
                          double dz)
{
    double origin[3] = {x, y, z}, way[3] = {dx, dy, dz};
    pl_ray_hit hit;
    return pl_world_cast_ray(world, origin, way, 100, UINT32_MAX, &hit) ? hit.distance : -1;
}

/* Boxes of half 1 at -0.5 and 0.5, which overlap; or of half 1 and, inside out, of half 0.5. */
static pl_mesh two_boxes(bool cavity, double positions[48], int32_t triangles[72])
{
    static const double one[3] = {1, 1, 1}, half[3] = {0.5, 0.5, 0.5};
    const pl_mesh *box = box_mesh(one, positions);
    memcpy(triangles, box->triangles, 36 * sizeof *triangles);
    box_mesh(cavity ? half : one, positions + 24);
    for (int i = 0; i < 36; i++)
        triangles[36 + i] = 8 + triangles[cavity && i % 3 ? i + (i % 3 == 1 ? 1 : -1) : i];
    for (int i = 0; i < 16 && !cavity; i++)
        positions[3 * i] += i < 8 ? -0.5 : 0.5;
    return (pl_mesh){
        .vertex_count = 16, .positions = positions, .triangle_count = 24, .triangles = triangles};
}

/* What is enclosed is solid, be it by several surfaces; cavities are not, nor what lies behind a
   single sheet; and what has two sides is hollow. */
static void only_what_is_enclosed_is_solid(void **state)
{
    (void)state;
    double positions[48];
    int32_t triangles[72];
    pl_mesh mesh = two_boxes(false, positions, triangles);
    pl_world *world = world_of_mesh(&mesh, false);
    assert_true(distance_of(world, -1, 0.1, 0, 1, 0, 0) == 0);
    assert_true(distance_of(world, 0, 0, 0, 1, 0.1, 0) == 0);
    assert_true(distance_of(world, 1, 0.1, 0, 1, 0, 0) == 0);
    assert_true(fabs(distance_of(world, -3, 0.1, 0, 1, 0, 0) - 1.5) < 1e-9);
    assert_true(distance_of(world, 1.6, 0, 0, 1, 0, 0) == -1);
    pl_world_destroy(world);

    mesh = two_boxes(true, positions, triangles);
    world = world_of_mesh(&mesh, false);
    assert_true(fabs(distance_of(world, 0, 0, 0, 1, 0.1, 0.2) - 0.5 * sqrt(1.05)) < 1e-9);
    assert_true(distance_of(world, 0.7, 0, 0, -1, 0, 0) == 0);
    pl_world_destroy(world);

    /* A ridge, seen from below within its bounds, and from above. */
    double ridge[18] = {-1, 0, -1, -1, 0, 1, 0, 1, -1, 0, 1, 1, 1, 0, -1, 1, 0, 1};
    int32_t sides[12] = {0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4};
    mesh =
        (pl_mesh){.vertex_count = 6, .positions = ridge, .triangle_count = 4, .triangles = sides};
    world = world_of_mesh(&mesh, false);
    assert_true(distance_of(world, 0.1, 0.2, 0, 0, 1, 0) == -1);
    assert_true(distance_of(world, 0.1, 0.2, 0, 1, 0.1, 0) == -1);
    assert_true(fabs(distance_of(world, 0.25, 2, 0, 0, -1, 0) - 1.25) < 1e-9);
    pl_world_destroy(world);

    static const double one[3] = {1, 1, 1};
    world = world_of_mesh(box_mesh(one, positions), true);
    assert_true(fabs(distance_of(world, 0.2, 0, 0, 1, 0, 0) - 0.8) < 1e-9);
    pl_world_destroy(world);
}

/* A fan of triangles about one vertex: no ray slips through an edge. */
static void no_ray_slips_between_triangles(void **state)
{
    (void)state;
    enum { ROUND = 16 };
    double positions[3 * (ROUND + 1)] = {0.1, 0.05, -0.03};
    int32_t triangles[3 * ROUND];
    for (int i = 0; i < ROUND; i++) {
        positions[3 * i + 3] = cos(2 * 3.14159265358979 * i / ROUND);
        positions[3 * i + 4] = 0.1 * (i % 3);
        positions[3 * i + 5] = sin(2 * 3.14159265358979 * i / ROUND);
        triangles[3 * i] = 0, triangles[3 * i + 1] = 1 + i,
                      triangles[3 * i + 2] = 1 + (i + 1) % ROUND;
    }
    pl_mesh mesh = {.vertex_count = ROUND + 1,
                    .positions = positions,
                    .triangle_count = ROUND,
                    .triangles = triangles};
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
    pl_collider collider;
    pl_world *world = world_empty();
    def.mesh = &mesh;
    assert_int_equal(pl_collider_create(world, &def, &collider, NULL), PL_OK);
    pl_rng rng = pl_rng_make(5);
    for (int i = 0; i < world_scaled(5000); i++) {
        /* Straight at a point of an inner edge. */
        int corner = 1 + i % ROUND;
        double t = i % 7 == 0 ? 0 : between(&rng, 0, 0.95), origin[3], way[3];
        for (int k = 0; k < 3; k++) {
            double at = positions[k] + t * (positions[3 * corner + k] - positions[k]);
            origin[k] = between(&rng, -0.5, 0.5) + (k == 1 ? 2 : 0);
            way[k] = at - origin[k];
        }
        assert_true(pl_world_cast_ray(world, origin, way, 10, 1, NULL));
    }
    pl_world_destroy(world);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Nearest of all ellipsoids, from what can be read of a body. */
static bool brute(const pl_world *world, pl_body body, const double origin[3], const double way[3],
                  double length, int *particle, double *distance)
{
    pl_model *model = pl_body_model(world, body);
    int n = pl_model_get_info(model).particle_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)n), *q = malloc(sizeof(double) * 4 * (size_t)n);
    double *e = malloc(sizeof(double) * 4 * (size_t)n), *r = malloc(sizeof(double) * 3 * (size_t)n);
    world_read(world, body, PL_POSITIONS, x);
    world_read(world, body, PL_ROTATIONS, q);
    assert_int_equal(pl_model_read(model, PL_REST_ORIENTATIONS, 0, n, pl_doubles(e, 0)), PL_OK);
    assert_int_equal(pl_model_read(model, PL_REST_RADII, 0, n, pl_doubles(r, 0)), PL_OK);
    bool any = false;
    for (int i = 0; i < n; i++) {
        pl_ray ray = {.length = length};
        double axes[3][3], t, normal[3], turned[3];
        for (int k = 0; k < 3; k++) {
            double axis[3] = {k == 0, k == 1, k == 2};
            rotate(e + 4 * i, axis, turned);
            rotate(q + 4 * i, turned, axes[k]);
            ray.origin[k] = origin[k] - x[3 * i + k];
            ray.direction[k] = way[k];
        }
        if (!pl_cast_ellipsoid(&ray, (const double(*)[3])axes, r + 3 * i, &t, normal) ||
            (any && t >= *distance))
            continue;
        any = true;
        *distance = t;
        *particle = i;
    }
    free(x), free(q), free(e), free(r);
    return any;
}

static int check_body(const pl_world *world, pl_body body, pl_rng *rng, int rays)
{
    pl_body_state state;
    int hits = 0;
    pl_body_get_state(world, body, &state);
    for (int j = 0; j < rays; j++) {
        double origin[3], way[3], far[3], length = 0, distance = 0;
        int particle = 0;
        pl_ray_hit hit;
        random_unit(rng, 3, far);
        for (int k = 0; k < 3; k++) {
            origin[k] = state.centre[k] + 4 * far[k];
            way[k] = state.centre[k] + between(rng, -0.6, 0.6) - origin[k];
            length += way[k] * way[k];
        }
        for (int k = 0; k < 3; k++)
            way[k] /= sqrt(length);
        bool wanted = brute(world, body, origin, way, 20, &particle, &distance);
        assert_int_equal(pl_world_cast_ray(world, origin, way, 20, UINT32_MAX, &hit), wanted);
        if (!wanted)
            continue;
        hits++;
        assert_int_equal(hit.body, body.index);
        assert_int_equal(hit.collider, UINT32_MAX);
        assert_true(fabs(hit.distance - distance) < 1e-5);
    }
    return hits;
}

static void bodies_are_met_where_they_are(void **state)
{
    (void)state;
    static const pl_shape_kind kinds[] = {PL_SHAPE_SHEET, PL_SHAPE_CREATURE, PL_SHAPE_CHAIN,
                                          PL_SHAPE_BOX};
    pl_rng rng = pl_rng_make(21);
    for (int k = 0; k < 4; k++) {
        pl_model *model = world_model(kinds[k], 0, 0, 0);
        pl_world *world = world_empty();
        pl_body_def def = pl_default_body_def(model);
        pl_body body;
        def.position[0] = 1000;
        def.spin[2] = 3;
        random_unit(&rng, 4, def.rotation);
        assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
        int rays = world_scaled(200), hits = check_body(world, body, &rng, rays);
        world_step(world, 10);
        hits += check_body(world, body, &rng, rays);
        double there[3] = {-50, 7, 3}, turn[4];
        random_unit(&rng, 4, turn);
        assert_int_equal(pl_body_teleport(world, body, there, turn), PL_OK);
        hits += check_body(world, body, &rng, rays);
        int n = pl_model_get_info(model).particle_count;
        double *x = malloc(sizeof(double) * 3 * (size_t)n);
        world_read(world, body, PL_POSITIONS, x);
        for (int i = 0; i < 3 * n; i++)
            x[i] += between(&rng, -0.05, 0.05) + (i % 3 == 0 ? 20 : 0);
        assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, n, pl_doubles(x, 0)), PL_OK);
        hits += check_body(world, body, &rng, rays);
        world_step(world, 1);
        hits += check_body(world, body, &rng, rays);
        size_t size;
        void *bytes = world_snapshot(world, &size);
        pl_world *other = world_empty();
        assert_int_equal(pl_world_restore(other, bytes, size, &model, 1, NULL), PL_OK);
        hits += check_body(other, body, &rng, rays);
        assert_true(hits > rays / 8);
        free(bytes), free(x);
        pl_world_destroy(world);
        pl_world_destroy(other);
        pl_model_release(model);
    }
}

/* The mouse: a ray finds a point, a pin takes hold of it there, and it follows. */
static void what_is_picked_can_be_dragged(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0);
    pl_world *world = world_empty();
    pl_body_def def = pl_default_body_def(model);
    pl_body body;
    pl_rng rng = pl_rng_make(33);
    def.material.damping = 3;
    def.spin[0] = 6;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    world_step(world, 15); /* turned and bent */
    for (int i = 0; i < 20; i++) {
        pl_body_state s;
        pl_body_get_state(world, body, &s);
        double from[3] = {s.centre[0] + between(&rng, -0.2, 0.2), s.centre[1] + 3,
                          s.centre[2] + between(&rng, -0.1, 0.1)};
        double down[3] = {0, -1, 0}, target[3], miss = 0;
        pl_ray_hit hit;
        if (!pl_world_cast_ray(world, from, down, 10, 1, &hit))
            continue;
        pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
        pl_pin pin;
        assert_int_equal(pl_pin_at_point(world, body, hit.rest, &pin_def), PL_OK);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(pin_def.target[k] - hit.position[k]) < 0.05);
        assert_int_equal(pl_pin_create(world, body, &pin_def, &pin, NULL), PL_OK);
        for (int k = 0; k < 3; k++)
            target[k] = pin_def.target[k] + (k == 0 ? 1 : 0.5);
        assert_int_equal(pl_pin_set_target(world, pin, target), PL_OK);
        world_step(world, 60);
        assert_int_equal(pl_pin_at_point(world, body, hit.rest, &pin_def), PL_OK);
        for (int k = 0; k < 3; k++)
            miss = fmax(miss, fabs(pin_def.target[k] - target[k]));
        assert_true(miss < 0.02);
        assert_int_equal(pl_pin_destroy(world, pin), PL_OK);
    }
    pl_world_destroy(world);
    pl_model_release(model);
}

static void nonsense_meets_nothing(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BOX, 0, 0, 0);
    pl_world *world = world_empty();
    world_body(world, model);
    const double bad[][3] = {{NAN, 0, 0}, {INFINITY, 0, 0}, {0, 0, 0}};
    double origin[3] = {0, 5, 0}, down[3] = {0, -1e-200, 0}, huge[3] = {0, -1e200, 0};
    pl_ray_hit hit;
    for (int i = 0; i < 3; i++)
        assert_false(pl_world_cast_ray(world, origin, bad[i], 10, 1, &hit));
    for (int i = 0; i < 2; i++)
        assert_false(pl_world_cast_ray(world, bad[i], down, 10, 1, &hit));
    assert_false(pl_world_cast_ray(world, origin, down, NAN, 1, &hit));
    assert_false(pl_world_cast_ray(world, origin, down, -1, 1, &hit));
    assert_false(pl_world_cast_ray(NULL, origin, down, 10, 1, &hit));
    assert_int_equal(hit.body, UINT32_MAX);
    assert_true(pl_world_cast_ray(world, origin, down, INFINITY, 1, &hit));
    double first = hit.distance;
    assert_true(pl_world_cast_ray(world, origin, huge, 10, 1, &hit));
    assert_true(fabs(hit.distance - first) < 1e-9);
    /* From inside: at once. */
    assert_true(pl_world_cast_ray(world, hit.position, down, 10, 1, &hit));
    assert_true(hit.distance < 1e-6);
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_met_where_marching_meets_them),
        cmocka_unit_test(meshes_and_frames),
        cmocka_unit_test(a_one_sided_mesh_is_solid_inside),
        cmocka_unit_test(only_what_is_enclosed_is_solid),
        cmocka_unit_test(no_ray_slips_between_triangles),
        cmocka_unit_test(bodies_are_met_where_they_are),
        cmocka_unit_test(what_is_picked_can_be_dragged),
        cmocka_unit_test(nonsense_meets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

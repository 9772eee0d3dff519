/* Picking and dragging, as with a mouse: a ray is met with the triangles that the player sees, the vertex nearest to where
   it does is pinned, and the pin's target follows the hand. pl_world_cast_ray would be shorter, and tells which of all bodies and
   colliders comes first; but to it bodies are their particles' ellipsoids, and between those of a coarse body there
   are gaps.

       cc pick.c $(pkg-config --cflags --libs pliant) && ./a.out */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <pliant/cook.h>
#include <pliant/pliant.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Möller and Trumbore: where along the ray it meets a triangle, in lengths of `direction`; infinity = nowhere. The nearest
   corner is put into *corner. */
static double meet(const double origin[3], const double direction[3], const double *corners[3],
                   int *corner)
{
    double ab[3], ac[3], ao[3], p[3], q[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = corners[1][k] - corners[0][k];
        ac[k] = corners[2][k] - corners[0][k];
        ao[k] = origin[k] - corners[0][k];
    }
    cross(direction, ac, p);
    cross(ao, ab, q);
    double size = dot(ab, p), u = dot(ao, p) / size, v = dot(direction, q) / size;
    double distance = dot(ac, q) / size;
    if (!(u >= 0 && v >= 0 && u + v <= 1 && distance > 0))
        return INFINITY;
    *corner = u > v ? (u > 1 - u - v ? 1 : 0) : (v > 1 - u - v ? 2 : 0);
    return distance;
}

/* The vertex of the body that a ray takes hold of; -1 = it misses the body. */
static int pick(const pl_world *world, pl_body body, const double origin[3],
                const double direction[3], double *distance)
{
    pl_model *model = pl_body_model(world, body);
    pl_model_info info = pl_model_get_info(model);
    const int32_t *triangles = pl_model_triangles(model);
    double *vertices = malloc(3 * (size_t)info.vertex_count * sizeof *vertices);
    int picked = -1;
    *distance = INFINITY;
    if (!vertices || pl_body_read(world, body, PL_VERTICES, 0, info.vertex_count, 1,
                                  pl_doubles(vertices, 0)) != PL_OK)
        info.triangle_count = 0;
    for (int t = 0; t < info.triangle_count; t++) {
        const int32_t *triangle = triangles + 3 * (size_t)t;
        const double *corners[3];
        int corner = 0;
        for (int k = 0; k < 3; k++)
            corners[k] = vertices + 3 * (size_t)triangle[k];
        double there = meet(origin, direction, corners, &corner);
        if (there < *distance) {
            *distance = there;
            picked = triangle[corner];
        }
    }
    free(vertices);
    return picked;
}

static int fail(const pl_error *error)
{
    fprintf(stderr, "%s: %s\n", error->where, error->text);
    return 1;
}

int main(void)
{
    pl_error error = {0};
    pl_mesh mesh;
    pl_model *model;
    pl_world *world;
    pl_collider floor;
    pl_body teddy;
    pl_pin hand;

    if (pl_builtin_mesh("teddy", 1, NULL, &mesh, &error) != PL_OK)
        return fail(&error);
    pl_cook_def cook_def = pl_default_cook_def(&mesh);
    if (pl_cook(&cook_def, &model, NULL, &error) != PL_OK)
        return fail(&error);
    pl_mesh_free(&mesh);

    pl_world_def world_def = pl_default_world_def();
    world_def.substeps = 3;
    pl_collider_def floor_def = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_body_def body_def = pl_default_body_def(model);
    body_def.material.young = 3e4;
    if (pl_world_create(&world_def, &world, &error) != PL_OK ||
        pl_collider_create(world, &floor_def, &floor, &error) != PL_OK ||
        pl_body_create(world, &body_def, &teddy, &error) != PL_OK)
        return fail(&error);

    /* The player clicks on the head: from the eye through the cursor. */
    const double eye[3] = {0, 1.2, 3}, through[3] = {0.02, -0.17, -1};
    double distance;
    int vertex = pick(world, teddy, eye, through, &distance);
    if (vertex < 0)
        return 1;
    pl_pin_def pin_def = pl_default_pin_def(PL_PIN_POSITION);
    pl_pin_at_vertex(world, teddy, vertex, &pin_def); /* the target is where it is now */
    if (pl_pin_create(world, teddy, &pin_def, &hand, &error) != PL_OK)
        return fail(&error);
    printf("vertex %d, %.2f m from the eye\n", vertex, distance * sqrt(dot(through, through)));

    /* Lifted by a metre, and let go. */
    for (int frame = 1; frame <= 60; frame++) {
        double target[3] = {pin_def.target[0], pin_def.target[1] + frame / 60.0, pin_def.target[2]};
        pl_pin_set_target(world, hand, target);
        pl_world_step(world, NULL);
    }
    pl_body_state lifted, fallen;
    pl_body_get_state(world, teddy, &lifted);
    pl_pin_destroy(world, hand);
    for (int frame = 0; frame < 120; frame++)
        pl_world_step(world, NULL);
    pl_body_get_state(world, teddy, &fallen);
    printf("its centre was lifted to %.2f m and fell to %.2f m\n", lifted.centre[1],
           fallen.centre[1]);

    pl_world_destroy(world);
    pl_model_release(model);
    return lifted.centre[1] > 1 && fallen.centre[1] < 0.8 ? 0 : 1;
}

/* Two-way coupling with rigid bodies of your own: a collider with a mass stands for each of them in
   the world. Before a step it is told the rigid body's velocity, after it the rigid body takes over
   the impulse that it received and the place it has come to. Here the "engine" is thirty lines: one
   box, gravity, an optional spring.

   First a heavy box falls on a soft block, then a soft block falls on a light box that hangs on a
   spring. What the one gains the other loses: the program checks that, and fails otherwise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pliant/pliant.h"

#define STEP (1.0 / 60)
#define GRAVITY 9.81

/* ---- A stand-in for a rigid-body engine ------------------------------------------------------ */

typedef struct rigid_box {
    double half, mass, inertia; /* metres, kg, kg m² about each axis */
    double position[3], rotation[4], velocity[3], spin[3];
    double spring, damping, home[3]; /* N/m towards a place, N s/m; likewise against turning */
    pl_collider collider;
} rigid_box;

static void rigid_create(pl_world *world, rigid_box *box)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    box->inertia = box->mass * box->half * box->half * 2 / 3;
    box->rotation[3] = 1;
    def.mass = box->mass;
    for (int k = 0; k < 3; k++) {
        def.size[k] = box->half;
        def.inertia[k] = box->inertia;
        def.position[k] = box->position[k];
    }
    pl_error error;
    if (pl_collider_create(world, &def, &box->collider, &error) != PL_OK)
        printf("%s: %s\n", error.where, error.text);
}

/* Gravity and the spring. Returns the impulse they gave along y. */
static double rigid_forces(rigid_box *box)
{
    double given = 0;
    for (int k = 0; k < 3; k++) {
        double force =
            -box->spring * (box->position[k] - box->home[k]) - box->damping * box->velocity[k];
        double torque =
            -box->spring * box->half * box->half * 2 * box->rotation[k] * box->rotation[3] -
            box->damping * box->half * box->half * box->spin[k];
        force -= k == 1 ? GRAVITY * box->mass : 0;
        box->velocity[k] += force * STEP / box->mass;
        box->spin[k] += torque * STEP / box->inertia;
        given = k == 1 ? force * STEP : given;
    }
    return given;
}

/* The few lines that couple it. */
static void rigid_before_step(pl_world *world, const rigid_box *box)
{
    pl_collider_set_velocity(world, box->collider, box->velocity, box->spin);
}

static void rigid_after_step(const pl_world *world, rigid_box *box)
{
    pl_collider_state state;
    pl_collider_get_state(world, box->collider, &state);
    for (int k = 0; k < 3; k++) {
        box->velocity[k] += state.impulse[k] / box->mass;
        box->spin[k] += state.torque[k] / box->inertia;
    }
    memcpy(box->position, state.position, sizeof box->position);
    memcpy(box->rotation, state.rotation, sizeof box->rotation);
}

/* ---- The two scenes -------------------------------------------------------------------------- */

/* Momentum along y of all that there is must follow from gravity, the spring and the floor alone.
   Returns the worst error, relative. */
static double run(const char *what, pl_world *world, pl_body body, pl_collider *ground,
                  rigid_box *box, int frames)
{
    pl_body_state state;
    pl_collider_state floor_state = {.touches = 0};
    pl_body_get_state(world, body, &state);
    double expected = state.momentum[1] + box->mass * box->velocity[1], worst = 0;
    double scale = (state.mass + box->mass) * 5;
    for (int frame = 0; frame < frames; frame++) {
        expected += rigid_forces(box) - GRAVITY * state.mass * STEP;
        rigid_before_step(world, box);
        pl_world_step(world, NULL);
        rigid_after_step(world, box);
        pl_body_get_state(world, body, &state);
        if (ground)
            pl_collider_get_state(world, *ground, &floor_state);
        expected -= floor_state.impulse[1];
        double error = fabs(state.momentum[1] + box->mass * box->velocity[1] - expected) / scale;
        worst = error > worst ? error : worst;
        if (frame % 30 == 29)
            printf("%s, %.1f s: body at %6.3f m, box at %6.3f m, %6.3f m/s\n", what,
                   (frame + 1) * STEP, state.centre[1], box->position[1], box->velocity[1]);
    }
    printf("%s: momentum to %.1e of its size\n", what, worst);
    return worst;
}

static pl_body make_block(pl_world *world, double height)
{
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BOX);
    pl_shape *shape = NULL;
    pl_model *model = NULL;
    pl_body body = {0, 0};
    for (int k = 0; k < 3; k++) {
        def.count[k] = 5;
        def.size[k] = 1;
    }
    if (pl_shape_create(&def, &shape, NULL) != PL_OK)
        return body;
    pl_model_def model_def = pl_shape_model_def(shape);
    if (pl_model_create(&model_def, &model, NULL) == PL_OK) {
        pl_body_def body_def = pl_default_body_def(model);
        body_def.position[1] = height;
        body_def.material.young = 1e5;
        body_def.material.density = 200;
        body_def.material.damping = 0;
        pl_body_create(world, &body_def, &body, NULL);
        pl_model_release(model);
    }
    pl_shape_destroy(shape);
    return body;
}

static pl_world *make_world(void)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world = NULL;
    def.step = STEP;
    def.substeps = 4;
    def.gravity[1] = -GRAVITY;
    pl_world_create(&def, &world, NULL);
    return world;
}

int main(void)
{
    pl_world *world = make_world();
    pl_collider_def ground_def = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider ground;
    pl_collider_create(world, &ground_def, &ground, NULL);
    pl_body body = make_block(world, 0.6);
    rigid_box heavy = {.half = 0.4, .mass = 150, .position = {0, 1.8, 0}};
    rigid_create(world, &heavy);
    double first = run("a heavy box on a soft block", world, body, &ground, &heavy, 120);
    pl_world_destroy(world);

    world = make_world();
    body = make_block(world, 1.4);
    rigid_box light = {
        .half = 0.6, .mass = 5, .position = {0, 0, 0}, .spring = 1e4, .damping = 100};
    light.home[1] = GRAVITY * light.mass / light.spring; /* it hangs still */
    rigid_create(world, &light);
    double second = run("a soft block on a light box", world, body, NULL, &light, 120);
    pl_world_destroy(world);
    return first < 1e-6 && second < 1e-6 && heavy.position[1] > 0.5 ? 0 : 1;
}

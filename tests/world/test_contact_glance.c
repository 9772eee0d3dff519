/* A fast touch without restitution leaves no closing speed: what met goes on along the tangent of
   the surfaces where they met, less what friction takes, and nothing flies past what it has hit.
   One particle is thrown at colliders and at other particles so that the place and the normal of
   the blow are known; then the velocity after it, and where everything ends, are

       v' = v_t max(0, 1 − μ v_n/v_t),    x = x₀ + v t₁ + v' (t − t₁)

   for what is between the two. Momentum is conserved, kinetic energy never grows. */
#include <stdio.h>

#include "contact_cases.h"

enum { FRAMES = 8 };

typedef enum target_kind {
    SPHERE,
    CAPSULE,
    BOX_FACE,
    BOX_EDGE,
    MESH,
    HOSTED, /* a sphere with a mass */
    BODY,
    TARGETS
} target_kind;

static const char *const names[TARGETS] = {
    "sphere", "capsule", "box, faces", "box, edges", "mesh", "sphere with a mass", "ball"};

typedef struct blow {
    target_kind kind;
    double size[3], turn[4];      /* of the target, which is at the origin */
    double mass;                  /* of a target that gives way */
    double radius;                /* of the ball */
    double n[3], met[3];          /* normal, and the ball's centre, where they meet */
    double v[3], after[3], until; /* against each other, m/s; seconds before they meet */
    double friction, step;
    int substeps;
} blow;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalise(double v[3])
{
    double length = contact_length(v);
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

/* A point of the target and the normal there, in its frame; of an edge any normal that is between
   those of its faces. */
static void draw_place(pl_rng *rng, blow *b, double point[3])
{
    double *n = b->n;
    int axis = contact_below(rng, 3), other = (axis + 1) % 3;
    contact_direction(rng, n);
    for (int k = 0; k < 3; k++)
        point[k] = b->size[0] * n[k];
    if (b->kind == CAPSULE && contact_below(rng, 2)) {
        n[1] = 0;
        normalise(n);
        for (int k = 0; k < 3; k++)
            point[k] = b->size[0] * n[k];
        point[1] = contact_between(rng, -1, 1) * b->size[1];
    } else if (b->kind == CAPSULE) {
        point[1] += n[1] > 0 ? b->size[1] : -b->size[1];
    } else if (b->kind == BOX_FACE || b->kind == BOX_EDGE) {
        double sign[3], angle = contact_between(rng, 0.1, 1.4);
        for (int k = 0; k < 3; k++) {
            sign[k] = contact_below(rng, 2) ? 1 : -1;
            point[k] = contact_between(rng, -1, 1) * b->size[k];
            n[k] = 0;
        }
        n[axis] = sign[axis];
        point[axis] = sign[axis] * b->size[axis];
        if (b->kind == BOX_EDGE) {
            n[axis] = sign[axis] * cos(angle);
            n[other] = sign[other] * sin(angle);
            point[other] = sign[other] * b->size[other];
        }
    } else if (b->kind == MESH) {
        for (int k = 0; k < 3; k++)
            n[k] = k == 1, point[k] = k == 1 ? 0 : contact_between(rng, -0.4, 0.4);
    }
}

/* Up to 60° from head-on, in a sub-step by one to forty times the ball's radius; of two balls, of
   what makes a pair swept: half of the sum of their radii. */
static void draw_ways(pl_rng *rng, blow *b)
{
    double across[3], angle = contact_between(rng, 0, 1.05), h = b->step / b->substeps;
    double least = b->kind == BODY ? 0.501 * (b->radius + b->size[0]) : b->radius;
    double speed = contact_decades(rng, 0, 1.6) * least / h;
    contact_direction(rng, across);
    double straight = dot(across, b->n);
    for (int k = 0; k < 3; k++)
        across[k] -= straight * b->n[k];
    normalise(across);
    double tangent = speed * sin(angle), normal = speed * cos(angle);
    /* Friction slows it until it rolls: 2/7 of the way, or where only one of the two turns, and
       both move, its part of that. */
    double free = b->kind == HOSTED ? (1 + 1 / b->mass) / (3.5 + 1 / b->mass) : 1 / 3.5;
    double left = fmax(tangent - b->friction * normal, (1 - free) * tangent);
    for (int k = 0; k < 3; k++) {
        b->v[k] = tangent * across[k] - normal * b->n[k];
        b->after[k] = left * across[k];
    }
    b->until = contact_between(rng, 0.01, 2.5) * b->step;
}

static blow draw_blow(pl_rng *rng, target_kind kind, double friction)
{
    static const int substeps[] = {1, 2, 4};
    double place[3], point[3], n[3];
    blow b = {.kind = kind,
              .radius = contact_decades(rng, -2, -0.5),
              .size = {0.1, 0.1, 0.1},
              .mass = contact_decades(rng, -1, 3),
              .friction = friction,
              .step = contact_below(rng, 2) ? 1.0 / 30 : 1.0 / 60,
              .substeps = substeps[contact_below(rng, 3)]};
    for (int k = 0; k < 3; k++)
        b.size[k] = contact_decades(rng, -2, 0);
    contact_rotation(rng, b.turn);
    draw_place(rng, &b, place);
    contact_turn_vector(b.turn, place, point);
    memcpy(n, b.n, sizeof n);
    contact_turn_vector(b.turn, n, b.n);
    for (int k = 0; k < 3; k++)
        b.met[k] = point[k] + b.radius * b.n[k];
    draw_ways(rng, &b);
    return b;
}

/* ---- Thrown ---------------------------------------------------------------------------------- */

static pl_model *ball(double radius)
{
    const float at[3] = {0, 0, 0}, radii[3] = {(float)radius, (float)radius, (float)radius};
    pl_model_def def = pl_default_model_def();
    pl_model *model;
    def.particle_count = 1;
    def.positions = pl_floats((float *)(uintptr_t)at, 0);
    def.radii = pl_floats((float *)(uintptr_t)radii, 0);
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    return model;
}

static pl_body add_ball(pl_world *world, const blow *b, double radius, double mass,
                        const double at[3], const double velocity[3])
{
    pl_model *model = ball(radius);
    pl_body_def def = pl_default_body_def(model);
    memcpy(def.position, at, sizeof def.position);
    memcpy(def.velocity, velocity, sizeof def.velocity);
    def.material.damping = 0;
    def.material.friction = b->friction;
    def.material.density = mass / (4.0 / 3 * 3.14159265358979 * radius * radius * radius);
    pl_body body = collider_add_body(world, &def);
    pl_model_release(model);
    return body;
}

static pl_collider add_target(pl_world *world, const blow *b, const collider_sheet *sheet,
                              const double velocity[3])
{
    static const pl_collider_kind kinds[] = {
        [SPHERE] = PL_COLLIDER_SPHERE, [CAPSULE] = PL_COLLIDER_CAPSULE,
        [BOX_FACE] = PL_COLLIDER_BOX,  [BOX_EDGE] = PL_COLLIDER_BOX,
        [MESH] = PL_COLLIDER_MESH,     [HOSTED] = PL_COLLIDER_SPHERE};
    pl_collider_def def = pl_default_collider_def(kinds[b->kind]);
    memcpy(def.size, b->size, sizeof def.size);
    memcpy(def.rotation, b->turn, sizeof def.rotation);
    def.friction = b->friction;
    def.mesh = &sheet->mesh;
    if (b->kind == HOSTED) {
        def.mass = b->mass;
        memcpy(def.velocity, velocity, sizeof def.velocity);
        def.inertia[0] = def.inertia[1] = def.inertia[2] = 1e9 * b->mass;
    }
    return collider_add(world, &def);
}

typedef struct thrown {
    pl_world *world;
    pl_body ball, other;
    pl_collider collider;
    double mass, other_mass, velocity[3]; /* of the host */
} thrown;

static bool gives_way(const blow *b)
{
    return b->kind == HOSTED || b->kind == BODY;
}

static thrown throw(const blow *b, const collider_sheet *sheet)
{
    pl_world_def def = pl_default_world_def();
    thrown t = {.mass = 1, .other_mass = b->mass};
    double at[3], v[3], none[3] = {0, 0, 0}, origin[3];
    def.step = b->step;
    def.substeps = b->substeps;
    def.gravity[1] = 0;
    assert_int_equal(pl_world_create(&def, &t.world, NULL), PL_OK);
    double share = gives_way(b) ? 1 / (1 + b->mass) : 0; /* of the way that is the target's */
    for (int k = 0; k < 3; k++) {
        t.velocity[k] = -share * b->v[k];
        v[k] = (1 - share) * b->v[k];
        origin[k] = 0;
        at[k] = b->met[k] - b->until * b->v[k];
    }
    if (b->kind == BODY)
        t.other = add_ball(t.world, b, b->size[0], b->mass, origin, t.velocity);
    else
        t.collider = add_target(t.world, b, sheet, gives_way(b) ? t.velocity : none);
    t.ball = add_ball(t.world, b, b->radius, 1, at, v);
    return t;
}

typedef struct sight {
    double x[3], v[3];               /* against each other */
    double momentum[3], sum, energy; /* sum: of the momenta's sizes */
} sight;

static sight see(const thrown *t, const blow *b)
{
    pl_body_state s, other = {0};
    pl_collider_state c;
    sight out = {.sum = 0};
    assert_int_equal(pl_body_get_state(t->world, t->ball, &s), PL_OK);
    if (b->kind == BODY) {
        assert_int_equal(pl_body_get_state(t->world, t->other, &other), PL_OK);
    } else {
        assert_int_equal(pl_collider_get_state(t->world, t->collider, &c), PL_OK);
        memcpy(other.centre, c.position, sizeof c.position);
        if (b->kind == HOSTED)
            memcpy(other.velocity, t->velocity, sizeof t->velocity);
    }
    double mass = gives_way(b) ? t->other_mass : 0;
    for (int k = 0; k < 3; k++) {
        out.x[k] = s.centre[k] - other.centre[k];
        out.v[k] = s.velocity[k] - other.velocity[k];
        out.momentum[k] = t->mass * s.velocity[k] + mass * other.velocity[k];
        out.energy +=
            t->mass * s.velocity[k] * s.velocity[k] + mass * other.velocity[k] * other.velocity[k];
    }
    out.sum = t->mass * contact_length(s.velocity) + mass * contact_length(other.velocity);
    return out;
}

/* The host's own body. */
static void step(thrown *t, const blow *b)
{
    pl_collider_state s;
    world_step(t->world, 1);
    if (b->kind != HOSTED)
        return;
    assert_int_equal(pl_collider_get_state(t->world, t->collider, &s), PL_OK);
    for (int k = 0; k < 3; k++)
        t->velocity[k] += s.impulse[k] / t->other_mass;
    const double spin[3] = {0, 0, 0};
    pl_collider_set_velocity(t->world, t->collider, t->velocity, spin);
}

/* Of the speed; of the way in a frame. Who comes to a mesh is answered where its centre goes
   through, so that friction may begin a sub-step later. */
#define MOST_WRONG 0.005
#define MOST_ASTRAY 0.03
/* Where friction makes a ball roll: of a sub-step in which it meets only the rest is rolled. */
#define MOST_WRONG_ROLLING 0.02
#define MOST_ASTRAY_ROLLING 0.15
#define MOST_AT_MESH 1.0

/* ---- Judged ---------------------------------------------------------------------------------- */

typedef struct worst {
    double speed, place, momentum,
        energy; /* parts of what there was; place: of the way in a frame */
    int at;
} worst;

static void judge(const blow *b, const sight *before, const sight *now, double time, int number,
                  worst *w)
{
    double off[3], lost[3], aside[3], speed = contact_length(b->v);
    for (int k = 0; k < 3; k++) {
        off[k] = now->v[k] - b->after[k];
        lost[k] = now->momentum[k] - before->momentum[k];
        aside[k] = now->x[k] - (b->met[k] + (time - b->until) * b->after[k]);
    }
    double wrong = contact_length(off) / speed;
    w->at = wrong > w->speed ? number : w->at;
    w->speed = fmax(w->speed, wrong);
    w->place = fmax(w->place, contact_length(aside) / (speed * b->step));
    if (gives_way(b))
        w->momentum = fmax(w->momentum, contact_length(lost) / before->sum);
}

static void throw_one(const blow *b, const collider_sheet *sheet, int number, worst *w)
{
    thrown t = throw(b, sheet);
    sight before = see(&t, b), last = before;
    for (int f = 0; f < FRAMES; f++) {
        step(&t, b);
        sight now = see(&t, b);
        w->energy = fmax(w->energy, now.energy / before.energy - last.energy / before.energy);
        last = now;
    }
    judge(b, &before, &last, FRAMES * b->step, number, w);
    pl_world_destroy(t.world);
}

static void throw_all(double friction)
{
    collider_sheet sheet = collider_make_sheet(4, 1);
    bool wrong = false;
    for (target_kind kind = 0; kind < TARGETS; kind++) {
        int cases = check_rounds(3000, 200);
        worst w = {.at = -1};
        for (int i = 0; i < cases; i++) {
            pl_rng rng = pl_rng_make((uint64_t)i);
            blow b = draw_blow(&rng, kind, friction);
            throw_one(&b, &sheet, i, &w);
        }
        printf(
            "%s, friction %.1f: velocity off by up to %.1e (case %d), place by %.1e of a frame's "
            "way; momentum %.1e, energy %+.1e\n",
            names[kind], friction, w.speed, w.at, w.place, w.momentum, w.energy);
        double astray = friction > 0 ? MOST_ASTRAY_ROLLING : MOST_ASTRAY;
        wrong |= w.speed > (friction > 0 ? MOST_WRONG_ROLLING : MOST_WRONG) ||
                 w.place > (kind == MESH ? MOST_AT_MESH : astray) || w.momentum > 1e-6 ||
                 w.energy > 1e-6;
    }
    collider_free_sheet(&sheet);
    assert_false(wrong);
}

static void what_met_slides_on(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    throw_all(0);
}

static void friction_slows_the_slide(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    throw_all(0.5);
}

/* Stiff boxes, which are moved as wholes, thrown askew at a plate: the impulse across is μ times
   that along the normal, or a little less where they turn. */
static void wholes_rub(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    enum { CASES = 60 };
    const double friction = 0.3;
    double sum = 0, most = 0;
    pl_model *model = collider_lattice(3, 3, 3, 0.07);
    for (int i = 0; i < CASES; i++) {
        pl_rng rng = pl_rng_make((uint64_t)i);
        pl_world *world = collider_world(1 + i % 4, 2, 0);
        pl_collider_def plate = pl_default_collider_def(PL_COLLIDER_BOX);
        plate.size[0] = plate.size[2] = 50;
        plate.size[1] = plate.friction = friction;
        double speed = contact_decades(&rng, 0.7, 1.9);
        pl_body_def def =
            collider_body_def(model, 1e8, 0, 0.6 + speed / 60 * contact_between(&rng, 0.5, 1.5), 0);
        def.velocity[0] = speed;
        def.velocity[1] = -speed;
        def.material.friction = friction;
        collider_add(world, &plate);
        pl_body body = collider_add_body(world, &def);
        pl_body_state s;
        world_step(world, 8);
        assert_int_equal(pl_body_get_state(world, body, &s), PL_OK);
        double part = (speed - s.velocity[0]) / (speed + s.velocity[1]);
        sum += part / CASES;
        most = fmax(most, part);
        pl_world_destroy(world);
    }
    printf("stiff boxes: friction %.4f on average, at most %.4f, of %.1f\n", sum, most, friction);
    assert_true(sum > 0.95 * friction && most < 1.001 * friction);
    pl_model_release(model);
}

/* ---- Bounces --------------------------------------------------------------------------------- */

typedef enum ground_kind {
    PLANE,
    PLATE,
    GLOBE,
    PILLAR,
    SHEET,
    BOARD,
    HEAVY,
    EQUAL,
    GROUNDS
} ground_kind;

static const char *const grounds[GROUNDS] = {
    "plane", "box", "sphere", "capsule", "mesh", "box with a mass", "heavy ball", "equal ball"};

/* Something thrown askew at the origin, where the normal is y: so fast that nothing turns away from
   that while they meet. */
typedef struct toss {
    ground_kind ground;
    bool boxes, firm;   /* a stiff box instead of a ball; stiff_contact */
    double along, down; /* m/s */
    double friction, bounce;
    double phase; /* of a sub-step, when they meet */
    int substeps;
} toss;

/* In parts of the law; impulses of friction in parts of μ times those along the normal. */
typedef struct lost {
    double along, down, told;
} lost;

#define WIDE 50.0 /* metres: nearly flat */

static double radius_of(const toss *t)
{
    return t->ground == EQUAL ? WIDE : t->ground == HEAVY ? 0.1 * WIDE : 0.1;
}

static void add_collider(pl_world *world, const toss *t)
{
    static const pl_collider_kind kinds[] = {PL_COLLIDER_PLANE,  PL_COLLIDER_BOX,
                                             PL_COLLIDER_SPHERE, PL_COLLIDER_CAPSULE,
                                             PL_COLLIDER_MESH,   PL_COLLIDER_BOX};
    collider_sheet sheet = {.positions = NULL};
    pl_collider_def def = pl_default_collider_def(kinds[t->ground]);
    for (int k = 0; k < 3; k++)
        def.size[k] = WIDE;
    def.position[1] = t->ground == PLANE || t->ground == SHEET ? 0 : -WIDE;
    if (t->ground == PILLAR)
        def.size[1] = 2, def.position[1] -= 2;
    if (t->ground == SHEET) {
        sheet = collider_make_sheet(5, WIDE);
        def.mesh = &sheet.mesh;
    }
    if (t->ground == BOARD)
        def.mass = 1e9;
    def.friction = t->friction;
    def.restitution = t->bounce;
    collider_add(world, &def);
    if (sheet.positions)
        collider_free_sheet(&sheet);
}

static void add_ground_ball(pl_world *world, const toss *t, pl_model *model)
{
    pl_body_def def = collider_body_def(model, 1e6, 0, -WIDE, 0);
    def.material.friction = t->friction;
    def.material.restitution = t->bounce;
    collider_add_body(world, &def);
}

static lost toss_one(const toss *t)
{
    enum { BEFORE = 2, AFTER = 3 };
    const double h = 1.0 / 60 / t->substeps, until = (BEFORE * t->substeps + t->phase) * h;
    pl_world_def world_def = pl_default_world_def();
    pl_model *model = t->boxes ? collider_lattice(3, 3, 3, 0.07) : ball(radius_of(t));
    pl_model *wide = ball(WIDE);
    pl_world *world;
    pl_body_state s;
    world_def.substeps = t->substeps;
    world_def.gravity[1] = 0;
    world_def.stiff_contact = t->firm;
    assert_int_equal(pl_world_create(&world_def, &world, NULL), PL_OK);
    if (t->ground >= HEAVY)
        add_ground_ball(world, t, wide);
    else
        add_collider(world, t);
    pl_body_def def = collider_body_def(model, 1e8, 0, 0, 0);
    def.position[0] = -t->along * until;
    def.position[1] = (t->boxes ? 0.105 : radius_of(t)) + t->down * until;
    def.velocity[0] = t->along;
    def.velocity[1] = -t->down;
    def.material.friction = t->friction;
    def.material.restitution = t->bounce;
    pl_body body = collider_add_body(world, &def);
    double impulse = 0, rubbed = 0;
    for (int f = 0; f < BEFORE + AFTER; f++) {
        int count;
        world_step(world, 1);
        const pl_contact_event *events = pl_world_contacts(world, &count);
        for (int i = 0; i < count; i++) {
            impulse += events[i].impulse;
            rubbed += events[i].friction_impulse;
        }
    }
    assert_int_equal(pl_body_get_state(world, body, &s), PL_OK);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(wide);
    double share = t->ground == EQUAL ? 0.5 : 1;
    double law = t->friction * (1 + t->bounce) * t->down;
    law = fmin(law, t->along / 3.5);
    double told = t->friction * impulse * law / (t->friction * (1 + t->bounce) * t->down);
    return (lost){.along = (t->along - s.velocity[0]) / (share * law),
                  .down = (t->down + s.velocity[1]) / (share * (1 + t->bounce) * t->down),
                  .told = rubbed / told};
}

/* Whenever in a sub-step it arrives. */
static void toss_all(toss t, const char *what)
{
    enum { PHASES = 13 };
    lost least = {1e9, 1e9, 1e9}, most = {-1e9, -1e9, -1e9};
    for (int i = 0; i < PHASES; i++) {
        t.phase = (i + 0.5) / PHASES;
        lost l = toss_one(&t);
        least.along = fmin(least.along, l.along), most.along = fmax(most.along, l.along);
        least.down = fmin(least.down, l.down), most.down = fmax(most.down, l.down);
        least.told = fmin(least.told, l.told), most.told = fmax(most.told, l.told);
    }
    printf("%s on %s%s, restitution %.1f, %d sub-steps: across %.3f to %.3f of the law, along the "
           "normal %.3f to %.3f, events %.3f to %.3f\n",
           what, grounds[t.ground], t.firm ? "" : " (by particles)", t.bounce, t.substeps,
           least.along, most.along, least.down, most.down, least.told, most.told);
    assert_true(least.along > 0.98 && most.along < 1.02);
    assert_true(least.down > 0.98 && most.down < 1.02);
    assert_true(least.told > 0.98 && most.told < 1.02);
}

/* A blow takes μ (1 + e) times the speed along the normal from what slides. */
static void bounces_rub(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int i = 0; i < 3 * GROUNDS; i++) {
        toss t = {.ground = i / 3,
                  .firm = true,
                  .along = 5,
                  .down = 5,
                  .friction = 0.1,
                  .bounce = 0.5 * (i % 3),
                  .substeps = 1 + 3 * (i % 2)};
        toss_all(t, "ball");
        t.firm = false;
        toss_all(t, "ball");
        t.boxes = t.firm = true;
        if (t.ground < GLOBE || t.ground == SHEET)
            toss_all(t, "stiff box");
    }
}

/* No more than makes a ball roll: 2/7 of the slide. */
static void bouncing_balls_roll(void **state)
{
    (void)state;
    CHECK_ONE_THREAD();
    for (int i = 0; i < 3 * GROUNDS; i++)
        toss_all((toss){.ground = i / 3,
                        .firm = true,
                        .along = 2,
                        .down = 5,
                        .friction = 0.4,
                        .bounce = 0.5 * (i % 3),
                        .substeps = 1 + 3 * (i % 2)},
                 "rolling ball");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_met_slides_on),  cmocka_unit_test(friction_slows_the_slide),
        cmocka_unit_test(wholes_rub),          cmocka_unit_test(bounces_rub),
        cmocka_unit_test(bouncing_balls_roll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

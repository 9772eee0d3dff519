/* What can be changed once it is there: surfaces and filters of colliders, filters and self-contact
   of bodies. Belts that stop, doors that open; sleepers wake; what was changed is what would have
   been made like that, to the last bit. And the way back from an index to a handle, and rays that
   pass whoever casts them. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/collider_kit.h"

static const double straight[4] = {0, 0, 0, 1};

static pl_collider_def plate_def(void)
{
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.size[0] = def.size[2] = 20;
    def.position[1] = -0.5;
    return def;
}

static pl_body add_box(pl_world *world, pl_model *model, double x, double bottom)
{
    pl_body_def def = collider_body_def(model, 1e5, x, bottom + 0.375, 0);
    def.material.damping = 1;
    return collider_add_body(world, &def);
}

static pl_body_state state_of(const pl_world *world, pl_body body)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(world, body, &state), PL_OK);
    return state;
}

static void step_until_asleep(pl_world *world, pl_body body)
{
    int frame = 0;
    while (!pl_body_is_asleep(world, body) && frame++ < 300)
        world_step(world, 1);
    assert_true(frame < 300);
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

static void a_conveyor_stops_and_starts(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_collider_def def = plate_def();
    static const double running[3] = {2, 0, 0}, still[3] = {0, 0, 0};
    memcpy(def.surface_velocity, running, sizeof running);
    def.friction = 0.8;
    pl_collider belt = collider_add(world, &def);
    pl_body body = add_box(world, model, -10, 0.01);
    world_step(world, 60);
    assert_true(fabs(state_of(world, body).velocity[0] - 2) < 0.02);
    assert_int_equal(pl_collider_set_surface(world, belt, 0.8, 0, still), PL_OK);
    world_step(world, 30);
    assert_true(fabs(state_of(world, body).velocity[0]) < 0.02);
    step_until_asleep(world, body);
    /* The same again, as every frame of a game may say it. */
    assert_int_equal(pl_collider_set_surface(world, belt, 0.8, 0, still), PL_OK);
    assert_true(pl_body_is_asleep(world, body));
    assert_int_equal(pl_collider_set_surface(world, belt, 0.8, 0, running), PL_OK);
    assert_false(pl_body_is_asleep(world, body));
    world_step(world, 60);
    assert_true(fabs(state_of(world, body).velocity[0] - 2) < 0.02);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void a_slope_becomes_slippery(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(5, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    static const double axis[3] = {0, 0, 1}, still[3] = {0, 0, 0};
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    collider_turn(def.rotation, axis, -0.3);
    def.friction = 1;
    pl_collider ground = collider_add(world, &def);
    pl_body_def box = collider_body_def(model, 1e5, sin(0.3) * 0.375, cos(0.3) * 0.375, 0);
    memcpy(box.rotation, def.rotation, sizeof box.rotation);
    box.material.friction = 1;
    box.material.damping = 0.5;
    pl_body body = collider_add_body(world, &box);
    step_until_asleep(world, body);
    double before = state_of(world, body).centre[0];
    assert_int_equal(pl_collider_set_surface(world, ground, 0, 0, still), PL_OK);
    assert_false(pl_body_is_asleep(world, body));
    world_step(world, 30);
    assert_true(state_of(world, body).centre[0] > before + 0.8);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void a_floor_becomes_elastic(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(1, 1, 1, 0.25);
    pl_world *world = collider_world(3, 3, 0);
    static const double still[3] = {0, 0, 0};
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_PLANE);
    pl_collider ground = collider_add(world, &def);
    pl_body_def fall = collider_body_def(model, 1e5, 0, 1, 0);
    fall.velocity[1] = -4;
    pl_body body = collider_add_body(world, &fall);
    assert_int_equal(pl_collider_set_surface(world, ground, 0.5, 0.5, still), PL_OK);
    world_step(world, 20);
    assert_true(fabs(state_of(world, body).velocity[1] - 2) < 1e-4);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Filters --------------------------------------------------------------------------------- */

static void a_door_opens_under_a_sleeper(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    for (int side = 0; side < 2; side++) {
        pl_world *world = collider_world(4, 3, 9.81);
        pl_collider_def def = plate_def();
        pl_collider door = collider_add(world, &def);
        def.position[1] = -4.5;
        collider_add(world, &def);
        pl_body lower = add_box(world, model, 0, 0.01), upper = add_box(world, model, 0, 0.76);
        pl_body apart = add_box(world, model, 60, -4);
        assert_int_equal(pl_body_sleep(world, apart), PL_OK);
        step_until_asleep(world, upper);
        assert_true(pl_body_is_asleep(world, lower));
        assert_int_equal(side ? pl_collider_set_filter(world, door, 2, UINT32_MAX & ~1u)
                              : pl_collider_set_filter(world, door, 1, 0),
                         PL_OK);
        assert_false(pl_body_is_asleep(world, lower) || pl_body_is_asleep(world, upper));
        assert_true(pl_body_is_asleep(world, apart));
        world_step(world, 1);
        int count, ended = 0;
        const pl_contact_event *events = pl_world_contacts(world, &count);
        for (int i = 0; i < count; i++)
            ended += events[i].collider == door.index && events[i].phase == PL_CONTACT_ENDED;
        assert_int_equal(ended, 1);
        world_step(world, 15);
        assert_true(state_of(world, lower).centre[1] < -0.5);
        /* Closed again behind them. */
        world_step(world, 45);
        assert_int_equal(pl_collider_set_filter(world, door, 1, UINT32_MAX), PL_OK);
        pl_body third = add_box(world, model, 0, 0.01);
        world_step(world, 60);
        assert_true(state_of(world, third).centre[1] > 0.3);
        assert_true(state_of(world, upper).centre[1] < -2.5);
        assert_true(state_of(world, lower).centre[1] > -4);
        pl_world_destroy(world);
    }
    pl_model_release(model);
}

/* Closed while something stands in it: that is parted from it, slowly. */
static void a_door_closes_in_a_body(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 0);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.category = 0;
    pl_collider door = collider_add(world, &def);
    pl_body body = add_box(world, model, 0.6, -0.375);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    world_step(world, 5);
    assert_true(state_of(world, body).centre[0] == 0.6);
    assert_int_equal(pl_collider_set_filter(world, door, 1, UINT32_MAX), PL_OK);
    double fastest = 0;
    for (int i = 0; i < 90; i++) {
        world_step(world, 1);
        fastest = fmax(fastest, fabs(state_of(world, body).velocity[0]));
    }
    assert_true(state_of(world, body).centre[0] > 0.8);
    assert_true(fastest < 3);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void a_body_becomes_a_ghost(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_collider_def def = plate_def();
    def.category = 4;
    collider_add(world, &def);
    pl_body lower = add_box(world, model, 0, 0.01), upper = add_box(world, model, 0, 0.76);
    step_until_asleep(world, upper);
    assert_int_equal(pl_body_set_filter(world, lower, 1, UINT32_MAX), PL_OK); /* as it is */
    assert_true(pl_body_is_asleep(world, lower));
    assert_int_equal(pl_body_set_filter(world, lower, 2, 4), PL_OK); /* the floor alone */
    assert_false(pl_body_is_asleep(world, lower) || pl_body_is_asleep(world, upper));
    world_step(world, 60);
    assert_true(fabs(state_of(world, upper).centre[1] - state_of(world, lower).centre[1]) < 0.1);
    assert_int_equal(pl_body_set_filter(world, upper, 1, 1), PL_OK);
    world_step(world, 30);
    assert_true(state_of(world, upper).centre[1] < -1 && state_of(world, lower).centre[1] > 0.3);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A chain laid back along itself. */
static int touches_of_itself(pl_world *world, pl_body body)
{
    int count, touches = 0;
    world_step(world, 1);
    const pl_contact_event *events = pl_world_contacts(world, &count);
    for (int i = 0; i < count; i++)
        if (events[i].body_a == body.index && events[i].body_b == body.index)
            touches += events[i].touches;
    return touches;
}

static void self_contact_is_switched(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(16, 1, 1, 0.25);
    pl_world *world = collider_world(4, 3, 0);
    pl_body_def def = collider_body_def(model, 1e4, 0, 0, 0);
    def.self_contact = false;
    pl_body body = collider_add_body(world, &def);
    double x[16][3] = {{0}};
    for (int i = 0; i < 16; i++) {
        x[i][0] = 0.25 * (i < 8 ? i : 15 - i);
        x[i][1] = i < 8 ? 0 : 0.2;
    }
    for (int on = 0; on < 3; on++) {
        assert_int_equal(pl_body_write(world, body, PL_POSITIONS, 0, 16, pl_doubles(x[0], 0)),
                         PL_OK);
        assert_int_equal(pl_body_sleep(world, body), PL_OK);
        assert_int_equal(pl_body_set_self_contact(world, body, on == 1), PL_OK);
        assert_int_equal(pl_body_is_asleep(world, body), on == 0); /* nothing has changed */
        assert_int_equal(pl_body_wake(world, body), PL_OK);
        int touches = touches_of_itself(world, body);
        assert_true(on == 1 ? touches > 0 : touches == 0);
    }
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- Bad calls ------------------------------------------------------------------------------- */

static void bad_calls_change_nothing(void **state)
{
    (void)state;
    world_hush();
    pl_model *model = collider_lattice(2, 2, 2, 0.25), *lumps;
    pl_world *world = collider_world(1, 3, 0);
    pl_collider_def def = plate_def();
    pl_collider plate = collider_add(world, &def), gone = collider_add(world, &def);
    pl_body body = add_box(world, model, 0, 1), left = add_box(world, model, 5, 1);
    assert_int_equal(pl_body_sleep(world, body), PL_OK);
    assert_int_equal(pl_collider_destroy(world, gone), PL_OK);
    assert_int_equal(pl_body_destroy(world, left), PL_OK);
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
    static const double still[3] = {0, 0, 0};
    uint64_t hash = pl_world_hash(world);
    for (int i = 0; i < 5; i++) {
        double velocity[3] = {0, 0, bad[i]};
        assert_int_equal(pl_collider_set_surface(world, plate, bad[i], 0, still),
                         PL_ERROR_ARGUMENT);
        assert_int_equal(pl_collider_set_surface(world, plate, 0, bad[i], still),
                         PL_ERROR_ARGUMENT);
        if (i != 3)
            assert_int_equal(pl_collider_set_surface(world, plate, 0.1, 0, velocity),
                             PL_ERROR_ARGUMENT);
    }
    assert_int_equal(pl_collider_set_surface(world, plate, 0.5, 0, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_collider_set_surface(world, gone, 0.1, 0, still), PL_ERROR_HANDLE);
    assert_int_equal(pl_collider_set_filter(world, gone, 2, 2), PL_ERROR_HANDLE);
    assert_int_equal(pl_collider_set_filter(NULL, plate, 2, 2), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_body_set_filter(world, left, 2, 2), PL_ERROR_HANDLE);
    assert_int_equal(pl_body_set_filter(NULL, body, 2, 2), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_body_set_self_contact(world, left, true), PL_ERROR_HANDLE);
    assert_int_equal(pl_world_hash(world), hash);
    /* The clusters of a body have a definition of their own. */
    pl_clusters_def clusters = pl_default_clusters_def();
    assert_int_equal(pl_model_cluster(model, &clusters, &lumps, NULL), PL_OK);
    pl_body_def soft = pl_default_body_def(lumps);
    pl_clustered_def clustered = pl_default_clustered_def();
    soft.clustered = &clustered;
    soft.position[1] = 5;
    pl_body lump = collider_add_body(world, &soft);
    assert_int_equal(pl_body_set_self_contact(world, lump, true), PL_ERROR_STATE);
    assert_int_equal(pl_body_set_filter(world, lump, 2, 2), PL_OK);
    pl_world_destroy(world);
    pl_model_release(model);
    pl_model_release(lumps);
}

/* ---- The same bits --------------------------------------------------------------------------- */

typedef struct yard {
    pl_world *world;
    pl_model *model;
    pl_collider colliders[3];
    pl_body bodies[9];
} yard;

static void yard_collider(int which, pl_collider_def *def)
{
    static const double belt[3] = {1, 0, 0.5};
    if (which == 0) {
        def->friction = 0.9;
        memcpy(def->surface_velocity, belt, sizeof belt);
    }
    if (which == 1)
        def->restitution = 0.7;
    if (which == 2)
        def->category = 2, def->mask = 5;
}

/* Made as they are to be, or changed to be like that. */
static void open_yard(yard *y, int threads, bool changed)
{
    pl_world_def def = pl_default_world_def();
    static const pl_collider_kind kinds[3] = {PL_COLLIDER_PLANE, PL_COLLIDER_SPHERE,
                                              PL_COLLIDER_BOX};
    def.substeps = 3;
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &y->world, NULL), PL_OK);
    y->model = collider_lattice(3, 3, 3, 0.25);
    for (int i = 0; i < 3; i++) {
        pl_collider_def c = pl_default_collider_def(kinds[i]), wanted;
        c.position[0] = i;
        c.position[1] = i == 1 ? 0 : -1;
        wanted = c;
        yard_collider(i, &wanted);
        y->colliders[i] = collider_add(y->world, changed ? &c : &wanted);
        if (!changed)
            continue;
        assert_int_equal(pl_collider_set_surface(y->world, y->colliders[i], wanted.friction,
                                                 wanted.restitution, wanted.surface_velocity),
                         PL_OK);
        assert_int_equal(
            pl_collider_set_filter(y->world, y->colliders[i], wanted.category, wanted.mask), PL_OK);
    }
    for (int i = 0; i < 9; i++) {
        pl_body_def b =
            collider_body_def(y->model, 1e5, 0.7 * (i % 3), 1 + 0.8 * (double)(i / 3), 0.1 * i);
        uint32_t category = i % 4 ? 1 : 4, mask = i % 5 ? UINT32_MAX : 3;
        b.self_contact = false;
        b.category = changed ? 1 : category;
        b.mask = changed ? UINT32_MAX : mask;
        y->bodies[i] = collider_add_body(y->world, &b);
        if (changed)
            assert_int_equal(pl_body_set_filter(y->world, y->bodies[i], category, mask), PL_OK);
    }
}

static void close_yard(yard *y)
{
    pl_world_destroy(y->world);
    pl_model_release(y->model);
}

static void changed_is_as_made(void **state)
{
    (void)state;
    yard made, changed;
    open_yard(&made, 1, false);
    open_yard(&changed, 3, true);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(pl_world_hash(made.world), pl_world_hash(changed.world));
        world_step(made.world, 1);
        world_step(changed.world, 1);
    }
    close_yard(&made);
    close_yard(&changed);
}

static void play(yard *y, int first, int end)
{
    for (int f = first; f < end; f++) {
        double belt[3] = {f % 4, 0, 0};
        pl_collider c = y->colliders[f % 3];
        pl_body b = y->bodies[f * 5 % 9];
        if (f % 3 == 0)
            assert_int_equal(
                pl_collider_set_surface(y->world, c, 0.1 * (f % 7), 0.2 * (f % 4), belt), PL_OK);
        if (f % 5 == 1)
            assert_int_equal(pl_collider_set_filter(y->world, c, 1 + f % 3, UINT32_MAX), PL_OK);
        if (f % 4 == 2)
            assert_int_equal(pl_body_set_filter(y->world, b, 1 + f % 4, f % 8 ? UINT32_MAX : 2),
                             PL_OK);
        if (f % 6 == 3)
            assert_int_equal(pl_body_set_self_contact(y->world, b, f % 4 == 3), PL_OK);
        world_step(y->world, 1);
    }
}

static void threads_and_snapshots_agree(void **state)
{
    (void)state;
    yard one, other;
    open_yard(&one, 1, false);
    play(&one, 0, 60);
    for (int threads = 2; threads <= 4; threads++) {
        open_yard(&other, threads, false);
        play(&other, 0, 60);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(other.world));
        close_yard(&other);
    }
    for (int cut = 60; cut < 66; cut++) {
        size_t size;
        open_yard(&other, 2, false);
        void *bytes = world_snapshot(one.world, &size);
        assert_int_equal(pl_world_restore(other.world, bytes, size, &other.model, 1, NULL), PL_OK);
        free(bytes);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(other.world));
        play(&one, cut, cut + 1);
        memcpy(other.bodies, one.bodies, sizeof one.bodies);
        memcpy(other.colliders, one.colliders, sizeof one.colliders);
        play(&other, cut, cut + 1);
        assert_int_equal(pl_world_hash(one.world), pl_world_hash(other.world));
        close_yard(&other);
    }
    close_yard(&one);
}

static void hashes_tell_changes_apart(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    pl_world *world = collider_world(1, 3, 0);
    pl_collider_def def = plate_def();
    pl_collider plate = collider_add(world, &def);
    pl_body body = add_box(world, model, 0, 1);
    static const double still[3] = {0, 0, 0}, belt[3] = {0, 0, 1};
    uint64_t hashes[9];
    hashes[0] = pl_world_hash(world);
    pl_collider_set_surface(world, plate, 0.25, 0, still);
    hashes[1] = pl_world_hash(world);
    pl_collider_set_surface(world, plate, 0.25, 0.5, still);
    hashes[2] = pl_world_hash(world);
    pl_collider_set_surface(world, plate, 0.25, 0.5, belt);
    hashes[3] = pl_world_hash(world);
    pl_collider_set_filter(world, plate, 2, UINT32_MAX);
    hashes[4] = pl_world_hash(world);
    pl_collider_set_filter(world, plate, 2, 7);
    hashes[5] = pl_world_hash(world);
    pl_body_set_filter(world, body, 3, 3);
    hashes[6] = pl_world_hash(world);
    pl_body_set_self_contact(world, body, true);
    hashes[7] = pl_world_hash(world);
    pl_body_sleep(world, body);
    hashes[8] = pl_world_hash(world);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < i; k++)
            assert_true(hashes[i] != hashes[k]);
    pl_world_destroy(world);
    pl_model_release(model);
}

/* A change allocates nothing, and neither does the step after it. */
static void changes_allocate_nothing(void **state)
{
    (void)state;
    yard y;
    open_yard(&y, 2, false);
    play(&y, 0, 60);
    uint64_t allocations = pl_world_allocations(y.world);
    play(&y, 60, 90);
    assert_int_equal(pl_world_allocations(y.world), allocations);
    close_yard(&y);
}

/* ---- From an index to a handle --------------------------------------------------------------- */

static bool is_body(pl_body a, pl_body b)
{
    return a.index == b.index && a.generation == b.generation;
}

static bool is_collider(pl_collider a, pl_collider b)
{
    return a.index == b.index && a.generation == b.generation;
}

static void indices_lead_back_to_handles(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    pl_world *world = collider_world(2, 3, 9.81);
    static const pl_body no_body;
    static const pl_collider no_collider;
    assert_true(is_body(pl_body_at(world, 0), no_body) && is_body(pl_body_at(NULL, 0), no_body));
    assert_true(is_collider(pl_collider_at(world, 0), no_collider));
    assert_true(is_collider(pl_collider_at(NULL, 0), no_collider));
    pl_collider_def def = plate_def();
    pl_collider plates[3];
    pl_body bodies[3];
    for (int i = 0; i < 3; i++) {
        plates[i] = collider_add(world, &def);
        bodies[i] = add_box(world, model, 3 * i, -0.1);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(is_body(pl_body_at(world, bodies[i].index), bodies[i]));
        assert_true(is_collider(pl_collider_at(world, plates[i].index), plates[i]));
    }
    assert_true(is_body(pl_body_at(world, 3), no_body));
    assert_true(is_body(pl_body_at(world, UINT32_MAX), no_body));
    assert_true(is_collider(pl_collider_at(world, UINT32_MAX), no_collider));
    int count;
    world_step(world, 3);
    const pl_contact_event *events = pl_world_contacts(world, &count);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        assert_true(pl_body_is_valid(world, pl_body_at(world, events[i].body_a)));
        assert_true(pl_collider_is_valid(world, pl_collider_at(world, events[i].collider)));
        assert_false(pl_body_is_valid(world, pl_body_at(world, events[i].body_b)));
    }
    pl_body_destroy(world, bodies[1]);
    pl_collider_destroy(world, plates[1]);
    assert_true(is_body(pl_body_at(world, bodies[1].index), no_body));
    assert_true(is_collider(pl_collider_at(world, plates[1].index), no_collider));
    pl_body again = add_box(world, model, 3, 1);
    pl_collider more = collider_add(world, &def);
    assert_int_equal(again.index, bodies[1].index);
    assert_int_equal(more.index, plates[1].index);
    assert_true(is_body(pl_body_at(world, again.index), again));
    assert_true(is_collider(pl_collider_at(world, more.index), more));
    pl_world_destroy(world);
    pl_model_release(model);
}

static void rays_pass_one_body(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(3, 3, 3, 0.25);
    pl_world *world = collider_world(2, 3, 0);
    pl_body near = add_box(world, model, 0, 0), far = add_box(world, model, 3, 0);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.position[0] = 6;
    pl_collider wall = collider_add(world, &def);
    const double from[3] = {0, 0.375, 0}, along[3] = {1, 0, 0};
    pl_ray_hit plain, hit;
    assert_true(pl_world_cast_ray(world, from, along, 100, UINT32_MAX, &plain));
    assert_int_equal(plain.body, near.index);
    assert_true(pl_world_cast_ray_past(world, (pl_body){0, 0}, from, along, 100, UINT32_MAX, &hit));
    assert_int_equal(hit.body, near.index);
    assert_true(hit.distance == plain.distance);
    assert_true(pl_world_cast_ray_past(world, near, from, along, 100, UINT32_MAX, &hit));
    assert_int_equal(hit.body, far.index);
    assert_true(fabs(hit.distance - (3 - 0.375)) < 1e-5);
    assert_false(pl_world_cast_ray_past(world, near, from, along, 2, UINT32_MAX, &hit));
    pl_body_destroy(world, far);
    assert_true(pl_world_cast_ray_past(world, far, from, along, 100, UINT32_MAX, &hit));
    assert_int_equal(hit.body, near.index);
    assert_true(pl_world_cast_ray_past(world, near, from, along, 100, UINT32_MAX, &hit));
    assert_int_equal(hit.collider, wall.index);
    double bad[3] = {NAN, 0, 0};
    assert_false(pl_world_cast_ray_past(world, near, bad, along, 100, UINT32_MAX, NULL));
    assert_false(pl_world_cast_ray_past(NULL, near, from, along, 100, UINT32_MAX, &hit));
    pl_world_destroy(world);
    pl_model_release(model);
}

/* ---- What definitions leave open ------------------------------------------------------------- */

/* A mass without inertia does not turn, whatever hits it; the torque is told. */
static void no_inertia_does_not_turn(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    pl_world *world = collider_world(4, 3, 0);
    pl_collider_def def = pl_default_collider_def(PL_COLLIDER_BOX);
    def.mass = 10;
    pl_collider box = collider_add(world, &def);
    pl_body_def fall = collider_body_def(model, 1e5, 0.4, 1, 0);
    fall.velocity[1] = -5;
    pl_body body = collider_add_body(world, &fall);
    double torque = 0;
    pl_collider_state s;
    for (int i = 0; i < 10; i++) {
        world_step(world, 1);
        assert_int_equal(pl_collider_get_state(world, box, &s), PL_OK);
        torque += s.torque[2];
    }
    assert_true(s.position[1] < -0.05 && torque < -1);
    assert_memory_equal(s.rotation, straight, sizeof straight);
    assert_true(state_of(world, body).velocity[1] > -5);
    pl_world_destroy(world);
    pl_model_release(model);
}

static void a_mesh_without_triangles_touches_nothing(void **state)
{
    (void)state;
    pl_model *model = collider_lattice(2, 2, 2, 0.25);
    pl_world *world = collider_world(4, 3, 9.81);
    pl_mesh mesh = {.triangle_count = 0};
    for (int i = 0; i < 2; i++) {
        pl_collider_def def = pl_default_collider_def(PL_COLLIDER_MESH);
        def.mesh = &mesh;
        def.two_sided = i;
        def.mass = i;
        collider_add(world, &def);
    }
    pl_body body = add_box(world, model, 0, 1);
    world_step(world, 60);
    assert_true(state_of(world, body).centre[1] < -5);
    const double from[3] = {0, 9, 0}, down[3] = {0, -1, 0};
    assert_false(pl_world_cast_ray_past(world, body, from, down, 100, UINT32_MAX, NULL));
    pl_world_destroy(world);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conveyor_stops_and_starts),
        cmocka_unit_test(a_slope_becomes_slippery),
        cmocka_unit_test(a_floor_becomes_elastic),
        cmocka_unit_test(a_door_opens_under_a_sleeper),
        cmocka_unit_test(a_door_closes_in_a_body),
        cmocka_unit_test(a_body_becomes_a_ghost),
        cmocka_unit_test(self_contact_is_switched),
        cmocka_unit_test(bad_calls_change_nothing),
        cmocka_unit_test(changed_is_as_made),
        cmocka_unit_test(threads_and_snapshots_agree),
        cmocka_unit_test(hashes_tell_changes_apart),
        cmocka_unit_test(changes_allocate_nothing),
        cmocka_unit_test(indices_lead_back_to_handles),
        cmocka_unit_test(rays_pass_one_body),
        cmocka_unit_test(no_inertia_does_not_turn),
        cmocka_unit_test(a_mesh_without_triangles_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

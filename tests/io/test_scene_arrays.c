/* One entry of "bodies" as many: places, names, models and materials in turn, random displacement
   and turning within their bounds and always the same, contact settings that reach the world,
   meshes as colliders, and what is wrong is said where it stands. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/scene.h"

#define MODELS                                                                                     \
    "\"models\":{\"a\":{\"positions\":[[0,0,0],[1,0,0]],\"radius\":0.1,\"edges\":[[0,1]]},"        \
    "\"b\":{\"positions\":[[0,0,0],[0,2,0],[0,4,0]],\"radius\":0.1,\"edges\":[[0,1],[1,2]]}}"

static pl_status read_text(pl_memory *memory, const char *rest, pl_scene **scene,
                           pl_trouble *trouble)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "{\"pliant\":1," MODELS ",%s}", rest);
    assert_true(length < (int)sizeof text);
    return pl_scene_read(memory, "test", text, (size_t)length, scene, trouble);
}

static pl_scene *read_good(pl_memory *memory, const char *rest)
{
    pl_scene *scene;
    pl_trouble trouble;
    char shown[1200];
    pl_memory_init(memory, NULL, 0);
    if (read_text(memory, rest, &scene, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, shown, sizeof shown));
    return scene;
}

static pl_play *play_good(const pl_scene *scene)
{
    pl_play *play;
    pl_trouble trouble;
    char shown[1200];
    pl_play_options options = pl_default_play_options();
    if (pl_play_create(scene, 0, &options, &play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, shown, sizeof shown));
    return play;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void places_are_those_of_the_lattice(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(
        &memory, "\"bodies\":[{\"model\":\"a\",\"position\":[9,9,9]},"
                 "{\"name\":\"x\",\"model\":\"a\",\"position\":[10,20,30],\"velocity\":[1,2,3],"
                 "\"array\":{\"count\":[3,2,2],\"pitch\":[1,10,100]}},"
                 "{\"model\":\"b\",\"array\":{\"count\":2,\"pitch\":4}}]");
    assert_int_equal(scene->body_count, 1 + 12 + 2);
    int i = 1;
    for (int y = 0; y < 2; y++)
        for (int z = 0; z < 2; z++)
            for (int x = 0; x < 3; x++, i++) {
                char name[16];
                const pl_scene_body *body = &scene->bodies[i];
                snprintf(name, sizeof name, "x[%d]", i - 1);
                assert_string_equal(body->name, name);
                assert_true(body->position[0] == 10 + (x - 1));
                assert_true(body->position[1] == 20 + 10 * y);
                assert_true(body->position[2] == 30 + 100 * (z - 0.5));
                assert_true(body->velocity[2] == 3);
            }
    assert_string_equal(scene->bodies[13].name, "bodies[2][0]");
    assert_true(scene->bodies[13].position[0] == -2 && scene->bodies[14].position[0] == 2);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void limits_stop_early(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(&memory, "\"bodies\":[{\"model\":\"a\",\"array\":{\"count\":"
                                         "[1000,1000,1000],\"pitch\":1,\"limit\":7}}]");
    assert_int_equal(scene->body_count, 7);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void lists_are_gone_through_in_turn(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(
        &memory, "\"materials\":{\"m\":{\"young\":7e4,\"friction\":0.9,\"restitution\":0.25}},"
                 "\"bodies\":[{\"model\":[\"b\",\"a\",{\"shape\":\"bar\",\"count\":4}],"
                 "\"material\":[\"m\",\"jelly\"],\"array\":{\"count\":[7],\"pitch\":5}}]");
    assert_int_equal(scene->model_count, 3);
    for (int i = 0; i < 7; i++) {
        static const int models[3] = {1, 0, 2};
        assert_int_equal(scene->bodies[i].model, models[i % 3]);
        assert_true(scene->bodies[i].material.young == (i % 2 ? 5e3 : 7e4));
        assert_true(scene->bodies[i].material.restitution == (i % 2 ? 0 : 0.25));
    }
    pl_play *play = play_good(scene);
    static const int particles[3] = {3, 2, 4};
    for (int i = 0; i < 7; i++)
        assert_int_equal(play->bodies[i].info.particle_count, particles[i % 3]);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* ---- Chance ---------------------------------------------------------------------------------- */

static double angle_of(const double q[4])
{
    return 2 * acos(fmin(fabs(q[3]), 1)) * 180 / M_PI;
}

#define RANDOM_ARRAY(scatter, tumble, seed)                                                        \
    "\"bodies\":[{\"model\":\"b\",\"array\":{\"count\":[10,10,10],\"pitch\":10,\"scatter\":"       \
    "" scatter ",\"tumble\":" tumble ",\"seed\":" seed "}}]"

static void chance_keeps_within_its_bounds(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(&memory, RANDOM_ARRAY("0.5", "30", "4"));
    double most = 0, turned = 0, mean[3] = {0}, axis[3] = {0};
    for (int i = 0; i < 1000; i++) {
        const pl_scene_body *body = &scene->bodies[i];
        const double place[3] = {10 * (i % 10 - 4.5), 10 * (i / 100), 10 * (i / 10 % 10 - 4.5)};
        for (int k = 0; k < 3; k++) {
            double off = body->position[k] - place[k];
            most = fmax(most, fabs(off));
            mean[k] += off / 1000;
            axis[k] += body->tumble[k] / sin(angle_of(body->tumble) * M_PI / 360) / 1000;
        }
        turned = fmax(turned, angle_of(body->tumble));
        assert_true(body->rotation[3] == 1);
    }
    /* Of 1,000 (3,000) even draws the largest is surely near the bound, the mean near 0: the
       deviation is 0.5/√3/√1000 = 0.009, of the axes 1/√3/√1000 = 0.018. */
    assert_true(most <= 0.5 && most > 0.499);
    assert_true(turned <= 30 + 1e-9 && turned > 29.5);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(mean[k]) < 0.04 && fabs(axis[k]) < 0.08);
    pl_scene_free(scene);
}

static void seeds_decide(void **state)
{
    (void)state;
    pl_memory memories[4];
    pl_scene *scenes[4];
    static const char *const texts[4] = {
        RANDOM_ARRAY("0.5", "30", "4"), RANDOM_ARRAY("0.5", "30", "4"),
        RANDOM_ARRAY("0.5", "30", "5"), RANDOM_ARRAY("0", "30", "4")};
    for (int i = 0; i < 4; i++)
        scenes[i] = read_good(&memories[i], texts[i]);
    int equal[4] = {0}, turned[4] = {0};
    for (int i = 1; i < 4; i++)
        for (int b = 0; b < 1000; b++) {
            const pl_scene_body *one = &scenes[0]->bodies[b], *two = &scenes[i]->bodies[b];
            equal[i] += memcmp(one->position, two->position, sizeof one->position) == 0;
            turned[i] += memcmp(one->tumble, two->tumble, sizeof one->tumble) == 0;
        }
    assert_true(equal[1] == 1000 && turned[1] == 1000);
    assert_true(equal[2] == 0 && turned[2] == 0);
    assert_true(equal[3] == 0 && turned[3] == 1000);
    for (int i = 0; i < 4; i++)
        pl_scene_free(scenes[i]);
}

/* The middle of the model stays where it was, and the model is turned as the quaternion says. */
/* In a box: inside it, apart by the spacing, and as the seed says. All pairs are looked at. */
static void places_in_a_box_keep_their_distance(void **state)
{
    (void)state;
    static const double spacings[] = {0.5, 0.26, 0};
    double first[3][3];
    for (int round = 0; round < 6; round++) {
        pl_memory memory;
        char text[512];
        double spacing = spacings[round / 2];
        pl_memory_init(&memory, NULL, 0);
        snprintf(text, sizeof text,
                 "\"bodies\":[{\"model\":\"a\",\"position\":[10,20,30],\"array\":{\"count\":150,"
                 "\"box\":[[-1,0,-2],[2,3,2]],\"spacing\":%g,\"tumble\":180,\"seed\":%d}}]",
                 spacing, 3 + round % 2);
        pl_scene *scene = read_good(&memory, text);
        assert_int_equal(scene->body_count, 150);
        double nearest = 1e9;
        for (int i = 0; i < 150; i++) {
            const double *p = scene->bodies[i].position;
            assert_true(p[0] >= 9 && p[0] <= 12 && p[1] >= 20 && p[1] <= 23 && p[2] >= 28 &&
                        p[2] <= 32);
            for (int k = 0; k < i; k++) {
                const double *q = scene->bodies[k].position;
                nearest = fmin(nearest, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
            }
        }
        if (!(nearest >= spacing - 1e-12 && nearest < spacing + 0.2))
            fail_msg("%.17g apart instead of %g", nearest, spacing);
        assert_string_equal(scene->bodies[149].name, "bodies[0][149]");
        assert_true(angle_of(scene->bodies[7].tumble) > 0);
        /* Another seed, another place. */
        if (round % 2 == 0)
            memcpy(first[round / 2], scene->bodies[0].position, sizeof first[0]);
        else
            assert_true(first[round / 2][0] != scene->bodies[0].position[0]);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
    assert_true(memcmp(first[0], first[2], sizeof first[0]) == 0);
}

static void bodies_tumble_about_their_middle(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(
        &memory, "\"bodies\":[{\"model\":\"b\",\"rotation\":{\"axis\":[0,0,1],\"degrees\":90},"
                 "\"array\":{\"count\":5,\"pitch\":10,\"tumble\":180}}]");
    pl_play *play = play_good(scene);
    for (int i = 0; i < 5; i++) {
        double x[9], along = 0;
        assert_int_equal(pl_body_read(play->world, play->bodies[i].handle, PL_POSITIONS, 0, 3, 1,
                                      pl_doubles(x, 0)),
                         PL_OK);
        /* Turned by 90° the model's middle (0, 2, 0) is at (−2, 0, 0) of its origin. */
        assert_true(fabs(x[3] - (10 * (i - 2) - 2)) < 1e-5);
        assert_true(fabs(x[4]) < 1e-5 && fabs(x[5]) < 1e-5);
        for (int k = 0; k < 3; k++)
            along += (x[6 + k] - x[k]) * (x[6 + k] - x[k]);
        assert_true(fabs(along - 16) < 1e-4);
        assert_true(fabs(x[6] - x[0] + 4) > 1e-3); /* it is turned */
    }
    pl_play_destroy(play);
    pl_scene_free(scene);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void a_single_one_can_be_named(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(
        &memory,
        "\"world\":{\"step\":0.1},\"bodies\":[{\"name\":\"x\",\"model\":\"a\",\"gravity_scale\":0,"
        "\"array\":{\"count\":6,\"pitch\":5}}],"
        "\"forces\":[{\"body\":\"x[3]\",\"force\":[0,1e3,0]}],"
        "\"drive\":[{\"body\":\"x[1]\",\"particle\":0,\"relative\":true,\"keys\":["
        "{\"time\":0,\"position\":[0,0,0]},{\"time\":1,\"position\":[0,0,1]}]}],"
        "\"attachments\":[{\"body\":\"x[4]\",\"particle\":0,\"other\":\"x[5]\","
        "\"other_particle\":1}],"
        "\"pins\":[{\"body\":\"x[2]\",\"particle\":0}]");
    assert_int_equal(scene->forces[0].body, 3);
    assert_int_equal(scene->drives[0].body, 1);
    assert_int_equal(scene->attachments[0].body, 4);
    assert_int_equal(scene->attachments[0].other, 5);
    assert_int_equal(scene->pins[0].body, 2);
    pl_play *play = play_good(scene);
    assert_int_equal(pl_play_step(play, NULL), PL_OK);
    for (int i = 0; i < 6; i++) {
        pl_body_state s;
        assert_int_equal(pl_body_get_state(play->world, play->bodies[i].handle, &s), PL_OK);
        assert_true((fabs(s.centre[1]) > 1e-4) == (i == 3));
        assert_true((fabs(s.centre[2]) > 1e-4) == (i == 1));
        assert_int_equal(play->bodies[i].fixed_count, i == 1);
    }
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* ---- Contact --------------------------------------------------------------------------------- */

/* How far a body fell on another in a second: 0.8 m apart, radii 0.1, or through it. */
static double fall(const char *lower, const char *upper, const char *world)
{
    char text[1024];
    pl_memory memory;
    snprintf(text, sizeof text,
             "\"world\":{\"step\":0.02,\"substeps\":2%s},\"bodies\":[{\"model\":\"a\",\"fixed\":[0,"
             "1]%s},{\"model\":\"a\",\"position\":[0,1,0]%s}]",
             world, lower, upper);
    pl_scene *scene = read_good(&memory, text);
    pl_play *play = play_good(scene);
    pl_body_state s;
    for (int i = 0; i < 50; i++)
        assert_int_equal(pl_play_step(play, NULL), PL_OK);
    assert_int_equal(pl_body_get_state(play->world, play->bodies[1].handle, &s), PL_OK);
    pl_play_destroy(play);
    pl_scene_free(scene);
    return s.centre[1];
}

static void categories_and_masks_reach_the_world(void **state)
{
    (void)state;
    assert_true(fall("", "", "") > 0);
    assert_true(fall("", ",\"category\":2", "") > 0);
    assert_true(fall(",\"mask\":1", ",\"category\":2", "") < -1);
    assert_true(fall(",\"mask\":2", ",\"category\":2,\"mask\":4294967295", "") > 0);
    assert_true(fall("", ",\"mask\":0", "") < -1);
}

/* A body at rest is not computed where the world may sleep. */
static void sleeping_and_bouncing_reach_the_world(void **state)
{
    (void)state;
    static const char *const worlds[2] = {"\"sleeping\":false", "\"sleeping\":true"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        pl_memory memory;
        snprintf(text, sizeof text,
                 "\"world\":{%s},\"bodies\":[{\"model\":\"a\",\"position\":[0,0.1,0]}],"
                 "\"colliders\":[{\"shape\":\"plane\"}]",
                 worlds[i]);
        pl_scene *scene = read_good(&memory, text);
        assert_true(scene->world.sleeping == (i == 1));
        pl_play *play = play_good(scene);
        pl_report report;
        for (int f = 0; f < 200; f++)
            assert_int_equal(pl_play_step(play, &report), PL_OK);
        assert_true((report.iterations == 0) == (i == 1));
        pl_play_destroy(play);
        pl_scene_free(scene);
    }
    assert_true(fall("", ",\"material\":{\"restitution\":1,\"damping\":0}", "") >
                fall("", ",\"material\":{\"restitution\":0,\"damping\":0}", "") + 0.1);
}

static void meshes_become_colliders(void **state)
{
    (void)state;
    char directory[] = "/tmp/pliant-collider-XXXXXX", path[64], text[1024];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/floor.obj", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("v -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nf 1 2 3\nf 1 3 4\n", file);
    fclose(file);
    char colliders[3][256];
    snprintf(colliders[0], sizeof colliders[0], "{\"shape\":\"mesh\",\"file\":\"%s\"}", path);
    snprintf(colliders[1], sizeof colliders[1],
             "{\"shape\":\"mesh\",\"builtin\":\"cuboid\",\"detail\":0.3,\"scale\":20,"
             "\"position\":[0,-10,0]}");
    snprintf(colliders[2], sizeof colliders[2], "{\"shape\":\"mesh\",\"file\":\"%s\",\"mask\":2}",
             path);
    for (int i = 0; i < 3; i++) {
        pl_memory memory;
        snprintf(text, sizeof text,
                 "\"bodies\":[{\"model\":\"a\",\"position\":[0,1,0]}],\"colliders\":[%s]",
                 colliders[i]);
        pl_scene *scene = read_good(&memory, text);
        pl_play *play = play_good(scene);
        pl_body_state s;
        for (int f = 0; f < 60; f++)
            assert_int_equal(pl_play_step(play, NULL), PL_OK);
        assert_int_equal(pl_body_get_state(play->world, play->bodies[0].handle, &s), PL_OK);
        if (i == 2 ? s.centre[1] > -2 : fabs(s.centre[1] - 0.1) > 0.15)
            fail_msg("mesh %d: at %g", i, s.centre[1]);
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
    unlink(path);
    rmdir(directory);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

#define ARRAY(inside) "\"bodies\":[{\"model\":\"a\",\"array\":{" inside "}}]"
#define COLLIDER(inside) "\"bodies\":[{\"model\":\"a\"}],\"colliders\":[{" inside "}]"

static const struct {
    const char *text, *message; /* as a person sees it, behind "test:1:" and the column */
} wrong[] = {
    {ARRAY(""), "bodies[0].array: the key \"count\" is missing"},
    {ARRAY("\"count\":3"), "bodies[0].array: the key \"pitch\" is missing"},
    {ARRAY("\"count\":0,\"pitch\":1"), "bodies[0].array.count: must be at least 1, not 0"},
    {ARRAY("\"count\":2.5,\"pitch\":1"), "bodies[0].array.count: must be a whole number"},
    {ARRAY("\"count\":[1,2,3,4],\"pitch\":1"),
     "bodies[0].array.count: must have one to three numbers, not 4"},
    {ARRAY("\"count\":\"many\",\"pitch\":1"),
     "bodies[0].array.count: must be a number or an array of up to three, not a string"},
    {ARRAY("\"count\":2,\"pitch\":-1"), "bodies[0].array.pitch: must be at least 0, not -1"},
    {ARRAY("\"count\":2,\"pitch\":[1,2]"),
     "bodies[0].array.pitch: must be three numbers [x, y, z], not 2 elements"},
    {ARRAY("\"count\":2,\"pitch\":[1,-2,1]"),
     "bodies[0].array.pitch[1]: must be at least 0, not -2"},
    {ARRAY("\"count\":2,\"pitch\":true"),
     "bodies[0].array.pitch: must be a distance, or three [x, y, z], not true"},
    {ARRAY("\"count\":2,\"pitch\":1,\"scatter\":-1"),
     "bodies[0].array.scatter: must be at least 0, not -1"},
    {ARRAY("\"count\":2,\"pitch\":1,\"tumble\":181"),
     "bodies[0].array.tumble: must be at most 180, not 181"},
    {ARRAY("\"count\":2,\"pitch\":1,\"seed\":-1"),
     "bodies[0].array.seed: must be at least 0, not -1"},
    {ARRAY("\"count\":2,\"pitch\":1,\"limit\":3"),
     "bodies[0].array.limit: must be at most 2, as many as \"count\" has places, not 3"},
    {ARRAY("\"count\":[1000,1000,2],\"pitch\":1"),
     "bodies[0].array.count: makes 2000000 bodies; the most is 1000000"},
    {ARRAY("\"count\":2,\"pitch\":1,\"limits\":3"),
     "bodies[0].array.limits: an array has no key \"limits\"; did you mean \"limit\"?"},
    {"\"bodies\":[{\"model\":\"a\",\"array\":3}]",
     "bodies[0].array: must be an object, not a number"},
    {"\"bodies\":[{\"model\":\"a\",\"array\":{\"count\":600000,\"pitch\":1}},"
     "{\"model\":\"a\",\"array\":{\"count\":600000,\"pitch\":1}}]",
     "bodies[1].array: there would be 1200000 bodies by here; the most a scene may have is "
     "1000000"},
    {"\"bodies\":[{\"model\":[\"a\",\"b\"]}]",
     "bodies[0].model: a list of models goes with \"array\"; give one"},
    {"\"bodies\":[{\"model\":\"a\",\"material\":[\"jelly\"]}]",
     "bodies[0].material: a list of materials goes with \"array\"; give one"},
    {"\"bodies\":[{\"model\":[],\"array\":{\"count\":2,\"pitch\":1}}]",
     "bodies[0].model: must not be empty"},
    {"\"bodies\":[{\"model\":[\"a\",\"c\"],\"array\":{\"count\":2,\"pitch\":1}}]",
     "bodies[0].model[1]: there is no model \"c\""},
    {"\"bodies\":[{\"model\":\"a\",\"material\":[\"jelly\",\"jely\"],\"array\":{\"count\":2,"
     "\"pitch\":1}}]",
     "bodies[0].material[1]: there is no material \"jely\"; did you mean \"jelly\"?"},
    {"\"bodies\":[{\"model\":\"a\",\"state\":{\"positions\":[[0,0,0],[1,0,0]]},\"array\":{"
     "\"count\":2,\"pitch\":1}}]",
     "bodies[0].state.positions: is a place in the world, so all bodies of the \"array\" would "
     "start there; write such a body as an entry of its own"},
    {"\"bodies\":[{\"name\":\"x\",\"model\":\"a\",\"array\":{\"count\":2,\"pitch\":1}},"
     "{\"model\":\"a\",\"name\":\"x[1]\"}]",
     "bodies[1].name: bodies[0] has this name already; give each body its own"},
    {"\"bodies\":[{\"name\":\"x\",\"model\":\"a\",\"array\":{\"count\":2,\"pitch\":1}}],"
     "\"forces\":[{\"body\":\"x\",\"force\":[0,0,0]}]",
     "forces[0].body: there is no body \"x\""},
    {"\"bodies\":[{\"model\":\"a\",\"mask\":-1}]", "bodies[0].mask: must be at least 0, not -1"},
    {"\"bodies\":[{\"model\":\"a\",\"category\":4294967296}]",
     "bodies[0].category: must be at most 4294967295, not 4294967296"},
    {"\"bodies\":[{\"model\":\"a\",\"category\":1.5}]",
     "bodies[0].category: must be a whole number: the sum of 1, 2, 4, 8 and so on for the "
     "categories that are meant"},
    {"\"bodies\":[{\"model\":\"a\",\"self_contact\":1}]",
     "bodies[0].self_contact: must be true or false, not a number"},
    {"\"bodies\":[{\"model\":\"a\",\"material\":{\"friction\":-0.1}}]",
     "bodies[0].material.friction: must be at least 0, not -0.1"},
    {"\"bodies\":[{\"model\":\"a\",\"material\":{\"restitution\":1.1}}]",
     "bodies[0].material.restitution: must be at most 1, not 1.1"},
    {"\"world\":{\"sleeping\":\"no\"},\"bodies\":[{\"model\":\"a\"}]",
     "world.sleeping: must be true or false, not a string"},
    {COLLIDER("\"shape\":\"mesh\""), "colliders[0]: a mesh needs either \"vertices\" and "
                                     "\"triangles\", or \"file\", or \"builtin\""},
    {COLLIDER("\"shape\":\"mesh\",\"file\":\"a.obj\",\"builtin\":\"torus\""),
     "colliders[0]: a mesh needs either \"vertices\" and \"triangles\", or \"file\", or "
     "\"builtin\""},
    {COLLIDER("\"shape\":\"mesh\",\"builtin\":\"tours\""),
     "colliders[0].builtin: there is no built-in mesh \"tours\"; did you mean \"torus\"?"},
    {COLLIDER("\"shape\":\"mesh\",\"file\":\"a.obj\",\"detail\":2"),
     "colliders[0].detail: goes with \"builtin\" only"},
    {COLLIDER("\"shape\":\"mesh\",\"file\":\"a.pliant\""),
     "colliders[0].file: is a model, of particles; a collider needs a mesh, of triangles"},
    {COLLIDER("\"shape\":\"sphere\",\"radius\":1,\"scale\":2"),
     "colliders[0].scale: does not belong to a sphere"},
    {COLLIDER("\"shape\":\"mesh\",\"builtin\":\"torus\",\"scale\":0"),
     "colliders[0].scale: must be greater than 0, not 0"},
    {COLLIDER("\"shape\":\"plane\",\"mask\":\"all\""),
     "colliders[0].mask: must be a number, not a string"},
};

static void mistakes_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pl_memory memory;
        pl_scene *scene;
        pl_trouble trouble = {0};
        char shown[1200];
        pl_memory_init(&memory, NULL, 0);
        assert_int_equal(read_text(&memory, wrong[i].text, &scene, &trouble), PL_ERROR_FORMAT);
        assert_null(scene);
        pl_trouble_format(&trouble, shown, sizeof shown);
        const char *place = strstr(shown, ": ");
        if (!place || strncmp(place + 2, wrong[i].message, strlen(wrong[i].message)) != 0 ||
            trouble.line != 1 || trouble.column < 2)
            fail_msg("\"%s\" instead of \"%s\"", shown, wrong[i].message);
        assert_int_equal(memory.used, 0);
    }
}

static void a_missing_mesh_is_told(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(&memory, COLLIDER("\"shape\":\"mesh\",\"file\":\"missing.obj\""));
    pl_play *play;
    pl_trouble trouble = {0};
    pl_play_options options = pl_default_play_options();
    assert_int_not_equal(pl_play_create(scene, 0, &options, &play, &trouble), PL_OK);
    assert_string_equal(trouble.path, "colliders[0].file");
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    for (int fail = 0; fail < 1000; fail++) {
        pl_memory memory;
        pl_trouble trouble = {0};
        pl_scene *scene;
        pl_play *play = NULL;
        pl_play_options options = pl_default_play_options();
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_status status =
            read_text(&memory,
                      "\"bodies\":[{\"model\":[\"a\",{\"shape\":\"bar\",\"count\":3}],\"material\":"
                      "[\"jelly\",{\"young\":1e4}],\"fixed\":[0],\"array\":{\"count\":3,"
                      "\"pitch\":2}}],\"colliders\":[{\"shape\":\"mesh\",\"builtin\":\"cuboid\","
                      "\"detail\":0.2}]",
                      &scene, &trouble);
        if (status == PL_OK)
            status = pl_play_create(scene, 0, &options, &play, &trouble);
        memory.fail_at = -1;
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
        if (status == PL_OK)
            return;
        assert_int_equal(status, PL_ERROR_MEMORY);
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_those_of_the_lattice),
        cmocka_unit_test(limits_stop_early),
        cmocka_unit_test(lists_are_gone_through_in_turn),
        cmocka_unit_test(chance_keeps_within_its_bounds),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(places_in_a_box_keep_their_distance),
        cmocka_unit_test(bodies_tumble_about_their_middle),
        cmocka_unit_test(a_single_one_can_be_named),
        cmocka_unit_test(categories_and_masks_reach_the_world),
        cmocka_unit_test(sleeping_and_bouncing_reach_the_world),
        cmocka_unit_test(meshes_become_colliders),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(a_missing_mesh_is_told),
        cmocka_unit_test(every_lack_of_memory_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

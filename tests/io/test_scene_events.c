/* Events in scenes: each happens at its frame and does what it says, judged against free fall and
   the like; and a play that goes on from a snapshot gives the same bits as one that was never
   stopped, wherever it was taken. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene.h"

#define STEP 0.02
/* Single particles: what acts on them is all there is. */
#define START                                                                                      \
    "{\"pliant\":1,\"world\":{\"step\":0.02,\"iterations\":20},"                                   \
    "\"models\":{\"ball\":{\"positions\":[[0,0,0]],\"radius\":0.1}},"

static pl_scene *read_text(pl_memory *memory, const char *text)
{
    pl_scene *scene;
    pl_trouble trouble;
    char message[1200];
    if (pl_scene_read(memory, "test", text, strlen(text), &scene, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
    return scene;
}

static pl_play *play_scene(const pl_scene *scene)
{
    pl_play *play;
    pl_trouble trouble;
    char message[1200];
    pl_play_options options = pl_default_play_options();
    if (pl_play_create(scene, 0, &options, &play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
    return play;
}

static void step_to(pl_play *play, uint64_t frame)
{
    while (play->frame < frame)
        assert_int_equal(pl_play_step(play, NULL), PL_OK);
}

static pl_body_state state_of(const pl_play *play, int body)
{
    pl_body_state s;
    assert_int_equal(pl_body_get_state(play->world, play->bodies[body].handle, &s), PL_OK);
    return s;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g instead of %.9g", value, expected);
}

/* ---- What they do ---------------------------------------------------------------------------- */

static void velocities_impulses_and_gravity(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        START "\"materials\":{\"m\":{\"like\":\"rubber\",\"density\":1000,\"damping\":0}},"
              "\"bodies\":[{\"name\":\"a\",\"model\":\"ball\",\"material\":\"m\",\"gravity_scale\":"
              "0},{\"name\":\"b\",\"model\":\"ball\",\"material\":\"m\",\"position\":[9,0,0],"
              "\"gravity_scale\":0},{\"name\":\"c\",\"model\":\"ball\",\"material\":\"m\","
              "\"position\":[-9,0,0]}],"
              "\"events\":[{\"at\":0.5,\"gravity\":[0,0,0]},"
              "{\"at\":0.1,\"velocity\":{\"body\":\"a\",\"value\":[3,0,0]}},"
              "{\"at\":0.19,\"impulse\":{\"body\":\"b\",\"value\":[0,0,2]}}]}");
    pl_play *play = play_scene(scene);
    step_to(play, 5);
    assert_near(state_of(play, 0).velocity[0], 0, 0);
    step_to(play, 6);
    assert_near(state_of(play, 0).velocity[0], 3, 1e-6);
    step_to(play, 10);
    assert_near(state_of(play, 0).centre[0], 3 * 5 * STEP, 1e-5);
    /* 0.19 s is before frame 10, so frame 10 is the first that is not earlier. */
    assert_near(state_of(play, 1).velocity[2], 0, 0);
    step_to(play, 11);
    pl_body_state b = state_of(play, 1);
    assert_near(b.velocity[2], 2 / b.mass, 1e-5 * 2 / b.mass);
    /* Free fall for half a second, then evenly on. */
    step_to(play, 25);
    assert_near(state_of(play, 2).velocity[1], -9.81 * 0.5, 1e-4);
    step_to(play, 60);
    assert_near(state_of(play, 2).velocity[1], -9.81 * 0.5, 1e-4);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* A bar that hangs by a pin, an attachment, a drive or a fixed end stays, and falls from the frame
   at which it is dropped: until then its middle loses no height to speak of, after that as much as
   anything that falls. */
static void what_holds_lets_go(void **state)
{
    (void)state;
    static const char *const holds[] = {
        "\"pins\":[{\"name\":\"hook\",\"particles\":[\"first\",\"last\"],\"strength\":1e5}],"
        "\"events\":[{\"at\":1,\"drop\":[\"hook\"]}]",
        "\"attachments\":[{\"name\":\"l\",\"particle\":\"first\"},{\"name\":\"r\",\"particle\":"
        "\"last\"}],\"events\":[{\"at\":1,\"drop\":[\"l\",\"r\"]}]",
        "\"drive\":[{\"name\":\"hands\",\"particles\":[\"first\",\"last\"],\"relative\":true,"
        "\"keys\":[{\"time\":0,\"position\":[0,0,0]}]}],\"events\":[{\"at\":1,\"drop\":[\"hands\"]"
        "}]",
        "\"events\":[{\"at\":1,\"release\":[\"bar\"]}]"};
    for (int i = 0; i < 4; i++) {
        char text[2048];
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        snprintf(text, sizeof text,
                 "{\"pliant\":1,\"world\":{\"step\":0.02},\"bodies\":[{\"name\":\"bar\",\"model\":{"
                 "\"shape\":\"bar\",\"count\":8},\"young\":\"500 MPa\",\"damping\":0%s}],%s}",
                 i == 3 ? ",\"fixed\":[\"first\",\"last\"]" : "", holds[i]);
        pl_scene *scene = read_text(&memory, text);
        pl_play *play = play_scene(scene);
        step_to(play, 50);
        double height = state_of(play, 0).centre[1];
        assert_near(height, 0, 0.1);
        assert_near(state_of(play, 0).velocity[1], 0, 0.5);
        double v = state_of(play, 0).velocity[1];
        step_to(play, 75);
        assert_near(state_of(play, 0).velocity[1] - v, -9.81 * 0.5, 0.02 * 9.81);
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
}

static void bodies_and_colliders_go(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        START "\"bodies\":[{\"name\":\"toy\",\"model\":\"ball\",\"position\":[0,0.1,0],\"array\":{"
              "\"count\":4,\"pitch\":1}},{\"name\":\"other\",\"model\":\"ball\",\"damping\":0,"
              "\"position\":[0,0.1,5]}],\"colliders\":[{\"name\":\"floor\",\"shape\":\"plane\"}],"
              "\"pins\":[{\"body\":\"toy[1]\",\"particle\":0,\"keys\":[{\"time\":0,\"position\":"
              "[0,1,0]},{\"time\":9,\"position\":[0,2,0]}]}],"
              "\"forces\":[{\"body\":\"toy[2]\",\"force\":[1,0,0]}],"
              "\"events\":[{\"at\":0.2,\"remove\":[\"toy[1]\"]},{\"at\":0.4,\"remove\":[\"toy[0]\","
              "\"toy[2]\",\"toy[3]\",\"floor\"]}]}");
    pl_play *play = play_scene(scene);
    step_to(play, 10);
    assert_true(!play->bodies[1].removed);
    step_to(play, 11);
    assert_true(play->bodies[1].removed && !pl_body_is_valid(play->world, play->bodies[1].handle));
    assert_true(!play->bodies[0].removed);
    step_to(play, 20);
    assert_near(state_of(play, 4).centre[1], 0.1, 0.01);
    step_to(play, 45);
    for (int i = 0; i < 5; i++)
        assert_int_equal(play->bodies[i].removed, i < 4);
    assert_near(state_of(play, 4).velocity[1], -9.81 * 0.5, 0.25);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* A bar twice as dense weighs twice as much, and keeps the painted map it has. */
static void materials_change(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory, "{\"pliant\":1,\"world\":{\"step\":0.02},\"bodies\":[{\"name\":\"bar\",\"model\":{"
                 "\"shape\":\"bar\",\"count\":6},\"density\":\"1 g/cm3\",\"particle_density\":3}],"
                 "\"events\":[{\"at\":0.1,\"material\":{\"material\":{\"young\":\"2 MPa\","
                 "\"density\":2000}}}]}");
    assert_near(scene->bodies[0].material.density, 1000, 0);
    assert_near(scene->events[0].material.young, 2e6, 0);
    pl_play *play = play_scene(scene);
    double mass = state_of(play, 0).mass;
    step_to(play, 5);
    assert_near(state_of(play, 0).mass, mass, 0);
    assert_near(play->bodies[0].material.density, 1000, 0);
    step_to(play, 6);
    assert_near(state_of(play, 0).mass, 2 * mass, 1e-6 * mass);
    assert_near(play->bodies[0].material.density, 2000, 0);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* ---- Going on from a snapshot ---------------------------------------------------------------- */

static const char everything[] =
    "{\"pliant\":1,\"world\":{\"step\":0.02},"
    "\"models\":{\"bar\":{\"shape\":\"bar\",\"count\":6,\"size\":[1,0.1,0.1]}},"
    "\"bodies\":[{\"name\":\"a\",\"model\":\"bar\",\"fixed\":[\"first\"],\"edge_stiffness\":2},"
    "{\"name\":\"b\",\"model\":\"bar\",\"position\":[0,0.5,0]},"
    "{\"name\":\"toy\",\"model\":\"bar\",\"position\":[0,1,0],\"array\":{\"count\":[1,3],\"pitch\":"
    "0.3}}],"
    "\"colliders\":[{\"name\":\"floor\",\"shape\":\"plane\",\"position\":[0,-1,0],"
    "\"keys\":[{\"time\":0,\"position\":[0,-1,0]},{\"time\":1,\"position\":[0,-0.8,0]}]}],"
    "\"pins\":[{\"name\":\"p\",\"body\":\"b\",\"particle\":\"first\",\"frame\":true,"
    "\"keys\":[{\"time\":0,\"position\":[0,1,0]},{\"time\":2,\"position\":[1,1,0]}]},"
    "{\"name\":\"q\",\"body\":\"b\",\"particle\":\"last\"}],"
    "\"drive\":[{\"name\":\"d\",\"body\":\"toy[0]\",\"particle\":\"first\",\"turn\":{\"axis\":"
    "[0,1,0],\"speed\":90}}],"
    "\"attachments\":[{\"name\":\"h\",\"body\":\"toy[1]\",\"particle\":\"last\",\"keys\":["
    "{\"time\":0,\"position\":[0,2,0]},{\"time\":1,\"position\":[0,2.5,0]}]}],"
    "\"forces\":[{\"body\":\"toy[2]\",\"force\":[0,0,30],\"from\":0.1}],"
    "\"events\":["
    "{\"at\":0.5,\"remove\":[\"toy[2]\",\"floor\"],\"drop\":[\"h\"]},"
    "{\"at\":0.1,\"drop\":[\"p\"]},"
    "{\"at\":0.2,\"drop\":[\"d\",\"q\"],\"velocity\":{\"body\":\"toy\",\"value\":[0,1,0],\"spin\":"
    "[0,0,3]}},"
    "{\"at\":0.3,\"release\":[\"a\"],\"material\":{\"body\":\"a\",\"material\":\"jelly\"}},"
    "{\"at\":0.4,\"gravity\":[0,-1.6,0],\"impulse\":{\"body\":\"b\",\"value\":[0,0,0.5]}}]}";

enum { FRAMES = 35 };

static pl_play *go_on(const pl_scene *scene, const pl_play *from, bool seek_first)
{
    size_t size;
    pl_error error = {0};
    pl_play *play = play_scene(scene);
    assert_int_equal(pl_world_save(from->world, NULL, 0, &size), PL_OK);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(pl_world_save(from->world, bytes, size, &size), PL_OK);
    if (seek_first)
        assert_int_equal(pl_play_seek(play, from->frame), PL_OK);
    assert_int_equal(
        pl_world_restore(play->world, bytes, size, play->models, play->model_count, &error), PL_OK);
    if (!seek_first)
        assert_int_equal(pl_play_seek(play, from->frame), PL_OK);
    free(bytes);
    return play;
}

static void a_play_goes_on_from_any_frame(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(&memory, everything);
    pl_play *play = play_scene(scene);
    uint64_t hashes[FRAMES + 1];
    for (int f = 0; f <= FRAMES; f++) {
        step_to(play, (uint64_t)f);
        hashes[f] = pl_world_hash(play->world);
    }
    pl_play_destroy(play);
    int stride = FRAMES / check_rounds(FRAMES, 7);
    for (int k = 0; k <= FRAMES; k += stride) {
        pl_play *before = play_scene(scene);
        step_to(before, (uint64_t)k);
        pl_play *after = go_on(scene, before, k % 2);
        for (int i = 0; i < after->body_count; i++) {
            assert_int_equal(after->bodies[i].removed, before->bodies[i].removed);
            assert_int_equal(after->bodies[i].released, before->bodies[i].released);
            assert_true(after->bodies[i].material.young == before->bodies[i].material.young);
        }
        pl_play_destroy(before);
        for (int f = k; f <= FRAMES; f++) {
            step_to(after, (uint64_t)f);
            if (pl_world_hash(after->world) != hashes[f])
                fail_msg("saved at frame %d, different at %d", k, f);
        }
        pl_play_destroy(after);
    }
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* Back to the beginning of the same play: a restart. */
static void a_play_can_be_wound_back(void **state)
{
    (void)state;
    pl_memory memory;
    size_t size;
    pl_error error = {0};
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(&memory, everything);
    pl_play *play = play_scene(scene);
    assert_int_equal(pl_world_save(play->world, NULL, 0, &size), PL_OK);
    void *bytes = malloc(size);
    assert_int_equal(pl_world_save(play->world, bytes, size, &size), PL_OK);
    step_to(play, FRAMES);
    uint64_t hash = pl_world_hash(play->world);
    assert_int_equal(
        pl_world_restore(play->world, bytes, size, play->models, play->model_count, &error), PL_OK);
    assert_int_equal(pl_play_seek(play, 0), PL_OK);
    assert_true(!play->bodies[4].removed);
    step_to(play, FRAMES);
    assert_true(pl_world_hash(play->world) == hash);
    free(bytes);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* Trying events out at the start changes nothing: the bits are those of the scene without them. */
static void events_to_come_change_nothing(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "}", ",\"events\":[{\"at\":9,\"material\":{\"material\":\"jelly\"},\"gravity\":[0,1,0]}]}"};
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        char text[512];
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        snprintf(text, sizeof text,
                 "{\"pliant\":1,\"bodies\":[{\"model\":{\"shape\":\"bar\",\"count\":6},\"fixed\":["
                 "\"first\"],\"edge_stiffness\":3}]%s",
                 ends[i]);
        pl_scene *scene = read_text(&memory, text);
        pl_play *play = play_scene(scene);
        step_to(play, 20);
        hashes[i] = pl_world_hash(play->world);
        pl_play_destroy(play);
        pl_scene_free(scene);
    }
    assert_true(hashes[0] == hashes[1]);
}

/* Every allocation fails in turn, also those of events while the scene plays. */
static void memory_may_run_out(void **state)
{
    (void)state;
    for (int fail = 0; fail < 2000; fail++) {
        pl_memory memory;
        pl_scene *scene;
        pl_play *play = NULL;
        pl_trouble trouble = {0};
        pl_play_options options = pl_default_play_options();
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_status status =
            pl_scene_read(&memory, "test", everything, strlen(everything), &scene, &trouble);
        if (status == PL_OK)
            status = pl_play_create(scene, 0, &options, &play, &trouble);
        for (int f = 0; f < 27 && status == PL_OK; f++)
            status = pl_play_step(play, NULL);
        memory.fail_at = -1;
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
        if (status == PL_OK) {
            assert_true(fail > 50);
            return;
        }
        assert_int_equal(status, PL_ERROR_MEMORY);
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_impulses_and_gravity),
        cmocka_unit_test(what_holds_lets_go),
        cmocka_unit_test(bodies_and_colliders_go),
        cmocka_unit_test(materials_change),
        cmocka_unit_test(a_play_goes_on_from_any_frame),
        cmocka_unit_test(a_play_can_be_wound_back),
        cmocka_unit_test(events_to_come_change_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

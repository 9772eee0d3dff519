/* Colliders in scenes: all shapes are read and stop what falls, moving ones move, and what is wrong
   is said where it stands. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene.h"

#define BODY                                                                                       \
    "\"bodies\":[{\"model\":{\"shape\":\"box\",\"count\":[3,3,3],\"size\":[1,1,1]},\"position\":[" \
    "0,1.2,0]}]"

static pl_scene *read_scene(pl_memory *memory, const char *colliders)
{
    char text[4096];
    pl_scene *scene;
    pl_trouble trouble;
    int length =
        snprintf(text, sizeof text, "{\"pliant\":1," BODY ",\"colliders\":[%s]}", colliders);
    if (pl_scene_read(memory, "test", text, (size_t)length, &scene, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
    return scene;
}

static void all_shapes_stop_what_falls(void **state)
{
    (void)state;
    static const char *const floors[] = {
        "{\"shape\":\"plane\"}",
        "{\"shape\":\"box\",\"half\":[5,1,5],\"position\":[0,-1,0],\"name\":\"floor\"}",
        "{\"shape\":\"sphere\",\"radius\":100,\"position\":[0,-100,0],\"restitution\":0.1}",
        "{\"shape\":\"capsule\",\"radius\":50,\"length\":20,\"position\":[0,-50,0],"
        "\"rotation\":{\"axis\":[1,0,0],\"degrees\":90}}",
        "{\"shape\":\"mesh\",\"vertices\":[[-9,0,-9],[-9,0,9],[9,0,9],[9,0,-9]],"
        "\"triangles\":[[0,1,2],[0,2,3]],\"two_sided\":false,\"friction\":0.9}"};
    for (int i = 0; i < 5; i++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_scene *scene = read_scene(&memory, floors[i]);
        pl_play *play;
        pl_trouble trouble;
        pl_play_options options = pl_default_play_options();
        assert_int_equal(scene->collider_count, 1);
        if (pl_play_create(scene, 0, &options, &play, &trouble) != PL_OK)
            fail_msg("%s", trouble.text);
        for (int f = 0; f < 60; f++)
            assert_int_equal(pl_play_step(play, NULL), PL_OK);
        pl_body_state s;
        pl_body_get_state(play->world, play->bodies[0].handle, &s);
        if (!(s.centre[1] > 0.2 && s.centre[1] < 1.2))
            fail_msg("shape %d: the body is at %g", i, s.centre[1]);
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
}

static void keys_and_turns_move_them(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene =
        read_scene(&memory, "{\"shape\":\"box\",\"half\":[1,1,1],\"position\":[5,0,0],\"keys\":["
                            "{\"time\":0,\"position\":[5,0,0]},{\"time\":1,\"position\":[5,2,0]}]},"
                            "{\"shape\":\"sphere\",\"radius\":0.1,\"position\":[3,0,0],"
                            "\"turn\":{\"axis\":[0,1,0],\"speed\":90}}");
    pl_play *play;
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    options.step = 0.25;
    assert_int_equal(pl_play_create(scene, 0, &options, &play, &trouble), PL_OK);
    pl_collider_state s;
    for (int f = 1; f <= 4; f++) {
        assert_int_equal(pl_play_step(play, NULL), PL_OK);
        assert_int_equal(pl_collider_get_state(play->world, play->colliders[0], &s), PL_OK);
        assert_true(fabs(s.position[1] - 0.5 * f) < 1e-9 && fabs(s.position[0] - 5) < 1e-9);
    }
    assert_int_equal(pl_collider_get_state(play->world, play->colliders[1], &s), PL_OK);
    assert_true(fabs(s.position[0]) < 1e-9 && fabs(s.position[2] + 3) < 1e-9);
    assert_true(fabs(s.rotation[1] - sqrt(0.5)) < 1e-9);
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{}", "shape"},
        {"{\"shape\":\"ball\"}", "ball"},
        {"{\"shape\":\"box\"}", "half"},
        {"{\"shape\":\"box\",\"half\":[1,-1,1]}", "half"},
        {"{\"shape\":\"box\",\"half\":[1,1,1],\"radius\":2}", "radius"},
        {"{\"shape\":\"sphere\",\"radius\":-1}", "radius"},
        {"{\"shape\":\"capsule\",\"radius\":1}", "length"},
        {"{\"shape\":\"mesh\",\"vertices\":[[0,0,0]]}", "triangles"},
        {"{\"shape\":\"mesh\",\"vertices\":[[0,0,0]],\"triangles\":[[0,0,1]]}", "triangles"},
        {"{\"shape\":\"plane\",\"friction\":-1}", "friction"},
        {"{\"shape\":\"plane\",\"restitution\":2}", "restitution"},
        {"{\"shape\":\"plane\",\"keys\":[]}", "keys"},
        {"{\"shape\":\"plane\",\"keys\":[{\"time\":0,\"direction\":[1,0,0]}]}", "key"},
        {"{\"shape\":\"plane\",\"rotation\":[0,0,0,0]}", "rotation"},
        {"{\"shape\":\"plane\",\"frictoin\":1}", "friction"},
        {"7", "colliders"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pl_memory memory;
        pl_scene *scene;
        pl_trouble trouble = {0};
        char text[1024];
        pl_memory_init(&memory, NULL, 0);
        int length =
            snprintf(text, sizeof text, "{\"pliant\":1," BODY ",\"colliders\":[%s]}", wrong[i][0]);
        assert_int_equal(pl_scene_read(&memory, "test", text, (size_t)length, &scene, &trouble),
                         PL_ERROR_FORMAT);
        if (!strstr(trouble.text, wrong[i][1]) && !strstr(trouble.path, wrong[i][1]))
            fail_msg("case %d: \"%s\" does not name %s", (int)i, trouble.text, wrong[i][1]);
        assert_int_equal(memory.used, 0);
    }
}

static void want_of_memory_is_survived(void **state)
{
    (void)state;
    for (int64_t fail = 0; fail < 400; fail++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        char text[1024];
        pl_scene *scene = NULL;
        pl_play *play = NULL;
        pl_trouble trouble;
        pl_play_options options = pl_default_play_options();
        int length = snprintf(text, sizeof text,
                              "{\"pliant\":1," BODY ",\"colliders\":["
                              "{\"shape\":\"mesh\",\"vertices\":[[0,0,0],[1,0,0],[0,0,1]],"
                              "\"triangles\":[[0,1,2]],\"turn\":{\"axis\":[0,1,0],\"speed\":9}}]}");
        pl_status status = pl_scene_read(&memory, "test", text, (size_t)length, &scene, &trouble);
        if (status == PL_OK)
            status = pl_play_create(scene, 0, &options, &play, &trouble);
        assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_stop_what_falls),
        cmocka_unit_test(keys_and_turns_move_them),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(want_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

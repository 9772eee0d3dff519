/* Cameras, lights and outputs of scenes as they are read, and where a camera is at a time. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "io/scene.h"

static pl_scene *read_text(pl_memory *memory, const char *text)
{
    pl_scene *scene;
    pl_trouble trouble;
    char message[1200];
    if (pl_scene_read(memory, "test", text, strlen(text), &scene, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
    return scene;
}

static void assert_point(const double *p, double x, double y, double z)
{
    if (fabs(p[0] - x) > 1e-12 || fabs(p[1] - y) > 1e-12 || fabs(p[2] - z) > 1e-12)
        fail_msg("(%g, %g, %g) instead of (%g, %g, %g)", p[0], p[1], p[2], x, y, z);
}

static void everything_is_read(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        "{\"pliant\":1,\"bodies\":[{\"name\":\"a\",\"model\":{\"shape\":\"bar\"}},{\"name\":\"b\","
        "\"model\":{\"shape\":\"bar\"}}],"
        "\"cameras\":[\"auto\",{\"position\":[1,2,3]},{\"name\":\"n\",\"target\":{\"body\":\"b\"},"
        "\"degrees\":20}],"
        "\"lights\":[{\"direction\":[0,3,4]},{\"direction\":[1,0,0],\"colour\":[0.5,0,1],"
        "\"strength\":0.25,\"shadows\":false}],"
        "\"outputs\":[\"a.mp4\",{\"file\":\"b_%04d.png\",\"every\":3,\"size\":[64,48],\"show\":"
        "\"graph\",\"camera\":\"n\"},{\"file\":\"c.obj\",\"camera\":\"auto\"}]}");
    assert_int_equal(scene->camera_count, 3);
    const pl_scene_camera *c = scene->cameras;
    assert_true(!c[0].has_position && !c[0].has_target && c[0].body < 0);
    assert_string_equal(c[0].name, "auto");
    assert_true(c[1].has_position && !c[1].has_target && !c[1].name && c[1].degrees == 0);
    assert_true(!c[2].has_position && c[2].body == 1 && c[2].degrees == 20);
    assert_int_equal(scene->light_count, 2);
    assert_point(scene->lights[0].direction, 0, 0.6, 0.8);
    assert_point(scene->lights[0].colour, 1, 1, 1);
    assert_true(scene->lights[0].shadows && scene->lights[0].strength == 1);
    assert_point(scene->lights[1].colour, 0.5, 0, 1);
    assert_true(!scene->lights[1].shadows && scene->lights[1].strength == 0.25);
    const pl_scene_output *o = scene->outputs;
    assert_int_equal(scene->output_count, 3);
    assert_string_equal(o[0].file, "a.mp4");
    assert_true(!o[0].every && !o[0].size[0] && !o[0].show && !o[0].camera);
    assert_string_equal(o[1].show, "graph");
    assert_string_equal(o[1].camera, "n");
    assert_true(o[1].every == 3 && o[1].size[0] == 64 && o[1].size[1] == 48);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void cameras_move(void **state)
{
    (void)state;
    pl_memory memory;
    double p[3] = {9, 9, 9}, t[3] = {9, 9, 9};
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        "{\"pliant\":1,\"bodies\":[{\"model\":{\"shape\":\"bar\"}}],\"cameras\":["
        "{\"position\":[1,2,3],\"target\":[4,5,6]},"
        "{\"keys\":[{\"time\":1,\"position\":[0,0,0]},{\"time\":3,\"position\":[2,4,8]}],"
        "\"target\":[1,0,0]},"
        "{\"position\":[1,1,1],\"target\":[5,5,5],\"relative\":true,"
        "\"keys\":[{\"time\":0,\"position\":[0,0,0]},{\"time\":2,\"position\":[0,2,0]}],"
        "\"target_keys\":[{\"time\":0,\"position\":[0,0,0]},{\"time\":4,\"position\":[4,0,0]}]},"
        "{\"position\":[2,1,0],\"turn\":{\"axis\":[0,1,0],\"speed\":90}}]}");
    pl_scene_camera_at(&scene->cameras[0], 7, p, t);
    assert_point(p, 1, 2, 3);
    assert_point(t, 4, 5, 6);
    pl_scene_camera_at(&scene->cameras[1], 1.5, p, t);
    assert_point(p, 0.5, 1, 2);
    assert_point(t, 1, 0, 0);
    pl_scene_camera_at(&scene->cameras[2], 1, p, t);
    assert_point(p, 1, 2, 1);
    assert_point(t, 6, 5, 5);
    pl_scene_camera_at(&scene->cameras[3], 1, p, t);
    assert_point(p, 0, 1, -2);
    assert_point(t, 6, 5, 5); /* has none: left alone */
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_read),
                                       cmocka_unit_test(cameras_move)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Attachments and pressure in scenes: all kinds are read, hold and move; what is wrong is said
   where it stands. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene.h"

#define BODIES                                                                                     \
    "\"models\":{\"box\":{\"shape\":\"box\",\"count\":[3,3,3],\"size\":[1,1,1]}},"                 \
    "\"bodies\":[{\"name\":\"a\",\"model\":\"box\"},"                                              \
    "{\"name\":\"b\",\"model\":\"box\",\"position\":[0,-1.2,0]}],"                                 \
    "\"colliders\":[{\"name\":\"hand\",\"shape\":\"sphere\",\"radius\":0.1,\"position\":[0,3,0],"  \
    "\"keys\":[{\"time\":0,\"position\":[0,3,0]},{\"time\":1,\"position\":[1,3,0]}]}]"

static pl_status read_text(pl_memory *memory, const char *rest, pl_scene **scene,
                           pl_trouble *trouble)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "{\"pliant\":1,%s}", rest);
    return pl_scene_read(memory, "test", text, (size_t)length, scene, trouble);
}

/* Plays 60 frames; the height of both bodies and the way of the first along x. */
static void play_scene(const char *attachments, double *a, double *b, double *along, double *gap)
{
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    char rest[3000];
    pl_memory_init(&memory, NULL, 0);
    snprintf(rest, sizeof rest, BODIES ",\"attachments\":[%s]", attachments);
    if (read_text(&memory, rest, &scene, &trouble) != PL_OK ||
        pl_play_create(scene, 0, &options, &play, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
    for (int f = 0; f < 60; f++)
        assert_int_equal(pl_play_step(play, NULL), PL_OK);
    pl_body_state s;
    *gap = 0;
    pl_body_get_state(play->world, play->bodies[0].handle, &s);
    *a = s.centre[1], *along = s.centre[0];
    pl_body_get_state(play->world, play->bodies[1].handle, &s);
    *b = s.centre[1];
    for (int i = 0; i < scene->attachment_count; i++) {
        pl_attachment_state state;
        assert_int_equal(pl_attachment_get_state(play->world, play->attachments[i], &state), PL_OK);
        for (int k = 0; k < 3 && !state.broken; k++)
            *gap = fmax(*gap, fabs(state.gap[k]));
    }
    pl_play_destroy(play);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void all_kinds_hold(void **state)
{
    (void)state;
    double a, b, along, gap;
    play_scene("{\"body\":\"a\",\"particle\":\"first\"}", &a, &b, &along, &gap);
    assert_true(a > -1.5 && b < -3 && gap < 0.01);
    play_scene(
        "{\"body\":\"a\",\"vertex\":{\"near\":[0,0.5,0]}},{\"body\":\"b\",\"point\":[0,0.6,0],"
        "\"other\":\"a\",\"other_point\":[0,-0.6,0],\"name\":\"bond\"}",
        &a, &b, &along, &gap);
    assert_true(a > -1 && b > -2.5 && gap < 0.01);
    play_scene("{\"body\":\"a\",\"particle\":0,\"break_force\":10}", &a, &b, &along, &gap);
    assert_true(a < -3);
    play_scene("{\"body\":\"a\",\"point\":[0,0.5,0],\"keys\":[{\"time\":0,\"position\":[0,0,0]},"
               "{\"time\":1,\"position\":[2,0,0]}],\"relative\":true,\"ease\":\"smooth\"}",
               &a, &b, &along, &gap);
    assert_true(a > -1.5 && along > 1 && gap < 0.05);
    play_scene("{\"body\":\"a\",\"point\":[0,0.5,0],\"collider\":\"hand\"}", &a, &b, &along, &gap);
    assert_true(a > -1.5 && along > 0.3 && gap < 0.05);
    play_scene("{\"body\":\"a\",\"point\":[0,0.5,0],\"target\":[0,0.6,0]}", &a, &b, &along, &gap);
    assert_true(a > -1.5 && gap < 0.05);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"{\"body\":\"a\"}", "give one of"},
        {"{\"body\":\"a\",\"particle\":0,\"vertex\":0}", "several"},
        {"{\"particle\":0}", "body"},
        {"{\"body\":\"c\",\"particle\":0}", "body"},
        {"{\"body\":\"a\",\"particle\":0,\"other\":\"b\"}", "other_particle"},
        {"{\"body\":\"a\",\"particle\":0,\"other\":\"x\",\"other_particle\":0}", "no body"},
        {"{\"body\":\"a\",\"particle\":0,\"other\":\"b\",\"collider\":\"hand\"}", "either"},
        {"{\"body\":\"a\",\"particle\":0,\"collider\":\"foot\"}", "collider"},
        {"{\"body\":\"a\",\"particle\":0,\"other_particle\":1}", "does not belong"},
        {"{\"body\":\"a\",\"particle\":0,\"collider\":\"hand\",\"relative\":true}",
         "does not belong"},
        {"{\"body\":\"a\",\"particle\":0,\"target\":[0,0,0],\"keys\":[{\"time\":0,\"position\":[0,"
         "0,"
         "0]}]}",
         "either"},
        {"{\"body\":\"a\",\"particle\":0,\"keys\":[{\"time\":0,\"rotation\":[0,0,0,1]}]}",
         "position"},
        {"{\"body\":\"a\",\"particle\":0,\"break_force\":-1}", "at least 0"},
        {"{\"body\":\"a\",\"particle\":27}", "no particle"},
        {"{\"body\":\"a\",\"particle\":\"all\"}", "one point"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pl_memory memory;
        pl_scene *scene = NULL;
        pl_play *play = NULL;
        pl_trouble trouble;
        pl_play_options options = pl_default_play_options();
        char rest[3000];
        pl_memory_init(&memory, NULL, 0);
        snprintf(rest, sizeof rest, BODIES ",\"attachments\":[%s]", cases[i].text);
        pl_status status = read_text(&memory, rest, &scene, &trouble);
        if (status == PL_OK)
            status = pl_play_create(scene, 0, &options, &play, &trouble);
        if (status == PL_OK || !strstr(trouble.text, cases[i].said))
            fail_msg("%s: %s", cases[i].text, status == PL_OK ? "accepted" : trouble.text);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
    }
}

/* An octahedron of six particles. */
static void pressure_is_read(void **state)
{
    (void)state;
    static const char form[] =
        "\"world\":{\"gravity\":[0,0,0]},\"bodies\":[{\"pressure\":%s,\"model\":{\"positions\":[[1,"
        "0,0],"
        "[-1,0,0],[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]],\"radius\":0.3,\"edges\":[[0,2],[0,3],[0,4],["
        "0,"
        "5],[1,2],[1,3],[1,4],[1,5],[2,4],[2,5],[3,4],[3,5]],\"dimension\":2,\"vertices\":[[1,0,0],"
        "["
        "-1,0,0],[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]],\"triangles\":[[0,2,4],[2,1,4],[1,3,4],[3,0,4],"
        "[2,0,5],[1,2,5],[3,1,5],[0,3,5]]}}]";
    double width[2];
    for (int i = 0; i < 2; i++) {
        pl_memory memory;
        pl_scene *scene;
        pl_play *play;
        pl_trouble trouble;
        pl_play_options options = pl_default_play_options();
        char rest[3000];
        double x[3];
        pl_memory_init(&memory, NULL, 0);
        snprintf(rest, sizeof rest, form, i ? "50000" : "0");
        if (read_text(&memory, rest, &scene, &trouble) != PL_OK ||
            pl_play_create(scene, 0, &options, &play, &trouble) != PL_OK)
            fail_msg("%s", trouble.text);
        for (int f = 0; f < 60; f++)
            assert_int_equal(pl_play_step(play, NULL), PL_OK);
        assert_int_equal(pl_body_read(play->world, play->bodies[0].handle, PL_POSITIONS, 0, 1, 1,
                                      pl_doubles(x, 0)),
                         PL_OK);
        width[i] = x[0];
        pl_play_destroy(play);
        pl_scene_free(scene);
    }
    assert_true(fabs(width[0] - 1) < 1e-4 && width[1] > 1.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_hold),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(pressure_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

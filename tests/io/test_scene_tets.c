/* Tetrahedral bodies in scenes: their keys reach the world, and the shape "block" and cooked meshes
   become bodies that run. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "io/scene.h"

static pl_scene *read_good(pl_memory *memory, const char *text)
{
    pl_scene *scene;
    pl_trouble trouble;
    char shown[1200];
    pl_memory_init(memory, NULL, 0);
    if (pl_scene_read(memory, "test", text, strlen(text), &scene, &trouble) != PL_OK)
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

static const char keys[] =
    "{\"pliant\":1,\"models\":{\"beam\":{\"shape\":\"block\",\"count\":[4,3,3],\"tetrahedra\":true}"
    "},"
    "\"bodies\":["
    "{\"model\":\"beam\",\"tetrahedral\":true},"
    "{\"model\":\"beam\",\"tetrahedral\":{\"poisson\":0.45,\"volume\":\"determinant\",\"yield\":0."
    "1,"
    "\"flow\":20,\"hardening\":-1,\"condition\":3,\"accelerated\":false,\"window\":5}},"
    "{\"model\":\"beam\",\"young\":\"20 kPa\",\"tetrahedral\":{\"rotations\":\"quaternion\","
    "\"sampled\":0.5,\"weight_cap\":3,\"threshold\":0.1}},"
    "{\"model\":\"beam\",\"tetrahedral\":{\"rotations\":\"folded\"}}]}";

static void keys_are_read(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(&memory, keys);
    pl_tetrahedral_def usual = pl_default_tetrahedral_def();
    const pl_tetrahedral_def *def = &scene->bodies[0].tetrahedral.def;
    assert_true(scene->bodies[0].tetrahedral.wanted);
    assert_true(def->poisson == usual.poisson && def->volume == PL_TET_TRACE);
    assert_true(def->rotations == PL_TET_EXACT && isinf(def->yield) && def->accelerated);
    def = &scene->bodies[1].tetrahedral.def;
    assert_true(def->poisson == 0.45 && def->volume == PL_TET_DETERMINANT);
    assert_true(def->yield == 0.1 && def->flow == 20 && def->hardening == -1);
    assert_true(def->condition == 3 && !def->accelerated && def->window == 5);
    def = &scene->bodies[2].tetrahedral.def;
    assert_true(def->rotations == PL_TET_QUATERNION && def->sampled == 0.5);
    assert_true(def->weight_cap == 3 && def->threshold == 0.1);
    def = &scene->bodies[3].tetrahedral.def;
    assert_true(def->rotations == PL_TET_FOLDED && def->poisson == 0);
    pl_scene_free(scene);
}

static pl_body_info info_of(const pl_play *play, int body)
{
    pl_body_info info;
    assert_int_equal(pl_body_get_info(play->world, play->bodies[body].handle, &info), PL_OK);
    return info;
}

static void bodies_are_made(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(&memory, keys);
    pl_play *play = play_good(scene);
    for (int i = 0; i < 4; i++) {
        pl_body_info info = info_of(play, i);
        assert_int_equal(info.kind, PL_MATTER_TETRAHEDRAL);
        assert_int_equal(info.particle_count, 4 * 3 * 3);
        assert_int_equal(info.tet_count, 5 * 3 * 2 * 2);
        assert_int_equal(info.sample_count, i < 2 ? 0 : i == 2 ? 30 : 6);
    }
    assert_int_equal(pl_world_step(play->world, NULL), PL_OK);
    pl_play_destroy(play);
    pl_scene_free(scene);
}

static void meshes_are_cooked(void **state)
{
    (void)state;
    pl_memory memory;
    pl_scene *scene = read_good(
        &memory, "{\"pliant\":1,\"bodies\":[{\"model\":{\"builtin\":\"cuboid\",\"tets\":300,"
                 "\"tetrahedra\":true},\"position\":[0,0.1,0],\"tetrahedral\":true}],"
                 "\"colliders\":[{\"shape\":\"plane\"}]}");
    pl_play *play = play_good(scene);
    pl_body_info info = info_of(play, 0);
    assert_int_equal(info.kind, PL_MATTER_TETRAHEDRAL);
    assert_true(info.tet_count > 100 && info.tet_count < 900);
    for (int i = 0; i < 30; i++)
        assert_int_equal(pl_world_step(play->world, NULL), PL_OK);
    pl_body_state at;
    assert_int_equal(pl_body_get_state(play->world, play->bodies[0].handle, &at), PL_OK);
    assert_true(at.centre[1] > 0.1);
    pl_play_destroy(play);
    pl_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_read),
                                       cmocka_unit_test(bodies_are_made),
                                       cmocka_unit_test(meshes_are_cooked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Scenes: the schema and the reader know the same keys, every scene shipped reads and plays, start
   states and motions do what they say, and no lack of memory does harm. */
#include "support/check.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/motion.h"
#include "io/outputs.h"
#include "io/scene.h"
#include "io/suggest.h"

#define SCENES PLIANT_SOURCE_DIR "/scenes"
#define SCHEMA PLIANT_SOURCE_DIR "/docs/scene.schema.json"

static pl_json *read_json(pl_memory *memory, const char *path)
{
    char *bytes;
    size_t size;
    pl_json *json;
    pl_trouble trouble;
    assert_int_equal(pl_file_read(memory, path, 1 << 24, &bytes, &size, &trouble), PL_OK);
    assert_int_equal(pl_json_parse(memory, path, bytes, size, &json, &trouble), PL_OK);
    pl_memory_free(memory, bytes);
    return json;
}

static pl_scene *read_text(pl_memory *memory, const char *text)
{
    pl_scene *scene;
    pl_trouble trouble;
    char shown[1200];
    if (pl_scene_read(memory, "test", text, strlen(text), &scene, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, shown, sizeof shown));
    return scene;
}

static pl_play *play_scene(const pl_scene *scene, int run)
{
    pl_play *play;
    pl_trouble trouble;
    char shown[1200];
    pl_play_options options = pl_default_play_options();
    if (pl_play_create(scene, run, &options, &play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, shown, sizeof shown));
    return play;
}

/* ---- The schema ------------------------------------------------------------------------------ */

static uint32_t schema_properties(const pl_json *schema, const char *object)
{
    uint32_t node = 0;
    if (strcmp(object, "scene") != 0)
        node = pl_json_member(schema, pl_json_member(schema, 0, "$defs"), object);
    if (strcmp(object, "scene") != 0 && !node)
        fail_msg("the schema does not define \"%s\"", object);
    return pl_json_member(schema, node, "properties");
}

static void schema_and_reader_know_the_same_keys(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_json *schema = read_json(&memory, SCHEMA);
    for (int o = 0; o < pl_scene_object_count(); o++) {
        const char *object = pl_scene_object_name(o);
        uint32_t properties = schema_properties(schema, object);
        for (int k = 0; k < pl_scene_key_count(o); k++)
            if (!pl_json_member(schema, properties, pl_scene_key(o, k)))
                fail_msg("the schema lacks %s.%s", object, pl_scene_key(o, k));
        if ((int)schema->nodes[properties].as.container.count != pl_scene_key_count(o))
            fail_msg("the schema has a key of %s that the reader does not know", object);
    }
    pl_json_free(schema);
    assert_int_equal(memory.used, 0);
}

/* ---- Scenes shipped -------------------------------------------------------------------------- */

/* Crowds take seconds to cook, and test_crowd_scenes builds them anyway; with checks around every
   access so do thousands of particles, and one scene of each kind will do. */
static bool takes_long(const char *name)
{
    static const char *const large[] = {
        "clay-",         "twisted-beam", "ductile-bar", "brittle-plate", "pile-", "rabbit-on",
        "cannonball",    "tilting-",     "cluster-",    "torn-bar",      "tet-c", "tet-teddies",
        "example-teddy", "example-c",    "dinosaur-c",  "dinosaur-h"};
    bool slow = strncmp(name, "crowd-", 6) == 0;
    for (size_t i = 0; check_is_slow_build() && i < sizeof large / sizeof *large; i++)
        slow |= strncmp(name, large[i], strlen(large[i])) == 0;
    return slow && !check_is_thorough();
}

static void every_scene_plays(void **state)
{
    (void)state;
    DIR *listing = opendir(SCENES);
    int count = 0;
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        char path[1024], *bytes;
        size_t size;
        pl_memory memory;
        pl_trouble trouble;
        if (!strstr(entry->d_name, ".json") || takes_long(entry->d_name))
            continue;
        snprintf(path, sizeof path, SCENES "/%s", entry->d_name);
        pl_memory_init(&memory, NULL, 0);
        assert_int_equal(pl_file_read(&memory, path, 1 << 24, &bytes, &size, &trouble), PL_OK);
        bytes[size] = 0;
        pl_scene *scene = read_text(&memory, bytes);
        pl_memory_free(&memory, bytes);
        assert_non_null(scene->about);
        int runs = check_is_slow_build() ? 1 : scene->run_count;
        for (int run = 0; run < runs; run++) {
            pl_play *play = play_scene(scene, run);
            for (int frame = 0; frame < 3; frame++)
                assert_int_equal(pl_play_step(play, NULL), PL_OK);
            pl_play_destroy(play);
        }
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
        count++;
    }
    closedir(listing);
    assert_true(count >= 8);
}

/* ---- What a scene says happens --------------------------------------------------------------- */

static void read_positions(const pl_play *play, int body, double *out)
{
    assert_int_equal(pl_body_read(play->world, play->bodies[body].handle, PL_POSITIONS, 0,
                                  play->bodies[body].info.particle_count, 1, pl_doubles(out, 0)),
                     PL_OK);
}

static void start_states(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        "{\"pliant\":1,\"models\":{\"m\":{\"positions\":[[0,0,0],[1,0,0],[3,0,0]],\"radius\":0.1,"
        "\"edges\":[[0,1],[1,2]]}},\"bodies\":["
        "{\"model\":\"m\",\"state\":{\"collapse\":[1,2,3]}},"
        "{\"model\":\"m\",\"fixed\":[\"last\"],\"position\":[0,5,0],\"state\":{\"collapse\":true}},"
        "{\"model\":\"m\",\"fixed\":[1],\"state\":{\"mirror\":\"x\"}},"
        "{\"model\":\"m\",\"state\":{\"random\":4,\"extent\":2}},"
        "{\"model\":\"m\",\"state\":{\"positions\":[[1,1,1],[2,2,2],[4,4,4]],"
        "\"velocities\":[[0,0,1],[0,0,2],[0,0,3]]}},"
        "{\"model\":\"m\",\"rotation\":{\"axis\":[0,0,1],\"degrees\":90}}]}");
    pl_play *play = play_scene(scene, 0);
    double x[9];
    read_positions(play, 0, x);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(x[i] - (i % 3 + 1)) < 1e-6);
    read_positions(play, 1, x);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(x[3 * i] - 3) < 1e-6 && fabs(x[3 * i + 1] - 5) < 1e-6);
    read_positions(play, 2, x);
    assert_true(fabs(x[0] - 8.0 / 3) < 1e-5 && fabs(x[3] - 1) < 1e-6 &&
                fabs(x[6] + 1.0 / 3) < 1e-5);
    read_positions(play, 3, x);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(x[i] - (i % 3 == 0 ? 4.0 / 3 : 0)) <= 1.0001);
    read_positions(play, 4, x);
    assert_true(fabs(x[8] - 4) < 1e-6);
    read_positions(play, 5, x);
    assert_true(fabs(x[6]) < 1e-6 && fabs(x[7] - 3) < 1e-6);
    pl_play_destroy(play);
    pl_scene_free(scene);
}

static void drives_and_forces_act(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory,
        "{\"pliant\":1,\"world\":{\"step\":0.1,\"gravity\":[0,0,0]},\"bodies\":["
        "{\"name\":\"a\",\"model\":{\"shape\":\"bar\"}},"
        "{\"name\":\"b\",\"model\":{\"positions\":[[0,50,0]],\"radius\":1},"
        "\"material\":{\"density\":1000,\"damping\":0}}],"
        "\"drive\":[{\"body\":\"a\",\"particle\":\"last\",\"relative\":true,"
        "\"keys\":[{\"time\":0,\"position\":[0,0,0]},{\"time\":1,\"position\":[0,2,0]}]}],"
        "\"forces\":[{\"body\":\"b\",\"force\":[4188.790204786391,0,0],\"from\":0.2,\"to\":0.4}]}");
    pl_play *play = play_scene(scene, 0);
    double x[60], u[3];
    assert_int_equal(play->bodies[0].fixed_count, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(pl_play_step(play, NULL), PL_OK);
    read_positions(play, 0, x);
    assert_true(fabs(x[58] - 1) < 1e-5);
    assert_int_equal(
        pl_body_read(play->world, play->bodies[1].handle, PL_VELOCITIES, 0, 1, 1, pl_doubles(u, 0)),
        PL_OK);
    assert_true(fabs(u[0] - 0.2) < 1e-4);
    pl_play_destroy(play);
    pl_scene_free(scene);
}

static void runs_and_overrides(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = read_text(
        &memory, "{\"pliant\":1,\"world\":{\"step\":0.1,\"iterations\":7},\"bodies\":[{\"model\":"
                 "{\"shape\":\"bar\"}}],\"runs\":[{\"name\":\"a\"},{\"name\":\"b\",\"world\":"
                 "{\"iterations\":9,\"solver\":\"stiff\"}}]}");
    assert_int_equal(scene->run_count, 2);
    assert_int_equal(scene->runs[0].world.iterations, 7);
    assert_int_equal(scene->runs[1].world.iterations, 9);
    assert_true(scene->runs[1].world.step == 0.1);
    pl_play *play = play_scene(scene, 1);
    assert_int_equal(play->bodies[0].solver, PL_SOLVER_STIFF);
    pl_play_destroy(play);
    pl_scene_free(scene);
}

/* ---- Motions --------------------------------------------------------------------------------- */

static void motions_are_what_they_say(void **state)
{
    (void)state;
    double turn_keys[2][2] = {{0, 0}, {2, 720}};
    pl_motion_turn turn = {
        .axis = {0, 0, 1}, .centre = {1, 0, 0}, .key_count = 2, .keys = turn_keys};
    pl_motion motion = {.turn_count = 1, .turns = &turn};
    const double start[3] = {2, 0, 0}, up[4] = {0, 0, 0, 1};
    double out[3], q[4];
    pl_motion_position(&motion, 0.25, start, out);
    assert_true(fabs(out[0] - 1) < 1e-15 && fabs(out[1] - 1) < 1e-15);
    pl_motion_position(&motion, 9, start, out);
    assert_true(out[0] == 2 && out[1] == 0);
    pl_motion_rotation(&motion, 0.5, up, q);
    assert_true(fabs(q[2] - 1) < 1e-15 && fabs(q[3]) < 1e-15);

    pl_motion_key keys[2] = {{.time = 0, .vector = {1, 0, 0}, .rotation = {0, 0, 0, 1}},
                             {.time = 1, .vector = {0, 1, 0}, .rotation = {0, 0, 1, 0}}};
    pl_motion path = {.key_count = 2, .keys = keys, .has_vectors = true, .has_rotations = true};
    pl_motion_direction(&path, 1.0 / 3, start, out);
    assert_true(fabs(out[0] - cos(M_PI / 6)) < 1e-13 && fabs(out[1] - 0.5) < 1e-13);
    pl_motion_rotation(&path, 0.5, up, q);
    assert_true(fabs(q[2] - sqrt(0.5)) < 1e-13);
    pl_motion_position(&path, 0.25, start, out);
    assert_true(out[0] == 0.75 && out[1] == 0.25);
    path.relative = path.smooth = true;
    pl_motion_position(&path, 0.5, start, out);
    assert_true(out[0] == 2.5 && out[1] == 0.5);
    for (int d = -1000; d <= 1000; d++) {
        const double axis[3] = {1, 0, 0};
        pl_quaternion_from_degrees(axis, d * 7.3, q);
        assert_true(fabs(q[0] - sin(d * 7.3 * M_PI / 360)) < 1e-12);
        assert_true(fabs(q[3] - cos(d * 7.3 * M_PI / 360)) < 1e-12);
    }
}

/* ---- Small things ---------------------------------------------------------------------------- */

static void suggestions(void **state)
{
    (void)state;
    assert_int_equal(pl_word_distance("stiff", "stiff"), 0);
    assert_int_equal(pl_word_distance("stif", "stiff"), 1);
    assert_int_equal(pl_word_distance("frist", "first"), 1);
    assert_int_equal(pl_word_distance("", "abc"), 3);
    const char *best = NULL;
    pl_suggest("camera", "bodies", &best);
    assert_null(best);
    pl_suggest("Bodys", "bodies", &best);
    assert_string_equal(best, "bodies");
}

static void patterns(void **state)
{
    (void)state;
    char name[64];
    bool sequence;
    assert_int_equal(pl_pattern_check("a_%04d.obj", &sequence, NULL), PL_OK);
    assert_true(sequence);
    assert_int_equal(pl_pattern_name("a_%04d%%.obj", 7, name, sizeof name), PL_OK);
    assert_string_equal(name, "a_0007%.obj");
    assert_int_equal(pl_pattern_check("a.obj", &sequence, NULL), PL_OK);
    assert_false(sequence);
    assert_int_not_equal(pl_pattern_check("%s.obj", &sequence, NULL), PL_OK);
    assert_int_not_equal(pl_pattern_check("%d%d.obj", &sequence, NULL), PL_OK);
    assert_int_not_equal(pl_pattern_check("%", &sequence, NULL), PL_OK);
    assert_int_not_equal(pl_pattern_name("a_%04d.obj", 7, name, 9), PL_OK);
}

static void outputs_are_whole_or_absent(void **state)
{
    (void)state;
    char directory[] = "/tmp/pliant-output-XXXXXX", path[64], *bytes;
    size_t size;
    pl_memory memory;
    pl_output *output;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.txt", directory);
    pl_memory_init(&memory, NULL, 0);
    assert_int_equal(pl_output_open(&memory, path, &output, NULL), PL_OK);
    pl_output_text(output, "one ");
    assert_int_not_equal(access(path, F_OK), 0);
    pl_output_number(output, 0.1);
    pl_output_json_string(output, "\"\n");
    assert_int_equal(pl_output_publish(output, NULL), PL_OK);
    assert_int_equal(pl_output_open(&memory, path, &output, NULL), PL_OK);
    pl_output_text(output, "two");
    pl_output_drop(output);
    assert_int_equal(pl_file_read(&memory, path, 1000, &bytes, &size, NULL), PL_OK);
    assert_int_equal(size, strlen("one 0.1\"\\\"\\u000a\""));
    assert_memory_equal(bytes, "one 0.1\"\\\"\\u000a\"", size);
    pl_memory_free(&memory, bytes);
    assert_int_equal(memory.used, 0);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static const char everything[] =
    "{\"pliant\":1,\"models\":{\"m\":{\"particles\":[{\"position\":[0,0,0],\"radius\":0.1},"
    "{\"position\":[1,0,0],\"radii\":[0.1,0.2,0.3]}],\"edges\":[[0,1]],\"vertices\":[[0,0,0],[1,0,"
    "0],"
    "[0,1,0]],\"triangles\":[[0,1,2]],\"influences\":[[0],[1],[0]],\"weights\":[[1],[1],[1]]}},"
    "\"materials\":{\"x\":{\"like\":\"jelly\"}},\"bodies\":[{\"model\":\"m\",\"material\":\"x\","
    "\"edge_stiffness\":2,\"particle_density\":[1,2],\"fixed\":[0],\"state\":{\"collapse\":true}},"
    "{\"name\":\"b\",\"model\":{\"shape\":\"bar\",\"count\":4}}],\"pins\":[{\"body\":\"b\","
    "\"vertices\":"
    "[0,{\"near\":[1,0,0]}],\"frame\":true,\"turn\":{\"axis\":[0,1,0],\"speed\":10}}],\"drive\":[{"
    "\"body\":"
    "\"b\",\"particle\":1,\"keys\":[{\"time\":0,\"position\":[0,0,0]}]}],\"forces\":[{\"body\":"
    "\"b\","
    "\"particle\":0,\"force\":[0,0,1]}],\"runs\":[{\"name\":\"r\"}]}";

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    pl_play_options options = pl_default_play_options();
    for (int fail = 0; fail < 1000; fail++) {
        pl_memory memory;
        pl_trouble trouble = {0};
        pl_scene *scene;
        pl_play *play = NULL;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_status status =
            pl_scene_read(&memory, "t", everything, sizeof everything - 1, &scene, &trouble);
        if (status == PL_OK)
            status = pl_play_create(scene, 0, &options, &play, &trouble);
        if (status == PL_OK)
            memory.fail_at = -1;
        if (status != PL_OK && status != PL_ERROR_MEMORY)
            fail_msg("allocation %d: %s", fail, trouble.text);
        pl_play_destroy(play);
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
        if (status == PL_OK)
            return;
    }
    fail_msg("never succeeded");
}

/* Damaged in every place, read and built: never a crash, never a leak. */
static void stands_damaged_scenes(void **state)
{
    (void)state;
    static const char replacements[] = "0-9\"[]{},:e.xn ";
    pl_play_options options = pl_default_play_options();
    char damaged[sizeof everything];
    for (size_t i = 0; i < sizeof everything - 1; i++)
        for (size_t r = 0; r < sizeof replacements - 1; r += 3) {
            pl_memory memory;
            pl_scene *scene;
            pl_play *play = NULL;
            pl_trouble trouble;
            pl_memory_init(&memory, NULL, 1 << 24);
            memcpy(damaged, everything, sizeof damaged);
            damaged[i] = replacements[(r + i) % (sizeof replacements - 1)];
            if (pl_scene_read(&memory, "t", damaged, sizeof damaged - 1, &scene, &trouble) == PL_OK)
                pl_play_create(scene, 0, &options, &play, &trouble);
            pl_play_destroy(play);
            pl_scene_free(scene);
            assert_int_equal(memory.used, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_and_reader_know_the_same_keys),
        cmocka_unit_test(every_scene_plays),
        cmocka_unit_test(start_states),
        cmocka_unit_test(drives_and_forces_act),
        cmocka_unit_test(runs_and_overrides),
        cmocka_unit_test(motions_are_what_they_say),
        cmocka_unit_test(suggestions),
        cmocka_unit_test(patterns),
        cmocka_unit_test(outputs_are_whole_or_absent),
        cmocka_unit_test(every_lack_of_memory_is_clean),
        cmocka_unit_test(stands_damaged_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

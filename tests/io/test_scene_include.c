/* Scenes made of several files and of values from the command line: what comes together and in
   which order, where everything says it stands, where files are found, and that no memory is lost
   when it runs out. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "io/scene.h"

/* Files in memory. */
typedef struct shelf {
    const char *name, *text;
} shelf;

static int opened;

static pl_status open_shelf(void *user, pl_memory *memory, const char *path, char **bytes,
                            size_t *size, pl_trouble *trouble)
{
    opened++;
    for (const shelf *file = user; file->name; file++)
        if (strcmp(file->name, path) == 0) {
            *size = strlen(file->text);
            *bytes = PL_NEW(memory, char, *size + 1);
            if (!*bytes)
                return PL_ERROR_MEMORY;
            memcpy(*bytes, file->text, *size);
            return PL_OK;
        }
    return pl_trouble_set(trouble, PL_ERROR_IO, path, "is not on the shelf");
}

/* The scene is the first file. */
static pl_status read_shelf(pl_memory *memory, const shelf *files, const char *const *sets,
                            pl_scene **scene, pl_trouble *trouble)
{
    pl_scene_source source = {.file = files->name,
                              .text = files->text,
                              .size = strlen(files->text),
                              .sets = sets,
                              .open = open_shelf,
                              .user = (void *)files};
    while (sets && sets[source.set_count])
        source.set_count++;
    opened = 0;
    return pl_scene_read_source(memory, &source, scene, trouble);
}

static pl_scene *must_read(pl_memory *memory, const shelf *files, const char *const *sets)
{
    pl_scene *scene;
    pl_trouble trouble;
    char message[1200];
    if (read_shelf(memory, files, sets, &scene, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
    return scene;
}

static void must_say(const shelf *files, const char *const *sets, const char *expected)
{
    pl_memory memory;
    pl_scene *scene;
    pl_trouble trouble = {0};
    char message[1200];
    pl_memory_init(&memory, NULL, 0);
    assert_int_not_equal(read_shelf(&memory, files, sets, &scene, &trouble), PL_OK);
    assert_null(scene);
    assert_string_equal(pl_trouble_format(&trouble, message, sizeof message), expected);
    assert_int_equal(memory.used, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Four files; "common.json" is reached on two ways. */
static const shelf toys[] = {
    {"home/scene.json",
     "{\"pliant\":1,\"name\":\"own\",\"include\":[\"parts/a.json\",\"./b.json\"],"
     "\"world\":{\"frames\":3},\"materials\":{\"goo\":{\"young\":3}},"
     "\"bodies\":[{\"name\":\"last\",\"model\":\"m\",\"material\":\"goo\"}],"
     "\"outputs\":[\"own.png\"],\"pins\":[{\"body\":\"last\",\"particle\":0}]}"},
    {"home/parts/a.json",
     "{\"pliant\":1,\"name\":\"a\",\"include\":\"../common.json\",\"world\":{\"frames\":9,"
     "\"substeps\":2},\"bodies\":[{\"name\":\"first\",\"model\":\"m\",\"material\":\"goo\"}],"
     "\"models\":{\"f\":{\"file\":\"x.obj\"}},\"outputs\":[\"a1.png\",\"a2.png\"],"
     "\"cameras\":[{\"name\":\"c\",\"position\":[1,2,3]}]}"},
    {"home/b.json",
     "{\"pliant\":1,\"include\":[\"common.json\"],\"materials\":{\"dry\":{\"young\":4}},"
     "\"bodies\":[{\"name\":\"second\",\"model\":\"m\",\"material\":\"dry\"}]}"},
    {"home/common.json", "{\"pliant\":1,\"models\":{\"m\":{\"positions\":[[0,0,0]],\"radius\":1}},"
                         "\"materials\":{\"goo\":{\"young\":1},\"wet\":{\"young\":2}},"
                         "\"colliders\":[{\"shape\":\"plane\"}]}"},
    {0}};

static void files_become_one_scene(void **state)
{
    (void)state;
    pl_memory memory;
    char path[64];
    pl_memory_init(&memory, NULL, 0);
    pl_scene *scene = must_read(&memory, toys, NULL);
    assert_int_equal(opened, 3); /* each once */
    assert_string_equal(scene->name, "own");
    assert_int_equal(scene->body_count, 3);
    assert_string_equal(scene->bodies[0].name, "first");
    assert_string_equal(scene->bodies[1].name, "second");
    assert_string_equal(scene->bodies[2].name, "last");
    /* Named things: the including file's count, for all that use the name. */
    assert_true(scene->bodies[0].material.young == 3 && scene->bodies[2].material.young == 3);
    assert_true(scene->bodies[1].material.young == 4);
    assert_int_equal(scene->material_count, 3);
    assert_int_equal(scene->model_count, 2);
    assert_int_equal(scene->world.frames, 3);
    assert_int_equal(scene->world.substeps, 2);
    assert_int_equal(scene->collider_count, 1);
    assert_int_equal(scene->pins[0].body, 2);
    /* What is seen and written: the including file's where it says something. */
    assert_int_equal(scene->output_count, 1);
    assert_string_equal(scene->outputs[0].file, "own.png");
    assert_int_equal(scene->camera_count, 1);
    /* Files are found from the file that names them. */
    for (int i = 0; i < scene->model_count; i++)
        if (scene->models[i].file) {
            assert_int_equal(pl_scene_path(scene, scene->models[i].place.node,
                                           scene->models[i].file, path, sizeof path),
                             PL_OK);
            assert_string_equal(path, "home/parts/x.obj");
        }
    pl_scene_path(scene, scene->outputs[0].file_node, "own.png", path, sizeof path);
    assert_string_equal(path, "home/own.png");
    pl_scene_path(scene, scene->outputs[0].file_node, "/own.png", path, sizeof path);
    assert_string_equal(path, "/own.png");
    assert_int_equal(pl_scene_path(scene, 0, "own.png", path, 8), PL_ERROR_FORMAT);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* Including nothing changes nothing. */
static void an_empty_list_is_allowed(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    const shelf files[] = {
        {"s.json", "{\"pliant\":1,\"include\":[],\"bodies\":[{\"model\":{\"shape\":\"bar\"}}]}"},
        {0}};
    pl_scene *scene = must_read(&memory, files, NULL);
    assert_int_equal(scene->body_count, 1);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

static void mistakes_name_their_file(void **state)
{
    (void)state;
    const shelf circle[] = {{"d/a.json", "{\"pliant\":1,\"include\":\"b.json\"}"},
                            {"d/b.json", "{\"pliant\":1,\"include\":\"e/../../d/a.json\"}"},
                            {0}};
    must_say(
        circle, NULL,
        "d/b.json:1:23: include: the files include each other in a circle: a.json -> b.json -> "
        "a.json");
    const shelf range[] = {
        {"a.json", "{\"pliant\":1,\"include\":\"b.json\",\"bodies\":[{\"model\":\"m\"}]}"},
        {"b.json", "{\"pliant\":1,\n\"models\":{\"m\":{\"positions\":[[0,0,0]],\n\"radius\":-1}}}"},
        {0}};
    must_say(range, NULL, "b.json:3:10: models.m.radius: must be greater than 0, not -1");
    /* A name of the other file, used here. */
    const shelf names[] = {
        {"a.json", "{\"pliant\":1,\"include\":\"b.json\",\n\"bodies\":[{\"model\":\"bra\"}]}"},
        {"b.json", "{\"pliant\":1,\"models\":{\"bar\":{\"shape\":\"bar\"}}}"},
        {0}};
    must_say(names, NULL,
             "a.json:2:20: bodies[0].model: there is no model \"bra\"; did you mean \"bar\"?");
    const shelf missing[] = {{"a.json", "{\"pliant\":1,\n\"include\":[\"b.json\"]}"}, {0}};
    must_say(missing, NULL, "a.json:2:12: include[0]: b.json is not on the shelf");
}

/* ---- Values from outside --------------------------------------------------------------------- */

static void values_are_set(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    const char *const sets[] = {"bodies.second.young=20 kPa",
                                "bodies[2].velocity=[1, 2, 3]",
                                "world.gravity=[0,-1.6,0]",
                                "materials.goo.young=77",
                                "materials[\"new one\"].density=500",
                                "name=a word",
                                "about=\"quoted\"",
                                "bodies.last.name=renamed",
                                "pins[0].body=renamed",
                                "events=[{\"at\":1,\"remove\":[\"renamed\"]}]",
                                "world.solver=stiff",
                                "world.gravity=[0,-2,0]",
                                NULL};
    pl_scene *scene = must_read(&memory, toys, sets);
    assert_true(scene->bodies[1].material.young == 20000);
    assert_true(scene->bodies[2].velocity[1] == 2);
    assert_true(scene->world.gravity[1] == -2); /* the last of two */
    assert_true(scene->bodies[0].material.young == 77 && scene->bodies[2].material.young == 77);
    assert_int_equal(scene->material_count, 4);
    assert_string_equal(scene->name, "a word");
    assert_string_equal(scene->about, "quoted");
    assert_string_equal(scene->bodies[2].name, "renamed");
    assert_int_equal(scene->event_count, 1);
    assert_int_equal(scene->world.solver, PL_SOLVER_STIFF);
    assert_int_equal(scene->world.frames, 3);
    pl_scene_free(scene);
    assert_int_equal(memory.used, 0);
}

/* Places of everything else stay what they were, before and behind what was set. */
static void places_stay_right(void **state)
{
    (void)state;
    static const char text[] = "{\"pliant\": 1,\n\"world\": {\"step\": %s},\n"
                               "\"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"young\": %s}]}";
    char bad_step[256], bad_young[256];
    snprintf(bad_step, sizeof bad_step, text, "0", "1");
    snprintf(bad_young, sizeof bad_young, text, "1", "-1");
    const shelf steps[] = {{"s.json", bad_step}, {0}}, youngs[] = {{"s.json", bad_young}, {0}};
    const char *const add[] = {"world.gravity=[0, 1, 0]", "bodies[0].position=[1,1,1]", NULL};
    const char *const grow[] = {"bodies[0].model={\"positions\":[[0,0,0]],\"radius\":[1]}", NULL};
    must_say(steps, add, "s.json:2:19: world.step: must be greater than 0, not 0");
    must_say(youngs, add, "s.json:3:49: bodies[0].young: must be greater than 0, not -1");
    must_say(youngs, grow, "s.json:3:49: bodies[0].young: must be greater than 0, not -1");
    const char *const wrong[] = {"bodies[0].model={\"positions\":[[0,0,0]],\"radius\":[-1]}", NULL};
    must_say(steps, wrong, "s.json:2:19: world.step: must be greater than 0, not 0");
    const char *const mended[] = {"world.step=1", wrong[0], NULL};
    must_say(steps, mended,
             "--set bodies[0].model: bodies[0].model.radius[0]: must be greater than 0, not -1");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Every allocation fails in turn: a message, and nothing lost. */
static void memory_may_run_out(void **state)
{
    (void)state;
    const char *const sets[] = {"bodies.second.young=20 kPa", "world.gravity=[0,-1.6,0]",
                                "events=[{\"at\":1,\"remove\":[\"first\"]}]", NULL};
    for (int fail = 0; fail < 1000; fail++) {
        pl_memory memory;
        pl_scene *scene;
        pl_trouble trouble = {0};
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_status status = read_shelf(&memory, toys, sets, &scene, &trouble);
        memory.fail_at = -1;
        pl_scene_free(scene);
        assert_int_equal(memory.used, 0);
        if (status == PL_OK) {
            assert_true(fail > 50);
            return;
        }
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_non_null(strstr(trouble.text, "not enough memory"));
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_become_one_scene),   cmocka_unit_test(an_empty_list_is_allowed),
        cmocka_unit_test(mistakes_name_their_file), cmocka_unit_test(values_are_set),
        cmocka_unit_test(places_stay_right),        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Model files: what is written comes back and simulates to the same bits; bad files are refused by
   name. */
#include "io/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pliant/files.h"
#include "shape/packed.h"
#include "support/check.h"
#include "support/world_kit.h"

static char directory[64];

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/pliant-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int remove_directory(void **state)
{
    (void)state;
    static const char *const names[] = {"a.pliant", "b.pliant"};
    for (size_t i = 0; i < 2; i++)
        unlink(path_of(names[i]));
    return rmdir(directory);
}

static pl_model *load(const char *path)
{
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_model_load(path, NULL, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

static uint64_t hash_after(pl_model *model, int steps)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    pl_body body = world_body(world, model);
    const int32_t fixed = 0;
    assert_int_equal(pl_body_set_fixed(world, body, &fixed, 1, NULL), PL_OK);
    world_step(world, steps);
    uint64_t hash = pl_world_hash(world);
    pl_world_destroy(world);
    return hash;
}

static void a_model_from_a_file_simulates_to_the_same_bits(void **state)
{
    (void)state;
    static const pl_shape_kind kinds[] = {PL_SHAPE_CREATURE, PL_SHAPE_SHEET, PL_SHAPE_COIL};
    for (size_t i = 0; i < 3; i++) {
        pl_model *model = world_model(kinds[i], 0, 0, 0);
        const char *path = path_of("a.pliant");
        assert_int_equal(pl_model_save(model, path, NULL), PL_OK);
        assert_true(pl_file_is_model(path));
        pl_model *copy = load(path);
        assert_true(pl_model_get_info(copy).hash == pl_model_get_info(model).hash);
        assert_true(hash_after(copy, 30) == hash_after(model, 30));
        pl_model_release(copy);
        pl_model_release(model);
    }
}

/* A snapshot finds its model by hash, also when that came from a file. */
static void snapshots_find_models_from_files(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    assert_int_equal(pl_model_save(model, path_of("a.pliant"), NULL), PL_OK);
    pl_model *copy = load(path_of("a.pliant"));
    pl_world *world = world_empty(), *other = world_empty();
    world_body(world, model);
    world_step(world, 3);
    size_t size;
    void *bytes = world_snapshot(world, &size);
    assert_int_equal(pl_world_restore(other, bytes, size, &copy, 1, NULL), PL_OK);
    assert_true(pl_world_hash(world) == pl_world_hash(other));
    pl_world_destroy(world);
    pl_world_destroy(other);
    pl_model_release(model);
    pl_model_release(copy);
    free(bytes);
}

static void bad_files_are_refused_by_name(void **state)
{
    (void)state;
    pl_model *const untouched = (pl_model *)(uintptr_t)64;
    pl_model *model = untouched;
    pl_error error;
    assert_int_equal(pl_model_load(path_of("none.pliant"), NULL, &model, &error), PL_ERROR_IO);
    assert_non_null(strstr(error.where, "none.pliant"));
    assert_int_equal(pl_model_load(directory, NULL, &model, &error), PL_ERROR_IO);
    for (int size = 0; size < 200; size += 20) {
        FILE *file = fopen(path_of("b.pliant"), "wb");
        for (int i = 0; i < size; i++)
            fputc(i < 8 ? PL_PACKED_MAGIC[i] : i, file);
        fclose(file);
        assert_int_equal(pl_model_load(path_of("b.pliant"), NULL, &model, &error), PL_ERROR_FORMAT);
        assert_non_null(strstr(error.where, "b.pliant"));
        assert_true(error.text[0] != 0);
    }
    assert_ptr_equal(model, untouched);
    assert_false(pl_file_is_model(directory));
    assert_false(pl_file_is_model(path_of("none.pliant")));
}

static void nothing_is_left_where_a_file_cannot_be_written(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_BAR, 0, 0, 0);
    pl_error error;
    assert_int_equal(pl_model_save(model, "/nowhere/at/all.pliant", &error), PL_ERROR_IO);
    assert_non_null(strstr(error.where, "all.pliant"));
    pl_model_release(model);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    pl_model *model = world_model(PL_SHAPE_CREATURE, 0, 0, 0), *copy = NULL;
    assert_int_equal(pl_model_save(model, path_of("a.pliant"), NULL), PL_OK);
    world_heap heap;
    world_heap_init(&heap);
    pl_status status = PL_ERROR_MEMORY;
    for (heap.fail_from = 0; status == PL_ERROR_MEMORY; heap.fail_from++) {
        heap.calls = 0;
        status = pl_model_load(path_of("a.pliant"), &heap.allocator, &copy, NULL);
        if (status != PL_OK)
            assert_int_equal(heap.blocks, 0);
    }
    assert_int_equal(status, PL_OK);
    pl_model_release(copy);
    assert_int_equal(heap.blocks, 0);
    pl_error error;
    assert_int_equal(pl_model_load_within(path_of("a.pliant"), NULL, 4000, &copy, &error),
                     PL_ERROR_MEMORY);
    pl_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_from_a_file_simulates_to_the_same_bits),
        cmocka_unit_test(snapshots_find_models_from_files),
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(nothing_is_left_where_a_file_cannot_be_written),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

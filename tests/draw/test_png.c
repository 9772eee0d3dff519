/* PNG: read back by libpng's own simple reader, the pixels are the same; a lack of memory is
   survived. */
#include "support/check.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "draw/png.h"

static void gather(void *user, const char *bytes, size_t size)
{
    pl_array *array = user;
    char *room = pl_array_add(array, size);
    assert_non_null(room);
    memcpy(room, bytes, size);
}

static void pixels_survive(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 300}, {300, 1}, {17, 13}, {640, 480}};
    pl_rng rng = pl_rng_make(4);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int width = sizes[s][0], height = sizes[s][1];
        size_t count = (size_t)width * (size_t)height;
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_array file = pl_array_make(&memory, 1);
        uint8_t *pixels = malloc(4 * count), *back = malloc(3 * count);
        for (size_t i = 0; i < 4 * count; i++)
            pixels[i] = (uint8_t)(i / 4 % 7 ? pl_random_u32(&rng) : 200);
        assert_int_equal(pl_png_encode(&memory, width, height, pixels, gather, &file, NULL), PL_OK);
        png_image image = {.version = PNG_IMAGE_VERSION};
        assert_true(png_image_begin_read_from_memory(&image, file.data, file.count));
        assert_int_equal(image.width, width);
        assert_int_equal(image.height, height);
        image.format = PNG_FORMAT_RGB;
        assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(back + 3 * i, pixels + 4 * i, 3);
        free(pixels);
        free(back);
        pl_array_free(&file);
        assert_int_equal(memory.used, 0);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static uint8_t pixels[4 * 20 * 10];
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_array file = pl_array_make(&memory, 1);
    int width = 0, height = 0;
    uint8_t *back;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = i % 4 == 3 ? 255 : (uint8_t)(i * 7);
    assert_int_equal(pl_png_encode(&memory, 20, 10, pixels, gather, &file, NULL), PL_OK);
    assert_int_equal(pl_png_decode(&memory, file.data, file.count, &width, &height, &back, NULL),
                     PL_OK);
    assert_int_equal(width, 20);
    assert_int_equal(height, 10);
    assert_memory_equal(back, pixels, sizeof pixels);
    pl_memory_free(&memory, back);
    pl_rng rng = pl_rng_make(9);
    for (size_t cut = 0; cut < file.count; cut += 3) {
        pl_status status = pl_png_decode(&memory, file.data, cut, &width, &height, &back, NULL);
        assert_true(status == PL_ERROR_FORMAT || cut + 16 > file.count);
        pl_memory_free(&memory, back);
    }
    for (int round = 0; round < 300; round++) {
        uint8_t *at = (uint8_t *)file.data + pl_random_below(&rng, (uint32_t)file.count), was = *at;
        *at ^= (uint8_t)(1u << round % 8);
        pl_png_decode(&memory, file.data, file.count, &width, &height, &back, NULL);
        pl_memory_free(&memory, back);
        *at = was;
    }
    memory.fail_at = (int64_t)memory.allocations;
    assert_int_equal(pl_png_decode(&memory, file.data, file.count, &width, &height, &back, NULL),
                     PL_ERROR_MEMORY);
    pl_array_free(&file);
    assert_int_equal(memory.used, 0);
}

static void drop(void *user, const char *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
}

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    static uint8_t pixels[4 * 64 * 64];
    pl_status status = PL_ERROR_MEMORY;
    for (int64_t fail = 0; status != PL_OK; fail++) {
        pl_memory memory;
        size_t size = 0;
        pl_error error = {0};
        assert_in_range(fail, 0, 60);
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        status = pl_png_encode(&memory, 64, 64, pixels, drop, &size, &error);
        assert_true(status == PL_OK || (status == PL_ERROR_MEMORY && error.text[0]));
        assert_int_equal(memory.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_survive),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(every_lack_of_memory_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

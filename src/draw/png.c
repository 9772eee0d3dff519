#include "draw/png.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>

typedef struct encoder {
    pl_memory *memory;
    pl_png_write_function *write;
    void *user;
    bool no_memory;
} encoder;

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    encoder *e = png_get_mem_ptr(png);
    void *made = pl_memory_alloc(e->memory, size, 1);
    e->no_memory |= !made;
    return made;
}

static void release(png_structp png, png_voidp pointer)
{
    encoder *e = png_get_mem_ptr(png);
    pl_memory_free(e->memory, pointer);
}

static void on_bytes(png_structp png, png_bytep bytes, png_size_t size)
{
    encoder *e = png_get_io_ptr(png);
    e->write(e->user, (const char *)bytes, size);
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static void on_error(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

/* The only function that libpng may leave by a jump: it owns nothing. */
static bool write_all(png_structp png, png_infop info, int width, int height, const uint8_t *rgba)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 5);
    png_write_info(png, info);
    png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (int row = 0; row < height; row++)
        png_write_row(png, rgba + 4 * (size_t)row * (size_t)width);
    png_write_end(png, info);
    return true;
}

pl_status pl_png_encode(pl_memory *memory, int width, int height, const uint8_t *rgba,
                        pl_png_write_function *write, void *user, pl_error *error)
{
    encoder e = {memory, write, user, false};
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning,
                                                &e, allocate, release);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool good = false;
    if (info) {
        png_set_write_fn(png, &e, on_bytes, on_flush);
        good = write_all(png, info, width, height, rgba);
    } else {
        e.no_memory = true;
    }
    if (png)
        png_destroy_write_struct(&png, &info);
    PL_CHECK(good, e.no_memory ? PL_ERROR_MEMORY : PL_ERROR_STATE, error, NULL,
             e.no_memory ? "not enough memory to write the picture"
                         : "the picture could not be encoded");
    return PL_OK;
}

pl_status pl_png_decode(pl_memory *memory, const void *bytes, size_t size, int *width, int *height,
                        uint8_t **rgba, pl_error *error)
{
    enum { LARGEST = 16384 };
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    *rgba = NULL;
    PL_CHECK(png_image_begin_read_from_memory(&image, bytes, size), PL_ERROR_FORMAT, error, NULL,
             "is no PNG picture: %s", image.message);
    image.format = PNG_FORMAT_RGBA;
    bool good = image.width <= LARGEST && image.height <= LARGEST;
    uint8_t *made =
        good ? PL_NEW(memory, uint8_t, 4 * (size_t)image.width * (size_t)image.height) : NULL;
    if (made && png_image_finish_read(&image, NULL, made, 0, NULL)) {
        *rgba = made;
        *width = (int)image.width;
        *height = (int)image.height;
        return PL_OK;
    }
    pl_memory_free(memory, made);
    png_image_free(&image);
    if (good && !made)
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "not enough memory for the picture");
    return pl_fail(error, PL_ERROR_FORMAT, NULL, "the PNG picture is damaged or too large");
}

/* Pictures as PNG: written byte by byte to wherever the caller wants them, and read again. */
#ifndef PL_DRAW_PNG_H
#define PL_DRAW_PNG_H

#include "base/error.h"
#include "base/memory.h"

typedef void pl_png_write_function(void *user, const char *bytes, size_t size);

/* `rgba` as pl_draw_finish leaves it; the picture is opaque, so the fourth byte is dropped. */
pl_status pl_png_encode(pl_memory *memory, int width, int height, const uint8_t *rgba,
                        pl_png_write_function *write, void *user, pl_error *error);

/* A picture from the bytes of a PNG file: *rgba has 4 bytes per pixel, sRGB, rows from the top, and
   is freed by pl_memory_free. PL_ERROR_FORMAT for what is none, or larger than 16384 pixels to a
   side. */
pl_status pl_png_decode(pl_memory *memory, const void *bytes, size_t size, int *width, int *height,
                        uint8_t **rgba, pl_error *error);

#endif

/* Pictures as PNG, byte by byte to wherever the caller wants them. */
#ifndef PL_DRAW_PNG_H
#define PL_DRAW_PNG_H

#include "base/error.h"
#include "base/memory.h"

typedef void pl_png_write_function(void *user, const char *bytes, size_t size);

/* `rgba` as pl_draw_finish leaves it; the picture is opaque, so the fourth byte is dropped. */
pl_status pl_png_encode(pl_memory *memory, int width, int height, const uint8_t *rgba,
                        pl_png_write_function *write, void *user, pl_error *error);

#endif

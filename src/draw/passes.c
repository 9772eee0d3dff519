/* The passes of a picture: depth as the light sees it and from below; then for each tile what is
   solid as samples, which are developed to a picture, and the same once more, over it, for the
   nearest layer of what can be seen through. */
#include <math.h>
#include <string.h>

#include "draw/draw_parts.h"

/* The coarsest triangles of a surface that a map with texels of this size (metres) does not tell
   from all of them. */
static const pl_draw_level *level_for(const pl_draw_surface *surface, double texel)
{
    enum { TEXELS = 18 };
    int level = surface->level_count - 1;
    while (level > 0 && surface->levels[level].cell > TEXELS * texel)
        level--;
    return &surface->levels[level];
}

static void draw_item(const pl_draw_item *item, double texel)
{
    glVertexAttrib4f(PL_ATTRIBUTE_COLOUR, 1, 1, 1, 1);
    glVertexAttrib2f(PL_ATTRIBUTE_FINISH, item->roughness, item->metal);
    glVertexAttrib3f(PL_ATTRIBUTE_CENTRE, 0, 0, 0);
    glVertexAttrib3f(PL_ATTRIBUTE_AXIS_X, 1, 0, 0);
    glVertexAttrib3f(PL_ATTRIBUTE_AXIS_Y, 0, 1, 0);
    glVertexAttrib3f(PL_ATTRIBUTE_AXIS_Z, 0, 0, 1);
    glVertexAttrib4f(PL_ATTRIBUTE_TINT, 1, 1, 1, item->opacity);
    if (item->closed)
        glEnable(GL_CULL_FACE);
    else
        glDisable(GL_CULL_FACE);
    glBindVertexArray(item->array);
    if (item->surface) {
        const pl_draw_level *level = level_for(item->surface, texel);
        glDrawElements(GL_TRIANGLES, level->count, GL_UNSIGNED_INT,
                       (const void *)((size_t)level->first * sizeof(uint32_t)));
    } else {
        glDrawElementsInstanced(GL_TRIANGLES, item->index_count, GL_UNSIGNED_INT, NULL,
                                item->count);
    }
}

static bool is_glass(const pl_draw_item *item)
{
    return item->opacity < 1;
}

static bool any_glass(const pl_draw *draw)
{
    const pl_draw_item *items = draw->items.data;
    for (size_t i = 0; i < draw->items.count; i++)
        if (is_glass(&items[i]))
            return true;
    return false;
}

static void draw_items(const pl_draw *draw, bool glass, double texel)
{
    const pl_draw_item *items = draw->items.data;
    for (size_t i = 0; i < draw->items.count; i++)
        if (is_glass(&items[i]) == glass)
            draw_item(&items[i], texel);
    glDisable(GL_CULL_FACE);
}

static void send_numbers(const pl_draw *draw)
{
    glBindBuffer(GL_UNIFORM_BUFFER, draw->numbers_buffer);
    glBufferData(GL_UNIFORM_BUFFER, sizeof draw->numbers, &draw->numbers, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, draw->numbers_buffer);
}

static void draw_screen(const pl_draw *draw, GLuint program)
{
    glUseProgram(program);
    glDisable(GL_DEPTH_TEST);
    glBindVertexArray(draw->no_vertices);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEnable(GL_DEPTH_TEST);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static void draw_depth(const pl_draw *draw, int target, int size)
{
    bool below = target == PL_TARGET_BELOW;
    const float *matrix = below ? draw->numbers.below : draw->numbers.shadow;
    /* Rows of the matrix are axes; the first has the length of the map's width over one. */
    double across =
        sqrt((double)(matrix[0] * matrix[0] + matrix[4] * matrix[4] + matrix[8] * matrix[8]));
    glBindFramebuffer(GL_FRAMEBUFFER, draw->targets.framebuffers[target]);
    glViewport(0, 0, size, size);
    glClear(GL_DEPTH_BUFFER_BIT);
    glUniform1i(glGetUniformLocation(draw->shaders.depth, "from_below"), below);
    draw_items(draw, false, 1 / (across * size * draw->scale));
}

void pl_draw_maps(pl_draw *draw)
{
    send_numbers(draw);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    glDisable(GL_BLEND);
    glUseProgram(draw->shaders.depth);
    /* What lies before a map's range is pressed onto its near side instead of being cut away. */
    glEnable(GL_DEPTH_CLAMP);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(2.0f, 4.0f);
    draw_depth(draw, PL_TARGET_SHADOW, PL_SHADOW_MAP);
    glDisable(GL_POLYGON_OFFSET_FILL);
    if (draw->view.ground) {
        draw_depth(draw, PL_TARGET_BELOW, PL_BELOW_MAP);
        glBindFramebuffer(GL_FRAMEBUFFER, draw->targets.framebuffers[PL_TARGET_OPEN]);
        glViewport(0, 0, PL_OPEN_MAP, PL_OPEN_MAP);
        draw_screen(draw, draw->shaders.open);
    }
    glDisable(GL_DEPTH_CLAMP);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* The part of the whole picture that a tile shows: coordinates of the screen scaled and moved. */
static void set_tile(pl_draw *draw, int x, int y, int width, int height)
{
    pl_scene_numbers *n = &draw->numbers;
    double wide = (double)draw->width / width, tall = (double)draw->height / height;
    double move_x = wide - 2.0 * x / width - 1, move_y = tall - 2.0 * y / height - 1;
    for (int column = 0; column < 4; column++) {
        const double *from = draw->projection + 4 * column;
        float *to = n->clip + 4 * column;
        to[0] = (float)(wide * from[0] + move_x * from[3]);
        to[1] = (float)(tall * from[1] + move_y * from[3]);
        to[2] = (float)from[2];
        to[3] = (float)from[3];
    }
    /* And back: (s − move) / scale, then the inverse of the whole picture's projection. */
    const double *back = draw->unprojection;
    for (int row = 0; row < 4; row++) {
        n->unclip[row] = (float)(back[row] / wide);
        n->unclip[4 + row] = (float)(back[4 + row] / tall);
        n->unclip[8 + row] = (float)back[8 + row];
        n->unclip[12 + row] =
            (float)(back[12 + row] - back[row] * move_x / wide - back[4 + row] * move_y / tall);
    }
    const float picture[4] = {(float)x, (float)y, (float)draw->height, (float)draw->targets.side};
    const float tile[4] = {2.0f / (float)width, 2.0f / (float)height, draw->view.ground, 0};
    memcpy(n->picture, picture, sizeof picture);
    memcpy(n->tile, tile, sizeof tile);
}

static void draw_layer(pl_draw *draw, int width, int height, bool glass)
{
    static const float nothing[4] = {0, 0, 0, 0};
    const pl_draw_targets *targets = &draw->targets;
    draw->numbers.tile[3] = glass;
    send_numbers(draw);
    glBindFramebuffer(GL_FRAMEBUFFER, targets->framebuffers[PL_TARGET_SAMPLES]);
    glViewport(0, 0, width * targets->side, height * targets->side);
    glClearBufferfv(GL_COLOR, 0, nothing);
    glClearBufferfv(GL_COLOR, 1, nothing);
    if (!glass)
        glClear(GL_DEPTH_BUFFER_BIT);
    glUseProgram(draw->shaders.geometry);
    draw_items(draw, glass, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, targets->framebuffers[PL_TARGET_PICTURE]);
    glViewport(0, 0, width, height);
    if (glass) {
        glEnable(GL_BLEND);
        glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    }
    draw_screen(draw, draw->shaders.develop);
    glDisable(GL_BLEND);
}

void pl_draw_tile(pl_draw *draw, int x, int y, int width, int height)
{
    set_tile(draw, x, y, width, height);
    draw_layer(draw, width, height, false);
    if (any_glass(draw))
        draw_layer(draw, width, height, true);
    glBindVertexArray(0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, draw->tile);
}

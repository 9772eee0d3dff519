/* The renderer's life, and the list of things in a picture. */
#include "draw/draw_parts.h"

#include <string.h>

#include "math/quat.h"

/* ---- Life ------------------------------------------------------------------------------------ */

static pl_status create_shapes(pl_draw *draw)
{
    for (int i = 0; i < PL_SHAPE_FINENESSES; i++)
        PL_TRY(pl_draw_ball_create(&draw->balls[i], i, draw->memory));
    return pl_draw_stick_create(&draw->stick, 12, draw->memory);
}

static pl_status create_parts(pl_draw *draw, int samples, pl_error *error)
{
    PL_TRY(pl_headless_open(&draw->headless, error));
    PL_TRY(pl_shaders_create(&draw->shaders, error));
    PL_TRY(pl_draw_targets_create(&draw->targets, draw->width, draw->height, samples, error));
    glGenBuffers(1, &draw->numbers_buffer);
    glGenVertexArrays(1, &draw->no_vertices);
    draw->tile = PL_NEW(draw->memory, uint8_t,
                        4 * (size_t)draw->targets.width * (size_t)draw->targets.height);
    if (!draw->tile || create_shapes(draw) != PL_OK)
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "not enough memory for a picture of %d x %d",
                       draw->width, draw->height);
    return PL_OK;
}

pl_status pl_draw_create(pl_memory *memory, int width, int height, int samples, pl_draw **draw,
                         pl_error *error)
{
    *draw = NULL;
    PL_CHECK(width >= 1 && width <= PL_DRAW_LARGEST && height >= 1 && height <= PL_DRAW_LARGEST,
             PL_ERROR_ARGUMENT, error, "size", "must be from 1 x 1 to %d x %d, not %d x %d",
             PL_DRAW_LARGEST, PL_DRAW_LARGEST, width, height);
    PL_CHECK(samples >= 1 && samples <= 64, PL_ERROR_ARGUMENT, error, "samples",
             "must be 1, 4, 9 or 16 per pixel, not %d", samples);
    pl_draw *made = PL_NEW(memory, pl_draw, 1);
    PL_CHECK(made, PL_ERROR_MEMORY, error, NULL, "not enough memory to draw");
    made->memory = memory;
    made->width = width;
    made->height = height;
    made->items = pl_array_make(memory, sizeof(pl_draw_item));
    made->streams = pl_array_make(memory, sizeof(pl_draw_stream));
    pl_status status = create_parts(made, samples, error);
    if (status != PL_OK)
        pl_draw_destroy(made);
    else
        *draw = made;
    return status;
}

void pl_draw_destroy(pl_draw *draw)
{
    if (!draw)
        return;
    if (draw->headless.context && pl_headless_enter(&draw->headless)) {
        pl_draw_stream *streams = draw->streams.data;
        for (size_t i = 0; i < draw->streams.count; i++) {
            glDeleteVertexArrays(1, &streams[i].array);
            glDeleteBuffers(1, &streams[i].buffer);
        }
        for (int i = 0; i < PL_SHAPE_FINENESSES; i++)
            pl_draw_shape_destroy(&draw->balls[i]);
        pl_draw_shape_destroy(&draw->stick);
        glDeleteBuffers(1, &draw->numbers_buffer);
        glDeleteVertexArrays(1, &draw->no_vertices);
        pl_draw_targets_destroy(&draw->targets);
        pl_shaders_destroy(&draw->shaders);
    }
    pl_headless_close(&draw->headless);
    pl_array_free(&draw->items);
    pl_array_free(&draw->streams);
    pl_memory_free(draw->memory, draw->tile);
    pl_memory_free(draw->memory, draw);
}

/* ---- The list -------------------------------------------------------------------------------- */

pl_status pl_draw_begin(pl_draw *draw, const pl_draw_view *view, pl_error *error)
{
    draw->begun = false;
    draw->items.count = 0;
    draw->streams_used = 0;
    PL_CHECK(pl_headless_enter(&draw->headless), PL_ERROR_STATE, error, NULL,
             "the graphics context was lost");
    PL_TRY(pl_draw_set_view(draw, view, error));
    draw->begun = true;
    return PL_OK;
}

static pl_status add_item(pl_draw *draw, const pl_draw_item *item)
{
    pl_draw_item *room = pl_array_add(&draw->items, 1);
    if (!room)
        return PL_ERROR_MEMORY;
    *room = *item;
    return PL_OK;
}

pl_status pl_draw_mesh(pl_draw *draw, pl_draw_surface *surface, const double *positions,
                       float opacity)
{
    if (!draw->begun || !pl_headless_enter(&draw->headless))
        return PL_ERROR_STATE;
    pl_draw_place_surface(draw, surface, positions);
    const pl_draw_item item = {.surface = surface,
                               .array = surface->array,
                               .index_count = 3 * surface->triangle_count,
                               .closed = surface->corners.closed,
                               .opacity = opacity};
    return add_item(draw, &item);
}

/* ---- Instances ------------------------------------------------------------------------------- */

typedef struct instance {
    float centre[3], axes[3][3], tint[4];
} instance;

static pl_draw_stream *take_stream(pl_draw *draw)
{
    if (draw->streams_used == draw->streams.count) {
        pl_draw_stream *made = pl_array_add(&draw->streams, 1);
        if (!made)
            return NULL;
        glGenVertexArrays(1, &made->array);
        glGenBuffers(1, &made->buffer);
    }
    return (pl_draw_stream *)draw->streams.data + draw->streams_used++;
}

static void describe_instances(const pl_draw_stream *stream, const pl_draw_shape *shape)
{
    static const struct {
        int size;
        size_t offset;
    } parts[] = {{3, offsetof(instance, centre)},
                 {3, offsetof(instance, axes[0])},
                 {3, offsetof(instance, axes[1])},
                 {3, offsetof(instance, axes[2])},
                 {4, offsetof(instance, tint)}};
    glBindVertexArray(stream->array);
    glBindBuffer(GL_ARRAY_BUFFER, shape->buffers[0]);
    glVertexAttribPointer(PL_ATTRIBUTE_POSITION, 3, GL_FLOAT, GL_FALSE, 24, (void *)0);
    glVertexAttribPointer(PL_ATTRIBUTE_NORMAL, 3, GL_FLOAT, GL_FALSE, 24, (void *)12);
    glEnableVertexAttribArray(PL_ATTRIBUTE_POSITION);
    glEnableVertexAttribArray(PL_ATTRIBUTE_NORMAL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, shape->buffers[1]);
    glBindBuffer(GL_ARRAY_BUFFER, stream->buffer);
    for (GLuint i = 0; i < 5; i++) {
        GLuint attribute = PL_ATTRIBUTE_CENTRE + i;
        glVertexAttribPointer(attribute, parts[i].size, GL_FLOAT, GL_FALSE, sizeof(instance),
                              (void *)parts[i].offset);
        glEnableVertexAttribArray(attribute);
        glVertexAttribDivisor(attribute, 1);
    }
    glBindVertexArray(0);
}

static pl_status add_instances(pl_draw *draw, const pl_draw_shape *shape, const instance *instances,
                               int count, const pl_paint *paint)
{
    pl_draw_stream *stream = take_stream(draw);
    if (!stream)
        return PL_ERROR_MEMORY;
    glBindBuffer(GL_ARRAY_BUFFER, stream->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)sizeof *instances * count, instances, GL_STREAM_DRAW);
    describe_instances(stream, shape);
    const pl_draw_item item = {.shape = shape,
                               .array = stream->array,
                               .index_count = shape->index_count,
                               .count = count,
                               .closed = shape != &draw->stick,
                               .opacity = paint->colour[3],
                               .roughness = paint->roughness,
                               .metal = paint->metal};
    return add_item(draw, &item);
}

static void set_tint(instance *to, const float *colours, size_t i, const pl_paint *paint)
{
    memcpy(to->tint, colours ? colours + 4 * i : paint->colour, sizeof to->tint);
}

static void set_centre(const pl_draw *draw, instance *to, const double *centre)
{
    for (int k = 0; k < 3; k++)
        to->centre[k] = (float)((centre[k] - draw->centre[k]) * draw->scale);
}

/* A ball of n² faces per octant: the more of them, the coarser. */
static const pl_draw_shape *ball_for(const pl_draw *draw, int count)
{
    return &draw->balls[count <= 300 ? 3 : count <= 2500 ? 2 : count <= 20000 ? 1 : 0];
}

pl_status pl_draw_ellipsoids(pl_draw *draw, int count, const double *centres,
                             const double *rotations, const double *radii, const float *colours,
                             const pl_paint *paint)
{
    if (!draw->begun || !pl_headless_enter(&draw->headless))
        return PL_ERROR_STATE;
    if (count <= 0)
        return PL_OK;
    instance *instances = PL_NEW(draw->memory, instance, count);
    if (!instances)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < (size_t)count; i++) {
        instance *to = &instances[i];
        const double *q = rotations + 4 * i;
        pl_mat3 turn = pl_quat_to_m3(pl_quat_normalise((pl_quat){q[0], q[1], q[2], q[3]}));
        set_centre(draw, to, centres + 3 * i);
        for (int axis = 0; axis < 3; axis++)
            pl_v3_to_floats(
                pl_v3_scale(pl_m3_column(turn, axis), radii[3 * i + (size_t)axis] * draw->scale),
                to->axes[axis]);
        set_tint(to, colours, i, paint);
    }
    pl_status status = add_instances(draw, ball_for(draw, count), instances, count, paint);
    pl_memory_free(draw->memory, instances);
    return status;
}

pl_status pl_draw_segments(pl_draw *draw, int count, const double *ends, double radius,
                           const float *colours, const pl_paint *paint)
{
    if (!draw->begun || !pl_headless_enter(&draw->headless))
        return PL_ERROR_STATE;
    if (count <= 0)
        return PL_OK;
    instance *instances = PL_NEW(draw->memory, instance, count);
    if (!instances)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < (size_t)count; i++) {
        instance *to = &instances[i];
        const double *p = ends + 6 * i;
        pl_vec3 along = pl_v3_scale(pl_v3(p[3] - p[0], p[4] - p[1], p[5] - p[2]), draw->scale);
        pl_vec3 unit = pl_v3_normalise(along);
        pl_vec3 other = fabs(unit.x) < 0.7 ? pl_v3(1, 0, 0) : pl_v3(0, 1, 0);
        pl_vec3 side = pl_v3_normalise(pl_v3_cross(other, unit));
        set_centre(draw, to, p);
        pl_v3_to_floats(pl_v3_scale(side, radius * draw->scale), to->axes[0]);
        pl_v3_to_floats(pl_v3_scale(pl_v3_cross(unit, side), radius * draw->scale), to->axes[1]);
        pl_v3_to_floats(along, to->axes[2]);
        set_tint(to, colours, i, paint);
    }
    pl_status status = add_instances(draw, &draw->stick, instances, count, paint);
    pl_memory_free(draw->memory, instances);
    return status;
}

/* ---- The picture ----------------------------------------------------------------------------- */

/* OpenGL counts rows from the bottom. */
static void copy_tile(const pl_draw *draw, int x, int y, int width, int height, uint8_t *rgba)
{
    for (int row = 0; row < height; row++) {
        size_t to = (size_t)(draw->height - 1 - y - row) * (size_t)draw->width + (size_t)x;
        memcpy(rgba + 4 * to, draw->tile + 4 * (size_t)row * (size_t)width, 4 * (size_t)width);
    }
}

pl_status pl_draw_finish(pl_draw *draw, uint8_t *rgba, pl_error *error)
{
    PL_CHECK(draw->begun && pl_headless_enter(&draw->headless), PL_ERROR_STATE, error, NULL,
             "no picture was begun");
    while (glGetError() != GL_NO_ERROR)
        continue;
    pl_draw_maps(draw);
    int tile_width = draw->targets.width, tile_height = draw->targets.height;
    for (int y = 0; y < draw->height; y += tile_height)
        for (int x = 0; x < draw->width; x += tile_width) {
            int width = draw->width - x < tile_width ? draw->width - x : tile_width;
            int height = draw->height - y < tile_height ? draw->height - y : tile_height;
            pl_draw_tile(draw, x, y, width, height);
            copy_tile(draw, x, y, width, height, rgba);
        }
    GLenum trouble = glGetError();
    PL_CHECK(trouble != GL_OUT_OF_MEMORY, PL_ERROR_MEMORY, error, NULL,
             "the graphics driver ran out of memory");
    PL_CHECK(trouble == GL_NO_ERROR, PL_ERROR_STATE, error, NULL,
             "the graphics driver reports error 0x%04x", (unsigned)trouble);
    return PL_OK;
}

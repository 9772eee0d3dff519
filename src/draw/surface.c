/* Surfaces: what stays (indices, colours) is given to the driver once; positions, and the normals
   of the triangles around them weighted by their area, with every picture. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "draw/coarse.h"
#include "draw/draw_parts.h"

typedef struct vertex_look {
    uint16_t colour[4], finish[2];
} vertex_look;

static uint16_t unit_to_short(float value)
{
    return (uint16_t)(value > 0 ? (value < 1 ? value * 65535.0f + 0.5f : 65535.0f) : 0);
}

static vertex_look look_of(const pl_draw_surface_def *def, int source, int material)
{
    pl_paint paint = def->paint;
    const pl_look *look = def->look;
    if (look && look->materials && material >= 0 && material < look->material_count) {
        const pl_look_material *from = &look->materials[material];
        memcpy(paint.colour, from->colour, sizeof paint.colour);
        paint.roughness = from->roughness;
        paint.metal = from->metal;
    } else if (look && look->colours) {
        paint.colour[0] = paint.colour[1] = paint.colour[2] = 1;
    }
    vertex_look made;
    for (int k = 0; k < 4; k++) {
        float own = look && look->colours ? look->colours[4 * (size_t)source + (size_t)k] : 1;
        made.colour[k] = unit_to_short(paint.colour[k] * own);
    }
    made.finish[0] = unit_to_short(paint.roughness);
    made.finish[1] = unit_to_short(paint.metal);
    return made;
}

static void upload_looks(const pl_draw_surface *surface, const vertex_look *looks)
{
    glBindBuffer(GL_ARRAY_BUFFER, surface->buffers[1]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)sizeof *looks * surface->corners.vertex_count, looks,
                 GL_STATIC_DRAW);
}

static pl_status find_looks(pl_draw_surface *surface, const pl_draw_surface_def *def)
{
    const pl_corners *corners = &surface->corners;
    vertex_look *looks = PL_NEW(surface->draw->memory, vertex_look, corners->vertex_count);
    if (!looks)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < corners->vertex_count; i++)
        looks[i] =
            look_of(def, corners->sources[i], corners->materials ? corners->materials[i] : 0);
    upload_looks(surface, looks);
    pl_memory_free(surface->draw->memory, looks);
    return PL_OK;
}

pl_status pl_draw_surface_colours(pl_draw_surface *surface, const float *colours, float roughness)
{
    const pl_corners *corners = &surface->corners;
    if (!pl_headless_enter(&surface->draw->headless))
        return PL_ERROR_STATE;
    vertex_look *looks = PL_NEW(surface->draw->memory, vertex_look, corners->vertex_count);
    if (!looks)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < corners->vertex_count; i++) {
        const float *from = colours + 4 * (size_t)corners->sources[i];
        for (int k = 0; k < 4; k++)
            looks[i].colour[k] = unit_to_short(from[k]);
        looks[i].finish[0] = unit_to_short(roughness);
    }
    upload_looks(surface, looks);
    pl_memory_free(surface->draw->memory, looks);
    return PL_OK;
}

static void describe_buffers(pl_draw_surface *surface)
{
    glBindVertexArray(surface->array);
    glBindBuffer(GL_ARRAY_BUFFER, surface->buffers[0]);
    glVertexAttribPointer(PL_ATTRIBUTE_POSITION, 3, GL_FLOAT, GL_FALSE, 24, (void *)0);
    glVertexAttribPointer(PL_ATTRIBUTE_NORMAL, 3, GL_FLOAT, GL_FALSE, 24, (void *)12);
    glBindBuffer(GL_ARRAY_BUFFER, surface->buffers[1]);
    glVertexAttribPointer(PL_ATTRIBUTE_COLOUR, 4, GL_UNSIGNED_SHORT, GL_TRUE, 12, (void *)0);
    glVertexAttribPointer(PL_ATTRIBUTE_FINISH, 2, GL_UNSIGNED_SHORT, GL_TRUE, 12, (void *)8);
    for (GLuint i = PL_ATTRIBUTE_POSITION; i <= PL_ATTRIBUTE_FINISH; i++)
        glEnableVertexAttribArray(i);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, surface->buffers[2]);
    glBindVertexArray(0);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The triangles between the vertices that are kept, behind those in `indices`; returns how many
   there are then. */
static int add_triangles(const pl_draw_surface *surface, const int32_t *kept, const int32_t *drawn,
                         uint32_t *indices, int count)
{
    for (size_t c = 0; c < 3 * (size_t)surface->triangle_count; c += 3) {
        int32_t a = kept[surface->triangles[c]], b = kept[surface->triangles[c + 1]],
                d = kept[surface->triangles[c + 2]];
        if (a == b || b == d || d == a)
            continue;
        indices[count++] = (uint32_t)drawn[a];
        indices[count++] = (uint32_t)drawn[b];
        indices[count++] = (uint32_t)drawn[d];
    }
    return count;
}

/* Levels whose triangles are twice and four times as large; small meshes need none. */
static pl_status find_levels(pl_draw_surface *surface, const double *rest, uint32_t *indices,
                             int32_t *kept, int32_t *drawn)
{
    enum { SMALL = 256 };
    pl_memory *memory = surface->draw->memory;
    int corners = 3 * surface->triangle_count, total = corners;
    double edge = pl_mean_edge(surface->triangle_count, surface->triangles, rest);
    surface->levels[0] = (pl_draw_level){0, corners, 0};
    surface->level_count = 1;
    if (corners)
        memcpy(indices, surface->corners.indices, (size_t)corners * sizeof *indices);
    if (surface->triangle_count < SMALL || !(edge > 0) || !isfinite(edge))
        return PL_OK;
    for (int i = 0; i < surface->corners.vertex_count; i++)
        drawn[surface->corners.sources[i]] = i;
    for (double factor = 2; surface->level_count < PL_DRAW_LEVELS; factor *= 2) {
        PL_TRY(pl_coarse_vertices(memory, surface->vertex_count, rest, factor * edge, kept));
        int next = add_triangles(surface, kept, drawn, indices, total);
        surface->levels[surface->level_count++] =
            (pl_draw_level){total, next - total, factor * edge};
        total = next;
    }
    return PL_OK;
}

static pl_status upload_indices(pl_draw_surface *surface, const double *rest)
{
    pl_memory *memory = surface->draw->memory;
    size_t room = 3 * (size_t)surface->triangle_count * PL_DRAW_LEVELS;
    uint32_t *indices = PL_NEW(memory, uint32_t, room);
    int32_t *kept = PL_NEW(memory, int32_t, surface->vertex_count);
    int32_t *drawn = PL_NEW(memory, int32_t, surface->vertex_count);
    pl_status status = indices && kept && drawn ? find_levels(surface, rest, indices, kept, drawn)
                                                : PL_ERROR_MEMORY;
    if (status == PL_OK) {
        const pl_draw_level *last = &surface->levels[surface->level_count - 1];
        glBindVertexArray(surface->array);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER,
                     (GLsizeiptr)sizeof *indices * (last->first + last->count), indices,
                     GL_STATIC_DRAW);
        glBindVertexArray(0);
    }
    pl_memory_free(memory, indices);
    pl_memory_free(memory, kept);
    pl_memory_free(memory, drawn);
    return status;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static pl_status check_def(const pl_draw_surface_def *def, pl_error *error)
{
    PL_CHECK(def->vertex_count >= 0 && def->triangle_count >= 0 &&
                 def->triangle_count <= INT32_MAX / 3 / PL_DRAW_LEVELS,
             PL_ERROR_ARGUMENT, error, "triangle_count", "too many triangles to draw");
    for (size_t i = 0; i < 3 * (size_t)def->triangle_count; i++)
        PL_CHECK(def->triangles[i] >= 0 && def->triangles[i] < def->vertex_count, PL_ERROR_ARGUMENT,
                 error, PL_WHERE("triangles[%d]", (int)(i / 3)),
                 "vertex %d does not exist; there are %d", (int)def->triangles[i],
                 def->vertex_count);
    return PL_OK;
}

static pl_status fill(pl_draw_surface *surface, const pl_draw_surface_def *def)
{
    pl_memory *memory = surface->draw->memory;
    size_t corners = 3 * (size_t)def->triangle_count;
    const int32_t *materials = def->look ? def->look->triangle_materials : NULL;
    PL_TRY(pl_corners_make(memory, def->vertex_count, def->rest, def->triangle_count,
                           def->triangles, materials, &surface->corners));
    surface->triangles = PL_NEW(memory, int32_t, corners);
    surface->places = PL_NEW(memory, float, 3 * (size_t)def->vertex_count);
    surface->normals = PL_NEW(memory, float, 3 * (size_t)surface->corners.group_count);
    surface->upload = PL_NEW(memory, float, 6 * (size_t)surface->corners.vertex_count);
    if (!surface->triangles || !surface->places || !surface->normals || !surface->upload)
        return PL_ERROR_MEMORY;
    if (corners)
        memcpy(surface->triangles, def->triangles, corners * sizeof *surface->triangles);
    glGenVertexArrays(1, &surface->array);
    glGenBuffers(3, surface->buffers);
    PL_TRY(find_looks(surface, def));
    describe_buffers(surface);
    return upload_indices(surface, def->rest);
}

pl_status pl_draw_surface_create(pl_draw *draw, const pl_draw_surface_def *def,
                                 pl_draw_surface **surface, pl_error *error)
{
    *surface = NULL;
    PL_TRY(check_def(def, error));
    PL_CHECK(pl_headless_enter(&draw->headless), PL_ERROR_STATE, error, NULL,
             "the graphics context was lost");
    pl_draw_surface *made = PL_NEW(draw->memory, pl_draw_surface, 1);
    PL_CHECK(made, PL_ERROR_MEMORY, error, NULL, "not enough memory to draw a surface");
    made->draw = draw;
    made->vertex_count = def->vertex_count;
    made->triangle_count = def->triangle_count;
    pl_status status = fill(made, def);
    if (status != PL_OK) {
        pl_draw_surface_destroy(made);
        return pl_fail(error, status, NULL, "not enough memory to draw %d triangles",
                       def->triangle_count);
    }
    *surface = made;
    return PL_OK;
}

void pl_draw_surface_destroy(pl_draw_surface *surface)
{
    if (!surface)
        return;
    pl_memory *memory = surface->draw->memory;
    if (surface->array && pl_headless_enter(&surface->draw->headless)) {
        glDeleteVertexArrays(1, &surface->array);
        glDeleteBuffers(3, surface->buffers);
    }
    pl_corners_free(memory, &surface->corners);
    pl_memory_free(memory, surface->triangles);
    pl_memory_free(memory, surface->places);
    pl_memory_free(memory, surface->normals);
    pl_memory_free(memory, surface->upload);
    pl_memory_free(memory, surface);
}

/* ---- With every picture ---------------------------------------------------------------------- */

/* n = Σ (b − a) × (c − a) over the corners of the group: by area. */
static void sum_normals(pl_draw_surface *surface)
{
    float *normals = surface->normals;
    memset(normals, 0, 3 * (size_t)surface->corners.group_count * sizeof *normals);
    for (size_t c = 0; c < 3 * (size_t)surface->triangle_count; c += 3) {
        const float *p = surface->places + 3 * (size_t)surface->triangles[c];
        const float *q = surface->places + 3 * (size_t)surface->triangles[c + 1];
        const float *r = surface->places + 3 * (size_t)surface->triangles[c + 2];
        float u[3], v[3];
        for (int k = 0; k < 3; k++)
            u[k] = q[k] - p[k], v[k] = r[k] - p[k];
        const float n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                            u[0] * v[1] - u[1] * v[0]};
        for (size_t i = c; i < c + 3; i++) {
            float *sum = normals + 3 * (size_t)surface->corners.groups[i];
            for (int k = 0; k < 3; k++)
                sum[k] += n[k];
        }
    }
}

static void gather(pl_draw_surface *surface)
{
    const pl_corners *corners = &surface->corners;
    for (int i = 0; i < corners->vertex_count; i++) {
        const float *p = surface->places + 3 * (size_t)corners->sources[i];
        const float *n = surface->normals + 3 * (size_t)corners->normals[i];
        float *to = surface->upload + 6 * (size_t)i;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        float factor = length > 0 ? 1 / length : 0;
        for (int k = 0; k < 3; k++)
            to[k] = p[k], to[3 + k] = n[k] * factor;
        if (!(factor > 0))
            to[4] = 1; /* nothing to see there; any unit vector will do */
    }
}

void pl_draw_place_surface(const pl_draw *draw, pl_draw_surface *surface, const double *positions)
{
    for (int i = 0; i < surface->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            surface->places[3 * (size_t)i + (size_t)k] =
                (float)((positions[3 * (size_t)i + (size_t)k] - draw->centre[k]) * draw->scale);
    sum_normals(surface);
    gather(surface);
    glBindBuffer(GL_ARRAY_BUFFER, surface->buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)24 * surface->corners.vertex_count, surface->upload,
                 GL_STREAM_DRAW);
}

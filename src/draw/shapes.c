/* The unit ball, an octahedron whose faces are cut finer and blown up, and the unit stick, a
   cylinder of radius 1 from z = 0 to z = 1 with rounded ends left away: particles sit there. */
#include "draw/draw_parts.h"
#include "math/elementary.h"
#include "math/vec3.h"

static void upload(pl_draw_shape *shape, const float *vertices, int vertex_count,
                   const uint32_t *indices, int index_count)
{
    glBindVertexArray(0);
    glGenBuffers(2, shape->buffers);
    glBindBuffer(GL_ARRAY_BUFFER, shape->buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(6 * sizeof(float)) * vertex_count, vertices,
                 GL_STATIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, shape->buffers[1]);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)sizeof(uint32_t) * index_count, indices,
                 GL_STATIC_DRAW);
    shape->index_count = index_count;
}

static void put_vertex(float *vertex, pl_vec3 place, pl_vec3 normal)
{
    pl_v3_to_floats(place, vertex);
    pl_v3_to_floats(normal, vertex + 3);
}

/* One face of the octahedron: rows of n + 1, n, …, 1 vertices. */
static void cut_face(float *vertices, uint32_t *indices, uint32_t first, int n, pl_vec3 a,
                     pl_vec3 b, pl_vec3 c)
{
    uint32_t row = first;
    for (int i = 0; i <= n; i++) {
        for (int k = 0; k <= n - i; k++) {
            pl_vec3 p = pl_v3_add_scaled(pl_v3_add_scaled(pl_v3_scale(a, n - i - k), k, b), i, c);
            p = pl_v3_normalise(p);
            put_vertex(vertices + 6 * (row + (uint32_t)k), p, p);
            if (k == n - i)
                continue;
            uint32_t here = row + (uint32_t)k, above = here + (uint32_t)(n - i + 1);
            *indices++ = here, *indices++ = here + 1, *indices++ = above;
            if (k < n - i - 1)
                *indices++ = here + 1, *indices++ = above + 1, *indices++ = above;
        }
        row += (uint32_t)(n - i + 1);
    }
}

pl_status pl_draw_ball_create(pl_draw_shape *shape, int fineness, pl_memory *memory)
{
    int n = 2 << fineness, per_face = (n + 1) * (n + 2) / 2;
    float *vertices = PL_NEW(memory, float, 8 * 6 * per_face);
    uint32_t *indices = PL_NEW(memory, uint32_t, 8 * 3 * n * n);
    pl_status status = vertices && indices ? PL_OK : PL_ERROR_MEMORY;
    for (int face = 0; face < 8 && status == PL_OK; face++) {
        double x = face & 1 ? -1 : 1, y = face & 2 ? -1 : 1, z = face & 4 ? -1 : 1;
        pl_vec3 a = pl_v3(x, 0, 0), b = pl_v3(0, y, 0), c = pl_v3(0, 0, z);
        bool turned = x * y * z < 0;
        cut_face(vertices, indices + face * 3 * n * n, (uint32_t)(face * per_face), n, a,
                 turned ? c : b, turned ? b : c);
    }
    if (status == PL_OK)
        upload(shape, vertices, 8 * per_face, indices, 8 * 3 * n * n);
    pl_memory_free(memory, vertices);
    pl_memory_free(memory, indices);
    return status;
}

pl_status pl_draw_stick_create(pl_draw_shape *shape, int sides, pl_memory *memory)
{
    float *vertices = PL_NEW(memory, float, 12 * sides);
    uint32_t *indices = PL_NEW(memory, uint32_t, 6 * sides);
    pl_status status = vertices && indices ? PL_OK : PL_ERROR_MEMORY;
    for (int i = 0; i < sides && status == PL_OK; i++) {
        double angle = 6.283185307179586 * i / sides;
        pl_vec3 normal = pl_v3(pl_cos(angle), pl_sin(angle), 0);
        uint32_t here = 2 * (uint32_t)i, next = 2 * (uint32_t)((i + 1) % sides);
        put_vertex(vertices + 12 * i, normal, normal);
        put_vertex(vertices + 12 * i + 6, pl_v3_add(normal, pl_v3(0, 0, 1)), normal);
        const uint32_t faces[6] = {here, next, here + 1, next, next + 1, here + 1};
        for (int k = 0; k < 6; k++)
            indices[6 * i + k] = faces[k];
    }
    if (status == PL_OK)
        upload(shape, vertices, 2 * sides, indices, 6 * sides);
    pl_memory_free(memory, vertices);
    pl_memory_free(memory, indices);
    return status;
}

void pl_draw_shape_destroy(pl_draw_shape *shape)
{
    glDeleteBuffers(2, shape->buffers);
    *shape = (pl_draw_shape){0};
}

/* What the tests of all mesh readers do: read bytes, look whether a mesh keeps its contract, and
   hurt a good file in every way (cut at every byte, thousands of changed bytes, no memory) to see
   that it is read well or refused well. */
#ifndef PLIANT_TESTS_MESH_CASES_H
#define PLIANT_TESTS_MESH_CASES_H

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "io/mesh_build.h"
#include "pliant/files.h"

/* An allocator that counts, and fails from some call on. */
typedef struct counting {
    size_t used, peak;
    long calls, fail_at; /* fail_at < 0: never */
} counting;

static void *counting_alloc(void *user, size_t size, size_t alignment)
{
    counting *c = user;
    if (c->fail_at >= 0 && c->calls >= c->fail_at)
        return NULL;
    c->calls++;
    c->used += size;
    c->peak = c->used > c->peak ? c->used : c->peak;
    return aligned_alloc(alignment, size);
}

static void counting_free(void *user, void *pointer, size_t size)
{
    counting *c = user;
    c->used -= size;
    free(pointer);
}

static inline pl_allocator counting_allocator(counting *c)
{
    *c = (counting){.fail_at = -1};
    return (pl_allocator){counting_alloc, counting_free, c};
}

static inline void check_indices(const int32_t *indices, int count, int limit)
{
    assert_true(count == 0 || indices);
    for (int i = 0; i < count; i++)
        assert_true(indices[i] >= 0 && indices[i] < limit);
}

static inline void check_floats(const float *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        assert_true(isfinite(values[i]));
}

static inline void check_unit(const float *rows, int width, int count)
{
    for (int i = 0; rows && i < count; i++) {
        const float *v = rows + (size_t)i * (size_t)width;
        double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        assert_true(fabs(length - 1) < 2e-3);
    }
}

/* Everything the contract of pl_mesh promises. */
static inline void check_mesh(const pl_mesh *mesh)
{
    size_t count = (size_t)mesh->vertex_count;
    assert_true(mesh->vertex_count > 0);
    for (size_t i = 0; i < 3 * count; i++)
        assert_true(isfinite(mesh->positions[i]));
    check_indices(mesh->triangles, 3 * mesh->triangle_count, mesh->vertex_count);
    check_indices(mesh->lines, 2 * mesh->line_count, mesh->vertex_count);
    check_indices(mesh->tets, 4 * mesh->tet_count, mesh->vertex_count);
    const pl_look *look = &mesh->look;
    check_unit(look->normals, 3, mesh->vertex_count);
    check_unit(look->tangents, 4, mesh->vertex_count);
    check_floats(look->colours, 4 * count);
    for (int set = 0; set < look->uv_set_count; set++) {
        assert_non_null(look->uvs[set]);
        check_floats(look->uvs[set], 2 * count);
    }
    if (look->triangle_materials)
        check_indices(look->triangle_materials, mesh->triangle_count, look->material_count);
    if (look->triangle_groups)
        check_indices(look->triangle_groups, mesh->triangle_count, look->group_count);
    for (int g = 0; g < look->group_count; g++)
        assert_non_null(look->group_names[g]);
    for (int m = 0; m < look->material_count; m++) {
        assert_non_null(look->materials[m].name);
        for (int k = 0; k < PL_TEXTURE_KINDS; k++)
            assert_true(look->materials[m].textures[k] >= -1 &&
                        look->materials[m].textures[k] < look->image_count);
    }
    for (int i = 0; i < look->image_count; i++)
        assert_true(look->images[i].name && look->images[i].mime);
}

/* Reads bytes of their exact size (so that the address sanitizer sees a step beyond them) under the
   promised bound of memory; a failure says what is wrong, leaves no memory behind, and zeroes the
   mesh. */
static inline pl_status read_strictly(const void *bytes, size_t size, const char *name,
                                      counting *count, pl_mesh *mesh, pl_error *error)
{
    pl_allocator allocator = {counting_alloc, counting_free, count};
    char *copy = malloc(size ? size : 1);
    if (size)
        memcpy(copy, bytes, size);
    *error = (pl_error){0};
    pl_status status = pl_mesh_parse(copy, size, name, &allocator, mesh, error);
    free(copy);
    assert_true(count->peak <= (size_t)PL_MESH_MEMORY * size + PL_MESH_MEMORY_BASE);
    if (status == PL_OK) {
        check_mesh(mesh);
    } else {
        static const pl_mesh none;
        assert_int_equal(error->status, status);
        assert_true(error->text[0]);
        assert_memory_equal(mesh, &none, sizeof none);
        assert_int_equal(count->used, 0);
    }
    return status;
}

static inline void free_strictly(pl_mesh *mesh, counting *count)
{
    pl_mesh_free(mesh);
    assert_int_equal(count->used, 0);
}

/* ---- Hurting files --------------------------------------------------------------------------- */

static inline pl_status try_bytes(const void *bytes, size_t size, const char *name)
{
    counting count = {.fail_at = -1};
    pl_mesh mesh;
    pl_error error;
    pl_status status = read_strictly(bytes, size, name, &count, &mesh, &error);
    free_strictly(&mesh, &count);
    return status;
}

static inline void cut_everywhere(const void *bytes, size_t size, const char *name)
{
    for (size_t length = 0; length < size; length++)
        try_bytes(bytes, length, name);
}

/* Bytes replaced, bits turned, pieces removed, repeated or moved, numbers made large. */
static inline size_t mutate(uint8_t *bytes, size_t size, size_t room, pl_rng *rng)
{
    static const char *const pieces[] = {"-1",         "999999999999999999999",
                                         "nan",        "1e309",
                                         "0",          "\n",
                                         "4294967295", "\\\n",
                                         "#",          "/",
                                         " ",          "-",
                                         "1.5"};
    int changes = 1 + (int)(pl_random_u32(rng) % 4);
    while (changes-- > 0 && size > 0) {
        size_t at = pl_random_u32(rng) % size, length = 1 + pl_random_u32(rng) % 8;
        length = length < size - at ? length : size - at;
        switch (pl_random_u32(rng) % 5) {
        case 0:
            bytes[at] = (uint8_t)pl_random_u32(rng);
            break;
        case 1:
            bytes[at] ^= (uint8_t)(1u << pl_random_u32(rng) % 8);
            break;
        case 2:
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
            break;
        case 3:
            if (size + length <= room) {
                memmove(bytes + at + length, bytes + at, size - at);
                size += length;
            }
            break;
        default: {
            const char *piece = pieces[pl_random_u32(rng) % (sizeof pieces / sizeof *pieces)];
            size_t written = strlen(piece);
            memcpy(bytes + at, piece, written < size - at ? written : size - at);
        }
        }
    }
    return size;
}

static inline void mutate_often(const void *bytes, size_t size, const char *name, int times,
                                uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    size_t room = size + 64;
    uint8_t *copy = malloc(room);
    for (int i = 0; i < times; i++) {
        memcpy(copy, bytes, size);
        try_bytes(copy, mutate(copy, size, room, &rng), name);
    }
    free(copy);
}

/* Every allocation fails in turn: an error each time, until there are enough. */
static inline void starve(const void *bytes, size_t size, const char *name)
{
    for (long fail_at = 0; fail_at < 10000; fail_at++) {
        counting count = {.fail_at = fail_at};
        pl_mesh mesh;
        pl_error error;
        pl_status status = read_strictly(bytes, size, name, &count, &mesh, &error);
        free_strictly(&mesh, &count);
        if (status == PL_OK)
            return;
        assert_int_equal(status, PL_ERROR_MEMORY);
    }
    fail_msg("%s: never enough memory", name);
}

static inline void hurt(const void *bytes, size_t size, const char *name, uint64_t seed)
{
    assert_int_equal(try_bytes(bytes, size, name), PL_OK);
    cut_everywhere(bytes, size, name);
    mutate_often(bytes, size, name, 10000, seed);
    starve(bytes, size, name);
}

/* ---- Reading and refusing -------------------------------------------------------------------- */

/* A text that must be read; freed by pl_mesh_free. */
static inline pl_mesh read_text(const char *text, const char *name)
{
    counting count = {.fail_at = -1};
    pl_mesh mesh;
    pl_error error;
    assert_int_equal(try_bytes(text, strlen(text), name), PL_OK);
    (void)count;
    if (pl_mesh_parse(text, strlen(text), name, NULL, &mesh, &error) != PL_OK)
        fail_msg("%s: %s: %s", name, error.where, error.text);
    return mesh;
}

/* Bytes that must be refused at this place, with a message that has this in it. */
static inline void refuse_bytes(const void *bytes, size_t size, const char *name, const char *where,
                                const char *message)
{
    counting count = {.fail_at = -1};
    pl_mesh mesh;
    pl_error error;
    pl_status status = read_strictly(bytes, size, name, &count, &mesh, &error);
    if (status != PL_ERROR_FORMAT || strcmp(error.where, where) != 0 ||
        !strstr(error.text, message))
        fail_msg("expected %s: …%s…, got %d %s: %s", where, message, (int)status, error.where,
                 error.text);
}

static inline void refuse(const char *text, const char *name, const char *where,
                          const char *message)
{
    refuse_bytes(text, strlen(text), name, where, message);
}

static inline void check_ints(const int32_t *got, const int32_t *wanted, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(got[i], wanted[i]);
}

static inline void check_near(const float *got, const float *wanted, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= tolerance))
            fail_msg("value %d is %g, not %g", i, (double)got[i], (double)wanted[i]);
}

#endif

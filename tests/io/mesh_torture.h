/* What no reader of mesh files may be hurt by: a file cut off anywhere, mutated at random, and an
   allocator that fails at any call. Also byte strings to make files of. */
#ifndef PLIANT_TESTS_MESH_TORTURE_H
#define PLIANT_TESTS_MESH_TORTURE_H

#include "support/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "pliant/files.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t data[1 << 16];
    size_t size;
    bool big_endian;
} bytes;

static inline void put(bytes *to, const void *from, size_t size)
{
    assert_true(to->size + size <= sizeof to->data);
    memcpy(to->data + to->size, from, size);
    to->size += size;
}

static inline void put_text(bytes *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf((char *)to->data + to->size, sizeof to->data - to->size, format, arguments);
    va_end(arguments);
    to->size += (size_t)length;
    assert_true(to->size < sizeof to->data);
}

static inline void put_number(bytes *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        int shift = to->big_endian ? size - 1 - i : i;
        uint8_t byte = (uint8_t)(value >> (8 * shift));
        put(to, &byte, 1);
    }
}

static inline void put_u16(bytes *to, uint32_t value)
{
    put_number(to, value, 2);
}

static inline void put_u32(bytes *to, uint32_t value)
{
    put_number(to, value, 4);
}

static inline void put_u64(bytes *to, uint64_t value)
{
    put_number(to, value, 8);
}

static inline void put_f32(bytes *to, double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, 4);
    put_u32(to, bits);
}

static inline void put_f64(bytes *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    put_u64(to, bits);
}

/* ---- An allocator that counts and fails ------------------------------------------------------ */

typedef struct counting {
    size_t live, peak;
    long calls, fail_at; /* this call and all later ones fail; -1 = never */
} counting;

static inline void *counting_alloc(void *user, size_t size, size_t alignment)
{
    counting *count = user;
    if (count->fail_at >= 0 && count->calls >= count->fail_at)
        return NULL;
    count->calls++;
    count->live += size;
    count->peak = count->live > count->peak ? count->live : count->peak;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void counting_free(void *user, void *pointer, size_t size)
{
    counting *count = user;
    count->live -= pointer ? size : 0;
    free(pointer);
}

/* ---- Torture --------------------------------------------------------------------------------- */

/* Everything a user may rely on. */
static inline void check_mesh(const pl_mesh *mesh)
{
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        assert_true(isfinite(mesh->positions[i]));
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        assert_in_range(mesh->triangles[i], 0, mesh->vertex_count - 1);
    for (int i = 0; i < 2 * mesh->line_count; i++)
        assert_in_range(mesh->lines[i], 0, mesh->vertex_count - 1);
    for (int i = 0; i < 4 * mesh->tet_count; i++)
        assert_in_range(mesh->tets[i], 0, mesh->vertex_count - 1);
    for (int i = 0; mesh->look.normals && i < 3 * mesh->vertex_count; i++)
        assert_true(fabsf(mesh->look.normals[i]) <= 1.0001f);
    for (int i = 0; mesh->look.triangle_materials && i < mesh->triangle_count; i++)
        assert_in_range(mesh->look.triangle_materials[i], 0, mesh->look.material_count - 1);
    for (int i = 0; i < mesh->look.material_count; i++)
        for (int k = 0; k < PL_TEXTURE_KINDS; k++)
            assert_true(mesh->look.materials[i].textures[k] < mesh->look.image_count);
}

/* Parses bytes that end exactly where their memory ends; returns the status. */
static inline pl_status parse_exactly(const uint8_t *data, size_t size, const char *name,
                                      long fail_at, counting *count)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    *count = (counting){.fail_at = fail_at};
    pl_allocator allocator = {counting_alloc, counting_free, count};
    pl_mesh mesh;
    pl_error error = {0};
    pl_status status = pl_mesh_parse(copy, size, name, &allocator, &mesh, &error);
    free(copy);
    if (status == PL_OK) {
        check_mesh(&mesh);
    } else {
        assert_int_equal(error.status, status);
        assert_true(error.text[0] && (error.where[0] || status == PL_ERROR_MEMORY));
        assert_null(mesh.owner);
    }
    pl_mesh_free(&mesh);
    assert_int_equal(count->live, 0);
    return status;
}

static inline void mutate(pl_rng *rng, uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789-. \n\"[]{}$e";
    int changes = 1 + (int)(pl_random_u32(rng) % 4);
    for (int i = 0; i < changes; i++) {
        size_t at = pl_random_u32(rng) % size;
        switch (pl_random_u32(rng) % 4) {
        case 0:
            data[at] ^= (uint8_t)(1u << pl_random_u32(rng) % 8);
            break;
        case 1:
            data[at] = (uint8_t)pl_random_u32(rng);
            break;
        case 2:
            data[at] = (uint8_t)digits[pl_random_u32(rng) % (sizeof digits - 1)];
            break;
        default:
            data[at] = pl_random_u32(rng) % 2 ? 0xFF : 0;
        }
    }
}

/* `most`: bytes of memory a file of `size` bytes may take. */
static inline void torture(const uint8_t *data, size_t size, const char *name, int mutations,
                           size_t most)
{
    counting count;
    assert_int_equal(parse_exactly(data, size, name, -1, &count), PL_OK);
    long calls = count.calls;
    for (long i = 0; i < calls; i++)
        assert_int_equal(parse_exactly(data, size, name, i, &count), PL_ERROR_MEMORY);
    for (size_t cut = 0; cut < size; cut++)
        parse_exactly(data, cut, name, -1, &count);
    pl_rng rng = pl_rng_make(size);
    uint8_t *copy = malloc(size);
    for (int i = 0; i < mutations; i++) {
        memcpy(copy, data, size);
        mutate(&rng, copy, size);
        parse_exactly(copy, size, name, -1, &count);
        assert_true(count.peak <= most);
    }
    free(copy);
}

/* The message of a file that must be refused. */
static inline void refuse(const void *data, size_t size, const char *name, const char *message)
{
    pl_mesh mesh;
    pl_error error = {0};
    pl_status status = pl_mesh_parse(data, size, name, NULL, &mesh, &error);
    if (status == PL_OK || !strstr(error.text, message))
        print_message("%s: %s: %s\n", name, error.where, error.text);
    assert_int_not_equal(status, PL_OK);
    assert_non_null(strstr(error.text, message));
}

static inline pl_mesh accept(const void *data, size_t size, const char *name)
{
    pl_mesh mesh;
    pl_error error = {0};
    if (pl_mesh_parse(data, size, name, NULL, &mesh, &error) != PL_OK)
        print_message("%s: %s: %s\n", name, error.where, error.text);
    assert_int_equal(error.status, PL_OK);
    check_mesh(&mesh);
    return mesh;
}

/* ---- Measures -------------------------------------------------------------------------------- */

static inline double det3(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Sum of the tetrahedra's volumes; *least is the smallest of them. */
static inline double tet_volume(const pl_mesh *mesh, double *least)
{
    double sum = 0;
    *least = INFINITY;
    for (int t = 0; t < mesh->tet_count; t++) {
        const int32_t *v = mesh->tets + 4 * t;
        const double *p = mesh->positions, *a = p + 3 * v[0];
        double e[3][3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                e[k][i] = p[3 * v[k + 1] + i] - a[i];
        double volume = det3(e[0], e[1], e[2]) / 6;
        sum += volume;
        *least = fmin(*least, volume);
    }
    return sum;
}

/* Volume inside a closed surface, by the divergence theorem. */
static inline double surface_volume(const pl_mesh *mesh)
{
    double sum = 0;
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * t;
        const double *p = mesh->positions;
        sum += det3(p + 3 * v[0], p + 3 * v[1], p + 3 * v[2]) / 6;
    }
    return sum;
}

#endif

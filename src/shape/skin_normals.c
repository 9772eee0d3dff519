/* Normals of a surface, n = Σ (b − a) × (c − a) over the triangles at a point, made unit: each
   counts by its area. Vertices that a file repeats along its seams (for UVs or materials) are one
   point here, so that seams do not show. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "shape/skin.h"

/* ---- Vertices at one place ------------------------------------------------------------------- */

/* Equal places give equal keys: −0 is 0. */
static uint64_t place_key(const float place[3])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        float value = place[k] == 0 ? 0 : place[k];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = pl_mix64(key ^ bits);
    }
    return key;
}

static bool is_same_place(const float *a, const float *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

bool pl_skin_weld(pl_memory *memory, int vertex_count, const float *positions, int32_t *point_of)
{
    size_t count = (size_t)vertex_count;
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * count);
    if (!items)
        return false;
    for (size_t v = 0; v < count; v++) {
        items[v] = (pl_sort_item){place_key(positions + 3 * v), (uint32_t)v};
        point_of[v] = (int32_t)v;
    }
    pl_sort(items, items + count, count);
    /* The sort is stable: vertices of one key ascend. Different places of one key are rare. */
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && items[next].key == items[first].key; next++) {
            size_t v = items[next].index, earlier = first;
            while (earlier < next &&
                   !is_same_place(positions + 3 * v, positions + 3 * (size_t)items[earlier].index))
                earlier++;
            point_of[v] = (int32_t)items[earlier].index;
        }
    }
    pl_memory_free(memory, items);
    return true;
}

/* ---- Normals --------------------------------------------------------------------------------- */

static void add_triangle(const float *positions, const int32_t *triangle, const int32_t *point_of,
                         double *sums)
{
    const float *a = positions + 3 * (size_t)triangle[0];
    const float *b = positions + 3 * (size_t)triangle[1];
    const float *c = positions + 3 * (size_t)triangle[2];
    double u[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - (double)a[k];
        w[k] = (double)c[k] - (double)a[k];
    }
    const double cross[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2],
                             u[0] * w[1] - u[1] * w[0]};
    for (int corner = 0; corner < 3; corner++)
        for (int k = 0; k < 3; k++)
            sums[3 * (size_t)point_of[triangle[corner]] + (size_t)k] += cross[k];
}

static void make_unit(const double sum[3], float normal[3])
{
    double largest = fmax(fmax(fabs(sum[0]), fabs(sum[1])), fabs(sum[2]));
    if (!(largest > 0)) {
        normal[0] = normal[2] = 0, normal[1] = 1;
        return;
    }
    double x = sum[0] / largest, y = sum[1] / largest, z = sum[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    normal[0] = (float)(x / length), normal[1] = (float)(y / length),
    normal[2] = (float)(z / length);
}

pl_status pl_skin_normals(pl_memory *memory, int vertex_count, const float *positions,
                          int triangle_count, const int32_t *triangles, float *normals,
                          pl_error *error)
{
    size_t count = (size_t)vertex_count;
    int32_t *point_of = PL_NEW(memory, int32_t, count);
    double *sums = PL_NEW(memory, double, 3 * count);
    bool good = point_of && sums && pl_skin_weld(memory, vertex_count, positions, point_of);
    for (size_t t = 0; good && t < (size_t)triangle_count; t++)
        add_triangle(positions, triangles + 3 * t, point_of, sums);
    for (size_t v = 0; good && v < count; v++)
        make_unit(sums + 3 * (size_t)point_of[v], normals + 3 * v);
    pl_memory_free(memory, point_of);
    pl_memory_free(memory, sums);
    PL_CHECK(good, PL_ERROR_MEMORY, error, NULL, "no memory for the normals of %d vertices",
             vertex_count);
    return PL_OK;
}

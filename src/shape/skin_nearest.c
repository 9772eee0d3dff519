/* A k-d tree over the particles (Bentley 1975): ranges are halved along their widest axis at the
   median, so that the tree is balanced whatever the particles are. */
#include "shape/skin_nearest.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

static double distance2_to(const float place[3], const double point[3])
{
    double x = place[0] - point[0], y = place[1] - point[1], z = place[2] - point[2];
    return x * x + y * y + z * z;
}

double pl_near_distance2(const pl_model *model, int particle, const double point[3])
{
    return distance2_to(model->rest + 3 * (size_t)particle, point);
}

void pl_near_list_show(pl_near_list *list, int32_t particle, double distance2)
{
    int at = list->count;
    while (at > 0 && (distance2 < list->entry[at - 1].distance2 ||
                      (distance2 == list->entry[at - 1].distance2 &&
                       particle < list->entry[at - 1].particle)))
        at--;
    if (at == list->capacity)
        return;
    list->count += list->count < list->capacity;
    for (int k = list->count - 1; k > at; k--)
        list->entry[k] = list->entry[k - 1];
    list->entry[at] = (pl_near){particle, distance2};
}

/* ---- Building -------------------------------------------------------------------------------- */

static int widest_axis(const pl_space_tree *tree, int low, int high)
{
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int p = low; p < high; p++) {
        const float *rest = tree->model->rest + 3 * (size_t)tree->particle[p];
        for (int k = 0; k < 3; k++) {
            lower[k] = rest[k] < lower[k] ? rest[k] : lower[k];
            upper[k] = rest[k] > upper[k] ? rest[k] : upper[k];
        }
    }
    int axis = upper[1] - lower[1] > upper[0] - lower[0] ? 1 : 0;
    return upper[2] - lower[2] > upper[axis] - lower[axis] ? 2 : axis;
}

static bool comes_before(const pl_space_tree *tree, int axis, int32_t a, int32_t b)
{
    float x = tree->model->rest[3 * (size_t)a + (size_t)axis];
    float y = tree->model->rest[3 * (size_t)b + (size_t)axis];
    return x < y || (x == y && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the middle one of the range where it would be after sorting, smaller ones before it, larger
 * ones behind. */
static void select_middle(pl_space_tree *tree, int axis, int low, int high)
{
    int middle = low + (high - low) / 2;
    int32_t *particle = tree->particle;
    while (high - low > 1) {
        uint64_t mixed = pl_mix64(((uint64_t)(uint32_t)low << 32) | (uint32_t)high);
        swap(&particle[low + (int)(mixed % (uint64_t)(high - low))], &particle[high - 1]);
        int32_t pivot = particle[high - 1];
        int split = low;
        for (int p = low; p < high - 1; p++)
            if (comes_before(tree, axis, particle[p], pivot))
                swap(&particle[p], &particle[split++]);
        swap(&particle[split], &particle[high - 1]);
        if (split == middle)
            return;
        if (split < middle)
            low = split + 1;
        else
            high = split;
    }
}

static void build_range(pl_space_tree *tree, int low, int high)
{
    while (high - low > 1) {
        int middle = low + (high - low) / 2, axis = widest_axis(tree, low, high);
        select_middle(tree, axis, low, high);
        tree->axis[middle] = (uint8_t)axis;
        build_range(tree, low, middle);
        low = middle + 1;
    }
}

bool pl_space_tree_build(pl_space_tree *tree, pl_memory *memory, const pl_model *model)
{
    int n = model->particle_count;
    tree->model = model;
    tree->particle = PL_NEW(memory, int32_t, n);
    tree->place = PL_NEW(memory, float, 3 * (size_t)n);
    tree->axis = PL_NEW(memory, uint8_t, n);
    if (!tree->particle || !tree->place || !tree->axis)
        return false;
    for (int i = 0; i < n; i++)
        tree->particle[i] = i;
    build_range(tree, 0, n);
    for (size_t i = 0; i < (size_t)n; i++)
        memcpy(tree->place + 3 * i, model->rest + 3 * (size_t)tree->particle[i],
               3 * sizeof *tree->place);
    return true;
}

void pl_space_tree_free(pl_space_tree *tree, pl_memory *memory)
{
    pl_memory_free(memory, tree->axis);
    pl_memory_free(memory, tree->place);
    pl_memory_free(memory, tree->particle);
}

/* ---- Searching ------------------------------------------------------------------------------- */

static void search_range(const pl_space_tree *tree, int low, int high, const double point[3],
                         int32_t piece, pl_near_list *list)
{
    while (low < high) {
        int middle = low + (high - low) / 2, axis = tree->axis[middle];
        int32_t particle = tree->particle[middle];
        const float *place = tree->place + 3 * (size_t)middle;
        if (piece < 0 || tree->piece_of[particle] == piece) {
            double distance2 = distance2_to(place, point);
            if (pl_near_list_takes(list, distance2))
                pl_near_list_show(list, particle, distance2);
        }
        double apart = point[axis] - place[axis];
        bool left = apart < 0;
        search_range(tree, left ? low : middle + 1, left ? middle : high, point, piece, list);
        if (!pl_near_list_takes(list, apart * apart))
            return;
        if (left)
            low = middle + 1;
        else
            high = middle;
    }
}

void pl_space_tree_search(const pl_space_tree *tree, const double point[3], int32_t piece,
                          pl_near_list *list)
{
    search_range(tree, 0, tree->model->particle_count, point, piece, list);
}

/* Skin weights after Sumner, Schmid and Pauly (2007): the k nearest particles get w = (1 -
   d/d_max)², d_max being the distance of the next one, so that a particle enters and leaves with
   weight zero and the weights vary smoothly. Only the nearest particle is looked for in space (with
   a k-d tree); the others are looked for outwards from it along the graph, so that two legs side by
   side do not share a skin. */
#include "shape/skin.h"

#include <math.h>

#include "base/error.h"
#include "base/rng.h"

/* Rings of the graph that are always searched, and the number of particles after which the search
 * ends. */
enum { RINGS = 2, MAX_CANDIDATES = 256, SLOTS = 1024 };

/* Added to every weight: decides where all candidates are equally far and every weight would be
 * zero. */
#define LEAST_WEIGHT 1e-6

static double distance2(const pl_model *model, int particle, const double point[3])
{
    const float *rest = model->rest + 3 * (size_t)particle;
    double x = rest[0] - point[0], y = rest[1] - point[1], z = rest[2] - point[2];
    return x * x + y * y + z * z;
}

/* ---- The nearest particle -------------------------------------------------------------------- */

/* A balanced k-d tree without pointers: the node of a range [low, high) of `particle` is the one in
   its middle, its two children are the halves beside it. */
typedef struct space_tree {
    const pl_model *model;
    int32_t *particle; /* [n] */
    uint8_t *axis;     /* [n] that the node's range is split along */
} space_tree;

typedef struct nearest {
    int32_t particle;
    double distance2;
} nearest;

/* Equal distances go to the smaller number, so that the answer does not depend on the search. */
static void consider(const pl_model *model, int32_t particle, const double point[3], nearest *best)
{
    double d = distance2(model, particle, point);
    if (d < best->distance2 || (d == best->distance2 && particle < best->particle))
        *best = (nearest){particle, d};
}

static int widest_axis(const space_tree *tree, int low, int high)
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

static bool comes_before(const space_tree *tree, int axis, int32_t a, int32_t b)
{
    float x = tree->model->rest[3 * (size_t)a + axis], y = tree->model->rest[3 * (size_t)b + axis];
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
static void select_middle(space_tree *tree, int axis, int low, int high)
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

static void build_range(space_tree *tree, int low, int high)
{
    while (high - low > 1) {
        int middle = low + (high - low) / 2, axis = widest_axis(tree, low, high);
        select_middle(tree, axis, low, high);
        tree->axis[middle] = (uint8_t)axis;
        build_range(tree, low, middle);
        low = middle + 1;
    }
}

static bool build_tree(space_tree *tree, pl_model *model)
{
    int n = model->particle_count;
    tree->model = model;
    tree->particle = PL_NEW(&model->memory, int32_t, n);
    tree->axis = PL_NEW(&model->memory, uint8_t, n);
    if (!tree->particle || !tree->axis)
        return false;
    for (int i = 0; i < n; i++)
        tree->particle[i] = i;
    build_range(tree, 0, n);
    return true;
}

static void free_tree(space_tree *tree, pl_memory *memory)
{
    pl_memory_free(memory, tree->axis);
    pl_memory_free(memory, tree->particle);
}

static void search_range(const space_tree *tree, int low, int high, const double point[3],
                         nearest *best)
{
    while (low < high) {
        int middle = low + (high - low) / 2, axis = tree->axis[middle];
        int32_t particle = tree->particle[middle];
        consider(tree->model, particle, point, best);
        double apart = point[axis] - tree->model->rest[3 * (size_t)particle + axis];
        bool left = apart < 0;
        search_range(tree, left ? low : middle + 1, left ? middle : high, point, best);
        if (apart * apart > best->distance2)
            return;
        if (left)
            low = middle + 1;
        else
            high = middle;
    }
}

/* ---- The others along the graph -------------------------------------------------------------- */

/* The particles found so far, in breadth-first order, and a hash table to recognise them. */
typedef struct reached_set {
    int count;
    int32_t particle[MAX_CANDIDATES];
    uint32_t round;       /* of use: slots of earlier rounds count as empty */
    uint32_t used[SLOTS]; /* round in which the slot was filled */
    int32_t content[SLOTS];
} reached_set;

/* The k + 1 nearest of them, ascending by distance, then number. */
typedef struct best_list {
    int capacity, count;
    nearest entry[PL_MAX_INFLUENCES + 1];
} best_list;

static bool add_found(reached_set *found, int32_t particle)
{
    uint32_t slot = ((uint32_t)particle * 2654435769u) >> 22;
    while (found->used[slot] == found->round) {
        if (found->content[slot] == particle)
            return false;
        slot = (slot + 1) % SLOTS;
    }
    found->used[slot] = found->round;
    found->content[slot] = particle;
    found->particle[found->count++] = particle;
    return true;
}

static void rank(best_list *ranking, nearest candidate)
{
    int at = ranking->count;
    while (at > 0 && (candidate.distance2 < ranking->entry[at - 1].distance2 ||
                      (candidate.distance2 == ranking->entry[at - 1].distance2 &&
                       candidate.particle < ranking->entry[at - 1].particle)))
        at--;
    if (at == ranking->capacity)
        return;
    ranking->count += ranking->count < ranking->capacity;
    for (int k = ranking->count - 1; k > at; k--)
        ranking->entry[k] = ranking->entry[k - 1];
    ranking->entry[at] = candidate;
}

static void search_outwards(const pl_model *model, const double point[3], int32_t seed,
                            reached_set *found, best_list *ranking)
{
    found->count = 0;
    found->round++;
    add_found(found, seed);
    rank(ranking, (nearest){seed, distance2(model, seed, point)});
    int head = 0;
    for (int ring = 1; ring <= RINGS || found->count < ranking->capacity; ring++) {
        int end = found->count;
        for (; head < end; head++) {
            int i = found->particle[head];
            for (int32_t p = model->start[i]; p < model->start[i + 1]; p++) {
                int32_t j = model->neighbour[p];
                if (found->count == MAX_CANDIDATES)
                    return;
                if (add_found(found, j))
                    rank(ranking, (nearest){j, distance2(model, j, point)});
            }
        }
        if (found->count == end)
            return; /* that was the whole graph */
    }
}

static int weigh(const best_list *ranking, int max, int32_t *particles, float *weights)
{
    int count = ranking->count < max ? ranking->count : max;
    double last = sqrt(ranking->entry[ranking->count - 1].distance2);
    double reach = ranking->count > max ? last : 1.5 * last;
    double weight[PL_MAX_INFLUENCES], sum = 0;
    for (int k = 0; k < count; k++) {
        double near = reach > 0 ? 1 - sqrt(ranking->entry[k].distance2) / reach : 1;
        weight[k] = near * near + LEAST_WEIGHT;
        sum += weight[k];
    }
    for (int k = 0; k < count; k++) {
        particles[k] = ranking->entry[k].particle;
        weights[k] = (float)(weight[k] / sum);
    }
    return count;
}

static int weigh_point(const pl_model *model, const double point[3], int32_t seed, int max,
                       reached_set *found, int32_t *particles, float *weights)
{
    best_list ranking = {.capacity = max + 1};
    search_outwards(model, point, seed, found, &ranking);
    return weigh(&ranking, max, particles, weights);
}

/* ---- Interface ------------------------------------------------------------------------------- */

int pl_skin_point(const pl_model *model, const double point_units[3], int max, int32_t *particles,
                  float *weights)
{
    max = max < 1 ? 1 : max > PL_MAX_INFLUENCES ? PL_MAX_INFLUENCES : max;
    nearest best = {0, distance2(model, 0, point_units)};
    for (int i = 1; i < model->particle_count; i++)
        consider(model, i, point_units, &best);
    reached_set found = {0};
    return weigh_point(model, point_units, best.particle, max, &found, particles, weights);
}

pl_status pl_skin_compute(pl_model *model, pl_error *error)
{
    space_tree tree = {0};
    if (!build_tree(&tree, model)) {
        free_tree(&tree, &model->memory);
        return pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the skin of %d vertices",
                       model->vertex_count);
    }
    reached_set found = {0};
    int max = model->influence_count;
    for (int v = 0; v < model->vertex_count; v++) {
        const float *vertex = model->vertices + 3 * (size_t)v;
        double point[3] = {vertex[0], vertex[1], vertex[2]};
        int32_t *particles = model->influences + (size_t)v * (size_t)max;
        nearest best = {tree.particle[0], INFINITY};
        search_range(&tree, 0, model->particle_count, point, &best);
        int count = weigh_point(model, point, best.particle, max, &found, particles,
                                model->weights + (size_t)v * (size_t)max);
        for (int k = count; k < max; k++)
            particles[k] = -1;
    }
    free_tree(&tree, &model->memory);
    return PL_OK;
}

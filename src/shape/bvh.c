/* Building the hierarchy from the top: a range of items is cut in two, then the piece worth most in
   two again, until there are four; each becomes a leaf or waits on a stack for its own turn. */
#include "shape/bvh.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

enum {
    BINS = 16,
    /* From here on ranges are halved by number alone: 4^15 items end within 15 more levels. */
    HALVING_DEPTH = 30
};

typedef struct bvh_range {
    int first, count, depth;
    int node, lane; /* where it hangs */
    pl_bvh_box box, centres;
} bvh_range;

typedef struct bvh_build {
    const pl_bvh_box *boxes;
    pl_bvh *bvh;
    pl_array nodes;
    int leaf_size;
    bvh_range stack[PL_BVH_STACK];
    int waiting;
} bvh_build;

static const pl_bvh_box EMPTY = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static inline void box_join(pl_bvh_box *box, const pl_bvh_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->lower[k] = other->lower[k] < box->lower[k] ? other->lower[k] : box->lower[k];
        box->upper[k] = other->upper[k] > box->upper[k] ? other->upper[k] : box->upper[k];
    }
}

static inline void box_centre(const pl_bvh_box *box, float centre[3])
{
    for (int k = 0; k < 3; k++)
        centre[k] = 0.5f * box->lower[k] + 0.5f * box->upper[k];
}

static inline void box_add_centre(pl_bvh_box *box, const pl_bvh_box *item)
{
    float c[3];
    box_centre(item, c);
    for (int k = 0; k < 3; k++) {
        box->lower[k] = c[k] < box->lower[k] ? c[k] : box->lower[k];
        box->upper[k] = c[k] > box->upper[k] ? c[k] : box->upper[k];
    }
}

/* Half the surface; 0 for the empty box. */
static float box_area(const pl_bvh_box *box)
{
    if (!(box->lower[0] <= box->upper[0]))
        return 0;
    float x = box->upper[0] - box->lower[0], y = box->upper[1] - box->lower[1],
          z = box->upper[2] - box->lower[2];
    return x * y + y * z + z * x;
}

static void measure(const bvh_build *build, bvh_range *range)
{
    range->box = range->centres = EMPTY;
    for (int i = range->first; i < range->first + range->count; i++) {
        const pl_bvh_box *item = &build->boxes[build->bvh->order[i]];
        box_join(&range->box, item);
        box_add_centre(&range->centres, item);
    }
}

typedef struct bvh_bins {
    int axis;
    float origin, scale;
    int count[BINS];
    pl_bvh_box box[BINS], centres[BINS];
} bvh_bins;

static inline int bin_of(const bvh_bins *bins, const pl_bvh_box *item)
{
    float centre = 0.5f * item->lower[bins->axis] + 0.5f * item->upper[bins->axis];
    int bin = (int)((centre - bins->origin) * bins->scale);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

/* False where all centres coincide. */
static bool bins_fill(const bvh_build *build, const bvh_range *range, bvh_bins *bins)
{
    const pl_bvh_box *c = &range->centres;
    bins->axis = 0;
    for (int k = 1; k < 3; k++)
        if (c->upper[k] - c->lower[k] > c->upper[bins->axis] - c->lower[bins->axis])
            bins->axis = k;
    float extent = c->upper[bins->axis] - c->lower[bins->axis];
    if (!(extent > 1e-30f))
        return false;
    bins->origin = c->lower[bins->axis];
    bins->scale = (float)BINS * 0.99999f / extent;
    for (int b = 0; b < BINS; b++)
        bins->count[b] = 0, bins->box[b] = bins->centres[b] = EMPTY;
    for (int i = range->first; i < range->first + range->count; i++) {
        const pl_bvh_box *item = &build->boxes[build->bvh->order[i]];
        int b = bin_of(bins, item);
        bins->count[b]++;
        box_join(&bins->box[b], item);
        box_add_centre(&bins->centres[b], item);
    }
    return true;
}

/* The bin before which to cut: least Σ area · items (Wald 2007). The outer bins are never empty, so
   neither side is. */
static int bins_best_cut(const bvh_bins *bins)
{
    float right_cost[BINS];
    pl_bvh_box box = EMPTY;
    int count = 0;
    for (int b = BINS - 1; b > 0; b--) {
        box_join(&box, &bins->box[b]);
        count += bins->count[b];
        right_cost[b] = box_area(&box) * (float)count;
    }
    box = EMPTY, count = 0;
    int best = 1;
    float least = INFINITY;
    for (int b = 1; b < BINS; b++) {
        box_join(&box, &bins->box[b - 1]);
        count += bins->count[b - 1];
        float cost = box_area(&box) * (float)count + right_cost[b];
        if (cost < least)
            least = cost, best = b;
    }
    return best;
}

/* Moves the items before the cut to the front, in one pass from both ends. */
static int partition(const bvh_build *build, const bvh_range *range, const bvh_bins *bins, int cut)
{
    int32_t *order = build->bvh->order;
    int left = range->first, right = range->first + range->count;
    while (left < right) {
        int32_t item = order[left];
        if (bin_of(bins, &build->boxes[item]) < cut) {
            left++;
        } else {
            order[left] = order[--right];
            order[right] = item;
        }
    }
    return left - range->first;
}

static void halve(const bvh_build *build, const bvh_range *range, bvh_range *a, bvh_range *b)
{
    a->count = range->count / 2;
    b->first = a->first + a->count;
    b->count = range->count - a->count;
    measure(build, a);
    measure(build, b);
}

static void split(const bvh_build *build, const bvh_range *range, bvh_range *a, bvh_range *b)
{
    bvh_bins bins;
    *a = *b = *range;
    if (range->depth >= HALVING_DEPTH || !bins_fill(build, range, &bins)) {
        halve(build, range, a, b);
        return;
    }
    int cut = bins_best_cut(&bins);
    a->count = partition(build, range, &bins, cut);
    b->first = a->first + a->count;
    b->count = range->count - a->count;
    if (a->count == 0 || b->count == 0) {
        halve(build, range, a, b);
        return;
    }
    a->box = a->centres = b->box = b->centres = EMPTY;
    for (int k = 0; k < BINS; k++) {
        bvh_range *side = k < cut ? a : b;
        box_join(&side->box, &bins.box[k]);
        box_join(&side->centres, &bins.centres[k]);
    }
}

/* Which of the pieces to cut next: the one most often entered; by number where depth matters.
   -1 = all are small enough. */
static int pick(const bvh_build *build, const bvh_range *pieces, int count)
{
    int best = -1;
    double most = -1;
    for (int i = 0; i < count; i++) {
        if (pieces[i].count <= build->leaf_size)
            continue;
        double worth =
            pieces[i].depth >= HALVING_DEPTH ? pieces[i].count : (double)box_area(&pieces[i].box);
        if (worth > most)
            most = worth, best = i;
    }
    return best;
}

static void set_lane(pl_bvh_node *node, int lane, const pl_bvh_box *box, int child, int count)
{
    for (int k = 0; k < 3; k++) {
        node->lower[k][lane] = box->lower[k];
        node->upper[k][lane] = box->upper[k];
    }
    node->child[lane] = child;
    node->count[lane] = count;
}

/* NULL without memory. */
static pl_bvh_node *add_node(bvh_build *build)
{
    pl_bvh_node *node = pl_array_add(&build->nodes, 1);
    for (int lane = 0; node && lane < PL_BVH_WIDTH; lane++)
        set_lane(node, lane, &EMPTY, -1, -1);
    return node;
}

static bool make_node(bvh_build *build, const bvh_range *range)
{
    int number = (int)build->nodes.count;
    pl_bvh_node *node = add_node(build);
    if (!node)
        return false;
    if (range->node >= 0)
        ((pl_bvh_node *)build->nodes.data)[range->node].child[range->lane] = number;
    bvh_range pieces[PL_BVH_WIDTH];
    int count = 1;
    pieces[0] = *range;
    while (count < PL_BVH_WIDTH) {
        int which = pick(build, pieces, count);
        if (which < 0)
            break;
        bvh_range whole = pieces[which];
        split(build, &whole, &pieces[which], &pieces[count]);
        count++;
    }
    for (int lane = 0; lane < count; lane++) {
        bvh_range *piece = &pieces[lane];
        bool leaf = piece->count <= build->leaf_size;
        set_lane(node, lane, &piece->box, piece->first, leaf ? piece->count : 0);
        build->bvh->leaf_count += leaf;
        if (leaf)
            continue;
        piece->depth = range->depth + 1;
        piece->node = number;
        piece->lane = lane;
        build->stack[build->waiting++] = *piece;
    }
    return true;
}

static bool build_all(bvh_build *build, int count)
{
    for (int i = 0; i < count; i++)
        build->bvh->order[i] = i;
    bvh_range root = {.count = count, .node = -1};
    measure(build, &root);
    bool fine = count > 0 ? make_node(build, &root) : add_node(build) != NULL;
    while (fine && build->waiting > 0) {
        bvh_range range = build->stack[--build->waiting];
        fine = make_node(build, &range);
    }
    return fine;
}

bool pl_bvh_build(pl_memory *memory, const pl_bvh_box *boxes, int count, int leaf_size, pl_bvh *bvh)
{
    memset(bvh, 0, sizeof *bvh);
    bvh->order = PL_NEW(memory, int32_t, count);
    bvh_build *build = PL_NEW(memory, bvh_build, 1);
    bool fine = bvh->order && build;
    if (fine) {
        build->boxes = boxes;
        build->bvh = bvh;
        build->leaf_size = leaf_size;
        build->nodes = pl_array_make(memory, sizeof(pl_bvh_node));
        fine = pl_array_reserve(&build->nodes, (size_t)count / (size_t)leaf_size + 1) &&
               build_all(build, count);
        bvh->nodes = build->nodes.data;
        bvh->node_count = (int)build->nodes.count;
    }
    pl_memory_free(memory, build);
    if (!fine)
        pl_bvh_free(memory, bvh);
    return fine;
}

void pl_bvh_free(pl_memory *memory, pl_bvh *bvh)
{
    pl_memory_free(memory, bvh->nodes);
    pl_memory_free(memory, bvh->order);
    memset(bvh, 0, sizeof *bvh);
}

/* Boxes are sorted by size class, then along a Morton curve, and every sixteen in a row become a
   node. Large boxes among many small ones would swell the nodes they fall into: hence the classes,
   each four times as large as the one before. Few boxes are not sorted and get no tree: going
   through all of them, sixteen at a time, costs less. */
#include "contact/tree.h"

#include <math.h>

#include "base/sort.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void clump_bounds(const pl_contact *contact, int clump, float low[3], float high[3])
{
    const pl_clump_places *p = contact->places + clump;
    const float *radius = contact->radius + (size_t)clump * PL_CLUMP;
    const float *axes[3] = {p->x, p->y, p->z};
    for (int k = 0; k < 3; k++) {
        /* Places that are not used repeat the first one, with radius 0. */
        float least = axes[k][0] - radius[0], most = axes[k][0] + radius[0];
        for (int i = 1; i < PL_CLUMP; i++) {
            float from = axes[k][i] - radius[i], to = axes[k][i] + radius[i];
            least = from < least ? from : least;
            most = to > most ? to : most;
        }
        low[k] = least;
        high[k] = most;
    }
}

static void make_sphere(const pl_contact *contact, int clump, const float low[3],
                        const float high[3])
{
    const pl_clump_places *p = contact->places + clump;
    const float *radius = contact->radius + (size_t)clump * PL_CLUMP;
    float *sphere = contact->spheres[clump], most = 0;
    for (int k = 0; k < 3; k++)
        sphere[k] = 0.5f * (low[k] + high[k]);
    for (int i = 0; i < PL_CLUMP; i++) {
        float x = p->x[i] - sphere[0], y = p->y[i] - sphere[1], z = p->z[i] - sphere[2];
        float reach = sqrtf(x * x + y * y + z * z) + radius[i];
        most = reach > most ? reach : most;
    }
    sphere[3] = most * 1.00001f;
}

/* From the anchor, outwards by what rounding to float may have taken. */
static void make_box(const pl_contact *contact, int clump)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[clump];
    float low[3], high[3], *box = contact->boxes + 6 * (size_t)clump;
    clump_bounds(contact, clump, low, high);
    make_sphere(contact, clump, low, high);
    for (int k = 0; k < 3; k++) {
        double base = body->base[k] - contact->anchor[k];
        double velocity = (double)contact->path[clump][k],
               slack = (double)contact->motion[clump].slack;
        double back = -velocity * contact->h, way = velocity * contact->horizon;
        double from = base + (double)low[k] + fmin(back, way) - slack;
        double to = base + (double)high[k] + fmax(back, way) + slack;
        double pad = 3e-7 * (fabs(from) + fabs(to) + fabs(base));
        box[k] = (float)(from - pad);
        box[3 + k] = (float)(to + pad);
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

static uint64_t spread(uint32_t value)
{
    uint64_t x = value & 0xfffff;
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    x = (x | x << 2) & UINT64_C(0x1249249249249249);
    return x;
}

typedef struct frame {
    float low[3], scale[3], smallest;
} frame;

static float longest_side(const float *box)
{
    float x = box[3] - box[0], y = box[4] - box[1], z = box[5] - box[2];
    float most = x > y ? x : y;
    return most > z ? most : z;
}

static frame frame_of(const pl_contact *contact)
{
    frame f = {{INFINITY, INFINITY, INFINITY}, {0, 0, 0}, INFINITY};
    float high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int c = 0; c < contact->clump_count; c++) {
        const float *box = contact->boxes + 6 * (size_t)c;
        float side = longest_side(box);
        f.smallest = side < f.smallest ? side : f.smallest;
        for (int k = 0; k < 3; k++) {
            f.low[k] = box[k] < f.low[k] ? box[k] : f.low[k];
            high[k] = box[3 + k] > high[k] ? box[3 + k] : high[k];
        }
    }
    for (int k = 0; k < 3; k++)
        f.scale[k] = high[k] > f.low[k] ? 1048575.0f / (high[k] - f.low[k]) : 0;
    return f;
}

static uint64_t key_of(const float *box, const frame *f)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        float middle = (0.5f * (box[k] + box[3 + k]) - f->low[k]) * f->scale[k];
        key |= spread(middle > 0 ? middle < 1048575.0f ? (uint32_t)middle : 1048575 : 0) << k;
    }
    int exponent = 0;
    if (f->smallest > 0)
        frexpf(longest_side(box) / f->smallest, &exponent);
    int class = exponent / 2 < 0 ? 0 : exponent / 2 > 15 ? 15 : exponent / 2;
    return key | (uint64_t) class << 60;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void empty_child(pl_box_node *node, int k)
{
    node->child[k] = -1;
    for (int m = 0; m < 3; m++) {
        node->low[m][k] = INFINITY;
        node->high[m][k] = -INFINITY;
    }
}

static void node_box(const pl_box_node *node, float box[6])
{
    for (int m = 0; m < 3; m++) {
        box[m] = INFINITY;
        box[3 + m] = -INFINITY;
        for (int k = 0; k < PL_BRANCHES; k++) {
            box[m] = node->low[m][k] < box[m] ? node->low[m][k] : box[m];
            box[3 + m] = node->high[m][k] > box[3 + m] ? node->high[m][k] : box[3 + m];
        }
    }
}

static void set_child(pl_box_node *node, int k, int32_t child, const float box[6])
{
    node->child[k] = child;
    for (int m = 0; m < 3; m++) {
        node->low[m][k] = box[m];
        node->high[m][k] = box[3 + m];
    }
}

/* Nodes over `count` children that are leaves (in sorted order) or nodes from `first` on. Returns
   how many. */
static int add_level(pl_contact *contact, int first, int count, bool leaves)
{
    int made = 0;
    for (int i = 0; i < count; i += PL_BRANCHES, made++) {
        pl_box_node *node = contact->nodes + contact->node_count++;
        for (int k = 0; k < PL_BRANCHES; k++) {
            float box[6];
            if (i + k >= count) {
                empty_child(node, k);
            } else if (leaves) {
                int32_t clump = (int32_t)contact->items[i + k].index;
                set_child(node, k, clump, contact->boxes + 6 * (size_t)clump);
            } else {
                node_box(contact->nodes + first + i + k, box);
                set_child(node, k, first + i + k, box);
            }
        }
    }
    return made;
}

static void sort_boxes(pl_contact *contact)
{
    int count = contact->clump_count;
    frame f = frame_of(contact);
    for (int c = 0; c < count; c++)
        contact->items[c] = (pl_sort_item){key_of(contact->boxes + 6 * (size_t)c, &f), (uint32_t)c};
    pl_sort(contact->items, contact->items + count, (size_t)count);
}

/* As many as a query's stack has room for nodes of. */
enum { FEW = PL_QUERY_NODES * PL_BRANCHES };

void pl_contact_grow_tree(pl_contact *contact)
{
    int count = contact->clump_count;
    contact->node_count = contact->depth = contact->root = contact->root_count = 0;
    if (count == 0)
        return;
    for (int k = 0; k < 3; k++)
        contact->anchor[k] = contact->bodies[0].base[k];
    for (int c = 0; c < count; c++)
        make_box(contact, c);
    for (int c = 0; c < count; c++)
        contact->items[c] = (pl_sort_item){0, (uint32_t)c};
    if (count > FEW)
        sort_boxes(contact);
    int first = 0, made = add_level(contact, 0, count, true);
    while (count > FEW && made > 1) {
        int next = contact->node_count;
        made = add_level(contact, first, made, false);
        first = next;
        contact->depth++;
    }
    contact->root = first;
    contact->root_count = made;
}

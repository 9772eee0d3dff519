/* The inside test's data, made once: triangles sorted into a hierarchy and copied into packets in
   its order. The questions are answered in inside_winding.c, inside_closest.c, inside_segment.c and
   inside_volume.c. */
#include "shape/inside.h"

#include <string.h>

#include "base/error.h"
#include "shape/inside_parts.h"

enum { LEAF_SIZE = 4 };

/* The frame: the middle of the bounds, and a power of two near half their diagonal. */
static void choose_frame(pl_inside *inside)
{
    const pl_surface *surface = inside->surface;
    double lower[3] = {0}, upper[3] = {0};
    for (int i = 0; i < surface->triangle_count * 3; i++) {
        const double *p = &surface->points[3 * (size_t)surface->triangles[i]];
        for (int k = 0; k < 3; k++) {
            lower[k] = i == 0 || p[k] < lower[k] ? p[k] : lower[k];
            upper[k] = i == 0 || p[k] > upper[k] ? p[k] : upper[k];
        }
    }
    double largest = 0;
    for (int k = 0; k < 3; k++) {
        inside->centre[k] = 0.5 * lower[k] + 0.5 * upper[k];
        largest = fmax(largest, upper[k] - lower[k]);
    }
    int exponent = 1;
    if (largest > 0)
        frexp(largest, &exponent);
    inside->unit = ldexp(1, exponent - 1);
    inside->per_unit = ldexp(1, 1 - exponent);
}

static void triangle_corners(const pl_inside *inside, int triangle, double corners[3][3])
{
    const pl_surface *surface = inside->surface;
    for (int c = 0; c < 3; c++) {
        size_t point = (size_t)surface->triangles[3 * (size_t)triangle + (size_t)c];
        for (int k = 0; k < 3; k++)
            corners[c][k] =
                (surface->points[3 * point + (size_t)k] - inside->centre[k]) * inside->per_unit;
    }
}

/* Rounded to the nearest: pl_inside_slack makes up for it. */
static void fill_boxes(const pl_inside *inside, pl_bvh_box *boxes)
{
    for (int t = 0; t < inside->surface->triangle_count; t++) {
        double corners[3][3];
        triangle_corners(inside, t, corners);
        for (int k = 0; k < 3; k++) {
            double a = corners[0][k], b = corners[1][k], c = corners[2][k];
            boxes[t].lower[k] = (float)fmin(a, fmin(b, c));
            boxes[t].upper[k] = (float)fmax(a, fmax(b, c));
        }
    }
}

static void fill_packet(const pl_inside *inside, const int32_t *triangles, int count,
                        pl_inside_packet *packet)
{
    for (int lane = 0; lane < PL_INSIDE_WIDTH; lane++) {
        double corners[3][3];
        bool used = lane < count;
        triangle_corners(inside, triangles[used ? lane : 0], corners);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                packet->corner[c][k][lane] = corners[used ? c : 0][k];
        packet->triangle[lane] = used ? triangles[lane] : -1;
    }
}

static void fill_sketch(const pl_inside_packet *packet, pl_inside_sketch *sketch)
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            for (int lane = 0; lane < PL_INSIDE_WIDTH; lane++)
                sketch->corner[c][k][lane] = (float)packet->corner[c][k][lane];
}

/* Leaves point at triangles when the hierarchy is built, at packets afterwards. */
static bool fill_packets(pl_inside *inside)
{
    pl_bvh *bvh = &inside->bvh;
    size_t most =
        (size_t)bvh->leaf_count + (size_t)inside->surface->triangle_count / PL_INSIDE_WIDTH;
    inside->packets = PL_NEW(inside->memory, pl_inside_packet, most);
    inside->sketches = PL_NEW(inside->memory, pl_inside_sketch, most);
    if (!inside->packets || !inside->sketches)
        return false;
    for (int n = 0; n < bvh->node_count; n++) {
        pl_bvh_node *node = &bvh->nodes[n];
        for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
            int first = node->child[lane], count = node->count[lane];
            if (count <= 0)
                continue;
            node->child[lane] = inside->packet_count;
            node->count[lane] = (count + PL_INSIDE_WIDTH - 1) / PL_INSIDE_WIDTH;
            for (int i = 0; i < count; i += PL_INSIDE_WIDTH)
                fill_packet(inside, &bvh->order[first + i], count - i,
                            &inside->packets[inside->packet_count++]);
        }
    }
    for (int i = 0; i < inside->packet_count; i++)
        fill_sketch(&inside->packets[i], &inside->sketches[i]);
    return true;
}

static bool fill(pl_inside *inside)
{
    pl_memory *memory = inside->memory;
    int count = inside->surface->triangle_count;
    choose_frame(inside);
    pl_bvh_box *boxes = PL_NEW(memory, pl_bvh_box, count);
    if (!boxes)
        return false;
    fill_boxes(inside, boxes);
    bool built = pl_bvh_build(memory, boxes, count, LEAF_SIZE, &inside->bvh);
    pl_memory_free(memory, boxes);
    return built && fill_packets(inside) && pl_inside_expand(inside) && pl_inside_measure(inside);
}

pl_status pl_inside_create(pl_memory *memory, const pl_surface *surface, pl_inside **result,
                           pl_error *error)
{
    *result = NULL;
    pl_inside *inside = PL_NEW(memory, pl_inside, 1);
    PL_CHECK(inside, PL_ERROR_MEMORY, error, NULL, "no memory for the inside test");
    inside->memory = memory;
    inside->surface = surface;
    if (!fill(inside)) {
        pl_inside_destroy(inside);
        return pl_fail(error, PL_ERROR_MEMORY, NULL,
                       "no memory for the inside test of %d triangles", surface->triangle_count);
    }
    *result = inside;
    return PL_OK;
}

void pl_inside_destroy(pl_inside *inside)
{
    if (!inside)
        return;
    pl_memory *memory = inside->memory;
    pl_bvh_free(memory, &inside->bvh);
    pl_memory_free(memory, inside->packets);
    pl_memory_free(memory, inside->sketches);
    pl_memory_free(memory, inside->far);
    pl_memory_free(memory, inside);
}

double pl_inside_signed_distance(const pl_inside *inside, const double point[3])
{
    double distance = pl_inside_closest(inside, point, INFINITY, NULL, NULL);
    return pl_inside_test(inside, point) ? -distance : distance;
}

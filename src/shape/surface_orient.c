/* Which way triangles face. Over edges of exactly two triangles the winding is carried on: that
   makes patches, each right or wrong as a whole. A patch is turned so that it encloses a positive
   volume (closed by a cone over its rim where it is open), except for shells that were inverted on
   purpose: the walls of cavities. What encloses nothing keeps the winding of most of its
   triangles. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/elementary.h"
#include "shape/inside.h"
#include "shape/surface_parts.h"

/* Volume against area^(3/2), 0.09 for a ball: above this the outside of an open patch is clear. */
#define CLEAR 1e-3
/* The same for closed ones: there only rounding is to be feared. */
#define CLEAR_CLOSED 1e-10

#define PI 3.14159265358979323846

typedef struct surface_patch {
    int first, count; /* into surface_patches.triangles */
    int flips;        /* triangles turned to agree with the first */
    int rim_sides;
    double rim[3];       /* sum of the ends of sides without a partner in the patch */
    double area, volume; /* in parts of size², size³; as wound after the flips */
    bool clear;          /* the volume tells inside from outside */
    bool turn;           /* as a whole, on top of the flips */
} surface_patch;

typedef struct surface_patches {
    int count;
    surface_patch *patches;
    int32_t *patch_of;  /* [t] */
    int32_t *triangles; /* [t] patch by patch, in the order they were reached */
    bool *flip;         /* [t] to agree with the first of the patch */
} surface_patches;

/* The other side of an edge that has exactly two, or -1. */
static int32_t partner(const pl_surface_edges *edges, int32_t side)
{
    int32_t first = edges->start[edges->edge_of[side]];
    if (edges->start[edges->edge_of[side] + 1] - first != 2)
        return -1;
    return edges->sides[first] == side ? edges->sides[first + 1] : edges->sides[first];
}

/* Neighbours agree when they run along their edge in opposite directions. */
static bool same_direction(const pl_surface *surface, int32_t a, int32_t b)
{
    return surface->triangles[a] == surface->triangles[b];
}

static void reach_patch(pl_surface *surface, const pl_surface_edges *edges,
                        surface_patches *patches, int seed)
{
    surface_patch *patch = &patches->patches[patches->count];
    patches->triangles[patch->first] = seed;
    patches->patch_of[seed] = patches->count;
    patch->count = 1;
    for (int i = patch->first; i < patch->first + patch->count; i++) {
        int t = patches->triangles[i];
        patch->flips += patches->flip[t];
        for (int32_t side = 3 * t; side < 3 * t + 3; side++) {
            int32_t other = partner(edges, side);
            if (other < 0)
                continue;
            bool flip = patches->flip[t] != same_direction(surface, side, other);
            if (patches->patch_of[other / 3] < 0) {
                patches->patch_of[other / 3] = patches->count;
                patches->flip[other / 3] = flip;
                patches->triangles[patch->first + patch->count++] = other / 3;
            } else if (patches->flip[other / 3] != flip) {
                surface->report.orientable = false;
            }
        }
    }
}

static void find_patches(pl_surface *surface, const pl_surface_edges *edges,
                         surface_patches *patches)
{
    int first = 0;
    memset(patches->patch_of, -1, (size_t)surface->triangle_count * sizeof(int32_t));
    for (int t = 0; t < surface->triangle_count; t++) {
        if (patches->patch_of[t] >= 0)
            continue;
        patches->patches[patches->count].first = first;
        reach_patch(surface, edges, patches, t);
        first += patches->patches[patches->count].count;
        patches->count++;
    }
}

static void add_rim(const pl_surface *surface, const pl_surface_edges *edges, surface_patch *patch,
                    int triangle)
{
    for (int32_t side = 3 * triangle; side < 3 * triangle + 3; side++) {
        if (partner(edges, side) >= 0)
            continue;
        int32_t next = side % 3 == 2 ? side - 2 : side + 1;
        double a[3], b[3];
        pl_surface_local(surface, surface->triangles[side], a);
        pl_surface_local(surface, surface->triangles[next], b);
        patch->rim_sides++;
        for (int k = 0; k < 3; k++)
            patch->rim[k] += 0.5 * (a[k] + b[k]);
    }
}

/* Area and the volume of the cone from `apex`. */
static void triangle_sums(const pl_surface *surface, int triangle, const double apex[3],
                          double *area, double *volume)
{
    double p[3][3], n[3];
    for (int c = 0; c < 3; c++) {
        pl_surface_local(surface, surface->triangles[3 * (size_t)triangle + (size_t)c], p[c]);
        for (int k = 0; k < 3; k++)
            p[c][k] -= apex[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] =
            (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
    }
    *area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    *volume = (p[0][0] * n[0] + p[0][1] * n[1] + p[0][2] * n[2]) / 6;
}

static void measure_patch(const pl_surface *surface, const pl_surface_edges *edges,
                          const surface_patches *patches, surface_patch *patch)
{
    double apex[3];
    for (int i = 0; i < patch->count; i++)
        add_rim(surface, edges, patch, patches->triangles[patch->first + i]);
    pl_surface_local(surface, surface->triangles[3 * (size_t)patches->triangles[patch->first]],
                     apex);
    for (int k = 0; k < 3 && patch->rim_sides; k++)
        apex[k] = patch->rim[k] / patch->rim_sides;
    for (int i = 0; i < patch->count; i++) {
        int t = patches->triangles[patch->first + i];
        double area, volume;
        triangle_sums(surface, t, apex, &area, &volume);
        patch->area += area;
        patch->volume += patches->flip[t] ? -volume : volume;
    }
    double scale = patch->area * sqrt(patch->area);
    patch->clear = fabs(patch->volume) > (patch->rim_sides ? CLEAR : CLEAR_CLOSED) * scale;
}

static void unclear_centre(const pl_surface *surface, const surface_patches *patches,
                           double centre[3])
{
    const double origin[3] = {0};
    double total = 0;
    centre[0] = centre[1] = centre[2] = 0;
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
        double area, volume, corner[3];
        if (patches->patches[patches->patch_of[t]].clear)
            continue;
        triangle_sums(surface, (int)t, origin, &area, &volume);
        total += area;
        for (int c = 0; c < 3; c++) {
            pl_surface_local(surface, surface->triangles[3 * t + (size_t)c], corner);
            for (int k = 0; k < 3; k++)
                centre[k] += area * corner[k] / 3;
        }
    }
    for (int k = 0; k < 3 && total > 0; k++)
        centre[k] /= total;
}

/* What encloses nothing keeps the winding of the majority; but it may enclose something together:
   triangles that are not joined at all, say. */
static void turn_unclear(const pl_surface *surface, surface_patches *patches)
{
    double centre[3], total = 0, enclosed = 0;
    for (int i = 0; i < patches->count; i++)
        if (!patches->patches[i].clear)
            patches->patches[i].turn = 2 * patches->patches[i].flips > patches->patches[i].count;
    unclear_centre(surface, patches, centre);
    for (int t = 0; t < surface->triangle_count; t++) {
        const surface_patch *patch = &patches->patches[patches->patch_of[t]];
        double area, volume;
        if (patch->clear)
            continue;
        triangle_sums(surface, t, centre, &area, &volume);
        total += area;
        enclosed += patches->flip[t] != patch->turn ? -volume : volume;
    }
    if (enclosed >= -CLEAR * total * sqrt(total))
        return;
    for (int i = 0; i < patches->count; i++)
        if (!patches->patches[i].clear)
            patches->patches[i].turn = !patches->patches[i].turn;
}

/* Winds each triangle as it was found it should be. */
static void apply(pl_surface *surface, surface_patches *patches)
{
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
        if (patches->flip[t] == patches->patches[patches->patch_of[t]].turn)
            continue;
        int32_t *corner = &surface->triangles[3 * t], second = corner[1];
        corner[1] = corner[2], corner[2] = second;
    }
}

static double solid_angle(const pl_surface *surface, int triangle, const double from[3])
{
    double v[3][3], length[3], below;
    for (int c = 0; c < 3; c++) {
        pl_surface_local(surface, surface->triangles[3 * (size_t)triangle + (size_t)c], v[c]);
        for (int k = 0; k < 3; k++)
            v[c][k] -= from[k];
        length[c] = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
    }
    double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                    v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                    v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    below = length[0] * length[1] * length[2];
    for (int c = 0; c < 3; c++) {
        const double *a = v[c], *b = v[(c + 1) % 3];
        below += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * length[(c + 2) % 3];
    }
    return 2 * pl_atan2(triple, below);
}

/* How often everything else winds around a patch, at one of its own points. */
static double winding_around(const pl_surface *surface, const pl_inside *inside,
                             const surface_patches *patches, const surface_patch *patch)
{
    int32_t point = surface->triangles[3 * (size_t)patches->triangles[patch->first]];
    double from[3], own = 0;
    pl_surface_local(surface, point, from);
    for (int i = 0; i < patch->count; i++)
        own += solid_angle(surface, patches->triangles[patch->first + i], from);
    return pl_inside_winding(inside, &surface->points[3 * (size_t)point]) - own / (4 * PI);
}

/* All but closed and wound against the rest of the file, all of it: a wall of a cavity, if there is
   a body around. */
static bool may_be_cavity(const surface_patch *patch, double file_volume)
{
    bool consistent = patch->flips == 0 || patch->flips == patch->count;
    double in_file = patch->flips == 0 ? patch->volume : -patch->volume;
    bool shell = 4 * (long)patch->rim_sides <= patch->count;
    return patch->clear && shell && consistent && in_file * file_volume < 0;
}

/* With everything facing outwards, looks for cavities and turns their walls back. */
static pl_status turn_cavities(pl_surface *surface, surface_patches *patches, pl_error *error)
{
    double file_volume = 0;
    int candidates = 0;
    for (int i = 0; i < patches->count; i++) {
        const surface_patch *patch = &patches->patches[i];
        bool whole = patch->flips == 0 || patch->flips == patch->count;
        if (patch->clear && whole)
            file_volume += patch->flips == 0 ? patch->volume : -patch->volume;
    }
    for (int i = 0; i < patches->count; i++)
        candidates += may_be_cavity(&patches->patches[i], file_volume);
    if (candidates == 0)
        return PL_OK;
    pl_inside *inside;
    PL_TRY(pl_inside_create(surface->memory, surface, &inside, error));
    for (int i = 0; i < patches->count; i++) {
        surface_patch *patch = &patches->patches[i];
        patch->turn = may_be_cavity(patch, file_volume) &&
                      winding_around(surface, inside, patches, patch) > 0.5;
    }
    pl_inside_destroy(inside);
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++)
        patches->flip[t] = false;
    apply(surface, patches);
    return PL_OK;
}

static pl_status orient(pl_surface *surface, const pl_surface_edges *edges,
                        surface_patches *patches, pl_error *error)
{
    find_patches(surface, edges, patches);
    for (int i = 0; i < patches->count; i++) {
        surface_patch *patch = &patches->patches[i];
        measure_patch(surface, edges, patches, patch);
        patch->turn = patch->volume < 0;
    }
    turn_unclear(surface, patches);
    apply(surface, patches);
    return turn_cavities(surface, patches, error);
}

pl_status pl_surface_orient(pl_surface *surface, const pl_surface_edges *edges, pl_error *error)
{
    pl_memory *memory = surface->memory;
    size_t count = (size_t)surface->triangle_count;
    surface_patches patches = {
        .patches = PL_NEW(memory, surface_patch, count),
        .patch_of = PL_NEW(memory, int32_t, count),
        .triangles = PL_NEW(memory, int32_t, count),
        .flip = PL_NEW(memory, bool, count),
    };
    int32_t *before = PL_NEW(memory, int32_t, 3 * count);
    pl_status status = PL_OK;
    if (patches.patches && patches.patch_of && patches.triangles && patches.flip && before) {
        memcpy(before, surface->triangles, 3 * count * sizeof *before);
        status = orient(surface, edges, &patches, error);
        for (size_t t = 0; t < count; t++)
            surface->report.flipped += before[3 * t + 1] != surface->triangles[3 * t + 1];
    } else {
        status = pl_fail(error, PL_ERROR_MEMORY, NULL, "no memory for the repair");
    }
    pl_memory_free(memory, before);
    pl_memory_free(memory, patches.patches);
    pl_memory_free(memory, patches.patch_of);
    pl_memory_free(memory, patches.triangles);
    pl_memory_free(memory, patches.flip);
    return status;
}

/* Tetrahedra with their boundary points on a curved surface lie inside it where it bulges and lose
   volume. Here the boundary is moved along its normals until it lies, triangle by triangle, as much
   outside the surface as inside; a point moves only as far as the dihedral angles around it
   allow. */
#include "shape/tetrahedra_parts.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

enum { ROUNDS = 3, TRIES = 3 };

/* In places: what lies farther from the surface says nothing about it. */
#define FARTHEST 1.0
#define FARTHEST_OPEN 0.5
#define GOOD_COSINE 0.966 /* angles above 15° may become smaller, down to it */

typedef struct fitting {
    const pl_lattice *lattice;
    pl_memory *memory;
    double farthest;
    double (*points)[3];
    int32_t (*tets)[4];
    size_t point_count, tet_count, face_count;
    pl_sort_item *items;   /* twice 4 tet_count */
    int32_t (*faces)[3];   /* of the boundary, counter-clockwise from outside */
    int32_t *begin, *list; /* the tetrahedra at each point */
    double (*normal)[3];   /* sum of its faces' area normals; 0 inside */
    double *push;          /* sum over its faces of area × distance wanted */
    double *distance;      /* from the surface, at boundary points */
} fitting;

static void fitting_free(fitting *fit)
{
    pl_memory_free(fit->memory, fit->items);
    pl_memory_free(fit->memory, fit->faces);
    pl_memory_free(fit->memory, fit->begin);
    pl_memory_free(fit->memory, fit->list);
    pl_memory_free(fit->memory, fit->normal);
    pl_memory_free(fit->memory, fit->push);
    pl_memory_free(fit->memory, fit->distance);
}

/* ---- The boundary ---------------------------------------------------------------------------- */

/* The face without one corner, counter-clockwise from outside. */
static void face_of(const int32_t tet[4], int without, int32_t face[3])
{
    static const int8_t corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int c = 0; c < 3; c++)
        face[c] = tet[corners[without][c]];
}

static void sorted_face(const fitting *fit, uint32_t index, int32_t face[3])
{
    face_of(fit->tets[index / 4], (int)(index % 4), face);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (face[j] > face[j + 1]) {
                int32_t swap = face[j];
                face[j] = face[j + 1];
                face[j + 1] = swap;
            }
}

/* Within a run of faces with two corners in common: whether another is the same. */
static bool has_twin(const fitting *fit, size_t first, size_t last, size_t i)
{
    int32_t face[3], other[3];
    sorted_face(fit, fit->items[i].index, face);
    for (size_t j = first; j < last; j++) {
        sorted_face(fit, fit->items[j].index, other);
        if (j != i && other[2] == face[2])
            return true;
    }
    return false;
}

static bool find_faces(fitting *fit)
{
    size_t count = 4 * fit->tet_count, last;
    fit->items = PL_NEW(fit->memory, pl_sort_item, 2 * count);
    fit->faces = pl_memory_alloc(fit->memory, count, sizeof *fit->faces);
    if (!fit->items || !fit->faces)
        return false;
    for (size_t i = 0; i < count; i++) {
        int32_t face[3];
        sorted_face(fit, (uint32_t)i, face);
        fit->items[i] = (pl_sort_item){(uint64_t)face[0] << 32 | (uint64_t)face[1], (uint32_t)i};
    }
    pl_sort(fit->items, fit->items + count, count);
    for (size_t first = 0; first < count; first = last) {
        for (last = first + 1; last < count && fit->items[last].key == fit->items[first].key;)
            last++;
        for (size_t i = first; i < last; i++)
            if (!has_twin(fit, first, last, i))
                face_of(fit->tets[fit->items[i].index / 4], (int)(fit->items[i].index % 4),
                        fit->faces[fit->face_count++]);
    }
    return true;
}

static bool list_tets(fitting *fit)
{
    fit->begin = PL_NEW(fit->memory, int32_t, fit->point_count + 2);
    fit->list = PL_NEW(fit->memory, int32_t, 4 * fit->tet_count);
    if (!fit->begin || !fit->list)
        return false;
    for (size_t i = 0; i < 4 * fit->tet_count; i++)
        fit->begin[fit->tets[i / 4][i % 4] + 2]++;
    for (size_t i = 2; i < fit->point_count + 2; i++)
        fit->begin[i] += fit->begin[i - 1];
    for (size_t i = 0; i < 4 * fit->tet_count; i++)
        fit->list[fit->begin[fit->tets[i / 4][i % 4] + 1]++] = (int32_t)(i / 4);
    return true;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* From the surface, in places, negative inside; 0 where the surface is too far to be what the
   boundary follows (over a hole, or where a part was too thin to be filled). */
static double distance_at(const fitting *fit, const double place[3])
{
    double position[3], limit = fit->farthest * fit->lattice->half;
    pl_lattice_position(fit->lattice, place, position);
    double distance = pl_inside_closest(fit->lattice->inside, position, limit, NULL, NULL);
    if (!(distance <= limit))
        return 0;
    distance /= fit->lattice->half;
    return pl_inside_test(fit->lattice->inside, position) ? -distance : distance;
}

/* Over a triangle a bulge's distance is a parabola: its mean is 3/4 of that in the middle and 1/4
   of the corners'. */
static void measure_faces(fitting *fit)
{
    memset(fit->normal, 0, fit->point_count * sizeof *fit->normal);
    memset(fit->push, 0, fit->point_count * sizeof *fit->push);
    for (size_t f = 0; f < fit->face_count; f++) {
        const int32_t *face = fit->faces[f];
        const double *p = fit->points[face[0]], *q = fit->points[face[1]];
        const double *r = fit->points[face[2]];
        double u[3], v[3], n[3], middle[3], area2 = 0, corners = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = q[k] - p[k], v[k] = r[k] - p[k];
            middle[k] = (p[k] + q[k] + r[k]) / 3;
        }
        for (int k = 0; k < 3; k++) {
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            area2 += n[k] * n[k];
        }
        for (int c = 0; c < 3; c++)
            corners += fit->distance[face[c]] / 3;
        double push = -(0.75 * distance_at(fit, middle) + 0.25 * corners) * sqrt(area2);
        for (int c = 0; c < 3; c++) {
            fit->push[face[c]] += push;
            for (int k = 0; k < 3; k++)
                fit->normal[face[c]][k] += n[k];
        }
    }
}

static double sharpest_of(const fitting *fit, int32_t tet)
{
    const int32_t *c = fit->tets[tet];
    return pl_tet_sharpest(fit->points[c[0]], fit->points[c[1]], fit->points[c[2]],
                           fit->points[c[3]]);
}

/* No tetrahedron at the point may become sharper, unless it stays blunt enough. */
static bool may_move(fitting *fit, size_t point, const double to[3])
{
    double from[3];
    bool may = true;
    memcpy(from, fit->points[point], sizeof from);
    for (int32_t i = fit->begin[point]; may && i < fit->begin[point + 1]; i++) {
        memcpy(fit->points[point], to, sizeof from);
        double after = sharpest_of(fit, fit->list[i]);
        memcpy(fit->points[point], from, sizeof from);
        may = after < GOOD_COSINE || after <= sharpest_of(fit, fit->list[i]);
    }
    return may;
}

static void move_point(fitting *fit, size_t point)
{
    const double *n = fit->normal[point];
    double length2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], to[3];
    if (!(length2 > 0))
        return;
    /* The push is a mean weighted by area (twice it); along the normals' sum, as long as the sum
       is, it lifts the volume by what is missing. */
    double step = fit->push[point] / length2;
    for (int i = 0; i < TRIES; i++, step *= 0.5) {
        for (int k = 0; k < 3; k++)
            to[k] = fit->points[point][k] + step * n[k];
        if (may_move(fit, point, to)) {
            memcpy(fit->points[point], to, sizeof to);
            fit->distance[point] = distance_at(fit, to);
            return;
        }
    }
}

bool pl_lattice_fit(const pl_lattice *lattice, pl_array *points, pl_array *tets)
{
    fitting fit = {.lattice = lattice,
                   .memory = lattice->memory,
                   .farthest = lattice->closed ? FARTHEST : FARTHEST_OPEN,
                   .points = points->data,
                   .tets = tets->data,
                   .point_count = points->count,
                   .tet_count = tets->count};
    fit.normal = pl_memory_alloc(fit.memory, fit.point_count, sizeof *fit.normal);
    fit.push = PL_NEW(fit.memory, double, fit.point_count);
    fit.distance = PL_NEW(fit.memory, double, fit.point_count);
    bool fine = fit.normal && fit.push && fit.distance && find_faces(&fit) && list_tets(&fit);
    for (int round = 0; fine && round < ROUNDS; round++) {
        measure_faces(&fit);
        for (size_t p = 0; p < fit.point_count; p++)
            move_point(&fit, p);
    }
    fitting_free(&fit);
    return fine;
}

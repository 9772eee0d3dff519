/* What any tetrahedral mesh is checked for, with formulas of its own. */
#ifndef PLIANT_TESTS_TETRAHEDRA_CASES_H
#define PLIANT_TESTS_TETRAHEDRA_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape/tetrahedra.h"
#include "support/check.h"

typedef struct case_body {
    pl_memory memory;
    pl_surface *surface;
    pl_inside *inside;
    double volume;
} case_body;

static inline void body_make(case_body *body, const pl_mesh *mesh)
{
    pl_error error = {0};
    pl_memory_init(&body->memory, NULL, 0);
    if (pl_surface_create(&body->memory, mesh, 1e-6, &body->surface, &error) != PL_OK ||
        pl_inside_create(&body->memory, body->surface, &body->inside, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    body->volume = pl_inside_volume(body->inside);
    body->surface->report.volume = body->volume;
}

static inline void body_free(case_body *body)
{
    pl_inside_destroy(body->inside);
    pl_surface_destroy(body->surface);
    assert_int_equal(body->memory.used, 0);
}

typedef struct tets_figures {
    double volume, sharpest, bluntest; /* dihedral angles in degrees */
    int boundary_faces;
} tets_figures;

/* Six times. */
static inline double tet_volume(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
    return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
           u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* Seen along the edge a b, the angle between c and d. */
static inline double dihedral(const double *a, const double *b, const double *c, const double *d)
{
    double e[3], u[3], v[3], ee = 0, eu = 0, ev = 0, uu = 0, vv = 0, uv = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = b[k] - a[k], u[k] = c[k] - a[k], v[k] = d[k] - a[k];
        ee += e[k] * e[k], eu += e[k] * u[k], ev += e[k] * v[k];
    }
    for (int k = 0; k < 3; k++) {
        u[k] -= eu / ee * e[k], v[k] -= ev / ee * e[k];
        uu += u[k] * u[k], vv += v[k] * v[k], uv += u[k] * v[k];
    }
    return acos(fmin(fmax(uv / sqrt(uu * vv), -1), 1)) * 180 / M_PI;
}

static inline void add_angles(const double *p[4], tets_figures *figures)
{
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            int rest[2], count = 0;
            for (int k = 0; k < 4; k++)
                if (k != i && k != j)
                    rest[count++] = k;
            double angle = dihedral(p[i], p[j], p[rest[0]], p[rest[1]]);
            figures->sharpest = fmin(figures->sharpest, angle);
            figures->bluntest = fmax(figures->bluntest, angle);
        }
}

static inline int compare_faces(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

static inline int compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A face belongs to one or two tetrahedra, and each edge of the boundary to an even number of
   boundary faces. */
static inline int check_faces(const pl_tets *tets)
{
    static const int corners[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    size_t count = 4 * (size_t)tets->tet_count, boundary = 0;
    int32_t(*faces)[3] = malloc((count + 1) * sizeof *faces);
    int32_t(*edges)[3] = malloc((3 * count + 1) * sizeof *edges);
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            faces[i][c] = tets->tets[i / 4 * 4 + (size_t)corners[i % 4][c]];
        qsort(faces[i], 3, sizeof(int32_t), compare_numbers);
    }
    qsort(faces, count, sizeof *faces, compare_faces);
    for (size_t i = 0, last; i < count; i = last) {
        for (last = i + 1; last < count && compare_faces(faces[i], faces[last]) == 0;)
            last++;
        if (last - i > 2)
            fail_msg("%zu tetrahedra have the face %d %d %d", last - i, faces[i][0], faces[i][1],
                     faces[i][2]);
        for (int c = 0; c < 3 && last - i == 1; c++) {
            int32_t edge[3] = {faces[i][c == 0], faces[i][c == 2 ? 1 : 2], 0};
            memcpy(edges[boundary++], edge, sizeof edge);
        }
    }
    qsort(edges, boundary, sizeof *edges, compare_faces);
    for (size_t i = 0, last; i < boundary; i = last) {
        for (last = i + 1; last < boundary && compare_faces(edges[i], edges[last]) == 0;)
            last++;
        assert_int_equal((last - i) % 2, 0);
    }
    free(faces);
    free(edges);
    return (int)boundary / 3;
}

static inline tets_figures check_tets(const pl_tets *tets)
{
    tets_figures figures = {.sharpest = 180};
    bool *used = calloc((size_t)tets->point_count + 1, 1);
    assert_true(tets->tet_count > 0);
    for (int i = 0; i < 3 * tets->point_count; i++)
        assert_true(isfinite(tets->points[i]));
    for (int t = 0; t < tets->tet_count; t++) {
        const double *p[4];
        for (int c = 0; c < 4; c++) {
            int32_t point = tets->tets[4 * t + c];
            assert_in_range(point, 0, tets->point_count - 1);
            used[point] = true;
            p[c] = &tets->points[3 * point];
        }
        double volume = tet_volume(p[0], p[1], p[2], p[3]);
        if (!(volume > 0))
            fail_msg("tetrahedron %d has the volume %g", t, volume / 6);
        figures.volume += volume / 6;
        add_angles(p, &figures);
    }
    for (int i = 0; i < tets->point_count; i++)
        assert_true(used[i]);
    if (!(figures.sharpest > 10))
        fail_msg("a dihedral angle of %g degrees", figures.sharpest);
    figures.boundary_faces = check_faces(tets);
    free(used);
    return figures;
}

#endif

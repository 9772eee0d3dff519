/* Meshes made in code for the tests of repair and of the inside test: balls, tori and boxes, put
   together, bent, cut and spoilt. */
#ifndef PLIANT_TESTS_SURFACE_CASES_H
#define PLIANT_TESTS_SURFACE_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "shape/surface.h"

typedef struct case_mesh {
    int vertex_count, triangle_count;
    double *positions;
    int32_t *triangles;
} case_mesh;

static inline int case_vertex(case_mesh *mesh, double x, double y, double z)
{
    mesh->positions =
        realloc(mesh->positions, 3 * sizeof(double) * (size_t)(mesh->vertex_count + 1));
    double p[3] = {x, y, z};
    memcpy(&mesh->positions[3 * mesh->vertex_count], p, sizeof p);
    return mesh->vertex_count++;
}

static inline void case_triangle(case_mesh *mesh, int a, int b, int c)
{
    mesh->triangles =
        realloc(mesh->triangles, 3 * sizeof(int32_t) * (size_t)(mesh->triangle_count + 1));
    int32_t t[3] = {a, b, c};
    memcpy(&mesh->triangles[3 * mesh->triangle_count++], t, sizeof t);
}

static inline void case_free(case_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->triangles);
    memset(mesh, 0, sizeof *mesh);
}

static inline pl_mesh case_view(const case_mesh *mesh)
{
    return (pl_mesh){.vertex_count = mesh->vertex_count,
                     .positions = mesh->positions,
                     .triangle_count = mesh->triangle_count,
                     .triangles = mesh->triangles};
}

/* Closed, outward: `rings` bands of `sides`, a fan at either pole. */
static inline void case_ball(case_mesh *mesh, const double centre[3], double radius, int rings,
                             int sides)
{
    int first = mesh->vertex_count;
    for (int i = 1; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            double a = M_PI * i / rings, b = 2 * M_PI * j / sides;
            case_vertex(mesh, centre[0] + radius * sin(a) * cos(b),
                        centre[1] + radius * sin(a) * sin(b), centre[2] + radius * cos(a));
        }
    int top = case_vertex(mesh, centre[0], centre[1], centre[2] + radius);
    int bottom = case_vertex(mesh, centre[0], centre[1], centre[2] - radius);
    for (int j = 0; j < sides; j++) {
        int k = (j + 1) % sides, last = first + (rings - 2) * sides;
        case_triangle(mesh, top, first + j, first + k);
        case_triangle(mesh, bottom, last + k, last + j);
        for (int i = 0; i + 2 < rings; i++) {
            int a = first + i * sides, b = a + sides;
            case_triangle(mesh, a + j, b + j, b + k);
            case_triangle(mesh, a + j, b + k, a + k);
        }
    }
}

static inline void case_torus(case_mesh *mesh, double large, double small, int rings, int sides)
{
    int first = mesh->vertex_count;
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            double a = 2 * M_PI * i / rings, b = 2 * M_PI * j / sides;
            double r = large + small * cos(b);
            case_vertex(mesh, r * cos(a), r * sin(a), small * sin(b));
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            int a = first + i * sides, b = first + (i + 1) % rings * sides, k = (j + 1) % sides;
            case_triangle(mesh, a + j, b + j, b + k);
            case_triangle(mesh, a + j, b + k, a + k);
        }
}

/* Corners x + 2 y + 4 z; outward. */
static inline void case_box(case_mesh *mesh, const double lower[3], const double upper[3])
{
    static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                     {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                     {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int first = mesh->vertex_count;
    for (int i = 0; i < 8; i++)
        case_vertex(mesh, i & 1 ? upper[0] : lower[0], i & 2 ? upper[1] : lower[1],
                    i & 4 ? upper[2] : lower[2]);
    for (int f = 0; f < 12; f++)
        case_triangle(mesh, first + faces[f][0], first + faces[f][1], first + faces[f][2]);
}

static inline void case_invert(case_mesh *mesh, int first, int count)
{
    for (int t = first; t < first + count; t++) {
        int32_t second = mesh->triangles[3 * t + 1];
        mesh->triangles[3 * t + 1] = mesh->triangles[3 * t + 2];
        mesh->triangles[3 * t + 2] = second;
    }
}

/* Moves vertices by a smooth wave and a little noise. */
static inline void case_bend(case_mesh *mesh, double wave, double noise, pl_rng *rng)
{
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *p = &mesh->positions[3 * i];
        double d[3] = {wave * sin(3 * p[1] + 1), wave * sin(4 * p[2]), wave * sin(3 * p[0] + 2)};
        for (int k = 0; k < 3; k++)
            p[k] += d[k] + noise * (2 * pl_random_double(rng) - 1);
    }
}

static inline void case_place(case_mesh *mesh, double scale, const double offset[3])
{
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->positions[i] = mesh->positions[i] * scale + offset[i % 3];
}

/* Each triangle gets corners of its own, and the order of everything changes. */
static inline void case_unweld(case_mesh *mesh, pl_rng *rng)
{
    case_mesh loose = {0};
    for (int t = mesh->triangle_count - 1; t > 0; t--) {
        int other = (int)pl_random_below(rng, (uint32_t)t + 1);
        int32_t copy[3];
        memcpy(copy, &mesh->triangles[3 * t], sizeof copy);
        memcpy(&mesh->triangles[3 * t], &mesh->triangles[3 * other], sizeof copy);
        memcpy(&mesh->triangles[3 * other], copy, sizeof copy);
    }
    for (int i = 0; i < 3 * mesh->triangle_count; i++) {
        const double *p = &mesh->positions[3 * mesh->triangles[i]];
        int v = case_vertex(&loose, p[0], p[1], p[2]);
        if (v % 3 == 2)
            case_triangle(&loose, v - 2, v - 1, v);
    }
    case_free(mesh);
    *mesh = loose;
}

/* Takes away triangles, about one in `one_in`. */
static inline void case_cut(case_mesh *mesh, uint32_t one_in, pl_rng *rng)
{
    int kept = 0;
    for (int t = 0; t < mesh->triangle_count; t++)
        if (pl_random_below(rng, one_in) != 0)
            memmove(&mesh->triangles[3 * kept++], &mesh->triangles[3 * t], 3 * sizeof(int32_t));
    mesh->triangle_count = kept;
}

/* The volume of what is wound outward. */
static inline double case_signed_volume(const pl_surface *surface)
{
    double sum = 0;
    const double *o = surface->points;
    for (int t = 0; t < surface->triangle_count; t++) {
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = surface->points[3 * surface->triangles[3 * t + c] + k] - o[k];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
               p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

#endif

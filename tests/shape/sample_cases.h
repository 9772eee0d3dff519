/* Bodies for the tests of sampling and connecting, made in code, each with its surface and inside
   test. */
#ifndef PLIANT_TESTS_SAMPLE_CASES_H
#define PLIANT_TESTS_SAMPLE_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "shape/inside.h"
#include "support/check.h"

#define CASE_PI 3.14159265358979323846

typedef struct raw_mesh {
    int vertex_count, triangle_count, line_count;
    double *vertices;
    int32_t *triangles, *lines;
} raw_mesh;

typedef struct body_case {
    const char *name;
    pl_memory memory;
    raw_mesh raw;
    pl_surface *surface;
    pl_inside *inside;
    double lower[3], upper[3];
} body_case;

static inline int raw_vertex(raw_mesh *m, double x, double y, double z)
{
    m->vertices = realloc(m->vertices, sizeof(double) * 3 * (size_t)(m->vertex_count + 1));
    double *v = m->vertices + 3 * (size_t)m->vertex_count;
    v[0] = x, v[1] = y, v[2] = z;
    return m->vertex_count++;
}

static inline void raw_triangle(raw_mesh *m, int a, int b, int c)
{
    m->triangles = realloc(m->triangles, sizeof(int32_t) * 3 * (size_t)(m->triangle_count + 1));
    int32_t *t = m->triangles + 3 * (size_t)m->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static inline void raw_line(raw_mesh *m, int a, int b)
{
    m->lines = realloc(m->lines, sizeof(int32_t) * 2 * (size_t)(m->line_count + 1));
    int32_t *l = m->lines + 2 * (size_t)m->line_count++;
    l[0] = a, l[1] = b;
}

static inline void raw_free(raw_mesh *m)
{
    free(m->vertices);
    free(m->triangles);
    free(m->lines);
    memset(m, 0, sizeof *m);
}

/* An ellipsoid of rings and sectors. */
static inline void raw_ball(raw_mesh *m, const double c[3], const double r[3], int rings)
{
    int sectors = 2 * rings, south = raw_vertex(m, c[0], c[1], c[2] - r[2]), first = south + 1;
    for (int i = 1; i < rings; i++)
        for (int j = 0; j < sectors; j++) {
            double a = CASE_PI * i / rings, b = 2 * CASE_PI * j / sectors;
            raw_vertex(m, c[0] + r[0] * sin(a) * cos(b), c[1] + r[1] * sin(a) * sin(b),
                       c[2] - r[2] * cos(a));
        }
    int north = raw_vertex(m, c[0], c[1], c[2] + r[2]);
    for (int j = 0; j < sectors; j++) {
        int k = (j + 1) % sectors, last = first + (rings - 2) * sectors;
        raw_triangle(m, south, first + k, first + j);
        raw_triangle(m, north, last + j, last + k);
        for (int i = 0; i < rings - 2; i++) {
            int low = first + i * sectors, high = low + sectors;
            raw_triangle(m, low + j, low + k, high + k);
            raw_triangle(m, low + j, high + k, high + j);
        }
    }
}

static inline void raw_torus(raw_mesh *m, double big, double small, int around, int sides)
{
    int first = m->vertex_count;
    for (int i = 0; i < around; i++)
        for (int j = 0; j < sides; j++) {
            double a = 2 * CASE_PI * i / around, b = 2 * CASE_PI * j / sides;
            raw_vertex(m, (big + small * cos(b)) * cos(a), (big + small * cos(b)) * sin(a),
                       small * sin(b));
        }
    for (int i = 0; i < around; i++)
        for (int j = 0; j < sides; j++) {
            int p = first + i * sides, q = first + (i + 1) % around * sides, k = (j + 1) % sides;
            raw_triangle(m, p + j, q + j, q + k);
            raw_triangle(m, p + j, q + k, p + k);
        }
}

static inline void raw_box(raw_mesh *m, const double lower[3], const double upper[3])
{
    static const int face[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                    {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                    {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int first = m->vertex_count;
    for (int i = 0; i < 8; i++)
        raw_vertex(m, i & 1 ? upper[0] : lower[0], i & 2 ? upper[1] : lower[1],
                   i & 4 ? upper[2] : lower[2]);
    for (int t = 0; t < 12; t++)
        raw_triangle(m, first + face[t][0], first + face[t][1], first + face[t][2]);
}

/* The boundary of filled unit cubes, scaled. */
static inline void raw_cubes(raw_mesh *m, const int n[3], bool (*filled)(int x, int y, int z),
                             double scale)
{
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                if (!filled(x, y, z))
                    continue;
                for (int side = 0; side < 6; side++) {
                    int k = side / 2, up = side & 1, at[3] = {x, y, z}, u = (k + 1) % 3,
                        v = (k + 2) % 3, corner[4];
                    at[k] += up ? 1 : -1;
                    bool inside = at[k] >= 0 && at[k] < n[k] && filled(at[0], at[1], at[2]);
                    if (inside)
                        continue;
                    for (int i = 0; i < 4; i++) {
                        double p[3] = {x, y, z};
                        p[k] += up;
                        p[u] += i == 1 || i == 2;
                        p[v] += i >= 2;
                        corner[i] = raw_vertex(m, scale * p[0], scale * p[1], scale * p[2]);
                    }
                    int a = up ? 1 : 3, b = up ? 3 : 1;
                    raw_triangle(m, corner[0], corner[a], corner[2]);
                    raw_triangle(m, corner[0], corner[2], corner[b]);
                }
            }
}

/* A seat on two legs that are two apart and four thick. */
static inline bool in_two_legs(int x, int y, int z)
{
    return z >= 20 || ((x < 4 || (x >= 6 && x < 10)) && y < 4);
}

static inline bool in_comb(int x, int y, int z)
{
    (void)y;
    return z >= 6 || x % 2 == 0;
}

static inline bool in_three_parts(int x, int y, int z)
{
    (void)y, (void)z;
    return x % 4 < 3;
}

static inline bool in_hollow(int x, int y, int z)
{
    return x < 2 || x >= 8 || y < 2 || y >= 8 || z < 2 || z >= 8;
}

enum { BODY_CASES = 14 };

static inline const char *raw_case(int number, raw_mesh *m)
{
    const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    switch (number) {
    case 0:
        raw_ball(m, zero, one, 24);
        return "ball";
    case 1:
        raw_box(m, zero, one);
        return "cube";
    case 2:
        raw_torus(m, 1, 0.3, 48, 24);
        return "torus";
    case 3:
        raw_cubes(m, (const int[3]){10, 4, 24}, in_two_legs, 0.1);
        return "two legs";
    case 4: /* two balls and a thin bar between them, overlapping */
        raw_ball(m, (const double[3]){-1, 0, 0}, (const double[3]){0.6, 0.6, 0.6}, 16);
        raw_ball(m, (const double[3]){1, 0, 0}, (const double[3]){0.6, 0.6, 0.6}, 16);
        raw_box(m, (const double[3]){-0.8, -0.05, -0.05}, (const double[3]){0.8, 0.05, 0.05});
        return "dumbbell";
    case 5:
        raw_box(m, zero, (const double[3]){1, 1, 0.01});
        return "thin plate";
    case 6:
        raw_cubes(m, (const int[3]){11, 3, 3}, in_three_parts, 1);
        return "three parts";
    case 7:
        raw_ball(m, (const double[3]){-0.4, 0, 0}, (const double[3]){0.7, 0.7, 0.7}, 16);
        raw_ball(m, (const double[3]){0.4, 0, 0}, (const double[3]){0.7, 0.7, 0.7}, 16);
        return "overlapping balls";
    case 8:
        raw_box(m, zero, (const double[3]){10, 0.1, 0.1});
        return "long bar";
    case 9:
        raw_cubes(m, (const int[3]){9, 3, 8}, in_comb, 0.3);
        return "comb";
    case 10:
        raw_cubes(m, (const int[3]){10, 10, 10}, in_hollow, 0.1);
        return "hollow cube";
    case 11:
        raw_ball(m, zero, (const double[3]){1, 0.5, 0.05}, 24);
        return "lens";
    case 12: /* a ball with two thin ears */
        raw_ball(m, zero, one, 20);
        raw_ball(m, (const double[3]){0.4, 0, 1.5}, (const double[3]){0.2, 0.03, 0.9}, 12);
        raw_ball(m, (const double[3]){-0.4, 0, 1.5}, (const double[3]){0.2, 0.03, 0.9}, 12);
        return "ball with ears";
    default:
        raw_ball(m, zero, one, 16);
        m->triangle_count -= 60;
        return "ball with a hole";
    }
}

static inline void body_from_raw(body_case *body, const char *name, raw_mesh raw)
{
    pl_mesh mesh = {0};
    pl_error error = {0};
    memset(body, 0, sizeof *body);
    body->name = name;
    body->raw = raw;
    pl_memory_init(&body->memory, NULL, 0);
    mesh.vertex_count = raw.vertex_count;
    mesh.positions = raw.vertices;
    mesh.triangle_count = raw.triangle_count;
    mesh.triangles = raw.triangles;
    mesh.line_count = raw.line_count;
    mesh.lines = raw.lines;
    if (pl_surface_create(&body->memory, &mesh, 1e-6, &body->surface, &error) != PL_OK)
        fail_msg("%s: %s", name, error.text);
    if (raw.triangle_count &&
        pl_inside_create(&body->memory, body->surface, &body->inside, &error) != PL_OK)
        fail_msg("%s: %s", name, error.text);
    for (int k = 0; k < 3; k++) {
        body->lower[k] = INFINITY, body->upper[k] = -INFINITY;
        for (int i = 0; i < raw.vertex_count; i++) {
            body->lower[k] = fmin(body->lower[k], raw.vertices[3 * i + k]);
            body->upper[k] = fmax(body->upper[k], raw.vertices[3 * i + k]);
        }
    }
}

static inline void body_make(body_case *body, int number, double scale, const double offset[3])
{
    raw_mesh raw = {0};
    const char *name = raw_case(number, &raw);
    for (int i = 0; i < 3 * raw.vertex_count; i++)
        raw.vertices[i] = scale * raw.vertices[i] + (offset ? offset[i % 3] : 0);
    body_from_raw(body, name, raw);
}

static inline void body_free(body_case *body)
{
    pl_inside_destroy(body->inside);
    pl_surface_destroy(body->surface);
    raw_free(&body->raw);
    assert_int_equal(body->memory.used, 0);
}

/* A random point inside, or false when chance gives none. */
static inline bool body_point(const body_case *body, pl_rng *rng, double point[3])
{
    for (int tries = 0; tries < 1000; tries++) {
        for (int k = 0; k < 3; k++)
            point[k] = body->lower[k] + (body->upper[k] - body->lower[k]) * pl_random_double(rng);
        if (pl_inside_test(body->inside, point))
            return true;
    }
    return false;
}

/* Triangles of an OBJ or OFF file, as simple as such files may be; false when it is not there. */
static inline bool raw_load(raw_mesh *m, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    if (!file)
        return false;
    bool off = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".off") == 0;
    int vertices = -1, faces = 0, seen = 0;
    while (fgets(line, sizeof line, file)) {
        double x, y, z;
        int index[64], n = 0;
        if (line[0] == '#' || line[0] == '\n' || strstr(line, "OFF"))
            continue;
        if (off && vertices < 0) {
            if (sscanf(line, "%d %d", &vertices, &faces) != 2)
                break;
        } else if (off ? seen < vertices : strncmp(line, "v ", 2) == 0) {
            if (sscanf(line + (off ? 0 : 2), "%lf %lf %lf", &x, &y, &z) == 3)
                raw_vertex(m, x, y, z), seen++;
        } else if (off || strncmp(line, "f ", 2) == 0) {
            char *save = NULL, *word = strtok_r(line + (off ? 0 : 2), " \t\r\n", &save);
            int most = 64;
            if (off && word)
                most = atoi(word), word = strtok_r(NULL, " \t\r\n", &save);
            for (; word && n < 64 && n < most; word = strtok_r(NULL, " \t\r\n", &save)) {
                int i = atoi(word);
                index[n++] = off ? i : i < 0 ? m->vertex_count + i : i - 1;
            }
            for (int k = 2; k < n; k++)
                raw_triangle(m, index[0], index[k - 1], index[k]);
        }
    }
    fclose(file);
    return m->triangle_count > 0;
}

#endif

/* Torus, sheet, cuboid, and what is a tube with ends: cylinder, column and rope. Stripes and checks
   show how a body twists. */
#include "shape/builtin_simple.h"

#include <math.h>

#include "shape/builtin_mesh.h"
#include "shape/builtin_patch.h"
#include "shape/turn.h"

/* Side of a quad when so many triangles share the area. */
static double quad_side(double area, double detail)
{
    return sqrt(area / (0.5 * PL_BUILTIN_TRIANGLES * detail * detail));
}

static int at_least(double wanted, int least)
{
    int rounded = (int)(wanted + 0.5);
    return rounded > least ? rounded : least;
}

/* ---- Torus ----------------------------------------------------------------------------------- */

enum { STRIPES = 12 };

static pl_vec3 torus_place(int i, int n, int j, int m)
{
    double c, s, d, t;
    pl_turn((double)(i % n) / n, &c, &s);
    pl_turn((double)(j % m) / m, &d, &t);
    double radius = 0.355 + 0.145 * d;
    return pl_v3(radius * c, 0.145 * t, radius * s);
}

pl_status pl_simple_torus(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    double side = quad_side(39.4784176 * 0.355 * 0.145, detail);
    int n = STRIPES * at_least(6.2831853 * 0.355 / (side * STRIPES), 1);
    int m = at_least(6.2831853 * 0.145 / side, 5);
    pl_patches p;
    PL_TRY(pl_patches_init(&p, allocator, (n + 1) * (m + 1), n * m, n * m));
    pl_patches_material(&p, "coral", 0xE8715C, 0.45);
    pl_patches_material(&p, "cream", 0xF7EBD3, 0.45);
    for (int j = 0; j <= m; j++)
        for (int i = 0; i <= n; i++)
            pl_patches_vertex(&p, torus_place(i, n, j, m), (double)i / n, (double)j / m, 1,
                              j % m * n + i % n);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            int32_t a = j * (n + 1) + i, up = a + n + 1;
            pl_patches_quad(&p, a, up, up + 1, a + 1, i * STRIPES / n % 2);
        }
    return pl_patches_finish(&p, mesh);
}

/* ---- Sheet ----------------------------------------------------------------------------------- */

enum { CHECKS = 9 };

/* A chequered cloth of a square metre, lying flat. */
pl_status pl_simple_sheet(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    int n = CHECKS * at_least(1 / (quad_side(1, detail) * CHECKS), 1), side = n + 1;
    pl_patches p;
    PL_TRY(pl_patches_init(&p, allocator, side * side, n * n, side * side));
    pl_patches_material(&p, "cloth", 0x5F8FB5, 0.85);
    pl_patches_material(&p, "check", 0xF2E9DA, 0.85);
    p.materials[0].two_sided = p.materials[1].two_sided = true;
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            pl_patches_vertex(&p, pl_v3((double)i / n - 0.5, 0, (double)j / n - 0.5), (double)i / n,
                              (double)j / n, 1, j * side + i);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int32_t a = j * side + i, up = a + side;
            int check = (i * CHECKS / n + j * CHECKS / n) % 2;
            /* The diagonals alternate, so that no direction is stiffer than its mirror image. */
            if ((i + j) % 2)
                pl_patches_quad(&p, a, up, up + 1, a + 1, check);
            else
                pl_patches_quad(&p, up, up + 1, a + 1, a, check);
        }
    return pl_patches_finish(&p, mesh);
}

/* ---- Cuboid ---------------------------------------------------------------------------------- */

typedef struct cuboid {
    int count[3]; /* quads along each axis */
    double half[3];
    double round;
} cuboid;

/* A place of the lattice on the box's surface, drawn in to the rounded one. */
static pl_vec3 cuboid_place(const cuboid *c, const int at[3])
{
    double inner[3], out[3], length = 0;
    for (int i = 0; i < 3; i++) {
        double place = c->half[i] * (2.0 * at[i] / c->count[i] - 1), room = c->half[i] - c->round;
        inner[i] = fmin(fmax(place, -room), room);
        out[i] = place - inner[i];
        length += out[i] * out[i];
    }
    double scale = c->round / sqrt(length);
    return pl_v3(inner[0] + scale * out[0], inner[1] + scale * out[1], inner[2] + scale * out[2]);
}

static void cuboid_face(pl_patches *p, const cuboid *c, int axis, int end)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3, at[3];
    int32_t first = p->vertex_count, side = c->count[u] + 1;
    at[axis] = end ? c->count[axis] : 0;
    for (at[v] = 0; at[v] <= c->count[v]; at[v]++)
        for (at[u] = 0; at[u] <= c->count[u]; at[u]++) {
            int point = (at[2] * (c->count[1] + 1) + at[1]) * (c->count[0] + 1) + at[0];
            pl_patches_vertex(p, cuboid_place(c, at), (double)at[u] / c->count[u],
                              (double)at[v] / c->count[v], 1, point);
        }
    for (int j = 0; j < c->count[v]; j++)
        for (int i = 0; i < c->count[u]; i++) {
            int32_t a = first + j * side + i, up = a + side;
            if (end)
                pl_patches_quad(p, a, a + 1, up + 1, up, axis);
            else
                pl_patches_quad(p, a, up, up + 1, a + 1, axis);
        }
}

pl_status pl_simple_cuboid(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    cuboid c = {.half = {0.4, 0.25, 0.25}, .round = 0.055};
    double side = quad_side(2.1, detail);
    for (int i = 0; i < 3; i++)
        c.count[i] = at_least(2 * c.half[i] / side, 2);
    int x = c.count[0], y = c.count[1], z = c.count[2];
    int vertices = 2 * ((x + 1) * (y + 1) + (y + 1) * (z + 1) + (z + 1) * (x + 1));
    pl_patches p;
    PL_TRY(pl_patches_init(&p, allocator, vertices, 2 * (x * y + y * z + z * x),
                           (x + 1) * (y + 1) * (z + 1)));
    pl_patches_material(&p, "teal", 0x4FA39A, 0.5);
    pl_patches_material(&p, "yellow", 0xF2C14E, 0.5);
    pl_patches_material(&p, "coral", 0xE8715C, 0.5);
    for (int axis = 0; axis < 3; axis++)
        for (int end = 0; end < 2; end++)
            cuboid_face(&p, &c, axis, end);
    return pl_patches_finish(&p, mesh);
}

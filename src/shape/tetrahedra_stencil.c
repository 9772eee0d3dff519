/* The stencils of isosurface stuffing (Labelle & Shewchuk 2007, figure 3): a lattice tetrahedron of
   which some corners are inside becomes one to three tetrahedra. Where a face is cut to a
   quadrilateral, the choice of its diagonal depends on the face alone, so that neighbours agree. */
#include "shape/tetrahedra_stencil.h"

#include <math.h>
#include <string.h>

static const double *place_of(const pl_stencil *stencil, int number)
{
    return number < 4 ? stencil->corner[number] : stencil->cut[(number - 4) / 4][(number - 4) % 4];
}

static int cut_number(int inner, int outer)
{
    return 4 + 4 * inner + outer;
}

static double volume6(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
           (u[0] * v[1] - u[1] * v[0]) * w[2];
}

double pl_tet_sharpest(const double *a, const double *b, const double *c, const double *d)
{
    const double *corner[4] = {a, b, c, d};
    double normal[4][3], length[4], sharpest = -1;
    if (!(volume6(a, b, c, d) > 0))
        return 2;
    for (int f = 0; f < 4; f++) {
        /* The face without corner f, its normal outward. */
        const double *p = corner[(f + 1) & 3], *q = corner[(f + 2) & 3], *r = corner[(f + 3) & 3];
        double u[3], v[3], turn = f & 1 ? -1 : 1;
        for (int k = 0; k < 3; k++)
            u[k] = q[k] - p[k], v[k] = turn * (r[k] - p[k]);
        for (int k = 0; k < 3; k++)
            normal[f][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length[f] = sqrt(normal[f][0] * normal[f][0] + normal[f][1] * normal[f][1] +
                         normal[f][2] * normal[f][2]);
    }
    for (int f = 0; f < 4; f++)
        for (int g = f + 1; g < 4; g++) {
            double product = normal[f][0] * normal[g][0] + normal[f][1] * normal[g][1] +
                             normal[f][2] * normal[g][2];
            sharpest = fmax(sharpest, -product / (length[f] * length[g]));
        }
    return sharpest;
}

/* The pieces are far from flat, so their sign is safe. */
static void add_piece(const pl_stencil *stencil, pl_pieces *pieces, int a, int b, int c, int d)
{
    double volume = volume6(place_of(stencil, a), place_of(stencil, b), place_of(stencil, c),
                            place_of(stencil, d));
    int8_t piece[4] = {(int8_t)a, (int8_t)b, (int8_t)(volume > 0 ? c : d),
                       (int8_t)(volume > 0 ? d : c)};
    memcpy(pieces->corner[pieces->count++], piece, sizeof piece);
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static bool is_long(int a, int b)
{
    return a / 2 == b / 2;
}

static bool lower_place(const int32_t a[3], const int32_t b[3])
{
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

/* Of the face with p and q inside and r outside: whether the diagonal of p, q and the cuts next to
   r starts at p (and not at q). Where the edge p q is long, the shorter diagonal; elsewhere one of
   the cut edges is long, and the diagonal ends at its cut. */
static bool starts_at_first(const pl_stencil *stencil, int p, int q, int r)
{
    if (!is_long(p, q))
        return is_long(q, r);
    double from_p = distance2(stencil->corner[p], stencil->cut[q][r]);
    double from_q = distance2(stencil->corner[q], stencil->cut[p][r]);
    return from_p != from_q ? from_p < from_q : lower_place(stencil->place[p], stencil->place[q]);
}

/* A prism a0 a1 a2 – b0 b1 b2; before[i][j]: the diagonal of its side i j goes from a_i to b_j. The
   corners are taken in an order that agrees with all three. */
static void add_prism(const pl_stencil *stencil, pl_pieces *pieces, const int a[3], const int b[3],
                      bool before[3][3])
{
    int order[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        int earlier = 0;
        for (int j = 0; j < 3; j++)
            earlier += j != i && before[j][i];
        order[earlier] = i;
    }
    int x = order[0], y = order[1], z = order[2];
    add_piece(stencil, pieces, a[x], a[y], a[z], b[z]);
    add_piece(stencil, pieces, a[x], a[y], b[y], b[z]);
    add_piece(stencil, pieces, a[x], b[x], b[y], b[z]);
}

static void set_before(bool before[3][3], int i, int j, bool first)
{
    before[i][j] = first;
    before[j][i] = !first;
}

static double sharpest_piece(const pl_stencil *stencil, const pl_pieces *pieces)
{
    double sharpest = -1;
    for (int i = 0; i < pieces->count; i++) {
        const int8_t *corner = pieces->corner[i];
        sharpest = fmax(
            sharpest, pl_tet_sharpest(place_of(stencil, corner[0]), place_of(stencil, corner[1]),
                                      place_of(stencil, corner[2]), place_of(stencil, corner[3])));
    }
    return sharpest;
}

/* The diagonal on the surface is free, except that the three must not go round in a circle. */
static void two_and_two(const pl_stencil *stencil, pl_pieces *pieces, const int in[2],
                        const int out[2])
{
    int p = in[0], q = in[1], r = out[0], s = out[1];
    const int a[3] = {p, cut_number(p, r), cut_number(p, s)};
    const int b[3] = {q, cut_number(q, r), cut_number(q, s)};
    bool before[3][3] = {{false}};
    bool first_r = starts_at_first(stencil, p, q, r), first_s = starts_at_first(stencil, p, q, s);
    set_before(before, 0, 1, first_r);
    set_before(before, 0, 2, first_s);
    set_before(before, 1, 2, !first_r);
    add_prism(stencil, pieces, a, b, before);
    if (first_r != first_s)
        return;
    pl_pieces other = {0};
    set_before(before, 1, 2, first_r);
    add_prism(stencil, &other, a, b, before);
    if (sharpest_piece(stencil, &other) < sharpest_piece(stencil, pieces))
        *pieces = other;
}

/* Two of the three diagonals meet at the corner (or its cut) that is joined to the outer one by a
   long edge. */
static void three_and_one(const pl_stencil *stencil, pl_pieces *pieces, const int in[3], int out)
{
    bool before[3][3] = {{false}};
    int b[3];
    for (int i = 0; i < 3; i++) {
        b[i] = cut_number(in[i], out);
        for (int j = i + 1; j < 3; j++)
            set_before(before, i, j, starts_at_first(stencil, in[i], in[j], out));
    }
    add_prism(stencil, pieces, in, b, before);
}

static void two_one_one(const pl_stencil *stencil, pl_pieces *pieces, const int in[2], int on,
                        int out)
{
    int p = in[0], q = in[1], at_p = cut_number(p, out), at_q = cut_number(q, out);
    bool first = starts_at_first(stencil, p, q, out);
    add_piece(stencil, pieces, p, q, first ? at_q : at_p, on);
    add_piece(stencil, pieces, first ? p : q, at_p, at_q, on);
}

void pl_stencil_apply(const pl_stencil *stencil, pl_pieces *pieces)
{
    int in[4], on[4], out[4], ins = 0, ons = 0, outs = 0;
    for (int i = 0; i < 4; i++) {
        if (stencil->side[i] > 0)
            in[ins++] = i;
        else if (stencil->side[i] == 0)
            on[ons++] = i;
        else
            out[outs++] = i;
    }
    pieces->count = 0;
    if (ins == 0)
        return;
    if (outs == 0) {
        add_piece(stencil, pieces, 0, 1, 2, 3);
    } else if (ins == 1) {
        int corner[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++)
            corner[i] = i < ons ? on[i] : cut_number(in[0], out[i - ons]);
        add_piece(stencil, pieces, in[0], corner[0], corner[1], corner[2]);
    } else if (ins == 3) {
        three_and_one(stencil, pieces, in, out[0]);
    } else if (outs == 2) {
        two_and_two(stencil, pieces, in, out);
    } else {
        two_one_one(stencil, pieces, in, on[0], out[0]);
    }
}

/* Built-in tubes with ends: cylinder, column and rope. */
#include "shape/builtin_simple.h"

#include <math.h>

#include "shape/builtin_mesh.h"
#include "shape/builtin_patch.h"
#include "shape/turn.h"

enum { MAX_ROWS = 4096, FLUTES = 12, BANDS = 8, STRANDS = 3 };

/* A section at height y. `flute` is how deep the flutes are there, `square` how square it is: 0 to
   1. */
typedef struct row {
    double radius, y, flute, square;
} row;

typedef struct rows {
    int count;
    double edge; /* wanted distance of rows */
    row at[MAX_ROWS];
} rows;

static int pieces(double length, double edge, int least)
{
    int count = (int)(length / edge + 0.5);
    return count > least ? count : least;
}

static void put_row(rows *all, row next)
{
    if (all->count < MAX_ROWS)
        all->at[all->count++] = next;
}

/* Straight from the last row. */
static void line_to(rows *all, row next)
{
    row last = all->at[all->count - 1];
    double dr = next.radius - last.radius, dy = next.y - last.y;
    int count = pieces(sqrt(dr * dr + dy * dy), all->edge, 1);
    for (int i = 1; i <= count; i++) {
        double t = (double)i / count;
        put_row(all, (row){last.radius + t * dr, last.y + t * dy,
                           last.flute + t * (next.flute - last.flute),
                           last.square + t * (next.square - last.square)});
    }
}

/* A quarter of an ellipse to the next row, leaving the last horizontally (`flat_first`) or
   vertically. */
static void round_to(rows *all, row next, bool flat_first)
{
    row last = all->at[all->count - 1];
    double dr = next.radius - last.radius, dy = next.y - last.y;
    int count = pieces(1.57 * sqrt(0.5 * (dr * dr + dy * dy)), all->edge, 2);
    for (int i = 1; i <= count; i++) {
        double c, s;
        pl_turn(0.25 * i / count, &c, &s);
        double r = flat_first ? s : 1 - c, y = flat_first ? 1 - c : s, t = (double)i / count;
        put_row(all, (row){last.radius + r * dr, last.y + y * dy, next.flute,
                           last.square + t * (next.square - last.square)});
    }
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* Squares with soft corners: the superellipse of exponent 8. Flutes are scallops with ridges
   between. */
static pl_vec3 row_place(const void *user, int index, double turn)
{
    const row *r = &((const rows *)user)->at[index];
    double c, s, d, e;
    pl_turn(turn, &c, &s);
    pl_turn(0.5 * FLUTES * turn, &d, &e);
    double c2 = c * c, s2 = s * s, c8 = c2 * c2 * c2 * c2, s8 = s2 * s2 * s2 * s2;
    double corner = 1 / sqrt(sqrt(sqrt(c8 + s8)));
    double radius = r->radius * (1 + r->square * (corner - 1)) - r->flute * sqrt(fabs(e)) * fabs(e);
    return pl_v3(radius * c, r->y, -radius * s);
}

static pl_vec3 row_centre(const void *user, int index)
{
    return pl_v3(0, ((const rows *)user)->at[index].y, 0);
}

static double row_shade(const void *user, int index, double turn)
{
    const row *r = &((const rows *)user)->at[index];
    double d, e;
    pl_turn(0.5 * FLUTES * turn, &d, &e);
    return 1 - fmin(24 * r->flute, 0.4) * fabs(e);
}

static int plain(const void *user, int index, double turn)
{
    (void)user;
    (void)index;
    (void)turn;
    return 0;
}

static int banded(const void *user, int index, double turn)
{
    (void)index;
    (void)user;
    return (int)(turn * BANDS) % 2;
}

static pl_status make_tube(const pl_tube *tube, pl_patches *p, const pl_allocator *allocator)
{
    int side = 2 * tube->half + 1;
    return pl_patches_init(p, allocator, pl_tube_vertices(tube), pl_tube_quads(tube),
                           8 * tube->half * tube->rows + 2 * side * side);
}

static int half_for(double around, double edge, int multiple)
{
    int half = multiple * (int)(around / (8 * edge * multiple) + 0.5);
    return half > multiple ? half : multiple;
}

/* ---- Cylinder -------------------------------------------------------------------------------- */

static rows *new_rows(pl_memory *memory, double edge, row first)
{
    rows *all = PL_NEW(memory, rows, 1);
    if (all) {
        all->edge = edge;
        put_row(all, first);
    }
    return all;
}

pl_status pl_simple_cylinder(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    const double radius = 0.25, height = 1, round = 0.035;
    double edge = sqrt(1.96 / (0.5 * PL_BUILTIN_TRIANGLES * detail * detail));
    pl_memory memory;
    pl_memory_init(&memory, allocator, 0);
    rows *all = new_rows(&memory, edge, (row){.radius = radius - round, .y = 0});
    if (!all)
        return PL_ERROR_MEMORY;
    round_to(all, (row){.radius = radius, .y = round}, true);
    line_to(all, (row){.radius = radius, .y = height - round});
    round_to(all, (row){.radius = radius - round, .y = height}, false);
    pl_tube tube = {half_for(6.2831853 * radius, edge, 1),
                    all->count,
                    all,
                    row_place,
                    row_centre,
                    row_shade,
                    banded};
    pl_patches p;
    pl_status status = make_tube(&tube, &p, allocator);
    if (status == PL_OK) {
        pl_patches_material(&p, "teal", 0x4FA39A, 0.5);
        pl_patches_material(&p, "cream", 0xF7EBD3, 0.5);
        pl_patches_tube(&p, &tube);
        status = pl_patches_finish(&p, mesh);
    }
    pl_memory_free(&memory, all);
    return status;
}

/* ---- Column ---------------------------------------------------------------------------------- */

/* From below: a square plinth, two round mouldings with a hollow between, the fluted shaft that
   narrows upward, a ring, the spreading capital, a square slab. */
static void column_profile(rows *all)
{
    round_to(all, (row){0.185, 0.012, 0, 1}, true);
    line_to(all, (row){0.185, 0.058, 0, 1});
    round_to(all, (row){0.178, 0.066, 0, 1}, false);
    line_to(all, (row){0.168, 0.068, 0, 0});
    round_to(all, (row){0.184, 0.086, 0, 0}, true);
    round_to(all, (row){0.160, 0.104, 0, 0}, false);
    line_to(all, (row){0.146, 0.116, 0, 0});
    round_to(all, (row){0.158, 0.130, 0, 0}, true);
    round_to(all, (row){0.140, 0.145, 0, 0}, false);
    line_to(all, (row){0.132, 0.168, 0, 0});
    line_to(all, (row){0.131, 0.195, 0.017, 0});
    line_to(all, (row){0.126, 0.50, 0.017, 0});
    line_to(all, (row){0.113, 0.825, 0.015, 0});
    line_to(all, (row){0.112, 0.850, 0, 0});
    round_to(all, (row){0.126, 0.862, 0, 0}, true);
    round_to(all, (row){0.115, 0.876, 0, 0}, false);
    line_to(all, (row){0.116, 0.886, 0, 0});
    round_to(all, (row){0.158, 0.924, 0, 0}, false);
    line_to(all, (row){0.163, 0.932, 0, 1});
    round_to(all, (row){0.174, 0.942, 0, 1}, true);
    line_to(all, (row){0.174, 0.988, 0, 1});
    round_to(all, (row){0.162, 1.000, 0, 1}, false);
}

pl_status pl_simple_column(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    double edge = 0.0265 / detail;
    pl_memory memory;
    pl_memory_init(&memory, allocator, 0);
    rows *all = new_rows(&memory, edge, (row){0.173, 0, 0, 1});
    if (!all)
        return PL_ERROR_MEMORY;
    column_profile(all);
    pl_tube tube = {
        half_for(0.82, 0.62 * edge, 3), all->count, all, row_place, row_centre, row_shade, plain};
    pl_patches p;
    pl_status status = make_tube(&tube, &p, allocator);
    if (status == PL_OK) {
        pl_patches_material(&p, "marble", 0xEFE8DC, 0.55);
        pl_patches_tube(&p, &tube);
        status = pl_patches_finish(&p, mesh);
    }
    pl_memory_free(&memory, all);
    return status;
}

/* ---- Rope ------------------------------------------------------------------------------------ */

/* Three strands, their round sections touching in the middle, wound around each other; the ends are
   rounded. */
typedef struct rope {
    int rows;
    double length, radius, turns;
} rope;

/* 0 to 1 along the rope, a little denser at the ends; and how wide it is there. */
static double rope_along(const rope *r, int index, double *width)
{
    double t = (double)index / (r->rows - 1), x = t * r->length;
    double end = fmin(x, r->length - x) / r->radius;
    *width = end < 1 ? 0.35 + 0.65 * sqrt(end * (2 - end)) : 1;
    return t;
}

static pl_vec3 rope_centre(const void *user, int index)
{
    const rope *r = user;
    double width;
    return pl_v3(r->length * (rope_along(r, index, &width) - 0.5), 0, 0);
}

/* The part of a turn from the middle of the nearest strand, −1/6 to 1/6. */
static double strand_turn(const rope *r, double along, double turn, int *strand)
{
    double t = STRANDS * (turn - r->turns * along);
    double nearest = floor(t + 0.5);
    *strand = (int)(nearest - STRANDS * floor(nearest / STRANDS));
    return (t - nearest) / STRANDS;
}

static pl_vec3 rope_place(const void *user, int index, double turn)
{
    const rope *r = user;
    double width, c, s, d, e;
    int strand;
    double along = rope_along(r, index, &width);
    pl_turn(strand_turn(r, along, turn, &strand), &c, &s);
    pl_turn(turn, &d, &e);
    /* The ray leaves the strand's circle, of half the radius, around a centre half a radius
       away. */
    double reach = width * r->radius * 0.5 * (c + sqrt(fmax(1 - s * s, 0)));
    return pl_v3(r->length * (along - 0.5), reach * d, reach * e);
}

static double rope_shade(const void *user, int index, double turn)
{
    double width;
    int strand;
    double off = 6 * fabs(strand_turn(user, rope_along(user, index, &width), turn, &strand));
    return 1 - 0.6 * off * off * off;
}

static int rope_material(const void *user, int index, double turn)
{
    double width;
    int strand;
    strand_turn(user, rope_along(user, index, &width), turn, &strand);
    return strand == 0;
}

pl_status pl_simple_rope(double detail, const pl_allocator *allocator, pl_mesh *mesh)
{
    rope r = {.length = 1, .radius = 0.028, .turns = 7};
    int half = half_for(6.2831853 * r.radius, 0.0073 / detail, 1);
    double quads = 0.5 * PL_BUILTIN_TRIANGLES * detail * detail;
    r.rows = pieces(quads / (8 * half) - half, 1, 8) + 1;
    pl_tube tube = {half, r.rows, &r, rope_place, rope_centre, rope_shade, rope_material};
    pl_patches p;
    PL_TRY(make_tube(&tube, &p, allocator));
    pl_patches_material(&p, "hemp", 0xD9B77E, 0.9);
    pl_patches_material(&p, "red strand", 0xC8594A, 0.9);
    pl_patches_tube(&p, &tube);
    return pl_patches_finish(&p, mesh);
}

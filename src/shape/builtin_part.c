/* The parts of figures: their signed distances (exact for limbs, blocks, rings and discs; for
   ellipsoids the first-order estimate |p/r| (|p/r| − 1) / |p/r²|) and the balls around them. */
#include "shape/builtin_figure.h"

#include "math/elementary.h"

#define DEGREE 0.017453292519943295

static pl_part make(pl_part_kind kind, double x, double y, double z, double reach)
{
    pl_part part = {.kind = kind, .centre = {x, y, z}, .middle = {x, y, z}, .reach = reach};
    part.turn = pl_m3_identity();
    return part;
}

pl_part pl_part_ball(double x, double y, double z, double radius)
{
    pl_part part = make(PL_PART_LIMB, x, y, z, radius);
    part.end = part.centre;
    part.round = part.round_end = radius;
    return part;
}

pl_part pl_part_limb(pl_vec3 from, double radius_from, pl_vec3 to, double radius_to)
{
    pl_part part = pl_part_ball(from.x, from.y, from.z, radius_from);
    part.end = to;
    part.round_end = radius_to;
    part.middle = pl_v3_scale(pl_v3_add(from, to), 0.5);
    part.reach = 0.5 * pl_v3_distance(from, to) + fmax(radius_from, radius_to);
    return part;
}

pl_part pl_part_egg(double x, double y, double z, double rx, double ry, double rz)
{
    pl_part part = make(PL_PART_EGG, x, y, z, fmax(rx, fmax(ry, rz)));
    part.size = pl_v3(rx, ry, rz);
    return part;
}

pl_part pl_part_block(double x, double y, double z, double hx, double hy, double hz, double round)
{
    pl_part part = make(PL_PART_BLOCK, x, y, z, pl_v3_length(pl_v3(hx, hy, hz)));
    part.size = pl_v3(hx - round, hy - round, hz - round);
    part.round = round;
    return part;
}

pl_part pl_part_ring(double x, double y, double z, double major, double minor)
{
    pl_part part = make(PL_PART_RING, x, y, z, major + minor);
    part.size = pl_v3(major, 0, 0);
    part.round = minor;
    return part;
}

pl_part pl_part_disc(double x, double y, double z, double radius, double half_height, double round)
{
    pl_part part = make(PL_PART_DISC, x, y, z, sqrt(radius * radius + half_height * half_height));
    part.size = pl_v3(radius - round, half_height - round, 0);
    part.round = round;
    return part;
}

pl_part pl_part_armour(double x, double y, double z, double rx, double ry, double rz, double bands,
                       double depth)
{
    pl_part part = pl_part_egg(x, y, z, rx, ry, rz);
    part.kind = PL_PART_ARMOUR;
    part.bands = bands;
    part.depth = depth;
    part.reach += depth;
    return part;
}

pl_part pl_part_slab(double x, double y, double z, double half)
{
    pl_part part = make(PL_PART_SLAB, x, y, z, 1e3);
    part.size = pl_v3(0, 0, half);
    return part;
}

pl_part pl_part_turned(pl_part part, double about_x, double about_y, double about_z)
{
    double cx = pl_cos(about_x * DEGREE), sx = pl_sin(about_x * DEGREE);
    double cy = pl_cos(about_y * DEGREE), sy = pl_sin(about_y * DEGREE);
    double cz = pl_cos(about_z * DEGREE), sz = pl_sin(about_z * DEGREE);
    pl_mat3 x = {{{1, 0, 0}, {0, cx, -sx}, {0, sx, cx}}};
    pl_mat3 y = {{{cy, 0, sy}, {0, 1, 0}, {-sy, 0, cy}}};
    pl_mat3 z = {{{cz, -sz, 0}, {sz, cz, 0}, {0, 0, 1}}};
    part.turn = pl_m3_mul(pl_m3_mul(z, pl_m3_mul(y, x)), part.turn);
    return part;
}

pl_part pl_part_pair(pl_part part)
{
    part.mirrored = true;
    return part;
}

/* ---- Distances ------------------------------------------------------------------------------- */

/* A sphere swept along a segment with linearly changing radius. In the plane through the axis, with
   the tangent cone's slope `a`, the nearest feature is either ball or the cone between them. */
static double limb_distance(const pl_part *part, pl_vec3 at)
{
    pl_vec3 axis = pl_v3_sub(part->end, part->centre), from = pl_v3_sub(at, part->centre);
    double length2 = pl_v3_length2(axis), slope = part->round - part->round_end;
    double a2 = length2 - slope * slope;
    if (a2 <= 1e-12) {
        double first = pl_v3_length(from) - part->round;
        return fmin(first, pl_v3_distance(at, part->end) - part->round_end);
    }
    double along = pl_v3_dot(from, axis), beyond = along - length2;
    pl_vec3 across = pl_v3_sub(pl_v3_scale(from, length2), pl_v3_scale(axis, along));
    double x2 = pl_v3_length2(across), y2 = along * along * length2;
    double z2 = beyond * beyond * length2;
    double k = (slope < 0 ? -1 : slope > 0 ? 1 : 0) * slope * slope * x2;
    if ((beyond < 0 ? -1 : 1) * a2 * z2 > k)
        return sqrt(x2 + z2) / length2 - part->round_end;
    if ((along < 0 ? -1 : 1) * a2 * y2 < k)
        return sqrt(x2 + y2) / length2 - part->round;
    return (sqrt(x2 * a2 / length2) + along * slope) / length2 - part->round;
}

static double egg_distance(pl_vec3 radii, pl_vec3 p)
{
    pl_vec3 a = pl_v3(p.x / radii.x, p.y / radii.y, p.z / radii.z);
    double k0 = pl_v3_length(a);
    double k1 = pl_v3_length(pl_v3(a.x / radii.x, a.y / radii.y, a.z / radii.z));
    return k1 > 1e-9 ? k0 * (k0 - 1) / k1 : -fmin(radii.x, fmin(radii.y, radii.z));
}

static double block_distance(const pl_part *part, pl_vec3 p)
{
    double x = fabs(p.x) - part->size.x, y = fabs(p.y) - part->size.y, z = fabs(p.z) - part->size.z;
    pl_vec3 out = pl_v3(fmax(x, 0), fmax(y, 0), fmax(z, 0));
    return pl_v3_length(out) + fmin(fmax(x, fmax(y, z)), 0) - part->round;
}

static double disc_distance(const pl_part *part, pl_vec3 p)
{
    double r = sqrt(p.x * p.x + p.z * p.z) - part->size.x, y = fabs(p.y) - part->size.y;
    double ro = fmax(r, 0), yo = fmax(y, 0);
    return fmin(fmax(r, y), 0) + sqrt(ro * ro + yo * yo) - part->round;
}

/* Plates that rise slowly towards one end and fall steeply to the next: a smooth saw tooth. */
static double armour_distance(const pl_part *part, pl_vec3 p)
{
    double t = 0.5 * part->bands * (p.y / part->size.y + 1);
    double f = t - floor(t), steep = 0.16;
    double rise = f < 1 - steep ? f / (1 - steep) : (1 - f) / steep;
    return egg_distance(part->size, p) - part->depth * rise * rise * (3 - 2 * rise);
}

static double local_distance(const pl_part *part, pl_vec3 at)
{
    if (part->kind == PL_PART_LIMB)
        return limb_distance(part, at);
    pl_vec3 d = pl_v3_sub(at, part->centre);
    pl_vec3 p =
        pl_v3(pl_v3_dot(pl_m3_column(part->turn, 0), d), pl_v3_dot(pl_m3_column(part->turn, 1), d),
              pl_v3_dot(pl_m3_column(part->turn, 2), d));
    switch (part->kind) {
    case PL_PART_EGG:
        return egg_distance(part->size, p);
    case PL_PART_BLOCK:
        return block_distance(part, p);
    case PL_PART_RING: {
        double r = sqrt(p.x * p.x + p.z * p.z) - part->size.x;
        return sqrt(r * r + p.y * p.y) - part->round;
    }
    case PL_PART_DISC:
        return disc_distance(part, p);
    case PL_PART_ARMOUR:
        return armour_distance(part, p);
    default:
        return fabs(p.z) - part->size.z;
    }
}

double pl_part_distance(const pl_part *part, pl_vec3 at)
{
    if (part->mirrored && at.x * part->middle.x < 0)
        at.x = -at.x;
    return local_distance(part, at);
}

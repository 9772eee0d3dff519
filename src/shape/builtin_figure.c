/* Figures put together and asked. Parts are joined by the polynomial smooth minimum min(a, b) − h²
   k / 4, h = max(k − |a − b|, 0) / k, which leaves everything further than k from both untouched:
   so a part whose bounding ball is far enough is not looked at. */
#include "shape/builtin_figure.h"

#include "base/error.h"
#include "math/elementary.h"

/* Edges are shorter where the surface bends more than this (per metre), down to a part of their
   length. */
#define BEND_FINENESS 26.0
#define FINEST 0.42

/* Metres: edges this long are allowed everywhere in a coarse mesh; what is smaller is lost. */
#define COARSEST_DETAIL 0.04

enum { MAX_GROOVE = 16 };

/* ---- Building -------------------------------------------------------------------------------- */

void pl_figure_init(pl_figure *figure)
{
    figure->lower = pl_v3(1e9, 1e9, 1e9);
    figure->upper = pl_v3(-1e9, -1e9, -1e9);
}

static float linear_from_srgb(uint32_t byte)
{
    double s = byte / 255.0;
    return (float)(s <= 0.04045 ? s / 12.92 : pl_pow((s + 0.055) / 1.055, 2.4));
}

pl_look_material pl_plain_material(const char *name, uint32_t colour, double roughness)
{
    pl_look_material material = {.name = name, .roughness = (float)roughness, .cutoff = 0.5f};
    for (int i = 0; i < 3; i++)
        material.colour[i] = linear_from_srgb(colour >> (16 - 8 * i) & 255);
    material.colour[3] = 1;
    for (int i = 0; i < PL_TEXTURE_KINDS; i++)
        material.textures[i] = -1;
    return material;
}

int pl_figure_material(pl_figure *figure, const char *name, uint32_t colour, double roughness)
{
    PL_ASSERT(figure->material_count < PL_FIGURE_MATERIALS);
    if (figure->material_count == PL_FIGURE_MATERIALS)
        return 0;
    figure->materials[figure->material_count] = pl_plain_material(name, colour, roughness);
    return figure->material = figure->material_count++;
}

void pl_figure_use(pl_figure *figure, int material)
{
    figure->material = material;
}

static void put(pl_figure *figure, pl_part part)
{
    PL_ASSERT(figure->part_count < PL_FIGURE_PARTS);
    if (figure->part_count == PL_FIGURE_PARTS)
        return;
    part.material = figure->material;
    figure->parts[figure->part_count++] = part;
}

void pl_figure_add(pl_figure *figure, pl_part part, double blend)
{
    part.blend = blend;
    put(figure, part);
    double reach = part.reach + blend;
    pl_vec3 out = pl_v3(reach, reach, reach);
    figure->lower = pl_v3_min(figure->lower, pl_v3_sub(part.middle, out));
    figure->upper = pl_v3_max(figure->upper, pl_v3_add(part.middle, out));
    if (part.mirrored) {
        figure->lower.x = fmin(figure->lower.x, -part.middle.x - reach);
        figure->upper.x = fmax(figure->upper.x, -part.middle.x + reach);
    }
}

void pl_figure_cut(pl_figure *figure, pl_part part, double blend)
{
    part.blend = blend;
    part.cut = true;
    put(figure, part);
}

static pl_vec3 curve_at(const pl_vec3 curve[3], double t)
{
    pl_vec3 at = pl_v3_scale(curve[0], (1 - t) * (1 - t));
    return pl_v3_add_scaled(pl_v3_add_scaled(at, 2 * t * (1 - t), curve[1]), t * t, curve[2]);
}

static pl_part piece_of(const pl_vec3 curve[3], const double radii[3], double from, double to)
{
    pl_vec3 r = pl_v3(radii[0], radii[1], radii[2]);
    pl_vec3 weights[3] = {{r.x, 0, 0}, {r.y, 0, 0}, {r.z, 0, 0}};
    return pl_part_limb(curve_at(curve, from), curve_at(weights, from).x, curve_at(curve, to),
                        curve_at(weights, to).x);
}

void pl_figure_tube(pl_figure *figure, const pl_vec3 curve[3], const double radii[3], int pieces,
                    bool pair, double blend)
{
    for (int i = 0; i < pieces; i++) {
        pl_part part = piece_of(curve, radii, (double)i / pieces, (double)(i + 1) / pieces);
        part.mirrored = pair;
        pl_figure_add(figure, part, i == 0 ? blend : fmin(blend, 0.25 * part.round_end));
    }
}

void pl_figure_groove(pl_figure *figure, const pl_vec3 curve[3], double radius, int pieces,
                      bool pair)
{
    pl_vec3 points[MAX_GROOVE + 1];
    pieces = pieces < MAX_GROOVE ? pieces : MAX_GROOVE;
    /* All of them before the first cut, which would draw the next ones in. */
    for (int i = 0; i <= pieces; i++)
        points[i] = pl_figure_project(figure, curve_at(curve, (double)i / pieces), 0.1);
    for (int i = 0; i < pieces; i++) {
        pl_part part = pl_part_limb(points[i], radius, points[i + 1], radius);
        part.mirrored = pair;
        pl_figure_cut(figure, part, 0.3 * radius);
    }
}

void pl_figure_paint(pl_figure *figure, int material, pl_part part)
{
    PL_ASSERT(figure->paint_count < PL_FIGURE_PAINTS);
    if (figure->paint_count == PL_FIGURE_PAINTS)
        return;
    part.material = material;
    figure->paints[figure->paint_count++] = part;
}

void pl_figure_tint(pl_figure *figure, pl_part part, double red, double green, double blue,
                    double soft)
{
    PL_ASSERT(figure->tint_count < PL_FIGURE_FOCI);
    if (figure->tint_count == PL_FIGURE_FOCI)
        return;
    part.tint[0] = red;
    part.tint[1] = green;
    part.tint[2] = blue;
    part.soft = soft;
    figure->tints[figure->tint_count++] = part;
}

void pl_figure_focus(pl_figure *figure, pl_part ball, double factor)
{
    PL_ASSERT(figure->focus_count < PL_FIGURE_FOCI);
    if (figure->focus_count == PL_FIGURE_FOCI)
        return;
    ball.soft = factor;
    figure->foci[figure->focus_count++] = ball;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Whether a ball around the part, wider by `margin`, holds the place. */
static bool within(const pl_part *part, pl_vec3 at, double margin)
{
    if (part->mirrored && at.x * part->middle.x < 0)
        at.x = -at.x;
    double reach = part->reach + margin;
    return reach > 0 && pl_v3_length2(pl_v3_sub(at, part->middle)) < reach * reach;
}

/* What the part makes of the distance d to those before it. */
static double joined(const pl_part *part, pl_vec3 at, double d, int *material)
{
    double k = part->blend, rest = part->cut ? -d : d, e = pl_part_distance(part, at);
    if (e < rest)
        *material = part->material;
    double h = k > 0 ? fmax(k - fabs(e - rest), 0) / k : 0;
    double result = fmin(e, rest) - h * h * k * 0.25;
    return part->cut ? -result : result;
}

static bool matters(const pl_part *part, pl_vec3 at, double d, double margin)
{
    return within(part, at, (part->cut ? -d : d) + part->blend + margin);
}

/* The cell of the figure's coarse grid; -1 outside. */
static int cell_of(const pl_figure *figure, pl_vec3 at)
{
    pl_vec3 size = pl_v3_sub(figure->upper, figure->lower), p = pl_v3_sub(at, figure->lower);
    int x = (int)floor(p.x / size.x * PL_FIGURE_SIDE),
        y = (int)floor(p.y / size.y * PL_FIGURE_SIDE);
    int z = (int)floor(p.z / size.z * PL_FIGURE_SIDE);
    if (x < 0 || y < 0 || z < 0 || x >= PL_FIGURE_SIDE || y >= PL_FIGURE_SIDE ||
        z >= PL_FIGURE_SIDE)
        return -1;
    return (z * PL_FIGURE_SIDE + y) * PL_FIGURE_SIDE + x;
}

/* A part is left out of a cell when it changes nothing anywhere in it. */
static void finish_cell(pl_figure *figure, int cell)
{
    pl_vec3 size = pl_v3_scale(pl_v3_sub(figure->upper, figure->lower), 1.0 / PL_FIGURE_SIDE);
    int x = cell % PL_FIGURE_SIDE, y = cell / PL_FIGURE_SIDE % PL_FIGURE_SIDE;
    int z = cell / (PL_FIGURE_SIDE * PL_FIGURE_SIDE);
    pl_vec3 middle =
        pl_v3_add(figure->lower, pl_v3((x + 0.5) * size.x, (y + 0.5) * size.y, (z + 0.5) * size.z));
    double margin = (1 + PL_FIGURE_LIPSCHITZ) * 0.5 * pl_v3_length(size), d = 1e9;
    int material = 0;
    for (int i = 0; i < figure->part_count; i++) {
        const pl_part *part = &figure->parts[i];
        if (!matters(part, middle, d, margin))
            continue;
        figure->near[cell][i / 64] |= (uint64_t)1 << (i % 64);
        d = joined(part, middle, d, &material);
    }
}

void pl_figure_finish(pl_figure *figure)
{
    for (int cell = 0; cell < PL_FIGURE_CELLS; cell++)
        finish_cell(figure, cell);
    figure->ready = true;
}

/* Distance and material in one go: the material is that of the part whose surface it is. */
static double look(const pl_figure *figure, pl_vec3 at, int *material)
{
    int cell = figure->ready ? cell_of(figure, at) : -1;
    double d = 1e9;
    for (int i = 0; i < figure->part_count; i++) {
        const pl_part *part = &figure->parts[i];
        if (cell >= 0) {
            uint64_t later = figure->near[cell][i / 64] >> (i % 64);
            if (later == 0) {
                i |= 63;
                continue;
            }
            if (!(later & 1))
                continue;
        }
        if (matters(part, at, d, 0))
            d = joined(part, at, d, material);
    }
    return d;
}

double pl_figure_distance(const pl_figure *figure, pl_vec3 at)
{
    int material = 0;
    return look(figure, at, &material);
}

/* Differences along the four diagonals of a tetrahedron. */
pl_vec3 pl_figure_gradient(const pl_figure *figure, pl_vec3 at)
{
    static const double corner[4][3] = {{1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, 1}};
    const double step = 2e-4;
    pl_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        pl_vec3 way = pl_v3(corner[i][0], corner[i][1], corner[i][2]);
        double d = pl_figure_distance(figure, pl_v3_add_scaled(at, step, way));
        sum = pl_v3_add_scaled(sum, d, way);
    }
    return pl_v3_scale(sum, 0.25 / step);
}

pl_vec3 pl_figure_project(const pl_figure *figure, pl_vec3 at, double limit)
{
    pl_vec3 start = at;
    for (int i = 0; i < 6; i++) {
        double d = pl_figure_distance(figure, at);
        if (fabs(d) < 1e-6)
            break;
        pl_vec3 g = pl_figure_gradient(figure, at);
        double step = d / fmax(pl_v3_length2(g), 0.25);
        at = pl_v3_add_scaled(at, -step, g);
    }
    pl_vec3 moved = pl_v3_sub(at, start);
    double length = pl_v3_length(moved);
    return length > limit ? pl_v3_add_scaled(start, limit / length, moved) : at;
}

int pl_figure_material_at(const pl_figure *figure, pl_vec3 at)
{
    for (int i = figure->paint_count - 1; i >= 0; i--) {
        const pl_part *paint = &figure->paints[i];
        if (within(paint, at, 0) && pl_part_distance(paint, at) < 0)
            return paint->material;
    }
    int material = 0;
    look(figure, at, &material);
    return material;
}

/* How open the surface is to its surroundings, judged by how fast the distance grows along the
   normal. */
static double openness(const pl_figure *figure, pl_vec3 at, pl_vec3 normal)
{
    double closed = 0, weight = 1;
    for (int i = 1; i <= 4; i++) {
        double h = 0.02 * i;
        double d = pl_figure_distance(figure, pl_v3_add_scaled(at, h, normal));
        closed += weight * fmax(h - d, 0);
        weight *= 0.7;
    }
    return fmax(1 - 7 * closed, 0.3);
}

pl_vec3 pl_figure_tint_at(const pl_figure *figure, pl_vec3 at, pl_vec3 normal)
{
    double open = openness(figure, at, normal);
    pl_vec3 tint = pl_v3(open, open, open);
    for (int i = 0; i < figure->tint_count; i++) {
        const pl_part *part = &figure->tints[i];
        double d = pl_part_distance(part, at);
        double t = fmin(fmax(0.5 - d / (2 * part->soft), 0), 1);
        t = t * t * (3 - 2 * t);
        tint.x *= 1 + t * (part->tint[0] - 1);
        tint.y *= 1 + t * (part->tint[1] - 1);
        tint.z *= 1 + t * (part->tint[2] - 1);
    }
    return pl_v3_min(tint, pl_v3(1, 1, 1));
}

/* Sum of the magnitudes of the second derivatives along the axes: of the order of the larger
   curvature, and large at creases. */
double pl_figure_bend(const pl_figure *figure, pl_vec3 at)
{
    const double step = 0.006;
    double twice = 2 * pl_figure_distance(figure, at), sum = 0;
    for (int i = 0; i < 3; i++) {
        pl_vec3 way = pl_v3(i == 0 ? step : 0, i == 1 ? step : 0, i == 2 ? step : 0);
        sum += fabs(pl_figure_distance(figure, pl_v3_add(at, way)) +
                    pl_figure_distance(figure, pl_v3_sub(at, way)) - twice);
    }
    return sum / (step * step);
}

double pl_figure_edge(const pl_figure *figure, pl_vec3 at, double bend, double edge)
{
    double factor = fmin(fmax(BEND_FINENESS / (bend + 1e-9), FINEST), 1);
    for (int i = 0; i < figure->focus_count; i++) {
        const pl_part *focus = &figure->foci[i];
        double t = fmax(pl_part_distance(focus, at), 0) / 0.06;
        if (t < 1)
            factor = fmin(factor, focus->soft + (1 - focus->soft) * t);
    }
    /* Edges much longer than the radius would pull thin limbs together, however coarse the mesh is
       meant to be. */
    return fmin(factor * edge, fmax(1.5 / (bend + 1e-9), fmin(0.3 * edge, COARSEST_DETAIL)));
}

/* The volume a surface encloses: by the divergence theorem where every component is closed,
   encloses a positive volume and has its bounds to itself; else from a bundle of parallel lines, of
   which the parts inside are added up. */
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"
#include "shape/inside_parts.h"

enum {
    COLUMNS = 16384,        /* lines in the bundle, about */
    FEW_COLUMNS = 512,      /* a first bundle, to see how often they meet the surface */
    PROBE_COLUMNS = 2,      /* and before that, to see whether even those are too many */
    PROBE_POINTS = 64,      /* at which the price of an inside test is looked up */
    MOST_HITS = 200000,     /* fewer lines where they meet it too often */
    MOST_EFFORT = 20000000, /* or where the tests there cost too much: soups of long triangles */
    MOST_CHECKS = 10000000  /* of pairs of components whose bounds might overlap */
};

typedef struct inside_component {
    double lower[3], upper[3], volume; /* in the frame; six times the volume */
} inside_component;

static void local_corner(const pl_inside *inside, int triangle, int corner, double p[3])
{
    const pl_surface *surface = inside->surface;
    size_t point = (size_t)surface->triangles[3 * (size_t)triangle + (size_t)corner];
    for (int k = 0; k < 3; k++)
        p[k] = (surface->points[3 * point + (size_t)k] - inside->centre[k]) * inside->per_unit;
}

static void measure_components(const pl_inside *inside, inside_component *components)
{
    const pl_surface *surface = inside->surface;
    for (int c = 0; c < surface->component_count; c++)
        for (int k = 0; k < 3; k++)
            components[c].lower[k] = INFINITY, components[c].upper[k] = -INFINITY;
    for (int t = 0; t < surface->triangle_count; t++) {
        inside_component *component = &components[surface->triangle_component[t]];
        double p[3][3];
        for (int c = 0; c < 3; c++) {
            local_corner(inside, t, c, p[c]);
            for (int k = 0; k < 3; k++) {
                component->lower[k] = fmin(component->lower[k], p[c][k]);
                component->upper[k] = fmax(component->upper[k], p[c][k]);
            }
        }
        component->volume += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                             p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                             p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
}

static bool overlap(const inside_component *a, const inside_component *b)
{
    for (int k = 0; k < 3; k++)
        if (a->lower[k] > b->upper[k] || b->lower[k] > a->upper[k])
            return false;
    return true;
}

/* Sorted along x, each against those that begin before it ends. True also when there are too many
   to tell. */
static bool any_overlap(const inside_component *components, int count, pl_sort_item *items)
{
    long checks = 0;
    for (int c = 0; c < count; c++)
        items[c] = (pl_sort_item){pl_sort_float_key((float)components[c].lower[0]), (uint32_t)c};
    pl_sort(items, items + count, (size_t)count);
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const inside_component *a = &components[items[i].index];
            const inside_component *b = &components[items[j].index];
            if (b->lower[0] > a->upper[0] + 1e-6)
                break;
            if (++checks > MOST_CHECKS || overlap(a, b))
                return true;
        }
    return false;
}

bool pl_inside_measure(pl_inside *inside)
{
    const pl_surface *surface = inside->surface;
    int count = surface->component_count;
    inside->volume = -1;
    inside->closed = surface->report.orientable && count > 0; /* 0: repair itself is asking */
    for (int c = 0; c < count; c++)
        inside->closed = inside->closed && surface->component_closed[c];
    if (!inside->closed)
        return true;
    inside_component *components = PL_NEW(inside->memory, inside_component, count);
    pl_sort_item *items = PL_NEW(inside->memory, pl_sort_item, 2 * (size_t)count);
    bool fine = components && items;
    if (fine) {
        double volume = 0, cube = inside->unit * inside->unit * inside->unit;
        measure_components(inside, components);
        bool simple = !any_overlap(components, count, items);
        for (int c = 0; c < count; c++) {
            simple = simple && components[c].volume > 0;
            volume += components[c].volume / 6;
        }
        inside->volume = simple ? volume * cube : -1;
    }
    pl_memory_free(inside->memory, components);
    pl_memory_free(inside->memory, items);
    return fine;
}

/* Lines along the longest extent, one at a random place of each cell of a grid across it; `holes`:
   as in pl_inside_part_outside. */
static double count_volume(const pl_inside *inside, int columns, bool holes, long *hits)
{
    const pl_mesh_report *report = &inside->surface->report;
    double extent[3], from[3], to[3], sum = 0;
    int along = 0, cells[2];
    for (int k = 0; k < 3; k++) {
        extent[k] = report->upper[k] - report->lower[k];
        along = extent[k] > extent[along] ? k : along;
    }
    int across[2] = {(along + 1) % 3, (along + 2) % 3};
    if (!(extent[across[0]] > 0 && extent[across[1]] > 0))
        return 0;
    double ratio = sqrt(extent[across[0]] / extent[across[1]] * columns);
    cells[0] = (int)fmin(fmax(ratio, 1), columns);
    cells[1] = columns / cells[0];
    from[along] = report->lower[along];
    to[along] = report->upper[along];
    for (int i = 0; i < cells[0] * cells[1]; i++) {
        const int cell[2] = {i % cells[0], i / cells[0]};
        for (int k = 0; k < 2; k++) {
            uint64_t random = pl_random_at((uint64_t)k, (uint64_t)i) >> 11;
            double part = ((double)cell[k] + (double)random * 0x1p-53) / cells[k];
            from[across[k]] = to[across[k]] = report->lower[across[k]] + part * extent[across[k]];
        }
        sum += 1 - pl_inside_part_outside(inside, from, to, holes, hits);
    }
    return sum / (cells[0] * cells[1]) * extent[0] * extent[1] * extent[2];
}

/* What an inside test costs on average, in the bounds of the surface. */
static double mean_effort(const pl_inside *inside)
{
    const pl_mesh_report *report = &inside->surface->report;
    double sum = 0;
    for (int i = 0; i < PROBE_POINTS; i++) {
        double point[3];
        for (int k = 0; k < 3; k++) {
            double part = (double)(pl_random_at((uint64_t)k, (uint64_t)i) >> 11) * 0x1p-53;
            point[k] = report->lower[k] + part * (report->upper[k] - report->lower[k]);
        }
        sum += pl_inside_effort(inside, point);
    }
    return sum / PROBE_POINTS;
}

/* How many lines of the first bundle are worth their price. */
static int affordable_columns(const pl_inside *inside)
{
    long hits = 0;
    count_volume(inside, PROBE_COLUMNS, false, &hits);
    double tests = (double)(hits + PROBE_COLUMNS) / PROBE_COLUMNS;
    double columns = MOST_EFFORT / (tests * mean_effort(inside) + 1);
    return (int)fmin(FEW_COLUMNS, fmax(PROBE_COLUMNS, columns));
}

double pl_inside_volume(const pl_inside *inside)
{
    if (inside->surface->triangle_count == 0)
        return 0;
    if (inside->volume >= 0)
        return inside->volume;
    long hits = 0;
    int affordable = affordable_columns(inside);
    if (affordable < FEW_COLUMNS)
        return count_volume(inside, affordable, false, &hits);
    double volume = count_volume(inside, FEW_COLUMNS, !inside->closed, &hits);
    double columns = fmin(COLUMNS, (double)MOST_HITS * FEW_COLUMNS / ((double)hits + 1));
    return columns > 2 * FEW_COLUMNS ? count_volume(inside, (int)columns, !inside->closed, &hits)
                                     : volume;
}

double pl_inside_settle_volume(pl_inside *inside)
{
    return inside->volume = pl_inside_volume(inside);
}

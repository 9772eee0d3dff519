/* The graph of a solid. Every cell of the body belongs to the particle nearest to it along the
   inside: first to the nearest through air, then those are taken away which that particle does not
   reach through cells of its own, and given to the nearest whose cells they touch. Cells give each
   particle its part of the body (volume, centre, extent) and pairs of particles their contact. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/elementary.h"
#include "shape/connect_heap.h"
#include "shape/connect_links.h"
#include "shape/connect_parts.h"
#include "shape/sample_assign.h"
#include "shape/sample_buckets.h"
#include "shape/sample_parts.h"

/* Cells per distance at least, for small counts as many as make this number of cells. */
#define CELLS_PER_DISTANCE 3.0
#define ENOUGH_CELLS 40000.0

/* How far away a cell may lie from its particle, in distances. */
#define REACH 3.0

typedef struct solid {
    pl_memory *memory;
    const pl_surface *surface;
    const pl_inside *inside;
    const pl_samples *samples;
    pl_cells cells;
    pl_links links;
    int32_t *owner;    /* [cell] particle, -1 = none */
    double *distance2; /* [cell] */
    bool *reached;     /* [cell] from its particle, through cells of its own */
    int32_t *queue;    /* [cell] */
    pl_array heap;     /* pl_waiting */
    pl_array touches;  /* pl_touch */
    pl_array pairs;    /* pl_pair */
    pl_array facings;  /* pl_facing */
    pl_moments *moments;
} solid;

static double choose_pitch(double volume, double area, double distance)
{
    double fine = fmax(pl_pow(volume / ENOUGH_CELLS, 1.0 / 3), sqrt(area / (2 * ENOUGH_CELLS)));
    return fmin(distance / CELLS_PER_DISTANCE, fmax(fine, distance / 12));
}

static pl_status cut(solid *s, double pitch, pl_error *error)
{
    PL_TRY(pl_cells_make(s->memory, s->surface, s->inside, pitch, &s->cells, error));
    PL_CHECK(s->cells.count, PL_ERROR_ARGUMENT, error, NULL,
             "the surface encloses nothing: cook it as a shell");
    PL_TRY(pl_links_make(s->memory, &s->cells, s->inside, &s->links, error));
    s->owner = PL_NEW(s->memory, int32_t, s->cells.count);
    s->distance2 = PL_NEW(s->memory, double, s->cells.count);
    s->reached = PL_NEW(s->memory, bool, s->cells.count);
    s->queue = PL_NEW(s->memory, int32_t, s->cells.count);
    s->moments = PL_NEW(s->memory, pl_moments, s->samples->count);
    PL_CHECK(s->owner && s->distance2 && s->reached && s->queue && s->moments, PL_ERROR_MEMORY,
             error, NULL, "no memory for %d cells", s->cells.count);
    return PL_OK;
}

/* Through cells of the same owner, from the queue's contents on. */
static void walk(solid *s, int count)
{
    for (int head = 0; head < count; head++) {
        int cell = s->queue[head];
        for (int side = 0; side < 6; side++) {
            int next = pl_links_beside(&s->links, cell, side);
            if (next < 0 || s->reached[next] || s->owner[next] != s->owner[cell] ||
                !pl_links_open(&s->links, cell, next))
                continue;
            s->reached[next] = true;
            s->queue[count++] = next;
        }
    }
}

/* Each particle starts from the cell nearest to it among its own. */
static pl_status walk_own(solid *s, pl_error *error)
{
    int n = s->samples->count, count = 0;
    int32_t *start = PL_NEW(s->memory, int32_t, n);
    PL_CHECK(start, PL_ERROR_MEMORY, error, NULL, "no memory for %d particles", n);
    for (int i = 0; i < n; i++)
        start[i] = -1;
    for (int c = 0; c < s->cells.count; c++) {
        int i = s->owner[c];
        if (i >= 0 && (start[i] < 0 || s->distance2[c] < s->distance2[start[i]]))
            start[i] = c;
    }
    for (int i = 0; i < n; i++) {
        if (start[i] < 0)
            continue;
        s->reached[start[i]] = true;
        s->queue[count++] = start[i];
    }
    walk(s, count);
    pl_memory_free(s->memory, start);
    return PL_OK;
}

/* ---- Cells cut off from their particle ---- */

static bool push(solid *s, int cell, int owner)
{
    const double *p = s->cells.points + 3 * (size_t)cell;
    const double *q = s->samples->points + 3 * (size_t)owner;
    return pl_heap_push(&s->heap, (pl_waiting){pl_distance2(p, q), cell, owner});
}

static bool offer(solid *s, int cell)
{
    for (int side = 0; side < 6; side++) {
        int next = pl_links_beside(&s->links, cell, side);
        if (next >= 0 && !s->reached[next] && pl_links_open(&s->links, cell, next) &&
            !push(s, next, s->owner[cell]))
            return false;
    }
    return true;
}

/* The rest goes to whoever's cells it touches, the nearest particles first. What touches nobody's
   is left without owner. */
static bool flood(solid *s)
{
    for (int c = 0; c < s->cells.count; c++)
        if (!s->reached[c])
            s->owner[c] = -1;
    for (int c = 0; c < s->cells.count; c++)
        for (int side = 0; side < 6 && !s->reached[c]; side++) {
            int next = pl_links_beside(&s->links, c, side);
            if (next >= 0 && s->reached[next] && pl_links_open(&s->links, c, next) &&
                !push(s, c, s->owner[next]))
                return false;
        }
    while (s->heap.count) {
        pl_waiting item = pl_heap_pop(&s->heap);
        if (s->reached[item.place])
            continue;
        s->reached[item.place] = true;
        s->owner[item.place] = item.owner;
        if (!offer(s, item.place))
            return false;
    }
    return true;
}

/* ---- What the cells say ---- */

static void add_moments(solid *s, int cell)
{
    pl_moments *m = &s->moments[s->owner[cell]];
    const double *p = s->samples->points + 3 * (size_t)s->owner[cell];
    double w = (double)s->cells.parts[cell], x[3];
    for (int k = 0; k < 3; k++)
        x[k] = (s->cells.points[3 * (size_t)cell + k] - p[k]) / s->cells.pitch;
    m->weight += w;
    for (int i = 0, n = 0; i < 3; i++) {
        m->first[i] += w * x[i];
        for (int j = i; j < 3; j++)
            m->second[n++] += w * (x[i] * x[j] + (i == j ? 1.0 / 12 : 0));
    }
}

static bool add_touches(solid *s, int cell)
{
    for (int side = 1; side < 6; side += 2) {
        int next = pl_links_beside(&s->links, cell, side);
        if (next < 0 || s->owner[next] < 0 || s->owner[next] == s->owner[cell] ||
            !pl_links_open(&s->links, cell, next))
            continue;
        pl_touch *touch = pl_array_add(&s->touches, 1);
        if (!touch)
            return false;
        double part = fmin((double)s->cells.parts[cell], (double)s->cells.parts[next]);
        *touch = pl_touch_make(s->owner[cell], s->owner[next], fmax(part, 0.01));
    }
    return true;
}

static bool read_cells(solid *s)
{
    for (int c = 0; c < s->cells.count; c++) {
        if (s->owner[c] < 0)
            continue;
        add_moments(s, c);
        if (!add_touches(s, c))
            return false;
        if (s->cells.triangles[c] < 0)
            continue;
        pl_facing *facing = pl_array_add(&s->facings, 1);
        if (!facing)
            return false;
        *facing = (pl_facing){s->owner[c], c};
    }
    return true;
}

/* How far segments run outside: asked of the cells first, which know the deep ones. */
static void measure_outside(solid *s)
{
    pl_pair *pair = s->pairs.data;
    for (size_t i = 0; i < s->pairs.count; i++) {
        const double *p = s->samples->points + 3 * (size_t)pair[i].a,
                     *q = s->samples->points + 3 * (size_t)pair[i].b;
        bool clear = true;
        for (int k = 0; k < 8 && clear; k++) {
            double t = (k + 0.5) / 8, at[3];
            for (int c = 0; c < 3; c++)
                at[c] = p[c] + t * (q[c] - p[c]);
            int cell = pl_cells_at(&s->cells, at);
            clear = cell >= 0 && s->cells.triangles[cell] < 0;
        }
        if (!clear)
            pair[i].outside = pair[i].length * pl_inside_segment_outside(s->inside, p, q);
    }
}

static pl_status connect(solid *s, const pl_connect_def *def, pl_graph_parts *parts,
                         pl_error *error)
{
    const pl_samples *samples = s->samples;
    parts->volume = pl_inside_volume(s->inside);
    double area = pl_surface_area(s->surface);
    PL_TRY(cut(s, choose_pitch(parts->volume, area, samples->distance), error));
    PL_TRY(pl_cells_assign(s->memory, &s->cells, samples->count, samples->points, samples->distance,
                           REACH * samples->distance, s->owner, s->distance2, error));
    PL_TRY(walk_own(s, error));
    PL_CHECK(flood(s) && read_cells(s), PL_ERROR_MEMORY, error, NULL, "no memory for contacts");
    PL_TRY(pl_pairs_make(s->memory, &s->touches, samples->points, &s->pairs, error));
    measure_outside(s);
    pl_edge_def edges = {samples->count,    samples->points, samples->component,
                         samples->distance, def->edge_count, s->inside};
    PL_TRY(pl_choose_edges(s->memory, &edges, &s->pairs, parts, error));
    return pl_fit_solid(s->memory, s->surface, &s->cells, s->moments, samples->distance,
                        &s->facings, parts, error);
}

pl_status pl_connect_solid(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                           const pl_samples *samples, const pl_connect_def *def,
                           pl_graph_parts *parts, pl_error *error)
{
    solid s = {.memory = memory, .surface = surface, .inside = inside, .samples = samples};
    s.heap = pl_array_make(memory, sizeof(pl_waiting));
    s.touches = pl_array_make(memory, sizeof(pl_touch));
    s.pairs = pl_array_make(memory, sizeof(pl_pair));
    s.facings = pl_array_make(memory, sizeof(pl_facing));
    pl_status status = connect(&s, def, parts, error);
    pl_array_free(&s.heap);
    pl_array_free(&s.touches);
    pl_array_free(&s.pairs);
    pl_array_free(&s.facings);
    pl_memory_free(memory, s.owner);
    pl_memory_free(memory, s.distance2);
    pl_memory_free(memory, s.reached);
    pl_memory_free(memory, s.queue);
    pl_memory_free(memory, s.moments);
    pl_links_free(memory, &s.links);
    pl_cells_free(memory, &s.cells);
    return status;
}

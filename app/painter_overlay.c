/* What is shown of a body: surface, particles, graph, tetrahedra, contacts, and stress as colours
   of any of these. */
#ifdef PLIANT_HAVE_DRAW

#include <math.h>
#include <string.h>

#include "draw/legend.h"
#include "math/elementary.h"
#include "painter_parts.h"

/* How opaque a surface is when there is something to see inside, and when only contacts are behind
   it. */
#define SEEN_THROUGH 0.16f
#define SEEN_BETWEEN 0.4f

/* The part of all stresses that the automatic scale tells apart; the rest has the brightest
   colour. */
#define TOLD_APART 0.95

/* Strains below this are rounding, not stress. */
#define NO_STRAIN 1e-4

bool app_shows_surface(const app_painter *painter, const app_subject *subject)
{
    const app_show *show = &painter->show;
    bool some = show->particles || show->graph || (show->tets && subject->tet_edge_count > 0) ||
                (show->clusters && subject->owners);
    return subject->triangle_count > 0 && (show->surface || !some);
}

bool app_shows_particles(const app_painter *painter, const app_subject *subject)
{
    const app_show *show = &painter->show;
    return subject->particle_count > 0 &&
           (show->particles || show->graph || (show->clusters && subject->owners) ||
            ((show->surface || show->tets || show->clusters) && subject->triangle_count == 0));
}

bool app_shows_edges(const app_painter *painter, const app_subject *subject)
{
    return subject->edge_count > 0 && (painter->show.graph || subject->lines_only);
}

/* ---- Stress ---------------------------------------------------------------------------------- */

void app_stress_see(app_painter *painter)
{
    for (int i = 0; i < painter->subject_count; i++) {
        const app_subject *s = &painter->subjects[i];
        for (int k = 0; s->stresses && k < s->particle_count; k++) {
            if (!(s->stresses[k] > NO_STRAIN * s->young) || !isfinite(s->stresses[k]))
                continue;
            double box = 16 * (pl_log(s->stresses[k]) / 2.302585092994046 + 12);
            painter->stress.boxes[(int)fmax(0, fmin(box, APP_STRESS_BOXES - 1))]++;
        }
    }
}

double app_stress_scale(const app_painter *painter)
{
    const app_stress *stress = &painter->stress;
    double all = 0, below = 0;
    if (stress->scale > 0)
        return stress->scale;
    for (int i = 0; i < APP_STRESS_BOXES; i++)
        all += stress->boxes[i];
    for (int i = 0; i < APP_STRESS_BOXES && all > 0; i++) {
        below += stress->boxes[i];
        if (below >= TOLD_APART * all)
            return pl_round_up(pl_pow(10, (i + 1) / 16.0 - 12));
    }
    /* Nothing is strained: the scale is that of a strain one could just see. */
    double young = 0;
    for (int i = 0; i < painter->subject_count; i++)
        young = fmax(young, painter->subjects[i].young);
    return young > 0 ? pl_round_up(0.01 * young) : 1;
}

static void stress_colour(double stress, double scale, float colour[4])
{
    pl_colour_of(stress / scale, colour);
    colour[3] = 1;
}

/* The colours of particles and, where it is drawn, of the surface. */
static pl_status colour_by_stress(app_painter *painter, app_subject *s)
{
    double scale = app_stress_scale(painter);
    for (int i = 0; i < s->particle_count; i++)
        stress_colour(s->stresses[i], scale, s->colours + 4 * (size_t)i);
    if (!s->surface || !s->model)
        return PL_OK;
    for (int i = 0; i < s->vertex_count; i++)
        stress_colour(app_subject_vertex_stress(s, i), scale, s->vertex_colours + 4 * (size_t)i);
    return pl_draw_surface_colours(s->surface, s->vertex_colours, 0.7f);
}

/* ---- Inside a body --------------------------------------------------------------------------- */

/* Beside a graph particles are drawn smaller, or they would hide it. */
static pl_status paint_particles(app_painter *painter, app_subject *s)
{
    bool small = painter->show.graph;
    double part = small ? 0.45 : 1, least = small ? 0.07 * s->spacing : 0;
    size_t count = 3 * (size_t)s->particle_count;
    double *radii = PL_NEW(painter->memory, double, count);
    if (!radii)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        radii[i] = fmax(part * s->radii[i], least);
    pl_status status = pl_draw_ellipsoids(painter->draw, s->particle_count, s->positions, s->turned,
                                          radii, s->colours, &s->paint);
    pl_memory_free(painter->memory, radii);
    return status;
}

static pl_status paint_edges(app_painter *painter, app_subject *s)
{
    pl_paint dark = pl_paint_from_srgb(0x44525F, 0.5f);
    int count = app_subject_edges(s);
    return pl_draw_segments(painter->draw, count, s->ends, 0.03 * s->spacing, NULL, &dark);
}

static pl_status paint_tets(app_painter *painter, app_subject *s)
{
    pl_paint paint = pl_paint_from_srgb(0x2F6E8C, 0.5f);
    size_t count = (size_t)s->tet_edge_count;
    double *ends = PL_NEW(painter->memory, double, 6 * count), sum = 0;
    if (!ends)
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const double *a = s->tet_points + 3 * (size_t)s->tet_edges[2 * i];
        const double *b = s->tet_points + 3 * (size_t)s->tet_edges[2 * i + 1];
        memcpy(ends + 6 * i, a, 3 * sizeof *ends);
        memcpy(ends + 6 * i + 3, b, 3 * sizeof *ends);
        sum += pl_v3_distance(pl_v3(a[0], a[1], a[2]), pl_v3(b[0], b[1], b[2]));
    }
    pl_status status = pl_draw_segments(painter->draw, (int)count, ends,
                                        count ? 0.02 * sum / (double)count : 0, NULL, &paint);
    pl_memory_free(painter->memory, ends);
    return status;
}

pl_status app_paint_subject(app_painter *painter, app_subject *s)
{
    bool tets = painter->show.tets && s->tet_edge_count > 0;
    bool inside = app_shows_particles(painter, s) || app_shows_edges(painter, s) || tets;
    float opacity = inside ? SEEN_THROUGH : painter->show.contacts ? SEEN_BETWEEN : 1;
    if (painter->show.stress && s->stresses)
        PL_TRY(colour_by_stress(painter, s));
    if (app_shows_particles(painter, s))
        PL_TRY(paint_particles(painter, s));
    if (app_shows_edges(painter, s))
        PL_TRY(paint_edges(painter, s));
    if (tets)
        PL_TRY(paint_tets(painter, s));
    bool surface = s->surface && app_shows_surface(painter, s);
    return surface ? pl_draw_mesh(painter->draw, s->surface, s->vertices, opacity) : PL_OK;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

typedef struct contact_list {
    int count;
    double *points, *ends; /* 3 and 6 each */
    double *turns, *radii; /* of the balls: 4 and 3 each */
    float *colours;        /* 4 each */
} contact_list;

static bool make_list(pl_memory *memory, int most, contact_list *list)
{
    size_t n = (size_t)most;
    *list = (contact_list){.points = PL_NEW(memory, double, 3 * n),
                           .ends = PL_NEW(memory, double, 6 * n),
                           .turns = PL_NEW(memory, double, 4 * n),
                           .radii = PL_NEW(memory, double, 3 * n),
                           .colours = PL_NEW(memory, float, 4 * n)};
    return list->points && list->ends && list->turns && list->radii && list->colours;
}

static void free_list(pl_memory *memory, contact_list *list)
{
    pl_memory_free(memory, list->points);
    pl_memory_free(memory, list->ends);
    pl_memory_free(memory, list->turns);
    pl_memory_free(memory, list->radii);
    pl_memory_free(memory, list->colours);
}

/* A ball where they touch, red where that is new, and a stick the way the first of the two is
   pushed: longer where it is pressed harder. */
static void add_contact(contact_list *list, const pl_contact_event *event, double hardest,
                        double size)
{
    static const uint32_t went_on = 0xF08A24, began = 0xD7263D;
    size_t i = (size_t)list->count++;
    double pressed = hardest > 0 ? sqrt(fmax(0, (double)event->impulse) / hardest) : 0;
    bool is_new = event->phase == PL_CONTACT_BEGAN;
    pl_paint paint = pl_paint_from_srgb(is_new ? began : went_on, 0.5f);
    for (size_t k = 0; k < 3; k++) {
        list->points[3 * i + k] = list->ends[6 * i + k] = event->position[k];
        list->ends[6 * i + 3 + k] =
            event->position[k] - (double)event->normal[k] * size * (0.35 + 0.65 * pressed);
        list->radii[3 * i + k] = 0.18 * size;
    }
    list->turns[4 * i + 3] = 1;
    memcpy(list->colours + 4 * i, paint.colour, sizeof paint.colour);
}

pl_status app_paint_contacts(app_painter *painter, const pl_play *play, const pl_draw_view *view)
{
    int count = 0;
    double hardest = 0, away = 0;
    const pl_contact_event *events = pl_world_contacts(play->world, &count);
    contact_list list;
    for (int k = 0; k < 3; k++)
        away += (view->camera.eye[k] - view->camera.target[k]) *
                (view->camera.eye[k] - view->camera.target[k]);
    double size = 0.07 * sqrt(away) * view->camera.angle; /* of the picture's height */
    bool good = make_list(painter->memory, count, &list);
    for (int i = 0; i < count; i++)
        hardest = fmax(hardest, (double)events[i].impulse);
    for (int i = 0; good && i < count; i++)
        if (events[i].phase != PL_CONTACT_ENDED)
            add_contact(&list, &events[i], hardest, size);
    pl_paint dark = pl_paint_from_srgb(0x3A2A2A, 0.5f);
    pl_status status = good ? pl_draw_ellipsoids(painter->draw, list.count, list.points, list.turns,
                                                 list.radii, list.colours, &dark)
                            : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = pl_draw_segments(painter->draw, list.count, list.ends, 0.05 * size, NULL, &dark);
    free_list(painter->memory, &list);
    return status;
}

#endif

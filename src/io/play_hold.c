/* What holds and moves bodies: picks become particle numbers, pins and driven particles get their
   start and motion. */
#include <math.h>
#include <string.h>

#include "io/play_parts.h"

/* ---- Picks ----------------------------------------------------------------------------------- */

typedef struct pick_context {
    const pl_builder *builder;
    const pl_model *model;
    bool vertices;
    int total;
    double *rest; /* 3 per particle or vertex */
    bool *taken;
    int32_t *out;
    int count;
} pick_context;

static void take(pick_context *c, int index)
{
    if (c->taken[index])
        return;
    c->taken[index] = true;
    c->out[c->count++] = index;
}

static int nearest(const pick_context *c, const double point[3])
{
    int best = 0;
    double smallest = INFINITY;
    for (int i = 0; i < c->total; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d = c->rest[3 * (size_t)i + (size_t)k] - point[k];
            square += d * d;
        }
        if (square < smallest) {
            smallest = square;
            best = i;
        }
    }
    return best;
}

static bool take_box(pick_context *c, const pl_pick *pick)
{
    bool found = false;
    for (int i = 0; i < c->total; i++) {
        const double *p = c->rest + 3 * (size_t)i;
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && p[k] >= pick->lower[k] && p[k] <= pick->upper[k];
        if (inside)
            take(c, i);
        found = found || inside;
    }
    return found;
}

static pl_status resolve(pick_context *c, const pl_pick *pick)
{
    const char *things = c->vertices ? "vertices" : "particles";
    switch (pick->kind) {
    case PL_PICK_INDEX:
        if (pick->index >= c->total)
            return PL_BUILD_FAIL(c->builder, pick->place.node,
                                 "there is no %s %d; the model has %d, numbered from 0 to %d",
                                 c->vertices ? "vertex" : "particle", pick->index, c->total,
                                 c->total - 1);
        take(c, pick->index);
        break;
    case PL_PICK_FIRST:
        take(c, 0);
        break;
    case PL_PICK_LAST:
        take(c, c->total - 1);
        break;
    case PL_PICK_NEAR:
        take(c, nearest(c, pick->near_point));
        break;
    case PL_PICK_ALL:
        for (int i = 0; i < c->total; i++)
            take(c, i);
        break;
    case PL_PICK_BOX:
        if (!take_box(c, pick))
            return PL_BUILD_FAIL(
                c->builder, pick->place.node,
                "no %s of the model lie in this box (in the model's own coordinates)", things);
        break;
    }
    return PL_OK;
}

static pl_status resolve_all(pick_context *c, const pl_pick *picks, int pick_count)
{
    pl_memory *memory = c->builder->memory;
    c->rest = PL_NEW(memory, double, 3 * (size_t)c->total);
    c->taken = PL_NEW(memory, bool, c->total);
    c->out = PL_NEW(memory, int32_t, c->total);
    if (!c->rest || !c->taken || !c->out ||
        pl_model_read(c->model, c->vertices ? PL_REST_VERTICES : PL_REST_POSITIONS, 0, c->total,
                      pl_doubles(c->rest, 0)) != PL_OK)
        return pl_build_no_memory(c->builder);
    for (int i = 0; i < pick_count; i++)
        PL_TRY(resolve(c, &picks[i]));
    return PL_OK;
}

pl_status pl_resolve_picks(const pl_builder *builder, const pl_model *model, bool vertices,
                           const pl_pick *picks, int pick_count, int32_t **out, int *count)
{
    pl_model_info info = pl_model_get_info(model);
    pick_context c = {.builder = builder, .model = model, .vertices = vertices};
    c.total = vertices ? info.vertex_count : info.particle_count;
    *out = NULL;
    *count = 0;
    if (pick_count > 0 && c.total == 0)
        return PL_BUILD_FAIL(builder, picks[0].place.node,
                             "the model has no vertices; name particles instead");
    pl_status status = resolve_all(&c, picks, pick_count);
    pl_memory_free(builder->memory, c.rest);
    pl_memory_free(builder->memory, c.taken);
    if (status != PL_OK) {
        pl_memory_free(builder->memory, c.out);
        return status;
    }
    *out = c.out;
    *count = c.count;
    return PL_OK;
}

/* ---- Handles --------------------------------------------------------------------------------- */

/* Room for one more at the end of a list that doubles when it is full (its length is a power of two
   then). */
static void *grow(const pl_builder *builder, void *list, int n, size_t size)
{
    if (n != 0 && (n < 8 || (n & (n - 1)) != 0))
        return list;
    void *larger = pl_memory_alloc(builder->memory, n == 0 ? 8 : 2 * (size_t)n, size);
    if (larger && n > 0)
        memcpy(larger, list, size * (size_t)n);
    if (larger)
        pl_memory_free(builder->memory, list);
    return larger;
}

static pl_play_handle *add_handle(const pl_builder *builder)
{
    pl_play *play = builder->play;
    pl_play_handle *handles = grow(builder, play->handles, play->handle_count, sizeof *handles);
    if (!handles)
        return NULL;
    play->handles = handles;
    return &play->handles[play->handle_count++];
}

static pl_status add_pin(const pl_builder *builder, pl_pin pin)
{
    pl_play *play = builder->play;
    pl_pin *pins = grow(builder, play->pins, play->pin_count, sizeof *pins);
    if (!pins)
        return pl_build_no_memory(builder);
    play->pins = pins;
    play->pins[play->pin_count++] = pin;
    return PL_OK;
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static pl_status pin_place(const pl_builder *builder, const pl_scene_pin *pin, pl_body body,
                           int index, pl_pin_def *def)
{
    const pl_world *world = builder->play->world;
    pl_status status = pin->on_point      ? pl_pin_at_point(world, body, pin->point, def)
                       : pin->on_vertices ? pl_pin_at_vertex(world, body, index, def)
                                          : pl_pin_at_particle(world, body, index, def);
    if (status != PL_OK)
        return PL_BUILD_FAIL(builder, pin->place.node, "cannot be pinned: %s",
                             pl_status_text(status));
    return PL_OK;
}

/* One pin of the world. A direction NULL makes a position pin. */
static pl_status make_pin(const pl_builder *builder, const pl_scene_pin *pin, int index,
                          const double *direction)
{
    pl_play *play = builder->play;
    pl_play_body *body = &play->bodies[pin->body];
    pl_pin_def def = pl_default_pin_def(direction ? PL_PIN_DIRECTION : PL_PIN_POSITION);
    PL_TRY(pin_place(builder, pin, body->handle, index, &def));
    if (direction) {
        memcpy(def.rest, direction, sizeof def.rest);
        pl_quaternion_rotate(builder->scene->bodies[pin->body].rotation, direction, def.target);
    }
    if (pin->strength > 0)
        def.strength = pin->strength;
    double begin[3];
    memcpy(begin, def.target, sizeof begin);
    /* A frame's keys are positions: its directions follow the turns alone. */
    pl_motion motion = pin->motion;
    if (direction && pin->frame)
        motion.has_vectors = false;
    if (direction)
        pl_motion_direction(&motion, 0, begin, def.target);
    else
        pl_motion_position(&motion, 0, begin, def.target);
    pl_pin made;
    pl_error error = {0};
    pl_status status = pl_pin_create(play->world, body->handle, &def, &made, &error);
    if (status != PL_OK)
        return pl_build_fail(builder, pin->place.node, status, &error);
    body->pin_count++;
    PL_TRY(add_pin(builder, made));
    if (pl_motion_is_still(&motion))
        return PL_OK;
    pl_play_handle *handle = add_handle(builder);
    if (!handle)
        return pl_build_no_memory(builder);
    *handle = (pl_play_handle){.motion = &pin->motion,
                               .direction = direction != NULL,
                               .body = body->handle,
                               .particle = -1,
                               .drive = -1,
                               .pin = made,
                               .turns_only = direction && pin->frame};
    memcpy(handle->start, begin, sizeof begin);
    return PL_OK;
}

static pl_status make_pins_at(const pl_builder *builder, const pl_scene_pin *pin, int index)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    PL_TRY(make_pin(builder, pin, index, pin->has_direction ? pin->direction : NULL));
    for (int i = 0; i < 3 && pin->frame; i++)
        PL_TRY(make_pin(builder, pin, index, axes[i]));
    return PL_OK;
}

static pl_status make_pins(const pl_builder *builder, const pl_scene_pin *pin)
{
    if (pin->on_point)
        return make_pins_at(builder, pin, -1);
    int32_t *indices;
    int count;
    PL_TRY(pl_resolve_picks(builder, builder->play->bodies[pin->body].model, pin->on_vertices,
                            pin->picks, pin->pick_count, &indices, &count));
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++)
        status = make_pins_at(builder, pin, indices[i]);
    pl_memory_free(builder->memory, indices);
    return status;
}

/* ---- Driven particles ------------------------------------------------------------------------ */

static void add_missing(const int32_t *more, int more_count, bool *known, int32_t *fixed,
                        int *count)
{
    for (int i = 0; i < more_count; i++) {
        if (!known[more[i]])
            fixed[(*count)++] = more[i];
        known[more[i]] = true;
    }
}

pl_status pl_add_driven(const pl_builder *builder, int body, const pl_model *model, int32_t *fixed,
                        int *count)
{
    bool *known = PL_NEW(builder->memory, bool, pl_model_get_info(model).particle_count);
    if (!known)
        return pl_build_no_memory(builder);
    for (int i = 0; i < *count; i++)
        known[fixed[i]] = true;
    pl_status status = PL_OK;
    for (int d = 0; d < builder->scene->drive_count && status == PL_OK; d++) {
        const pl_scene_drive *drive = &builder->scene->drives[d];
        int32_t *driven;
        int driven_count;
        if (drive->body != body || builder->play->dropped_drives[d])
            continue;
        status = pl_resolve_picks(builder, model, false, drive->picks, drive->pick_count, &driven,
                                  &driven_count);
        add_missing(driven, driven_count, known, fixed, count);
        pl_memory_free(builder->memory, driven);
    }
    pl_memory_free(builder->memory, known);
    return status;
}

static pl_status make_driven(const pl_builder *builder, const pl_scene_drive *drive)
{
    const pl_play_body *body = &builder->play->bodies[drive->body];
    int32_t *driven;
    int count;
    PL_TRY(pl_resolve_picks(builder, body->model, false, drive->picks, drive->pick_count, &driven,
                            &count));
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        pl_play_handle *handle = add_handle(builder);
        if (!handle) {
            status = pl_build_no_memory(builder);
            break;
        }
        *handle = (pl_play_handle){.motion = &drive->motion,
                                   .body = body->handle,
                                   .particle = driven[i],
                                   .drive = (int)(drive - builder->scene->drives)};
        status = pl_body_read(builder->play->world, body->handle, PL_POSITIONS, driven[i], 1, 1,
                              pl_doubles(handle->start, 0));
        if (status == PL_OK)
            status = pl_body_read(builder->play->world, body->handle, PL_ROTATIONS, driven[i], 1, 1,
                                  pl_doubles(handle->rotation, 0));
        if (status != PL_OK)
            status = PL_BUILD_FAIL(builder, drive->place.node, "cannot be driven: %s",
                                   pl_status_text(status));
    }
    pl_memory_free(builder->memory, driven);
    return status;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static pl_status make_force(const pl_builder *builder, const pl_scene_force *source,
                            pl_play_force *force)
{
    const pl_play_body *body = &builder->play->bodies[source->body];
    force->source = source;
    force->body = body->handle;
    if (source->pick_count > 0)
        return pl_resolve_picks(builder, body->model, false, source->picks, source->pick_count,
                                &force->particles, &force->count);
    force->particles = PL_NEW(builder->memory, int32_t, 1);
    if (!force->particles)
        return pl_build_no_memory(builder);
    force->particles[0] = -1;
    force->count = 1;
    return PL_OK;
}

pl_status pl_build_holds(const pl_builder *builder)
{
    const pl_scene *scene = builder->scene;
    pl_play *play = builder->play;
    play->pin_first = PL_NEW(builder->memory, int, scene->pin_count + 1);
    if (!play->pin_first)
        return pl_build_no_memory(builder);
    for (int i = 0; i < scene->pin_count; i++) {
        PL_TRY(make_pins(builder, &scene->pins[i]));
        play->pin_first[i + 1] = play->pin_count;
    }
    for (int i = 0; i < scene->drive_count; i++)
        PL_TRY(make_driven(builder, &scene->drives[i]));
    play->forces = PL_NEW(builder->memory, pl_play_force, scene->force_count);
    if (!play->forces)
        return pl_build_no_memory(builder);
    for (int i = 0; i < scene->force_count; i++) {
        play->force_count = i + 1;
        PL_TRY(make_force(builder, &scene->forces[i], &play->forces[i]));
    }
    return PL_OK;
}

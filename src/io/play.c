/* Playing a scene: before each step of the world everything that moves gets its place at the step's
   end. */
#include <math.h>

#include "io/play_parts.h"

void pl_play_destroy(pl_play *play)
{
    if (!play)
        return;
    pl_world_destroy(play->world);
    for (int i = 0; i < play->model_count; i++)
        pl_model_release(play->models[i]);
    for (int i = 0; i < play->force_count; i++)
        pl_memory_free(play->memory, play->forces[i].particles);
    pl_memory_free(play->memory, play->models);
    pl_memory_free(play->memory, play->bodies);
    pl_memory_free(play->memory, play->handles);
    pl_memory_free(play->memory, play->forces);
    pl_memory_free(play->memory, play->colliders);
    pl_memory_free(play->memory, play->attachments);
    pl_memory_free(play->memory, play->attachment_starts);
    pl_memory_free(play->memory, play->pins);
    pl_memory_free(play->memory, play->pin_first);
    pl_memory_free(play->memory, play->dropped_drives);
    pl_memory_free(play->memory, play->events);
    pl_memory_free(play->memory, play);
}

/* What an event has let go, or whose body it has removed, is not moved any more. */
static bool is_held(const pl_play *play, const pl_play_handle *handle)
{
    return handle->drive < 0 ? pl_pin_is_valid(play->world, handle->pin)
                             : !play->dropped_drives[handle->drive] &&
                                   pl_body_is_valid(play->world, handle->body);
}

static pl_status move_handle(pl_play *play, const pl_play_handle *handle, double time)
{
    if (!is_held(play, handle))
        return PL_OK;
    double target[3], rotation[4];
    pl_motion motion = *handle->motion;
    motion.has_vectors = motion.has_vectors && !handle->turns_only;
    if (handle->direction)
        pl_motion_direction(&motion, time, handle->start, target);
    else
        pl_motion_position(&motion, time, handle->start, target);
    if (handle->particle < 0)
        return pl_pin_set_target(play->world, handle->pin, target);
    pl_motion_rotation(&motion, time, handle->rotation, rotation);
    return pl_body_drive(play->world, handle->body, handle->particle, target, rotation);
}

/* A force acts in every step that begins within its time; the slack keeps rounding out of the
   question. */
static pl_status apply_force(pl_play *play, const pl_play_force *force, double time)
{
    double slack = 1e-6 * play->settings.step;
    if (time < force->source->from - slack || time >= force->source->to - slack ||
        !pl_body_is_valid(play->world, force->body))
        return PL_OK;
    if (force->source->squeezes)
        return pl_play_squeeze(play, force);
    for (int i = 0; i < force->count; i++)
        PL_TRY(pl_body_apply_force(play->world, force->body, force->particles[i],
                                   force->source->force));
    return PL_OK;
}

pl_status pl_play_step(pl_play *play, pl_report *report)
{
    double begin = (double)play->frame * play->settings.step,
           end = (double)(play->frame + 1) * play->settings.step;
    PL_TRY(pl_play_events(play));
    for (int i = 0; i < play->handle_count; i++)
        PL_TRY(move_handle(play, &play->handles[i], end));
    for (int i = 0; i < play->force_count; i++)
        PL_TRY(apply_force(play, &play->forces[i], begin));
    PL_TRY(pl_play_colliders(play, end));
    PL_TRY(pl_play_attachments(play, end));
    PL_TRY(pl_world_step(play->world, report));
    play->frame++;
    return PL_OK;
}

/* Σ over edges of (v_a + v_b), and of 1/length². */
static bool sum_edges(const pl_play *play, const pl_play_body *body, double *volumes,
                      double *inverse_squares)
{
    int n = body->info.particle_count;
    const int32_t *edges = pl_model_edges(body->model);
    double *rest = PL_NEW(play->memory, double, 3 * (size_t)n),
           *radii = PL_NEW(play->memory, double, 3 * (size_t)n);
    bool good = rest && radii &&
                pl_model_read(body->model, PL_REST_POSITIONS, 0, n, pl_doubles(rest, 0)) == PL_OK &&
                pl_model_read(body->model, PL_REST_RADII, 0, n, pl_doubles(radii, 0)) == PL_OK;
    *volumes = *inverse_squares = 0;
    for (int e = 0; good && e < body->info.edge_count; e++) {
        double square = 0;
        for (int side = 0; side < 2; side++) {
            const double *r = radii + 3 * (size_t)edges[2 * e + side];
            *volumes += 4.0 / 3.0 * 3.14159265358979323846 * r[0] * r[1] * r[2];
        }
        for (int k = 0; k < 3; k++) {
            double d = rest[3 * (size_t)edges[2 * e] + (size_t)k] -
                       rest[3 * (size_t)edges[2 * e + 1] + (size_t)k];
            square += d * d;
        }
        *inverse_squares += 1 / square;
    }
    pl_memory_free(play->memory, rest);
    pl_memory_free(play->memory, radii);
    return good;
}

double pl_play_stiffness_ratio(const pl_play *play, int index)
{
    const pl_play_body *body = &play->bodies[index];
    double h = play->settings.step / play->settings.substeps, volumes, inverse_squares;
    if (body->material.stiffness > 0)
        return body->stiffness_factor * body->material.stiffness * h * h / body->material.density;
    if (body->info.edge_count == 0 || !sum_edges(play, body, &volumes, &inverse_squares))
        return 0;
    double k = body->info.dimension * body->material.young * body->info.volume / volumes *
               (inverse_squares / body->info.edge_count);
    return body->stiffness_factor * k * h * h / body->material.density;
}

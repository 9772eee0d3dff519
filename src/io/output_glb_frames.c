/* Frames of the .glb writer: poses as they come go to a temporary, which is read again in the end,
   or by another process that goes on. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/output_glb_parts.h"

/* What is wrong with the temporary is wrong with the file. */
static pl_status blame(const pl_glb *glb, pl_status status, pl_trouble *trouble)
{
    if (status != PL_OK && trouble)
        pl_copy_text(trouble->file, sizeof trouble->file, glb->path, strlen(glb->path));
    return status;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

pl_status pl_glb_make_room(pl_glb *glb, pl_trouble *trouble)
{
    if (glb->frame)
        return PL_OK;
    glb->first = PL_NEW(glb->memory, float, glb->frame_size + 1);
    glb->frame = PL_NEW(glb->memory, float, glb->frame_size + 1);
    return glb->first && glb->frame ? PL_OK : pl_glb_no_memory(glb, trouble);
}

/* Joints are told from their middle at the start, so that floats are fine near it. */
static void choose_origin(pl_glb_cast *cast, const double *values)
{
    for (size_t k = 0; k < 3; k++) {
        double sum = 0;
        for (size_t j = 0; j < (size_t)cast->joint_count; j++)
            sum += values[3 * j + k];
        cast->origin[k] = (float)(sum / cast->joint_count);
    }
}

static void note_bounds(pl_glb *glb, const pl_glb_cast *cast, const float *frame)
{
    const float *at = frame + 1 + pl_glb_path_first(cast, PL_GLB_TRANSLATION);
    int count = cast->skinned ? 3 * pl_glb_path_count(cast, PL_GLB_TRANSLATION) : 0;
    for (int i = 0; i < count; i++) {
        double value = (double)at[i] + (double)cast->origin[i % 3];
        glb->lower[i % 3] = fmin(glb->lower[i % 3], value);
        glb->upper[i % 3] = fmax(glb->upper[i % 3], value);
    }
}

/* Of the two quaternions of a rotation the one nearer to that of the frame before. */
static void put_rotation(float *to, const double *q)
{
    double square = 0, along = 0;
    for (int k = 0; k < 4; k++) {
        square += q[k] * q[k];
        along += q[k] * (double)to[k];
    }
    double scale = (along < 0 ? -1 : 1) / sqrt(square);
    for (int k = 0; k < 4; k++)
        to[k] = square > 0 ? (float)(q[k] * scale) : (float)(k == 3);
}

pl_status pl_glb_pose(pl_glb *glb, int actor, pl_glb_path path, const double *values,
                      pl_trouble *trouble)
{
    pl_glb_cast *cast = pl_glb_cast_at(glb, actor);
    PL_TRY(pl_glb_make_room(glb, trouble));
    float *to = glb->frame + 1 + pl_glb_path_first(cast, path);
    int count = pl_glb_path_count(cast, path);
    if (path == PL_GLB_TRANSLATION && cast->skinned && glb->times.count == 0)
        choose_origin(cast, values);
    for (int i = 0; i < count && path == PL_GLB_ROTATION; i++)
        put_rotation(to + 4 * (size_t)i, values + 4 * (size_t)i);
    for (size_t i = 0; i < 3 * (size_t)count && path != PL_GLB_ROTATION; i++)
        to[i] = path == PL_GLB_SCALE ? (float)values[i]
                                     : (float)(values[i] - (double)cast->origin[i % 3]);
    return PL_OK;
}

static pl_status keys_name(const pl_glb *glb, char name[4096], pl_trouble *trouble)
{
    if (snprintf(name, 4096, "%s.keys", glb->path) >= 4096)
        return pl_trouble_set(trouble, PL_ERROR_IO, glb->path,
                              "cannot be written: the name is too long");
    return PL_OK;
}

/* The temporary, and the origins as its beginning. */
static pl_status begin_keys(pl_glb *glb, pl_trouble *trouble)
{
    char name[4096];
    PL_TRY(keys_name(glb, name, trouble));
    PL_TRY(blame(glb, pl_output_open(glb->memory, name, &glb->keys, trouble), trouble));
    for (int i = 0; i < (int)glb->casts.count; i++)
        pl_output_write(glb->keys, (const char *)pl_glb_cast_at(glb, i)->origin, 3 * sizeof(float));
    return PL_OK;
}

static size_t record_size(const pl_glb *glb)
{
    return (glb->frame_size + 1) * sizeof(float);
}

pl_status pl_glb_frame(pl_glb *glb, double time, pl_trouble *trouble)
{
    const float *times = glb->times.data;
    size_t count = glb->times.count;
    PL_TRY(pl_glb_make_room(glb, trouble));
    glb->frame[0] = (float)time;
    if (count > 0 && !(glb->frame[0] > times[count - 1]))
        return PL_OK;
    if (!glb->keys)
        PL_TRY(begin_keys(glb, trouble));
    float *next = pl_array_add(&glb->times, 1);
    if (!next)
        return pl_glb_no_memory(glb, trouble);
    *next = glb->frame[0];
    if (count == 0)
        memcpy(glb->first, glb->frame, record_size(glb));
    for (int i = 0; i < (int)glb->casts.count; i++)
        note_bounds(glb, pl_glb_cast_at(glb, i), glb->frame);
    pl_output_write(glb->keys, (const char *)glb->frame, record_size(glb));
    pl_output_mark mark;
    return pl_output_is_good(glb->keys)
               ? PL_OK
               : blame(glb, pl_output_set_mark(glb->keys, &mark, trouble), trouble);
}

/* ---- Reading them again ---------------------------------------------------------------------- */

pl_status pl_glb_open_keys(pl_glb *glb, pl_trouble *trouble)
{
    pl_output_mark mark;
    PL_TRY(blame(glb, pl_output_set_mark(glb->keys, &mark, trouble), trouble));
    glb->descriptor = open(pl_output_part(glb->keys), O_RDONLY | O_CLOEXEC);
    if (glb->descriptor >= 0)
        return PL_OK;
    return pl_trouble_set(trouble, PL_ERROR_IO, glb->path, "cannot be written: its temporary: %s",
                          strerror(errno));
}

static pl_status read_keys(const pl_glb *glb, size_t offset, void *out, size_t size,
                           pl_trouble *trouble)
{
    for (size_t done = 0; done < size;) {
        ssize_t got =
            pread(glb->descriptor, (char *)out + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pl_trouble_set(trouble, PL_ERROR_IO, glb->path,
                                  "cannot be written: its temporary: %s",
                                  got < 0 ? strerror(errno) : "is shorter than it was");
        done += (size_t)got;
    }
    return PL_OK;
}

static size_t frame_offset(const pl_glb *glb, size_t frame)
{
    return glb->casts.count * 3 * sizeof(float) + frame * record_size(glb);
}

pl_status pl_glb_read_frames(const pl_glb *glb, size_t first, size_t count, float *out,
                             pl_trouble *trouble)
{
    for (size_t f = 0; f < glb->times.count; f++)
        PL_TRY(read_keys(glb, frame_offset(glb, f) + (1 + first) * sizeof(float), out + f * count,
                         count * sizeof(float), trouble));
    return PL_OK;
}

pl_status pl_glb_set_mark(pl_glb *glb, pl_output_mark *mark, pl_trouble *trouble)
{
    return blame(glb, pl_output_set_mark(glb->keys, mark, trouble), trouble);
}

static pl_status read_again(pl_glb *glb, size_t frames, pl_trouble *trouble)
{
    for (int i = 0; i < (int)glb->casts.count; i++)
        PL_TRY(read_keys(glb, (size_t)i * 3 * sizeof(float), pl_glb_cast_at(glb, i)->origin,
                         3 * sizeof(float), trouble));
    for (size_t f = 0; f < frames; f++) {
        PL_TRY(read_keys(glb, frame_offset(glb, f), glb->frame, record_size(glb), trouble));
        float *time = pl_array_add(&glb->times, 1);
        if (!time)
            return pl_glb_no_memory(glb, trouble);
        *time = glb->frame[0];
        if (f == 0)
            memcpy(glb->first, glb->frame, record_size(glb));
        for (int i = 0; i < (int)glb->casts.count; i++)
            note_bounds(glb, pl_glb_cast_at(glb, i), glb->frame);
    }
    return PL_OK;
}

pl_status pl_glb_go_on(pl_glb *glb, const pl_output_mark *mark, pl_trouble *trouble)
{
    char name[4096];
    size_t origins = frame_offset(glb, 0), size = record_size(glb);
    PL_TRY(pl_glb_make_room(glb, trouble));
    PL_TRY(keys_name(glb, name, trouble));
    if (mark->offset < origins + size || (mark->offset - origins) % size != 0)
        return pl_trouble_set(trouble, PL_ERROR_FORMAT, glb->path,
                              "what the earlier run had written is of another scene");
    PL_TRY(blame(glb, pl_output_resume(glb->memory, name, mark, &glb->keys, trouble), trouble));
    PL_TRY(pl_glb_open_keys(glb, trouble));
    pl_status status = read_again(glb, (mark->offset - origins) / size, trouble);
    close(glb->descriptor);
    glb->descriptor = -1;
    return status;
}

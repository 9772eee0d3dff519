/* Which poses are needed: a key is left out where a straight line between its neighbours gives it
   back (Douglas & Peucker, 1973), judged by how far vertices would be moved by that. What is left
   is at every frame within TOLERANCE of the actor's size.

   Programs interpolate rotations along the arc or, like Blender, along the chord and make them unit
   again. Both are within the tolerance: along the chord it is measured; the arc differs from it by
   at most 0.0321 θ³ in angle, θ being that between the two quaternions. */
#include <math.h>
#include <string.h>

#include "io/output_glb_parts.h"

/* Of an actor's size: half of it for what moves, half for what turns. */
#define TOLERANCE 1e-5f

/* Numbers read at a time. */
enum { BLOCK = 1 << 22 };

/* ---- One track ------------------------------------------------------------------------------- */

static bool is_kept(const uint8_t *mask, int frame)
{
    return mask[frame / 8] >> frame % 8 & 1;
}

static void keep(uint8_t *mask, int frame)
{
    mask[frame / 8] = (uint8_t)(mask[frame / 8] | 1 << frame % 8);
}

static double dot(const float *a, const float *b, int width)
{
    double sum = 0;
    for (int k = 0; k < width; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

/* Between two keys, t from 0 to 1. Scales stay until the next key. */
static void interpolate(pl_glb_path path, const float *a, const float *b, double t, double out[4])
{
    int width = pl_glb_path_width(path);
    double square = 0;
    if (path == PL_GLB_SCALE)
        b = a;
    for (int k = 0; k < width; k++) {
        out[k] = (double)a[k] + ((double)b[k] - (double)a[k]) * t;
        square += out[k] * out[k];
    }
    if (path != PL_GLB_ROTATION)
        return;
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int k = 0; k < 4; k++)
        out[k] *= scale;
}

/* How much arc and chord may differ between two rotations, as an angle. */
static double arc_error(const float *a, const float *b)
{
    double gap = 2 - 2 * dot(a, b, 4);             /* |a − b|² */
    double angle = gap > 0 ? 1.12 * sqrt(gap) : 0; /* θ ≤ π/√8 · chord up to a right angle */
    return 0.0321 * angle * angle * angle;
}

/* The frame between two that a line between them misses most; -1 = none by more than the
   tolerance. */
static int find_worst(pl_glb_path path, const float *times, const float *values, int from, int to,
                      double tolerance)
{
    int width = pl_glb_path_width(path), worst = -1;
    const float *a = values + (size_t)from * (size_t)width,
                *b = values + (size_t)to * (size_t)width;
    double most = 0, arc = path == PL_GLB_ROTATION ? arc_error(a, b) : 0;
    double span = (double)times[to] - (double)times[from];
    for (int f = from + 1; f < to; f++) {
        double guess[4], error = 0;
        interpolate(path, a, b, ((double)times[f] - (double)times[from]) / span, guess);
        for (int k = 0; k < width; k++) {
            double off = guess[k] - (double)values[(size_t)f * (size_t)width + (size_t)k];
            error += off * off;
        }
        /* A rotation turns by twice the angle between quaternions. */
        error = path == PL_GLB_ROTATION ? 2 * sqrt(error) + arc : sqrt(error);
        if (error > most)
            most = error, worst = f;
    }
    if (most <= tolerance)
        return -1;
    /* Where only the arc is too long, the middle is as good as any. */
    return arc > tolerance ? (from + to) / 2 : worst;
}

int pl_glb_reduce(pl_glb_path path, const float *times, const float *values, int frames,
                  float tolerance, uint8_t *mask)
{
    int width = pl_glb_path_width(path), count = 1;
    keep(mask, 0);
    bool constant = true;
    for (int f = 1; f < frames && constant; f++) {
        double square = 0;
        for (int k = 0; k < width; k++) {
            double off = (double)values[(size_t)f * (size_t)width + (size_t)k] - (double)values[k];
            square += off * off;
        }
        constant = (path == PL_GLB_ROTATION ? 2 : 1) * sqrt(square) <= (double)tolerance;
    }
    if (constant)
        return count;
    keep(mask, frames - 1);
    count++;
    for (int from = 0; from < frames - 1;) {
        int to = from + 1;
        while (!is_kept(mask, to))
            to++;
        int worst =
            to - from > 1 ? find_worst(path, times, values, from, to, (double)tolerance) : -1;
        if (worst < 0) {
            from = to;
            continue;
        }
        keep(mask, worst);
        count++;
    }
    return count;
}

/* ---- All tracks ------------------------------------------------------------------------------ */

static float tolerance_of(const pl_glb *glb, const pl_glb_cast *cast, pl_glb_path path, int joint)
{
    const pl_glb_shape *shape = pl_glb_shape_at(glb, cast->shape);
    float reach = TOLERANCE / 2 * shape->size;
    if (path == PL_GLB_TRANSLATION)
        return reach;
    if (path == PL_GLB_SCALE)
        return 0;
    return shape->levers[joint] > 0 ? reach / shape->levers[joint] : 0;
}

static void list_tracks(const pl_glb *glb, pl_glb_track *tracks)
{
    for (int c = 0; c < (int)glb->casts.count; c++) {
        const pl_glb_cast *cast = pl_glb_cast_at(glb, c);
        for (int p = 0; p < PL_GLB_PATHS; p++) {
            pl_glb_path path = (pl_glb_path)p;
            size_t first = pl_glb_path_first(cast, path), width = (size_t)pl_glb_path_width(path);
            for (int j = 0; j < pl_glb_path_count(cast, path); j++)
                *tracks++ =
                    (pl_glb_track){c, path == PL_GLB_SCALE ? -1 : j, path,
                                   first + (size_t)j * width, tolerance_of(glb, cast, path, j)};
        }
    }
}

static size_t count_tracks(const pl_glb *glb)
{
    size_t count = 0;
    for (int c = 0; c < (int)glb->casts.count; c++) {
        const pl_glb_cast *cast = pl_glb_cast_at(glb, c);
        for (int p = 0; p < PL_GLB_PATHS; p++)
            count += (size_t)pl_glb_path_count(cast, (pl_glb_path)p);
    }
    return count;
}

size_t pl_glb_track_size(const pl_glb_track *track, const pl_glb_kept *kept)
{
    size_t numbers = (size_t)pl_glb_path_width(track->path) + (kept->own_times ? 1 : 0);
    return kept->count * numbers * sizeof(float);
}

/* Times of their own must be worth their description; a rigid thing that stands still needs no
   keys, its node says where it is, and nobody needs one to stay as large as it is. */
static void choose_track(const pl_glb *glb, pl_glb_keys *keys, int track, const float *values)
{
    enum { DESCRIPTION = 100 };
    const pl_glb_track *t = &keys->tracks[track];
    pl_glb_kept *kept = &keys->kept[track];
    uint8_t *mask = keys->masks + (size_t)track * keys->mask_size;
    size_t frames = (size_t)keys->frame_count, width = (size_t)pl_glb_path_width(t->path) * 4;
    size_t count = (size_t)pl_glb_reduce(t->path, glb->times.data, values, keys->frame_count,
                                         t->tolerance, mask);
    kept->own_times = count == 1 || count * (width + 4) + DESCRIPTION < frames * width;
    if (count == 1 && (t->joint < 0 || !pl_glb_cast_at(glb, t->cast)->skinned))
        count = 0;
    if (!kept->own_times) {
        memset(mask, 0xFF, keys->mask_size);
        count = frames;
        keys->shared = true;
    }
    kept->count = (uint32_t)count;
    keys->used += count > 0;
    keys->size += pl_glb_track_size(t, kept);
}

/* Goes through the values of all tracks, which are read many tracks at a time: to choose keys, or
   to write those that were chosen. */
typedef struct reader {
    pl_glb *glb;
    bool write;
    float *block, *values;
    size_t block_size; /* numbers of a frame in the block */
} reader;

static void gather(const reader *r, const pl_glb_keys *keys, size_t offset, int width)
{
    for (size_t f = 0; f < (size_t)keys->frame_count; f++)
        memcpy(r->values + f * (size_t)width, r->block + f * r->block_size + offset,
               (size_t)width * sizeof *r->values);
}

static void write_kept(const pl_glb *glb, const pl_glb_keys *keys, int track, const float *values)
{
    const pl_glb_kept *kept = &keys->kept[track];
    const uint8_t *mask = keys->masks + (size_t)track * keys->mask_size;
    const float *times = glb->times.data;
    size_t width = (size_t)pl_glb_path_width(keys->tracks[track].path);
    if (kept->count == 0)
        return;
    for (int f = 0; f < keys->frame_count && kept->own_times; f++)
        if (is_kept(mask, f))
            pl_output_write(glb->output, (const char *)&times[f], sizeof *times);
    for (int f = 0; f < keys->frame_count; f++)
        if (is_kept(mask, f))
            pl_output_write(glb->output, (const char *)(values + (size_t)f * width),
                            width * sizeof *values);
}

/* As many tracks from `track` on as fit into a block. */
static pl_status pass_block(reader *r, pl_glb_keys *keys, int *track, pl_trouble *trouble)
{
    size_t first = keys->tracks[*track].first, room = BLOCK / (size_t)keys->frame_count;
    int end = *track;
    r->block_size = 0;
    for (; end < keys->track_count; end++) {
        const pl_glb_track *t = &keys->tracks[end];
        size_t size = t->first + (size_t)pl_glb_path_width(t->path) - first;
        if (end > *track && size > room)
            break;
        r->block_size = size;
    }
    PL_TRY(pl_glb_read_frames(r->glb, first, r->block_size, r->block, trouble));
    for (; *track < end; ++*track) {
        const pl_glb_track *t = &keys->tracks[*track];
        gather(r, keys, t->first - first, pl_glb_path_width(t->path));
        if (r->write)
            write_kept(r->glb, keys, *track, r->values);
        else
            choose_track(r->glb, keys, *track, r->values);
    }
    return PL_OK;
}

static pl_status pass_all(pl_glb *glb, pl_glb_keys *keys, bool write, pl_trouble *trouble)
{
    size_t frames = (size_t)keys->frame_count;
    size_t block = frames * 4 > BLOCK ? frames * 4 : BLOCK;
    block = block < frames * glb->frame_size ? block : frames * glb->frame_size;
    reader r = {.glb = glb,
                .write = write,
                .block = PL_NEW(glb->memory, float, block),
                .values = PL_NEW(glb->memory, float, 4 * frames)};
    pl_status status = r.block && r.values ? PL_OK : pl_glb_no_memory(glb, trouble);
    for (int track = 0; track < keys->track_count && status == PL_OK;)
        status = pass_block(&r, keys, &track, trouble);
    pl_memory_free(glb->memory, r.block);
    pl_memory_free(glb->memory, r.values);
    return status;
}

pl_status pl_glb_keys_choose(pl_glb *glb, pl_glb_keys *keys, pl_trouble *trouble)
{
    size_t count = count_tracks(glb);
    *keys = (pl_glb_keys){.frame_count = (int)glb->times.count};
    if (keys->frame_count < 2 || count == 0)
        return PL_OK;
    if (count > INT32_MAX)
        return pl_glb_too_large(glb, trouble);
    keys->track_count = (int)count;
    keys->mask_size = ((size_t)keys->frame_count + 7) / 8;
    keys->tracks = PL_NEW(glb->memory, pl_glb_track, count);
    keys->kept = PL_NEW(glb->memory, pl_glb_kept, count);
    keys->masks = pl_memory_alloc(glb->memory, count, keys->mask_size);
    if (!keys->tracks || !keys->kept || !keys->masks)
        return pl_glb_no_memory(glb, trouble);
    list_tracks(glb, keys->tracks);
    PL_TRY(pass_all(glb, keys, false, trouble));
    if (keys->shared)
        keys->size += glb->times.count * sizeof(float);
    return PL_OK;
}

pl_status pl_glb_keys_write(pl_glb *glb, pl_glb_keys *keys, pl_trouble *trouble)
{
    if (keys->shared)
        pl_output_write(glb->output, glb->times.data, glb->times.count * sizeof(float));
    return keys->used ? pass_all(glb, keys, true, trouble) : PL_OK;
}

void pl_glb_keys_free(pl_glb *glb, pl_glb_keys *keys)
{
    pl_memory_free(glb->memory, keys->tracks);
    pl_memory_free(glb->memory, keys->kept);
    pl_memory_free(glb->memory, keys->masks);
}

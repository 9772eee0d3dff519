/* Skinned surfaces of many bodies at once: every particle's rest-to-present motion becomes a matrix
   [R | x − R x̄], relative to the body's origin, and the kernel of skin_lanes.c blends
   them at the vertices. Particles, then vertices, are cut into blocks of constant size. */
#include "world/skin.h"

#include <string.h>

#include "math/quat.h"
#include "math/simd.h"
#include "shape/buffer.h"
#include "world/skin_lanes.h"
#include "world/world.h"

enum { POSES_PER_TASK = 64, VERTICES_PER_TASK = 1024 };

/* Matrices and requests of one wave, where no body is larger: a megabyte, which stays in the cache
   until the vertices come. More of both are worked off in several waves. */
enum { MOST_POSES = 16384, MOST_JOBS = 1024 };

/* The two stages of a wave. */
enum { POSES, VERTICES };

/* One request of a wave. The blocks of all jobs are numbered through. */
struct pl_skin_job {
    const pl_record *record;
    double fraction;
    float *poses;       /* of particle 0 */
    int first_block[2]; /* by stage */
    pl_buffer positions, normals, tangents;
};

typedef struct wave {
    const pl_skin_job *jobs;
    int job_count, blocks[2]; /* by stage */
    pl_skin_function *skin;
} wave;

/* ---- Matrices -------------------------------------------------------------------------------- */

/* Between two states the origin is interpolated, too: offsets from it stay small. */
static double origin_at(const pl_record *record, int k, double t)
{
    const pl_state *a = &record->matter.shown, *b = &record->matter.now;
    return t == 1 ? b->origin[k] : a->origin[k] * (1 - t) + b->origin[k] * t;
}

/* The shorter way round, on the chord. */
static pl_quat rotation_at(const pl_record *record, size_t i, double t)
{
    const float *a = record->matter.shown.q + 4 * i, *b = record->matter.now.q + 4 * i;
    pl_quat to = {(double)b[0], (double)b[1], (double)b[2], (double)b[3]};
    if (t == 1)
        return to;
    pl_quat from = {(double)a[0], (double)a[1], (double)a[2], (double)a[3]};
    double s = pl_quat_dot(from, to) < 0 ? t - 1 : 1 - t;
    return pl_quat_normalise((pl_quat){from.x * s + to.x * t, from.y * s + to.y * t,
                                       from.z * s + to.z * t, from.w * s + to.w * t});
}

static void make_pose(const pl_record *record, int particle, double t, float out[PL_POSE])
{
    size_t i = (size_t)particle;
    const float *a = record->matter.shown.x + 3 * i, *b = record->matter.now.x + 3 * i;
    const float *rest = record->model->rest + 3 * i;
    double unit = record->model->unit;
    pl_mat3 r = pl_quat_to_m3(rotation_at(record, i, t));
    for (int k = 0; k < 3; k++) {
        const double *m = r.m[k];
        double x = t == 1 ? (double)b[k] : (double)a[k] * (1 - t) + (double)b[k] * t;
        double turned = m[0] * (double)rest[0] + m[1] * (double)rest[1] + m[2] * (double)rest[2];
        for (int c = 0; c < 3; c++)
            out[4 * k + c] = (float)(m[c] * unit);
        out[4 * k + 3] = (float)((x - turned) * unit);
    }
    memset(out + 12, 0, 4 * sizeof *out);
}

/* A run of vertices, without anywhere to write. */
static pl_skin_span span_of(const pl_record *record, int first, int count, double fraction)
{
    const pl_model *model = record->model;
    size_t v = (size_t)first, w = v * (size_t)model->influence_count;
    pl_skin_span span = {.count = count,
                         .influence_count = model->influence_count,
                         .influences = model->influences + w,
                         .weights =
                             (record->own_weights ? record->own_weights : model->weights) + w,
                         .vertices = model->vertices + 3 * v,
                         .normals = model->normals + 3 * v,
                         .tangents = model->tangents ? model->tangents + 4 * v : NULL};
    for (int k = 0; k < 3; k++)
        span.origin[k] = origin_at(record, k, fraction) * model->unit;
    return span;
}

extern pl_skin_function pl_skin_vertices_w4, pl_skin_vertices_w8, pl_skin_vertices_w16;

#define KERNEL(width) [PL_SIMD_PLACE(width)] = pl_skin_vertices_w##width,

pl_skin_function *pl_skin_function_of(int width)
{
    static pl_skin_function *const kernels[] = {PL_SIMD_EACH(KERNEL)};
    return pl_simd_supports(width) ? kernels[PL_SIMD_PLACE(width)] : NULL;
}

/* ---- Many bodies ----------------------------------------------------------------------------- */

static int blocks_of(int count, int size)
{
    return count / size + (count % size != 0);
}

static void make_block(const pl_skin_job *job, int block)
{
    int n = job->record->model->particle_count, first = block * POSES_PER_TASK;
    int end = n - first < POSES_PER_TASK ? n : first + POSES_PER_TASK;
    for (int i = first; i < end; i++)
        make_pose(job->record, i, job->fraction, job->poses + (size_t)i * PL_POSE);
    if (block == 0)
        memset(job->poses - PL_POSE, 0, PL_POSE * sizeof *job->poses);
}

static void advance(pl_buffer *buffer, int first, int scalars)
{
    if (buffer->data)
        buffer->data = pl_buffer_at(*buffer, (size_t)first, scalars);
}

static void skin_block(const pl_skin_job *job, int block, pl_skin_function *skin)
{
    int total = job->record->model->vertex_count, first = block * VERTICES_PER_TASK;
    int count = total - first < VERTICES_PER_TASK ? total - first : VERTICES_PER_TASK;
    pl_skin_span span = span_of(job->record, first, count, job->fraction);
    span.poses = job->poses;
    span.positions_out = job->positions;
    span.normals_out = job->normals;
    span.tangents_out = job->tangents;
    advance(&span.positions_out, first, 3);
    advance(&span.normals_out, first, 3);
    advance(&span.tangents_out, first, 4);
    skin(&span);
}

/* Whose block this is. */
static const pl_skin_job *job_of(const wave *w, int stage, int block)
{
    int low = 0, high = w->job_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(w->jobs[middle].first_block[stage] <= block ? &low : &high) = middle;
    }
    return w->jobs + low;
}

static void make_poses(void *context, int begin, int end, int worker)
{
    (void)worker;
    const wave *w = context;
    for (int block = begin; block < end; block++) {
        const pl_skin_job *job = job_of(w, POSES, block);
        make_block(job, block - job->first_block[POSES]);
    }
}

static void skin_blocks(void *context, int begin, int end, int worker)
{
    (void)worker;
    const wave *w = context;
    for (int block = begin; block < end; block++) {
        const pl_skin_job *job = job_of(w, VERTICES, block);
        skin_block(job, block - job->first_block[VERTICES], w->skin);
    }
}

/* Takes as many requests as there is room for, at least one. Returns how many. */
static int fill_wave(pl_world *world, const pl_skin_request *requests, int count, wave *w)
{
    pl_skin_room *room = &world->skin;
    int taken = 0, used = 0;
    *w = (wave){.jobs = room->jobs, .skin = pl_skin_function_of(pl_simd_width())};
    for (; taken < count && w->job_count < room->job_capacity; taken++) {
        const pl_skin_request *request = requests + taken;
        const pl_record *record = pl_world_record(world, request->body);
        int vertices = record->model->vertex_count, poses = record->model->particle_count + 1;
        if (!vertices)
            continue;
        if (poses > room->pose_capacity - used ||
            blocks_of(vertices, VERTICES_PER_TASK) > INT32_MAX - w->blocks[VERTICES])
            break;
        room->jobs[w->job_count++] =
            (pl_skin_job){.record = record,
                          .fraction = request->fraction,
                          .poses = room->poses + (size_t)(used + 1) * PL_POSE,
                          .first_block = {w->blocks[POSES], w->blocks[VERTICES]},
                          .positions = request->positions,
                          .normals = request->normals,
                          .tangents = request->tangents};
        used += poses;
        w->blocks[POSES] += blocks_of(record->model->particle_count, POSES_PER_TASK);
        w->blocks[VERTICES] += blocks_of(vertices, VERTICES_PER_TASK);
    }
    return taken;
}

/* ---- One body, without room ------------------------------------------------------------------ */

/* Worlds may be read by several threads at once, so that this works on the stack: for a few
   vertices at a time it makes the matrices they need, and calls the particles by their place among
   those. */
enum { PART = 32, PART_POSES = PART * PL_MAX_INFLUENCES, PLACES = 4 * PART_POSES };

typedef struct part {
    float poses[(PART_POSES + 1) * PL_POSE] __attribute__((aligned(64)));
    int32_t influences[PART_POSES];
    int count;
    int32_t particle[PART_POSES];
    int16_t place[PLACES]; /* hash table: number of the particle + 1, 0 = empty */
} part;

static int32_t number_in_part(part *p, const pl_record *record, int32_t particle, double fraction)
{
    uint32_t at = (uint32_t)particle * 2654435769u >> 22;
    for (; p->place[at]; at = (at + 1) % PLACES)
        if (p->particle[p->place[at] - 1] == particle)
            return p->place[at] - 1;
    int number = p->count++;
    p->place[at] = (int16_t)p->count;
    p->particle[number] = particle;
    make_pose(record, particle, fraction, p->poses + (number + 1) * PL_POSE);
    return number;
}

static void gather_part(part *p, const pl_record *record, const pl_skin_span *span, double fraction)
{
    p->count = 0;
    memset(p->place, 0, sizeof p->place);
    for (int i = 0; i < span->count * span->influence_count; i++) {
        int32_t particle = span->influences[i];
        p->influences[i] = particle < 0 ? -1 : number_in_part(p, record, particle, fraction);
    }
}

void pl_skin_read(const pl_record *record, pl_body_field field, int first, int count,
                  double fraction, pl_buffer out)
{
    part p;
    pl_skin_function *skin = pl_skin_function_of(pl_simd_width());
    memset(p.poses, 0, PL_POSE * sizeof *p.poses);
    for (int done = 0; done < count; done += PART) {
        int size = count - done < PART ? count - done : PART;
        pl_skin_span span = span_of(record, first + done, size, fraction);
        gather_part(&p, record, &span, fraction);
        span.influences = p.influences;
        span.poses = p.poses + PL_POSE;
        pl_buffer *wanted = field == PL_VERTICES  ? &span.positions_out
                            : field == PL_NORMALS ? &span.normals_out
                                                  : &span.tangents_out;
        *wanted = out;
        advance(wanted, done, field == PL_TANGENTS ? 4 : 3);
        skin(&span);
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_buffer(pl_buffer buffer, int scalars)
{
    if (!buffer.data)
        return true;
    return (buffer.type == PL_F32 || buffer.type == PL_F64) &&
           (!buffer.stride || buffer.stride >= (size_t)scalars * pl_buffer_scalar_size(buffer));
}

static pl_status check_request(const pl_world *world, const pl_skin_request *request)
{
    const pl_record *record = pl_world_record(world, request->body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "a handle is stale or of another world");
    PL_REQUIRE(request->fraction >= 0 && request->fraction <= 1, PL_ERROR_ARGUMENT, NULL, NULL,
               "the fraction %g is not in [0, 1]", request->fraction);
    PL_REQUIRE(request->positions.data || request->normals.data || request->tangents.data,
               PL_ERROR_ARGUMENT, NULL, NULL, "a request has no buffer to fill");
    PL_REQUIRE(is_buffer(request->positions, 3) && is_buffer(request->normals, 3) &&
                   is_buffer(request->tangents, 4),
               PL_ERROR_ARGUMENT, NULL, NULL,
               "a buffer has no type, or a stride smaller than its elements");
    PL_REQUIRE(!request->tangents.data || record->model->tangents || !record->model->vertex_count,
               PL_ERROR_ARGUMENT, NULL, NULL, "the model has no tangents");
    return PL_OK;
}

static PL_APART pl_status skin_all(pl_world *world, const pl_skin_request *requests, int count)
{
    PL_TRY(pl_world_check_unlocked(world, NULL));
    PL_REQUIRE(count >= 0 && (requests || !count), PL_ERROR_ARGUMENT, NULL, NULL,
               "there are no requests, or a negative number of them");
    for (int i = 0; i < count; i++)
        PL_TRY(check_request(world, requests + i));
    for (int done = 0; done < count;) {
        wave w;
        done += fill_wave(world, requests + done, count - done, &w);
        pl_tasks_run(world->tasks, make_poses, &w, w.blocks[POSES], 2);
        pl_tasks_run(world->tasks, skin_blocks, &w, w.blocks[VERTICES], 4);
    }
    return PL_OK;
}

pl_status pl_world_skin(pl_world *world, const pl_skin_request *requests, int count)
{
    PL_COMPUTE(skin_all(world, requests, count));
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* At least twice as much as there is when there is not enough: bodies come one by one. */
static int grown(int capacity, int wanted)
{
    int twice = capacity < INT32_MAX / 2 ? 2 * capacity : wanted;
    return twice > wanted ? twice : wanted;
}

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

bool pl_skin_reserve(pl_world *world, const pl_model *model)
{
    pl_skin_room *room = &world->skin;
    if (!model->vertex_count)
        return true;
    int own = model->particle_count + 1;
    int poses = at_most(room->wanted_poses + at_most(own, MOST_POSES), MOST_POSES);
    int jobs = at_most(room->wanted_jobs + 1, MOST_JOBS);
    room->wanted_poses = poses;
    room->wanted_jobs = jobs;
    poses = poses > own ? poses : own;
    if (poses > room->pose_capacity) {
        int capacity = grown(room->pose_capacity, poses);
        float *larger = PL_NEW(world->memory, float, (size_t)capacity *PL_POSE);
        if (!larger)
            return false;
        pl_memory_free(world->memory, room->poses);
        room->poses = larger;
        room->pose_capacity = capacity;
    }
    if (jobs > room->job_capacity) {
        int capacity = grown(room->job_capacity, jobs);
        pl_skin_job *larger = PL_NEW(world->memory, pl_skin_job, capacity);
        if (!larger)
            return false;
        pl_memory_free(world->memory, room->jobs);
        room->jobs = larger;
        room->job_capacity = capacity;
    }
    return true;
}

void pl_skin_free(pl_world *world)
{
    pl_memory_free(world->memory, world->skin.poses);
    pl_memory_free(world->memory, world->skin.jobs);
    world->skin = (pl_skin_room){0};
}

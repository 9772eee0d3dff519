/* Bulk reading and writing of a body's state through the caller's strided buffers. */
#include <math.h>

#include "math/quat.h"
#include "shape/buffer.h"
#include "world/world.h"

static int scalars_of(pl_body_field field)
{
    return field == PL_ROTATIONS || field == PL_TANGENTS ? 4 : field == PL_MASSES ? 1 : 3;
}

static bool is_of_surface(pl_body_field field)
{
    return field >= PL_VERTICES;
}

static int size_of(const pl_record *record, pl_body_field field)
{
    const pl_model *model = record->model;
    if (field == PL_TANGENTS && !model->tangents)
        return 0;
    return is_of_surface(field) ? model->vertex_count : record->matter.n;
}

static pl_status check_range(const pl_record *record, pl_body_field field, int first, int count,
                             pl_buffer buffer)
{
    PL_REQUIRE((int)field >= PL_POSITIONS && (int)field <= PL_TANGENTS, PL_ERROR_ARGUMENT, NULL,
               NULL, "there is no field %d", (int)field);
    int size = size_of(record, field);
    PL_REQUIRE(first >= 0 && count >= 0 && first <= size && count <= size - first,
               PL_ERROR_ARGUMENT, NULL, NULL, "elements %d to %lld of %d", first,
               (long long)first + count, size);
    PL_REQUIRE((buffer.data || !count) && (buffer.type == PL_F32 || buffer.type == PL_F64),
               PL_ERROR_ARGUMENT, NULL, NULL, "the buffer has no data or no type");
    return PL_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_position(const pl_record *record, int i, double t, double out[3])
{
    const pl_state *a = &record->matter.shown, *b = &record->matter.now;
    for (int k = 0; k < 3; k++) {
        out[k] = b->origin[k] + (double)b->x[3 * i + k];
        if (t != 1)
            out[k] = (a->origin[k] + (double)a->x[3 * i + k]) * (1 - t) + out[k] * t;
        out[k] *= record->model->unit;
    }
}

/* The shorter way round, on the chord. */
static pl_quat read_rotation(const pl_record *record, int i, double t)
{
    const float *a = record->matter.shown.q + 4 * i, *b = record->matter.now.q + 4 * i;
    pl_quat from = {(double)a[0], (double)a[1], (double)a[2], (double)a[3]};
    pl_quat to = {(double)b[0], (double)b[1], (double)b[2], (double)b[3]};
    if (t == 1)
        return to;
    double s = pl_quat_dot(from, to) < 0 ? t - 1 : 1 - t;
    return pl_quat_normalise((pl_quat){from.x * s + to.x * t, from.y * s + to.y * t,
                                       from.z * s + to.z * t, from.w * s + to.w * t});
}

static void read_one(const pl_record *record, pl_body_field field, int i, double t, double out[4])
{
    const pl_state *now = &record->matter.now;
    const pl_system *system = record->matter.system;
    pl_quat q;
    switch (field) {
    case PL_POSITIONS:
        read_position(record, i, t, out);
        break;
    case PL_ROTATIONS:
        q = read_rotation(record, i, t);
        out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
        break;
    case PL_VELOCITIES:
        for (int k = 0; k < 3; k++)
            out[k] = (now->velocity[k] + (double)now->u[3 * i + k]) * record->model->unit;
        break;
    case PL_SPINS:
        for (int k = 0; k < 3; k++)
            out[k] = (double)now->w[3 * i + k];
        break;
    case PL_MASSES:
        out[0] = system->mass[i] * system->mass_unit;
        break;
    default:
        break; /* of the surface: not read one by one */
    }
}

static PL_APART pl_status read_elements(const pl_world *world, pl_body body, pl_body_field field,
                                        int first, int count, double fraction, pl_buffer out)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    PL_TRY(check_range(record, field, first, count, out));
    PL_REQUIRE(fraction >= 0 && fraction <= 1, PL_ERROR_ARGUMENT, NULL, NULL,
               "the fraction %g is not in [0, 1]", fraction);
    if (is_of_surface(field)) {
        pl_skin_read(record, field, first, count, fraction, out);
        return PL_OK;
    }
    for (int i = 0; i < count; i++) {
        double values[4];
        read_one(record, field, first + i, fraction, values);
        pl_buffer_set(out, (size_t)i, scalars_of(field), values);
    }
    return PL_OK;
}

pl_status pl_body_read(const pl_world *world, pl_body body, pl_body_field field, int first,
                       int count, double fraction, pl_buffer out)
{
    PL_COMPUTE(read_elements(world, body, field, first, count, fraction, out));
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool is_writable(pl_body_field field, const double v[4], double unit)
{
    switch (field) {
    case PL_POSITIONS:
        return pl_is_place(v, unit);
    case PL_ROTATIONS:
        return pl_is_rotation(v);
    case PL_VELOCITIES:
        return pl_is_rate(v, unit);
    case PL_SPINS:
        return pl_is_rate(v, 1);
    default:
        return false;
    }
}

/* Everything is looked at before anything is changed. `mean` is of the elements, in units. */
static pl_status check_elements(const pl_record *record, pl_body_field field, int count,
                                pl_buffer in, double mean[3])
{
    double unit = record->model->unit;
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < count; i++) {
        double v[4];
        pl_buffer_get(in, (size_t)i, scalars_of(field), v);
        PL_REQUIRE(is_writable(field, v, unit), PL_ERROR_ARGUMENT, NULL, NULL,
                   "element %d is not a usable number", i);
        for (int k = 0; k < 3; k++)
            mean[k] += v[k] / unit / count;
    }
    return PL_OK;
}

static void write_one(pl_record *record, pl_body_field field, int i, const double v[4])
{
    pl_state *now = &record->matter.now;
    double unit = record->model->unit;
    if (field == PL_ROTATIONS) {
        pl_quat q = pl_quat_normalise((pl_quat){v[0], v[1], v[2], v[3]});
        now->q[4 * i] = (float)q.x, now->q[4 * i + 1] = (float)q.y;
        now->q[4 * i + 2] = (float)q.z, now->q[4 * i + 3] = (float)q.w;
    }
    for (int k = 0; k < 3; k++) {
        if (field == PL_POSITIONS)
            now->x[3 * i + k] = (float)(v[k] / unit - now->origin[k]);
        else if (field == PL_VELOCITIES)
            now->u[3 * i + k] = (float)(v[k] / unit - now->velocity[k]);
        else if (field == PL_SPINS)
            now->w[3 * i + k] = (float)v[k];
    }
}

/* When parts of a body were written somewhere else, the origin goes along, by whole units: far from
   it floats have few digits. */
static void follow_written(pl_record *record)
{
    pl_oriented *matter = &record->matter;
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < matter->n; i++)
            sum += (double)matter->now.x[3 * i + k];
        double shift = floor(sum / matter->n + 0.5);
        if (fabs(shift) < record->model->reach + 4)
            continue;
        matter->now.origin[k] += shift;
        for (int i = 0; i < matter->n; i++)
            matter->now.x[3 * i + k] = (float)((double)matter->now.x[3 * i + k] - shift);
    }
}

static void after_writing(pl_record *record, pl_body_field field, int first, int count)
{
    pl_oriented *matter = &record->matter;
    if (field == PL_VELOCITIES)
        pl_record_settle_mean(record);
    if (field == PL_POSITIONS)
        follow_written(record);
    if (field == PL_POSITIONS || field == PL_ROTATIONS) {
        for (int f = 0; f < matter->fixed_count; f++)
            if (matter->fixed[f] >= first && matter->fixed[f] - first < count)
                pl_record_aim_drive(matter, f);
        pl_record_forget_old(matter);
        pl_record_show_now(matter);
    }
}

static PL_APART pl_status write_elements(pl_world *world, pl_body body, pl_body_field field,
                                         int first, int count, pl_buffer in)
{
    pl_record *record;
    double mean[3];
    PL_TRY(pl_world_open(world, body, &record, NULL));
    PL_TRY(check_range(record, field, first, count, in));
    PL_REQUIRE(field <= PL_SPINS, PL_ERROR_ARGUMENT, NULL, NULL, "this field can only be read");
    PL_TRY(check_elements(record, field, count, in, mean));
    /* Written as a whole it takes its origin along, whatever it is. */
    for (int k = 0; k < 3 && field == PL_POSITIONS && count == record->matter.n; k++)
        record->matter.now.origin[k] = mean[k];
    for (int i = 0; i < count; i++) {
        double v[4];
        pl_buffer_get(in, (size_t)i, scalars_of(field), v);
        write_one(record, field, first + i, v);
    }
    if (count)
        after_writing(record, field, first, count);
    pl_world_wake(world, record);
    return PL_OK;
}

pl_status pl_body_write(pl_world *world, pl_body body, pl_body_field field, int first, int count,
                        pl_buffer in)
{
    PL_COMPUTE(write_elements(world, body, field, first, count, in));
}

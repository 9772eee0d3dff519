/* Example poses of bodies: definitions are checked, every kind of matter describes the poses in its
   own way, groups of particles become groups of elements; then one manifold, which the matter takes
   over. */
#include "world/examples.h"

#include <math.h>
#include <string.h>

#include "matter/posed.h"
#include "shape/pose.h"
#include "world/world.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

static pl_status check_groups(const pl_model *model, const pl_examples_def *def, pl_error *error)
{
    PL_CHECK((int)def->scope >= PL_EXAMPLES_GLOBAL && (int)def->scope <= PL_EXAMPLES_LOCAL,
             PL_ERROR_ARGUMENT, error, "examples.scope", "is %d; there is no such scope",
             (int)def->scope);
    PL_CHECK((int)def->rule >= PL_EXAMPLES_AUTO && (int)def->rule <= PL_EXAMPLES_NEAREST,
             PL_ERROR_ARGUMENT, error, "examples.rule", "is %d; there is no such rule",
             (int)def->rule);
    if (def->scope != PL_EXAMPLES_GROUPS)
        return PL_OK;
    PL_CHECK(def->group_count >= 1 && def->groups, PL_ERROR_ARGUMENT, error, "examples.groups",
             "are missing; give the group of every particle, counted from 0, or -1 for none");
    PL_CHECK(def->group_count <= model->particle_count, PL_ERROR_ARGUMENT, error,
             "examples.group_count", "is %d; there are only %d particles", def->group_count,
             model->particle_count);
    for (int i = 0; i < model->particle_count; i++)
        PL_CHECK(def->groups[i] >= -1 && def->groups[i] < def->group_count, PL_ERROR_ARGUMENT,
                 error, PL_WHERE("examples.groups[%d]", i), "is %d; use 0 to %d, or -1 for none",
                 (int)def->groups[i], def->group_count - 1);
    return PL_OK;
}

/* Edges are what oriented bodies are compared by: one without length has no direction. Rods and
   sheets have no volume that could be missing. */
static pl_status check_edges(const pl_model *model, const pl_pose *pose, const char *name,
                             pl_error *error)
{
    for (int e = 0; e < model->edge_count; e++) {
        int a = model->edges[2 * (size_t)e], b = model->edges[2 * (size_t)e + 1];
        const double *x = pose->positions + 3 * (size_t)a, *y = pose->positions + 3 * (size_t)b;
        const float *rest = model->edge_offset + 3 * (size_t)e;
        double now = 0, was = 0;
        for (int k = 0; k < 3; k++) {
            now += (y[k] - x[k]) * (y[k] - x[k]) / (model->unit * model->unit);
            was += (double)rest[k] * (double)rest[k];
        }
        PL_CHECK(now >= 1e-6 * was, PL_ERROR_ARGUMENT, error, name,
                 "leaves the edge from particle %d to %d no length (%.3g of its own); leave it a "
                 "thousandth at least",
                 a, b, sqrt(now / was));
    }
    return PL_OK;
}

pl_status pl_examples_check(const pl_body_def *body, pl_error *error)
{
    const pl_model *model = body->model;
    const pl_examples_def *def = body->examples;
    pl_pose_regions regions = body->clustered     ? PL_POSE_CLUSTERS
                              : body->tetrahedral ? PL_POSE_TETS
                                                  : PL_POSE_RINGS;
    PL_REQUIRE(def->cookie == PL_EXAMPLES_COOKIE, PL_ERROR_ARGUMENT, error, "examples.cookie",
               "the definition was not made by pl_default_examples_def");
    PL_CHECK(def->pose_count >= 1 && def->pose_count <= PL_MAX_POSES && def->poses,
             PL_ERROR_ARGUMENT, error, "examples.poses", "there are %d; use 1 to %d",
             def->poses ? def->pose_count : 0, PL_MAX_POSES);
    PL_CHECK(def->beta >= 0 && def->beta <= PL_EXAMPLES_MOST_BETA, PL_ERROR_ARGUMENT, error,
             "examples.beta", "is %.9g; use 0 to %g (0.995 is usual)", def->beta,
             PL_EXAMPLES_MOST_BETA);
    PL_TRY(check_groups(model, def, error));
    for (int k = 0; k < def->pose_count; k++) {
        pl_where name = pl_where_format("examples.poses[%d]", k);
        PL_TRY(pl_pose_check(model, def->poses + k, name.text, error));
        PL_TRY(pl_pose_check_regions(model, regions, def->poses + k, name.text, error));
        if (regions == PL_POSE_RINGS)
            PL_TRY(check_edges(model, def->poses + k, name.text, error));
    }
    return PL_OK;
}

/* ---- Poses in units -------------------------------------------------------------------------- */

typedef struct posed_floats {
    float *x, *q; /* [n][3], [n][4] or NULL */
} posed_floats;

/* About the pose's own middle: it may lie anywhere. */
static void convert(const pl_model *model, const pl_pose *pose, posed_floats *out)
{
    size_t n = (size_t)model->particle_count;
    double middle[3] = {0, 0, 0};
    for (size_t i = 0; i < 3 * n; i++)
        middle[i % 3] += (pose->positions[i] - pose->positions[i % 3]) / (double)n;
    for (size_t i = 0; i < 3 * n; i++)
        out->x[i] =
            (float)((pose->positions[i] - pose->positions[i % 3] - middle[i % 3]) / model->unit);
    for (size_t i = 0; i < n && pose->rotations; i++) {
        const double *q = pose->rotations + 4 * i;
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (size_t k = 0; k < 4; k++)
            out->q[4 * i + k] = (float)(q[k] / length);
    }
}

/* ---- Kinds of matter ------------------------------------------------------------------------- */

static pl_status describe(pl_world *world, const pl_record *record, const posed_floats *pose,
                          bool turned, pl_record_examples *e, int k, pl_error *error)
{
    const pl_oriented *matter = &record->matter;
    float *out = e->poses + (size_t)k * (size_t)e->element_count * (size_t)e->width;
    if (matter->clustered) {
        pl_clustered_describe(matter->clustered, pose->x, out, e->weight);
        return PL_OK;
    }
    if (matter->tetrahedral) {
        pl_tetrahedral_describe(matter->system->tets, pose->x, out, e->weight);
        return PL_OK;
    }
    return pl_posed_describe(world->memory, record->model, &record->material,
                             record->edge_stiffness, pose->x, turned ? pose->q : NULL, out,
                             k == 0 ? e->metric : NULL, error);
}

/* Of the model, whatever has become of its clusters since; -1 where the matter can have no
   examples. */
static int elements_of(const pl_record *record)
{
    return record->matter.clustered ? record->model->cluster_count
           : record->tetrahedral    ? record->model->tet_count
           : record->matter.posed   ? pl_posed_element_count(record->model)
                                    : -1;
}

/* Clusters and tetrahedra are weighed by a number each, edges by a form. */
static bool is_weighed(const pl_record *record)
{
    return record->matter.clustered || record->tetrahedral;
}

/* The group most of the members are in; the lowest of equal ones. */
static int32_t group_of(const int32_t *members, int count, const int32_t *groups)
{
    int32_t best = -1;
    int most = 0;
    for (int i = 0; i < count; i++) {
        int here = 0;
        for (int j = 0; j < count; j++)
            here += groups[members[j]] == groups[members[i]];
        if (here > most || (here == most && groups[members[i]] < best)) {
            most = here;
            best = groups[members[i]];
        }
    }
    return best;
}

static void group_elements(const pl_record *record, const pl_examples_def *def,
                           pl_record_examples *e)
{
    const pl_model *model = record->model;
    const int32_t *groups = def->scope == PL_EXAMPLES_GROUPS ? def->groups : NULL;
    e->local = def->scope == PL_EXAMPLES_LOCAL;
    if (!record->matter.clustered && !record->matter.tetrahedral) {
        e->group_count =
            pl_posed_groups(model, groups, groups ? def->group_count : 1, e->local, e->group);
        return;
    }
    for (int i = 0; i < e->element_count; i++) {
        const int32_t *members = record->matter.clustered
                                     ? model->cluster_members + model->cluster_start[i]
                                     : model->tets + 4 * (size_t)i;
        int count =
            record->matter.clustered ? model->cluster_start[i + 1] - model->cluster_start[i] : 4;
        e->group[i] = e->local ? i : groups ? group_of(members, count, groups) : 0;
    }
    e->group_count = e->local ? e->element_count : groups ? def->group_count : 1;
}

/* The matter takes it over, or it is destroyed. */
static pl_status give(pl_record *record, pl_examples *examples, double beta, pl_error *error)
{
    pl_oriented *matter = &record->matter;
    pl_status status = PL_OK;
    if (matter->clustered)
        status = pl_clustered_set_examples(matter->clustered, examples, error);
    else if (matter->tetrahedral)
        status = pl_tetrahedral_set_examples(matter->tetrahedral, examples, error);
    else
        pl_posed_set_examples(matter->posed, examples, beta);
    if (status != PL_OK)
        pl_examples_destroy(examples);
    return status;
}

pl_status pl_examples_equip_tets(pl_world *world, const pl_record_examples *source,
                                 pl_tetrahedral *tetrahedral, pl_error *error)
{
    pl_examples *examples;
    PL_TRY(pl_examples_make(world, source, &examples, error));
    pl_status status = pl_tetrahedral_set_examples(tetrahedral, examples, error);
    if (status != PL_OK)
        pl_examples_destroy(examples);
    return status;
}

void pl_examples_count(const pl_record *record, int *poses, int *groups)
{
    const pl_examples *examples = pl_record_examples_of(record);
    *poses = examples ? pl_examples_pose_count(examples) : 0;
    *groups = examples ? pl_examples_group_count(examples) : 0;
}

pl_examples *pl_record_examples_of(const pl_record *record)
{
    const pl_oriented *matter = &record->matter;
    return matter->clustered     ? pl_clustered_examples(matter->clustered)
           : matter->tetrahedral ? pl_tetrahedral_examples(matter->tetrahedral)
           : matter->posed       ? matter->posed->examples
                                 : NULL;
}

/* ---- Making ---------------------------------------------------------------------------------- */

void pl_examples_empty(pl_world *world, pl_record *record)
{
    pl_record_examples *e = record->examples;
    if (!e)
        return;
    void *blocks[] = {e->poses, e->metric, e->weight, e->group, e};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(world->memory, blocks[i]);
    record->examples = NULL;
}

static bool reserve(pl_world *world, bool weighed, pl_record_examples *e)
{
    pl_memory *memory = world->memory;
    size_t count = (size_t)e->element_count, width = (size_t)e->width;
    e->poses = PL_NEW(memory, float, (size_t)e->pose_count *count *width);
    e->group = PL_NEW(memory, int32_t, count);
    e->weight = weighed ? PL_NEW(memory, float, count) : NULL;
    e->metric = weighed ? NULL : PL_NEW(memory, float, count *(width * (width + 1) / 2));
    return e->poses && e->group && (weighed ? e->weight != NULL : e->metric != NULL);
}

pl_status pl_examples_make(pl_world *world, const pl_record_examples *e, pl_examples **examples,
                           pl_error *error)
{
    pl_examples_source source = {.element_count = e->element_count,
                                 .width = e->width,
                                 .pose_count = e->pose_count,
                                 .poses = e->poses,
                                 .metric = e->metric,
                                 .weight = e->weight,
                                 .group_count = e->group_count,
                                 .group = e->group,
                                 .beta = e->beta,
                                 .rule = e->rule};
    return pl_examples_create(world->memory, &source, examples, error);
}

static pl_status describe_all(pl_world *world, pl_record *record, const pl_examples_def *def,
                              pl_error *error)
{
    pl_record_examples *e = record->examples;
    size_t n = (size_t)record->model->particle_count;
    posed_floats pose = {PL_NEW(world->memory, float, 3 * n), PL_NEW(world->memory, float, 4 * n)};
    pl_status status = pose.x && pose.q
                           ? PL_OK
                           : pl_fail(error, PL_ERROR_MEMORY, "examples", "no memory for the poses");
    for (int k = 0; k < def->pose_count && status == PL_OK; k++) {
        convert(record->model, def->poses + k, &pose);
        status = describe(world, record, &pose, def->poses[k].rotations != NULL, e, k, error);
    }
    pl_memory_free(world->memory, pose.x);
    pl_memory_free(world->memory, pose.q);
    return status;
}

static pl_status make_and_give(pl_world *world, pl_record *record, pl_error *error)
{
    pl_examples *examples;
    PL_TRY(pl_examples_make(world, record->examples, &examples, error));
    return give(record, examples, record->examples->beta, error);
}

pl_status pl_examples_fill(pl_world *world, pl_record *record, const pl_examples_def *def,
                           pl_error *error)
{
    pl_oriented *matter = &record->matter;
    PL_CHECK(matter->clustered || matter->tetrahedral || matter->posed, PL_ERROR_ARGUMENT, error,
             "examples", "are not for this kind of body");
    pl_record_examples *e = record->examples = PL_NEW(world->memory, pl_record_examples, 1);
    PL_CHECK(e, PL_ERROR_MEMORY, error, "examples", "no memory for them");
    e->pose_count = def->pose_count;
    e->beta = def->beta;
    e->rule = def->rule;
    e->width = 6;
    e->element_count = elements_of(record);
    PL_CHECK(e->element_count > 0, PL_ERROR_ARGUMENT, error, "examples",
             "have nothing to compare: this body has no edges; did you mean clustered?");
    PL_CHECK(reserve(world, is_weighed(record), e), PL_ERROR_MEMORY, error, "examples",
             "no memory for %d poses", def->pose_count);
    PL_TRY(describe_all(world, record, def, error));
    group_elements(record, def, e);
    return make_and_give(world, record, error);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static void arrays_part(pl_stream *s, pl_world *world, const pl_record *record)
{
    pl_record_examples *e = record->examples;
    size_t count = (size_t)e->element_count, width = (size_t)e->width;
    bool weighed = e->weight != NULL;
    pl_stream_bool(s, &weighed);
    pl_stream_expect(s, weighed == is_weighed(record) && (size_t)e->pose_count * count * width <=
                                                             (s->size - s->at) / sizeof(float));
    if (pl_stream_stopped(s))
        return;
    if (s->in && !reserve(world, weighed, e)) {
        s->starved = true;
        return;
    }
    pl_stream_floats(s, e->poses, (size_t)e->pose_count * count * width);
    pl_stream_u32(s, (uint32_t *)e->group, count);
    if (weighed)
        pl_stream_floats(s, e->weight, count);
    else
        pl_stream_floats(s, e->metric, count * (width * (width + 1) / 2));
}

/* Weights and bias, as one block of bytes that waits for the manifold. */
static void state_part(pl_stream *s, pl_record *record)
{
    pl_record_examples *e = record->examples;
    const pl_examples *examples = pl_record_examples_of(record);
    uint64_t size = !s->in && examples ? pl_examples_save_size(examples) : 0;
    pl_stream_u64(s, &size);
    pl_stream_expect(s, size <= s->size - s->at);
    if (pl_stream_stopped(s))
        return;
    size_t count = s->hash ? (size_t)pl_examples_group_count(examples) * (size_t)e->pose_count : 0;
    if (s->in) {
        e->saved = s->in + s->at;
        e->saved_size = (size_t)size;
    } else if (s->out) {
        pl_examples_save(examples, s->out + s->at);
    } else if (s->hash) {
        pl_hash_f32_array(s->hash, pl_examples_weights(examples), count);
        pl_hash_f32_array(s->hash, pl_examples_bias(examples), count);
    }
    s->at += (size_t)size;
}

pl_status pl_examples_restore(pl_world *world, pl_record *record, pl_error *error)
{
    pl_record_examples *e = record->examples;
    if (!e)
        return PL_OK;
    pl_status status = pl_record_examples_of(record) ? PL_OK : make_and_give(world, record, error);
    if (status == PL_ERROR_ARGUMENT) { /* what nothing can be made of was never saved */
        status = PL_ERROR_FORMAT;
        if (error)
            error->status = status;
    }
    PL_TRY(status);
    const void *saved = e->saved;
    e->saved = NULL;
    PL_TRY(pl_examples_load(pl_record_examples_of(record), saved, e->saved_size, error));
    if (record->matter.clustered)
        pl_clustered_renew_examples(record->matter.clustered);
    return PL_OK;
}

/* With local examples elements are groups, or particles; else groups are of particles. */
static int most_groups(const pl_record *record)
{
    return record->examples->local && is_weighed(record) ? record->examples->element_count
                                                         : record->model->particle_count;
}

static void examples_part(pl_stream *s, pl_world *world, pl_record *record)
{
    pl_record_examples *e = record->examples;
    int rule = (int)e->rule;
    pl_stream_int(s, &e->element_count);
    pl_stream_int(s, &e->width);
    pl_stream_int(s, &e->pose_count);
    pl_stream_int(s, &e->group_count);
    pl_stream_bool(s, &e->local);
    pl_stream_doubles(s, &e->beta, 1);
    pl_stream_int(s, &rule);
    pl_stream_expect(s, e->element_count > 0 && e->element_count == elements_of(record) &&
                            e->width == 6 && e->pose_count >= 1 && e->pose_count <= PL_MAX_POSES);
    pl_stream_expect(s, e->group_count >= 1 && e->group_count <= most_groups(record));
    pl_stream_expect(s, e->beta >= 0 && e->beta <= PL_EXAMPLES_MOST_BETA && rule >= 0 &&
                            rule <= PL_EXAMPLES_NEAREST);
    if (s->in)
        e->rule = (pl_example_rule)rule;
    if (!pl_stream_stopped(s))
        arrays_part(s, world, record);
    if (!pl_stream_stopped(s))
        state_part(s, record);
}

void pl_snapshot_examples(pl_stream *s, pl_world *world, pl_record *record)
{
    bool present = record->examples != NULL;
    if (s->hash && !present)
        return;
    pl_stream_bool(s, &present);
    if (pl_stream_stopped(s) || !present)
        return;
    if (s->in)
        record->examples = PL_NEW(world->memory, pl_record_examples, 1);
    if (!record->examples)
        s->starved = true;
    else
        examples_part(s, world, record);
}

/* ---- What callers see ------------------------------------------------------------------------ */

pl_status pl_body_get_example_weights(const pl_world *world, pl_body body, int first, int count,
                                      float *weights)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, NULL, NULL, "the handle is stale or of another world");
    const pl_examples *examples = pl_record_examples_of(record);
    int groups = examples ? pl_examples_group_count(examples) : 0;
    PL_REQUIRE(first >= 0 && count >= 0 && first <= groups && count <= groups - first,
               PL_ERROR_ARGUMENT, NULL, NULL, "groups %d to %lld of %d", first,
               (long long)first + count, groups);
    PL_REQUIRE(weights || !count, PL_ERROR_ARGUMENT, NULL, NULL, "there is nowhere to put them");
    if (!count)
        return PL_OK;
    size_t poses = (size_t)pl_examples_pose_count(examples);
    memcpy(weights, pl_examples_weights(examples) + (size_t)first * poses,
           sizeof *weights * (size_t)count * poses);
    return PL_OK;
}

pl_status pl_body_set_example_bias(pl_world *world, pl_body body, int group, const float *bias,
                                   pl_error *error)
{
    pl_record *record;
    PL_TRY(pl_world_open(world, body, &record, error));
    pl_examples *examples = pl_record_examples_of(record);
    PL_CHECK(examples, PL_ERROR_ARGUMENT, error, "body", "has no examples");
    PL_CHECK(group >= -1 && group < pl_examples_group_count(examples), PL_ERROR_ARGUMENT, error,
             "group", "is %d; there are %d, from 0, and -1 means all", group,
             pl_examples_group_count(examples));
    PL_REQUIRE(bias, PL_ERROR_ARGUMENT, error, "bias", "is missing");
    for (int k = 0; k < pl_examples_pose_count(examples); k++)
        PL_CHECK(fabsf(bias[k]) <= 1e6f, PL_ERROR_ARGUMENT, error, PL_WHERE("bias[%d]", k),
                 "is %g; use numbers like -1 to 1", (double)bias[k]);
    pl_examples_set_bias(examples, group, bias);
    pl_world_wake(world, record);
    return PL_OK;
}

static PL_APART pl_status pose_from(const pl_world *world, pl_body body, pl_pose *pose,
                                    pl_error *error)
{
    const pl_record *record = pl_world_record(world, body);
    PL_REQUIRE(record, PL_ERROR_HANDLE, error, "body", "the handle is stale or of another world");
    PL_REQUIRE(pose, PL_ERROR_ARGUMENT, error, "pose", "there is nowhere to put it");
    *pose = (pl_pose){0};
    int n = record->model->particle_count;
    PL_CHECK(record->matter.n == n, PL_ERROR_ARGUMENT, error, "body",
             "is broken: it has %d particles; the model has %d", record->matter.n, n);
    pl_pose_room room;
    PL_CHECK(pl_pose_make(record->model, pose, &room), PL_ERROR_MEMORY, error, NULL,
             "no memory for a pose of %d particles", n);
    PL_TRY(pl_body_read(world, body, PL_POSITIONS, 0, n, 1, pl_doubles(room.positions, 0)));
    return pl_body_read(world, body, PL_ROTATIONS, 0, n, 1, pl_doubles(room.rotations, 0));
}

pl_status pl_pose_from_body(const pl_world *world, pl_body body, pl_pose *pose, pl_error *error)
{
    PL_COMPUTE(pose_from(world, body, pose, error));
}

/* Clustered matter as bytes. One text serves counting, writing and reading, so that they cannot
   drift apart. Bytes that are read are not trusted: a hash finds accidents, and every number is
   judged for what it is used for. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "matter/clustered.h"

#define MAGIC UINT32_C(0x53434c50) /* "PLCS" */
enum { VERSION = 3 };

/* Bytes that a cluster takes at least, its members not counted. */
enum { LEAST_CLUSTER = 344 };

/* Largest number there is any use for; infinity where a limit is switched off. */
#define LARGEST 1e30f

typedef struct codec {
    const unsigned char *in; /* at most one of the two; neither counts */
    unsigned char *out;
    size_t at, size;
    bool bad;
} codec;

static void bytes(codec *s, void *data, size_t size)
{
    if (s->bad || size > s->size - s->at) {
        s->bad = true;
        return;
    }
    if (s->in)
        memcpy(data, s->in + s->at, size);
    else if (s->out)
        memcpy(s->out + s->at, data, size);
    s->at += size;
}

static void expect(codec *s, bool condition)
{
    if (s->in && !condition)
        s->bad = true;
}

static void floats(codec *s, float *values, size_t count)
{
    if (count > (s->size - s->at) / sizeof *values)
        s->bad = true;
    bytes(s, values, count * sizeof *values);
    for (size_t k = 0; s->in && !s->bad && k < count; k++)
        expect(s, fabsf(values[k]) <= LARGEST);
}

static void real(codec *s, double *value)
{
    bytes(s, value, sizeof *value);
}

static void integer(codec *s, int *value)
{
    int32_t word = *value;
    bytes(s, &word, sizeof word);
    if (s->in)
        *value = word;
}

static void truth(codec *s, bool *value)
{
    uint8_t byte = *value;
    bytes(s, &byte, 1);
    expect(s, byte <= 1);
    if (s->in)
        *value = byte == 1;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void definition(codec *s, pl_clustered_def *d)
{
    int rotation = (int)d->rotation, recluster = (int)d->recluster, kernel = (int)d->kernel;
    integer(s, &rotation);
    integer(s, &recluster);
    integer(s, &kernel);
    d->rotation = (pl_cluster_rotation)rotation;
    d->recluster = (pl_recluster_mode)recluster;
    d->kernel = (pl_cluster_kernel)kernel;
    double *numbers[] = {&d->frequency,    &d->raw_alpha,   &d->damping,         &d->raw_damping,
                         &d->strain_limit, &d->strain_part, &d->yield,           &d->flow,
                         &d->raw_flow,     &d->hardening,   &d->condition,       &d->fade_in,
                         &d->fade_out,     &d->toughness,   &d->toughness_boost, &d->boost_decay,
                         &d->calm};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        real(s, numbers[k]);
    integer(s, &d->strain_iterations);
    integer(s, &d->wanted);
    integer(s, &d->least_members);
    truth(s, &d->strain_balanced);
    truth(s, &d->self_contact);
    if (s->in)
        d->cookie = pl_default_clustered_def().cookie;
    expect(s, !s->in || pl_clustered_check(d, NULL) == PL_OK);
}

static void particles(codec *s, pl_clustered *c)
{
    floats(s, c->mass, (size_t)c->n);
    floats(s, c->radius, (size_t)c->n);
    bytes(s, c->origin, (size_t)c->n * sizeof *c->origin);
    bytes(s, c->key, (size_t)c->model_n * sizeof *c->key);
    for (int i = 0; s->in && !s->bad && i < c->n; i++) {
        expect(s, c->mass[i] > 0 && c->radius[i] >= 0);
        expect(s, c->origin[i] >= 0 && c->origin[i] < c->model_n);
    }
}

static void limit_of(codec *s, float *value)
{
    bytes(s, value, sizeof *value);
    expect(s, *value >= 0);
}

static void planes(codec *s, pl_cluster *q)
{
    integer(s, &q->cut_count);
    expect(s, q->cut_count >= 0 && q->cut_count <= PL_MOST_PLANES);
    for (int k = 0; !s->bad && k < q->cut_count; k++) {
        floats(s, q->cuts[k].normal, 3);
        floats(s, &q->cuts[k].offset, 1);
        floats(s, q->cuts[k].middle, 3);
        limit_of(s, &q->cuts[k].reach);
        truth(s, &q->cuts[k].crack);
    }
}

static bool is_unit(const float q[4])
{
    float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return square > 0.99f && square < 1.01f;
}

static void state(codec *s, pl_cluster *q)
{
    int phase = (int)q->phase;
    floats(s, q->inverse, 6);
    floats(s, q->lean, 3);
    floats(s, &q->mass, 1);
    floats(s, &q->width, 1);
    floats(s, &q->radius, 1);
    floats(s, q->plastic, 9);
    integer(s, &q->rank);
    floats(s, q->seen, 6);
    floats(s, q->carried, 9);
    floats(s, &q->worked, 1);
    limit_of(s, &q->toughness);
    floats(s, &q->calm, 1);
    integer(s, &phase);
    floats(s, &q->fade, 1);
    bytes(s, &q->id, sizeof q->id);
    bytes(s, &q->element, sizeof q->element);
    floats(s, q->middle, 3);
    planes(s, q);
    floats(s, q->centre, 3);
    floats(s, q->gradient, 9);
    floats(s, q->turn, 4);
    floats(s, q->rotation, 9);
    floats(s, q->flow, 9);
    floats(s, &q->stretch, 1);
    floats(s, q->pull, 3);
    truth(s, &q->flows);
    expect(s, q->rank >= 0 && q->rank <= 3 && phase >= 0 && phase <= PL_PHASE_GOING);
    expect(s, q->fade >= 0 && q->fade <= 1 && q->mass >= 0 && q->width >= 0 && q->radius >= 0);
    expect(s, is_unit(q->turn) && q->element >= -1);
    if (s->in)
        q->phase = (pl_phase)phase;
}

/* `seen` notes for each particle the last cluster it was a member of. */
static void member(codec *s, pl_clustered *c, int place, int32_t *seen, int cluster)
{
    bytes(s, &c->particle[place], sizeof *c->particle);
    for (int k = 0; k < 3; k++)
        floats(s, &c->p[k][place], 1);
    floats(s, &c->raw[place], 1);
    floats(s, &c->weight[place], 1);
    if (!s->in || s->bad)
        return;
    int32_t i = c->particle[place];
    expect(s, i >= 0 && i < c->n && c->raw[place] >= 0);
    expect(s, c->weight[place] >= 0 && c->weight[place] <= 1.001f);
    if (s->bad)
        return;
    expect(s, seen[i] != cluster + 1);
    seen[i] = cluster + 1;
}

static void clusters(codec *s, pl_clustered *c)
{
    for (int i = 0; i < c->count && !s->bad; i++) {
        pl_cluster *q = c->clusters + i;
        int count = q->count;
        integer(s, &count);
        expect(s, count >= 1 && count <= c->n && count <= c->member_capacity - c->member_count);
        if (s->bad)
            return;
        if (s->in) {
            q->first = c->member_count;
            q->count = count;
            q->room = (count + PL_COLUMNS - 1) / PL_COLUMNS * PL_COLUMNS;
            expect(s, q->room <= c->member_capacity - c->member_count);
            c->member_count += q->room;
        }
        state(s, q);
        for (int k = 0; k < count && !s->bad; k++)
            member(s, c, q->first + k, c->start, i);
    }
}

/* ---- Whole ----------------------------------------------------------------------------------- */

/* Counts that the bytes must be able to hold, before memory is asked for. */
typedef struct counts {
    int n, model_n, clusters, memberships;
} counts;

static void head(codec *s, pl_clustered *c, counts *k)
{
    uint32_t magic = MAGIC, version = VERSION;
    bytes(s, &magic, sizeof magic);
    bytes(s, &version, sizeof version);
    expect(s, magic == MAGIC && version == VERSION);
    integer(s, &k->n);
    integer(s, &k->model_n);
    integer(s, &k->clusters);
    integer(s, &k->memberships);
    size_t left = s->size - s->at;
    expect(s, k->n >= 1 && (size_t)k->n <= left / 12);
    expect(s, k->model_n >= 1 && (size_t)k->model_n <= left / 4);
    expect(s, k->clusters >= 0 && (size_t)k->clusters <= left / LEAST_CLUSTER);
    expect(s, k->memberships >= 0 && (size_t)k->memberships <= left / 24);
    bytes(s, &c->next_id, sizeof c->next_id);
    floats(s, &c->tiny, 1);
    uint64_t *counters[] = {&c->topology, &c->added,   &c->removed,
                            &c->split,    &c->divided, &c->unchanged};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        bytes(s, counters[i], sizeof *counters[i]);
    definition(s, &c->def);
}

static counts counts_of(const pl_clustered *c)
{
    counts k = {c->n, c->model_n, c->count, 0};
    for (int i = 0; i < c->count; i++)
        k.memberships += c->clusters[i].count;
    return k;
}

/* The arrays are left alone, unless they are read. */
static void all(codec *s, pl_clustered copy)
{
    counts k = counts_of(&copy);
    head(s, &copy, &k);
    particles(s, &copy);
    clusters(s, &copy);
}

size_t pl_clustered_save_size(const pl_clustered *c)
{
    codec s = {.size = SIZE_MAX};
    all(&s, *c);
    return s.at + sizeof(uint64_t);
}

void pl_clustered_save(const pl_clustered *c, void *out)
{
    codec s = {.out = out, .size = SIZE_MAX};
    all(&s, *c);
    uint64_t hash = pl_hash_of(out, s.at, 0);
    memcpy((char *)out + s.at, &hash, sizeof hash);
}

/* What the head says, with room for the rest. */
static pl_clustered *prepare(pl_memory *memory, const pl_clustered *draft, const counts *k)
{
    pl_clustered *c = PL_NEW(memory, pl_clustered, 1);
    if (!c)
        return NULL;
    *c = *draft;
    c->memory = memory;
    c->key = PL_NEW(memory, uint32_t, k->model_n);
    int64_t members = (int64_t)k->memberships + (int64_t)k->clusters * PL_COLUMNS;
    if (!c->key || members > INT32_MAX / 8 ||
        !pl_clustered_reserve(c, k->clusters, (int)members, k->n)) {
        pl_clustered_destroy(c);
        return NULL;
    }
    c->n = k->n;
    c->model_n = k->model_n;
    c->count = k->clusters;
    return c;
}

pl_status pl_clustered_load(pl_memory *memory, const void *in, size_t size,
                            pl_clustered **clustered, pl_error *error)
{
    static const char *const wrong = "these are not the bytes of clustered matter";
    uint64_t hash;
    PL_CHECK(size >= sizeof hash, PL_ERROR_FORMAT, error, "clustered", "%s", wrong);
    memcpy(&hash, (const char *)in + size - sizeof hash, sizeof hash);
    PL_CHECK(hash == pl_hash_of(in, size - sizeof hash, 0), PL_ERROR_FORMAT, error, "clustered",
             "%s", wrong);
    codec s = {.in = in, .size = size - sizeof hash};
    pl_clustered draft = {0};
    counts k = {0};
    head(&s, &draft, &k);
    PL_CHECK(!s.bad, PL_ERROR_FORMAT, error, "clustered", "%s", wrong);
    pl_clustered *c = prepare(memory, &draft, &k);
    PL_CHECK(c, PL_ERROR_MEMORY, error, NULL, "out of memory");
    particles(&s, c);
    clusters(&s, c);
    if (s.bad || s.at != s.size) {
        pl_clustered_destroy(c);
        return pl_fail(error, PL_ERROR_FORMAT, "clustered", "%s", wrong);
    }
    pl_clustered_index(c);
    *clustered = c;
    return PL_OK;
}

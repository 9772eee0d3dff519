/* The surface of a body that has broken: every vertex keeps to those of its particles that are
   still joined to the one it belongs to. Two particles are joined when they are in clusters that
   are the same or have a particle in common. */
#include <string.h>

#include "world/world.h"

/* Bits: cluster c meets cluster d. */
typedef struct meetings {
    size_t words;
    uint64_t *bits; /* [clusters][words] */
} meetings;

static void meet(const meetings *m, int32_t c, int32_t d)
{
    m->bits[(size_t)c * m->words + (size_t)d / 64] |= UINT64_C(1) << (d % 64);
}

static bool find_meetings(pl_memory *memory, const pl_clustered *clustered, meetings *m)
{
    size_t count = (size_t)clustered->count;
    m->words = (count + 63) / 64;
    m->bits = PL_NEW(memory, uint64_t, count * m->words);
    if (!m->bits)
        return false;
    for (int i = 0; i < clustered->n; i++)
        for (int a = clustered->start[i]; a < clustered->start[i + 1]; a++)
            for (int b = clustered->start[i]; b < clustered->start[i + 1]; b++)
                meet(m, clustered->owner[clustered->place[a]],
                     clustered->owner[clustered->place[b]]);
    return true;
}

static bool are_joined(const pl_clustered *clustered, const meetings *m, int32_t i, int32_t j)
{
    for (int a = clustered->start[i]; a < clustered->start[i + 1]; a++)
        for (int b = clustered->start[j]; b < clustered->start[j + 1]; b++) {
            size_t c = (size_t)clustered->owner[clustered->place[a]];
            size_t d = (size_t)clustered->owner[clustered->place[b]];
            if (m->bits[c * m->words + d / 64] >> (d % 64) & 1)
                return true;
        }
    return i == j;
}

static void bind_vertex(const pl_clustered *clustered, const meetings *m, const int32_t *influences,
                        const float *weights, int count, float *out)
{
    float sum = 0;
    for (int k = 0; k < count; k++) {
        bool stays = influences[k] >= 0 && are_joined(clustered, m, influences[0], influences[k]);
        out[k] = stays ? weights[k] : 0;
        sum += out[k];
    }
    for (int k = 0; k < count && sum > 0; k++)
        out[k] /= sum;
    if (!(sum > 0))
        out[0] = 1;
}

void pl_record_tear(pl_world *world, pl_record *record)
{
    const pl_model *model = record->model;
    const pl_clustered *clustered = record->matter.clustered;
    size_t count = (size_t)model->influence_count;
    meetings m;
    if (!model->vertex_count || !clustered->split)
        return;
    if (!find_meetings(world->memory, clustered, &m))
        return;
    if (!record->own_weights)
        record->own_weights = PL_NEW(world->memory, float, (size_t)model->vertex_count *count);
    for (size_t v = 0; record->own_weights && v < (size_t)model->vertex_count; v++)
        bind_vertex(clustered, &m, model->influences + v * count, model->weights + v * count,
                    (int)count, record->own_weights + v * count);
    pl_memory_free(world->memory, m.bits);
}

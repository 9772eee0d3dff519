/* The state of tetrahedral matter as bytes: rotations, Fᵖ, work done; behind a head that names the
   system they belong to, before a hash. Bytes that are read are not trusted. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "math/simd.h"
#include "matter/tetrahedral_lanes.h"

#define MAGIC UINT32_C(0x54544c50) /* "PLTT" */
enum { VERSION = 1, HEAD = 16, ARRAYS = 4 };

#define LARGEST 1e30f

typedef struct part {
    float *values;
    size_t count;
    int unit; /* quaternions: groups of four fields of sixteen */
} part;

static void parts_of(const pl_tetrahedral *b, part parts[ARRAYS])
{
    const pl_tet_system *s = b->system;
    size_t groups = s->def.rotations == PL_TET_EXACT ? (size_t)s->group_count : 0;
    size_t flows = b->plastic ? groups : 0;
    parts[0] = (part){b->turn, 4 * PL_TET_LANES * groups, 1};
    parts[1] = (part){b->sample_turn, 4 * PL_TET_LANES * (size_t)s->sample_groups, 1};
    parts[2] = (part){b->plastic, 9 * PL_TET_LANES * flows, 0};
    parts[3] = (part){b->worked, PL_TET_LANES * flows, 0};
}

uint64_t pl_tetrahedral_digest(const pl_tetrahedral *b)
{
    part parts[ARRAYS];
    pl_hash hash;
    parts_of(b, parts);
    pl_hash_init(&hash, b->system->hash);
    for (int k = 0; k < ARRAYS; k++)
        pl_hash_f32_array(&hash, parts[k].values, parts[k].count);
    if (b->examples)
        pl_hash_f32_array(&hash, pl_examples_weights(b->examples),
                          (size_t)pl_examples_group_count(b->examples) *
                              (size_t)pl_examples_pose_count(b->examples));
    return pl_hash_final(&hash);
}

size_t pl_tetrahedral_save_size(const pl_tetrahedral *b)
{
    part parts[ARRAYS];
    size_t size = HEAD + sizeof(uint64_t);
    parts_of(b, parts);
    for (int k = 0; k < ARRAYS; k++)
        size += parts[k].count * sizeof(float);
    return size + (b->examples ? pl_examples_save_size(b->examples) : 0);
}

void pl_tetrahedral_save(const pl_tetrahedral *b, void *out)
{
    part parts[ARRAYS];
    uint32_t magic = MAGIC, version = VERSION;
    char *at = out;
    parts_of(b, parts);
    memcpy(at, &magic, 4);
    memcpy(at + 4, &version, 4);
    memcpy(at + 8, &b->system->hash, 8);
    at += HEAD;
    for (int k = 0; k < ARRAYS; k++) {
        if (parts[k].count)
            memcpy(at, parts[k].values, parts[k].count * sizeof(float));
        at += parts[k].count * sizeof(float);
    }
    if (b->examples) {
        pl_examples_save(b->examples, at);
        at += pl_examples_save_size(b->examples);
    }
    uint64_t hash = pl_hash_of(out, (size_t)(at - (char *)out), 0);
    memcpy(at, &hash, sizeof hash);
}

static bool is_state(const part *p, const char *bytes)
{
    for (size_t k = 0; k < p->count; k++) {
        float value;
        memcpy(&value, bytes + k * sizeof value, sizeof value);
        if (!(fabsf(value) <= LARGEST))
            return false;
    }
    for (size_t k = 0; p->unit && k < p->count; k++) {
        float q[4], square = 0;
        if (k / PL_TET_LANES % 4 != 0)
            continue;
        for (size_t c = 0; c < 4; c++) {
            memcpy(&q[c], bytes + (k + c * PL_TET_LANES) * sizeof(float), sizeof(float));
            square += q[c] * q[c];
        }
        if (!(square > 0.99f && square < 1.01f))
            return false;
    }
    return true;
}

pl_status pl_tetrahedral_load(pl_tetrahedral *b, const void *in, size_t size, pl_error *error)
{
    static const char *const wrong = "these are not the bytes of this tetrahedral matter";
    part parts[ARRAYS];
    uint32_t head[2];
    uint64_t hash, system;
    PL_CHECK(size == pl_tetrahedral_save_size(b), PL_ERROR_FORMAT, error, "tetrahedral", "%s",
             wrong);
    memcpy(head, in, sizeof head);
    memcpy(&system, (const char *)in + 8, sizeof system);
    memcpy(&hash, (const char *)in + size - sizeof hash, sizeof hash);
    PL_CHECK(head[0] == MAGIC && head[1] == VERSION && system == b->system->hash &&
                 hash == pl_hash_of(in, size - sizeof hash, 0),
             PL_ERROR_FORMAT, error, "tetrahedral", "%s", wrong);
    parts_of(b, parts);
    for (int pass = 0; pass < 2; pass++) {
        const char *at = (const char *)in + HEAD;
        for (int k = 0; k < ARRAYS; k++) {
            if (!pass)
                PL_CHECK(is_state(parts + k, at), PL_ERROR_FORMAT, error, "tetrahedral", "%s",
                         wrong);
            else if (parts[k].count)
                memcpy(parts[k].values, at, parts[k].count * sizeof(float));
            at += parts[k].count * sizeof(float);
        }
        if (!pass && b->examples)
            PL_TRY(pl_examples_load(b->examples, at, pl_examples_save_size(b->examples), error));
    }
    if (b->examples)
        pl_tet_begin_examples(b, pl_tet_table_of(pl_simd_width()), NULL);
    return PL_OK;
}

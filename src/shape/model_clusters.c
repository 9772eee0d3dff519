/* Clusters of particles in a model: copied from the definition with members in ascending order, or
   checked where they came with packed bytes. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/model_parts.h"

pl_status pl_model_check_clusters(const pl_model *model, pl_error *error)
{
    pl_memory memory = model->memory;
    PL_CHECK(model->cluster_start[0] == 0, PL_ERROR_ARGUMENT, error, "cluster_start[0]",
             "is %d; it must be 0", (int)model->cluster_start[0]);
    for (int c = 0; c < model->cluster_count; c++) {
        int32_t first = model->cluster_start[c], end = model->cluster_start[c + 1];
        PL_CHECK(end > first && end <= model->cluster_start[model->cluster_count],
                 PL_ERROR_ARGUMENT, error, PL_WHERE("clusters[%d]", c), "has no members");
        PL_CHECK(isfinite(model->cluster_radii[c]) && model->cluster_radii[c] > 0,
                 PL_ERROR_ARGUMENT, error, PL_WHERE("clusters[%d]", c),
                 "has the radius %g; it must be finite and greater than 0",
                 (double)model->cluster_radii[c]);
        for (int32_t m = first; m < end; m++) {
            int32_t particle = model->cluster_members[m];
            PL_CHECK(particle >= 0 && particle < model->particle_count, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("clusters[%d]", c), "names particle %d; there are %d, from 0",
                     (int)particle, model->particle_count);
            PL_CHECK(m == first || particle > model->cluster_members[m - 1], PL_ERROR_ARGUMENT,
                     error, PL_WHERE("clusters[%d]", c), "has particle %d twice", (int)particle);
            float weight = model->cluster_weights[m];
            PL_CHECK(isfinite(weight) && weight > 0, PL_ERROR_ARGUMENT, error,
                     PL_WHERE("clusters[%d]", c),
                     "has the weight %g; weights must be finite and greater than 0",
                     (double)weight);
        }
    }
    uint8_t *seen = PL_NEW(&memory, uint8_t, model->particle_count);
    PL_CHECK(seen, PL_ERROR_MEMORY, error, NULL, "no memory to check %d clusters",
             model->cluster_count);
    for (int32_t m = 0; m < model->cluster_start[model->cluster_count]; m++)
        seen[model->cluster_members[m]] = 1;
    int lost = 0;
    while (lost < model->particle_count && seen[lost])
        lost++;
    pl_memory_free(&memory, seen);
    PL_CHECK(lost == model->particle_count, PL_ERROR_ARGUMENT, error, "cluster_members",
             "particle %d is in no cluster; every one needs at least one", lost);
    return PL_OK;
}

/* Insertion along the way back: members mostly come in order. */
static void sort_members(int32_t *members, float *weights, int32_t count)
{
    for (int32_t gap = count / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < count; i++) {
            int32_t member = members[i], k = i;
            float weight = weights[i];
            for (; k >= gap && members[k - gap] > member; k -= gap) {
                members[k] = members[k - gap];
                weights[k] = weights[k - gap];
            }
            members[k] = member;
            weights[k] = weight;
        }
}

/* Of the sphere around the members' middle. */
static float radius_around(const pl_model *model, int c)
{
    int32_t first = model->cluster_start[c], end = model->cluster_start[c + 1];
    double middle[3] = {0, 0, 0}, most = 0;
    for (int32_t m = first; m < end; m++)
        for (int k = 0; k < 3; k++)
            middle[k] += (double)model->rest[3 * model->cluster_members[m] + k] / (end - first);
    for (int32_t m = first; m < end; m++) {
        const float *x = model->rest + 3 * model->cluster_members[m];
        const float *r = model->radii + 3 * model->cluster_members[m];
        double square = 0;
        for (int k = 0; k < 3; k++)
            square += ((double)x[k] - middle[k]) * ((double)x[k] - middle[k]);
        most = fmax(most, sqrt(square) + fmin((double)r[0], fmin((double)r[1], (double)r[2])));
    }
    return (float)most;
}

pl_status pl_model_convert_clusters(pl_model *model, const pl_model_def *def, pl_error *error)
{
    pl_memory *memory = &model->memory;
    if (def->cluster_count == 0)
        return PL_OK;
    size_t count = (size_t)def->cluster_count, members = (size_t)def->cluster_start[count];
    model->cluster_start = PL_NEW(memory, int32_t, count + 1);
    model->cluster_members = PL_NEW(memory, int32_t, members);
    model->cluster_weights = PL_NEW(memory, float, members);
    model->cluster_radii = PL_NEW(memory, float, count);
    PL_CHECK(model->cluster_start && model->cluster_members && model->cluster_weights &&
                 model->cluster_radii,
             PL_ERROR_MEMORY, error, NULL, "no memory for %d clusters", def->cluster_count);
    model->cluster_count = def->cluster_count;
    memcpy(model->cluster_start, def->cluster_start, (count + 1) * sizeof *def->cluster_start);
    memcpy(model->cluster_members, def->cluster_members, members * sizeof *def->cluster_members);
    for (size_t m = 0; m < members; m++) {
        int32_t particle = def->cluster_members[m];
        PL_CHECK(particle >= 0 && particle < model->particle_count, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("cluster_members[%d]", (int)m),
                 "names particle %d; it must be from 0 to %d", (int)particle,
                 model->particle_count - 1);
        model->cluster_weights[m] = def->cluster_weights ? def->cluster_weights[m] : 1;
    }
    for (size_t c = 0; c < count; c++) {
        int32_t first = model->cluster_start[c];
        sort_members(model->cluster_members + first, model->cluster_weights + first,
                     model->cluster_start[c + 1] - first);
        model->cluster_radii[c] = def->cluster_radii ? (float)(def->cluster_radii[c] / model->unit)
                                                     : radius_around(model, (int)c);
    }
    return pl_model_check_clusters(model, error);
}

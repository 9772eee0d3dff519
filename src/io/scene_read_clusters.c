/* Clusters of a model, and what a body made of them does: flow, break. */
#include <math.h>

#include "io/scene_parts.h"

/* ---- Models ---------------------------------------------------------------------------------- */

/* [[…], …]: members of each cluster, or their weights. Fills `start` the first time, compares the
   second. */
static pl_status count_rows(pl_scene_reader *reader, uint32_t node, pl_scene_clusters *clusters)
{
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "an array of clusters"));
    bool first = clusters->member_start == NULL;
    int count = (int)pl_node_count(reader, node);
    if (first) {
        clusters->explicit_count = count;
        clusters->member_start = PL_SCENE_NEW(reader, int32_t, count + 1);
        if (!clusters->member_start)
            return pl_scene_no_memory(reader);
    }
    if (count != clusters->explicit_count || count == 0)
        return PL_SCENE_FAIL(reader, node, "has %d clusters, and should have %s%d", count,
                             first ? "at least " : "", first ? 1 : clusters->explicit_count);
    uint32_t row = node + 1;
    for (int c = 0; c < count; c++, row = pl_json_next(reader->json, row)) {
        PL_TRY(pl_expect(reader, row, PL_JSON_ARRAY, "an array, one element per member"));
        int32_t size = (int32_t)pl_node_count(reader, row);
        int32_t known = clusters->member_start[c + 1] - clusters->member_start[c];
        if (first)
            clusters->member_start[c + 1] = clusters->member_start[c] + size;
        if (size == 0 || (!first && size != known))
            return PL_SCENE_FAIL(reader, row,
                                 first ? "a cluster needs a member"
                                       : "has another number of elements than the "
                                         "cluster has members");
    }
    return PL_OK;
}

static pl_status read_members(pl_scene_reader *reader, uint32_t node, pl_scene_clusters *clusters)
{
    PL_TRY(count_rows(reader, node, clusters));
    int32_t total = clusters->member_start[clusters->explicit_count], at = 0;
    clusters->members = PL_SCENE_NEW(reader, int32_t, total);
    if (!clusters->members)
        return pl_scene_no_memory(reader);
    uint32_t row = node + 1;
    for (int c = 0; c < clusters->explicit_count; c++, row = pl_json_next(reader->json, row)) {
        uint32_t element = row + 1;
        for (; at < clusters->member_start[c + 1]; at++) {
            int particle;
            PL_TRY(pl_read_integer(reader, element, 0, 100000000, &particle));
            clusters->members[at] = particle;
            element = pl_json_next(reader->json, element);
        }
    }
    return PL_OK;
}

static pl_status read_weights(pl_scene_reader *reader, uint32_t node, pl_scene_clusters *clusters)
{
    static const pl_field range = {.low = 1e-12, .high = 1e12};
    PL_TRY(count_rows(reader, node, clusters));
    clusters->weights =
        PL_SCENE_NEW(reader, float, clusters->member_start[clusters->explicit_count]);
    if (!clusters->weights)
        return pl_scene_no_memory(reader);
    uint32_t row = node + 1;
    int32_t at = 0;
    for (int c = 0; c < clusters->explicit_count; c++, row = pl_json_next(reader->json, row)) {
        uint32_t element = row + 1;
        for (; at < clusters->member_start[c + 1]; at++) {
            double weight;
            PL_TRY(pl_read_number(reader, element, &range, &weight));
            clusters->weights[at] = (float)weight;
            element = pl_json_next(reader->json, element);
        }
    }
    return PL_OK;
}

static pl_status read_clusters(pl_scene_reader *reader, uint32_t node, pl_scene_clusters *clusters)
{
    static const char *const kernels[] = {"fuzzy", "inverse", "constant"};
    int kernel = 0;
    clusters->wanted = true;
    clusters->node = node;
    clusters->overlap = pl_default_clusters_def().overlap;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_NUMBER)
        return pl_read_integer(reader, node, 1, 10000000, &clusters->count);
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "a number of clusters, or an object"));
    PL_TRY(pl_read_object(reader, node, &pl_object_clusters, clusters));
    if (clusters->kernel_node)
        PL_TRY(pl_read_word(reader, clusters->kernel_node, kernels, 3, &kernel));
    clusters->kernel = (pl_cluster_kernel)kernel;
    if (clusters->members_node)
        PL_TRY(read_members(reader, clusters->members_node, clusters));
    if (clusters->weights_node && !clusters->members_node)
        return PL_SCENE_FAIL(reader, clusters->weights_node, "goes with \"members\" only");
    if (clusters->weights_node)
        PL_TRY(read_weights(reader, clusters->weights_node, clusters));
    return PL_OK;
}

/* What finds clusters has nothing to say about given ones, and only given particles have numbers to
   name. */
static pl_status check_members(pl_scene_reader *reader, const pl_scene_clusters *clusters,
                               bool explicit_particles)
{
    static const char *const others[] = {"count", "radius", "overlap", "kernel",
                                         "seed",  "shards", "rings"};
    if (!explicit_particles)
        return PL_SCENE_FAIL(reader, clusters->members_node,
                             "is for models with \"particles\" or \"positions\"; elsewhere "
                             "clusters are found");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pl_was_given(&pl_object_clusters, &clusters->place, others[i]))
            return PL_SCENE_FAIL(reader, clusters->members_node,
                                 "says which clusters there are; leave out \"%s\"", others[i]);
    return PL_OK;
}

/* Nor about rings. */
static pl_status check_rings(pl_scene_reader *reader, const pl_scene_clusters *clusters)
{
    static const char *const others[] = {"count", "radius", "overlap", "kernel", "seed"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pl_was_given(&pl_object_clusters, &clusters->place, others[i]))
            return PL_SCENE_FAIL(reader, clusters->node,
                                 "\"rings\" say which clusters there are; leave out \"%s\"",
                                 others[i]);
    return PL_OK;
}

pl_status pl_read_clusters(pl_scene_reader *reader, uint32_t node, bool explicit_particles,
                           pl_scene_clusters *clusters)
{
    PL_TRY(read_clusters(reader, node, clusters));
    if (clusters->rings)
        PL_TRY(check_rings(reader, clusters));
    return clusters->members_node ? check_members(reader, clusters, explicit_particles) : PL_OK;
}

/* Every member is a particle, once in its cluster, and every particle a member; `in` has the last
   cluster of each. */
static pl_status match_members(pl_scene_reader *reader, const pl_scene_clusters *clusters,
                               int32_t *in, int particle_count)
{
    uint32_t row = clusters->members_node + 1;
    for (int c = 0; c < clusters->explicit_count; c++, row = pl_json_next(reader->json, row)) {
        uint32_t element = row + 1;
        for (int32_t m = clusters->member_start[c]; m < clusters->member_start[c + 1]; m++) {
            int32_t particle = clusters->members[m];
            if (particle >= particle_count)
                return PL_SCENE_FAIL(reader, element,
                                     "there is no particle %d; they are numbered from 0 to %d",
                                     (int)particle, particle_count - 1);
            if (in[particle] == c + 1)
                return PL_SCENE_FAIL(reader, element, "particle %d is in this cluster already",
                                     (int)particle);
            in[particle] = c + 1;
            element = pl_json_next(reader->json, element);
        }
    }
    for (int i = 0; i < particle_count; i++)
        if (in[i] == 0)
            return PL_SCENE_FAIL(reader, clusters->members_node,
                                 "particle %d is in no cluster; every particle needs one", i);
    return PL_OK;
}

pl_status pl_check_members(pl_scene_reader *reader, const pl_scene_clusters *clusters,
                           int particle_count)
{
    int32_t *in = PL_SCENE_NEW(reader, int32_t, particle_count);
    return in ? match_members(reader, clusters, in, particle_count) : pl_scene_no_memory(reader);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Each of these can be given in seconds, or per sub-step as in the papers. */
static pl_status check_units(pl_scene_reader *reader, uint32_t node,
                             const pl_scene_clustered *clustered)
{
    static const char *const pairs[][2] = {
        {"frequency", "alpha"}, {"damping", "raw_damping"}, {"flow", "raw_flow"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pl_was_given(&pl_object_clustered, &clustered->place, pairs[i][0]) &&
            pl_was_given(&pl_object_clustered, &clustered->place, pairs[i][1]))
            return PL_SCENE_FAIL(reader, node, "\"%s\" and \"%s\" say the same; give one of them",
                                 pairs[i][0], pairs[i][1]);
    return PL_OK;
}

bool pl_scene_breaks(const pl_scene_clustered *clustered)
{
    return clustered->wanted && isfinite(clustered->def.toughness);
}

pl_status pl_read_clustered(pl_scene_reader *reader, uint32_t node, pl_scene_clustered *clustered)
{
    static const char *const rotations[] = {"auto", "gradient", "least_squares"};
    static const char *const modes[] = {"none", "embedded", "world"};
    pl_clustered_def *def = &clustered->def;
    int rotation = 0, mode = PL_RECLUSTER_EMBEDDED;
    *def = pl_default_clustered_def();
    clustered->wanted = true;
    if (pl_json_kind_of(reader->json, node) == PL_JSON_TRUE)
        return PL_OK;
    PL_TRY(pl_expect(reader, node, PL_JSON_OBJECT, "true, or an object"));
    PL_TRY(pl_read_object(reader, node, &pl_object_clustered, clustered));
    PL_TRY(check_units(reader, node, clustered));
    if (clustered->rotation_node)
        PL_TRY(pl_read_word(reader, clustered->rotation_node, rotations, 3, &rotation));
    if (clustered->recluster_node)
        PL_TRY(pl_read_word(reader, clustered->recluster_node, modes, 3, &mode));
    def->rotation = (pl_cluster_rotation)rotation;
    if (clustered->recluster_node)
        def->recluster = (pl_recluster_mode)mode;
    return PL_OK;
}

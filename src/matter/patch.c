/* Local embedding: Jacobi rounds of fit-and-average that lower Eq. 3.5. For given positions the
   best centres are weighted means and the best rotations least-squares ones; for these the best
   positions are weighted means again. */
#include <string.h>

#include "math/rotation_lanes.h"
#include "matter/recluster.h"

/* ---- Room ------------------------------------------------------------------------------------ */

static size_t take(size_t *size, size_t count, size_t bytes)
{
    size_t at = *size;
    *size += (count * bytes + 63) / 64 * 64;
    return at;
}

bool pl_patch_open(pl_patch *patch, const pl_clustered *c)
{
    size_t n = (size_t)c->n, k = (size_t)c->count, m = (size_t)c->member_count, size = 0;
    size_t local = take(&size, n, sizeof(int32_t)), slot = take(&size, k, sizeof(int32_t));
    size_t cluster = take(&size, k, sizeof(int32_t)), particle = take(&size, n, sizeof(int32_t));
    size_t first = take(&size, k + 1, sizeof(int32_t)), at = take(&size, m, sizeof(int32_t));
    size_t offset = take(&size, m, sizeof(pl_row4)), shift = take(&size, k, sizeof(pl_row4));
    size_t e = take(&size, n, sizeof(pl_row4)), sum = take(&size, n, sizeof(pl_row4));
    size_t last = take(&size, n, sizeof(pl_row4)), mean = take(&size, k, sizeof(pl_row4)),
           turn = take(&size, k, 4 * sizeof(float));
    size_t moment = take(&size, k, 9 * sizeof(float));
    char *block = pl_memory_alloc(c->memory, size, 1);
    *patch = (pl_patch){.clustered = c, .block = block};
    if (!block)
        return false;
    patch->local = (int32_t *)(block + local), patch->slot = (int32_t *)(block + slot);
    patch->cluster = (int32_t *)(block + cluster), patch->particle = (int32_t *)(block + particle);
    patch->first = (int32_t *)(block + first), patch->at = (int32_t *)(block + at);
    patch->offset = (pl_row4 *)(block + offset), patch->shift = (pl_row4 *)(block + shift);
    patch->e = (pl_row4 *)(block + e), patch->sum = (pl_row4 *)(block + sum);
    patch->last = (pl_row4 *)(block + last);
    patch->mean = (pl_row4 *)(block + mean), patch->turn = (float *)(block + turn);
    patch->moment = (float *)(block + moment);
    for (size_t i = 0; i < n; i++)
        patch->local[i] = -1;
    for (size_t i = 0; i < k; i++)
        patch->slot[i] = -1;
    return true;
}

void pl_patch_close(pl_patch *patch)
{
    pl_memory_free(patch->clustered->memory, patch->block);
    *patch = (pl_patch){.clustered = patch->clustered};
}

/* ---- Who is in it ---------------------------------------------------------------------------- */

static void clear(pl_patch *patch)
{
    for (int i = 0; i < patch->particle_count; i++)
        patch->local[patch->particle[i]] = -1;
    for (int k = 0; k < patch->cluster_count; k++)
        patch->slot[patch->cluster[k]] = -1;
    patch->particle_count = patch->cluster_count = 0;
}

static void add_clusters_of(pl_patch *patch, int i)
{
    const pl_clustered *c = patch->clustered;
    for (int at = c->start[i]; at < c->start[i + 1]; at++) {
        int cluster = c->owner[c->place[at]];
        if (patch->slot[cluster] >= 0)
            continue;
        patch->slot[cluster] = patch->cluster_count;
        patch->cluster[patch->cluster_count++] = cluster;
    }
}

static void add_particle(pl_patch *patch, int i, const float *x)
{
    const float *from = x + 3 * (size_t)i;
    int local = patch->particle_count++;
    patch->local[i] = local;
    patch->particle[local] = i;
    patch->e[local] = (pl_row4){from[0] - patch->origin[0], from[1] - patch->origin[1],
                                from[2] - patch->origin[2], 0};
}

/* Members with q = Fᵖ p from the mean that Eq. 3.5 has, which weighs without masses. */
static void add_members(pl_patch *patch, int slot, const float *x)
{
    const pl_clustered *c = patch->clustered;
    const pl_cluster *cluster = c->clusters + patch->cluster[slot];
    const float *f = cluster->plastic;
    pl_row4 column[3], mean = {0};
    for (int k = 0; k < 3; k++)
        column[k] = (pl_row4){f[k], f[3 + k], f[6 + k], 0};
    int at = patch->first[slot], start = at;
    for (int m = cluster->first; m < cluster->first + cluster->count; m++, at++) {
        int i = c->particle[m];
        if (patch->local[i] < 0)
            add_particle(patch, i, x);
        pl_row4 q = column[0] * c->p[0][m] + column[1] * c->p[1][m] + column[2] * c->p[2][m];
        q[3] = 1;
        patch->at[at] = patch->local[i];
        patch->offset[at] = q;
        mean += q * c->weight[m];
        patch->e[patch->local[i]][3] += c->weight[m];
    }
    float total = mean[3];
    mean = total > 0 ? mean / total : (pl_row4){0};
    mean[3] = 0;
    for (int k = start; k < at; k++)
        patch->offset[k] = (patch->offset[k] - mean) * c->weight[cluster->first + k - start];
    mean[3] = total;
    patch->shift[slot] = mean;
    patch->first[slot + 1] = at;
    memcpy(patch->turn + 4 * (size_t)slot, cluster->turn, 4 * sizeof(float));
}

void pl_patch_gather(pl_patch *patch, int seed, const float *x)
{
    const pl_clustered *c = patch->clustered;
    clear(patch);
    memcpy(patch->origin, x + 3 * (size_t)seed, sizeof patch->origin);
    add_clusters_of(patch, seed);
    int own = patch->cluster_count;
    for (int k = 0; k < own; k++) {
        const pl_cluster *cluster = c->clusters + patch->cluster[k];
        for (int m = cluster->first; m < cluster->first + cluster->count; m++)
            add_clusters_of(patch, c->particle[m]);
    }
    for (int k = 0; k < patch->cluster_count; k++)
        add_members(patch, k, x);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Σ w e and Σ e (w q)ᵀ of every cluster, and from the latter its rotation. */
static void fit(pl_patch *patch)
{
    for (int k = 0; k < patch->cluster_count; k++) {
        pl_row4 sum = {0}, x = {0}, y = {0}, z = {0};
        for (int at = patch->first[k]; at < patch->first[k + 1]; at++) {
            pl_row4 e = patch->e[patch->at[at]], q = patch->offset[at];
            x += e * q[0], y += e * q[1], z += e * q[2], sum += e * q[3];
        }
        float total = patch->shift[k][3], *moment = patch->moment + 9 * (size_t)k;
        patch->mean[k] = total > 0 ? sum / total : sum;
        for (int row = 0; row < 3; row++)
            moment[3 * row] = x[row], moment[3 * row + 1] = y[row], moment[3 * row + 2] = z[row];
    }
    pl_rotations_fit((size_t)patch->cluster_count, patch->moment, patch->turn);
}

/* The columns of a rotation. */
static void columns_of(const float q[4], pl_row4 column[3])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    column[0] = (pl_row4){1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0};
    column[1] = (pl_row4){2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0};
    column[2] = (pl_row4){2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0};
}

/* Σ_c w (e_c + R q) of every particle. */
static void vote(pl_patch *patch)
{
    memset(patch->sum, 0, (size_t)patch->particle_count * sizeof *patch->sum);
    for (int k = 0; k < patch->cluster_count; k++) {
        pl_row4 column[3], mean = patch->mean[k];
        columns_of(patch->turn + 4 * (size_t)k, column);
        for (int at = patch->first[k]; at < patch->first[k + 1]; at++) {
            pl_row4 q = patch->offset[at];
            patch->sum[patch->at[at]] +=
                column[0] * q[0] + column[1] * q[1] + column[2] * q[2] + mean * q[3];
        }
    }
}

/* To the weighted means, and beyond them by a part of the way of the last round (Nesterov). Returns
   the squared change; *back > 0 if the last step went too far. */
static double average(pl_patch *patch, float beyond, double *back)
{
    double change = 0;
    *back = 0;
    for (int i = 0; i < patch->particle_count; i++) {
        float total = patch->e[i][3];
        if (!(total > 0))
            continue;
        pl_row4 to = patch->sum[i] / total, d = to - patch->last[i], over = (patch->e[i] - to) * d;
        *back += (double)(over[0] + over[1] + over[2]);
        change += (double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        patch->last[i] = to;
        to += d * beyond;
        to[3] = total;
        patch->e[i] = to;
    }
    return change;
}

int pl_patch_embed(pl_patch *patch, int most_rounds)
{
    double first = 0, back;
    int pace = 0;
    memcpy(patch->last, patch->e, (size_t)patch->particle_count * sizeof *patch->e);
    for (int round = 0; round < most_rounds; round++) {
        fit(patch);
        vote(patch);
        bool end = round + 1 == most_rounds;
        double change = average(patch, end ? 0 : (float)pace / (float)(pace + 3), &back);
        pace = back > 0 ? 0 : pace + 1;
        if (round == 0)
            first = change;
        if (change <= 1e-8 * first)
            return round + 1;
    }
    return most_rounds;
}

double pl_patch_residual(pl_patch *patch)
{
    double sum = 0;
    fit(patch);
    for (int k = 0; k < patch->cluster_count; k++) {
        pl_row4 column[3];
        columns_of(patch->turn + 4 * (size_t)k, column);
        for (int at = patch->first[k]; at < patch->first[k + 1]; at++) {
            pl_row4 q = patch->offset[at];
            if (!(q[3] > 0))
                continue;
            pl_row4 d = (column[0] * q[0] + column[1] * q[1] + column[2] * q[2]) / q[3] -
                        (patch->e[patch->at[at]] - patch->mean[k]);
            sum += (double)(q[3] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        }
    }
    return sum;
}

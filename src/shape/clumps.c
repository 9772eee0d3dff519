/* Clumps by halving: the particles are split at a place along the longest side of their box that
   leaves whole clumps on both sides, until sixteen are left. Pairs that never touch come from the
   graph (two edges) and from a sweep over the rest positions (ellipsoids whose half-widths along
   the line of centres overlap at rest). */
#include "shape/clumps.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

/* Overlapping at rest, with a little room: such pairs would be pushed apart from the first step
   on. */
#define REST_ROOM 1.05f

/* As near as the nearest, nearly. */
#define BESIDE 1.25f

/* ---- Cutting --------------------------------------------------------------------------------- */

typedef struct cut {
    const float *rest;
    int32_t *order; /* [n] particles, to be permuted */
    pl_sort_item *items;
    int32_t *ends; /* of the clumps made so far */
    int count;
} cut;

static int longest_axis(const cut *c, int begin, int end)
{
    float low[3], high[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = c->rest[3 * (size_t)c->order[begin] + (size_t)k];
        for (int i = begin; i < end; i++) {
            float value = c->rest[3 * (size_t)c->order[i] + (size_t)k];
            low[k] = value < low[k] ? value : low[k];
            high[k] = value > high[k] ? value : high[k];
        }
        if (high[k] - low[k] > high[axis] - low[axis])
            axis = k;
    }
    return axis;
}

static void sort_along(cut *c, int begin, int end)
{
    int axis = longest_axis(c, begin, end), count = end - begin;
    for (int i = 0; i < count; i++) {
        int32_t particle = c->order[begin + i];
        c->items[i] = (pl_sort_item){
            pl_sort_float_key(c->rest[3 * (size_t)particle + (size_t)axis]), (uint32_t)particle};
    }
    pl_sort(c->items, c->items + count, (size_t)count);
    for (int i = 0; i < count; i++)
        c->order[begin + i] = (int32_t)c->items[i].index;
}

static int clumps_for(int count)
{
    return (count + PL_CLUMP - 1) / PL_CLUMP;
}

/* As deep as the logarithm of the number of clumps: the sides get as many particles as clumps. */
static void halve(cut *c, int begin, int end)
{
    int count = end - begin, clumps = clumps_for(count), left = clumps / 2;
    if (clumps <= 1) {
        c->ends[c->count++] = end;
        return;
    }
    sort_along(c, begin, end);
    int middle = begin + (int)((int64_t)count * left / clumps);
    halve(c, begin, middle);
    halve(c, middle, end);
}

static void sort_ascending(int32_t *values, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            int32_t swap = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swap;
        }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void shape_matrix(const float q[4], const float r[3], float out[6])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double s = 2 / (x * x + y * y + z * z + w * w);
    double e[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                      {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                      {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
    int at = 0;
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++) {
            double sum = 0;
            for (int m = 0; m < 3; m++)
                sum += e[i][m] * ((double)r[m] * r[m]) * e[k][m];
            out[at++] = (float)sum;
        }
}

static void fill(pl_clumps *clumps, const cut *c, const float *orientation, const float *radii)
{
    for (int k = 0; k < clumps->count; k++) {
        int begin = k ? c->ends[k - 1] : 0, count = c->ends[k] - begin;
        sort_ascending(c->order + begin, count);
        clumps->used[k] = (uint16_t)((1u << count) - 1);
        for (int p = 0; p < PL_CLUMP; p++) {
            int32_t i = c->order[begin + (p < count ? p : 0)];
            const float *r = radii + 3 * (size_t)i;
            float shape[6], most = r[0] > r[1] ? r[0] : r[1];
            shape_matrix(orientation + 4 * (size_t)i, r, shape);
            clumps->particle[PL_CLUMP * k + p] = i;
            for (int m = 0; m < 6; m++)
                clumps->shape[(6 * (size_t)k + (size_t)m) * PL_CLUMP + (size_t)p] = shape[m];
            clumps->radius[PL_CLUMP * k + p] = p < count ? (most > r[2] ? most : r[2]) : 0;
            if (p < count)
                clumps->place[i] = PL_CLUMP * k + p;
        }
    }
}

static float distance_at_rest(const cut *c, int32_t i, int32_t j)
{
    const float *p = c->rest + 3 * (size_t)i, *q = c->rest + 3 * (size_t)j;
    float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
    return sqrtf(x * x + y * y + z * z);
}

static void find_beside(pl_clumps *clumps, const cut *c, int at)
{
    const int32_t *others = clumps->particle + at / PL_CLUMP * PL_CLUMP;
    float far[PL_CLUMP], least = INFINITY;
    for (int k = 0; k < PL_CLUMP; k++) {
        int both = 1 << k | 1 << at % PL_CLUMP;
        bool other = (clumps->used[at / PL_CLUMP] & both) == both && k != at % PL_CLUMP;
        far[k] = other ? distance_at_rest(c, clumps->particle[at], others[k]) : INFINITY;
        least = fminf(least, far[k]);
    }
    clumps->spacing[at] = isfinite(least) ? least : 0;
    for (int k = 0; k < PL_CLUMP; k++)
        if (far[k] <= BESIDE * least && least > 0 && isfinite(least))
            clumps->beside[at] |= (uint16_t)(1u << k);
}

/* ---- Pairs that never touch ------------------------------------------------------------------ */

typedef struct rest_state {
    int n;
    const float *rest, *orientation, *radii;
    const int32_t *start, *neighbour;
} rest_state;

static float half_width(const float shape[6], const float n[3])
{
    float x = shape[0] * n[0] + shape[1] * n[1] + shape[2] * n[2];
    float y = shape[1] * n[0] + shape[3] * n[1] + shape[4] * n[2];
    float z = shape[2] * n[0] + shape[4] * n[1] + shape[5] * n[2];
    float square = x * n[0] + y * n[1] + z * n[2];
    return square > 0 ? sqrtf(square) : 0;
}

static bool overlap_at_rest(const rest_state *s, int i, int j)
{
    float d[3], shape_i[6], shape_j[6], square = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = s->rest[3 * (size_t)j + (size_t)k] - s->rest[3 * (size_t)i + (size_t)k];
        square += d[k] * d[k];
    }
    if (!(square > 0))
        return true;
    float length = sqrtf(square), n[3] = {d[0] / length, d[1] / length, d[2] / length};
    shape_matrix(s->orientation + 4 * (size_t)i, s->radii + 3 * (size_t)i, shape_i);
    shape_matrix(s->orientation + 4 * (size_t)j, s->radii + 3 * (size_t)j, shape_j);
    return length < REST_ROOM * (half_width(shape_i, n) + half_width(shape_j, n));
}

static float reach_of(const rest_state *s, int i)
{
    const float *r = s->radii + 3 * (size_t)i;
    return fmaxf(r[0], fmaxf(r[1], r[2]));
}

/* `reach` is that of i, with room. */
static bool is_near_at_rest(const rest_state *s, int i, int j, float reach)
{
    const float *p = s->rest + 3 * (size_t)i, *q = s->rest + 3 * (size_t)j;
    float far = reach + REST_ROOM * reach_of(s, j);
    float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
    return x * x + y * y + z * z < far * far && overlap_at_rest(s, i, j);
}

/* Particles along the longest axis; pairs whose intervals overlap are looked at. */
static bool sweep_rest(const rest_state *s, const cut *c, pl_array *pairs)
{
    int axis = longest_axis(c, 0, s->n);
    float most = 0;
    for (int i = 0; i < s->n; i++) {
        c->items[i] =
            (pl_sort_item){pl_sort_float_key(s->rest[3 * (size_t)i + (size_t)axis]), (uint32_t)i};
        most = fmaxf(most, reach_of(s, i));
    }
    pl_sort(c->items, c->items + s->n, (size_t)s->n);
    for (int a = 0; a < s->n; a++) {
        int i = (int)c->items[a].index;
        const float *p = s->rest + 3 * (size_t)i;
        float reach = REST_ROOM * reach_of(s, i);
        for (int b = a + 1; b < s->n; b++) {
            int j = (int)c->items[b].index;
            const float *q = s->rest + 3 * (size_t)j;
            if (q[axis] - p[axis] > reach + REST_ROOM * most)
                break;
            if (!is_near_at_rest(s, i, j, reach))
                continue;
            int32_t *pair = pl_array_add(pairs, 2);
            if (!pair)
                return false;
            pair[0] = i, pair[1] = j;
        }
    }
    return true;
}

static bool add_apart(pl_array *places, int32_t place)
{
    int32_t *at = pl_array_add(places, 1);
    if (at)
        *at = place;
    return at != NULL;
}

static bool collect_apart(const pl_clumps *clumps, const rest_state *s, int i,
                          const int32_t *pair_start, const int32_t *pair_other, pl_array *places)
{
    places->count = 0;
    bool good = add_apart(places, clumps->place[i]);
    for (int32_t a = s->start[i]; good && a < s->start[i + 1]; a++) {
        int j = s->neighbour[a];
        good = add_apart(places, clumps->place[j]);
        for (int32_t b = s->start[j]; good && b < s->start[j + 1]; b++)
            good = add_apart(places, clumps->place[s->neighbour[b]]);
    }
    for (int32_t a = pair_start[i]; good && a < pair_start[i + 1]; a++)
        good = add_apart(places, clumps->place[pair_other[a]]);
    return good;
}

/* Sorted places become one entry per clump. */
static bool write_apart(pl_array *places, pl_sort_item **items, pl_memory *memory, size_t *capacity,
                        pl_array *clump, pl_array *mask)
{
    size_t count = places->count;
    const int32_t *place = places->data;
    if (2 * count > *capacity) {
        pl_memory_free(memory, *items);
        *capacity = 4 * count;
        *items = PL_NEW(memory, pl_sort_item, *capacity);
        if (!*items)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        (*items)[i] = (pl_sort_item){(uint64_t)place[i], 0};
    pl_sort(*items, *items + count, count);
    int32_t last = -1;
    for (size_t i = 0; i < count; i++) {
        int32_t at = (int32_t)(*items)[i].key / PL_CLUMP;
        uint16_t bit = (uint16_t)(1u << ((*items)[i].key % PL_CLUMP));
        if (at != last) {
            int32_t *new_clump = pl_array_add(clump, 1);
            uint16_t *new_mask = pl_array_add(mask, 1);
            if (!new_clump || !new_mask)
                return false;
            *new_clump = last = at;
            *new_mask = 0;
        }
        ((uint16_t *)mask->data)[mask->count - 1] |= bit;
    }
    return true;
}

static bool find_apart(pl_memory *memory, pl_clumps *clumps, const rest_state *s, const cut *c)
{
    pl_array pairs = pl_array_make(memory, sizeof(int32_t)), places = pairs;
    pl_array clump = pairs, mask = pl_array_make(memory, sizeof(uint16_t));
    pl_sort_item *items = NULL;
    size_t capacity = 0;
    int32_t *start = PL_NEW(memory, int32_t, s->n + 2), *other = NULL;
    bool good = start && sweep_rest(s, c, &pairs);
    other = good ? PL_NEW(memory, int32_t, pairs.count) : NULL;
    good = other != NULL;
    const int32_t *pair = pairs.data;
    for (size_t k = 0; good && k < pairs.count; k++)
        start[pair[k] + 2]++;
    for (int i = 0; good && i < s->n; i++)
        start[i + 2] += start[i + 1];
    for (size_t k = 0; good && k < pairs.count; k++)
        other[start[pair[k] + 1]++] = pair[k ^ 1];
    for (int i = 0; good && i < s->n; i++) {
        good = collect_apart(clumps, s, i, start, other, &places) &&
               write_apart(&places, &items, memory, &capacity, &clump, &mask);
        clumps->apart_start[i + 1] = (int32_t)clump.count;
    }
    pl_memory_free(memory, items);
    pl_memory_free(memory, start);
    pl_memory_free(memory, other);
    pl_array_free(&pairs);
    pl_array_free(&places);
    clumps->apart_clump = clump.data;
    clumps->apart_mask = mask.data;
    return good;
}

double pl_clumps_crowding(int n, const float *rest, const float *orientation, const float *radii)
{
    rest_state s = {n, rest, orientation, radii, NULL, NULL};
    int looks = n < 32 ? n : 32;
    double found = 0;
    for (int k = 0; k < looks; k++) {
        int i = (int)((int64_t)k * n / looks);
        float reach = REST_ROOM * reach_of(&s, i);
        for (int j = 0; j < n; j++)
            found += j != i && is_near_at_rest(&s, i, j, reach);
    }
    return found / looks;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static bool allocate(pl_memory *memory, pl_clumps *clumps, int n)
{
    size_t places = (size_t)clumps->count * PL_CLUMP;
    return (clumps->particle = PL_NEW(memory, int32_t, places)) &&
           (clumps->used = PL_NEW(memory, uint16_t, clumps->count)) &&
           (clumps->shape = PL_NEW(memory, float, 6 * places)) &&
           (clumps->radius = PL_NEW(memory, float, places)) &&
           (clumps->beside = PL_NEW(memory, uint16_t, places)) &&
           (clumps->spacing = PL_NEW(memory, float, places)) &&
           (clumps->place = PL_NEW(memory, int32_t, n)) &&
           (clumps->apart_start = PL_NEW(memory, int32_t, n + 1));
}

pl_clumps *pl_clumps_create(pl_memory *memory, int n, const float *rest, const float *orientation,
                            const float *radii, const int32_t *start, const int32_t *neighbour)
{
    pl_clumps *clumps = PL_NEW(memory, pl_clumps, 1);
    cut c = {rest, PL_NEW(memory, int32_t, n), PL_NEW(memory, pl_sort_item, 2 * (size_t)n),
             PL_NEW(memory, int32_t, clumps_for(n)), 0};
    rest_state s = {n, rest, orientation, radii, start, neighbour};
    bool good = clumps && c.order && c.items && c.ends;
    if (good) {
        clumps->count = clumps_for(n);
        good = allocate(memory, clumps, n);
    }
    if (good) {
        for (int i = 0; i < n; i++)
            c.order[i] = i;
        halve(&c, 0, n);
        fill(clumps, &c, orientation, radii);
        for (int at = 0; at < clumps->count * PL_CLUMP; at++)
            find_beside(clumps, &c, at);
        good = find_apart(memory, clumps, &s, &c);
    }
    pl_memory_free(memory, c.order);
    pl_memory_free(memory, c.items);
    pl_memory_free(memory, c.ends);
    if (good)
        return clumps;
    pl_clumps_destroy(memory, clumps);
    return NULL;
}

void pl_clumps_destroy(pl_memory *memory, pl_clumps *clumps)
{
    if (!clumps)
        return;
    void *arrays[] = {clumps->particle,    clumps->used,       clumps->shape,
                      clumps->radius,      clumps->place,      clumps->apart_start,
                      clumps->apart_clump, clumps->apart_mask, clumps->beside,
                      clumps->spacing};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_memory_free(memory, arrays[k]);
    pl_memory_free(memory, clumps);
}

/* ---- Growing --------------------------------------------------------------------------------- */

pl_clumps *pl_clumps_copy(pl_memory *memory, const pl_clumps *source, int n, int capacity)
{
    pl_clumps *clumps = PL_NEW(memory, pl_clumps, 1);
    if (!clumps)
        return NULL;
    size_t places = (size_t)source->count * PL_CLUMP;
    clumps->count = source->count + clumps_for(capacity - n);
    if (!allocate(memory, clumps, capacity)) {
        pl_clumps_destroy(memory, clumps);
        return NULL;
    }
    clumps->count = source->count;
    memcpy(clumps->particle, source->particle, places * sizeof *source->particle);
    memcpy(clumps->used, source->used, (size_t)source->count * sizeof *source->used);
    memcpy(clumps->shape, source->shape, 6 * places * sizeof *source->shape);
    memcpy(clumps->radius, source->radius, places * sizeof *source->radius);
    memcpy(clumps->place, source->place, (size_t)n * sizeof *source->place);
    return clumps;
}

void pl_clumps_add_sphere(pl_clumps *clumps, int n, int32_t particle, float radius)
{
    int slot = (particle - n) % PL_CLUMP;
    if (slot == 0) {
        clumps->used[clumps->count] = 0;
        clumps->count++;
    }
    int last = clumps->count - 1;
    float *shape = clumps->shape + 6 * PL_CLUMP * (size_t)last;
    clumps->used[last] |= (uint16_t)(1u << slot);
    clumps->place[particle] = last * PL_CLUMP + slot;
    for (int p = slot; p < (slot == 0 ? PL_CLUMP : slot + 1); p++) {
        clumps->particle[last * PL_CLUMP + p] = particle;
        clumps->radius[last * PL_CLUMP + p] = p == slot ? radius : 0;
        for (int m = 0; m < 6; m++)
            shape[m * PL_CLUMP + p] = m == 0 || m == 3 || m == 5 ? radius * radius : 0;
    }
}

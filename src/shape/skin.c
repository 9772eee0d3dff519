/* Skin weights after Sumner, Schmid and Pauly (2007): the k nearest particles get w = (1 -
   e/e_max)², e_max being the distance of the next one, so that a particle enters and leaves with
   weight zero and the weights vary smoothly. Only one particle, the seed, is looked for in space;
   the others are looked for outwards from it along the graph, so that two legs side by side do not
   share a skin:

       e_j = d_j + max(0, path from the seed to j − d_seed − 3 d_j)      with d_j = |v − x_j|

   In a body without gaps no path is so much longer than the straight way, whichever particle is the
   seed: the weights do not jump where the seed changes. */
#include "shape/skin.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "shape/skin_nearest.h"

/* Particles around a seed that are looked at. */
enum { MAX_CANDIDATES = 96 };

/* Particles of which the seed is chosen, and how much farther than the nearest it may be. */
enum { SEEDS = 8 };
#define SEED_REACH 1.5

/* How much longer than straight a path may be before it counts. (Along the edges of a cubic lattice
   the longest is 2.5 times as long.) */
#define DETOUR 3.0

/* Added to every weight: decides where all candidates are equally far and every weight would be
 * zero. */
#define LEAST_WEIGHT 1e-6

/* ---- The seed -------------------------------------------------------------------------------- */

/* How far a point is from a particle in multiples of its ellipsoid, squared. */
static double ellipsoid_distance2(const pl_model *model, int particle, const double point[3])
{
    const float *rest = model->rest + 3 * (size_t)particle;
    const float *q = model->orientation + 4 * (size_t)particle;
    const float *radii = model->radii + 3 * (size_t)particle;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double d[3] = {point[0] - rest[0], point[1] - rest[1], point[2] - rest[2]};
    double a[3] = {(w * w + x * x - y * y - z * z) * d[0] + 2 * (x * y + z * w) * d[1] +
                       2 * (x * z - y * w) * d[2],
                   2 * (x * y - z * w) * d[0] + (w * w - x * x + y * y - z * z) * d[1] +
                       2 * (y * z + x * w) * d[2],
                   2 * (x * z + y * w) * d[0] + 2 * (y * z - x * w) * d[1] +
                       (w * w - x * x - y * y + z * z) * d[2]};
    for (int k = 0; k < 3; k++)
        a[k] /= radii[k];
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* Of the nearest few the one in or at whose ellipsoid the point is. */
static int32_t choose_seed(const pl_model *model, const double point[3], const pl_near_list *near)
{
    double reach2 = SEED_REACH * SEED_REACH * near->entry[0].distance2, least = INFINITY;
    int32_t seed = near->entry[0].particle;
    for (int k = 0; k < near->count && near->entry[k].distance2 <= reach2; k++) {
        double d = ellipsoid_distance2(model, near->entry[k].particle, point);
        if (d < least) {
            least = d;
            seed = near->entry[k].particle;
        }
    }
    return seed;
}

/* ---- Around the seed ------------------------------------------------------------------------- */

/* The particles nearest to a seed along the edges, ascending by the length of the path. */
typedef struct neighbourhood {
    int count;
    int32_t particle[MAX_CANDIDATES];
    double path[MAX_CANDIDATES];
} neighbourhood;

static double edge_length(const pl_model *model, int32_t edge)
{
    const float *offset = model->edge_offset + 3 * (size_t)edge;
    double x = offset[0], y = offset[1], z = offset[2];
    return sqrt(x * x + y * y + z * z);
}

/* Enters a particle, or shortens its path. Beyond the capacity the farthest is forgotten: paths
   only get shorter, so that it would not have been among the nearest in the end. */
static void reach(neighbourhood *around, int32_t particle, double path)
{
    int at = around->count;
    if (at == MAX_CANDIDATES && path >= around->path[at - 1])
        return;
    for (int k = 0; k < around->count; k++)
        if (around->particle[k] == particle)
            at = k;
    if (at < around->count && around->path[at] <= path)
        return;
    if (at == MAX_CANDIDATES)
        at--;
    else if (at == around->count)
        around->count++;
    for (; at > 0 && around->path[at - 1] > path; at--) {
        around->particle[at] = around->particle[at - 1];
        around->path[at] = around->path[at - 1];
    }
    around->particle[at] = particle;
    around->path[at] = path;
}

/* Dijkstra's algorithm; what has been settled never moves again, as edges have a length. */
static void search_outwards(const pl_model *model, int32_t seed, neighbourhood *around)
{
    around->count = 0;
    reach(around, seed, 0);
    for (int next = 0; next < around->count; next++) {
        int32_t i = around->particle[next];
        for (int32_t p = model->start[i]; p < model->start[i + 1]; p++)
            reach(around, model->neighbour[p],
                  around->path[next] + edge_length(model, model->edge_of[p]));
    }
}

/* ---- Weights --------------------------------------------------------------------------------- */

static void rank(const pl_model *model, const double point[3], const neighbourhood *around,
                 pl_near_list *ranking)
{
    double seed_distance = sqrt(pl_near_distance2(model, around->particle[0], point));
    for (int k = 0; k < around->count; k++) {
        double path = fmax(around->path[k] - seed_distance, 0);
        if (!pl_near_list_takes(ranking, path / DETOUR * (path / DETOUR)))
            return; /* e_j is no less than this, nor will that of any later one be */
        double straight2 = pl_near_distance2(model, around->particle[k], point);
        if (path * path > DETOUR * DETOUR * straight2) {
            double straight = sqrt(straight2), far = straight + (path - DETOUR * straight);
            straight2 = far * far;
        }
        pl_near_list_show(ranking, around->particle[k], straight2);
    }
}

static int weigh(const pl_near_list *ranking, int max, int32_t *particles, float *weights)
{
    int count = ranking->count < max ? ranking->count : max;
    double last = sqrt(ranking->entry[ranking->count - 1].distance2);
    double reach = ranking->count > max ? last : 1.5 * last;
    double weight[PL_MAX_INFLUENCES], sum = 0;
    for (int k = 0; k < count; k++) {
        double near = reach > 0 ? 1 - sqrt(ranking->entry[k].distance2) / reach : 1;
        weight[k] = near * near + LEAST_WEIGHT;
        sum += weight[k];
    }
    for (int k = 0; k < count; k++) {
        particles[k] = ranking->entry[k].particle;
        weights[k] = (float)(weight[k] / sum);
    }
    return count;
}

static int weigh_point(const pl_model *model, const double point[3], const neighbourhood *around,
                       int max, int32_t *particles, float *weights)
{
    pl_near_list ranking = {.capacity = max + 1};
    rank(model, point, around, &ranking);
    return weigh(&ranking, max, particles, weights);
}

int pl_skin_point(const pl_model *model, const double point_units[3], int max, int32_t *particles,
                  float *weights)
{
    max = max < 1 ? 1 : max > PL_MAX_INFLUENCES ? PL_MAX_INFLUENCES : max;
    pl_near_list near = {.capacity = SEEDS, .reach2 = SEED_REACH * SEED_REACH};
    for (int i = 0; i < model->particle_count; i++) {
        double distance2 = pl_near_distance2(model, i, point_units);
        if (pl_near_list_takes(&near, distance2))
            pl_near_list_show(&near, i, distance2);
    }
    neighbourhood around;
    search_outwards(model, choose_seed(model, point_units, &near), &around);
    return weigh_point(model, point_units, &around, max, particles, weights);
}

/* ---- Whole surfaces -------------------------------------------------------------------------- */

/* Scratch of pl_skin_compute. */
typedef struct skinning {
    pl_model *model;
    pl_space_tree tree;
    int32_t *seed;     /* [vertex_count] */
    int32_t *start;    /* [particle_count + 1] into `order` */
    int32_t *order;    /* [vertex_count] vertices by seed */
    int32_t *piece_of; /* [particle_count]; NULL where the graph is in one piece */
} skinning;

static void vertex_point(const pl_model *model, int v, double point[3])
{
    for (int k = 0; k < 3; k++)
        point[k] = model->vertices[3 * (size_t)v + (size_t)k];
}

static int32_t find_seed(const skinning *s, int v, int32_t piece)
{
    double point[3];
    pl_near_list near = {.capacity = SEEDS, .reach2 = SEED_REACH * SEED_REACH};
    vertex_point(s->model, v, point);
    pl_space_tree_search(&s->tree, point, piece, &near);
    return choose_seed(s->model, point, &near);
}

static void sort_by_seed(skinning *s)
{
    int n = s->model->particle_count, count = s->model->vertex_count;
    for (int v = 0; v < count; v++)
        s->start[s->seed[v] + 1]++;
    for (int i = 0; i < n; i++)
        s->start[i + 1] += s->start[i];
    for (int v = count - 1; v >= 0; v--)
        s->order[--s->start[s->seed[v] + 1]] = v;
    /* Now start[i + 1] is where i begins. */
    memmove(s->start, s->start + 1, (size_t)n * sizeof *s->start);
    s->start[n] = count;
}

static void weigh_vertices(skinning *s)
{
    pl_model *model = s->model;
    int max = model->influence_count;
    neighbourhood around;
    for (int32_t i = 0; i < model->particle_count; i++) {
        if (s->start[i] < s->start[i + 1])
            search_outwards(model, i, &around);
        for (int32_t p = s->start[i]; p < s->start[i + 1]; p++) {
            size_t first = (size_t)s->order[p] * (size_t)max;
            double point[3];
            vertex_point(model, s->order[p], point);
            int count = weigh_point(model, point, &around, max, model->influences + first,
                                    model->weights + first);
            for (int k = count; k < max; k++)
                model->influences[first + (size_t)k] = -1;
        }
    }
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Numbers the connected parts of the graph; returns how many there are. `queue` is [n]. */
static int find_pieces(const pl_model *model, int32_t *piece_of, int32_t *queue)
{
    int count = 0;
    for (int i = 0; i < model->particle_count; i++)
        piece_of[i] = -1;
    for (int first = 0; first < model->particle_count; first++) {
        int head = 0, end = 0;
        if (piece_of[first] >= 0)
            continue;
        piece_of[first] = count;
        queue[end++] = first;
        while (head < end) {
            int32_t i = queue[head++];
            for (int32_t p = model->start[i]; p < model->start[i + 1]; p++)
                if (piece_of[model->neighbour[p]] < 0) {
                    piece_of[model->neighbour[p]] = count;
                    queue[end++] = model->neighbour[p];
                }
        }
        count++;
    }
    return count;
}

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a), b = root_of(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

/* parent[v] becomes the first vertex of the connected part of the surface that v is on. */
static void find_patches(const pl_model *model, int32_t *parent)
{
    for (size_t t = 0; t < (size_t)model->triangle_count; t++) {
        join(parent, model->triangles[3 * t], model->triangles[3 * t + 1]);
        join(parent, model->triangles[3 * t], model->triangles[3 * t + 2]);
    }
    for (int v = 0; v < model->vertex_count; v++)
        parent[v] = root_of(parent, v);
}

/* Of each patch, the piece that most of its seeds are in; the first of equals. */
static void vote(const skinning *s, const int32_t *patch_of, pl_sort_item *items, int32_t *piece)
{
    size_t count = (size_t)s->model->vertex_count, most = 0;
    for (size_t v = 0; v < count; v++) {
        uint64_t patch = (uint32_t)patch_of[v], own = (uint32_t)s->piece_of[s->seed[v]];
        items[v] = (pl_sort_item){patch << 32 | own, (uint32_t)v};
    }
    pl_sort(items, items + count, count);
    for (size_t first = 0, next; first < count; first = next) {
        size_t patch = (size_t)(items[first].key >> 32);
        next = first + 1;
        while (next < count && items[next].key == items[first].key)
            next++;
        if (first == 0 || items[first - 1].key >> 32 != patch)
            most = 0;
        if (next - first > most) {
            most = next - first;
            piece[patch] = (int32_t)(uint32_t)items[first].key;
        }
    }
}

/* A patch of the surface is not torn between two pieces that lie inside each other, as an eyeball
   does in its socket: seeds go to the piece of the majority, unless that is far away. */
static void move_seeds(skinning *s, const int32_t *patch_of, const int32_t *piece)
{
    for (int v = 0; v < s->model->vertex_count; v++) {
        int32_t wanted = piece[patch_of[v]];
        if (s->piece_of[s->seed[v]] == wanted)
            continue;
        double point[3];
        int32_t seed = find_seed(s, v, wanted);
        vertex_point(s->model, v, point);
        double before = sqrt(pl_near_distance2(s->model, s->seed[v], point));
        double after = sqrt(pl_near_distance2(s->model, seed, point));
        if (after <= 2 * before + s->model->spacing)
            s->seed[v] = seed;
    }
}

static bool settle_pieces(skinning *s)
{
    pl_memory *memory = &s->model->memory;
    size_t count = (size_t)s->model->vertex_count;
    int32_t *patch_of = PL_NEW(memory, int32_t, count), *piece = PL_NEW(memory, int32_t, count);
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * count);
    bool good = patch_of && piece && items &&
                pl_skin_weld(memory, s->model->vertex_count, s->model->vertices, patch_of);
    if (good) {
        find_patches(s->model, patch_of);
        vote(s, patch_of, items, piece);
        move_seeds(s, patch_of, piece);
    }
    pl_memory_free(memory, patch_of);
    pl_memory_free(memory, piece);
    pl_memory_free(memory, items);
    return good;
}

/* ---- Interface ------------------------------------------------------------------------------- */

static bool make_skinning(skinning *s)
{
    pl_memory *memory = &s->model->memory;
    size_t n = (size_t)s->model->particle_count, count = (size_t)s->model->vertex_count;
    s->seed = PL_NEW(memory, int32_t, count);
    s->order = PL_NEW(memory, int32_t, count);
    s->start = PL_NEW(memory, int32_t, n + 1);
    s->piece_of = PL_NEW(memory, int32_t, n);
    return s->seed && s->order && s->start && s->piece_of &&
           pl_space_tree_build(&s->tree, memory, s->model);
}

static void free_skinning(skinning *s)
{
    pl_memory *memory = &s->model->memory;
    pl_space_tree_free(&s->tree, memory);
    void *blocks[] = {s->seed, s->order, s->start, s->piece_of};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

static bool skin(skinning *s)
{
    if (!make_skinning(s))
        return false;
    s->tree.piece_of = s->piece_of;
    for (int v = 0; v < s->model->vertex_count; v++)
        s->seed[v] = find_seed(s, v, -1);
    bool several = find_pieces(s->model, s->piece_of, s->start) > 1;
    if (several && !settle_pieces(s))
        return false;
    memset(s->start, 0, ((size_t)s->model->particle_count + 1) * sizeof *s->start);
    sort_by_seed(s);
    weigh_vertices(s);
    return true;
}

pl_status pl_skin_compute(pl_model *model, pl_error *error)
{
    skinning s = {.model = model};
    bool good = skin(&s);
    free_skinning(&s);
    PL_CHECK(good, PL_ERROR_MEMORY, error, NULL, "no memory for the skin of %d vertices",
             model->vertex_count);
    return PL_OK;
}

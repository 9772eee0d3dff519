/* Builds the numbers of a system from (model, step, materials, fixed set): dimensionless
   stiffnesses, the matrix L of the global step (METHODS §1) and its factor, and the constants of
   the kernels in float and double. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/sort.h"
#include "matter/oriented.h"
#include "matter/tet_numbers.h"
#include "matter/tetrahedral.h"

/* Above this condition number a solve in float is no longer good to 3·10⁻⁴ of its answer, or a
   second one to 10⁻⁷, and double is used. */
static const double float_condition_limit = 5e3;

/* ---- Stiffness ------------------------------------------------------------------------------- */

/* k_ij = D Y V / (Σ_edges (v_i + v_j)) / ‖x̄_j − x̄_i‖²: exact in tension for regular graphs. */
double pl_edge_stiffness(const pl_model *model, const pl_material *material, int edge)
{
    if (material->stiffness > 0)
        return material->stiffness;
    const float *d = model->edge_offset + 3 * edge;
    double length2 = (double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2];
    length2 *= model->unit * model->unit;
    return model->dimension * material->young * model->volume / model->edge_volume / length2;
}

static double kappa_of(const pl_system_key *key, int edge)
{
    double factor = key->edge_stiffness ? (double)key->edge_stiffness[edge] : 1;
    return pl_edge_stiffness(key->model, &key->material, edge) * factor * key->h * key->h /
           key->material.density;
}

static double mass_of(const pl_system_key *key, int i)
{
    return (key->particle_density ? (double)key->particle_density[i] : 1) * key->model->volumes[i];
}

double pl_hold_stiffness(const pl_system_key *key, const pl_hold *hold)
{
    const pl_model *model = key->model;
    double sum = 0;
    for (int k = 0; k < hold->count; k++) {
        int i = hold->particle[k];
        const double *moment = model->moments + 6 * i;
        double stiffness = hold->kind == PL_PIN_POSITION ? mass_of(key, i) : 0;
        for (int p = model->start[i]; p < model->start[i + 1]; p++)
            stiffness += kappa_of(key, model->edge_of[p]) *
                         (hold->kind == PL_PIN_POSITION
                              ? model->volumes[i] + model->volumes[model->neighbour[p]]
                              : moment[0] + moment[3] + moment[5]);
        sum += hold->weight[k] * stiffness;
    }
    return hold->strength * sum;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void hash_map(pl_hash *hash, const float *map, int count)
{
    pl_hash_u32(hash, map != NULL);
    if (map)
        pl_hash_f32_array(hash, map, (size_t)count);
}

static void hash_hold(pl_hash *hash, const pl_hold *hold)
{
    pl_hash_u32(hash, (uint32_t)hold->kind);
    pl_hash_u32(hash, (uint32_t)hold->count);
    for (int i = 0; i < hold->count; i++) {
        pl_hash_u32(hash, (uint32_t)hold->particle[i]);
        pl_hash_f64(hash, hold->weight[i]);
    }
    pl_hash_f64(hash, hold->stiffness);
}

uint64_t pl_system_key_hash(const pl_system_key *key)
{
    pl_hash hash;
    pl_hash_init(&hash, key->model->hash);
    pl_hash_f64(&hash, key->h);
    pl_hash_f64(&hash, key->material.young);
    pl_hash_f64(&hash, key->material.stiffness);
    pl_hash_f64(&hash, key->material.density);
    hash_map(&hash, key->edge_stiffness, key->model->edge_count);
    hash_map(&hash, key->particle_density, key->model->particle_count);
    pl_hash_u32(&hash, (uint32_t)key->fixed_count);
    for (int i = 0; i < key->fixed_count; i++)
        pl_hash_u32(&hash, (uint32_t)key->fixed[i]);
    pl_hash_u32(&hash, (uint32_t)key->absorbed_count);
    pl_hash_u32(&hash, key->pattern_only);
    for (int i = 0; i < key->absorbed_count; i++)
        hash_hold(&hash, key->absorbed + i);
    if (key->tetrahedral) {
        double numbers[PL_TET_NUMBERS];
        pl_tet_numbers_of(key->tetrahedral, numbers);
        pl_hash_f64_array(&hash, numbers, PL_TET_NUMBERS);
        if (key->tet_stiffness)
            hash_map(&hash, key->tet_stiffness, key->model->tet_count);
    }
    return pl_hash_final(&hash);
}

static bool same_map(const float *a, const float *b, int count)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, sizeof *a * (size_t)count) == 0;
}

static bool same_hold(const pl_hold *a, const pl_hold *b)
{
    size_t count = (size_t)a->count;
    return a->kind == b->kind && a->count == b->count && a->stiffness == b->stiffness &&
           memcmp(a->particle, b->particle, sizeof *a->particle * count) == 0 &&
           memcmp(a->weight, b->weight, sizeof *a->weight * count) == 0;
}

static bool same_tetrahedral(const pl_tetrahedral_def *a, const pl_tetrahedral_def *b)
{
    double numbers[2][PL_TET_NUMBERS];
    if (!a || !b)
        return a == b;
    pl_tet_numbers_of(a, numbers[0]);
    pl_tet_numbers_of(b, numbers[1]);
    return memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0;
}

bool pl_system_key_equal(const pl_system_key *a, const pl_system_key *b)
{
    if (a->model != b->model || a->h != b->h || a->material.young != b->material.young ||
        a->material.stiffness != b->material.stiffness ||
        a->material.density != b->material.density || a->fixed_count != b->fixed_count ||
        a->absorbed_count != b->absorbed_count || a->pattern_only != b->pattern_only)
        return false;
    for (int i = 0; i < a->absorbed_count; i++)
        if (!same_hold(a->absorbed + i, b->absorbed + i))
            return false;
    return same_map(a->edge_stiffness, b->edge_stiffness, a->model->edge_count) &&
           same_map(a->particle_density, b->particle_density, a->model->particle_count) &&
           same_tetrahedral(a->tetrahedral, b->tetrahedral) &&
           same_map(a->tet_stiffness, b->tet_stiffness, a->model->tet_count) &&
           (a->fixed_count == 0 ||
            memcmp(a->fixed, b->fixed, sizeof *a->fixed * (size_t)a->fixed_count) == 0);
}

static void *copy_of(pl_memory *memory, const void *from, size_t count, size_t size)
{
    void *to = pl_memory_alloc(memory, count, size);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

/* The system outlives whatever the key pointed to. */
static bool own_key(pl_memory *memory, pl_system *system, const pl_system_key *key)
{
    pl_system_key *own = &system->key;
    *own = *key;
    own->edge_stiffness = own->particle_density = NULL;
    own->fixed = NULL;
    own->absorbed = NULL;
    own->tetrahedral = NULL;
    own->tet_stiffness = NULL;
    if (key->edge_stiffness)
        own->edge_stiffness =
            copy_of(memory, key->edge_stiffness, (size_t)key->model->edge_count, sizeof(float));
    if (key->particle_density)
        own->particle_density = copy_of(memory, key->particle_density,
                                        (size_t)key->model->particle_count, sizeof(float));
    if (key->tetrahedral)
        own->tetrahedral = copy_of(memory, key->tetrahedral, 1, sizeof *key->tetrahedral);
    if (key->tet_stiffness)
        own->tet_stiffness =
            copy_of(memory, key->tet_stiffness, (size_t)key->model->tet_count, sizeof(float));
    own->fixed = copy_of(memory, key->fixed, (size_t)key->fixed_count, sizeof *key->fixed);
    own->absorbed =
        copy_of(memory, key->absorbed, (size_t)key->absorbed_count, sizeof *key->absorbed);
    return (own->edge_stiffness || !key->edge_stiffness) &&
           (own->particle_density || !key->particle_density) &&
           (own->tetrahedral || !key->tetrahedral) && (own->tet_stiffness || !key->tet_stiffness) &&
           own->fixed && own->absorbed;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* κ, m, L_ii, Σ κ tr Ā. */
static void fill_physics(pl_system *system)
{
    const pl_model *model = system->key.model;
    for (int i = 0; i < system->n; i++) {
        system->mass[i] = mass_of(&system->key, i);
        for (int k = 0; k < 3; k++)
            system->weights[3 * i + k] = system->mass[i];
        system->diagonal[i] = system->mass[i];
        system->total_mass += system->mass[i];
    }
    for (int e = 0; e < system->edge_count; e++) {
        double kappa = kappa_of(&system->key, e);
        int a = model->edges[2 * e], b = model->edges[2 * e + 1];
        double volume = model->volumes[a] + model->volumes[b];
        const double *ma = model->moments + 6 * a, *mb = model->moments + 6 * b;
        system->kappa[e] = kappa;
        system->diagonal[a] += kappa * volume;
        system->diagonal[b] += kappa * volume;
        system->turning[a] += kappa * (ma[0] + ma[3] + ma[5]);
        system->turning[b] += kappa * (mb[0] + mb[3] + mb[5]);
    }
    for (int i = 0; i < system->n; i++)
        system->firmness += (system->diagonal[i] - system->mass[i]) / system->total_mass;
}

/* Twice the entries off the diagonal. */
static void double_corners(const double moment[6], double doubled[3])
{
    doubled[0] = 2 * moment[1];
    doubled[1] = 2 * moment[2];
    doubled[2] = 2 * moment[4];
}

static void fill_grain(pl_system *system, int i)
{
    const pl_model *model = system->key.model;
    const float *r = model->radii + 3 * i;
    double mean = ((double)r[0] + r[1] + r[2]) / 3;
    double density = system->key.particle_density ? (double)system->key.particle_density[i] : 1;
    pl_grain_d grain = {.mass = system->mass[i], .density = density, .scale = 8 * mean * mean};
    memcpy(grain.moment, model->moments + 6 * i, sizeof grain.moment);
    system->own_moment += density * (grain.moment[0] + grain.moment[3] + grain.moment[5]);
    pl_grain_f *single = &system->grain_f[i];
    *single = (pl_grain_f){
        .mass = (float)grain.mass, .density = (float)grain.density, .scale = (float)grain.scale};
    double_corners(grain.moment, grain.doubled);
    for (int k = 0; k < 6; k++)
        single->moment[k] = (float)grain.moment[k];
    for (int k = 0; k < 3; k++)
        single->doubled[k] = (float)grain.doubled[k];
    system->grain_d[i] = grain;
}

static void fill_star(const pl_system *system, int i)
{
    const pl_model *model = system->key.model;
    for (int p = model->start[i]; p < model->start[i + 1]; p++) {
        int e = model->edge_of[p], j = model->neighbour[p];
        double sign = model->edges[2 * e] == i ? 1 : -1;
        double root = sqrt(system->kappa[e] * model->volumes[j]);
        pl_star_d star = {.j = j, .root = root};
        pl_star_f single = {.j = j, .root = (float)root};
        for (int k = 0; k < 6; k++) {
            star.moment[k] =
                system->kappa[e] * (model->moments[6 * i + k] + model->moments[6 * j + k]);
            single.moment[k] = (float)star.moment[k];
        }
        for (int k = 0; k < 3; k++) {
            float offset = model->edge_offset[3 * e + k];
            star.arm[k] = star.root * (sign * (double)offset);
            single.arm[k] = single.root * ((float)sign * offset);
        }
        system->star_d[p] = star;
        system->star_f[p] = single;
    }
}

static void fill_spring(const pl_system *system, int at)
{
    const pl_model *model = system->key.model;
    int e = system->edge_order[at];
    int a = model->edges[2 * e], b = model->edges[2 * e + 1];
    double kappa = system->kappa[e];
    pl_spring_d s = {
        .a = a, .b = b, .claim_a = kappa * model->volumes[b], .claim_b = kappa * model->volumes[a]};
    pl_spring_f single = {.a = a, .b = b, .claim_a = (float)s.claim_a, .claim_b = (float)s.claim_b};
    for (int k = 0; k < 3; k++) {
        single.rest[k] = model->edge_offset[3 * e + k];
        s.rest[k] = single.rest[k];
    }
    for (int k = 0; k < 6; k++)
        s.moment[k] = kappa * (model->moments[6 * a + k] + model->moments[6 * b + k]);
    const double *m = s.moment;
    const double turning[6] = {4 * (m[3] + m[5]), -8 * m[1], -8 * m[2],
                               4 * (m[0] + m[5]), -8 * m[4], 4 * (m[0] + m[3])};
    for (int k = 0; k < 6; k++) {
        s.turning[k] = turning[k];
        single.turning[k] = (float)turning[k];
    }
    system->spring_d[at] = s;
    system->spring_f[at] = single;
}

/* Springs in the order of their ends. */
static bool order_edges(pl_memory *memory, pl_system *system)
{
    const int32_t *edges = system->key.model->edges;
    size_t count = (size_t)system->edge_count;
    pl_sort_item *items = PL_NEW(memory, pl_sort_item, 2 * count);
    if (!items)
        return false;
    for (size_t e = 0; e < count; e++) {
        uint64_t a = (uint64_t)edges[2 * e], b = (uint64_t)edges[2 * e + 1];
        items[e] = (pl_sort_item){a < b ? a << 32 | b : b << 32 | a, (uint32_t)e};
    }
    pl_sort(items, items + count, count);
    for (size_t e = 0; e < count; e++)
        system->edge_order[e] = (int32_t)items[e].index;
    pl_memory_free(memory, items);
    return true;
}

/* ---- The matrix ------------------------------------------------------------------------------ */

/* A graph by adjacency: the model's, or one extended by the couplings of absorbed pins. */
typedef struct graph {
    int32_t *start, *neighbour;
    double *value;
} graph;

static void add_unique(int32_t *list, int32_t *count, int32_t j)
{
    for (int32_t k = 0; k < *count; k++)
        if (list[k] == j)
            return;
    list[(*count)++] = j;
}

/* The neighbours of i with those that absorbed pins add; `list` has room for all. */
static int32_t extended_neighbours(const pl_system *system, int i, int32_t *list)
{
    const pl_model *model = system->key.model;
    int32_t count = 0;
    for (int p = model->start[i]; p < model->start[i + 1]; p++)
        list[count++] = model->neighbour[p];
    for (int c = 0; c < system->key.absorbed_count; c++) {
        const pl_hold *hold = system->key.absorbed + c;
        bool member = false;
        for (int k = 0; k < hold->count; k++)
            member = member || hold->particle[k] == i;
        for (int k = 0; member && k < hold->count; k++)
            if (hold->particle[k] != i)
                add_unique(list, &count, hold->particle[k]);
    }
    return count;
}

static bool make_extended_graph(pl_memory *memory, const pl_system *system, graph *out)
{
    const pl_model *model = system->key.model;
    size_t most = (size_t)(2 * system->edge_count) +
                  (size_t)system->key.absorbed_count * PL_MAX_INFLUENCES * PL_MAX_INFLUENCES;
    out->start = PL_NEW(memory, int32_t, system->n + 1);
    out->neighbour = PL_NEW(memory, int32_t, most);
    if (!out->start || !out->neighbour)
        return false;
    if (system->key.absorbed_count == 0) {
        memcpy(out->start, model->start, sizeof *out->start * (size_t)(system->n + 1));
        memcpy(out->neighbour, model->neighbour,
               sizeof *out->neighbour * (size_t)(2 * system->edge_count));
        return true;
    }
    for (int i = 0; i < system->n; i++)
        out->start[i + 1] =
            out->start[i] + extended_neighbours(system, i, out->neighbour + out->start[i]);
    return true;
}

static void add_value(const graph *g, int i, int j, double value)
{
    for (int p = g->start[i]; p < g->start[i + 1]; p++)
        if (g->neighbour[p] == j)
            g->value[p] += value;
}

/* L_ij = −κ (v_i + v_j), plus w w_i w_j of absorbed pins; fixed particles keep nothing but their
   diagonal (a unit row, at the size of the others, so that it spoils no condition number). */
static void fill_matrix(const pl_system *system, const graph *g, double *diagonal)
{
    const pl_model *model = system->key.model;
    memcpy(diagonal, system->diagonal, sizeof *diagonal * (size_t)system->n);
    for (int i = 0; i < system->n; i++)
        for (int p = model->start[i]; p < model->start[i + 1]; p++) {
            int j = model->neighbour[p];
            double value =
                -system->kappa[model->edge_of[p]] * (model->volumes[i] + model->volumes[j]);
            g->value[g->start[i] + (p - model->start[i])] = value;
        }
    for (int c = 0; !system->key.pattern_only && c < system->key.absorbed_count; c++) {
        const pl_hold *hold = system->key.absorbed + c;
        for (int k = 0; k < hold->count && hold->kind == PL_PIN_POSITION; k++) {
            diagonal[hold->particle[k]] += hold->stiffness * hold->weight[k] * hold->weight[k];
            for (int l = 0; l < hold->count; l++)
                if (l != k)
                    add_value(g, hold->particle[k], hold->particle[l],
                              hold->stiffness * hold->weight[k] * hold->weight[l]);
        }
    }
    for (int i = 0; i < system->n; i++) {
        if (system->is_fixed[i])
            diagonal[i] = system->diagonal[i];
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            if (system->is_fixed[i] || system->is_fixed[g->neighbour[p]])
                g->value[p] = 0;
    }
}

/* Every edge stands in the column of its earlier pivot. */
static void find_edge_entries(const pl_system *system)
{
    const pl_symbolic *symbolic = system->symbolic;
    for (int e = 0; e < system->edge_count; e++) {
        int a = symbolic->inverse[system->spring_d[e].a],
            b = symbolic->inverse[system->spring_d[e].b];
        int early = a < b ? a : b, late = a < b ? b : a;
        int64_t low = symbolic->col_start[early], high = symbolic->col_start[early + 1];
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (symbolic->col_index[middle] < late)
                low = middle + 1;
            else
                high = middle;
        }
        system->edge_entry[e] = low;
    }
}

static pl_status factorise(pl_memory *memory, pl_system *system, const graph *g, double *diagonal,
                           pl_error *error)
{
    if (system->key.absorbed_count) {
        pl_status status = pl_symbolic_create(memory, system->n, g->start, g->neighbour, NULL,
                                              &system->own_symbolic);
        if (status)
            return pl_fail(error, status, "pins", "no memory for the pattern of the pins");
        system->symbolic = system->own_symbolic;
    }
    find_edge_entries(system);
    fill_matrix(system, g, diagonal);
    int bad = -1;
    pl_status status =
        pl_factor_create(memory, system->symbolic, diagonal, g->value, &system->factor, &bad);
    if (status == PL_ERROR_MEMORY)
        return pl_fail(error, status, "", "no memory for the factor of %d particles", system->n);
    if (status)
        return pl_fail(
            error, status, "material",
            "the stiffness of particle %d is out of range: use a smaller stiffness or step", bad);
    return PL_OK;
}

static pl_status build_factor(pl_memory *memory, pl_system *system, pl_error *error)
{
    graph g = {0};
    double *diagonal = PL_NEW(memory, double, 2 * (size_t)system->n + 2);
    pl_status status = PL_ERROR_MEMORY;
    if (diagonal && make_extended_graph(memory, system, &g))
        g.value = PL_NEW(memory, double, g.start[system->n]);
    if (g.value)
        status = factorise(memory, system, &g, diagonal, error);
    else
        pl_fail(error, status, "", "no memory for a system of %d particles", system->n);
    if (status == PL_OK) {
        system->condition = pl_factor_condition(system->factor, !system->grounded, diagonal);
        bool pinned =
            system->key.absorbed_count > 0 && !system->key.pattern_only; /* at any strength */
        system->twice = pinned || !(system->condition <= float_condition_limit);
    }
    pl_memory_free(memory, g.start);
    pl_memory_free(memory, g.neighbour);
    pl_memory_free(memory, g.value);
    pl_memory_free(memory, diagonal);
    return status;
}

/* ---- Whole ----------------------------------------------------------------------------------- */

static bool allocate(pl_memory *memory, pl_system *s)
{
    size_t n = (size_t)s->n, m = (size_t)s->edge_count;
    return (s->kappa = PL_NEW(memory, double, m)) && (s->mass = PL_NEW(memory, double, n)) &&
           (s->weights = PL_NEW(memory, double, 3 * n)) &&
           (s->diagonal = PL_NEW(memory, double, n)) && (s->turning = PL_NEW(memory, double, n)) &&
           (s->is_fixed = PL_NEW(memory, uint8_t, n)) &&
           (s->edge_entry = PL_NEW(memory, int64_t, m)) &&
           (s->edge_order = PL_NEW(memory, int32_t, m)) &&
           (s->star_f = PL_NEW(memory, pl_star_f, 2 * m)) &&
           (s->star_d = PL_NEW(memory, pl_star_d, 2 * m)) &&
           (s->spring_f = PL_NEW(memory, pl_spring_f, m)) &&
           (s->spring_d = PL_NEW(memory, pl_spring_d, m)) &&
           (s->grain_f = PL_NEW(memory, pl_grain_f, n)) &&
           (s->grain_d = PL_NEW(memory, pl_grain_d, n));
}

static bool is_usable(const pl_system *system)
{
    bool good = isfinite(system->total_mass) && system->total_mass > 0;
    for (int i = 0; good && i < system->n; i++)
        good = system->mass[i] > 1e-30 && system->diagonal[i] < 1e30;
    return good;
}

static pl_status fill(pl_memory *memory, pl_system *system, pl_error *error)
{
    for (int i = 0; i < system->key.fixed_count; i++)
        system->is_fixed[system->key.fixed[i]] = 1;
    fill_physics(system);
    if (!is_usable(system))
        return pl_fail(error, PL_ERROR_ARGUMENT, "material",
                       "stiffness times step² over density is out of range (up to about 1e25 "
                       "works): use a smaller "
                       "stiffness or step, or a larger density");
    for (int i = 0; i < system->n; i++) {
        fill_grain(system, i);
        fill_star(system, i);
    }
    PL_CHECK(order_edges(memory, system), PL_ERROR_MEMORY, error, "",
             "no memory for a system of %d particles", system->n);
    for (int e = 0; e < system->edge_count; e++)
        fill_spring(system, e);
    return build_factor(memory, system, error);
}

pl_status pl_system_create(pl_memory *memory, const pl_system_key *key, pl_system **out,
                           pl_error *error)
{
    *out = NULL;
    pl_system *system = PL_NEW(memory, pl_system, 1);
    if (!system)
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for a system");
    system->references = 1;
    system->n = key->model->particle_count;
    system->edge_count = key->model->edge_count;
    system->symbolic = key->model->symbolic;
    double unit = key->model->unit;
    system->density = key->material.density;
    system->mass_unit = system->density * unit * unit * unit;
    system->energy_unit = system->mass_unit * (unit * unit) / (key->h * key->h);
    system->hash = pl_system_key_hash(key);
    pl_status status = PL_ERROR_MEMORY;
    if (own_key(memory, system, key) && allocate(memory, system)) {
        system->grounded = key->fixed_count > 0 || (key->absorbed_count > 0 && !key->pattern_only);
        status = fill(memory, system, error);
    } else {
        pl_fail(error, status, "", "no memory for a system of %d particles", system->n);
    }
    if (status) {
        pl_system_destroy(memory, system);
        return status;
    }
    pl_model_retain(system->key.model);
    *out = system;
    return PL_OK;
}

/* Spheres that do not turn: no moments, and nothing off the diagonal. */
static bool allocate_loose(pl_memory *memory, pl_system *s, size_t n)
{
    return (s->mass = PL_NEW(memory, double, n)) && (s->weights = PL_NEW(memory, double, 3 * n)) &&
           (s->diagonal = PL_NEW(memory, double, n)) &&
           (s->is_fixed = PL_NEW(memory, uint8_t, n)) &&
           (s->grain_d = PL_NEW(memory, pl_grain_d, n));
}

void pl_system_reload(pl_system *s, int n, const float *mass)
{
    s->n = n;
    s->total_mass = 0;
    for (size_t i = 0; i < (size_t)n; i++) {
        s->mass[i] = s->diagonal[i] = s->grain_d[i].mass = (double)mass[i];
        s->is_fixed[i] = 0;
        for (size_t k = 0; k < 3; k++)
            s->weights[3 * i + k] = s->mass[i];
        s->total_mass += s->mass[i];
    }
    for (int i = 0; i < s->key.fixed_count; i++)
        s->is_fixed[s->key.fixed[i]] = 1;
}

pl_status pl_system_create_loose(pl_memory *memory, const pl_system_key *key, int n, int capacity,
                                 const float *mass, pl_system **out, pl_error *error)
{
    *out = NULL;
    pl_system *system = PL_NEW(memory, pl_system, 1);
    PL_CHECK(system, PL_ERROR_MEMORY, error, "", "no memory for a system");
    double unit = key->model->unit;
    system->references = 1;
    system->loose = true;
    system->density = key->material.density;
    system->mass_unit = system->density * unit * unit * unit;
    system->energy_unit = system->mass_unit * (unit * unit) / (key->h * key->h);
    system->grounded = key->fixed_count > 0;
    system->hash = pl_system_key_hash(key);
    if (!own_key(memory, system, key) || !allocate_loose(memory, system, (size_t)capacity)) {
        system->loose = false; /* holds no reference yet */
        pl_system_destroy(memory, system);
        return pl_fail(error, PL_ERROR_MEMORY, "", "no memory for a system of %d particles", n);
    }
    pl_system_reload(system, n, mass);
    pl_model_retain(system->key.model);
    *out = system;
    return PL_OK;
}

/* A system that was never finished holds no reference to its model: its factor is missing. */
void pl_system_destroy(pl_memory *memory, pl_system *system)
{
    if (!system)
        return;
    bool finished = system->factor != NULL || system->loose;
    void *blocks[] = {(void *)system->key.edge_stiffness,
                      (void *)system->key.particle_density,
                      (void *)system->key.fixed,
                      (void *)system->key.absorbed,
                      (void *)system->key.tetrahedral,
                      (void *)system->key.tet_stiffness,
                      system->kappa,
                      system->mass,
                      system->weights,
                      system->diagonal,
                      system->turning,
                      system->is_fixed,
                      system->edge_entry,
                      system->edge_order,
                      system->star_f,
                      system->star_d,
                      system->spring_f,
                      system->spring_d,
                      system->grain_f,
                      system->grain_d};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
    pl_factor_destroy(memory, system->factor);
    pl_symbolic_destroy(memory, system->own_symbolic);
    pl_tet_system_drop(system->tets);
    if (finished)
        pl_model_release(system->key.model);
    pl_memory_free(memory, system);
}

/* One entry of "bodies" as many: places on a lattice, each displaced and turned at random, or
   places anywhere in a box that keep their distance. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "io/scene_parts.h"

static pl_status read_pitch(pl_scene_reader *reader, uint32_t node, double pitch[3])
{
    static const pl_field range = {.low = 0, .high = 1e9};
    if (pl_json_kind_of(reader->json, node) == PL_JSON_NUMBER) {
        PL_TRY(pl_read_number(reader, node, &range, &pitch[0]));
        pitch[1] = pitch[2] = pitch[0];
        return PL_OK;
    }
    PL_TRY(pl_expect(reader, node, PL_JSON_ARRAY, "a distance, or three [x, y, z]"));
    PL_TRY(pl_read_vector(reader, node, pitch));
    for (uint32_t k = 0; k < 3; k++)
        PL_TRY(pl_read_number(reader, node + 1 + k, &range, &pitch[k]));
    return PL_OK;
}

static pl_status check_total(pl_scene_reader *reader, const pl_raw_array *raw, double places,
                             int *total)
{
    static const double most = 1e6;
    bool limited = pl_was_given(&pl_object_array, &raw->place, "limit");
    if (limited && raw->limit > places)
        return PL_SCENE_FAIL(reader, pl_json_member(reader->json, raw->place.node, "limit"),
                             "must be at most %.0f, as many as \"count\" has places, not %d",
                             places, raw->limit);
    if (!limited && places > most)
        return PL_SCENE_FAIL(reader, raw->count, "makes %.0f bodies; the most is %.0f", places,
                             most);
    *total = limited ? raw->limit : (int)places;
    return PL_OK;
}

/* Which keys belong to a box, and which to a lattice. */
static pl_status check_keys(pl_scene_reader *reader, const pl_raw_array *raw)
{
    static const struct {
        const char *key;
        bool in_box, needed;
    } rules[] = {{"pitch", false, true},
                 {"scatter", false, false},
                 {"limit", false, false},
                 {"spacing", true, true}};
    const char *kind = raw->box ? "in a \"box\"" : "on a lattice";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool given = pl_was_given(&pl_object_array, &raw->place, rules[i].key);
        if (given && rules[i].in_box != (raw->box != 0))
            return PL_SCENE_FAIL(reader,
                                 pl_json_member(reader->json, raw->place.node, rules[i].key),
                                 "does not belong to an array %s", kind);
        if (!given && rules[i].needed && rules[i].in_box == (raw->box != 0))
            return PL_SCENE_FAIL(reader, raw->place.node, "the key \"%s\" is missing",
                                 rules[i].key);
    }
    return PL_OK;
}

pl_status pl_read_lattice(pl_scene_reader *reader, uint32_t node, pl_lattice *lattice)
{
    pl_raw_array raw = {0};
    double counts[3] = {1, 1, 1};
    PL_TRY(pl_read_object(reader, node, &pl_object_array, &raw));
    PL_TRY(check_keys(reader, &raw));
    *lattice = (pl_lattice){.scatter = raw.scatter,
                            .tumble = raw.tumble,
                            .seed = raw.seed,
                            .in_box = raw.box != 0,
                            .spacing = raw.spacing,
                            .node = node};
    if (raw.box) {
        PL_TRY(pl_read_box(reader, raw.box, lattice->lower, lattice->upper));
        return pl_read_integer(reader, raw.count, 1, 1000000, &lattice->total);
    }
    PL_TRY(pl_read_measures(reader, raw.count, true, counts));
    PL_TRY(read_pitch(reader, raw.pitch, lattice->pitch));
    for (int k = 0; k < 3; k++)
        lattice->count[k] = (int)counts[k];
    return check_total(reader, &raw, counts[0] * counts[1] * counts[2], &lattice->total);
}

static double between(pl_rng *rng, double extent)
{
    return extent * (2 * pl_random_double(rng) - 1);
}

/* Uniform on the sphere: points of the cube that are outside the ball are drawn again. */
static void random_axis(pl_rng *rng, double axis[3])
{
    double square;
    do {
        square = 0;
        for (int k = 0; k < 3; k++) {
            axis[k] = between(rng, 1);
            square += axis[k] * axis[k];
        }
    } while (square > 1 || square < 1e-6);
    for (int k = 0; k < 3; k++)
        axis[k] /= sqrt(square);
}

/* ---- In a box -------------------------------------------------------------------------------- */

/* Places so far, found again by the cell of the lattice they are in: cells are as wide as the
   spacing, so only neighbours can be too near. */
typedef struct darts {
    const pl_lattice *lattice;
    size_t capacity;
    int *first, *next; /* lists of places by hash of their cell, numbers + 1 */
    const pl_scene_body *bodies;
    double origin[3];
} darts;

/* Cells that are neighbours along x have neighbouring slots: they are looked at together. */
static size_t cell_slot(const darts *d, const double cell[3])
{
    uint64_t hash = (uint64_t)(int64_t)cell[1] * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 29 ^ (uint64_t)(int64_t)cell[2]) * UINT64_C(0xBF58476D1CE4E5B9);
    return ((hash ^ hash >> 32) + (uint64_t)(int64_t)cell[0]) & (d->capacity - 1);
}

static void find_cell(const darts *d, const double place[3], double cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = fmin(floor((place[k] - d->lattice->lower[k]) / d->lattice->spacing), 1e15);
}

static bool is_near(const darts *d, const double a[3], int other)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double distance = a[k] - (d->bodies[other].position[k] - d->origin[k]);
        square += distance * distance;
    }
    return square < d->lattice->spacing * d->lattice->spacing;
}

static bool is_free(const darts *d, const double place[3])
{
    double cell[3], near_cell[3];
    if (d->lattice->spacing == 0)
        return true;
    find_cell(d, place, cell);
    for (int n = 0; n < 27; n++) {
        near_cell[0] = cell[0] + n % 3 - 1;
        near_cell[1] = cell[1] + n / 3 % 3 - 1;
        near_cell[2] = cell[2] + n / 9 - 1;
        for (int i = d->first[cell_slot(d, near_cell)]; i; i = d->next[i - 1])
            if (is_near(d, place, i - 1))
                return false;
    }
    return true;
}

static void remember(darts *d, const double place[3], int index)
{
    double cell[3];
    if (d->lattice->spacing == 0)
        return;
    find_cell(d, place, cell);
    size_t slot = cell_slot(d, cell);
    d->next[index] = d->first[slot];
    d->first[slot] = index + 1;
}

/* Darts are thrown until one is far enough from all before; a box that is nearly full is given up
   when too many have missed. */
static bool throw_dart(const darts *d, pl_rng *rng, int64_t *misses, double place[3])
{
    for (; *misses < 20000 + 10 * (int64_t)d->lattice->total; ++*misses) {
        for (int k = 0; k < 3; k++)
            place[k] = d->lattice->lower[k] +
                       (d->lattice->upper[k] - d->lattice->lower[k]) * pl_random_double(rng);
        if (is_free(d, place))
            return true;
    }
    return false;
}

static void tumble(const pl_lattice *lattice, pl_rng *rng, pl_scene_body *body)
{
    double axis[3];
    random_axis(rng, axis);
    double degrees = lattice->tumble * pl_random_double(rng);
    pl_quaternion_from_degrees(axis, degrees, body->tumble);
}

/* Balls thrown at random fill 38 % of a large space and no more: what is beyond need not be
   tried. */
static bool can_fit(const pl_lattice *lattice)
{
    double volume = 1, s = lattice->spacing;
    for (int k = 0; k < 3; k++)
        volume *= lattice->upper[k] - lattice->lower[k] + s;
    return lattice->total < 100 || lattice->total * 0.5236 * s * s * s < 0.4 * volume;
}

static pl_status fail_box(pl_scene_reader *reader, const pl_lattice *lattice)
{
    return PL_SCENE_FAIL(reader, lattice->node,
                         "%d do not fit into this box at random at this spacing; make the box "
                         "larger, or \"count\" or \"spacing\" smaller",
                         lattice->total);
}

static pl_status place_in_box(pl_scene_reader *reader, const pl_lattice *lattice,
                              pl_scene_body *bodies)
{
    darts d = {.lattice = lattice, .capacity = 16, .bodies = bodies};
    if (!can_fit(lattice))
        return fail_box(reader, lattice);
    while (d.capacity < 2 * (size_t)lattice->total)
        d.capacity *= 2;
    memcpy(d.origin, bodies->position, sizeof d.origin);
    d.first = PL_SCENE_NEW(reader, int, d.capacity);
    d.next = PL_SCENE_NEW(reader, int, lattice->total);
    if (!d.first || !d.next)
        return pl_scene_no_memory(reader);
    pl_rng places = pl_rng_make((uint64_t)lattice->seed),
           turns = pl_rng_make((uint64_t)lattice->seed + (UINT64_C(1) << 32));
    int64_t misses = 0;
    for (int i = 0; i < lattice->total; i++) {
        double place[3];
        if (!throw_dart(&d, &places, &misses, place))
            return fail_box(reader, lattice);
        remember(&d, place, i);
        for (int k = 0; k < 3; k++)
            bodies[i].position[k] = d.origin[k] + place[k];
        tumble(lattice, &turns, &bodies[i]);
    }
    return PL_OK;
}

/* ---- On a lattice ---------------------------------------------------------------------------- */

/* Everything is drawn whether it is wanted or not, so that "scatter" can be changed without
   changing how the bodies are turned. */
pl_status pl_place_on_lattice(pl_scene_reader *reader, const pl_lattice *lattice,
                              pl_scene_body *bodies)
{
    if (lattice->in_box)
        return place_in_box(reader, lattice, bodies);
    const int *count = lattice->count;
    pl_rng rng = pl_rng_make((uint64_t)lattice->seed);
    for (int i = 0; i < lattice->total; i++) {
        const double place[3] = {i % count[0] - 0.5 * (count[0] - 1), i / count[0] / count[2],
                                 i / count[0] % count[2] - 0.5 * (count[2] - 1)};
        for (int k = 0; k < 3; k++)
            bodies[i].position[k] += lattice->pitch[k] * place[k] + between(&rng, lattice->scatter);
        tumble(lattice, &rng, &bodies[i]);
    }
    return PL_OK;
}

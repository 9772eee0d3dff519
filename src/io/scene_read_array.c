/* One entry of "bodies" as many: places on a lattice, each displaced and turned at random. */
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

pl_status pl_read_lattice(pl_scene_reader *reader, uint32_t node, pl_lattice *lattice)
{
    pl_raw_array raw = {0};
    double counts[3] = {1, 1, 1};
    PL_TRY(pl_read_object(reader, node, &pl_object_array, &raw));
    PL_TRY(pl_read_measures(reader, raw.count, true, counts));
    PL_TRY(read_pitch(reader, raw.pitch, lattice->pitch));
    for (int k = 0; k < 3; k++)
        lattice->count[k] = (int)counts[k];
    lattice->scatter = raw.scatter;
    lattice->tumble = raw.tumble;
    lattice->seed = raw.seed;
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

/* Everything is drawn whether it is wanted or not, so that "scatter" can be changed without
   changing how the bodies are turned. */
void pl_place_on_lattice(const pl_lattice *lattice, pl_scene_body *bodies)
{
    const int *count = lattice->count;
    pl_rng rng = pl_rng_make((uint64_t)lattice->seed);
    for (int i = 0; i < lattice->total; i++) {
        const double place[3] = {i % count[0] - 0.5 * (count[0] - 1), i / count[0] / count[2],
                                 i / count[0] % count[2] - 0.5 * (count[2] - 1)};
        double axis[3];
        for (int k = 0; k < 3; k++)
            bodies[i].position[k] += lattice->pitch[k] * place[k] + between(&rng, lattice->scatter);
        random_axis(&rng, axis);
        double degrees = lattice->tumble * pl_random_double(&rng);
        pl_quaternion_from_degrees(axis, degrees, bodies[i].tumble);
    }
}

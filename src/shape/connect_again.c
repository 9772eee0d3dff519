/* Sampling and connecting in one go, more than once where it helps. */
#include "base/error.h"
#include "base/rng.h"
#include "shape/connect.h"

/* How often, and up to how many particles: with more, limbs are straight between two. */
enum { ATTEMPTS = 24, FEW_PARTICLES = 1500 };

typedef struct attempt {
    pl_samples samples;
    pl_graph_parts parts;
} attempt;

static void attempt_free(pl_memory *memory, attempt *a)
{
    pl_samples_free(memory, &a->samples);
    pl_graph_parts_free(memory, &a->parts);
}

static pl_status make(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                      const pl_sample_def *sampling, const pl_connect_def *def, attempt *a,
                      pl_error *error)
{
    *a = (attempt){0};
    switch (def->kind) {
    case PL_COOK_SOLID:
        PL_CHECK(inside, PL_ERROR_ARGUMENT, error, "inside", "a solid needs an inside test");
        PL_TRY(pl_sample_volume(memory, surface, inside, sampling, &a->samples, error));
        break;
    case PL_COOK_SHELL:
        PL_TRY(pl_sample_surface(memory, surface, sampling, &a->samples, error));
        break;
    default:
        PL_TRY(pl_sample_curves(memory, surface, sampling, &a->samples, error));
        break;
    }
    pl_connect_def own = *def;
    if (!(own.thickness > 0))
        own.thickness = a->samples.distance / 3;
    pl_status status = pl_connect(memory, surface, inside, &a->samples, &own, &a->parts, error);
    if (status != PL_OK)
        attempt_free(memory, a);
    return status;
}

static double air(const attempt *a)
{
    return a->parts.air / a->samples.distance;
}

pl_status pl_sample_and_connect(pl_memory *memory, const pl_surface *surface,
                                const pl_inside *inside, const pl_sample_def *sampling,
                                const pl_connect_def *def, pl_samples *samples,
                                pl_graph_parts *parts, pl_error *error)
{
    attempt best, next;
    pl_sample_def again = *sampling;
    *samples = (pl_samples){0};
    *parts = (pl_graph_parts){0};
    PL_TRY(make(memory, surface, inside, sampling, def, &best, error));
    bool few = best.samples.count <= FEW_PARTICLES && sampling->sampling == PL_COOK_POISSON;
    for (int k = 0; k < ATTEMPTS && few && air(&best) > 1; k++) {
        again.seed = pl_random_at(sampling->seed, (uint64_t)k);
        pl_status status = make(memory, surface, inside, &again, def, &next, error);
        if (status != PL_OK) {
            attempt_free(memory, &best);
            return status;
        }
        bool better = air(&next) < air(&best);
        attempt_free(memory, better ? &best : &next);
        if (better)
            best = next;
    }
    *samples = best.samples;
    *parts = best.parts;
    return PL_OK;
}

/* The tetrahedra of a cooked model: made to fill the volume, or those the mesh came with, without
   such as are too flat. */
#include <string.h>

#include "base/error.h"
#include "shape/cook_parts.h"
#include "shape/tet_flat.h"

static bool is_flat(const double *points, const int32_t tet[4], double size)
{
    const double *p[4];
    double volume6, longest2;
    for (int c = 0; c < 4; c++)
        p[c] = points + 3 * (size_t)tet[c];
    pl_tet_measure(p, &volume6, &longest2);
    return !(volume6 > 0) || pl_tet_is_flat(volume6, longest2, size);
}

/* Leaves the tetrahedra that survive, and the corners these use. */
static pl_status compact(pl_kitchen *kitchen, pl_error *error)
{
    pl_tets *tets = &kitchen->tets;
    int32_t *new_of = PL_NEW(&kitchen->memory, int32_t, tets->point_count);
    PL_CHECK(new_of, PL_ERROR_MEMORY, error, NULL, "no memory for %d tetrahedra", tets->tet_count);
    int kept = 0, points = 0;
    for (size_t t = 0; t < (size_t)tets->tet_count; t++) {
        if (is_flat(tets->points, tets->tets + 4 * t, kitchen->surface->size))
            continue;
        memmove(tets->tets + 4 * (size_t)kept, tets->tets + 4 * t, 4 * sizeof *tets->tets);
        kept++;
    }
    tets->tet_count = kept;
    for (size_t i = 0; i < 4 * (size_t)kept; i++)
        new_of[tets->tets[i]] = 1;
    for (int i = 0; i < tets->point_count; i++) {
        if (!new_of[i])
            continue;
        memmove(tets->points + 3 * (size_t)points, tets->points + 3 * (size_t)i,
                3 * sizeof *tets->points);
        new_of[i] = points++;
    }
    tets->point_count = points;
    for (size_t i = 0; i < 4 * (size_t)kept; i++)
        tets->tets[i] = new_of[tets->tets[i]];
    pl_memory_free(&kitchen->memory, new_of);
    return PL_OK;
}

static pl_status copy_tets(pl_kitchen *kitchen, pl_error *error)
{
    const pl_surface *surface = kitchen->surface;
    size_t points = 3 * (size_t)surface->point_count, corners = 4 * (size_t)surface->tet_count;
    pl_tets *tets = &kitchen->tets;
    tets->points = PL_NEW(&kitchen->memory, double, points);
    tets->tets = PL_NEW(&kitchen->memory, int32_t, corners);
    PL_CHECK(tets->points && tets->tets, PL_ERROR_MEMORY, error, NULL,
             "no memory for %d tetrahedra", surface->tet_count);
    memcpy(tets->points, surface->points, points * sizeof *tets->points);
    memcpy(tets->tets, surface->tets, corners * sizeof *tets->tets);
    tets->point_count = surface->point_count;
    tets->tet_count = surface->tet_count;
    return PL_OK;
}

pl_status pl_cook_find_tets(pl_kitchen *kitchen, pl_error *error)
{
    int wanted = kitchen->def->tet_count;
    if (wanted == 0 && kitchen->surface->tet_count == 0)
        return PL_OK;
    if (wanted > 0) {
        PL_CHECK(kitchen->inside && kitchen->report.mesh.volume > 0, PL_ERROR_ARGUMENT, error,
                 "tet_count", "the mesh encloses no volume that tetrahedra could fill");
        PL_TRY(pl_tetrahedralise(&kitchen->memory, kitchen->surface, kitchen->inside, wanted,
                                 &kitchen->tets, error));
    } else {
        PL_TRY(copy_tets(kitchen, error));
    }
    return compact(kitchen, error);
}

/* The table of what is built in: names, and how each is best cooked (counts of Choi & Lee's
   scenes). */
#include "pliant/cook.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "shape/builtin_mesh.h"
#include "shape/builtin_simple.h"

typedef struct builtin {
    const char *name, *about;
    void (*figure)(pl_figure *figure); /* one of these two */
    pl_status (*simple)(double detail, const pl_allocator *allocator, pl_mesh *mesh);
    pl_cook_kind kind;
    int particles, edges; /* edges 0 = as the neighbourhoods suggest */
} builtin;

static const builtin table[] = {
    {"dinosaur", "a friendly dinosaur on two legs, with plates along its back", pl_figure_dinosaur,
     NULL, PL_COOK_SOLID, 100, 261},
    {"rabbit", "a sitting rabbit with its ears up", pl_figure_rabbit, NULL, PL_COOK_SOLID, 100, 0},
    {"armadillo", "an animal in banded armour, standing upright", pl_figure_armadillo, NULL,
     PL_COOK_SOLID, 100, 0},
    {"teddy", "a sitting teddy bear with a bow", pl_figure_teddy, NULL, PL_COOK_SOLID, 80, 0},
    {"torus", "a striped ring, lying", NULL, pl_simple_torus, PL_COOK_SOLID, 30, 0},
    {"column", "a fluted column with base and capital", NULL, pl_simple_column, PL_COOK_SOLID, 30,
     0},
    {"car", "a round toy car", pl_figure_car, NULL, PL_COOK_SOLID, 60, 0},
    {"cylinder", "a striped cylinder with rounded edges", NULL, pl_simple_cylinder, PL_COOK_SOLID,
     24, 0},
    {"cuboid", "a block with rounded edges, a colour for each pair of faces", NULL,
     pl_simple_cuboid, PL_COOK_SOLID, 12, 0},
    {"sheet", "a chequered cloth of one square metre, lying flat", NULL, pl_simple_sheet,
     PL_COOK_SHELL, 400, 0},
    {"rope", "a metre of rope with three strands, lying", NULL, pl_simple_rope, PL_COOK_ROD, 60, 0},
};

enum { COUNT = sizeof table / sizeof *table };

int pl_builtin_count(void)
{
    return COUNT;
}

const char *pl_builtin_name(int index)
{
    return index >= 0 && index < COUNT ? table[index].name : NULL;
}

const char *pl_builtin_about(int index)
{
    return index >= 0 && index < COUNT ? table[index].about : NULL;
}

static const builtin *find(const char *name)
{
    for (int i = 0; name && i < COUNT; i++)
        if (!strcmp(name, table[i].name))
            return &table[i];
    return NULL;
}

static pl_status unknown(const char *name, pl_error *error)
{
    char names[160] = "";
    for (int i = 0; i < COUNT; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, table[i].name);
    }
    return pl_fail(error, PL_ERROR_ARGUMENT, "name",
                   "nothing called \"%.40s\" is built in; there are %s", name ? name : "", names);
}

static pl_status make_figure(const builtin *made, double detail, const pl_allocator *allocator,
                             pl_mesh *mesh)
{
    pl_memory memory;
    pl_memory_init(&memory, allocator, 0);
    pl_figure *figure = PL_NEW(&memory, pl_figure, 1);
    if (!figure)
        return PL_ERROR_MEMORY;
    pl_figure_init(figure);
    made->figure(figure);
    pl_figure_finish(figure);
    pl_status status = pl_figure_mesh(figure, detail, allocator, mesh);
    pl_memory_free(&memory, figure);
    return status;
}

pl_status pl_builtin_mesh(const char *name, double detail, const pl_allocator *allocator,
                          pl_mesh *mesh, pl_error *error)
{
    const builtin *made = find(name);
    if (!made)
        return unknown(name, error);
    PL_CHECK(detail >= 0.1 && detail <= 16, PL_ERROR_ARGUMENT, error, "detail",
             "from 0.1 to 16, not %g", detail);
    pl_status status = made->figure ? make_figure(made, detail, allocator, mesh)
                                    : made->simple(detail, allocator, mesh);
    PL_CHECK(status == PL_OK, status, error, made->name, "%s", pl_status_text(status));
    return PL_OK;
}

pl_status pl_builtin_cook_def(const char *name, const pl_mesh *mesh, pl_cook_def *def)
{
    const builtin *made = find(name);
    if (!made)
        return PL_ERROR_ARGUMENT;
    *def = pl_default_cook_def(mesh);
    def->kind = made->kind;
    def->particle_count = made->particles;
    def->edge_count = made->edges;
    return PL_OK;
}

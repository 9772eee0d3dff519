/* Named materials: Young's modulus, density and damping of things people know, rounded. Damping is
   not a property of the substance alone; these values look right for bodies of hand to furniture
   size. */
#include <string.h>

#include "world/world.h"

typedef struct named {
    const char *name;
    pl_material material;
} named;

static const named table[] = {
    {"jelly", {.young = 5e3, .density = 1000, .damping = 0.5, .friction = 0.5}},
    {"slime", {.young = 1e3, .density = 1000, .damping = 2, .friction = 0.5}},
    {"flesh", {.young = 3e4, .density = 1050, .damping = 1, .friction = 0.5}},
    {"foam", {.young = 5e4, .density = 60, .damping = 1, .friction = 0.5}},
    {"sponge", {.young = 2e4, .density = 40, .damping = 2, .friction = 0.5}},
    {"dough", {.young = 1e4, .density = 1200, .damping = 3, .friction = 0.5}},
    {"rubber", {.young = 1e6, .density = 1100, .damping = 0.3, .friction = 0.5}},
    {"tyre", {.young = 5e6, .density = 1150, .damping = 0.5, .friction = 0.5}},
    {"leather", {.young = 5e7, .density = 900, .damping = 1, .friction = 0.5}},
    {"cloth", {.young = 1e6, .density = 400, .damping = 1, .friction = 0.5}},
    {"rope", {.young = 5e7, .density = 900, .damping = 0.5, .friction = 0.5}},
    {"cork", {.young = 2e7, .density = 200, .damping = 1, .friction = 0.5}},
    {"plastic", {.young = 2e9, .density = 1100, .damping = 0.2, .friction = 0.5}},
    {"wood", {.young = 1e10, .density = 600, .damping = 0.5, .friction = 0.5}},
    {"steel", {.young = 2e11, .density = 7850, .damping = 0.05, .friction = 0.5}},
};

enum { TABLE_SIZE = sizeof table / sizeof *table };

bool pl_find_material(const char *name, pl_material *material)
{
    for (int i = 0; name && material && i < TABLE_SIZE; i++)
        if (strcmp(name, table[i].name) == 0) {
            *material = table[i].material;
            return true;
        }
    return false;
}

int pl_material_count(void)
{
    return TABLE_SIZE;
}

const char *pl_material_name(int index)
{
    return index >= 0 && index < TABLE_SIZE ? table[index].name : NULL;
}

pl_material pl_default_material(void)
{
    pl_material material = {0};
    pl_find_material("rubber", &material);
    return material;
}

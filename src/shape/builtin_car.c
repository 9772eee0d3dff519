/* A toy car: round roof and wings, four wheels, lamps, bumpers and a stripe; one solid. */
#include "shape/builtin_figure.h"

typedef struct materials {
    int paint, stripe, glass, tyre, chrome, lamp, tail;
} materials;

static void coachwork(pl_figure *f)
{
    pl_figure_add(f, pl_part_block(0, 0.190, 0, 0.172, 0.090, 0.440, 0.085), 0);
    pl_figure_add(f, pl_part_egg(0, 0.255, -0.035, 0.172, 0.235, 0.280), 0.04);
    pl_figure_add(f, pl_part_egg(0, 0.215, 0.250, 0.140, 0.115, 0.200), 0.05);
    pl_figure_add(f, pl_part_egg(0, 0.215, -0.275, 0.140, 0.125, 0.185), 0.05);
    for (int end = -1; end <= 1; end += 2)
        pl_figure_add(f,
                      pl_part_pair(pl_part_turned(
                          pl_part_disc(0.160, 0.115, 0.275 * end, 0.152, 0.080, 0.055), 0, 0, 90)),
                      0.03);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.190, 0.110, 0.2), 0.035,
                                            pl_v3(0.190, 0.110, -0.2), 0.035)),
                  0.03);
    pl_figure_cut(f, pl_part_block(0, -0.02, 0, 0.4, 0.09, 0.7, 0.02), 0.03);
}

static void wheels(pl_figure *f, const materials *m)
{
    for (int end = -1; end <= 1; end += 2) {
        pl_figure_use(f, m->tyre);
        pl_figure_add(f,
                      pl_part_pair(pl_part_turned(
                          pl_part_disc(0.190, 0.105, 0.275 * end, 0.105, 0.070, 0.028), 0, 0, 90)),
                      0.002);
        pl_figure_use(f, m->chrome);
        pl_figure_add(f,
                      pl_part_pair(pl_part_turned(
                          pl_part_egg(0.250, 0.105, 0.275 * end, 0.060, 0.028, 0.060), 0, 0, 90)),
                      0.003);
    }
}

static void fittings(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->chrome);
    for (int end = -1; end <= 1; end += 2) {
        pl_vec3 bumper[3] = {
            {0, 0.135, 0.455 * end}, {0.13, 0.135, 0.46 * end}, {0.165, 0.135, 0.425 * end}};
        pl_figure_tube(f, bumper, (double[]){0.030, 0.030, 0.028}, 3, true, 0.003);
    }
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.176, 0.262, -0.085), 0.014,
                                            pl_v3(0.179, 0.262, -0.045), 0.014)),
                  0.003);
    pl_figure_use(f, m->lamp);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.128, 0.235, 0.400, 0.054, 0.054, 0.042)), 0.004);
    pl_figure_use(f, m->tail);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.125, 0.225, -0.412, 0.038, 0.045, 0.034)), 0.004);
}

/* Windows are where boxes meet the round roof. */
static void paint(pl_figure *f, const materials *m)
{
    pl_figure_paint(f, m->stripe, pl_part_block(0, 0.36, 0, 0.052, 0.19, 0.41, 0.001));
    pl_figure_paint(
        f, m->glass,
        pl_part_turned(pl_part_block(0, 0.375, 0.200, 0.108, 0.062, 0.075, 0.03), -34, 0, 0));
    pl_figure_paint(
        f, m->glass,
        pl_part_turned(pl_part_block(0, 0.375, -0.262, 0.105, 0.055, 0.075, 0.03), 34, 0, 0));
    pl_figure_paint(f, m->glass,
                    pl_part_pair(pl_part_block(0.165, 0.368, 0.044, 0.075, 0.056, 0.060, 0.03)));
    pl_figure_paint(f, m->glass,
                    pl_part_pair(pl_part_block(0.165, 0.368, -0.116, 0.075, 0.056, 0.062, 0.03)));
}

void pl_figure_car(pl_figure *f)
{
    materials m;
    m.paint = pl_figure_material(f, "paint", 0xD84A3C, 0.3);
    m.stripe = pl_figure_material(f, "stripe", 0xF7EBD3, 0.3);
    m.glass = pl_figure_material(f, "glass", 0x34495C, 0.08);
    m.tyre = pl_figure_material(f, "tyre", 0x2E2E33, 0.85);
    m.chrome = pl_figure_material(f, "chrome", 0xD5D9DE, 0.25);
    m.lamp = pl_figure_material(f, "lamp", 0xFFF3C4, 0.15);
    m.tail = pl_figure_material(f, "tail lamp", 0xA81F2A, 0.2);
    pl_figure_use(f, m.paint);
    coachwork(f);
    wheels(f, &m);
    fittings(f, &m);
    paint(f, &m);
    pl_figure_focus(f, pl_part_egg(0, 0.36, -0.03, 0.2, 0.09, 0.27), 0.6);
}

/* A rabbit: sitting up, ears raised and turned a little, big hind feet, a round tail. */
#include "shape/builtin_figure.h"

typedef struct materials {
    int fur, white, pink, dark, glint;
} materials;

static void body(pl_figure *f)
{
    pl_figure_add(f, pl_part_egg(0, 0.235, -0.085, 0.185, 0.205, 0.215), 0);
    pl_figure_add(f, pl_part_turned(pl_part_egg(0, 0.355, 0.045, 0.135, 0.205, 0.13), 14, 0, 0),
                  0.11);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(
                      pl_part_egg(0.142, 0.185, -0.045, 0.085, 0.150, 0.165), 12, 0, 8)),
                  0.025);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.168, 0.052, -0.10), 0.05,
                                            pl_v3(0.200, 0.05, 0.135), 0.054)),
                  0.02);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.203, 0.05, 0.145, 0.066, 0.05, 0.078)), 0.03);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.078, 0.33, 0.105), 0.058,
                                            pl_v3(0.058, 0.075, 0.178), 0.041)),
                  0.022);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.056, 0.047, 0.2, 0.047, 0.045, 0.064)), 0.02);
}

static void head(pl_figure *f)
{
    pl_figure_add(f, pl_part_turned(pl_part_egg(0, 0.635, 0.085, 0.155, 0.145, 0.155), 8, 0, 0),
                  0.035);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.075, 0.585, 0.13, 0.095, 0.082, 0.09)), 0.05);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.068, 0.875, 0.025, 0.062, 0.190, 0.040),
                                              -8, 10, -10)),
                  0.03);
    pl_figure_cut(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.075, 0.880, 0.070, 0.038, 0.150, 0.030),
                                              -8, 10, -10)),
                  0.016);
}

static void face(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->white);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.034, 0.580, 0.222, 0.050, 0.044, 0.042)), 0.010);
    pl_figure_add(f, pl_part_egg(0, 0.543, 0.205, 0.036, 0.028, 0.03), 0.012);
    pl_figure_add(f, pl_part_block(0, 0.542, 0.243, 0.020, 0.024, 0.011, 0.008), 0.002);
    pl_figure_use(f, m->pink);
    pl_figure_add(f, pl_part_turned(pl_part_egg(0, 0.617, 0.252, 0.029, 0.021, 0.018), -15, 0, 0),
                  0.005);
    pl_figure_use(f, m->dark);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.092, 0.668, 0.190, 0.036, 0.043, 0.030),
                                              0, 26, 0)),
                  0.003);
    pl_figure_paint(f, m->glint, pl_part_ball(0.104, 0.688, 0.216, 0.014));
    pl_figure_paint(f, m->glint, pl_part_ball(-0.082, 0.688, 0.222, 0.014));
}

static void colours(pl_figure *f, const materials *m)
{
    pl_figure_paint(f, m->white, pl_part_egg(0, 0.35, 0.15, 0.098, 0.175, 0.1));
    pl_figure_paint(f, m->pink,
                    pl_part_pair(pl_part_turned(
                        pl_part_egg(0.075, 0.880, 0.064, 0.040, 0.152, 0.034), -8, 10, -10)));
    pl_figure_paint(f, m->white, pl_part_pair(pl_part_egg(0.206, 0.04, 0.205, 0.09, 0.07, 0.06)));
    pl_figure_paint(f, m->white, pl_part_pair(pl_part_egg(0.056, 0.035, 0.23, 0.058, 0.065, 0.07)));
    pl_figure_tint(f, pl_part_pair(pl_part_ball(0.128, 0.6, 0.195, 0.025)), 1, 0.80, 0.82, 0.045);
}

void pl_figure_rabbit(pl_figure *f)
{
    materials m;
    m.fur = pl_figure_material(f, "fur", 0xAFA5AC, 0.9);
    m.white = pl_figure_material(f, "white fur", 0xFBF6EE, 0.9);
    m.pink = pl_figure_material(f, "pink", 0xEFA6AC, 0.7);
    m.dark = pl_figure_material(f, "eye", 0x2A1F24, 0.15);
    m.glint = pl_figure_material(f, "glint", 0xFFFFFF, 0.2);
    pl_figure_use(f, m.fur);
    body(f);
    pl_figure_use(f, m.white);
    pl_figure_add(f, pl_part_ball(0, 0.155, -0.305, 0.082), 0.012);
    pl_figure_use(f, m.fur);
    head(f);
    face(f, &m);
    colours(f, &m);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.092, 0.67, 0.2, 0.046)), 0.33);
    pl_figure_focus(f, pl_part_ball(0, 0.585, 0.25, 0.055), 0.4);
    pl_figure_focus(
        f, pl_part_pair(pl_part_limb(pl_v3(0.06, 0.75, 0.05), 0.05, pl_v3(0.08, 0.98, 0.03), 0.05)),
        0.75);
}

/* A teddy bear: sitting, arms open, with a bow at its neck. */
#include "shape/builtin_figure.h"

typedef struct materials {
    int fur, cream, nose, white, ribbon;
} materials;

static void body(pl_figure *f)
{
    pl_figure_add(f, pl_part_egg(0, 0.30, -0.01, 0.225, 0.27, 0.20), 0);
    pl_figure_add(f, pl_part_egg(0, 0.20, 0.03, 0.235, 0.185, 0.205), 0.10);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.13, 0.115, 0.06), 0.105,
                                            pl_v3(0.205, 0.10, 0.30), 0.088)),
                  0.035);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.215, 0.128, 0.345, 0.098, 0.128, 0.062),
                                              -10, 14, -8)),
                  0.03);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.165, 0.475, 0.0), 0.078,
                                            pl_v3(0.305, 0.335, 0.105), 0.072)),
                  0.03);
    pl_figure_add(f, pl_part_pair(pl_part_ball(0.322, 0.318, 0.125, 0.082)), 0.04);
    pl_figure_add(f, pl_part_ball(0, 0.12, -0.215, 0.062), 0.015);
}

static void head(pl_figure *f)
{
    pl_figure_add(f, pl_part_limb(pl_v3(0, 0.48, 0), 0.13, pl_v3(0, 0.62, 0.01), 0.14), 0.05);
    pl_figure_add(f, pl_part_egg(0, 0.735, 0.015, 0.235, 0.205, 0.205), 0.02);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.105, 0.675, 0.075, 0.12, 0.10, 0.11)), 0.06);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.178, 0.905, -0.005, 0.088, 0.088, 0.05),
                                              0, 12, -20)),
                  0.018);
    pl_figure_cut(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.186, 0.912, 0.056, 0.058, 0.058, 0.04),
                                              0, 12, -20)),
                  0.02);
}

static void face(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->cream);
    pl_figure_add(f, pl_part_egg(0, 0.668, 0.195, 0.108, 0.083, 0.085), 0.02);
    /* The mouth: a line down from the nose and two arcs to the sides. */
    pl_figure_use(f, m->nose);
    pl_figure_cut(f, pl_part_limb(pl_v3(0, 0.70, 0.288), 0.009, pl_v3(0, 0.655, 0.284), 0.009),
                  0.003);
    pl_vec3 arc[3] = {{0, 0.655, 0.284}, {0.032, 0.615, 0.286}, {0.068, 0.655, 0.258}};
    pl_figure_groove(f, arc, 0.009, 4, true);
    pl_figure_add(f, pl_part_egg(0, 0.714, 0.270, 0.046, 0.033, 0.028), 0.006);
    pl_figure_add(f, pl_part_pair(pl_part_ball(0.092, 0.765, 0.196, 0.034)), 0.004);
    pl_figure_paint(f, m->white, pl_part_ball(0.105, 0.782, 0.223, 0.0135));
    pl_figure_paint(f, m->white, pl_part_ball(-0.081, 0.782, 0.228, 0.0135));
}

static void patches(pl_figure *f, const materials *m)
{
    pl_figure_paint(f, m->cream, pl_part_egg(0, 0.27, 0.20, 0.145, 0.165, 0.12));
    pl_figure_paint(f, m->cream, pl_part_pair(pl_part_egg(0.189, 0.914, 0.05, 0.055, 0.055, 0.05)));
    pl_figure_paint(f, m->cream,
                    pl_part_pair(pl_part_turned(
                        pl_part_egg(0.231, 0.135, 0.415, 0.062, 0.082, 0.05), -10, 14, -8)));
    pl_figure_paint(f, m->cream, pl_part_pair(pl_part_ball(0.345, 0.29, 0.20, 0.055)));
}

static void bow(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->ribbon);
    pl_figure_add(f, pl_part_turned(pl_part_ring(0, 0.545, 0.003, 0.142, 0.038), 6, 0, 0), 0.03);
    for (int side = -1; side <= 1; side += 2) {
        pl_figure_add(f,
                      pl_part_turned(pl_part_egg(0.078 * side, 0.534, 0.176, 0.070, 0.052, 0.036),
                                     0, 22 * side, 16 * side),
                      0.014);
        pl_figure_add(f,
                      pl_part_limb(pl_v3(0.012 * side, 0.515, 0.17), 0.024,
                                   pl_v3(0.052 * side, 0.435, 0.166), 0.033),
                      0.012);
    }
    pl_figure_add(f, pl_part_egg(0, 0.528, 0.190, 0.032, 0.036, 0.032), 0.004);
}

void pl_figure_teddy(pl_figure *f)
{
    materials m;
    m.fur = pl_figure_material(f, "fur", 0xB9783F, 0.9);
    m.cream = pl_figure_material(f, "cream", 0xF0D9B0, 0.9);
    m.nose = pl_figure_material(f, "nose", 0x33231E, 0.25);
    m.white = pl_figure_material(f, "glint", 0xFFFFFF, 0.2);
    m.ribbon = pl_figure_material(f, "ribbon", 0xC8424A, 0.5);
    pl_figure_use(f, m.fur);
    body(f);
    head(f);
    patches(f, &m);
    bow(f, &m);
    face(f, &m);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.092, 0.765, 0.21, 0.04)), 0.3);
    pl_figure_focus(f, pl_part_ball(0, 0.67, 0.27, 0.07), 0.36);
    pl_figure_focus(f, pl_part_limb(pl_v3(-0.09, 0.53, 0.2), 0.05, pl_v3(0.09, 0.53, 0.2), 0.05),
                    0.6);
    pl_figure_tint(f, pl_part_pair(pl_part_ball(0.165, 0.685, 0.175, 0.03)), 1, 0.82, 0.78, 0.05);
}

/* An animal in armour: upright, a banded shell on its back, a cap on its head, a ringed tail,
   digging claws. */
#include "shape/builtin_figure.h"

typedef struct materials {
    int skin, shell, belly, claw, dark, white, pink;
} materials;

static void trunk(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->shell);
    pl_figure_add(
        f, pl_part_turned(pl_part_armour(0, 0.46, -0.085, 0.215, 0.315, 0.185, 8, 0.02), 8, 0, 0),
        0);
    pl_figure_cut(f, pl_part_turned(pl_part_egg(0, 0.42, 0.115, 0.24, 0.34, 0.165), 6, 0, 0),
                  0.012);
    pl_figure_use(f, m->skin);
    pl_figure_add(f, pl_part_turned(pl_part_egg(0, 0.41, -0.005, 0.165, 0.245, 0.155), 6, 0, 0),
                  0.01);
}

static void head(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->skin);
    pl_figure_add(f, pl_part_limb(pl_v3(0, 0.62, 0.0), 0.095, pl_v3(0, 0.78, 0.05), 0.09), 0.03);
    pl_figure_add(f, pl_part_egg(0, 0.815, 0.065, 0.122, 0.112, 0.128), 0.03);
    pl_vec3 snout[3] = {{0, 0.795, 0.12}, {0, 0.775, 0.21}, {0, 0.752, 0.300}};
    pl_figure_tube(f, snout, (double[]){0.090, 0.060, 0.044}, 4, false, 0.05);
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.108, 0.940, 0.005, 0.056, 0.105, 0.036),
                                              -10, 22, -24)),
                  0.015);
    pl_figure_cut(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.118, 0.945, 0.044, 0.036, 0.074, 0.026),
                                              -10, 22, -24)),
                  0.014);
    /* The cap: a thick shell over the crown, its front edge a peak above the eyes. */
    pl_figure_use(f, m->shell);
    pl_part cap =
        pl_part_turned(pl_part_armour(0, 0.858, 0.030, 0.124, 0.118, 0.092, 3, 0.012), 66, 0, 0);
    pl_figure_add(f, cap, 0.003);
}

static void limbs(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->skin);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.135, 0.595, 0.03), 0.062,
                                            pl_v3(0.245, 0.475, 0.055), 0.048)),
                  0.02);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.245, 0.475, 0.055), 0.048,
                                            pl_v3(0.235, 0.49, 0.185), 0.046)),
                  0.012);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.105, 0.25, 0.02), 0.088,
                                            pl_v3(0.145, 0.085, 0.0), 0.066)),
                  0.03);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.152, 0.05, 0.045, 0.072, 0.05, 0.112)), 0.03);
}

static void claws(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->claw);
    for (int i = -1; i <= 1; i++) {
        pl_figure_add(
            f,
            pl_part_pair(pl_part_limb(pl_v3(0.235 + 0.032 * i, 0.488 - 0.006 * i * i, 0.212), 0.020,
                                      pl_v3(0.230 + 0.056 * i, 0.466, 0.274), 0.0095)),
            0.008);
        pl_figure_add(f,
                      pl_part_pair(pl_part_limb(
                          pl_v3(0.154 + 0.043 * i, 0.035, 0.136 - 0.012 * i * i), 0.0225,
                          pl_v3(0.156 + 0.066 * i, 0.014, 0.185 - 0.014 * i * i), 0.010)),
                      0.008);
    }
}

/* Rings that shrink along a curve, each over the next. */
static void tail(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->shell);
    for (int i = 0; i < 8; i++) {
        double t = i / 8.0, u = (i + 1) / 8.0;
        pl_vec3 a = pl_v3(0.16 * t * t, 0.17 - 0.20 * t + 0.075 * t * t, -0.17 - 0.46 * t);
        pl_vec3 b = pl_v3(0.16 * u * u, 0.17 - 0.20 * u + 0.075 * u * u, -0.17 - 0.46 * u);
        pl_figure_add(f, pl_part_limb(a, 0.082 - 0.058 * t, b, 0.058 - 0.050 * t),
                      i == 0 ? 0.02 : 0.004);
    }
}

static void face(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->dark);
    pl_vec3 lips[3] = {{0, 0.712, 0.325}, {0.062, 0.712, 0.285}, {0.085, 0.752, 0.180}};
    pl_figure_groove(f, lips, 0.010, 6, true);
    pl_figure_add(f, pl_part_egg(0, 0.772, 0.336, 0.038, 0.032, 0.028), 0.005);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.076, 0.826, 0.156, 0.034, 0.039, 0.032)), 0.003);
    pl_figure_paint(f, m->white, pl_part_ball(0.089, 0.845, 0.180, 0.013));
    pl_figure_paint(f, m->white, pl_part_ball(-0.066, 0.845, 0.186, 0.013));
}

static void colours(pl_figure *f, const materials *m)
{
    pl_figure_paint(f, m->belly, pl_part_egg(0, 0.40, 0.14, 0.115, 0.185, 0.1));
    pl_figure_paint(f, m->pink,
                    pl_part_pair(pl_part_turned(
                        pl_part_egg(0.124, 0.962, 0.040, 0.036, 0.058, 0.030), -10, 22, -24)));
    pl_figure_tint(f, pl_part_pair(pl_part_ball(0.1, 0.785, 0.15, 0.02)), 1, 0.84, 0.8, 0.04);
}

void pl_figure_armadillo(pl_figure *f)
{
    materials m;
    m.skin = pl_figure_material(f, "skin", 0xDDA779, 0.75);
    m.shell = pl_figure_material(f, "armour", 0x8A6F7D, 0.45);
    m.belly = pl_figure_material(f, "belly", 0xF5E1C4, 0.8);
    m.claw = pl_figure_material(f, "claw", 0xFAF1DC, 0.35);
    m.dark = pl_figure_material(f, "nose and eyes", 0x2B2024, 0.2);
    m.white = pl_figure_material(f, "glint", 0xFFFFFF, 0.2);
    m.pink = pl_figure_material(f, "ear", 0xE89C93, 0.7);
    trunk(f, &m);
    tail(f, &m);
    limbs(f, &m);
    head(f, &m);
    claws(f, &m);
    face(f, &m);
    colours(f, &m);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.08, 0.828, 0.17, 0.04)), 0.33);
    pl_figure_focus(f, pl_part_limb(pl_v3(0, 0.745, 0.33), 0.04, pl_v3(0, 0.75, 0.2), 0.075), 0.45);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.235, 0.475, 0.24, 0.045)), 0.45);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.155, 0.025, 0.15, 0.055)), 0.5);
    pl_figure_focus(f, pl_part_egg(0, 0.46, -0.16, 0.25, 0.36, 0.15), 0.75);
}

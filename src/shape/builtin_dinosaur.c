/* A friendly dinosaur: on two strong legs, short arms, a big head with a smile, a tail that nearly
   touches the ground and plates from the forehead to the tip of the tail. */
#include "shape/builtin_figure.h"

typedef struct materials {
    int skin, belly, plate, claw, mouth, white, eye;
} materials;

static void trunk(pl_figure *f)
{
    pl_figure_add(f, pl_part_turned(pl_part_egg(0, 0.43, -0.04, 0.175, 0.215, 0.185), 18, 0, 0), 0);
    pl_figure_add(f, pl_part_egg(0, 0.57, 0.055, 0.135, 0.14, 0.125), 0.10);
    pl_vec3 neck[3] = {{0, 0.58, 0.04}, {0, 0.70, 0.06}, {0, 0.80, 0.10}};
    pl_figure_tube(f, neck, (double[]){0.12, 0.095, 0.10}, 3, false, 0.06);
    pl_vec3 tail[3] = {{0, 0.36, -0.14}, {0, 0.06, -0.36}, {0, 0.15, -0.72}};
    pl_figure_tube(f, tail, (double[]){0.145, 0.085, 0.014}, 7, false, 0.09);
}

static void head(pl_figure *f)
{
    pl_figure_add(f, pl_part_egg(0, 0.845, 0.115, 0.142, 0.128, 0.145), 0.05);
    pl_figure_add(f, pl_part_egg(0, 0.80, 0.255, 0.112, 0.085, 0.135), 0.06);
    pl_figure_add(f, pl_part_egg(0, 0.735, 0.225, 0.092, 0.052, 0.125), 0.03);
    pl_figure_add(f, pl_part_pair(pl_part_ball(0.045, 0.848, 0.335, 0.034)), 0.035);
    /* Brows, so that the eyes sit under something. */
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.085, 0.922, 0.160, 0.056, 0.038, 0.06)), 0.03);
}

static void legs(pl_figure *f)
{
    pl_figure_add(f,
                  pl_part_pair(pl_part_turned(pl_part_egg(0.125, 0.335, -0.03, 0.082, 0.145, 0.112),
                                              -16, 0, 6)),
                  0.035);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.142, 0.25, 0.005), 0.066,
                                            pl_v3(0.148, 0.115, -0.055), 0.047)),
                  0.04);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.148, 0.10, -0.05), 0.05,
                                            pl_v3(0.152, 0.045, 0.035), 0.05)),
                  0.03);
    for (int toe = -1; toe <= 1; toe++)
        pl_figure_add(f,
                      pl_part_pair(pl_part_limb(
                          pl_v3(0.152 + 0.018 * toe, 0.045, 0.03), 0.04,
                          pl_v3(0.155 + 0.052 * toe, 0.034, 0.112 - 0.018 * toe * toe), 0.034)),
                      0.014);
}

static void arms(pl_figure *f)
{
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.115, 0.575, 0.105), 0.046,
                                            pl_v3(0.168, 0.485, 0.135), 0.036)),
                  0.03);
    pl_figure_add(f,
                  pl_part_pair(pl_part_limb(pl_v3(0.168, 0.485, 0.135), 0.036,
                                            pl_v3(0.145, 0.478, 0.225), 0.032)),
                  0.01);
    for (int finger = -1; finger <= 1; finger += 2)
        pl_figure_add(
            f,
            pl_part_pair(pl_part_limb(pl_v3(0.145, 0.478, 0.225), 0.024,
                                      pl_v3(0.135 + 0.028 * finger, 0.462, 0.262), 0.021)),
            0.01);
}

static void claws(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->claw);
    for (int toe = -1; toe <= 1; toe++)
        pl_figure_add(f,
                      pl_part_pair(pl_part_limb(
                          pl_v3(0.157 + 0.062 * toe, 0.036, 0.134 - 0.02 * toe * toe), 0.022,
                          pl_v3(0.158 + 0.072 * toe, 0.016, 0.165 - 0.024 * toe * toe), 0.009)),
                      0.004);
    for (int finger = -1; finger <= 1; finger += 2)
        pl_figure_add(
            f,
            pl_part_pair(pl_part_limb(pl_v3(0.133 + 0.030 * finger, 0.457, 0.270), 0.0145,
                                      pl_v3(0.130 + 0.036 * finger, 0.440, 0.292), 0.0085)),
            0.006);
}

/* Plates along the back, the largest over the shoulders; each leans a little backwards. */
static void plates(pl_figure *f, const materials *m)
{
    static const double place[][5] = {
        /* y, z, height, length, lean in degrees */
        {0.975, 0.080, 0.050, 0.040, 8},   {0.930, -0.020, 0.064, 0.050, 44},
        {0.815, -0.060, 0.074, 0.058, 74}, {0.690, -0.105, 0.086, 0.068, 68},
        {0.555, -0.190, 0.092, 0.074, 62}, {0.415, -0.270, 0.084, 0.070, 54},
        {0.295, -0.352, 0.070, 0.060, 40}, {0.205, -0.440, 0.056, 0.050, 24},
        {0.165, -0.530, 0.044, 0.042, 8},  {0.150, -0.612, 0.034, 0.034, 0},
    };
    pl_figure_use(f, m->plate);
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const double *p = place[i];
        pl_figure_add(
            f,
            pl_part_turned(pl_part_egg(0, p[0], p[1], 0.016 + 0.22 * p[2], p[2], 0.9 * p[3]), -p[4],
                           0, 0),
            0.008);
    }
}

static void face(pl_figure *f, const materials *m)
{
    pl_figure_use(f, m->mouth);
    pl_vec3 lips[3] = {{0, 0.748, 0.375}, {0.125, 0.735, 0.375}, {0.128, 0.800, 0.150}};
    pl_figure_groove(f, lips, 0.011, 8, true);
    pl_figure_cut(f, pl_part_pair(pl_part_ball(0.044, 0.868, 0.368, 0.014)), 0.006);
    pl_figure_use(f, m->white);
    pl_figure_add(f, pl_part_pair(pl_part_egg(0.088, 0.878, 0.198, 0.050, 0.056, 0.046)), 0.003);
    pl_figure_paint(f, m->eye, pl_part_pair(pl_part_egg(0.106, 0.875, 0.238, 0.034, 0.041, 0.034)));
    pl_figure_paint(f, m->white, pl_part_ball(0.114, 0.888, 0.241, 0.0125));
    pl_figure_paint(f, m->white, pl_part_ball(-0.094, 0.888, 0.246, 0.0125));
}

static void colours(pl_figure *f, const materials *m)
{
    pl_figure_paint(f, m->belly,
                    pl_part_turned(pl_part_egg(0, 0.405, 0.125, 0.122, 0.225, 0.115), 12, 0, 0));
    pl_figure_tint(f, pl_part_turned(pl_part_egg(0, 0.60, -0.22, 0.16, 0.42, 0.12), -20, 0, 0),
                   0.72, 0.80, 0.86, 0.14);
    pl_figure_tint(f, pl_part_pair(pl_part_ball(0.125, 0.79, 0.215, 0.02)), 1, 0.84, 0.78, 0.04);
}

void pl_figure_dinosaur(pl_figure *f)
{
    materials m;
    m.skin = pl_figure_material(f, "skin", 0x62B58A, 0.65);
    m.belly = pl_figure_material(f, "belly", 0xF4E7BC, 0.7);
    m.plate = pl_figure_material(f, "plate", 0xEE8447, 0.55);
    m.claw = pl_figure_material(f, "claw", 0xFAF1DC, 0.35);
    m.mouth = pl_figure_material(f, "mouth", 0x23493F, 0.7);
    m.white = pl_figure_material(f, "eye white", 0xFFFFFF, 0.2);
    m.eye = pl_figure_material(f, "pupil", 0x1E2226, 0.15);
    pl_figure_use(f, m.skin);
    trunk(f);
    head(f);
    legs(f);
    arms(f);
    plates(f, &m);
    claws(f, &m);
    face(f, &m);
    colours(f, &m);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.1, 0.878, 0.235, 0.045)), 0.33);
    pl_figure_focus(
        f, pl_part_limb(pl_v3(-0.06, 0.745, 0.36), 0.02, pl_v3(0.06, 0.745, 0.36), 0.02), 0.36);
    pl_figure_focus(
        f, pl_part_pair(pl_part_limb(pl_v3(0.09, 0.75, 0.33), 0.02, pl_v3(0.12, 0.79, 0.17), 0.02)),
        0.36);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.157, 0.03, 0.13, 0.06)), 0.5);
    pl_figure_focus(f, pl_part_pair(pl_part_ball(0.132, 0.455, 0.27, 0.03)), 0.4);
    pl_figure_focus(f, pl_part_limb(pl_v3(0, 0.22, -0.42), 0.02, pl_v3(0, 0.16, -0.66), 0.02), 0.6);
}

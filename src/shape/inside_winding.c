/* The generalised winding number (Jacobson et al. 2013): the solid angle of all triangles over 4π.
   Subtrees far away are taken by their expansion (Barill et al. 2018), near triangles exactly (Van
   Oosterom & Strackee 1983). The exact angles are not computed one by one: each is the argument of
   a complex number, and multiplying those numbers adds the arguments. */
#include "math/elementary.h"
#include "shape/inside_parts.h"

#define TWO_PI 6.283185307179586

/* From how many radii on a subtree is taken by its expansion. Measured on meshes of all kinds, the
   winding number is then within 1e-3, and within 0.03. */
#define BETA 3.3f
#define ROUGH_BETA 1.5f

/* How near to one half a rough winding number must be to be computed again. */
#define DOUBT 0.25

/* The sum of arguments: of (re, im), and whole turns. */
typedef struct inside_angle {
    double re, im;
    int turns;
} inside_angle;

/* Arguments of one sign whose sum passes ±π come out with the other sign: a turn has been lost. */
static inline inside_angle angle_add(inside_angle a, inside_angle b)
{
    inside_angle sum = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, a.turns + b.turns};
    if (a.im >= 0 && b.im >= 0)
        sum.turns += sum.im < 0;
    else if (a.im < 0 && b.im < 0)
        sum.turns -= sum.im >= 0;
    return sum;
}

/* The same argument at about unit length; none at all out of the range of numbers. */
static inline inside_angle angle_scale(inside_angle a)
{
    double length = fabs(a.re) + fabs(a.im);
    if (!(length > 1e-280 && length < 1e280))
        return (inside_angle){1, 0, a.turns};
    return (inside_angle){a.re / length, a.im / length, a.turns};
}

/* tan(Ω/2) = a·(b × c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|), for two triangles. A point
   on a corner sees nothing of that triangle. */
static inline inside_angle pair_angle(const pl_inside_packet *packet, int first, const double q[3])
{
    vd v[3][3], length[3];
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++)
            v[c][k] = pl_load_d(&packet->corner[c][k][first]) - pl_splat_d(q[k]);
        length[c] = pl_sqrt_d(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
    }
    vd triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    vd ab = v[0][0] * v[1][0] + v[0][1] * v[1][1] + v[0][2] * v[1][2];
    vd bc = v[1][0] * v[2][0] + v[1][1] * v[2][1] + v[1][2] * v[2][2];
    vd ca = v[2][0] * v[0][0] + v[2][1] * v[0][1] + v[2][2] * v[0][2];
    vd below = length[0] * length[1] * length[2] + ab * length[2] + bc * length[0] + ca * length[1];
    below = pl_select_d((triple == pl_splat_d(0)) & (below == pl_splat_d(0)), pl_splat_d(1), below);
    inside_angle a = {below[0], triple[0], 0}, b = {below[1], triple[1], 0};
    return angle_scale(angle_add(a, b));
}

/* 4π w of the children of a node, and which of them are far enough for that. */
static inline vf far_winding(const pl_inside_far *far, const vf q[3], const vf q_rest[3],
                             float beta2, vi *is_far)
{
    /* near the point, the large parts cancel without rounding */
    vf x = (far->centre[0] - q[0]) + (far->rest[0] - q_rest[0]);
    vf y = (far->centre[1] - q[1]) + (far->rest[1] - q_rest[1]);
    vf z = (far->centre[2] - q[2]) + (far->rest[2] - q_rest[2]);
    vf xx = x * x, yy = y * y, zz = z * z, d2 = xx + yy + zz;
    *is_far = d2 > far->radius2 * pl_splat_f(beta2);
    d2 = pl_select_f(*is_far, d2, pl_splat_f(1));
    vf s = pl_splat_f(1) / d2;
    const vf *n = far->dipole, *m = far->quadruple, *t = far->octuple;
    vf first = n[0] * x + n[1] * y + n[2] * z;
    vf second =
        m[0] * xx + m[1] * yy + m[2] * zz + m[3] * (x * y) + m[4] * (y * z) + m[5] * (z * x);
    vf third = x * (t[0] * xx + t[5] * yy + t[7] * zz + t[9] * (y * z)) +
               y * (t[1] * yy + t[3] * xx + t[8] * zz) + z * (t[2] * zz + t[4] * xx + t[6] * yy);
    vf sum = (first + s * (s * third - second)) * (s * pl_sqrt_f(s));
    return pl_select_f(*is_far, sum, pl_splat_f(0));
}

static double winding(const pl_inside *inside, const double q[3], float beta2)
{
    vf single[3], rest[3];
    for (int k = 0; k < 3; k++) {
        single[k] = pl_splat_f((float)q[k]);
        rest[k] = pl_splat_f((float)(q[k] - (double)(float)q[k]));
    }
    int32_t stack[PL_BVH_STACK];
    int waiting = 0;
    stack[waiting++] = 0;
    vf far_sum = {0, 0, 0, 0};
    inside_angle near_sum = {1, 0, 0};
    while (waiting > 0) {
        int number = stack[--waiting];
        const pl_bvh_node *node = &inside->bvh.nodes[number];
        vi is_far;
        far_sum += far_winding(&inside->far[number], single, rest, beta2, &is_far);
        for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
            if (is_far[lane])
                continue;
            if (node->count[lane] == 0)
                stack[waiting++] = node->child[lane];
            for (int i = 0; i < node->count[lane]; i++) {
                const pl_inside_packet *packet = &inside->packets[node->child[lane] + i];
                near_sum = angle_add(
                    near_sum, angle_add(pair_angle(packet, 0, q), pair_angle(packet, PL_WD, q)));
            }
        }
        near_sum = angle_scale(near_sum);
    }
    double half = pl_atan2(near_sum.im, near_sum.re) + TWO_PI * near_sum.turns;
    double far_total =
        (double)far_sum[0] + (double)far_sum[1] + (double)far_sum[2] + (double)far_sum[3];
    return (half + 0.5 * far_total) / TWO_PI;
}

/* Into the frame; false where nothing subtends a solid angle worth a word. */
static bool within_sight(const pl_inside *inside, const double point[3], double q[3])
{
    return pl_inside_enter(inside, point, q) && fabs(q[0]) + fabs(q[1]) + fabs(q[2]) < 1e9;
}

double pl_inside_winding(const pl_inside *inside, const double point[3])
{
    double q[3];
    return within_sight(inside, point, q) ? winding(inside, q, BETA * BETA) : 0;
}

bool pl_inside_test(const pl_inside *inside, const double point[3])
{
    double q[3];
    if (!within_sight(inside, point, q))
        return false;
    double times = fabs(winding(inside, q, ROUGH_BETA * ROUGH_BETA));
    if (fabs(times - 0.5) < DOUBT)
        times = fabs(winding(inside, q, BETA * BETA));
    return times > 0.5;
}

double pl_inside_effort(const pl_inside *inside, const double point[3])
{
    double q[3], effort = 0;
    if (!within_sight(inside, point, q))
        return effort;
    int32_t stack[PL_BVH_STACK];
    int waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
        int number = stack[--waiting];
        const pl_bvh_node *node = &inside->bvh.nodes[number];
        effort++;
        for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
            const pl_inside_far *far = &inside->far[number];
            double d2 = 0;
            for (int k = 0; k < 3; k++) {
                double along = (double)far->centre[k][lane] - q[k];
                d2 += along * along;
            }
            if (d2 > (double)far->radius2[lane] * ROUGH_BETA * ROUGH_BETA)
                continue;
            if (node->count[lane] == 0)
                stack[waiting++] = node->child[lane];
            effort += node->count[lane];
        }
    }
    return effort;
}

/* What subtrees of the hierarchy look like from afar: moments of their area vectors, summed from
   the leaves up, each about its own centre, and turned into the symmetric tensors without trace
   that pl_inside_winding evaluates (Barill et al. 2018, section 3, up to second order). */
#include <string.h>

#include "shape/inside_parts.h"

/* Moments about a centre c, n the normal: N_k = ∫ n_k, M_ik = ∫ (x − c)_i n_k,
   T_ijk = ∫ (x − c)_i (x − c)_j n_k with ij = xx yy zz xy yz zx. */
typedef struct inside_moments {
    double area, centre[3], radius;
    double n[3], m[3][3], t[6][3];
} inside_moments;

static const int PAIR[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};

static void triangle_moments(const pl_inside_packet *packet, int lane, const double centre[3],
                             inside_moments *sum)
{
    double v[3][3], g[3], n[3];
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            v[c][k] = packet->corner[c][k][lane] - centre[k];
        g[k] = (v[0][k] + v[1][k] + v[2][k]) / 3;
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = 0.5 * ((v[1][i] - v[0][i]) * (v[2][j] - v[0][j]) -
                      (v[1][j] - v[0][j]) * (v[2][i] - v[0][i]));
    }
    for (int k = 0; k < 3; k++) {
        sum->n[k] += n[k];
        for (int i = 0; i < 3; i++)
            sum->m[i][k] += g[i] * n[k];
    }
    /* ∫ x xᵀ over a triangle = area/12 (Σ v vᵀ + 9 g gᵀ) */
    for (int p = 0; p < 6; p++) {
        int i = PAIR[p][0], j = PAIR[p][1];
        double second =
            (v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j] + 9 * g[i] * g[j]) / 12;
        for (int k = 0; k < 3; k++)
            sum->t[p][k] += second * n[k];
    }
    for (int c = 0; c < 3; c++) {
        double r = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
        sum->radius = fmax(sum->radius, r);
    }
}

/* Twice the area, and the sum of the corners. */
static double triangle_area(const pl_inside_packet *packet, int lane, double corners[3])
{
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        double first = packet->corner[0][k][lane];
        a[k] = packet->corner[1][k][lane] - first;
        b[k] = packet->corner[2][k][lane] - first;
        corners[k] = first + packet->corner[1][k][lane] + packet->corner[2][k][lane];
    }
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
           z = a[0] * b[1] - a[1] * b[0];
    return sqrt(x * x + y * y + z * z);
}

static void leaf_moments(const pl_inside *inside, int first, int count, inside_moments *sum)
{
    memset(sum, 0, sizeof *sum);
    double middle[3] = {0}, corners[3];
    for (int i = 0; i < count * PL_INSIDE_WIDTH; i++) {
        const pl_inside_packet *packet = &inside->packets[first + i / PL_INSIDE_WIDTH];
        double area = triangle_area(packet, i % PL_INSIDE_WIDTH, corners);
        sum->area += area;
        for (int k = 0; k < 3; k++) {
            sum->centre[k] += area * corners[k] / 3;
            middle[k] += corners[k] / 3 / (count * PL_INSIDE_WIDTH);
        }
    }
    for (int k = 0; k < 3; k++)
        sum->centre[k] = sum->area > 0 ? sum->centre[k] / sum->area : middle[k];
    for (int i = 0; i < count * PL_INSIDE_WIDTH; i++)
        triangle_moments(&inside->packets[first + i / PL_INSIDE_WIDTH], i % PL_INSIDE_WIDTH,
                         sum->centre, sum);
}

/* Adds a child's moments, moved from its centre to that of the sum. */
static void add_moved(inside_moments *sum, const inside_moments *child)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = child->centre[k] - sum->centre[k];
    for (int k = 0; k < 3; k++) {
        sum->n[k] += child->n[k];
        for (int i = 0; i < 3; i++)
            sum->m[i][k] += child->m[i][k] + d[i] * child->n[k];
        for (int p = 0; p < 6; p++) {
            int i = PAIR[p][0], j = PAIR[p][1];
            sum->t[p][k] += child->t[p][k] + d[i] * child->m[j][k] + d[j] * child->m[i][k] +
                            d[i] * d[j] * child->n[k];
        }
    }
    double reach = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) + child->radius;
    sum->radius = fmax(sum->radius, reach);
}

static void join_moments(const inside_moments *children, int count, inside_moments *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int c = 0; c < count; c++) {
        sum->area += children[c].area;
        for (int k = 0; k < 3; k++)
            sum->centre[k] += children[c].area * children[c].centre[k];
    }
    for (int k = 0; k < 3; k++)
        sum->centre[k] = sum->area > 0 ? sum->centre[k] / sum->area : children[0].centre[k];
    for (int c = 0; c < count; c++)
        add_moved(sum, &children[c]);
}

/* Farthest corner of a lane's box: another bound of the radius, at times the better one. */
static double box_radius(const pl_bvh_node *node, int lane, const double centre[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double far = fmax((double)node->upper[k][lane] - centre[k],
                          centre[k] - (double)node->lower[k][lane]);
        sum += far * far;
    }
    return sqrt(sum);
}

/* The symmetric part of T over xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz. */
static void symmetric_third(const inside_moments *moments, double s[10])
{
    static const int first[9] = {0, 1, 2, 0, 0, 1, 1, 2, 2}, last[9] = {0, 1, 2, 1, 2, 0, 2, 0, 1};
    static const int mixed[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    for (int i = 0; i < 9; i++)
        s[i] = (moments->t[mixed[first[i]][first[i]]][last[i]] +
                2 * moments->t[mixed[first[i]][last[i]]][first[i]]) /
               3;
    s[9] = (moments->t[3][2] + moments->t[4][0] + moments->t[5][1]) / 3;
}

static void set_octuple(pl_inside_far *far, int lane, const inside_moments *moments)
{
    double s[10];
    symmetric_third(moments, s);
    /* without trace: S_ijk − (δ_ij s_k + δ_jk s_i + δ_ki s_j) / 5, s_k = Σ_i S_iik */
    double trace[3] = {s[0] + s[5] + s[7], s[1] + s[3] + s[8], s[2] + s[4] + s[6]};
    for (int k = 0; k < 3; k++)
        s[k] -= 0.6 * trace[k];
    s[3] -= 0.2 * trace[1], s[4] -= 0.2 * trace[2];
    s[5] -= 0.2 * trace[0], s[6] -= 0.2 * trace[2];
    s[7] -= 0.2 * trace[0], s[8] -= 0.2 * trace[1];
    for (int i = 0; i < 10; i++)
        far->octuple[i][lane] = (float)(7.5 * (i < 3 ? 1 : i < 9 ? 3 : 6) * s[i]);
}

static void set_far(pl_inside_far *far, int lane, const inside_moments *moments)
{
    double trace = (moments->m[0][0] + moments->m[1][1] + moments->m[2][2]) / 3;
    for (int k = 0; k < 3; k++) {
        int j = (k + 1) % 3;
        far->centre[k][lane] = (float)moments->centre[k];
        far->rest[k][lane] = (float)(moments->centre[k] - (double)far->centre[k][lane]);
        far->dipole[k][lane] = (float)moments->n[k];
        far->quadruple[k][lane] = (float)(3 * (moments->m[k][k] - trace));
        far->quadruple[3 + k][lane] = (float)(3 * (moments->m[k][j] + moments->m[j][k]));
    }
    set_octuple(far, lane, moments);
    /* Never with r = 0, nor where powers of 1/r leave the floats. */
    double radius = fmax(moments->radius, 1e-8);
    far->radius2[lane] = (float)(radius * radius);
}

static void expand_node(pl_inside *inside, int number, inside_moments *moments)
{
    const pl_bvh_node *node = &inside->bvh.nodes[number];
    pl_inside_far *far = &inside->far[number];
    inside_moments children[PL_BVH_WIDTH];
    int count = 0;
    for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
        far->radius2[lane] = 1e-30f;
        if (node->count[lane] < 0)
            continue;
        if (node->count[lane] == 0)
            children[count] = moments[node->child[lane]];
        else
            leaf_moments(inside, node->child[lane], node->count[lane], &children[count]);
        children[count].radius =
            fmin(children[count].radius, box_radius(node, lane, children[count].centre) + 1e-6);
        set_far(far, lane, &children[count]);
        count++;
    }
    if (count)
        join_moments(children, count, &moments[number]);
}

bool pl_inside_expand(pl_inside *inside)
{
    int count = inside->bvh.node_count;
    inside->far = PL_NEW(inside->memory, pl_inside_far, count);
    inside_moments *moments = PL_NEW(inside->memory, inside_moments, count);
    if (inside->far && moments)
        for (int n = count - 1; n >= 0; n--)
            expand_node(inside, n, moments);
    bool fine = inside->far && moments;
    pl_memory_free(inside->memory, moments);
    return fine;
}

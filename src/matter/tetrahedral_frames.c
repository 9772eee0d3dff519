/* How tetrahedral matter is deformed around each node: F of the elements there, weighed by their
   volume. With the gradients g_b of the corners of an element F − I = Σ_b (d_b − d_a) g_bᵀ, a being
   any corner; so the mean of the elements around node i is a constant product, too: F_i − I = Σ_j
   (d_j − d_i) c_ijᵀ over the nodes j around it. */
#include <string.h>

#include "matter/tetrahedral_build.h"

typedef float v4 __attribute__((vector_size(16)));

static v4 load4(const float *p)
{
    v4 v;
    memcpy(&v, __builtin_assume_aligned(p, 16), sizeof v);
    return v;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* `sum` [rows][3] is zero before and after; `place` [rows] is below `filled` for all. Returns how
   many there are then. */
static int lean_on(const pl_tet_draft *d, int node, int filled, int32_t *place, double *sum)
{
    pl_tet_system *s = d->s;
    int first = filled;
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++) {
        int e = d->touch[p] / 4, a = d->touch[p] % 4;
        double share = s->volume[e] / 4 / s->node_volume[node], g[3];
        for (int b = 0; b < 4; b++) {
            ptrdiff_t row = s->row_of[s->tets[4 * (ptrdiff_t)e + b]];
            if (b == a)
                continue;
            if (place[row] < first) {
                place[row] = filled++;
                if (s->lean)
                    s->lean[place[row]].row = (int32_t)(4 * row);
            }
            pl_tet_gradient_of(s, e, b, g);
            for (int k = 0; k < 3; k++)
                sum[3 * row + k] += share * g[k];
        }
    }
    for (int p = first; s->lean && p < filled; p++)
        for (int k = 0; k < 3; k++)
            s->lean[p].factor[k] = (float)sum[3 * (ptrdiff_t)(s->lean[p].row / 4) + k];
    for (int32_t p = d->touch_start[node]; p < d->touch_start[node + 1]; p++)
        for (int b = 0; b < 4; b++) {
            ptrdiff_t row = s->row_of[s->tets[4 * (ptrdiff_t)(d->touch[p] / 4) + b]];
            memset(sum + 3 * row, 0, 3 * sizeof *sum);
        }
    return filled;
}

bool pl_tet_make_frames(pl_tet_draft *d)
{
    pl_tet_system *s = d->s;
    bool fine = true;
    int32_t *place = PL_TET_TAKE(s->memory, int32_t, s->rows, fine);
    double *sum = PL_TET_TAKE(s->memory, double, 3 * (size_t)s->rows, fine);
    s->lean_start = PL_TET_TAKE(s->memory, int32_t, s->n + 1, fine);
    for (int pass = 0; fine && pass < 2; pass++) {
        int filled = 0;
        for (int row = 0; row < s->rows; row++)
            place[row] = -1;
        for (int node = 0; node < s->n; node++)
            s->lean_start[node + 1] = filled = lean_on(d, node, filled, place, sum);
        if (pass == 0)
            s->lean = PL_TET_TAKE(s->memory, pl_tet_lean, filled, fine);
    }
    pl_memory_free(s->memory, place);
    pl_memory_free(s->memory, sum);
    return fine;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

void pl_tetrahedral_frames(const pl_tetrahedral *body, const float *x, int worker, float *frame)
{
    const pl_tet_system *s = body->system;
    float *d = s->scratch[worker < s->workers ? worker : 0].x;
    for (ptrdiff_t node = 0; node < s->n; node++) {
        ptrdiff_t row = 4 * (ptrdiff_t)s->row_of[node];
        for (int k = 0; k < 3; k++)
            d[row + k] = x[3 * node + k] - s->rest[row + k];
        d[row + 3] = 0;
    }
    for (ptrdiff_t node = 0; node < s->n; node++) {
        v4 own = load4(d + 4 * (ptrdiff_t)s->row_of[node]), column[3] = {{0}};
        for (int32_t p = s->lean_start[node]; p < s->lean_start[node + 1]; p++) {
            v4 off = load4(d + s->lean[p].row) - own;
            for (int j = 0; j < 3; j++)
                column[j] += s->lean[p].factor[j] * off;
        }
        for (int k = 0; k < 9; k++)
            frame[9 * node + k] = column[k % 3][k / 3] + (k % 4 == 0 ? 1 : 0);
    }
}

/* What contact wants to know of a body's particles, sixteen at a time, and how far they have
   moved. */
#include "math/lanes.h"
#include "matter/oriented_lanes.h"

/* Rows of a state at the particles of a clump: reads one float beyond three of the last row, which
   pl_memory's rounding up of blocks allows for. */
PL_LANES_INLINE void load_rows(const float *data, int stride, const int32_t *which, vf out[4])
{
    const float *rows[PL_W];
    float columns[4 * PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = data + stride * (size_t)which[lane];
    pl_lanes_gather(rows, 4, columns);
    for (int k = 0; k < 4; k++)
        out[k] = pl_load_f(columns + k * PL_W);
}

/* B = R B̄ Rᵀ with R of the unit quaternion q. */
PL_LANES_INLINE void turn_shape(const vf q[4], const vf rest[6], vf scale, vf out[6])
{
    vf x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    vf xx = q[0] * x2, xy = q[0] * y2, xz = q[0] * z2, yy = q[1] * y2, yz = q[1] * z2,
       zz = q[2] * z2, wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
    vf r[3][3] = {{1.0f - (yy + zz), xy - wz, xz + wy},
                  {xy + wz, 1.0f - (xx + zz), yz - wx},
                  {xz - wy, yz + wx, 1.0f - (xx + yy)}};
    vf b[3][3] = {{rest[0] * scale, rest[1] * scale, rest[2] * scale},
                  {rest[1] * scale, rest[3] * scale, rest[4] * scale},
                  {rest[2] * scale, rest[4] * scale, rest[5] * scale}};
    vf m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = r[i][0] * b[0][k] + r[i][1] * b[1][k] + r[i][2] * b[2][k];
    int at = 0;
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            out[at++] = m[i][0] * r[k][0] + m[i][1] * r[k][1] + m[i][2] * r[k][2];
}

/* The rotation vector from one unit quaternion to the other, for small turns. */
PL_LANES_INLINE void small_turn(const vf a[4], const vf b[4], vf out[3])
{
    vf w = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
    vf two = pl_copysign_f(pl_splat_f(2), w);
    out[0] = two * (a[0] * b[3] - a[3] * b[0] - (a[1] * b[2] - a[2] * b[1]));
    out[1] = two * (a[1] * b[3] - a[3] * b[1] - (a[2] * b[0] - a[0] * b[2]));
    out[2] = two * (a[2] * b[3] - a[3] * b[2] - (a[0] * b[1] - a[1] * b[0]));
}

typedef struct frame {
    float unit, square, shift[3]; /* shift: of the origin, metres */
} frame;

/* Where PL_W particles are and how far they have moved, metres. */
PL_LANES_INLINE void see(const pl_oriented *body, const int32_t *which, const frame *f, vf x[3],
                         vf moved[3])
{
    vf now[4], old[4];
    load_rows(body->now.x, 3, which, now);
    load_rows(body->old.x, 3, which, old);
    for (int m = 0; m < 3; m++) {
        x[m] = now[m] * f->unit;
        moved[m] = (now[m] - old[m]) * f->unit + f->shift[m];
    }
}

static void gather_primitives(const pl_oriented *body, const int32_t *which, const float *shape,
                              const frame *f, const vf x[3], const vf moved[3], pl_primitive *out)
{
    vf q[4], old[4], rest[6], turned[3], b[6];
    float columns[15 * PL_W] __attribute__((aligned(64)));
    float *rows[PL_W];
    load_rows(body->now.q, 4, which, q);
    load_rows(body->old.q, 4, which, old);
    for (int m = 0; m < 6; m++)
        rest[m] = pl_load_f(shape + m * PL_CLUMP);
    turn_shape(q, rest, pl_splat_f(f->square), b);
    small_turn(q, old, turned);
    for (int m = 0; m < 3; m++) {
        pl_store_f(columns + m * PL_W, x[m]);
        pl_store_f(columns + (3 + m) * PL_W, moved[m]);
        pl_store_f(columns + (6 + m) * PL_W, turned[m]);
    }
    for (int m = 0; m < 6; m++)
        pl_store_f(columns + (9 + m) * PL_W, b[m]);
    for (int lane = 0; lane < PL_W; lane++)
        rows[lane] = out[lane].x;
    pl_lanes_scatter(columns, 15, rows);
}

static frame frame_of(const pl_oriented *body)
{
    double unit = body->system->key.model->unit;
    frame f = {.unit = (float)unit, .square = (float)(unit * unit)};
    for (int k = 0; k < 3; k++)
        f.shift[k] = (float)((body->place[k] - body->old.origin[k]) * unit);
    return f;
}

void PL_LANES(pl_oriented_gather)(const pl_oriented *body, const pl_clumps *clumps,
                                  const uint8_t *wanted, pl_clump_places *places,
                                  pl_clump_places *ways, pl_primitive *primitives, pl_gathered *out)
{
    frame f = frame_of(body);
    for (int c = 0; c < clumps->count; c++)
        for (int k = 0; k < PL_CLUMP; k += PL_W) {
            const int32_t *which = clumps->particle + c * PL_CLUMP + k;
            vf x[3], moved[3];
            see(body, which, &f, x, moved);
            pl_store_f(places[c].x + k, x[0]);
            pl_store_f(places[c].y + k, x[1]);
            pl_store_f(places[c].z + k, x[2]);
            pl_store_f(ways[c].x + k, moved[0]);
            pl_store_f(ways[c].y + k, moved[1]);
            pl_store_f(ways[c].z + k, moved[2]);
            if (wanted[c])
                gather_primitives(body, which, clumps->shape + (size_t)c * 6 * PL_CLUMP + k, &f, x,
                                  moved, primitives + c * PL_CLUMP + k);
        }
    /* The first of each clump stand for all. */
    for (int k = 0; k < 3; k++) {
        const float *axes[3] = {places->x, places->y, places->z};
        float sum = 0;
        for (int c = 0; c < clumps->count; c++)
            sum += axes[k][c * (int)(sizeof *places / sizeof(float))];
        out->centre[k] = sum / (float)clumps->count;
    }
    PL_LANES_LEAVE();
}

void PL_LANES(pl_oriented_gather_more)(const pl_oriented *body, const pl_clumps *clumps,
                                       const uint8_t *wanted, uint8_t which,
                                       pl_primitive *primitives)
{
    frame f = frame_of(body);
    for (int c = 0; c < clumps->count; c++)
        for (int k = 0; k < PL_CLUMP && wanted[c] == which; k += PL_W) {
            const int32_t *particles = clumps->particle + c * PL_CLUMP + k;
            vf x[3], moved[3];
            see(body, particles, &f, x, moved);
            gather_primitives(body, particles, clumps->shape + (size_t)c * 6 * PL_CLUMP + k, &f, x,
                              moved, primitives + c * PL_CLUMP + k);
        }
    PL_LANES_LEAVE();
}

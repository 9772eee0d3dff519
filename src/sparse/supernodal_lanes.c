/* Dense kernels of the supernodal factor, compiled once per lane width. Rows (or columns, or
   right-hand sides) are in lanes, and every sum is added up in one order that no width changes:
   - products of blocks while factoring, in double: by ascending column of the left factor;
   - forward: by ascending column;
   - backward: strips of 64 columns by ascending row; strips of 32 add up even and odd rows apart,
     narrower ones every fourth row, or one addition would wait for the other; then
     (0 + 1) + (2 + 3). */
#include <math.h>

#include "math/lanes.h"
#include "sparse/supernodal_parts.h"

enum { SIDE = PL_BLOCK_COLUMNS };

/* Floats of a line of the cache, and how far ahead a solve with one instance asks for them: it does
   little with each number, and waits for the memory otherwise. */
enum { LINE = 16, AHEAD = 512 };

PL_LANES_INLINE void fetch(const float *p, int line)
{
    __builtin_prefetch((const void *)((uintptr_t)p + sizeof *p * (size_t)(AHEAD + line)));
}

/* Vectors shorter than the machine's, for the last strips. */
typedef float v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));

/* ---- Tiles, in double ---- */

#if PL_W == 16
enum { TILE_VECTORS = 3, TILE_COLUMNS = 8 };
#else
enum { TILE_VECTORS = 2, TILE_COLUMNS = 4 };
#endif
enum { TILE = TILE_VECTORS * PL_WD };

/* c[column][row] = (or −=) Σ_k a[k][row] b[k][column]; a and c are aligned as their tiles are, or
   not at all. */
PL_LANES_INLINE void tile_product(int depth, const double *a, const double *b, ptrdiff_t b_stride,
                                  double *c, ptrdiff_t c_stride, bool subtract)
{
    vd sum[TILE_COLUMNS][TILE_VECTORS];
    for (int j = 0; j < TILE_COLUMNS; j++)
        for (int v = 0; v < TILE_VECTORS; v++)
            sum[j][v] = pl_splat_d(0.0);
    for (int k = 0; k < depth; k++) {
        vd left[TILE_VECTORS];
        for (int v = 0; v < TILE_VECTORS; v++)
            left[v] = pl_loadu_d(a + (ptrdiff_t)k * TILE + v * PL_WD);
        for (int j = 0; j < TILE_COLUMNS; j++) {
            vd right = pl_splat_d(b[k * b_stride + j]);
            for (int v = 0; v < TILE_VECTORS; v++)
                sum[j][v] += left[v] * right;
        }
    }
    for (int j = 0; j < TILE_COLUMNS; j++) {
        for (int v = 0; v < TILE_VECTORS; v++) {
            double *out = c + j * c_stride + v * PL_WD;
            pl_storeu_d(out, subtract ? pl_loadu_d(out) - sum[j][v] : sum[j][v]);
        }
    }
}

/* y[i] −= x[i] f for i in [begin, end), in whole vectors: a little before and behind is changed as
   well where there is room for it. */
PL_LANES_INLINE void subtract_column(double *y, const double *x, double f, int begin, int end)
{
    vd by = pl_splat_d(f);
    for (int i = begin & ~(PL_WD - 1); i < end; i += PL_WD)
        pl_storeu_d(y + i, pl_loadu_d(y + i) - pl_loadu_d(x + i) * by);
}

static int factor_triangle(double *l, int width, const double *least)
{
    for (int c = 0; c < width; c++) {
        double *column = l + c * SIDE, pivot = column[c], inverse;
        if (!(pivot > least[c]) || !(pivot < INFINITY))
            return c;
        column[c] = sqrt(pivot);
        inverse = 1.0 / column[c];
        for (int i = c + 1; i < width; i++)
            column[i] *= inverse;
        for (int k = c + 1; k < width; k++)
            subtract_column(l + k * SIDE, column, column[k], k, width);
    }
    return -1;
}

/* x = l⁻¹, by columns. */
static void invert_triangle(const double *l, double *x, int width)
{
    for (int c = 0; c < width; c++) {
        double *column = x + c * SIDE;
        for (int i = 0; i < SIDE; i++)
            column[i] = 0.0;
        column[c] = 1.0;
        for (int k = c; k < width; k++) {
            double value = column[k] / l[k * SIDE + k];
            subtract_column(column, l + k * SIDE, value, k + 1, width);
            column[k] = value;
        }
        for (int i = 0; i < c; i++)
            column[i] = 0.0;
    }
}

/* What a product from the right reads: x_rows[tile of columns c][k][c] = x_ck, and
   x_columns[tile of columns c][k][c] = x_kc. */
static void tile_inverse(const pl_dense *d)
{
    for (int tile = 0; tile < d->width; tile += TILE_COLUMNS) {
        for (int k = 0; k < d->width; k++) {
            for (int j = 0; j < TILE_COLUMNS; j++) {
                ptrdiff_t at = (ptrdiff_t)tile * SIDE + k * TILE_COLUMNS + j;
                int c = tile + j;
                d->x_rows[at] = c < d->width && k <= c ? d->x[k * SIDE + c] : 0.0;
                d->x_columns[at] = c < d->width && k >= c ? d->x[c * SIDE + k] : 0.0;
            }
        }
    }
}

static int triangle(const pl_dense *d, const double *least)
{
    for (int c = 0; c < d->width; c++) {
        for (int i = 0; i < SIDE; i++)
            d->l[c * SIDE + i] = i >= c && i < d->width ? d->f[c * d->stride + i] : 0.0;
    }
    int failed = factor_triangle(d->l, d->width, least);
    if (failed < 0) {
        /* Whole vectors have left something above the diagonal. */
        for (int c = 0; c < d->width; c++)
            for (int i = 0; i < c; i++)
                d->l[c * SIDE + i] = 0.0;
        invert_triangle(d->l, d->x, d->width);
        tile_inverse(d);
    }
    PL_LANES_LEAVE();
    return failed;
}

/* Writes −m[column][row of tile] as numbers of the block; `row` is the first. */
static void write_rows(const pl_dense *d, int row, const double *m)
{
    int count = d->rows - row < TILE ? d->rows - row : TILE;
    pl_strip s = pl_strip_at(0, d->rows);
    float *base = d->forward;
    for (int i = 0; i < count; i++) {
        while (row + i >= s.begin + s.size) {
            base += (ptrdiff_t)s.size * pl_strip_columns(s, d->width);
            s = pl_strip_at(s.begin + s.size, d->rows);
        }
        float *out = base + (row + i - s.begin);
        for (int c = 0; c < d->width; c++)
            out[c * s.size] = (float)-m[c * TILE + i];
    }
    base = d->backward;
    for (s = pl_strip_at(0, d->width); s.size; s = pl_strip_at(s.begin + s.size, d->width)) {
        int columns = d->width - s.begin < s.size ? d->width - s.begin : s.size;
        for (int i = 0; i < count; i++) {
            float *out = base + (ptrdiff_t)(row + i - s.begin) * s.size;
            for (int c = 0; c < columns; c++)
                out[c] = (float)-m[(s.begin + c) * TILE + i];
        }
        base += (ptrdiff_t)s.size * (d->rows - s.begin);
    }
}

/* Rows below the triangle: P = A L⁻ᵀ into the panel, and −P L⁻¹ into the numbers. */
static void rows(const pl_dense *d, int begin, int end, int worker)
{
    double *a = d->spare + (ptrdiff_t)worker * (2 * PL_TILE_ROWS * SIDE), *m = a + TILE * SIDE;
    for (int t = begin; t < end; t++) {
        const double *from = d->f + d->width + (ptrdiff_t)t * TILE;
        double *panel = d->panel + (ptrdiff_t)t * TILE * d->width;
        for (int k = 0; k < d->width; k++)
            for (int v = 0; v < TILE_VECTORS; v++)
                pl_storeu_d(a + k * TILE + v * PL_WD, pl_loadu_d(from + k * d->stride + v * PL_WD));
        for (int c = 0; c < d->width; c += TILE_COLUMNS) {
            double out[TILE_COLUMNS * TILE];
            int depth = c + TILE_COLUMNS < d->width ? c + TILE_COLUMNS : d->width;
            int columns = d->width - c < TILE_COLUMNS ? d->width - c : TILE_COLUMNS;
            tile_product(depth, a, d->x_rows + (ptrdiff_t)c * SIDE, TILE_COLUMNS, out, TILE, false);
            memcpy(panel + c * TILE, out, (size_t)columns * TILE * sizeof *out);
        }
        for (int c = 0; c < d->width; c += TILE_COLUMNS) {
            double out[TILE_COLUMNS * TILE];
            int columns = d->width - c < TILE_COLUMNS ? d->width - c : TILE_COLUMNS;
            tile_product(d->width - c, panel + c * TILE,
                         d->x_columns + (ptrdiff_t)c * SIDE + c * TILE_COLUMNS, TILE_COLUMNS, out,
                         TILE, false);
            memcpy(m + c * TILE, out, (size_t)columns * TILE * sizeof *out);
        }
        write_rows(d, d->width + t * TILE, m);
    }
    PL_LANES_LEAVE();
}

static void rest(const pl_dense *d, int begin, int end)
{
    int tiles = (d->rows - d->width + TILE - 1) / TILE;
    double *corner = d->f + d->width * (d->stride + 1);
    for (int column = begin; column < end; column++) {
        const double *right = d->panel + (ptrdiff_t)column * TILE * d->width;
        for (int c = 0; c < TILE; c += TILE_COLUMNS)
            for (int t = column; t < tiles; t++)
                tile_product(d->width, d->panel + (ptrdiff_t)t * TILE * d->width, right + c, TILE,
                             corner + ((ptrdiff_t)column * TILE + c) * d->stride +
                                 (ptrdiff_t)t * TILE,
                             d->stride, true);
    }
    PL_LANES_LEAVE();
}

/* ---- One instance ---- */

/* Four rows of four numbers from three (and nothing) by columns. */
PL_LANES_INLINE void store_rows4(float *out, v4 x, v4 y, v4 z)
{
    for (int i = 0; i < 4; i++) {
        v4 row = {x[i], y[i], z[i], 0.0f};
        memcpy(out + 4 * i, &row, sizeof row);
    }
}

PL_LANES_INLINE void store_rows_v4(float *out, const v4 a[3])
{
    store_rows4(out, a[0], a[1], a[2]);
}

#if PL_W == 16
PL_LANES_INLINE void store_rows_v8(float *out, const v8 a[3])
{
    v4 part[3][2];
    memcpy(part, a, sizeof part);
    for (int h = 0; h < 2; h++)
        store_rows4(out + 16 * h, part[0][h], part[1][h], part[2][h]);
}
#endif

#if PL_W > 4
PL_LANES_INLINE void store_rows_vf(float *out, const vf a[3])
{
#if PL_LANES_NATIVE
    vf x = a[0], y = a[1], z = a[2], w = pl_splat_f(0.0f);
    float *rows[PL_W];
    pl_lanes_transpose4(&x, &y, &z, &w);
    for (int i = 0; i < PL_W; i++)
        rows[i] = out + 4 * i;
    pl_lanes_store_quarters(rows, 0, x);
    pl_lanes_store_quarters(rows + 1, 0, y);
    pl_lanes_store_quarters(rows + 2, 0, z);
    pl_lanes_store_quarters(rows + 3, 0, w);
#else
    for (int i = 0; i < PL_W; i++) {
        v4 row = {a[0][i], a[1][i], a[2][i], 0.0f};
        memcpy(out + 4 * i, &row, sizeof row);
    }
#endif
}
#endif

/* One piece of a strip, of `vectors` vectors of type T, `offset` from the strip's begin:
   forward_T: out = Σ_c strip[c] in[c];   backward_T: out = Σ_i strip[i] in[i], `ways` apart. */
#define DEFINE_PIECES(T)                                                                           \
    PL_LANES_INLINE T splat_##T(float value)                                                       \
    {                                                                                              \
        return value - (T){0};                                                                     \
    }                                                                                              \
    PL_LANES_INLINE T load_##T(const float *p)                                                     \
    {                                                                                              \
        T v;                                                                                       \
        memcpy(&v, p, sizeof v);                                                                   \
        return v;                                                                                  \
    }                                                                                              \
    PL_LANES_INLINE void product_##T(const float *strip, int size, int count, int offset,          \
                                     int vectors, int ways, const float *in, float *out)           \
    {                                                                                              \
        enum { W = sizeof(T) / 4 };                                                                \
        T sum[4][3];                                                                               \
        for (int k = 0; k < vectors * ways; k++)                                                   \
            for (int c = 0; c < 3; c++)                                                            \
                sum[k][c] = (T){0};                                                                \
        const float *p = strip + offset;                                                           \
        int i = 0;                                                                                 \
        for (; i + ways <= count; i += ways) {                                                     \
            for (int w = 0; w < ways; w++, p += size, in += 4) {                                   \
                T by[3] = {splat_##T(in[0]), splat_##T(in[1]), splat_##T(in[2])};                  \
                for (int line = 0; line < vectors * W; line += LINE)                               \
                    fetch(p, line);                                                                \
                for (int v = 0; v < vectors; v++) {                                                \
                    T a = load_##T(p + v * W);                                                     \
                    for (int c = 0; c < 3; c++)                                                    \
                        sum[w * vectors + v][c] += a * by[c];                                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int w = 0; w < ways - 1; w++, i++, p += size, in += 4) {                              \
            if (i >= count)                                                                        \
                break;                                                                             \
            for (int v = 0; v < vectors; v++) {                                                    \
                T a = load_##T(p + v * W);                                                         \
                for (int c = 0; c < 3; c++)                                                        \
                    sum[w * vectors + v][c] += a * splat_##T(in[c]);                               \
            }                                                                                      \
        }                                                                                          \
        for (int v = 0; v < vectors; v++) {                                                        \
            T all[3];                                                                              \
            for (int c = 0; c < 3; c++)                                                            \
                all[c] = ways == 1   ? sum[v][c]                                                   \
                         : ways == 2 ? sum[v][c] + sum[vectors + v][c]                             \
                                     : (sum[0][c] + sum[1][c]) + (sum[2][c] + sum[3][c]);          \
            store_rows_##T(out + 4 * (offset + v * W), all);                                       \
        }                                                                                          \
    }

DEFINE_PIECES(v4)
#if PL_W == 16
DEFINE_PIECES(v8)
#endif
#if PL_W > 4
DEFINE_PIECES(vf)
#define WIDEST(name) name##_vf
#else
#define WIDEST(name) name##_v4
#endif

/* A whole strip, with plain sums. out[0] is the strip's first row. */
PL_LANES_INLINE void strip_plain(const float *strip, int size, int count, const float *in,
                                 float *out)
{
    int at = 0;
    for (; at + 4 * PL_W <= size; at += 4 * PL_W)
        WIDEST(product)(strip, size, count, at, 4, 1, in, out);
    if (at + 2 * PL_W <= size) {
        WIDEST(product)(strip, size, count, at, 2, 1, in, out);
        at += 2 * PL_W;
    }
    if (at + PL_W <= size) {
        WIDEST(product)(strip, size, count, at, 1, 1, in, out);
        at += PL_W;
    }
#if PL_W == 16
    if (at + 8 <= size) {
        product_v8(strip, size, count, at, 1, 1, in, out);
        at += 8;
    }
#endif
#if PL_W > 4
    if (at + 4 <= size)
        product_v4(strip, size, count, at, 1, 1, in, out);
#endif
}

/* With sums by every second or fourth row where the strip is narrow. */
PL_LANES_INLINE void strip_apart(const float *strip, int size, int count, const float *in,
                                 float *out)
{
    if (size == 64) {
        for (int at = 0; at < 64; at += 4 * PL_W)
            WIDEST(product)(strip, 64, count, at, 4, 1, in, out);
    } else if (size == 32) {
        for (int at = 0; at < 32; at += 2 * PL_W)
            WIDEST(product)(strip, 32, count, at, 2, 2, in, out);
    } else if (size >= PL_W) {
        for (int at = 0; at < size; at += PL_W)
            WIDEST(product)(strip, size, count, at, 1, 4, in, out);
#if PL_W == 16
    } else if (size == 8) {
        product_v8(strip, 8, count, 0, 1, 4, in, out);
#endif
    } else {
        product_v4(strip, 4, count, 0, 1, 4, in, out);
    }
}

static void forward(const float *values, int row_count, int width, int begin, int end,
                    const float *in, float *out)
{
    for (pl_strip s = pl_strip_at(0, row_count); s.size && s.begin < end;
         s = pl_strip_at(s.begin + s.size, row_count)) {
        int columns = pl_strip_columns(s, width);
        if (s.begin >= begin)
            strip_plain(values, s.size, columns, in, out + 4 * (ptrdiff_t)s.begin);
        values += (ptrdiff_t)s.size * columns;
    }
    PL_LANES_LEAVE();
}

static void backward(const float *values, int row_count, int width, int begin, int end,
                     const float *in, float *out)
{
    for (pl_strip s = pl_strip_at(0, width); s.size && s.begin < end;
         s = pl_strip_at(s.begin + s.size, width)) {
        if (s.begin >= begin)
            strip_apart(values, s.size, row_count - s.begin, in + 4 * (ptrdiff_t)s.begin,
                        out + 4 * (ptrdiff_t)s.begin);
        values += (ptrdiff_t)s.size * (row_count - s.begin);
    }
    PL_LANES_LEAVE();
}

/* ---- Many instances: right-hand sides in lanes ---- */

/* out[r][…] = Σ_i p[i * size + r] in[i][…] for `rows` neighbouring rows and `vectors` vectors,
   `ways` apart. */
PL_LANES_INLINE void many_product(const float *p, int size, int count, int row_count, int vectors,
                                  int ways, const float *in, float *out, int lanes)
{
    vf sum[4][3];
    for (int k = 0; k < row_count * ways; k++)
        for (int v = 0; v < vectors; v++)
            sum[k][v] = pl_splat_f(0.0f);
    int i = 0;
    for (; i + ways <= count; i += ways) {
        for (int w = 0; w < ways; w++, p += size, in += lanes) {
            vf right[3];
            for (int v = 0; v < vectors; v++)
                right[v] = pl_loadu_f(in + v * PL_W);
            for (int r = 0; r < row_count; r++) {
                vf a = pl_splat_f(p[r]);
                for (int v = 0; v < vectors; v++)
                    sum[w * row_count + r][v] += a * right[v];
            }
        }
    }
    for (int w = 0; w < ways - 1; w++, i++, p += size, in += lanes) {
        if (i >= count)
            break;
        for (int r = 0; r < row_count; r++)
            for (int v = 0; v < vectors; v++)
                sum[w * row_count + r][v] += pl_splat_f(p[r]) * pl_loadu_f(in + v * PL_W);
    }
    for (int r = 0; r < row_count; r++) {
        for (int v = 0; v < vectors; v++) {
            vf all = ways == 1   ? sum[r][v]
                     : ways == 2 ? sum[r][v] + sum[row_count + r][v]
                                 : (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
            pl_storeu_f(out + (ptrdiff_t)r * lanes + v * PL_W, all);
        }
    }
}

/* All right-hand sides of a few rows. */
#define DEFINE_MANY(name, row_count, ways)                                                         \
    static void name(const float *p, int size, int count, const float *in, float *out, int lanes)  \
    {                                                                                              \
        int at = 0;                                                                                \
        for (; at + 3 * PL_W <= lanes; at += 3 * PL_W)                                             \
            many_product(p, size, count, row_count, 3, ways, in + at, out + at, lanes);            \
        for (; at < lanes; at += PL_W)                                                             \
            many_product(p, size, count, row_count, 1, ways, in + at, out + at, lanes);            \
    }
DEFINE_MANY(four_plain, 4, 1)
DEFINE_MANY(two_apart, 2, 2)
DEFINE_MANY(one_apart, 1, 4)

static void forward_many(const float *values, int row_count, int width, const float *in, float *out,
                         int lanes)
{
    for (pl_strip s = pl_strip_at(0, row_count); s.size;
         s = pl_strip_at(s.begin + s.size, row_count)) {
        int columns = pl_strip_columns(s, width);
        for (int r = 0; r < s.size; r += 4)
            four_plain(values + r, s.size, columns, in, out + (ptrdiff_t)(s.begin + r) * lanes,
                       lanes);
        values += (ptrdiff_t)s.size * columns;
    }
    PL_LANES_LEAVE();
}

static void backward_many(const float *values, int row_count, int width, const float *in,
                          float *out, int lanes)
{
    for (pl_strip s = pl_strip_at(0, width); s.size; s = pl_strip_at(s.begin + s.size, width)) {
        const float *from = in + (ptrdiff_t)s.begin * lanes;
        float *to = out + (ptrdiff_t)s.begin * lanes;
        int count = row_count - s.begin;
        if (s.size == 64)
            for (int c = 0; c < 64; c += 4)
                four_plain(values + c, 64, count, from, to + (ptrdiff_t)c * lanes, lanes);
        else if (s.size == 32)
            for (int c = 0; c < 32; c += 2)
                two_apart(values + c, 32, count, from, to + (ptrdiff_t)c * lanes, lanes);
        else
            for (int c = 0; c < s.size; c++)
                one_apart(values + c, s.size, count, from, to + (ptrdiff_t)c * lanes, lanes);
        values += (ptrdiff_t)s.size * count;
    }
    PL_LANES_LEAVE();
}

/* ---- Parts ---- */

PL_LANES_INLINE void copy_row(float *to, const float *from, int lanes)
{
    if (lanes == 4) {
        memcpy(to, from, 4 * sizeof *to);
        return;
    }
    for (int at = 0; at < lanes; at += PL_W)
        pl_storeu_f(to + at, pl_loadu_f(from + at));
}

PL_LANES_INLINE void add_row(float *to, const float *from, int lanes)
{
    if (lanes == 4) {
        v4 a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a += b;
        memcpy(to, &a, sizeof a);
        return;
    }
    for (int at = 0; at < lanes; at += PL_W)
        pl_storeu_f(to + at, pl_loadu_f(to + at) + pl_loadu_f(from + at));
}

/* Inlined for one instance and for many. */
PL_LANES_INLINE void forward_blocks(const pl_supernodal *f, const pl_part *part, float *y,
                                    float *spare, int lanes)
{
    for (int b = part->block_begin; b < part->block_end; b++) {
        const pl_block *block = &f->blocks[b];
        const int32_t *below = f->block_rows + block->rows;
        float *own = y + (ptrdiff_t)block->first * lanes;
        int row_count = block->width + block->below;
        if (lanes == 4)
            forward(f->values + block->forward, row_count, block->width, 0, row_count, own, spare);
        else
            forward_many(f->values + block->forward, row_count, block->width, own, spare, lanes);
        const float *from = spare;
        for (int c = 0; c < block->width; c++, from += lanes)
            copy_row(own + (ptrdiff_t)c * lanes, from, lanes);
        for (int i = 0; i < block->below; i++, from += lanes)
            add_row(y + (ptrdiff_t)below[i] * lanes, from, lanes);
    }
    PL_LANES_LEAVE();
}

PL_LANES_INLINE void backward_blocks(const pl_supernodal *f, const pl_part *part, float *y,
                                     float *spare, int lanes)
{
    float *out = spare + (ptrdiff_t)part->largest * lanes;
    for (int b = part->block_end - 1; b >= part->block_begin; b--) {
        const pl_block *block = &f->blocks[b];
        const int32_t *below = f->block_rows + block->rows;
        float *own = y + (ptrdiff_t)block->first * lanes, *to = spare;
        int row_count = block->width + block->below;
        for (int c = 0; c < block->width; c++, to += lanes)
            copy_row(to, own + (ptrdiff_t)c * lanes, lanes);
        for (int i = 0; i < block->below; i++, to += lanes)
            copy_row(to, y + (ptrdiff_t)below[i] * lanes, lanes);
        if (lanes == 4)
            backward(f->values + block->backward, row_count, block->width, 0, row_count, spare,
                     out);
        else
            backward_many(f->values + block->backward, row_count, block->width, spare, out, lanes);
        for (int c = 0; c < block->width; c++)
            copy_row(own + (ptrdiff_t)c * lanes, out + (ptrdiff_t)c * lanes, lanes);
    }
    PL_LANES_LEAVE();
}

static void forward_part(const pl_supernodal *f, const pl_part *part, float *y, float *spare,
                         int lanes)
{
    if (lanes == 4)
        forward_blocks(f, part, y, spare, 4);
    else
        forward_blocks(f, part, y, spare, lanes);
}

static void backward_part(const pl_supernodal *f, const pl_part *part, float *y, float *spare,
                          int lanes)
{
    if (lanes == 4)
        backward_blocks(f, part, y, spare, 4);
    else
        backward_blocks(f, part, y, spare, lanes);
}

extern const pl_supernodal_table PL_LANES(pl_supernodal_table);
const pl_supernodal_table PL_LANES(pl_supernodal_table) = {
    .width = PL_W,
    .tile_rows = TILE,
    .tile_columns = TILE_COLUMNS,
    .triangle = triangle,
    .rows = rows,
    .rest = rest,
    .forward_part = forward_part,
    .backward_part = backward_part,
    .forward = forward,
    .backward = backward,
};

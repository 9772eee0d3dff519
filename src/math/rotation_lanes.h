/* Rotations and singular values of many 3 × 3 matrices, by the widest lanes the machine has: the
   whole-array form of rotation.inl and svd.inl, for tests, benchmarks and code that has no lanes of
   its own. */
#ifndef PL_MATH_ROTATION_LANES_H
#define PL_MATH_ROTATION_LANES_H

#include <stddef.h>

/* q[4 i …] (x, y, z, w; unit) is on entry the start and on return the rotation nearest to the
   matrix c[9 i …], row by row. Matrices that are zero or not finite keep their start. */
void pl_rotations_fit(size_t count, const float *c, float *q);
void pl_rotations_fit_double(size_t count, const double *c, double *q);

/* c[9 i …] = U diag(s) Vᵀ with rotations u, v (nine numbers each, row by row) and s1 >= s2 >= |s3|;
   s3 has the sign of the determinant. A matrix that is not finite gives s = 0 and identities. */
void pl_svd3(size_t count, const float *c, float *u, float *s, float *v);
void pl_svd3_double(size_t count, const double *c, double *u, double *s, double *v);

/* pl_rotations_fit for what stands in sixteen lanes already: `count` sets of c[9][lane] and
   q[4][lane]. For kernels of half that width that are compiled for the same instruction set. */
void pl_rotation_fit_columns_w16(int count, const float *c, float *q);

/* One table per compiled width. */
typedef struct pl_rotation_table {
    int width;
    void (*fit)(size_t count, const float *c, float *q);
    void (*fit_double)(size_t count, const double *c, double *q);
    void (*svd)(size_t count, const float *c, float *u, float *s, float *v);
    void (*svd_double)(size_t count, const double *c, double *u, double *s, double *v);
    /* n lanes' worth of elementary.inl, lane by lane: log: q[4] -> v[3]; exp and spin: v[3] ->
       q[4]. */
    void (*log)(size_t count, const float *q, float *v);
    void (*exp)(size_t count, const float *v, float *q);
    void (*spin)(size_t count, const float *v, float *q);
    void (*log_double)(size_t count, const double *q, double *v);
    void (*exp_double)(size_t count, const double *v, double *q);
    void (*spin_double)(size_t count, const double *v, double *q);
    /* pl_lanes_gather of `width` rows, or width / 2 rows to doubles, and back. */
    void (*gather)(const float *const *rows, int count, float *out);
    void (*scatter)(const float *in, int count, float *const *rows);
    void (*gather_double)(const float *const *rows, int count, double *out);
    void (*scatter_double)(const double *in, int count, float *const *rows);
} pl_rotation_table;

/* The table for a width of 4, 8 or 16; NULL when this build or this machine has none. */
const pl_rotation_table *pl_rotation_table_of(int width);

#endif

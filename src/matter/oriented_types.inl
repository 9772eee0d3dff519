/* The two layouts of the oriented-particle kernels, as types. Include with PL_REAL_IS_DOUBLE and
   LONE defined.

   Instances (LONE 0): one body per lane. A column of three numbers is three vectors; model
   constants are scalars that the compiler broadcasts. Lone (LONE 1): one body; a column is one
   vector of four, the last component zero, and only the rotations go through the lanes, the
   particles of one colour side by side. The kernels are written with the operations below, each of
   which does the same arithmetic in both layouts, component by component: the bits agree. */
#include "math/rotation.inl"

#undef NAME
#undef COL
#undef QUAD
#undef MAT
#undef ENTRY
#undef TEE
#undef ACC
#undef BODIES
#undef STRIDE
#undef PL_NAME_JOIN2
#undef PL_NAME_JOIN

#if LONE
#define NAME(name) PL_R(name##_lone)
#define BODIES 1
#else
#define NAME(name) PL_R(name)
#define BODIES PL_WR
#endif
/* Component k of a column is the scalar at k * STRIDE + lane. */
#define STRIDE BODIES

#define COL NAME(column)
#define QUAD NAME(quad)
#define MAT NAME(matrix)
#define ENTRY NAME(entry)
#define TEE NAME(number)
#define ACC NAME(sum)

#if LONE

typedef REAL COL __attribute__((vector_size(4 * sizeof(REAL))));
typedef COL QUAD;
typedef REAL TEE;
typedef double ACC __attribute__((vector_size(32)));

PL_LANES_INLINE COL NAME(zero)(void)
{
    return (COL){0, 0, 0, 0};
}

PL_LANES_INLINE COL NAME(add)(COL a, COL b)
{
    return a + b;
}

PL_LANES_INLINE COL NAME(sub)(COL a, COL b)
{
    return a - b;
}

PL_LANES_INLINE COL NAME(mul)(COL a, COL b)
{
    return a * b;
}

PL_LANES_INLINE COL NAME(scale)(COL a, REAL s)
{
    return a * s;
}

PL_LANES_INLINE COL NAME(times)(COL a, TEE s)
{
    return a * s;
}

PL_LANES_INLINE QUAD NAME(quad_sub)(QUAD a, QUAD b)
{
    return a - b;
}

PL_LANES_INLINE QUAD NAME(quad_times)(QUAD a, TEE s)
{
    return a * s;
}

PL_LANES_INLINE TEE NAME(quad_dot)(QUAD a, QUAD b)
{
    QUAD p = a * b;
    return (p[0] + p[1]) + (p[2] + p[3]);
}

PL_LANES_INLINE TEE NAME(root)(TEE a)
{
    return PL_R_PICK(__builtin_sqrtf((float)a), __builtin_sqrt((double)a));
}

/* a > b ? x : y */
PL_LANES_INLINE TEE NAME(where_greater)(TEE a, TEE b, TEE x, TEE y)
{
    return a > b ? x : y;
}

PL_LANES_INLINE void NAME(accumulate)(ACC *sum, COL a)
{
#if PL_REAL_IS_DOUBLE
    *sum += a;
#else
    *sum += __builtin_convertvector(a, ACC);
#endif
}

/* Component sums of lane 0, x + y + z. */
PL_LANES_INLINE void NAME(total)(const ACC *sum, double *out)
{
    out[0] = ((*sum)[0] + (*sum)[1]) + (*sum)[2];
}

PL_LANES_INLINE void NAME(components)(const ACC *sum, double out[3][BODIES])
{
    for (int k = 0; k < 3; k++)
        out[k][0] = (*sum)[k];
}

PL_LANES_INLINE COL NAME(column_of)(const double in[3][BODIES])
{
    return (COL){(REAL)in[0][0], (REAL)in[1][0], (REAL)in[2][0], 0};
}

#else

typedef struct COL {
    VR x, y, z;
} COL;
typedef struct QUAD {
    VR x, y, z, w;
} QUAD;
typedef VR TEE;
typedef struct ACC {
#if PL_REAL_IS_DOUBLE
    vd x, y, z;
#else
    vd x[2], y[2], z[2];
#endif
} ACC;

PL_LANES_INLINE COL NAME(zero)(void)
{
    return (COL){vr_splat(0), vr_splat(0), vr_splat(0)};
}

PL_LANES_INLINE COL NAME(add)(COL a, COL b)
{
    return (COL){a.x + b.x, a.y + b.y, a.z + b.z};
}

PL_LANES_INLINE COL NAME(sub)(COL a, COL b)
{
    return (COL){a.x - b.x, a.y - b.y, a.z - b.z};
}

PL_LANES_INLINE COL NAME(mul)(COL a, COL b)
{
    return (COL){a.x * b.x, a.y * b.y, a.z * b.z};
}

PL_LANES_INLINE COL NAME(times)(COL a, TEE s)
{
    return (COL){a.x * s, a.y * s, a.z * s};
}

PL_LANES_INLINE COL NAME(scale)(COL a, REAL s)
{
    return NAME(times)(a, vr_splat(s));
}

PL_LANES_INLINE QUAD NAME(quad_sub)(QUAD a, QUAD b)
{
    return (QUAD){a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}

PL_LANES_INLINE QUAD NAME(quad_times)(QUAD a, TEE s)
{
    return (QUAD){a.x * s, a.y * s, a.z * s, a.w * s};
}

PL_LANES_INLINE TEE NAME(quad_dot)(QUAD a, QUAD b)
{
    return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
}

PL_LANES_INLINE TEE NAME(root)(TEE a)
{
    return vr_sqrt(a);
}

PL_LANES_INLINE TEE NAME(where_greater)(TEE a, TEE b, TEE x, TEE y)
{
    return vr_select(a > b, x, y);
}

#if PL_REAL_IS_DOUBLE
PL_LANES_INLINE void NAME(accumulate)(ACC *sum, COL a)
{
    sum->x += a.x;
    sum->y += a.y;
    sum->z += a.z;
}
#define PL_SUM_LANE(v, lane) ((v)[lane])
#else
PL_LANES_INLINE void NAME(accumulate1)(vd sum[2], vf a)
{
    vd wide[2];
    pl_widen_f(a, wide);
    sum[0] += wide[0];
    sum[1] += wide[1];
}

PL_LANES_INLINE void NAME(accumulate)(ACC *sum, COL a)
{
    NAME(accumulate1)(sum->x, a.x);
    NAME(accumulate1)(sum->y, a.y);
    NAME(accumulate1)(sum->z, a.z);
}
#define PL_SUM_LANE(v, lane) ((v)[(lane) / PL_WD][(lane) % PL_WD])
#endif

PL_LANES_INLINE void NAME(total)(const ACC *sum, double *out)
{
    for (int l = 0; l < BODIES; l++)
        out[l] = (PL_SUM_LANE(sum->x, l) + PL_SUM_LANE(sum->y, l)) + PL_SUM_LANE(sum->z, l);
}

PL_LANES_INLINE void NAME(components)(const ACC *sum, double out[3][BODIES])
{
    for (int l = 0; l < BODIES; l++) {
        out[0][l] = PL_SUM_LANE(sum->x, l);
        out[1][l] = PL_SUM_LANE(sum->y, l);
        out[2][l] = PL_SUM_LANE(sum->z, l);
    }
}
#undef PL_SUM_LANE

PL_LANES_INLINE COL NAME(column_of)(const double in[3][BODIES])
{
    REAL buffer[3][BODIES] __attribute__((aligned(64)));
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < BODIES; l++)
            buffer[k][l] = (REAL)in[k][l];
    return (COL){vr_load(buffer[0]), vr_load(buffer[1]), vr_load(buffer[2])};
}

#endif

/* The first component of a plus s. */
PL_LANES_INLINE COL NAME(add_to_first)(COL a, TEE s)
{
#if LONE
    a[0] += s;
#else
    a.x = a.x + s;
#endif
    return a;
}

PL_LANES_INLINE TEE NAME(tee)(REAL value)
{
#if LONE
    return value;
#else
    return vr_splat(value);
#endif
}

/* The larger of m and the magnitudes in a, component by component. */
PL_LANES_INLINE COL NAME(reach)(COL m, COL a)
{
#if LONE
    for (int k = 0; k < 3; k++) {
        REAL size = a[k] < 0 ? -a[k] : a[k];
        m[k] = size > m[k] ? size : m[k];
    }
    return m;
#else
    return (COL){vr_max(vr_abs(a.x), m.x), vr_max(vr_abs(a.y), m.y), vr_max(vr_abs(a.z), m.z)};
#endif
}

PL_LANES_INLINE COL NAME(pick)(TEE flag, COL yes, COL no)
{
#if LONE
    return flag > 0 ? yes : no;
#else
    VM mask = flag > vr_splat(0);
    return (COL){vr_select(mask, yes.x, no.x), vr_select(mask, yes.y, no.y),
                 vr_select(mask, yes.z, no.z)};
#endif
}

/* Three columns: a rotation, or C. */
typedef struct MAT {
    COL c[3];
} MAT;

/* The unknowns of one particle, as Anderson mixes them. */
typedef struct ENTRY {
    COL x;
    QUAD q;
} ENTRY;

/* a + b s */
PL_LANES_INLINE COL NAME(mad)(COL a, COL b, REAL s)
{
    return NAME(add)(a, NAME(scale)(b, s));
}

/* M v for a constant v. */
PL_LANES_INLINE COL NAME(apply)(const MAT *m, const REAL v[3])
{
    return NAME(mad)(NAME(mad)(NAME(scale)(m->c[0], v[0]), m->c[1], v[1]), m->c[2], v[2]);
}

/* M S for a constant symmetric S (xx, xy, xz, yy, yz, zz). */
PL_LANES_INLINE MAT NAME(apply_moment)(const MAT *m, const REAL s[6])
{
    const REAL column[3][3] = {{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}};
    MAT out;
    for (int k = 0; k < 3; k++)
        out.c[k] = NAME(apply)(m, column[k]);
    return out;
}

PL_LANES_INLINE void NAME(get)(COL c, TEE v[3])
{
#if LONE
    v[0] = c[0], v[1] = c[1], v[2] = c[2];
#else
    v[0] = c.x, v[1] = c.y, v[2] = c.z;
#endif
}

PL_LANES_INLINE void NAME(cross)(const TEE a[3], const TEE b[3], TEE out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* N = A Bᵀ for matrices given by columns. */
PL_LANES_INLINE void NAME(outer)(const MAT *a, const MAT *b, TEE n[3][3])
{
    TEE p[3][3], q[3][3];
    for (int k = 0; k < 3; k++) {
        NAME(get)(a->c[k], p[k]);
        NAME(get)(b->c[k], q[k]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            n[i][j] = p[0][i] * q[0][j] + p[1][i] * q[1][j] + p[2][i] * q[2][j];
}

/* Scalar access to one lane. */
PL_LANES_INLINE REAL *NAME(part)(void *column, int component, int lane)
{
    return (REAL *)column + component * STRIDE + lane;
}

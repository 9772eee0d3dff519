/* Small things the kernels of shape matching share: vectors and matrices with one cluster per lane.
   Included by *_lanes.c behind math/svd.inl. */

/* ---- Vectors and matrices -------------------------------------------------------------------- */

PL_LANES_INLINE void cross(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

PL_LANES_INLINE void mul33(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

PL_LANES_INLINE void mul33_3(const vf a[9], const vf b[3], vf out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[3 * i] * b[0] + a[3 * i + 1] * b[1] + a[3 * i + 2] * b[2];
}

PL_LANES_INLINE void full(const vf s[6], vf out[9])
{
    out[0] = s[0], out[1] = s[1], out[2] = s[2];
    out[3] = s[1], out[4] = s[3], out[5] = s[4];
    out[6] = s[2], out[7] = s[4], out[8] = s[5];
}

/* Pseudo-inverse of symmetric semidefinite matrices. Those that are nearly singular go through
   their eigenvectors; what is below 10⁻⁶ of the trace is nothing. */
PL_LANES_INLINE void invert_inertia(const vf a[6], vf out[6])
{
    vf trace = a[0] + a[3] + a[5];
    vi usable = (trace > pl_splat_f(1e-30f)) & (trace < pl_splat_f(1e30f));
    vf scale = pl_select_f(usable, 1.0f / trace, pl_splat_f(0)), b[6];
    for (int k = 0; k < 6; k++)
        b[k] = pl_select_f(usable, a[k] * scale, pl_splat_f(0));
    out[0] = b[3] * b[5] - b[4] * b[4], out[1] = b[2] * b[4] - b[1] * b[5],
    out[2] = b[1] * b[4] - b[2] * b[3];
    out[3] = b[0] * b[5] - b[2] * b[2], out[4] = b[1] * b[2] - b[0] * b[4],
    out[5] = b[0] * b[3] - b[1] * b[1];
    vf det = b[0] * out[0] + b[1] * out[1] + b[2] * out[2];
    vi well = det > pl_splat_f(1e-5f);
    vf factor = pl_select_f(well, scale / det, pl_splat_f(0));
    for (int k = 0; k < 6; k++)
        out[k] *= factor;
    if (pl_any_f(usable & ~well)) {
        vf s[3], v[9];
        int at = 0;
        pl_eigen3_f(b, s, v);
        for (int k = 0; k < 3; k++)
            s[k] = pl_select_f(s[k] > pl_splat_f(1e-6f), scale / s[k], pl_splat_f(0));
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++, at++) {
                vf sum = pl_splat_f(0);
                for (int k = 0; k < 3; k++)
                    sum += v[3 * i + k] * s[k] * v[3 * j + k];
                out[at] = pl_select_f(well, out[at], sum);
            }
    }
}

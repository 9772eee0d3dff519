/* Lets one text serve lanes of floats and lanes of doubles. A template file starts by including
   this file with PL_REAL_IS_DOUBLE defined as 0 or 1, writes REAL, VR and VM for the scalar, the
   vector and the mask, vr_ and vm_ for the helpers of lanes.h, and names its functions PL_R(name),
   which is name_f or name_d. */
#include "math/lanes.h"

#undef REAL
#undef VR
#undef VM
#undef PL_WR
#undef PL_R
#undef PL_R_PICK

#if PL_REAL_IS_DOUBLE
#define REAL double
#define VR vd
#define VM vl
#define PL_WR PL_WD
#define PL_R(name) name##_d
/* The first for floats, the second for doubles. */
#define PL_R_PICK(single, twice) (twice)
#else
#define REAL float
#define VR vf
#define VM vi
#define PL_WR PL_W
#define PL_R(name) name##_f
#define PL_R_PICK(single, twice) (single)
#endif

#ifndef PL_MATH_LANES_REAL_INL
#define PL_MATH_LANES_REAL_INL
#define vr_splat(value) PL_R(pl_splat)((REAL)(value))
#define vm_splat PL_R(pl_splat_bits)
#define vr_load PL_R(pl_load)
#define vr_store PL_R(pl_store)
#define vr_loadu PL_R(pl_loadu)
#define vr_storeu PL_R(pl_storeu)
#define vr_select PL_R(pl_select)
#define vr_abs PL_R(pl_abs)
#define vr_copysign PL_R(pl_copysign)
#define vr_min PL_R(pl_min)
#define vr_max PL_R(pl_max)
#define vr_sqrt PL_R(pl_sqrt)
#define vm_any PL_R(pl_any)
#define vm_all PL_R(pl_all)
#endif

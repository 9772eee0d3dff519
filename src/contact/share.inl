/* How an overlap is shared between what is undone with its velocity and what is only moved, in
   lanes. */
#include "contact/share.h"
#include "math/lanes.h"

PL_LANES_INLINE vf recovery_part(double h)
{
    return pl_splat_f((float)(PL_RECOVERY_RATE * h < 1 ? PL_RECOVERY_RATE * h : 1));
}

PL_LANES_INLINE vf bounce_floor(double h, double gravity)
{
    return pl_splat_f((float)(PL_BOUNCE_FLOOR * gravity * h * h));
}

/* Two particles: `overlap` at the end of a sub-step in which they came nearer by `approach`. What
   came about in it is undone, with its velocity; what was there before is parted slowly, the faster
   the deeper, and gains no speed. `distance` is that at which they touch. */
PL_LANES_INLINE void share_overlap(vf overlap, vf approach, vf distance, vf part, vf *depth,
                                   vf *recover)
{
    vf zero = pl_splat_f(0), one = pl_splat_f(1);
    vf before = pl_max_f(overlap - approach - (float)PL_SLOP * distance, zero);
    vf faster = 1.0f + (float)PL_HASTE * before / pl_max_f(distance, pl_splat_f(1e-37f));
    *depth = pl_max_f(pl_min_f(overlap, approach), zero);
    *recover = pl_min_f(before, pl_max_f(overlap, zero)) * pl_min_f(part * faster, one);
}

/* A particle and a collider: the same, but at once (`rate` 1) as far as its centre is inside, the
   rest at `rate`, and no more than `most`. See pl_share_overlap. */
PL_LANES_INLINE void share_depth(vf overlap, vf approach, vf half, vf most, vf rate, vf *depth,
                                 vf *recover)
{
    vf zero = pl_splat_f(0), before = pl_max_f(overlap - approach, zero);
    *depth = pl_max_f(pl_min_f(overlap, approach), zero);
    before = pl_min_f(before, pl_max_f(overlap, zero));
    *recover = pl_min_f(before - pl_min_f(before, half) * (1 - rate), most);
}

/* See pl_bounce. */
PL_LANES_INLINE vf bounce_of(vf came, vf approach, vf depth, vf bounce, vf floor)
{
    vi bounces = (bounce > 0.0f) & (came > floor);
    return pl_select_f(bounces, bounce * came + pl_max_f(approach - depth, pl_splat_f(0)),
                       pl_splat_f(0));
}

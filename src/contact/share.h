/* How an overlap is shared between what is undone with its velocity and what is only moved; in
   lanes: share.inl. */
#ifndef PL_CONTACT_SHARE_H
#define PL_CONTACT_SHARE_H

/* What overlapped before the sub-step is parted at this rate, 1/s. */
#define PL_RECOVERY_RATE 15.0

/* Approaches below this many times what gravity adds in a sub-step do not bounce. */
#define PL_BOUNCE_FLOOR 4.0

/* `overlap` at the end of a sub-step in which the two came nearer by `approach`. What is deep
   inside comes out no faster than what is in by `half`: else the deepest parts of a body would be
   torn ahead of the others. */
static inline void pl_share_overlap(double overlap, double approach, double half, double bounce,
                                    double h, double gravity, double *depth, double *recover)
{
    double part = PL_RECOVERY_RATE * h < 1 ? PL_RECOVERY_RATE * h : 1;
    double before = overlap - approach > 0 ? overlap - approach : 0;
    double hit = overlap < approach ? overlap : approach;
    *depth = hit > 0 ? hit : 0;
    if (bounce > 0 && approach > PL_BOUNCE_FLOOR * gravity * h * h)
        *depth = approach + bounce * approach;
    before = before < overlap ? before : overlap;
    *recover = (before < half ? before : half) * part;
}

#endif

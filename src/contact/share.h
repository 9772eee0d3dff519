/* How an overlap is shared between what is undone with its velocity and what is only moved; in
   lanes: share.inl. */
#ifndef PL_CONTACT_SHARE_H
#define PL_CONTACT_SHARE_H

#include <math.h>
#include <stdbool.h>

/* What overlapped before the sub-step is parted at this rate, 1/s. */
#define PL_RECOVERY_RATE 15.0

/* Between bodies so much overlap is left alone, as a part of the distance at which the two touch:
   else piles never come to rest. */
#define PL_SLOP 0.02

/* What is deep in each other is parted faster: by this many times the overlap, as a part of that
   distance. */
#define PL_HASTE 80.0

/* Approaches below this many times what gravity adds in a sub-step do not bounce. */
#define PL_BOUNCE_FLOOR 4.0

/* Particles of sheets are wide: turning, they reach into a collider and slide on it though their
   centres do neither. What is given to the centre for that is taken from no turn: so old overlap is
   parted by this part of the rate, of loose sheets, whose particles are moved one by one, by the
   other, and friction does not speed a centre up. */
#define PL_FLAT_PART (1.0 / 15)
#define PL_SLACK_FLAT_PART (1.0 / 60)

/* The same between bodies: where particles of a sheet are moved one by one, and where all of it is
   at once. */
#define PL_LOOSE_FLAT_PART (1.0 / 60)
#define PL_FIRM_FLAT_PART (1.0 / 3)

/* A particle and a collider: `overlap` at the end of a sub-step in which the two came nearer by
   `approach`. What is deep inside comes out no faster than what is in by `half` would at the rate:
   else the deepest parts of a body would be torn ahead of the others; only what it got in by
   turning just now, `turned_in`, goes back on top of that. Particles of sheets (`flat` < 1) reach
   into a collider whenever they turn, again and again: parted at once their springs would gain what
   nobody pays for, so they are parted at that part of the rate. By turning, nobody gets in deeper
   than by `half`: whose centre is inside was there before, and comes out as everybody else. */
static inline void pl_share_overlap(double overlap, double approach, double half, double turned_in,
                                    double h, double flat, double *depth, double *recover)
{
    double part = PL_RECOVERY_RATE * h < 1 ? PL_RECOVERY_RATE * h : 1;
    double before = overlap - approach > 0 ? overlap - approach : 0;
    double hit = overlap < approach ? overlap : approach;
    *depth = hit > 0 ? hit : 0;
    before = before < overlap ? before : overlap;
    double reach = flat < 1 ? (before < half ? before : half) : 0;
    before -= reach * (1 - part * flat);
    double most = half * part + (flat < 1 || !(turned_in > 0) ? 0 : turned_in);
    *recover = before < most ? before : most;
}

/* Velocity, in metres per sub-step, that two get in a bounce without being moved: so that after an
   approach of which `depth` was undone they part at `bounce` times the speed at which they came,
   before the solver had its say: what it drives into each other is no blow, and giving it back
   would make energy. */
static inline double pl_bounce(double came, double approach, double depth, double bounce, double h,
                               double gravity)
{
    if (!(bounce > 0) || !(came > PL_BOUNCE_FLOOR * gravity * h * h))
        return 0;
    return bounce * came + (approach > depth ? approach - depth : 0);
}

/* Of a slide s of two surfaces, whose centres slide by v: the part that friction takes out of their
   velocities, up to a length; no more than it takes to leave the centres as slow as can be. What is
   given: s · v and s². */
static inline double pl_slowing(double slows, double square, double most)
{
    if (!(slows > 0) || !(square > 0))
        return 0;
    double part = most / sqrt(square), least = slows < square ? slows / square : 1;
    return part < least ? part : least;
}

#endif

/* What a search of the narrow phase has in hand: groups in portions, pairs of particles, and bits
   of lanes. A part of narrow_lanes.c. */
#include "contact/contact_lanes.h"

#define ALL_LANES ((uint32_t)((UINT64_C(1) << PL_W) - 1))

/* Bits of the first `count` lanes, or of all. */
PL_LANES_INLINE uint32_t lanes_up_to(int count)
{
    return count < PL_W ? (1u << count) - 1 : ALL_LANES;
}

/* Bits of a < b: compilers make a vector of a comparison before they make bits of it. */
PL_LANES_INLINE uint32_t bits_less(vf a, vf b)
{
#if PL_W == 16 && PL_LANES_NATIVE
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
    return pl_bits_f(a < b);
#endif
}

/* What all rows of a group have in common: a cache line. */
typedef struct between {
    float offset[3]; /* base of the other's body − base of mine */
    float friction, bounce;
    int32_t clump, other; /* mine, the other's */
    int32_t body, other_body;
    uint32_t rows; /* my particles that have come near */
    uint32_t used; /* the other's places with particles */
    uint32_t fast; /* my particles of whom some pair may be swept */
    const pl_primitive *mine, *others;
} between;

/* Groups are taken in portions, and go through one short loop after the other: in each of them
   whatever is left over is written down by adding 0 or 1 to a count instead of branching, because
   nobody could guess the branches. Pairs looked at along their way cost four times as much and wait
   apart. */
enum { GROUPS = 128, PAIRS = 1024, FULL = 3 * PL_CLUMP };
enum { SWIFT = FULL + PL_CLUMP };

/* A pair is one number: that of its group in `two`, and behind it four bits each for my particle
   and for the other clump's. */
typedef struct pairs {
    uint32_t of[PAIRS + PL_CLUMP];
    int count;
} pairs;

PL_LANES_INLINE const between *two_of(const between *two, uint32_t pair)
{
    return two + (pair >> 8);
}

PL_LANES_INLINE int mine_of(uint32_t pair)
{
    return pair >> 4 & 15;
}

PL_LANES_INLINE int other_of(uint32_t pair)
{
    return pair & 15;
}

typedef struct search {
    const pl_contact *contact;
    pl_contact_buffer *buffer; /* where touches go */
    pl_segment *segment;
    between two[GROUPS + SWIFT]; /* of groups; behind them, of swift pairs */
    float since;                 /* groups were made, seconds */
    pairs slow, swift, close;
} search;

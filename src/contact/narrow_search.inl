/* What a search of the narrow phase has in hand: groups in portions, pairs of particles, and bits of lanes. A part of narrow_lanes.c. */
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
    uint16_t rows;                 /* my particles that have come near */
    uint16_t used;                 /* the other's places with particles */
    uint16_t fast;                 /* my particles of whom some pair may be swept */
    uint16_t pulled, other_pulled; /* particles of mine and of the other's: see pl_contact */
    const pl_primitive *mine, *others;
} between;

_Static_assert(sizeof(between) <= 64, "a cache line");

/* Groups are taken in portions, and go through one short loop after the other: in each of them whatever is left over is written down by
   adding 0 or 1 to a count instead of branching, because nobody could guess the branches. Pairs looked at along their way cost
   four times as much and wait apart, as do those in which somebody is caught: near when the sub-step began, and one of them was pulled away since. */
enum { GROUPS = 128, PAIRS = 1024, FULL = 3 * PL_CLUMP };
enum { APART = FULL + PL_CLUMP };

/* A pair is one number: that of its group in `two`, and behind it four bits each for my particle and for the other clump's. */
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

/* What a pair is looked at as: where it ends; along its way; where it ends, and whether it touched before. */
typedef enum kind { SLOW, SWIFT, CAUGHT } kind;

typedef struct search {
    const pl_contact *contact;
    pl_contact_buffer *buffer; /* where touches go */
    pl_segment *segment;
    between two[GROUPS + 2 * APART]; /* of groups; behind them, of swift pairs and of caught ones */
    float since;                     /* groups were made, seconds */
    pairs slow, swift, caught, close;
} search;

/* Narrow phase: of the groups of two clumps, rows of one particle against sixteen become pairs
   whose spheres meet, pairs become touches where their ellipsoids do. What is fast against its size
   is looked at along its way through the sub-step: the line of centres is then the one at which the
   two first meet, and nothing passes through anything. */
#include <stddef.h>

#include "contact/contact_lanes.h"
#include "contact/ellipsoid.inl"
#include "contact/share.inl"

#include "contact/narrow_search.inl"

#include "contact/narrow_groups.inl"
#include "contact/narrow_rows.inl"
#include "contact/narrow_pairs.inl"

PL_LANES_INLINE void keep_pairs(const pairs *from, int at, uint32_t which, pairs *to)
{
#if PL_W == 16 && PL_LANES_NATIVE
    __m512i all = _mm512_loadu_si512(from->of + at);
    _mm512_storeu_si512(to->of + to->count, _mm512_maskz_compress_epi32((__mmask16)which, all));
    to->count += __builtin_popcount(which);
#else
    for (int lane = 0; lane < PL_W; lane++) {
        to->of[to->count] = from->of[at + lane];
        to->count += which >> lane & 1;
    }
#endif
}

/* False when there is no room for what might be found. */
static bool take_pairs(search *s, pairs *p, bool swept)
{
    pl_contact_buffer *buffer = s->buffer;
    if (p->count)
        fill_up(p);
    for (int at = 0; at < p->count;) {
        facing both[2];
        int count = p->count - at > PL_W ? 2 : 1;
        for (int k = 0; k < count; k++)
            face(s, p->of + at + k * PL_W, &both[k]);
        if (count == 2)
            meet_at_end(both, 2);
        else
            meet_at_end(both, 1);
        for (int k = 0; k < count; k++, at += PL_W) {
            if (buffer->touch_count + PL_W > buffer->touch_capacity)
                return false;
            buffer->touch_count +=
                touch_lanes(s, p, at, swept, &both[k], buffer->touches + buffer->touch_count);
        }
    }
    p->count = 0;
    return true;
}

/* Most pairs whose spheres meet are apart all the same, and seen to be so at the first look: the
   others go on in full lanes. */
static bool take_slow(search *s)
{
    if (s->slow.count)
        fill_up(&s->slow);
    s->close.count = 0;
    for (int at = 0; at < s->slow.count; at += PL_W)
        keep_pairs(&s->slow, at, look_once(s, &s->slow, at), &s->close);
    s->slow.count = 0;
    return take_pairs(s, &s->close, false);
}

/* The order of touches does not depend on the width, nor on how groups are cut into portions: the
   slow ones in the order of rows, then the swift ones, when there are many of them or the block is
   done. */
static bool take_groups(search *s, int count)
{
    for (int at = 0; at < count;) {
        at = rows_to_pairs(s, at, count);
        if (!take_slow(s) || (s->swift.count > FULL && !take_pairs(s, &s->swift, true)))
            return false;
    }
    return true;
}

static bool find_in_block(search *s, pl_group *groups, pl_row_gaps *gaps, int count)
{
    s->slow.count = s->swift.count = 0;
    for (int done = 0; done < count;) {
        int32_t live[GROUPS + PL_CLUMP];
        int kept = live_groups(s, groups, &done, count, live);
        kept = look_between(s, groups, gaps, live, kept);
        if (!take_groups(s, kept))
            return false;
    }
    return take_pairs(s, &s->swift, true);
}

void PL_LANES(pl_contact_touches)(pl_contact *contact, int block, int worker)
{
    pl_contact_buffer *buffer = contact->buffers + worker;
    const pl_segment *source = contact->group_segments + block;
    pl_segment *segment = contact->touch_segments + block;
    pl_group *groups = contact->buffers[source->worker].groups + source->first;
    pl_row_gaps *gaps = contact->buffers[source->worker].gaps + source->first;
    search s;
    s.contact = contact;
    s.buffer = buffer;
    s.segment = segment;
    s.since = (float)(contact->time - contact->made);
    *segment = (pl_segment){.worker = worker, .first = buffer->touch_count};
    segment->full = !find_in_block(&s, groups, gaps, source->count);
    if (segment->full)
        buffer->touch_count = segment->first;
    segment->count = buffer->touch_count - segment->first;
    PL_LANES_LEAVE();
}

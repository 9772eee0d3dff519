/* The kernels of contact at each width. */
#ifndef PL_CONTACT_CONTACT_LANES_H
#define PL_CONTACT_CONTACT_LANES_H

#include "contact/contact.h"

#define PL_CONTACT_KERNELS(width)                                                                  \
    void pl_contact_follow_w##width(pl_contact *, int body, int worker);                           \
    void pl_contact_groups_w##width(pl_contact *, int block, int worker);                          \
    void pl_contact_touches_w##width(pl_contact *, int block, int worker);                         \
    bool pl_contact_sweep_w##width(pl_contact *, int from, int to, bool fresh);                    \
    void pl_contact_on_plane_w##width(pl_contact *, pl_near *, bool first);                        \
    void pl_firm_fill_w##width(pl_contact *, int begin, int end);

PL_CONTACT_KERNELS(4)
PL_CONTACT_KERNELS(8)
PL_CONTACT_KERNELS(16)

#endif

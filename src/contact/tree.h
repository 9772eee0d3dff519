/* A tree of boxes over the clumps, sixteen children side by side. */
#ifndef PL_CONTACT_TREE_H
#define PL_CONTACT_TREE_H

#include "contact/contact.h"

/* Boxes of all clumps for the horizon, with slack, and the tree over them. */
void pl_contact_grow_tree(pl_contact *contact);

#endif

/* Joints: a point of one body held to a point of another, of a collider, or to a place. Equality
   constraints, resolved before the touches:

       p_b − p_a = 0        p = Σ w_j (x_j + R_j r̄_j)

   by moving the particles that carry the points in inverse proportion to mass; momentum is
   exchanged, never made. */
#ifndef PL_CONTACT_JOINT_H
#define PL_CONTACT_JOINT_H

#include "base/memory.h"
#include "pliant/base.h"

enum { PL_JOINT_CARRIERS = 8 };

/* The particles that carry one end; none where it is no body's. */
typedef struct pl_joint_end {
    int count;
    int32_t place[PL_JOINT_CARRIERS]; /* 16 clump + place */
    double weight[PL_JOINT_CARRIERS]; /* sum to one */
} pl_joint_end;

typedef struct pl_joint {
    pl_joint_end a, b;
    int32_t collider;  /* in the contact stage; -1 = none */
    double arm[3];     /* from the collider's position to the point, metres */
    double gap[3];     /* from a's point to the other: what came about in this sub-step, metres */
    double recover[3]; /* what was there before, as far as it is closed now: without velocity */
    double pull[3];    /* on a, so far: kg m */
    uint32_t owner;    /* of whoever made it */
} pl_joint;

typedef struct pl_contact_joints {
    int count, capacity;
    pl_joint *joints;
} pl_contact_joints;

struct pl_contact;

pl_status pl_contact_reserve_joints(struct pl_contact *contact, int count);
void pl_contact_free_joints(struct pl_contact *contact);

/* Before the first sweep: particles that one joint holds together do not push each other apart. */
void pl_contact_excuse_joined(struct pl_contact *contact);
/* One sweep. */
void pl_contact_resolve_joints(struct pl_contact *contact);

#endif

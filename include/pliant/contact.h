/* Pliant: what bodies touch: colliders that you place and move, contacts that you read, rays.
   Included by pliant/pliant.h. Attachments are in pliant/attachment.h.

   Bodies touch each other, and themselves where pl_body_def.self_contact says so, through the
   ellipsoids of their particles. No particle passes through a collider or another particle, at any
   speed; but soft, thin bodies can be torn open by what is very fast (docs/contact.md, limits). */
#ifndef PLIANT_CONTACT_H
#define PLIANT_CONTACT_H

#include "pliant/base.h"
#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pl_world;
struct pl_body;

/* ---- Colliders ------------------------------------------------------------------------------- */

/* A value, as bodies are: {0, 0} is none. */
typedef struct pl_collider {
    uint32_t index, generation;
} pl_collider;

/* Shapes in their own frame, which `position` and `rotation` put into the world. */
typedef enum pl_collider_kind {
    PL_COLLIDER_PLANE,  /* everything below y = 0 is solid */
    PL_COLLIDER_BOX,    /* size: half its extent along x, y, z */
    PL_COLLIDER_SPHERE, /* size[0]: radius */
    PL_COLLIDER_CAPSULE, /* size[0]: radius, size[1]: half the distance between the centres of its caps, along y */
    PL_COLLIDER_MESH /* triangles; copied. Without any that have an area it touches nothing */
} pl_collider_kind;

typedef struct pl_collider_def {
    pl_collider_kind kind;
    double position[3], rotation[4]; /* metres, at most 1e15 from the origin */
    double size[3];                  /* metres, 0 to 1e15 */

    /* Of PL_COLLIDER_MESH: its triangles. Those without area are left out; a mesh without any
       others touches nothing. */
    const pl_mesh *mesh;
    double
        scale; /* metres per unit of the mesh; default 1. Scaled, no corner is beyond 1e15 m of `position` */
    bool
        two_sided; /* default true: a surface. false: solid behind its triangles (counter-clockwise is outside) */

    double friction;            /* default 0.5; of two that touch the geometric mean counts */
    double restitution;         /* default 0; the larger counts; see pl_material.restitution */
    uint32_t category, mask;    /* as of bodies; default 1, all */
    double surface_velocity[3]; /* of a conveyor belt, m/s in the collider's frame; default 0 */

    /* A rigid body of the host: contacts and attachments then respect its mass, and what it
       received can be read. mass 0 (default) = it does not give way. What lies on one with a mass
       or hangs on it does not sleep: the host is told the weight in every step. A plane with a mass
       is a half-space that moves: what touches it far from `position` turns it by a long lever. */
    double mass; /* kg */
    double inertia
        [3]; /* kg m², about the axes of its frame through `position`, which must be its centre of mass; 0 (default) = contacts do not turn it
                about this axis, though `torque` still says what would */
    double velocity[3], spin[3]; /* m/s, rad/s at the start; only of colliders with a mass */

    void *user;
    uint32_t cookie; /* set by pl_default_collider_def */
} pl_collider_def;

PL_API pl_collider_def pl_default_collider_def(pl_collider_kind kind);
PL_API pl_status pl_collider_create(struct pl_world *world, const pl_collider_def *def,
                                    pl_collider *collider, pl_error *error);
PL_API pl_status pl_collider_destroy(struct pl_world *world, pl_collider collider);
PL_API bool pl_collider_is_valid(const struct pl_world *world, pl_collider collider);
PL_API void *pl_collider_user(const struct pl_world *world,
                              pl_collider collider); /* NULL for a stale handle */
/* The handle of the collider that has this index now, as events and rays name them; {0, 0} where
   there is none. */
PL_API pl_collider pl_collider_at(const struct pl_world *world, uint32_t index);

/* Where it is at the end of the next step: it moves there evenly, and pushes what is in its way. */
PL_API pl_status pl_collider_move(struct pl_world *world, pl_collider collider,
                                  const double position[3], const double rotation[4]);
/* Puts it there now; nothing in between is touched. Sleepers near by wake, unless it is there
   already. */
PL_API pl_status pl_collider_place(struct pl_world *world, pl_collider collider,
                                   const double position[3], const double rotation[4]);

/* What its surface is like from now on: as pl_collider_def.friction, .restitution and
   .surface_velocity (m/s in its frame), all three. A change of it, or of the filter below, wakes
   what sleeps there; a call that changes nothing does not. */
PL_API pl_status pl_collider_set_surface(struct pl_world *world, pl_collider collider,
                                         double friction, double restitution,
                                         const double velocity[3]);
/* What it touches from now on: as pl_collider_def.category and .mask. What it comes to touch and is
   inside already is parted from it slowly. */
PL_API pl_status pl_collider_set_filter(struct pl_world *world, pl_collider collider,
                                        uint32_t category, uint32_t mask);

typedef struct pl_collider_state {
    double position[3], rotation[4];
    double impulse
        [3]; /* newton seconds received in the last step, from bodies and attachments; sleepers give none, whatever they weigh */
    double torque[3]; /* newton metre seconds, about its position, along the axes of the world */
    int touches; /* particles that touched it in the last sub-step; likewise without sleepers */
} pl_collider_state;
PL_API pl_status pl_collider_get_state(const struct pl_world *world, pl_collider collider,
                                       pl_collider_state *state);

/* For colliders with a mass: the host's velocity, set before a step. Within the step the collider
   moves by it and by what it receives; the host adds the impulse read back to its own body and sets
   the new velocity. Sleepers wake when it moves, not by this call. */
PL_API pl_status pl_collider_set_velocity(struct pl_world *world, pl_collider collider,
                                          const double velocity[3], const double spin[3]);

/* ---- Contacts -------------------------------------------------------------------------------- */

/* Two that touched in the last step: a body and another body (or itself), or a body and a collider.
   They are named by the `index` of their handles, which no two living ones share: keep your own
   things in an array by it. */
typedef enum pl_contact_phase {
    PL_CONTACT_BEGAN, /* did not touch in the step before */
    PL_CONTACT_GOES_ON, /* or both sleep, or one sleeps at a collider: then the impulses are 0, and the rest is as it was */
    PL_CONTACT_ENDED /* touched in the step before; position and normal are of then */
} pl_contact_phase;

typedef struct pl_contact_event {
    pl_contact_phase phase;
    uint32_t body_a;                /* pl_body.index */
    uint32_t body_b;                /* UINT32_MAX where a collider is touched */
    uint32_t collider;              /* pl_collider.index; UINT32_MAX where a body is touched */
    int32_t particle_a, particle_b; /* that were pressed hardest; particle_b -1 for colliders */
    double position[3];             /* between them */
    float normal[3];                /* away from a */
    float impulse; /* newton seconds along the normal, over the step and all particles */
    float friction_impulse;
    int touches; /* particles or pairs of them */
} pl_contact_event;

/* What touched in the last step, in a fixed order: the pointer is good until the world is
   changed. */
PL_API const pl_contact_event *pl_world_contacts(const struct pl_world *world, int *count);

/* ---- Rays ------------------------------------------------------------------------------------ */

typedef struct pl_ray_hit {
    uint32_t body;     /* pl_body.index, UINT32_MAX = none */
    uint32_t collider; /* pl_collider.index, UINT32_MAX = none */
    int32_t particle;  /* of the body */
    double distance;   /* metres along the ray */
    double position[3];
    float normal[3];
    double rest[3]; /* the point in the body's rest space: pl_pin_at_point takes hold of it there */
} pl_ray_hit;

/* The first body or collider that a ray meets within `length` metres; `direction` has any length
   but 0; `mask` selects categories. False when there is none, and for numbers that are none. What
   begins inside of something solid meets it at distance 0, with the normal against the ray. Meshes
   with two sides are not solid: their triangles are met from both. One-sided ones are, where they
   are closed; elsewhere they are met from the front of their triangles only (docs/contact.md).
   Bodies
   are their ellipsoids, and a ray can pass between two of them: to pick what the player sees, meet
   its triangles (examples/pick.c). */
PL_API bool pl_world_cast_ray(const struct pl_world *world, const double origin[3],
                              const double direction[3], double length, uint32_t mask,
                              pl_ray_hit *hit);
/* The same, but the ray passes through one body: whoever casts it. {0, 0} or a stale handle =
   through none. */
PL_API bool pl_world_cast_ray_past(const struct pl_world *world, struct pl_body body,
                                   const double origin[3], const double direction[3], double length,
                                   uint32_t mask, pl_ray_hit *hit);

#ifdef __cplusplus
}
#endif

#endif

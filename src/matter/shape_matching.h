/* The original oriented-particle shape matching (Müller & Chentanez 2011), kept for one purpose: to
   be compared with, as in Fig. 3 of Choi & Lee. Stiffness comes only from iterating, so it depends
   on how often and how long the steps are. Not part of the interface; plain double arithmetic, one
   body. */
#ifndef PL_MATTER_SHAPE_MATCHING_H
#define PL_MATTER_SHAPE_MATCHING_H

#include "shape/model.h"

typedef struct pl_matching pl_matching;

/* A body at rest in the model's own space, particle 0 to `fixed_count` − 1 of the list held where
   they are. NULL without memory. The model must outlive it. */
pl_matching *pl_matching_create(pl_memory *memory, const pl_model *model, const int32_t *fixed,
                                int fixed_count);
void pl_matching_destroy(pl_matching *matching);

/* One step of length h with gravity in m/s² and velocities that decay at `damping` per second. */
void pl_matching_step(pl_matching *matching, double h, const double gravity[3], double damping,
                      int iterations);

/* Position of a particle in the model's space, metres, and the largest speed in m/s. */
void pl_matching_position(const pl_matching *matching, int particle, double out[3]);
double pl_matching_speed(const pl_matching *matching);

#endif

/* Whether a model definition can be read: everything that can be said of one element at a time.
   What needs the graph or the scale of the whole is checked while the model is made. */
#ifndef PL_SHAPE_CHECK_H
#define PL_SHAPE_CHECK_H

#include "pliant/pliant.h"

#define PL_MODEL_COOKIE 0x504C4D31u

/* Particles, edges, vertices and triangles: twice as many still fit an int32_t. */
enum { PL_MAX_MODEL_COUNT = 100000000 };

pl_status pl_model_def_check(const pl_model_def *def, pl_error *error);

#endif

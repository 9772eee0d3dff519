/* What the two files about pins share. */
#ifndef PL_WORLD_PIN_H
#define PL_WORLD_PIN_H

#include "world/world.h"

enum { PL_PIN_COOKIE = 0x706c706e };

/* Whether a point of rest space is near enough to the body to hang on it. */
bool pl_pin_is_near(const pl_model *model, const double point[3]);

#endif

/* What the two files about pins share. */
#ifndef PL_WORLD_PIN_H
#define PL_WORLD_PIN_H

#include "world/world.h"

enum { PL_PIN_COOKIE = 0x706c706e };

/* Whether a point of rest space is near enough to the body to hang on it. */
bool pl_pin_is_near(const pl_model *model, const double point[3]);

/* What attachments share with pins: particles and weights that make sense, and what they come
   to. */
pl_status pl_pin_check_carriers(const pl_record *record, const pl_pin_def *def, pl_error *error);
pl_hold pl_pin_make_hold(const pl_record *record, const pl_pin_def *def);

#endif

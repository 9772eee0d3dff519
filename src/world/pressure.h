/* The gas in a closed shell (a balloon): p V = constant against an atmosphere outside. */
#ifndef PL_WORLD_PRESSURE_H
#define PL_WORLD_PRESSURE_H

#include "base/memory.h"
#include "pliant/base.h"

struct pl_record;
struct pl_world;

typedef struct pl_gas {
    double pressure;    /* Pa above the outside at the rest volume; 0 = there is none */
    double now;         /* Pa above the outside, in the last sub-step */
    double rest_volume; /* cubic metres */
    float *
        area; /* [n][3] square metres: the share of each particle in the surface at rest, as a vector outwards */
    float *
        present; /* [n][3] the same now, or where it will be at the end of the sub-step, without what would move or turn the whole */
    signed char *
        winding; /* [triangles] of the surface: 1 = counter-clockwise from outside, -1 = clockwise, 0 = there twice. NULL = no surface */
    float *
        skin; /* [2][vertices][3] where the surface is, and the share of each of its vertices; units. NULL = no surface */
} pl_gas;

bool pl_is_pressure(double pressure);

/* The body's gas at this pressure, found anew. PL_ERROR_ARGUMENT where the body encloses
   nothing. */
pl_status pl_gas_fill(struct pl_world *world, struct pl_record *record, double pressure,
                      pl_error *error);
void pl_gas_empty(struct pl_world *world, struct pl_record *record);

/* Before the solve: the force on each particle is `now` times `present`, with the direction it will
   have when the body has turned. */
void pl_gas_push(struct pl_record *record, double h);

/* After the solve, which knew the pressure of the sub-step before: what it has become acts on the
   positions. */
void pl_gas_settle(struct pl_record *record, double h);

#endif

/* A frame in a few numbers: energies, momentum, contacts, and what its step cost. What tables and
   plots are made from. */
#ifndef PL_IO_FRAME_NUMBERS_H
#define PL_IO_FRAME_NUMBERS_H

#include "io/scene.h"

enum { PL_STAGES = 8 };

extern const char *const pl_stage_names[PL_STAGES]; /* in the order of a step */

typedef struct pl_frame_numbers {
    uint64_t frame;
    double time;           /* s */
    pl_energy energy;      /* of all bodies together, J */
    double momentum[3];    /* kg m/s */
    int contacts, touches; /* pairs that touched in the step; particles, or pairs of them */
    int awake;             /* bodies that are computed */
    bool timed;            /* false at the start: no step led there */
    double ms[PL_STAGES], ms_total; /* stages: work of all threads; total: wall time */
} pl_frame_numbers;

/* `report` is of the step that led here; NULL = none. */
pl_status pl_frame_numbers_read(const pl_play *play, const pl_report *report,
                                pl_frame_numbers *numbers);

/* What is conserved where nothing damps, drives or holds: all but `inertia`, which is not an energy
   of the state but what the last sub-step minimised. */
double pl_mechanical_energy(const pl_energy *energy);

/* The energies of all bodies together. */
pl_status pl_play_energy(const pl_play *play, pl_energy *sum);

#endif

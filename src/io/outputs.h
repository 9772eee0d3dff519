/* What a run leaves behind: the complete state as lines of JSON, and surfaces as .obj files. */
#ifndef PL_IO_OUTPUTS_H
#define PL_IO_OUTPUTS_H

#include "io/file.h"
#include "io/scene.h"

/* One line: frame, time, hash, energies, and every position, rotation, velocity and spin in full
   precision. `run` is the run's name, NULL = the scene has only one. */
pl_status pl_write_state_line(pl_output *output, const pl_play *play, const char *run);

/* All surfaces in one file, a body without one as an octahedron per particle. */
pl_status pl_write_obj(pl_output *output, const pl_play *play);

/* Whether a name is a pattern with one %d or %0Nd for the frame number, or the name of a single
   file (no % at all). Anything else with a % is an error; %% stands for itself. */
pl_status pl_pattern_check(const char *pattern, bool *sequence, pl_trouble *trouble);

/* The name of frame `number`; PL_ERROR_ARGUMENT when it does not fit. */
pl_status pl_pattern_name(const char *pattern, uint64_t number, char *out, size_t size);

#endif

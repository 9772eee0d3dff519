/* What a run leaves behind: the complete state as lines of JSON, surfaces as .obj and .ply files
   and as .pc2 vertex caches, and tables of numbers as .csv (plots: io/output_plot.h). */
#ifndef PL_IO_OUTPUTS_H
#define PL_IO_OUTPUTS_H

#include "io/file.h"
#include "io/frame_numbers.h"
#include "io/scene.h"

/* One line: frame, time, hash, energies, and every position, rotation, velocity and spin in full
   precision. `run` is the run's name, NULL = the scene has only one. */
pl_status pl_write_state_line(pl_output *output, const pl_play *play, const char *run);

/* All surfaces in one file, a body without one as an octahedron per particle. */
pl_status pl_write_obj(pl_output *output, const pl_play *play);

/* The same as a binary .ply file, with normals, and with colours where a body has some. */
pl_status pl_write_ply(pl_output *output, const pl_play *play);

/* A vertex cache: the header, then a sample whenever one is due, every `every` frames from frame 0
   on. `samples` is how many are expected; when there were others in the end, say so before
   publishing. */
pl_status pl_write_pc2_header(pl_output *output, const pl_play *play, int every, int samples);
pl_status pl_write_pc2_sample(pl_output *output, const pl_play *play);
void pl_pc2_set_samples(pl_output *output, int samples);

/* A table with a row per frame. `runs`: its first column is the name of the run, which every row
   then needs. */
void pl_write_csv_header(pl_output *output, bool runs);
void pl_write_csv_row(pl_output *output, const pl_frame_numbers *numbers, const char *run);

/* Whether a name is a pattern with one %d or %0Nd for the frame number, or the name of a single
   file (no % at all). Anything else with a % is an error; %% stands for itself. */
pl_status pl_pattern_check(const char *pattern, bool *sequence, pl_trouble *trouble);

/* The name of frame `number`; PL_ERROR_ARGUMENT when it does not fit. */
pl_status pl_pattern_name(const char *pattern, uint64_t number, char *out, size_t size);

#endif

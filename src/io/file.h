/* Files, read and written whole. An output is written to a temporary beside its place and takes it
   only when it is complete, so that a reader sees the old file or the new one, never half of one;
   what is not published is removed, also when a signal ends the program (pl_output_remove_all), and
   what a killed run left behind goes when the same output is next opened. Devices, pipes and the
   like cannot be replaced: they are written as they are. */
#ifndef PL_IO_FILE_H
#define PL_IO_FILE_H

#include "base/memory.h"
#include "io/trouble.h"

/* The whole file; *bytes is freed by pl_memory_free. Directories and files above `limit` bytes are
   refused. */
pl_status pl_file_read(pl_memory *memory, const char *path, size_t limit, char **bytes,
                       size_t *size, pl_trouble *trouble);

typedef struct pl_output pl_output;

/* On failure nothing has changed on disk, and *output is NULL. */
pl_status pl_output_open(pl_memory *memory, const char *path, pl_output **output,
                         pl_trouble *trouble);

/* Failures are remembered and reported by pl_output_publish, so that writers need not check every
   line. */
void pl_output_write(pl_output *output, const char *bytes, size_t size);
void pl_output_text(pl_output *output, const char *text);
void pl_output_printf(pl_output *output, const char *format, ...) PL_PRINTF(2, 3);
void pl_output_number(pl_output *output, double value); /* exact digits; null if it is not finite */
void pl_output_json_string(pl_output *output, const char *text);

/* Writes over bytes that were written before: a count at the beginning that is known at the end. */
void pl_output_patch(pl_output *output, uint64_t offset, const char *bytes, size_t size);

/* The temporary, for a program that writes it in our place; NULL for devices and the like. */
const char *pl_output_part(const pl_output *output);

/* Where an output stands, for another process that goes on when this one was killed. */
typedef struct pl_output_mark {
    uint64_t offset; /* bytes written */
    uint64_t file;   /* which temporary it is, whatever its name */
} pl_output_mark;

/* Everything written so far is on the disk afterwards. Devices and the like have no mark:
   PL_ERROR_ARGUMENT. */
pl_status pl_output_set_mark(pl_output *output, pl_output_mark *mark, pl_trouble *trouble);

/* Opens the temporary that a killed process left, without what was written after the mark.
   PL_ERROR_FORMAT: it is not there any more. */
pl_status pl_output_resume(pl_memory *memory, const char *path, const pl_output_mark *mark,
                           pl_output **output, pl_trouble *trouble);

/* Whether everything so far could be written; a full disk shows here early. */
bool pl_output_is_good(const pl_output *output);

/* Puts the file in its place. The output is freed in any case. */
pl_status pl_output_publish(pl_output *output, pl_trouble *trouble);

/* Removes the temporary and frees the output. NULL is allowed. */
void pl_output_drop(pl_output *output);

/* Leaves the temporary as it is, for pl_output_resume, and frees the output. NULL is allowed. */
void pl_output_leave(pl_output *output);

/* Removes what killed runs left of an output, as opening it would. */
void pl_output_clean(const char *path);

/* Removes all temporaries of this process that are open now. May be called from a signal handler
   that ends it. */
void pl_output_remove_all(void);

#endif

/* Model files (.pliant) inside the project: with a limit on memory, and the question what a file
   is. */
#ifndef PL_IO_MODEL_FILE_H
#define PL_IO_MODEL_FILE_H

#include "io/trouble.h"
#include "pliant/pliant.h"

/* As pl_model_load; `memory_limit` bytes for the model, 0 = none. */
pl_status pl_model_load_within(const char *path, const pl_allocator *allocator, size_t memory_limit,
                               pl_model **model, pl_error *error);

/* Whether the file begins like a model. False also for what cannot be read. */
bool pl_file_is_model(const char *path);

#endif

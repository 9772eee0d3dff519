/* Data-parallel loops over the host's job system, the built-in pool of threads, or the calling
   thread. Every piece of work runs in the default floating-point environment, whatever the host has
   set, and the host's is put back. Running makes no allocation. Results must not depend on how the
   items were cut: a task may use the worker number to choose scratch memory, and for nothing else.
 */
#ifndef PL_BASE_TASKS_H
#define PL_BASE_TASKS_H

#include "base/memory.h"

typedef struct pl_tasks pl_tasks;

/* Whether a job system of the host's is usable (both callbacks, at least one worker). NULL is. */
pl_status pl_task_system_check(const pl_task_system *host, pl_error *error);

/* `host` not NULL: its callbacks do the work and `threads` is ignored. Otherwise `threads` − 1
   threads are started and the caller is worker 0; with one thread or less everything runs on the
   caller. Threads the system does not give are done without: pl_tasks_worker_count tells how many
   there are. NULL when there is no memory or the host's system is not usable. */
pl_tasks *pl_tasks_create(const pl_task_system *host, int threads, pl_memory *memory);

/* NULL is allowed. Not while something runs. */
void pl_tasks_destroy(pl_tasks *tasks);

/* Workers are numbered from 0 to this number − 1; at least 1. */
int pl_tasks_worker_count(const pl_tasks *tasks);

/* Runs the items [0, count) in pieces of at least `grain` items (the last may be smaller; below 1
   counts as 1) and returns when all have run; what the pieces wrote is then visible to the caller.
   One run at a time, and none from inside a task. `tasks` NULL runs everything on the caller. */
void pl_tasks_run(pl_tasks *tasks, pl_task *task, void *context, int count, int grain);

#endif

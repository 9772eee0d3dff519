/* Worlds for tests: models from ready-made shapes, an allocator that counts and fails, job systems
   of a host's, and one mixed scene that uses everything. */
#ifndef PLIANT_TESTS_WORLD_KIT_H
#define PLIANT_TESTS_WORLD_KIT_H

#include <pthread.h>

#include "base/rng.h"
#include "pliant/pliant.h"

/* Sanitizers and builds without optimisation do less: `full` is the number of the release build. */
int world_scaled(int full);
bool world_is_slow_build(void);
bool world_is_sanitized(void);

/* Broken promises abort in debug builds: count them instead, and keep the last one's message. */
void world_hush(void);
int world_broken_promises(void);
const char *world_last_promise(void);

/* ---- Models and worlds ----------------------------------------------------------------------- */

/* Counts of 0 are the shape's defaults. Fails the test when there is no such model. */
pl_model *world_model(pl_shape_kind kind, int nx, int ny, int nz);
pl_model *world_sized_model(pl_shape_kind kind, int nx, int ny, int nz, double sx, double sy,
                            double sz, bool braced);

/* Without gravity or damping, and otherwise the defaults. */
pl_world *world_empty(void);
pl_body world_body(pl_world *world, pl_model *model);
pl_body world_body_at(pl_world *world, pl_model *model, double x, double y, double z);

void world_read(const pl_world *world, pl_body body, pl_body_field field, double *out);
void world_step(pl_world *world, int count);
bool world_is_finite(const pl_world *world, pl_body body);

/* A snapshot in memory of malloc's. */
void *world_snapshot(const pl_world *world, size_t *size);

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct world_heap {
    int64_t calls;     /* of alloc, failed ones included */
    int64_t fail_from; /* this call (from 0) and all later ones fail; -1 = none */
    int64_t blocks;    /* not yet freed */
    int64_t bytes;
    int64_t astray; /* calls from another thread than the one that made it: none is allowed */
    pthread_t owner;
    pl_allocator allocator; /* give this away */
} world_heap;

void world_heap_init(world_heap *heap);

/* ---- Job systems ----------------------------------------------------------------------------- */

/* Runs everything in `enqueue`, from the last piece to the first, on changing worker numbers. */
pl_task_system world_reverse_tasks(void);

/* Starts threads in `enqueue` and waits for them in `finish`. */
pl_task_system world_thread_tasks(void);

/* ---- The mixed scene ------------------------------------------------------------------------- */

/* Bars that are pinned and driven, a sheet, a rope, a knot and twenty creatures, on all three
   solvers, in wind; bodies come and go, materials, pins and fixed sets change on the way. What
   happens in a frame depends on its number alone. */
enum { WORLD_MIX_MODELS = 5, WORLD_MIX_BODIES = 64, WORLD_MIX_PINS = 64 };

typedef struct world_mix {
    pl_world *world;
    pl_model *models[WORLD_MIX_MODELS];
    pl_body bodies[WORLD_MIX_BODIES];
    int body_count;
    pl_pin pins[WORLD_MIX_PINS];
    int pin_count;
} world_mix;

pl_world_def world_mix_def(void);
void world_mix_models(world_mix *mix);
void world_mix_create(world_mix *mix, const pl_world_def *def);
void world_mix_frame(world_mix *mix, int frame);
void world_mix_run(world_mix *mix, int first, int end);
void world_mix_destroy(world_mix *mix);

#endif

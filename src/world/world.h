/* The inside of a world: slots of bodies and pins, the systems they share, and what a step needs ready-made so that it
   allocates nothing. Everything here is changed by one thread, between steps. */
#ifndef PL_WORLD_WORLD_H
#define PL_WORLD_WORLD_H

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "matter/oriented.h"

/* One body: its matter, and what the step does not touch. */
typedef struct pl_record {
    pl_oriented matter;
    pl_model *model;
    pl_material material;
    float *edge_stiffness, *particle_density; /* own copies, or NULL */
    float *force; /* [n][3] newtons, for the next step */
    bool forced;
    void *user;
    uint32_t slot;
    int32_t hold_capacity;
    uint32_t *hold_slots; /* [hold_capacity] the pin slot of each hold */
} pl_record;

typedef struct pl_body_slot {
    uint32_t generation; /* rises whenever a body leaves */
    pl_record *record;   /* NULL = free */
} pl_body_slot;

typedef struct pl_pin_slot {
    uint32_t generation;
    uint32_t body; /* slot of its body */
    bool used;
} pl_pin_slot;

/* What one worker needs to itself. */
typedef struct pl_worker {
    pl_work work;
    size_t scratch_size;
    uint64_t rescued;
    char padding[64]; /* neighbours write at the same time */
} pl_worker;

struct pl_world {
    pl_memory *memory; /* lives in itself, at an address of its own: a world can be exchanged for a restored one */
    pl_tasks *tasks;
    pl_logger logger;
    bool stepping;

    double step, h, gravity[3];
    int substeps, iterations, stiff_iterations, max_steps;
    pl_field_function *field;
    void *field_user;
    double time, owed;
    uint64_t steps;

    int body_slots, body_slot_capacity, pin_slots, pin_slot_capacity;
    pl_body_slot *bodies;
    pl_pin_slot *pins;

    /* Bodies in the order of their creation: the order of everything. */
    int live_count, live_capacity;
    pl_record **live;

    int system_count, system_capacity;
    pl_system **systems;

    /* Who is solved with whom; made anew when `regroup` is set, in arrays that are always large enough. */
    bool regroup;
    int block_count;
    pl_block *blocks;          /* [live_capacity] */
    pl_oriented **members;     /* [live_capacity] */
    pl_sort_item *sort_items;  /* [2 live_capacity] */

    int worker_count;
    pl_worker *workers;
    double *field_positions; /* [3 field_capacity] */
    float *field_velocities, *field_masses;
    int field_capacity; /* particles of the largest body */
};

/* Grows an array of `count` elements to hold one more; *capacity doubles. False without memory, and nothing changed. */
bool pl_world_grow(pl_memory *memory, void *array, int count, int *capacity, size_t size);

/* Frees all bodies and the arrays for them; what belongs to the host and to the workers stays. */
void pl_world_clear(pl_world *world);

pl_record *pl_world_record(const pl_world *world, pl_body body);
pl_status pl_world_check_unlocked(const pl_world *world);

/* ---- Systems (systems.c) ------------------------------------------------------------------------------------------ */

/* Everything about a body that decides which system it uses. */
typedef struct pl_setup {
    double h;
    pl_solver solver;
    pl_material material;
    const float *edge_stiffness, *particle_density;
    const int32_t *fixed;
    int fixed_count;
    pl_hold *holds; /* stiffness and column are filled in */
    int hold_count;
} pl_setup;

/* What a setup needs: taken by pl_world_adopt or given back by pl_world_discard. */
typedef struct pl_outfit {
    pl_system *system;
    pl_pins *correction;
    pl_grip *grips;
    int grip_count;
} pl_outfit;

pl_setup pl_world_setup_of(const pl_world *world, const pl_record *record);

/* Finds or makes the system of a setup, the correction and the grips for its pins, and enough scratch memory. */
pl_status pl_world_equip(pl_world *world, pl_model *model, const pl_setup *setup, pl_outfit *outfit, pl_error *error);
void pl_world_adopt(pl_world *world, pl_record *record, const pl_outfit *outfit);
void pl_world_discard(pl_world *world, pl_outfit *outfit);
void pl_world_release_system(pl_world *world, pl_system *system);

/* ---- Bodies (body.c) ----------------------------------------------------------------------------------------------- */

pl_record *pl_record_create(pl_world *world, pl_model *model);
void pl_record_destroy(pl_world *world, pl_record *record);

/* A held body's motion is all in its particles, a free one's mean in the body: called when that changes. */
void pl_record_settle_mean(pl_record *record);

/* Room for one more body in all the arrays a step uses; then entering it cannot fail. */
pl_status pl_world_reserve_body(pl_world *world, int particles);
void pl_world_enter(pl_world *world, pl_record *record, uint32_t slot);

/* ---- Checks of callers' values ------------------------------------------------------------------------------------ */

bool pl_is_finite3(const double v[3]);
bool pl_is_finite4(const double v[4]);
pl_status pl_material_check(const pl_material *material, pl_error *error);

#endif

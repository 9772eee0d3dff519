/* The inside of a world: slots of bodies and pins, the systems they share, and what a step needs
   ready-made so that it allocates nothing. Everything here is changed by one thread, between
   steps. */
#ifndef PL_WORLD_WORLD_H
#define PL_WORLD_WORLD_H

#include "base/error.h"
#include "base/float_env.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "contact/contact.h"
#include "matter/clustered.h"
#include "matter/oriented.h"
#include "matter/tetrahedral.h"
#include "world/attachment.h"
#include "world/collider.h"
#include "world/events.h"
#include "world/examples.h"
#include "world/pressure.h"
#include "world/skin.h"

/* Whatever computes does so in the floating-point environment results are defined in, not in the
   host's: returns from the calling function with the status of the call, which must be to a
   function that is not inlined (PL_APART), or arithmetic could move out of the bracket. */
#define PL_APART __attribute__((noinline))
#define PL_COMPUTE(call)                                                                           \
    do {                                                                                           \
        pl_float_env pl_compute_host = pl_float_env_enter();                                       \
        pl_status pl_compute_status = (call);                                                      \
        pl_float_env_leave(pl_compute_host);                                                       \
        return pl_compute_status;                                                                  \
    } while (0)

/* One body: its matter, and what the solver does not touch. */
/* Bodies that touch each other. */
typedef struct pl_island {
    int bodies, restless; /* how many, and how many of them are not quiet */
    bool fast, held;      /* somebody is too fast; hangs or lies on something */
} pl_island;

/* Of so many particles it is noted where they rest. */
enum { PL_RESTING = 8 };

typedef struct pl_record {
    pl_oriented matter;
    struct pl_record *previous, *next; /* in the order of creation */
    int clump_room;                    /* its part in that of the world */
    pl_model *model;
    pl_material material;
    float *edge_stiffness, *particle_density; /* own copies, or NULL */
    pl_tetrahedral_def tets;                  /* where it is tetrahedral */
    float *tet_stiffness;                     /* of it; an own copy, or NULL */
    bool tetrahedral;
    float *frames;        /* [n][9] how particles are deformed; where it is */
    pl_tet_report solved; /* what had been done before this sub-step */
    const void *saved;    /* its state, while it is read from a snapshot */
    size_t saved_size;
    pl_record_examples *examples; /* poses it prefers, or NULL */
    double *force;                /* [n][3] newtons, for the next step */
    bool forced;
    uint32_t category, mask;
    bool self_contact;
    bool asleep;
    double quiet;                  /* seconds */
    double resting[PL_RESTING][3]; /* where some of its particles were when that began, units */
    uint32_t island;               /* slot of the body that leads those it fell asleep with */
    double sleep_box[6];           /* metres, of a body asleep, where `boxed` */
    bool boxed;
    int contact; /* its number in the contact stage */
    pl_gas gas;
    const pl_clumps *clumps; /* how contact sees the particles: the model's, or own ones */
    const float *radii;      /* [n][3] units: likewise */
    int room;                /* particles that everything of this body has room for */
    pl_clumps *own_clumps;   /* NULL = the model's */
    float *own_radii;
    float *own_weights; /* of the surface, once something broke; NULL = the model's */
    bool torn;          /* something broke in this step */
    uint64_t woken_in;  /* number of the step, from 1, that woke it up while it ran */
    double bounds[6];   /* metres, of its ellipsoids, where `bounded` */
    bool bounded;
    void *user;
    uint32_t slot;
    uint64_t system_ordinal; /* of the system in use, among all this world ever made */
    int hold_capacity;
    uint32_t *hold_slots; /* [hold_capacity] the pin slot of each hold */
} pl_record;

/* Generations rise whenever a body or a pin leaves, and are never 0. */
typedef struct pl_body_slot {
    uint32_t generation;
    pl_record *record; /* NULL = free */
} pl_body_slot;

typedef struct pl_pin_slot {
    uint32_t generation;
    pl_record *record; /* whom it holds; NULL = free */
    int hold;          /* its number there */
} pl_pin_slot;

/* What one worker needs to itself. */
typedef struct pl_worker {
    pl_work work;
    size_t scratch_size;
    uint64_t rescued;  /* bodies */
    uint64_t left_out; /* forces that were no numbers */
    char padding[64];  /* neighbours write at the same time */
} pl_worker;

/* A system, and its number among all that this world ever made: an order that does not depend on
   addresses. */
typedef struct pl_shared_system {
    pl_system *system; /* NULL = an empty place of the table */
    uint64_t ordinal;
} pl_shared_system;

struct pl_world {
    /* Lives in itself, at an address of its own: a world can be exchanged for a restored one. */
    pl_memory *memory;
    pl_tasks *tasks;
    pl_logger logger;
    const struct pl_world *before; /* that this one is to replace, while it is restored; or NULL */
    bool stepping;
    bool backward; /* direction of the local step's sweeps in this sub-step */
    bool inner;    /* another sub-step follows in this step */

    double step, h, gravity[3];
    int substeps, iterations, stiff_iterations, max_steps;
    pl_field_function *field;
    void *field_user;
    double time, owed;
    uint64_t steps;

    /* Slots are taken from the lowest free one up: that depends on nothing but which are free. No
       slot below `lowest` is. */
    int body_slots, body_slot_capacity, lowest_body;
    int clump_room; /* clumps that all bodies may come to have */
    pl_body_slot *bodies;
    int pin_slots, pin_slot_capacity, lowest_pin;
    pl_pin_slot *pins;

    /* Bodies in the order of their creation: the order of everything. A list, because one may leave
       from the middle. */
    int live_count;
    pl_record *first, *last;

    /* Systems by the hash of their key: open addressing, linear probing, at most half full. */
    int system_count, system_capacity; /* the latter 0 or a power of two */
    pl_shared_system *systems;
    uint64_t systems_made;

    /* Who is solved with whom; made anew by a step when `regroup` is set, in arrays that are always
       large enough. */
    bool regroup, reenter; /* the latter: contact has to be shown all bodies anew */
    int group_capacity;
    int awake_count;
    pl_record **live;    /* [group_capacity] those awake, in the order in which workers take them */
    pl_record **entered; /* [group_capacity] all, as contact numbers them */
    int32_t *parents;    /* [group_capacity] islands */
    pl_island *islands;  /* [group_capacity], at the number of the body that leads */
    bool sleeping;       /* islands may fall asleep */
    bool stiff_contact;  /* stiff bodies are moved as a whole: contact/firm.c */
    pl_kept_touches kept;  /* their impulses in the last sub-step */
    pl_oriented **members; /* [group_capacity] those of one block side by side */
    pl_record **others;    /* [group_capacity] those awake that are not in blocks */
    int other_count;
    pl_record **tets;            /* [group_capacity] those awake that are tetrahedral, by system */
    int32_t *tet_groups;         /* [group_capacity + 1] where those of one system begin */
    pl_tetrahedral **tet_bodies; /* [group_capacity] */
    pl_tet_motion *tet_motions;  /* [group_capacity] */
    int tet_count, tet_group_count;
    int posed_count;          /* those awake that have a rest shape of their own */
    pl_block *blocks;         /* [2 group_capacity] by length from both ends; scratch */
    pl_sort_item *sort_items; /* [2 group_capacity] */
    int block_count;

    pl_colliders colliders;
    pl_attachments attachments;
    pl_events events;
    pl_contact *contact;
    uint64_t contact_ticks;  /* on the caller's thread */
    uint64_t examples_ticks; /* of all bodies ever, before this step */

    int worker_count;
    pl_worker *workers;

    /* What the field function is shown: room for the largest body. */
    int field_capacity; /* particles */
    double *field_positions;
    float *field_velocities, *field_masses;

    pl_skin_room skin;
};

/* PL_ERROR_ARGUMENT without a world, PL_ERROR_STATE from inside its own step. */
pl_status pl_world_check_unlocked(const pl_world *world, pl_error *error);

/* Frees all bodies and the arrays for them; what belongs to the host and to the workers stays. */
void pl_world_clear(pl_world *world);

/* ---- Slots and room (room.c) ----------------------------------------------------------------- */

/* Grows an array of `count` elements to hold one more; *capacity doubles. False without memory, and
   nothing changed. */
bool pl_world_grow(pl_memory *memory, void *array, int count, int *capacity, size_t size);

/* Room for one more body in all the arrays a step uses; then entering it cannot fail. */
pl_status pl_world_reserve_body(pl_world *world, const pl_record *record);
/* Parts of it, for bodies that have grown. */
bool pl_world_reserve_field(pl_world *world, int particles);
bool pl_world_reserve_contacts(pl_world *world, const pl_record *more); /* NULL = nobody new */
/* How stiff a body is against its inertia where contact moves it as a whole (contact/firm.c), or
   0. */
double pl_record_firmness(const pl_world *world, const pl_record *record);
/* The particle of the model that a particle is, or was divided from. */
static inline int pl_record_origin(const pl_record *record, int particle)
{
    return record->matter.clustered ? record->matter.clustered->origin[particle] : particle;
}
/* Clumps a body may come to have. */
static inline int pl_record_clump_room(const pl_record *record)
{
    int more = record->matter.capacity - record->model->particle_count;
    return record->model->clumps->count + (more + PL_CLUMP - 1) / PL_CLUMP;
}
uint32_t pl_world_free_body_slot(pl_world *world);
void pl_world_enter(pl_world *world, pl_record *record, uint32_t slot);
void pl_world_leave(pl_world *world, pl_record *record);

/* The lowest free slot of pins, with room for it, or -1 without memory; then entering a pin there
   cannot fail. */
int pl_world_free_pin_slot(pl_world *world);
void pl_world_enter_pin(pl_world *world, uint32_t slot, pl_record *record, int hold);
void pl_world_leave_pin(pl_world *world, uint32_t slot);

/* NULL for a stale handle. */
pl_record *pl_world_record(const pl_world *world, pl_body body);

/* For calls that change something: the world unlocked, the handle fresh. */
pl_status pl_world_open(pl_world *world, pl_body body, pl_record **record, pl_error *error);

/* ---- Systems (systems.c) --------------------------------------------------------------------- */

/* Finds or makes a system; with one more reference, which pl_world_release_system gives back. */
pl_status pl_world_get_system(pl_world *world, const pl_system_key *key, pl_shared_system *out,
                              pl_error *error);
void pl_world_release_system(pl_world *world, pl_system *system);

/* ---- Outfits (outfit.c) ---------------------------------------------------------------------- */

/* Everything about a body that decides which system it uses. */
typedef struct pl_setup {
    double h;
    pl_solver solver;
    pl_material material;
    const float *edge_stiffness, *particle_density;
    const int32_t *fixed;
    int fixed_count;
    const pl_hold *holds;
    int hold_count;
    const pl_hold *added; /* one more hold behind these; NULL = none */
    int removed;          /* one of them is left out; -1 = none */
    int loose_count,
        loose_room;      /* matter without a matrix: so many particles, and room for more… */
    const float *masses; /* …of these masses; NULL = oriented particles */
    const pl_tetrahedral_def
        *tets; /* tetrahedral matter, or NULL; and what it is now, if it is there */
    const pl_tetrahedral *present;
    const float *tet_stiffness;
    const pl_record_examples *examples; /* of new matter, or NULL */
    bool posed; /* a rest shape of its own: solved as fast where the solver is stiff */
} pl_setup;

/* What a setup needs: taken by pl_world_adopt or given back by pl_world_discard. */
typedef struct pl_outfit {
    pl_shared_system shared;
    pl_pins *correction;
    pl_hold *holds; /* copies with stiffness and column filled in */
    int hold_count;
    pl_grip *grips;
    int grip_count;
    pl_tetrahedral *tetrahedral; /* in the same state under another system; NULL = as it is */
} pl_outfit;

/* The present one. */
pl_setup pl_world_setup_of(const pl_world *world, const pl_record *record);

/* Finds or makes the system of a setup, the correction and the grips for its pins, and enough
   scratch memory. */
pl_status pl_world_equip(pl_world *world, pl_model *model, const pl_setup *setup, pl_outfit *outfit,
                         pl_error *error);
void pl_world_adopt(pl_world *world, pl_record *record, const pl_outfit *outfit);
void pl_world_discard(pl_world *world, pl_outfit *outfit);

/* ---- Bodies (body.c, makeup.c, motion.c) ----------------------------------------------------- */

/* Memory of a body at rest at the origin, without a system. */
pl_record *pl_record_create(pl_world *world, pl_model *model);
/* Rows for more particles; those there are stay. False without memory, and nothing changed. */
bool pl_record_grow(pl_world *world, pl_record *record, int capacity);
void pl_record_destroy(pl_world *world, pl_record *record);

pl_status pl_record_check_map(const float *map, int count, const char *name, pl_error *error);
pl_status pl_record_check_maps(const pl_model *model, const float *stiffness, const float *density,
                               pl_error *error);

/* A copy; true with *out NULL when there is no map. */
bool pl_record_copy_map(pl_world *world, const float *map, int count, float **out);

/* Ascending, without duplicates, into memory of its own. */
pl_status pl_record_copy_fixed(pl_world *world, const pl_model *model, const int32_t *particles,
                               int count, int32_t **out, int *out_count, pl_error *error);

/* The three arrays of [count][7] that fixed particles need: from, to, now. */
bool pl_record_make_drives(pl_memory *memory, int count, double *drives[3]);

/* Fixed particle number f stays where it is until driven. */
void pl_record_aim_drive(pl_oriented *matter, int f);

/* A grounded body's motion is all in its particles, a free one's mean in the body. */
void pl_record_settle_mean(pl_record *record);
void pl_record_mean_velocity(const pl_oriented *matter, double mean[3]);
void pl_record_centre(const pl_oriented *matter, double centre[3]);
void pl_record_set_motion(pl_record *record, const double velocity[3], const double spin[3]);

/* After a change of positions from outside there was no last sub-step... */
void pl_record_forget_old(pl_oriented *matter);
/* ...and nothing is smeared between here and the state before. */
void pl_record_show_now(pl_oriented *matter);

/* ---- Clustered matter (clustered.c) ---------------------------------------------------------- */

/* Makes a new record clustered; and gives back what it took. */
pl_status pl_clustered_fill(pl_world *world, pl_record *record, const pl_clustered_def *def,
                            pl_error *error);
void pl_clustered_empty(pl_world *world, pl_record *record);
/* From saved bytes. */
pl_status pl_clustered_restore(pl_world *world, pl_record *record, const void *bytes, size_t size,
                               pl_error *error);
uint64_t pl_clustered_digest(const pl_clustered *clustered);
/* Bodies that are not in blocks: solved; and, after the contacts of a sub-step, changed. */
void pl_world_solve_others(pl_world *world);
void pl_world_change_others(pl_world *world);
/* Binds the surface to what is still joined (torn.c). */
void pl_record_tear(pl_world *world, pl_record *record);
/* At the end of a step: rotations of the particles; room for what may break in the next. */
void pl_world_finish_others(pl_world *world);

/* ---- Tetrahedral matter (tetrahedral.c) ------------------------------------------------------ */

/* Makes a new record tetrahedral, all but the system; checks what the caller wants. */
pl_status pl_tetrahedral_fill(pl_world *world, pl_record *record, const pl_tetrahedral_def *def,
                              pl_error *error);
/* A system of tetrahedra, for pl_world_get_system. */
pl_status pl_tetrahedral_make_system(pl_world *world, const pl_system_key *key, pl_system **out,
                                     pl_error *error);
/* The part of pl_world_equip that tetrahedra need, behind the holds. */
pl_status pl_tetrahedral_equip(pl_world *world, pl_model *model, const pl_setup *setup,
                               pl_outfit *outfit, pl_error *error);
/* Elastic energy in joules; false without memory. */
bool pl_tetrahedral_elastic(const pl_world *world, const pl_record *record, double *out);
void pl_world_group_tets(pl_world *world);
void pl_world_solve_tets(pl_world *world);
void pl_world_change_tets(pl_world *world);
void pl_world_finish_tets(pl_world *world);

/* ---- Oriented bodies with a rest shape of their own (posed.c) -------------------------------- */

/* Gives a new record targets that may change; `plastic` NULL = they do not flow. */
pl_status pl_posed_fill(pl_world *world, pl_record *record, const pl_plasticity_def *plastic,
                        pl_error *error);
void pl_world_solve_posed(pl_world *world);
void pl_snapshot_posed(pl_stream *s, pl_world *world, pl_record *record, size_t size);

/* ---- Matter whose solver knows no pins (draw.c) ---------------------------------------------- */
void pl_matter_draw_to_pins(pl_oriented *matter);

/* ---- The step (groups.c, predict.c, report.c) ------------------------------------------------ */

enum { PL_BODIES_PER_TASK = 16 };

/* Sleep (sleep.c). */
void pl_world_fall_asleep(pl_world *world);
void pl_world_wake_island(pl_world *world, uint32_t island);
void pl_world_wake(pl_world *world, pl_record *record);
void pl_world_wake_all(pl_world *world);
bool pl_world_wake_touched(pl_world *world); /* within a sub-step */
/* The box around the ellipsoids of a body asleep: found once, and kept while it sleeps. */
const double *pl_record_sleep_box(pl_record *record);

/* Contacts and all that follows them in a sub-step (touch.c); `rest_of_step` seconds are left of
   the step. */
void pl_world_enter_contacts(pl_world *world);
void pl_world_touch(pl_world *world, double rest_of_step);

/* What springs of a body do while colliders hold its particles up (brace.c): whether that is to be
   looked at; then, before contact is brought back, how it bounced; and after that. */
bool pl_record_braces(const pl_world *world, const pl_record *record);
void pl_world_note_bounces(pl_world *world, int number);
void pl_world_brace(pl_world *world, pl_record *record);

void pl_world_regroup(pl_world *world);

/* After a step: boxes around the bodies that moved, for rays (ray.c). */
void pl_world_bound_bodies(pl_world *world);

/* From the state now to the targets of the sub-step that ends when the part t of the step is over:
   forces, driven particles, pins; `now` becomes `old`. */
void pl_world_predict(pl_world *world, double t);

void pl_report_begin(pl_world *world);
void pl_report_fill(const pl_world *world, double ms, double ms_per_tick, pl_report *report);

/* ---- Checks of callers' values (checks.c) ---------------------------------------------------- */

/* False for NULL, too. */
bool pl_is_finite3(const double v[3]);
bool pl_is_rotation(const double q[4]);
bool pl_is_direction(const double v[3]);
bool pl_is_gravity(const double v[3]);
bool pl_is_gravity_scale(double scale);
bool pl_is_solver(int solver);

/* A place that a double can tell from its neighbours when a body of this unit is there. */
bool pl_is_place(const double v[3], double unit);

/* A speed or an acceleration that can be squared in float: in units for each unit of time. */
bool pl_is_rate(const double v[3], double unit);

pl_status pl_check_step(double step, int substeps, pl_error *error);
pl_status pl_check_iterations(int iterations, int stiff_iterations, pl_error *error);
pl_status pl_check_material(const pl_material *material, pl_error *error);
bool pl_is_map_factor(float factor);
bool pl_is_pin_strength(double strength);

#endif

/* Oriented particles at the width in use, and what follows the contacts: velocities, damping, the
   origin. */
#include "matter/oriented.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/quat.h"
#include "math/simd.h"
#include "matter/oriented_lanes.h"

typedef struct kernels {
    int (*lanes)(const pl_system *, pl_solver, int);
    size_t (*scratch)(const pl_system *, pl_solver, bool);
    void (*solve)(const pl_block *, double, int, pl_work *);
    void (*sum)(int, const double *, const float *, double[3]);
    void (*sum_of_differences)(int, const double *, const float *, const float *, double[3]);
    void (*shift)(int, float *, const float[3]);
    bool (*velocities)(int, const pl_state *, const pl_state *, float);
    int (*turn_all)(int, const float[4][4], float *);
    void (*gather)(const pl_oriented *, const pl_clumps *, const uint8_t *, pl_clump_places *,
                   pl_clump_places *, pl_primitive *, pl_gathered *);
    void (*gather_more)(const pl_oriented *, const pl_clumps *, const uint8_t *, uint8_t,
                        pl_primitive *);
} kernels;

#define KERNELS(width)                                                                             \
    [PL_SIMD_PLACE(width)] = {pl_oriented_lanes_w##width,                                          \
                              pl_oriented_scratch_w##width,                                        \
                              pl_oriented_solve_w##width,                                          \
                              pl_oriented_sum_w##width,                                            \
                              pl_oriented_sum_of_differences_w##width,                             \
                              pl_oriented_shift_w##width,                                          \
                              pl_oriented_velocities_w##width,                                     \
                              pl_oriented_turn_all_w##width,                                       \
                              pl_oriented_gather_w##width,                                         \
                              pl_oriented_gather_more_w##width},

static const kernels *in_use(void)
{
    static const kernels table[] = {PL_SIMD_EACH(KERNELS)};
    return table + PL_SIMD_PLACE(pl_simd_width());
}

enum { FEW_ITERATIONS = 4 };

pl_solver pl_oriented_way(const pl_oriented *body, int iterations)
{
    bool held = body->system->grounded || body->hold_count;
    return body->solver == PL_SOLVER_FAST && iterations <= FEW_ITERATIONS && !held ? PL_SOLVER_PLAIN
                                                                                   : body->solver;
}

int pl_oriented_lanes(const pl_system *system, pl_solver solver, int iterations)
{
    return in_use()->lanes(system, solver, iterations);
}

size_t pl_oriented_scratch(const pl_system *system, pl_solver solver, bool lone)
{
    return in_use()->scratch(system, solver, lone);
}

/* Side by side, bodies need their numbers in a cache; beyond this they do not fit into any. */
static const size_t largest_block = (size_t)64 << 20;

/* Measured: a block of sixteen lanes costs what two to three lone bodies cost, whatever it
   holds. */
bool pl_oriented_prefers_lone(const pl_system *system, pl_solver solver, int iterations, int count)
{
    return count == 1 || count * 8 <= pl_oriented_lanes(system, solver, iterations) ||
           pl_oriented_scratch(system, solver, false) > largest_block;
}

/* ---- Finish ---------------------------------------------------------------------------------- */

static void put_back(pl_oriented *body)
{
    size_t n = (size_t)body->n;
    memcpy(body->now.x, body->old.x, sizeof(float) * 3 * n);
    memcpy(body->now.q, body->old.q, sizeof(float) * 4 * n);
    memset(body->now.u, 0, sizeof(float) * 3 * n);
    memset(body->now.w, 0, sizeof(float) * 3 * n);
    for (int k = 0; k < 3; k++) {
        body->now.origin[k] = body->old.origin[k];
        body->now.velocity[k] = 0;
        body->c[k] = 0;
    }
}

/* A body that is held does not take its origin along; when it has been led far away, the origin is
   moved by a whole number of units, which costs no digit worth mentioning. */
static void follow(pl_oriented *body)
{
    double sum[3] = {0, 0, 0}, far = 0;
    for (int i = 0; i < body->n; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += (double)body->now.x[3 * i + k];
    for (int k = 0; k < 3; k++) {
        double mean = sum[k] / body->n;
        far = mean > far ? mean : -mean > far ? -mean : far;
    }
    if (far < body->system->key.model->reach + 4)
        return;
    for (int k = 0; k < 3; k++) {
        double shift = __builtin_floor(sum[k] / body->n + 0.5);
        body->now.origin[k] += shift;
        for (int i = 0; i < body->n; i++)
            body->now.x[3 * i + k] = (float)((double)body->now.x[3 * i + k] - shift);
    }
}

/* The centre of mass of a free body moves by c and by what the particles' own velocities carried
   it; rounding their positions moved it by something else. The difference goes into the origin: the
   momentum of a free body is exact. */
void pl_oriented_settle(pl_oriented *body, double h)
{
    const pl_state *now = &body->now, *old = &body->old;
    double moved[3] = {0, 0, 0}, carried[3] = {0, 0, 0}, scale = 1 / body->system->total_mass;
    if (!body->system->grounded) {
        const double *weights = body->system->weights;
        in_use()->sum_of_differences(body->n, weights, now->x, old->x, moved);
        in_use()->sum(body->n, weights, old->u, carried);
    }
    for (int k = 0; k < 3; k++) {
        body->path[k] = body->c[k] + h * carried[k] * scale;
        body->place[k] = old->origin[k] + (body->path[k] - moved[k] * scale);
    }
    if (pl_oriented_is_lone(body))
        pl_oriented_spin(body, h);
}

void pl_oriented_solve(const pl_block *block, double h, int iterations, pl_work *work)
{
    in_use()->solve(block, h, iterations, work);
    uint64_t clock = pl_ticks();
    for (int i = 0; i < block->count; i++)
        pl_oriented_settle(block->bodies[i], h);
    work->ticks[PL_STAGE_FINISH] += pl_ticks() - clock;
}

void pl_oriented_stand(pl_oriented *body)
{
    for (int k = 0; k < 3; k++) {
        body->place[k] = body->now.origin[k];
        body->path[k] = body->spin[k] = 0;
    }
}

/* What rounding left in the particles' velocities goes into the mean one. */
static void keep_momentum(pl_oriented *body, double h, double decay)
{
    double left[3], scale = 1 / body->system->total_mass;
    in_use()->sum(body->n, body->system->weights, body->now.u, left);
    for (int k = 0; k < 3; k++)
        body->now.velocity[k] = body->path[k] / h * decay - left[k] * scale;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

/* What rolls fast turns by more than half a turn in a sub-step: rotations do not tell. */
static void show_spin(const pl_oriented *body, pl_primitive *primitive)
{
    for (int k = 0; k < 3 && pl_oriented_is_lone(body); k++)
        primitive->turned[k] = (float)body->spin[k];
}

void pl_oriented_gather(const pl_oriented *body, const pl_clumps *clumps, const uint8_t *wanted,
                        pl_clump_places *places, pl_clump_places *ways, pl_primitive *primitives,
                        pl_gathered *out)
{
    in_use()->gather(body, clumps, wanted, places, ways, primitives, out);
    if (wanted[0])
        show_spin(body, primitives);
}

void pl_oriented_gather_more(const pl_oriented *body, const pl_clumps *clumps,
                             const uint8_t *wanted, uint8_t which, pl_primitive *primitives)
{
    in_use()->gather_more(body, clumps, wanted, which, primitives);
    if (wanted[0] == which)
        show_spin(body, primitives);
}

void pl_oriented_came(const pl_oriented *body, int particle, double h, float out[3])
{
    double scale = h * body->system->key.model->unit;
    for (int k = 0; k < 3; k++)
        out[k] = (float)((body->old.velocity[k] + (double)body->old.u[3 * particle + k]) * scale);
}

void pl_oriented_gather_velocities(const pl_oriented *body, const pl_clumps *clumps,
                                   const uint8_t *wanted, double h, float (*came)[4])
{
    for (int p = 0; p < clumps->count * PL_CLUMP; p++)
        if (!wanted || wanted[p / PL_CLUMP])
            pl_oriented_came(body, clumps->particle[p], h, came[p]);
}

void pl_oriented_pace(const pl_oriented *body, const pl_clumps *clumps, float (*out)[3])
{
    double unit = body->system->key.model->unit;
    for (int c = 0; c < clumps->count; c++)
        for (int k = 0; k < 3; k++) {
            float sum = 0;
            for (int p = 0; p < PL_CLUMP; p++)
                sum += body->old.u[3 * clumps->particle[c * PL_CLUMP + p] + k];
            out[c][k] = (float)((body->old.velocity[k] + (double)(sum / PL_CLUMP)) * unit);
        }
}

typedef float quad __attribute__((vector_size(16)));
typedef double pair __attribute__((vector_size(16)));

typedef struct motion {
    double moved[3], shifted[3], kicked[3]; /* mass × units, in all */
} motion;

/* A free body's mean share goes into the place of its origin, in double: in the particles' offsets
   it would pile up. */
static void take_mean_out(pl_oriented *body, const motion *sum)
{
    double scale = 1 / body->system->total_mass;
    float both[3], before[3];
    for (int k = 0; k < 3; k++) {
        double mean = sum->moved[k] * scale, kick = sum->kicked[k] * scale;
        float still = (float)(sum->shifted[k] * scale);
        both[k] = (float)mean + still;
        before[k] = still - (float)kick;
        body->path[k] += mean + kick;
        body->place[k] += (double)both[k];
        body->old.origin[k] += (double)before[k];
    }
    in_use()->shift(body->n, body->now.x, both);
    in_use()->shift(body->n, body->old.x, before);
}

static inline quad take(float from[4])
{
    quad v;
    memcpy(&v, from, sizeof v);
    memset(from, 0, sizeof v);
    return v;
}

static inline void add_to(float x[3], quad by)
{
    for (int k = 0; k < 3; k++)
        x[k] += by[k];
}

/* mass × by is added to the first three of the sum. */
static inline void add_times(pair sum[2], double mass, quad by)
{
    sum[0] += mass * (pair){(double)by[0], (double)by[1]};
    sum[1] += mass * (pair){(double)by[2], 0};
}

/* Those of a clump that were touched. */
static void move_clump(pl_oriented *body, uint32_t touched, const int32_t *particles,
                       float (*change)[4], float (*shift)[4], float per_metre, motion *sum)
{
    const double *masses = body->system->mass;
    float *now = body->now.x, *old = body->old.x;
    pair moved[2] = {{sum->moved[0], sum->moved[1]}, {sum->moved[2], 0}};
    pair shifted[2] = {{sum->shifted[0], sum->shifted[1]}, {sum->shifted[2], 0}};
    for (; touched; touched &= touched - 1) {
        int p = __builtin_ctz(touched);
        int32_t i = particles[p];
        quad by = take(change[p]) * per_metre, without = take(shift[p]) * per_metre;
        add_to(now + 3 * (size_t)i, by + without);
        add_to(old + 3 * (size_t)i, without);
        add_times(moved, masses[i], by);
        add_times(shifted, masses[i], without);
    }
    for (int k = 0; k < 3; k++) {
        sum->moved[k] = moved[k / 2][k % 2];
        sum->shifted[k] = shifted[k / 2][k % 2];
    }
}

/* The velocity is the way from where it was: it was further back. */
static void kick_particle(pl_oriented *body, int i, float *kick, float per_metre, motion *sum)
{
    for (int k = 0; k < 3; k++) {
        float by = kick[k] * per_metre;
        body->old.x[3 * i + k] -= by;
        sum->kicked[k] += body->system->mass[i] * (double)by;
        kick[k] = 0;
    }
}

static bool is_zero(const float v[4])
{
    uint64_t words[2];
    memcpy(words, v, 16);
    return !(words[0] | words[1]);
}

void pl_oriented_scatter(pl_oriented *body, const pl_clumps *clumps, uint16_t *touched,
                         float (*change)[4], float (*shift)[4], float (*kick)[4])
{
    motion sum = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    float per_metre = (float)(1 / body->system->key.model->unit);
    bool any = false;
    for (int c = 0; c < clumps->count; c++) {
        if (!touched[c])
            continue;
        const int32_t *particles = clumps->particle + c * PL_CLUMP;
        int first = c * PL_CLUMP;
        move_clump(body, touched[c], particles, change + first, shift + first, per_metre, &sum);
        for (int p = 0; kick && p < PL_CLUMP; p++)
            if (!is_zero(kick[first + p]))
                kick_particle(body, particles[p], kick[first + p], per_metre, &sum);
        touched[c] = 0;
        any = true;
    }
    if (any && !body->system->grounded)
        take_mean_out(body, &sum);
}

void pl_oriented_add_kick(pl_oriented *body, const double momentum[3])
{
    motion sum = {{0, 0, 0}, {0, 0, 0}, {momentum[0], momentum[1], momentum[2]}};
    if (!body->system->grounded)
        take_mean_out(body, &sum);
}

static pl_quat quat_of(const double turn[3])
{
    double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    double scale = angle > 0 ? pl_sin(0.5 * angle) / angle : 0.5;
    return (pl_quat){turn[0] * scale, turn[1] * scale, turn[2] * scale, pl_cos(0.5 * angle)};
}

/* by · q for all, and as long as 1 again: whole vectors of them, and what is left. */
static void turn_all(int n, pl_quat by, float *q)
{
    const float columns[4][4] = {{(float)by.w, (float)by.z, (float)-by.y, (float)-by.x},
                                 {(float)-by.z, (float)by.w, (float)by.x, (float)-by.y},
                                 {(float)by.y, (float)-by.x, (float)by.w, (float)-by.z},
                                 {(float)by.x, (float)by.y, (float)by.z, (float)by.w}};
    quad x, y, z, w;
    memcpy(&x, columns[0], sizeof x);
    memcpy(&y, columns[1], sizeof y);
    memcpy(&z, columns[2], sizeof z);
    memcpy(&w, columns[3], sizeof w);
    for (int i = in_use()->turn_all(n, columns, q); i < n; i++) {
        quad to = x * q[4 * i] + y * q[4 * i + 1] + z * q[4 * i + 2] + w * q[4 * i + 3];
        quad square = to * to;
        to *= 1 / sqrtf((square[0] + square[1]) + (square[2] + square[3]));
        memcpy(q + 4 * i, &to, sizeof to);
    }
}

static bool is_turn(const double turn[3])
{
    return turn[0] != 0 || turn[1] != 0 || turn[2] != 0;
}

void pl_oriented_turn(pl_oriented *body, const double turned[3], const double tilted[3],
                      const double spun[3])
{
    pl_quat still = quat_of(tilted), back = pl_quat_conjugate(quat_of(spun));
    turn_all(body->n, pl_quat_mul(quat_of(turned), still), body->now.q);
    if (is_turn(tilted) || is_turn(spun))
        turn_all(body->n, pl_quat_mul(back, still), body->old.q);
    for (int k = 0; k < 3; k++)
        body->spin[k] += turned[k] + spun[k];
}

/* ---- After the contacts ---------------------------------------------------------------------- */

/* Decaying numbers end at zero instead of in the slow subnormals. */
static float settled(double v)
{
    return v < 1e-12 && v > -1e-12 ? 0 : (float)v;
}

bool pl_oriented_finish(pl_oriented *body, double h, pl_work *work)
{
    uint64_t clock = pl_ticks();
    pl_state *now = &body->now, *old = &body->old;
    double rate = body->damping * h;
    if (rate != body->decay_rate || body->decay == 0) {
        body->decay_rate = rate;
        body->decay = rate > 0 ? pl_exp(-rate) : 1;
    }
    double decay = body->decay;
    bool good = in_use()->velocities(body->n, now, old, (float)(decay / h));
    if (!body->system->grounded)
        keep_momentum(body, h, decay);
    double check = 0;
    for (int k = 0; k < 3 && pl_oriented_is_lone(body); k++) {
        now->w[k] = settled(body->spin[k] * decay / h);
        check += (double)now->w[k] * 0;
    }
    for (int k = 0; k < 3; k++) {
        now->origin[k] = body->place[k];
        if (now->velocity[k] < 1e-30 && now->velocity[k] > -1e-30)
            now->velocity[k] = 0;
        check += (now->origin[k] + now->velocity[k]) * 0;
    }
    good = good && check == 0;
    if (!good)
        put_back(body);
    else if (body->system->grounded)
        follow(body);
    work->ticks[PL_STAGE_FINISH] += pl_ticks() - clock;
    return good;
}

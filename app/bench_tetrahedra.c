/* pliant bench tetrahedra: what Fukuhara et al. measure. How much faster the local step is with
   rotations fitted in a part of the elements, and their Fig. 5: when the energy of a beam of 2,375
   tetrahedra, held bent and twisted, comes near its minimum, and near what the same method comes to
   in the end, which is how the paper measures. It has curves, no numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "bench.h"

#define PI 3.14159265358979323846

enum { LOCAL, GLOBAL, OTHER, ITERATION, TIMES };
static const char *const time_names[TIMES] = {"local", "global", "other", "total"};

typedef struct method {
    const char *name;
    pl_tet_rotations rotations;
    double sampled;
} method;

static const method methods[] = {{"exact", PL_TET_EXACT, 1},
                                 {"quaternion  5 %", PL_TET_QUATERNION, 0.05},
                                 {"quaternion 10 %", PL_TET_QUATERNION, 0.1},
                                 {"quaternion 15 %", PL_TET_QUATERNION, 0.15},
                                 {"folded  5 %", PL_TET_FOLDED, 0.05},
                                 {"folded 10 %", PL_TET_FOLDED, 0.1},
                                 {"folded 15 %", PL_TET_FOLDED, 0.15}};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct beam {
    pl_world *world;
    pl_body body;
    int n, held_count;
    double *start;  /* [n][3] */
    double *target; /* [n][3] where bending and twisting bring them */
    int32_t *held;
} beam;

/* With --quick those with 10 % alone, besides the exact one. */
static bool is_wanted(const bench *b, int k)
{
    return !b->quick || methods[k].rotations == PL_TET_EXACT || methods[k].sampled == 0.1;
}

/* ---- Beams ----------------------------------------------------------------------------------- */

static pl_status make_model(const int count[3], const double size[3], pl_model **model)
{
    pl_shape *shape;
    pl_model *plain;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BLOCK);
    for (int k = 0; k < 3; k++) {
        def.count[k] = count[k];
        def.size[k] = size[k];
    }
    PL_TRY(pl_shape_create(&def, &shape, NULL));
    pl_model_def model_def = pl_shape_model_def(shape);
    pl_status status = pl_model_create(&model_def, &plain, NULL);
    pl_shape_destroy(shape);
    PL_TRY(status);
    status = pl_model_tetrahedral(plain, model, NULL);
    pl_model_release(plain);
    return status;
}

static void beam_free(beam *m)
{
    pl_world_destroy(m->world);
    free(m->start);
    free(m->target);
    free(m->held);
}

static void measure_box(const beam *m, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int i = 0; i < 3 * m->n; i++) {
        low[i % 3] = fmin(low[i % 3], m->start[i]);
        high[i % 3] = fmax(high[i % 3], m->start[i]);
    }
}

/* Bent by 90° and twisted by 45° along x; `held` are the particles of both ends. */
static void bend(beam *m)
{
    double low[3], high[3];
    measure_box(m, low, high);
    double length = high[0] - low[0], radius = length / (PI / 2);
    for (int i = 0; i < m->n; i++) {
        const double *p = m->start + 3 * (ptrdiff_t)i;
        double t = (p[0] - low[0]) / length, y = p[1] - 0.5 * (low[1] + high[1]),
               z = p[2] - 0.5 * (low[2] + high[2]), a = PI / 2 * t, b = PI / 4 * t;
        double yy = cos(b) * y - sin(b) * z, zz = sin(b) * y + cos(b) * z;
        double *to = m->target + 3 * (ptrdiff_t)i;
        to[0] = low[0] + sin(a) * (radius - yy);
        to[1] = low[1] + radius - cos(a) * (radius - yy);
        to[2] = low[2] + zz;
        if (t < 1e-6 || t > 1 - 1e-6)
            m->held[m->held_count++] = i;
    }
}

static pl_status make_world(const bench *b, double step, beam *m)
{
    pl_world_def def = pl_default_world_def();
    def.step = step;
    def.gravity[1] = 0;
    def.sleeping = false;
    def.threads = b->threads;
    return pl_world_create(&def, &m->world, NULL);
}

static pl_status make_body(pl_model *model, const method *how, bool accelerated, beam *m)
{
    pl_tetrahedral_def tets = pl_default_tetrahedral_def();
    tets.poisson = 0;
    tets.rotations = how->rotations;
    tets.sampled = how->sampled;
    tets.accelerated = accelerated;
    pl_body_def def = pl_default_body_def(model);
    def.tetrahedral = &tets;
    def.material.young = 1e5;
    PL_TRY(pl_body_create(m->world, &def, &m->body, NULL));
    m->n = pl_model_get_info(model).particle_count;
    size_t n = (size_t)m->n;
    m->start = calloc(3 * n, sizeof(double));
    m->target = calloc(3 * n, sizeof(double));
    m->held = calloc(n, sizeof(int32_t));
    if (!m->start || !m->target || !m->held)
        return PL_ERROR_MEMORY;
    PL_TRY(pl_body_read(m->world, m->body, PL_POSITIONS, 0, m->n, 1, pl_doubles(m->start, 0)));
    bend(m);
    return pl_body_set_fixed(m->world, m->body, m->held, m->held_count, NULL);
}

static pl_status make_beam(const bench *b, pl_model *model, const method *how, bool accelerated,
                           double step, beam *m)
{
    *m = (beam){0};
    PL_TRY(make_world(b, step, m));
    pl_status status = make_body(model, how, accelerated, m);
    if (status != PL_OK)
        beam_free(m);
    return status;
}

static pl_status drive(beam *m)
{
    for (int k = 0; k < m->held_count; k++)
        PL_TRY(pl_body_drive(m->world, m->body, m->held[k], m->target + 3 * (ptrdiff_t)m->held[k],
                             NULL));
    return PL_OK;
}

/* ---- The local step -------------------------------------------------------------------------- */

static pl_status time_iterations(const bench *b, beam *m, double best[TIMES])
{
    enum { ITERATIONS = 10 };
    PL_TRY(pl_world_set_iterations(m->world, ITERATIONS, 1));
    PL_TRY(drive(m));
    for (int k = 0; k < TIMES; k++)
        best[k] = INFINITY;
    for (int i = 0; i < (b->quick ? 10 : 60) && !app_signal(); i++) {
        pl_report r = {0};
        PL_TRY(pl_world_step(m->world, &r));
        const double ms[ITERATION] = {r.ms_local, r.ms_global, r.ms_accelerate};
        for (int k = 0; k < ITERATION && i; k++)
            best[k] = fmin(best[k], ms[k] / ITERATIONS);
    }
    best[ITERATION] = best[LOCAL] + best[GLOBAL] + best[OTHER];
    return PL_OK;
}

static void print_speed(bench *b, const method *how, const double ms[TIMES], double exact)
{
    if (b->json) {
        app_bench_json_row(b, "tetrahedra");
        printf(",\"row\":\"local step, %s\",\"tets\":30000", how->name);
        app_bench_json_times("ours_ms", time_names, ms, TIMES);
        printf(",\"ratio\":%.4g}", exact / ms[LOCAL]);
        return;
    }
    printf("  %-18s", how->name);
    app_bench_cells(ms, TIMES, 3);
    printf(" %7.2fx\n", exact / ms[LOCAL]);
    fflush(stdout);
}

static pl_status speeds(bench *b)
{
    static const int count[3] = {61, 11, 11};
    static const double size[3] = {6, 1, 1};
    pl_model *model;
    pl_status status = make_model(count, size, &model);
    double exact = 0;
    PL_TRY(status);
    for (int k = 0; k < METHODS && status == PL_OK && !app_signal(); k++) {
        beam m;
        double ms[TIMES];
        if (!is_wanted(b, k))
            continue;
        status = make_beam(b, model, &methods[k], false, 1.0 / 60, &m);
        if (status != PL_OK)
            break;
        status = time_iterations(b, &m, ms);
        exact = k == 0 ? ms[LOCAL] : exact;
        if (status == PL_OK && !app_signal())
            print_speed(b, &methods[k], ms, exact);
        beam_free(&m);
    }
    pl_model_release(model);
    return status;
}

/* ---- Fig. 5 ---------------------------------------------------------------------------------- */

typedef struct start {
    void *bytes;
    size_t size;
} start;

/* From the straight beam whose ends jump to where they are held: energy and time after so many
   iterations. */
static pl_status settle(beam *m, const start *from, int iterations, double *energy, double *ms)
{
    pl_energy e;
    pl_report r = {0};
    PL_TRY(pl_world_restore(m->world, from->bytes, from->size, NULL, 0, NULL));
    PL_TRY(pl_world_set_iterations(m->world, iterations, 1));
    PL_TRY(drive(m));
    PL_TRY(pl_world_step(m->world, &r));
    PL_TRY(pl_body_get_energy(m->world, m->body, &e));
    *energy = e.elastic;
    *ms = r.ms_local + r.ms_global + r.ms_accelerate;
    return PL_OK;
}

/* The first number of iterations after which the energy is within 3 % of `goal`, and their least
   time. */
static pl_status reach(const bench *b, beam *m, const start *from, double goal, int *iterations,
                       double *least)
{
    enum { MOST = 400 };
    double energy = INFINITY, ms;
    *least = INFINITY;
    *iterations = 0;
    while (fabs(energy - goal) > 0.03 * goal && *iterations < MOST && !app_signal())
        PL_TRY(settle(m, from, ++*iterations, &energy, &ms));
    for (int k = 0; k < (b->quick ? 5 : 30); k++) {
        PL_TRY(settle(m, from, *iterations, &energy, &ms));
        *least = fmin(*least, ms);
    }
    return PL_OK;
}

typedef struct figure {
    int iterations, own_iterations;
    double ms, own_ms, last; /* last: energy after 1,000 iterations */
} figure;

static pl_status follow(const bench *b, beam *m, const start *from, double *minimum, figure *f)
{
    enum { MANY = 1000 };
    double ms;
    PL_TRY(settle(m, from, MANY, &f->last, &ms));
    if (*minimum == 0)
        *minimum = f->last; /* of the exact method, accelerated, which comes first */
    PL_TRY(reach(b, m, from, *minimum, &f->iterations, &f->ms));
    return reach(b, m, from, f->last, &f->own_iterations, &f->own_ms);
}

static pl_status follow_from_start(const bench *b, beam *m, double *minimum, figure *f)
{
    start from = {NULL, 0};
    PL_TRY(pl_world_save(m->world, NULL, 0, &from.size));
    from.bytes = malloc(from.size);
    pl_status status =
        from.bytes ? pl_world_save(m->world, from.bytes, from.size, &from.size) : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = follow(b, m, &from, minimum, f);
    free(from.bytes);
    return status;
}

static void print_figure(bench *b, const method *how, bool accelerated, const figure *f,
                         double minimum)
{
    double above = f->last / minimum - 1;
    if (b->json) {
        app_bench_json_row(b, "tetrahedra");
        printf(",\"row\":\"Fig. 5, %s, %s\",\"tets\":2375,\"iterations\":%d,\"own_iterations\":%d",
               how->name, accelerated ? "accelerated" : "plain", f->iterations, f->own_iterations);
        app_bench_json_times("ours_ms", (const char *const[]){"minimum", "own"},
                             (const double[]){f->ms, f->own_ms}, 2);
        printf(",\"above\":%.6g}", above);
        return;
    }
    printf("  %-18s %-12s %10d %8.3f %10d %8.3f %8.2f %%\n", how->name,
           accelerated ? "accelerated" : "plain", f->iterations, f->ms, f->own_iterations,
           f->own_ms, 100 * above);
    fflush(stdout);
}

static pl_status figures(bench *b)
{
    static const int count[3] = {20, 6, 6};
    static const double size[3] = {1.9, 0.5, 0.5};
    pl_model *model;
    double minimum = 0;
    pl_status status = make_model(count, size, &model);
    PL_TRY(status);
    for (int k = 0; k < 2 * METHODS && status == PL_OK && !app_signal(); k++) {
        bool accelerated = k < METHODS;
        const method *how = &methods[k % METHODS];
        beam m;
        figure f = {0};
        if (!is_wanted(b, k % METHODS))
            continue;
        /* A step so long that inertia counts for nothing. */
        status = make_beam(b, model, how, accelerated, 100, &m);
        if (status != PL_OK)
            break;
        status = follow_from_start(b, &m, &minimum, &f);
        if (status == PL_OK && !app_signal())
            print_figure(b, how, accelerated, &f, minimum);
        beam_free(&m);
    }
    pl_model_release(model);
    return status;
}

static void print_meaning(void)
{
    printf(
        "\n"
        "quaternion, folded   rotations fitted in a part of the elements and blended; see "
        "docs/tetrahedral.md\n"
        "local      rotations and right-hand side; ratio: exact over this\n"
        "total      the sum; of every stage the fastest of all steps counts\n"
        "3 %%        the first iteration with a true energy (exact rotations) at most 3 %% above "
        "the minimum\n"
        "own 3 %%    within 3 %% of the same method after 1,000 iterations, as the paper measures\n"
        "above      what 1,000 iterations come to: energy above the minimum\n");
}

pl_status app_table_tetrahedra(bench *b)
{
    if (!b->json) {
        printf("Fukuhara et al.: a beam of 30,000 tetrahedra, plain, milliseconds per iteration\n\n"
               "  %-18s",
               "rotations");
        app_bench_names(time_names, TIMES);
        printf(" %8s\n", "ratio");
    }
    PL_TRY(speeds(b));
    if (!b->json && !app_signal())
        printf("\nFig. 5: a beam of 2,375 tetrahedra, bent by 90 and twisted by 45 degrees\n\n"
               "  %-18s %-12s %10s %8s %10s %8s %10s\n",
               "rotations", "", "3 %", "ms", "own 3 %", "ms", "above");
    PL_TRY(figures(b));
    if (!b->json && !app_signal())
        print_meaning();
    return PL_OK;
}

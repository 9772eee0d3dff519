/* Times the sparse layer against CHOLMOD (simplicial and supernodal) at the sizes bodies have:
   order and analysis, numeric factorisation, solves for one and for three right-hand sides. Both
   run interleaved in one process; printed are the minima in microseconds and the ratio CHOLMOD /
   Pliant, where above 1 means that Pliant is faster.

   Then the supernodal factor on meshes of tetrahedra of 1,000 to 50,000 nodes against CHOLMOD's,
   which takes the better of AMD and METIS and solves in double: one instance (three right-hand
   sides, CHOLMOD's together or one by one, whichever is faster) and sixteen instances side by side,
   on one thread and on two. `bench_sparse meshes` runs this alone, `bench_sparse meshes 1` on one
   thread only. The dense products inside CHOLMOD are those of whatever BLAS is installed; its name
   is printed, because with the reference one CHOLMOD's solves take about twice as long as with
   OpenBLAS. That names the processor whose kernels it chose, too: where it is "Prescott", it did
   not know ours, and OPENBLAS_CORETYPE=SkylakeX in the environment helps. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sparse/factor.h"
#include "sparse/supernodal.h"

#ifdef PLIANT_HAVE_CHOLMOD
#include <cholmod.h>
#endif

typedef struct system_case {
    const char *name;
    int n, *start, *neighbour;
    double *diagonal, *value;
} system_case;

enum { ANALYSE, FACTOR, SOLVE_1, SOLVE_3, STAGES };
static const char *const stage_names[STAGES] = {"analyse", "factor", "solve 1", "solve 3"};

typedef struct timing {
    double best[STAGES];
    double nnz;
} timing;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void note(timing *t, int stage, double microseconds)
{
    if (t->best[stage] == 0.0 || microseconds < t->best[stage])
        t->best[stage] = microseconds;
}

/* ---- Systems ---- */

/* Connects nodes by a rule over all pairs; small or banded systems only. */
static system_case make_case(const char *name, int n, bool (*connected)(int a, int b), int band)
{
    size_t m = (size_t)n, room = m * (size_t)(2 * band < n ? 2 * band : n);
    system_case c = {name,
                     n,
                     calloc(m + 1, sizeof(int)),
                     malloc(room * sizeof(int)),
                     malloc(m * sizeof(double)),
                     malloc(room * sizeof(double))};
    int at = 0;
    for (int i = 0; i < n; i++) {
        c.start[i] = at;
        c.diagonal[i] = 1.0;
        for (int j = i - band < 0 ? 0 : i - band; j < n && j <= i + band; j++) {
            if (i != j && connected(i < j ? i : j, i < j ? j : i)) {
                c.neighbour[at] = j;
                c.value[at++] = -1000.0;
                c.diagonal[i] += 1000.0;
            }
        }
    }
    c.start[n] = at;
    return c;
}

static bool in_chain(int a, int b)
{
    return b == a + 1;
}

static bool in_grid(int a, int b, int side)
{
    int dx = b % side - a % side, dy = b / side - a / side;
    return dx * dx <= 1 && dy * dy <= 1;
}

static bool in_sheet_16(int a, int b)
{
    return in_grid(a, b, 16);
}

static bool in_sheet_100(int a, int b)
{
    return in_grid(a, b, 100);
}

/* Points of a fixed sequence that fills the unit cube evenly; the radius leaves 261 edges between
   100 of them. */
static double distance_in_solid(int a, int b)
{
    static const double step[3] = {0.8191725134, 0.6710436067, 0.5497004779};
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = fmod(0.95 + step[k] * b, 1.0) - fmod(0.95 + step[k] * a, 1.0);
        square += d * d;
    }
    return sqrt(square);
}

static bool in_solid_100(int a, int b)
{
    return distance_in_solid(a, b) < 0.27;
}

static bool in_solid_300(int a, int b)
{
    return distance_in_solid(a, b) < 0.2;
}

static void case_free(system_case *c)
{
    free(c->start);
    free(c->neighbour);
    free(c->diagonal);
    free(c->value);
}

/* ---- Pliant ---- */

static double run_pliant(const system_case *c, timing *t, double *x, double *work)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_symbolic *s;
    pl_factor *f;
    double begin = now();
    if (pl_symbolic_create(&memory, c->n, c->start, c->neighbour, NULL, &s) != PL_OK)
        exit(1);
    double analysed = now();
    if (pl_factor_create(&memory, s, c->diagonal, c->value, &f, NULL) != PL_OK)
        exit(1);
    double factored = now();
    note(t, ANALYSE, analysed - begin);
    note(t, FACTOR, factored - analysed);
    t->nnz = (double)s->nnz;
    for (int repeat = 0; repeat < 4;
         repeat++) { /* odd repeats find the caches warm: these count, as for CHOLMOD */
        int count = repeat < 2 ? 1 : 3;
        for (int i = 0; i < c->n * count; i++)
            x[i] = i % 7 - 3.0;
        begin = now();
        pl_factor_solve(f, x, count, count, work);
        if (repeat % 2)
            note(t, count == 1 ? SOLVE_1 : SOLVE_3, now() - begin);
    }
    double check = x[0];
    pl_factor_destroy(&memory, f);
    pl_symbolic_destroy(&memory, s);
    return check;
}

/* ---- CHOLMOD ---- */

#ifdef PLIANT_HAVE_CHOLMOD
static cholmod_sparse *cholmod_case(const system_case *c, cholmod_common *common)
{
    size_t n = (size_t)c->n;
    cholmod_sparse *a = cholmod_allocate_sparse(n, n, n + (size_t)c->start[n] / 2, true, true, 1,
                                                CHOLMOD_REAL, common);
    int *start = a->p, *row = a->i, at = 0;
    double *x = a->x;
    for (int j = 0; j < c->n; j++) {
        start[j] = at;
        for (int p = c->start[j]; p < c->start[j + 1]; p++) {
            if (c->neighbour[p] < j) {
                row[at] = c->neighbour[p];
                x[at++] = c->value[p];
            }
        }
        row[at] = j;
        x[at++] = c->diagonal[j];
    }
    start[n] = at;
    return a;
}

static double run_cholmod(const system_case *c, cholmod_common *common, timing *t)
{
    size_t n = (size_t)c->n;
    cholmod_sparse *a = cholmod_case(c, common);
    double begin = now();
    cholmod_factor *l = cholmod_analyze(a, common);
    double analysed = now();
    t->nnz = common->lnz - c->n;
    cholmod_factorize(a, l, common);
    double factored = now();
    note(t, ANALYSE, analysed - begin);
    note(t, FACTOR, factored - analysed);
    cholmod_dense *y = NULL, *e = NULL, *x = NULL;
    for (int count = 1; count <= 3; count += 2) {
        cholmod_dense *b = cholmod_allocate_dense(n, (size_t)count, n, CHOLMOD_REAL, common);
        for (size_t i = 0; i < n * (size_t)count; i++)
            ((double *)b->x)[i] = (int)i % 7 - 3.0;
        cholmod_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e,
                       common); /* allocates; the next one is timed */
        begin = now();
        cholmod_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e, common);
        note(t, count == 1 ? SOLVE_1 : SOLVE_3, now() - begin);
        cholmod_free_dense(&b, common);
    }
    double check = ((double *)x->x)[0];
    cholmod_free_dense(&x, common);
    cholmod_free_dense(&y, common);
    cholmod_free_dense(&e, common);
    cholmod_free_factor(&l, common);
    cholmod_free_sparse(&a, common);
    return check;
}

static void prepare_common(cholmod_common *common, int supernodal)
{
    cholmod_start(common);
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->supernodal = supernodal;
    common->final_ll = supernodal == CHOLMOD_SUPERNODAL;
}
#endif

/* ---- Table ---- */

static void print_row(const char *who, const timing *t, const timing *ours)
{
    printf("    %-22s nnz(L) %8.0f", who, t->nnz);
    for (int s = 0; s < STAGES; s++) {
        printf("   %s %9.1f us", stage_names[s], t->best[s]);
        if (t != ours)
            printf(" (%5.2f)", t->best[s] / ours->best[s]);
    }
    printf("\n");
}

static void bench_case(system_case *c, int rounds)
{
    timing ours = {0};
    double *x = malloc((size_t)c->n * 3 * sizeof *x),
           *work = malloc((size_t)c->n * 3 * sizeof *work);
#ifdef PLIANT_HAVE_CHOLMOD
    cholmod_common simplicial, supernodal;
    prepare_common(&simplicial, CHOLMOD_SIMPLICIAL);
    prepare_common(&supernodal, CHOLMOD_SUPERNODAL);
    timing by_simplicial = {0}, by_supernodal = {0};
    for (int r = 0; r < rounds; r++) {
        run_pliant(c, &ours, x, work);
        run_cholmod(c, &simplicial, &by_simplicial);
        run_cholmod(c, &supernodal, &by_supernodal);
    }
    cholmod_finish(&simplicial);
    cholmod_finish(&supernodal);
#else
    for (int r = 0; r < rounds; r++)
        run_pliant(c, &ours, x, work);
#endif
    printf("%s: %d nodes, %d edges\n", c->name, c->n, c->start[c->n] / 2);
    print_row("Pliant", &ours, &ours);
#ifdef PLIANT_HAVE_CHOLMOD
    print_row("CHOLMOD simplicial", &by_simplicial, &ours);
    print_row("CHOLMOD supernodal", &by_supernodal, &ours);
#endif
    free(x);
    free(work);
    case_free(c);
}

/* ---- Meshes of tetrahedra ---- */

enum { SIDE_BY_SIDE = 16, THREADS = 2 };
enum { CREATE, ONE, MANY, CREATE_2, ONE_2, MANY_2, MESH_STAGES };
static const char *const mesh_names[MESH_STAGES] = {"factorise", "solve 3",      "solve 48",
                                                    "on 2",      "solve 3 on 2", "solve 48 on 2"};

typedef struct mesh_case {
    system_case system;
    double (*points)[3];
} mesh_case;

typedef struct mesh_timing {
    double best[MESH_STAGES], nnz;
} mesh_timing;

static void note_mesh(mesh_timing *t, int stage, double microseconds)
{
    if (t->best[stage] == 0.0 || microseconds < t->best[stage])
        t->best[stage] = microseconds;
}

/* A box of cubes of six tetrahedra each: M + h² K with K the mesh's Laplacian, stiff as rubber at
   60 steps a second. */
static mesh_case make_mesh(const char *name, int x, int y, int z)
{
    int size[3] = {x, y, z}, n = x * y * z, at = 0;
    size_t m = (size_t)n, room = 14 * m;
    mesh_case c = {{name, n, calloc(m + 1, sizeof(int)), malloc(room * sizeof(int)),
                    malloc(m * sizeof(double)), malloc(room * sizeof(double))},
                   malloc(m * sizeof(double[3]))};
    for (int i = 0; i < n; i++) {
        int p[3] = {i % x, i / x % y, i / x / y};
        c.system.start[i] = at;
        c.system.diagonal[i] = 1.0;
        for (int k = 0; k < 3; k++)
            c.points[i][k] = p[k];
        for (int way = -1; way <= 1; way += 2) {
            for (int corner = 1; corner < 8; corner++) {
                int q[3], inside = 1;
                for (int k = 0; k < 3; k++) {
                    q[k] = p[k] + way * (corner >> k & 1);
                    inside = inside && q[k] >= 0 && q[k] < size[k];
                }
                if (!inside)
                    continue;
                c.system.neighbour[at] = q[0] + x * (q[1] + y * q[2]);
                c.system.value[at++] = -100.0;
                c.system.diagonal[i] += 100.0;
            }
        }
    }
    c.system.start[n] = at;
    return c;
}

static void fill_right(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((int)(i * 7919 % 101) - 50);
}

static void run_mesh(const mesh_case *c, mesh_timing *t, pl_memory *memory, pl_tasks *tasks,
                     int repeats)
{
    const system_case *s = &c->system;
    int more = tasks ? CREATE_2 : CREATE; /* stages on two threads follow those on one */
    pl_supernodal *f;
    double begin = now();
    if (pl_supernodal_create(memory, s->n, s->start, s->neighbour, s->diagonal, s->value,
                             (const double(*)[3])c->points, tasks, &f, NULL) != PL_OK)
        exit(1);
    note_mesh(t, more, now() - begin);
    pl_supernodal_sizes sizes = pl_supernodal_get_sizes(f);
    t->nnz = (double)sizes.entries;
    for (int stage = ONE; stage <= MANY; stage++) {
        int count = stage == ONE ? 1 : SIDE_BY_SIDE;
        size_t numbers = (size_t)s->n * 3 * (size_t)count;
        float *x = PL_NEW(memory, float, numbers);
        float *work = PL_NEW(memory, float, pl_supernodal_work(f, count));
        for (int repeat = 0; repeat < repeats; repeat++) {
            fill_right(x, numbers);
            begin = now();
            pl_supernodal_solve(f, x, count, work, tasks);
            note_mesh(t, stage + more, now() - begin);
        }
        pl_memory_free(memory, x);
        pl_memory_free(memory, work);
    }
    pl_supernodal_destroy(memory, f);
}

#ifdef PLIANT_HAVE_CHOLMOD
/* Where the BLAS is OpenBLAS it says so, and can be told how many threads to use. */
static void *find_in_blas(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static void set_blas_threads(int count)
{
    void (*set)(int) = NULL;
    *(void **)&set = find_in_blas("openblas_set_num_threads");
    if (set)
        set(count);
}

static void print_blas(void)
{
    char *(*config)(void) = NULL;
    Dl_info library;
    void *product = find_in_blas("dgemm_");
    *(void **)&config = find_in_blas("openblas_get_config");
    printf("BLAS of CHOLMOD: %s (%s)\n", config ? config() : "not OpenBLAS",
           product && dladdr(product, &library) ? library.dli_fname : "unknown library");
}

static void run_mesh_cholmod(const mesh_case *c, mesh_timing *t, int threads, int repeats)
{
    const system_case *s = &c->system;
    size_t n = (size_t)s->n;
    int more = threads > 1 ? CREATE_2 : CREATE;
    set_blas_threads(threads);
    cholmod_common common;
    cholmod_start(&common);
    common.nmethods = 2;
    common.method[0].ordering = CHOLMOD_AMD;
    common.method[1].ordering = CHOLMOD_METIS;
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_sparse *a = cholmod_case(s, &common);
    double begin = now();
    cholmod_factor *l = cholmod_analyze(a, &common);
    cholmod_factorize(a, l, &common);
    note_mesh(t, more, now() - begin);
    t->nnz = common.lnz;
    cholmod_dense *y = NULL, *e = NULL, *x = NULL;
    for (int stage = ONE; stage <= MANY; stage++) {
        size_t columns = stage == ONE ? 3 : 3 * SIDE_BY_SIDE;
        cholmod_dense *b = cholmod_allocate_dense(n, columns, n, CHOLMOD_REAL, &common);
        for (size_t i = 0; i < n * columns; i++)
            ((double *)b->x)[i] = (int)(i * 7919 % 101) - 50.0;
        for (int repeat = 0; repeat < repeats; repeat++) {
            begin = now();
            cholmod_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e, &common);
            note_mesh(t, stage + more, now() - begin);
        }
        cholmod_free_dense(&b, &common);
    }
    /* One column at a time uses other kernels: three such may be faster than three at once. */
    cholmod_dense *b = cholmod_ones(n, 1, CHOLMOD_REAL, &common);
    for (int repeat = 0; repeat < repeats; repeat++) {
        begin = now();
        for (int column = 0; column < 3; column++)
            cholmod_solve2(CHOLMOD_A, l, b, NULL, &x, NULL, &y, &e, &common);
        note_mesh(t, ONE + more, now() - begin);
    }
    cholmod_free_dense(&b, &common);
    cholmod_free_dense(&x, &common);
    cholmod_free_dense(&y, &common);
    cholmod_free_dense(&e, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
}
#endif

static void print_mesh_row(const char *who, const mesh_timing *t, const mesh_timing *ours)
{
    printf("    %-8s nnz(L) %9.0f", who, t->nnz);
    for (int s = 0; s < MESH_STAGES && t->best[s] > 0.0; s++) {
        printf("   %s %9.1f us", mesh_names[s], t->best[s]);
        if (t != ours)
            printf(" (%5.2f)", t->best[s] / ours->best[s]);
    }
    printf("\n");
}

static void bench_mesh(mesh_case *c, pl_tasks *tasks, pl_memory *memory)
{
    int n = c->system.n, rounds = n < 2000 ? 20 : n < 20000 ? 4 : 2, repeats = n < 20000 ? 12 : 4;
    mesh_timing ours = {0};
#ifdef PLIANT_HAVE_CHOLMOD
    mesh_timing theirs = {0};
#endif
    for (int r = 0; r < rounds; r++) {
        run_mesh(c, &ours, memory, NULL, repeats);
        if (tasks)
            run_mesh(c, &ours, memory, tasks, repeats);
#ifdef PLIANT_HAVE_CHOLMOD
        run_mesh_cholmod(c, &theirs, 1, repeats);
        if (tasks)
            run_mesh_cholmod(c, &theirs, THREADS, repeats);
#endif
    }
    printf("%s: %d nodes, %d edges\n", c->system.name, n, c->system.start[n] / 2);
    print_mesh_row("Pliant", &ours, &ours);
#ifdef PLIANT_HAVE_CHOLMOD
    print_mesh_row("CHOLMOD", &theirs, &ours);
#endif
    fflush(stdout);
    case_free(&c->system);
    free(c->points);
}

static void bench_meshes(int threads)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_tasks *tasks = threads > 1 ? pl_tasks_create(NULL, threads, &memory) : NULL;
#ifdef PLIANT_HAVE_CHOLMOD
    print_blas();
#endif
    mesh_case cases[] = {make_mesh("cube 9 x 9 x 8", 9, 9, 8), make_mesh("cube 10^3", 10, 10, 10),
                         make_mesh("bar 11 x 11 x 41", 11, 11, 41),
                         make_mesh("cube 22 x 22 x 21", 22, 22, 21),
                         make_mesh("cube 37 x 37 x 37", 37, 37, 37)};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        bench_mesh(&cases[k], tasks, &memory);
    if (tasks)
        pl_tasks_destroy(tasks);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "meshes")) {
        bench_meshes(argc > 2 ? 1 : THREADS);
        return 0;
    }
    system_case cases[] = {make_case("chain", 20, in_chain, 1),
                           make_case("solid", 100, in_solid_100, 100),
                           make_case("solid", 300, in_solid_300, 300),
                           make_case("sheet 16 x 16", 256, in_sheet_16, 17),
                           make_case("sheet 100 x 100", 10000, in_sheet_100, 101)};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        bench_case(&cases[k], cases[k].n < 1000 ? 2000 : 20);
    bench_meshes(THREADS);
    return 0;
}

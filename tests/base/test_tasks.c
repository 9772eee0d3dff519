/* Runs on the caller, on the pool with 1, 2 and 7 threads, and on hosts that cut the work in
   awkward ways. */
#include "base/tasks.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "support/check.h"

enum { MOST_ITEMS = 5000, MOST_WORKERS = 16 };

typedef struct record {
    int count, grain, workers;
    atomic_int visits[MOST_ITEMS];
    atomic_int
        busy[MOST_WORKERS];    /* pieces running now under a worker number: never more than one */
    int scratch[MOST_WORKERS]; /* not atomic on purpose: the thread sanitizer judges */
    atomic_int mistakes, pieces;
} record;

static void visit(void *context, int begin, int end, int worker)
{
    record *r = context;
    bool sane = begin >= 0 && begin < end && end <= r->count && worker >= 0 && worker < r->workers;
    bool long_enough = end - begin >= r->grain || end == r->count;
    if (!sane || !long_enough) {
        atomic_fetch_add(&r->mistakes, 1);
        return;
    }
    if (atomic_fetch_add(&r->busy[worker], 1) != 0)
        atomic_fetch_add(&r->mistakes, 1);
    for (int i = begin; i < end; i++)
        atomic_fetch_add_explicit(&r->visits[i], 1, memory_order_relaxed);
    r->scratch[worker] += end - begin;
    atomic_fetch_sub(&r->busy[worker], 1);
    atomic_fetch_add(&r->pieces, 1);
}

static void check_run(pl_tasks *tasks, int count, int grain)
{
    static record r;
    memset(&r, 0, sizeof r);
    r.count = count;
    r.grain = grain;
    r.workers = pl_tasks_worker_count(tasks);
    pl_tasks_run(tasks, visit, &r, count, grain);
    assert_int_equal(r.mistakes, 0);
    int done = 0;
    for (int i = 0; i < MOST_WORKERS; i++)
        done += r.scratch[i];
    assert_int_equal(done, count);
    for (int i = 0; i < MOST_ITEMS; i++)
        assert_int_equal(r.visits[i], i < count ? 1 : 0);
}

static void check_runs(pl_tasks *tasks)
{
    static const int counts[] = {0, 1, 2, 3, 7, 64, 65, 1000, MOST_ITEMS};
    static const int grains[] = {0, 1, 3, 64, 999, MOST_ITEMS, INT32_MAX};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
            check_run(tasks, counts[c], grains[g]);
}

static void every_item_runs_once(void **state)
{
    (void)state;
    static const int threads[] = {-1, 0, 1, 2, 7};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_tasks *tasks = pl_tasks_create(NULL, threads[i], &memory);
        assert_non_null(tasks);
        assert_int_equal(pl_tasks_worker_count(tasks), threads[i] > 1 ? threads[i] : 1);
        uint64_t allocations = memory.allocations;
        check_runs(tasks);
        assert_int_equal(memory.allocations, allocations);
        pl_tasks_destroy(tasks);
        assert_int_equal(memory.used, 0);
    }
    check_runs(NULL);
}

static void add_one(void *context, int begin, int end, int worker)
{
    (void)worker;
    int *numbers = context;
    for (int i = begin; i < end; i++)
        numbers[i]++;
}

/* Each run reads what other threads wrote in the run before, without atomics. */
static void runs_follow_each_other(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int threads = 2; threads <= 7; threads += 5) {
        pl_tasks *tasks = pl_tasks_create(NULL, threads, &memory);
        int numbers[97] = {0};
        for (int run = 0; run < 3000; run++)
            pl_tasks_run(tasks, add_one, numbers, 97, 1 + run % 50);
        for (int i = 0; i < 97; i++)
            assert_int_equal(numbers[i], 3000);
        pl_tasks_destroy(tasks);
    }
}

static void pools_come_and_go(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (int i = 0; i < 50; i++) {
        pl_tasks *tasks = pl_tasks_create(NULL, 1 + i % 5, &memory);
        int numbers[10] = {0};
        if (i % 2)
            pl_tasks_run(tasks, add_one, numbers, 10, 1);
        pl_tasks_destroy(tasks);
    }
    pl_tasks_destroy(NULL);
    assert_int_equal(memory.used, 0);
}

static void missing_memory_is_reported(void **state)
{
    (void)state;
    for (int64_t fail_at = 0; fail_at < 2; fail_at++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail_at;
        assert_null(pl_tasks_create(NULL, 4, &memory));
        assert_int_equal(memory.used, 0);
    }
}

/* ---- Hosts ---------------------------------------------------------------------------------- */

typedef struct host {
    int enqueued, finished;
    pl_task *task;
    void *context;
    int count, grain;
} host;

/* Runs everything at once, before it returns. */
static void *eager_enqueue(pl_task *task, void *context, int count, int grain, void *user)
{
    (void)grain;
    ((host *)user)->enqueued++;
    task(context, 0, count, 0);
    return NULL;
}

static void eager_finish(void *handle, void *user)
{
    assert_null(handle);
    ((host *)user)->finished++;
}

/* Keeps the work until it is asked for, then runs it from the back, in pieces of growing size, on
   changing workers. */
static void *lazy_enqueue(pl_task *task, void *context, int count, int grain, void *user)
{
    host *h = user;
    h->enqueued++;
    h->task = task;
    h->context = context;
    h->count = count;
    h->grain = grain;
    return h;
}

static void lazy_finish(void *handle, void *user)
{
    host *h = user;
    assert_ptr_equal(handle, h);
    h->finished++;
    int whole = h->count / h->grain * h->grain, worker = 2;
    if (whole < h->count)
        h->task(h->context, whole, h->count, worker);
    for (int end = whole, pieces = 1; end > 0; pieces++) {
        int most = end / h->grain;
        int begin = end - (pieces < most ? pieces : most) * h->grain;
        worker = (worker + 1) % 3;
        h->task(h->context, begin, end, worker);
        end = begin;
    }
}

/* Two threads that share the work in halves, with room for three. */
static void *upper_half(void *argument)
{
    host *h = argument;
    int middle = h->count / 2 / h->grain * h->grain;
    if (middle < h->count)
        h->task(h->context, middle, h->count, 2);
    return NULL;
}

static void threaded_finish(void *handle, void *user)
{
    host *h = handle;
    ((host *)user)->finished++;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, upper_half, h), 0);
    int middle = h->count / 2 / h->grain * h->grain;
    if (middle > 0)
        h->task(h->context, 0, middle, 0);
    pthread_join(thread, NULL);
}

static void hosts_may_cut_as_they_like(void **state)
{
    (void)state;
    host h = {0};
    const pl_task_system systems[] = {
        {1, eager_enqueue, eager_finish, &h},
        {3, lazy_enqueue, lazy_finish, &h},
        {3, lazy_enqueue, threaded_finish, &h},
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        pl_tasks *tasks = pl_tasks_create(&systems[i], 5, &memory);
        assert_non_null(tasks);
        assert_int_equal(pl_tasks_worker_count(tasks), systems[i].worker_count);
        check_runs(tasks);
        assert_true(h.enqueued > 0);
        assert_int_equal(h.enqueued, h.finished);
        pl_tasks_destroy(tasks);
        assert_int_equal(memory.used, 0);
    }
}

static void unusable_hosts_are_refused(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    const pl_task_system none = {0, eager_enqueue, eager_finish, NULL};
    const pl_task_system half = {2, eager_enqueue, NULL, NULL};
    assert_null(pl_tasks_create(&none, 0, &memory));
    assert_null(pl_tasks_create(&half, 0, &memory));
    pl_error error;
    assert_int_equal(pl_task_system_check(&none, &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "tasks.worker_count");
    assert_int_equal(pl_task_system_check(&half, &error), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_task_system_check(NULL, &error), PL_OK);
    assert_int_equal(memory.used, 0);
}

/* ---- The floating-point environment --------------------------------------------------------- */

/* The smallest normal number halved is a subnormal, or 0 where those are flushed; 1 + 2^-24 + a bit
   rounds up only to nearest or upwards. */
static bool environment_is_default(void)
{
    volatile float tiny = 0x1p-126f, half = 0.5f, one = 1, more = 0x1.8p-24f, down = 0x1.0p-25f;
    volatile float subnormal = tiny * half;
    volatile float read_back = subnormal * 2;
    return subnormal != 0 && read_back == tiny && one + more == 0x1.000002p0f &&
           one + down == one && fegetround() == FE_TONEAREST;
}

static void look_at_environment(void *context, int begin, int end, int worker)
{
    (void)worker;
    bool *is_default = context;
    for (int i = begin; i < end; i++)
        is_default[i] = environment_is_default();
}

static void check_environment(pl_tasks *tasks)
{
    bool is_default[64] = {false};
    pl_tasks_run(tasks, look_at_environment, is_default, 64, 1);
    for (int i = 0; i < 64; i++)
        assert_true(is_default[i]);
}

static void check_environments(void)
{
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    host h = {0};
    const pl_task_system lazy = {3, lazy_enqueue, lazy_finish, &h};
    pl_tasks *kinds[] = {NULL, pl_tasks_create(NULL, 1, &memory), pl_tasks_create(NULL, 3, &memory),
                         pl_tasks_create(&lazy, 0, &memory)};
    for (int i = 0; i < 4; i++)
        check_environment(kinds[i]);
    for (int i = 0; i < 4; i++)
        pl_tasks_destroy(kinds[i]);
}

static void rounding_is_ours_inside_and_the_hosts_outside(void **state)
{
    (void)state;
    check_environments();
    fesetround(FE_UPWARD);
    check_environments();
    int after = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(after, FE_UPWARD);
}

static void flushing_is_ours_inside_and_the_hosts_outside(void **state)
{
    (void)state;
#if defined(__SSE2__)
    const unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | flush_to_zero | denormals_are_zero);
    bool flushed = !environment_is_default();
    check_environments();
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_true(flushed);
    assert_int_equal(after & (flush_to_zero | denormals_are_zero),
                     flush_to_zero | denormals_are_zero);
#else
    skip();
#endif
}

/* ---- Threads the system does not give ------------------------------------------------------- */

static void missing_threads_are_done_without(void **state)
{
    (void)state;
    struct rlimit before, none;
    if (getrlimit(RLIMIT_AS, &before) != 0)
        skip();
    if (check_is_slow_build()) /* sanitizers want that room for themselves */
        skip();
    /* No room for a thread's stack; must be the first test, while no stack of an old thread is
       kept. */
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    none = before;
    none.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    pl_tasks *tasks = pl_tasks_create(NULL, 7, &memory);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    if (tasks) {
        assert_in_range(pl_tasks_worker_count(tasks), 1, 6);
        check_runs(tasks);
    }
    pl_tasks_destroy(tasks);
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_threads_are_done_without),
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(runs_follow_each_other),
        cmocka_unit_test(pools_come_and_go),
        cmocka_unit_test(missing_memory_is_reported),
        cmocka_unit_test(hosts_may_cut_as_they_like),
        cmocka_unit_test(unusable_hosts_are_refused),
        cmocka_unit_test(rounding_is_ours_inside_and_the_hosts_outside),
        cmocka_unit_test(flushing_is_ours_inside_and_the_hosts_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

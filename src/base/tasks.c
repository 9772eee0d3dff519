/* The pool. A run publishes its task and then one word: the number of the run and which pieces
   are still to be taken. Whoever wants work, caller or worker, takes a piece by changing the
   word if nobody else has. That nobody has proves that the run is still on, because the caller
   waits for every piece that was taken: a worker that wakes too late finds nothing to take or
   another run, and never holds up a run that others have finished. One half of the workers takes
   pieces from the front and the other from the back: from stage to stage most bodies stay with the
   core whose caches know them. */
#include "base/tasks.h"

#include <limits.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/float_env.h"

#if defined(__wasm__) && !defined(__wasm_atomics__)
#define HAVE_THREADS 0
#else
#define HAVE_THREADS 1
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#endif

/* How long somebody looks for work or for the end of a run before going to sleep, in nanoseconds.
   The stages of a step follow each other within microseconds; waking a thread takes some ten. */
#define SPIN_NS 200000

typedef struct job {
    pl_task *task;
    void *context;
} job;

#if HAVE_THREADS

typedef struct worker {
    struct pl_tasks *tasks;
    pthread_t thread;
    int number;
} worker;

typedef struct pool {
    /* What is run. Written by the caller while nothing can be taken; atomic because a late worker
       may look. */
    _Atomic(pl_task *) task;
    _Atomic(void *) context;
    atomic_int count, grain;

    _Alignas(64) _Atomic uint64_t
        open; /* run number << 32 | first piece not yet taken << 16 | how many are not */
    _Alignas(64) atomic_int unfinished; /* pieces not yet done */
    _Alignas(64) atomic_int asleep;     /* workers that must be woken */
    atomic_bool caller_asleep, stop;

    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    uint64_t spin_ns;
    worker *workers; /* of number 1 and up */
    int thread_count;
} pool;

#endif

struct pl_tasks {
    pl_memory *memory;
    pl_task_system host; /* without callbacks when there is none */
    int worker_count;
#if HAVE_THREADS
    pool pool;
#endif
};

/* ---- One piece ------------------------------------------------------------------------------ */

/* A pl_task of its own: hosts call it with a job as the context. */
static void run_piece(void *context, int begin, int end, int worker_number)
{
    const job *todo = context;
    pl_float_env host = pl_float_env_enter();
    todo->task(todo->context, begin, end, worker_number);
    pl_float_env_leave(host);
}

static void run_on_host(pl_tasks *tasks, job *todo, int count, int grain)
{
    void *handle = tasks->host.enqueue(run_piece, todo, count, grain, tasks->host.user);
    tasks->host.finish(handle, tasks->host.user);
}

/* ---- The pool ------------------------------------------------------------------------------- */

#if HAVE_THREADS

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

enum { MOST_PIECES = 0xffff };

static uint32_t left_in(uint64_t open)
{
    return (uint32_t)open & MOST_PIECES;
}

/* Takes and runs pieces until there are none; returns whether it ran the last one. */
static bool help(pool *p, int worker_number)
{
    int ran = 0;
    uint64_t open = atomic_load_explicit(&p->open, memory_order_acquire);
    while (left_in(open) > 0) {
        job todo = {atomic_load_explicit(&p->task, memory_order_relaxed),
                    atomic_load_explicit(&p->context, memory_order_relaxed)};
        int count = atomic_load_explicit(&p->count, memory_order_relaxed);
        int grain = atomic_load_explicit(&p->grain, memory_order_relaxed);
        uint32_t front = (uint32_t)open >> 16, back = front + left_in(open) - 1;
        bool from_back = worker_number % 2;
        uint64_t rest = from_back ? open - 1 : open - 1 + (1u << 16);
        if (!atomic_compare_exchange_weak_explicit(&p->open, &open, rest, memory_order_acquire,
                                                   memory_order_acquire))
            continue;
        int begin = (int)(from_back ? back : front) * grain;
        int end = count - begin > grain ? begin + grain : count;
        run_piece(&todo, begin, end, worker_number);
        ran++;
        open = atomic_load_explicit(&p->open, memory_order_acquire);
    }
    return ran > 0 && atomic_fetch_sub(&p->unfinished, ran) == ran;
}

static bool has_work(pool *p)
{
    return left_in(atomic_load(&p->open)) > 0 || atomic_load(&p->stop);
}

static bool is_done(pool *p)
{
    return atomic_load(&p->unfinished) == 0;
}

static bool spin_until(pool *p, bool (*condition)(pool *))
{
    if (condition(p))
        return true;
    if (!p->spin_ns)
        return false;
    uint64_t start = pl_clock_ns();
    do {
        for (int i = 0; i < 32; i++) {
            pause_briefly();
            if (condition(p))
                return true;
        }
    } while (pl_clock_ns() - start < p->spin_ns);
    return false;
}

/* A sleeper announces itself before it looks a last time, and whoever brings news brings it before
   looking for sleepers: one of the two sees the other. */
static void wait_for_work(pool *p)
{
    if (spin_until(p, has_work))
        return;
    pthread_mutex_lock(&p->mutex);
    atomic_fetch_add(&p->asleep, 1);
    while (!has_work(p))
        pthread_cond_wait(&p->work, &p->mutex);
    atomic_fetch_sub(&p->asleep, 1);
    pthread_mutex_unlock(&p->mutex);
}

static void wait_for_end(pool *p)
{
    if (spin_until(p, is_done))
        return;
    pthread_mutex_lock(&p->mutex);
    atomic_store(&p->caller_asleep, true);
    while (!is_done(p))
        pthread_cond_wait(&p->done, &p->mutex);
    atomic_store(&p->caller_asleep, false);
    pthread_mutex_unlock(&p->mutex);
}

static void wake_workers(pool *p, int wanted)
{
    int asleep = atomic_load(&p->asleep);
    if (!asleep)
        return;
    pthread_mutex_lock(&p->mutex);
    if (wanted >= asleep)
        pthread_cond_broadcast(&p->work);
    else
        for (int i = 0; i < wanted; i++)
            pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->mutex);
}

static void wake_caller(pool *p)
{
    if (!atomic_load(&p->caller_asleep))
        return;
    pthread_mutex_lock(&p->mutex);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->mutex);
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    pool *p = &self->tasks->pool;
    while (!atomic_load(&p->stop)) {
        wait_for_work(p);
        if (help(p, self->number))
            wake_caller(p);
    }
    return NULL;
}

static void run_on_pool(pl_tasks *tasks, const job *todo, int count, int grain)
{
    pool *p = &tasks->pool;
    int least = count / MOST_PIECES + 1;
    grain = grain > least ? grain : least;
    int pieces = count / grain + (count % grain != 0);
    PL_ASSERT(is_done(p));
    atomic_store_explicit(&p->task, todo->task, memory_order_relaxed);
    atomic_store_explicit(&p->context, todo->context, memory_order_relaxed);
    atomic_store_explicit(&p->count, count, memory_order_relaxed);
    atomic_store_explicit(&p->grain, grain, memory_order_relaxed);
    atomic_store(&p->unfinished, pieces);
    uint64_t run = (atomic_load_explicit(&p->open, memory_order_relaxed) >> 32) + 1;
    atomic_store(&p->open, run << 32 | (uint32_t)pieces);
    wake_workers(p, pieces - 1);
    help(p, 0);
    wait_for_end(p);
}

/* Spinning pays only while every thread has a processor. */
static uint64_t spin_time(int threads)
{
    return sysconf(_SC_NPROCESSORS_ONLN) >= threads ? SPIN_NS : 0;
}

/* Signals are for the host's threads, but for those that tell of a fault of the thread itself, and
   of profilers. */
static sigset_t deaf(void)
{
    static const int heard[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        sigdelset(&set, heard[i]);
    return set;
}

/* Starts as many threads as the system gives; they inherit the signal mask. */
static void start_threads(pl_tasks *tasks, int wanted)
{
    pool *p = &tasks->pool;
    sigset_t mask = deaf(), host;
    pthread_sigmask(SIG_SETMASK, &mask, &host);
    for (int i = 0; i < wanted; i++) {
        p->workers[i] = (worker){.tasks = tasks, .number = i + 1};
        if (pthread_create(&p->workers[i].thread, NULL, worker_main, &p->workers[i]) != 0)
            break;
        p->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &host, NULL);
    tasks->worker_count = p->thread_count + 1;
}

static bool pool_create(pl_tasks *tasks, int threads)
{
    pool *p = &tasks->pool;
    p->workers = PL_NEW(tasks->memory, worker, threads - 1);
    if (!p->workers)
        return false;
    p->spin_ns = spin_time(threads);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    start_threads(tasks, threads - 1);
    return true;
}

static void pool_destroy(pl_tasks *tasks)
{
    pool *p = &tasks->pool;
    if (!p->workers)
        return;
    atomic_store(&p->stop, true);
    wake_workers(p, INT_MAX);
    for (int i = 0; i < p->thread_count; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->mutex);
    pl_memory_free(tasks->memory, p->workers);
}

#else

static void run_on_pool(pl_tasks *tasks, const job *todo, int count, int grain)
{
    (void)tasks, (void)todo, (void)count, (void)grain;
}

static bool pool_create(pl_tasks *tasks, int threads)
{
    (void)tasks, (void)threads;
    return true;
}

static void pool_destroy(pl_tasks *tasks)
{
    (void)tasks;
}

#endif

/* ---- The interface -------------------------------------------------------------------------- */

pl_status pl_task_system_check(const pl_task_system *host, pl_error *error)
{
    if (!host)
        return PL_OK;
    PL_CHECK(host->worker_count >= 1, PL_ERROR_ARGUMENT, error, "tasks.worker_count",
             "must be at least 1, not %d", host->worker_count);
    PL_CHECK(host->enqueue && host->finish, PL_ERROR_ARGUMENT, error, "tasks",
             "a task system needs both functions, enqueue and finish");
    return PL_OK;
}

pl_tasks *pl_tasks_create(const pl_task_system *host, int threads, pl_memory *memory)
{
    if (pl_task_system_check(host, NULL) != PL_OK)
        return NULL;
    pl_tasks *tasks = PL_NEW(memory, pl_tasks, 1);
    if (!tasks)
        return NULL;
    tasks->memory = memory;
    tasks->worker_count = 1;
    if (host) {
        tasks->host = *host;
        tasks->worker_count = host->worker_count;
    } else if (threads > 1 && !pool_create(tasks, threads)) {
        pl_memory_free(memory, tasks);
        return NULL;
    }
    return tasks;
}

void pl_tasks_destroy(pl_tasks *tasks)
{
    if (!tasks)
        return;
    pool_destroy(tasks);
    pl_memory_free(tasks->memory, tasks);
}

int pl_tasks_worker_count(const pl_tasks *tasks)
{
    return tasks ? tasks->worker_count : 1;
}

void pl_tasks_run(pl_tasks *tasks, pl_task *task, void *context, int count, int grain)
{
    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    job todo = {task, context};
    if (tasks && tasks->host.enqueue)
        run_on_host(tasks, &todo, count, grain);
    else if (tasks && tasks->worker_count > 1 && count > grain)
        run_on_pool(tasks, &todo, count, grain);
    else
        run_piece(&todo, 0, count, 0);
}

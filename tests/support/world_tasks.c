/* Two job systems such as a host might have. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/world_kit.h"

/* ---- Backwards, at once ---------------------------------------------------------------------- */

enum { REVERSE_WORKERS = 5 };

static void *enqueue_reverse(pl_task *task, void *context, int count, int grain, void *user)
{
    (void)user;
    int pieces = (count + grain - 1) / grain;
    for (int p = pieces - 1; p >= 0; p--) {
        int end = (p + 1) * grain < count ? (p + 1) * grain : count;
        task(context, p * grain, end, p % REVERSE_WORKERS);
    }
    return NULL;
}

static void finish_nothing(void *handle, void *user)
{
    (void)handle, (void)user;
}

pl_task_system world_reverse_tasks(void)
{
    return (pl_task_system){REVERSE_WORKERS, enqueue_reverse, finish_nothing, NULL};
}

/* ---- On threads ------------------------------------------------------------------------------ */

enum { THREADS = 3 };

typedef struct run {
    pl_task *task;
    void *context;
    int count, grain;
    atomic_int next;
    pthread_t threads[THREADS];
    struct worker {
        struct run *run;
        int number;
    } workers[THREADS];
} run;

static void *work(void *argument)
{
    struct worker *self = argument;
    run *r = self->run;
    int begin;
    while ((begin = atomic_fetch_add(&r->next, r->grain)) < r->count) {
        int end = r->count - begin > r->grain ? begin + r->grain : r->count;
        r->task(r->context, begin, end, self->number);
    }
    return NULL;
}

static void *enqueue_threads(pl_task *task, void *context, int count, int grain, void *user)
{
    (void)user;
    run *r = calloc(1, sizeof *r);
    r->task = task;
    r->context = context;
    r->count = count;
    r->grain = grain;
    for (int i = 0; i < THREADS; i++) {
        r->workers[i].run = r;
        r->workers[i].number = i;
        if (pthread_create(&r->threads[i], NULL, work, &r->workers[i]) != 0)
            abort();
    }
    return r;
}

static void finish_threads(void *handle, void *user)
{
    (void)user;
    run *r = handle;
    for (int i = 0; i < THREADS; i++)
        pthread_join(r->threads[i], NULL);
    free(r);
}

pl_task_system world_thread_tasks(void)
{
    return (pl_task_system){THREADS, enqueue_threads, finish_threads, NULL};
}

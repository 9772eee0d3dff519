/* pliant bench convergence: Fig. 4.2 of Falkenstein 2017. The bars of the scene
   cluster-convergence, held at one end, come to rest under their weight in more and more clusters:
   of one radius, where the tips come together; and of one overlap, where clusters get smaller the
   more there are, and the bars softer. It has no times. */
#include <math.h>
#include <stdio.h>

#include "bench.h"

enum { MOST_BARS = 8, SEEDS = 5, MOST_FRAMES = 1800, LOOK = 30 };

#define OVERLAP 4.0
#define DRAG 4.0   /* 1/s: they come to rest by it, and where does not depend on it */
#define STILL 1e-4 /* of the way so far: a tip that moved less in half a second is at rest; */
#define QUICK 1e-2 /* or less than this, for a quick look */
#define TIP 1.75   /* metres: particles from here on are the tip */

typedef struct bar {
    int n, clusters;
    double overlap, sunk; /* clusters per particle; metres */
    bool still;
} bar;

typedef struct settling {
    pl_memory *memory;
    pl_play *play;
    int count;
    double *x, *start; /* [3 n] of the largest bar, and of all one after the other */
    double still;      /* STILL or QUICK */
    bar bars[MOST_BARS];
} settling;

static double *start_of(const settling *s, int which)
{
    size_t first = 0;
    for (int i = 0; i < which; i++)
        first += (size_t)s->bars[i].n;
    return s->start + 3 * first;
}

static pl_status read_bar(settling *s, int which, pl_body_field field, double *out)
{
    return pl_body_read(s->play->world, s->play->bodies[which].handle, field, 0, s->bars[which].n,
                        1, pl_doubles(out, 0));
}

static pl_status count_overlap(settling *s, int which)
{
    bar *b = s->bars + which;
    for (int i = 0; i < b->clusters; i++) {
        pl_cluster_state cluster;
        PL_TRY(
            pl_body_read_clusters(s->play->world, s->play->bodies[which].handle, i, 1, &cluster));
        b->overlap += (double)cluster.member_count / b->n;
    }
    return PL_OK;
}

static pl_status look_at_start(settling *s)
{
    size_t most = 0, all = 0;
    for (int i = 0; i < s->count; i++) {
        pl_body_info info;
        PL_TRY(pl_body_get_info(s->play->world, s->play->bodies[i].handle, &info));
        s->bars[i].n = info.particle_count;
        s->bars[i].clusters = info.cluster_count;
        PL_TRY(count_overlap(s, i));
        most = (size_t)info.particle_count > most ? (size_t)info.particle_count : most;
        all += (size_t)info.particle_count;
    }
    s->x = pl_memory_alloc(s->memory, 3 * most, sizeof *s->x);
    s->start = pl_memory_alloc(s->memory, 3 * all, sizeof *s->start);
    if (!s->x || !s->start)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < s->count; i++)
        PL_TRY(read_bar(s, i, PL_POSITIONS, start_of(s, i)));
    return PL_OK;
}

static pl_status slow_down(settling *s, int which, double part)
{
    int n = s->bars[which].n;
    PL_TRY(read_bar(s, which, PL_VELOCITIES, s->x));
    for (int i = 0; i < 3 * n; i++)
        s->x[i] *= part;
    return pl_body_write(s->play->world, s->play->bodies[which].handle, PL_VELOCITIES, 0, n,
                         pl_doubles(s->x, 0));
}

static pl_status look_at(settling *s, int which)
{
    bar *b = s->bars + which;
    const double *start = start_of(s, which);
    double sum = 0, before = b->sunk;
    int count = 0;
    PL_TRY(read_bar(s, which, PL_POSITIONS, s->x));
    for (int i = 0; i < b->n; i++)
        if (start[3 * i] > TIP)
            sum += start[3 * i + 1] - s->x[3 * i + 1], count++;
    b->sunk = count ? sum / count : 0;
    b->still = fabs(b->sunk - before) < s->still * fabs(b->sunk);
    return PL_OK;
}

static pl_status settle(settling *s, app_progress *progress)
{
    double part = 1 - DRAG * s->play->settings.step;
    for (int frame = 1; frame <= MOST_FRAMES && !app_signal(); frame++) {
        bool still = true;
        PL_TRY(pl_play_step(s->play, NULL));
        for (int i = 0; i < s->count; i++) {
            PL_TRY(slow_down(s, i, part));
            if (frame % LOOK == 0)
                PL_TRY(look_at(s, i));
            still = still && s->bars[i].still;
        }
        app_progress_frame(progress, (uint64_t)frame);
        if (still)
            break;
    }
    return PL_OK;
}

/* ---- One set of bars ------------------------------------------------------------------------- */

typedef struct outcome {
    int count, seeds;
    bar bars[MOST_BARS];     /* the last ones, with the means of all */
    double least[MOST_BARS]; /* how far the tips sank */
    double most[MOST_BARS];
    bool still;
} outcome;

static void take_over(outcome *o, const settling *s)
{
    o->still = o->still || !o->seeds;
    for (int i = 0; i < s->count; i++) {
        double before = o->bars[i].sunk, sunk = s->bars[i].sunk;
        o->still = o->still && s->bars[i].still;
        o->least[i] = o->seeds ? fmin(o->least[i], sunk) : sunk;
        o->most[i] = o->seeds ? fmax(o->most[i], sunk) : sunk;
        o->bars[i] = s->bars[i];
        o->bars[i].sunk = (before * o->seeds + sunk) / (o->seeds + 1);
    }
    o->count = s->count;
    o->seeds++;
}

static pl_status settle_scene(const bench *b, pl_memory *memory, pl_scene *scene, const char *name,
                              outcome *o)
{
    settling s = {.memory = memory, .count = scene->body_count, .still = b->quick ? QUICK : STILL};
    pl_play_options options = pl_default_play_options();
    app_progress progress;
    pl_trouble trouble;
    options.threads = b->threads;
    scene->runs[0].world.sleeping = false;
    if (s.count > MOST_BARS)
        s.count = MOST_BARS;
    pl_status status = pl_play_create(scene, 0, &options, &s.play, &trouble);
    if (status != PL_OK) {
        app_fail(&trouble);
        return status;
    }
    app_progress_begin(&progress, name, 0, MOST_FRAMES, true);
    status = look_at_start(&s);
    if (status == PL_OK)
        status = settle(&s, &progress);
    app_progress_end(&progress);
    if (status == PL_OK)
        take_over(o, &s);
    pl_memory_free(memory, s.x);
    pl_memory_free(memory, s.start);
    pl_play_destroy(s.play);
    return status;
}

static pl_status settle_seed(const bench *b, bool overlap, int seed, outcome *o)
{
    pl_memory memory;
    pl_scene *scene;
    pl_memory_init(&memory, NULL, 0);
    if (app_load_scene(&memory, "cluster-convergence", &scene) >= 0)
        return PL_ERROR_IO;
    for (int i = 0; i < scene->model_count; i++) {
        pl_scene_clusters *clusters = &scene->models[i].clusters;
        clusters->seed = seed;
        clusters->radius = overlap ? 0 : clusters->radius;
        clusters->overlap = overlap ? OVERLAP : clusters->overlap;
    }
    pl_status status = settle_scene(b, &memory, scene, overlap ? "overlap" : "radius", o);
    pl_scene_free(scene);
    return status;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_row(bench *b, const outcome *o, int i, const char *fixed)
{
    const bar *r = o->bars + i;
    bool first = i == o->count - 1;
    if (b->json) {
        app_bench_json_row(b, "convergence");
        printf(",\"fixed\":\"%s\",\"clusters\":%d,\"overlap\":%.4g,\"seeds\":%d,\"tip_m\":%.6g,"
               "\"lowest_m\":%.6g,\"highest_m\":%.6g,\"at_rest\":%s}",
               fixed, r->clusters, r->overlap, o->seeds, -r->sunk, -o->most[i], -o->least[i],
               o->still ? "true" : "false");
        return;
    }
    printf("%-8s %9d %9.1f %9.4f", fixed, r->clusters, r->overlap, -r->sunk);
    if (first)
        printf(" %9s", "");
    else
        printf(" %9.4f", o->bars[i + 1].sunk - r->sunk);
    printf("   %.4f to %.4f%s\n", -o->most[i], -o->least[i], o->still ? "" : ", not at rest");
}

pl_status app_table_convergence(bench *b)
{
    if (!b->json)
        printf("Falkenstein 2017, Fig. 4.2: how far the tip of a bar hangs down at rest, metres\n\n"
               "%-8s %9s %9s %9s %9s   %s\n",
               "fixed", "clusters", "overlap", "tip", "change", "seeds");
    for (int way = 0; way < 2 && !app_signal(); way++) {
        outcome o = {0};
        for (int seed = 0; seed < (b->quick ? 1 : SEEDS) && !app_signal(); seed++)
            PL_TRY(settle_seed(b, way, seed, &o));
        for (int i = o.count - 1; i >= 0 && !app_signal(); i--) /* the scene has the finest first */
            print_row(b, &o, i, way ? "overlap" : "radius");
        if (!b->json)
            printf("\n");
        fflush(stdout);
    }
    if (!b->json && !app_signal())
        printf("fixed      radius: clusters of 0.6 m, however many; overlap: four clusters per "
               "particle, so that\n"
               "           more of them are smaller\n"
               "overlap    clusters per particle\n"
               "tip        mean over %s\n"
               "change     from half as many clusters\n"
               "seeds      from the lowest to the highest tip, by where the search for clusters "
               "started\n",
               b->quick ? "one start of the search for clusters"
                        : "five starts of the search for clusters");
    return PL_OK;
}

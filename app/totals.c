/* The closing table: milliseconds per frame and stage, and what was counted. */
#include <inttypes.h>
#include <stdio.h>

#include "player.h"

void app_totals_add(app_totals *totals, const pl_report *report)
{
    pl_report sum = totals->sum;
    totals->frames++;
    totals->wall_ms += report->ms_total;
    totals->sum = *report;
    totals->sum.iterations += sum.iterations;
    totals->sum.refused += sum.refused;
    totals->sum.rescued += sum.rescued;
    totals->sum.ms_total += sum.ms_total;
    totals->sum.ms_predict += sum.ms_predict;
    totals->sum.ms_local += sum.ms_local;
    totals->sum.ms_global += sum.ms_global;
    totals->sum.ms_accelerate += sum.ms_accelerate;
    totals->sum.ms_stiff += sum.ms_stiff;
    totals->sum.ms_contact += sum.ms_contact;
    totals->sum.ms_finish += sum.ms_finish;
    totals->sum.ms_change += sum.ms_change;
}

enum { STAGES = 8 };

typedef struct stage {
    const char *name;
    double ms;
} stage;

static void list_stages(const pl_report *r, stage out[STAGES])
{
    const stage all[STAGES] = {{"predict", r->ms_predict}, {"local", r->ms_local},
                               {"global", r->ms_global},   {"accelerate", r->ms_accelerate},
                               {"stiff", r->ms_stiff},     {"contact", r->ms_contact},
                               {"finish", r->ms_finish},   {"change", r->ms_change}};
    for (int i = 0; i < STAGES; i++)
        out[i] = all[i];
}

void app_print_totals(const app_totals *totals, const pl_play *play, const char *title)
{
    const pl_report *r = &totals->sum;
    stage stages[STAGES];
    double frames = totals->frames ? (double)totals->frames : 1, busy = 0;
    list_stages(r, stages);
    for (int i = 0; i < STAGES; i++)
        busy += stages[i].ms;
    printf("%s: %" PRIu64
           " frame%s of %.4g ms, %d bod%s, %d particles, %d edges, %d pin%s, %d fixed\n",
           title, totals->frames, totals->frames == 1 ? "" : "s", play->settings.step * 1e3,
           r->bodies, r->bodies == 1 ? "y" : "ies", r->particles, r->edges, r->pins,
           r->pins == 1 ? "" : "s", r->fixed);
    printf("  %-12s %12s %8s\n", "stage", "ms/frame", "share");
    for (int i = 0; i < STAGES; i++)
        if (stages[i].ms > 0)
            printf("  %-12s %12.4f %6.1f %%\n", stages[i].name, stages[i].ms / frames,
                   busy > 0 ? 100 * stages[i].ms / busy : 0);
    printf("  %-12s %12.4f   (%.0f frames per second)\n", "wall", totals->wall_ms / frames,
           totals->wall_ms > 0 ? 1e3 * (double)totals->frames / totals->wall_ms : 0);
    printf("  groups solved side by side %d, bodies alone %d; iterations %" PRIu64
           ", accelerated states refused %" PRIu64 ", bodies rescued %" PRIu64 "\n",
           r->lane_blocks, r->lone_blocks, r->iterations, r->refused, r->rescued);
}

void app_print_totals_json(const app_totals *totals)
{
    const pl_report *r = &totals->sum;
    stage stages[STAGES];
    double frames = totals->frames ? (double)totals->frames : 1;
    list_stages(r, stages);
    printf("\"frames\":%" PRIu64
           ",\"bodies\":%d,\"particles\":%d,\"edges\":%d,\"pins\":%d,\"fixed\":%d,"
           "\"lane_blocks\":%d,\"lone_blocks\":%d,\"iterations\":%" PRIu64 ",\"refused\":%" PRIu64
           ",\"rescued\":%" PRIu64 ",\"ms_per_frame\":{\"wall\":%.6f",
           totals->frames, r->bodies, r->particles, r->edges, r->pins, r->fixed, r->lane_blocks,
           r->lone_blocks, r->iterations, r->refused, r->rescued, totals->wall_ms / frames);
    for (int i = 0; i < STAGES; i++)
        printf(",\"%s\":%.6f", stages[i].name, stages[i].ms / frames);
    printf("}");
}

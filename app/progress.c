/* How far a run is: a bar on a terminal for anything over a second, a line every ten seconds
   otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app.h"
#include "base/clock.h"

#define SECOND UINT64_C(1000000000)

void app_progress_begin(app_progress *progress, const char *title, uint64_t total, bool wanted)
{
    uint64_t now = pl_clock_ns();
    *progress = (app_progress){.shown = wanted && total > 0,
                               .title = title,
                               .total = total,
                               .started = now,
                               .last = now,
                               .printed = now};
    const char *plain = getenv("NO_COLOR"), *kind = getenv("TERM");
    progress->terminal =
        isatty(STDERR_FILENO) && kind && kind[0] && !(kind[0] == 'd' && kind[1] == 'u');
    progress->colour = progress->terminal && !(plain && *plain);
}

static void draw_bar(const app_progress *progress, uint64_t done, double frame_ms, double left)
{
    enum { WIDTH = 24 };
    int filled = (int)(done * WIDTH / progress->total);
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s [%s%s%s] %llu/%llu  %.3g ms/frame  %.0f s left\033[K", progress->title,
            progress->colour ? "\033[32m" : "", bar, progress->colour ? "\033[0m" : "",
            (unsigned long long)done, (unsigned long long)progress->total, frame_ms, left);
    fflush(stderr);
}

void app_progress_frame(app_progress *progress, uint64_t done)
{
    if (!progress->shown)
        return;
    uint64_t now = pl_clock_ns();
    double took = (double)(now - progress->last);
    progress->last = now;
    progress->best_guess = done <= 1 ? took : progress->best_guess * 0.9 + took * 0.1;
    uint64_t pause = progress->terminal ? SECOND / 15 : 10 * SECOND;
    if (now - progress->started < SECOND || now - progress->printed < pause)
        return;
    progress->printed = now;
    double frame_ms = (double)(now - progress->started) / 1e6 / (double)done;
    double left = progress->best_guess * (double)(progress->total - done) / 1e9;
    if (progress->terminal)
        draw_bar(progress, done, frame_ms, left);
    else
        fprintf(stderr, "%s: frame %llu of %llu, %.3g ms/frame, %.0f s left\n", progress->title,
                (unsigned long long)done, (unsigned long long)progress->total, frame_ms, left);
    progress->drawn = true;
}

void app_progress_end(app_progress *progress)
{
    if (progress->shown && progress->drawn && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

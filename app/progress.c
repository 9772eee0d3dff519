/* How far a run is: a bar on a terminal for anything over a second, a line every few seconds
   otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app.h"
#include "base/clock.h"

#define SECOND UINT64_C(1000000000)

void app_progress_begin(app_progress *progress, const char *title, uint64_t first, uint64_t total,
                        bool wanted)
{
    uint64_t now = pl_clock_ns();
    *progress = (app_progress){.shown = wanted && total > first,
                               .title = title,
                               .first = first,
                               .total = total,
                               .started = now,
                               .last = now,
                               .printed = now};
    const char *plain = getenv("NO_COLOR"), *kind = getenv("TERM");
    progress->terminal = isatty(STDERR_FILENO) && kind && kind[0] && strcmp(kind, "dumb") != 0;
    progress->colour = progress->terminal && !(plain && *plain);
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static const char *left_text(double seconds, char text[32])
{
    if (seconds < 99.5)
        snprintf(text, 32, "%.0f s left", seconds);
    else if (seconds < 99.5 * 60)
        snprintf(text, 32, "%.0f min left", seconds / 60);
    else
        snprintf(text, 32, "%.1f h left", seconds / 3600);
    return text;
}

static const char *pace_text(double ms, char text[32])
{
    bool slow = ms >= 999.5;
    snprintf(text, 32, "%.3g %s/frame", slow ? ms / 1000 : ms, slow ? "s" : "ms");
    return text;
}

/* The bar gets what the words leave of the line; a line that is too long would be broken, and could
   not be drawn over. */
static void draw_bar(const app_progress *progress, uint64_t done, const char *words)
{
    enum { WIDTH = 24, SHORTEST = 4, AROUND = 6 };
    char bar[WIDTH + 1];
    int wide = columns() - (int)strlen(progress->title) - (int)strlen(words) - AROUND;
    wide = wide > WIDTH ? WIDTH : wide;
    if (wide < SHORTEST) {
        fprintf(stderr, "\r%.*s\033[K", columns() - 1, words);
        fflush(stderr);
        return;
    }
    int filled = (int)(done * (uint64_t)wide / progress->total);
    for (int i = 0; i < wide; i++)
        bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[wide] = 0;
    fprintf(stderr, "\r%s [%s%s%s] %s\033[K", progress->title, progress->colour ? "\033[32m" : "",
            bar, progress->colour ? "\033[0m" : "", words);
    fflush(stderr);
}

void app_progress_frame(app_progress *progress, uint64_t done)
{
    if (!progress->shown || done <= progress->first)
        return;
    uint64_t now = pl_clock_ns();
    double took = (double)(now - progress->last);
    progress->last = now;
    progress->best_guess =
        done <= progress->first + 1 ? took : progress->best_guess * 0.9 + took * 0.1;
    uint64_t pause = progress->terminal ? SECOND / 15 : 5 * SECOND;
    if (now - progress->started < SECOND || now - progress->printed < pause)
        return;
    progress->printed = now;
    char words[128], left[32], pace[32];
    pace_text((double)(now - progress->started) / 1e6 / (double)(done - progress->first), pace);
    left_text(progress->best_guess * (double)(progress->total - done) / 1e9, left);
    snprintf(words, sizeof words, "%llu/%llu  %s  %s", (unsigned long long)done,
             (unsigned long long)progress->total, pace, left);
    if (progress->terminal)
        draw_bar(progress, done, words);
    else
        fprintf(stderr, "%s: frame %llu of %llu, %s, %s\n", progress->title,
                (unsigned long long)done, (unsigned long long)progress->total, pace, left);
    progress->drawn = true;
}

void app_progress_end(app_progress *progress)
{
    if (progress->shown && progress->drawn && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

/* .svg: energies, time per stage and contacts over the run. The numbers are kept until the end; the
   file is opened at the beginning, so that a directory that cannot be written ends the run before
   it has begun. */
#include <stdio.h>
#include <string.h>

#include "io/output_plot.h"
#include "sink.h"

typedef struct plot_sink {
    pl_output *output;
    char title[256];
    double step;
    int bodies, particles;
    pl_plot plot;
} plot_sink;

static int make_sink(app_sink *sink, const app_stage *stage)
{
    plot_sink *own = PL_NEW(stage->memory, plot_sink, 1);
    if (!own)
        return app_write_failed(sink->name, PL_ERROR_MEMORY);
    const pl_play *play = stage->play;
    const char *file = play->scene->json->file, *slash = strrchr(file, '/');
    const char *name = play->scene->name ? play->scene->name : slash ? slash + 1 : file;
    snprintf(own->title, sizeof own->title, "%s%s%s", name, stage->run_name ? ", " : "",
             stage->run_name ? stage->run_name : "");
    own->step = play->settings.step;
    own->bodies = play->body_count;
    for (int i = 0; i < play->body_count; i++)
        own->particles += play->bodies[i].info.particle_count;
    sink->own = own;
    return -1;
}

static void free_sink(app_sink *sink)
{
    pl_memory_free(sink->memory, sink->own);
    sink->own = NULL;
}

static int open_plot(app_sink *sink, const app_stage *stage)
{
    int result = make_sink(sink, stage);
    if (result >= 0)
        return result;
    result = app_open_output(sink, &((plot_sink *)sink->own)->output);
    if (result >= 0)
        free_sink(sink);
    return result;
}

static int add_frame(app_sink *sink, const app_stage *stage)
{
    plot_sink *own = sink->own;
    pl_frame_numbers numbers;
    pl_status status = pl_frame_numbers_read(stage->play, stage->report, &numbers);
    if (status != PL_OK)
        return app_write_failed(sink->name, status);
    pl_plot_add(&own->plot, &numbers);
    return -1;
}

static const char *plural(int count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void write_plot(plot_sink *own)
{
    char about[256];
    int frames = (int)own->plot.last_frame;
    snprintf(about, sizeof about, "%d %s of %.4g ms; %d %s, %d %s", frames,
             plural(frames, "frame", "frames"), own->step * 1e3, own->bodies,
             plural(own->bodies, "body", "bodies"), own->particles,
             plural(own->particles, "particle", "particles"));
    pl_plot_write(&own->plot, own->output, own->title, about);
}

static int close_plot(app_sink *sink, bool publish)
{
    plot_sink *own = sink->own;
    if (publish)
        write_plot(own);
    int result = app_close_output(sink, own->output, publish);
    free_sink(sink);
    return result;
}

static int save_plot(app_sink *sink, app_bytes *bytes)
{
    plot_sink *own = sink->own;
    app_bytes_put(bytes, &own->plot, sizeof own->plot);
    return app_save_output(own->output, bytes);
}

static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    int result = make_sink(sink, stage);
    if (result >= 0)
        return result;
    plot_sink *own = sink->own;
    app_bytes_get(bytes, &own->plot, sizeof own->plot);
    result = app_resume_output(sink, bytes, &own->output);
    if (result != -1)
        free_sink(sink);
    return result;
}

const app_sink_kind app_sink_svg = {
    .ending = ".svg",
    .about = "a plot of energies, times and contacts",
    .open = open_plot,
    .frame = add_frame,
    .close = close_plot,
    .save = save_plot,
    .go_on = go_on,
};

/* Pictures (.png: a file per frame, or one of the last frame) and films (.mp4, .gif). */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "sink.h"
#include "video.h"

/* ---- Pictures -------------------------------------------------------------------------------- */

static int write_picture(app_sink *sink, const app_stage *stage)
{
    char name[PATH_MAX];
    int result = app_sink_file(sink, stage->play->frame, name, sizeof name);
    if (result < 0)
        result = app_sink_paint(sink, stage);
    return result < 0 ? app_painter_write_png(sink->easel->painter, name) : result;
}

const app_sink_kind app_sink_png = {
    .ending = ".png",
    .about = "a picture",
    .pattern = true,
    .pictures = true,
    .frame = write_picture,
};

/* ---- Films ----------------------------------------------------------------------------------- */

/* A film runs at the speed of life: where the steps are shorter than a screen's pictures, some are
   left out. */
static int begin_film(app_sink *sink, const app_stage *stage, int segments)
{
    app_film film = {.path = sink->name, .shrink = !sink->look->size};
    app_painter_pixels(sink->easel->painter, &film.width, &film.height);
    double rate = 1 / (stage->play->settings.step * sink->every);
    double most = strcmp(sink->kind->ending, ".gif") == 0 ? 34 : 61;
    int stride = rate > most ? (int)fmin(ceil(rate / most), 1e6) : 1;
    sink->every *= stride;
    film.rate = fmax(rate / stride, 0.01);
    return app_video_open(stage->memory, &film, segments, (app_video **)&sink->own);
}

static int open_film(app_sink *sink, const app_stage *stage)
{
    return begin_film(sink, stage, -1);
}

static int write_film(app_sink *sink, const app_stage *stage)
{
    int width, height, result = app_sink_paint(sink, stage);
    if (result >= 0)
        return result;
    return app_video_frame(sink->own, app_painter_pixels(sink->easel->painter, &width, &height));
}

static int close_film(app_sink *sink, bool publish)
{
    return app_video_close(sink->own, publish      ? APP_VIDEO_PUBLISH
                                      : sink->keep ? APP_VIDEO_KEEP
                                                   : APP_VIDEO_DROP);
}

static int save_film(app_sink *sink, app_bytes *bytes)
{
    int segments, result = app_video_cut(sink->own, &segments);
    app_bytes_put_u64(bytes, (uint64_t)segments);
    return result;
}

static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    return begin_film(sink, stage, (int)app_bytes_get_u64(bytes));
}

const app_sink_kind app_sink_mp4 = {
    .ending = ".mp4",
    .about = "a film",
    .pictures = true,
    .open = open_film,
    .frame = write_film,
    .close = close_film,
    .save = save_film,
    .go_on = go_on,
};

const app_sink_kind app_sink_gif = {
    .ending = ".gif",
    .about = "a film for web pages",
    .pictures = true,
    .open = open_film,
    .frame = write_film,
    .close = close_film,
    .save = save_film,
    .go_on = go_on,
};

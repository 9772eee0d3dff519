/* .glb: an animated, skinned mesh per body. */
#include "io/output_glb.h"
#include "sink.h"

#ifdef PLIANT_HAVE_DRAW
#include "draw/draw.h"

/* As in pictures. */
static void colour_of(int body, float colour[3])
{
    pl_paint paint = pl_palette(body);
    for (int k = 0; k < 3; k++)
        colour[k] = paint.colour[k];
}
#define COLOUR colour_of
#else
#define COLOUR NULL
#endif

static int open_glb(app_sink *sink, const app_stage *stage)
{
    pl_trouble trouble;
    pl_status status = pl_glb_record_open(stage->memory, sink->name, stage->play, COLOUR, NULL,
                                          (pl_glb_record **)&sink->own, &trouble);
    return status == PL_OK ? -1 : app_fail(&trouble);
}

static int write_frame(app_sink *sink, const app_stage *stage)
{
    pl_trouble trouble;
    return pl_glb_record_frame(sink->own, stage->play, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

static int close_glb(app_sink *sink, bool publish)
{
    pl_trouble trouble;
    if (publish)
        return pl_glb_record_publish(sink->own, &trouble) == PL_OK ? -1 : app_fail(&trouble);
    pl_glb_record_drop(sink->own, sink->keep);
    return -1;
}

static int save_glb(app_sink *sink, app_bytes *bytes)
{
    pl_trouble trouble;
    pl_output_mark mark;
    if (pl_glb_record_set_mark(sink->own, &mark, &trouble) != PL_OK)
        return app_fail(&trouble);
    app_bytes_put_u64(bytes, mark.offset);
    app_bytes_put_u64(bytes, mark.file);
    return -1;
}

/* A mesh collider, or a body that can break, that has left the world since cannot be drawn from
   what is there. */
static int go_on(app_sink *sink, const app_stage *stage, app_bytes *bytes)
{
    pl_trouble trouble;
    pl_output_mark mark = {.offset = app_bytes_get_u64(bytes)};
    mark.file = app_bytes_get_u64(bytes);
    pl_status status = pl_glb_record_open(stage->memory, sink->name, stage->play, COLOUR, &mark,
                                          (pl_glb_record **)&sink->own, &trouble);
    if (status == PL_OK)
        return -1;
    int result = app_fail(&trouble);
    return status == PL_ERROR_FORMAT || status == PL_ERROR_STATE ? APP_START_AGAIN : result;
}

const app_sink_kind app_sink_glb = {
    .ending = ".glb",
    .about = "an animated, skinned mesh per body: Blender, Unity, Unreal, Godot, three.js",
    .open = open_glb,
    .frame = write_frame,
    .close = close_glb,
    .save = save_glb,
    .go_on = go_on,
};

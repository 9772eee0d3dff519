/* Outputs of a run, one kind per ending. A kind is a handful of functions in a file of its own
   group (sink_lines.c, sink_mesh.c, …) and a line in the table of sink.c; the player knows none of
   them. All functions return -1 to go on, else the exit status after a message. */
#ifndef PL_APP_SINK_H
#define PL_APP_SINK_H

#include "app.h"
#include "bytes.h"
#include "io/file.h"
#include "painter.h"

/* What there is to write about at a frame. */
typedef struct app_stage {
    pl_memory *memory;
    const pl_play *play;     /* play->frame is the frame; 0 = the start state */
    const char *run_name;    /* NULL = the only run */
    const pl_report *report; /* of the step that led here; NULL at frame 0 */
    int frames; /* how many the run is meant to have; fewer come when it is interrupted */
} app_stage;

/* What is asked for. */
typedef struct app_output {
    const char *name; /* a file, or frame_%04d.png for a file per frame */
    int every;        /* every how many frames it is written; 0 = 1 */
    app_look look;    /* of pictures */
} app_output;

enum { APP_OUTPUT_MAX = APP_LIST_MAX };

/* A painter, shared by all outputs that look alike. */
typedef struct app_easel {
    const app_look *look;
    app_painter *painter;
    uint64_t painted; /* the frame after the one whose picture the painter has; 0 = none */
} app_easel;

typedef struct app_sink_kind app_sink_kind;

typedef struct app_sink {
    const char *name; /* as asked for */
    const app_sink_kind *kind;
    const app_look *look;
    bool sequence; /* a file per frame: the name is a pattern */
    int every; /* frame() is called for every so many frames; open() and go_on() may make it more */
    int asked_every;   /* what it was before */
    uint64_t written;  /* how often frame() was called */
    app_easel *easel;  /* NULL: this kind needs none */
    pl_memory *memory; /* of the run, for what `own` points to */
    void *own;         /* of the kind */
    bool opened;       /* close() is due */
    bool keep;         /* at close(): what is not published stays, for --resume */
} app_sink;

struct app_sink_kind {
    const char *ending; /* ".glb" */
    const char *about;  /* for help: "an animated, skinned mesh per body" */
    const char
        *note;    /* said when it was written: what else its reader needs to know; NULL = nothing */
    bool pattern; /* may be frame_%04d: a file per frame */
    bool pictures;  /* needs a painter */
    bool many_runs; /* can take the frames of several runs; others are of one run */

    /* Before the first frame of the first run. A failure must leave nothing behind; close() is not
       called then. May be NULL. */
    int (*open)(app_sink *sink, const app_stage *stage);
    /* Every frame that is due, 0 included. Where the name could be a pattern and is none: only the
       last frame. */
    int (*frame)(app_sink *sink, const app_stage *stage);
    /* Once after open() or go_on(): publishes or drops, frees `own`. The play is gone by then. May
       be NULL. */
    int (*close)(app_sink *sink, bool publish);

    /* For --resume. save() is called after a frame was written and puts down what is needed to go
       on from there; what was written so far must be in the part file by then: pl_output_set_mark()
       sees to it. go_on() takes the place of open(): it gets the same bytes in another process, and
       must make everything as it was at that frame, including cutting off what a part file got
       later (pl_output_resume() does). Both NULL: with files of one frame each there is nothing to
       keep; other kinds cannot be resumed then. */
    int (*save)(app_sink *sink, app_bytes *bytes);
    int (*go_on)(app_sink *sink, const app_stage *stage, app_bytes *bytes);
};

/* The usual save() and go_on() of kinds that write to one pl_output all along. */
int app_save_output(pl_output *output, app_bytes *bytes);
int app_resume_output(app_sink *sink, app_bytes *bytes, pl_output **output);

/* Returned by go_on() when what it needs is not there any more. */
enum { APP_START_AGAIN = 1000 };

/* Opens, publishes or drops, with the message where it fails. An output that failed while it was
   written (pl_output_is_good) says so here: frame() returns APP_FAILED without another message. */
int app_open_output(app_sink *sink, pl_output **output);
int app_close_output(const app_sink *sink, pl_output *output, bool publish); /* NULL is allowed */
/* "cannot be written" with the reason. */
int app_write_failed(const char *name, pl_status status);

/* The name for this frame: the pattern's, or the only one. */
int app_sink_file(const app_sink *sink, uint64_t frame, char *name, size_t size);

/* The picture of this frame: 4 bytes per pixel in the painter. */
int app_sink_paint(app_sink *sink, const app_stage *stage);

/* ---- All of them, for the player ------------------------------------------------------------- */

typedef struct app_sinks {
    app_sink items[APP_OUTPUT_MAX];
    int count;
    app_easel easels[APP_OUTPUT_MAX];
    int easel_count;
    const char *command; /* named in messages */
} app_sinks;

/* Finds out what each output is. `runs`: how many the scene will be played in. */
int app_sinks_sort(app_sinks *sinks, const char *command, const app_output *outputs, int count,
                   int runs);
/* The first output that a killed run could not go on with; NULL = none. */
const char *app_sinks_stubborn(const app_sinks *sinks);
/* With `bytes` they go on from what app_sinks_save left there. */
int app_sinks_open(app_sinks *sinks, const app_stage *stage, app_bytes *bytes);
int app_sinks_frame(app_sinks *sinks, const app_stage *stage);
int app_sinks_last(app_sinks *sinks, const app_stage *stage);
int app_sinks_save(app_sinks *sinks, app_bytes *bytes);
typedef enum app_ending { APP_DROP, APP_PUBLISH, APP_KEEP /* for --resume */ } app_ending;
int app_sinks_close(app_sinks *sinks, app_ending ending);

/* Whether pictures of several frames are wanted: the camera must see all of them. */
bool app_sinks_look_ahead(const app_sinks *sinks);
int app_sinks_see(app_sinks *sinks, const pl_play *play);

/* What was written, a line per output; or as elements of a list in JSON. */
void app_sinks_print(const app_sinks *sinks);
void app_sinks_print_json(const app_sinks *sinks);

/* Whether outputs can have this name; if not, `text` says why and what would be right. */
bool app_sink_name_is_good(const char *name, char *text, size_t size);

/* Whether an output of this name is drawn. */
bool app_is_picture(const char *name);

/* All endings there are, a line each. */
void app_sinks_help(char *text, size_t size);

extern const app_sink_kind app_sink_jsonl, app_sink_obj, app_sink_png, app_sink_mp4, app_sink_gif,
    app_sink_ply, app_sink_pc2, app_sink_csv, app_sink_svg, app_sink_glb;

#endif

/* Films: pictures through a pipe to the program ffmpeg, which writes the file; it takes its place
   when it is complete. Functions return -1 to go on, else the exit status after a message. */
#ifndef PL_APP_VIDEO_H
#define PL_APP_VIDEO_H

#include "app.h"

typedef struct app_video app_video;

/* What a film is like. */
typedef struct app_film {
    const char *path; /* .mp4 or .gif, by the ending; must outlive the video */
    int width, height;
    double rate; /* pictures per second */
    bool shrink; /* a .gif is made smaller when it would be wide */
} app_film;

/* With `segments` >= 0 it goes on after so many segments that app_video_cut made, in an earlier
   process; APP_START_AGAIN when they are not there any more. -1 = a new one. */
int app_video_open(pl_memory *memory, const app_film *film, int segments, app_video **video);

/* `rgba` as the painter leaves it. */
int app_video_frame(app_video *video, const uint8_t *rgba);

/* Everything so far is put on the disk as complete segments, which are joined in the end. */
int app_video_cut(app_video *video, int *segments);

typedef enum app_video_end {
    APP_VIDEO_DROP,
    APP_VIDEO_PUBLISH,
    APP_VIDEO_KEEP /* the segments stay, for another process */
} app_video_end;

/* Waits for ffmpeg and publishes the file, or drops it. The video is freed in any case; NULL is
   allowed. */
int app_video_close(app_video *video, app_video_end end);

#endif

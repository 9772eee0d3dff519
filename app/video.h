/* Films: pictures through a pipe to the program ffmpeg, which writes the file; it takes its place when it is complete.
   Functions return -1 to go on, else the exit status after a message. */
#ifndef PL_APP_VIDEO_H
#define PL_APP_VIDEO_H

#include "app.h"

typedef struct app_video app_video;

/* .mp4 or .gif, by the ending of the name. `shrink`: a .gif is made smaller when it would be wide. */
int app_video_open(pl_memory *memory, const char *path, int width, int height, double rate,
                   bool shrink, app_video **video);

/* `rgba` as the painter leaves it. */
int app_video_frame(app_video *video, const uint8_t *rgba);

/* Waits for ffmpeg and publishes the file, or drops it. The video is freed in any case; NULL is allowed. */
int app_video_close(app_video *video, bool publish);

#endif

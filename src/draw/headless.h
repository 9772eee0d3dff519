/* An OpenGL 3.3 context without a window or a display: EGL on Mesa's surfaceless platform, or on
   the first device that will have us. Software Mesa does. */
#ifndef PL_DRAW_HEADLESS_H
#define PL_DRAW_HEADLESS_H

#include "base/error.h"

typedef struct pl_headless {
    void *display, *context; /* EGLDisplay, EGLContext */
} pl_headless;

/* Leaves the context current. PL_ERROR_STATE, and what to install, where there is no OpenGL. */
pl_status pl_headless_open(pl_headless *headless, pl_error *error);
bool pl_headless_enter(const pl_headless *headless); /* makes it current in this thread */
void pl_headless_close(pl_headless *headless);       /* all zeros are allowed */

#endif

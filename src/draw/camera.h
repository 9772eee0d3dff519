/* Where a picture is taken from: a camera, and the smallest distance at which everything seen so
   far fits in the picture, from a direction that does not depend on what is seen, so that a film
   does not shake. */
#ifndef PL_DRAW_CAMERA_H
#define PL_DRAW_CAMERA_H

#include "base/error.h"
#include "math/vec3.h"

typedef struct pl_camera {
    double eye[3], target[3], up[3];
    double angle; /* of view from bottom to top, radians, between 0 and π */
} pl_camera;

typedef enum pl_camera_view {
    PL_VIEW_CORNER, /* three-quarter, a little from above: shows most of most things */
    PL_VIEW_FRONT,  /* from +z */
    PL_VIEW_BACK,
    PL_VIEW_LEFT,  /* from -x */
    PL_VIEW_RIGHT, /* from +x */
    PL_VIEW_TOP,   /* from +y; +z is down in the picture */
    PL_VIEW_COUNT
} pl_camera_view;

const char *pl_camera_view_name(pl_camera_view view); /* "corner", …; NULL out of range */
bool pl_find_camera_view(const char *name, pl_camera_view *view);

/* Gathers points; in the end there is a camera that sees them all, and the box around them. A point
   p is right of the left plane of the view from e when -r·p + t b·p <= -r·e + t b·e (r right, b
   back, t the tangent of half the angle), so four maxima over all points place the eye exactly. */
typedef struct pl_framing {
    double right[3], up[3], back[3];
    double tangent[2]; /* of half the angle of view across and upwards, without the margin */
    double reach[4];   /* right, left, up, down: the maxima */
    double nearest;    /* and the one along `back` */
    double lower[3], upper[3];
    bool any;
} pl_framing;

/* `aspect` is width / height. */
pl_framing pl_framing_begin(pl_camera_view view, double aspect);
void pl_framing_add(pl_framing *framing, const double point[3], double radius);

/* As if all points of the other, from the same view, had been added. */
void pl_framing_merge(pl_framing *framing, const pl_framing *other);

/* How far from the nearest point the camera will be; 0 without points. */
double pl_framing_distance(const pl_framing *framing);

/* A film's camera that comes nearer when there is less to see: every frame's framing becomes the
   mean, over `around` frames before and after twice, of the largest within the time that these
   means reach. So each still holds everything that it held, and they change slowly. `scratch` has
   room for as many. */
void pl_framing_smooth(pl_framing *frames, int count, int around, pl_framing *scratch);

/* PL_ERROR_ARGUMENT when no point was added or they are not finite. */
pl_status pl_framing_camera(const pl_framing *framing, pl_camera *camera, pl_error *error);

#endif

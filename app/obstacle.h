/* One collider in a picture: its surface in its own frame, and where it is now. */
#ifndef PL_APP_OBSTACLE_H
#define PL_APP_OBSTACLE_H

#include "draw/draw.h"
#include "io/scene.h"

typedef struct app_obstacle {
    bool is_plane;
    int vertex_count, triangle_count;
    double *rest;       /* 3 per vertex, in the collider's frame; planes have none */
    double *vertices;   /* the same in the world, now; of a plane the part last cut out of it */
    int32_t *triangles; /* 3 each */
    double position[3], rotation[4];
    bool gone; /* an event has removed the collider: nothing is drawn */
    pl_draw_surface *surface;
} app_obstacle;

pl_status app_obstacle_of_collider(pl_memory *memory, const pl_play *play, int collider,
                                   app_obstacle *obstacle);
pl_status app_obstacle_dress(app_obstacle *obstacle, pl_draw *draw, pl_error *error);
void app_obstacle_free(pl_memory *memory, app_obstacle *obstacle);

/* Where it is now. */
pl_status app_obstacle_follow(app_obstacle *obstacle, const pl_play *play, int collider);

/* Of planes: which way is out. */
void app_obstacle_normal(const app_obstacle *obstacle, double normal[3]);

/* Of planes: cuts the part inside a box out of it, to be drawn. False where there is none. */
bool app_obstacle_cut(app_obstacle *obstacle, const double lower[3], const double upper[3]);

#endif

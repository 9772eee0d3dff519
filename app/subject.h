/* One thing in a picture: its surface, particles and edges as plain arrays. */
#ifndef PL_APP_SUBJECT_H
#define PL_APP_SUBJECT_H

#include "draw/draw.h"
#include "io/scene.h"

typedef struct app_subject {
    int vertex_count, triangle_count, particle_count, edge_count;
    const int32_t *triangles; /* at the time it was taken */
    int32_t *edges;           /* of the graph, or the lines of a mesh */
    const pl_look *look;
    double *vertices; /* 3 each, now; at first at rest */
    double *positions, *rotations,
        *radii;      /* 3, 4, 3 per particle; rotations with the rest orientation */
    double *turned;  /* scratch: 4 per particle */
    double *ends;    /* 6 per edge */
    float *colours;  /* 4 per particle */
    bool lines_only; /* edges join vertices, not particles */
    double spacing;  /* mean length of the edges */
    pl_paint paint;
    pl_draw_surface *surface;
} app_subject;

pl_status app_subject_of_model(pl_memory *memory, const pl_model *model, app_subject *subject);
pl_status app_subject_of_mesh(pl_memory *memory, const pl_mesh *mesh, app_subject *subject);
void app_subject_free(pl_memory *memory, app_subject *subject);

/* Where the body's parts are now. */
pl_status app_subject_follow(app_subject *subject, const pl_play *play, int body, bool vertices,
                             bool particles);

/* Fills `ends` and returns the number of edges. */
int app_subject_edges(app_subject *subject);

#endif

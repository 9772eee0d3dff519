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

    /* For stress: rest positions, rotations without the rest orientation, and what the surface
       hangs on. */
    const pl_model *model;      /* NULL = a mesh */
    int dimension;              /* 1 rod, 2 sheet, 3 solid */
    int influence_count;        /* particles per vertex */
    double volume, young;       /* m³, Pa */
    double *rest;               /* 3 per particle */
    double *turns;              /* 4 per particle */
    double *stresses, *weights; /* Pa per particle; scratch */
    float *vertex_colours;      /* 4 per vertex; NULL = not wanted */
    int32_t *owners; /* the heaviest cluster of each particle; NULL = none, or not wanted */

    /* Tetrahedra: their corners hang on particles as the surface's vertices do. */
    int tet_point_count, tet_edge_count;
    double *tet_rest, *tet_points; /* 3 per corner: at rest, now */
    int32_t *tet_edges;            /* two corners each */
    pl_pin_def *tet_holds;         /* what carries each corner; NULL = at rest */
    double spacing;                /* mean length of the edges */
    pl_paint paint;
    bool gone; /* an event has removed the body: nothing is drawn */
    pl_draw_surface *surface;
} app_subject;

pl_status app_subject_of_model(pl_memory *memory, const pl_model *model, app_subject *subject);
pl_status app_subject_of_mesh(pl_memory *memory, const pl_mesh *mesh, app_subject *subject);
void app_subject_free(pl_memory *memory, app_subject *subject);

/* Colours the particles of a clustered body by their heaviest clusters, as they are now. */
pl_status app_subject_take_clusters(pl_memory *memory, app_subject *s, const pl_play *play,
                                    int body);

/* Gets ready to show the model's tetrahedra or stresses; `play` and `body` where it is one of a
   run. */
pl_status app_subject_take_tets(pl_memory *memory, app_subject *subject, const pl_play *play,
                                int body);
pl_status app_subject_take_stress(pl_memory *memory, app_subject *subject, const pl_play *play,
                                  int body);

/* Where the body's parts are now: its surface where `vertices`, particles and all that hangs on
   them where `particles`. */
pl_status app_subject_follow(app_subject *subject, const pl_play *play, int body, bool vertices,
                             bool particles);

/* Of a vertex of the surface, Pa, from the particles it hangs on. */
double app_subject_vertex_stress(const app_subject *subject, int vertex);

/* Fills `ends` and returns the number of edges. */
int app_subject_edges(app_subject *subject);

#endif

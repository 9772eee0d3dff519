/* Pliant: from any mesh to a soft body's rest state: repair, fill with particles, connect, skin;
   and the creatures that are built in.

       pl_mesh mesh;
       pl_model *model;
       pl_builtin_mesh("dinosaur", 1, NULL, &mesh, NULL);
       pl_cook_def def = pl_default_cook_def(&mesh);
       def.particle_count = 100;
       pl_cook(&def, &model, NULL, NULL);
       pl_mesh_free(&mesh);

   Deterministic: the same mesh, definition and seed give the same model, bit for bit. */
#ifndef PLIANT_COOK_H
#define PLIANT_COOK_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pl_model;

typedef enum pl_cook_kind {
    PL_COOK_AUTO, /* solid where the surface encloses a volume, else shell; rod where there are only lines */
    PL_COOK_SOLID, /* particles in the volume */
    PL_COOK_SHELL, /* flat particles on the surface */
    PL_COOK_ROD /* particles along the lines of the mesh, or along the longest axis of a slender surface */
} pl_cook_kind;

typedef enum pl_cook_sampling {
    PL_COOK_POISSON, /* blue noise: no two nearer than a distance, no gap larger than twice it */
    PL_COOK_GRID     /* a cubic lattice */
} pl_cook_sampling;

typedef struct pl_cook_def {
    const pl_mesh *mesh;
    pl_cook_kind kind;
    pl_cook_sampling sampling;
    int particle_count; /* wanted; reached within 10 %. Default 100; 0 = as `spacing` says */
    double spacing; /* distance between particles, in the mesh's unit, where particle_count is 0 */
    int edge_count; /* wanted, reached as nearly as the shape allows; 0 (default) = as the neighbourhoods suggest */
    double scale; /* metres per unit of the mesh; default 1 */
    double
        thickness; /* of a shell or the diameter of a rod, in the mesh's unit; 0 (default) = a third of the spacing */
    double
        weld; /* vertices nearer than this part of the mesh's size are one; default 1e-6; 0 = exactly equal ones */
    int influence_count; /* particles per vertex, 1 to 8; default 4 */
    int tet_count; /* also fill the volume with about so many tetrahedra; default 0 = only those the mesh has */
    uint64_t seed;
    const pl_allocator *allocator; /* NULL = malloc and free */
    size_t memory_limit;           /* bytes; 0 = none */
    /* Called now and then with the part done, 0 to 1; false stops, and pl_cook returns
       PL_ERROR_STATE. May be NULL. */
    bool (*progress)(void *user, double part, const char *stage);
    void *progress_user;
    uint32_t cookie; /* set by pl_default_cook_def */
} pl_cook_def;

PL_API pl_cook_def pl_default_cook_def(const pl_mesh *mesh);

/* What repair found in the mesh and did about it. */
typedef struct pl_mesh_report {
    int vertices, triangles, lines, tets; /* as read */
    int used_vertices;                    /* by a triangle, line or tetrahedron */
    int points;                           /* left after welding */
    int welded;                           /* vertices that lie on another */
    int degenerate;                       /* triangles without area, dropped */
    int duplicate;                        /* the same triangle again, dropped */
    int flipped; /* turned, so that neighbours and the outside agree; the model's triangles, which are drawn, stay as they were */
    int components;        /* of the surface, by shared edges */
    int closed_components; /* every edge with two triangles */
    int boundary_edges, nonmanifold_edges, nonmanifold_points;
    int flat_tets, duplicate_tets; /* too flat to be simulated; the same one again: dropped */
    int turned_tets;               /* wrongly wound, turned */
    double lower[3], upper[3];
    double area, volume; /* volume as the inside test sees it; 0 without an inside */
    bool orientable;     /* no Möbius band among the components */
} pl_mesh_report;

/* Looks at a mesh as pl_cook would, without cooking it. */
PL_API pl_status pl_mesh_examine(const pl_mesh *mesh, double weld, const pl_allocator *allocator,
                                 pl_mesh_report *report, pl_error *error);

typedef struct pl_cook_report {
    pl_mesh_report mesh;
    pl_cook_kind kind; /* what was chosen */
    double spacing;    /* between particles, mesh units */
    int pieces;        /* connected parts of the graph */
    int particles, edges, tets;
    double seconds; /* in all */
} pl_cook_report;

/* On success *model has one reference, the caller's. `report` may be NULL. PL_ERROR_ARGUMENT, with
   a reason, for what cannot be simulated: nothing there, no extent, NaN. */
PL_API pl_status pl_cook(const pl_cook_def *def, struct pl_model **model, pl_cook_report *report,
                         pl_error *error);

/* ---- Built-in meshes ------------------------------------------------------------------------- */

/* "dinosaur", "rabbit", "armadillo", "teddy", "torus", "column", "car", "cylinder", "cuboid",
   "sheet", "rope". */
PL_API int pl_builtin_count(void);
PL_API const char *pl_builtin_name(int index);  /* NULL out of range */
PL_API const char *pl_builtin_about(int index); /* one line; NULL out of range */

/* A mesh made in code, standing on y = 0, looking along +z, about a metre in size. `detail` 1 is a
   few thousand triangles; twice the detail has four times as many; from 0.1 to 16. Freed by
   pl_mesh_free. */
PL_API pl_status pl_builtin_mesh(const char *name, double detail, const pl_allocator *allocator,
                                 pl_mesh *mesh, pl_error *error);

/* How the built-in is best cooked: kind, particle and edge counts of the papers' scenes. `mesh` is
   what pl_builtin_mesh made. */
PL_API pl_status pl_builtin_cook_def(const char *name, const pl_mesh *mesh, pl_cook_def *def);

#ifdef __cplusplus
}
#endif

#endif

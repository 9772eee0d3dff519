/* Meshes and models in words and in JSON, for the commands cook and inspect. */
#ifndef PL_APP_DESCRIBE_H
#define PL_APP_DESCRIBE_H

#include "app.h"
#include "pliant/cook.h"
#include "pliant/pliant.h"

/* A mesh from a file, or "builtin:NAME" with a detail. Returns -1, or the exit status after a
   message. */
int app_load_mesh(const char *name, double detail, pl_mesh *mesh);

/* The NAME in "builtin:NAME", or NULL. */
const char *app_builtin_name(const char *name);

/* Prints "pliant: name: where: text" and returns the exit status that fits. */
int app_fail_about(const char *name, pl_status status, const pl_error *error);

/* What is in the mesh, what repair found and what it does about it. */
void app_describe_mesh(const pl_mesh *mesh, const pl_mesh_report *report);
void app_describe_look(const pl_look *look);
void app_describe_model(const pl_model *model);

/* The same as members of an object, with the braces. */
void app_mesh_report_json(const pl_mesh_report *report);
void app_look_json(const pl_look *look);
void app_model_json(const pl_model *model);

/* Shape of tetrahedra: dihedral angles in degrees, volumes in the unit of the points. */
typedef struct app_tet_quality {
    int count;
    double least_angle, mean_least_angle, most_angle; /* mean over tetrahedra of the smallest one */
    double least_volume, most_volume, volume;
} app_tet_quality;
app_tet_quality app_measure_tets(const double *points, const int32_t *tets, int count);
void app_describe_tets(const app_tet_quality *quality);
void app_tets_json(const app_tet_quality *quality);

#endif

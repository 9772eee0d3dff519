/* Meshes and models in words and in JSON. */
#include "describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/elementary.h"
#include "pliant/files.h"

/* ---- Loading --------------------------------------------------------------------------------- */

const char *app_builtin_name(const char *name)
{
    return strncmp(name, "builtin:", 8) == 0 ? name + 8 : NULL;
}

/* What the library calls a number, as it was given here. */
static const char *option_of(const char *where)
{
    static const char *const options[][2] = {{"particle_count", "--particles"},
                                             {"count", "--particles"},
                                             {"edge_count", "--edges"},
                                             {"tet_count", "--tets"},
                                             {"influence_count", "--influences"},
                                             {"spacing", "--spacing"},
                                             {"distance", "--spacing"},
                                             {"kind", "--kind"},
                                             {"scale", "--scale"},
                                             {"weld", "--weld"},
                                             {"thickness", "--thickness"},
                                             {"detail", "--detail"},
                                             {"name", ""}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(where, options[i][0]) == 0)
            return options[i][1];
    return where;
}

int app_fail_about(const char *name, pl_status status, const pl_error *error)
{
    const char *text = error->text[0] ? error->text : pl_status_text(status);
    const char *where = option_of(error->where);
    bool named = strncmp(where, name, strlen(name)) == 0;
    if (named)
        fprintf(stderr, "pliant: %s: %s\n", where, text);
    else
        fprintf(stderr, "pliant: %s: %s%s%s\n", name, where, where[0] ? ": " : "", text);
    return status == PL_ERROR_MEMORY || status == PL_ERROR_IO ? APP_FAILED : APP_BAD_INPUT;
}

int app_load_mesh(const char *name, double detail, pl_mesh *mesh)
{
    pl_error error = {0};
    const char *builtin = app_builtin_name(name);
    pl_status status = builtin ? pl_builtin_mesh(builtin, detail, NULL, mesh, &error)
                               : pl_mesh_load(name, NULL, mesh, &error);
    if (status == PL_OK)
        return -1;
    for (int i = 0; status == PL_ERROR_IO && i < pl_builtin_count(); i++)
        if (strcmp(name, pl_builtin_name(i)) == 0)
            snprintf(error.text + strlen(error.text), sizeof error.text - strlen(error.text),
                     "; the built-in one is builtin:%s", name);
    int exit_status = app_fail_about(name, status, &error);
    /* A file that cannot be read is bad input, whatever the reason; only memory is our own
       trouble. */
    return status == PL_ERROR_MEMORY ? exit_status : APP_BAD_INPUT;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static void say(int count, const char *one, const char *many)
{
    if (count > 0)
        printf("  %d %s\n", count, count == 1 ? one : many);
}

static void describe_surface(const pl_mesh_report *r)
{
    if (r->components > 0)
        printf("  %d component%s, %d closed; area %.6g, volume %.6g\n", r->components,
               r->components == 1 ? "" : "s", r->closed_components, r->area, r->volume);
    printf("  from (%g, %g, %g) to (%g, %g, %g)\n", r->lower[0], r->lower[1], r->lower[2],
           r->upper[0], r->upper[1], r->upper[2]);
    say(r->vertices - r->used_vertices, "vertex is used by nothing",
        "vertices are used by nothing");
    say(r->welded, "vertex lies on another: welded", "vertices lie on others: welded");
    say(r->degenerate, "triangle has no area: dropped", "triangles have no area: dropped");
    say(r->duplicate, "triangle is there twice: dropped", "triangles are there twice: dropped");
    say(r->flipped, "triangle faces the wrong way: turned", "triangles face the wrong way: turned");
    say(r->boundary_edges, "edge has one triangle only (a hole or a border)",
        "edges have one triangle only (holes or borders)");
    say(r->nonmanifold_edges, "edge has more than two triangles",
        "edges have more than two triangles");
    say(r->nonmanifold_points, "point joins parts that share nothing else",
        "points join parts that share nothing else");
    say(r->flat_tets, "tetrahedron is flat: dropped", "tetrahedra are flat: dropped");
    say(r->duplicate_tets, "tetrahedron is there twice: dropped",
        "tetrahedra are there twice: dropped");
    say(r->turned_tets, "tetrahedron is inside out: turned", "tetrahedra are inside out: turned");
    if (!r->orientable)
        printf("  part of it has only one side (like a Möbius band)\n");
}

void app_describe_mesh(const pl_mesh *mesh, const pl_mesh_report *report)
{
    printf("  %d vertices, %d triangles", mesh->vertex_count, mesh->triangle_count);
    if (mesh->line_count)
        printf(", %d lines", mesh->line_count);
    if (mesh->tet_count)
        printf(", %d tetrahedra", mesh->tet_count);
    putchar('\n');
    describe_surface(report);
    app_describe_look(&mesh->look);
}

static int embedded_count(const pl_look *look)
{
    int count = 0;
    for (int i = 0; i < look->image_count; i++)
        count += look->images[i].bytes != NULL;
    return count;
}

void app_describe_look(const pl_look *look)
{
    const char *sets = look->uv_set_count == 1 ? "UV set" : "UV sets";
    printf("  look:%s%s%s", look->normals ? " normals," : "", look->tangents ? " tangents," : "",
           look->colours ? " colours," : "");
    printf(" %d %s, %d material%s", look->uv_set_count, sets, look->material_count,
           look->material_count == 1 ? "" : "s");
    for (int i = 0; i < look->material_count && i < 6; i++)
        printf("%s%s", i ? ", " : " (", look->materials[i].name);
    printf("%s, %d image%s",
           look->material_count > 6 ? ", …)"
           : look->material_count   ? ")"
                                    : "",
           look->image_count, look->image_count == 1 ? "" : "s");
    if (look->image_count)
        printf(" (%d embedded)", embedded_count(look));
    printf(", %d group%s\n", look->group_count, look->group_count == 1 ? "" : "s");
}

void app_describe_model(const pl_model *model)
{
    static const char *const kinds[] = {"", "rod", "shell", "solid"};
    pl_model_info info = pl_model_get_info(model);
    printf("  %s: %d particles, %d edges, %d piece%s\n", kinds[info.dimension], info.particle_count,
           info.edge_count, info.piece_count, info.piece_count == 1 ? "" : "s");
    printf("  surface: %d vertices, %d triangles, %d particles per vertex\n", info.vertex_count,
           info.triangle_count, info.influence_count);
    app_describe_look(pl_model_look(model));
    if (info.tet_count)
        printf("  %d tetrahedra with %d corners\n", info.tet_count, info.tet_point_count);
    printf("  volume %.6g m^3, spacing %.6g m, unit %g m\n", info.volume, info.spacing, info.unit);
    printf("  from (%g, %g, %g) to (%g, %g, %g)\n", info.lower[0], info.lower[1], info.lower[2],
           info.upper[0], info.upper[1], info.upper[2]);
    printf("  %d colours, factor with %" PRId64 " entries below the diagonal, hash %016" PRIx64
           "\n",
           info.colour_count, info.factor_count, info.hash);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void app_mesh_report_json(const pl_mesh_report *r)
{
    printf("{\"vertices\":%d,\"triangles\":%d,\"lines\":%d,\"tets\":%d,\"used_vertices\":%d,"
           "\"points\":%d,\"welded\":%d,\"degenerate\":%d,\"duplicate\":%d,\"flipped\":%d,"
           "\"components\":%d,\"closed_components\":%d,\"boundary_edges\":%d,"
           "\"nonmanifold_edges\":%d,\"nonmanifold_points\":%d,\"flat_tets\":%d,"
           "\"duplicate_tets\":%d,\"turned_tets\":%d,\"orientable\":%s,\"area\":%.17g,\"volume\":%."
           "17g,"
           "\"lower\":[%.17g,%.17g,%.17g],\"upper\":[%.17g,%.17g,%.17g]}",
           r->vertices, r->triangles, r->lines, r->tets, r->used_vertices, r->points, r->welded,
           r->degenerate, r->duplicate, r->flipped, r->components, r->closed_components,
           r->boundary_edges, r->nonmanifold_edges, r->nonmanifold_points, r->flat_tets,
           r->duplicate_tets, r->turned_tets, r->orientable ? "true" : "false", r->area, r->volume,
           r->lower[0], r->lower[1], r->lower[2], r->upper[0], r->upper[1], r->upper[2]);
}

void app_look_json(const pl_look *look)
{
    printf("{\"normals\":%s,\"tangents\":%s,\"colours\":%s,\"uv_sets\":%d,\"images\":%d,"
           "\"embedded_images\":%d,\"groups\":%d,\"materials\":[",
           look->normals ? "true" : "false", look->tangents ? "true" : "false",
           look->colours ? "true" : "false", look->uv_set_count, look->image_count,
           embedded_count(look), look->group_count);
    for (int i = 0; i < look->material_count; i++) {
        printf("%s", i ? "," : "");
        app_print_json_string(look->materials[i].name);
    }
    printf("]}");
}

void app_model_json(const pl_model *model)
{
    pl_model_info i = pl_model_get_info(model);
    printf("{\"dimension\":%d,\"particles\":%d,\"edges\":%d,\"pieces\":%d,\"vertices\":%d,"
           "\"triangles\":%d,\"influences\":%d,\"tets\":%d,\"tet_points\":%d,\"colours\":%d,"
           "\"factor\":%" PRId64 ",\"volume\":%.17g,\"spacing\":%.17g,\"unit\":%.17g,"
           "\"lower\":[%.17g,%.17g,%.17g],\"upper\":[%.17g,%.17g,%.17g],\"hash\":\"%016" PRIx64
           "\",\"look\":",
           i.dimension, i.particle_count, i.edge_count, i.piece_count, i.vertex_count,
           i.triangle_count, i.influence_count, i.tet_count, i.tet_point_count, i.colour_count,
           i.factor_count, i.volume, i.spacing, i.unit, i.lower[0], i.lower[1], i.lower[2],
           i.upper[0], i.upper[1], i.upper[2], i.hash);
    app_look_json(pl_model_look(model));
    printf("}");
}

/* ---- Tetrahedra ------------------------------------------------------------------------------ */

static void face_normal(const double *a, const double *b, const double *c, double n[3])
{
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3 && length > 0; k++)
        n[k] /= length;
}

/* Between two faces whose normals point outwards the angle is π less that of the normals. */
static void dihedral_range(const double *p[4], double *least, double *most)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double n[4][3];
    for (int f = 0; f < 4; f++)
        face_normal(p[faces[f][0]], p[faces[f][1]], p[faces[f][2]], n[f]);
    for (int f = 0; f < 4; f++)
        for (int g = f + 1; g < 4; g++) {
            double cosine = -(n[f][0] * n[g][0] + n[f][1] * n[g][1] + n[f][2] * n[g][2]);
            double angle = pl_acos(fmin(1, fmax(-1, cosine))) * 180 / 3.14159265358979323846;
            *least = fmin(*least, angle);
            *most = fmax(*most, angle);
        }
}

app_tet_quality app_measure_tets(const double *points, const int32_t *tets, int count)
{
    app_tet_quality q = {
        .count = count, .least_angle = 180, .least_volume = INFINITY, .most_volume = -INFINITY};
    for (size_t t = 0; t < (size_t)count; t++) {
        const double *p[4];
        double least = 180, n[3];
        for (int c = 0; c < 4; c++)
            p[c] = points + 3 * (size_t)tets[4 * t + (size_t)c];
        dihedral_range(p, &least, &q.most_angle);
        q.least_angle = fmin(q.least_angle, least);
        q.mean_least_angle += least / count;
        double u[3] = {p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]};
        double v[3] = {p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]};
        n[0] = u[1] * v[2] - u[2] * v[1];
        n[1] = u[2] * v[0] - u[0] * v[2];
        n[2] = u[0] * v[1] - u[1] * v[0];
        double volume =
            (n[0] * (p[3][0] - p[0][0]) + n[1] * (p[3][1] - p[0][1]) + n[2] * (p[3][2] - p[0][2])) /
            6;
        q.least_volume = fmin(q.least_volume, volume);
        q.most_volume = fmax(q.most_volume, volume);
        q.volume += volume;
    }
    return q;
}

void app_describe_tets(const app_tet_quality *q)
{
    printf("  tetrahedra: dihedral angles from %.1f to %.1f degrees, the smallest %.1f on average\n"
           "  volumes from %.4g to %.4g, %.6g in all\n",
           q->least_angle, q->most_angle, q->mean_least_angle, q->least_volume, q->most_volume,
           q->volume);
}

void app_tets_json(const app_tet_quality *q)
{
    printf("{\"count\":%d,\"least_angle\":%.17g,\"most_angle\":%.17g,\"mean_least_angle\":%.17g,"
           "\"least_volume\":%.17g,\"most_volume\":%.17g,\"volume\":%.17g}",
           q->count, q->least_angle, q->most_angle, q->mean_least_angle, q->least_volume,
           q->most_volume, q->volume);
}

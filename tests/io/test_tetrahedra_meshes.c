/* Tetrahedra for the shared meshes: count, volume, angles and time of each. Skipped where they are
   not there. Label: slow. */
#include "shape/tetrahedra_cases.h"

#include <unistd.h>

#include "base/clock.h"
#include "pliant/files.h"

#define SHARED PLIANT_SOURCE_DIR "/../shared/meshes/"

/* The errors of the volume allowed at 500, 5,000 and 50,000. Wider where parts are thinner than two
   cells. */
static const struct shared {
    const char *file;
    double errors[3];
} shared[] = {
    {"surface/torus.obj", {0.15, 0.05, 0.02}},
    {"surface/sphere.obj", {0.15, 0.05, 0.02}},
    {"surface/spot.ply", {0.15, 0.05, 0.02}},
    {"surface/bunny_hr.obj", {0.15, 0.05, 0.02}},
    {"surface/penguin.obj", {0.15, 0.05, 0.02}},
    {"surface/teddy.obj", {0.15, 0.05, 0.02}},
    {"surface/cow.obj", {0.15, 0.05, 0.02}},
    {"surface/dino.off", {0.25, 0.05, 0.02}}, /* tail */
    {"surface/homer.obj", {0.15, 0.05, 0.02}},
    {"surface/knot1.off", {0.25, 0.05, 0.02}},         /* a cell thick at 500 */
    {"surface/armadillo_29k.obj", {0.25, 0.05, 0.02}}, /* fingers, tail, ears */
    {"surface/elephant.off", {0.25, 0.08, 0.02}},      /* trunk, tusks, ears */
    {"difficult/spheres_intersecting.off", {0.15, 0.05, 0.02}},
    {"difficult/stanford_bunny_scan_holes.obj", {0.15, 0.05, 0.02}},
    {"difficult/teapot.obj", {0.15, 0.05, 0.02}},
    {"glb/Duck.glb", {0.15, 0.05, 0.02}},
};

static void check_file(const struct shared *entry)
{
    static const int counts[] = {500, 5000, 50000};
    char path[1024];
    pl_mesh mesh;
    pl_error error = {0};
    case_body body;
    snprintf(path, sizeof path, SHARED "%s", entry->file);
    if (pl_mesh_load(path, NULL, &mesh, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    body_make(&body, &mesh);
    for (int c = 0; c < (check_is_thorough() ? 3 : 2); c++) {
        pl_tets tets;
        uint64_t start = pl_clock_ns();
        if (pl_tetrahedralise(&body.memory, body.surface, body.inside, counts[c], &tets, &error) !=
            PL_OK)
            fail_msg("%s: %s", entry->file, error.text);
        double seconds = 1e-9 * (double)(pl_clock_ns() - start);
        tets_figures figures = check_tets(&tets);
        double miss = figures.volume / body.volume - 1;
        print_message("%-40s %6d: %6d, volume %+6.2f %%, angles %.1f to %.1f, %.2f s\n",
                      entry->file, counts[c], tets.tet_count, 100 * miss, figures.sharpest,
                      figures.bluntest, seconds);
        assert_true(fabs(miss) <= entry->errors[c]);
        assert_true(abs(tets.tet_count - counts[c]) <= counts[c] / 10);
        pl_tets_free(&body.memory, &tets);
    }
    body_free(&body);
    pl_mesh_free(&mesh);
}

static void shared_meshes(void **state)
{
    (void)state;
    if (access(SHARED "README.md", R_OK) != 0) {
        print_message("skipped: the shared meshes are not there\n");
        return;
    }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        check_file(&shared[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_meshes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

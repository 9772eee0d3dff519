/* Which reader a file gets, files and arguments that are not there, the owner of a mesh, and the
   shared meshes. */
#include "mesh_cases.h"

#include <unistd.h>

#include "base/clock.h"

static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
static const char off[] = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
static const char stl[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                          "vertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
static const char ply[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
                          "property float y\nproperty float z\nelement face 1\n"
                          "property list uchar int vertex_index\nend_header\n"
                          "0 0 0 1 0 0 0 1 0\n3 0 1 2\n";

static void content_comes_before_the_name(void **state)
{
    (void)state;
    static const char *const texts[] = {off, stl, ply};
    static const char *const names[] = {"a.obj", "a.OFF", "a.stl", "a.ply", "a.txt", "a", ""};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 7; k++) {
            pl_mesh mesh = read_text(texts[i], names[k]);
            assert_int_equal(mesh.triangle_count, 1);
            pl_mesh_free(&mesh);
        }
    /* OBJ has no mark: its name, or a look at its first lines. */
    pl_mesh mesh = read_text(obj, "a.OBJ");
    pl_mesh_free(&mesh);
    mesh = read_text(obj, "a.txt");
    assert_int_equal(mesh.triangle_count, 1);
    pl_mesh_free(&mesh);
}

static void says_what_can_be_read(void **state)
{
    (void)state;
    refuse("something else\n", "notes.txt", "notes.txt", "OBJ, PLY, STL, OFF, glTF");
    refuse("", "a.obj", "a.obj", "empty");
    refuse("\n", "", "", "neither its content nor its name");
    static const uint8_t zeros[1000];
    refuse_bytes(zeros, sizeof zeros, "zeros", "zeros", "neither");
}

static void bad_arguments(void **state)
{
    (void)state;
    pl_mesh mesh = {.vertex_count = 7};
    pl_error error;
    assert_int_equal(pl_mesh_load("/nowhere/at/all.obj", NULL, &mesh, &error), PL_ERROR_IO);
    assert_string_equal(error.where, "/nowhere/at/all.obj");
    assert_non_null(strstr(error.text, "cannot be opened"));
    assert_int_equal(mesh.vertex_count, 0);
    assert_int_equal(pl_mesh_load("/", NULL, &mesh, &error), PL_ERROR_IO);
    assert_non_null(strstr(error.text, "directory"));
    assert_int_equal(pl_mesh_parse(NULL, 0, NULL, NULL, &mesh, NULL), PL_ERROR_FORMAT);
    pl_mesh_free(NULL);
    pl_mesh_free(&mesh);
    double positions[3] = {0};
    mesh = (pl_mesh){.vertex_count = 1, .positions = positions};
    pl_mesh_free(&mesh);
    assert_null(mesh.positions);
}

static void loads_files(void **state)
{
    (void)state;
    char path[] = "/tmp/pliant-mesh-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, off, sizeof off - 1), sizeof off - 1);
    close(descriptor);
    counting count;
    pl_allocator allocator = counting_allocator(&count);
    pl_mesh mesh;
    pl_status status = PL_ERROR_MEMORY;
    for (long fail_at = 0; status != PL_OK && fail_at < 100; fail_at++) {
        count = (counting){.fail_at = fail_at};
        status = pl_mesh_load(path, &allocator, &mesh, NULL);
        assert_true(status == PL_OK || status == PL_ERROR_MEMORY);
        assert_true(status == PL_OK || count.used == 0);
    }
    assert_int_equal(mesh.triangle_count, 1);
    free_strictly(&mesh, &count);
    unlink(path);
}

static void owners_keep_blocks(void **state)
{
    (void)state;
    for (long fail_at = 0; fail_at < 8; fail_at++) {
        counting count;
        pl_allocator allocator = counting_allocator(&count);
        count.fail_at = fail_at;
        pl_mesh_owner *owner = pl_mesh_owner_create(&allocator, 0);
        assert_int_equal(owner != NULL, fail_at > 0);
        for (int i = 0; owner && i < 40; i++) {
            void *block = pl_mesh_owner_alloc(owner, 10, 10);
            assert_true(block || count.calls >= fail_at);
        }
        void *own = owner ? PL_NEW(pl_mesh_owner_memory(owner), char, 5) : NULL;
        if (own && !pl_mesh_owner_keep(owner, own))
            pl_memory_free(pl_mesh_owner_memory(owner), own);
        pl_mesh mesh = {.owner = owner};
        free_strictly(&mesh, &count);
    }
}

/* ---- The shared meshes ----------------------------------------------------------------------- */

#define SHARED PLIANT_SOURCE_DIR "/../shared/meshes/"

/* Vertices as in the files (seams may add some), triangles after cutting polygons. */
static const struct shared {
    const char *file;
    int vertices, triangles;
    bool seams;
} shared[] = {
    {"surface/armadillo_29k.obj", 14587, 29170, false},
    {"surface/armadillo_cgal.off", 26002, 52000, false},
    {"surface/bunny_7k.off", 3485, 6966, false},
    {"surface/bunny_admm.obj", 2503, 4968, false},
    {"surface/bunny_hr.obj", 29834, 59664, false},
    {"surface/bunny_oded.obj", 3301, 6598, true},
    {"surface/bunny_tiny.obj", 453, 902, false},
    {"surface/cow.obj", 2903, 5804, false},
    {"surface/dino.off", 3916, 7828, false},
    {"surface/elephant.off", 2775, 5558, false},
    {"surface/homer.obj", 6002, 12000, false},
    {"surface/knot1.off", 3200, 6400, false},
    {"surface/penguin.obj", 3362, 6720, false},
    {"surface/sphere.obj", 642, 1280, false},
    {"surface/spot.ply", 2930, 5856, false},
    {"surface/spot_23k.obj", 11533, 23062, true},
    {"surface/spot_low.obj", 829, 1654, true},
    {"surface/spot_quads_uv.obj", 188, 372, true},
    {"surface/teddy.obj", 1598, 3192, false},
    {"surface/torus.obj", 2304, 4608, false},
    {"surface/torus_pbd.obj", 400, 800, true},
    {"difficult/all_degen.off", 7, 7, false},
    {"difficult/alligator.obj", 3208, 5981, false},
    {"difficult/beetle_car.obj", 1148, 2053, true},
    {"difficult/blobby_3cc.off", 1820, 3417, false},
    {"difficult/caps_and_needles.off", 9, 3, false},
    {"difficult/cube_no_bottom.obj", 25, 40, true},
    {"difficult/elephant_with_holes.off", 2798, 4463, false},
    {"difficult/fan3_nonmanifold_edge.obj", 5, 3, false},
    {"difficult/hourglass_ico.obj", 23, 40, false},
    {"difficult/lego.ply", 1649, 3072, false},
    {"difficult/multibody_ascii.stl", 96, 32, false},
    {"difficult/non_manifold.off", 8, 4, false},
    {"difficult/non_manifold_face_graph.off", 24, 21, false},
    {"difficult/small_ccs.off", 141, 228, false},
    {"difficult/soup.stl", 300, 100, false},
    {"difficult/spheres_intersecting.off", 324, 640, false},
    {"difficult/stanford_bunny_scan_holes.obj", 35947, 69451, false},
    {"difficult/suzanne.obj", 507, 968, false},
    {"difficult/teapot.obj", 3644, 6320, false},
    {"difficult/tetra_intersected_by_triangle.off", 7, 5, false},
    {"difficult/u_sheet_open.off", 190, 188, false},
    {"difficult/woody_flat.obj", 694, 1267, false},
};

static void shared_meshes_have_their_counts(void **state)
{
    (void)state;
    if (access(SHARED "README.md", R_OK) != 0) {
        print_message("skipped: the shared meshes are not there\n");
        return;
    }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        char path[1024];
        counting count;
        pl_allocator allocator = counting_allocator(&count);
        pl_mesh mesh;
        pl_error error = {0};
        snprintf(path, sizeof path, SHARED "%s", shared[i].file);
        uint64_t start = pl_clock_ns();
        pl_status status = pl_mesh_load(path, &allocator, &mesh, &error);
        double milliseconds = 1e-6 * (double)(pl_clock_ns() - start);
        if (status != PL_OK)
            fail_msg("%s: %s: %s", path, error.where, error.text);
        check_mesh(&mesh);
        if (mesh.triangle_count != shared[i].triangles ||
            (shared[i].seams ? mesh.vertex_count <= shared[i].vertices
                             : mesh.vertex_count != shared[i].vertices))
            fail_msg("%s: %d vertices, %d triangles", path, mesh.vertex_count, mesh.triangle_count);
        if (shared[i].triangles > 60000)
            print_message("%s: %.1f ms, peak %.1f MB\n", shared[i].file, milliseconds,
                          1e-6 * (double)count.peak);
        free_strictly(&mesh, &count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_comes_before_the_name),
        cmocka_unit_test(says_what_can_be_read),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(loads_files),
        cmocka_unit_test(owners_keep_blocks),
        cmocka_unit_test(shared_meshes_have_their_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

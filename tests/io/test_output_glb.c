/* The .glb of a play: its vertices must be where the world's skinning has them, in every frame and
   between; colliders, keys that can be left out, what breaks and what leaves. */
#include "glb_cases.h"
#include "io/output_glb_parts.h"

/* ---- Vertices -------------------------------------------------------------------------------- */

static void vertices_are_where_ours_are(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(
        &r,
        SCENE(BAR ",{\"name\":\"ring\",\"model\":\"ring\",\"position\":[3,1,0],\"spin\":[3,1,9]},"
                  "{\"name\":\"bare\",\"model\":\"bare\",\"position\":[100000,0,0],"
                  "\"velocity\":[1,2,3],\"spin\":[0,8,0]}",
              ",\"colliders\":[{\"shape\":\"plane\"}]"),
        "run.glb", 40);
    open_file(&f, "run.glb");
    double worst = compare_run(&r, &f);
    if (!(worst <= 1e-5 + 1e-7 * 100000)) /* floats are coarse far away */
        fail_msg("off by %g of the body's size", worst);
    close_file(&f);
    free_run(&r);
}

static void near_the_middle_it_is_closer(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(
        &r,
        SCENE(BAR ",{\"name\":\"ring\",\"model\":\"ring\",\"position\":[0,1,0],\"spin\":[3,1,9]}",
              ",\"colliders\":[{\"shape\":\"plane\"}]"),
        "near.glb", 60);
    open_file(&f, "near.glb");
    double worst = compare_run(&r, &f);
    if (!(worst <= 1.05e-5))
        fail_msg("off by %g of the body's size", worst);
    close_file(&f);
    free_run(&r);
}

/* In the last frame exactly, before that nearly. */
static void what_breaks_has_the_skin_of_its_pieces(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(&r, BREAKING(""), "broken.glb", 40);
    pl_body_info info;
    const pl_play *play = r.stage.play;
    assert_int_equal(pl_body_get_info(play->world, play->bodies[0].handle, &info), PL_OK);
    assert_true(info.piece_count >= 2);
    open_file(&f, "broken.glb");
    double last = compare_from(&r, &f, r.frames - 1), any = compare_run(&r, &f);
    print_message("off by %.2g in the end, %.2g at most\n", last, any);
    assert_true(last <= 2e-5);
    assert_true(any < 0.05);
    close_file(&f);
    free_run(&r);
}

static void our_own_reader_reads_it(void **state)
{
    (void)state;
    run r;
    pl_mesh mesh;
    pl_error error = {0};
    record_run(&r, SCENE(BAR, ""), "read.glb", 3);
    if (pl_mesh_load(path_of("read.glb"), NULL, &mesh, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_info info = r.stage.play->bodies[0].info;
    assert_int_equal(mesh.vertex_count, info.vertex_count);
    assert_int_equal(mesh.triangle_count, info.triangle_count);
    assert_non_null(mesh.look.normals);
    assert_memory_equal(mesh.triangles, pl_model_triangles(r.stage.play->bodies[0].model),
                        3 * (size_t)info.triangle_count * sizeof(int32_t));
    pl_mesh_free(&mesh);
    free_run(&r);
}

static void instances_share_their_geometry(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(&r,
               SCENE("{\"name\":\"a\",\"model\":\"ring\"},{\"name\":\"b\",\"model\":\"ring\","
                     "\"position\":[5,0,0]}",
                     ""),
               "two.glb", 2);
    open_file(&f, "two.glb");
    uint32_t first = item(&f, "skins", 0), second = item(&f, "skins", 1);
    assert_int_equal(number(&f, first, "inverseBindMatrices", -1),
                     number(&f, second, "inverseBindMatrices", -2));
    assert_int_equal(length_of(&f, "meshes"), 1);
    assert_int_equal(length_of(&f, "skins"), 2);
    close_file(&f);
    free_run(&r);
}

static void what_leaves_is_hidden(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(&r,
               SCENE(BAR ",{\"name\":\"ring\",\"model\":\"ring\",\"position\":[3,1,0]}",
                     ",\"events\":[{\"at\":0.1,\"remove\":[\"ring\"]}]"),
               "event.glb", 12);
    assert_null(r.vertices[12][1]);
    assert_non_null(r.vertices[1][1]);
    open_file(&f, "event.glb");
    double worst = compare_run(&r, &f);
    if (!(worst <= 1.05e-5))
        fail_msg("off by %g of the body's size", worst);
    close_file(&f);
    free_run(&r);
}

/* ---- Colliders ------------------------------------------------------------------------------- */

/* Volume inside the triangles of a rigid node's mesh: positive where they are wound as glTF
   says. */
static double volume_of(const file *f, int node)
{
    uint32_t mesh = item(f, "meshes", number(f, item(f, "nodes", node), "mesh", -1));
    uint32_t primitive = pl_json_element(f->json, at(f, mesh, "primitives"), 0);
    accessor p = find_accessor(f, number(f, at(f, primitive, "attributes"), "POSITION", -1));
    accessor indices = find_accessor(f, number(f, primitive, "indices", -1));
    double sum = 0, c[3][3];
    for (int t = 0; t < indices.count / 3; t++) {
        for (int i = 0; i < 9; i++)
            c[i / 3][i % 3] = value(&p, (int)value(&indices, 3 * t + i / 3, 0), i % 3);
        sum += c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) +
               c[0][1] * (c[1][2] * c[2][0] - c[1][0] * c[2][2]) +
               c[0][2] * (c[1][0] * c[2][1] - c[1][1] * c[2][0]);
    }
    return sum / 6;
}

static int find_node(const file *f, const char *name)
{
    uint32_t node = at(f, 0, "nodes") + 1;
    for (int i = 0; i < length_of(f, "nodes"); i++, node = pl_json_next(f->json, node))
        if (strcmp(pl_json_string(f->json, at(f, node, "name")), name) == 0)
            return i;
    fail_msg("there is no node %s", name);
    return -1;
}

static bool is_animated(const file *f, int node)
{
    uint32_t channels = at(f, item(f, "animations", 0), "channels"), channel = channels + 1;
    for (uint32_t i = 0; i < f->json->nodes[channels].as.container.count; i++) {
        if (number(f, at(f, channel, "target"), "node", -1) == node)
            return true;
        channel = pl_json_next(f->json, channel);
    }
    return false;
}

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%g is not %g", value, wanted);
}

static void colliders_are_there(void **state)
{
    (void)state;
    run r;
    file f;
    record_run(
        &r,
        SCENE(BAR,
              ",\"colliders\":["
              "{\"name\":\"box\",\"shape\":\"box\",\"half\":[1,2,3],\"position\":[9,0,0]},"
              "{\"name\":\"ball\",\"shape\":\"sphere\",\"radius\":1,\"position\":[0,9,0]},"
              "{\"name\":\"pill\",\"shape\":\"capsule\",\"radius\":1,\"length\":2,\"position\":"
              "[0,0,9],\"turn\":{\"axis\":[0,1,0],\"centre\":[0,0,0],\"speed\":90}},"
              "{\"name\":\"mesh\",\"shape\":\"mesh\",\"position\":[9,9,9],\"vertices\":[[0,0,0],"
              "[0,0,1],[1,0,0],[0,1,0]],\"triangles\":[[0,2,1],[0,1,3],[1,2,3],[0,3,2]]},"
              "{\"name\":\"floor\",\"shape\":\"plane\",\"position\":[0,-5,0]}]"),
        "colliders.glb", 30);
    open_file(&f, "colliders.glb");
    near(volume_of(&f, find_node(&f, "box")), 48, 1e-5);
    near(volume_of(&f, find_node(&f, "ball")), 4.18879, 0.1);
    near(volume_of(&f, find_node(&f, "pill")), 4.18879 + 6.28319, 0.2);
    near(fabs(volume_of(&f, find_node(&f, "mesh"))), 1.0 / 6, 1e-6);
    assert_false(is_animated(&f, find_node(&f, "box")));
    assert_false(is_animated(&f, find_node(&f, "floor")));
    assert_true(is_animated(&f, find_node(&f, "pill")));
    int pill = find_node(&f, "pill");
    for (int frame = 0; frame <= 30; frame++) {
        place *places = pose_at(&f, (double)(float)r.times[frame]);
        double angle = 1.5707963267948966 * r.times[frame];
        near(places[pill].t[0], 9 * sin(angle), 1e-4);
        near(places[pill].t[2], 9 * cos(angle), 1e-4);
        near(fabs(places[pill].q[1]), fabs(sin(angle / 2)), 1e-5);
        free(places);
    }
    close_file(&f);
    free_run(&r);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void keys_that_a_line_gives_are_left_out(void **state)
{
    (void)state;
    enum { N = 100 };
    float times[N], values[4 * N];
    uint8_t mask[(N + 7) / 8];
    for (int i = 0; i < N; i++)
        times[i] = (float)i / 60;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < 3 * N; i++)
            values[i] = i % 3       ? 1
                        : kind == 0 ? 7
                        : kind == 1 ? (float)(i / 3) * 0.5f
                        : kind == 2 ? fabsf((float)(i / 3) - 40)
                                    : (float)(i / 3) * (float)(i / 3) * 1e-3f;
        memset(mask, 0, sizeof mask);
        int count = pl_glb_reduce(PL_GLB_TRANSLATION, times, values, N, 1e-4f, mask);
        static const int wanted[4] = {1, 2, 3, 0};
        if (kind < 3)
            assert_int_equal(count, wanted[kind]);
        /* Between keys n frames apart a parabola a t² is off by a n²/4: here n may be 0.63. */
        else
            assert_int_equal(count, N);
    }
    /* Turning evenly by 1 degree a frame: what is kept must be within the tolerance on arc and
       chord. */
    for (int i = 0; i < N; i++) {
        double half = 0.5 * 0.017453292519943295 * i;
        float q[4] = {0, (float)sin(half), 0, (float)cos(half)};
        memcpy(values + 4 * i, q, sizeof q);
    }
    memset(mask, 0, sizeof mask);
    int count = pl_glb_reduce(PL_GLB_ROTATION, times, values, N, 1e-3f, mask);
    assert_in_range(count, 3, 20);
    for (int from = 0, i = 1; i < N; i++) {
        if (!(mask[i / 8] >> i % 8 & 1))
            continue;
        for (int k = from + 1; k < i; k++) {
            double a[4], b[4], arc[4], t = (double)(k - from) / (i - from), off = 0, chord = 0;
            for (int c = 0; c < 4; c++)
                a[c] = (double)values[4 * from + c], b[c] = (double)values[4 * i + c];
            slerp(a, b, t, arc);
            double straight[4], length = 0;
            for (int c = 0; c < 4; c++) {
                straight[c] = a[c] + (b[c] - a[c]) * t;
                length += straight[c] * straight[c];
            }
            for (int c = 0; c < 4; c++) {
                off += pow(arc[c] - (double)values[4 * k + c], 2);
                chord += pow(straight[c] / sqrt(length) - (double)values[4 * k + c], 2);
            }
            assert_true(2 * sqrt(off) <= 1e-3 && 2 * sqrt(chord) <= 1e-3);
        }
        from = i;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_are_where_ours_are),
        cmocka_unit_test(near_the_middle_it_is_closer),
        cmocka_unit_test(what_breaks_has_the_skin_of_its_pieces),
        cmocka_unit_test(our_own_reader_reads_it),
        cmocka_unit_test(instances_share_their_geometry),
        cmocka_unit_test(what_leaves_is_hidden),
        cmocka_unit_test(colliders_are_there),
        cmocka_unit_test(keys_that_a_line_gives_are_left_out),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

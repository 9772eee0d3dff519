/* OFF with its prefixes, comments, colours of both scales; mistakes; harm. */
#include "mesh_cases.h"

static const char square[] = "OFF\n# a square and a tip\n5 3 0\n\n0 0 0\n2 0 0 # corner\n2 2 0\n"
                             "0 2 0\n1 1 1.5\n4 0 1 2 3\n3 0 1 4 255 0 0\n2 0 1\n";

static void reads_plain(void **state)
{
    (void)state;
    static const char *const same[] = {
        square,
        "OFF 5 3 0\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n1 1 1.5\n4 0 1 2 3\n3 0 1 4\n1 0",
        "5 3\r\n0 0 0\r\n2 0 0\r\n2 2 0\r\n0 2 0\r\n1 1 1.5\r\n4 0 1 2 3\r\n3 0 1 4 0.5 0.5 0.5\r\n"
        "0\r\n",
        "# first\n\nOFF # here\n5\n3\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n1 1 1.5\n4 0 1 2 3\n3 0 1 4\n0\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pl_mesh mesh = read_text(same[i], "t.off");
        assert_int_equal(mesh.vertex_count, 5);
        assert_int_equal(mesh.triangle_count, 3);
        check_ints(mesh.triangles, (int32_t[]){0, 1, 2, 0, 2, 3, 0, 1, 4}, 9);
        assert_true(mesh.positions[3 * 4 + 2] == 1.5);
        assert_true(!mesh.look.colours && !mesh.look.normals && !mesh.look.uv_set_count);
        pl_mesh_free(&mesh);
    }
}

static void reads_attributes(void **state)
{
    (void)state;
    static const char *const colours[] = {
        "COFF\n3 1 0\n0 0 0 255 0 51 255\n1 0 0 0 255 0 128\n0 1 0 0 0 0 0\n3 0 1 2\n",
        "COFF\n3 1 0\n0 0 0 1 0 .2 1\n1 0 0 0 1 0 0.50196078\n0 1 0 0 0 0 0\n3 0 1 2\n",
        "CNOFF\n3 1 0\n0 0 0 0 0 1 1 0 .2 1\n1 0 0 0 0 1 0 1 0 0.50196078\n0 1 0 0 0 2 0 0 0 0\n"
        "3 0 1 2\n",
        "STCNOFF\n3 1 0\n0 0 0 0 0 1 1 0 .2 1 .25 .5\n1 0 0 0 0 1 0 1 0 0.50196078 0 0\n"
        "0 1 0 0 0 1 0 0 0 0 1 1\n3 0 1 2\n",
    };
    static const float wanted[] = {1, 0, 0.03310477f, 1, 0, 1, 0, 0.50196078f, 0, 0, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        pl_mesh mesh = read_text(colours[i], "t.coff");
        check_near(mesh.look.colours, wanted, 12, 1e-7);
        assert_int_equal(!mesh.look.normals, i < 2);
        if (i >= 2)
            check_near(mesh.look.normals + 6, (float[]){0, 0, 1}, 3, 0);
        assert_int_equal(mesh.look.uv_set_count, i == 3);
        if (i == 3)
            check_near(mesh.look.uvs[0], (float[]){.25f, .5f, 0, 1, 1, 0}, 6, 0);
        pl_mesh_free(&mesh);
    }
    pl_mesh mesh =
        read_text("COFF\n2 0 0\n0 0 0 255 0 0\n0 0 1 0 0 255 0\n", "three or four numbers");
    check_near(mesh.look.colours, (float[]){1, 0, 0, 1, 0, 0, 1, 0}, 8, 0);
    pl_mesh_free(&mesh);
    mesh = read_text("STOFF\n1 0 0\n0 0 0 0.5 0.25\n", "x");
    check_near(mesh.look.uvs[0], (float[]){0.5f, 0.75f}, 2, 0);
    pl_mesh_free(&mesh);
}

static void names_the_line_of_mistakes(void **state)
{
    (void)state;
    refuse("OFF BINARY\n", "t.off", "t.off:1", "save it as text");
    refuse("4OFF\n1 0 0\n0 0 0 0\n", "t.off", "t.off:1", "dimension");
    refuse("nOFF\n3\n1 0 0\n0 0 0 0\n", "t.off", "t.off:1", "dimension");
    refuse("OOF\n", "t.off", "t.off:1", "not 'OOF'");
    refuse("OFF\n", "t.off", "t.off:2", "the number of vertices is missing");
    refuse("OFF\n1000000000 0 0\n0 0 0\n", "t.off", "t.off:2", "only");
    refuse("OFF\n-1 0 0\n", "t.off", "t.off:2", "from 0 to");
    refuse("OFF\n1 1000000000 0\n0 0 0\n3 0 0 0\n", "t.off", "t.off:2", "are promised");
    refuse("OFF\n2 0 0\n0 0 0  #####\n", "t.off", "t.off:4", "before vertex 1");
    refuse("OFF\n1 2 0\n0 0 0\n3 0 0 0 \n", "t.off", "t.off:5", "before face 1");
    refuse("OFF\n1 0 0\n0 0\n####\n", "t.off", "t.off:3", "missing: the line ends");
    refuse("OFF\n1 0 0\n0 0 NaN\n", "t.off", "t.off:3", "finite");
    refuse("OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "t.off", "t.off:4", "from 0 to 0, not '1'");
    refuse("OFF\n1 1 0\n0 0 0\n3 0 0\n", "t.off", "t.off:4", "missing");
    refuse("OFF\n1 1 0\n0 0 0\n999999999 0 0\n", "t.off", "t.off:4", "number of corners");
    refuse("OFF\n0 1 0\n1 0\n", "t.off", "t.off:3", "nothing it could name");
    refuse("OFF\n0 0 0\n", "t.off", "t.off", "no vertices");
}

static void cannot_be_hurt(void **state)
{
    (void)state;
    static const char other[] = "STCNOFF\n3 1 0\n0 0 0 0 0 1 1 0 .2 1 .25 .5\n"
                                "1 0 0 0 0 1 0 1 0 0 0\n0 1 0 0 0 1 0 0 0 0 1 1\n5 0 1 2 0 1 7\n";
    hurt(square, sizeof square - 1, "t.off", 1);
    hurt(other, sizeof other - 1, "t.off", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plain),
        cmocka_unit_test(reads_attributes),
        cmocka_unit_test(names_the_line_of_mistakes),
        cmocka_unit_test(cannot_be_hurt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* STL: text with several solids, binary (also with a header that claims to be text), mistakes,
   harm. */
#include "mesh_cases.h"

static const char two_solids[] = "solid first part\n"
                                 "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n"
                                 "  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\n"
                                 "FACET NORMAL 0 0 0\n OUTER LOOP\n  VERTEX 0 0 0.1\n"
                                 "  VERTEX 1 0 0.1\n  VERTEX 0 1 0.1\n ENDLOOP\nENDFACET\n"
                                 "endsolid first part\n"
                                 "solid\n facet normal nan nan nan outer loop vertex 0 0 0 "
                                 "vertex 0 0 1 vertex 0 1 0 endloop endfacet\nendsolid\n";

static size_t write_binary(uint8_t *bytes, const char *header, int count)
{
    memset(bytes, 0, 84);
    memcpy(bytes, header, strlen(header));
    bytes[80] = (uint8_t)count;
    size_t size = 84;
    for (int t = 0; t < count; t++) {
        float values[12] = {
            0, 0,       t == 1 ? 3.0f : t == 2 ? NAN : 1.0f, 0, 0, (float)t, 1, 0, (float)t, 0,
            1, (float)t};
        for (int i = 0; i < 12; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], 4);
            for (int k = 0; k < 4; k++)
                bytes[size++] = (uint8_t)(bits >> 8 * k);
        }
        bytes[size++] = 0xAB;
        bytes[size++] = 0xCD;
    }
    return size;
}

static void reads_text(void **state)
{
    (void)state;
    pl_mesh mesh = read_text(two_solids, "t.stl");
    assert_int_equal(mesh.vertex_count, 9);
    assert_int_equal(mesh.triangle_count, 3);
    for (int i = 0; i < 9; i++)
        assert_int_equal(mesh.triangles[i], i);
    assert_true(mesh.positions[3 * 4] == 1 && mesh.positions[3 * 4 + 2] == 0.1);
    assert_int_equal(mesh.look.group_count, 2);
    assert_string_equal(mesh.look.group_names[0], "first part");
    assert_string_equal(mesh.look.group_names[1], "");
    check_ints(mesh.look.triangle_groups, (int32_t[]){0, 0, 1}, 3);
    check_near(mesh.look.normals + 3 * 4, (float[]){0, 0, 1}, 3, 0);
    check_near(mesh.look.normals + 3 * 7, (float[]){-1, 0, 0}, 3, 0);
    pl_mesh_free(&mesh);
    mesh = read_text("solid facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 "
                     "endloop endfacet endsolid",
                     "unnamed");
    assert_int_equal(mesh.triangle_count, 1);
    pl_mesh_free(&mesh);
}

static void reads_binary(void **state)
{
    (void)state;
    static const char *const headers[] = {"made by hand", "solid made by hand", "solid\nfacet"};
    uint8_t bytes[84 + 50 * 3 + 7];
    for (int i = 0; i < 3; i++) {
        for (int extra = 0; extra < 8; extra += 7) {
            size_t size = write_binary(bytes, headers[i], 3) + (size_t)extra;
            pl_mesh mesh;
            assert_int_equal(try_bytes(bytes, size, "t.stl"), PL_OK);
            assert_int_equal(pl_mesh_parse(bytes, size, "t.stl", NULL, &mesh, NULL), PL_OK);
            assert_int_equal(mesh.vertex_count, 9);
            assert_int_equal(mesh.triangle_count, 3);
            assert_true(mesh.positions[3 * 4] == 1 && mesh.positions[3 * 4 + 2] == 1);
            for (int k = 0; k < 9; k++)
                check_near(mesh.look.normals + 3 * k, (float[]){0, 0, 1}, 3, 0);
            assert_int_equal(mesh.look.group_count, 0);
            pl_mesh_free(&mesh);
        }
    }
}

static void names_the_place_of_mistakes(void **state)
{
    (void)state;
    refuse("solid a\nfacet normal 0 0\n", "t.stl", "t.stl:3", "three numbers");
    refuse("solid a\nfacet norm 0 0 1\n", "t.stl", "t.stl:2", "'norm'");
    refuse("solid a\nfacet normal 0 0 1\nouter\n", "t.stl", "t.stl:4", "'loop'");
    refuse("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "t.stl", "t.stl:4",
           "finite");
    refuse("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvortex\n", "t.stl", "t.stl:5",
           "'vortex'");
    refuse("solid a\nquad\n", "t.stl", "t.stl:2", "'quad'");
    refuse("solid a\nendsolid a\n", "t.stl", "t.stl", "no vertices");
    refuse("short", "t.stl", "t.stl:byte 5", "within its header");
    uint8_t bytes[84 + 50 * 3];
    size_t size = write_binary(bytes, "x", 3);
    refuse_bytes(bytes, size - 1, "t.stl", "t.stl:byte 80", "promises 3 triangles, but only 2");
    bytes[83] = 0xFF;
    refuse_bytes(bytes, size, "t.stl", "t.stl:byte 80", "promises 4278190083");
    write_binary(bytes, "x", 3);
    memset(bytes + 84 + 50 + 12 + 8, 0xFF, 4);
    refuse_bytes(bytes, size, "t.stl", "t.stl:byte 154", "triangle 1 (from 0)");
    write_binary(bytes, "x", 0);
    refuse_bytes(bytes, 84, "t.stl", "t.stl", "no vertices");
}

static void cannot_be_hurt(void **state)
{
    (void)state;
    uint8_t bytes[84 + 50 * 3];
    hurt(two_solids, sizeof two_solids - 1, "t.stl", 1);
    hurt(bytes, write_binary(bytes, "solid", 3), "t.stl", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_text),
        cmocka_unit_test(reads_binary),
        cmocka_unit_test(names_the_place_of_mistakes),
        cmocka_unit_test(cannot_be_hurt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

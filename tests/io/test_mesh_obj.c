/* OBJ: what it may contain, where it is refused, and that nothing in it can hurt. */
#include "mesh_cases.h"

#include <sys/stat.h>
#include <unistd.h>

static const char cube[] = "# a cube\n"
                           "mtllib none.mtl\n"
                           "o Cube\n"
                           "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
                           "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                           "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                           "vn 0 0 -1\nvn 0 0 1\nvn 0 -1 0\n"
                           "s off\n"
                           "usemtl red\n"
                           "f 1/1/1 4/4/1 3/3/1 2/2/1\n"
                           "f 5/1/2 6/2/2 7/3/2 8/4/2\n"
                           "g sides\nusemtl blue paint\n"
                           "f 1//3 2//3 6//3 5//3\n"
                           "f 2/1 3/2 7/3 6/4\n"
                           "f -6 -5 -1 -2\n"
                           "f 4 1 5 8\n"
                           "l 1 2 3\n"
                           "p 1\n";

static void reads_a_cube(void **state)
{
    (void)state;
    pl_mesh mesh = read_text(cube, "cube.obj");
    assert_int_equal(mesh.triangle_count, 12);
    assert_int_equal(mesh.line_count, 2);
    check_ints(mesh.lines, (int32_t[]){0, 1, 1, 2}, 4);
    assert_int_equal(mesh.look.uv_set_count, 1);
    assert_int_equal(mesh.look.group_count, 2);
    assert_string_equal(mesh.look.group_names[0], "Cube");
    assert_string_equal(mesh.look.group_names[1], "sides");
    assert_int_equal(mesh.look.triangle_groups[3], 0);
    assert_int_equal(mesh.look.triangle_groups[4], 1);
    assert_int_equal(mesh.look.material_count, 2);
    assert_string_equal(mesh.look.materials[0].name, "red");
    assert_string_equal(mesh.look.materials[1].name, "blue paint");
    assert_int_equal(mesh.look.triangle_materials[3], 0);
    assert_int_equal(mesh.look.triangle_materials[11], 1);
    /* Position i is vertex i, with what the first face gives it: v runs down. */
    check_ints(mesh.triangles, (int32_t[]){0, 3, 2, 0, 2, 1}, 6);
    check_near(mesh.look.uvs[0] + 2 * 3, (float[]){0, 0}, 2, 0);
    check_near(mesh.look.uvs[0] + 2 * 1, (float[]){1, 1}, 2, 0);
    check_near(mesh.look.normals + 3 * 2, (float[]){0, 0, -1}, 3, 0);
    /* Further combinations follow, at the place of their position. */
    assert_int_equal(mesh.triangles[12], 8);
    check_near(mesh.look.normals + 3 * 8, (float[]){0, -1, 0}, 3, 0);
    for (int k = 0; k < 3; k++)
        assert_true(mesh.positions[3 * 8 + k] == mesh.positions[k]);
    pl_mesh_free(&mesh);
}

/* One combination per position: the file's order, unused vertices included. */
static void keeps_the_order_of_vertices(void **state)
{
    (void)state;
    pl_mesh mesh = read_text("v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 8 8 8\n"
                             "vt 0.25 0.75\nvt 1 0.5\nvt 0.125 1\n"
                             "f 4/3 2/1 3/2\n",
                             "t.obj");
    assert_int_equal(mesh.vertex_count, 5);
    check_ints(mesh.triangles, (int32_t[]){3, 1, 2}, 3);
    check_near(mesh.look.uvs[0], (float[]){0, 0, 0.25f, 0.25f, 1, 0.5f, 0.125f, 0, 0, 0}, 10, 0);
    assert_null(mesh.look.normals);
    pl_mesh_free(&mesh);
    /* Equal texture coordinates and normals written twice are one. */
    mesh = read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvn 0 0 1\nvn 0 0 1\nvt 0 0\nvt 0 0\n"
                     "f 1/1/1 2/1/1 3/1/1\nf 2/2/2 4/2/2 3/2/2\n",
                     "t.obj");
    assert_int_equal(mesh.vertex_count, 4);
    check_ints(mesh.triangles, (int32_t[]){0, 1, 2, 1, 3, 2}, 6);
    pl_mesh_free(&mesh);
}

static void reads_numbers_exactly(void **state)
{
    (void)state;
    pl_mesh mesh =
        read_text("v 1. .5 +3\nv 1e5 -1E-5 0.1\nv 123456789.123456789 1e-320 -0\n"
                  "v 0.30000000000000004 1234567890123456789012 .00000000000000000001e19",
                  "t.obj");
    static const double wanted[] = {1.,
                                    .5,
                                    3,
                                    1e5,
                                    -1e-5,
                                    0.1,
                                    123456789.123456789,
                                    1e-320,
                                    -0.0,
                                    0.30000000000000004,
                                    1234567890123456789012.0,
                                    .00000000000000000001e19};
    assert_int_equal(mesh.vertex_count, 4);
    assert_memory_equal(mesh.positions, wanted, sizeof wanted);
    assert_int_equal(mesh.triangle_count, 0);
    pl_mesh_free(&mesh);
}

static void reads_layouts(void **state)
{
    (void)state;
    static const char *const same[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
        "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3",
        "\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
        "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0",
        "v  0\t0 0  # origin\n\n   v 1 0 0\nv 0 1 0 1.0\n#f 1 2 3\nf  1  2  3  # all\n",
        "v 0 \\\n0 0\nv 1 0 0\nv 0 1 0\nf 1 \\\r\n2 \\\n 3\n",
        "# C:\\models\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/ 2/ 3/\nf 1 2\nf 3\nf\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nfo 1// 2// 3//\ncurv 0 1 2\nvp 0 0\nstrange things\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pl_mesh mesh = read_text(same[i], "t.obj");
        assert_int_equal(mesh.vertex_count, 3);
        assert_int_equal(mesh.triangle_count, 1);
        check_ints(mesh.triangles, (int32_t[]){0, 1, 2}, 3);
        assert_true(mesh.positions[3] == 1 && mesh.positions[7] == 1 && mesh.positions[6] == 0);
        pl_mesh_free(&mesh);
    }
}

static void reads_colours(void **state)
{
    (void)state;
    pl_mesh mesh = read_text("v 0 0 0 1 0.5 0\nv 1 0 0\nv 0 1 0 0.25 2 -1\nf 1 2 3\n", "t.obj");
    check_near(mesh.look.colours, (float[]){1, 0.21404114f, 0, 1, 1, 1, 1, 1, 0.05087609f, 1, 0, 1},
               12, 1e-6);
    pl_mesh_free(&mesh);
}

/* Faces before any group or material among others that have one. */
static void fills_in_groups_and_materials(void **state)
{
    (void)state;
    pl_mesh mesh = read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ng a\nf 1 2 3\ng\nf 1 2 3\n"
                             "g empty\ng a\nusemtl m\nf 1 2 3\n",
                             "t.obj");
    assert_int_equal(mesh.look.group_count, 3);
    assert_string_equal(mesh.look.group_names[0], "a");
    assert_string_equal(mesh.look.group_names[1], "default");
    assert_string_equal(mesh.look.group_names[2], "");
    check_ints(mesh.look.triangle_groups, (int32_t[]){2, 0, 1, 0}, 4);
    assert_int_equal(mesh.look.material_count, 2);
    check_ints(mesh.look.triangle_materials, (int32_t[]){1, 1, 1, 0}, 4);
    pl_mesh_free(&mesh);
}

static void names_the_line_of_mistakes(void **state)
{
    (void)state;
    refuse("v 0 0 0\nv 1 0 nan\n", "t.obj", "t.obj:2", "finite number, not 'nan'");
    refuse("v 0 0 0\nv 1 0 1e999\n", "t.obj", "t.obj:2", "finite");
    refuse("v 0 0 inf\n", "t.obj", "t.obj:1", "finite");
    refuse("\nv 0 0\nf 1 2 3", "t.obj", "t.obj:2", "missing");
    refuse("v 0 0 zero\n", "t.obj", "t.obj:1", "'zero'");
    refuse("v 0 0 1.2.3\n", "t.obj", "t.obj:1", "'1.2.3'");
    refuse("v 0 0 0\nvt\n", "t.obj", "t.obj:2", "texture coordinate is missing");
    refuse("v 0 0 0\nvn 1 0\n", "t.obj", "t.obj:2", "normal is missing");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 4\n", "t.obj", "t.obj:4", "has 3 vertices");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 0\n", "t.obj", "t.obj:4", "has 3 vertices");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 -4\n", "t.obj", "t.obj:4", "has 3 vertices");
    refuse("v 0 0 0\nv 0 0 1\nf -1 -2 -3\nv 0 1 0\n", "t.obj", "t.obj:3", "has 3 vertices");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1/1 2 3\n", "t.obj", "t.obj:4", "0 texture coordinates");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1//1 2 3\n", "t.obj", "t.obj:4", "0 normals");
    refuse("v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 \\\n 99999999999999999999999\n", "t.obj", "t.obj:5",
           "'99999999999999999999999'");
    refuse("v 0 0 0\nf 1 1 1/1/1/1\n", "t.obj", "t.obj:2", "texture");
    refuse("v 0 0 0\nvt 0 0\nvn 1 0 0\nf 1 1 1/1/1/1\n", "t.obj", "t.obj:4", "not a corner");
    refuse("v 0 0 0\nf 1 1 a\n", "t.obj", "t.obj:2", "'a' is not a corner");
    refuse("v 0 0 0\nf 1 1 1x\n", "t.obj", "t.obj:2", "'1x' is not a corner");
    refuse("v 0 0 0\nl 1 2\n", "t.obj", "t.obj:2", "has 1 vertices");
    refuse("# nothing\n", "t.obj", "t.obj", "no vertices");
    refuse("", "t.obj", "t.obj", "empty");
}

static void cannot_be_hurt(void **state)
{
    (void)state;
    hurt(cube, sizeof cube - 1, "cube.obj", 1);
    static const char other[] = "v 0 0 0 .1 .2 .3\nv 2 0 0 1 1 1\nv 2 2 0 0 0 0\nv 1 1 0\n"
                                "v 0 2 0\nvt .5\nvn 0 0 2\nf 1 2 3 \\\n4 5\ng a b\n"
                                "f 1/1/1 2/1/1 3/1/1 4//1 5/1/1\nusemtl x\nl -1 -2 -3\n";
    hurt(other, sizeof other - 1, "other.obj", 2);
}

/* A position with very many combinations, very many groups and materials: the time stays nearly
   linear. */
static void hostile_files_take_no_time(void **state)
{
    (void)state;
    enum { COUNT = 60000, ROOM = 40 * COUNT };
    char *text = malloc(ROOM);
    size_t used = (size_t)sprintf(text, "v 0 0 0\n");
    for (int i = 0; i < COUNT; i++)
        used += (size_t)sprintf(text + used, "vt %d 0\n", i);
    for (int i = 0; i < COUNT; i += 3)
        used += (size_t)sprintf(text + used, "f 1/%d 1/%d 1/%d\n", i + 1, i + 2, i + 3);
    text[used] = 0;
    pl_mesh mesh = read_text(text, "t.obj");
    assert_int_equal(mesh.vertex_count, COUNT);
    pl_mesh_free(&mesh);
    used = (size_t)sprintf(text, "v 0 0 0\n");
    for (int i = 0; i < COUNT; i++)
        used += (size_t)sprintf(text + used, "g n%d\nusemtl n%d\nf 1 1 1\n", i % 30000, i);
    mesh = read_text(text, "t.obj");
    assert_int_equal(mesh.look.group_count, 30000);
    assert_int_equal(mesh.look.material_count, COUNT);
    assert_int_equal(mesh.look.triangle_groups[COUNT - 1], 29999);
    assert_string_equal(mesh.look.group_names[29999], "n29999");
    pl_mesh_free(&mesh);
    free(text);
}

/* ---- Materials ------------------------------------------------------------------------------- */

static const char library[] =
    "# colours\nKd 1 1 1\nnewmtl red\nKd 0.5 0.25 0.125\nKe 0 0.5 0\n"
    "d 0.5\nPm 0.75\nPr 0.25\n"
    "map_Kd -s 2 2 2 -clamp on textures/red wood.PNG\n"
    "newmtl blue paint\nTr 0.25\nKd 0.5\nmap_Kd blue.jpg\nnorm blue.jpg\n"
    "newmtl odd\nKd spectral file.rfl\nd\nPr many\nmap_Kd\nKd 1\\\n 0 0\n";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void reads_materials(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant-mesh-XXXXXX", path[64], other[64];
    assert_non_null(mkdtemp(folder));
    sprintf(path, "%s/cube.obj", folder);
    sprintf(other, "%s/my none.mtl", folder);
    write_file(path, "mtllib my none.mtl\nmtllib missing.mtl /absolute.mtl ../../\n"
                     "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl blue paint\nf 1 2 3\nusemtl red\nf 1 2 3\n"
                     "usemtl unknown\nf 1 2 3\n");
    write_file(other, library);
    pl_mesh mesh;
    pl_error error;
    counting count;
    pl_allocator allocator = counting_allocator(&count);
    if (pl_mesh_load(path, &allocator, &mesh, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    check_mesh(&mesh);
    assert_int_equal(mesh.look.material_count, 4);
    check_ints(mesh.look.triangle_materials, (int32_t[]){1, 0, 3}, 3);
    const pl_look_material *red = &mesh.look.materials[0], *blue = red + 1, *odd = red + 2;
    assert_string_equal(red->name, "red");
    check_near(red->colour, (float[]){0.5f, 0.25f, 0.125f, 0.5f}, 4, 0);
    check_near(red->emission, (float[]){0, 0.5f, 0}, 3, 0);
    assert_true(red->metal == 0.75f && red->roughness == 0.25f && red->alpha == 2);
    assert_string_equal(mesh.look.images[red->textures[0]].name, "textures/red wood.PNG");
    assert_string_equal(mesh.look.images[red->textures[0]].mime, "image/png");
    check_near(blue->colour, (float[]){0.5f, 0.5f, 0.5f, 0.75f}, 4, 0);
    assert_int_equal(blue->textures[PL_TEXTURE_COLOUR], blue->textures[PL_TEXTURE_NORMAL]);
    assert_int_equal(mesh.look.image_count, 2);
    check_near(odd->colour, (float[]){1, 0, 0, 1}, 4, 0);
    assert_true(odd->roughness == 1 && odd->textures[0] == -1);
    free_strictly(&mesh, &count);
    /* Neither a changed library nor want of memory does harm. */
    pl_rng rng = pl_rng_make(5);
    for (int i = 0; i < 300; i++) {
        uint8_t changed[sizeof library + 64];
        memcpy(changed, library, sizeof library);
        size_t size = mutate(changed, sizeof library - 1, sizeof changed - 1, &rng);
        changed[size] = 0;
        write_file(other, (const char *)changed);
        count = (counting){.fail_at = i < 60 ? i : -1};
        pl_status status = pl_mesh_load(path, &allocator, &mesh, &error);
        assert_true(status == PL_OK || (i < 60 && status == PL_ERROR_MEMORY));
        free_strictly(&mesh, &count);
    }
    unlink(other);
    count = (counting){.fail_at = -1};
    assert_int_equal(pl_mesh_load(path, &allocator, &mesh, &error), PL_OK);
    assert_int_equal(mesh.look.material_count, 3);
    free_strictly(&mesh, &count);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_cube),
        cmocka_unit_test(keeps_the_order_of_vertices),
        cmocka_unit_test(reads_numbers_exactly),
        cmocka_unit_test(reads_layouts),
        cmocka_unit_test(reads_colours),
        cmocka_unit_test(fills_in_groups_and_materials),
        cmocka_unit_test(names_the_line_of_mistakes),
        cmocka_unit_test(cannot_be_hurt),
        cmocka_unit_test(hostile_files_take_no_time),
        cmocka_unit_test(reads_materials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

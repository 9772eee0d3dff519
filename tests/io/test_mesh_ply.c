/* PLY: text and both byte orders hold the same mesh; properties of any type in any order; mistakes;
   harm. */
#include "mesh_cases.h"

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct writer {
    int format; /* 0 text, 1 little endian, 2 big endian */
    size_t size;
    uint8_t bytes[8192];
} writer;

static void put_text(writer *w, const char *text)
{
    size_t length = strlen(text);
    assert_true(w->size + length < sizeof w->bytes);
    memcpy(w->bytes + w->size, text, length);
    w->size += length;
}

static void put_bytes(writer *w, uint64_t bits, int size)
{
    for (int i = 0; i < size; i++)
        w->bytes[w->size++] = (uint8_t)(bits >> 8 * (w->format == 2 ? size - 1 - i : i));
}

/* Types as in PLY: "char", "uchar", "short", "ushort", "int", "uint", "float", "double". */
static void put(writer *w, const char *type, double value)
{
    char text[40];
    if (w->format == 0) {
        snprintf(text, sizeof text, "%.17g ", value);
        put_text(w, text);
        return;
    }
    float single = (float)value;
    uint64_t bits =
        (uint64_t)(int64_t)(strcmp(type, "double") && strcmp(type, "float") ? value : 0);
    uint32_t single_bits;
    memcpy(&single_bits, &single, 4);
    if (strcmp(type, "double") == 0) {
        memcpy(&bits, &value, 8);
        put_bytes(w, bits, 8);
    } else if (strcmp(type, "float") == 0) {
        put_bytes(w, single_bits, 4);
    } else {
        put_bytes(w, bits, strstr(type, "char") ? 1 : strstr(type, "short") ? 2 : 4);
    }
}

static void put_header(writer *w, int format, const char *rest)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    *w = (writer){.format = format};
    put_text(w, "ply\nformat ");
    put_text(w, names[format]);
    put_text(w, " 1.0\ncomment made by hand\nobj_info no\n");
    put_text(w, rest);
    put_text(w, "end_header\n");
}

static pl_mesh read_written(const writer *w)
{
    pl_mesh mesh;
    pl_error error;
    assert_int_equal(try_bytes(w->bytes, w->size, "t.ply"), PL_OK);
    if (pl_mesh_parse(w->bytes, w->size, "t.ply", NULL, &mesh, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return mesh;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const double corners[5][3] = {
    {0, 0, 0}, {1.5, 0, 0}, {1.5, 2, 0}, {0, 2, 0.25}, {-0.125, 1, 0}};

/* Everything there is: extra elements before and between, lists in vertices, quads, a pentagon,
   strips, edges. */
static void write_everything(writer *w, int format)
{
    put_header(w, format,
               "element camera 2\nproperty list uchar float view\nproperty short shutter\n"
               "element vertex 5\nproperty uchar red\nproperty double z\nproperty uchar green\n"
               "property list uint ushort links\nproperty uchar blue\nproperty float x\n"
               "property float32 s\nproperty float y\nproperty float64 nx\nproperty float ny\n"
               "property float nz\nproperty ushort alpha\nproperty float t\nproperty char quality\n"
               "element nothing 1000000000000\n"
               "element face 2\nproperty uchar red\nproperty list uchar int vertex_indices\n"
               "property list int8 float texcoord\n"
               "element tristrips 1\nproperty list int int vertex_indices\n"
               "element edge 1\nproperty int vertex1\nproperty int vertex2\nproperty uchar red\n");
    for (int i = 0; i < 2; i++) {
        put(w, "uchar", i + 1);
        for (int k = 0; k <= i; k++)
            put(w, "float", 0.5);
        put(w, "short", -7);
    }
    for (int i = 0; i < 5; i++) {
        put(w, "uchar", 51 * i);
        put(w, "double", corners[i][2]);
        put(w, "uchar", 255);
        put(w, "uint", i);
        for (int k = 0; k < i; k++)
            put(w, "ushort", 40000);
        put(w, "uchar", 0);
        put(w, "float", corners[i][0]);
        put(w, "float", 0.25 * i);
        put(w, "float", corners[i][1]);
        put(w, "double", 0);
        put(w, "float", i == 3 ? 0 : 2);
        put(w, "float", 0);
        put(w, "ushort", 65535);
        put(w, "float", 0.125 * i);
        put(w, "char", -100);
    }
    put(w, "uchar", 200);
    put(w, "uchar", 5);
    for (int i = 0; i < 5; i++)
        put(w, "int", i);
    put(w, "char", 1);
    put(w, "float", 1.5);
    put(w, "uchar", 200);
    put(w, "uchar", 2);
    put(w, "int", 0);
    put(w, "int", 1);
    put(w, "char", 0);
    static const int strip[] = {0, 1, 3, 2, -1, 4, 2, 3};
    put(w, "int", 8);
    for (int i = 0; i < 8; i++)
        put(w, "int", strip[i]);
    put(w, "int", 4);
    put(w, "int", 0);
    put(w, "uchar", 9);
}

static void reads_everything(void **state)
{
    (void)state;
    for (int format = 0; format < 3; format++) {
        writer w;
        write_everything(&w, format);
        pl_mesh mesh = read_written(&w);
        assert_int_equal(mesh.vertex_count, 5);
        assert_memory_equal(mesh.positions, corners, sizeof corners);
        assert_int_equal(mesh.triangle_count, 3 + 2 + 1);
        check_ints(mesh.triangles + 9, (int32_t[]){0, 1, 3, 3, 1, 2, 4, 2, 3}, 9);
        assert_int_equal(mesh.line_count, 1);
        check_ints(mesh.lines, (int32_t[]){4, 0}, 2);
        check_near(mesh.look.colours + 4, (float[]){0.03310477f, 1, 0, 1}, 4, 1e-7);
        check_near(mesh.look.uvs[0] + 6, (float[]){0.75f, 0.625f}, 2, 0);
        check_near(mesh.look.normals, (float[]){0, 1, 0}, 3, 0);
        /* The file has none for this vertex: the mean of its faces. */
        assert_true(mesh.look.normals[3 * 3 + 2] > 0.9f);
        pl_mesh_free(&mesh);
    }
}

static void reads_all_index_types(void **state)
{
    (void)state;
    static const char *const types[] = {"char", "uchar", "short", "ushort",
                                        "int",  "uint",  "float", "double"};
    for (int format = 0; format < 3; format++)
        for (int count = 0; count < 6; count++)
            for (int index = 0; index < 8; index++) {
                writer w;
                char header[256];
                snprintf(header, sizeof header,
                         "element face 1\nproperty list %s %s vertex_index\n"
                         "element vertex 4\nproperty %s y\nproperty %s x\nproperty %s z\n",
                         types[count], types[index], types[index], types[index], types[index]);
                put_header(&w, format, header);
                put(&w, types[count], 4);
                for (int i = 0; i < 4; i++)
                    put(&w, types[index], 3 - i);
                for (int i = 0; i < 4; i++) {
                    put(&w, types[index], i);
                    put(&w, types[index], 10 * i);
                    put(&w, types[index], 100);
                }
                pl_mesh mesh = read_written(&w);
                assert_int_equal(mesh.triangle_count, 2);
                check_ints(mesh.triangles, (int32_t[]){3, 2, 1, 3, 1, 0}, 6);
                for (int i = 0; i < 4; i++)
                    assert_true(mesh.positions[3 * i] == 10 * i && mesh.positions[3 * i + 1] == i &&
                                mesh.positions[3 * i + 2] == 100);
                pl_mesh_free(&mesh);
            }
}

static const char textured[] = "ply\nformat ascii 1.0\ncomment TextureFile wood.png\n"
                               "element vertex 4\nproperty float x\nproperty float y\n"
                               "property float z\nelement face 3\n"
                               "property list uchar int vertex_indices\n"
                               "property list uchar float texcoord\nend_header\n"
                               "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
                               "3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0.5 0 1 1 0 1\n3 0 1 2 0\n";

/* Texture coordinates of corners: vertices where they differ are split, positions keep their
   numbers. */
static void reads_texture_coordinates_of_corners(void **state)
{
    (void)state;
    pl_mesh mesh = read_text(textured, "t.ply");
    assert_int_equal(mesh.triangle_count, 3);
    check_ints(mesh.triangles, (int32_t[]){0, 1, 2, 4, 2, 3, 5, 6, 7}, 9);
    check_near(mesh.look.uvs[0], (float[]){0, 1, 1, 1, 1, 0, 0, 0, 0.5f, 1, 0, 0}, 12, 0);
    assert_int_equal(mesh.look.material_count, 1);
    assert_string_equal(mesh.look.images[mesh.look.materials[0].textures[0]].name, "wood.png");
    pl_mesh_free(&mesh);
    /* Faces without any keep those of the vertices. */
    mesh = read_text("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                     "property float z\nproperty float s\nproperty float t\nelement face 2\n"
                     "property list uchar int vertex_indices\n"
                     "property list uchar float texcoord\nend_header\n"
                     "0 0 0 .25 .25\n1 0 0 .25 .25\n1 1 0 .25 .25\n"
                     "3 0 1 2 6 0 0 1 0 1 1\n3 0 1 2 0\n",
                     "t.ply");
    check_near(mesh.look.uvs[0], (float[]){0, 1, 1, 1, 1, 0, .25f, .75f, .25f, .75f, .25f, .75f},
               12, 0);
    pl_mesh_free(&mesh);
}

#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"

static void reads_layouts(void **state)
{
    (void)state;
    static const char *const same[] = {
        HEAD "element vertex 3\n" XYZ "element face 1\nproperty list uchar int vertex_indices\n"
             "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2",
        "ply\r\nformat ascii 1.0\r\nelement vertex 3\r\nproperty float x\r\nproperty float y\r\n"
        "property float z\r\nelement face 1\r\nproperty list uchar int vertex_indices\r\n"
        "end_header\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n",
        "ply\rformat ascii 1.0\relement vertex 3\rproperty float x\rproperty float y\r"
        "property float z\relement face 1\rproperty list uchar int vertex_indices\r"
        "end_header\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r",
        HEAD "element vertex 3\n" XYZ "property float quality\nelement face 3\n"
             "property list uchar int vertex_indices\n"
             "end_header\n0 0 0 nan 1 0 0 inf 0 1 0 -\n\n3 0 1 2 2 0 1 0\n\ntrailing words",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pl_mesh mesh = read_text(same[i], "t.ply");
        assert_int_equal(mesh.vertex_count, 3);
        assert_int_equal(mesh.triangle_count, 1);
        check_ints(mesh.triangles, (int32_t[]){0, 1, 2}, 3);
        assert_true(mesh.positions[3] == 1 && mesh.positions[7] == 1);
        pl_mesh_free(&mesh);
    }
    /* Points alone are a mesh too. */
    pl_mesh mesh = read_text(HEAD "element vertex 1\n" XYZ "end_header\n1 2 3\n", "t.ply");
    assert_int_equal(mesh.triangle_count, 0);
    pl_mesh_free(&mesh);
}

static void names_the_place_of_mistakes(void **state)
{
    (void)state;
    refuse("ply\nformat ascii 1.0\nelement vertex 1\n", "t.ply", "t.ply:4", "within its header");
    refuse("plywood", "t.ply", "t.ply:1", "line 'ply'");
    refuse("ply\nelement vertex 1\n" XYZ "end_header\n0 0 0", "t.ply", "t.ply:6",
           "no line 'format'");
    refuse("ply\nformat text 1.0\n", "t.ply", "t.ply:2", "'text'");
    refuse(HEAD "property float x\n", "t.ply", "t.ply:3", "without an element");
    refuse(HEAD "element vertex 1\nproperty real x\n", "t.ply", "t.ply:4", "'real'");
    refuse(HEAD "element vertex 1\nproperty list real int x\n", "t.ply", "t.ply:4", "'real'");
    refuse(HEAD "element vertex -1\n", "t.ply", "t.ply:3", "number of elements");
    refuse(HEAD "elephant vertex 1\n", "t.ply", "t.ply:3", "'elephant'");
    refuse(HEAD "element vertex 1\nproperty float x\nend_header\n0\n", "t.ply", "t.ply:6",
           "x, y and z");
    refuse(HEAD "element vertex 1000000000\n" XYZ "end_header\n0 0 0\n", "t.ply", "t.ply:8",
           "promises 1000000000");
    refuse(HEAD "element vertex 0\n" XYZ "end_header\n", "t.ply", "t.ply", "no vertices");
    refuse(HEAD "element vertex 1\n" XYZ "end_header\n0 0 nan\n", "t.ply", "t.ply:8", "finite");
    refuse(HEAD "element vertex 2\n" XYZ "end_header\n0.0000 0 0 1 \n 1\n", "t.ply", "t.ply:10",
           "missing");
    refuse(HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\n"
                "end_header\n0 0 0\n3 0 0 1\n",
           "t.ply", "t.ply:11", "from 0 to 0, not 1");
    refuse(HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\n"
                "end_header\n0 0 0\n3 0 0 -1\n",
           "t.ply", "t.ply:11", "not -1");
    refuse(HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\n"
                "end_header\n0 0 0\n3 0 0 0.5\n",
           "t.ply", "t.ply:11", "not 0.5");
    refuse(HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\n"
                "end_header\n0 0 0\n255 0 0 0\n",
           "t.ply", "t.ply:11", "255 entries does not fit");
    refuse(HEAD "element vertex 1\n" XYZ "element face 1\nproperty list char int vertex_indices\n"
                "end_header\n0 0 0\n-3 0 0 0\n",
           "t.ply", "t.ply:11", "-3 entries");
}

static void names_the_byte_of_mistakes(void **state)
{
    (void)state;
    writer w;
    char where[64];
    put_header(&w, 1, "element vertex 1\n" XYZ);
    size_t start = w.size;
    put(&w, "float", 0);
    put(&w, "float", NAN);
    put(&w, "float", 0);
    snprintf(where, sizeof where, "t.ply:byte %zu", start + 8);
    refuse_bytes(w.bytes, w.size, "t.ply", where, "vertex 0 (from 0) is not a finite number");
    refuse_bytes(w.bytes, w.size - 2, "t.ply", "t.ply:10", "promises 1 elements of 12");
    put_header(&w, 2,
               "element vertex 1\n" XYZ "element face 1\n"
               "property list uint double vertex_indices\n");
    for (int i = 0; i < 3; i++)
        put(&w, "float", 0);
    put(&w, "uint", 4294967295.0);
    put(&w, "double", 0);
    snprintf(where, sizeof where, "t.ply:byte %zu", w.size - 8);
    refuse_bytes(w.bytes, w.size, "t.ply", where, "does not fit");
}

static void cannot_be_hurt(void **state)
{
    (void)state;
    for (int format = 0; format < 3; format++) {
        writer w;
        write_everything(&w, format);
        hurt(w.bytes, w.size, "t.ply", (uint64_t)format);
    }
    hurt(textured, sizeof textured - 1, "t.ply", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(reads_all_index_types),
        cmocka_unit_test(reads_texture_coordinates_of_corners),
        cmocka_unit_test(reads_layouts),
        cmocka_unit_test(names_the_place_of_mistakes),
        cmocka_unit_test(names_the_byte_of_mistakes),
        cmocka_unit_test(cannot_be_hurt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

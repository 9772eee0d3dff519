/* The glTF reader: every way to store an accessor, to index it and to place it must give the same
   mesh; what a viewer would show is what must come out; and what is wrong must be refused. */
#include "mesh_torture.h"

#include <sys/stat.h>
#include <unistd.h>

#define SHARED PLIANT_SOURCE_DIR "/../shared/meshes/glb/"

enum { ENOUGH = 1 << 25 };

/* A tetrahedron, with normals of its corners (not its faces). */
static const double points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

/* ---- Making files ---------------------------------------------------------------------------- */

static void put_base64(bytes *to, const bytes *from)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < from->size; i += 3) {
        uint32_t bits = 0;
        size_t count = from->size - i < 3 ? from->size - i : 3;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? from->data[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            put_text(to, "%c", k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
}

static void put_document(bytes *to, const char *body, const bytes *buffer, bool embed)
{
    put_text(to, "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu", buffer->size);
    if (embed) {
        put_text(to, ",\"uri\":\"data:application/octet-stream;base64,");
        put_base64(to, buffer);
        put_text(to, "\"");
    }
    put_text(to, "}],\n%s}", body);
}

/* The body is a document without its beginning: asset and buffers. */
static void make_gltf(bytes *out, const char *body, const bytes *buffer)
{
    out->size = 0;
    put_document(out, body, buffer, true);
}

static void make_glb(bytes *out, const char *body, const bytes *buffer)
{
    bytes *json = calloc(1, sizeof *json);
    put_document(json, body, buffer, false);
    while (json->size % 4)
        put_text(json, " ");
    size_t binary = (buffer->size + 3) / 4 * 4;
    out->size = 0;
    put_text(out, "glTF");
    put_u32(out, 2);
    put_u32(out, (uint32_t)(12 + 8 + json->size + 8 + binary));
    put_u32(out, (uint32_t)json->size);
    put_text(out, "JSON");
    put(out, json->data, json->size);
    put_u32(out, (uint32_t)binary);
    put(out, "BIN", 4);
    put(out, buffer->data, buffer->size);
    while (out->size % 4)
        put(out, "", 1);
    free(json);
}

static pl_mesh read_body(const char *body, const bytes *buffer)
{
    bytes *file = calloc(1, sizeof *file);
    make_glb(file, body, buffer);
    pl_mesh mesh = accept(file->data, file->size, "body.glb");
    make_gltf(file, body, buffer);
    pl_mesh again = accept(file->data, file->size, "body.gltf");
    assert_int_equal(again.vertex_count, mesh.vertex_count);
    assert_memory_equal(again.positions, mesh.positions,
                        3 * sizeof(double) * (size_t)mesh.vertex_count);
    pl_mesh_free(&again);
    free(file);
    return mesh;
}

/* The tetrahedron: positions, then indices of 2 bytes. */
static void put_tetrahedron(bytes *buffer)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            put_f32(buffer, points[i][k]);
    for (int i = 0; i < 12; i++)
        put_u16(buffer, (uint32_t)faces[i / 3][i % 3]);
}

#define TETRAHEDRON                                                                                \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},"                                           \
    "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24}],\n"                                       \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"      \
    "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}],\n"               \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]"

static void check_tetrahedron(const pl_mesh *mesh)
{
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->triangle_count, 4);
    for (int i = 0; i < 12; i++) {
        assert_true(mesh->positions[i] == points[i / 3][i % 3]);
        assert_int_equal(mesh->triangles[i], faces[i / 3][i % 3]);
    }
}

/* ---- Accessors ------------------------------------------------------------------------------- */

static void reads_a_tetrahedron(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    put_tetrahedron(buffer);
    pl_mesh mesh = read_body(TETRAHEDRON, buffer);
    check_tetrahedron(&mesh);
    assert_null(mesh.look.normals);
    pl_mesh_free(&mesh);
    make_glb(file, TETRAHEDRON, buffer);
    torture(file->data, file->size, "tetrahedron.glb", 5000, ENOUGH);
    make_gltf(file, TETRAHEDRON, buffer);
    torture(file->data, file->size, "tetrahedron.gltf", 5000, ENOUGH);
    free(buffer), free(file);
}

/* Positions and normals side by side, positions replaced where they are wrong, indices of every
   size, and of no size: all is the same tetrahedron. */
static void reads_interleaved_sparse_and_all_index_types(void **state)
{
    (void)state;
    for (int variant = 0; variant < 6; variant++) {
        int index_size = variant % 3 == 2 ? 4 : 1 + variant % 3;
        bool from_nothing = variant >= 3; /* all positions come from the replacements */
        bytes *buffer = calloc(1, sizeof *buffer);
        char body[2048], base[64];
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 3; k++)
                put_f32(buffer, i == 2 || i == 3 ? 99 : points[i][k]);
            for (int k = 0; k < 3; k++)
                put_f32(buffer, k == i % 3);
        }
        size_t indices = buffer->size;
        for (int i = 0; i < 12; i++)
            put_number(buffer, (uint64_t)faces[i / 3][i % 3], index_size);
        while (buffer->size % 4)
            put(buffer, "", 1);
        size_t where = buffer->size;
        put_number(buffer, from_nothing ? 1 : 2, index_size);
        put_number(buffer, from_nothing ? 2 : 3, index_size);
        put_number(buffer, 3, index_size);
        while (buffer->size % 4)
            put(buffer, "", 1);
        size_t values = buffer->size;
        for (int i = from_nothing ? 1 : 2; i < 4; i++)
            for (int k = 0; k < 3; k++)
                put_f32(buffer, points[i][k]);
        snprintf(base, sizeof base, "%s", from_nothing ? "" : "\"bufferView\":0,");
        int type = index_size == 1 ? 5121 : index_size == 2 ? 5123 : 5125;
        snprintf(body, sizeof body,
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"byteStride\":24},"
                 "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%d},"
                 "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%d},"
                 "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%d}],"
                 "\"accessors\":[{%s\"componentType\":5126,\"count\":4,\"type\":\"VEC3\","
                 "\"sparse\":{\"count\":%d,\"indices\":{\"bufferView\":2,\"componentType\":%d},"
                 "\"values\":{\"bufferView\":3}}},"
                 "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":4,"
                 "\"type\":\"VEC3\"},"
                 "{\"bufferView\":1,\"componentType\":%d,\"count\":12,\"type\":\"SCALAR\"}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},"
                 "\"indices\":2}]}]",
                 indices, 12 * index_size, where, (from_nothing ? 3 : 2) * index_size, values,
                 from_nothing ? 36 : 24, base, from_nothing ? 3 : 2, type, type);
        pl_mesh mesh = read_body(body, buffer);
        check_tetrahedron(&mesh);
        for (int i = 0; i < 12; i++)
            assert_true(mesh.look.normals[i] == (i % 3 == i / 3 % 3));
        pl_mesh_free(&mesh);
        bytes *file = calloc(1, sizeof *file);
        make_glb(file, body, buffer);
        torture(file->data, file->size, "sparse.glb", 1000, ENOUGH);
        free(file), free(buffer);
    }
}

/* Integers for everything, as KHR_mesh_quantization allows. */
static void reads_integers(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++)
            put_u16(buffer, (uint32_t)(int32_t)(points[i][k] * -32767));
        put_u16(buffer, 0);
        const uint8_t more[8] = {127, 0, 0, 0, 255, 0, 51, 0};
        put(buffer, more, 8);
        put_u16(buffer, 65535), put_u16(buffer, 13107);
    }
    pl_mesh mesh = read_body(
        "\"extensionsRequired\":[\"KHR_mesh_quantization\"],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":80,\"byteStride\":20}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5122,\"normalized\":true,\"count\":4,"
        "\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":8,\"componentType\":5120,\"normalized\":true,"
        "\"count\":4,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5121,\"normalized\":true,"
        "\"count\":4,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":16,\"componentType\":5123,\"normalized\":true,"
        "\"count\":4,\"type\":\"VEC2\"},"
        "{\"bufferView\":0,\"componentType\":5122,\"count\":4,\"type\":\"VEC3\"}],"
        "\"meshes\":[{\"primitives\":[{\"mode\":5,\"attributes\":{\"POSITION\":0,\"NORMAL\":1,"
        "\"COLOR_0\":2,\"TEXCOORD_0\":3}}]},"
        "{\"primitives\":[{\"mode\":6,\"attributes\":{\"POSITION\":4}}]}]",
        buffer);
    assert_int_equal(mesh.vertex_count, 8);
    assert_int_equal(mesh.look.uv_set_count, 1);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            assert_true(mesh.positions[3 * i + k] == -points[i][k]);
            assert_true(mesh.positions[12 + 3 * i + k] == -32767 * points[i][k]);
        }
        assert_true(mesh.look.normals[3 * i] == 1);
        assert_true(mesh.look.colours[4 * i] == 1 && mesh.look.colours[4 * i + 1] == 0);
        assert_true(mesh.look.colours[4 * i + 2] == 0.2f && mesh.look.colours[4 * i + 3] == 1);
        assert_true(mesh.look.colours[16 + 4 * i + 1] == 1); /* the other primitive has none */
        assert_true(mesh.look.uvs[0][2 * i] == 1 && mesh.look.uvs[0][2 * i + 1] == 0.2f);
    }
    const int32_t strip_and_fan[] = {0, 1, 2, 1, 3, 2, 4, 5, 6, 4, 6, 7};
    assert_int_equal(mesh.triangle_count, 4);
    assert_memory_equal(mesh.triangles, strip_and_fan, sizeof strip_and_fan);
    pl_mesh_free(&mesh);
    free(buffer);
}

static void reads_lines_and_ignores_points(void **state)
{
    (void)state;
    static const struct {
        int mode, count;
        int32_t lines[8];
    } cases[] = {
        {0, 0, {0}},
        {1, 2, {0, 1, 2, 3}},
        {2, 4, {0, 1, 1, 2, 2, 3, 3, 0}},
        {3, 3, {0, 1, 1, 2, 2, 3}},
    };
    bytes *buffer = calloc(1, sizeof *buffer);
    put_tetrahedron(buffer);
    for (int i = 0; i < 4; i++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],\"accessors\":["
                 "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":%d},"
                 "{\"attributes\":{\"POSITION\":0},\"mode\":4}]}]",
                 cases[i].mode);
        pl_mesh mesh = read_body(body, buffer);
        assert_int_equal(mesh.vertex_count, 4); /* shared by the two */
        assert_int_equal(mesh.triangle_count, 1);
        assert_int_equal(mesh.line_count, cases[i].count);
        if (mesh.line_count)
            assert_memory_equal(mesh.lines, cases[i].lines,
                                2 * sizeof(int32_t) * (size_t)mesh.line_count);
        pl_mesh_free(&mesh);
    }
    free(buffer);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void places_nodes(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer);
    put_tetrahedron(buffer);
    /* shown: 0 with its children 1 (mirrored, turned by 90° about z) and 2 (a matrix) */
    pl_mesh mesh = read_body(
        TETRAHEDRON ",\"scene\":1,\"scenes\":[{\"nodes\":[3]},{\"nodes\":[0]}],\"nodes\":["
                    "{\"translation\":[10,0,0],\"children\":[1,2]},"
                    "{\"name\":\"turned\",\"mesh\":0,\"rotation\":[0,0,0.7071067811865476,"
                    "0.7071067811865476],\"scale\":[2,1,-1]},"
                    "{\"name\":\"sheared\",\"mesh\":0,\"matrix\":[1,0,0,0, 3,1,0,0, 0,0,1,0, "
                    "0,5,0,1]},"
                    "{\"mesh\":0}]",
        buffer);
    assert_int_equal(mesh.vertex_count, 8);
    assert_int_equal(mesh.look.group_count, 2);
    assert_string_equal(mesh.look.group_names[0], "turned");
    assert_string_equal(mesh.look.group_names[1], "sheared");
    assert_int_equal(mesh.look.triangle_groups[3], 0);
    assert_int_equal(mesh.look.triangle_groups[4], 1);
    const double expected[8][3] = {{10, 0, 0}, {10, 2, 0}, {9, 0, 0},  {10, 0, -1},
                                   {10, 5, 0}, {11, 5, 0}, {13, 6, 0}, {10, 5, 1}};
    for (int i = 0; i < 24; i++)
        assert_true(fabs(mesh.positions[i] - expected[i / 3][i % 3]) < 1e-12);
    assert_true(fabs(surface_volume(&mesh) - (2.0 + 1.0) / 6) < 1e-12);
    pl_mesh_free(&mesh);
    free(buffer);
}

/* A chain of nodes with random places; the expected positions are found the other way round, point
   by point from the inside out. */
typedef struct place {
    double t[3], q[4], s[3];
} place;

static void apply(const place *at, double p[3])
{
    double v[3], cross[3], again[3];
    const double *q = at->q;
    for (int k = 0; k < 3; k++)
        v[k] = p[k] * at->s[k];
    for (int k = 0; k < 3; k++)
        cross[k] = q[(k + 1) % 3] * v[(k + 2) % 3] - q[(k + 2) % 3] * v[(k + 1) % 3];
    for (int k = 0; k < 3; k++)
        again[k] = q[(k + 1) % 3] * cross[(k + 2) % 3] - q[(k + 2) % 3] * cross[(k + 1) % 3];
    for (int k = 0; k < 3; k++)
        p[k] = v[k] + 2 * (q[3] * cross[k] + again[k]) + at->t[k];
}

static place random_place(pl_rng *rng)
{
    place out;
    double length = 0;
    for (int k = 0; k < 3; k++) {
        out.t[k] = pl_random_double(rng) * 4 - 2;
        out.s[k] = (0.5 + pl_random_double(rng)) * (pl_random_u32(rng) % 4 ? 1 : -1);
    }
    for (int k = 0; k < 4; k++) {
        out.q[k] = pl_random_double(rng) - 0.5;
        length += out.q[k] * out.q[k];
    }
    for (int k = 0; k < 4; k++)
        out.q[k] /= sqrt(length);
    return out;
}

/* Normals stay across the surface and tangents along it: the tetrahedron of four separate faces,
   each with its own normal and with its first edge as tangent. */
static void put_faces(bytes *buffer)
{
    for (int f = 0; f < 4; f++) {
        double e[2][3], n[3], length = 0, edge = 0;
        for (int k = 0; k < 3; k++) {
            e[0][k] = points[faces[f][1]][k] - points[faces[f][0]][k];
            e[1][k] = points[faces[f][2]][k] - points[faces[f][0]][k];
        }
        for (int k = 0; k < 3; k++) {
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
            length += n[k] * n[k];
            edge += e[0][k] * e[0][k];
        }
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++)
                put_f32(buffer, points[faces[f][c]][k]);
            for (int k = 0; k < 3; k++)
                put_f32(buffer, n[k] / sqrt(length));
            for (int k = 0; k < 3; k++)
                put_f32(buffer, e[0][k] / sqrt(edge));
            put_f32(buffer, 1);
        }
    }
}

static void check_directions(const pl_mesh *mesh, bool mirrored)
{
    for (int t = 0; t < mesh->triangle_count; t++) {
        /* of the file's order: mirrored triangles have their last two corners exchanged */
        const int32_t *v = mesh->triangles + 3 * t;
        const double *p = mesh->positions;
        int second = mirrored ? v[2] : v[1];
        double e[2][3], n[3], along = 0, normal = 0, edge = 0;
        for (int k = 0; k < 3; k++) {
            e[0][k] = p[3 * v[1] + k] - p[3 * v[0] + k];
            e[1][k] = p[3 * v[2] + k] - p[3 * v[0] + k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            double side = p[3 * second + k] - p[3 * v[0] + k];
            normal += n[k] / area * (double)mesh->look.normals[3 * v[0] + k];
            along += side * (double)mesh->look.tangents[4 * v[0] + k];
            edge += side * side;
        }
        assert_true(fabs(normal - 1) < 1e-5);
        assert_true(fabs(along - sqrt(edge)) < 1e-5 * sqrt(edge));
        assert_true(mesh->look.tangents[4 * v[0] + 3] == (mirrored ? -1 : 1));
    }
}

static void places_random_chains(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(5);
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    bytes *body = calloc(1, sizeof *body);
    put_faces(buffer);
    for (int test = 0; test < 1000; test++) {
        int length = 1 + (int)(pl_random_u32(&rng) % 4);
        place chain[4];
        double scale = 1;
        body->size = 0;
        put_text(body, "\"bufferViews\":[{\"buffer\":0,\"byteLength\":480,\"byteStride\":40}],"
                       "\"accessors\":[");
        for (int i = 0; i < 3; i++)
            put_text(body,
                     "%s{\"bufferView\":0,\"byteOffset\":%d,\"componentType\":5126,"
                     "\"count\":12,\"type\":\"VEC%d\"}",
                     i ? "," : "", 12 * i, i == 2 ? 4 : 3);
        put_text(body, "],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,"
                       "\"NORMAL\":1,\"TANGENT\":2}}]}],\"nodes\":[");
        for (int i = 0; i < length; i++) {
            chain[i] = random_place(&rng);
            const place *at = &chain[i];
            scale *= at->s[0] * at->s[1] * at->s[2];
            put_text(body,
                     "%s{\"translation\":[%.17g,%.17g,%.17g],\"rotation\":[%.17g,%.17g,"
                     "%.17g,%.17g],\"scale\":[%.17g,%.17g,%.17g]",
                     i ? "," : "", at->t[0], at->t[1], at->t[2], at->q[0], at->q[1], at->q[2],
                     at->q[3], at->s[0], at->s[1], at->s[2]);
            if (i + 1 < length)
                put_text(body, ",\"children\":[%d]}", i + 1);
            else
                put_text(body, ",\"mesh\":0}");
        }
        put_text(body, "]");
        make_glb(file, (char *)body->data, buffer);
        pl_mesh mesh = accept(file->data, file->size, "chain.glb");
        assert_int_equal(mesh.vertex_count, 12);
        for (int v = 0; v < 12; v++) {
            double p[3];
            memcpy(p, points[faces[v / 3][v % 3]], sizeof p);
            for (int i = length - 1; i >= 0; i--)
                apply(&chain[i], p);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(mesh.positions[3 * v + k] - p[k]) < 1e-11);
        }
        assert_true(fabs(surface_volume(&mesh) - fabs(scale) / 6) < 1e-10 * fabs(scale) + 1e-10);
        check_directions(&mesh, scale < 0);
        pl_mesh_free(&mesh);
    }
    free(buffer), free(file), free(body);
}

/* Vertices follow their joints, whatever the place of the mesh's own node. */
static void follows_joints(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            put_f32(buffer, i == k);
    for (int i = 0; i < 3; i++) { /* joints, then weights: all of 0, half each, unscaled */
        const uint8_t joints[4] = {0, 1, 0, 0};
        put(buffer, joints, 4);
    }
    const double weights[3][4] = {{1, 0, 0, 0}, {0.5, 0.5, 0, 0}, {1, 3, 0, 0}};
    for (int i = 0; i < 12; i++)
        put_f32(buffer, weights[i / 4][i % 4]);
    for (int m = 0; m < 2; m++) /* the inverse bind matrix of joint m moves by (0, 0, −m) */
        for (int i = 0; i < 16; i++)
            put_f32(buffer, i % 5 == 0 ? 1 : i == 14 ? -m : 0);
    char body[] =
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},"
        "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":12},"
        "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":48},"
        "{\"buffer\":0,\"byteOffset\":96,\"byteLength\":128}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"
        "{\"bufferView\":2,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
        "{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,"
        "\"WEIGHTS_0\":2}}]}],"
        "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":3}],"
        "\"nodes\":[{\"mesh\":0,\"skin\":0,\"translation\":[100,0,0]},"
        "{\"translation\":[0,10,0],\"children\":[2]},{\"translation\":[0,0,5]}]";
    pl_mesh mesh = read_body(body, buffer);
    const double expected[3][3] = {{1, 10, 0}, {0, 11, 2}, {0, 10, 4}};
    for (int i = 0; i < 9; i++)
        assert_true(fabs(mesh.positions[i] - expected[i / 3][i % 3]) < 1e-12);
    pl_mesh_free(&mesh);
    make_glb(file, body, buffer);
    torture(file->data, file->size, "skin.glb", 5000, ENOUGH);
    /* the second joint of the second vertex: one beyond the last, and, with a sign, one before the
       first */
    buffer->data[36 + 5] = 2;
    make_glb(file, body, buffer);
    refuse(file->data, file->size, "skin.glb", "follows a joint");
    buffer->data[36 + 5] = 255;
    char *type = strstr(body, "5121");
    memcpy(type, "5120", 4);
    make_glb(file, body, buffer);
    refuse(file->data, file->size, "skin.glb", "follows a joint");
    free(buffer), free(file);
}

/* ---- Materials ------------------------------------------------------------------------------- */

static void reads_materials(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    put_tetrahedron(buffer);
    const char *body =
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},"
        "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24},"
        "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":5}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,"
        "\"material\":1},{\"attributes\":{\"POSITION\":0},\"material\":0}]}],"
        "\"materials\":[{\"name\":\"plain\"},{\"pbrMetallicRoughness\":{\"baseColorFactor\":"
        "[0.5,0.25,1,0.125],\"metallicFactor\":0.5,\"roughnessFactor\":0.75,"
        "\"baseColorTexture\":{\"index\":1,\"texCoord\":1}},\"emissiveFactor\":[1,0.5,0],"
        "\"normalTexture\":{\"index\":0},\"emissiveTexture\":{\"index\":2},"
        "\"alphaMode\":\"MASK\",\"alphaCutoff\":0.25,\"doubleSided\":true}],"
        "\"textures\":[{\"source\":2},{\"source\":0},{\"extensions\":{\"EXT_texture_webp\":"
        "{\"source\":1}}}],"
        "\"images\":[{\"bufferView\":2,\"mimeType\":\"image/png\",\"name\":\"inside\"},"
        "{\"uri\":\"data:image/jpeg;base64,AAEC\"},{\"uri\":\"a%20b.png\"}]";
    pl_mesh mesh = read_body(body, buffer);
    const pl_look *look = &mesh.look;
    assert_int_equal(look->material_count, 2);
    assert_int_equal(look->image_count, 3);
    assert_int_equal(look->triangle_materials[0], 1);
    assert_int_equal(look->triangle_materials[4], 0);
    const pl_look_material *m = &look->materials[1];
    assert_string_equal(look->materials[0].name, "plain");
    assert_true(look->materials[0].metal == 1 && look->materials[0].textures[0] == -1);
    assert_true(m->colour[0] == 0.5f && m->colour[3] == 0.125f);
    assert_true(m->metal == 0.5f && m->roughness == 0.75f && m->emission[1] == 0.5f);
    assert_true(m->two_sided && m->alpha == 1 && m->cutoff == 0.25f);
    assert_int_equal(m->textures[PL_TEXTURE_COLOUR], 0);
    assert_int_equal(m->texture_uvs[PL_TEXTURE_COLOUR], 1);
    assert_int_equal(m->textures[PL_TEXTURE_NORMAL], 2);
    assert_int_equal(m->textures[PL_TEXTURE_EMISSION], 1);
    assert_int_equal(m->textures[PL_TEXTURE_OCCLUSION], -1);
    assert_string_equal(look->images[0].name, "inside");
    assert_string_equal(look->images[0].mime, "image/png");
    assert_int_equal(look->images[0].size, 5);
    assert_memory_equal(look->images[0].bytes, buffer->data + 48, 5);
    assert_string_equal(look->images[1].mime, "image/jpeg");
    assert_int_equal(look->images[1].size, 3);
    assert_int_equal(look->images[1].bytes[2], 2);
    assert_string_equal(look->images[2].name, "a b.png");
    assert_null(look->images[2].bytes);
    pl_mesh_free(&mesh);
    make_glb(file, body, buffer);
    torture(file->data, file->size, "materials.glb", 5000, ENOUGH);
    free(buffer), free(file);
}

/* ---- Files beside ---------------------------------------------------------------------------- */

static char folder[64];

static void write_file(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(data, 1, size, file);
    fclose(file);
}

static pl_status load_with(const char *uri, size_t length, pl_mesh *mesh, pl_error *error)
{
    bytes *file = calloc(1, sizeof *file);
    char path[128];
    put_text(file,
             "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu,"
             "\"uri\":\"%s\"},{\"byteLength\":1,\"uri\":\"%s\"}],\n%s}",
             length, uri, uri, TETRAHEDRON);
    write_file("named.gltf", file->data, file->size);
    free(file);
    snprintf(path, sizeof path, "%s/named.gltf", folder);
    *error = (pl_error){0};
    return pl_mesh_load(path, NULL, mesh, error);
}

static void reads_buffers_beside_it(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer);
    pl_mesh mesh;
    pl_error error;
    put_tetrahedron(buffer);
    write_file("a b.bin", buffer->data, buffer->size);
    assert_int_equal(load_with("a%20b.bin", buffer->size, &mesh, &error), PL_OK);
    check_tetrahedron(&mesh);
    pl_mesh_free(&mesh);
    assert_int_equal(load_with("./a b.bin", buffer->size, &mesh, &error), PL_OK);
    pl_mesh_free(&mesh);
    assert_int_equal(load_with("a%20b.bin", buffer->size + 1, &mesh, &error), PL_ERROR_FORMAT);
    assert_int_equal(load_with("not there.bin", buffer->size, &mesh, &error), PL_ERROR_IO);
    static const char *const bad[] = {
        "../a b.bin",
        "/etc/passwd",
        "x/../../a b.bin",
        "%2e%2e/a%20b.bin",
        "file:///etc/passwd",
        "a%20b.bin%00",
        "a%2",
        "",
        "x//y",
        "%2Fetc/passwd",
        "..\\\\x",
        "http://x/y",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(load_with(bad[i], buffer->size, &mesh, &error), PL_ERROR_FORMAT);
        assert_non_null(strstr(error.text, "folder"));
    }
    free(buffer);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pliant_gltf_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/named.gltf", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/a b.bin", folder);
    unlink(path);
    return rmdir(folder);
}

/* ---- Refused --------------------------------------------------------------------------------- */

#define VIEWS "\"bufferViews\":[{\"buffer\":0,\"byteLength\":72}],"
#define POSITIONS "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}"

static void refuses_bad_documents(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]", "compressed"},
        {"\"extensionsRequired\":[\"EXT_meshopt_compression\"]", "compressed"},
        {"\"extensionsRequired\":[\"X_y\"]", "X_y"},
        {"\"bufferViews\":[{\"buffer\":1,\"byteLength\":4}]", "no buffers[1]"},
        {"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":70,\"byteLength\":4}]", "ends at byte 74"},
        {"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":1e300,\"byteLength\":4}]", "whole number"},
        {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":1.5}]", "whole number"},
        {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":\"4\"}]", "must be a number"},
        {"\"bufferViews\":7", "must be an array"},
        {VIEWS "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":7,"
               "\"type\":\"VEC3\"}]",
         "do not fit"},
        {VIEWS "\"accessors\":[{\"bufferView\":0,\"byteOffset\":68,\"componentType\":5126,"
               "\"count\":1,\"type\":\"VEC2\"}]",
         "do not fit"},
        {VIEWS "\"accessors\":[{\"componentType\":1,\"count\":1,\"type\":\"VEC2\"}]", "not known"},
        {VIEWS "\"accessors\":[" POSITIONS ",{\"bufferView\":0,\"componentType\":5126,\"count\":3,"
               "\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,"
               "\"NORMAL\":1}}]}]",
         "NORMAL has 3"},
        {VIEWS "\"accessors\":[" POSITIONS "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
               "\"POSITION\":0},\"mode\":7}]}]",
         "mode"},
        {VIEWS "\"accessors\":[" POSITIONS "],\"meshes\":[{\"primitives\":[{\"attributes\":{"
               "\"POSITION\":0},\"indices\":0}]}]",
         "indices must be"},
        {VIEWS "\"accessors\":[" POSITIONS ",{\"bufferView\":0,\"byteOffset\":12,"
               "\"componentType\":5125,\"count\":3,\"type\":\"SCALAR\"}],\"meshes\":[{"
               "\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]",
         "names vertex"},
        {VIEWS "\"accessors\":[{\"componentType\":5126,\"count\":2000000000,\"type\":\"VEC3\"}],"
               "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]",
         "for every byte"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0,\"children\":[1]},{\"children\":[0]}]",
         "its own ancestor"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0,\"children\":[0]}]", "its own ancestor"},
        {TETRAHEDRON ",\"nodes\":[{\"children\":[2]},{\"children\":[2]},{\"mesh\":0}]",
         "already is a child"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0,\"rotation\":[0,0,0,0]}]", "quaternion"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0,\"scale\":[1,1]}]", "3 numbers"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0,\"scale\":[1e200,1,1],\"children\":[1]},"
                     "{\"scale\":[1e200,1,1]}]",
         "out of range"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":1}]", "no meshes[1]"},
        {TETRAHEDRON ",\"nodes\":[{\"mesh\":0}],\"scene\":0", "no scenes[0]"},
        {TETRAHEDRON ",\"images\":[{}]", "neither uri"},
        {"\"nodes\":[]", "no vertices"},
    };
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    put_tetrahedron(buffer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_gltf(file, cases[i].body, buffer);
        refuse(file->data, file->size, "bad.gltf", cases[i].message);
        make_glb(file, cases[i].body, buffer);
        refuse(file->data, file->size, "bad.glb", cases[i].message);
    }
    const char *old = "{\"asset\":{\"version\":\"1.0\"}}";
    refuse(old, strlen(old), "old.gltf", "2.0");
    const char *outside = "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":1,"
                          "\"uri\":\"x.bin\"}]}";
    refuse(outside, strlen(outside), "outside.gltf", "another file");
    free(buffer), free(file);
}

/* A mesh shown by many nodes grows with their number, until it is too much for such a small
   file. */
static void limits_instances(void **state)
{
    (void)state;
    bytes *buffer = calloc(1, sizeof *buffer), *file = calloc(1, sizeof *file);
    char *body = malloc(1 << 15);
    put_tetrahedron(buffer);
    int length = snprintf(body, 1 << 15, "%s,\"nodes\":[{\"mesh\":0}", TETRAHEDRON);
    for (int i = 1; i < 500; i++)
        length += snprintf(body + length, 100, ",{\"mesh\":0,\"translation\":[%d,0,0]}", i);
    snprintf(body + length, 100, "]");
    make_glb(file, body, buffer);
    pl_mesh mesh = accept(file->data, file->size, "many.glb");
    assert_int_equal(mesh.vertex_count, 2000);
    assert_int_equal(mesh.look.group_count, 500);
    assert_true(fabs(surface_volume(&mesh) - 500 / 6.0) < 1e-6);
    pl_mesh_free(&mesh);
    /* accessors of zeros, which cost nothing in the file: taken while the mesh stays small */
    int taken = 0;
    for (int count = 30; count <= 3000; count += 30) {
        length = snprintf(body, 1 << 15,
                          "\"accessors\":[{\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"}],"
                          "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,"
                          "\"NORMAL\":0}}]}],\"nodes\":[{\"mesh\":0}",
                          count);
        for (int i = 1; i < 500; i++)
            length += snprintf(body + length, 100, ",{\"mesh\":0}");
        snprintf(body + length, 100, "]");
        make_glb(file, body, buffer);
        counting memory;
        pl_status status = parse_exactly(file->data, file->size, "zeros.glb", -1, &memory);
        assert_true(status == PL_OK || status == PL_ERROR_FORMAT);
        assert_true(memory.peak <= (64 + 3 * 256) * file->size + 4 * (1 << 20));
        taken += status == PL_OK;
    }
    assert_in_range(taken, 1, 30);
    refuse(file->data, file->size, "zeros.glb", "for every byte");
    free(buffer), free(file), free(body);
}

/* A chain of nodes as long as the file allows is no deep recursion. */
static void follows_long_chains(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH * 64);
    int length = snprintf(text, 1000,
                          "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{"
                          "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
                          "\"meshes\":[{\"primitives\":[{\"attributes\":{"
                          "\"POSITION\":0}}]}],\"nodes\":[");
    for (int i = 0; i < LENGTH; i++)
        length +=
            snprintf(text + length, 64, "{\"translation\":[0,1,0],\"children\":[%d]},", i + 1);
    length += snprintf(text + length, 64, "{\"mesh\":0}]}");
    pl_mesh mesh = accept(text, (size_t)length, "chain.gltf");
    assert_true(mesh.positions[1] == LENGTH);
    pl_mesh_free(&mesh);
    free(text);
}

/* ---- Meshes of others ------------------------------------------------------------------------ */

static void box_of(const pl_mesh *mesh, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; i < mesh->vertex_count; i++) {
            low[k] = fmin(low[k], mesh->positions[3 * i + k]);
            high[k] = fmax(high[k], mesh->positions[3 * i + k]);
        }
    }
}

static void reads_shared_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int vertices, triangles, images, uv_sets;
        bool colours, tangents;
        double low, high; /* of y: figures stand upright on the ground */
    } list[] = {
        {"Box.glb", 24, 12, 0, 0, false, false, -0.5, 0.5},
        {"BoxInterleaved.glb", 24, 12, 0, 0, false, false, -0.5, 0.5},
        {"BoxTextured.glb", 24, 12, 1, 1, false, false, -0.5, 0.5},
        {"BoxVertexColors.glb", 24, 12, 0, 0, true, false, 0, 1},
        {"AnimatedMorphCube.glb", 24, 12, 0, 0, false, true, -1, 1},
        {"RiggedSimple.glb", 160, 188, 0, 0, false, false, -4.575, 4.575},
        {"RiggedFigure.glb", 370, 256, 0, 0, false, false, 0, 1.45},
        {"Duck.glb", 2399, 4212, 1, 1, false, false, 0.0993, 1.6397},
        {"CesiumMan.glb", 3273, 4672, 1, 1, false, false, 0, 1.5066},
    };
    struct stat info;
    if (stat(SHARED, &info) != 0) {
        print_message("skipped: there are no meshes in %s\n", SHARED);
        skip();
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char path[512];
        pl_mesh mesh;
        pl_error error = {0};
        double low[3], high[3];
        snprintf(path, sizeof path, "%s%s", SHARED, list[i].name);
        pl_mesh_load(path, NULL, &mesh, &error);
        assert_string_equal(error.text, "");
        check_mesh(&mesh);
        assert_int_equal(mesh.vertex_count, list[i].vertices);
        assert_int_equal(mesh.triangle_count, list[i].triangles);
        assert_int_equal(mesh.look.image_count, list[i].images);
        assert_int_equal(mesh.look.uv_set_count, list[i].uv_sets);
        assert_int_equal(mesh.look.colours != NULL, list[i].colours);
        assert_int_equal(mesh.look.tangents != NULL, list[i].tangents);
        box_of(&mesh, low, high);
        assert_true(surface_volume(&mesh) > 0);
        assert_true(fabs(low[1] - list[i].low) < 0.001 && fabs(high[1] - list[i].high) < 0.001);
        pl_mesh_free(&mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_tetrahedron),
        cmocka_unit_test(reads_interleaved_sparse_and_all_index_types),
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(reads_lines_and_ignores_points),
        cmocka_unit_test(places_nodes),
        cmocka_unit_test(places_random_chains),
        cmocka_unit_test(follows_joints),
        cmocka_unit_test(reads_materials),
        cmocka_unit_test(reads_buffers_beside_it),
        cmocka_unit_test(refuses_bad_documents),
        cmocka_unit_test(limits_instances),
        cmocka_unit_test(follows_long_chains),
        cmocka_unit_test(reads_shared_meshes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

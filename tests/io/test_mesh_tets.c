/* The readers of volume meshes: TetGen, Gmsh, Medit, VTK. The same small mesh is written in every
   variant of every format and must come out alike; the shared meshes must have the counts and
   volumes their list gives. */
#include "mesh_torture.h"

#include <sys/stat.h>
#include <unistd.h>

#define SHARED PLIANT_SOURCE_DIR "/../shared/meshes/tet/"

enum { ENOUGH = 1 << 23 }; /* bytes of memory for any of the small files here */

/* Two tetrahedra on a common face, and two triangles of the boundary. */
static const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1.25}};
static const int tets[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
static const int triangles[2][3] = {{0, 2, 1}, {0, 1, 3}};

static void check_small(const pl_mesh *mesh, int triangle_count)
{
    assert_int_equal(mesh->vertex_count, 5);
    assert_int_equal(mesh->tet_count, 2);
    assert_int_equal(mesh->triangle_count, triangle_count);
    assert_int_equal(mesh->line_count, 0);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            assert_true(mesh->positions[3 * i + k] == points[i][k]);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++)
            assert_int_equal(mesh->tets[4 * i + k], tets[i][k]);
    for (int i = 0; i < triangle_count; i++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(mesh->triangles[3 * i + k], triangles[i][k]);
}

static void check_file(const bytes *file, const char *name, int triangle_count)
{
    pl_mesh mesh = accept(file->data, file->size, name);
    check_small(&mesh, triangle_count);
    pl_mesh_free(&mesh);
    torture(file->data, file->size, name, 2000, ENOUGH);
}

/* ---- Gmsh ------------------------------------------------------------------------------------ */

/* Tags far apart and not in order, so that they must be looked up. */
static uint64_t tag_of(int vertex, bool gaps)
{
    return gaps ? (uint64_t)(90 - 17 * vertex) : (uint64_t)vertex + 1;
}

static void gmsh_old_text(bytes *out, bool gaps)
{
    put_text(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a $ name\"\n"
                  "$EndPhysicalNames\n$Nodes\n5\n");
    for (int i = 0; i < 5; i++)
        put_text(out, "%d %.17g %.17g %.17g\n", (int)tag_of(i, gaps), points[i][0], points[i][1],
                 points[i][2]);
    put_text(out, "$EndNodes\n$Elements\n6\n1 15 2 0 1 %d\n2 1 2 0 1 %d %d\n", (int)tag_of(0, gaps),
             (int)tag_of(0, gaps), (int)tag_of(1, gaps));
    for (int i = 0; i < 2; i++)
        put_text(out, "%d 2 2 0 1 %d %d %d\n", 3 + i, (int)tag_of(triangles[i][0], gaps),
                 (int)tag_of(triangles[i][1], gaps), (int)tag_of(triangles[i][2], gaps));
    for (int i = 0; i < 2; i++)
        put_text(out, "%d 4 3 0 1 7 %d %d %d %d\n", 5 + i, (int)tag_of(tets[i][0], gaps),
                 (int)tag_of(tets[i][1], gaps), (int)tag_of(tets[i][2], gaps),
                 (int)tag_of(tets[i][3], gaps));
    put_text(out, "$EndElements\n");
}

static void gmsh_old_binary(bytes *out, bool big_endian)
{
    out->big_endian = big_endian;
    put_text(out, "$MeshFormat\n2.2 1 8\n");
    put_u32(out, 1);
    put_text(out, "\n$EndMeshFormat\n$Nodes\n5\n");
    for (int i = 0; i < 5; i++) {
        put_u32(out, (uint32_t)tag_of(i, true));
        for (int k = 0; k < 3; k++)
            put_f64(out, points[i][k]);
    }
    put_text(out, "\n$EndNodes\n$Elements\n4\n");
    for (int kind = 0; kind < 2; kind++) {
        put_u32(out, kind ? 4 : 2);
        put_u32(out, 2);
        put_u32(out, 2);
        for (int i = 0; i < 2; i++) {
            put_u32(out, (uint32_t)(1 + kind * 2 + i));
            put_u32(out, 0);
            put_u32(out, 1);
            for (int k = 0; k < 3 + kind; k++)
                put_u32(out, (uint32_t)tag_of(kind ? tets[i][k] : triangles[i][k], true));
        }
    }
    put_text(out, "\n$EndElements\n");
}

static void gmsh_new_text(bytes *out)
{
    put_text(out,
             "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n"
             "$EndEntities\n$Nodes\n2 5 1 90\n2 1 1 2\n%d\n%d\n",
             (int)tag_of(0, true), (int)tag_of(1, true));
    for (int i = 0; i < 2; i++)
        put_text(out, "%g %g %g 0.5 0.25\n", points[i][0], points[i][1], points[i][2]);
    put_text(out, "3 1 0 3\n");
    for (int i = 2; i < 5; i++)
        put_text(out, "%d\n", (int)tag_of(i, true));
    for (int i = 2; i < 5; i++)
        put_text(out, "%g %g %g\n", points[i][0], points[i][1], points[i][2]);
    put_text(out, "$EndNodes\n$Elements\n2 4 1 4\n2 1 2 2\n");
    for (int i = 0; i < 2; i++)
        put_text(out, "%d %d %d %d\n", i + 1, (int)tag_of(triangles[i][0], true),
                 (int)tag_of(triangles[i][1], true), (int)tag_of(triangles[i][2], true));
    put_text(out, "3 1 4 2\n");
    for (int i = 0; i < 2; i++)
        put_text(out, "%d %d %d %d %d\n", i + 3, (int)tag_of(tets[i][0], true),
                 (int)tag_of(tets[i][1], true), (int)tag_of(tets[i][2], true),
                 (int)tag_of(tets[i][3], true));
    put_text(out, "$EndElements\n$Periodic\n0\n$EndPeriodic\n");
}

static void gmsh_new_binary(bytes *out, bool big_endian)
{
    out->big_endian = big_endian;
    put_text(out, "$MeshFormat\n4.1 1 8\n");
    put_u32(out, 1);
    put_text(out, "\n$EndMeshFormat\n$Nodes\n");
    uint64_t head[] = {1, 5, 1, 90};
    for (int i = 0; i < 4; i++)
        put_u64(out, head[i]);
    put_u32(out, 3), put_u32(out, 1), put_u32(out, 0), put_u64(out, 5);
    for (int i = 0; i < 5; i++)
        put_u64(out, tag_of(i, true));
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            put_f64(out, points[i][k]);
    put_text(out, "\n$EndNodes\n$Elements\n");
    uint64_t counts[] = {2, 4, 1, 4};
    for (int i = 0; i < 4; i++)
        put_u64(out, counts[i]);
    for (int kind = 0; kind < 2; kind++) {
        put_u32(out, (uint32_t)(2 + kind)), put_u32(out, 1), put_u32(out, kind ? 4 : 2);
        put_u64(out, 2);
        for (int i = 0; i < 2; i++) {
            put_u64(out, (uint64_t)(1 + kind * 2 + i));
            for (int k = 0; k < 3 + kind; k++)
                put_u64(out, tag_of(kind ? tets[i][k] : triangles[i][k], true));
        }
    }
    put_text(out, "\n$EndElements\n");
}

static void reads_gmsh(void **state)
{
    (void)state;
    for (int variant = 0; variant < 7; variant++) {
        bytes *file = calloc(1, sizeof *file);
        if (variant < 2)
            gmsh_old_text(file, variant == 1);
        else if (variant < 4)
            gmsh_old_binary(file, variant == 3);
        else if (variant == 4)
            gmsh_new_text(file);
        else
            gmsh_new_binary(file, variant == 6);
        check_file(file, "small.msh", 2);
        free(file);
    }
}

/* Ten-node tetrahedra and six-node triangles give their corners; the other nodes stay as points. */
static void reads_corners_of_higher_order(void **state)
{
    (void)state;
    bytes *file = calloc(1, sizeof *file);
    put_text(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n");
    for (int i = 0; i < 10; i++)
        put_text(file, "%d %d %d %d\n", i + 1, i == 1, i == 2, i == 3);
    put_text(file, "$EndNodes\n$Elements\n2\n1 11 0 1 2 3 4 5 6 7 8 9 10\n2 9 0 1 3 2 5 6 7\n"
                   "$EndElements\n");
    pl_mesh mesh = accept(file->data, file->size, "quadratic.msh");
    assert_int_equal(mesh.vertex_count, 10);
    assert_int_equal(mesh.tet_count, 1);
    assert_int_equal(mesh.tets[3], 3);
    assert_int_equal(mesh.triangle_count, 1);
    assert_int_equal(mesh.triangles[1], 2);
    pl_mesh_free(&mesh);
    free(file);
}

static void refuses_bad_gmsh(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"$NOD\n1\n", "version 1"},
        {"$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", "2.2 and 4.1"},
        {"$MeshFormat\n2.2 0 8\n", "no end"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1000000000\n1 0 0 0\n$EndNodes\n",
         "must be a"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 nan 0\n$EndNodes\n", "finite"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n"
         "$Elements\n0\n$EndElements\n",
         "same number"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n"
         "1 2 0 1 1 9\n$EndElements\n",
         "node 9 does not exist"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n"
         "1 999 0 1 1 9\n$EndElements\n",
         "type 999"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\nfoo\n", "section"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, strlen(cases[i].text), "bad.msh", cases[i].message);
}

/* ---- Medit ----------------------------------------------------------------------------------- */

static void medit_text(bytes *out)
{
    put_text(out, "MeshVersionFormatted 2\n# a comment\nDimension\n3\n\nVertices 5\n");
    for (int i = 0; i < 5; i++)
        put_text(out, "%g %g %g 1\n", points[i][0], points[i][1], points[i][2]);
    put_text(out, "Corners\n2\n1\n2\nEdges 1\n1 2 0\nTriangles\n2\n");
    for (int i = 0; i < 2; i++)
        put_text(out, "%d %d %d 0\n", triangles[i][0] + 1, triangles[i][1] + 1,
                 triangles[i][2] + 1);
    put_text(out, "RequiredVertices 1 3\nTetrahedra 2\n");
    for (int i = 0; i < 2; i++)
        put_text(out, "%d %d %d %d 5\n", tets[i][0] + 1, tets[i][1] + 1, tets[i][2] + 1,
                 tets[i][3] + 1);
    put_text(out, "End\n");
}

/* A keyword of the binary format: its code, the place behind it, a count. */
static void medit_keyword(bytes *out, int version, uint32_t code, size_t size, uint64_t count)
{
    size_t head = 4 + (version >= 3 ? 8 : 4) + (version >= 4 ? 8 : 4);
    uint64_t next = out->size + head + size;
    put_u32(out, code);
    put_number(out, next, version >= 3 ? 8 : 4);
    put_number(out, count, version >= 4 ? 8 : 4);
}

static void medit_binary(bytes *out, int version, bool big_endian)
{
    int whole = version >= 4 ? 8 : 4, real = version == 1 ? 4 : 8;
    out->big_endian = big_endian;
    put_u32(out, 1);
    put_u32(out, (uint32_t)version);
    put_u32(out, 3);
    put_number(out, out->size + (version >= 3 ? 8u : 4u) + 4u, version >= 3 ? 8 : 4);
    put_u32(out, 3);
    medit_keyword(out, version, 4, 5u * (unsigned)(3 * real + whole), 5);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) {
            if (real == 4)
                put_f32(out, points[i][k]);
            else
                put_f64(out, points[i][k]);
        }
        put_number(out, 0, whole);
    }
    medit_keyword(out, version, 13, (size_t)whole, 1); /* corners */
    put_number(out, 1, whole);
    for (int kind = 0; kind < 2; kind++) {
        medit_keyword(out, version, kind ? 8 : 6, 2u * (unsigned)((4 + kind) * whole), 2);
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 3 + kind; k++)
                put_number(out, (uint64_t)(kind ? tets[i][k] : triangles[i][k]) + 1, whole);
            put_number(out, 0, whole);
        }
    }
    put_u32(out, 54);
    put_number(out, 0, version >= 3 ? 8 : 4);
}

static void reads_medit(void **state)
{
    (void)state;
    bytes *file = calloc(1, sizeof *file);
    medit_text(file);
    check_file(file, "small.mesh", 2);
    for (int version = 1; version <= 4; version++) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            *file = (bytes){0};
            medit_binary(file, version, big_endian);
            /* the name alone tells the format */
            check_file(file, "small.mesh", 2);
        }
    }
    free(file);
}

static void refuses_bad_medit(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"Vertices 3\n", "MeshVersionFormatted"},
        {"MeshVersionFormatted 1\nDimension 4\n", "from 2 to 3"},
        {"MeshVersionFormatted 1\nDimension 3\nVertices 1000000000\n0 0 0 0\n", "missing"},
        {"MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 2 0\n",
         "from 1 to 1"},
        {"MeshVersionFormatted 1\nDimension 3\nVertices -1\n", "number of elements"},
        {"MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 inf 0\n", "finite"},
        {"MeshVersionFormatted 1\nDimension 3\nTriangles 1\n1 2 3 0\nVertices 1\n0 0 0 0\n",
         "nothing it could name"},
        {"MeshVersionFormatted 1\nDimension 3\nEnd\n", "no vertices"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, strlen(cases[i].text), "bad.mesh", cases[i].message);
}

/* ---- VTK ------------------------------------------------------------------------------------- */

static void vtk_points(bytes *out, bool binary)
{
    put_text(out, "POINTS 5 %s\n", binary ? "double" : "float");
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            if (binary)
                put_f64(out, points[i][k]);
            else
                put_text(out, "%g%s", points[i][k], k < 2 ? " " : "\n");
        }
    put_text(out, "\n");
}

static void vtk_int(bytes *out, bool binary, int64_t value, int size)
{
    if (binary)
        put_number(out, (uint64_t)value, size);
    else
        put_text(out, "%lld ", (long long)value);
}

/* Version 5 has offsets and 64-bit numbers. */
static void vtk_grid(bytes *out, bool binary, bool offsets)
{
    int size = offsets ? 8 : 4;
    out->big_endian = true;
    put_text(out, "# vtk DataFile Version %s\na title\n%s\nDATASET UNSTRUCTURED_GRID\n",
             offsets ? "5.1" : "2.0", binary ? "BINARY" : "ASCII");
    vtk_points(out, binary);
    put_text(out, "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n"
                  "\n");
    if (offsets) {
        put_text(out, "CELLS 6 17\nOFFSETS vtktypeint64\n");
        for (int i = 0; i <= 5; i++)
            vtk_int(out, binary, (const int[]){0, 3, 6, 10, 14, 17}[i], size);
        put_text(out, "\nCONNECTIVITY vtktypeint64\n");
    } else {
        put_text(out, "CELLS 5 22\n");
    }
    for (int i = 0; i < 5; i++) {
        int count = i < 2 || i == 4 ? 3 : 4;
        if (!offsets)
            vtk_int(out, binary, count, size);
        for (int k = 0; k < count; k++)
            vtk_int(out, binary, i < 2 ? triangles[i][k] : i < 4 ? tets[i - 2][k] : k, size);
    }
    put_text(out, "\nCELL_TYPES 5\n");
    for (int i = 0; i < 5; i++)
        vtk_int(out, binary, i < 2 ? 5 : i < 4 ? 10 : 4, 4);
    put_text(out, "\nPOINT_DATA 5\nSCALARS whatever float 1\n");
}

static void reads_vtk_grids(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bytes *file = calloc(1, sizeof *file);
        vtk_grid(file, variant & 1, variant & 2);
        check_file(file, "small.vtk", 2);
        free(file);
    }
}

static void reads_vtk_polygons(void **state)
{
    (void)state;
    for (int binary = 0; binary < 2; binary++) {
        bytes *file = calloc(1, sizeof *file);
        file->big_endian = true;
        put_text(file,
                 "# vtk DataFile Version 3.0\ntitle\n%s\nDATASET POLYDATA\n"
                 "FIELD FieldData 1\nTIME 1 1 double\n",
                 binary ? "BINARY" : "ASCII");
        if (binary)
            put_f64(file, 1.5);
        else
            put_text(file, "1.5");
        put_text(file, "\n");
        vtk_points(file, binary);
        const int data[] = {1, 0, 4, 0, 1, 4, 2, 4, 0, 1, 2, 3, 3, 0, 3, 4};
        put_text(file, "VERTICES 1 2\n");
        for (int i = 0; i < 2; i++)
            vtk_int(file, binary, data[i], 4);
        put_text(file, "\nPOLYGONS 1 5\n");
        for (int i = 2; i < 7; i++)
            vtk_int(file, binary, data[i], 4);
        put_text(file, "\nTRIANGLE_STRIPS 1 5\n");
        for (int i = 7; i < 12; i++)
            vtk_int(file, binary, data[i], 4);
        put_text(file, "\nLINES 1 4\n");
        for (int i = 12; i < 16; i++)
            vtk_int(file, binary, data[i], 4);
        put_text(file, "\nCELL_DATA 7\n");
        pl_mesh mesh = accept(file->data, file->size, "polygons.vtk");
        assert_int_equal(mesh.triangle_count, 4);
        assert_int_equal(mesh.line_count, 2);
        assert_int_equal(mesh.tet_count, 0);
        const int strip[] = {0, 1, 2, 1, 3, 2};
        for (int i = 0; i < 6; i++)
            assert_int_equal(mesh.triangles[6 + i], strip[i]);
        pl_mesh_free(&mesh);
        torture(file->data, file->size, "polygons.vtk", 2000, ENOUGH);
        free(file);
    }
}

static void refuses_bad_vtk(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n1 nan 2\n", "finite"},
        {"x\nASCII\nDATASET STRUCTURED_GRID\n", "UNSTRUCTURED_GRID"},
        {"x\nTEXT\n", "ASCII or BINARY"},
        {"x\nASCII\nDATASET POLYDATA\nPOINTS 2000000000 float\n1 2 3\n", "missing"},
        {"x\nBINARY\nDATASET POLYDATA\nPOINTS 2000000000 float\n1 2 3\n", "ends inside"},
        {"x\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n1 2 3\nPOLYGONS 1 4\n3 0 0 1\n", "point 1"},
        {"x\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n1 2 3\nPOLYGONS 1 9\n3 0 0 0\n",
         "another size"},
        {"x\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n1 2 3\nCELLS 1 4\n3 0 0 0\n",
         "types of 0"},
        {"x\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n1 2 3\nCELLS 1 4\n3 0 0 0\n"
         "CELL_TYPES 1\n10\n",
         "too few"},
        {"x\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n1 2 3\nCELLS 3 3\n"
         "OFFSETS vtktypeint64\n0 2 1\nCONNECTIVITY vtktypeint64\n0 0 0\n",
         "descend"},
        {"x\nASCII\nDATASET POLYDATA\nNONSENSE 3\n", "NONSENSE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "# vtk DataFile Version 3.0\n%s", cases[i].text);
        refuse(text, strlen(text), "bad.vtk", cases[i].message);
    }
}

/* ---- Cells that are divided ------------------------------------------------------------------ */

/* A block of 3 × 2 × 2 hexahedra, each left whole, or made of two prisms or six pyramids around its
   middle, at random; vertices numbered at random. All of it divided must be a mesh of tetrahedra in
   which every inner face is shared by exactly two and which fills the block. */
enum { NX = 3, NY = 2, NZ = 2, CORNERS = (NX + 1) * (NY + 1) * (NZ + 1), BLOCKS = NX * NY * NZ };

static int corner_number(const int *order, int x, int y, int z)
{
    return order[(z * (NY + 1) + y) * (NX + 1) + x];
}

static int put_block(bytes *cells, bytes *types, int kind, const int v[8], int middle)
{
    static const int prisms[2][6] = {{0, 1, 2, 4, 5, 6}, {0, 2, 3, 4, 6, 7}};
    static const int faces[6][4] = {{0, 1, 2, 3}, {4, 7, 6, 5}, {0, 4, 5, 1},
                                    {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}};
    if (kind == 0) {
        put_text(cells, "8 %d %d %d %d %d %d %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6],
                 v[7]);
        put_text(types, "12\n");
        return 1;
    }
    if (kind == 1) {
        for (int i = 0; i < 2; i++) {
            const int *p = prisms[i];
            put_text(cells, "6 %d %d %d %d %d %d\n", v[p[0]], v[p[1]], v[p[2]], v[p[3]], v[p[4]],
                     v[p[5]]);
            put_text(types, "13\n");
        }
        return 2;
    }
    for (int i = 0; i < 6; i++) {
        const int *f = faces[i];
        put_text(cells, "5 %d %d %d %d %d\n", v[f[0]], v[f[1]], v[f[2]], v[f[3]], middle);
        put_text(types, "14\n");
    }
    return 6;
}

static void check_faces_match(const pl_mesh *mesh)
{
    int inner = 0, outer = 0;
    for (int t = 0; t < mesh->tet_count; t++) {
        for (int f = 0; f < 4; f++) {
            int matches = 0, on_side = 0;
            for (int u = 0; u < mesh->tet_count; u++) {
                int shared = 0;
                for (int a = 0; a < 4; a++)
                    for (int b = 0; b < 4; b++)
                        shared += a != f && mesh->tets[4 * t + a] == mesh->tets[4 * u + b];
                matches += u != t && shared == 3;
            }
            const double size[3] = {NX, NY, NZ};
            for (int k = 0; k < 3; k++) {
                double sum = 0;
                for (int a = 0; a < 4; a++)
                    sum += a != f ? mesh->positions[3 * mesh->tets[4 * t + a] + k] : 0;
                on_side += sum == 0 || sum == 3 * size[k];
            }
            assert_int_equal(matches, on_side ? 0 : 1);
            inner += !on_side;
            outer += on_side;
        }
    }
    assert_true(inner > 0 && outer > 0);
}

/* A column of blocks is of one kind from bottom to top: prisms have triangles there, which only
   prisms match. */
static void test_division(pl_rng *rng)
{
    int order[CORNERS + BLOCKS];
    for (int i = 0; i < CORNERS + BLOCKS; i++)
        order[i] = i;
    for (int i = CORNERS + BLOCKS - 1; i > 0; i--) {
        int j = (int)(pl_random_u32(rng) % (uint32_t)(i + 1)), swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
    double(*at)[3] = calloc(CORNERS + BLOCKS, sizeof *at);
    bytes *cells = calloc(1, sizeof *cells), *types = calloc(1, sizeof *types);
    bytes *file = calloc(1, sizeof *file);
    int column[NX * NY], count = 0, block = 0;
    for (int i = 0; i < NX * NY; i++)
        column[i] = (int)(pl_random_u32(rng) % 3);
    for (int z = 0; z <= NZ; z++)
        for (int y = 0; y <= NY; y++)
            for (int x = 0; x <= NX; x++) {
                double *p = at[corner_number(order, x, y, z)];
                p[0] = x, p[1] = y, p[2] = z;
            }
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++, block++) {
                int v[8], middle = order[CORNERS + block];
                for (int k = 0; k < 8; k++)
                    v[k] = corner_number(order, x + (k % 4 == 1 || k % 4 == 2), y + (k % 4 > 1),
                                         z + k / 4);
                at[middle][0] = x + 0.5, at[middle][1] = y + 0.5, at[middle][2] = z + 0.5;
                int kind = column[y * NX + x];
                count += put_block(cells, types, kind, v, middle);
            }
    put_text(file,
             "# vtk DataFile Version 2.0\nblocks\nASCII\nDATASET UNSTRUCTURED_GRID\n"
             "POINTS %d double\n",
             CORNERS + BLOCKS);
    for (int i = 0; i < CORNERS + BLOCKS; i++)
        put_text(file, "%g %g %g\n", at[i][0], at[i][1], at[i][2]);
    int members = 0;
    for (size_t i = 0; i < cells->size; i++)
        members += cells->data[i] == ' ' || cells->data[i] == '\n';
    put_text(file, "CELLS %d %d\n", count, members);
    put(file, cells->data, cells->size);
    put_text(file, "CELL_TYPES %d\n", count);
    put(file, types->data, types->size);
    pl_mesh mesh = accept(file->data, file->size, "blocks.vtk");
    double least, sum = tet_volume(&mesh, &least);
    assert_true(fabs(sum - NX * NY * NZ) < 1e-12);
    assert_true(least > 1e-3);
    check_faces_match(&mesh);
    pl_mesh_free(&mesh);
    free(file), free(cells), free(types), free(at);
}

static void divides_cells_alike_on_both_sides(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(3);
    for (int i = 0; i < 300; i++)
        test_division(&rng);
}

/* Voxels and pixels have another order of corners; quadratic and upside-down cells come out
   right. */
static void reads_other_cells(void **state)
{
    (void)state;
    bytes *file = calloc(1, sizeof *file);
    put_text(file, "# vtk DataFile Version 2.0\nvoxel\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                   "POINTS 8 double\n");
    for (int i = 0; i < 8; i++)
        put_text(file, "%d %d %d\n", i & 1, i >> 1 & 1, i >> 2);
    put_text(file, "CELLS 4 27\n8 0 1 2 3 4 5 6 7\n8 4 5 7 6 0 1 3 2\n4 0 1 2 3\n3 1 2 3\n"
                   "CELL_TYPES 4\n11\n12\n8\n999\n");
    pl_mesh mesh = accept(file->data, file->size, "voxel.vtk");
    double least, sum = tet_volume(&mesh, &least);
    assert_int_equal(mesh.tet_count, 12);
    assert_true(fabs(sum - 2) < 1e-12 && least > 0.1);
    assert_int_equal(mesh.triangle_count, 2);
    assert_int_equal(mesh.triangles[2], 3); /* 0 1 3, 0 3 2 */
    pl_mesh_free(&mesh);
    free(file);
}

/* ---- TetGen ---------------------------------------------------------------------------------- */

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static pl_status load(const char *name, pl_mesh *mesh, pl_error *error)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *error = (pl_error){0};
    return pl_mesh_load(path, NULL, mesh, error);
}

static void make_tetgen(bytes *node, bytes *ele, int base)
{
    put_text(node, "# points\n5 3 1 1 # head\n\n");
    put_text(ele, "2 %d 1\n", base ? 4 : 10);
    for (int i = 0; i < 5; i++)
        put_text(node, "  %d %.17g %.17g %.17g 0.5 1\n", i + base, points[i][0], points[i][1],
                 points[i][2]);
    for (int i = 0; i < 2; i++) {
        put_text(ele, "%d %d %d %d %d", i + base, tets[i][0] + base, tets[i][1] + base,
                 tets[i][2] + base, tets[i][3] + base);
        put_text(ele, "%s 7\n# comment\n", base ? "" : " 0 0 0 0 0 0");
    }
}

static void reads_tetgen(void **state)
{
    (void)state;
    for (int base = 0; base < 2; base++) {
        bytes *node = calloc(1, sizeof *node), *ele = calloc(1, sizeof *ele);
        pl_mesh mesh;
        pl_error error;
        make_tetgen(node, ele, base);
        write_file("small.node", (char *)node->data);
        write_file("small.ele", (char *)ele->data);
        assert_int_equal(load("small.node", &mesh, &error), PL_OK);
        check_small(&mesh, 0);
        pl_mesh_free(&mesh);
        assert_int_equal(load("small.ele", &mesh, &error), PL_OK);
        check_small(&mesh, 0);
        pl_mesh_free(&mesh);
        mesh = accept(node->data, node->size, "small.node");
        assert_int_equal(mesh.vertex_count, 5);
        pl_mesh_free(&mesh);
        torture(node->data, node->size, "small.node", 2000, ENOUGH);
        refuse(ele->data, ele->size, "small.ele", ".node");
        free(node), free(ele);
    }
}

static void hurts_no_pair_of_files(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(8);
    bytes *node = calloc(1, sizeof *node), *ele = calloc(1, sizeof *ele);
    make_tetgen(node, ele, 1);
    write_file("pair.node", (char *)node->data);
    for (int i = 0; i < 500; i++) {
        bytes *copy = malloc(sizeof *copy);
        pl_mesh mesh;
        pl_error error;
        *copy = *ele;
        mutate(&rng, copy->data, copy->size);
        write_file("pair.ele", (char *)copy->data);
        if (load(i % 2 ? "pair.ele" : "pair.node", &mesh, &error) == PL_OK)
            check_mesh(&mesh);
        pl_mesh_free(&mesh);
        free(copy);
    }
    free(node), free(ele);
}

static void refuses_bad_tetgen(void **state)
{
    (void)state;
    static const struct {
        const char *node, *ele, *message;
    } cases[] = {
        {"4 3 0 0\n0 0 0 0\n", "1 4 0\n0 0 1 2 3\n", "ends after 1 of 4"},
        {"1 3 0 0\n7 0 0 0\n", "1 4 0\n0 0 1 2 3\n", "number of the point"},
        {"2 3 0 0\n0 0 0 0\n2 0 0 0\n", "1 4 0\n0 0 1 2 3\n", "number of the point"},
        {"2 2 0 0\n0 0 0\n1 0 0\n", "1 4 0\n0 0 1 2 3\n", "dimension"},
        {"1 3 0 0\n1 0 0 0\n", "1 4 0\n1 1 1 1 0\n", "corner"},
        {"1 3 0 0\n1 0 0 0\n", "1 4 0\n1 1 1 1 2\n", "corner"},
        {"1 3 0 0\n1 0 0 0\n", "1 5 0\n1 1 1 1 1\n", "4 or 10"},
        {"1 3 0 0\n1 0 0 0\n", "2000000000 4 0\n1 1 1 1 1\n", "ends after 1"},
        {"1 3 0 0\n1 0 0\n", "1 4 0\n1 1 1 1 1\n", "missing"},
        {"", "1 4 0\n1 1 1 1 1\n", "missing"},
    };
    pl_mesh mesh;
    pl_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("bad.node", cases[i].node);
        write_file("bad.ele", cases[i].ele);
        assert_int_equal(load("bad.ele", &mesh, &error), PL_ERROR_FORMAT);
        if (!strstr(error.text, cases[i].message))
            print_message("%zu: %s: %s\n", i, error.where, error.text);
        assert_non_null(strstr(error.text, cases[i].message));
    }
    write_file("lonely.ele", "1 4 0\n1 1 1 1 1\n");
    assert_int_equal(load("lonely.ele", &mesh, &error), PL_ERROR_IO);
    assert_non_null(strstr(error.text, "lonely.node"));
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pliant_tets_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"small.node", "small.ele", "pair.node", "pair.ele",
                                        "bad.node",   "bad.ele",   "lonely.ele"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* ---- Meshes of others ------------------------------------------------------------------------ */

static void reads_shared_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int vertices, tets, triangles;
        double volume, digit; /* as listed, and half a unit of its last digit */
    } list[] = {
        {"armadillo_4k.node", 1180, 3717, 0, 1.86, 0.005},
        {"armadillo_4k.ele", 1180, 3717, 0, 1.86, 0.005},
        {"bunny_1124.node", 777, 2510, 0, 0.0007555, 5e-8},
        {"box768.ele", 413, 1175, 0, 1, 1e-9},
        {"torus.node", 798, 4130, 0, 1.223, 0.0005},
        {"octopus_low.mesh", 452, 1140, 898, 0.009136, 5e-7},
        {"hand.mesh", 7234, 29998, 9556, 0.1605, 0.00005},
        {"ball.vtk", 600, 2536, 0, 3.941, 0.0005},
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
        double least;
        snprintf(path, sizeof path, "%s%s", SHARED, list[i].name);
        pl_mesh_load(path, NULL, &mesh, &error);
        assert_string_equal(error.text, "");
        check_mesh(&mesh);
        assert_int_equal(mesh.vertex_count, list[i].vertices);
        assert_int_equal(mesh.tet_count, list[i].tets);
        assert_int_equal(mesh.triangle_count, list[i].triangles);
        assert_true(fabs(tet_volume(&mesh, &least) - list[i].volume) <= list[i].digit);
        assert_true(least > 0);
        pl_mesh_free(&mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_gmsh),
        cmocka_unit_test(reads_corners_of_higher_order),
        cmocka_unit_test(refuses_bad_gmsh),
        cmocka_unit_test(reads_medit),
        cmocka_unit_test(refuses_bad_medit),
        cmocka_unit_test(reads_vtk_grids),
        cmocka_unit_test(reads_vtk_polygons),
        cmocka_unit_test(refuses_bad_vtk),
        cmocka_unit_test(divides_cells_alike_on_both_sides),
        cmocka_unit_test(reads_other_cells),
        cmocka_unit_test(reads_tetgen),
        cmocka_unit_test(hurts_no_pair_of_files),
        cmocka_unit_test(refuses_bad_tetgen),
        cmocka_unit_test(reads_shared_meshes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* Meshes and vertex caches of a run, byte by byte against what the bodies say: .pc2, .ply, .obj;
   and what happens when memory or the disk ends. */
#include "support/check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/mesh_bytes.h"
#include "io/outputs.h"
#include "pliant/files.h"

static char folder[64];

/* ---- A run ----------------------------------------------------------------------------------- */

/* A skinned box that falls on a floor, and bare particles that hang from one of them. */
static const char scene_text[] =
    "{\"pliant\":1,\"world\":{\"step\":0.02,\"frames\":10},"
    "\"models\":{\"bare\":{\"particles\":[{\"position\":[0,0,0],\"radii\":[0.1,0.2,0.3]},"
    "{\"position\":[0.5,0,0],\"radii\":[0.1,0.1,0.1]}],\"edges\":[[0,1]],\"dimension\":1}},"
    "\"bodies\":["
    "{\"model\":{\"shape\":\"box\",\"count\":[3,3,3],\"size\":[1,1,1]},\"position\":[0,0.55,0],"
    "\"spin\":[1,2,3]},"
    "{\"model\":\"bare\",\"position\":[5,1,0],\"fixed\":[0]},"
    "{\"model\":{\"shape\":\"box\",\"count\":[2,2,2],\"size\":[1,1,1]},\"position\":[-3,9,0]}],"
    "\"colliders\":[{\"shape\":\"plane\"}]}";

typedef struct run {
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
} run;

static void start(run *r)
{
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    pl_memory_init(&r->memory, NULL, 0);
    if (pl_scene_read(&r->memory, "test", scene_text, strlen(scene_text), &r->scene, &trouble) ||
        pl_play_create(r->scene, 0, &options, &r->play, &trouble))
        fail_msg("%s: %s", trouble.path, trouble.text);
}

static void end(run *r)
{
    pl_play_destroy(r->play);
    pl_scene_free(r->scene);
    assert_int_equal(r->memory.used, 0);
}

static void step(run *r, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pl_play_step(r->play, NULL), PL_OK);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static pl_output *open_output(run *r, const char *name)
{
    pl_output *output;
    pl_trouble trouble;
    if (pl_output_open(&r->memory, path_of(name), &output, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
    return output;
}

static void publish(pl_output *output)
{
    pl_trouble trouble;
    if (pl_output_publish(output, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
}

static char *read_back(run *r, const char *name, size_t *size)
{
    char *bytes;
    pl_trouble trouble;
    if (pl_file_read(&r->memory, path_of(name), (size_t)1 << 30, &bytes, size, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
    return bytes;
}

/* ---- Vertex caches --------------------------------------------------------------------------- */

enum { SAMPLES = 4 };

static int surface_vertices(const pl_play_body *body)
{
    return body->info.triangle_count ? body->info.vertex_count : 6 * body->info.particle_count;
}

/* What the cache must hold of the bodies with a surface; of the others nothing (NaN). */
static float *expected_floats(const run *r, int *count)
{
    *count = 0;
    for (int i = 0; i < r->play->body_count; i++)
        *count += 3 * surface_vertices(&r->play->bodies[i]);
    float *all = malloc((size_t)*count * sizeof *all), *to = all;
    assert_non_null(all);
    for (int i = 0; i < r->play->body_count; i++) {
        const pl_play_body *body = &r->play->bodies[i];
        int vertices = surface_vertices(body);
        for (int k = 0; k < 3 * vertices; k++)
            to[k] = NAN;
        if (body->info.triangle_count)
            assert_int_equal(pl_body_read(r->play->world, body->handle, PL_VERTICES, 0, vertices, 1,
                                          pl_floats(to, 0)),
                             PL_OK);
        to += 3 * vertices;
    }
    return all;
}

/* The tips of an axis lie on both sides of the particle, as far away as the radius. */
static void check_tips(const run *r, const pl_play_body *body, const float *tips)
{
    double x[2][3], radii[2][3];
    pl_body_read(r->play->world, body->handle, PL_POSITIONS, 0, 2, 1, pl_doubles(x[0], 0));
    pl_model_read(body->model, PL_REST_RADII, 0, 2, pl_doubles(radii[0], 0));
    for (int p = 0; p < 2; p++)
        for (int a = 0; a < 3; a++) {
            const float *one = tips + 18 * p + 6 * a, *other = one + 3;
            double length = 0;
            for (int k = 0; k < 3; k++) {
                assert_true(fabs((one[k] + (double)other[k]) / 2 - x[p][k]) < 1e-6);
                length += (one[k] - (double)other[k]) * (one[k] - (double)other[k]);
            }
            assert_true(fabs(sqrt(length) / 2 - radii[p][a]) < 1e-6);
        }
}

static void caches_hold_every_vertex(void **state)
{
    (void)state;
    run r;
    start(&r);
    pl_output *output = open_output(&r, "a.pc2");
    float *expected[SAMPLES];
    int count = 0;
    assert_int_equal(pl_write_pc2_header(output, r.play, 2, SAMPLES), PL_OK);
    for (int s = 0; s < SAMPLES; s++) {
        assert_int_equal(pl_write_pc2_sample(output, r.play), PL_OK);
        expected[s] = expected_floats(&r, &count);
        if (s + 1 < SAMPLES)
            step(&r, 2);
    }
    publish(output);
    size_t size;
    char *bytes = read_back(&r, "a.pc2", &size);
    assert_int_equal(size, 32 + (size_t)count * 4 * SAMPLES);
    assert_memory_equal(bytes, "POINTCACHE2", 12);
    pl_bytes in = pl_bytes_make(bytes, size, false);
    pl_bytes_take(&in, 12);
    assert_int_equal(pl_bytes_u32(&in), 1);
    assert_int_equal(pl_bytes_u32(&in), count / 3);
    assert_true(pl_bytes_f32(&in) == 0);
    assert_true(pl_bytes_f32(&in) == 2);
    assert_int_equal(pl_bytes_u32(&in), SAMPLES);
    float *got = malloc((size_t)count * sizeof *got);
    assert_non_null(got);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < count; i++) {
            got[i] = pl_bytes_f32(&in);
            assert_true(isnan(expected[s][i]) ? isfinite(got[i]) : got[i] == expected[s][i]);
        }
        free(expected[s]);
    }
    /* `got` is of the last sample: where the bodies are now. */
    check_tips(&r, &r.play->bodies[1], got + 3 * surface_vertices(&r.play->bodies[0]));
    free(got);
    pl_memory_free(&r.memory, bytes);
    end(&r);
}

static void shorter_caches_say_so(void **state)
{
    (void)state;
    run r;
    start(&r);
    pl_output *output = open_output(&r, "b.pc2");
    assert_int_equal(pl_write_pc2_header(output, r.play, 1, 1000), PL_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pl_write_pc2_sample(output, r.play), PL_OK);
    pl_pc2_set_samples(output, 3);
    publish(output);
    size_t size;
    char *bytes = read_back(&r, "b.pc2", &size);
    const uint8_t *header = (const uint8_t *)bytes;
    assert_int_equal(pl_bytes_at_u32(header + 28, false), 3);
    assert_int_equal(size, 32 + 36 * (size_t)pl_bytes_at_u32(header + 16, false));
    pl_memory_free(&r.memory, bytes);
    end(&r);
}

static void patches_stay_where_they_belong(void **state)
{
    (void)state;
    run r;
    start(&r);
    pl_output *output = open_output(&r, "c.bin");
    enum { LENGTH = 200000 }; /* more than is kept before it is written */
    for (int i = 0; i < LENGTH; i++)
        pl_output_write(output, "x", 1);
    pl_output_patch(output, 10, "abc", 3);
    pl_output_write(output, "y", 1);
    pl_output_patch(output, LENGTH, "z", 1);
    publish(output);
    size_t size;
    char *bytes = read_back(&r, "c.bin", &size);
    assert_int_equal(size, LENGTH + 1);
    assert_memory_equal(bytes + 9, "xabcx", 5);
    assert_memory_equal(bytes + LENGTH - 1, "xz", 2);
    pl_memory_free(&r.memory, bytes);
    end(&r);
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static void load(const char *name, pl_mesh *mesh)
{
    pl_error error;
    if (pl_mesh_load(path_of(name), NULL, mesh, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
}

/* The .ply, the .obj and a cache of one frame have the same vertices in the same order. */
static void meshes_and_caches_agree(void **state)
{
    (void)state;
    run r;
    start(&r);
    step(&r, 7);
    pl_output *ply = open_output(&r, "a.ply"), *obj = open_output(&r, "a.obj"),
              *pc2 = open_output(&r, "d.pc2");
    assert_int_equal(pl_write_ply(ply, r.play), PL_OK);
    assert_int_equal(pl_write_obj(obj, r.play), PL_OK);
    assert_int_equal(pl_write_pc2_header(pc2, r.play, 1, 1), PL_OK);
    assert_int_equal(pl_write_pc2_sample(pc2, r.play), PL_OK);
    publish(ply);
    publish(obj);
    publish(pc2);
    pl_mesh a, b;
    load("a.ply", &a);
    load("a.obj", &b);
    size_t size;
    char *bytes = read_back(&r, "d.pc2", &size);
    assert_int_equal(a.vertex_count, b.vertex_count);
    assert_int_equal(a.triangle_count, b.triangle_count);
    assert_int_equal(size, 32 + 12 * (size_t)a.vertex_count);
    assert_memory_equal(a.triangles, b.triangles, 12 * (size_t)a.triangle_count);
    for (int i = 0; i < 3 * a.vertex_count; i++) {
        double exact = (double)pl_bytes_at_f32((const uint8_t *)bytes + 32 + 4 * i, false);
        assert_true(a.positions[i] == exact);
        assert_true(fabs(b.positions[i] - exact) <= 1e-6 * fmax(1, fabs(exact)));
    }
    assert_null(a.look.colours);
    assert_non_null(a.look.normals);
    int first = 0;
    for (int i = 0; i < r.play->body_count; i++) {
        const pl_play_body *body = &r.play->bodies[i];
        int count = surface_vertices(body);
        float *normals = malloc(12 * (size_t)count);
        if (body->info.triangle_count) {
            pl_body_read(r.play->world, body->handle, PL_NORMALS, 0, count, 1,
                         pl_floats(normals, 0));
            for (int k = 0; k < 3 * count; k++)
                assert_true(fabs((double)normals[k] - (double)a.look.normals[3 * first + k]) <
                            1e-6);
        }
        first += count;
        free(normals);
    }
    pl_memory_free(&r.memory, bytes);
    pl_mesh_free(&a);
    pl_mesh_free(&b);
    end(&r);
}

/* All 256 values of a byte come back, through linear light and sRGB; a body without colours beside
   it is white. */
static void colours_come_back(void **state)
{
    (void)state;
    enum { N = 256 };
    run r;
    start(&r);
    float colours[N][4], linear[N];
    double vertices[N][3];
    int32_t triangles[N - 2][3];
    double particles[1][3] = {{0, 0, 0}}, radii[1][3] = {{1, 1, 1}};
    for (int i = 0; i < N; i++) {
        double c = i / 255.0;
        linear[i] = (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
        for (int k = 0; k < 3; k++)
            vertices[i][k] = (i * (k + 1)) % 17 + 0.01 * i;
        colours[i][0] = colours[i][1] = colours[i][2] = linear[i];
        colours[i][3] = (float)c;
        for (int k = 0; k < 3 && i < N - 2; k++)
            triangles[i][k] = i + k;
    }
    pl_look look = {.colours = colours[0]};
    pl_model_def def = pl_default_model_def();
    def.particle_count = 1;
    def.positions = pl_doubles(particles[0], 0);
    def.radii = pl_doubles(radii[0], 0);
    def.vertex_count = N;
    def.vertices = pl_doubles(vertices[0], 0);
    def.triangle_count = N - 2;
    def.triangles = triangles[0];
    def.look = &look;
    pl_error error;
    pl_model *model;
    if (pl_model_create(&def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_play_body bodies[2] = {r.play->bodies[0], {.name = "coloured", .model = model}};
    pl_body_def body_def = pl_default_body_def(model);
    assert_int_equal(pl_body_create(r.play->world, &body_def, &bodies[1].handle, NULL), PL_OK);
    bodies[1].info = pl_model_get_info(model);
    pl_play both = *r.play;
    both.bodies = bodies;
    both.body_count = 2;
    pl_output *output = open_output(&r, "colours.ply");
    assert_int_equal(pl_write_ply(output, &both), PL_OK);
    publish(output);
    pl_mesh mesh;
    load("colours.ply", &mesh);
    assert_non_null(mesh.look.colours);
    int first = bodies[0].info.vertex_count;
    assert_int_equal(mesh.vertex_count, first + N);
    for (int k = 0; k < 4; k++)
        assert_true(mesh.look.colours[k] == 1);
    for (int i = 0; i < N; i++) {
        const float *got = mesh.look.colours + 4 * (first + i);
        for (int k = 0; k < 3; k++)
            assert_true(fabs((double)got[k] - (double)linear[i]) < 1e-6);
        assert_true(fabs((double)got[3] - i / 255.0) < 1e-6);
    }
    pl_mesh_free(&mesh);
    pl_model_release(model);
    end(&r);
}

/* ---- When something ends --------------------------------------------------------------------- */

static pl_status write_pc2(pl_output *output, const pl_play *play)
{
    PL_TRY(pl_write_pc2_header(output, play, 1, 1));
    return pl_write_pc2_sample(output, play);
}

typedef pl_status writer(pl_output *output, const pl_play *play);

static writer *const writers[] = {pl_write_obj, pl_write_ply, write_pc2};
enum { WRITERS = 3 };

static void without_memory_nothing_leaks(void **state)
{
    (void)state;
    run r;
    start(&r);
    for (int w = 0; w < WRITERS; w++) {
        int failures = 0;
        for (;; failures++) {
            pl_output *output = open_output(&r, "memory.bin");
            size_t used = r.memory.used;
            r.memory.fail_at = (int64_t)r.memory.allocations + failures;
            pl_status status = writers[w](output, r.play);
            r.memory.fail_at = -1;
            assert_int_equal(r.memory.used, used);
            pl_output_drop(output);
            if (status == PL_OK)
                break;
            assert_int_equal(status, PL_ERROR_MEMORY);
        }
        assert_true(failures >= r.play->body_count);
    }
    assert_int_not_equal(access(path_of("memory.bin"), F_OK), 0);
    end(&r);
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    run r;
    start(&r);
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100;
    for (int w = 0; w < WRITERS; w++) {
        pl_trouble trouble;
        pl_output *output = open_output(&r, "full.bin");
        setrlimit(RLIMIT_FSIZE, &small);
        assert_int_equal(writers[w](output, r.play), PL_OK);
        pl_status status = pl_output_publish(output, &trouble);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, PL_ERROR_IO);
        assert_non_null(strstr(trouble.text, "cannot be written"));
        assert_int_not_equal(access(path_of("full.bin"), F_OK), 0);
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(caches_hold_every_vertex),
                                       cmocka_unit_test(shorter_caches_say_so),
                                       cmocka_unit_test(patches_stay_where_they_belong),
                                       cmocka_unit_test(meshes_and_caches_agree),
                                       cmocka_unit_test(colours_come_back),
                                       cmocka_unit_test(without_memory_nothing_leaks),
                                       cmocka_unit_test(a_full_disk_leaves_nothing)};
    snprintf(folder, sizeof folder, "/tmp/pliant-outputs-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = {"a.pc2", "b.pc2", "c.bin",      "d.pc2",
                                        "a.ply", "a.obj", "colours.ply"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    /* Anything else that was left behind keeps the folder, and fails. */
    return rmdir(folder) != 0 || failed;
}

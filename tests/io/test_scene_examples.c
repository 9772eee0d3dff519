/* Example poses in scenes: a deformed copy of the mesh, a frame of another run, warps in turn,
   groups and bias arrive as the body's examples: put into the pose, it has its weight. And the same
   through a file of states. What the columns of the scene example-cuboids come to: twists, S, and
   neither. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#include "io/file.h"
#include "io/outputs.h"
#include "io/scene.h"

#define SCENES PLIANT_SOURCE_DIR "/scenes"

typedef struct run {
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
    pl_trouble trouble;
} run;

static char directory[] = "/tmp/pliant-examples-XXXXXX";

static bool start(run *r, const char *examples)
{
    static const char form[] =
        "{\"pliant\":1,\"world\":{\"step\":0.004,\"gravity\":[0,0,0]},\"bodies\":[{\"name\":"
        "\"bar\",\"model\":{\"shape\":\"box\",\"count\":[4,8,4],\"size\":[0.3,0.7,0.3],"
        "\"clusters\":{\"rings\":true}},\"clustered\":{\"strain_limit\":0}%s}]}";
    char text[4096], file[64];
    pl_play_options options = pl_default_play_options();
    snprintf(text, sizeof text, form, examples);
    snprintf(file, sizeof file, "%s/scene.json", directory);
    *r = (run){0};
    pl_memory_init(&r->memory, NULL, 0);
    return pl_scene_read(&r->memory, file, text, strlen(text), &r->scene, &r->trouble) == PL_OK &&
           pl_play_create(r->scene, 0, &options, &r->play, &r->trouble) == PL_OK;
}

static void must_start(run *r, const char *examples)
{
    if (!start(r, examples))
        fail_msg("%s: %s", r->trouble.path, r->trouble.text);
}

static void end(run *r)
{
    pl_play_destroy(r->play);
    pl_scene_free(r->scene);
    assert_int_equal(r->memory.used, 0);
}

/* The body of a run put into a shortened twist. */
static void twist(run *r)
{
    pl_pose pose;
    pl_warp warp = pl_default_warp(PL_WARP_TWIST);
    const pl_play_body *body = &r->play->bodies[0];
    assert_int_equal(pl_pose_warp(body->model, &warp, 1, &pose, NULL), PL_OK);
    pl_buffer x = {(void *)(uintptr_t)pose.positions, 0, PL_F64};
    pl_buffer q = {(void *)(uintptr_t)pose.rotations, 0, PL_F64};
    int n = pose.particle_count;
    assert_int_equal(pl_body_write(r->play->world, body->handle, PL_POSITIONS, 0, n, x), PL_OK);
    assert_int_equal(pl_body_write(r->play->world, body->handle, PL_ROTATIONS, 0, n, q), PL_OK);
    pl_pose_free(&pose);
}

static double weight_after_twist(const char *examples)
{
    run r;
    float w[8];
    must_start(&r, examples);
    twist(&r);
    assert_int_equal(pl_play_step(r.play, NULL), PL_OK);
    assert_int_equal(pl_body_get_example_weights(r.play->world, r.play->bodies[0].handle, 0, 1, w),
                     PL_OK);
    end(&r);
    return (double)w[0];
}

typedef void writer(pl_output *output, const run *r);

static void write_state(pl_output *output, const run *r)
{
    assert_int_equal(pl_write_state_line(output, r->play, NULL), PL_OK);
}

static void write_to(const char *name, writer *write, const run *r)
{
    char path[64];
    pl_memory memory;
    pl_output *output;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(pl_output_open(&memory, path, &output, &trouble), PL_OK);
    write(output, r);
    assert_int_equal(pl_output_publish(output, &trouble), PL_OK);
}

/* Corner `k` of triangle `t` as an order of faces has it. */
typedef int32_t facing(const int32_t *triangles, int t, int k);

static int32_t as_it_is(const int32_t *triangles, int t, int k)
{
    return triangles[3 * t + k];
}

static int32_t turned_over(const int32_t *triangles, int t, int k)
{
    return triangles[3 * t + (t < 5 ? k : (3 - k) % 3)];
}

static int32_t begun_elsewhere(const int32_t *triangles, int t, int k)
{
    return triangles[3 * t + (k + t) % 3];
}

/* The first vertex and one that is in no triangle with it. */
static int32_t swapped(const int32_t *triangles, int t, int k)
{
    int32_t v = triangles[3 * t + k], first = triangles[0], other = triangles[3 * 60];
    return v == first ? other : v == other ? first : v;
}

/* Two triangles in a row that share an edge, cut along the other diagonal: a quadrilateral of a
   deformed copy may be. */
static int32_t cut_otherwise(const int32_t *triangles, int t, int k)
{
    const int32_t *a = triangles + 3 * (t / 2 * 2), *b = a + 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[(i + 1) % 3] == b[j] && a[i] == b[(j + 1) % 3]) {
                int32_t far = b[(j + 2) % 3], top = a[(i + 2) % 3];
                const int32_t cut[2][3] = {{top, a[i], far}, {top, far, a[(i + 1) % 3]}};
                return cut[t % 2][k];
            }
    return triangles[3 * t + k];
}

/* The surface as it is now, in the manner of .obj; without its last vertices where wanted. */
static void write_faces(const char *name, const run *r, int left_out, facing *face)
{
    char path[64];
    const pl_play_body *body = &r->play->bodies[0];
    int n = body->info.vertex_count, m = body->info.triangle_count;
    const int32_t *triangles = pl_model_triangles(body->model);
    double *x = malloc(sizeof(double) * 3 * (size_t)n);
    assert_int_equal(
        pl_body_read(r->play->world, body->handle, PL_VERTICES, 0, n, 1, pl_doubles(x, 0)), PL_OK);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int v = 0; v < n - left_out; v++)
        fprintf(file, "v %.17g %.17g %.17g\n", x[3 * v], x[3 * v + 1], x[3 * v + 2]);
    for (int t = 0; t < m; t++) {
        const int32_t v[3] = {face(triangles, t, 0), face(triangles, t, 1), face(triangles, t, 2)};
        if (v[0] < n - left_out && v[1] < n - left_out && v[2] < n - left_out)
            fprintf(file, "f %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1);
    }
    fclose(file);
    free(x);
}

static void write_surface(const char *name, const run *r, int left_out)
{
    write_faces(name, r, left_out, as_it_is);
}

/* A copy with the same vertices and other faces is a copy of something else; where a face begins,
   and how a polygon is cut, is nobody's business. */
static void check_other_faces(const run *r)
{
    static const struct {
        facing *face;
        const char *says; /* NULL = it is taken */
    } cases[] = {{turned_over, "another winding"},
                 {swapped, "another order"},
                 {begun_elsewhere, NULL},
                 {cut_otherwise, NULL}};
    const int32_t *triangles = pl_model_triangles(r->play->bodies[0].model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run other;
        char where[64] = "triangle 0 ";
        write_faces("faces.obj", r, 0, cases[i].face);
        bool started = start(&other, ",\"examples\":{\"poses\":[{\"file\":\"faces.obj\"}]}");
        if (started != !cases[i].says)
            fail_msg("%zu: %s", i, started ? "taken" : other.trouble.text);
        if (i == 0) {
            const int32_t *v = triangles + 15;
            snprintf(where, sizeof where, "triangle 5 is %d %d %d and in the model %d %d %d", v[0],
                     v[2], v[1], v[0], v[1], v[2]);
        }
        if (!started &&
            (!strstr(other.trouble.text, cases[i].says) || !strstr(other.trouble.text, where)))
            fail_msg("%zu: %s", i, other.trouble.text);
        end(&other);
    }
}

static void poses_from_files(void **state)
{
    (void)state;
    run r;
    must_start(&r, "");
    write_to("rest.jsonl", write_state, &r);
    write_surface("rest.obj", &r, 0);
    twist(&r);
    write_to("twist.jsonl", write_state, &r);
    write_surface("twist.obj", &r, 0);
    write_surface("short.obj", &r, 3);
    check_other_faces(&r);
    end(&r);
    double drawn = weight_after_twist(",\"examples\":{\"poses\":[{\"warp\":\"twist\"}]}");
    double dumped = weight_after_twist(
        ",\"examples\":{\"poses\":[{\"dump\":\"twist.jsonl\",\"body\":\"bar\"}]}");
    double copied = weight_after_twist(",\"examples\":{\"poses\":[{\"file\":\"twist.obj\"}]}");
    double rest = weight_after_twist(",\"examples\":{\"poses\":[{\"file\":\"rest.obj\"}]}");
    printf("weights: drawn %.4f, from a state %.4f, from a mesh %.4f, of rest %.4f\n", drawn,
           dumped, copied, rest);
    assert_true(drawn > 0.99 && fabs(dumped - drawn) < 1e-3);
    assert_true(copied > 0.9 && rest < 0.1);
    assert_false(start(&r, ",\"examples\":{\"poses\":[{\"file\":\"short.obj\"}]}"));
    assert_non_null(strstr(r.trouble.text, "vertices; the model has"));
    assert_string_equal(r.trouble.path, "bodies[0].examples.poses[0].file");
    end(&r);
    assert_false(start(&r, ",\"examples\":{\"poses\":[{\"dump\":\"twist.jsonl\",\"frame\":7}]}"));
    assert_non_null(strstr(r.trouble.text, "has no such frame"));
    end(&r);
    assert_false(
        start(&r, ",\"examples\":{\"poses\":[{\"dump\":\"twist.jsonl\",\"body\":\"x\"}]}"));
    assert_non_null(strstr(r.trouble.text, "has no such body"));
    end(&r);
    assert_false(start(&r, ",\"examples\":{\"poses\":[{\"dump\":\"twist.obj\"}]}"));
    end(&r);
}

static void groups_and_bias(void **state)
{
    (void)state;
    run r;
    pl_body_info info;
    float w[2];
    must_start(&r, ",\"examples\":{\"poses\":[{\"warps\":[{\"warp\":\"twist\"},{\"warp\":\"bend\","
                   "\"degrees\":20,\"from\":0.5}]}],\"groups\":[[{\"box\":[[-1,-1,-1],[1,0,1]]}],"
                   "[{\"box\":[[-1,0.001,-1],[1,1,1]]}]],\"bias\":[0.3],\"beta\":0.9}");
    pl_body handle = r.play->bodies[0].handle;
    assert_int_equal(pl_body_get_info(r.play->world, handle, &info), PL_OK);
    assert_int_equal(info.example_pose_count, 1);
    assert_int_equal(info.example_group_count, 2);
    assert_int_equal(pl_play_step(r.play, NULL), PL_OK);
    assert_int_equal(pl_body_get_example_weights(r.play->world, handle, 0, 2, w), PL_OK);
    assert_true(fabs((double)w[0] - 0.27) < 1e-3 &&
                fabs((double)w[1] - 0.27) < 1e-3); /* 0.9 · 0.3 */
    write_to("biased.jsonl", write_state, &r);
    end(&r);
    char path[64], *text;
    snprintf(path, sizeof path, "%s/biased.jsonl", directory);
    FILE *file = fopen(path, "r");
    size_t size = 1 << 20;
    text = calloc(1, size);
    assert_true(fread(text, 1, size - 1, file) > 0);
    fclose(file);
    const char *found = strstr(text, "\"examples\":[[0.2");
    assert_non_null(found);
    free(text);
}

/* ---- The columns ----------------------------------------------------------------------------- */

static void open_scene(run *r, const char *name)
{
    char path[1024], *bytes;
    size_t size;
    pl_play_options options = pl_default_play_options();
    snprintf(path, sizeof path, SCENES "/%s.json", name);
    *r = (run){0};
    pl_memory_init(&r->memory, NULL, 0);
    assert_int_equal(pl_file_read(&r->memory, path, 1 << 24, &bytes, &size, &r->trouble), PL_OK);
    if (pl_scene_read(&r->memory, path, bytes, size, &r->scene, &r->trouble) != PL_OK ||
        pl_play_create(r->scene, 0, &options, &r->play, &r->trouble) != PL_OK)
        fail_msg("%s: %s", r->trouble.path, r->trouble.text);
    pl_memory_free(&r->memory, bytes);
}

/* A column in layers: their middles, and how they are turned about the vertical against the
   lowest. */
enum { LAYERS = 9 };
typedef struct column {
    double middle[LAYERS][3], turn[LAYERS];
} column;

static column look_at(const run *r, int body)
{
    const pl_play_body *b = &r->play->bodies[body];
    int n = b->info.particle_count, count[LAYERS] = {0};
    double *rest = malloc(sizeof(double) * 6 * (size_t)n), *x = rest + 3 * (size_t)n;
    double along[LAYERS] = {0}, across[LAYERS] = {0};
    column c = {0};
    assert_int_equal(pl_model_read(b->model, PL_REST_POSITIONS, 0, n, pl_doubles(rest, 0)), PL_OK);
    assert_int_equal(
        pl_body_read(r->play->world, b->handle, PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)), PL_OK);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            const double *p = rest + 3 * i, *q = x + 3 * i;
            int layer = (int)floor((p[1] + 0.5) * (LAYERS - 1) + 0.5);
            assert_true(layer >= 0 && layer < LAYERS);
            count[layer] += !pass;
            for (int k = 0; k < 3 && !pass; k++)
                c.middle[layer][k] += q[k] / (n / LAYERS);
            if (!pass)
                continue;
            double dx = q[0] - c.middle[layer][0], dz = q[2] - c.middle[layer][2];
            along[layer] += p[0] * dx + p[2] * dz;
            across[layer] += p[2] * dx - p[0] * dz;
        }
    for (int layer = 0; layer < LAYERS; layer++) {
        assert_int_equal(count[layer], n / LAYERS);
        c.turn[layer] = atan2(across[layer], along[layer]) * 180 / 3.14159265358979323846;
    }
    free(rest);
    return c;
}

/* From the vertical, to the side the S goes first, in degrees. */
static double lean(const column *c, int layer)
{
    const double *a = c->middle[layer], *b = c->middle[layer + 1];
    return atan2(b[0] - a[0], b[1] - a[1]) * 180 / 3.14159265358979323846;
}

static void columns_sag_as_shown(void **state)
{
    (void)state;
    run r;
    open_scene(&r, "example-cuboids");
    assert_int_equal(r.play->body_count, 5);
    for (int frame = 0; frame < 120; frame++)
        assert_int_equal(pl_play_step(r.play, NULL), PL_OK);
    for (int body = 0; body < 5; body++) {
        column c = look_at(&r, body);
        double turn = fabs(c.turn[LAYERS - 1] - c.turn[0]), height = c.middle[LAYERS - 1][1];
        double aside = hypot(c.middle[LAYERS - 1][0] - c.middle[0][0],
                             c.middle[LAYERS - 1][2] - c.middle[0][2]);
        double foot = lean(&c, 1), middle = lean(&c, 4), top = lean(&c, LAYERS - 2);
        printf("%-12s turned by %5.1f degrees, height %.3f, top %.3f aside, leaning %5.1f %5.1f "
               "%5.1f\n",
               r.play->bodies[body].name, turn, height, aside, foot, middle, top);
        bool twist = body == 1 || body == 2, bent = body >= 3;
        assert_true(twist ? turn > 20 && turn < 95 : turn < 3);
        assert_true(twist || bent ? height < 0.9 && height > 0.5 : height > 0.9);
        assert_true(aside < (bent ? 0.2 : 0.03));
        if (bent) /* back at the foot, over in the middle, back again at the top */
            assert_true(foot < -1 && middle > 8 && top < middle - 3);
        else
            assert_true(fabs(foot) < 2 && fabs(middle) < 2 && fabs(top) < 2);
    }
    end(&r);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    static const char *const files[] = {"rest.jsonl", "twist.jsonl",  "rest.obj", "twist.obj",
                                        "short.obj",  "biased.jsonl", "faces.obj"};
    char path[64];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(poses_from_files),
                                       cmocka_unit_test(groups_and_bias),
                                       cmocka_unit_test(columns_sag_as_shown)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

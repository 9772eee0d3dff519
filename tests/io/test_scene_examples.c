/* Example poses in scenes: a deformed copy of the mesh, a frame of another run, warps in turn, groups and bias arrive as the
   body's examples: put into the pose, it has its weight. And the same through a file of states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#include "io/outputs.h"
#include "io/scene.h"

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

/* The surface as it is now, in the manner of .obj; without its last vertices where wanted. */
static void write_surface(const char *name, const run *r, int left_out)
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
        const int32_t *v = triangles + 3 * t;
        if (v[0] < n - left_out && v[1] < n - left_out && v[2] < n - left_out)
            fprintf(file, "f %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1);
    }
    fclose(file);
    free(x);
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

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    static const char *const files[] = {"rest.jsonl", "twist.jsonl", "rest.obj",
                                        "twist.obj",  "short.obj",   "biased.jsonl"};
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
                                       cmocka_unit_test(groups_and_bias)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* The .glb of a play, read back by an evaluator of its own: joints from keys, vertices from joints; they
   must be where the world's skinning has them. And what must hold of the file whatever happens while it
   is written. */
#include "support/check.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "io/output_glb.h"
#include "io/output_glb_parts.h"
#include "io/output_surface.h"
#include "pliant/files.h"

static char directory[] = "/tmp/pliant-glb-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* Files of the directory, hidden ones included. */
static int count_files(void)
{
    char command[300];
    int count = -1;
    snprintf(command, sizeof command, "ls -A %s | wc -l", directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

/* ---- Plays ----------------------------------------------------------------------------------- */

typedef struct stage {
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
} stage;

static void open_stage(stage *s, const char *text)
{
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    char message[1024];
    pl_memory_init(&s->memory, NULL, 0);
    if (pl_scene_read(&s->memory, "test.json", text, strlen(text), &s->scene, &trouble) != PL_OK ||
        pl_play_create(s->scene, 0, &options, &s->play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
}

static void close_stage(stage *s)
{
    pl_play_destroy(s->play);
    pl_scene_free(s->scene);
    assert_int_equal(s->memory.used, 0);
}

static void need(pl_status status, const pl_trouble *trouble)
{
    if (status != PL_OK)
        fail_msg("%s: %s", trouble->file, trouble->text);
}

/* ---- Reading back ---------------------------------------------------------------------------- */

typedef struct file {
    pl_memory memory;
    char *bytes;
    size_t size;
    pl_json *json;
    const char *bin;
} file;

static uint32_t word(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void open_file(file *f, const char *name)
{
    pl_trouble trouble;
    pl_memory_init(&f->memory, NULL, 0);
    need(pl_file_read(&f->memory, path_of(name), SIZE_MAX, &f->bytes, &f->size, &trouble),
         &trouble);
    assert_true(f->size >= 20 && f->size % 4 == 0);
    assert_int_equal(word(f->bytes), 0x46546C67);
    assert_int_equal(word(f->bytes + 4), 2);
    assert_int_equal(word(f->bytes + 8), f->size);
    uint32_t json = word(f->bytes + 12);
    assert_int_equal(json % 4, 0);
    f->bin = f->bytes + 28 + json;
    if (f->size > 20 + json)
        assert_int_equal(word(f->bytes + 20 + json) + 28 + json, f->size);
    need(pl_json_parse(&f->memory, name, f->bytes + 20, json, &f->json, &trouble), &trouble);
}

static void close_file(file *f)
{
    pl_json_free(f->json);
    pl_memory_free(&f->memory, f->bytes);
    assert_int_equal(f->memory.used, 0);
}

static void expect_same_files(const char *name, const char *other)
{
    file a, b;
    open_file(&a, name);
    open_file(&b, other);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    close_file(&a);
    close_file(&b);
}

static uint32_t at(const file *f, uint32_t object, const char *key)
{
    return pl_json_member(f->json, object, key);
}

static uint32_t item(const file *f, const char *table, int index)
{
    uint32_t array = at(f, 0, table);
    uint32_t found = array ? pl_json_element(f->json, array, (uint32_t)index) : 0;
    if (!found)
        fail_msg("there is no %s[%d]", table, index);
    return found;
}

static int length_of(const file *f, const char *table)
{
    uint32_t array = at(f, 0, table);
    return array ? (int)f->json->nodes[array].as.container.count : 0;
}

static int number(const file *f, uint32_t object, const char *key, int otherwise)
{
    uint32_t node = at(f, object, key);
    return node ? (int)f->json->nodes[node].as.number : otherwise;
}

static bool numbers(const file *f, uint32_t object, const char *key, int count, double *out)
{
    uint32_t array = at(f, object, key);
    for (int i = 0; array && i < count; i++)
        out[i] = f->json->nodes[pl_json_element(f->json, array, (uint32_t)i)].as.number;
    return array != 0;
}

/* Value k of element i of an accessor, as a double. */
typedef struct accessor {
    const char *at;
    int component, width, count;
} accessor;

static accessor find_accessor(const file *f, int index)
{
    static const struct {
        const char *name;
        int width;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    uint32_t a = item(f, "accessors", index);
    uint32_t view = item(f, "bufferViews", number(f, a, "bufferView", -1));
    accessor found = {f->bin + number(f, view, "byteOffset", 0) + number(f, a, "byteOffset", 0),
                      number(f, a, "componentType", 0), 0, number(f, a, "count", 0)};
    for (int i = 0; i < 5; i++)
        if (strcmp(pl_json_string(f->json, at(f, a, "type")), types[i].name) == 0)
            found.width = types[i].width;
    assert_true(found.width > 0);
    int size = found.component == 5121 ? 1 : found.component == 5123 ? 2 : 4;
    assert_true(number(f, a, "byteOffset", 0) + found.count * found.width * size <=
                number(f, view, "byteLength", 0));
    return found;
}

static double value(const accessor *a, int i, int k)
{
    size_t index = (size_t)i * (size_t)a->width + (size_t)k;
    float real;
    if (a->component == 5121)
        return ((const uint8_t *)a->at)[index];
    if (a->component == 5123)
        return ((const uint16_t *)(const void *)a->at)[index];
    memcpy(&real, a->at + 4 * index, sizeof real);
    return a->component == 5126 ? (double)real : (double)word(a->at + 4 * index);
}

/* ---- Poses ----------------------------------------------------------------------------------- */

typedef struct place {
    double t[3], q[4], s[3];
} place;

/* Along the arc, as glTF says. */
static void slerp(const double *a, const double *b, double t, double *out)
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot < 0 ? -1 : 1, angle = acos(fmin(fabs(dot), 1)), s = sin(angle);
    double u = angle > 1e-6 ? sin((1 - t) * angle) / s : 1 - t;
    double v = angle > 1e-6 ? sin(t * angle) / s : t;
    for (int k = 0; k < 4; k++)
        out[k] = u * a[k] + sign * v * b[k];
}

static void sample(const file *f, uint32_t sampler, int width, double time, double *out)
{
    accessor times = find_accessor(f, number(f, sampler, "input", -1));
    accessor values = find_accessor(f, number(f, sampler, "output", -1));
    bool step = at(f, sampler, "interpolation") != 0;
    assert_int_equal(times.count, values.count);
    assert_int_equal(values.width, width);
    int next = 0;
    while (next < times.count && value(&times, next, 0) <= time)
        next++;
    int from = next > 0 ? next - 1 : 0, to = next < times.count ? next : times.count - 1;
    double a[4], b[4], span = value(&times, to, 0) - value(&times, from, 0);
    double t = span > 0 ? (time - value(&times, from, 0)) / span : 0;
    for (int k = 0; k < width; k++)
        a[k] = value(&values, from, k), b[k] = value(&values, to, k);
    if (width == 4)
        slerp(a, b, t, out);
    else
        for (int k = 0; k < width; k++)
            out[k] = step ? a[k] : a[k] + (b[k] - a[k]) * t;
}

/* Where all nodes are, relative to their parents. */
static place *pose_at(const file *f, double time)
{
    int count = length_of(f, "nodes");
    place *places = calloc((size_t)count, sizeof *places);
    uint32_t node = count ? at(f, 0, "nodes") + 1 : 0;
    for (int i = 0; i < count; i++, node = pl_json_next(f->json, node)) {
        places[i] = (place){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        numbers(f, node, "translation", 3, places[i].t);
        numbers(f, node, "rotation", 4, places[i].q);
        numbers(f, node, "scale", 3, places[i].s);
    }
    if (!at(f, 0, "animations"))
        return places;
    uint32_t animation = item(f, "animations", 0), samplers = at(f, animation, "samplers");
    uint32_t channels = at(f, animation, "channels"), channel = channels + 1;
    for (uint32_t i = 0; i < f->json->nodes[channels].as.container.count; i++) {
        uint32_t target = at(f, channel, "target");
        const char *path = pl_json_string(f->json, at(f, target, "path"));
        place *to = &places[number(f, target, "node", -1)];
        uint32_t sampler =
            pl_json_element(f->json, samplers, (uint32_t)number(f, channel, "sampler", -1));
        sample(f, sampler, path[0] == 'r' ? 4 : 3, time,
               path[0] == 't'   ? to->t
               : path[0] == 'r' ? to->q
                                : to->s);
        channel = pl_json_next(f->json, channel);
    }
    return places;
}

static void turn(const double q[4], const double v[3], double out[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    out[0] =
        (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - z * w) * v[1] + 2 * (x * z + y * w) * v[2];
    out[1] =
        2 * (x * y + z * w) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - x * w) * v[2];
    out[2] =
        2 * (x * z - y * w) * v[0] + 2 * (y * z + x * w) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

/* The nodes of a scene that have a skin, in order; -1 behind the last. */
static int skinned_node(const file *f, int index)
{
    uint32_t node = at(f, 0, "nodes") + 1;
    for (int i = 0; i < length_of(f, "nodes"); i++, node = pl_json_next(f->json, node))
        if (at(f, node, "skin") && index-- == 0)
            return i;
    return -1;
}

static uint32_t attributes_of(const file *f, int node)
{
    uint32_t mesh = item(f, "meshes", number(f, item(f, "nodes", node), "mesh", -1));
    return at(f, pl_json_element(f->json, at(f, mesh, "primitives"), 0), "attributes");
}

/* Vertices of a skinned node: Σ w · root · joint · inverse bind · v. */
static int skin(const file *f, const place *places, int node, double *out)
{
    uint32_t attributes = attributes_of(f, node);
    uint32_t s = item(f, "skins", number(f, item(f, "nodes", node), "skin", -1));
    accessor positions = find_accessor(f, number(f, attributes, "POSITION", -1));
    accessor binds = find_accessor(f, number(f, s, "inverseBindMatrices", -1));
    int root = number(f, s, "skeleton", -1), *joints = calloc((size_t)binds.count, sizeof *joints);
    uint32_t joint = at(f, s, "joints") + 1;
    for (int j = 0; j < binds.count; j++)
        joints[j] = (int)f->json->nodes[joint++].as.number;
    memset(out, 0, 3 * (size_t)positions.count * sizeof *out);
    double *sums = calloc((size_t)positions.count, sizeof *sums);
    static const char *const names[2][2] = {{"JOINTS_0", "WEIGHTS_0"}, {"JOINTS_1", "WEIGHTS_1"}};
    for (int set = 0; set < 2 && at(f, attributes, names[set][0]); set++) {
        accessor which = find_accessor(f, number(f, attributes, names[set][0], -1));
        accessor weights = find_accessor(f, number(f, attributes, names[set][1], -1));
        for (int i = 0; i < 4 * positions.count; i++) {
            int v = i / 4, j = (int)value(&which, v, i % 4);
            double w = value(&weights, v, i % 4), p[3], moved[3];
            assert_true(w >= 0 && (w > 0 || j == 0) && j < binds.count);
            sums[v] += w;
            for (int k = 0; k < 3; k++)
                p[k] = value(&positions, v, k) + value(&binds, j, 12 + k);
            turn(places[joints[j]].q, p, moved);
            for (int k = 0; k < 3; k++)
                out[3 * v + k] += w * ((moved[k] + places[joints[j]].t[k]) * places[root].s[k] +
                                       places[root].t[k]);
        }
    }
    for (int v = 0; v < positions.count; v++)
        assert_true(fabs(sums[v] - 1) < 2e-7);
    free(sums);
    free(joints);
    return positions.count;
}

/* ---- A run and its file ---------------------------------------------------------------------- */

enum { MOST_FRAMES = 64 };

typedef struct run {
    stage stage;
    int frames;
    double times[MOST_FRAMES];
    double *vertices[MOST_FRAMES][8]; /* by body; NULL = it is gone */
} run;

/* What our own skinning says. */
static void keep_frame(run *r)
{
    const pl_play *play = r->stage.play;
    assert_true(r->frames < MOST_FRAMES && play->body_count <= 8);
    r->times[r->frames] = pl_world_time(play->world);
    for (int b = 0; b < play->body_count; b++) {
        const pl_play_body *body = &play->bodies[b];
        double *to = calloc(3 * (size_t)pl_surface_vertices(body), sizeof *to);
        if (body->removed) {
            free(to);
            to = NULL;
        } else {
            assert_int_equal(pl_surface_read(play, body, to, NULL), PL_OK);
        }
        r->vertices[r->frames][b] = to;
    }
    r->frames++;
}

static void record_run(run *r, const char *text, const char *name, int frames)
{
    pl_trouble trouble;
    pl_glb_record *record;
    memset(r, 0, sizeof *r);
    open_stage(&r->stage, text);
    pl_play *play = r->stage.play;
    need(pl_glb_record_open(&r->stage.memory, path_of(name), play, NULL, NULL, &record, &trouble),
         &trouble);
    for (int f = 0; f <= frames; f++) {
        if (f)
            assert_int_equal(pl_play_step(play, NULL), PL_OK);
        need(pl_glb_record_frame(record, play, &trouble), &trouble);
        keep_frame(r);
    }
    need(pl_glb_record_publish(record, &trouble), &trouble);
}

static void free_run(run *r)
{
    for (int f = 0; f < r->frames; f++)
        for (int b = 0; b < 8; b++)
            free(r->vertices[f][b]);
    close_stage(&r->stage);
}

static double extent(const double *p, int count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * count; i++) {
        lower[i % 3] = fmin(lower[i % 3], p[i]);
        upper[i % 3] = fmax(upper[i % 3], p[i]);
    }
    return sqrt(pow(upper[0] - lower[0], 2) + pow(upper[1] - lower[1], 2) +
                pow(upper[2] - lower[2], 2));
}

/* Largest distance in any frame from one on, as a part of the body's size at the start. */
static double compare_from(const run *r, const file *f, int first)
{
    double worst = 0;
    for (int frame = first; frame < r->frames; frame++) {
        place *places = pose_at(f, (double)(float)r->times[frame]);
        for (int b = 0; b < r->stage.play->body_count; b++) {
            int count = (int)pl_surface_vertices(&r->stage.play->bodies[b]);
            double *theirs = calloc(3 * (size_t)count, sizeof *theirs);
            const double *ours = r->vertices[frame][b];
            assert_int_equal(skin(f, places, skinned_node(f, b), theirs), count);
            double size = extent(r->vertices[0][b], count);
            /* One that is gone is a point. */
            if (!ours)
                assert_true(extent(theirs, count) <= 1e-6 * size);
            for (int i = 0; ours && i < 3 * count; i++)
                worst = fmax(worst, fabs(theirs[i] - ours[i]) / size);
            free(theirs);
        }
        free(places);
    }
    return worst;
}

static double compare_run(const run *r, const file *f)
{
    return compare_from(r, f, 0);
}

#define BAR "{\"name\":\"bar\",\"model\":\"bar\",\"material\":\"jelly\",\"fixed\":[\"first\"]}"
#define SCENE(bodies, rest)                                                                        \
    "{\"pliant\":1,\"name\":\"a \\\"test\\\"\",\"models\":{"                                       \
    "\"bar\":{\"shape\":\"bar\",\"count\":6,\"size\":[2,0.2,0.2]},"                                \
    "\"ring\":{\"builtin\":\"torus\",\"detail\":0.2,\"particles\":30,\"influences\":8},"           \
    "\"bare\":{\"particles\":["                                                                    \
    "{\"position\":[0,0,0],\"radii\":[0.1,0.2,0.3]},"                                              \
    "{\"position\":[0.5,0.1,0],\"radii\":[0.2,0.1,0.1],\"orientation\":[0.6,0,0,0.8]}],"           \
    "\"edges\":[[0,1]]}},\"bodies\":[" bodies "]" rest "}"

/* ---- Tests ----------------------------------------------------------------------------------- */

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

/* A bar that is pulled apart. */
#define BREAKING(rest)                                                                             \
    "{\"pliant\":1,\"world\":{\"gravity\":[0,0,0],\"substeps\":4},\"models\":{\"bar\":"            \
    "{\"builtin\":\"cuboid\",\"scale\":[3,1,1],\"particles\":400,\"kind\":\"solid\","              \
    "\"tets\":1500,\"clusters\":{\"count\":40,\"shards\":true}}},\"bodies\":[{\"name\":\"bar\","   \
    "\"model\":\"bar\",\"clustered\":{\"toughness\":0.1}}],\"drive\":["                            \
    "{\"particles\":[{\"box\":[[-3,-1,-1],[-1,2,1]]}],\"relative\":true,\"keys\":["                \
    "{\"time\":0,\"position\":[0,0,0]},{\"time\":0.5,\"position\":[-0.5,0,0]}]},"                  \
    "{\"particles\":[{\"box\":[[1,-1,-1],[3,2,1]]}],\"relative\":true,\"keys\":["                  \
    "{\"time\":0,\"position\":[0,0,0]},{\"time\":0.5,\"position\":[0.5,0,0]}]}]" rest "}"

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

/* Volume inside the triangles of a rigid node's mesh: positive where they are wound as glTF says. */
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
    /* Turning evenly by 1 degree a frame: what is kept must be within the tolerance on arc and chord. */
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

/* ---- The writer alone ------------------------------------------------------------------------ */

static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
static const int32_t corners[3] = {0, 1, 2}, carried[3] = {0, 0, 0};
static const float whole[3] = {1, 1, 1};

static pl_glb *open_writer(pl_memory *memory, const char *name)
{
    pl_glb *glb;
    pl_trouble trouble;
    pl_memory_init(memory, NULL, 0);
    need(pl_glb_open(memory, &(pl_glb_def){.path = path_of(name)}, &glb, &trouble), &trouble);
    return glb;
}

static void nothing_at_all_is_a_file(void **state)
{
    (void)state;
    pl_memory memory;
    pl_trouble trouble;
    file f;
    need(pl_glb_publish(open_writer(&memory, "empty.glb"), &trouble), &trouble);
    open_file(&f, "empty.glb");
    assert_int_equal(at(&f, 0, "nodes"), 0);
    assert_int_equal(at(&f, 0, "buffers"), 0);
    assert_true(at(&f, 0, "scenes") > 0);
    close_file(&f);
    assert_int_equal(memory.used, 0);
}

static void looks_are_kept(void **state)
{
    (void)state;
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 1, 2, 3};
    static const uint8_t other[] = "RIFF....WEBP";
    const pl_image images[] = {{"caf\xC3\xA9.png", "image/png", png, sizeof png},
                               {"bad\xFF\"name", "", other, sizeof other}};
    pl_look_material materials[3] = {{.name = "\"shiny\"\n",
                                      .colour = {0.25f, 0.5f, 2, 1},
                                      .metal = 0.75f,
                                      .roughness = 0.5f,
                                      .emission = {0.5f, 0, 0},
                                      .two_sided = true,
                                      .alpha = 1,
                                      .cutoff = 0.25f,
                                      .textures = {0, -1, -1, 1, 0},
                                      .texture_uvs = {0, 0, 0, 0, 1}},
                                     {.name = "unused", .textures = {-1, -1, -1, -1, -1}},
                                     {.name = "plain", .textures = {-1, -1, -1, -1, -1}}};
    static const float uvs[6] = {0, 0, 1, 0, 0, 1}, zeros[9] = {0};
    static const float colours[12] = {2, -1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    static const int32_t both[6] = {0, 1, 2, 2, 1, 0}, names[2] = {2, 0};
    const pl_look look = {.colours = colours,
                          .uv_set_count = 1,
                          .uvs = {uvs},
                          .triangle_materials = names,
                          .material_count = 3,
                          .materials = materials,
                          .image_count = 2,
                          .images = images};
    const pl_glb_surface surface = {.name = "s",
                                    .vertex_count = 3,
                                    .triangle_count = 2,
                                    .positions = triangle,
                                    .normals = zeros,
                                    .triangles = both,
                                    .look = &look};
    pl_memory memory;
    pl_trouble trouble;
    int shape, actor;
    file f;
    pl_glb *glb = open_writer(&memory, "look.glb");
    need(pl_glb_add_surface(glb, &surface, &shape, &trouble), &trouble);
    need(pl_glb_add_actor(glb, &(pl_glb_actor){.name = "a", .surface = shape}, &actor, &trouble),
         &trouble);
    need(pl_glb_frame(glb, 0, &trouble), &trouble);
    need(pl_glb_publish(glb, &trouble), &trouble);
    open_file(&f, "look.glb");
    assert_int_equal(length_of(&f, "materials"), 2);
    assert_int_equal(length_of(&f, "images"), 1);
    assert_string_equal(pl_json_string(f.json, at(&f, item(&f, "images", 0), "name")),
                        "caf\xC3\xA9.png");
    uint32_t shiny = item(&f, "materials", 1), base = at(&f, shiny, "pbrMetallicRoughness");
    double colour[4];
    assert_string_equal(pl_json_string(f.json, at(&f, shiny, "name")), "\"shiny\"\n");
    assert_true(numbers(&f, base, "baseColorFactor", 4, colour));
    assert_true(colour[0] == 0.25 && colour[1] == 0.5 && colour[2] == 1);
    assert_true(at(&f, base, "baseColorTexture") > 0);
    assert_int_equal(at(&f, shiny, "occlusionTexture"), 0); /* no PNG, no JPEG */
    assert_int_equal(at(&f, shiny, "emissiveTexture"), 0);  /* there is no second UV set */
    assert_string_equal(pl_json_string(f.json, at(&f, shiny, "alphaMode")), "MASK");
    uint32_t attributes = attributes_of(&f, 0);
    accessor normals = find_accessor(&f, number(&f, attributes, "NORMAL", -1));
    accessor shades = find_accessor(&f, number(&f, attributes, "COLOR_0", -1));
    assert_true(value(&normals, 0, 1) == 1);
    assert_true(value(&shades, 0, 0) == 1 && value(&shades, 0, 1) == 0);
    close_file(&f);
    assert_int_equal(memory.used, 0);
}

static void put_file(const char *name, const char *bytes, size_t size)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* A mesh that names two images: one lies beside it, one does not. */
static void images_beside_the_mesh_are_embedded(void **state)
{
    (void)state;
    static const char png[] = "\x89PNG\r\n\x1A\n and more";
    static const char mtl[] =
        "newmtl red\nKd 1 0 0\nmap_Kd skin.png\nnewmtl blue\nKd 0 0 1\nmap_Kd "
        "lost.png\n";
    static const char obj[] =
        "mtllib tet.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "usemtl red\nf 1/1 3/2 2/3\nf 1/1 2/2 4/3\nusemtl blue\nf 2/1 3/2 4/3\nf 1/1 4/2 3/3\n";
    char text[1024];
    run r;
    file f;
    put_file("skin.png", png, sizeof png);
    put_file("tet.mtl", mtl, strlen(mtl));
    put_file("tet.obj", obj, strlen(obj));
    snprintf(text, sizeof text,
             "{\"pliant\":1,\"models\":{\"tet\":{\"file\":\"%s\",\"particles\":10}},"
             "\"bodies\":[{\"name\":\"tet\",\"model\":\"tet\",\"spin\":[0,9,0]}]}",
             path_of("tet.obj"));
    record_run(&r, text, "tet.glb", 5);
    open_file(&f, "tet.glb");
    assert_true(compare_run(&r, &f) <= 1.05e-5);
    assert_int_equal(length_of(&f, "images"), 1);
    assert_int_equal(length_of(&f, "materials"), 2);
    uint32_t view = item(&f, "bufferViews", number(&f, item(&f, "images", 0), "bufferView", -1));
    assert_int_equal(number(&f, view, "byteLength", 0), sizeof png);
    assert_memory_equal(f.bin + number(&f, view, "byteOffset", 0), png, sizeof png);
    close_file(&f);
    free_run(&r);
}

static void too_many_joints_are_refused(void **state)
{
    (void)state;
    enum { MANY = PL_GLB_MOST_JOINTS + 1 };
    pl_memory memory;
    pl_trouble trouble;
    int shape;
    float *joints = calloc(3 * (size_t)MANY, sizeof *joints);
    pl_glb_surface surface = {.name = "heap",
                              .vertex_count = 3,
                              .triangle_count = 1,
                              .positions = triangle,
                              .triangles = corners,
                              .joint_count = MANY,
                              .joints = joints,
                              .influence_count = 1,
                              .influences = carried,
                              .weights = whole};
    pl_glb *glb = open_writer(&memory, "many.glb");
    assert_int_equal(pl_glb_add_surface(glb, &surface, &shape, &trouble), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(trouble.text, ".pc2"));
    assert_non_null(strstr(trouble.text, "heap"));
    surface.joint_count--;
    need(pl_glb_add_surface(glb, &surface, &shape, &trouble), &trouble);
    pl_glb_drop(glb, false);
    free(joints);
    assert_int_equal(memory.used, 0);
    assert_false(is_there("many.glb"));
}

/* ---- Trouble --------------------------------------------------------------------------------- */

#define SMALL                                                                                      \
    SCENE(BAR ",{\"name\":\"bare\",\"model\":\"bare\"}",                                           \
          ",\"colliders\":[{\"shape\":\"plane\"},{\"shape\":\"sphere\",\"radius\":1,"              \
          "\"position\":[9,9,9]}]")

static pl_status record_small(pl_memory *memory, stage *s, const char *name, pl_trouble *trouble)
{
    pl_glb_record *record;
    PL_TRY(pl_glb_record_open(memory, path_of(name), s->play, NULL, NULL, &record, trouble));
    pl_status status = PL_OK;
    for (int f = 0; f < 3 && status == PL_OK; f++) {
        status = pl_glb_record_frame(record, s->play, trouble);
        if (status == PL_OK)
            status = pl_play_step(s->play, NULL);
    }
    if (status != PL_OK) {
        pl_glb_record_drop(record, false);
        return status;
    }
    return pl_glb_record_publish(record, trouble);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    int before = count_files();
    bool good = false;
    open_stage(&s, SMALL);
    for (int i = 0; !good; i++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = i;
        trouble = (pl_trouble){0};
        pl_status status = record_small(&memory, &s, "fail.glb", &trouble);
        good = status == PL_OK;
        if (!good) {
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_true(trouble.text[0]);
            assert_int_equal(count_files(), before);
        }
        assert_int_equal(memory.used, 0);
    }
    assert_true(is_there("fail.glb"));
    assert_int_equal(count_files(), before + 1);
    close_stage(&s);
}

/* A disk that is full, for a while. */
static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    pl_memory memory;
    struct rlimit old, tight;
    open_stage(&s, SMALL);
    pl_memory_init(&memory, NULL, 0);
    need(record_small(&memory, &s, "full.glb", &trouble), &trouble);
    struct stat info;
    assert_int_equal(stat(path_of("full.glb"), &info), 0);
    int before = count_files();
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    /* The frames fit and the file does not; then not even the frames. */
    for (rlim_t limit = 20000; limit; limit = limit > 100 ? 100 : 0) {
        assert_true((rlim_t)info.st_size > limit);
        tight = (struct rlimit){limit, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &tight);
        pl_status status = record_small(&memory, &s, "full.glb", &trouble);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, PL_ERROR_IO);
        assert_non_null(strstr(trouble.file, "full.glb"));
        assert_null(strstr(trouble.file, "keys"));
        struct stat now;
        assert_int_equal(stat(path_of("full.glb"), &now), 0);
        assert_true(now.st_ino == info.st_ino && now.st_size == info.st_size);
        assert_int_equal(count_files(), before);
    }
    assert_int_equal(pl_glb_record_open(&memory, "/no/such/place/x.glb", s.play, NULL, NULL,
                                        &(pl_glb_record *){NULL}, &trouble),
                     PL_ERROR_IO);
    assert_int_equal(memory.used, 0);
    close_stage(&s);
}

/* Frames from `first` to `last`, which the play has not reached yet. */
static void play_on(stage *s, pl_glb_record *record, int first, int last)
{
    pl_trouble trouble;
    for (int f = first; f <= last; f++) {
        if (f)
            assert_int_equal(pl_play_step(s->play, NULL), PL_OK);
        if (record)
            need(pl_glb_record_frame(record, s->play, &trouble), &trouble);
    }
}

static pl_glb_record *open_record(stage *s, const char *name, const pl_output_mark *mark)
{
    pl_trouble trouble;
    pl_glb_record *record;
    need(pl_glb_record_open(&s->memory, path_of(name), s->play, NULL, mark, &record, &trouble),
         &trouble);
    return record;
}

/* Killed some time after a mark; what goes on from there ends in the same file. */
static void a_run_can_go_on(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    pl_output_mark mark;
    int before = count_files();
    open_stage(&s, SMALL);
    pl_glb_record *record = open_record(&s, "whole.glb", NULL);
    play_on(&s, record, 0, 19);
    need(pl_glb_record_publish(record, &trouble), &trouble);
    close_stage(&s);

    open_stage(&s, SMALL);
    record = open_record(&s, "part.glb", NULL);
    play_on(&s, record, 0, 9);
    need(pl_glb_record_set_mark(record, &mark, &trouble), &trouble);
    play_on(&s, record, 10, 14);
    pl_glb_record_drop(record, true);
    close_stage(&s);
    assert_int_equal(count_files(), before + 2);

    open_stage(&s, SMALL);
    play_on(&s, NULL, 0, 9);
    pl_output_mark wrong = {mark.offset - 4, mark.file};
    assert_int_equal(
        pl_glb_record_open(&s.memory, path_of("part.glb"), s.play, NULL, &wrong, &record, &trouble),
        PL_ERROR_FORMAT);
    record = open_record(&s, "part.glb", &mark);
    play_on(&s, record, 10, 19);
    need(pl_glb_record_publish(record, &trouble), &trouble);
    close_stage(&s);

    expect_same_files("whole.glb", "part.glb");
    assert_int_equal(count_files(), before + 2);
}

/* The skin of what broke is there though no frame follows; of a body that is gone nobody knows it. */
static void what_broke_can_go_on(void **state)
{
    (void)state;
    static const char *const scenes[] = {
        BREAKING(""), BREAKING(",\"events\":[{\"at\":0.6,\"remove\":[\"bar\"]}]")};
    stage s;
    pl_trouble trouble;
    pl_output_mark mark;
    for (int gone = 0; gone < 2; gone++) {
        open_stage(&s, scenes[gone]);
        pl_glb_record *record = open_record(&s, "torn.glb", NULL);
        play_on(&s, record, 0, 40);
        need(pl_glb_record_set_mark(record, &mark, &trouble), &trouble);
        pl_glb_record_drop(record, true);
        assert_true(s.play->bodies[0].removed == gone);
        pl_status status = pl_glb_record_open(&s.memory, path_of("torn.glb"), s.play, NULL, &mark,
                                              &record, &trouble);
        assert_int_equal(status, gone ? PL_ERROR_STATE : PL_OK);
        if (!gone)
            need(pl_glb_record_publish(record, &trouble), &trouble);
        close_stage(&s);
    }
    expect_same_files("broken.glb", "torn.glb");
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
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
        cmocka_unit_test(nothing_at_all_is_a_file),
        cmocka_unit_test(looks_are_kept),
        cmocka_unit_test(images_beside_the_mesh_are_embedded),
        cmocka_unit_test(too_many_joints_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(a_run_can_go_on),
        cmocka_unit_test(what_broke_can_go_on),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

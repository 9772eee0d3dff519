/* A play and its .glb, read back by an evaluator of its own: joints from keys, vertices from
   joints. Shared by the tests of .glb files, each of which has a directory of its own. */
#ifndef PLIANT_TESTS_GLB_CASES_H
#define PLIANT_TESTS_GLB_CASES_H

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/output_glb.h"
#include "io/output_surface.h"
#include "pliant/files.h"

static char directory[] = "/tmp/pliant-glb-XXXXXX";

static inline const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* Files of the directory, hidden ones included. */
static inline int count_files(void)
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

static inline void open_stage(stage *s, const char *text)
{
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    char message[1024];
    pl_memory_init(&s->memory, NULL, 0);
    if (pl_scene_read(&s->memory, "test.json", text, strlen(text), &s->scene, &trouble) != PL_OK ||
        pl_play_create(s->scene, 0, &options, &s->play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, message, sizeof message));
}

static inline void close_stage(stage *s)
{
    pl_play_destroy(s->play);
    pl_scene_free(s->scene);
    assert_int_equal(s->memory.used, 0);
}

static inline void need(pl_status status, const pl_trouble *trouble)
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

static inline uint32_t word(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void open_file(file *f, const char *name)
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

static inline void close_file(file *f)
{
    pl_json_free(f->json);
    pl_memory_free(&f->memory, f->bytes);
    assert_int_equal(f->memory.used, 0);
}

static inline void expect_same_files(const char *name, const char *other)
{
    file a, b;
    open_file(&a, name);
    open_file(&b, other);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    close_file(&a);
    close_file(&b);
}

static inline uint32_t at(const file *f, uint32_t object, const char *key)
{
    return pl_json_member(f->json, object, key);
}

static inline uint32_t item(const file *f, const char *table, int index)
{
    uint32_t array = at(f, 0, table);
    uint32_t found = array ? pl_json_element(f->json, array, (uint32_t)index) : 0;
    if (!found)
        fail_msg("there is no %s[%d]", table, index);
    return found;
}

static inline int length_of(const file *f, const char *table)
{
    uint32_t array = at(f, 0, table);
    return array ? (int)f->json->nodes[array].as.container.count : 0;
}

static inline int number(const file *f, uint32_t object, const char *key, int otherwise)
{
    uint32_t node = at(f, object, key);
    return node ? (int)f->json->nodes[node].as.number : otherwise;
}

static inline bool numbers(const file *f, uint32_t object, const char *key, int count, double *out)
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

static inline accessor find_accessor(const file *f, int index)
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

static inline double value(const accessor *a, int i, int k)
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
static inline void slerp(const double *a, const double *b, double t, double *out)
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot < 0 ? -1 : 1, angle = acos(fmin(fabs(dot), 1)), s = sin(angle);
    double u = angle > 1e-6 ? sin((1 - t) * angle) / s : 1 - t;
    double v = angle > 1e-6 ? sin(t * angle) / s : t;
    for (int k = 0; k < 4; k++)
        out[k] = u * a[k] + sign * v * b[k];
}

static inline void sample(const file *f, uint32_t sampler, int width, double time, double *out)
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
static inline place *pose_at(const file *f, double time)
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

static inline void turn(const double q[4], const double v[3], double out[3])
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
static inline int skinned_node(const file *f, int index)
{
    uint32_t node = at(f, 0, "nodes") + 1;
    for (int i = 0; i < length_of(f, "nodes"); i++, node = pl_json_next(f->json, node))
        if (at(f, node, "skin") && index-- == 0)
            return i;
    return -1;
}

static inline uint32_t attributes_of(const file *f, int node)
{
    uint32_t mesh = item(f, "meshes", number(f, item(f, "nodes", node), "mesh", -1));
    return at(f, pl_json_element(f->json, at(f, mesh, "primitives"), 0), "attributes");
}

/* Vertices of a skinned node: Σ w · root · joint · inverse bind · v. */
static inline int skin(const file *f, const place *places, int node, double *out)
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
static inline void keep_frame(run *r)
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

static inline void record_run(run *r, const char *text, const char *name, int frames)
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

static inline void free_run(run *r)
{
    for (int f = 0; f < r->frames; f++)
        for (int b = 0; b < 8; b++)
            free(r->vertices[f][b]);
    close_stage(&r->stage);
}

static inline double extent(const double *p, int count)
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
static inline double compare_from(const run *r, const file *f, int first)
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

static inline double compare_run(const run *r, const file *f)
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

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

#endif

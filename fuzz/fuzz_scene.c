/* libFuzzer on the JSON reader, the scene reader and the building of a scene, with little memory. A
   byte 0, which no scene may contain, ends the scene; behind it stand a file that it may include as
   part.json, and values that are set from outside, each ended by a 0 too. Where a scene has events,
   a play that goes on from a snapshot must give the same bits as one that was not stopped. clang
   -fsanitize=fuzzer,address,undefined; seeds: scenes/ and fuzz/seeds/fuzz_scene/ */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "io/scene.h"

enum { LIMIT = 1 << 24, LARGEST_BODY = 2000, FRAMES = 3, SETS = 4 };

/* Large models are the library's business and would only make the fuzzer slow. */
static bool is_small(const pl_scene *scene)
{
    for (int i = 0; i < scene->model_count; i++) {
        const pl_scene_model *model = &scene->models[i];
        if (model->file || model->builtin)
            return false; /* other fuzzers read files; cooking is slow */
        double particles = 1;
        for (int k = 0; k < 3; k++)
            particles *= model->count[k] > 0 ? model->count[k] : 20;
        if (model->particle_count > LARGEST_BODY ||
            (model->is_shape && particles > 8 * LARGEST_BODY))
            return false;
    }
    for (int i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].file || scene->colliders[i].builtin)
            return false;
    return scene->body_count < 20 && scene->world.substeps * scene->world.iterations < 1000 &&
           scene->world.substeps * scene->world.stiff_iterations < 1000;
}

/* ---- Input ----------------------------------------------------------------------------------- */

typedef struct input {
    const char *scene, *part;
    size_t scene_size, part_size;
    int set_count;
    char set_texts[SETS][256];
    const char *sets[SETS];
} input;

/* Up to the next 0; what is behind it stays in *data. */
static size_t take(const char **data, size_t *size)
{
    const char *end = *size ? memchr(*data, 0, *size) : NULL;
    size_t length = end ? (size_t)(end - *data) : *size, used = length + (end != NULL);
    *data += used;
    *size -= used;
    return length;
}

static void split(const char *data, size_t size, input *in)
{
    *in = (input){.scene = data};
    in->scene_size = take(&data, &size);
    in->part = data;
    in->part_size = take(&data, &size);
    while (size > 0 && in->set_count < SETS) {
        const char *text = data;
        size_t length = take(&data, &size);
        memcpy(in->set_texts[in->set_count], text, length < 255 ? length : 255);
        in->sets[in->set_count] = in->set_texts[in->set_count];
        in->set_count++;
    }
}

static pl_status open_part(void *user, pl_memory *memory, const char *path, char **bytes,
                           size_t *size, pl_trouble *trouble)
{
    const input *in = user;
    if (strncmp(path, "part", 4) != 0)
        return pl_trouble_set(trouble, PL_ERROR_IO, path, "is not there");
    *size = in->part_size;
    *bytes = PL_NEW(memory, char, *size + 1);
    if (!*bytes)
        return PL_ERROR_MEMORY;
    memcpy(*bytes, in->part, *size);
    return PL_OK;
}

/* ---- Playing --------------------------------------------------------------------------------- */

static pl_play *build(const pl_scene *scene, pl_trouble *trouble)
{
    pl_play *play;
    pl_play_options options = pl_default_play_options();
    options.memory_limit = LIMIT;
    return pl_play_create(scene, 0, &options, &play, trouble) == PL_OK ? play : NULL;
}

static bool go_on(pl_memory *memory, const pl_scene *scene, const pl_play *from, pl_play **play)
{
    size_t size;
    pl_trouble trouble;
    pl_error error;
    *play = NULL;
    if (pl_world_save(from->world, NULL, 0, &size) != PL_OK)
        return false;
    char *bytes = PL_NEW(memory, char, size);
    bool good = bytes && pl_world_save(from->world, bytes, size, &size) == PL_OK &&
                (*play = build(scene, &trouble)) &&
                pl_world_restore((*play)->world, bytes, size, (*play)->models, (*play)->model_count,
                                 &error) == PL_OK &&
                pl_play_seek(*play, from->frame) == PL_OK;
    pl_memory_free(memory, bytes);
    return good;
}

static bool step(pl_play *play, int frames)
{
    for (int i = 0; i < frames; i++) {
        pl_status status = pl_play_step(play, NULL);
        if (status == PL_ERROR_MEMORY)
            return false;
        if (status != PL_OK) /* what was built can be played */
            __builtin_trap();
    }
    return true;
}

static void play_scene(pl_memory *memory, const pl_scene *scene, pl_trouble *trouble)
{
    pl_play *play = build(scene, trouble), *other = NULL;
    if (play && step(play, 1)) {
        bool both = scene->event_count > 0 && go_on(memory, scene, play, &other);
        if (step(play, FRAMES - 1) && both && step(other, FRAMES - 1) &&
            pl_world_hash(play->world) != pl_world_hash(other->world))
            __builtin_trap();
    }
    pl_play_destroy(other);
    pl_play_destroy(play);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_memory memory;
    pl_scene *scene;
    pl_trouble trouble = {0};
    char text[1200], path[300];
    double place[3], target[3];
    input in;
    split((const char *)data, size, &in);
    pl_memory_init(&memory, NULL, LIMIT);
    const pl_scene_source source = {.file = "fuzz",
                                    .text = in.scene,
                                    .size = in.scene_size,
                                    .set_count = in.set_count,
                                    .sets = in.sets,
                                    .open = open_part,
                                    .user = &in};
    pl_status status = pl_scene_read_source(&memory, &source, &scene, &trouble);
    if (status == PL_OK) {
        for (int i = 0; i < scene->camera_count; i++)
            pl_scene_camera_at(&scene->cameras[i], 0.5, place, target);
        for (int i = 0; i < scene->output_count; i++)
            pl_scene_path(scene, scene->outputs[i].file_node, scene->outputs[i].file, path,
                          sizeof path);
        if (is_small(scene))
            play_scene(&memory, scene, &trouble);
    }
    pl_trouble_format(&trouble, text, sizeof text);
    pl_scene_free(scene);
    if (memory.used != 0)
        __builtin_trap();
    return 0;
}

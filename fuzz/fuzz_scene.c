/* libFuzzer on the JSON reader, the scene reader and the building of a scene, with little memory.
   clang -fsanitize=fuzzer,address,undefined; seeds: scenes/ */
#include <stddef.h>
#include <stdint.h>

#include "io/scene.h"

enum { LIMIT = 1 << 24, LARGEST_BODY = 2000 };

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
    return scene->body_count < 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_memory memory;
    pl_scene *scene;
    pl_trouble trouble;
    char text[1200];
    pl_memory_init(&memory, NULL, LIMIT);
    pl_status status = pl_scene_read(&memory, "fuzz", (const char *)data, size, &scene, &trouble);
    if (status == PL_OK && is_small(scene)) {
        pl_play *play;
        pl_play_options options = pl_default_play_options();
        options.memory_limit = LIMIT;
        status = pl_play_create(scene, 0, &options, &play, &trouble);
        for (int i = 0; i < 2 && status == PL_OK; i++)
            pl_play_step(play, NULL);
        pl_play_destroy(play);
    }
    if (status != PL_OK)
        pl_trouble_format(&trouble, text, sizeof text);
    pl_scene_free(scene);
    if (memory.used != 0)
        __builtin_trap();
    return 0;
}

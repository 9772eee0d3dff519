#include "checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "io/json.h"

static const char magic[16] = "pliant resume 1";

enum { LARGEST_GIB = 64 };

/* ---- Whose it is ----------------------------------------------------------------------------- */

static void hash_text(pl_hash *hash, const char *text)
{
    pl_hash_u32(hash, text != NULL);
    if (text)
        pl_hash_string(hash, text);
}

static uint64_t key_of_program(void)
{
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_string(&hash, pl_version());
    pl_hash_u64(&hash, sizeof(app_totals));
    return pl_hash_final(&hash);
}

/* The text with all that was included and set on the command line. */
static uint64_t key_of_scene(const pl_scene *scene)
{
    pl_hash hash;
    const pl_json *json = scene->json;
    pl_hash_init(&hash, 0);
    pl_hash_update(&hash, json->text, json->size);
    for (int i = 0; i < json->source_count; i++) {
        pl_hash_u64(&hash, json->sources[i].base);
        pl_hash_update(&hash, json->sources[i].text, json->sources[i].size);
    }
    return pl_hash_final(&hash);
}

/* The number of threads does not matter. */
static uint64_t key_of_options(const app_player *player, int only)
{
    const pl_play_options *options = &player->options;
    pl_hash hash;
    pl_hash_init(&hash, 0);
    pl_hash_f64(&hash, options->step);
    pl_hash_u32(&hash, (uint32_t)options->substeps);
    pl_hash_u32(&hash, (uint32_t)options->iterations);
    pl_hash_u32(&hash, (uint32_t)options->stiff_iterations);
    pl_hash_u32(&hash, (uint32_t)options->solver);
    pl_hash_u32(&hash, (uint32_t)player->frames);
    pl_hash_u32(&hash, (uint32_t)only);
    return pl_hash_final(&hash);
}

static uint64_t key_of_outputs(const app_player *player)
{
    pl_hash hash;
    pl_hash_init(&hash, 0);
    for (int i = 0; i < player->output_count; i++) {
        const app_output *output = &player->outputs[i];
        hash_text(&hash, output->name);
        pl_hash_u32(&hash, (uint32_t)output->every);
        hash_text(&hash, output->look.size);
        hash_text(&hash, output->look.view);
        hash_text(&hash, output->look.camera);
        hash_text(&hash, output->look.show);
        hash_text(&hash, output->look.stress_scale);
        hash_text(&hash, output->look.stress_scale);
    }
    return pl_hash_final(&hash);
}

int app_checkpoint_init(app_checkpoint *checkpoint, const app_player *player, int only)
{
    const char *output = player->outputs[0].name, *slash = strrchr(output, '/');
    int directory = slash ? (int)(slash + 1 - output) : 0;
    *checkpoint = (app_checkpoint){.keys = {key_of_program(), key_of_scene(player->scene),
                                            key_of_options(player, only), key_of_outputs(player)}};
    if (snprintf(checkpoint->path, PATH_MAX, "%.*s.%s.pliant-checkpoint", directory, output,
                 output + directory) < PATH_MAX)
        return -1;
    fprintf(stderr, "pliant: %s: the name is too long\n", output);
    return APP_BAD_INPUT;
}

/* ---- The file -------------------------------------------------------------------------------- */

int app_checkpoint_write(const app_checkpoint *checkpoint, const app_bytes *bytes)
{
    pl_output *output;
    pl_output_mark mark;
    pl_trouble trouble;
    uint64_t head[2] = {bytes->size, pl_hash_of(bytes->data, bytes->size, 0)};
    if (bytes->failed) {
        pl_trouble_set(&trouble, PL_ERROR_MEMORY, checkpoint->path, "not enough memory");
        return app_fail(&trouble);
    }
    if (pl_output_open(bytes->memory, checkpoint->path, &output, &trouble) != PL_OK)
        return app_fail(&trouble);
    pl_output_write(output, magic, sizeof magic);
    pl_output_write(output, (const char *)checkpoint->keys, sizeof checkpoint->keys);
    pl_output_write(output, (const char *)head, sizeof head);
    pl_output_write(output, bytes->data, bytes->size);
    /* On the disk before it takes the place of the one before. */
    if (pl_output_set_mark(output, &mark, &trouble) != PL_OK) {
        pl_output_drop(output);
        return app_fail(&trouble);
    }
    return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

static int refuse(const app_checkpoint *checkpoint, const char *why)
{
    fprintf(stderr,
            "pliant: %s: this checkpoint %s; run without --resume to start again (it is removed "
            "then)\n",
            checkpoint->path, why);
    return APP_BAD_INPUT;
}

static int check_keys(const app_checkpoint *checkpoint, const uint64_t *keys)
{
    static const char *const why[APP_KEYS] = {
        "was made by another version of pliant",
        "is of another scene, or the scene was changed, or other values were given with --set",
        "was made with other options (--frames, --step, --solver, …)",
        "was made with other outputs or pictures of another look"};
    for (int i = 0; i < APP_KEYS; i++)
        if (keys[i] != checkpoint->keys[i])
            return refuse(checkpoint, why[i]);
    return -1;
}

int app_checkpoint_read(const app_checkpoint *checkpoint, app_bytes *bytes, bool *found)
{
    pl_trouble trouble;
    char name[sizeof magic];
    uint64_t keys[APP_KEYS], head[2];
    *found = access(checkpoint->path, F_OK) == 0;
    if (!*found)
        return -1;
    if (pl_file_read(bytes->memory, checkpoint->path, (size_t)LARGEST_GIB << 30, &bytes->data,
                     &bytes->size, &trouble) != PL_OK)
        return app_fail(&trouble);
    bool whole = app_bytes_get(bytes, name, sizeof name) &&
                 memcmp(name, magic, sizeof magic) == 0 &&
                 app_bytes_get(bytes, keys, sizeof keys) && app_bytes_get(bytes, head, sizeof head);
    if (!whole)
        return refuse(checkpoint, "is damaged");
    int result = check_keys(checkpoint, keys);
    if (result >= 0)
        return result;
    size_t left = bytes->size - bytes->at;
    if (head[0] != left || head[1] != pl_hash_of(bytes->data + bytes->at, left, 0))
        return refuse(checkpoint, "is damaged");
    return -1;
}

void app_checkpoint_remove(const app_checkpoint *checkpoint)
{
    unlink(checkpoint->path);
    pl_output_clean(checkpoint->path);
}

/* ---- The state ------------------------------------------------------------------------------- */

static int fail(const char *what, pl_status status, const pl_error *error)
{
    fprintf(stderr, "pliant: %s: %s\n", what,
            error->text[0] ? error->text : pl_status_text(status));
    return APP_FAILED;
}

int app_put_play(app_bytes *bytes, const pl_play *play)
{
    size_t size = 0;
    pl_status status = pl_world_save(play->world, NULL, 0, &size);
    app_bytes_put_u64(bytes, play->frame);
    app_bytes_put_u64(bytes, size);
    char *room = status == PL_OK ? app_bytes_grow(bytes, size) : NULL;
    if (status == PL_OK)
        status = room ? pl_world_save(play->world, room, size, &size) : PL_ERROR_MEMORY;
    return status == PL_OK ? -1 : fail("the state cannot be saved", status, &(pl_error){0});
}

int app_get_play(app_bytes *bytes, pl_play *play)
{
    pl_error error = {0};
    uint64_t frame = app_bytes_get_u64(bytes), size = app_bytes_get_u64(bytes);
    const char *saved = app_bytes_take(bytes, (size_t)size);
    pl_status status = saved ? pl_world_restore(play->world, saved, (size_t)size, play->models,
                                                play->model_count, &error)
                             : PL_ERROR_FORMAT;
    if (status == PL_OK)
        status = pl_play_seek(play, frame);
    return status == PL_OK ? -1 : fail("the saved state cannot be restored", status, &error);
}

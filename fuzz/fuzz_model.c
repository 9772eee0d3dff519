/* libFuzzer on packed models (.pliant files): as they are, and with length and hash put right, so
   that the fuzzer gets past them. What is accepted must pack again to a model of the same hash, and
   take a step in a world. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shape/packed.h"

enum { LARGEST_BODY = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void step_once(pl_model *model)
{
    pl_world *world;
    pl_body body;
    pl_world_def world_def = pl_default_world_def();
    pl_body_def body_def = pl_default_body_def(model);
    if (pl_world_create(&world_def, &world, NULL) != PL_OK)
        return;
    if (pl_body_create(world, &body_def, &body, NULL) == PL_OK) {
        pl_world_step(world, NULL);
        float vertex[3];
        if (pl_model_get_info(model).vertex_count > 0)
            pl_body_read(world, body, PL_VERTICES, 0, 1, 1, pl_floats(vertex, 0));
    }
    pl_world_destroy(world);
}

static void check_again(const pl_model *model)
{
    size_t size = pl_model_pack_size(model);
    void *bytes = malloc(size);
    pl_model *copy;
    if (pl_model_pack(model, bytes, size, NULL) != PL_OK ||
        pl_model_unpack(bytes, size, NULL, &copy, NULL) != PL_OK ||
        pl_model_get_info(copy).hash != pl_model_get_info(model).hash)
        __builtin_trap();
    pl_model_release(copy);
    free(bytes);
}

static void try_bytes(const void *bytes, size_t size)
{
    pl_model *model;
    pl_error error;
    if (pl_model_unpack(bytes, size, NULL, &model, &error) != PL_OK)
        return;
    check_again(model);
    if (pl_model_get_info(model).particle_count <= LARGEST_BODY)
        step_once(model);
    pl_model_release(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < PL_PACKED_HEADER)
        return 0;
    uint64_t version = PL_PACKED_VERSION, length = size;
    char *bytes = malloc(size);
    memcpy(bytes, data, size);
    memcpy(bytes, PL_PACKED_MAGIC, 8);
    memcpy(bytes + offsetof(pl_packed_header, version), &version, 8);
    memcpy(bytes + offsetof(pl_packed_header, size), &length, 8);
    pl_packed_seal(bytes, size);
    try_bytes(bytes, size);
    free(bytes);
    return 0;
}

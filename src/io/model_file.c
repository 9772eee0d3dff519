/* Packed models (shape/packed.h) in files: read whole into the one block that the model then lives
   in, and written whole or not at all. */
#include "io/model_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/file.h"
#include "pliant/files.h"
#include "shape/packed.h"

/* A model of a million particles with a large surface has a few hundred megabytes. */
static const size_t largest_model = (size_t)16 << 30;

static pl_status pass_on(const pl_trouble *trouble, pl_error *error)
{
    return pl_fail(error, trouble->status, trouble->file, "%s", trouble->text);
}

pl_status pl_model_load_within(const char *path, const pl_allocator *allocator, size_t memory_limit,
                               pl_model **model, pl_error *error)
{
    pl_memory memory;
    pl_trouble trouble = {0};
    pl_error inner = {0};
    char *bytes;
    size_t size;
    pl_memory_init(&memory, allocator, memory_limit);
    if (pl_file_read(&memory, path, largest_model, &bytes, &size, &trouble) != PL_OK)
        return pass_on(&trouble, error);
    pl_status status = pl_model_adopt(&memory, bytes, size, model, &inner);
    if (status == PL_OK)
        return PL_OK;
    return pl_fail(error, status,
                   inner.where[0] ? PL_WHERE("%s: %s", path, inner.where) : PL_WHERE("%s", path),
                   "%s", inner.text);
}

pl_status pl_model_load(const char *path, const pl_allocator *allocator, pl_model **model,
                        pl_error *error)
{
    PL_REQUIRE(path && model, PL_ERROR_ARGUMENT, error, path ? "model" : "path", "is NULL");
    return pl_model_load_within(path, allocator, 0, model, error);
}

pl_status pl_model_save(const pl_model *model, const char *path, pl_error *error)
{
    PL_REQUIRE(path && model, PL_ERROR_ARGUMENT, error, path ? "model" : "path", "is NULL");
    pl_memory memory;
    pl_trouble trouble = {0};
    pl_output *output;
    pl_memory_init(&memory, NULL, 0);
    size_t size = pl_model_pack_size(model);
    char *bytes = PL_NEW(&memory, char, size);
    PL_CHECK(bytes, PL_ERROR_MEMORY, error, path, "no memory for the %zu bytes of the file", size);
    pl_status status = pl_model_pack(model, bytes, size, error);
    if (status == PL_OK && (status = pl_output_open(&memory, path, &output, &trouble)) == PL_OK) {
        pl_output_write(output, bytes, size);
        status = pl_output_publish(output, &trouble);
    }
    pl_memory_free(&memory, bytes);
    return status == PL_OK || trouble.status == PL_OK ? status : pass_on(&trouble, error);
}

bool pl_file_is_model(const char *path)
{
    char magic[sizeof PL_PACKED_MAGIC - 1];
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false; /* a pipe cannot be looked into without taking from it */
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    bool is = fread(magic, 1, sizeof magic, file) == sizeof magic &&
              memcmp(magic, PL_PACKED_MAGIC, sizeof magic) == 0;
    fclose(file);
    return is;
}

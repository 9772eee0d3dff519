/* libFuzzer on the reader of TetGen's pair of files: what comes before the first '%' is the .node
   file, what comes after it the .ele file, in a folder of its own under $TMPDIR.
   clang -fsanitize=fuzzer,address,undefined; seeds: seeds/fuzz_tetgen */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pliant/files.h"
#include "read_mesh.h"

static char node[256], ele[256], folder[200];

static void remove_folder(void)
{
    unlink(node);
    unlink(ele);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/pliant_fuzz_XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder))
        abort();
    snprintf(node, sizeof node, "%s/fuzz.node", folder);
    snprintf(ele, sizeof ele, "%s/fuzz.ele", folder);
    atexit(remove_folder);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_mesh mesh;
    pl_error error;
    if (!folder[0])
        make_folder();
    const uint8_t *split = size ? memchr(data, '%', size) : NULL;
    size_t first = split ? (size_t)(split - data) : size;
    write_file(node, data, first);
    write_file(ele, split ? split + 1 : data, split ? size - first - 1 : 0);
    if (pl_mesh_load(size % 2 ? node : ele, NULL, &mesh, &error) == PL_OK)
        check_mesh(&mesh);
    pl_mesh_free(&mesh);
    return 0;
}

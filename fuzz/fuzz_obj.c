/* libFuzzer on the OBJ reader, and on the reader of its material libraries with the same bytes.
   clang -fsanitize=fuzzer,address,undefined; seeds: seeds/fuzz_obj */
#include "io/mesh_mtl.h"
#include "read_mesh.h"

static pl_status read_materials(pl_mesh_build *build, const pl_mesh_source *source, pl_error *error)
{
    double *position = pl_mesh_build_vertices(build, 1);
    if (!position || !pl_mtl_read(build, source))
        return pl_mesh_build_no_memory(build, source->name, error);
    position[0] = position[1] = position[2] = 0;
    return PL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_obj, "fuzz.obj", data, size);
    read_mesh(read_materials, "fuzz.mtl", data, size);
    return 0;
}

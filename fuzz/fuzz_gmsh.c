/* libFuzzer on the Gmsh reader. clang -fsanitize=fuzzer,address,undefined; seeds:
   seeds/fuzz_gmsh */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_gmsh, "fuzz.msh", data, size);
    return 0;
}

/* libFuzzer on the legacy VTK reader. clang -fsanitize=fuzzer,address,undefined; seeds:
   seeds/fuzz_vtk */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_vtk, "fuzz.vtk", data, size);
    return 0;
}

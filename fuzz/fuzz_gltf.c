/* libFuzzer on the glTF reader. clang -fsanitize=fuzzer,address,undefined; seeds:
   seeds/fuzz_gltf */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_gltf, "fuzz.glb", data, size);
    return 0;
}

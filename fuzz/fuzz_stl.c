/* libFuzzer on the STL reader. clang -fsanitize=fuzzer,address,undefined; seeds: seeds/fuzz_stl */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_stl, "fuzz.stl", data, size);
    return 0;
}

/* libFuzzer on the PLY reader. clang -fsanitize=fuzzer,address,undefined; seeds: seeds/fuzz_ply */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_ply, "fuzz.ply", data, size);
    return 0;
}

/* libFuzzer on the Medit reader. clang -fsanitize=fuzzer,address,undefined; seeds:
   seeds/fuzz_medit */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_medit, "fuzz.mesh", data, size);
    return 0;
}

/* libFuzzer on the OFF reader. clang -fsanitize=fuzzer,address,undefined; seeds: seeds/fuzz_off */
#include "read_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_mesh(pl_read_off, "fuzz.off", data, size);
    return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Code in the images of modules.
#include "cuda-trace/profile/code/cubin.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cubin_code codes[2];
	uint8_t *made;
	size_t made_size;

	if (!cubin__code(data, size, "outer", &codes[0]))
		return 0;
	codes[1] = codes[0];
	made = cubin__make(codes, 2, &made_size);
	free(made);
	return 0;
}

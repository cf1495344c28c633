// SPDX-License-Identifier: BSD-2-Clause
// Line tables in the images of modules.
#include "cuda-trace/profile/code/code_lines.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pc_line chain[PC_LINES_DEEPEST];
	struct pc_lines *lines = pc_lines__open(data, size);

	for (uint64_t offset = 0; lines && offset < 0x110; offset += 16)
		pc_lines__at(lines, "outer", offset, chain);
	pc_lines__free(lines);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Functions of files with NCCL's name, and of loaders; and the code of those that return a field.
#include "cuda-trace/driver/nccl_layout.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbol symbols[] = {{.name = "ncclAllReduce"}, {.name = "cuLaunchKernel"}};
	const struct elf_symbols_job job = {symbols, 2};
	const struct elf_symbol accessors[NCCL_ACCESSORS] = {
		{.size = size / 3},
		{.offset = size / 3, .size = size / 3},
		{.offset = 2 * (size / 3), .size = size / 3},
	};
	int file = fuzz__file(data, size);

	elf_symbols__send(file, size, &job, foreign_output__to(fuzz__null(), SIZE_MAX));
	nccl_layout__send(file, size, accessors, foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

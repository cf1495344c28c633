// SPDX-License-Identifier: BSD-2-Clause
// Functions of files with NCCL's name, and of loaders.
#include "cuda-trace/driver/elf_symbols.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbol symbols[] = {{.name = "ncclAllReduce"}, {.name = "cuLaunchKernel"}};
	const struct elf_symbols_job job = {symbols, 2};

	elf_symbols__send(fuzz__file(data, size), size, &job,
			  foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

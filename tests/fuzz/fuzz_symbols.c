// SPDX-License-Identifier: BSD-2-Clause
// Symbol tables, segments and build-ids of programs and libraries.
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/symbols.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_outline outline;
	uint64_t address;

	if (!elf_outline__read(&outline, fuzz__file(data, size)))
		for (uint64_t offset = 0; offset < 0x4000; offset += 0x400)
			elf_outline__address(&outline, offset, &address);
	symbols__send(fuzz__file(data, size), size, NULL,
		      foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Files with libcupti's name, which doctor examines.
#include "cuda-trace/inventory/elf_reader.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const wanted[] = {"cuptiGetVersion", "cuptiSubscribe"};
	struct elf_facts facts;

	elf__inspect(fuzz__file(data, size), wanted, 2, &facts);
	return 0;
}

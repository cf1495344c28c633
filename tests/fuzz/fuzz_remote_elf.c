// SPDX-License-Identifier: BSD-2-Clause
// Libraries in the memory of a process that the agent is loaded into.
#include <string.h>
#include "cuda-trace/inject/remote_elf.h"
#include "tests/fuzz/fuzz.h"

static void count(void *context, const struct remote_function *function)
{
	*(size_t *)context += strlen(function->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = 0;

	remote_elf__each(fuzz__file(data, size), 0, count, &length);
	return 0;
}

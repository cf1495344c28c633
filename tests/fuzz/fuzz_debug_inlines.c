// SPDX-License-Identifier: BSD-2-Clause
// Inlined functions of programs and libraries, at all addresses in their first pages.
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/debug_inlines.h"
#include "cuda-trace/symbols/wanted_addresses.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t addresses[0x4000];
	const struct wanted_addresses wanted = {addresses,
						sizeof(addresses) / sizeof(addresses[0])};

	for (size_t i = 0; i < wanted.count; i++)
		addresses[i] = i;
	debug_inlines__send(fuzz__file(data, size), size, &wanted,
			    foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

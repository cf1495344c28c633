// SPDX-License-Identifier: BSD-2-Clause
// Unwind tables (.eh_frame) of programs and libraries.
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/eh_frame.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (uint64_t address = 0; address < 0x10000; address = address * 2 + 0x1000)
		eh_frame__send(fuzz__file(data, size), size, &address,
			       foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

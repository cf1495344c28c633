// SPDX-License-Identifier: BSD-2-Clause
// /tmp/perf-PID.map of programs that compile while they run.
#include <string.h>
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/perf_map.h"
#include "tests/fuzz/fuzz.h"

static void found(void *context, uint32_t number, const char *name)
{
	if (number >= 8 || strlen(name) > 4096)
		abort();
}

/* As a file, and as the answer of a process that a file has taken over. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map_wish wishes[8];
	struct perf_map_job job = {wishes, 8, 1 << 20};

	for (uint32_t i = 0; i < 8; i++)
		wishes[i] = (struct perf_map_wish){.address = 0x1000 * i + i, .number = i};
	perf_map__send(fuzz__file(data, size), size, &job,
		       foreign_output__to(fuzz__null(), SIZE_MAX));
	perf_map__take(&job, data, size, found, NULL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// /tmp/perf-PID.map of programs that compile while they run.
#include <string.h>
#include "cuda-trace/symbols/perf_map.h"
#include "tests/fuzz/fuzz.h"

static void found(void *context, uint32_t number, const char *name)
{
	if (number >= 8 || strlen(name) > 4096)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map *map = perf_map__of(dup(fuzz__file(data, size)));
	struct perf_map_wish wishes[8];
	size_t left = 1 << 20;

	for (uint32_t i = 0; i < 8; i++)
		wishes[i] = (struct perf_map_wish){.address = 0x1000 * i + i, .number = i};
	perf_map__names(map, wishes, 8, &left, found, NULL);
	perf_map__free(map);
	return 0;
}

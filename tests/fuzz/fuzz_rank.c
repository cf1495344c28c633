// SPDX-License-Identifier: BSD-2-Clause
// Environments of processes: their rank.
#include "cuda-trace/proc/rank.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rank rank;

	rank__parse(&rank, (const char *)data, size);
	if (rank.known && rank.size >= 0 && rank.rank >= rank.size)
		abort();
	return 0;
}

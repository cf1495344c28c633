// SPDX-License-Identifier: BSD-2-Clause
// A recording that was left behind: blocks of entries with checksums.
#include "cuda-trace/recording/store_spool.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool_reader *reader;
	struct spool_block block;
	const uint8_t *payload;

	if (spool_reader__open(&reader, fuzz__path(data, size)))
		abort();
	while (spool_reader__next(reader, &block, &payload) > 0)
		;
	spool_reader__close(reader);
	return 0;
}

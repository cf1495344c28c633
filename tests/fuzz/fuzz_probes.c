// SPDX-License-Identifier: BSD-2-Clause
// Notes of probes, in a file with the library's name.
#include "cuda-trace/attach/probe_sites.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "libcupti-usdt/probes.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	probe_sites__send(fuzz__file(data, size), size, CUDA_PROVIDER,
			  foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Files with libcupti's name that a watched process maps.
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/yield/cupti_functions.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cupti_functions__send(fuzz__file(data, size), size, NULL,
			      foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Entry points of a file with the driver's name, and the instructions of its launch functions.
#include <stdbool.h>
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const bool at_entry = true;

	driver_functions__send(fuzz__file(data, size), size, &at_entry,
			       foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

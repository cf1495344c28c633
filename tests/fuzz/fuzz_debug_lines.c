// SPDX-License-Identifier: BSD-2-Clause
// Line tables of programs and libraries, at all addresses in their first pages.
#include "cuda-trace/symbols/debug_lines.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz__debug_information(debug_lines__send, data, size);
}

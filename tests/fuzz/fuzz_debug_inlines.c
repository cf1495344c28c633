// SPDX-License-Identifier: BSD-2-Clause
// Inlined functions of programs and libraries, at all addresses in their first pages.
#include "cuda-trace/symbols/debug_inlines.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz__debug_information(debug_inlines__send, data, size);
}

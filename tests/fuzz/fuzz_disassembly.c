// SPDX-License-Identifier: BSD-2-Clause
// What nvdisasm prints, which a cubin may have taken over.
#include <string.h>
#include "cuda-trace/profile/pc/disassembly_text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct disassembled codes[2] = {}, *const to[] = {&codes[0], &codes[1]};
	struct disassembly_text *kept = disassembly_text__new();
	char *text = malloc(size + 1), said[64];

	memcpy(text, data, size);
	text[size] = 0;
	disassembly_text__complaint(text, size, said, sizeof(said));
	disassembly_text__read(kept, text, size, to, 2);
	free(codes[0].lines);
	free(codes[1].lines);
	disassembly_text__free(kept);
	free(text);
	return 0;
}

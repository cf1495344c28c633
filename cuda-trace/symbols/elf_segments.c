// SPDX-License-Identifier: BSD-2-Clause
/* The file may be anybody's: sums may overflow, and the result is where uprobes will look, no more.
 */
#include "cuda-trace/symbols/elf_segments.h"

uint64_t elf_segments__offset(Elf *elf, uint64_t address, uint32_t flags)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_LOAD &&
		    (segment.p_flags & flags) == flags && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	}
	return 0;
}

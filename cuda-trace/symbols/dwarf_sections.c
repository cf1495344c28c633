// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/symbols/dwarf_sections.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include "cuda-trace/foreign/foreign_elf.h"

static int inflate_section(struct dwarf_section *section, size_t limit)
{
	Elf64_Chdr head;
	unsigned long size;
	uint8_t *bytes;
	bool done = false;

	if (section->size < sizeof(head))
		return -ENOEXEC;
	memcpy(&head, section->bytes, sizeof(head));
	if (head.ch_size > limit)
		return -EFBIG;
	bytes = malloc(head.ch_size + 1);
	if (!bytes)
		return -ENOMEM;
	size = head.ch_size;
	if (head.ch_type == ELFCOMPRESS_ZLIB)
		done = uncompress(bytes, &size, section->bytes + sizeof(head),
				  section->size - sizeof(head)) == Z_OK;
	else if (head.ch_type == 2) /* zstd */
		done = ZSTD_decompress(bytes, size, section->bytes + sizeof(head),
				       section->size - sizeof(head)) == size;
	if (!done || size != head.ch_size) {
		free(bytes);
		return -ENOEXEC;
	}
	free(section->bytes);
	section->bytes = bytes;
	section->size = size;
	return 0;
}

static int load(struct foreign_elf *elf, const Elf64_Shdr *header, struct dwarf_section *section)
{
	void *bytes;
	int err;

	if (section->bytes || header->sh_type == SHT_NOBITS)
		return 0;
	err = foreign_elf__load(elf, header->sh_offset, header->sh_size, &bytes);
	if (err)
		return err;
	*section = (struct dwarf_section){bytes, header->sh_size};
	if (header->sh_flags & SHF_COMPRESSED)
		err = inflate_section(section, elf->left);
	if (!err && header->sh_flags & SHF_COMPRESSED)
		elf->left -= section->size;
	return err;
}

int dwarf_sections__load(struct foreign_elf *elf, const struct dwarf_section_wish *wishes,
			 size_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < elf->section_count && !err; i++) {
		const char *name = foreign_elf__section_name(elf, i);

		for (size_t w = 0; w < count && !err; w++)
			if (!strcmp(name, wishes[w].name))
				err = load(elf, &elf->sections[i], wishes[w].section);
	}
	return err;
}

struct dwarf_cursor dwarf_section__from(const struct dwarf_section *section, uint64_t offset)
{
	const uint8_t *end = section->bytes ? section->bytes + section->size : NULL;

	if (!end || offset > section->size)
		return (struct dwarf_cursor){.at = end, .end = end};
	return (struct dwarf_cursor){.at = section->bytes + offset, .end = end};
}

const char *dwarf_section__text(const struct dwarf_section *section, uint64_t offset)
{
	if (offset >= section->size || !memchr(section->bytes + offset, 0, section->size - offset))
		return NULL;
	return (const char *)section->bytes + offset;
}

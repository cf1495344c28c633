// SPDX-License-Identifier: BSD-2-Clause
/* Every number in the file may be a lie: sums are checked for overflow, and each byte counts
 * against the limit. */
#include "cuda-trace/foreign/foreign_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 4096
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2LSB
#else
#define BYTE_ORDER_HERE ELFDATA2MSB
#endif

int foreign_elf__read(struct foreign_elf *elf, uint64_t offset, void *to, size_t size)
{
	if (offset > elf->size || size > elf->size - offset)
		return -ENOEXEC;
	if (size > elf->left)
		return -EFBIG;
	elf->left -= size;
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(elf->fd, (char *)to + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO; /* it was cut meanwhile */
		done += n;
	}
	return 0;
}

int foreign_elf__load(struct foreign_elf *elf, uint64_t offset, uint64_t size, void **bytes)
{
	int err;

	*bytes = NULL;
	if (offset > elf->size || size > elf->size - offset)
		return -ENOEXEC;
	if (size > elf->left)
		return -EFBIG;
	*bytes = malloc(size + 1);
	if (!*bytes)
		return -ENOMEM;
	((char *)*bytes)[size] = 0;
	err = foreign_elf__read(elf, offset, *bytes, size);
	if (err) {
		free(*bytes);
		*bytes = NULL;
	}
	return err;
}

static int read_segments(struct foreign_elf *elf)
{
	uint64_t count = elf->header.e_phnum;
	int err;

	if (!count)
		return 0;
	if (elf->header.e_phentsize != sizeof(Elf64_Phdr) || count > MAX_SEGMENTS)
		return -ENOEXEC;
	err = foreign_elf__load(elf, elf->header.e_phoff, count * sizeof(Elf64_Phdr),
				(void **)&elf->segments);
	if (!err)
		elf->segment_count = count;
	return err;
}

/* More than 65,279 sections: their number is in the first one. */
static int read_sections(struct foreign_elf *elf)
{
	uint64_t count = elf->header.e_shnum, names = elf->header.e_shstrndx;
	Elf64_Shdr first;
	int err;

	if (!elf->header.e_shoff)
		return 0;
	if (elf->header.e_shentsize != sizeof(Elf64_Shdr))
		return -ENOEXEC;
	err = foreign_elf__read(elf, elf->header.e_shoff, &first, sizeof(first));
	if (err)
		return err;
	count = count ? count : first.sh_size;
	names = names == SHN_XINDEX ? first.sh_link : names;
	if (count > FOREIGN_ELF_LIMIT / sizeof(first))
		return -EFBIG;
	err = foreign_elf__load(elf, elf->header.e_shoff, count * sizeof(first),
				(void **)&elf->sections);
	if (err)
		return err;
	elf->section_count = count;
	if (names >= count)
		return 0;
	err = foreign_elf__load(elf, elf->sections[names].sh_offset, elf->sections[names].sh_size,
				(void **)&elf->names);
	if (!err)
		elf->names_size = elf->sections[names].sh_size;
	return err;
}

int foreign_elf__open(struct foreign_elf *elf, int fd, uint64_t size, bool sections)
{
	const unsigned char *id = elf->header.e_ident;
	int err;

	*elf = (struct foreign_elf){.fd = fd, .size = size, .left = FOREIGN_ELF_LIMIT};
	err = foreign_elf__read(elf, 0, &elf->header, sizeof(elf->header));
	if (err)
		return err;
	if (memcmp(id, ELFMAG, SELFMAG) || id[EI_CLASS] != ELFCLASS64 ||
	    id[EI_DATA] != BYTE_ORDER_HERE)
		return -ENOEXEC;
	err = read_segments(elf);
	if (!err && sections)
		err = read_sections(elf);
	if (err)
		foreign_elf__close(elf);
	return err;
}

void foreign_elf__close(struct foreign_elf *elf)
{
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	elf->segments = NULL;
	elf->sections = NULL;
	elf->names = NULL;
	elf->segment_count = elf->section_count = 0;
}

const char *foreign_elf__section_name(const struct foreign_elf *elf, uint32_t section)
{
	uint32_t at = elf->sections[section].sh_name;

	return elf->names && at < elf->names_size ? elf->names + at : "";
}

uint64_t foreign_elf__offset(const struct foreign_elf *elf, uint64_t address, uint32_t flags)
{
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags &&
		    address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz)
			return segment->p_offset + (address - segment->p_vaddr);
	}
	return 0;
}

int foreign_elf__symbols(struct foreign_elf *elf, uint32_t section, struct foreign_symbols *symbols)
{
	const Elf64_Shdr *table = &elf->sections[section], *names;
	int err;

	memset(symbols, 0, sizeof(*symbols));
	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= elf->section_count)
		return -ENOEXEC;
	names = &elf->sections[table->sh_link];
	err = foreign_elf__load(elf, table->sh_offset, table->sh_size, (void **)&symbols->list);
	if (!err)
		err = foreign_elf__load(elf, names->sh_offset, names->sh_size,
					(void **)&symbols->names);
	if (err) {
		foreign_symbols__free(symbols);
		return err;
	}
	symbols->count = table->sh_size / sizeof(Elf64_Sym);
	symbols->names_size = names->sh_size;
	return 0;
}

const char *foreign_symbols__name(const struct foreign_symbols *symbols, size_t index)
{
	uint32_t at = symbols->list[index].st_name;

	return at < symbols->names_size ? symbols->names + at : "";
}

void foreign_symbols__free(struct foreign_symbols *symbols)
{
	free(symbols->list);
	free(symbols->names);
	memset(symbols, 0, sizeof(*symbols));
}

static bool advance(size_t *at, size_t by, size_t align, size_t size)
{
	if (by > size - *at)
		return false;
	*at = (*at + by + align - 1) & ~(align - 1);
	*at = *at < size ? *at : size;
	return true;
}

bool foreign_note__next(const uint8_t *bytes, size_t size, size_t *at, uint32_t align,
			struct foreign_note *note)
{
	Elf64_Nhdr header;

	align = align == 8 ? 8 : 4;
	if (*at > size || size - *at < sizeof(header))
		return false;
	memcpy(&header, bytes + *at, sizeof(header));
	*at += sizeof(header);
	note->type = header.n_type;
	note->name = (const char *)bytes + *at;
	note->name_size = header.n_namesz;
	if (!advance(at, header.n_namesz, align, size))
		return false;
	note->data = bytes + *at;
	note->data_size = header.n_descsz;
	return advance(at, header.n_descsz, align, size);
}

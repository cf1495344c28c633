// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/symbols/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 1024
#define SEGMENTS_MAX 64
#define BYTES_MAX    (64u << 20) /* of a table */

struct file {
	int fd;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	Elf64_Phdr *segments;
};

/* NULL: too long, cut short, or no memory. */
static void *read_part(const struct file *file, uint64_t offset, uint64_t bytes)
{
	char *data;

	if (!bytes || bytes > BYTES_MAX || offset > INT64_MAX)
		return NULL;
	data = malloc(bytes);
	if (data && pread(file->fd, data, bytes, (off_t)offset) == (ssize_t)bytes)
		return data;
	free(data);
	return NULL;
}

static bool read_headers(struct file *file)
{
	Elf64_Ehdr *header = &file->header;

	if (pread(file->fd, header, sizeof(*header), 0) != sizeof(*header) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) ||
	    header->e_shnum > SECTIONS_MAX || header->e_phentsize != sizeof(Elf64_Phdr) ||
	    header->e_phnum > SEGMENTS_MAX)
		return false;
	file->sections =
		read_part(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
	file->segments =
		read_part(file, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));
	return file->sections && file->segments;
}

static uint64_t offset_of(const struct file *file, uint64_t address)
{
	for (int i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz)
			return address - segment->p_vaddr + segment->p_offset;
	}
	return 0;
}

static void look_up(const struct file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
		    struct elf_symbol *symbols, unsigned int count)
{
	Elf64_Sym *entries = read_part(file, table->sh_offset, table->sh_size);
	char *names = read_part(file, strings->sh_offset, strings->sh_size);
	uint64_t n = entries && names ? table->sh_size / sizeof(*entries) : 0;

	if (n)
		names[strings->sh_size - 1] = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (entries[i].st_shndx == SHN_UNDEF || entries[i].st_name >= strings->sh_size)
			continue;
		for (unsigned int k = 0; k < count; k++) {
			if (strcmp(names + entries[i].st_name, symbols[k].name))
				continue;
			symbols[k].address = entries[i].st_value;
			symbols[k].offset = offset_of(file, entries[i].st_value);
		}
	}
	free(entries);
	free(names);
}

int elf_symbols__find(const char *path, struct elf_symbol *symbols, unsigned int count)
{
	struct file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	struct stat found;
	int err = -ENOEXEC;

	if (file.fd < 0)
		return -errno;
	if (!fstat(file.fd, &found) && S_ISREG(found.st_mode) && read_headers(&file)) {
		for (int i = 0; i < file.header.e_shnum; i++) {
			const Elf64_Shdr *section = &file.sections[i];

			if (section->sh_type == SHT_DYNSYM &&
			    section->sh_link < file.header.e_shnum)
				look_up(&file, section, &file.sections[section->sh_link], symbols,
					count);
		}
		err = 0;
	}
	free(file.sections);
	free(file.segments);
	close(file.fd);
	return err;
}

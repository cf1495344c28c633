/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads tables of an ELF file that a traced process controls: with pread(), never with mmap() (if a
 * mapped file shrinks, its reader is killed), and at most FOREIGN_ELF_LIMIT bytes of one file.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_ELF_H
#define CUDA_TRACE_FOREIGN_FOREIGN_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_ELF_LIMIT (64ul << 20)

struct foreign_elf {
	int fd;
	uint64_t size; /* of the file, when it was opened */
	uint64_t left; /* bytes that may still be read */
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	uint32_t segment_count;
	Elf64_Shdr *sections;
	uint32_t section_count;
	char *names; /* of sections; NUL-terminated */
	size_t names_size;
};

/* 0, or -ENOEXEC: not a 64-bit ELF file of this machine's byte order; -EFBIG: its tables are larger
 * than the limit; -EIO, -ENOMEM. Sections are optional: a file without them has none. */
int foreign_elf__open(struct foreign_elf *elf, int fd, uint64_t size, bool sections);
void foreign_elf__close(struct foreign_elf *elf);
/* Copies that part of the file and puts a NUL behind it; the caller frees it. 0 or -errno, as
 * above. */
int foreign_elf__load(struct foreign_elf *elf, uint64_t offset, uint64_t size, void **bytes);
/* Into a buffer of the caller's. */
int foreign_elf__read(struct foreign_elf *elf, uint64_t offset, void *to, size_t size);
/* "" = it has none. */
const char *foreign_elf__section_name(const struct foreign_elf *elf, uint32_t section);
/* Where a loaded address lies in the file, in a segment with all of these flags (PF_X); 0 = in
 * none. */
uint64_t foreign_elf__offset(const struct foreign_elf *elf, uint64_t address, uint32_t flags);

/* A symbol table with its names. */
struct foreign_symbols {
	Elf64_Sym *list;
	size_t count;
	char *names; /* NUL-terminated */
	size_t names_size;
};

int foreign_elf__symbols(struct foreign_elf *elf, uint32_t section,
			 struct foreign_symbols *symbols);
/* "" if the offset is out of bounds. */
const char *foreign_symbols__name(const struct foreign_symbols *symbols, size_t index);
void foreign_symbols__free(struct foreign_symbols *symbols);

/* The next note in `bytes`, from *at on. False = there is none. */
struct foreign_note {
	uint32_t type;
	const char *name;
	uint32_t name_size;
	const uint8_t *data;
	uint32_t data_size;
};

bool foreign_note__next(const uint8_t *bytes, size_t size, size_t *at, uint32_t align,
			struct foreign_note *note);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of an ELF file by address. The file is untrusted: it is read, never mapped (a file that
 * shrinks under a mapping kills its reader), and what it claims is bounded.
 */
#ifndef CUDA_TRACE_SYMBOLS_SYMBOLS_H
#define CUDA_TRACE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 32
#define ELF_LOADS    16

/* What is wanted of a file while its process lives. */
struct elf_outline {
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_size; /* 0 = it has none */
	uint32_t loads;
	struct {
		uint64_t offset, size, address;
	} load[ELF_LOADS];
};

/* 0, or -ENOEXEC: not an ELF file of this machine's kind. */
int elf_outline__read(struct elf_outline *outline, int fd);
/* The address that the file itself gives to the byte at this offset. False: none. */
bool elf_outline__address(const struct elf_outline *outline, uint64_t offset, uint64_t *address);

struct symbols;

struct foreign_output;

/* The parser, for the process without privileges, and for fuzzing. */
int symbols__send(int fd, uint64_t size, const void *argument, struct foreign_output *output);
/* NULL = no memory, no ELF file, or one without a single function name. */
struct symbols *symbols__read(int fd);
/* The function at that address, as the file spells it; NULL = none. Valid until the free. */
const char *symbols__at(const struct symbols *symbols, uint64_t address);
void symbols__free(struct symbols *symbols);

#endif

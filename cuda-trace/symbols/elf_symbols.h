/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a library of this machine's kind defines some symbols: read from its dynamic symbol table.
 */
#ifndef CUDA_TRACE_SYMBOLS_ELF_SYMBOLS_H
#define CUDA_TRACE_SYMBOLS_ELF_SYMBOLS_H

#include <stdint.h>

struct elf_symbol {
	const char *name; /* what is looked for */
	uint64_t address; /* as the file has it; 0 = not found */
	uint64_t offset;  /* in the file; 0 = in none of its segments */
};

/* Fills in those of the symbols that the file defines. The file may be damaged or hostile: it is
 * read in bounds, not mapped. 0 or -errno. */
int elf_symbols__find(const char *path, struct elf_symbol *symbols, unsigned int count);

#endif

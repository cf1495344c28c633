/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds symbols in the dynamic symbol table of a library for this architecture.
 */
#ifndef CUDA_TRACE_DRIVER_ELF_SYMBOLS_H
#define CUDA_TRACE_DRIVER_ELF_SYMBOLS_H

#include <stdint.h>

struct foreign_file;

#define ELF_SYMBOLS_MAX 24

struct elf_symbol {
	const char *name; /* what is looked for */
	uint64_t address; /* as the file has it; 0 = not found */
	uint64_t offset;  /* in the file; 0 = not in code */
	uint64_t probe;	  /* where a probe on its entry costs least: there, or behind endbr64 */
	uint64_t size;	  /* bytes, as the file says */
};

/* Fills in those of the symbols that the file defines, ELF_SYMBOLS_MAX at most. The file may be
 * damaged or hostile. 0 or -errno: see foreign_job.h. */
int elf_symbols__find(const struct foreign_file *file, struct elf_symbol *symbols,
		      unsigned int count);

/* What runs in a process without rights, for tests: a job of foreign_job.h. */
struct foreign_output;
struct elf_symbols_job {
	struct elf_symbol *symbols;
	unsigned int count;
};

int elf_symbols__send(int fd, uint64_t size, const void *job, struct foreign_output *output);

#endif

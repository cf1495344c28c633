/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a file that calls itself libcupti really is, read from its program headers and dynamic
 * section: the view that the loader has. The file may be damaged, hostile, or change meanwhile.
 */
#ifndef CUDA_TRACE_INVENTORY_ELF_READER_H
#define CUDA_TRACE_INVENTORY_ELF_READER_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_SONAME_MAX 128

enum elf_verdict {
	ELF_OK,
	ELF_EMPTY,
	ELF_NOT_ELF,	/* text, a linker script, a page of a proxy */
	ELF_TRUNCATED,	/* its headers promise more than the file has */
	ELF_NOT_SHARED, /* an object file, a core, a program */
	ELF_DAMAGED,	/* headers that contradict each other */
	ELF_UNREADABLE, /* an I/O error */
};

struct elf_facts {
	enum elf_verdict verdict;
	uint16_t machine; /* EM_… */
	uint8_t class;	  /* ELFCLASS32 or 64 */
	bool big_endian;
	bool text;		     /* ELF_NOT_ELF, and it begins like a text file */
	char soname[ELF_SONAME_MAX]; /* untrusted; "" = none */
	uint32_t symbols;	     /* bits of the wanted ones that it defines, in their order */
	uint32_t version; /* what its version function stores; 0 = its code says nothing clear */
};

/* Looks for at most 32 symbols; wanted[0] is the version function, whose code is read too. Never
 * maps the file: a file that shrinks under a mapping kills its reader. */
void elf__inspect(int fd, const char *const wanted[], unsigned int count, struct elf_facts *facts);
const char *elf__machine_name(uint16_t machine);
/* What this build of the tool runs on. */
uint16_t elf__own_machine(void);

#endif

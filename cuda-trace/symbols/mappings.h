/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates an address in a process into a file and an address in that file. Files are opened
 * while the process lives, through its mappings and not by name, so that they can still be read
 * when the process and its container are gone.
 */
#ifndef CUDA_TRACE_SYMBOLS_MAPPINGS_H
#define CUDA_TRACE_SYMBOLS_MAPPINGS_H

#include "cuda-trace/symbols/symbols.h"

/* A file that code was executed in, or memory without a file; of all processes of a recording. */
struct module {
	char *path; /* untrusted, as the process's own root has it; "[vdso]" and the like */
	uint64_t device, inode;
	uint32_t pid; /* of memory without a file, else 0 */
	int fd;	      /* -1 = not readable */
	bool is_elf;
	struct elf_outline outline;
};

struct modules;

struct modules *modules__new(void);
/* Numbered from 1. */
const struct module *modules__at(const struct modules *modules, uint32_t number);
uint32_t modules__count(const struct modules *modules);
void modules__free(struct modules *modules);

struct mappings;

struct mappings *mappings__new(uint32_t pid, struct modules *modules);
/*
 * The module, and the address as its ELF file has it; of memory without a file, and of files that
 * are not readable, the address in the process. 0 = nothing is mapped there, or the process is
 * gone.
 */
uint32_t mappings__find(struct mappings *mappings, uint64_t address, uint64_t *in_module);
/* Is that address in this module? By what is known already: nothing is read for it. */
bool mappings__is_in(const struct mappings *mappings, uint32_t module, uint64_t address,
		     uint64_t *in_module);
/* Opens whatever has code and is mapped now, as far as there is space. */
void mappings__open_all(struct mappings *mappings);
void mappings__free(struct mappings *mappings);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files with code, laid out in an address space of the profile's own: a recording of many processes
 * has no common one. Each lies there as the Linux kernel would map its executable segment, from
 * which readers (pprof) compute addresses in the file.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_MAPPINGS_H
#define CUDA_TRACE_EXPORT_EXPORT_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct mapped_file {
	const char *module, *build_id; /* the caller's */
	uint64_t base;		       /* added to an address of the file */
	uint64_t start, limit, offset;
};

struct mapped_files {
	struct mapped_file *list;
	size_t count;
};

/* The index of the file with that address in it; -1: no memory, or too many files. */
int export_mappings__find(struct mapped_files *files, const char *module, const char *build_id,
			  uint64_t address);
void export_mappings__free(struct mapped_files *files);

#endif

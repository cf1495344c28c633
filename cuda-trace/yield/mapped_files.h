/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a process has mapped, by address or by name.
 */
#ifndef CUDA_TRACE_YIELD_MAPPED_FILES_H
#define CUDA_TRACE_YIELD_MAPPED_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_file {
	char name[PATH_MAX]; /* as the process names it; untrusted */
	uint32_t pid;
	char range[40]; /* where it is mapped, as /proc prints it; "" = found by its name */
	dev_t device;
	ino_t inode;
};

/* The file at an address. 0, or -errno. */
int mapped_files__at(uint32_t pid, uint64_t address, struct mapped_file *file);
/* The first file whose base name begins like this and is not `but` (which may be NULL). */
int mapped_files__named(uint32_t pid, const char *name, const struct mapped_file *but,
			struct mapped_file *file);
/* The file of that name, mapped or not. */
int mapped_files__path(uint32_t pid, const char *name, struct mapped_file *file);
/* From the first to the last address of a file whose base name begins like this. 0 or -errno. */
int mapped_files__range(uint32_t pid, const char *name, uint64_t *from, uint64_t *to);
/* Opens it for reading if it is a regular file, and the one that is mapped. -errno. */
int mapped_file__open(const struct mapped_file *file);

#endif

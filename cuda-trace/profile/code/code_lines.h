/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line table of a cubin: where an instruction comes from, through the functions that the
 * compiler put into one another. The image is the traced program's and may hold anything. One
 * thread.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CODE_LINES_H
#define CUDA_TRACE_PROFILE_CODE_CODE_LINES_H

#include <stddef.h>
#include <stdint.h>

#define PC_LINES_DEEPEST 32

struct pc_line {
	const char *file;     /* without its folder */
	const char *path;     /* as the compiler got it; perhaps below `folder` */
	const char *folder;   /* "" = unknown */
	const char *function; /* mangled; the inlined one that the line is in, NULL = the kernel */
	uint32_t line;
};

struct pc_lines;

/* NULL: no line table that is understood. The image stays the caller's, as long as the table. */
struct pc_lines *pc_lines__open(const uint8_t *image, size_t size);
/* The line of an instruction, then the one that its function was called at, and so on up to the
 * kernel's own; how many, 0 = unknown. Valid as long as the table. */
size_t pc_lines__at(struct pc_lines *lines, const char *function, uint64_t offset,
		    struct pc_line chain[PC_LINES_DEEPEST]);
void pc_lines__free(struct pc_lines *lines);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe_multi link (Linux 6.6): one program at many places of a file. libbpf 1.1 does not know
 * it yet, hence the system call.
 */
#ifndef CUDA_TRACE_ATTACH_MULTI_LINK_H
#define CUDA_TRACE_ATTACH_MULTI_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define MULTI_LINK_ATTACH_TYPE 48 /* BPF_TRACE_UPROBE_MULTI */

struct multi_link_points {
	const uint64_t *offsets;    /* in the file */
	const uint64_t *semaphores; /* offsets in the file; NULL = none */
	const uint64_t *cookies;
	uint32_t count;
	uint32_t pid; /* of the one process that is meant; 0 = every one that maps the file */
};

/* Whether this Linux kernel has it; tried once. */
bool multi_link__supported(void);
/* A file descriptor, whose closing detaches, or -errno. */
int multi_link__new(int program, const char *path, const struct multi_link_points *points,
		    bool at_return);

#endif

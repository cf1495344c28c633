/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that a library exports, read from the memory of the process that maps it. The process
 * controls what is there: every size is bounded, and a wrong answer misleads that process only.
 * Any thread.
 */
#ifndef CUDA_TRACE_INJECT_REMOTE_ELF_H
#define CUDA_TRACE_INJECT_REMOTE_ELF_H

#include <stdint.h>

#define REMOTE_SYMBOLS_MAX (1u << 16)

struct remote_function {
	const char *name; /* valid during the call of handle() */
	uint64_t address; /* in the process */
	uint64_t offset;  /* in the file */
};

/* memory: /proc/PID/mem; base: where the library's first page lies. Calls handle() for each
 * exported function. 0, -EIO if memory could not be read, -ENOEXEC if it is no 64-bit library of
 * this machine. */
int remote_elf__each(int memory, uint64_t base,
		     void (*handle)(void *context, const struct remote_function *function),
		     void *context);

#endif

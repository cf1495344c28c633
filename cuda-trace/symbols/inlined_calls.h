/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that were inlined at addresses in a file of a traced process, from the debug
 * information in it. */
#ifndef CUDA_TRACE_SYMBOLS_INLINED_CALLS_H
#define CUDA_TRACE_SYMBOLS_INLINED_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct inlined_calls;

/* Untrusted texts. */
struct inlined_call {
	const char *name; /* of the function, as the file spells it */
	const char *path; /* of the file that calls it; "" = not known */
	uint32_t line;	  /* of the call; 0 = not known */
};

/* The addresses ascend. NULL = no memory, or no function was inlined at any of them. */
struct inlined_calls *inlined_calls__read(int fd, const uint64_t *addresses, size_t count);
/* How many there are at that address; *first: the innermost. They are valid until the free. */
size_t inlined_calls__at(const struct inlined_calls *calls, uint64_t address,
			 const struct inlined_call **first);
void inlined_calls__free(struct inlined_calls *calls);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine code of single functions: out of a cubin, which is a traced program's and may hold
 * anything, into a small one of our own that a disassembler understands. Pure functions.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CUBIN_H
#define CUDA_TRACE_PROFILE_CODE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUBIN_MAX_CODE	(256u << 10) /* bytes of a function */
#define CUBIN_FUNCTIONS 64	     /* of one that is put together */

struct cubin_code {
	const uint8_t *bytes; /* in the image */
	size_t size;
	uint8_t ident[16]; /* of its ELF header: the ABI */
	uint32_t version, flags;
};

/* False: it is none, or has no such function (mangled) of a size that can be. */
bool cubin__code(const uint8_t *image, size_t size, const char *function, struct cubin_code *code);
/* Whether both may be in one cubin. */
bool cubin__go_together(const struct cubin_code *a, const struct cubin_code *b);
/* A cubin of these functions alone, with the names f0, f1, ...; malloc'ed, NULL = no memory. */
uint8_t *cubin__make(const struct cubin_code *codes, uint32_t count, size_t *size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images of functions, looked for in the files that processes have mapped: of modules that were
 * loaded before anybody listened. Files and images are untrusted, so a process of its own reads
 * them, without rights, with bounds to its time and memory.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_IMAGE_SEARCH_H
#define CUDA_TRACE_PROFILE_CODE_IMAGE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct modules;

#define IMAGE_WISHES_MAX 1024

struct image_wish {
	const char *function; /* mangled */
	uint64_t cubin;	      /* CUPTI's checksum of its image */
};

struct image_found {
	uint64_t cubin;
	uint8_t *bytes; /* malloc'ed, the taker's own */
	size_t size;
	bool by_name; /* there is no libcupti to compare: the only one that has such a function */
};

struct image_search {
	const struct modules *files;
	struct image_wish *wishes; /* sorted on the way */
	uint32_t count;
	bool any; /* also images without a line table */
	void (*take)(void *context, const struct image_found *found);
	void *context;
	/* What it came to. */
	uint32_t looked; /* files that were searched to their end */
	bool stopped;	 /* by the clock, or by Ctrl-C */
	bool failed;	 /* a file has crashed its reader, or has more than is read */
};

/* Takes some seconds at most. 0, or -errno when it could not be begun. */
int image_search__run(struct image_search *search);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CUDA release a libcupti belongs to, from whatever gives a hint. */
#ifndef CUDA_TRACE_INVENTORY_CUDA_RELEASE_H
#define CUDA_TRACE_INVENTORY_CUDA_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

struct release_hints {
	uint32_t api;	    /* cuptiGetVersion(), 0 = unknown */
	const char *soname; /* "libcupti.so.12" */
	const char *real;   /* /…/libcupti.so.2024.1.1 */
	const char *path;   /* /usr/local/cuda-12.4/… */
	const char *owner;  /* "cuda-cupti-12-4 12.4.127-1", "" = unknown */
};

/* *major is 0 if unknown; true if *minor is known too. */
bool release__of(const struct release_hints *hints, unsigned int *major, unsigned int *minor);
/* "X.Y" after the last `before` in text, as cuda-12.4 has; false if there is none. */
bool release__after(const char *text, const char *before, char separator, unsigned int *major,
		    unsigned int *minor);

#endif

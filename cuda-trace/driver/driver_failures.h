/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in a function of libcuda only those calls come by that are about to fail.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_FAILURES_H
#define CUDA_TRACE_DRIVER_DRIVER_FAILURES_H

#include <stddef.h>
#include <stdint.h>

#define DRIVER_FAILURES_MAX 4

struct driver_failure {
	uint32_t at;	 /* from the function's beginning: where an instruction begins */
	uint16_t result; /* 0 = what the first register of results holds there */
};

/* The whole function, from its symbol on. How many places were found, so that each call that fails
 * comes by one of them, once, and no other call does; 0: that cannot be said for sure. */
uint32_t driver_failures__find(const uint8_t *code, size_t size,
			       struct driver_failure found[DRIVER_FAILURES_MAX]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds places in a function of libcuda that only failing calls execute.
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

/* code: the whole function. Returns how many places were found: each failing call executes exactly
 * one of them, once, and no other call does. 0: this is not certain. */
uint32_t driver_failures__find(const uint8_t *code, size_t size,
			       struct driver_failure found[DRIVER_FAILURES_MAX]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a function of libcuda is, from its name alone, and how its arguments lie.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_LAYOUTS_H
#define CUDA_TRACE_DRIVER_DRIVER_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver_layout_of {
	uint8_t shape;	/* enum driver_shape; 0 = nothing that is watched */
	uint8_t detail; /* of the cookie */
	uint8_t layout; /* enum driver_layout */
	bool refused;	/* of no use while its arguments are not known: not watched for that */
	size_t length;	/* of the name without what says only which default stream is meant */
};

struct driver_layout_of driver_layouts__of(const char *symbol);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a function of libcuda does, judging by its name, and where its arguments are.
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
	bool refused;  /* not attached to, as it is useless without its arguments, which are unknown
			*/
	size_t length; /* of the name without a suffix for the default stream */
};

struct driver_layout_of driver_layouts__of(const char *symbol);

#endif

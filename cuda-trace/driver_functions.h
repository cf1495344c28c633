/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points of libcuda that the driver source watches.
 */
#ifndef CUDA_TRACE_DRIVER_FUNCTIONS_H
#define CUDA_TRACE_DRIVER_FUNCTIONS_H

#include <stdint.h>

struct driver_probes {
	uint64_t *offsets; /* in the file */
	uint64_t *cookies;
	uint32_t count;
};

/* Finds them in the library's own symbol table. 0 or -errno; to be freed by the caller. */
int driver_functions__find(const char *path, struct driver_probes *probes);
/* Of the number in a cookie; NULL = no such. */
const char *driver_functions__name(uint32_t function);

#endif

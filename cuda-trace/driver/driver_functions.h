/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points of libcuda that the driver source watches.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_FUNCTIONS_H
#define CUDA_TRACE_DRIVER_DRIVER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DRIVER_POINTS_MAX    256 /* of a library; that of CUDA 13.0 has 113 */
#define DRIVER_FUNCTIONS_MAX 1024

struct driver_points {
	uint64_t offsets[DRIVER_POINTS_MAX]; /* in the file */
	uint64_t cookies[DRIVER_POINTS_MAX];
	uint32_t count;
};

struct driver_probes {
	struct driver_points entries, returns, failures;
	uint32_t launches; /* entries of launch functions; of them, those with failures: */
	uint32_t reported_at_entry;
	/* Functions whose calls are counted without reading their arguments. */
	uint16_t unknown[DRIVER_POINTS_MAX];
	uint32_t unknown_count;
	uint32_t refused; /* entry points that are not watched, though they should be */
};

struct foreign_output;

/* Finds them in the library's symbol table; path: see foreign_file__open_ours(). at_entry: launches
 * may be reported at their entry, if the places inside the function where they fail are known. 0 or
 * -errno. */
int driver_functions__find(const char *path, bool at_entry, struct driver_probes *probes);
/* The parser; runs in a process without privileges, and is fuzzed. */
int driver_functions__send(int fd, uint64_t size, const void *at_entry,
			   struct foreign_output *output);
bool driver_functions__is_launch(uint64_t cookie);
/* The name of a function by its number in a cookie; NULL = there is none. */
const char *driver_functions__name(uint32_t function);
/* CUPTI's number of it, if it launches; 0 = not known. */
uint16_t driver_functions__cbid(uint32_t function);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a libcupti with which a client starts and stops, and where they are in the file.
 */
#ifndef CUDA_TRACE_YIELD_CUPTI_FUNCTIONS_H
#define CUDA_TRACE_YIELD_CUPTI_FUNCTIONS_H

#include <stdint.h>

#define CUPTI_FUNCTIONS_MAX 32

struct cupti_points {
	uint64_t offsets[CUPTI_FUNCTIONS_MAX];
	uint64_t cookies[CUPTI_FUNCTIONS_MAX]; /* enum yield_call */
	uint32_t count;
};

struct cupti_functions {
	struct cupti_points entries, returns;
};

/* 0 or -errno; -ENOENT: no cuptiSubscribe() in there. The file is untrusted. */
int cupti_functions__find(int fd, struct cupti_functions *functions);

/* What runs in a process without rights, for tests: a job of foreign_job.h. */
struct foreign_output;
int cupti_functions__send(int fd, uint64_t size, const void *nothing,
			  struct foreign_output *output);

#endif

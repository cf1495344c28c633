/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page says of a selected event, beside its time and name: the shape of a launch, the size
 * of a copy, the stack of a call. Equal ones are in the page once.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_DETAILS_H
#define CUDA_TRACE_EXPORT_EXPORT_DETAILS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/report/report_file.h"

#define DETAIL_VALUES  11
#define DETAIL_UNKNOWN INT64_MIN /* the file does not say */
/* Of a kernel: device, grid, block, registers, static, dynamic and local memory. Of a copy: bytes,
 * from and to which memory. Of a memset: bytes, value. Of a call: the number of its stack. */

struct detail {
	int64_t values[DETAIL_VALUES]; /* unused ones are 0 */
	char category;		       /* k, c, s as in export_lanes.h; h a stack */
};

struct details {
	struct detail *list;
	size_t count, capacity;
	struct key_index index; /* by a hash of the detail */
	uint64_t left_out;	/* events whose detail is not in the page */
};

/* Its index + 1; 0 where there is no more place for it. */
uint32_t details__find(struct details *details, const struct detail *detail);
/* As a JSON array; 0 or -errno. */
int details__write(const struct details *details, FILE *out, const struct report_file *file,
		   const struct names_of_file *names);
void details__free(struct details *details);

#endif

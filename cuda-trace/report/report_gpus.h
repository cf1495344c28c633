/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which GPU a process of a recording means by a number: processes number those that they see, each
 * on its own (CUDA_VISIBLE_DEVICES). And the one window in which all of them are looked at, from
 * the first to the last launch, wait or work of a GPU, as cuda-trace/stat/stat_time.h defines it.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_GPUS_H
#define CUDA_TRACE_REPORT_REPORT_GPUS_H

#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define REPORT_MAX_GPUS 4096 /* a file that claims more is shown its first ones */

struct report_gpu {
	int64_t device; /* the number in the first process that was found */
	char uuid[44];	/* "" = not known */
};

struct report_gpus;

/* What the file says of devices. NULL = no memory. */
struct report_gpus *report_gpus__read(const struct report_file *file);
/* The number of the GPU from 0; -1 = too many. */
int report_gpus__find(struct report_gpus *gpus, int64_t global_pid, int64_t device);
const struct report_gpu *report_gpus__get(const struct report_gpus *gpus, int gpu);
void report_gpus__free(struct report_gpus *gpus);

/* Widens the window, which holds the work of the GPUs already, by launches and waits. 0 or -errno,
 * printed. */
int report_gpus__widen(const struct report_file *file, int64_t *first, int64_t *last);
/* Of "GPU-" and 32 digits; of other texts, whatever is the same for the same text. UUID is zero. */
void report_gpus__parse_uuid(uint8_t uuid[16], const char *text);

#endif

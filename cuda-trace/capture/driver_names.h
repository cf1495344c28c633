/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernels and calls from the driver source. The eBPF program names a kernel by a hash of
 * its handle, which may become another kernel's handle after a module was unloaded.
 */
#ifndef CUDA_TRACE_CAPTURE_DRIVER_NAMES_H
#define CUDA_TRACE_CAPTURE_DRIVER_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/capture/process.h"

struct driver_names;

/* From now on, the id means a kernel of this name. */
void driver_names__put(struct process *process, uint32_t id, const char *text, size_t length);
/* From now on, the id means the same name as `other`. */
void driver_names__alias(struct process *process, uint32_t id, uint32_t other);
/* The record with CUPTI's number of the call, and with ids of names that mean the same as long as
 * the process lives. What had to be changed is in `capacity`; otherwise returns `record`. */
struct driver_names_capacity {
	_Alignas(8) char bytes[256];
};
const struct cuda_record *driver_names__translate(struct process *process,
						  const struct cuda_record *record,
						  struct driver_names_capacity *capacity);
/* Accepts NULL. */
void driver_names__free(struct driver_names *names);

#endif

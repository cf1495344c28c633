/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches the driver programs to one libcuda: one link for all entry points, one for all returns,
 * and one for the places where launches fail.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_LINKS_H
#define CUDA_TRACE_DRIVER_DRIVER_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/driver/driver_functions.h"

struct bpf_object;

/* Before the object is loaded: sets how its programs will be attached. */
void driver_links__prepare(struct bpf_object *object, bool wanted);
/* pid 0: in every process that maps the file. 0 or -errno. A link of -1 is none. Closing one takes
 * the kernel some 100 ms. */
#define DRIVER_LINKS 3
int driver_links__attach(struct bpf_object *object, const char *path,
			 const struct driver_probes *probes, uint32_t pid, int links[DRIVER_LINKS]);
void driver_links__close(int links[DRIVER_LINKS]);
/* Does a link of one process fire in all of its threads? Linux 6.6 without a later fix only
 * attaches to the first thread. Tried out on this process. */
bool driver_links__know_processes(struct bpf_object *object);

#endif

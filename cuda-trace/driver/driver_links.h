/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver programs on one libcuda: all of its entry points by one link, all returns by another,
 * and the places where launches fail by a third.
 */
#ifndef CUDA_TRACE_DRIVER_DRIVER_LINKS_H
#define CUDA_TRACE_DRIVER_DRIVER_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/driver/driver_functions.h"

struct bpf_object;

/* Before the object is loaded: what the programs will be attached by. */
void driver_links__prepare(struct bpf_object *object, bool wanted);
/* pid 0: in every process that maps the file. 0 or -errno. To close them takes the
 * kernel some 100 ms each; -1: there is none. */
#define DRIVER_LINKS 3
int driver_links__attach(struct bpf_object *object, const char *path,
			 const struct driver_probes *probes, uint32_t pid, int links[DRIVER_LINKS]);
void driver_links__close(int links[DRIVER_LINKS]);
/* Does a link of one process fire in all of its threads? Kernels of the 6.6 series without a later
 * fix take the first thread for the process. Tried out on this process. */
bool driver_links__know_processes(struct bpf_object *object);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This machine's libcupti, for processes whose own file system has none: it is passed to them as an
 * open file. One thread.
 */
#ifndef CUDA_TRACE_INJECT_HOST_CUPTI_H
#define CUDA_TRACE_INJECT_HOST_CUPTI_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/event.h"

struct host_cupti;

/* NULL: no memory. The following accept that. */
struct host_cupti *host_cupti__new(bool verbose);
/* Searches for it if this process has mounts of its own, and so may ask for it soon. */
void host_cupti__prepare(struct host_cupti *host, uint32_t pid);
/* START_CUPTI_WANTED: sends the best one for the process's driver. True: sent. */
bool host_cupti__offer(struct host_cupti *host, const struct event_start *wanted);
/* What was sent last, open for reading. */
int host_cupti__file(const struct host_cupti *host);
void host_cupti__free(struct host_cupti *host);

#endif

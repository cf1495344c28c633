/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests counters from processes that run already: writes a struct cuda_request into the memory
 * of their agents, at the address that these report. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_COUNTER_REQUESTS_H
#define CUDA_TRACE_CAPTURE_COUNTER_REQUESTS_H

#include "cuda-trace/capture/process.h"

struct requests;

/* kernels: an expression, or NULL; graphs: instead of kernels. NULL: no memory, or longer than an
 * agent accepts. */
struct requests *counter_requests__new(const char *metrics, const char *kernels, uint64_t skip,
				       uint64_t limit, bool graphs);
/*
 * Once its status is known. 0; -ENOTSUP: it accepts none, or none of graphs; -ESRCH: it is gone;
 * -EBUSY: another tool has a request there; -EFAULT: the address is not its agent's memory; -EPERM,
 * -EACCES and the like: we may not.
 */
int counter_requests__put(struct requests *requests, const struct process *process);
/* Several times a second: otherwise the next tool considers this one gone. */
void counter_requests__keep_alive(struct requests *requests);
/* The process is gone. */
void counter_requests__drop(struct requests *requests, const struct process *process);
void counter_requests__free(struct requests *requests);

#endif

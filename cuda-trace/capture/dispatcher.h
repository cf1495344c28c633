/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event dispatcher: turns events of the ring buffer into processes and records for the sink,
 * and counts what is missing. It checks all input, because a process can send any bytes it likes.
 */
#ifndef CUDA_TRACE_CAPTURE_DISPATCHER_H
#define CUDA_TRACE_CAPTURE_DISPATCHER_H

#include <stddef.h>
#include "cuda-trace/capture/session.h"

struct dispatcher;

struct observations;

/* groups: those that the session collects. observations: read when a process ends, and then
 * forgotten. */
struct dispatcher *dispatcher__new(const struct sink *sink, uint32_t groups,
				   struct observations *observations);
void dispatcher__free(struct dispatcher *dispatcher);
void dispatcher__event(struct dispatcher *dispatcher, const struct event *event, size_t size);
/* True once the self-test's event has come. */
bool dispatcher__selftest_came(const struct dispatcher *dispatcher);
/* Records that begin at this time (ns) or later are not passed to the sink. */
void dispatcher__close_window(struct dispatcher *dispatcher, uint64_t end);
/* True once every process has reported that it has sent all that it recorded before that time. */
bool dispatcher__has_all(const struct dispatcher *dispatcher);
/* How many processes have not ended. */
unsigned int dispatcher__running(const struct dispatcher *dispatcher);
/* Something of it was reported, by its agent (which is awake, or has ended its work as the process
 * ends) or by the driver source, and its end has not been handled yet. */
bool dispatcher__knows(struct dispatcher *dispatcher, uint32_t pid);
void dispatcher__each(struct dispatcher *dispatcher,
		      void (*handle)(void *context, struct process *process), void *context);
/* Ends processes that were gone at the last call already: the ring buffer was full when they ended.
 */
void dispatcher__end_gone(struct dispatcher *dispatcher);
/* Ends all processes that have not ended. */
void dispatcher__end_all(struct dispatcher *dispatcher);
/* Reports to the sink the ends that were kept back, see ends_last. */
void dispatcher__report_ends(struct dispatcher *dispatcher);
/* Losses of the agents and of the tool; `kernel` = the sums of the eBPF program's counters,
 * `groups` = those that this session requested (0: another one did). */
void dispatcher__lost(const struct dispatcher *dispatcher, const struct stream_counters *kernel,
		      uint32_t groups, struct session_lost_counts *counts);

#endif

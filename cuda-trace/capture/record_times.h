/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks whether a record's times are possible. A process can send any; times that pass can be
 * added, subtracted and compared without further checks. Any thread. */
#ifndef CUDA_TRACE_CAPTURE_RECORD_TIMES_H
#define CUDA_TRACE_CAPTURE_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/event.h"

enum record_work { WORK_NONE, WORK_KERNEL, WORK_COPY, WORK_LAUNCH, WORK_WAIT };

/* Time that a GPU worked (memsets are copies), or that a host thread launched or waited. */
struct record_interval {
	enum record_work work;
	uint32_t device; /* of the GPU's */
	uint64_t start, end;
};

/* False: the record is none, or its times make no sense. */
bool record_times__interval(const struct cuda_record *record, struct record_interval *interval);

/* It describes a graph: kernels in a window may be of nodes that are older. */
static inline bool record_times__is_of_graph(const struct cuda_record *record)
{
	return record->kind == CUDA_RECORD_GRAPH_NODE || record->kind == CUDA_RECORD_GRAPH_ORIGIN ||
	       record->kind == CUDA_RECORD_GRAPH_CHANGE;
}

/* Likewise the call stack of a call that created or changed nodes of a graph. */
static inline bool record_times__is_stack_of_graph(const struct event *event)
{
	const struct event_stack *stack = (const void *)event->data;
	const struct event_stack_copy *copy = (const void *)event->data;

	return event->kind == EVENT_STACK_COPY ? copy->is_of_graph
	       : event->kind == EVENT_STACK    ? stack->start != 0
					       : false;
}

/* False: this kind has no times. A moment is both. */
bool record_times__span(const struct cuda_record *record, uint64_t *start, uint64_t *end);

/* The latest time (CLOCK_MONOTONIC, ns) that a record may have now. */
uint64_t record_times__latest(void);
/* The record must be as large as this version's structure of its kind. */
bool record_times__are_possible(const struct cuda_record *record, uint64_t latest);

#endif

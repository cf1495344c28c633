/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of launches on their way into a recording: addresses become files and addresses in them,
 * equal ones are kept once, and at the end functions get their names. One thread.
 */
#ifndef CUDA_TRACE_RECORDING_CALLSTACKS_H
#define CUDA_TRACE_RECORDING_CALLSTACKS_H

#include "bpf/event.h"
#include "cuda-trace/recording/store_spool.h"

struct callstacks;

/* Where it goes: an entry that outlives the events of a ring, and an event. */
struct callstacks_sink {
	void *context;
	void (*put)(void *context, enum spool_kind kind, const void *data, size_t size,
		    const void *more, size_t more_size);
	void (*put_sample)(void *context, void *owner, const struct spool_sample *sample);
};

struct callstacks_counts {
	uint64_t samples;
	uint32_t stacks, frames; /* that differ */
	uint32_t nameless;	 /* frames whose function is not known */
	uint64_t without_python; /* samples whose thread was unknown to the interpreter */
	uint64_t cut;		 /* samples with more frames than are kept */
	uint64_t incomplete;	 /* samples that end before the outermost function */
	uint64_t by_pointers;	 /* samples of frame pointers alone, as no copy of the stack came */
	uint64_t lost; /* samples that found no space, as too much differs; not in samples */
};

struct callstacks *callstacks__new(const struct callstacks_sink *sink);
/* Names the functions that have come since the last call. Takes what reading their files' symbol
 * tables takes. */
void callstacks__name(struct callstacks *callstacks);
/* Forgets all stacks, frames and functions: their numbers begin anew, and the sink gets modules
 * again. What is known of processes stays. */
void callstacks__forget(struct callstacks *callstacks);
void callstacks__count(const struct callstacks *callstacks, struct callstacks_counts *counts);
void callstacks__free(struct callstacks *callstacks);

struct callstacks_process;

/* `owner` is handed to put_sample(). NULL = no memory. */
struct callstacks_process *callstacks_process__new(struct callstacks *callstacks, uint32_t pid,
						   void *owner);
/* EVENT_STACK, EVENT_STACK_COPY and EVENT_CODE, checked for their lengths. */
void callstacks_process__take(struct callstacks_process *process, const struct event *event);
/* Nothing more comes from this process. */
void callstacks_process__free(struct callstacks_process *process);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches what a session delivers until one of the conditions of --when becomes true. One thread;
 * the processes control what comes.
 */
#ifndef CUDA_TRACE_TRIGGER_TRIGGER_H
#define CUDA_TRACE_TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/trigger/trigger_options.h"

struct trigger;

/* Which condition became true first, and why. */
struct trigger_fired {
	const char *condition;
	uint64_t monotonic, utc; /* ns: when it was true */
	uint64_t step_ns;	 /* of a step that took too long: its duration so far; else 0 */
	char text[512];		 /* one line, safe to print */
	uint32_t version;	 /* rises when `text` says more: the step that went on has ended */
};

/* `wanted` must stay. NULL: no memory. The others accept NULL. */
struct trigger *trigger__new(const struct trigger_wanted *wanted);
void trigger__free(struct trigger *trigger);
/* process->data is its own, from the start to the end of a process. */
void trigger__process_start(struct trigger *trigger, struct process *process);
void trigger__record(struct trigger *trigger, struct process *process,
		     const struct cuda_record *record);
void trigger__collective(struct trigger *trigger, struct process *process,
			 const struct event_collective *call);
void trigger__process_end(struct trigger *trigger, struct process *process);
/* Several times a second; `lost`: records, so far. */
void trigger__tick(struct trigger *trigger, uint64_t lost);
/* NULL = none has become true. */
const struct trigger_fired *trigger__fired(const struct trigger *trigger);
/* Why none has, as far as that is known: one line, safe to print; returns out. */
const char *trigger__why_not(const struct trigger *trigger, char *out, size_t size);

#endif

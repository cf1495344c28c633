/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One traced process: more exactly one load of the agent in it (an exec gives a new one). Made and
 * owned by the session; a sink may keep the pointer until its process_end() has returned.
 */
#ifndef CUDA_TRACE_CAPTURE_PROCESS_H
#define CUDA_TRACE_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/event.h"
#include "cuda-trace/proc/rank.h"

struct collected;
struct driver_names;
struct names;
struct payload_parts;

struct process {
	uint64_t instance; /* the agent's number of this load; with pid the key */
	uint32_t pid;
	uint32_t uid;
	uint64_t cgroup;	   /* id, 0 = unknown */
	struct rank rank;	   /* as its launcher numbered it, where that is known */
	char comm[EVENT_COMM_LEN]; /* untrusted: escape before showing */
	struct cuda_status status; /* the last one that came; .version 0 = none yet */
	bool ended;		   /* reported its end, or is gone */
	bool gone;		   /* there is no such pid any more: its end may be lost */
	bool killed;		   /* ended without reporting it: what it had not sent is unknown */
	uint64_t
		unsent; /* records that it had not sent as it was killed, as far as that is known */
	int exit_status;      /* as of wait(2), once it is gone; -1 = not known */
	uint32_t source;      /* enum event_source */
	bool driver_noted;    /* the driver source knows that it is used */
	const char *no_agent; /* at its end: why none was loaded; NULL = unknown, or there is one */
	uint64_t ended_ns;    /* of a recording, ns; 0 = not known */
	uint64_t observed_since; /* at its end: ns, monotonic; 0 = all of its calls were observed */
	uint32_t group;		 /* enum cuda_group of the batch that is being delivered */
	void *data;		 /* the sink's own */
	void *recorded;		 /* the store's own: a sink may have sums as well */
	bool gated;		 /* other CUPTI clients of it are let in: yield_gate.h */
	char client[64];	 /* the last one; untrusted */
	uint32_t yields;	 /* to such, while it was watched, */
	uint64_t yielded_ns, yielded_before; /* for how long; and before that */
	uint32_t devices_reported;	     /* a bit each */
	unsigned int troubles;		     /* of the agent's own that were reported */
	uint64_t first_launch;	    /* ns, the start of the earliest that came; 0 = none has */
	uint32_t first_correlation; /* of that launch */
	uint32_t early_until;	    /* kernels of launches before it may be kept: launch_window.c */
	unsigned int replaced; /* loads of the same pid before this one, whose end did not come */
	struct collected *collected; /* its windows: collection.c; NULL = all is collected */
	struct names *names;
	struct payload_parts *payloads;	      /* of NVTX events, for `trace`; NULL = none yet */
	struct driver_names *driver_names;    /* NULL = none from that source */
	uint64_t lost[CUDA_LOST_COUNT];	      /* in the process, since it was first seen */
	uint64_t lost_known[CUDA_LOST_COUNT]; /* since its load, as it said last */
	uint32_t lost_noted;		      /* bits of the reasons of which that is known */
	struct process_numbers {	      /* of each group: what was numbered and what came */
		uint64_t lowest;
		uint64_t next;
		uint64_t received;
	} numbers[CUDA_GROUP_COUNT];
	struct process *next_in_bucket;
};

/* "cupti", "driver", or "none" where the agent could not work: a stable key. */
const char *process__source(const struct process *process);

/* A name's text by the id in records; NULL while it has not arrived. Mangled, untrusted, and valid
 * as long as the process. */
const char *process__name(const struct process *process, uint32_t id);

/* The same demangled (cached); "" for id 0, "[name ID]" when the name never came. */
const char *process__pretty_name(struct process *process, uint32_t id);

/* Keeps a new status; how often the process has yielded CUPTI since the one before. */
uint32_t process__set_status(struct process *process, const struct cuda_status *status);

/* A killed process takes the records of its last kernels with it. True if these are more than one
 * in a hundred of those that it launched: then a GPU that seems idle proves nothing. */
bool process__lost_kernels(const struct process *process, uint64_t launched, uint64_t kernels);

/* Frees it and its names; accepts NULL. The session's business. */
struct process *process__new(uint32_t pid, uint64_t instance);
void process__free(struct process *process);

#endif

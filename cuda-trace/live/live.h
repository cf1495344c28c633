/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live aggregates, for top and metrics: a session reports processes, names and states, the
 * aggregate program adds up what they do, and collect() returns the growth since the last call by
 * process and device. One thread at a time.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_H
#define CUDA_TRACE_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/aggregate.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/live/aggregate.h"
#include "cuda-trace/live/live_pending.h"
#include "cuda-trace/live/live_sample.h"
#include "cuda-trace/live/live_yields.h"
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/origin/origin.h"

struct idle;
struct live;
struct live_energy;
struct nccl_comms;

#define LIVE_NO_DEVICE 0xffffffffu /* the context is known, its device is not */

/* One load of the agent that has sent something. Slot 0 stands for those beyond the table's limit.
 */
struct live_process {
	uint32_t slot;
	struct aggregate_process_key key; /* .pid, .instance, .source */
	struct aggregate_process state;	  /* as last collected: uid, comm, live and peak bytes */
	char cgroup[256];		  /* path below the mount, "" = unknown; untrusted */
	char container[16];		  /* short id, or "" */
	struct origin origin;		  /* what is known of it, which */
	bool origin_known;		  /* is all that will be */
	struct rank rank;
	const struct process *traced; /* what the session knows of it; NULL = nothing (yet, or any
				       * more) */
	bool ended;
	double scale; /* factor for GPU records that come from sample windows; 1 = all come */
	struct live_sample sample;
	struct live_holds holds;
	void *data; /* the sink's own */
};

struct live_sink {
	void *context;
	void (*process_start)(void *context, struct live_process *process);
	/* device: CUDA ordinal, or LIVE_NO_DEVICE */
	void (*tally)(void *context, struct live_process *process, uint32_t device,
		      const struct tally_key *key, const struct tally *tally);
	void (*shape)(void *context, struct live_process *process, uint32_t device,
		      const struct shape *shape);
	void (*device)(void *context, struct live_process *process,
		       const struct cuda_device *device); /* may be NULL */
	/* Shares of GPUs, if wanted: whose they are, then how much, also after the process's end.
	 */
	void *(*share_start)(void *context, struct live_process *process, uint32_t device);
	void (*share)(void *context, void *whose, double ns);
	/* Likewise joules, with live_options.energy. */
	void (*energy)(void *context, void *whose, double joules);
	void (*share_end)(void *context, void *whose);
	/* After all of its sums were delivered. */
	void (*process_end)(void *context, struct live_process *process);
};

struct live_options {
	struct session_options session; /* .groups: what is summed */
	bool by_name;
	struct sample sample;	    /* the argument of live__sample() */
	const char *command;	    /* in messages */
	bool idle;		    /* live__idle() */
	bool collectives;	    /* live__collectives() */
	uint32_t collective_ranks;  /* at most so many of all communicators */
	bool shares;		    /* of GPUs: not with a sample */
	struct live_energy *energy; /* the caller's, with shares; NULL = it is not divided */
	bool by_device;		    /* sums wait for their device: see live_pending.h */
};

/* Puts --sample and --max-overhead into options whose groups and .idle are chosen already. */
void live__sample(struct live_options *options, const struct sample *sample);

/* Processes by how they can be seen. X(enumerator, label) */
#define LIVE_SOURCES(X)     \
	X(CUPTI, "cupti")   \
	X(DRIVER, "driver") \
	X(NONE, "none")

enum live_source {
#define LIVE_SOURCE(name, label) LIVE_SOURCE_##name,
	LIVE_SOURCES(LIVE_SOURCE)
#undef LIVE_SOURCE
		LIVE_SOURCE_COUNT
};

/* Why records were lost in the aggregate program alone; all other reasons are those of session.h.
 * X(enumerator, key, text) */
#define LIVE_LOST_REASONS(X)                                       \
	X(BUSY, "lanes_busy", "too many batches at the same time") \
	X(FULL, "maps_full", "the maps of the aggregate program were full")

enum live_lost {
#define LIVE_LOST(name, key, text) LIVE_LOST_##name,
	LIVE_LOST_REASONS(LIVE_LOST)
#undef LIVE_LOST
		LIVE_LOST_COUNT
};

/* Records without the label of their device, because only so many contexts and devices are tied to
 * one. */
struct live_beyond {
	uint64_t contexts, devices;
};

/* Since the start: time of GPUs that is in no share, by GPU as in struct aggregate_state; and time
 * that came when its share was others' already. */
struct live_share_state {
	uint64_t nobodys_ns[AGGREGATE_DEVICES];
	uint64_t late_ns;
};

struct live_state {
	struct live_share_state shares;
	struct aggregate_state aggregate;
	struct session_lost_counts lost;	  /* see live_lost.h */
	uint64_t aggregate_lost[LIVE_LOST_COUNT]; /* beside them */
	struct live_yields yields;
	struct live_beyond beyond;
	unsigned int sources[LIVE_SOURCE_COUNT];
	unsigned int unreadable; /* processes of any kind: see sources.h */
	struct left_out left_out;
};

/* NULL after an error, which is printed on stderr. Attached when it returns. */
struct live *live__open(const struct live_options *options, const struct live_sink *sink);
/* Handles names, states and ends that have arrived; waits at most timeout_ms. 0, or -EINTR. */
int live__poll(struct live *live, int timeout_ms);
/* Until the timeout, or a process starts or changes its state, or much has come: live__poll()
 * should not come late, as threads and communicators are known from then on. Sleeps for 5 ms at
 * least. */
void live__wait(const struct live *live, int timeout_ms);
/* 0, or -EAGAIN: nothing was delivered this time. */
int live__collect(struct live *live);
void live__state(struct live *live, struct live_state *state);
void live__each_process(struct live *live,
			void (*each)(void *context, struct live_process *process), void *context);
/* Demangled, or NULL: it has not arrived, or the process has ended. */
const char *live__known_name(const struct live_process *process, uint32_t id);
/* Demangled; "" for id 0, "[name ID]" when it never came, "other" for what was folded. */
const char *live__name(const struct live_process *process, uint32_t id, char buffer[32]);
/* Why GPUs were idle, followed by live__poll(); NULL = it is not wanted. */
struct idle *live__idle(const struct live *live);
/* NCCL's communicators, followed by live__poll(); NULL = they are not wanted. */
struct nccl_comms *live__collectives(const struct live *live);
/* False: there is no --max-overhead. */
bool live__overhead(const struct live *live, struct overhead_finding *finding);
/* The current window, in ms; 0 = GPU records come all the time. */
uint32_t live__window(const struct live *live);
/* Adds a process tree to a session that was opened with session.pid. */
int live__add_pid(struct live *live, uint32_t pid);
void live__close(struct live *live);

#endif

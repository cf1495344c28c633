/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members of a session, for session.c and session_processes.c only.
 */
#ifndef CUDA_TRACE_CAPTURE_SESSION_PARTS_H
#define CUDA_TRACE_CAPTURE_SESSION_PARTS_H

#include <stddef.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/foreign/left_out.h"

struct session {
	struct stream_bpf *skeleton;
	struct ring_buffer *ring;
	struct ring_buffer *starts; /* what must be answered at once */
	struct attachments *attachments;
	struct switches *switches; /* NULL = nothing is sampled */
	struct agents *agents;	   /* NULL = attached to the agents of all processes */
	struct targets *targets;
	struct left_out left_out;
	struct dispatcher *dispatcher;
	struct driver_source *driver; /* NULL = agents only */
	struct nccl_probes *nccl;     /* NULL = collectives are not observed */
	struct library_loads *loads;  /* NULL = processes that load libcuda are found by polling */
	bool without_loads;	      /* the kernel refused their programs */
	struct observations *observations;
	uint32_t waiting;  /* a process whose thread waits until an injection begins */
	uint64_t attached; /* ns, monotonic */
	struct injections
		*injections;	 /* NULL = only programs that loaded it themselves have an agent */
	struct yield_gate *gate; /* NULL = other CUPTI clients are refused */
	struct host_cupti *host_cupti;
	struct session_options options;
	uint64_t next_rescan; /* ms */
	uint64_t next_gone;   /* ms */
	uint64_t next_hello;  /* ms */
	uint64_t eager_until; /* ms */
	int hellos;
	uint64_t names_lost; /* the ring buffer was full, when they were last counted */
	size_t turn;	     /* bytes handled since the last look at the clock */
	uint32_t turn_events;
	uint64_t turn_until; /* ms */
	bool finished;
	struct session_files files;
};

#endif

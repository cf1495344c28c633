/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of trace, stat and similar commands: opens the output, runs PROGRAM or watches
 * others, polls until the end, finishes, and returns the exit status.
 */
#ifndef CUDA_TRACE_CAPTURE_WATCH_H
#define CUDA_TRACE_CAPTURE_WATCH_H

#include <stdio.h>
#include "cuda-trace/cli/options.h"
#include "cuda-trace/capture/collection.h"
#include "cuda-trace/capture/time_window.h"
#include "cuda-trace/cli/sample_options.h"
#include "cuda-trace/capture/session.h"

/* How PROGRAM ended, for commands that continue afterwards. */
struct watch_end {
	bool ended; /* it was started, and ended */
	int status; /* as of wait(2) */
	bool interrupted;
};

struct watch {
	const char *command;
	const struct options *options;
	uint32_t groups;
	bool sources;		/* --source applies; otherwise only agents are traced */
	bool stacks;		/* session__set_stack_period() will be called */
	bool stacks_timed;	/* session__stack_ns() will */
	bool stacks_copied;	/* for unwinding */
	bool ranges_at_once;	/* NVTX ranges come when they begin, too: NVTX_OPEN */
	bool launches_at_entry; /* as session_options has it */
	struct sample sample;	/* .on_ms 0 = groups as they are, all the time */
	struct windows windows; /* in which it collects; their groups are added to `groups` */
	uint64_t at;		/* ns since 1970: it collects from then on; 0 = at once */
	struct watch_end *end;	/* NULL = the tool ends as PROGRAM did */
	FILE *output;		/* open already, and left open; NULL = as the options say */
	const struct sink *sink;
	void *context;
	/* The output is open, nothing has come yet. May be NULL; non-zero = exit status. */
	int (*start)(void *context, FILE *output);
	/* The session is attached, nothing has come yet. May be NULL. */
	void (*attached)(void *context, struct session *session);
	/* With `at`: the time has come. May be NULL. */
	void (*begun)(void *context, const struct time_window_begin *begin);
	/* Several times a second; true = enough was seen. May be NULL. */
	bool (*tick)(void *context, struct session *session);
	/* Everything has come; all processes were ended. */
	void (*finish)(void *context, struct session *session);
	/* Before it, where there are windows: how many there were. May be NULL. */
	void (*collected)(void *context, const struct collection_counts *counts);
};

/* The file of `-o`, or the standard stream that the tool may use. NULL after a message. */
FILE *watch__open_output(const char *command, const struct options *options);
/* As a PROGRAM that ended so: the exit status, or by the same signal. */
int watch__pass_on(const struct watch_end *end);
/* The exit status. */
int watch__run(const struct watch *watch);

/* Into which running processes --attach, --no-attach and the target let a command load the agent.
 */
enum session_attach watch__attaches(const struct options *options);

#endif

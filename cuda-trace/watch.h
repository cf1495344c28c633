/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What trace, stat and their like do alike: open the output, run PROGRAM or watch others, poll
 * until it is over, finish, pass the exit status on.
 */
#ifndef CUDA_TRACE_WATCH_H
#define CUDA_TRACE_WATCH_H

#include <stdio.h>
#include "cuda-trace/options.h"
#include "cuda-trace/sample.h"
#include "cuda-trace/session.h"

struct watch {
	const char *command;
	const struct options *options;
	uint32_t groups;
	bool sources;		/* --source counts; else only guests are listened to */
	bool stacks;		/* session__take_stacks() will be called */
	bool launches_at_entry; /* as session_options has it */
	struct sample sample;	/* .on_ms 0 = groups as they are, all the time */
	const struct sink *sink;
	void *context;
	/* The output is open, nothing has come yet. May be NULL; non-zero = exit status. */
	int (*start)(void *context, FILE *output);
	/* The session is attached, nothing has come yet. May be NULL. */
	void (*attached)(void *context, struct session *session);
	/* Several times a second; true = enough was seen. May be NULL. */
	bool (*tick)(void *context, struct session *session);
	/* Everything has come; all processes were ended. */
	void (*finish)(void *context, struct session *session);
};

/* The exit status. */
int watch__run(const struct watch *watch);

#endif

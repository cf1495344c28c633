// SPDX-License-Identifier: BSD-2-Clause
/* One thread. */
#include "cuda-trace/idle/idle_threads.h"

#include <stdlib.h>

#define STACKS 4096 /* that are remembered, with their function */

struct idle_threads {
	struct idle_evidence *evidence;
	struct idle_functions *functions;
	idle_threads_sink sink;
	void *context;
	struct {
		uint32_t pid;
		int32_t stack;
		uint32_t python;
		uint32_t function;
	} stacks[STACKS];
};

static uint32_t python_of(struct idle_threads *threads, uint32_t pid,
			  const struct idle_frame *frame)
{
	struct idle_code code;
	uint32_t python;

	if (!frame->code)
		return 0;
	python = idle_functions__python(threads->functions, pid, frame, NULL);
	if (!python && idle_evidence__code(threads->evidence, pid, frame, &code))
		python =
			idle_functions__python(threads->functions, pid, frame, (const void *)&code);
	return python;
}

static uint32_t function_of(struct idle_threads *threads, uint32_t pid, int32_t stack,
			    const struct idle_frame *frame)
{
	uint32_t python = python_of(threads, pid, frame), slot = (pid * 31 + stack) % STACKS;
	uint64_t addresses[IDLE_STACK_DEPTH];

	if (stack < 0)
		return idle_functions__number(threads->functions, pid, NULL, 0, python);
	if (threads->stacks[slot].pid != pid || threads->stacks[slot].stack != stack ||
	    threads->stacks[slot].python != python) {
		uint32_t depth = idle_evidence__stack(threads->evidence, stack, addresses);

		threads->stacks[slot].pid = pid;
		threads->stacks[slot].stack = stack;
		threads->stacks[slot].python = python;
		threads->stacks[slot].function =
			idle_functions__number(threads->functions, pid, addresses, depth, python);
	}
	return threads->stacks[slot].function;
}

static void add(void *context, const struct idle_wait *wait, const struct idle_sample *sample)
{
	struct idle_threads *threads = context;

	threads->sink(threads->context, wait, sample,
		      wait ? function_of(threads, wait->pid, wait->stack, &wait->frame)
			   : function_of(threads, sample->pid, sample->stack, &sample->frame));
}

struct idle_threads *idle_threads__new(const struct session *session,
				       struct idle_functions *functions, idle_threads_sink sink,
				       void *context)
{
	struct idle_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->functions = functions;
	threads->sink = sink;
	threads->context = context;
	threads->evidence = idle_evidence__new(session, add, threads);
	if (threads->evidence)
		return threads;
	free(threads);
	return NULL;
}

struct idle_evidence *idle_threads__evidence(const struct idle_threads *threads)
{
	return threads ? threads->evidence : NULL;
}

void idle_threads__forget(struct idle_threads *threads, uint32_t pid)
{
	if (!threads)
		return;
	idle_functions__forget(threads->functions, pid);
	for (uint32_t i = 0; i < STACKS; i++)
		if (threads->stacks[i].pid == pid)
			threads->stacks[i].pid = 0;
}

void idle_threads__free(struct idle_threads *threads)
{
	if (!threads)
		return;
	idle_evidence__free(threads->evidence);
	free(threads);
}

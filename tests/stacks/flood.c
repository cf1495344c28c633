// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plays a traced program that means harm to `record -g`: `flood WHAT COUNT` makes COUNT stacks,
 * with "frames" of frames that no other has, with "stacks" of few frames in ever other order. The
 * last line says what became of them and what memory that took; exit status 1 if the sums are
 * wrong. Built by tests/stacks.bats, with sanitizers too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "cuda-trace/callstacks.h"

#define REGION (1ul << 36)

static unsigned long entries[SPOOL_PERIOD + 1], samples;

static void put(void *context, enum spool_kind kind, const void *data, size_t size,
		const void *more, size_t more_size)
{
	const struct spool_frame *frame = data;
	const struct spool_stack *stack = data;
	const uint32_t *numbers = more;

	entries[kind]++;
	if (kind == SPOOL_FRAME && frame->number != entries[kind])
		exit(3);
	for (int i = 0; kind == SPOOL_STACK && i < stack->frames + stack->python_frames; i++)
		if (!(numbers[i] & ~SPOOL_FRAME_ENTRY) || stack->number != entries[kind])
			exit(3);
}

static void put_sample(void *context, void *owner, const struct spool_sample *sample)
{
	samples++;
	if (!sample->stack || sample->stack > entries[SPOOL_STACK])
		exit(3);
}

static unsigned long next(void)
{
	static unsigned long state = 1;

	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

static void feed(struct callstacks_process *process, uint64_t code, bool new_frames,
		 unsigned long stacks)
{
	static _Alignas(8) unsigned char space[sizeof(struct event) + sizeof(struct event_stack)];
	struct event *event = (void *)space;
	struct event_stack *stack = (void *)event->data;

	event->kind = EVENT_STACK;
	event->bytes = sizeof(*stack);
	stack->depth = STACK_ADDRESSES;
	for (unsigned long i = 0; i < stacks; i++) {
		stack->correlation = i;
		for (int j = 0; j < stack->depth; j++)
			stack->addresses[j] =
				code + 8 * (new_frames ? i * STACK_ADDRESSES + j : next() % 1000);
		callstacks_process__take(process, event);
	}
}

int main(int argc, char **argv)
{
	const struct callstacks_sink sink = {NULL, put, put_sample};
	struct callstacks *all = callstacks__new(&sink);
	struct callstacks_counts counts;
	struct callstacks_process *process;
	struct rusage usage;
	unsigned long fed;
	char *region;

	if (argc != 3 || !all)
		return 2;
	fed = strtoul(argv[2], NULL, 10);
	/* Code without a file: found at once, so that it floods fast. */
	region = mmap(NULL, REGION, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	process = callstacks_process__new(all, getpid(), NULL);
	if (region == MAP_FAILED || !process)
		return 2;
	feed(process, (uint64_t)region, !strcmp(argv[1], "frames"), fed);
	callstacks_process__free(process);
	callstacks__finish(all);
	callstacks__count(all, &counts);
	callstacks__free(all);
	getrusage(RUSAGE_SELF, &usage);
	printf("samples=%lu lost=%lu stacks=%u frames=%u MiB=%ld\n", (unsigned long)counts.samples,
	       (unsigned long)counts.lost, counts.stacks, counts.frames, usage.ru_maxrss >> 10);
	return counts.samples != samples || counts.samples + counts.lost != fed ||
	       counts.stacks != entries[SPOOL_STACK] || counts.frames != entries[SPOOL_FRAME];
}

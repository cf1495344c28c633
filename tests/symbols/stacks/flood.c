// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plays a traced program that means harm to `record -g`: `flood WHAT COUNT` makes COUNT stacks,
 * with "frames" of frames that no other has, with "stacks" of few frames in ever other order, with
 * "codes" of Python functions as long as they can be, in 4 processes, with "names" of such without
 * a table of lines. With "map" the frames of 32 stacks get names from a /tmp/perf-PID.map of COUNT
 * lines that fit them all, some that fit few, and 8 GiB that do not end. The last line says what
 * became of them and what memory that took; exit status 1 if the sums are wrong. Built by
 * tests/symbols/stacks.bats, with sanitizers too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "cuda-trace/recording/callstacks.h"

#define REGION (1ul << 36)

static unsigned long entries[SPOOL_PERIOD + 1], samples, named[3];

static void put(void *context, enum spool_kind kind, const void *data, size_t size,
		const void *more, size_t more_size)
{
	const struct spool_frame *frame = data;
	const struct spool_stack *stack = data;
	const uint32_t *numbers = more;

	entries[kind]++;
	for (int i = 0; kind == SPOOL_SYMBOL && i < 3; i++)
		named[i] += more_size == 3 && !memcmp(more, &"allfewold"[3 * i], 3);
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

static void feed_code(struct callstacks_process *process, uint64_t number, uint32_t table_bytes)
{
	static _Alignas(8) unsigned char
		space[sizeof(struct event) + sizeof(struct event_code) + CODE_TABLE_MAX];
	struct event *event = (void *)space;
	struct event_code *code = (void *)event->data;

	event->kind = EVENT_CODE;
	event->bytes = sizeof(*code) + table_bytes;
	code->code = code->key = number;
	code->file_bytes = CODE_FILE_LEN;
	code->name_bytes = CODE_NAME_LEN;
	code->file_width = code->name_width = 1;
	code->table_bytes = table_bytes;
	memset(code->file, 0xff, CODE_FILE_LEN + CODE_NAME_LEN);
	for (int i = 0; i < 8; i++)
		code->name[i] = 'a' + (number >> 4 * i & 15);
	callstacks_process__take(process, event);
}

static void feed_codes(struct callstacks *all, uint32_t table_bytes, unsigned long stacks)
{
	static _Alignas(8) unsigned char space[sizeof(struct event) + sizeof(struct event_stack)];
	struct event *event = (void *)space;
	struct event_stack *stack = (void *)event->data;
	struct callstacks_process *processes[4];

	for (int i = 0; i < 4; i++)
		if (!(processes[i] = callstacks_process__new(all, getpid(), NULL)))
			exit(2);
	event->kind = EVENT_STACK;
	event->bytes = sizeof(*stack);
	stack->frames = 1;
	for (unsigned long i = 0; i < stacks; i++) {
		stack->python_frames[0].code = stack->python_frames[0].key = i + 1;
		callstacks_process__take(processes[i % 4], event);
		feed_code(processes[i % 4], i + 1, table_bytes);
	}
	for (int i = 0; i < 4; i++)
		callstacks_process__free(processes[i]);
}

static char map_path[64];

static void remove_map(void)
{
	unlink(map_path);
}

static void make_map(uint64_t code, unsigned long lines)
{
	FILE *map;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	map = fopen(map_path, "wex");
	if (!map)
		exit(2);
	atexit(remove_map);
	fprintf(map, "%lx 50 old\n%lx 1000 new\nno line\n-1 -1\n", code, code);
	while (lines--)
		fprintf(map, "0 ffffffffffffffff all\n");
	/* Of callers what is looked for is the byte before. */
	fprintf(map, "%lx %x few\n%lx 1000 ", code + 8 * 2000 - 4, 8 * 1000, code);
	for (int i = 0; i < 70000; i++)
		putc('a', map);
	fprintf(map, "\n%lx 4c old\n%lx 1000 unfinished", code, code);
	if (fflush(map) || ftruncate(fileno(map), 8l << 30))
		exit(2);
	fclose(map);
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
	if (!strcmp(argv[1], "map")) {
		make_map((uint64_t)region, fed);
		fed = 32;
	}
	process = callstacks_process__new(all, getpid(), NULL);
	if (region == MAP_FAILED || !process)
		return 2;
	if (!strcmp(argv[1], "codes"))
		feed_codes(all, CODE_TABLE_MAX, fed);
	else if (!strcmp(argv[1], "names"))
		feed_codes(all, 0, fed);
	else
		feed(process, (uint64_t)region, strcmp(argv[1], "stacks") != 0, fed);
	callstacks_process__free(process);
	callstacks__name(all);
	callstacks__count(all, &counts);
	callstacks__free(all);
	getrusage(RUSAGE_SELF, &usage);
	printf("samples=%lu lost=%lu stacks=%u frames=%u nameless=%u MiB=%ld\n",
	       (unsigned long)counts.samples, (unsigned long)counts.lost, counts.stacks,
	       counts.frames, counts.nameless, usage.ru_maxrss >> 10);
	if (*map_path)
		printf("all=%lu few=%lu old=%lu\n", named[0], named[1], named[2]);
	return counts.samples != samples || counts.samples + counts.lost != fed ||
	       counts.stacks != entries[SPOOL_STACK] || counts.frames != entries[SPOOL_FRAME];
}

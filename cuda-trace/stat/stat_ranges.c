// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch says how many ranges of its thread were open, a range says when it ends how many were
 * around it: so each launch finds its node before anybody knows the range's name. The tool's one
 * thread.
 *
 * What can go wrong: 1. the agent sends what a thread did by groups, at most RING_RECORDS at a
 * time: a launch may come before the end of a range that was over by then. Launches in ranges are
 * held until so many more have come, or a range ends that was open. 2. the end of a range is lost,
 * and the next one takes its kernels: a launch that has fewer ranges around it, or a range that
 * began after the node's first launch, shows it; what is in such a node is reported as lost. 3.
 * ranges of two domains end in another order than they began: those further in move one place out.
 */
#include "cuda-trace/stat/stat_ranges.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS	     32	  /* as many as a launch can tell */
#define RING_RECORDS 1024 /* power of 2; RING_SLOTS of libcupti-usdt/emit/ring.h */
#define MAX_THREADS  128  /* with a range open */
#define PLACES	     4096 /* power of 2 */
#define MAX_RANGED   1024 /* processes at a time: 2 MiB each at most, a tenth of that most often */
/* Timestamps are converted when they are sent, and by a better measure of the clock from time to
 * time.
 */
#define DRIFT_NS 100000

struct held {
	uint64_t start;
	uint32_t correlation;
	uint8_t depth;
	bool graph;
};

struct thread {
	uint32_t tid;
	uint32_t first, count; /* of those held */
	struct range_node *levels[LEVELS];
	struct held held[RING_RECORDS];
};

struct stat_ranges {
	uint32_t *count; /* of all */
	struct range_tree *tree;
	struct thread *threads[MAX_THREADS];
	uint32_t thread_count;
	uint16_t places[PLACES]; /* of lines, by ids; 0 = free */
	struct stat_range_lines own;
};

static void set_kinds(struct stat_range_lines *lines)
{
	static const char *const names[] = {"[no range]", "[range not known]", "[other ranges]"};

	for (int i = 0; i < STAT_RANGE_NAMED; i++) {
		lines->lines[i].kind = i;
		strncpy(lines->lines[i].name, names[i], sizeof(lines->lines[i].name) - 1);
	}
	lines->count = STAT_RANGE_NAMED;
}

struct stat_ranges *stat_ranges__new(uint32_t *count)
{
	struct stat_ranges *ranges = *count < MAX_RANGED ? calloc(1, sizeof(*ranges)) : NULL;

	if (!ranges)
		return NULL;
	set_kinds(&ranges->own);
	ranges->tree = range_tree__new(STAT_RANGE_LOST);
	if (!ranges->tree) {
		free(ranges);
		return NULL;
	}
	ranges->count = count;
	++*count;
	return ranges;
}

void stat_ranges__free(struct stat_ranges *ranges)
{
	if (!ranges)
		return;
	for (uint32_t i = 0; i < ranges->thread_count; i++)
		free(ranges->threads[i]);
	range_tree__free(ranges->tree);
	--*ranges->count;
	free(ranges);
}

/* The line's number. */
static uint32_t line_of(struct stat_ranges *ranges, uint32_t text, uint32_t domain)
{
	uint32_t i = (text * 2654435761u ^ domain * 2246822519u) >> 16;
	struct stat_range_line *line;

	for (;; i++) {
		uint16_t *place = &ranges->places[i & (PLACES - 1)];

		line = &ranges->own.lines[*place];
		if (*place && line->text == text && line->domain == domain)
			return *place;
		if (*place)
			continue;
		if (ranges->own.count == STAT_RANGE_NAMED + STAT_MAX_RANGE_NAMES)
			return STAT_RANGE_OTHERS;
		*place = ranges->own.count++;
		line = &ranges->own.lines[*place];
		line->kind = STAT_RANGE_NAMED;
		line->text = text;
		line->domain = domain;
		return *place;
	}
}

static struct thread *find_thread(struct stat_ranges *ranges, uint32_t tid)
{
	for (uint32_t i = 0; i < ranges->thread_count; i++) {
		struct thread *thread = ranges->threads[i];

		if (thread->tid != tid)
			continue;
		/* What comes next is likely its own, too. */
		ranges->threads[i] = ranges->threads[0];
		return ranges->threads[0] = thread;
	}
	return NULL;
}

static struct thread *make_thread(struct stat_ranges *ranges, uint32_t tid)
{
	struct thread *thread = find_thread(ranges, tid);

	if (thread || ranges->thread_count == MAX_THREADS)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	ranges->threads[ranges->thread_count++] = thread;
	return thread;
}

/* Nothing of it is open or held: others need the space. */
static void drop_thread(struct stat_ranges *ranges, struct thread *thread)
{
	uint32_t i = 0;

	if (thread->count || thread->levels[0])
		return;
	while (ranges->threads[i] != thread)
		i++;
	ranges->threads[i] = ranges->threads[--ranges->thread_count];
	free(thread);
}

/* From this level on ranges have ended without a word. */
static void lose(struct stat_ranges *ranges, struct thread *thread, uint32_t level)
{
	for (uint32_t i = LEVELS; i-- > level;) {
		if (thread->levels[i])
			range_tree__name(ranges->tree, thread->levels[i], STAT_RANGE_LOST);
		thread->levels[i] = NULL;
	}
}

static void settle(struct stat_ranges *ranges, struct thread *thread)
{
	const struct held *held = &thread->held[thread->first++ & (RING_RECORDS - 1)];
	struct range_node *node = range_tree__root(ranges->tree);

	thread->count--;
	lose(ranges, thread, held->depth);
	for (uint32_t i = 0; node && i < held->depth; i++) {
		if (!thread->levels[i])
			thread->levels[i] = range_tree__open(ranges->tree, node, held->start);
		node = thread->levels[i];
	}
	if (!node)
		node = range_tree__named(ranges->tree, STAT_RANGE_LOST);
	range_tree__launch(ranges->tree, node, held->correlation, held->graph);
}

static void add_launch(struct stat_ranges *ranges, const struct cuda_launch *launch)
{
	uint32_t depth = launch->flags & CUDA_LAUNCH_RANGES ? launch->flags >> 2 & (LEVELS - 1) : 0;
	bool graph = launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH;
	struct thread *thread;

	/* The driver's launch below it counts. */
	if (launch->result || launch->domain == CUDA_DOMAIN_RUNTIME)
		return;
	thread = depth ? make_thread(ranges, launch->tid) : NULL;
	if (!thread) {
		range_tree__launch(ranges->tree,
				   depth ? range_tree__named(ranges->tree, STAT_RANGE_LOST)
					 : range_tree__root(ranges->tree),
				   launch->head.correlation, graph);
		return;
	}
	if (thread->count == RING_RECORDS)
		settle(ranges, thread);
	thread->held[(thread->first + thread->count++) & (RING_RECORDS - 1)] =
		(struct held){launch->start, launch->head.correlation, depth, graph};
}

/* What was further in goes on with one range less around it, as another node of the same range. */
static void move_out(struct stat_ranges *ranges, struct thread *thread, uint32_t level)
{
	struct range_node *around =
		level ? thread->levels[level - 1] : range_tree__root(ranges->tree);

	for (uint32_t i = level; i < LEVELS; i++) {
		struct range_node *was = i + 1 < LEVELS ? thread->levels[i + 1] : NULL,
				  *node = NULL;

		if (was && around)
			node = range_tree__open(ranges->tree, around, was->first);
		if (node)
			node->earlier = was;
		else if (was)
			range_tree__name(ranges->tree, was, STAT_RANGE_LOST);
		thread->levels[i] = node;
		around = node;
	}
}

/* Up to the last launch that was made in a range of this level before then. What has fewer ranges
 * around it may have come after it: times alone do not tell, see DRIFT_NS. */
static void settle_within(struct stat_ranges *ranges, struct thread *thread, uint32_t level,
			  uint64_t end)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < thread->count; i++) {
		const struct held *held = &thread->held[(thread->first + i) & (RING_RECORDS - 1)];

		if (held->start > end)
			break;
		if (held->depth > level)
			count = i + 1;
	}
	while (count--)
		settle(ranges, thread);
}

static void add_end(struct stat_ranges *ranges, const struct cuda_nvtx *range)
{
	struct thread *thread = find_thread(ranges, range->tid);
	uint32_t line = line_of(ranges, range->text, range->domain), level = range->depth;
	struct range_node *node;

	ranges->own.lines[line].entered++;
	if (!thread || level >= LEVELS)
		return;
	settle_within(ranges, thread, level, range->end);
	node = thread->levels[level];
	if (node && node->first + DRIFT_NS < range->start) {
		lose(ranges, thread, level);
	} else if (node) {
		move_out(ranges, thread, level);
		range_tree__name(ranges->tree, node, line);
	}
	drop_thread(ranges, thread);
}

void stat_ranges__record(struct stat_ranges *ranges, const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const void *)record;
	const struct cuda_graph *graph = (const void *)record;
	const struct cuda_nvtx *range = (const void *)record;

	if (!ranges)
		return;
	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		add_launch(ranges, (const void *)record);
		break;
	case CUDA_RECORD_KERNEL:
		range_tree__kernel(ranges->tree, record->correlation, 1,
				   kernel->end > kernel->start ? kernel->end - kernel->start : 0);
		break;
	case CUDA_RECORD_GRAPH:
		range_tree__kernel(ranges->tree, record->correlation, 0,
				   graph->end > graph->start ? graph->end - graph->start : 0);
		break;
	case CUDA_RECORD_NVTX:
		if (range->kind == 2)
			add_end(ranges, range);
		break;
	}
}

static void add_sums(struct range_sums *to, const struct range_sums *from)
{
	to->launches += from->launches;
	to->kernels += from->kernels;
	to->gpu_ns += from->gpu_ns;
}

/* A range in one of its own name has its kernels once. */
static void add_node(struct stat_range_lines *lines, const struct range_node *node, uint32_t *path,
		     uint32_t depth)
{
	path[depth] = node->line;
	add_sums(&lines->lines[node->line].self, &node->self);
	for (uint32_t i = 0; i <= depth; i++) {
		uint32_t again = 0;

		while (path[again] != path[i])
			again++;
		if (again == i && (path[i] != STAT_RANGE_NONE || !depth))
			add_sums(&lines->lines[path[i]].all, &node->self);
	}
	for (const struct range_node *child = node->children; child; child = child->next)
		add_node(lines, child, path, depth + 1);
}

static void finish(struct stat_ranges *ranges)
{
	uint32_t path[LEVELS + 2];

	for (uint32_t i = 0; i < ranges->thread_count; i++) {
		while (ranges->threads[i]->count)
			settle(ranges, ranges->threads[i]);
		lose(ranges, ranges->threads[i], 0);
	}
	range_tree__finish(ranges->tree);
	add_node(&ranges->own, range_tree__root(ranges->tree), path, 0);
}

static uint32_t hash(const struct stat_range_line *line)
{
	uint32_t h = 2166136261u;

	for (const char *at = line->name; *at; at++)
		h = (h ^ (unsigned char)*at) * 16777619u;
	for (const char *at = line->domain_name; *at; at++)
		h = (h ^ (unsigned char)*at) * 16777619u;
	return h;
}

static struct stat_range_line *sum_line(struct stat_range_lines *sum,
					const struct stat_range_line *key)
{
	struct stat_range_line *line = &sum->lines[key->kind];

	if (key->kind != STAT_RANGE_NAMED)
		return line;
	for (; line < &sum->lines[sum->count]; line++)
		if (line->hash == key->hash && !strcmp(line->name, key->name) &&
		    !strcmp(line->domain_name, key->domain_name))
			return line;
	if (sum->count == STAT_RANGE_NAMED + STAT_MAX_RANGE_NAMES)
		return &sum->lines[STAT_RANGE_OTHERS];
	sum->count++;
	*line = *key;
	line->entered = 0;
	line->self = line->all = (struct range_sums){};
	return line;
}

static void set_names(struct stat_range_line *line, const struct process *process)
{
	const char *name = line->text ? process__name(process, line->text) : "";
	const char *domain = line->domain ? process__name(process, line->domain) : "";

	strncpy(line->name, name ? name : "[no name]", sizeof(line->name) - 1);
	strncpy(line->domain_name, domain ? domain : "[no name]", sizeof(line->domain_name) - 1);
	line->hash = hash(line);
}

static bool is_there(struct stat_range_lines **sum)
{
	if (*sum)
		return true;
	*sum = calloc(1, sizeof(**sum));
	if (*sum)
		set_kinds(*sum);
	return *sum;
}

void stat_ranges__merge(struct stat_range_lines **sum, struct stat_ranges *of,
			const struct process *process, const struct range_sums *done)
{
	if (!is_there(sum))
		return;
	if (!of) {
		add_sums(&(*sum)->lines[STAT_RANGE_LOST].self, done);
		add_sums(&(*sum)->lines[STAT_RANGE_LOST].all, done);
		return;
	}
	finish(of);
	for (uint32_t i = 0; i < of->own.count; i++) {
		struct stat_range_line *from = &of->own.lines[i], *to;

		if (from->kind == STAT_RANGE_NAMED)
			set_names(from, process);
		to = sum_line(*sum, from);
		to->entered += from->entered;
		add_sums(&to->self, &from->self);
		add_sums(&to->all, &from->all);
	}
}

static int compare(const void *left, const void *right)
{
	const struct stat_range_line *a = left, *b = right;
	int names = strcmp(a->name, b->name);

	if (a->all.gpu_ns != b->all.gpu_ns)
		return a->all.gpu_ns < b->all.gpu_ns ? 1 : -1;
	if (a->all.launches != b->all.launches)
		return a->all.launches < b->all.launches ? 1 : -1;
	return names ? names : strcmp(a->domain_name, b->domain_name);
}

void stat_ranges__sort(struct stat_range_lines *lines)
{
	if (lines)
		qsort(lines->lines, lines->count, sizeof(lines->lines[0]), compare);
}

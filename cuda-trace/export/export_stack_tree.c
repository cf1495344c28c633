// SPDX-License-Identifier: BSD-2-Clause
/* Building the tree of GPU time. */
#include "cuda-trace/export/export_stack_tree.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/export/export_backward.h"
#include "cuda-trace/export/export_callstacks.h"
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/export/export_range_paths.h"
#include "cuda-trace/export/export_stack_samples.h"
#include "cuda-trace/report/report_graph_origins.h"
#include "cuda-trace/report/report_group.h"

static uint32_t child_at(struct stacks *stacks, uint32_t parent, const char *name, uint32_t line)
{
	uint64_t key = key_index__mix_text(parent, name) + line;
	ssize_t known = key_index__match(&stacks->index, key, i,
					 stacks->nodes[i].parent == parent &&
						 stacks->nodes[i].line == line &&
						 !strcmp(stacks->nodes[i].name, name));
	struct stacks_node *node;

	if (known >= 0)
		return known;
	if (!array_grow__for_one(stacks->nodes, stacks->capacity, stacks->count))
		return UINT32_MAX;
	node = &stacks->nodes[stacks->count];
	memset(node, 0, sizeof(*node));
	node->name = strdup(name);
	if (!node->name)
		return UINT32_MAX;
	node->stable = strlen(name);
	node->parent = parent;
	node->line = line;
	node->depth = stacks->count ? stacks->nodes[parent].depth + 1 : 0;
	/* Nobody looks for the root, which is no child. */
	if (stacks->count && !key_index__add(&stacks->index, key, stacks->count)) {
		free(node->name);
		return UINT32_MAX;
	}
	return stacks->count++;
}

uint32_t stacks__child(struct stacks *stacks, uint32_t parent, const char *name)
{
	return child_at(stacks, parent, name, 0);
}

void stacks__add(struct stacks *stacks, uint32_t node, uint64_t ns, uint64_t count)
{
	for (;; node = stacks->nodes[node].parent) {
		stacks->nodes[node].ns += ns;
		stacks->nodes[node].count += count;
		if (!node)
			return;
	}
}

/* A kernel of one GPU and stream, launched from one place of the host. */
struct leaf {
	const struct group *group;
	uint64_t ns, count;
};

struct reading {
	struct stacks *stacks;
	struct names_of_file *names;
	struct export_callstacks *callstacks; /* NULL = the file has none */
	struct range_paths *ranges;	      /* with --by range only */
	enum report_by by;
	bool graphs; /* kernels were in graphs */
	bool lines;  /* calls from other lines of a function are other nodes */
};

enum { KEY_PROCESS, KEY_DEVICE, KEY_STREAM, KEY_KERNEL, KEY_CHAIN };

static struct graph_origin origin_of(const struct group *group)
{
	return graph_origin__read(group->keys[KEY_CHAIN], group->null[KEY_CHAIN]);
}

/* Texts are copied: the tree outlives the file's names. Without memory the place is not known. */
static void note_place(struct stacks_node *node, const struct chain_place *place)
{
	node->inlined = place->inlined;
	if (node->module || !place->module)
		return;
	node->module = strdup(place->module);
	node->build_id = place->build_id ? strdup(place->build_id) : NULL;
	node->address = place->address;
	node->source = node->line && place->source ? strdup(place->source) : NULL;
}

static uint32_t add_missing(struct stacks *stacks, uint32_t node, const char *text)
{
	if (node != UINT32_MAX)
		node = stacks__child(stacks, node, text);
	if (node != UINT32_MAX)
		stacks->nodes[node].missing = true;
	return node;
}

static uint32_t add_not_found(struct stacks *stacks, uint32_t node, const char *what)
{
	char text[48];

	snprintf(text, sizeof(text), "[no %s]", what);
	return add_missing(stacks, node, text);
}

/* What --by names stands for the host's functions. */
static uint32_t add_origin(const struct reading *reading, uint32_t node, const struct group *group)
{
	static struct origin_path path; /* large */
	struct stacks *stacks = reading->stacks;
	struct graph_origin of = origin_of(group);
	const char *const *frames = NULL;
	size_t count = 0;

	path.count = 0;
	path.file = NULL;
	if (reading->by == REPORT_BY_KERNEL)
		return node;
	/* What replayed a graph is not what its kernels are of. */
	if (of.kind == ORIGIN_UNRECORDED)
		return add_missing(stacks, node, UNRECORDED_CREATION);
	if (reading->ranges && of.is_known)
		range_paths__get(reading->ranges, of.number, &path);
	if (reading->callstacks && of.is_known)
		frames = export_callstacks__frames(reading->callstacks, of.number, &count);
	if (frames)
		export_origins__of_frames(reading->by, frames,
					  export_callstacks__places(reading->callstacks, of.number),
					  count, &path);
	else if (!reading->ranges)
		return add_not_found(stacks, node, "stack");
	if (!path.count)
		return add_not_found(stacks, node, export_origins__name(reading->by));
	for (size_t i = 0; i < path.count && node != UINT32_MAX; i++) {
		node = stacks__child(stacks, node, path.names[i]);
		if (node != UINT32_MAX)
			note_place(&stacks->nodes[node],
				   &(struct chain_place){.module = path.file});
	}
	return node;
}

/* From the outermost function to the innermost. */
static uint32_t add_host_frames(const struct reading *reading, uint32_t node,
				const struct group *group)
{
	const struct chain_place *places = NULL;
	struct graph_origin of = origin_of(group);
	const char *const *frames = NULL;
	size_t count = 0;

	if (reading->by != REPORT_BY_NONE)
		return add_origin(reading, node, group);
	if (!reading->callstacks)
		return node;
	if (of.is_known) {
		frames = export_callstacks__frames(reading->callstacks, of.number, &count);
		places = export_callstacks__places(reading->callstacks, of.number);
	}
	if (!frames && of.kind != ORIGIN_UNRECORDED)
		return stacks__child(reading->stacks, node, "[no stack]");
	while (count && node != UINT32_MAX) {
		count--;
		node = child_at(reading->stacks, node, frames[count],
				reading->lines ? places[count].line : 0);
		if (node != UINT32_MAX)
			note_place(&reading->stacks->nodes[node], &places[count]);
	}
	if (of.kind == ORIGIN_UNRECORDED)
		node = add_missing(reading->stacks, node, UNRECORDED_CREATION);
	return node;
}

static uint32_t add_place(struct stacks *stacks, uint32_t node, const char *format, int64_t number)
{
	char text[48];

	if (node == UINT32_MAX)
		return node;
	snprintf(text, sizeof(text), format, (long long)number);
	node = stacks__child(stacks, node, text);
	if (node != UINT32_MAX)
		stacks->nodes[node].place = true;
	return node;
}

/* Each process is a node of its own; two runs of a program compare by its command. */
static uint32_t add_process(const struct reading *reading, int64_t global)
{
	struct stacks *stacks = reading->stacks;
	uint32_t node = stacks__child(stacks, 0, export_names__process(reading->names, global));

	if (node != UINT32_MAX)
		stacks->nodes[node].stable = strlen(export_names__command(reading->names, global));
	return node;
}

static int add_leaf(const struct reading *reading, const struct leaf *leaf)
{
	const struct group *group = leaf->group;
	struct stacks *stacks = reading->stacks;
	uint32_t node;

	node = add_process(reading, group->keys[KEY_PROCESS]);
	if (node != UINT32_MAX)
		node = add_host_frames(reading, node, group);
	node = add_place(stacks, node, "GPU %lld", group->keys[KEY_DEVICE]);
	node = add_place(stacks, node, "stream %lld", group->keys[KEY_STREAM]);
	if (node != UINT32_MAX)
		node = stacks__child(stacks, node,
				     export_names__string(reading->names, group->keys[KEY_KERNEL]));
	if (node == UINT32_MAX)
		return -ENOMEM;
	stacks->nodes[node].leaf = true;
	stacks->nodes[node].pid = group->keys[KEY_PROCESS] >> 24 & 0xffffff;
	stacks->nodes[node].device = group->keys[KEY_DEVICE];
	stacks->nodes[node].stream = group->keys[KEY_STREAM];
	stacks__add(stacks, node, leaf->ns, leaf->count);
	return 0;
}

/* In graphs or not, as kinds go: the stacks of nodes are no sample. */
static int by_group(const struct group *x, const struct group *y)
{
	int first = origin_of(x).kind, second = origin_of(y).kind;

	for (int i = 0; i < KEY_CHAIN; i++)
		if (x->keys[i] != y->keys[i])
			return x->keys[i] < y->keys[i] ? -1 : 1;
	return first - second;
}

/* The same kernels together, what has no chain last. */
static int by_kernel(const void *a, const void *b)
{
	const struct group *x = *(const struct group *const *)a;
	const struct group *y = *(const struct group *const *)b;
	struct graph_origin first = origin_of(x), second = origin_of(y);
	int order = by_group(x, y);

	if (order)
		return order;
	if (first.is_known != second.is_known)
		return first.is_known ? -1 : 1;
	return first.number < second.number ? -1 : first.number > second.number;
}

/* `part` of `whole`, of `total`; without a whole there is nothing to part. */
static uint64_t share_of(uint64_t total, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)total * part / whole) : 0;
}

/*
 * One kernel. Of all its runs the time is known, and of some the place they were launched from: it
 * is parted among those places as the known ones are. So sums over kernels, processes and GPUs are
 * exact whatever was sampled; only what stands between them is an estimate.
 */
static int add_kernel(const struct reading *reading, struct group *const *groups, size_t count)
{
	uint64_t ns = 0, runs = 0, known_ns = 0, known_runs = 0, seen_ns = 0, seen_runs = 0;
	bool scaled = export_callstacks__period(reading->callstacks) > 1;
	int err = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_known = origin_of(groups[i]).is_known;

		ns += groups[i]->durations.sum;
		runs += groups[i]->durations.count;
		known_ns += is_known ? groups[i]->durations.sum : 0;
		known_runs += is_known ? groups[i]->durations.count : 0;
	}
	for (size_t i = 0; i < count && !err; i++) {
		const struct durations *own = &groups[i]->durations;
		struct leaf leaf = {groups[i], own->sum, own->count};

		if (scaled && known_ns && !origin_of(groups[i]).is_known)
			continue;
		/* Differences of running sums, so that what is rounded off is not lost. */
		if (scaled && known_ns) {
			leaf.ns = share_of(ns, seen_ns + own->sum, known_ns) -
				  share_of(ns, seen_ns, known_ns);
			leaf.count = share_of(runs, seen_runs + own->count, known_runs) -
				     share_of(runs, seen_runs, known_runs);
		}
		seen_ns += own->sum;
		seen_runs += own->count;
		err = add_leaf(reading, &leaf);
	}
	return err;
}

static int add_kernels(const struct reading *reading, struct groups *groups)
{
	int err = 0;

	/* The index of the groups does not fit any more, and is not needed either. */
	qsort(groups->list, groups->count, sizeof(groups->list[0]), by_kernel);
	for (size_t i = 0, end; i < groups->count && !err; i = end) {
		for (end = i + 1; end < groups->count; end++)
			if (by_group(groups->list[i], groups->list[end]))
				break;
		err = add_kernel(reading, groups->list + i, end - i);
	}
	return err;
}

static int add_all(const struct reading *reading, struct groups *groups)
{
	int err = 0;

	if (reading->callstacks)
		return add_kernels(reading, groups);
	for (size_t i = 0; !err && i < groups->count; i++) {
		const struct durations *own = &groups->list[i]->durations;
		const struct leaf leaf = {groups->list[i], own->sum, own->count};

		err = add_leaf(reading, &leaf);
	}
	return err;
}

/* Each export reads the tree; it is said once. */
static void say_estimate(const struct report_file *file, const struct stacks *stacks)
{
	static bool said;

	if (stacks->period > 1 && !said && !file->marks_estimates)
		fprintf(stderr,
			"cuda-trace report: the host's stacks are of one in %u launches: times by "
			"function are estimates, those of kernels are exact\n",
			stacks->period);
	said = true;
}

static int read_callstacks(struct reading *reading, const struct report_file *file)
{
	int any = reading->by == REPORT_BY_KERNEL ? 0 : export_callstacks__of_launches(file);
	int err =
		any > 0 ? export_callstacks__open(&reading->callstacks, file, reading->names) : any;

	if (reading->callstacks) {
		reading->stacks->period = export_callstacks__period(reading->callstacks);
		reading->stacks->nameless = export_callstacks__nameless(reading->callstacks);
		say_estimate(file, reading->stacks);
	}
	if (!err && reading->callstacks && reading->by == REPORT_BY_LINE)
		err = export_backward__find_calls(file, reading->callstacks);
	return err;
}

static bool has_samples(const struct report_file *file)
{
	return report_file__has(file, "CUDA_TRACE_PC_STACKS", NULL) &&
	       report_file__any(file, "CUDA_TRACE_PC_STACKS") > 0;
}

#define KERNELS_SQL(origin)                                            \
	"SELECT globalPid, deviceId, streamId, demangledName, " origin \
	" AS chain, end - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL AS k"

static const char *kernels_sql(const struct reading *reading)
{
	if (reading->ranges)
		return reading->graphs ? KERNELS_SQL(RANGES_OF_K(RANGE_OF_K))
				       : KERNELS_SQL(LAUNCH_OF_K(RANGE_OF_K));
	if (reading->callstacks && reading->by == REPORT_BY_LINE)
		return reading->graphs ? KERNELS_SQL(STACK_OF_K(LINE_CHAIN_OF_K))
				       : KERNELS_SQL(LAUNCH_OF_K(LINE_CHAIN_OF_K));
	if (reading->callstacks)
		return reading->graphs ? KERNELS_SQL(STACK_OF_K(CHAIN_OF_K))
				       : KERNELS_SQL(LAUNCH_OF_K(CHAIN_OF_K));
	return "SELECT globalPid, deviceId, streamId, demangledName, end - start AS ns FROM "
	       "CUPTI_ACTIVITY_KIND_KERNEL";
}

/* Where the host's functions or ranges stand, with those of graphs. */
static int read_host(struct reading *reading, const struct report_file *file)
{
	int err = 0, any;

	if (reading->by != REPORT_BY_RANGE)
		err = read_callstacks(reading, file);
	if (err || (!reading->callstacks && reading->by != REPORT_BY_RANGE))
		return err;
	any = graph_origins__make(file);
	reading->graphs = any > 0;
	err = any < 0 ? any : 0;
	if (!err && reading->by == REPORT_BY_RANGE)
		err = range_paths__open(&reading->ranges, file, reading->names, reading->graphs);
	if (!err && reading->graphs && reading->callstacks)
		err = graph_origins__say_missing(file);
	return err;
}

static int read_tree(struct stacks *stacks, const struct report_file *file, bool lines)
{
	struct reading reading = {.stacks = stacks, .by = file->by, .lines = lines};
	struct groups groups = {0};
	int err;

	memset(stacks, 0, sizeof(*stacks));
	stacks->samples = has_samples(file);
	err = export_names__open(&reading.names, file);
	if (!err && !stacks->samples)
		err = read_host(&reading, file);
	if (!err && !stacks->samples && report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL))
		err = groups__read(&groups, file, kernels_sql(&reading));
	if (!err && stacks__child(stacks, 0, "all"))
		err = -ENOMEM;
	if (!err)
		err = stacks->samples ? stacks__read_samples(stacks, reading.names, file)
				      : add_all(&reading, &groups);
	groups__free(&groups);
	export_callstacks__close(reading.callstacks);
	range_paths__close(reading.ranges);
	export_names__close(reading.names);
	if (err)
		stacks__free(stacks);
	return err;
}

int stacks__read(struct stacks *stacks, const struct report_file *file)
{
	return read_tree(stacks, file, false);
}

int stacks__read_lines(struct stacks *stacks, const struct report_file *file)
{
	return read_tree(stacks, file, true);
}

void stacks__free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++) {
		free(stacks->nodes[i].name);
		free(stacks->nodes[i].module);
		free(stacks->nodes[i].build_id);
		free(stacks->nodes[i].source);
	}
	free(stacks->nodes);
	key_index__free(&stacks->index);
	memset(stacks, 0, sizeof(*stacks));
}

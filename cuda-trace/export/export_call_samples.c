// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host's call stacks in a timeline. Catapult takes the stack of an event from "sf", a key of
 * the file's "stackFrames". The Firefox Profiler and Chrome's own tools take call trees from V8's
 * sampled profiles, events "Profile" and "ProfileChunk": here a sample is a launch that has a
 * stack. Firefox keeps one sample in 500 us.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/report/report_times.h"

#define CHUNK 1024 /* samples in one event */

struct sample {
	uint32_t node;
	int64_t time;
};

struct sampled_thread {
	struct timeline *timeline;
	int64_t global, last; /* time of the last sample written; 0 = none yet */
	uint32_t number;      /* of the threads of the file, from 1 */
	uint32_t *written;    /* by node: the thread that it was last written for */
	uint32_t *path;	      /* at least as many nodes */
	size_t nodes, path_nodes;
	struct sample samples[CHUNK];
	size_t count;
	int error;
};

uint32_t timeline__stack_node(struct timeline *timeline, int64_t chain)
{
	struct timeline_stack *known = &timeline->known_stacks[(uint64_t)chain % TIMELINE_STACKS];
	struct stacks *tree = &timeline->call_tree;
	const char *const *frames;
	uint32_t node = 0;
	size_t count;

	if (known->node && known->chain == chain)
		return known->node;
	frames = timeline__frames(timeline, chain, &count);
	if (!frames || (!tree->count && stacks__child(tree, 0, "(root)") == UINT32_MAX))
		return 0;
	while (count && node != UINT32_MAX)
		node = stacks__child(tree, node, frames[--count]);
	if (node == UINT32_MAX)
		return 0;
	known->chain = chain;
	known->node = node;
	return node;
}

static void begin_event(struct sampled_thread *thread, const char *name, int64_t time)
{
	struct timeline *timeline = thread->timeline;

	timeline__begin_event(timeline);
	fprintf(timeline->out,
		"\"ph\": \"P\", \"cat\": \"disabled-by-default-v8.cpu_profiler\", \"name\": "
		"\"%s\", \"id\": \"0x%" PRIx32 "\", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ",
		name, thread->number, thread->global >> 24 & 0xffffff, thread->global & 0xffffff);
	timeline__put_us(timeline, "ts", report_times__sum(timeline->epoch, time));
	fputs(", \"args\": {\"data\": {", timeline->out);
}

static void put_node(struct timeline *timeline, uint32_t node)
{
	const struct stacks_node *at = &timeline->call_tree.nodes[node];

	fprintf(timeline->out, "{\"id\": %" PRIu32 ", ", node + 1);
	if (node)
		fprintf(timeline->out, "\"parent\": %" PRIu32 ", ", at->parent + 1);
	fputs("\"callFrame\": {", timeline->out);
	timeline__put_string(timeline, "functionName", at->name);
	fputs(", \"scriptId\": 0, \"url\": \"\", \"lineNumber\": -1, \"columnNumber\": -1}}",
	      timeline->out);
}

/* A node and those above it that this thread has not had, from the root on. A file of somebody
 * else's may have stacks of millions of frames, too deep to recurse. */
static void put_nodes(struct sampled_thread *thread, uint32_t node, bool *any)
{
	struct timeline *timeline = thread->timeline;
	size_t length = 0;

	while (thread->written[node] != thread->number) {
		thread->written[node] = thread->number;
		thread->path[length++] = node;
		node = timeline->call_tree.nodes[node].parent;
	}
	while (length) {
		fputs(*any ? ", " : "", timeline->out);
		*any = true;
		put_node(timeline, thread->path[--length]);
	}
}

/* The tree has grown since. */
static int grow_nodes(struct sampled_thread *thread, size_t nodes)
{
	if (!array_grow__to(thread->path, thread->path_nodes, nodes) ||
	    !array_grow__zeroed(thread->written, thread->nodes, nodes))
		return -ENOMEM;
	return 0;
}

static void flush_samples(struct sampled_thread *thread)
{
	struct timeline *timeline = thread->timeline;
	bool any = false;

	if (!thread->count)
		return;
	if (timeline->call_tree.count > thread->nodes)
		thread->error = grow_nodes(thread, timeline->call_tree.count);
	if (thread->error)
		return;
	begin_event(thread, "ProfileChunk", thread->samples[0].time);
	fputs("\"cpuProfile\": {\"nodes\": [", timeline->out);
	for (size_t i = 0; i < thread->count; i++)
		put_nodes(thread, thread->samples[i].node, &any);
	fputs("], \"samples\": [", timeline->out);
	for (size_t i = 0; i < thread->count; i++)
		fprintf(timeline->out, "%s%" PRIu32, i ? ", " : "", thread->samples[i].node + 1);
	fputs("]}, \"timeDeltas\": [", timeline->out);
	for (size_t i = 0; i < thread->count; i++) {
		int64_t delta = thread->samples[i].time - thread->last;

		fprintf(timeline->out, "%s%" PRId64 ".%03d", i ? ", " : "", delta / 1000,
			(int)(delta % 1000));
		thread->last = thread->samples[i].time;
	}
	fputs("]}}}", timeline->out);
	thread->count = 0;
}

static void begin_thread(struct sampled_thread *thread, int64_t global, int64_t time)
{
	struct timeline *timeline = thread->timeline;

	thread->global = global;
	thread->number++;
	thread->last = time;
	begin_event(thread, "Profile", time);
	timeline__put_us(timeline, "startTime", report_times__sum(timeline->epoch, time));
	fputs("}}}", timeline->out);
}

static void put_sample(struct sampled_thread *thread, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), time = sqlite3_column_int64(row, 1);
	uint32_t node = timeline__stack_node(thread->timeline, sqlite3_column_int64(row, 2));

	/* Rows of impossible times were counted where calls are written. */
	if (!node || !report_times__are_possible(time, time))
		return;
	if (!thread->number || global != thread->global) {
		flush_samples(thread);
		begin_thread(thread, global, time);
	}
	thread->samples[thread->count++] = (struct sample){node, time};
	if (thread->count == CHUNK)
		flush_samples(thread);
}

int timeline__put_call_samples(struct timeline *timeline)
{
	struct sampled_thread *thread;
	sqlite3_stmt *rows;
	int code, err;

	if (sqlite3_prepare_v2(timeline->file->db,
			       "SELECT globalTid, start, callchainId FROM "
			       "CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL "
			       "ORDER BY globalTid, start",
			       -1, &rows, NULL))
		return 0; /* stacks of something else */
	thread = calloc(1, sizeof(*thread));
	if (!thread) {
		sqlite3_finalize(rows);
		return -ENOMEM;
	}
	thread->timeline = timeline;
	while ((code = sqlite3_step(rows)) == SQLITE_ROW && !thread->error)
		put_sample(thread, rows);
	sqlite3_finalize(rows);
	flush_samples(thread);
	err = thread->error;
	if (!err && code != SQLITE_DONE)
		err = report_file__complain(timeline->file);
	free(thread->written);
	free(thread->path);
	free(thread);
	return err;
}

void timeline__put_stack_frames(struct timeline *timeline)
{
	const struct stacks *tree = &timeline->call_tree;

	fputs(",\n\"stackFrames\": {", timeline->out);
	for (size_t i = 1; i < tree->count; i++) {
		fprintf(timeline->out, "%s\n\"%zu\": {\"category\": \"host\", ", i > 1 ? "," : "",
			i);
		timeline__put_string(timeline, "name", tree->nodes[i].name);
		if (tree->nodes[i].parent)
			fprintf(timeline->out, ", \"parent\": \"%" PRIu32 "\"",
				tree->nodes[i].parent);
		putc('}', timeline->out);
	}
	putc('}', timeline->out);
}

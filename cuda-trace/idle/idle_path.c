// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps from one edge to the next of two sorted lists, the thread's calls and its waits. Used for
 * each gap. The order of precedence is in docs/internals/idle.md.
 */
#include "cuda-trace/idle/idle_path.h"

#include <string.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/idle/wait_causes.h"

/* Time on the CPU before the first sign of a thread is believed for so long: samples are 5 ms
 * apart. */
#define UNSEEN_NS 6000000

static struct idle_weight *weight_of(struct idle_path *path, enum idle_cause cause,
				     const char *text)
{
	struct idle_weight *weight = path->weights, *end = weight + path->count;

	for (; weight < end; weight++)
		if (weight->cause == cause && weight->text == text)
			return weight;
	if (path->count == IDLE_WEIGHTS_MAX)
		return end - 1;
	path->count++;
	*weight = (struct idle_weight){.cause = cause, .text = text};
	return weight;
}

void idle_path__add(struct idle_path *path, enum idle_cause cause, const char *text, uint64_t ns)
{
	if (ns)
		weight_of(path, cause, text)->ns += ns;
}

struct idle_weight *idle_path__longest(struct idle_path *path)
{
	struct idle_weight *longest = NULL;
	uint64_t sums[IDLE_CAUSE_COUNT] = {};
	enum idle_cause cause = 0;

	for (uint32_t i = 0; i < path->count; i++)
		sums[path->weights[i].cause] += path->weights[i].ns;
	for (uint32_t i = 0; i < IDLE_CAUSE_COUNT; i++)
		if (sums[i] > sums[cause])
			cause = i;
	for (uint32_t i = 0; i < path->count; i++)
		if (path->weights[i].cause == cause &&
		    (!longest || path->weights[i].ns > longest->ns))
			longest = &path->weights[i];
	return longest;
}

static uint32_t first_call(const struct idle_line *line, uint64_t after)
{
	return sorted__count_before(line->call_count, i, line->calls[i].end <= after);
}

const struct idle_call *idle_path__call_at(const struct idle_line *line, uint64_t time)
{
	uint32_t i = first_call(line, time);

	return i < line->call_count && line->calls[i].start <= time ? &line->calls[i] : NULL;
}

void idle_path__blame(struct idle_path *path, const char *call)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < path->count; i++)
		if (path->weights[i].cause == IDLE_CPU || path->weights[i].cause == IDLE_LAUNCH) {
			ns += path->weights[i].ns;
			path->weights[i].ns = 0;
		}
	idle_path__add(path, IDLE_CALL, call, ns);
}

static uint32_t first_span(const struct idle_line *line, uint64_t after)
{
	return sorted__count_before(line->span_count, i, line->spans[i].end <= after);
}

/* The agent's threads wake nobody: a timer did, at the moment in which one of them ran. */
static bool is_watched(const struct idle_known *known, const struct idle_span *span)
{
	struct idle_host *host;

	if (!span->other_tid || !strncmp(span->other, "cupti-", 6))
		return false;
	host = idle_timeline__host(known->timeline, span->other_pid);
	return host && idle_timeline__line(known->timeline, host, span->other_tid, false);
}

/* Without a wait it ran: if waits would be known. */
static bool runs(const struct idle_known *known, const struct idle_line *line, uint64_t from)
{
	uint64_t first = UINT64_MAX;

	if (!known->scheduler || (known->threads_left_out && !line->span_count))
		return false;
	if (line->seen)
		first = line->seen;
	if (first > from + UNSEEN_NS)
		return false;
	for (uint32_t i = 0; i < known->lossy_count; i++)
		if (known->lossy[i].from <= from && from < known->lossy[i].to)
			return false;
	return true;
}

/* Of a wait: until when it lasted before another task had the CPU. */
static uint64_t woken_at(const struct idle_span *span)
{
	if (span->state == IDLE_RUNNABLE)
		return span->start;
	return *span->rival && span->delay_ns <= span->end - span->start
		       ? span->end - span->delay_ns
		       : span->end;
}

static void add_wait(struct idle_path *path, const struct idle_known *known,
		     const struct idle_span *span, bool delayed, uint64_t ns)
{
	enum idle_cause cause =
		delayed ? IDLE_PREEMPTED : wait_causes__of(span, is_watched(known, span));
	struct idle_weight *weight;
	const char *text;
	char line[96];

	if (cause == IDLE_PREEMPTED)
		text = span->state == IDLE_RUNNABLE ? span->other : span->rival;
	else
		text = wait_causes__text(line, sizeof(line), span);
	text = idle_timeline__intern(known->timeline, text, strlen(text));
	weight = weight_of(path, cause, text);
	weight->ns += ns;
	/* For the GIL a thread waits 5 ms at a time: its holder is who ended the last of its waits.
	 */
	if (cause == IDLE_GIL_WAIT && is_watched(known, span)) {
		weight->span = span;
		weight->span_ns = UINT64_MAX;
	} else if (ns > weight->span_ns) {
		weight->span = span;
		weight->span_ns = ns;
	}
}

static void add_call(struct idle_path *path, const struct idle_known *known, struct idle_line *line,
		     const struct idle_call *call, uint64_t ns)
{
	struct idle_weight *weight;

	if (call->name == IDLE_LAUNCH_CALL) {
		idle_path__add(path, IDLE_LAUNCH, "", ns);
		return;
	}
	weight = weight_of(path, IDLE_CALL,
			   idle_host__name(known->timeline, line->host, call->name));
	weight->ns += ns;
	weight->call_start = call->start;
}

static void add_step(struct idle_path *path, const struct idle_known *known, struct idle_line *line,
		     const struct idle_call *call, const struct idle_span *span, uint64_t from,
		     uint64_t to)
{
	bool delayed = span && from >= woken_at(span);
	uint64_t ns = to - from, off = ns;

	/* Several short waits in one: on the CPU in between. */
	if (span && span->off_ns < span->end - span->start)
		off = (double)ns * span->off_ns / (span->end - span->start);
	if (span && (delayed || !call)) {
		add_wait(path, known, span, delayed, off);
		ns -= off;
	}
	if (!ns)
		return;
	if (call)
		add_call(path, known, line, call, ns);
	else
		idle_path__add(path, runs(known, line, from) ? IDLE_CPU : IDLE_UNEXPLAINED, "", ns);
}

static void bound(uint64_t *next, uint64_t at)
{
	if (at < *next)
		*next = at;
}

void idle_path__walk(struct idle_path *path, const struct idle_known *known, struct idle_line *line,
		     uint64_t from, uint64_t to)
{
	uint32_t c = first_call(line, from), s = first_span(line, from);

	while (from < to) {
		const struct idle_call *call = NULL;
		const struct idle_span *span = NULL;
		uint64_t next = to;

		while (c < line->call_count && line->calls[c].end <= from)
			c++;
		while (s < line->span_count && line->spans[s].end <= from)
			s++;
		if (c < line->call_count && line->calls[c].start <= from)
			call = &line->calls[c];
		if (s < line->span_count && line->spans[s].start <= from)
			span = &line->spans[s];
		if (c < line->call_count)
			bound(&next, call ? call->end : line->calls[c].start);
		if (s < line->span_count)
			bound(&next, span ? span->end : line->spans[s].start);
		if (span && from < woken_at(span))
			bound(&next, woken_at(span));
		add_step(path, known, line, call, span, from, next);
		from = next;
	}
}

/* Few samples are in one gap. */
uint32_t idle_path__sampled(const struct idle_line *line, uint64_t from, uint64_t to)
{
	uint32_t low = sorted__count_before(line->moment_count, i, line->moments[i].time < from),
		 best = 0, function = 0;

	for (uint32_t i = low; i < line->moment_count && i < low + 64; i++) {
		uint32_t votes = 0;

		if (line->moments[i].time > to)
			break;
		for (uint32_t j = i; j < line->moment_count && j < low + 64; j++)
			votes += line->moments[j].time <= to &&
				 line->moments[j].function == line->moments[i].function;
		if (line->moments[i].function && votes > best) {
			best = votes;
			function = line->moments[i].function;
		}
	}
	return function;
}

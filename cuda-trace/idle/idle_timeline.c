// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hash tables of processes and of their threads. What a process sends is bounded by the number of
 * threads and by idle.c, which forgets what it has explained when there is much.
 */
#include "cuda-trace/idle/idle_timeline.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/idle/open_launches.h"

#define HEADS	    4096
#define HOSTS_MAX   16384
#define LINES_MAX   65536
#define NAMES_MAX   1024 /* of calls of one process */
#define TEXTS_MAX   65536
#define TEXTS_BYTES (8u << 20)

struct idle_timeline {
	struct idle_host *hosts[HEADS];
	struct idle_line *lines[HEADS];
	uint32_t host_count, line_count;
	struct interned *texts;
	uint64_t dropped;
	bool provisional;
};

struct idle_timeline *idle_timeline__new(void)
{
	struct idle_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->texts = intern__new(TEXTS_MAX, TEXTS_BYTES);
	if (timeline->texts)
		return timeline;
	free(timeline);
	return NULL;
}

static void free_host(struct idle_host *host)
{
	free(host->names);
	free(host->origins);
	open_launches__free(host->open);
	free(host);
}

static void free_line(struct idle_line *line)
{
	free(line->calls);
	free(line->spans);
	free(line->moments);
	free(line);
}

void idle_timeline__free(struct idle_timeline *timeline)
{
	if (!timeline)
		return;
	for (uint32_t i = 0; i < HEADS; i++) {
		for (struct idle_host *host = timeline->hosts[i], *next; host; host = next) {
			next = host->next;
			free_host(host);
		}
		for (struct idle_line *line = timeline->lines[i], *next; line; line = next) {
			next = line->next;
			free_line(line);
		}
	}
	intern__free(timeline->texts);
	free(timeline);
}

struct idle_host *idle_timeline__host(struct idle_timeline *timeline, uint32_t pid)
{
	struct idle_host **head = &timeline->hosts[pid % HEADS], *host;

	for (host = *head; host; host = host->next)
		if (host->pid == pid)
			return host;
	if (timeline->host_count == HOSTS_MAX)
		return NULL;
	host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	host->pid = pid;
	host->next = *head;
	*head = host;
	timeline->host_count++;
	return host;
}

struct idle_line *idle_timeline__line(struct idle_timeline *timeline, struct idle_host *host,
				      uint32_t tid, bool add)
{
	struct idle_line **head = &timeline->lines[(host->pid * 31 + tid) % HEADS], *line;

	for (line = *head; line; line = line->next)
		if (line->host == host && line->tid == tid)
			return line;
	if (!add)
		return NULL;
	line = timeline->line_count < LINES_MAX ? calloc(1, sizeof(*line)) : NULL;
	if (!line) {
		timeline->dropped++;
		return NULL;
	}
	line->host = host;
	line->tid = tid;
	line->calls_sorted = true;
	line->next = *head;
	*head = line;
	timeline->line_count++;
	return line;
}

const char *idle_timeline__intern(struct idle_timeline *timeline, const char *text, size_t length)
{
	char copy[256];
	uint32_t number;

	length = strnlen(text, length < sizeof(copy) ? length : sizeof(copy) - 1);
	if (!length)
		return "";
	memcpy(copy, text, length);
	copy[length] = 0;
	number = intern__number(timeline->texts, copy, length + 1, NULL);
	return number ? intern__at(timeline->texts, number, NULL) : "";
}

void idle_timeline__call(struct idle_timeline *timeline, struct idle_line *line,
			 const struct idle_call *call)
{
	if (!array_grow__for_one(line->calls, line->call_size, line->call_count)) {
		timeline->dropped++;
		return;
	}
	if (line->call_count && line->calls[line->call_count - 1].start > call->start)
		line->calls_sorted = false;
	line->calls[line->call_count++] = *call;
}

static void note_seen(struct idle_line *line, uint64_t time)
{
	if (!line->seen || time < line->seen)
		line->seen = time;
}

static void add_span(struct idle_timeline *timeline, uint32_t pid, uint32_t tid,
		     const struct idle_span *span)
{
	struct idle_host *host = idle_timeline__host(timeline, pid);
	struct idle_line *line = host ? idle_timeline__line(timeline, host, tid, true) : NULL;

	/* A thread's waits come in order: what does not is of a thread whose number is used again,
	 * or nonsense. */
	if (!line || span->end < span->start ||
	    (line->span_count && line->spans[line->span_count - 1].end > span->start) ||
	    !array_grow__for_one(line->spans, line->span_size, line->span_count)) {
		timeline->dropped += !timeline->provisional;
		return;
	}
	line->provisional += timeline->provisional;
	note_seen(line, span->start);
	line->spans[line->span_count++] = *span;
}

void idle_timeline__wait(struct idle_timeline *timeline, const struct idle_wait *wait,
			 uint32_t function)
{
	const struct idle_span span = {
		.start = wait->start,
		.end = wait->end,
		.off_ns = wait->off_ns,
		.delay_ns = wait->delay_ns,
		.syscall = wait->syscall,
		.file = wait->file,
		.function = function,
		.mode = wait->mode,
		.state = wait->state,
		.other_pid = wait->other.pid,
		.other_tid = wait->other.tid,
		.other = idle_timeline__intern(timeline, wait->other.comm, IDLE_COMM_LEN),
		.rival = idle_timeline__intern(timeline, wait->rival.comm, IDLE_COMM_LEN),
		.name = idle_timeline__intern(timeline, wait->name, IDLE_FILE_LEN),
	};

	add_span(timeline, wait->pid, wait->tid, &span);
}

void idle_timeline__past(struct idle_timeline *timeline, const struct idle_past *past,
			 uint32_t function)
{
	const struct idle_span span = {
		.start = past->start,
		.end = past->end,
		.off_ns = past->off_ns,
		.delay_ns = past->delay_ns,
		.function = function,
		.state = past->state,
		.cause = past->cause,
		.other_pid = past->waker_pid,
		.other_tid = past->waker_tid,
		.other = idle_timeline__intern(timeline, past->waker, IDLE_COMM_LEN),
		.rival = idle_timeline__intern(timeline, past->rival, IDLE_COMM_LEN),
		.text = idle_timeline__intern(timeline, past->text, strlen(past->text)),
		.name = "",
	};

	add_span(timeline, past->pid, past->tid, &span);
}

void idle_timeline__sample(struct idle_timeline *timeline, const struct idle_sample *sample,
			   uint32_t function)
{
	struct idle_host *host = idle_timeline__host(timeline, sample->pid);
	struct idle_line *line =
		host ? idle_timeline__line(timeline, host, sample->tid, true) : NULL;
	if (!line || !array_grow__for_one(line->moments, line->moment_size, line->moment_count)) {
		timeline->dropped++;
		return;
	}
	note_seen(line, sample->time);
	line->moments[line->moment_count++] = (struct idle_moment){sample->time, function};
}

static struct idle_name *find_name(struct idle_host *host, uint32_t id)
{
	for (uint32_t i = 0; i < host->name_count; i++)
		if (host->names[i].id == id)
			return &host->names[i];
	return NULL;
}

const char *idle_host__name(struct idle_timeline *timeline, struct idle_host *host, uint32_t id)
{
	struct idle_name *name = find_name(host, id);
	const char *text;

	if (name)
		return name->text;
	if (!host->process)
		return "";
	text = process__pretty_name(host->process, id);
	text = idle_timeline__intern(timeline, text, strlen(text));
	/* "[name 7]": it may still come. */
	if (*text != '[' && host->name_count < NAMES_MAX &&
	    array_grow__counted(host->names, host->name_count))
		host->names[host->name_count++] = (struct idle_name){id, text};
	return text;
}

void idle_host__learn(struct idle_timeline *timeline, struct idle_host *host, uint32_t id,
		      const char *text)
{
	if (find_name(host, id) || host->name_count == NAMES_MAX ||
	    !array_grow__counted(host->names, host->name_count))
		return;
	host->names[host->name_count++] =
		(struct idle_name){id, idle_timeline__intern(timeline, text, strlen(text))};
}

void idle_host__leave(struct idle_timeline *timeline, struct idle_host *host)
{
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_line *line = timeline->lines[i]; line; line = line->next)
			for (uint32_t c = 0; line->host == host && c < line->call_count; c++)
				if (line->calls[c].name != IDLE_LAUNCH_CALL)
					idle_host__name(timeline, host, line->calls[c].name);
	host->process = NULL;
}

/* One that contains others before those. */
static int by_start(const void *left, const void *right)
{
	const struct idle_call *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* In order and apart: a driver call inside a runtime call has its correlation, and is dropped. */
static void sort_calls(struct idle_line *line)
{
	struct idle_call *calls = line->calls;
	uint32_t kept = 0;

	if (!line->calls_sorted)
		qsort(calls, line->call_count, sizeof(*calls), by_start);
	line->calls_sorted = true;
	for (uint32_t i = 0; i < line->call_count; i++)
		if (!kept || calls[i].end > calls[kept - 1].end)
			calls[kept++] = calls[i];
	line->call_count = kept;
}

static int by_correlation(const void *left, const void *right)
{
	const struct idle_origin *a = left, *b = right;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static void add_origins(struct idle_line *line)
{
	struct idle_host *host = line->host;
	if (!array_grow__to(host->origins, host->origin_size,
			    (size_t)host->origin_count + line->call_count))
		return;
	for (uint32_t i = 0; i < line->call_count; i++)
		host->origins[host->origin_count++] =
			(struct idle_origin){line->calls[i].correlation, i, line};
}

void idle_timeline__prepare(struct idle_timeline *timeline)
{
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_host *host = timeline->hosts[i]; host; host = host->next)
			host->origin_count = 0;
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_line *line = timeline->lines[i]; line; line = line->next) {
			sort_calls(line);
			add_origins(line);
		}
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_host *host = timeline->hosts[i]; host; host = host->next)
			if (host->origin_count)
				qsort(host->origins, host->origin_count, sizeof(*host->origins),
				      by_correlation);
}

const struct idle_origin *idle_host__origin(const struct idle_host *host, uint32_t correlation)
{
	uint32_t low = sorted__count_before(host->origin_count, i,
					    host->origins[i].correlation < correlation);

	return low < host->origin_count && host->origins[low].correlation == correlation
		       ? &host->origins[low]
		       : NULL;
}

#define FORGET(array, count, ended)                             \
	do {                                                    \
		uint32_t kept_ = 0;                             \
		for (uint32_t i_ = 0; i_ < (count); i_++)       \
			if ((array)[i_].ended >= before)        \
				(array)[kept_++] = (array)[i_]; \
		(count) = kept_;                                \
	} while (0)

void idle_timeline__forget(struct idle_timeline *timeline, uint64_t before)
{
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_line *line = timeline->lines[i]; line; line = line->next) {
			FORGET(line->calls, line->call_count, end);
			FORGET(line->spans, line->span_count, end);
			FORGET(line->moments, line->moment_count, time);
		}
}

void idle_timeline__provisional(struct idle_timeline *timeline, bool provisional)
{
	timeline->provisional = provisional;
	if (provisional)
		return;
	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_line *line = timeline->lines[i]; line; line = line->next) {
			line->span_count -= line->provisional;
			line->provisional = 0;
		}
}

static void prune_lines(struct idle_timeline *timeline, struct idle_line **at)
{
	while (*at) {
		struct idle_line *line = *at;

		if (line->kept || line->call_count || line->span_count || line->moment_count) {
			line->kept = false;
			line->host->kept = true;
			at = &line->next;
			continue;
		}
		*at = line->next;
		free_line(line);
		timeline->line_count--;
	}
}

static void prune_hosts(struct idle_timeline *timeline, struct idle_host **at)
{
	while (*at) {
		struct idle_host *host = *at;

		host->origin_count = 0;
		if (host->kept || host->process) {
			host->kept = false;
			at = &host->next;
			continue;
		}
		*at = host->next;
		free_host(host);
		timeline->host_count--;
	}
}

void idle_timeline__prune(struct idle_timeline *timeline)
{
	for (uint32_t i = 0; i < HEADS; i++)
		prune_lines(timeline, &timeline->lines[i]);
	for (uint32_t i = 0; i < HEADS; i++)
		prune_hosts(timeline, &timeline->hosts[i]);
}

size_t idle_timeline__size(const struct idle_timeline *timeline)
{
	size_t size = 0;

	for (uint32_t i = 0; i < HEADS; i++)
		for (struct idle_line *line = timeline->lines[i]; line; line = line->next)
			size += line->call_count + line->span_count + line->moment_count;
	return size;
}

uint64_t idle_timeline__dropped(const struct idle_timeline *timeline)
{
	return timeline->dropped;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread of the watched processes did: its CUDA calls, its waits, samples of its time on
 * the CPU. Appended as it comes; calls are put in order before they are read. One thread.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_TIMELINE_H
#define CUDA_TRACE_IDLE_IDLE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/idle.h"

struct open_launches;
struct process;

#define IDLE_LAUNCH_CALL 0 /* the name of a call that is a launch */

struct idle_call {
	uint64_t start, end;
	uint32_t correlation;
	uint32_t name; /* id of the process, IDLE_LAUNCH_CALL */
};

/* What a recording knows of a wait; of a sample start = end, and the state is 0. */
struct idle_past {
	uint32_t pid, tid, waker_pid, waker_tid;
	uint64_t start, end, off_ns, delay_ns;
	uint16_t state;
	uint8_t cause; /* enum idle_cause, unless a watched thread woke it */
	const char *text, *function, *waker, *rival; /* "" = none */
};

/* struct idle_wait, smaller: texts are interned. */
struct idle_span {
	uint64_t start, end;
	uint64_t off_ns, delay_ns;
	int32_t syscall, file;
	uint32_t function; /* as idle_functions.h numbers them; 0 = not known */
	uint32_t mode;
	uint32_t other_pid, other_tid;
	const char *other, *rival, *name; /* "" = none */
	const char *text;		  /* of a recording, which has no numbers; or NULL */
	uint16_t state;
	uint8_t cause; /* with a text: see struct idle_past */
};

struct idle_moment {
	uint64_t time;
	uint32_t function;
};

struct idle_host;

struct idle_line {
	struct idle_line *next; /* of the same hash */
	struct idle_host *host;
	uint32_t tid; /* in the process's own pid namespace */
	struct idle_call *calls;
	struct idle_span *spans;
	struct idle_moment *moments;
	uint32_t call_count, call_size;
	uint32_t span_count, span_size;
	uint32_t moment_count, moment_size;
	bool calls_sorted;
	uint64_t seen;	      /* since when something of it is known; 0 = only calls */
	uint32_t provisional; /* spans, the last ones: see idle_timeline__provisional() */
	bool kept;	      /* by idle_gaps.c, see idle_timeline__prune() */
};

/* A process: more exactly a pid, as an exec changes nothing for the scheduler. */
struct idle_host {
	struct idle_host *next; /* of the same hash */
	uint32_t pid;
	struct process *process; /* NULL = it has none now: it made no CUDA call, or has ended */
	struct idle_name {
		uint32_t id;
		const char *text; /* interned */
	} * names;
	uint32_t name_count;
	struct idle_origin {
		uint32_t correlation, call;
		struct idle_line *line;
	} * origins; /* calls by correlation; built when it is needed */
	uint32_t origin_count, origin_size;
	struct open_launches *open; /* NULL unless idle__follow() is called */
	bool kept;
};

struct idle_timeline;

struct idle_timeline *idle_timeline__new(void);
void idle_timeline__free(struct idle_timeline *timeline);
/* NULL: no memory, or too many. */
struct idle_host *idle_timeline__host(struct idle_timeline *timeline, uint32_t pid);
/* With `add` false: NULL where it has none. */
struct idle_line *idle_timeline__line(struct idle_timeline *timeline, struct idle_host *host,
				      uint32_t tid, bool add);
const char *idle_timeline__intern(struct idle_timeline *timeline, const char *text, size_t length);
void idle_timeline__call(struct idle_timeline *timeline, struct idle_line *line,
			 const struct idle_call *call);
void idle_timeline__wait(struct idle_timeline *timeline, const struct idle_wait *wait,
			 uint32_t function);
void idle_timeline__past(struct idle_timeline *timeline, const struct idle_past *past,
			 uint32_t function);
void idle_timeline__sample(struct idle_timeline *timeline, const struct idle_sample *sample,
			   uint32_t function);
/* Keeps the names of the process's calls: it ends. */
void idle_host__leave(struct idle_timeline *timeline, struct idle_host *host);
const char *idle_host__name(struct idle_timeline *timeline, struct idle_host *host, uint32_t id);
/* What a call is named, where the process does not know it. */
void idle_host__learn(struct idle_timeline *timeline, struct idle_host *host, uint32_t id,
		      const char *text);
/* Before the next two: puts calls in order, builds origins. */
void idle_timeline__prepare(struct idle_timeline *timeline);
/* The call with that correlation; NULL = none came. */
const struct idle_origin *idle_host__origin(const struct idle_host *host, uint32_t correlation);
/* Forgets what ended before that. */
void idle_timeline__forget(struct idle_timeline *timeline, uint64_t before);
/* Waits that are added between true and false have not ended: false takes them out again. */
void idle_timeline__provisional(struct idle_timeline *timeline, bool provisional);
/* Frees threads without records and processes without threads, but those that are marked as kept;
 * then nothing is marked. */
void idle_timeline__prune(struct idle_timeline *timeline);
/* Records that are kept, of all sorts. */
size_t idle_timeline__size(const struct idle_timeline *timeline);
/* Records that were not kept because memory, or a place for their thread, was missing. */
uint64_t idle_timeline__dropped(const struct idle_timeline *timeline);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread did between two points in time, by cause: each moment has one.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_PATH_H
#define CUDA_TRACE_IDLE_IDLE_PATH_H

#include "cuda-trace/idle/idle_causes.h"
#include "cuda-trace/idle/idle_timeline.h"

#define IDLE_WEIGHTS_MAX 64
#define IDLE_LOSSY_MAX	 256

/* What is known, and where it is not. */
struct idle_known {
	struct idle_timeline *timeline;
	bool scheduler;	       /* waits are */
	bool threads_left_out; /* those of some threads are not */
	struct {
		uint64_t from, to;
	} lossy[IDLE_LOSSY_MAX]; /* times of which waits were lost */
	uint32_t lossy_count;
	uint64_t late; /* operations that came when their time was explained already */
};

struct idle_weight {
	enum idle_cause cause;
	const char *text; /* interned; "" = none */
	uint64_t ns;
	const struct idle_span *span; /* the longest of it; NULL = none */
	uint64_t span_ns;
	uint64_t call_start; /* of a CUDA call: which one */
};

struct idle_path {
	struct idle_weight weights[IDLE_WEIGHTS_MAX];
	uint32_t count;
};

void idle_path__walk(struct idle_path *path, const struct idle_known *known, struct idle_line *line,
		     uint64_t from, uint64_t to);
void idle_path__add(struct idle_path *path, enum idle_cause cause, const char *text, uint64_t ns);
/* All of that time, whatever it was, was in a call: see idle_gaps.c. */
void idle_path__blame(struct idle_path *path, const char *call);
/* In which CUDA call the thread is at that time; NULL = in none. */
const struct idle_call *idle_path__call_at(const struct idle_line *line, uint64_t time);
/* The one with the most time; NULL = the path is empty. */
struct idle_weight *idle_path__longest(struct idle_path *path);
/* In which function most samples between two points are; 0 = not known. */
uint32_t idle_path__sampled(const struct idle_line *line, uint64_t from, uint64_t to);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counts.c can have counted of a kernel: hardware counters (range_profiler.c) or what each
 * instruction did (sass_profiler.c). One caller at a time (counters.c sees to that), on launching
 * threads inside their launch callback, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_COUNTER_COLLECTOR_H
#define LIBCUPTI_USDT_PROFILE_COUNTER_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_counters;
struct request;

/* What went wrong: CUPTI's result, in which of its functions, and with which metric or NULL. */
struct range_failure {
	int result;
	const char *function;
	const char *metric;
};

struct range_plan {
	char chip[32];
	uint32_t count; /* of metrics */
	const char *const *metrics;
	uint32_t sets;	 /* of metrics, each of which is for launches of its own; at least 1 */
	uint32_t set;	 /* that is used now */
	uint32_t first;	 /* of its metrics */
	uint32_t values; /* that a kernel has: as many as metrics of the set, or 0 */
	uint32_t passes;
};

struct range_metric {
	const char *unit, *description; /* CUPTI's, or NULL */
	int type;
};

struct collector {
	/* Why the libcupti in use cannot do what is requested; NULL: it can. On any thread. */
	const char *(*lack)(const struct request *request);
	/*
	 * Takes the request's metrics ("a,b,?c": one with a question mark is left out where the GPU
	 * lacks it; sets of them: "a,b;c", of which the first is used) and finds out how they are
	 * collected on that device. 0, or -1 and the failure; once a process.
	 */
	int (*prepare)(const struct request *request, uint32_t device,
		       struct range_failure *failure);
	const struct range_plan *(*plan)(void);
	/* Another set, from 0 on, for whatever is started next; nothing is. NULL: there is one. */
	void (*use)(uint32_t set);
	/* What CUPTI says of one of the plan's metrics. */
	void (*describe)(const char *metric, struct range_metric *description);
	/* Counts whatever is launched in that context until stop; may be called again before.
	 * 0, or 1: no further kernel can be
	 * counted, or -1: never call it again then. */
	int (*start)(void *context, struct range_failure *failure);
	/* The launch that start was called for has returned, well or not, in that stream. 0, or -1
	 * as above. NULL: nothing is to be done then. */
	int (*end)(void *context, void *stream, struct range_failure *failure);
	/* How often CUPTI was enabled since prepare, and with the next start in that context (NULL:
	 * so far). NULL: that is of no matter. */
	uint32_t (*opens)(void *context);
	/* How many kernels may follow each other before stop, each begun by a start of its own: at
	 * least 1. NULL: never more than that. */
	uint32_t (*capacity)(void *context);
	/* That many kernels ran since start, the last one in that stream. 1: each has values, or 0:
	 * some other number has, or -1 as above. */
	int (*stop)(void *context, void *stream, uint32_t kernels, struct range_failure *failure);
	/* Those of one of them, from 0 on, one for each metric; 0, or -1 as above. After stop came
	 * to 1, and only if the plan has values. */
	int (*values)(void *context, uint32_t which, double *values, struct range_failure *failure);
	/* Sends what belongs to a kernel beside its values; after stop came to 1. */
	void (*tell)(const struct cuda_counters *kernel);
	/* The context is about to go: CUPTI crashes when it is called for it again. Releases the
	 * GPU if no thread of the process is inside a launch. */
	void (*forget)(void *context, bool is_quiet);
	/* Releases the GPU; on the agent's thread, while no launch is under way. */
	void (*close)(void);
};

#endif

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The middle launch in windows against the middle launch between them, in the same processes at the
 * same time: a mean would be ruled by the few launches that wait for a full queue. The difference
 * times the launches of a second is what windows would cost if they were always open.
 *
 * What can go wrong: 1. noise lets the window jump: it grows one step at a time, and only after
 * enough launches of both kinds; it shrinks at once. 2. many threads: their launches count as if
 * one had made them all, which errs on the safe side.
 */
#include "cuda-trace/capture/overhead_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

#define DECIDE_NS  1000000000ull
#define ENOUGH	   64		       /* launches of each kind */
#define LONGEST_MS 500		       /* beyond it too few launches are left to compare with */
#define FINE	   AGGREGATE_SPAN_BITS /* steps in a power of two, as the kernel side has them */
#define BUCKETS	   AGGREGATE_SPANS

struct spans {
	uint64_t count;
	uint32_t buckets[BUCKETS];
};

struct overhead {
	struct overhead_finding finding;
	uint32_t every_ms;
	uint64_t since; /* ns */
	struct spans timed, plain;
	struct aggregate_spans before; /* the last counts of all launches */
};

struct overhead *overhead_limit__new(const struct sample *sample)
{
	struct overhead *overhead = sample->max_overhead > 0 ? calloc(1, sizeof(*overhead)) : NULL;

	if (!overhead)
		return NULL;
	overhead->finding.limit = sample->max_overhead;
	overhead->finding.on_ms = sample->on_ms;
	overhead->every_ms = sample->every_ms;
	overhead->since = monotonic__ns();
	return overhead;
}

void overhead_limit__free(struct overhead *overhead)
{
	free(overhead);
}

static unsigned int bucket_of(uint64_t ns)
{
	int power;

	if (ns < 1 << FINE)
		return ns;
	power = 63 - __builtin_clzll(ns);
	return (power - FINE + 1) << FINE | (ns >> (power - FINE) & ((1 << FINE) - 1));
}

static double bucket_start(unsigned int bucket)
{
	unsigned int power = bucket >> FINE, step = bucket & ((1 << FINE) - 1);

	return power ? (double)((1 << FINE) + step) * (double)(1ull << (power - 1)) : step;
}

static double middle(const struct spans *spans)
{
	double below = 0, half = spans->count / 2.0;

	for (unsigned int i = 0; i + 1 < BUCKETS; i++) {
		double in = spans->buckets[i], start = bucket_start(i);

		if (in && below + in >= half)
			return start + (bucket_start(i + 1) - start) * (half - below) / in;
		below += in;
	}
	return 0;
}

void overhead_limit__launch(struct overhead *overhead, const struct process *process,
			    const struct cuda_launch *launch)
{
	struct spans *spans;

	if (!overhead || process->source == EVENT_SOURCE_DRIVER || launch->result ||
	    launch->flags & CUDA_LAUNCH_HELD || launch->domain != CUDA_DOMAIN_DRIVER ||
	    launch->end < launch->start)
		return;
	spans = launch->flags & CUDA_LAUNCH_TIMED ? &overhead->timed : &overhead->plain;
	spans->count++;
	spans->buckets[bucket_of(launch->end - launch->start)]++;
}

void overhead_limit__spans(struct overhead *overhead, const struct aggregate_spans *sum)
{
	for (int stamped = 0; overhead && stamped < 2; stamped++) {
		struct spans *spans = stamped ? &overhead->timed : &overhead->plain;

		for (int i = 0; i < BUCKETS; i++) {
			uint32_t *before = &overhead->before.launches[stamped][i];
			uint32_t more = sum->launches[stamped][i] - *before;

			spans->count += more;
			spans->buckets[i] += more;
			*before = sum->launches[stamped][i];
		}
	}
}

/* What of a second launches would be longer by, were windows always open. */
static double measure(struct overhead *overhead, uint64_t ns)
{
	struct overhead_finding *finding = &overhead->finding;
	double plain = middle(&overhead->plain);
	uint64_t launches = overhead->timed.count + overhead->plain.count;

	finding->measured += overhead->timed.count;
	finding->launch_ns = plain;
	finding->added_ns = middle(&overhead->timed) - plain;
	return finding->added_ns > 0 ? (double)finding->added_ns * launches / ns : 0;
}

void overhead_limit__tick(struct overhead *overhead, struct session *session, const char *command)
{
	struct overhead_finding *finding = overhead ? &overhead->finding : NULL;
	uint64_t now = monotonic__ns();
	double whole, fits;
	uint32_t window;

	if (!overhead || now - overhead->since < DECIDE_NS || overhead->timed.count < ENOUGH ||
	    overhead->plain.count < ENOUGH)
		return;
	whole = measure(overhead, now - overhead->since);
	overhead->since = now;
	memset(&overhead->timed, 0, sizeof(overhead->timed));
	memset(&overhead->plain, 0, sizeof(overhead->plain));
	/* With nothing left, the shortest window. */
	fits = whole > 0 ? (finding->limit - finding->besides) / whole * overhead->every_ms
			 : LONGEST_MS;
	/* One step up at most: the steps of 1, 2, 5 are none of more than 2.5. */
	if (fits > finding->on_ms * 2.5)
		fits = finding->on_ms * 2.5;
	window = sample_options__window(fits < LONGEST_MS ? fits : LONGEST_MS);
	if (window != finding->on_ms && !session__set_cycle(session, window, 0)) {
		finding->on_ms = window;
		if (command)
			fprintf(stderr, "cuda-trace %s: windows of %u ms in %u ms now\n", command,
				window, overhead->every_ms);
	}
	finding->part = whole * finding->on_ms / overhead->every_ms;
}

void overhead_limit__besides(struct overhead *overhead, double part)
{
	if (overhead)
		overhead->finding.besides = part;
}

bool overhead_limit__finding(const struct overhead *overhead, struct overhead_finding *finding)
{
	if (overhead)
		*finding = overhead->finding;
	return overhead != NULL;
}

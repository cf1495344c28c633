/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums by cause, and by where it was.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_PLACES_H
#define CUDA_TRACE_IDLE_IDLE_PLACES_H

#include "cuda-trace/idle/idle_causes.h"

struct idle_functions;
struct idle_places;

/* All texts interned; functions as idle_functions.h numbers them. */
struct idle_place {
	enum idle_cause cause;
	const char *text;
	const char *waker;     /* "" = none */
	const char *meanwhile; /* what the waker did; "" = not known */
	uint32_t function, waker_function;
};

bool idle_place__is(const struct idle_place *a, const struct idle_place *b);
/* Untrusted; "" = nothing is known of it. */
void idle_place__write(char out[IDLE_PLACE_LEN], const struct idle_place *place,
		       struct idle_functions *functions);

struct idle_places *idle_places__new(void);
void idle_places__free(struct idle_places *places);
void idle_places__add(struct idle_places *places, const struct idle_place *place, uint64_t gap_ns,
		      uint64_t path_ns);
/* Longest first, "unexplained" last; how many. */
uint32_t idle_places__sums(const struct idle_places *places, struct idle_functions *functions,
			   struct idle_cause_sum sums[IDLE_CAUSE_COUNT]);

#endif

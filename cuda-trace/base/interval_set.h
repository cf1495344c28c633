/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals of time, sorted and without overlap; the last one may still be open. Bounded: of more
 * than 65536, the oldest are kept as a sum only. No locks; one thread.
 */
#ifndef CUDA_TRACE_BASE_INTERVAL_SET_H
#define CUDA_TRACE_BASE_INTERVAL_SET_H

#include <stdbool.h>
#include <stdint.h>

#define INTERVAL_OPEN UINT64_MAX

struct interval {
	uint64_t start, end; /* ns; an end of INTERVAL_OPEN: not known yet */
};

struct interval_set {
	struct interval *list;
	uint32_t count, capacity;
	uint64_t summed_count, summed_ns; /* of those that are not in the list any more, */
	uint64_t summed_until;		  /* and the end of the last of them */
};

void interval_set__free(struct interval_set *set);
/* An interval begins; joins the one before if they touch. */
void interval_set__open(struct interval_set *set, uint64_t start);
/* The open one ends. */
void interval_set__close(struct interval_set *set, uint64_t end);
bool interval_set__is_open(const struct interval_set *set);
/* A whole one, in any order. */
void interval_set__add(struct interval_set *set, uint64_t start, uint64_t end);
bool interval_set__covers(const struct interval_set *set, uint64_t time);
bool interval_set__overlaps(const struct interval_set *set, uint64_t start, uint64_t end);
/* Is all of it in one interval of the set? */
bool interval_set__contains(const struct interval_set *set, uint64_t start, uint64_t end);
/* The first part of *rest that is in the set; *rest becomes what lies behind it. False: none is. */
bool interval_set__next_part(const struct interval_set *set, struct interval *rest,
			     struct interval *part);
/* How many there were, and their length together. */
uint64_t interval_set__count(const struct interval_set *set);
uint64_t interval_set__length(const struct interval_set *set);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What top and metrics lost, by reason: those that the total of stat includes, and those of the
 * aggregate program. Each process that was not observed, or late, counts as one.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_LOST_H
#define CUDA_TRACE_LIVE_LIVE_LOST_H

#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/live/live.h"

struct live_loss {
	const char *key;
	const char *text;
	uint64_t count;
	bool in_total;
	bool is_processes; /* counts these, not records */
};

#define LIVE_LOST_MAX (CUDA_LOST_COUNT + SESSION_LOST_COUNT + LIVE_LOST_COUNT)

/* Every reason, also those with nothing lost; returns how many. What has a metric of its own
 * (names, killed processes, yields, files left out) is not among them. */
uint32_t live_lost__list(const struct live_state *state, struct live_loss rows[LIVE_LOST_MAX]);
uint64_t live_lost__total(const struct live_state *state);
/* Counters never fall, though a process may be found after all: `most` is what was reported so far.
 */
void live_lost__keep(struct session_lost_counts *lost, struct session_lost_counts *most);
/* One line for each process that was not observed, and for each reason; nothing if nothing was
 * lost.
 */
void live_lost__say(FILE *file, const struct live_state *state, const struct session *session);

#endif

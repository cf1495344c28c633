// SPDX-License-Identifier: BSD-2-Clause
/* Gaps that last, for commands that show them live. */
#include <string.h>
#include "cuda-trace/idle/idle_gaps_parts.h"
#include "cuda-trace/idle/open_launches.h"

#define PIECE_NS 1000000000	 /* a gap that lasts is explained in such pieces */
#define LONGEST	 600000000000ull /* of a kernel: see record_times.c */

/* The earliest time at which a GPU may have got work that is not known yet. */
static uint64_t may_work_from(const struct idle_gaps *gaps, uint32_t gpu, uint64_t until,
			      bool *used)
{
	*used = false;
	for (uint32_t i = 0; i < gaps->device_count; i++) {
		const struct device *device = &gaps->devices[i];
		uint64_t first;

		if (!memchr(device->gpu_of, gpu + 1, sizeof(device->gpu_of)))
			continue;
		*used = true;
		first = open_launches__first(device->host->open,
					     until > LONGEST ? until - LONGEST : 0);
		if (first < until)
			until = first;
	}
	return until;
}

/* It has a wait, or did something after that. */
static bool lives(const struct idle_line *line, uint64_t until)
{
	return line->provisional ||
	       (line->span_count && line->spans[line->span_count - 1].end > until) ||
	       (line->call_count && line->calls[line->call_count - 1].end > until);
}

void idle_gaps__check_last(const struct idle_gaps *gaps, struct gpu *gpu, uint64_t until)
{
	if (gpu->last && gaps->known.scheduler && !lives(gpu->last, until))
		gpu->last = NULL;
}

/* It is idle at least until then, and nothing says what will end that. */
static void explain_piece(struct idle_gaps *gaps, struct gpu *gpu, uint64_t until, bool present)
{
	if (present)
		idle_gaps__check_last(gaps, gpu, until);
	idle_gaps__explain(gaps, gpu, gpu->busy_until, until, NULL);
	gpu->whole_ns += until - gpu->busy_until;
	gpu->busy_until = until;
}

static void follow_gpu(struct idle_gaps *gaps, uint32_t index, uint64_t until, bool present)
{
	struct gpu *gpu = &gaps->gpus[index];
	bool used;
	uint64_t free_until = may_work_from(gaps, index, until, &used);

	idle_gaps__close_gpu(gaps, gpu, until);
	free_until = idle_gaps__pending(gpu, free_until);
	if (!gpu->busy_until)
		return;
	if (used) {
		if (gpu->busy_until + PIECE_NS < free_until)
			explain_piece(gaps, gpu, free_until, present);
		return;
	}
	if (gpu->count || until < gpu->left)
		return;
	gpu->busy_until = 0;
	gpu->last = NULL;
}

void idle_gaps__follow(struct idle_gaps *gaps, uint64_t until, bool present, uint64_t *before)
{
	uint64_t from = until;

	gaps->follows = true;
	idle_timeline__prepare(gaps->known.timeline);
	idle_gaps__place_waits(gaps, until);
	for (uint32_t i = 0; i < gaps->set.count; i++) {
		follow_gpu(gaps, i, until, present);
		if (gaps->gpus[i].busy_until && gaps->gpus[i].busy_until < from)
			from = gaps->gpus[i].busy_until;
	}
	*before = idle_gaps__needs(gaps, from, until);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every record has a number, and every loss a counter at the place where it happens. Seen and lost
 * together must be what was made: so no record is counted by two counters, and what is no record
 * (a name, a state, a device, all of which are sent again) is counted apart.
 */
#include "cuda-trace/capture/loss_sums.h"

#include <string.h>
#include "cuda-trace/base/names.h"
#include "cuda-trace/capture/losses.h"

static void note_total(struct process *process, uint32_t reason, uint64_t before, uint64_t total)
{
	uint64_t *known = &process->lost_known[reason];

	/* What was lost before the tool came is no loss of its own. */
	if (!(process->lost_noted & 1u << reason))
		*known = before;
	process->lost_noted |= 1u << reason;
	if (total <= *known)
		return;
	process->lost[reason] += total - *known;
	*known = total;
}

void loss_sums__note(struct process *process, uint32_t reason, uint64_t count, uint64_t total)
{
	if (reason < CUDA_LOST_COUNT && count <= total)
		note_total(process, reason, total - count, total);
}

void loss_sums__note_status(struct process *process)
{
	for (int reason = 0; reason < CUDA_LOST_COUNT; reason++)
		note_total(process, reason, process->status.lost[reason],
			   process->status.lost[reason]);
	if (process->status.state != CUDA_STATE_ENDED)
		return;
	/* The last status names what was sent: the last batch, too, is known to be missing then. */
	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		struct process_numbers *numbers = &process->numbers[group];
		uint64_t emitted = process->status.emitted[group];

		if (numbers->lowest != UINT64_MAX && emitted > numbers->next)
			numbers->next = emitted;
	}
}

void loss_sums__note_numbers(struct process *process, uint32_t group, uint64_t first,
			     uint32_t count)
{
	struct process_numbers *numbers = &process->numbers[group];

	numbers->received += count;
	if (first < numbers->lowest)
		numbers->lowest = first;
	if (first + count > numbers->next)
		numbers->next = first + count;
}

static uint64_t missed_of(const struct process_numbers *numbers)
{
	uint64_t numbered;

	if (numbers->lowest == UINT64_MAX || numbers->next < numbers->lowest)
		return 0;
	numbered = numbers->next - numbers->lowest;
	return numbered > numbers->received ? numbered - numbers->received : 0;
}

void loss_sums__add(struct loss_sums *sums, const struct process *process)
{
	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		sums->missed[group] += missed_of(&process->numbers[group]);
	for (int reason = 0; reason < CUDA_LOST_COUNT; reason++)
		sums->agent[reason] += process->lost[reason];
	sums->names += names__missing(process->names);
}

/* Launches without times are a loss to those who want times. */
static bool wants_times(uint32_t groups)
{
	return !groups || groups & (1u << CUDA_GROUP_KERNEL | 1u << CUDA_GROUP_SAMPLED_KERNEL |
				    1u << CUDA_GROUP_GRAPH | 1u << CUDA_GROUP_MEMCPY |
				    1u << CUDA_GROUP_SAMPLED_MEMCPY | 1u << CUDA_GROUP_MEMSET |
				    1u << CUDA_GROUP_SAMPLED_MEMSET);
}

void loss_sums__count(const struct loss_sums *sums, const struct stream_counters *kernel,
		      uint32_t groups, struct session_lost_counts *counts)
{
	uint64_t *lost = counts->session, *inside = counts->agent;

	memset(counts, 0, sizeof(*counts));
	memcpy(inside, sums->agent, sizeof(sums->agent));
	if (!wants_times(groups))
		inside[CUDA_LOST_PROFILED] = inside[CUDA_LOST_OTHER_LEFT] = 0;
	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		uint64_t known = kernel->ring_full[group] + kernel->unreadable[group];

		/* What the driver says of a device is sent each second. */
		if (group == CUDA_GROUP_DEVICE) {
			lost[SESSION_LOST_RING_FULL_NAMES] += known;
			continue;
		}
		lost[SESSION_LOST_RING_FULL] += kernel->ring_full[group];
		lost[SESSION_LOST_UNREADABLE] += kernel->unreadable[group];
		/* A batch that found no space leaves a gap in the numbers, too: count it once. */
		lost[SESSION_LOST_MISSED] +=
			sums->missed[group] > known ? sums->missed[group] - known : 0;
	}
	lost[SESSION_LOST_RING_FULL] += kernel->ring_full_collectives;
	lost[SESSION_LOST_RING_FULL_NAMES] += kernel->ring_full_other + kernel->unreadable_other;
	lost[SESSION_LOST_MALFORMED] = sums->malformed;
	lost[SESSION_LOST_KILLED] = sums->killed;
	lost[SESSION_LOST_STACKS] = kernel->stacks_ring_full + kernel->stacks_unreadable;
	lost[SESSION_LOST_DRIVER_UNKNOWN] = kernel->driver_unknown;
	lost[SESSION_LOST_NAMES] = sums->names;
	lost[SESSION_LOST_UNSENT] = sums->unsent;
	counts->total = losses__total(counts);
}

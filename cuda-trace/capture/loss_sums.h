/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of processes that have ended, and of those that run. Used by the dispatcher.
 */
#ifndef CUDA_TRACE_CAPTURE_LOSS_SUMS_H
#define CUDA_TRACE_CAPTURE_LOSS_SUMS_H

#include "cuda-trace/capture/session.h"

struct loss_sums {
	uint64_t agent[CUDA_LOST_COUNT];
	uint64_t missed[CUDA_GROUP_COUNT]; /* numbered, but never came */
	uint64_t names;
	uint64_t killed; /* processes */
	uint64_t unsent; /* records of killed processes */
	uint64_t malformed;
};

/* The agent reported `count` more losses, `total` since its load. Reports may get lost, too, but
 * the next total includes theirs. */
void loss_sums__note(struct process *process, uint32_t reason, uint64_t count, uint64_t total);
void loss_sums__note_status(struct process *process);
/* `count` records of a group arrived, with these numbers. */
void loss_sums__note_numbers(struct process *process, uint32_t group, uint64_t first,
			     uint32_t count);
void loss_sums__add(struct loss_sums *sums, const struct process *process);
/* `kernel` = the sums of the eBPF program's counters, `groups` = those that this session requested
 * (0: another one did). */
void loss_sums__count(const struct loss_sums *sums, const struct stream_counters *kernel,
		      uint32_t groups, struct session_lost_counts *counts);

#endif

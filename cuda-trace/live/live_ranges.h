/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of time, some 100 ms each, whose energy waits: what ran in them is known only when the
 * records of all processes are there, which may be seconds later. Used by live_shares.c, whose
 * lines these are; one thread.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_RANGES_H
#define CUDA_TRACE_LIVE_LIVE_RANGES_H

#include "bpf/aggregate.h"
#include "cuda-trace/live/live_energy.h"

#define LIVE_RANGES_NS 8000000000ull /* they wait so long */

struct live_ranges;

/* NULL: no memory, or no energy. The others accept NULL. owners: of the lines. */
struct live_ranges *live_ranges__new(struct live_energy *energy, const uint64_t *owners);
void live_ranges__free(struct live_ranges *ranges);
/* The range from the end of the one before it, in words. */
void live_ranges__begin(struct live_ranges *ranges, uint64_t from, uint64_t to);
/* In this range: points of a GPU, and of a line. */
void live_ranges__busy(struct live_ranges *ranges, uint32_t gpu, uint64_t points);
void live_ranges__line(struct live_ranges *ranges, uint32_t line, double points);
/* Points of a time that has been read already. */
void live_ranges__late(struct live_ranges *ranges, uint32_t line, double points);
/* Divides the energy of those that have waited long enough. */
void live_ranges__settle(struct live_ranges *ranges);
/* What a line got since the last call: joules. */
double live_ranges__joules(struct live_ranges *ranges, uint32_t line);
/* The line is nobody's from now on; no range from before this word may wait any more. */
bool live_ranges__are_past(const struct live_ranges *ranges, uint64_t word);
void live_ranges__forget(struct live_ranges *ranges, uint32_t line);

#endif

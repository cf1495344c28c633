// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is wrong with a set of recordings, in words. Everything else is still reported.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/merge/merge.h"

#define MAX_NAMED 8 /* ranks in a sentence */

const char *merge_rank__name(const struct merge *merge, uint32_t index, char text[128])
{
	const struct merge_rank *rank = &merge->ranks[index];
	char number[16] = "?";

	if (rank->rank >= 0)
		snprintf(number, sizeof(number), "%d", rank->rank);
	snprintf(text, 128, "rank %s (%s, pid %u)", number, merge->clocks[rank->clock].host,
		 rank->pid);
	return text;
}

void merge_problems__say(struct merge *merge, const char *kind, const char *format, ...)
{
	struct merge_problem *problem = &merge->problems[merge->problem_count];
	va_list values;

	if (merge->problem_count == MERGE_PROBLEMS) {
		merge->problems_left_out++;
		return;
	}
	merge->problem_count++;
	problem->kind = kind;
	va_start(values, format);
	vsnprintf(problem->text, sizeof(problem->text), format, values);
	va_end(values);
}

static const char *path_of(const struct merge *merge, uint32_t rank, char text[256])
{
	return text__show(text, 256, merge->files[merge->ranks[rank].file].path, 60);
}

static bool has_member(const struct nccl_comm *comm, int32_t number)
{
	for (uint32_t i = 0; i < comm->rank_count; i++)
		if (comm->ranks[i].rank == number)
			return true;
	return false;
}

static void find_missing(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->comms.count; i++) {
		const struct nccl_comm *comm = &merge->comms.list[i];
		char list[128] = "";
		size_t used = 0;
		int named = 0;

		if (!comm->size || comm->rank_count >= comm->size || comm->parent >= 0)
			continue;
		for (uint32_t k = 0; k < comm->size && named <= MAX_NAMED; k++) {
			if (has_member(comm, k))
				continue;
			used += snprintf(list + used, sizeof(list) - used,
					 named == MAX_NAMED ? ", ..." : "%s%u", named ? ", " : "",
					 k);
			named++;
		}
		merge_problems__say(merge, "ranks_missing",
				    "communicator %016" PRIx64
				    ": %u of %u ranks are in the recordings; missing: %s. Who is "
				    "late in its collectives is not known",
				    comm->id, comm->rank_count, comm->size, list);
	}
}

/* The group with most of the ranks is the run. */
static uint32_t largest_group(const struct merge *merge)
{
	uint32_t *sizes = calloc(merge->rank_count + 1, sizeof(*sizes)), best = 0;

	for (uint32_t i = 0; sizes && i < merge->rank_count; i++)
		sizes[merge->ranks[i].group]++;
	for (uint32_t i = 0; sizes && i < merge->rank_count; i++)
		if (sizes[i] > sizes[best])
			best = i;
	free(sizes);
	return best;
}

/* The run has a process for the same rank: it was restarted, see there. */
static bool is_restarted(const struct merge *merge, uint32_t index, uint32_t run)
{
	const struct merge_rank *of = &merge->ranks[index];

	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (merge->ranks[i].group == run && merge->ranks[i].rank == of->rank &&
		    merge->ranks[i].world == of->world && of->rank >= 0)
			return true;
	return false;
}

static void find_other_runs(struct merge *merge)
{
	uint32_t run = largest_group(merge);
	char shown[256], name[128];

	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (merge->ranks[i].calls && merge->ranks[i].group != run &&
		    !merge->ranks[i].repeats && !is_restarted(merge, i, run))
			merge_problems__say(merge, "other_run",
					    "%s: %s shares no communicator with the others: "
					    "another run, or what it shares was made before it "
					    "was recorded",
					    path_of(merge, i, shown),
					    merge_rank__name(merge, i, name));
}

static void find_repeated(struct merge *merge)
{
	char shown[256], name[128];

	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (merge->ranks[i].repeats)
			merge_problems__say(merge, "repeated",
					    "%s: another recording has the collectives of %s: a "
					    "copy? They count once",
					    path_of(merge, i, shown),
					    merge_rank__name(merge, i, name));
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct merge *merge = context;
	const struct merge_rank *left = &merge->ranks[*(const uint32_t *)a];
	const struct merge_rank *right = &merge->ranks[*(const uint32_t *)b];

	return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Ranks of one launch that are in several processes with collectives. */
static void find_restarted(struct merge *merge)
{
	uint32_t *order = calloc(merge->rank_count + 1, sizeof(*order)), count = 0, twice = 0;
	char first[128] = "", second[128] = "";

	for (uint32_t i = 0; order && i < merge->rank_count; i++)
		if (merge->ranks[i].calls && merge->ranks[i].rank >= 0 && !merge->ranks[i].repeats)
			order[count++] = i;
	if (count)
		qsort_r(order, count, sizeof(*order), by_rank, merge);
	for (uint32_t i = 1; i < count; i++) {
		const struct merge_rank *left = &merge->ranks[order[i - 1]];
		const struct merge_rank *right = &merge->ranks[order[i]];

		if (left->rank != right->rank || left->world != right->world)
			continue;
		if (!twice) {
			merge_rank__name(merge, order[i - 1], first);
			merge_rank__name(merge, order[i], second);
		}
		twice++;
	}
	free(order);
	if (twice)
		merge_problems__say(merge, "restarted",
				    "%u %s more than one process, such as %s and %s: restarted, or "
				    "recordings of several runs. Each process has its own row",
				    twice, twice == 1 ? "rank has" : "ranks have", first, second);
}

static void find_steps(struct merge *merge, const struct merge_clock *clock)
{
	for (int i = 1; i < clock->fit.count; i++) {
		int64_t step = clock_fit__step(&clock->fit, i);
		char size[16];

		merge_problems__say(merge, "clock_step",
				    "%s: its clock steps %s by %s, %.3f s after it booted: what "
				    "runs across that is wrong by as much",
				    clock->host, step < 0 ? "back" : "forward",
				    text__ns(size, llabs(step)), clock->fit.lines[i].from / 1e9);
	}
}

static bool has_calls(const struct merge *merge, uint32_t clock)
{
	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (merge->ranks[i].clock == clock && merge->ranks[i].calls)
			return true;
	return false;
}

static void find_clocks(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->clock_count; i++) {
		const struct merge_clock *clock = &merge->clocks[i];

		find_steps(merge, clock);
		if (!clock->aligned)
			merge_problems__say(
				merge, "not_aligned",
				"%s: %s: its clock is that of its wall clock, and may be wrong by "
				"any amount",
				clock->host,
				has_calls(merge, i) ? "no collective of it has kernels on the "
						      "aligned hosts, too"
						    : "it has no collectives");
		else if (clock->error < 0)
			merge_problems__say(merge, "few_collectives",
					    "%s: too few collectives to estimate the error of its "
					    "clock",
					    clock->host);
	}
}

void merge_problems__find(struct merge *merge)
{
	bool any = false;

	for (uint32_t i = 0; i < merge->rank_count; i++)
		any |= merge->ranks[i].calls != 0;
	if (merge->unreadable)
		merge_problems__say(merge, "unreadable", "%u of %u files could not be read",
				    merge->unreadable, merge->file_count);
	if (!any)
		merge_problems__say(merge, "no_collectives",
				    "no recording has collectives of NCCL (record -e collectives)");
	find_repeated(merge);
	find_restarted(merge);
	if (any)
		find_other_runs(merge);
	find_missing(merge);
	if (any && merge->clock_count > 1)
		find_clocks(merge);
	if (merge->apart)
		merge_problems__say(merge, "apart",
				    "%" PRIu64 " collectives end on a rank before another one "
				    "begins: their numbers differ between the ranks (lost calls?)",
				    merge->apart);
	if (merge->unknown)
		merge_problems__say(merge, "unknown_communicators",
				    "%" PRIu64 " calls are on communicators that were made before "
				    "they were recorded",
				    merge->unknown);
	if (merge->unmatched)
		merge_problems__say(merge, "unmatched",
				    "%" PRIu64
				    " kernels are of communicators that were made before "
				    "they were recorded, and which of them are one collective "
				    "could not be found out",
				    merge->unmatched);
	if (merge->left_out)
		merge_problems__say(merge, "left_out",
				    "%" PRIu64 " collectives are beyond the limit of this report",
				    merge->left_out);
}

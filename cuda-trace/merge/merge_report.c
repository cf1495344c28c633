// SPDX-License-Identifier: BSD-2-Clause
/* The sections, as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/collectives/collective_section.h"
#include "cuda-trace/merge/merge.h"

static struct cell ns_cell(double ns)
{
	return cell_if(ns >= 0 && isfinite(ns), cell_ns(llround(ns)));
}

/* How far the clock is ahead of the reference, in the middle of the run. */
static double offset_of(const struct merge *merge, const struct merge_clock *clock)
{
	const struct clock_line *line = &clock->fit.lines[clock->fit.count / 2];

	return clock->fit.count				   ? -line->ahead
	       : clock == &merge->clocks[merge->reference] ? 0
							   : NAN;
}

static double drift_of(const struct merge_clock *clock)
{
	return clock->fit.count ? -clock->fit.lines[clock->fit.count / 2].drift * 1e6 : NAN;
}

static void put_clock(struct sheet *sheet, const struct merge *merge,
		      const struct merge_clock *clock)
{
	double offset = offset_of(merge, clock), drift = drift_of(clock);
	bool reference = clock == &merge->clocks[merge->reference];
	char ahead[32] = "-", rate[32] = "-", error[32] = "unknown";

	if (!sheet__row(sheet, NULL))
		return;
	if (isfinite(offset))
		snprintf(ahead, sizeof(ahead), "%+.6f s", offset / 1e9);
	if (isfinite(drift))
		snprintf(rate, sizeof(rate), "%+.3f ppm", drift);
	if (reference)
		snprintf(error, sizeof(error), "reference");
	else if (!clock->aligned)
		snprintf(error, sizeof(error), "not aligned");
	else if (clock->error >= 0)
		text__ns(error, llround(clock->error));
	sheet__column(sheet, 0, "HOST", -24, "host", cell_text(clock->host));
	sheet__column(sheet, 1, "AHEAD", 18, NULL, cell_text(ahead));
	sheet__column(sheet, 2, "DRIFT", 12, NULL, cell_text(rate));
	sheet__column(sheet, 3, "ERROR", 12, NULL, cell_text(error));
	sheet__column(
		sheet, 4, "SPREAD", 8, "spread_ns",
		cell_if(clock->fit.count, ns_cell(clock->fit.lines[clock->fit.count / 2].spread)));
	sheet__column(sheet, 5, "COLLECTIVES", 11, "collectives", cell_count(clock->readings));
	sheet__put(sheet, "aligned", cell_bool(clock->aligned));
	sheet__put(sheet, "reference", cell_bool(reference));
	sheet__put(sheet, "ahead_ns", cell_if(isfinite(offset), cell_signed(llround(offset))));
	sheet__put(sheet, "drift_ppm", cell_real(drift));
	sheet__put(sheet, "error_ns", cell_if(clock->aligned, ns_cell(clock->error)));
	sheet__put(sheet, "steps", cell_number(clock->fit.count > 1 ? clock->fit.count - 1 : 0));
	sheet__row_end(sheet);
}

static void put_clocks(struct sheet *sheet, const struct merge *merge, uint64_t most)
{
	sheet__begin(sheet, "clocks", "Clocks of the hosts, from the ends of collectives", most);
	for (uint32_t i = 0; i < merge->clock_count; i++)
		put_clock(sheet, merge, &merge->clocks[i]);
	sheet__end(sheet);
}

static void put_problems(struct sheet *sheet, const struct merge *merge)
{
	if (merge->problem_count)
		sheet__say(sheet, "Problems\n");
	sheet__open(sheet, "problems", '[');
	for (uint32_t i = 0; i < merge->problem_count; i++) {
		const struct merge_problem *problem = &merge->problems[i];

		sheet__say(sheet, " %s\n", problem->text);
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "kind", cell_text(problem->kind));
		sheet__put(sheet, "text", cell_text(problem->text));
		sheet__close(sheet);
	}
	sheet__close(sheet);
	if (merge->problems_left_out)
		sheet__say(sheet, " and %u more\n", merge->problems_left_out);
	sheet__put(sheet, "problems_left_out", cell_number(merge->problems_left_out));
	if (merge->problem_count)
		sheet__say(sheet, "\n");
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct merge *merge = context;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct merge_rank *left = &merge->ranks[first], *right = &merge->ranks[second];

	if (left->rank != right->rank)
		return (uint32_t)left->rank < (uint32_t)right->rank ? -1 : 1;
	return (first > second) - (first < second);
}

static void put_rank(struct sheet *sheet, const struct merge *merge, uint32_t index)
{
	const struct merge_rank *rank = &merge->ranks[index];
	double share = rank->met ? (double)rank->last / rank->met : 0;

	if (!rank->calls && !rank->compute_ns && !rank->nccl_ns)
		return;
	if (!sheet__row(sheet, NULL))
		return;
	sheet__column(sheet, 0, "RANK", 5, "rank",
		      cell_if(rank->rank >= 0, cell_number(rank->rank)));
	sheet__column(sheet, 1, "HOST", -16, "host", cell_text(merge->clocks[rank->clock].host));
	sheet__column(sheet, 2, "PID", 8, "pid", cell_number(rank->pid));
	sheet__column(sheet, 3, "CALLS", 9, "calls", cell_count(rank->calls));
	sheet__column(sheet, 4, "BYTES", 11, "bytes", cell_bytes(rank->bytes));
	sheet__column(sheet, 5, "COMPUTE", 8, "compute_ns", cell_ns(rank->compute_ns));
	sheet__column(sheet, 6, "NCCL", 8, "nccl_ns", cell_ns(rank->nccl_ns));
	sheet__column(sheet, 7, "EXPOSED", 8, "exposed_ns", cell_ns(rank->exposed_ns));
	sheet__column(sheet, 8, "AFTER", 8, "after_ns",
		      cell_if(rank->met, ns_cell(rank->after_ns / rank->met)));
	sheet__column(sheet, 9, "LAST", 6, "last_share", cell_if(rank->met, cell_share(share)));
	sheet__column(sheet, 10, "BY", 8, "late_ns",
		      cell_if(rank->last, ns_cell(rank->late_ns / rank->last)));
	sheet__put(sheet, "compared", cell_number(rank->met));
	sheet__put(sheet, "last", cell_number(rank->last));
	sheet__put(sheet, "file", cell_text(merge->files[rank->file].path));
	sheet__row_end(sheet);
}

static void put_ranks(struct sheet *sheet, const struct merge *merge, uint64_t most)
{
	uint32_t *order = calloc(merge->rank_count + 1, sizeof(*order));
	char count[32], mean[16];

	for (uint32_t i = 0; order && i < merge->rank_count; i++)
		order[i] = i;
	if (order && merge->rank_count)
		qsort_r(order, merge->rank_count, sizeof(*order), by_rank, (void *)merge);
	sheet__begin(sheet, "ranks",
		     "\nRanks; exposed: NCCL without computation; after: the first to arrive, on "
		     "average;\nlast in so many collectives, where the others waited for it so "
		     "long",
		     most);
	for (uint32_t i = 0; order && i < merge->rank_count; i++)
		put_rank(sheet, merge, order[i]);
	sheet__end(sheet);
	sheet__put(sheet, "compared_collectives", cell_number(merge->met));
	sheet__put(sheet, "skew_ns",
		   cell_if(merge->met, cell_number(merge->skew_ns / (merge->met ?: 1))));
	if (merge->met)
		sheet__say(sheet,
			   " in %s collectives of all ranks, the last one arrives %s after the "
			   "first, on average\n",
			   text__count(count, merge->met),
			   text__ns(mean, merge->skew_ns / merge->met));
	free(order);
}

static void put_kernel(struct sheet *sheet, const struct merge *merge,
		       const struct merge_kernel *kernel)
{
	uint32_t slowest;
	double mean, middle = merge_kernel__compare(kernel, &slowest, &mean);
	const struct merge_rank *rank = &merge->ranks[slowest];

	if (!sheet__row(sheet, NULL))
		return;
	sheet__column(sheet, 0, "TOTAL", 8, "total_ns", cell_ns(kernel->ns));
	sheet__column(sheet, 1, "COUNT", 11, "count", cell_count(kernel->count));
	sheet__column(sheet, 2, "RANKS", 5, "ranks", cell_number(kernel->rank_count));
	sheet__column(sheet, 3, "MEDIAN", 8, "median_ns", ns_cell(middle));
	sheet__column(sheet, 4, "SLOWEST", 8, "slowest_ns", ns_cell(mean));
	sheet__column(sheet, 5, "RANK", 5, "slowest_rank",
		      cell_if(rank->rank >= 0, cell_number(rank->rank)));
	sheet__column(sheet, 6, "RATIO", 6, "ratio", cell_if(middle > 0, cell_real(mean / middle)));
	sheet__column(sheet, 7, "KERNEL", 0, "name", cell_text(kernel->name));
	sheet__row_end(sheet);
}

static void put_kernels(struct sheet *sheet, const struct merge *merge, uint64_t most)
{
	sheet__begin(sheet, "kernels",
		     "\nKernels; of the ranks' mean durations the median and the longest", most);
	/* Those of NCCL wait for other ranks. */
	for (uint32_t i = 0; i < merge->kernels.count; i++)
		if (!merge->kernels.list[i].nccl)
			put_kernel(sheet, merge, &merge->kernels.list[i]);
	sheet__end(sheet);
	sheet__put(sheet, "kernels_left_out", cell_number(merge->kernels.left_out));
	if (merge->kernels.left_out)
		sheet__say(sheet, " %" PRIu64 " kernels of further names are left out\n",
			   merge->kernels.left_out);
}

void merge_report__write(const struct merge *merge, FILE *out, bool json, uint64_t most)
{
	struct sheet sheet = {.file = out, .json = json, .plain = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "files", cell_number(merge->file_count));
	put_problems(&sheet, merge);
	put_clocks(&sheet, merge, most);
	put_ranks(&sheet, merge, most);
	merge_iteration_section__put(&sheet, merge, most);
	collective_section__put(&sheet, &merge->comms, most);
	put_kernels(&sheet, merge, most);
	sheet__close(&sheet);
	if (json)
		putc('\n', out);
}

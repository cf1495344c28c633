// SPDX-License-Identifier: BSD-2-Clause
/* The section of iterations: in text the longest ones, in JSON in their order. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/merge/merge.h"

#define MAX_LISTED 10000 /* in JSON */

static struct cell time_cell(double ns)
{
	return cell_ns(llround(fmin(ns, (double)MERGE_FAR)));
}

static struct cell rank_cell(const struct merge *merge, uint32_t rank)
{
	bool known = rank != MERGE_NO_RANK && merge->ranks[rank].rank >= 0;

	return cell_if(known, cell_number(merge->ranks[rank].rank));
}

static void put_iteration(struct sheet *sheet, const struct merge *merge,
			  const struct merge_iteration *of)
{
	bool compared = of->slowest != MERGE_NO_RANK, late = of->late != MERGE_NO_RANK;
	double imbalance = compared ? of->slowest_compute / of->compute : 1;
	char ratio[32];

	if (!sheet__row(sheet, NULL))
		return;
	snprintf(ratio, sizeof(ratio), "%.2f", imbalance);
	sheet__column(sheet, 0, "ITERATION", 9, "iteration", cell_number(of->number));
	sheet__column(sheet, merge->iterations.runs > 1 ? 1 : -1, "RUN", 3, "run",
		      cell_number(of->run));
	sheet__column(sheet, 2, "RANKS", 5, "ranks", cell_number(of->ranks));
	sheet__column(sheet, 3, "MEDIAN", 8, "median_ns", time_cell(of->median));
	sheet__column(sheet, 4, "LONGEST", 8, "longest_ns", time_cell(of->longest));
	sheet__column(sheet, 5, "COMPUTE", 8, "compute_ns", time_cell(of->compute));
	sheet__column(sheet, 6, "SLOWEST", 8, "slowest_compute_ns", time_cell(of->slowest_compute));
	sheet__column(sheet, 7, "RANK", 5, "slowest_rank", rank_cell(merge, of->slowest));
	sheet__column(sheet, 8, "RATIO", 6, NULL, cell_if(compared, cell_text(ratio)));
	sheet__put(sheet, "imbalance", cell_if(compared, cell_real(imbalance)));
	sheet__column(sheet, 9, "EXPOSED", 8, "exposed_ns", time_cell(of->exposed));
	sheet__column(sheet, 10, "MAX", 8, "longest_exposed_ns", time_cell(of->longest_exposed));
	sheet__column(sheet, 11, "SHARE", 6, "exposed_share",
		      cell_if(of->share >= 0, cell_share(of->share)));
	sheet__column(sheet, 12, "LATE", 5, "late_rank", rank_cell(merge, of->late));
	sheet__column(sheet, 13, "BY", 8, "late_ns", cell_if(late, time_cell(of->late_ns)));
	sheet__row_end(sheet);
}

static int by_length(const void *a, const void *b, void *context)
{
	const struct merge_iterations *iterations = context;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	double left = iterations->list[first].longest, right = iterations->list[second].longest;

	if (left != right)
		return left > right ? -1 : 1;
	return (first > second) - (first < second);
}

static void put_longest(struct sheet *sheet, const struct merge *merge)
{
	const struct merge_iterations *iterations = &merge->iterations;
	uint32_t *order = calloc(iterations->count + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < iterations->count; i++)
		order[i] = i;
	if (order && iterations->count)
		qsort_r(order, iterations->count, sizeof(*order), by_length, (void *)iterations);
	for (uint32_t i = 0; order && i < iterations->count; i++)
		put_iteration(sheet, merge, &iterations->list[order[i]]);
	free(order);
}

static void say_summary(struct sheet *sheet, const struct merge *merge)
{
	const struct merge_iterations *iterations = &merge->iterations;
	char count[32], length[16], name[128];

	sheet__say(sheet, " %s %s, %s long (median)", text__count(count, iterations->count),
		   iterations->count == 1 ? "iteration" : "iterations",
		   text__ns(length, llround(iterations->median)));
	if (iterations->share >= 0)
		sheet__say(sheet, "; exposed communication: %.1f %% (median)",
			   iterations->share * 100);
	if (iterations->slowest_count)
		sheet__say(sheet,
			   ";\n %s computes longest in %u of %u, by 2 %% of the mean or more",
			   merge_rank__name(merge, iterations->slowest, name),
			   iterations->slowest_count, iterations->compared);
	else if (iterations->compared)
		sheet__say(sheet, ";\n no rank computes longer than the mean by 2 %% or more");
	sheet__say(sheet, "\n");
}

/* What the reader would miss otherwise. */
static void say_limits(struct sheet *sheet, const struct merge *merge)
{
	const struct merge_iterations *iterations = &merge->iterations;

	if (iterations->with_steps < iterations->ranks)
		sheet__say(sheet, " ranks without such ranges: %u of %u\n",
			   iterations->ranks - iterations->with_steps, iterations->ranks);
	if (iterations->incomplete)
		sheet__say(sheet, " iterations that some ranks lack: %u of %u\n",
			   iterations->incomplete, iterations->count);
	if (!iterations->numbered)
		sheet__say(sheet, " matched by their order: the numbers in the names do not rise, "
				  "or there are none\n");
	if (merge->steps_left_out)
		sheet__say(sheet,
			   " %" PRIu64 " ranges are beyond the limit; the first ones of each rank "
			   "are compared\n",
			   merge->steps_left_out);
	if (iterations->left_out)
		sheet__say(sheet, " %" PRIu64 " iterations more than %d are left out\n",
			   iterations->left_out, MERGE_ITERATIONS);
}

void merge_iteration_section__put(struct sheet *sheet, const struct merge *merge, uint64_t most)
{
	const struct merge_iterations *iterations = &merge->iterations;
	uint32_t listed = iterations->count < MAX_LISTED ? iterations->count : MAX_LISTED;
	const char *matched = iterations->numbered ? "number" : "order";
	char shown[128];

	text__show(shown, sizeof(shown), merge->range, 40);
	sheet__put(sheet, "iteration_range", cell_text(merge->range));
	sheet__put(sheet, "iterations_matched_by", cell_if(iterations->count, cell_text(matched)));
	if (iterations->count)
		sheet__say(sheet, "\nIterations (NVTX ranges '%s'), the longest first;\n", shown);
	sheet__begin(sheet, "iterations",
		     "compute and exposed: mean, and the longest with its rank; share: exposed of "
		     "the\nGPUs' time; late: whom the others waited for most, in all its "
		     "collectives",
		     most);
	for (uint32_t i = 0; sheet->json && i < listed; i++)
		put_iteration(sheet, merge, &iterations->list[i]);
	if (!sheet->json)
		put_longest(sheet, merge);
	sheet__end(sheet);
	sheet__say_more(sheet);
	sheet__put(sheet, "iterations_left_out",
		   cell_number(iterations->left_out + iterations->count - listed));
	sheet__put(sheet, "iteration_ranges_left_out", cell_number(merge->steps_left_out));
	if (iterations->count) {
		say_summary(sheet, merge);
		say_limits(sheet, merge);
	} else if (iterations->ranks) {
		sheet__say(sheet,
			   "\nNo iterations: no NVTX range '%s' was recorded (record -e "
			   "kernels,collectives,nvtx;\n--step-range NAME: another one)\n",
			   shown);
	}
}

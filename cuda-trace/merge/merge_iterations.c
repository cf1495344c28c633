// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps of one number and run are an iteration. The run of a rank is what it shares communicators
 * with; a rank that shares none counts as one of the largest run.
 */
#include "cuda-trace/merge/merge_iterations.h"
#include <errno.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/merge/merge.h"

struct matching {
	struct merge *merge;
	uint32_t *runs;	  /* of ranks; MERGE_NO_RANK: it does not count */
	uint32_t *sizes;  /* of runs: ranks with steps */
	uint32_t *counts; /* of ranks: iterations in which it is the slowest */
	uint32_t *order;  /* indices of steps */
	uint32_t step_count;
	double *values;
};

/* As in the table of ranks; a copy of another rank's recording is not compared with it. */
static bool is_counted(const struct merge_rank *rank)
{
	return (rank->calls || rank->compute_ns || rank->nccl_ns) && !rank->repeats;
}

static void find_runs(struct matching *matching)
{
	const struct merge *merge = matching->merge;
	uint32_t *sizes = matching->sizes, largest = 0;

	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (is_counted(&merge->ranks[i]))
			sizes[merge->ranks[i].group]++;
	for (uint32_t i = 0; i < merge->rank_count; i++)
		if (sizes[i] > sizes[largest])
			largest = i;
	for (uint32_t i = 0; i < merge->rank_count; i++) {
		uint32_t group = merge->ranks[i].group;

		matching->runs[i] = !is_counted(&merge->ranks[i]) ? MERGE_NO_RANK
				    : sizes[group] > 1		  ? group
								  : largest;
	}
	for (uint32_t i = 0; i < merge->rank_count; i++)
		sizes[i] = 0;
}

static bool is_first(const struct merge *merge, uint32_t step)
{
	return !step || merge->steps[step - 1].rank != merge->steps[step].rank;
}

/* Lists the steps that count. */
static void collect(struct matching *matching)
{
	struct merge *merge = matching->merge;
	struct merge_iterations *iterations = &merge->iterations;

	iterations->numbered = true;
	for (uint32_t i = 0; i < merge->step_count; i++) {
		const struct merge_step *step = &merge->steps[i];

		if (step->rank == MERGE_NO_RANK || matching->runs[step->rank] == MERGE_NO_RANK)
			continue;
		if (is_first(merge, i)) {
			matching->sizes[matching->runs[step->rank]]++;
			iterations->with_steps++;
		}
		if (step->number < 0 || (!is_first(merge, i) && step->number <= step[-1].number))
			iterations->numbered = false;
		matching->order[matching->step_count++] = i;
	}
	for (uint32_t i = 0; i < merge->rank_count; i++)
		iterations->ranks += matching->runs[i] != MERGE_NO_RANK;
	for (uint32_t i = 0; i < merge->step_count && !iterations->numbered; i++)
		merge->steps[i].number = is_first(merge, i) ? 0 : merge->steps[i - 1].number + 1;
}

static int by_iteration(const void *a, const void *b, void *context)
{
	const struct matching *matching = context;
	const struct merge_step *left = &matching->merge->steps[*(const uint32_t *)a];
	const struct merge_step *right = &matching->merge->steps[*(const uint32_t *)b];
	uint32_t first = matching->runs[left->rank], second = matching->runs[right->rank];

	if (first != second)
		return first < second ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts them. */
static double median(double *values, uint32_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Of the steps in order[first, end). */
static struct merge_iteration compare(struct matching *matching, uint32_t first, uint32_t end)
{
	struct merge *merge = matching->merge;
	struct merge_iteration iteration = {
		.number = merge->steps[matching->order[first]].number,
		.ranks = end - first,
		.slowest = MERGE_NO_RANK,
		.late = MERGE_NO_RANK,
	};
	double time = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct merge_step *step = &merge->steps[matching->order[i]];

		matching->values[i - first] = step->length;
		iteration.compute += step->compute_ns;
		iteration.exposed += step->exposed_ns;
		time += (double)step->span * merge->ranks[step->rank].gpus;
		if (step->exposed_ns > iteration.longest_exposed)
			iteration.longest_exposed = step->exposed_ns;
		if (step->compute_ns > iteration.slowest_compute) {
			iteration.slowest_compute = step->compute_ns;
			iteration.slowest = step->rank;
		}
		if (step->held_ns > iteration.late_ns) {
			iteration.late_ns = step->held_ns;
			iteration.late = step->rank;
		}
	}
	if (iteration.ranks < 2)
		iteration.slowest = MERGE_NO_RANK;
	iteration.median = median(matching->values, iteration.ranks);
	iteration.longest = matching->values[iteration.ranks - 1];
	iteration.share = time > 0 ? iteration.exposed / time : -1;
	iteration.compute /= iteration.ranks;
	iteration.exposed /= iteration.ranks;
	return iteration;
}

static int add(struct matching *matching, uint32_t first, uint32_t end)
{
	struct merge_iterations *iterations = &matching->merge->iterations;
	struct merge_iteration iteration;
	uint32_t run = matching->runs[matching->merge->steps[matching->order[first]].rank];

	if (iterations->count == MERGE_ITERATIONS) {
		iterations->left_out++;
		return 0;
	}
	if (!array_grow__for_one(iterations->list, iterations->capacity, iterations->count))
		return -ENOMEM;
	iteration = compare(matching, first, end);
	iteration.run = iterations->runs - 1;
	iterations->incomplete += iteration.ranks < matching->sizes[run];
	if (iteration.slowest != MERGE_NO_RANK) {
		matching->counts[iteration.slowest] +=
			iteration.slowest_compute >= MERGE_NOTABLE * iteration.compute;
		iterations->compared++;
	}
	iterations->list[iterations->count++] = iteration;
	return 0;
}

static int add_all(struct matching *matching)
{
	struct merge *merge = matching->merge;
	const uint32_t *order = matching->order;
	uint32_t run = MERGE_NO_RANK;
	int err = 0;

	for (uint32_t i = 0, end; i < matching->step_count && !err; i = end) {
		const struct merge_step *step = &merge->steps[order[i]];

		for (end = i + 1; end < matching->step_count; end++)
			if (merge->steps[order[end]].number != step->number ||
			    matching->runs[merge->steps[order[end]].rank] !=
				    matching->runs[step->rank])
				break;
		merge->iterations.runs += matching->runs[step->rank] != run;
		run = matching->runs[step->rank];
		err = add(matching, i, end);
	}
	return err;
}

static int sum_up(struct matching *matching)
{
	struct merge_iterations *iterations = &matching->merge->iterations;
	double *values = calloc(iterations->count + 1, sizeof(*values));
	uint32_t known = 0;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < iterations->count; i++)
		values[i] = iterations->list[i].median;
	iterations->median = median(values, iterations->count);
	for (uint32_t i = 0; i < iterations->count; i++)
		if (iterations->list[i].share >= 0)
			values[known++] = iterations->list[i].share;
	iterations->share = known ? median(values, known) : -1;
	for (uint32_t i = 0; i < matching->merge->rank_count; i++)
		if (matching->counts[i] > iterations->slowest_count) {
			iterations->slowest_count = matching->counts[i];
			iterations->slowest = i;
		}
	free(values);
	return 0;
}

int merge_iterations__match(struct merge *merge)
{
	size_t ranks = merge->rank_count + 1;
	struct matching matching = {
		.merge = merge,
		.runs = calloc(ranks, sizeof(*matching.runs)),
		.sizes = calloc(ranks, sizeof(*matching.sizes)),
		.counts = calloc(ranks, sizeof(*matching.counts)),
		.order = calloc((size_t)merge->step_count + 1, sizeof(*matching.order)),
		.values = calloc(ranks, sizeof(*matching.values)),
	};
	int err = matching.runs && matching.sizes && matching.counts && matching.order &&
				  matching.values
			  ? 0
			  : -ENOMEM;

	if (!err) {
		find_runs(&matching);
		collect(&matching);
		if (matching.step_count)
			qsort_r(matching.order, matching.step_count, sizeof(*matching.order),
				by_iteration, &matching);
		err = add_all(&matching);
	}
	if (!err)
		err = sum_up(&matching);
	free(matching.runs);
	free(matching.sizes);
	free(matching.counts);
	free(matching.order);
	free(matching.values);
	if (err)
		fprintf(stderr, "cuda-trace: no memory to compare iterations\n");
	return err;
}

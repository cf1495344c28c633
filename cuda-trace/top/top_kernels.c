// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of one process's kernels. Called by the main loop.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/top/top_page.h"

#define CELLS 10 /* of the small histogram: 1 us, 4 us … 64 ms and above */

static int by_time(const void *left, const void *right)
{
	const struct top_kernel *a = *(struct top_kernel *const *)left;
	const struct top_kernel *b = *(struct top_kernel *const *)right;

	return (a->total.sum < b->total.sum) - (a->total.sum > b->total.sum);
}

/* Each character stands for a factor of four; its height for a share of the calls. */
static const char *small_histogram(char out[CELLS * 4], const struct histogram *histogram,
				   bool utf8)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ".", ":", ":", "-", "=", "+", "#"};
	uint64_t cells[CELLS] = {}, most = 1;

	/* Buckets up to 10 end at 1.024 us, the next two at 4.096 us, and so on. */
	for (int bucket = 0; bucket < AGGREGATE_BUCKETS; bucket++) {
		int cell = bucket <= 10 ? 0 : (bucket - 9) / 2;

		cells[cell < CELLS ? cell : CELLS - 1] += histogram->buckets[bucket];
	}
	for (int i = 0; i < CELLS; i++)
		most = cells[i] > most ? cells[i] : most;
	out[0] = 0;
	for (int i = 0; i < CELLS; i++) {
		int height = cells[i] * 8 / most;

		/* A single call is not nothing. */
		height += cells[i] && !height;
		strcat(out, utf8 ? blocks[height] : plain[height]);
	}
	return out;
}

static bool is_kernel_shown(const struct top_view *view, const struct top_kernel *kernel)
{
	return !*view->filter || (kernel->name && strcasestr(kernel->name, view->filter));
}

static struct top_kernel **sorted(struct top_process *process, const struct top_view *view,
				  int *count)
{
	struct top_kernel **kernels = calloc(process->kernel_count + 1, sizeof(*kernels));

	*count = 0;
	for (uint32_t i = 0; kernels && i < process->kernel_count; i++)
		if (is_kernel_shown(view, &process->kernels[i]))
			kernels[(*count)++] = &process->kernels[i];
	if (kernels)
		qsort(kernels, *count, sizeof(*kernels), by_time);
	return kernels;
}

static void draw_kernel(struct page *page, const struct top_kernel *kernel, uint64_t all,
			const struct top_view *view, enum line_style style)
{
	char total[16], mean[16], half[16], most[16], count[32], cells[CELLS * 4];
	char name[4 * LINE_COLUMNS + 4];
	const struct histogram *histogram = &kernel->total;
	int capacity = page->columns - 68;

	page__line(page, style, "%5.1f%% %8s %9s %8s %8s %8s %s %2u %s",
		   all ? 100.0 * histogram->sum / all : 0, text__ns(total, histogram->sum),
		   text__count(count, histogram->count),
		   text__ns(mean, histogram->count ? histogram->sum / histogram->count : 0),
		   text__ns(half, histogram__quantile(histogram, 0.5)),
		   text__ns(most, histogram__quantile(histogram, 0.99)),
		   small_histogram(cells, histogram, view->utf8), kernel->device,
		   text__show(name, sizeof(name), kernel->name ? kernel->name : "",
			      capacity > 8 ? capacity : 8));
}

void top_page__draw_kernels(struct page *page, struct top_model *model, struct top_view *view)
{
	struct top_process *process = top_model__find(model, view->pid);
	struct top_kernel **kernels;
	uint64_t all = 0;
	char comm[80], origin[ORIGIN_TEXT_SIZE], place[4 * 96], rank[32] = "";
	int count, end;

	if (!process) {
		page__line(page, LINE_WARNING, "process %u is gone", view->pid);
		return;
	}
	kernels = sorted(process, view, &count);
	for (uint32_t i = 0; i < process->kernel_count; i++)
		all += process->kernels[i].total.sum;
	if (process->rank.known)
		snprintf(rank, sizeof(rank), ", rank %u", process->rank.rank);
	page__line(page, LINE_PLAIN, "%u %s (%s%s%s%s%s)  kernels since it was first seen",
		   process->pid, text__show(comm, sizeof(comm), process->comm, 15), process->user,
		   *origin__text(&process->origin, origin) ? ", "
		   : *process->container		   ? ", container "
							   : "",
		   text__show(place, sizeof(place), top_page__origin(process, origin), 90), rank,
		   process->ended ? ", ended" : "");
	if (process->no_gpu)
		page__line(
			page, LINE_DIM,
			"no injection library in it: launches are counted, kernels are not seen");
	if (process->profiled)
		page__line(page, LINE_WARNING,
			   "PC samples are taken of it (profile --pc): no times meanwhile");
	page__line(page, LINE_HEADER, "%6s %8s %9s %8s %8s %8s %-10s %2s %s", "SHARE", "TOTAL",
		   "COUNT", "MEAN", "P50", "P99", "1us...64ms", "D", "KERNEL");
	top_page__settle(page, view, count);
	end = view->rows && view->first + view->rows < count ? view->first + view->rows : count;
	for (int i = view->first; kernels && i < end; i++)
		draw_kernel(page, kernels[i], all, view,
			    view->rows && i == view->selected ? LINE_SELECTED : LINE_PLAIN);
	free(kernels);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of devices and processes, and what all pages share. Called by the main loop.
 */
#include "cuda-trace/top/top_page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/live/live_lost.h"

#define WIDE   100 /* columns from which on there is space for the origin, */
#define ORIGIN 81  /* where it begins */

void page__line(struct page *page, enum line_style style, const char *format, ...)
{
	va_list arguments;

	if (!array_grow__for_one(page->lines, page->capacity, page->count))
		return;
	page->lines[page->count].style = style;
	va_start(arguments, format);
	vsnprintf(page->lines[page->count].text, sizeof(page->lines[0].text), format, arguments);
	va_end(arguments);
	page->count++;
}

void page__clear(struct page *page)
{
	page->count = 0;
}

void page__free(struct page *page)
{
	free(page->lines);
	*page = (struct page){};
}

void page__print(const struct page *page, FILE *file)
{
	for (int i = 0; i < page->count; i++)
		fprintf(file, "%s\n", page->lines[i].text);
}

static const char *const sort_words[] = {
#define SORT_WORD(name, word) word,
	TOP_SORTS(SORT_WORD)
#undef SORT_WORD
};

int top_sort__parse(const char *word, enum top_sort *sort)
{
	for (int i = 0; i < TOP_SORT_COUNT; i++)
		if (!strcmp(word, sort_words[i])) {
			*sort = i;
			return 0;
		}
	return -EINVAL;
}

/* 1234567 → "1.2M", at most 5 characters. */
static const char *short_number(char out[16], double number, double thousand)
{
	static const char units[] = " kMGTPE";
	int unit = 0;

	while (number >= 999.5 && units[unit + 1]) {
		number /= thousand;
		unit++;
	}
	if (!unit)
		snprintf(out, 16, "%.0f", number);
	else
		snprintf(out, 16, number < 9.95 ? "%.1f%c" : "%.0f%c", number, units[unit]);
	return out;
}

static const char *bar(char out[64], double percent, int width, bool utf8)
{
	int full = percent / 100 * width + 0.5;

	out[0] = 0;
	for (int i = 0; i < width; i++)
		strcat(out, i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
	return out;
}

/* In one line, if it fits; otherwise order and filter have a line of their own: if the filter could
 * not be seen, what is shown would be taken for all that there is. */
static void draw_title(struct page *page, const struct top_model *model,
		       const struct top_view *view)
{
	const unsigned int *sources = model->state.sources;
	char clock[16], driver[32] = "", title[128], chosen[128];
	time_t now = time(NULL);

	if (sources[LIVE_SOURCE_DRIVER])
		snprintf(driver, sizeof(driver), ", %u driver", sources[LIVE_SOURCE_DRIVER]);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	snprintf(title, sizeof(title),
		 "cuda-trace top  %s  %.1f s%s  processes: %u cupti%s, %u none", clock,
		 model->interval_ns / 1e9, view->paused ? " [paused]" : "",
		 sources[LIVE_SOURCE_CUPTI], driver, sources[LIVE_SOURCE_NONE]);
	snprintf(chosen, sizeof(chosen), "sort: %s%s%s", sort_words[view->sort],
		 *view->filter ? "  filter: " : "", view->filter);
	if (strlen(title) + 2 + strlen(chosen) <= (size_t)page->columns) {
		page__line(page, LINE_TITLE, "%s  %s", title, chosen);
	} else {
		page__line(page, LINE_TITLE, "%s", title);
		page__line(page, LINE_TITLE, "%s", chosen);
	}
}

/* "missed 12, ring_full 3": the reasons of lost records. */
static const char *reasons_of(const struct live_state *state, char *list, size_t size)
{
	struct live_loss rows[LIVE_LOST_MAX];
	uint32_t count = live_lost__list(state, rows);
	size_t length = 0;

	*list = 0;
	for (uint32_t i = 0; i < count && length < size; i++)
		if (rows[i].count && rows[i].in_total && !rows[i].is_processes)
			length += snprintf(list + length, size - length, "%s%s %llu",
					   length ? ", " : "", rows[i].key,
					   (unsigned long long)rows[i].count);
	return list;
}

static void draw_losses(struct page *page, const struct top_model *model)
{
	uint64_t unobserved = model->state.lost.session[SESSION_LOST_UNOBSERVED];
	uint64_t late = model->state.lost.session[SESSION_LOST_LATE];
	uint64_t records = top_model__lost(model) - unobserved - late;
	char reasons[200];

	if (records)
		page__line(page, LINE_WARNING, "%llu records were lost (%s): figures are too low",
			   (unsigned long long)records,
			   reasons_of(&model->state, reasons, sizeof(reasons)));
	if (unobserved)
		page__line(page, LINE_WARNING,
			   "%llu process%s not observed: figures are too low (unobserved)",
			   (unsigned long long)unobserved, unobserved == 1 ? " is" : "es are");
	if (late)
		page__line(page, LINE_WARNING,
			   "%llu process%s observed late: figures are too low (observed_late)",
			   (unsigned long long)late, late == 1 ? " was" : "es were");
}

static void draw_head(struct page *page, const struct top_model *model, const struct top_view *view)
{
	draw_title(page, model, view);
	if (model->sample_on_ms)
		page__line(page, LINE_PLAIN,
			   "GPU times are taken for %u ms in every %u ms: %s are estimates",
			   model->sample_on_ms, model->sample_every_ms,
			   model->idle.idle ? "kernels" : "kernels and copies");
	draw_losses(page, model);
	if (left_out__sum(&model->state.left_out))
		page__line(page, LINE_WARNING,
			   "%llu files or processes are left out, first of user %u: %s",
			   (unsigned long long)left_out__sum(&model->state.left_out),
			   model->state.left_out.groups[0].user,
			   model->state.left_out.groups[0].reason);
}

static void draw_devices(struct page *page, const struct top_model *model,
			 const struct top_view *view)
{
	char gauge[64], memory[16], launches[16], name[128], cause[40] = "";
	double ns = model->interval_ns ? model->interval_ns : 1;
	int width = model->idle.idle ? 10 : 20;

	page__line(page, LINE_HEADER, "%3s  %-20s %5s %-*s %5s %6s %9s%s", "GPU", "NAME", "BUSY",
		   width, "", "COPY", "MEMORY", "LAUNCH/s", model->idle.idle ? " WHY IDLE" : "");
	for (int i = 0; i < TOP_ROWS; i++) {
		const struct top_device *device = &model->devices[i];
		double busy = 100 * device->busy_ns / ns;

		if (!device->seen)
			continue;
		if (model->idle.idle) {
			cause[0] = ' ';
			top_page__main_cause(cause + 1, model, device);
		}
		page__line(page, LINE_PLAIN, "%3u  %-20s %4.0f%% %s %4.0f%% %6s %9s%s",
			   device->number, text__show(name, sizeof(name), device->name, 20), busy,
			   bar(gauge, busy, width, view->utf8), 100 * device->copy_ns / ns,
			   short_number(memory, device->live_bytes, 1024),
			   short_number(launches, device->launches / (ns / 1e9), 1000), cause);
	}
	page__line(page, LINE_PLAIN, "%s", "");
}

const char *top_page__origin(const struct top_process *process, char text[ORIGIN_TEXT_SIZE])
{
	if (!*origin__text(&process->origin, text))
		snprintf(text, ORIGIN_TEXT_SIZE, "%s", process->container);
	return text;
}

bool top_page__is_shown(const struct top_view *view, const struct top_process *process)
{
	char origin[ORIGIN_TEXT_SIZE];

	/* Slot 0 is there for those that find no space. */
	if (!process->pid && !process->total.launches && !process->total.kernels.count)
		return false;
	return !*view->filter || strcasestr(process->comm, view->filter) ||
	       strcasestr(process->user, view->filter) ||
	       strcasestr(process->container, view->filter) ||
	       strcasestr(top_page__origin(process, origin), view->filter);
}

struct row {
	const struct top_process *process;
	struct top_figures figures;
	const struct top_view *view;
};

static int compare_numbers(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = 0;

	switch (a->view->sort) {
	case TOP_SORT_GPU:
		order = compare_numbers(a->figures.gpu, b->figures.gpu);
		break;
	case TOP_SORT_LAUNCHES:
		order = a->view->graphs ? compare_numbers(a->figures.graphs, b->figures.graphs)
					: compare_numbers(a->figures.launches, b->figures.launches);
		break;
	case TOP_SORT_COPY:
		order = compare_numbers(a->figures.copied, b->figures.copied);
		break;
	case TOP_SORT_MEMORY:
		order = compare_numbers(a->process->live_bytes, b->process->live_bytes);
		break;
	case TOP_SORT_WAIT:
		order = compare_numbers(a->figures.wait, b->figures.wait);
		break;
	case TOP_SORT_ERRORS:
		order = compare_numbers(a->figures.errors, b->figures.errors);
		break;
	case TOP_SORT_NAME:
		order = strcmp(a->process->comm, b->process->comm);
		break;
	default:
		break;
	}
	if (!order)
		order = (a->process->pid > b->process->pid) - (a->process->pid < b->process->pid);
	return a->view->reverse ? -order : order;
}

static struct row *make_rows(struct top_model *model, const struct top_view *view, int *count)
{
	struct row *rows;
	int n = 0;

	for (struct top_process *process = model->processes; process; process = process->next)
		n++;
	rows = calloc(n ? n : 1, sizeof(*rows));
	*count = 0;
	for (struct top_process *process = model->processes; rows && process;
	     process = process->next) {
		if (!top_page__is_shown(view, process))
			continue;
		rows[*count].process = process;
		rows[*count].view = view;
		top_model__figures(model, process, &rows[(*count)++].figures);
	}
	if (rows)
		qsort(rows, *count, sizeof(*rows), compare);
	return rows;
}

static const char *source(const struct top_process *process)
{
	if (process->ended)
		return "ended";
	return process->profiled ? "pc" : process->source;
}

static void draw_row(struct page *page, const struct row *row, enum line_style style)
{
	const struct top_process *process = row->process;
	char comm[80], user[80], launches[16], copied[16], memory[16], errors[16],
		origin[ORIGIN_TEXT_SIZE];
	char gpu[16] = "-", place[4 * LINE_COLUMNS] = " ";
	double rate = row->view->graphs ? row->figures.graphs : row->figures.launches;

	if (page->columns >= WIDE)
		text__show(place + 1, sizeof(place) - 1, top_page__origin(process, origin),
			   page->columns - ORIGIN);
	if (!process->no_gpu && !process->profiled)
		snprintf(gpu, sizeof(gpu), "%.1f", row->figures.gpu);
	page__line(page, style, "%7u %-15s %-8s %5s %8s %6s %6s %5.2f %5s %-6s%s", process->pid,
		   text__show(comm, sizeof(comm), process->comm, 15),
		   text__show(user, sizeof(user), process->user, 8), gpu,
		   short_number(launches, rate, 1000),
		   short_number(copied, row->figures.copied, 1000),
		   short_number(memory, process->live_bytes, 1024), row->figures.wait,
		   short_number(errors, row->figures.errors, 1000), source(process),
		   page->columns >= WIDE ? place : "");
}

void top_page__settle(const struct page *page, struct top_view *view, int count)
{
	/* What stands above the list is counted as drawn: a second count of it would miss a line.
	 */
	if (view->lines)
		view->rows = view->lines > page->count ? view->lines - page->count : 1;
	view->row_count = count;
	if (view->selected >= count)
		view->selected = count - 1;
	if (view->selected < 0)
		view->selected = 0;
	if (!view->rows)
		return;
	if (view->first > view->selected)
		view->first = view->selected;
	if (view->first < view->selected - view->rows + 1)
		view->first = view->selected - view->rows + 1;
}

static void draw_processes(struct page *page, struct top_model *model, struct top_view *view)
{
	int count, end;
	struct row *rows = make_rows(model, view, &count);

	page__line(page, LINE_HEADER, "%7s %-15s %-8s %5s %8s %6s %6s %5s %5s %-6s%s", "PID",
		   "COMMAND", "USER", "GPU%", view->graphs ? "GRAPH/s" : "LAUNCH/s", "COPY/s",
		   "MEM", "WAIT", "ERR", "SRC", page->columns >= WIDE ? " ORIGIN" : "");
	if (!rows)
		return;
	top_page__settle(page, view, count);
	end = view->rows && view->first + view->rows < count ? view->first + view->rows : count;
	view->selected_pid = count ? rows[view->selected].process->pid : 0;
	for (int i = view->first; i < end; i++)
		draw_row(page, &rows[i],
			 view->rows && i == view->selected ? LINE_SELECTED : LINE_PLAIN);
	if (!count)
		page__line(page, LINE_DIM, "no CUDA process%s has been active",
			   *view->filter ? " that matches the filter" : "");
	free(rows);
}

static void draw_help(struct page *page)
{
	static const char *const lines[] = {
		"Keys",
		"  up, down, j, k, PgUp, PgDn   choose a process",
		"  Enter                        its kernels; Esc or q goes back",
		"  < >                          sort by the column to the left or right",
		"  G L C M W E P N              sort by GPU, launches, copies, memory, wait,",
		"                               errors, pid, name; r reverses",
		"  /                            show only names that contain a word",
		"  g                            graph launches instead of kernel launches",
		"  i                            why the GPUs were idle (top --idle)",
		"  p or space                   pause; nothing is lost meanwhile",
		"  w                            write the page into a file",
		"  ? h                          this text        q  quit",
		"",
		"Columns",
		"  BUSY   part of the time in which a kernel, copy or memset of any process ran",
		"  GPU%   the same for the kernels of one process, summed over GPUs",
		"  COPY/s bytes copied a second    MEM   device memory seen to be allocated",
		"  WHY IDLE  main cause of a GPU's idle time, and its share of all time",
		"  WAIT   threads that wait for the GPU, on average",
		"  ERR    calls that failed        SRC   how the process is seen",
		"  P50, P99 of kernels come from a histogram of powers of two: good to a factor",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		page__line(page, LINE_PLAIN, "%s", lines[i]);
}

void top_page__draw(struct page *page, struct top_model *model, struct top_view *view)
{
	page__clear(page);
	draw_head(page, model, view);
	if (view->help) {
		draw_help(page);
	} else if (view->idle) {
		top_page__draw_causes(page, model, view);
	} else if (view->pid) {
		top_page__draw_kernels(page, model, view);
	} else {
		draw_devices(page, model, view);
		draw_processes(page, model, view);
	}
}

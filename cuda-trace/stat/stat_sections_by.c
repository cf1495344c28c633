// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --by`: GPU time of kernels by operator, module, line, range or kernel. What was not found
 * has rows of its own, which no limit hides.
 */
#include <ctype.h>
#include <stdio.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/stat/stat_by.h"
#include "cuda-trace/stat/stat_sections.h"

static void put_row(struct sheet *sheet, const struct stat_by *by, const struct stat_by_row *row,
		    uint64_t all_ns)
{
	char shown[768], title[16];

	/* As one column: paths differ much in length. */
	snprintf(shown, sizeof(shown), "%.500s%s%.250s", row->name, *row->file ? "  " : "",
		 row->file);
	snprintf(title, sizeof(title), "%s", by->by);
	for (char *at = title; *at; at++)
		*at = toupper((unsigned char)*at);
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "name", cell_text(row->name));
	sheet__put(sheet, "file", cell_if(*row->file, cell_text(row->file)));
	sheet__put(sheet, "found", cell_bool(row->found));
	sheet__column(sheet, 0, "SHARE", 6, "share",
		      cell_share(all_ns ? (double)row->ns / all_ns : 0));
	sheet__column(sheet, 1, "TOTAL", 8, "total_ns", cell_ns(row->ns));
	sheet__column(sheet, 2, "KERNELS", 11, "kernels", cell_count(row->count));
	sheet__column(sheet, 3, "MEAN", 8, "mean_ns",
		      cell_if(row->count, cell_ns(row->ns / (row->count ? row->count : 1))));
	sheet__column(sheet, 4, title, 0, NULL, cell_text(shown));
	sheet__row_end(sheet);
}

static void put_rows(struct sheet *sheet, const struct stat_by *by, uint64_t most)
{
	uint64_t all_ns = 0, shown = 0, left = 0;
	char title[160];

	for (size_t i = 0; i < by->row_count; i++)
		all_ns += by->rows[i].ns;
	if (by->period > 1)
		snprintf(title, sizeof(title),
			 "\nGPU time of kernels, by %s, estimated: one launch in %u has a stack",
			 by->by, by->period);
	else
		snprintf(title, sizeof(title), "\nGPU time of kernels, by %s", by->by);
	sheet__begin(sheet, "rows", title, UINT64_MAX);
	for (size_t i = 0; i < by->row_count; i++) {
		if (!sheet->json && by->rows[i].found && shown == most) {
			left++;
			continue;
		}
		shown += by->rows[i].found;
		put_row(sheet, by, &by->rows[i], all_ns);
	}
	sheet__end(sheet);
	if (left)
		sheet__say(sheet, " ... and %llu more (-n %llu shows all)\n",
			   (unsigned long long)left, (unsigned long long)(shown + left));
}

static void say_notes(struct sheet *sheet, const struct stat_by *by)
{
	char time[16];

	if (by->stacks && by->row_count)
		sheet__say(sheet, " %s", by->stacks);
	if (by->stacks && by->row_count && !by->launches && by->period > 1)
		sheet__say(sheet, " no launch had a stack: -g takes those of all launches\n");
	if (by->ended)
		sheet__say(sheet, " recording for it ended after %s: the rest is [not recorded]\n",
			   text__ns(time, by->covered_ns));
}

void stat_sections__by(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_by *by = report->by;

	if (!by) {
		sheet__put(sheet, "by", cell_none);
		return;
	}
	sheet__open(sheet, "by", '{');
	sheet__put(sheet, "what", cell_text(by->by));
	sheet__put(sheet, "stack_period", cell_if(by->period, cell_number(by->period)));
	sheet__put(sheet, "estimated", cell_bool(by->period > 1));
	sheet__put(sheet, "stacks", cell_if(by->period, cell_number(by->launches)));
	sheet__put(sheet, "incomplete_stacks", cell_if(by->period, cell_number(by->incomplete)));
	sheet__put(sheet, "unavailable", cell_text(by->unavailable));
	sheet__put(sheet, "ended", cell_text(by->ended));
	sheet__put(sheet, "covered_ns", cell_if(by->ended, cell_number(by->covered_ns)));
	put_rows(sheet, by, report->most_kernels);
	if (by->unavailable)
		sheet__say(sheet, "\nGPU time by %s: not known: %s\n", by->by, by->unavailable);
	else
		say_notes(sheet, by);
	sheet__close(sheet);
}

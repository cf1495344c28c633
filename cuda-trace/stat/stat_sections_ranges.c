// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: kernels by NVTX range.
 */
#include "cuda-trace/stat/stat_sections.h"

static bool is_used(const struct stat_range_line *line)
{
	return line->all.launches || line->all.kernels || line->all.gpu_ns;
}

/* Without a range that had a launch the table says nothing. */
static bool is_worth_it(const struct stat_range_lines *ranges)
{
	for (uint32_t i = 0; ranges && i < ranges->count; i++)
		if (is_used(&ranges->lines[i]) && ranges->lines[i].kind != STAT_RANGE_NONE)
			return true;
	return false;
}

static uint64_t sum_of(const struct stat_range_lines *ranges)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ranges->count; i++)
		sum += ranges->lines[i].self.gpu_ns;
	return sum ? sum : 1;
}

static void put_range(struct sheet *sheet, const struct stat_range_line *line, uint64_t sum)
{
	static const char *const kinds[] = {"none", "unknown", "others", "range"};
	bool named = line->kind == STAT_RANGE_NAMED;
	char name[160]; /* "domain:name", both the program's */

	snprintf(name, sizeof(name), "%s%s%s", line->domain_name, *line->domain_name ? ":" : "",
		 line->name);
	sheet__column(sheet, 6, "RANGE", 0, NULL, cell_text(name));
	sheet__put(sheet, "kind", cell_text(kinds[line->kind]));
	sheet__put(sheet, "name", cell_if(named, cell_text(line->name)));
	sheet__put(sheet, "domain", cell_if(*line->domain_name, cell_text(line->domain_name)));
	sheet__column(sheet, 5, "ENTERED", 9, "entered",
		      cell_if(line->entered || sheet->json, cell_count(line->entered)));
	sheet__column(sheet, 4, "LAUNCHES", 11, "launches", cell_count(line->all.launches));
	sheet__column(sheet, 3, "KERNELS", 11, "kernels", cell_count(line->all.kernels));
	sheet__column(sheet, 1, "TOTAL", 8, "gpu_ns", cell_ns(line->all.gpu_ns));
	sheet__put(sheet, "self_launches", cell_number(line->self.launches));
	sheet__put(sheet, "self_kernels", cell_number(line->self.kernels));
	sheet__column(sheet, 2, "SELF", 8, "self_gpu_ns", cell_ns(line->self.gpu_ns));
	sheet__column(sheet, 0, "SHARE", 6, "share", cell_share((double)line->all.gpu_ns / sum));
}

void stat_sections__ranges(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_range_lines *ranges = report->table->ranges;

	if (!ranges)
		sheet__put(sheet, "kernel_ranges", cell_none);
	if (sheet->json ? !ranges : !is_worth_it(ranges))
		return;
	sheet__begin(sheet, "kernel_ranges",
		     "\nKernels by NVTX range, with those of inner ranges (SELF: without them)",
		     report->most_kernels);
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct stat_range_line *line = &ranges->lines[i];

		if (!is_used(line) && !(sheet->json && line->entered))
			continue;
		if (!sheet__row(sheet, NULL))
			continue;
		put_range(sheet, line, sum_of(ranges));
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
	sheet__say_more(sheet);
}

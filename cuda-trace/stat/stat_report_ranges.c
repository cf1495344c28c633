// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: kernels by NVTX range, as text and as JSON.
 */
#include <json-c/json.h>
#include "cuda-trace/base/json_text.h"
#include "cuda-trace/stat/stat_json.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "domain:name", both the program's. */
static void show_name(char out[160], const struct stat_range_line *line)
{
	snprintf(out, 160, "%s%s%s", line->domain_name, *line->domain_name ? ":" : "", line->name);
}

static bool is_told(const struct stat_range_line *line)
{
	return line->all.launches || line->all.kernels || line->all.gpu_ns;
}

/* Without a range that had a launch the table says nothing. */
static bool is_worth_it(const struct stat_range_lines *ranges)
{
	for (uint32_t i = 0; ranges && i < ranges->count; i++)
		if (is_told(&ranges->lines[i]) && ranges->lines[i].kind != STAT_RANGE_NONE)
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

void stat_report__text_ranges(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"share", "SHARE", 6, 0},
		{"total", "TOTAL", 8, 0},
		{"self", "SELF", 8, 0},
		{"kernels", "KERNELS", 11, 0},
		{"launches", "LAUNCHES", 11, 0},
		{"entered", "ENTERED", 9, 0},
		{"range", "RANGE", 0, COLUMN_LEFT},
	};
	const struct stat_range_lines *ranges = report->table->ranges;
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	uint32_t shown = 0, more = 0;
	uint64_t sum;

	if (!is_worth_it(ranges))
		return;
	sum = sum_of(ranges);
	fprintf(file, "\nKernels by NVTX range, those of ranges within included (SELF: without)\n");
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct stat_range_line *line = &ranges->lines[i];
		char name[160];

		if (!is_told(line))
			continue;
		if (shown == report->most_kernels) {
			more++;
			continue;
		}
		shown++;
		show_name(name, line);
		writer__row(&writer,
			    (const struct cell[]){
				    cell_share((double)line->all.gpu_ns / sum),
				    cell_ns(line->all.gpu_ns),
				    cell_ns(line->self.gpu_ns),
				    cell_count(line->all.kernels),
				    cell_count(line->all.launches),
				    line->entered ? cell_count(line->entered) : (struct cell){},
				    cell_text(name),
			    });
	}
	if (more)
		fprintf(file, " ... and %u more (-n %u shows all)\n", more, shown + more);
}

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *range(const struct stat_range_line *line, uint64_t sum)
{
	static const char *const kinds[] = {"none", "unknown", "others", "range"};
	struct json_object *object = json_object_new_object();
	bool named = line->kind == STAT_RANGE_NAMED;

	stat_json__put_text(object, "kind", kinds[line->kind]);
	if (named)
		stat_json__put_text(object, "name", line->name);
	else
		json_object_object_add(object, "name", NULL);
	if (*line->domain_name)
		stat_json__put_text(object, "domain", line->domain_name);
	else
		json_object_object_add(object, "domain", NULL);
	put_number(object, "entered", line->entered);
	put_number(object, "launches", line->all.launches);
	put_number(object, "kernels", line->all.kernels);
	put_number(object, "gpu_ns", line->all.gpu_ns);
	put_number(object, "self_launches", line->self.launches);
	put_number(object, "self_kernels", line->self.kernels);
	put_number(object, "self_gpu_ns", line->self.gpu_ns);
	json_object_object_add(object, "share", stat_json__double((double)line->all.gpu_ns / sum));
	return object;
}

void stat_json__put_ranges(struct json_object *object, const struct stat_report *report)
{
	const struct stat_range_lines *ranges = report->table->ranges;
	struct json_object *array = ranges ? json_object_new_array() : NULL;
	uint64_t sum = ranges ? sum_of(ranges) : 1;

	for (uint32_t i = 0; ranges && i < ranges->count; i++)
		if (is_told(&ranges->lines[i]) || ranges->lines[i].entered)
			json_object_array_add(array, range(&ranges->lines[i], sum));
	json_object_object_add(object, "kernel_ranges", array);
}

// SPDX-License-Identifier: BSD-2-Clause
/* A hostile file has a different shape in every row: there is a limit, and what exceeds it is
 * counted. */
#include "cuda-trace/export/export_details.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/export/export_callstacks.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/profile/counters/occupancy.h"

#define MAX_DETAILS (1u << 16)
#define MAX_STACKS  4000
#define MAX_FRAMES  64

uint32_t details__find(struct details *details, const struct detail *detail)
{
	uint64_t key = detail->category;
	ssize_t known;

	for (int v = 0; v < DETAIL_VALUES; v++)
		key = key_index__mix(key, detail->values[v]);
	known = key_index__match(
		&details->index, key, i,
		details->list[i].category == detail->category &&
			!memcmp(details->list[i].values, detail->values, sizeof(detail->values)));
	if (known >= 0)
		return known + 1;
	if (details->count == MAX_DETAILS ||
	    !array_grow__for_one(details->list, details->capacity, details->count) ||
	    !key_index__add(&details->index, key, details->count)) {
		details->left_out++;
		return 0;
	}
	details->list[details->count] = *detail;
	return ++details->count;
}

/* Writes a JSON array's numbers, after what begins it. */
static void put_values(FILE *out, const int64_t *values, int count)
{
	for (int i = 0; i < count; i++) {
		if (values[i] == DETAIL_UNKNOWN)
			fputs(",null", out);
		else
			fprintf(out, ",%" PRId64, values[i]);
	}
}

static int64_t of_gpu(const struct report_file *file, const char *column, int64_t device)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "SELECT %s FROM TARGET_INFO_GPU WHERE id = %" PRId64 " LIMIT 1",
		 column, device);
	return report_file__number(file, sql, -1);
}

/* The most that the shape allows in percent, what limits it, and how much of the GPU this grid
 * fills; nothing of a GPU that nobody knows. */
static void put_occupancy(FILE *out, const struct report_file *file, const int64_t *v)
{
	struct occupancy_launch launch = {.blocks = 1, .threads = 1, .registers = v[7]};
	int64_t capability = of_gpu(file, "computeMajor * 10 + computeMinor", v[0]);
	struct occupancy_limit limit;
	struct occupancy occupancy;
	bool known = capability > 0 && v[7] != DETAIL_UNKNOWN && v[8] != DETAIL_UNKNOWN &&
		     v[9] != DETAIL_UNKNOWN && !__builtin_add_overflow(v[8], v[9], &launch.shared);

	for (int i = 0; i < 3; i++) {
		known = known && v[1 + i] > 0 && v[4 + i] > 0 &&
			!__builtin_mul_overflow(launch.blocks, v[1 + i], &launch.blocks) &&
			!__builtin_mul_overflow(launch.threads, v[4 + i], &launch.threads);
	}
	if (!known || occupancy__limit(&launch, capability, &limit)) {
		fputs(",null,\"\",null", out);
		return;
	}
	fprintf(out, ",%.0f,\"%s\",", limit.percent, limit.by ? limit.by : "");
	if (occupancy__of(&launch, capability, of_gpu(file, "smCount", v[0]), &occupancy))
		fprintf(out, "%d", occupancy.percent);
	else
		fputs("null", out);
}

/* Operator, module and line: null where they are not known. */
static void put_origins(FILE *out, const char *const *frames, const struct chain_place *places,
			size_t count)
{
	static const enum report_by kinds[] = {REPORT_BY_OPERATOR, REPORT_BY_MODULE,
					       REPORT_BY_LINE};
	static struct origin_path path; /* large */
	char text[ORIGIN_TEXT];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		export_origins__of_frames(kinds[i], frames, places, count, &path);
		putc(',', out);
		if (path.count)
			text__write_json(out, export_origins__text(&path, kinds[i], text));
		else
			fputs("null", out);
	}
}

static void put_stack(FILE *out, const struct export_callstacks *callstacks, int64_t id)
{
	size_t count = 0;
	const char *const *frames =
		callstacks ? export_callstacks__frames(callstacks, id, &count) : NULL;

	if (frames)
		put_origins(out, frames, export_callstacks__places(callstacks, id), count);
	for (size_t i = 0; i < count && i < MAX_FRAMES; i++) {
		putc(',', out);
		text__write_json(out, frames[i]);
	}
}

int details__write(const struct details *details, FILE *out, const struct report_file *file,
		   const struct names_of_file *names)
{
	struct export_callstacks *callstacks = NULL;
	size_t stacks = 0;
	int err = 0;

	for (size_t i = 0; i < details->count && !err && !callstacks; i++)
		if (details->list[i].category == 'h')
			err = export_callstacks__open(&callstacks, file, names);
	putc('[', out);
	for (size_t i = 0; i < details->count && !err; i++) {
		const struct detail *detail = &details->list[i];

		fprintf(out, "%s[\"%c\"", i ? ",\n" : "", detail->category);
		if (detail->category == 'k') {
			put_values(out, detail->values, DETAIL_VALUES);
			put_occupancy(out, file, detail->values);
		} else if (detail->category == 'h') {
			if (stacks++ < MAX_STACKS)
				put_stack(out, callstacks, detail->values[0]);
		} else {
			put_values(out, detail->values, detail->category == 'c' ? 3 : 2);
		}
		putc(']', out);
	}
	putc(']', out);
	export_callstacks__close(callstacks);
	return err;
}

void details__free(struct details *details)
{
	free(details->list);
	key_index__free(&details->index);
}

// SPDX-License-Identifier: BSD-2-Clause
/* A rank's summary as a line of JSON, of 3 KB at most. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/merge/steps.h"

#define KIND	 "steps of a rank"
#define MAX_LINE 3072 /* bytes */

static void put_time(struct sheet *sheet, const char *key, const struct step_time *time)
{
	sheet__open(sheet, key, '{');
	sheet__put(sheet, "p50", cell_number(time->p50));
	sheet__put(sheet, "p99", cell_number(time->p99));
	sheet__close(sheet);
}

static void put_kernels(struct sheet *sheet, const struct step_rank *rank, int columns)
{
	char shown[sizeof(rank->groups->name)];

	sheet__open(sheet, "kernels", '[');
	for (uint32_t i = 0; i < rank->group_count; i++) {
		sheet__open(sheet, NULL, '{');
		sheet__put(
			sheet, "name",
			cell_text(text__show(shown, sizeof(shown), rank->groups[i].name, columns)));
		sheet__put(sheet, "count", cell_number(rank->groups[i].kernels));
		put_time(sheet, "ns", &rank->groups[i].ns);
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

static void put_idle(struct sheet *sheet, const struct step_rank *rank)
{
	sheet__put(sheet, "idle_unknown",
		   cell_if(*rank->idle_unknown, cell_text(rank->idle_unknown)));
	if (!rank->causes.known) {
		sheet__put(sheet, "idle", cell_none);
		return;
	}
	sheet__open(sheet, "idle", '{');
	put_time(sheet, "ns", &rank->idle);
	sheet__open(sheet, "causes", '[');
	for (uint32_t i = 0; i < rank->causes.count; i++) {
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "cause", cell_text(rank->causes.list[i].name));
		put_time(sheet, "ns", &rank->causes.list[i].ns);
		sheet__close(sheet);
	}
	sheet__close(sheet);
	sheet__close(sheet);
}

static void put_collectives(struct sheet *sheet, const struct step_parts *collectives)
{
	if (!collectives->known) {
		sheet__put(sheet, "collectives", cell_none);
		return;
	}
	sheet__open(sheet, "collectives", '[');
	for (uint32_t i = 0; i < collectives->count; i++) {
		const struct step_part *part = &collectives->list[i];

		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "operation", cell_text(part->name));
		sheet__put(sheet, "calls", cell_number(part->calls));
		sheet__put(sheet, "bytes", cell_number(part->bytes));
		put_time(sheet, "ns", &part->ns);
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

static void write_line(FILE *out, const struct step_rank *rank, int columns)
{
	struct sheet sheet = {.file = out, .json = true, .plain = true};

	sheet__open(&sheet, NULL, '{');
	sheet__put(&sheet, "summary", cell_text(KIND));
	sheet__put(&sheet, "range", cell_text(rank->range));
	sheet__put(&sheet, "rank", cell_if(rank->rank >= 0, cell_signed(rank->rank)));
	sheet__put(&sheet, "host", cell_text(rank->host));
	sheet__put(&sheet, "process", cell_text(rank->process));
	sheet__put(&sheet, "pid", cell_number(rank->pid));
	sheet__put(&sheet, "steps", cell_number(rank->steps));
	put_time(&sheet, "step_ns", &rank->step);
	put_time(&sheet, "gpu_busy_ns", &rank->busy);
	put_time(&sheet, "nccl_ns", &rank->nccl);
	put_idle(&sheet, rank);
	put_collectives(&sheet, &rank->collectives);
	put_kernels(&sheet, rank, columns);
	sheet__close(&sheet);
}

/* Names may take several bytes for a character: they are cut until the line is short enough. */
void step_lines__write(FILE *out, const struct step_rank *rank)
{
	for (int columns = 80; columns; columns /= 2) {
		char *line = NULL;
		size_t size = 0;
		FILE *file = open_memstream(&line, &size);

		if (!file)
			return;
		write_line(file, rank, columns);
		fclose(file);
		if (size <= MAX_LINE || columns == 5) {
			fwrite(line, 1, size, out);
			columns = 1;
		}
		free(line);
	}
}

/* NULL = it has no such member. */
static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *found = NULL;

	return object && json_object_object_get_ex(object, key, &found) ? found : NULL;
}

static uint64_t number(struct json_object *object, const char *key)
{
	int64_t value = json_object_get_int64(member(object, key));

	return value < 0 ? 0 : value;
}

static struct step_time read_time(struct json_object *object, const char *key)
{
	struct json_object *time = member(object, key);

	return (struct step_time){.p50 = number(time, "p50"), .p99 = number(time, "p99")};
}

static void read_text(struct json_object *object, const char *key, char *out, size_t size,
		      size_t columns)
{
	const char *text = json_object_get_string(member(object, key));

	text__show(out, size, text ? text : "?", columns);
}

/* Older summaries have none. */
static void read_parts(struct step_parts *parts, struct json_object *list, const char *key)
{
	size_t count =
		json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	parts->known = list != NULL;
	for (size_t i = 0; i < count && i < STEP_PARTS_MAX; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct step_part *part = &parts->list[parts->count++];

		read_text(item, key, part->name, sizeof(part->name), 20);
		part->calls = number(item, "calls");
		part->bytes = number(item, "bytes");
		part->ns = read_time(item, "ns");
	}
}

/* Older summaries do not say whether it is known. */
static void read_idle(struct step_rank *rank, struct json_object *line)
{
	if (member(line, "idle_unknown"))
		read_text(line, "idle_unknown", rank->idle_unknown, sizeof(rank->idle_unknown), 80);
	if (*rank->idle_unknown)
		return;
	rank->idle = read_time(member(line, "idle"), "ns");
	read_parts(&rank->causes, member(member(line, "idle"), "causes"), "cause");
}

static void read_rank(struct step_rank *rank, struct json_object *line)
{
	struct json_object *kernels = member(line, "kernels");
	size_t count = json_object_is_type(kernels, json_type_array)
			       ? json_object_array_length(kernels)
			       : 0;

	read_text(line, "range", rank->range, sizeof(rank->range), 40);
	read_text(line, "host", rank->host, sizeof(rank->host), 12);
	read_text(line, "process", rank->process, sizeof(rank->process), 12);
	rank->rank = member(line, "rank") ? json_object_get_int64(member(line, "rank")) : -1;
	rank->pid = number(line, "pid");
	rank->steps = number(line, "steps");
	rank->step = read_time(line, "step_ns");
	rank->busy = read_time(line, "gpu_busy_ns");
	rank->nccl = read_time(line, "nccl_ns");
	read_idle(rank, line);
	read_parts(&rank->collectives, member(line, "collectives"), "operation");
	for (size_t i = 0; i < count && i < STEP_GROUPS_MAX; i++) {
		struct json_object *kernel = json_object_array_get_idx(kernels, i);
		struct step_group *group = &rank->groups[rank->group_count++];

		read_text(kernel, "name", group->name, sizeof(group->name), 80);
		group->kernels = number(kernel, "count");
		group->ns = read_time(kernel, "ns");
	}
}

static bool is_summary(struct json_object *line)
{
	const char *kind = json_object_is_type(line, json_type_object)
				   ? json_object_get_string(member(line, "summary"))
				   : NULL;

	return kind && !strcmp(kind, KIND);
}

int step_lines__read(struct step_ranks *ranks, FILE *in, const char *path)
{
	char line[8192], shown[512];
	int err = 0;

	while (!err && fgets(line, sizeof(line), in)) {
		struct json_object *object = json_tokener_parse(line);
		struct step_rank *rank = is_summary(object) ? step_ranks__add(ranks) : NULL;

		if (!is_summary(object))
			err = -EINVAL;
		else if (rank)
			read_rank(rank, object);
		json_object_put(object);
	}
	if (err)
		fprintf(stderr,
			"cuda-trace report: %s is neither a recording nor a summary of --steps "
			"--json\n",
			text__show(shown, sizeof(shown), path, 120));
	return err;
}

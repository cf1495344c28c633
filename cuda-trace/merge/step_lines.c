// SPDX-License-Identifier: BSD-2-Clause
/* A rank's summary as a line of JSON, of 3 KB at most. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/merge/steps.h"

#define KIND "steps of a rank"

static void put_time(struct sheet *sheet, const char *key, const struct step_time *time)
{
	sheet__open(sheet, key, '{');
	sheet__put(sheet, "p50", cell_number(time->p50));
	sheet__put(sheet, "p99", cell_number(time->p99));
	sheet__close(sheet);
}

void step_lines__write(FILE *out, const struct step_rank *rank)
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
	sheet__open(&sheet, "kernels", '[');
	for (uint32_t i = 0; i < rank->group_count; i++) {
		sheet__open(&sheet, NULL, '{');
		sheet__put(&sheet, "name", cell_text(rank->groups[i].name));
		sheet__put(&sheet, "count", cell_number(rank->groups[i].kernels));
		put_time(&sheet, "ns", &rank->groups[i].ns);
		sheet__close(&sheet);
	}
	sheet__close(&sheet);
	sheet__close(&sheet);
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

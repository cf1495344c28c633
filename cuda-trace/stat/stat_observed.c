// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own; called at the end of `stat`. */
#include "cuda-trace/stat/stat_observed.h"

#include <json-c/json.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/observations.h"
#include "cuda-trace/stat/stat_json.h"

static const struct unobserved *missed(const struct stat_report *report, uint32_t n)
{
	return report->session ? session__missed(report->session, n) : NULL;
}

bool stat_observed__all(const struct stat_report *report)
{
	const struct stat_table *table = report->table;

	for (uint32_t i = 0; i < table->process_count; i++)
		if (table->processes[i].observed_since)
			return false;
	return !missed(report, 0);
}

/* ns since 1970 of a time on the monotonic clock. */
static uint64_t wall_time(uint64_t monotonic)
{
	return realtime__ns() - (monotonic__ns() - monotonic);
}

static void put_clock(FILE *file, uint64_t monotonic)
{
	uint64_t ns = wall_time(monotonic);
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm local;
	char text[16];

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&seconds, &local));
	fprintf(file, "%s.%03u", text, (unsigned int)(ns / 1000000 % 1000));
}

void stat_observed__text(FILE *file, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	const struct unobserved *process;
	uint64_t shown = 0;
	char comm[64];

	for (uint32_t i = 0; i < table->process_count && shown < report->most_kernels; i++) {
		const struct stat_process *late = &table->processes[i];

		if (!late->observed_since)
			continue;
		fprintf(file, "process %u (%s): observed since ", late->pid,
			text__show(comm, sizeof(comm), late->comm, 0));
		put_clock(file, late->observed_since);
		fprintf(file, "; earlier calls are not counted\n");
		shown++;
	}
	for (uint32_t i = 0; (process = missed(report, i)) && i < report->most_kernels; i++) {
		/* watch__run() says so on stderr, as of every command. */
		if (process->reason == UNOBSERVED_STILL_RUNS)
			continue;
		fprintf(file, "process %u (%s): %s\n", process->pid,
			*process->comm ? text__show(comm, sizeof(comm), process->comm, 0) : "ended",
			observations__text(process->reason));
	}
}

struct json_object *stat_observed__since(const struct stat_process *process)
{
	return process->observed_since ? json_object_new_uint64(wall_time(process->observed_since))
				       : NULL;
}

struct json_object *stat_observed__missed(const struct stat_report *report)
{
	struct json_object *array = json_object_new_array();
	const struct unobserved *process;

	for (uint32_t i = 0; (process = missed(report, i)); i++) {
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "pid", json_object_new_uint64(process->pid));
		stat_json__put_text(object, "process", process->comm);
		stat_json__put_text(object, "reason", observations__key(process->reason));
		json_object_object_add(object, "since_ns",
				       json_object_new_uint64(wall_time(process->since)));
		json_object_array_add(array, object);
	}
	return array;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * `profile --pc --json`: one object. The keys are documented in cuda-trace-profile(1) and stay.
 */
#include "cuda-trace/profile/pc/pc_report.h"

#include <json-c/json.h>
#include "cuda-trace/profile/code/code_json.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/json_text.h"
#include "cuda-trace/capture/agent_state.h"

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void put_counts(struct json_object *object, const struct pc_counts *counts,
		       const struct pc_table *table)
{
	struct json_object *reasons = json_object_new_object();
	uint64_t all = table->all.samples ? table->all.samples : 1;

	put_number(object, "samples", counts->samples);
	json_object_object_add(object, "share", stat_json__double((double)counts->samples / all));
	put_number(object, "not_issued", counts->idle);
	for (uint32_t i = 0; i < table->reason_count; i++)
		if (counts->reasons[i])
			put_number(reasons, pc_table__reason(table, i), counts->reasons[i]);
	json_object_object_add(object, "reasons", reasons);
}

static struct json_object *instructions(const struct pc_table *table, uint32_t function)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->instruction_count; i++) {
		const struct pc_instruction *instruction = &table->instructions[i];
		struct json_object *object;

		if (instruction->at.function != function)
			continue;
		object = json_object_new_object();
		code_json__put_place(object, &instruction->at);
		if (instruction->text)
			stat_json__put_text(object, "sass", instruction->text);
		else
			json_object_object_add(object, "sass", NULL);
		put_counts(object, &instruction->counts, table);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *functions(const struct pc_table *table)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->function_count; i++) {
		const struct pc_function *function = &table->functions[i];
		struct json_object *object = json_object_new_object();

		stat_json__put_text(object, "name", function->of.name);
		code_json__put_origin(object, &function->of);
		put_counts(object, &function->counts, table);
		json_object_object_add(object, "instructions", instructions(table, i));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *reasons(const struct pc_table *table)
{
	struct json_object *array = json_object_new_array();
	uint64_t all = table->all.samples ? table->all.samples : 1;

	for (uint32_t i = 0; i < table->reason_count; i++) {
		const char *reason = pc_table__reason(table, i);
		struct json_object *object = json_object_new_object();

		stat_json__put_text(object, "reason", reason);
		put_number(object, "samples", table->all.reasons[i]);
		json_object_object_add(object, "share",
				       stat_json__double((double)table->all.reasons[i] / all));
		json_object_object_add(object, "meaning",
				       pc_table__meaning(reason)
					       ? json_object_new_string(pc_table__meaning(reason))
					       : NULL);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *processes(const struct pc_table *table)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < table->process_count; i++) {
		const struct pc_process *process = &table->processes[i];
		struct json_object *object = json_object_new_object();
		const char *trouble = agent_state__trouble(&process->status);

		if (!trouble && !process->windows && *process->status.message)
			trouble = process->status.message;
		put_number(object, "pid", process->pid);
		stat_json__put_text(object, "process", process->comm);
		put_number(object, "uid", process->uid);
		put_number(object, "windows", process->windows);
		put_number(object, "samples", process->samples);
		stat_json__put_text(object, "state", agent_state__key(&process->status));
		if (trouble)
			stat_json__put_text(object, "trouble", trouble);
		else
			json_object_object_add(object, "trouble", NULL);
		put_number(object, "cupti_version", process->status.cupti_version);
		json_object_object_add(object, "exit_status",
				       process->exit_status < 0
					       ? NULL
					       : json_object_new_int(process->exit_status));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *samples(const struct pc_table *table)
{
	struct json_object *object = json_object_new_object();

	put_number(object, "total", table->total);
	put_number(object, "placed", table->all.samples);
	put_number(object, "dropped", table->dropped);
	put_number(object, "other", table->other);
	put_number(object, "filtered", table->filtered);
	put_number(object, "unplaced", pc_table__unplaced(table));
	put_number(object, "no_room", table->unkept);
	put_number(object, "overflows", table->overflows);
	json_object_object_add(object, "period_cycles",
			       table->period_least && table->period_least == table->period_most &&
					       table->period_least < 63
				       ? json_object_new_uint64(1ull << table->period_least)
				       : NULL);
	return object;
}

void pc_report__json(FILE *file, const struct pc_report *report)
{
	struct json_object *object = json_object_new_object();
	const struct pc_table *table = report->table;

	put_number(object, "duration_ns", report->duration_ns);
	put_number(object, "windows", table->windows);
	put_number(object, "window_ns", table->window_ns);
	put_number(object, "held_ns", table->held_ns);
	put_number(object, "period_ms", report->every_ms);
	json_object_object_add(object, "samples", samples(table));
	json_object_object_add(object, "note",
			       pc_table__note(table) ? json_object_new_string(pc_table__note(table))
						     : NULL);
	json_object_object_add(object, "functions", functions(table));
	json_object_object_add(object, "reasons", reasons(table));
	json_object_object_add(object, "processes", processes(table));
	json_object_object_add(object, "lost", losses__json(report->lost));
	fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * `profile --sass --json`: one object a function. The keys are documented in cuda-trace-profile(1)
 * and stay.
 */
#include "cuda-trace/profile/sass/sass_report.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include "cuda-trace/profile/code/code_json.h"
#include "cuda-trace/profile/sass/sass_lines.h"
#include "cuda-trace/base/json_text.h"

static const char *const keys[CUDA_SASS_COUNT] = {
	[CUDA_SASS_EXECUTED] = "executed",
	[CUDA_SASS_THREADS] = "threads",
	[CUDA_SASS_THREADS_ON] = "threads_on",
	[CUDA_SASS_SECTORS] = "sectors",
	[CUDA_SASS_SECTORS_IDEAL] = "sectors_ideal",
	[CUDA_SASS_WAVEFRONTS] = "wavefronts",
	[CUDA_SASS_WAVEFRONTS_IDEAL] = "wavefronts_ideal",
	[CUDA_SASS_SECTORS_LOCAL] = "sectors_local",
	[CUDA_SASS_BRANCH_DIVERGENT] = "branch_divergent",
	[CUDA_SASS_BRANCH_UNIFORM] = "branch_uniform",
};

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void put_ratio(struct json_object *object, const char *key, uint64_t a, uint64_t b)
{
	double ratio = sass_ratio(a, b);

	json_object_object_add(object, key, isnan(ratio) ? NULL : stat_json__double(ratio));
}

/* What this GPU does not count is null. */
static void put_counts(struct json_object *object, const struct sass_counts *counts, uint32_t known)
{
	const uint64_t *values = counts->values;

	for (int i = 0; i < CUDA_SASS_COUNT; i++)
		if (known & 1u << i)
			put_number(object, keys[i], values[i]);
		else
			json_object_object_add(object, keys[i], NULL);
	put_number(object, "requests", counts->requests);
	put_number(object, "accesses", counts->accesses);
	put_ratio(object, "threads_an_instruction", values[CUDA_SASS_THREADS_ON],
		  known & 1u << CUDA_SASS_THREADS_ON ? values[CUDA_SASS_EXECUTED] : 0);
	put_ratio(object, "sectors_a_request", values[CUDA_SASS_SECTORS],
		  known & 1u << CUDA_SASS_SECTORS ? counts->requests : 0);
	put_ratio(object, "wavefronts_an_access", values[CUDA_SASS_WAVEFRONTS],
		  known & 1u << CUDA_SASS_WAVEFRONTS ? counts->accesses : 0);
}

static struct json_object *instructions(const struct sass_table *table, uint32_t function)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = sass_table__first(table, function);
	     i < table->instruction_count && table->instructions[i].at.function == function; i++) {
		struct json_object *object = json_object_new_object();

		code_json__put_place(object, &table->instructions[i].at);
		put_counts(object, &table->instructions[i].counts,
			   table->functions[function].known);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *findings(const struct sass_table *table, uint32_t function,
				    struct sass_line *lines)
{
	const struct sass_function *whose = &table->functions[function];
	uint32_t count = sass_lines__find(table, function, lines);
	struct json_object *array = json_object_new_array();

	for (int finding = 0; finding < SASS_FINDING_COUNT; finding++) {
		const struct sass_line *line = sass_lines__worst(whose, lines, count, finding);
		struct json_object *object;
		char because[160];

		if (!line)
			continue;
		object = json_object_new_object();
		sass_finding__because(finding, whose, line, because, sizeof(because));
		stat_json__put_text(object, "is", sass_finding__key(finding));
		code_json__put_place(object, &line->first->at);
		stat_json__put_text(object, "because", because);
		stat_json__put_text(object, "advice", sass_finding__advice(finding));
		json_object_array_add(array, object);
	}
	return array;
}

static void put_function(FILE *file, const struct sass_table *table, uint32_t number,
			 struct sass_line *lines)
{
	const struct sass_function *function = &table->functions[number];
	struct json_object *object = json_object_new_object();

	stat_json__put_text(object, "event", "sass");
	stat_json__put_text(object, "function", function->of.name);
	code_json__put_origin(object, &function->of);
	put_number(object, "launches", function->launches);
	put_counts(object, &function->counts, function->known);
	json_object_object_add(object, "look_at", findings(table, number, lines));
	json_object_object_add(object, "instructions", instructions(table, number));
	fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

void sass_report__json(FILE *file, const struct sass_table *table)
{
	struct sass_line *lines = calloc(table->instruction_count + 1, sizeof(*lines));

	for (uint32_t i = 0; lines && i < table->function_count; i++)
		put_function(file, table, i, lines);
	free(lines);
}

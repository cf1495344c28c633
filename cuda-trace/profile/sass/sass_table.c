// SPDX-License-Identifier: BSD-2-Clause
/*
 * The image's checksum and the name identify a function, function and offset an instruction.
 * The tool's one thread.
 */
#include "cuda-trace/profile/sass/sass_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/intern.h"
#include "cuda-trace/base/array_grow.h"

#define MAX_FUNCTIONS	 8192
#define MAX_INSTRUCTIONS 131072
#define MAX_FILES	 8192
#define MAX_BYTES	 (16u << 20)
#define NAME_BYTES	 1024 /* that tell one function from another */

int sass_table__init(struct sass_table *table)
{
	memset(table, 0, sizeof(*table));
	table->function_names = intern__new(MAX_FUNCTIONS, MAX_BYTES);
	table->instruction_keys = intern__new(MAX_INSTRUCTIONS, MAX_BYTES);
	table->files = intern__new(MAX_FILES, MAX_BYTES);
	if (table->function_names && table->instruction_keys && table->files)
		return 0;
	sass_table__free(table);
	return -1;
}

void sass_table__free(struct sass_table *table)
{
	intern__free(table->function_names);
	intern__free(table->instruction_keys);
	intern__free(table->files);
	free(table->functions);
	free(table->instructions);
}

/* NULL = the table is full. */
static struct sass_function *function_of(struct sass_table *table, const char *name, uint64_t cubin)
{
	char key[sizeof(cubin) + NAME_BYTES];
	size_t length = strnlen(name, NAME_BYTES - 1), size;
	struct sass_function *functions;
	bool is_new;
	uint32_t number;

	functions = array_grow__for_one(table->functions, &table->function_capacity,
					table->function_count, sizeof(*functions));
	if (!functions)
		return NULL;
	table->functions = functions;
	memcpy(key, &cubin, sizeof(cubin));
	memcpy(key + sizeof(cubin), name, length);
	key[sizeof(cubin) + length] = '\0';
	number = intern__number(table->function_names, key, sizeof(cubin) + length + 1, &is_new);
	if (number && is_new)
		functions[table->function_count++] = (struct sass_function){
			.of = {.name = (const char *)intern__at(table->function_names, number,
								&size) +
				       sizeof(cubin),
			       .cubin = cubin},
		};
	return number ? &functions[number - 1] : NULL;
}

static struct sass_instruction *instruction_of(struct sass_table *table, uint32_t function,
					       uint64_t offset)
{
	const struct {
		uint64_t function, offset;
	} key = {function, offset};
	struct sass_instruction *instructions;
	bool is_new;
	uint32_t number;

	instructions = array_grow__for_one(table->instructions, &table->instruction_capacity,
					   table->instruction_count, sizeof(*instructions));
	if (!instructions)
		return NULL;
	table->instructions = instructions;
	number = intern__number(table->instruction_keys, &key, sizeof(key), &is_new);
	if (number && is_new)
		instructions[table->instruction_count++] = (struct sass_instruction){
			.at = {.function = function, .offset = offset},
		};
	return number ? &instructions[number - 1] : NULL;
}

static const char *file_of(struct sass_table *table, const char *name)
{
	size_t size;
	uint32_t number;

	if (!name || !*name)
		return NULL;
	number = intern__number(table->files, name, strlen(name) + 1, NULL);
	return number ? intern__at(table->files, number, &size) : NULL;
}

void sass_counts__add(struct sass_counts *to, const struct sass_counts *counts)
{
	for (int i = 0; i < CUDA_SASS_COUNT; i++)
		to->values[i] += counts->values[i];
	to->requests += counts->requests;
	to->accesses += counts->accesses;
}

double sass_ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / b : NAN;
}

static struct sass_counts counts_of(const struct cuda_sass *record)
{
	const __u64 *values = record->values;
	struct sass_counts counts = {};

	memcpy(counts.values, values, sizeof(counts.values));
	if (values[CUDA_SASS_SECTORS] || values[CUDA_SASS_SECTORS_IDEAL])
		counts.requests = values[CUDA_SASS_EXECUTED];
	if (values[CUDA_SASS_WAVEFRONTS] || values[CUDA_SASS_WAVEFRONTS_IDEAL])
		counts.accesses = values[CUDA_SASS_EXECUTED];
	return counts;
}

void sass_table__record(struct sass_table *table, struct process *process,
			const struct cuda_sass *record)
{
	const char *name = process__pretty_name(process, record->function);
	struct sass_function *function = function_of(table, name, record->cubin);
	struct sass_counts counts = counts_of(record);
	struct sass_instruction *instruction;

	if (!function) {
		table->unkept++;
		return;
	}
	if (!function->of.symbol)
		function->of.symbol = file_of(table, process__name(process, record->function));
	table->executed += counts.values[CUDA_SASS_EXECUTED];
	function->known |= record->known;
	if (function->number != record->number || function->pid != process->pid)
		function->launches++;
	function->number = record->number;
	function->pid = process->pid;
	sass_counts__add(&function->counts, &counts);
	instruction = instruction_of(table, function - table->functions, record->offset);
	if (!instruction) {
		table->unkept++;
		return;
	}
	sass_counts__add(&instruction->counts, &counts);
	if (!instruction->at.file && record->file) {
		instruction->at.file = file_of(table, process__name(process, record->file));
		instruction->at.line = record->line;
	}
}

static uint64_t executed(const struct sass_counts *counts)
{
	return counts->values[CUDA_SASS_EXECUTED];
}

static int compare_functions(const void *a, const void *b)
{
	const struct sass_function *const *first = a, *const *second = b;

	if (executed(&(*first)->counts) != executed(&(*second)->counts))
		return executed(&(*first)->counts) < executed(&(*second)->counts) ? 1 : -1;
	return *first < *second ? -1 : *first > *second;
}

static int compare_instructions(const void *a, const void *b)
{
	const struct sass_instruction *first = a, *second = b;

	if (first->at.function != second->at.function)
		return first->at.function < second->at.function ? -1 : 1;
	return first->at.offset < second->at.offset ? -1 : first->at.offset > second->at.offset;
}

void sass_table__sort(struct sass_table *table)
{
	const struct code_table code = code_table_of(table);

	code_table__sort_functions(&code, compare_functions);
	if (table->instruction_count)
		qsort(table->instructions, table->instruction_count, sizeof(*table->instructions),
		      compare_instructions);
}

uint32_t sass_table__first(const struct sass_table *table, uint32_t function)
{
	uint32_t low = 0, high = table->instruction_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->instructions[middle].at.function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

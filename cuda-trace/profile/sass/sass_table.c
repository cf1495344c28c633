// SPDX-License-Identifier: BSD-2-Clause
/* The tool's one thread. */
#include "cuda-trace/profile/sass/sass_table.h"
#include "cuda-trace/base/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSTRUCTIONS 131072
#define MAX_BYTES	 (16u << 20)

int sass_table__init(struct sass_table *table)
{
	memset(table, 0, sizeof(*table));
	return code_table__init(&table->code, sizeof(*table->functions),
				sizeof(*table->instructions), MAX_INSTRUCTIONS, MAX_BYTES);
}

void sass_table__free(struct sass_table *table)
{
	code_table__free(&table->code);
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
	uint32_t place, number;
	struct sass_counts counts = counts_of(record);
	struct sass_function *function;

	number = code_table__add_function(&table->code, process,
					  process__pretty_name(process, record->function),
					  record->function, record->cubin);
	if (number == CODE_NONE) {
		table->unkept++;
		return;
	}
	function = &table->functions[number];
	table->executed += counts.values[CUDA_SASS_EXECUTED];
	function->known |= record->known;
	if (function->number != record->number || function->pid != process->pid)
		function->launches++;
	function->number = record->number;
	function->pid = process->pid;
	sass_counts__add(&function->counts, &counts);
	place = code_table__add_place(&table->code, process, number, record->offset, record->file,
				      record->line);
	if (place == CODE_NONE)
		table->unkept++;
	else
		sass_counts__add(&table->instructions[place].counts, &counts);
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
	code_table__sort_functions(&table->code, compare_functions);
	if (table->instruction_count)
		qsort(table->instructions, table->instruction_count, sizeof(*table->instructions),
		      compare_instructions);
}

uint32_t sass_table__first(const struct sass_table *table, uint32_t function)
{
	return sorted__count_before(table->instruction_count, i,
				    table->instructions[i].at.function < function);
}

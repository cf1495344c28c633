// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/code/code_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct code_function *code_table__function(const struct code_table *table, uint32_t i)
{
	return (void *)((char *)table->functions + i * table->function_size);
}

struct code_place *code_table__place(const struct code_table *table, uint32_t i)
{
	return (void *)((char *)table->instructions + i * table->instruction_size);
}

void code_table__sort_functions(const struct code_table *table,
				int (*compare)(const void *a, const void *b))
{
	uint32_t n = table->function_count;
	size_t size = table->function_size;
	struct code_function **order = calloc(n + 1, sizeof(*order));
	char *sorted = calloc(n + 1, size);
	uint32_t *places = calloc(n + 1, sizeof(*places));

	for (uint32_t i = 0; order && i < n; i++)
		order[i] = code_table__function(table, i);
	if (n && order && sorted && places) {
		qsort(order, n, sizeof(*order), compare);
		for (uint32_t i = 0; i < n; i++) {
			memcpy(sorted + i * size, order[i], size);
			places[((char *)order[i] - (char *)table->functions) / size] = i;
		}
		for (uint32_t i = 0; i < table->instruction_count; i++) {
			struct code_place *place = code_table__place(table, i);

			place->function = places[place->function];
		}
		memcpy(table->functions, sorted, n * size);
	}
	free(order);
	free(sorted);
	free(places);
}

static uint32_t count_from(const struct code_table *table, enum code_lines_from from)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->function_count; i++)
		count += code_table__function(table, i)->lines_from == from;
	return count;
}

void code_table__say_lines_from(FILE *file, const struct code_table *table)
{
	uint32_t checked = count_from(table, CODE_LINES_FILE);
	uint32_t by_name = count_from(table, CODE_LINES_BY_NAME);

	if (checked + by_name)
		fprintf(file,
			"lines of %u functions are of the program's files: they were loaded "
			"before\n",
			checked + by_name);
	if (by_name)
		fprintf(file, "%u of these by their names only: no libcupti is here to compare\n",
			by_name);
}

bool code_place__is_same_line(const struct code_place *a, const struct code_place *b)
{
	return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

const char *code_place__name(const struct code_place *place, const char *lead, char *text,
			     size_t size)
{
	const char *name = place->file ? strrchr(place->file, '/') : NULL;

	if (place->file)
		snprintf(text, size, "%s%s:%u  +0x%" PRIx64, lead, name ? name + 1 : place->file,
			 place->line, place->offset);
	else
		snprintf(text, size, "%s+0x%" PRIx64, lead, place->offset);
	return text;
}

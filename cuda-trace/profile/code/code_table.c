// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/code/code_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/capture/process.h"

#define MAX_FUNCTIONS 8192
#define MAX_FILES     8192
#define NAME_BYTES    1024 /* that tell one function from another */

int code_table__init(struct code_table *table, size_t function_size, size_t instruction_size,
		     uint32_t most_instructions, size_t most_bytes)
{
	*table = (struct code_table){
		.function_size = function_size,
		.instruction_size = instruction_size,
		.function_names = intern__new(MAX_FUNCTIONS, most_bytes),
		.instruction_keys = intern__new(most_instructions, most_bytes),
		.files = intern__new(MAX_FILES, most_bytes),
	};
	if (table->function_names && table->instruction_keys && table->files)
		return 0;
	code_table__free(table);
	return -1;
}

void code_table__free(struct code_table *table)
{
	intern__free(table->function_names);
	intern__free(table->instruction_keys);
	intern__free(table->files);
	free(table->functions);
	free(table->instructions);
}

/* Of a name, a number; where it is new, one more element of the array, all zero. */
static uint32_t add(struct interned *keys, const void *key, size_t key_size, void **array,
		    uint32_t *count, uint32_t *capacity, size_t size)
{
	size_t fits = *capacity;
	uint32_t number;
	bool is_new;

	if (!array_grow__fit(array, &fits, (size_t)*count + 1, size))
		return CODE_NONE;
	*capacity = fits;
	number = intern__number(keys, key, key_size, &is_new);
	if (number && is_new)
		memset((char *)*array + size * (*count)++, 0, size);
	return number ? number - 1 : CODE_NONE;
}

static const char *text_of(struct code_table *table, const char *text)
{
	uint32_t number =
		text && *text ? intern__number(table->files, text, strlen(text) + 1, NULL) : 0;

	return number ? intern__at(table->files, number, NULL) : NULL;
}

uint32_t code_table__add_function(struct code_table *table, const struct process *process,
				  const char *name, uint32_t id, uint64_t cubin)
{
	char key[sizeof(cubin) + NAME_BYTES];
	size_t length = strnlen(name, NAME_BYTES - 1);
	struct code_function *function;
	uint32_t index;

	memcpy(key, &cubin, sizeof(cubin));
	memcpy(key + sizeof(cubin), name, length);
	key[sizeof(cubin) + length] = '\0';
	index = add(table->function_names, key, sizeof(cubin) + length + 1, &table->functions,
		    &table->function_count, &table->function_capacity, table->function_size);
	if (index == CODE_NONE)
		return index;
	function = code_table__function(table, index);
	function->name =
		(const char *)intern__at(table->function_names, index + 1, NULL) + sizeof(cubin);
	function->cubin = cubin;
	if (!function->symbol)
		function->symbol = text_of(table, process__name(process, id));
	return index;
}

uint32_t code_table__add_place(struct code_table *table, const struct process *process,
			       uint32_t function, uint64_t offset, uint32_t file, uint32_t line)
{
	const uint64_t key[] = {function, offset};
	uint32_t index = add(table->instruction_keys, key, sizeof(key), &table->instructions,
			     &table->instruction_count, &table->instruction_capacity,
			     table->instruction_size);
	struct code_place *place;

	if (index == CODE_NONE)
		return index;
	place = code_table__place(table, index);
	place->function = function;
	place->offset = offset;
	if (!place->file && file) {
		place->file = text_of(table, process__name(process, file));
		place->line = line;
	}
	return index;
}

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
			"source lines of %u functions were found in the program's files: they were "
			"loaded before tracing began\n",
			checked + by_name);
	if (by_name)
		fprintf(file,
			"%u of these were matched by name only: there is no libcupti here to "
			"compare their code\n",
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

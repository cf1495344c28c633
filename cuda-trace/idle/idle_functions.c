// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mappings of the processes that had stacks, and places in files as numbers. Used by idle.c.
 */
#include "cuda-trace/idle/idle_functions.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/symbols/mappings.h"
#include "cuda-trace/symbols/symbol_files.h"

#define PROCESSES_MAX 64
#define PLACES_MAX    16384
#define PLACES_BYTES  (4u << 20)
#define MODULES_MAX   256 /* whose names are read */

struct place {
	uint32_t module, pad;
	uint64_t address;
};

struct idle_functions {
	struct modules *modules;
	struct interned *places;
	struct {
		uint32_t pid;
		struct mappings *mappings;
	} processes[PROCESSES_MAX];
	uint32_t process_count;
	struct symbols *symbols[MODULES_MAX + 1]; /* by the module's number */
	bool read[MODULES_MAX + 1];
	char *pretty;
};

struct idle_functions *idle_functions__new(void)
{
	struct idle_functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->modules = modules__new();
	functions->places = intern__new(PLACES_MAX, PLACES_BYTES);
	if (functions->modules && functions->places)
		return functions;
	idle_functions__free(functions);
	return NULL;
}

void idle_functions__free(struct idle_functions *functions)
{
	if (!functions)
		return;
	for (uint32_t i = 0; i < functions->process_count; i++)
		mappings__free(functions->processes[i].mappings);
	for (uint32_t i = 0; i <= MODULES_MAX; i++)
		symbols__free(functions->symbols[i]);
	if (functions->modules)
		modules__free(functions->modules);
	intern__free(functions->places);
	free(functions->pretty);
	free(functions);
}

static struct mappings *mappings_of(struct idle_functions *functions, uint32_t pid)
{
	struct mappings *mappings;

	for (uint32_t i = functions->process_count; i; i--)
		if (functions->processes[i - 1].pid == pid)
			return functions->processes[i - 1].mappings;
	if (functions->process_count == PROCESSES_MAX)
		return NULL;
	mappings = mappings__new(pid, functions->modules);
	if (!mappings)
		return NULL;
	functions->processes[functions->process_count].pid = pid;
	functions->processes[functions->process_count++].mappings = mappings;
	return mappings;
}

/* Says nothing of what the program does. */
static bool is_system(const struct module *module)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "libpthread", "[vdso]"};
	const char *slash = strrchr(module->path, '/');
	const char *name = slash ? slash + 1 : module->path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

uint32_t idle_functions__number(struct idle_functions *functions, uint32_t pid,
				const uint64_t *addresses, uint32_t depth)
{
	struct mappings *mappings = depth ? mappings_of(functions, pid) : NULL;

	for (uint32_t i = 0; mappings && i < depth; i++) {
		struct place place = {};

		place.module = mappings__find(mappings, addresses[i] - (i > 0), &place.address);
		if (!place.module || is_system(modules__at(functions->modules, place.module)))
			continue;
		return intern__number(functions->places, &place, sizeof(place), NULL);
	}
	return 0;
}

static const char *file_name(const struct module *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash ? slash + 1 : module->path;
}

const char *idle_functions__name(struct idle_functions *functions, uint32_t number)
{
	const struct module *module;
	const struct place *place;
	const char *name = NULL;

	if (!number)
		return "";
	place = intern__at(functions->places, number, NULL);
	module = modules__at(functions->modules, place->module);
	if (place->module > MODULES_MAX)
		return file_name(module);
	if (!functions->read[place->module] && module->is_elf)
		functions->symbols[place->module] =
			symbol_files__read(module->fd, &module->outline);
	functions->read[place->module] = true;
	if (functions->symbols[place->module])
		name = symbols__at(functions->symbols[place->module], place->address);
	if (!name)
		return file_name(module);
	free(functions->pretty);
	functions->pretty = demangle(name);
	return functions->pretty ? functions->pretty : name;
}

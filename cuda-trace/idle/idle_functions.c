// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mappings of the processes that had stacks, and places in files as numbers. Used by idle.c.
 */
#include "cuda-trace/idle/idle_functions.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/symbols/mappings.h"
#include "cuda-trace/symbols/python_code.h"
#include "cuda-trace/symbols/symbol_files.h"

#define PROCESSES_MAX 64
#define PLACES_MAX    16384
#define PLACES_BYTES  (4u << 20)
#define MODULES_MAX   256 /* whose names are read */
#define CODES_BYTES   (16u << 20)
#define PYTHON_LEN    120

struct place {
	uint32_t module; /* 0 = only Python is known */
	uint32_t python; /* number in texts; 0 = none */
	uint64_t address;
};

struct idle_functions {
	struct modules *modules;
	struct interned *places;
	struct interned *texts; /* of Python */
	size_t codes_left;
	struct known_process {
		uint32_t pid;
		struct mappings *mappings;
		struct python_codes *codes; /* NULL = none came */
	} processes[PROCESSES_MAX];
	uint32_t process_count;
	struct symbols *symbols[MODULES_MAX + 1]; /* by the module's number */
	bool read[MODULES_MAX + 1];
	char *pretty;
	char named[PYTHON_LEN * 2];
};

struct idle_functions *idle_functions__new(void)
{
	struct idle_functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->modules = modules__new();
	functions->places = intern__new(PLACES_MAX, PLACES_BYTES);
	functions->texts = intern__new(PLACES_MAX, PLACES_BYTES);
	functions->codes_left = CODES_BYTES;
	if (functions->modules && functions->places && functions->texts)
		return functions;
	idle_functions__free(functions);
	return NULL;
}

static void free_process(struct known_process *process)
{
	mappings__free(process->mappings);
	if (process->codes)
		python_codes__free(process->codes);
}

void idle_functions__free(struct idle_functions *functions)
{
	if (!functions)
		return;
	for (uint32_t i = 0; i < functions->process_count; i++)
		free_process(&functions->processes[i]);
	for (uint32_t i = 0; i <= MODULES_MAX; i++)
		symbols__free(functions->symbols[i]);
	if (functions->modules)
		modules__free(functions->modules);
	intern__free(functions->places);
	intern__free(functions->texts);
	free(functions->pretty);
	free(functions);
}

void idle_functions__forget(struct idle_functions *functions, uint32_t pid)
{
	for (uint32_t i = 0; i < functions->process_count; i++) {
		if (functions->processes[i].pid != pid)
			continue;
		free_process(&functions->processes[i]);
		functions->processes[i] = functions->processes[--functions->process_count];
		return;
	}
}

/* Processes without CUDA: nobody reports their end. */
static void forget_ended(struct idle_functions *functions)
{
	for (uint32_t i = functions->process_count; i; i--)
		if (kill(functions->processes[i - 1].pid, 0) && errno == ESRCH)
			idle_functions__forget(functions, functions->processes[i - 1].pid);
}

static struct known_process *process_of(struct idle_functions *functions, uint32_t pid)
{
	struct known_process *process;

	for (uint32_t i = functions->process_count; i; i--)
		if (functions->processes[i - 1].pid == pid)
			return &functions->processes[i - 1];
	if (functions->process_count == PROCESSES_MAX)
		forget_ended(functions);
	if (functions->process_count == PROCESSES_MAX)
		return NULL;
	process = &functions->processes[functions->process_count];
	process->mappings = mappings__new(pid, functions->modules);
	if (!process->mappings)
		return NULL;
	process->pid = pid;
	process->codes = NULL;
	functions->process_count++;
	return process;
}

static const char *file_name(const struct module *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash ? slash + 1 : module->path;
}

/* Says nothing of what the program does. */
static bool is_system(const struct module *module)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "libpthread", "[vdso]"};
	const char *name = file_name(module);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_interpreter(const struct module *module)
{
	return strstr(file_name(module), "python");
}

uint32_t idle_functions__number(struct idle_functions *functions, uint32_t pid,
				const uint64_t *addresses, uint32_t depth, uint32_t python)
{
	struct known_process *process = depth ? process_of(functions, pid) : NULL;
	struct mappings *mappings = process ? process->mappings : NULL;
	struct place place = {.python = python};

	for (uint32_t i = 0; mappings && i < depth; i++) {
		place.module = mappings__find(mappings, addresses[i] - (i > 0), &place.address);
		if (!place.module || is_system(modules__at(functions->modules, place.module)))
			continue;
		/* Its functions say nothing that the frame does not say better. */
		if (python && is_interpreter(modules__at(functions->modules, place.module)))
			break;
		return intern__number(functions->places, &place, sizeof(place), NULL);
	}
	place = (struct place){.python = python};
	return python ? intern__number(functions->places, &place, sizeof(place), NULL) : 0;
}

uint32_t idle_functions__python(struct idle_functions *functions, uint32_t pid,
				const struct idle_frame *frame, const struct event_code *event)
{
	struct known_process *process = process_of(functions, pid);
	const struct python_code *code;
	const char *slash;
	char text[PYTHON_LEN];

	if (!process)
		return 0;
	if (!process->codes)
		process->codes = python_codes__new(&functions->codes_left);
	if (!process->codes)
		return 0;
	if (event)
		python_codes__add(process->codes, event);
	code = python_codes__find(process->codes, frame->code, frame->key);
	if (!code)
		return 0;
	slash = strrchr(python_code__file(code), '/');
	snprintf(text, sizeof(text), "%.60s (%.40s:%d)", python_code__name(code),
		 slash ? slash + 1 : python_code__file(code),
		 python_code__line(code, frame->instruction));
	return intern__number(functions->texts, text, strlen(text) + 1, NULL);
}

uint32_t idle_functions__named(struct idle_functions *functions, const char *name)
{
	struct place place = {};

	if (*name)
		place.python = intern__number(functions->texts, name, strlen(name) + 1, NULL);
	return place.python ? intern__number(functions->places, &place, sizeof(place), NULL) : 0;
}

static const char *native_name(struct idle_functions *functions, const struct place *place)
{
	const struct module *module;
	const char *name = NULL;

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

const char *idle_functions__name(struct idle_functions *functions, uint32_t number)
{
	const struct place *place = number ? intern__at(functions->places, number, NULL) : NULL;
	const char *python;

	if (!place)
		return "";
	python = place->python ? intern__at(functions->texts, place->python, NULL) : "";
	if (!place->module)
		return python;
	if (!*python)
		return native_name(functions, place);
	snprintf(functions->named, sizeof(functions->named), "%.100s in %s",
		 native_name(functions, place), python);
	return functions->named;
}

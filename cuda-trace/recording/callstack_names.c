// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/callstack_names.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/symbols/perf_map.h"
#include "cuda-trace/symbols/symbol_files.h"

#define MAX_JITS       128 /* each is an open file */
#define MAX_JIT_FRAMES 4096
#define JIT_BYTES      (256ul << 20) /* that are read of all their files */

struct jit {
	uint32_t pid;
	struct perf_map *map;
};

struct finding {
	const struct callstack_names *names;
	const struct modules *modules;
	const struct interned *frames;
	void (*put)(void *context, uint32_t frame, const char *name);
	void *context;
};

void callstack_names__remember_jit(struct callstack_names *names, uint32_t pid)
{
	struct perf_map *map;

	/* Processes come one after the other, and a program may have memory by many names. */
	for (uint32_t i = names->jit_count; i; i--)
		if (names->jits[i - 1].pid == pid)
			return;
	map = names->jit_count < MAX_JITS ? perf_map__open(pid) : NULL;
	if (map && array_grow__counted(names->jits, names->jit_count))
		names->jits[names->jit_count++] = (struct jit){pid, map};
	else
		perf_map__free(map);
}

/* Of a module. A server is used only for functions that its file does not name. */
struct tables {
	const struct module *module;
	struct symbols *own, *fetched; /* NULL = there is none, or it was not needed */
	bool is_read, is_fetched;
};

static const char *find_name(struct tables *tables, uint64_t address)
{
	const struct module *module = tables->module;
	const char *name;

	if (!tables->is_read)
		tables->own = symbol_files__read(module->fd, &module->outline);
	tables->is_read = true;
	name = tables->own ? symbols__at(tables->own, address) : NULL;
	if (name)
		return name;
	if (!tables->is_fetched)
		tables->fetched = symbol_files__fetch(&module->outline);
	tables->is_fetched = true;
	return tables->fetched ? symbols__at(tables->fetched, address) : NULL;
}

/* All frames of a module at once: only one module's tables are in memory at a time. */
static void name_frames_of(const struct finding *finding, uint32_t number)
{
	struct tables tables = {.module = modules__at(finding->modules, number)};

	for (uint32_t i = finding->names->named + 1; i <= intern__count(finding->frames); i++) {
		const struct frame_key *key = intern__at(finding->frames, i, NULL);
		const char *name;

		if (key->module != number)
			continue;
		name = find_name(&tables, key->address);
		if (name)
			finding->put(finding->context, i, name);
	}
	symbols__free(tables.own);
	symbols__free(tables.fetched);
}

static void put_jit_name(void *context, uint32_t number, const char *name)
{
	const struct finding *finding = context;

	finding->put(finding->context, number, name);
}

static void name_jit_frames(struct finding *finding, const struct jit *jit, size_t *bytes_left)
{
	struct perf_map_wish *wishes = malloc(MAX_JIT_FRAMES * sizeof(*wishes));
	size_t count = 0;

	for (uint32_t i = finding->names->named + 1; wishes && i <= intern__count(finding->frames);
	     i++) {
		const struct frame_key *key = intern__at(finding->frames, i, NULL);

		if (count < MAX_JIT_FRAMES && key->module &&
		    modules__at(finding->modules, key->module)->pid == jit->pid)
			wishes[count++] = (struct perf_map_wish){key->address, i};
	}
	if (count)
		perf_map__names(jit->map, wishes, count, bytes_left, put_jit_name, finding);
	free(wishes);
}

void callstack_names__find(struct callstack_names *names, const struct modules *modules,
			   const struct interned *frames,
			   void (*put)(void *context, uint32_t frame, const char *name),
			   void *context)
{
	struct finding finding = {names, modules, frames, put, context};
	size_t jit_bytes_left = JIT_BYTES;

	if (names->named == intern__count(frames))
		return;
	for (uint32_t i = 1; i <= modules__count(modules); i++)
		if (modules__at(modules, i)->is_elf)
			name_frames_of(&finding, i);
	for (uint32_t i = 0; i < names->jit_count; i++)
		name_jit_frames(&finding, &names->jits[i], &jit_bytes_left);
	names->named = intern__count(frames);
}

void callstack_names__free(struct callstack_names *names)
{
	for (uint32_t i = 0; i < names->jit_count; i++)
		perf_map__free(names->jits[i].map);
	free(names->jits);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * /proc/PID/maps, read again when an address is not in it, and every second: what was there may
 * have been unmapped and something else mapped in its place.
 */
#include "cuda-trace/symbols/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/foreign/foreign_file.h"

#define NS_PER_S     1000000000ull
#define STALE_NS     NS_PER_S
#define RETRY_SHARE  20 /* reading again and again takes this part of the time at most */
#define FREE_RETRIES 32 /* but for the first: a program that starts maps much in a short time */
#define MAX_MAPPINGS 65536
#define MAX_TEXTS    (4ul << 20) /* bytes of a process's paths */
#define MAX_MODULES  4096
#define MAX_FILES    512 /* kept open */

struct modules {
	struct module *list;
	uint32_t count, open;
};

struct mapping {
	uint64_t start, end, offset;
	uint64_t device, inode;
	uint32_t path;	 /* place in texts */
	uint32_t module; /* 0 = not looked up yet */
};

/* What one reading of the file has shown. */
struct maps {
	struct mapping *list;
	size_t count, capacity;
	char *texts;
	size_t text_bytes, text_capacity;
};

struct mappings {
	uint32_t pid;
	struct modules *modules;
	struct maps maps;
	uint64_t read_at, took; /* ns */
	uint32_t retries;	/* so far, for an address that was in none */
};

struct modules *modules__new(void)
{
	return calloc(1, sizeof(struct modules));
}

const struct module *modules__at(const struct modules *modules, uint32_t number)
{
	return &modules->list[number - 1];
}

uint32_t modules__count(const struct modules *modules)
{
	return modules->count;
}

void modules__free(struct modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->count; i++) {
		if (modules->list[i].fd >= 0)
			close(modules->list[i].fd);
		free(modules->list[i].path);
	}
	free(modules->list);
	free(modules);
}

/* What is mapped itself, also when its name is gone; that needs CAP_CHECKPOINT_RESTORE. */
static int open_mapped(uint32_t pid, const struct mapping *mapping, const char *path)
{
	struct foreign_file file;
	char range[40];

	snprintf(range, sizeof(range), "%llx-%llx", (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	if (!foreign_file__open_mapped(&file, pid, range, path)) {
		if (file.inode == mapping->inode)
			return file.fd;
		foreign_file__close(&file);
	}
	/* The process is gone: the very same file is likely still there, if it was in no container.
	 */
	if (foreign_file__open(&file, 0, path, false))
		return -1;
	if (file.inode == mapping->inode && file.device == mapping->device)
		return file.fd;
	foreign_file__close(&file);
	return -1;
}

static uint32_t find_module(const struct modules *modules, const struct mapping *mapping,
			    const char *path, uint32_t pid)
{
	for (uint32_t i = 0; i < modules->count; i++) {
		const struct module *module = &modules->list[i];

		if (module->device == mapping->device && module->inode == mapping->inode &&
		    module->pid == (mapping->inode ? 0 : pid) && !strcmp(module->path, path))
			return i + 1;
	}
	return 0;
}

static uint32_t add_module(struct modules *modules, const struct mapping *mapping, const char *path,
			   uint32_t pid)
{
	struct module *module;

	if (modules->count == MAX_MODULES || !array_grow__counted(modules->list, modules->count))
		return 0;
	module = &modules->list[modules->count];
	memset(module, 0, sizeof(*module));
	module->path = strdup(path);
	if (!module->path)
		return 0;
	module->device = mapping->device;
	module->inode = mapping->inode;
	module->pid = mapping->inode ? 0 : pid;
	module->fd =
		mapping->inode && modules->open < MAX_FILES ? open_mapped(pid, mapping, path) : -1;
	modules->open += module->fd >= 0;
	module->is_elf = module->fd >= 0 && !elf_outline__read(&module->outline, module->fd);
	return ++modules->count;
}

static bool keep_text(struct maps *maps, const char *text, uint32_t *at)
{
	size_t size = strlen(text) + 1;

	if (maps->text_bytes + size > MAX_TEXTS ||
	    !array_grow__to(maps->texts, maps->text_capacity, maps->text_bytes + size))
		return false;
	*at = maps->text_bytes;
	memcpy(maps->texts + *at, text, size);
	maps->text_bytes += size;
	return true;
}

/* "start-end perms offset major:minor inode   path"; only what can be executed. */
static bool parse_line(struct maps *maps, char *line, struct mapping *mapping)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char *path = "[anon]", perms[8];
	int used = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major,
		   &minor, &inode, &used) < 7 ||
	    perms[2] != 'x')
		return false;
	line[strcspn(line, "\n")] = 0;
	if (used && line[used])
		path = line + used;
	*mapping = (struct mapping){
		.start = start,
		.end = end,
		.offset = offset,
		.device = makedev(major, minor),
		.inode = inode,
	};
	return keep_text(maps, path, &mapping->path);
}

static void free_maps(struct maps *maps)
{
	free(maps->list);
	free(maps->texts);
}

/* False: the process had no memory any more when we came, or it ended while we read. */
static bool read_file(FILE *file, struct maps *maps)
{
	struct mapping mapping;
	char *line = NULL, byte;
	size_t size = 0;

	while (getline(&line, &size, file) > 0 && maps->count < MAX_MAPPINGS &&
	       array_grow__for_one(maps->list, maps->capacity, maps->count))
		if (parse_line(maps, line, &mapping))
			maps->list[maps->count++] = mapping;
	free(line);
	/* A file that ends because its process did looks like any other, but has become empty. */
	return pread(fileno(file), &byte, 1, 0) == 1;
}

/* Of a process that is gone the old ones stay: it cannot have changed them since. */
static void read_maps(struct mappings *mappings)
{
	uint64_t before = monotonic__ns();
	struct maps maps = {};
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", mappings->pid);
	file = fopen(path, "re");
	if (file && (read_file(file, &maps) || !mappings->maps.count)) {
		free_maps(&mappings->maps);
		mappings->maps = maps;
	} else {
		free_maps(&maps);
	}
	if (file)
		fclose(file);
	mappings->read_at = monotonic__ns();
	mappings->took = mappings->read_at - before;
}

struct mappings *mappings__new(uint32_t pid, struct modules *modules)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (mappings) {
		mappings->pid = pid;
		mappings->modules = modules;
		read_maps(mappings);
	}
	return mappings;
}

/* They come sorted. */
static struct mapping *mapping_of(const struct maps *maps, uint64_t address)
{
	size_t low = sorted__count_before(maps->count, i, maps->list[i].end <= address);

	return low < maps->count && maps->list[low].start <= address ? &maps->list[low] : NULL;
}

/* 0 = no space. */
static uint32_t module_of(struct mappings *mappings, struct mapping *mapping)
{
	const char *path = mappings->maps.texts + mapping->path;

	if (!mapping->module)
		mapping->module = find_module(mappings->modules, mapping, path, mappings->pid);
	if (!mapping->module)
		mapping->module = add_module(mappings->modules, mapping, path, mappings->pid);
	return mapping->module;
}

uint32_t mappings__find(struct mappings *mappings, uint64_t address, uint64_t *in_module)
{
	uint64_t age = monotonic__ns() - mappings->read_at;
	struct mapping *mapping;

	if (age >= STALE_NS)
		read_maps(mappings);
	mapping = mapping_of(&mappings->maps, address);
	if (!mapping && age < STALE_NS &&
	    (mappings->retries < FREE_RETRIES || age >= mappings->took * RETRY_SHARE)) {
		mappings->retries++;
		read_maps(mappings);
		mapping = mapping_of(&mappings->maps, address);
	}
	*in_module = address;
	if (!mapping)
		return 0;
	if (!module_of(mappings, mapping))
		return 0;
	elf_outline__address(&modules__at(mappings->modules, mapping->module)->outline,
			     address - mapping->start + mapping->offset, in_module);
	return mapping->module;
}

bool mappings__is_in(const struct mappings *mappings, uint32_t module, uint64_t address,
		     uint64_t *in_module)
{
	const struct mapping *mapping = mapping_of(&mappings->maps, address);

	return mapping && mapping->module == module &&
	       elf_outline__address(&modules__at(mappings->modules, module)->outline,
				    address - mapping->start + mapping->offset, in_module);
}

void mappings__open_all(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->maps.count; i++)
		if (mappings->maps.list[i].inode)
			module_of(mappings, &mappings->maps.list[i]);
}

void mappings__free(struct mappings *mappings)
{
	if (!mappings)
		return;
	free_maps(&mappings->maps);
	free(mappings);
}

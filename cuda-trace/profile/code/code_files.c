// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. to open all files of a process takes time, a thousandth of a second each at
 * worst: it is done once, and then at ever longer intervals, only while there are instructions
 * without a line. 2. a process has ended before that: its lines stay unknown. 3. code that was
 * compiled at run time has no file: its lines stay unknown as well, unless it was loaded while
 * somebody listened (pc_images.c).
 */
#include "cuda-trace/profile/code/code_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/code/image_search.h"
#include "cuda-trace/symbols/mappings.h"
#include "cuda-trace/base/clock.h"

#define MAX_PROCESSES  1024
#define FIRST_PAUSE_MS 1000

struct pc_files {
	struct modules *modules;
	struct seen {
		uint64_t instance;
		uint32_t pid;
		bool lineless; /* an instruction without a line came */
		uint64_t next_ms, pause_ms;
	} * processes;
	uint32_t count;
};

struct pc_files *pc_files__new(void)
{
	struct pc_files *files = calloc(1, sizeof(*files));

	if (files) {
		files->modules = modules__new();
		files->processes = calloc(MAX_PROCESSES, sizeof(*files->processes));
	}
	if (files && files->modules && files->processes)
		return files;
	pc_files__free(files);
	return NULL;
}

void pc_files__free(struct pc_files *files)
{
	if (!files)
		return;
	modules__free(files->modules);
	free(files->processes);
	free(files);
}

static struct seen *seen_of(struct pc_files *files, const struct process *process)
{
	/* The one that samples come of is most often the last. */
	for (uint32_t i = files->count; i--;)
		if (files->processes[i].pid == process->pid &&
		    files->processes[i].instance == process->instance)
			return &files->processes[i];
	if (files->count == MAX_PROCESSES)
		return NULL;
	files->processes[files->count] = (struct seen){
		.instance = process->instance, .pid = process->pid, .pause_ms = FIRST_PAUSE_MS};
	return &files->processes[files->count++];
}

static void open_files(struct pc_files *files, struct seen *seen)
{
	struct mappings *mappings;

	if (!seen->lineless || monotonic__ms() < seen->next_ms)
		return;
	mappings = mappings__new(seen->pid, files->modules);
	if (mappings)
		mappings__open_all(mappings);
	mappings__free(mappings);
	seen->lineless = false;
	seen->next_ms = monotonic__ms() + seen->pause_ms;
	seen->pause_ms *= 2;
}

/* An instruction without a line. */
static bool is_lineless(const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_PC_SAMPLE:
		return !((const struct cuda_pc_sample *)record)->file;
	case CUDA_RECORD_SASS:
		return !((const struct cuda_sass *)record)->file;
	default:
		return false;
	}
}

/* Not at each of thousands of samples, which come at once, a window's all together. */
static bool may_open(const struct cuda_record *record)
{
	return record->kind == CUDA_RECORD_PC_WINDOW || record->kind == CUDA_RECORD_SASS ||
	       record->kind == CUDA_RECORD_COUNTERS_STATE;
}

void pc_files__record(struct pc_files *files, const struct process *process,
		      const struct cuda_record *record)
{
	bool lineless = is_lineless(record);
	struct seen *seen = lineless || may_open(record) ? seen_of(files, process) : NULL;

	if (!seen)
		return;
	seen->lineless |= lineless;
	if (may_open(record))
		open_files(files, seen);
}

/* Functions that have no line (or all of them), and none to come. */
static uint32_t find_wishes(const struct pc_images *images, const struct code_table *table,
			    bool all, struct image_wish *wishes, uint32_t most)
{
	bool *has_line = calloc(table->function_count + 1, sizeof(*has_line));
	uint32_t count = 0;

	for (uint32_t i = 0; has_line && i < table->instruction_count; i++) {
		const struct code_place *place = code_table__place(table, i);

		has_line[place->function] |= place->file != NULL;
	}
	for (uint32_t i = 0; has_line && i < table->function_count && count < most; i++) {
		const struct code_function *function = code_table__function(table, i);

		if ((has_line[i] && !all) || !function->symbol || !function->cubin ||
		    pc_images__has(images, function->cubin))
			continue;
		wishes[count++] = (struct image_wish){function->symbol, function->cubin};
	}
	free(has_line);
	return count;
}

static void take(void *context, const struct image_found *found)
{
	pc_images__add(context, found->cubin, found->bytes, found->size,
		       found->by_name ? CODE_LINES_BY_NAME : CODE_LINES_FILE);
}

void pc_files__search(struct pc_files *files, struct pc_images *images,
		      const struct code_table *table, enum pc_files_for what)
{
	struct image_wish *wishes = calloc(IMAGE_WISHES_MAX, sizeof(*wishes));
	struct image_search search = {
		.files = files->modules,
		.wishes = wishes,
		.any = what != PC_FILES_LINES,
		.take = take,
		.context = images,
	};

	if (wishes)
		search.count =
			find_wishes(images, table, what == PC_FILES_ALL, wishes, IMAGE_WISHES_MAX);
	if (image_search__run(&search))
		search.failed = true;
	if (search.stopped || search.failed)
		fprintf(stderr,
			"cuda-trace profile: the search for source lines ended early, after %u of "
			"%u files\n",
			search.looked, modules__count(files->modules));
	free(wishes);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Call stacks are read whole, sorted by number; symbol tables stay open while they are. */
#include "cuda-trace/export/export_callstacks.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_frames.h"
#include "cuda-trace/recording/store_callstacks.h"
#include "cuda-trace/recording/store_text.h"
#include "cuda-trace/symbols/symbol_files.h"

#define MAX_FRAMES (1u << 24) /* of all call stacks */
#define MAX_FILES  256
#define MAX_PERIOD 1000000

struct chain {
	int64_t id;
	size_t first, count; /* in frames */
};

struct symbol_file {
	char *build_id;
	struct symbols *symbols; /* NULL = not found */
};

struct export_callstacks {
	const struct report_file *file;
	const struct names_of_file *names;
	struct chain *list;
	size_t count, capacity;
	const char **frames;
	struct chain_place *places; /* of frames */
	size_t frame_count, frame_capacity, place_capacity;
	char **own; /* texts that are not the file's */
	size_t own_count, own_capacity;
	struct key_index inlined; /* symbols to texts in `own`: names with a mark */
	struct symbol_file files[MAX_FILES];
	size_t file_count;
	uint64_t nameless;
	uint32_t period;
};

static const struct symbols *symbols_of(struct export_callstacks *callstacks, const char *build_id,
					const char *path)
{
	struct symbol_file *file;

	for (size_t i = 0; i < callstacks->file_count; i++)
		if (!strcmp(callstacks->files[i].build_id, build_id))
			return callstacks->files[i].symbols;
	if (callstacks->file_count == MAX_FILES)
		return NULL;
	file = &callstacks->files[callstacks->file_count];
	file->build_id = strdup(build_id);
	if (!file->build_id)
		return NULL;
	file->symbols = symbol_files__find(callstacks->file->symbols, build_id, path);
	callstacks->file_count++;
	return file->symbols;
}

/* A clean copy that lives as long as the call stacks. */
static const char *keep_text(struct export_callstacks *callstacks, const char *text)
{
	char *clean;

	if (!array_grow__for_one(callstacks->own, callstacks->own_capacity, callstacks->own_count))
		return NULL;
	clean = store__clean_text(text, strnlen(text, 4096));
	if (clean)
		callstacks->own[callstacks->own_count++] = clean;
	return clean;
}

/* The name of a function that was inlined; without memory it lacks its mark. */
static const char *mark_inlined(struct export_callstacks *callstacks, int64_t symbol,
				const char *name)
{
	ssize_t known = key_index__find(&callstacks->inlined, (uint64_t)symbol);
	size_t size = strlen(name) + sizeof(INLINED_MARK);
	char *marked;

	if (known >= 0)
		return callstacks->own[known];
	marked = malloc(size);
	if (!marked)
		return name;
	snprintf(marked, size, "%s" INLINED_MARK, name);
	if (!array_grow__for_one(callstacks->own, callstacks->own_capacity,
				 callstacks->own_count) ||
	    !key_index__add(&callstacks->inlined, (uint64_t)symbol, callstacks->own_count)) {
		free(marked);
		return name;
	}
	callstacks->own[callstacks->own_count++] = marked;
	return marked;
}

/* NULL = nothing is known beyond the address. */
static const char *find_name(struct export_callstacks *callstacks, sqlite3_stmt *row)
{
	const struct symbols *symbols;
	const char *found, *kept;
	char *pretty;

	if (!callstacks->file->symbols || sqlite3_column_type(row, 5) == SQLITE_NULL)
		return NULL;
	symbols = symbols_of(callstacks,
			     export_names__string(callstacks->names, sqlite3_column_int64(row, 5)),
			     export_names__string(callstacks->names, sqlite3_column_int64(row, 2)));
	found = symbols ? symbols__at(symbols, sqlite3_column_int64(row, 4)) : NULL;
	if (!found)
		return NULL;
	pretty = demangle(found);
	kept = keep_text(callstacks, pretty ? pretty : found);
	free(pretty);
	return kept;
}

static int add_frame(struct export_callstacks *callstacks, const char *name,
		     const struct chain_place *place)
{
	if (callstacks->frame_count == MAX_FRAMES ||
	    !array_grow__for_one(callstacks->frames, callstacks->frame_capacity,
				 callstacks->frame_count) ||
	    !array_grow__for_one(callstacks->places, callstacks->place_capacity,
				 callstacks->frame_count))
		return -ENOMEM;
	callstacks->places[callstacks->frame_count] = *place;
	callstacks->frames[callstacks->frame_count++] = name;
	callstacks->list[callstacks->count - 1].count++;
	return 0;
}

static int add_chain(struct export_callstacks *callstacks, int64_t id)
{
	if (!array_grow__for_one(callstacks->list, callstacks->capacity, callstacks->count))
		return -ENOMEM;
	callstacks->list[callstacks->count++] =
		(struct chain){.id = id, .first = callstacks->frame_count};
	return 0;
}

static int add_row(struct export_callstacks *callstacks, sqlite3_stmt *row)
{
	int64_t id = sqlite3_column_int64(row, 0);
	struct chain_place place = {0};
	const char *name = NULL;
	int err = 0;

	if (sqlite3_column_type(row, 2) != SQLITE_NULL)
		place.module =
			export_names__string(callstacks->names, sqlite3_column_int64(row, 2));
	if (sqlite3_column_type(row, 5) != SQLITE_NULL) {
		place.build_id =
			export_names__string(callstacks->names, sqlite3_column_int64(row, 5));
		place.address = sqlite3_column_int64(row, 4);
	}
	if (sqlite3_column_type(row, 6) != SQLITE_NULL && sqlite3_column_int64(row, 7) > 0) {
		place.source =
			export_names__string(callstacks->names, sqlite3_column_int64(row, 6));
		place.line = sqlite3_column_int64(row, 7);
	}
	place.inlined = sqlite3_column_int64(row, 8);
	if (!callstacks->count || callstacks->list[callstacks->count - 1].id != id)
		err = add_chain(callstacks, id);
	if (sqlite3_column_int64(row, 3)) {
		name = find_name(callstacks, row);
		callstacks->nameless += !name;
	}
	if (!name)
		name = export_names__string(callstacks->names, sqlite3_column_int64(row, 1));
	if (place.inlined)
		name = mark_inlined(callstacks, sqlite3_column_int64(row, 1), name);
	return err ? err : add_frame(callstacks, name, &place);
}

/* A thread without Python may work for one that has it: then a native line is not the program's. */
static void note_native(struct export_callstacks *callstacks)
{
	struct python_frame python;
	bool native = true;

	for (size_t i = 0; i < callstacks->frame_count && native; i++)
		native = !export_frames__python(callstacks->frames[i], callstacks->places[i].module,
						&python);
	for (size_t i = 0; i < callstacks->frame_count; i++)
		callstacks->places[i].native = native;
}

static int read_rows(struct export_callstacks *callstacks)
{
	bool ours = report_file__has(callstacks->file, "CUDA_CALLCHAINS", "moduleAddress");
	bool lines = report_file__has(callstacks->file, "CUDA_CALLCHAINS", "sourceLine");
	bool inlined = report_file__has(callstacks->file, "CUDA_CALLCHAINS", "inlined");
	sqlite3_stmt *statement;
	int code, err = 0;
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT id, symbol, module, unresolved, %s, %s, %s FROM CUDA_CALLCHAINS "
		 "ORDER BY id, stackDepth",
		 ours ? "moduleAddress, buildId" : "NULL, NULL",
		 lines ? "sourceFile, sourceLine" : "NULL, NULL", inlined ? "inlined" : "0");
	if (sqlite3_prepare_v2(callstacks->file->db, sql, -1, &statement, NULL))
		return report_file__complain(callstacks->file);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = add_row(callstacks, statement);
	if (!err && code != SQLITE_DONE)
		err = report_file__complain(callstacks->file);
	sqlite3_finalize(statement);
	note_native(callstacks);
	return err;
}

int export_callstacks__open(struct export_callstacks **result, const struct report_file *file,
			    const struct names_of_file *names)
{
	struct export_callstacks *callstacks;
	int64_t period;
	int err;

	*result = NULL;
	if (!report_file__has(file, "CUDA_CALLCHAINS", "stackDepth") ||
	    report_file__number(file, "SELECT 1 FROM CUDA_CALLCHAINS LIMIT 1", 0) != 1)
		return 0;
	callstacks = calloc(1, sizeof(*callstacks));
	if (!callstacks)
		return -ENOMEM;
	callstacks->file = file;
	callstacks->names = names;
	period = report_file__number(file,
				     "SELECT CAST(value AS INTEGER) FROM META_DATA_CAPTURE "
				     "WHERE name = 'STACK_PERIOD'",
				     1);
	callstacks->period = period > 0 && period < MAX_PERIOD ? period : 1;
	err = read_rows(callstacks);
	if (err)
		export_callstacks__close(callstacks);
	else
		*result = callstacks;
	return err;
}

static const struct chain *find_chain(const struct export_callstacks *callstacks, int64_t id)
{
	size_t low = 0, high = callstacks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (callstacks->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < callstacks->count && callstacks->list[low].id == id ? &callstacks->list[low]
									 : NULL;
}

const char *const *export_callstacks__frames(const struct export_callstacks *callstacks, int64_t id,
					     size_t *count)
{
	const struct chain *chain = find_chain(callstacks, id);

	*count = chain ? chain->count : 0;
	return chain ? callstacks->frames + chain->first : NULL;
}

const struct chain_place *export_callstacks__places(const struct export_callstacks *callstacks,
						    int64_t id)
{
	const struct chain *chain = find_chain(callstacks, id);

	return chain ? callstacks->places + chain->first : NULL;
}

uint32_t export_callstacks__period(const struct export_callstacks *callstacks)
{
	return callstacks->period;
}

uint64_t export_callstacks__nameless(const struct export_callstacks *callstacks)
{
	return callstacks->nameless;
}

void export_callstacks__close(struct export_callstacks *callstacks)
{
	if (!callstacks)
		return;
	for (size_t i = 0; i < callstacks->own_count; i++)
		free(callstacks->own[i]);
	for (size_t i = 0; i < callstacks->file_count; i++) {
		free(callstacks->files[i].build_id);
		symbols__free(callstacks->files[i].symbols);
	}
	free(callstacks->own);
	key_index__free(&callstacks->inlined);
	free(callstacks->list);
	free(callstacks->frames);
	free(callstacks->places);
	free(callstacks);
}

/* The call of the runtime and that of the driver in it have one correlation id. */
int export_callstacks__of_launches(const struct report_file *file)
{
	static const char sql[] =
		"CREATE TEMP TABLE IF NOT EXISTS launch_callstacks (correlation INTEGER, pid "
		"INTEGER, "
		"chain INTEGER, PRIMARY KEY (correlation, pid)) WITHOUT ROWID;"
		"INSERT OR IGNORE INTO temp.launch_callstacks SELECT correlationId, "
		"globalTid / 0x1000000, callchainId FROM main.CUPTI_ACTIVITY_KIND_RUNTIME "
		"WHERE callchainId IS NOT NULL AND correlationId IS NOT NULL "
		"AND globalTid IS NOT NULL";

	/* Without call stacks nobody needs to look through millions of calls for theirs. */
	if (!report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId") ||
	    report_file__number(file, "SELECT 1 FROM CUDA_CALLCHAINS LIMIT 1", 0) != 1)
		return 0;
	return sqlite3_exec(file->db, sql, NULL, NULL, NULL) ? report_file__complain(file) : 1;
}

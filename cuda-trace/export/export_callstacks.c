// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call stacks are read whole, sorted by number. What the files of --symbols say is kept as long,
 * since frames refer to it.
 */
#include "cuda-trace/export/export_callstacks.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/export/export_frames.h"
#include "cuda-trace/recording/store_callstacks.h"
#include "cuda-trace/recording/store_text.h"
#include "cuda-trace/symbols/inlined_calls.h"
#include "cuda-trace/symbols/symbol_folder.h"

#define MAX_FRAMES (1u << 24) /* of all call stacks */
#define MAX_PERIOD 1000000

struct chain {
	int64_t id;
	size_t first, count; /* in frames */
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
	struct key_index inlined;     /* symbols to texts in `own`: names with a mark */
	struct symbol_folder *folder; /* of --symbols; NULL = none */
	struct key_index texts;	      /* places of its texts to those in `own` */
	uint64_t nameless;
	uint32_t period;
};

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

/* The build of a frame; NULL = it is not known, or nobody named a folder. */
static struct symbol_build *build_of(const struct export_callstacks *callstacks,
				     const struct chain_place *place)
{
	if (!callstacks->folder || !place->build_id)
		return NULL;
	return symbol_folder__build(callstacks->folder, place->build_id,
				    place->module ? place->module : "");
}

/* A text of the folder's files, clean; each is kept once. NULL = no memory. */
static const char *keep_once(struct export_callstacks *callstacks, const char *text)
{
	ssize_t known = key_index__find(&callstacks->texts, (uintptr_t)text);
	const char *kept;

	if (known >= 0)
		return callstacks->own[known];
	kept = keep_text(callstacks, text);
	if (kept)
		key_index__add(&callstacks->texts, (uintptr_t)text, callstacks->own_count - 1);
	return kept;
}

/* The same of a function's name, which is demangled, and marked if it was inlined. */
static const char *keep_name(struct export_callstacks *callstacks, const char *name, bool inlined)
{
	ssize_t known = key_index__find(&callstacks->texts, (uintptr_t)name);
	char *pretty = known < 0 ? demangle(name) : NULL;
	const char *kept, *shown = pretty ? pretty : name;
	char *marked = NULL;

	if (known >= 0)
		return callstacks->own[known];
	if (inlined && asprintf(&marked, "%s" INLINED_MARK, shown) < 0)
		marked = NULL;
	kept = keep_text(callstacks, marked ? marked : shown);
	if (kept)
		key_index__add(&callstacks->texts, (uintptr_t)name, callstacks->own_count - 1);
	free(marked);
	free(pretty);
	return kept;
}

/* NULL = nothing is known beyond the address. */
static const char *find_name(struct export_callstacks *callstacks, const struct chain_place *place)
{
	struct symbol_build *build = build_of(callstacks, place);
	const char *found = build ? symbol_build__function(build, place->address) : NULL;

	return found ? keep_name(callstacks, found, false) : NULL;
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

static void set_source(struct export_callstacks *callstacks, struct chain_place *place,
		       const char *path, uint32_t line)
{
	place->source = line && path && *path ? keep_once(callstacks, path) : NULL;
	place->line = place->source ? line : 0;
}

/*
 * Of a frame that was recorded without its line: its line and the functions that were inlined
 * there, which come before it, as the folder's files have them. Each has the line of the call that
 * is in it.
 */
static int add_inlined(struct export_callstacks *callstacks, struct chain_place *place)
{
	struct symbol_build *build = build_of(callstacks, place);
	const struct inlined_call *calls = NULL;
	struct chain_place inlined = *place;
	const char *path = NULL;
	uint32_t line = build ? symbol_build__line(build, place->address, &path) : 0;
	size_t count = build ? symbol_build__inlined(build, place->address, &calls) : 0;
	int err = 0;

	inlined.inlined = true;
	for (size_t i = 0; i < count && !err; i++) {
		const char *name = keep_name(callstacks, calls[i].name, true);

		set_source(callstacks, &inlined, path, line);
		err = name ? add_frame(callstacks, name, &inlined) : -ENOMEM;
		path = calls[i].path;
		line = calls[i].line;
	}
	set_source(callstacks, place, path, line);
	return err;
}

/* Its inlined functions were recorded, in the rows before it. */
static bool follows_inlined(const struct export_callstacks *callstacks)
{
	const struct chain *chain = &callstacks->list[callstacks->count - 1];

	return chain->count && callstacks->places[callstacks->frame_count - 1].inlined;
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
	if (err)
		return err;
	if (!place.line && !place.inlined && !follows_inlined(callstacks))
		err = add_inlined(callstacks, &place);
	if (sqlite3_column_int64(row, 3)) {
		name = find_name(callstacks, &place);
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

/* What has no line: the files of --symbols are read once for all of it. */
static int want_lines(struct export_callstacks *callstacks)
{
	const char *has_none = report_file__has(callstacks->file, "CUDA_CALLCHAINS", "sourceLine")
				       ? "ifnull(sourceLine, 0) <= 0"
				       : "1";
	sqlite3_stmt *row;
	char sql[256];
	int code;

	if (!callstacks->file->symbols ||
	    !report_file__has(callstacks->file, "CUDA_CALLCHAINS", "moduleAddress"))
		return 0;
	callstacks->folder = symbol_folder__new(callstacks->file->symbols);
	if (!callstacks->folder)
		return -ENOMEM;
	snprintf(sql, sizeof(sql),
		 "SELECT DISTINCT buildId, module, moduleAddress FROM CUDA_CALLCHAINS "
		 "WHERE buildId IS NOT NULL AND moduleAddress IS NOT NULL AND %s",
		 has_none);
	if (sqlite3_prepare_v2(callstacks->file->db, sql, -1, &row, NULL))
		return report_file__complain(callstacks->file);
	while ((code = sqlite3_step(row)) == SQLITE_ROW) {
		const struct chain_place place = {
			.build_id = export_names__string(callstacks->names,
							 sqlite3_column_int64(row, 0)),
			.module = export_names__string(callstacks->names,
						       sqlite3_column_int64(row, 1)),
		};
		struct symbol_build *build = build_of(callstacks, &place);

		if (build)
			symbol_build__want(build, sqlite3_column_int64(row, 2));
	}
	sqlite3_finalize(row);
	return code == SQLITE_DONE ? 0 : report_file__complain(callstacks->file);
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
	err = want_lines(callstacks);
	if (!err)
		err = read_rows(callstacks);
	if (err)
		export_callstacks__close(callstacks);
	else
		*result = callstacks;
	return err;
}

static const struct chain *find_chain(const struct export_callstacks *callstacks, int64_t id)
{
	size_t low = sorted__count_before(callstacks->count, i, callstacks->list[i].id < id);

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
	symbol_folder__free(callstacks->folder);
	free(callstacks->own);
	key_index__free(&callstacks->inlined);
	key_index__free(&callstacks->texts);
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

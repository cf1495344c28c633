// SPDX-License-Identifier: BSD-2-Clause
/* Chains are read whole, sorted by number; symbol tables stay open while they are. */
#include "cuda-trace/export/export_callstacks.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/recording/store_text.h"
#include "cuda-trace/symbols/symbol_files.h"

#define MOST_FRAMES (1u << 24) /* of all chains */
#define MOST_FILES  256
#define MOST_PERIOD 1000000

struct chain {
	int64_t id;
	size_t first, count; /* in frames */
};

struct symbol_file {
	char *build_id;
	struct symbols *symbols; /* NULL = not found */
};

struct file_chains {
	const struct report_file *file;
	const struct names_of_file *names;
	struct chain *list;
	size_t count, room;
	const char **frames;
	struct chain_place *places; /* of frames */
	size_t frame_count, frame_room;
	char **own; /* texts that are not the file's */
	size_t own_count, own_room;
	struct symbol_file files[MOST_FILES];
	size_t file_count;
	uint64_t nameless;
	uint32_t period;
};

static const struct symbols *symbols_of(struct file_chains *chains, const char *build_id,
					const char *path)
{
	struct symbol_file *file;

	for (size_t i = 0; i < chains->file_count; i++)
		if (!strcmp(chains->files[i].build_id, build_id))
			return chains->files[i].symbols;
	if (chains->file_count == MOST_FILES)
		return NULL;
	file = &chains->files[chains->file_count];
	file->build_id = strdup(build_id);
	if (!file->build_id)
		return NULL;
	file->symbols = symbol_files__find(chains->file->symbols, build_id, path);
	chains->file_count++;
	return file->symbols;
}

/* A clean copy that lives as long as the chains. */
static const char *keep_text(struct file_chains *chains, const char *text)
{
	char *clean;

	if (chains->own_count == chains->own_room) {
		size_t room = chains->own_room ? chains->own_room * 2 : 64;
		char **own = reallocarray(chains->own, room, sizeof(*own));

		if (!own)
			return NULL;
		chains->own = own;
		chains->own_room = room;
	}
	clean = store__clean_text(text, strnlen(text, 4096));
	if (clean)
		chains->own[chains->own_count++] = clean;
	return clean;
}

/* NULL = nothing is known beyond the address. */
static const char *find_name(struct file_chains *chains, sqlite3_stmt *row)
{
	const struct symbols *symbols;
	const char *found, *kept;
	char *pretty;

	if (!chains->file->symbols || sqlite3_column_type(row, 5) == SQLITE_NULL)
		return NULL;
	symbols = symbols_of(chains,
			     export_names__string(chains->names, sqlite3_column_int64(row, 5)),
			     export_names__string(chains->names, sqlite3_column_int64(row, 2)));
	found = symbols ? symbols__at(symbols, sqlite3_column_int64(row, 4)) : NULL;
	if (!found)
		return NULL;
	pretty = demangle(found);
	kept = keep_text(chains, pretty ? pretty : found);
	free(pretty);
	return kept;
}

static int add_frame(struct file_chains *chains, const char *name, const struct chain_place *place)
{
	if (chains->frame_count == chains->frame_room) {
		size_t room = chains->frame_room ? chains->frame_room * 2 : 1024;
		const char **frames = reallocarray(chains->frames, room, sizeof(*frames));
		struct chain_place *places;

		if (!frames || room > MOST_FRAMES)
			return -ENOMEM;
		chains->frames = frames;
		places = reallocarray(chains->places, room, sizeof(*places));
		if (!places)
			return -ENOMEM;
		chains->places = places;
		chains->frame_room = room;
	}
	chains->places[chains->frame_count] = *place;
	chains->frames[chains->frame_count++] = name;
	chains->list[chains->count - 1].count++;
	return 0;
}

static int add_chain(struct file_chains *chains, int64_t id)
{
	if (chains->count == chains->room) {
		size_t room = chains->room ? chains->room * 2 : 256;
		struct chain *list = reallocarray(chains->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		chains->list = list;
		chains->room = room;
	}
	chains->list[chains->count++] = (struct chain){.id = id, .first = chains->frame_count};
	return 0;
}

static int take_row(struct file_chains *chains, sqlite3_stmt *row)
{
	int64_t id = sqlite3_column_int64(row, 0);
	struct chain_place place = {0};
	const char *name = NULL;
	int err = 0;

	if (sqlite3_column_type(row, 2) != SQLITE_NULL)
		place.module = export_names__string(chains->names, sqlite3_column_int64(row, 2));
	if (sqlite3_column_type(row, 5) != SQLITE_NULL) {
		place.build_id = export_names__string(chains->names, sqlite3_column_int64(row, 5));
		place.address = sqlite3_column_int64(row, 4);
	}
	if (!chains->count || chains->list[chains->count - 1].id != id)
		err = add_chain(chains, id);
	if (sqlite3_column_int64(row, 3)) {
		name = find_name(chains, row);
		chains->nameless += !name;
	}
	if (!name)
		name = export_names__string(chains->names, sqlite3_column_int64(row, 1));
	return err ? err : add_frame(chains, name, &place);
}

static int read_rows(struct file_chains *chains)
{
	bool ours = report_file__has(chains->file, "CUDA_CALLCHAINS", "moduleAddress");
	sqlite3_stmt *statement;
	int code, err = 0;
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT id, symbol, module, unresolved, %s FROM CUDA_CALLCHAINS "
		 "ORDER BY id, stackDepth",
		 ours ? "moduleAddress, buildId" : "NULL, NULL");
	if (sqlite3_prepare_v2(chains->file->db, sql, -1, &statement, NULL))
		return report_file__complain(chains->file);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = take_row(chains, statement);
	if (!err && code != SQLITE_DONE)
		err = report_file__complain(chains->file);
	sqlite3_finalize(statement);
	return err;
}

int file_chains__open(struct file_chains **result, const struct report_file *file,
		      const struct names_of_file *names)
{
	struct file_chains *chains;
	int64_t period;
	int err;

	*result = NULL;
	if (!report_file__has(file, "CUDA_CALLCHAINS", "stackDepth") ||
	    report_file__number(file, "SELECT 1 FROM CUDA_CALLCHAINS LIMIT 1", 0) != 1)
		return 0;
	chains = calloc(1, sizeof(*chains));
	if (!chains)
		return -ENOMEM;
	chains->file = file;
	chains->names = names;
	period = report_file__number(file,
				     "SELECT CAST(value AS INTEGER) FROM META_DATA_CAPTURE "
				     "WHERE name = 'STACK_PERIOD'",
				     1);
	chains->period = period > 0 && period < MOST_PERIOD ? period : 1;
	err = read_rows(chains);
	if (err)
		file_chains__close(chains);
	else
		*result = chains;
	return err;
}

static const struct chain *find_chain(const struct file_chains *chains, int64_t id)
{
	size_t low = 0, high = chains->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (chains->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < chains->count && chains->list[low].id == id ? &chains->list[low] : NULL;
}

const char *const *file_chains__frames(const struct file_chains *chains, int64_t id, size_t *count)
{
	const struct chain *chain = find_chain(chains, id);

	*count = chain ? chain->count : 0;
	return chain ? chains->frames + chain->first : NULL;
}

const struct chain_place *file_chains__places(const struct file_chains *chains, int64_t id)
{
	const struct chain *chain = find_chain(chains, id);

	return chain ? chains->places + chain->first : NULL;
}

uint32_t file_chains__period(const struct file_chains *chains)
{
	return chains->period;
}

uint64_t file_chains__nameless(const struct file_chains *chains)
{
	return chains->nameless;
}

void file_chains__close(struct file_chains *chains)
{
	if (!chains)
		return;
	for (size_t i = 0; i < chains->own_count; i++)
		free(chains->own[i]);
	for (size_t i = 0; i < chains->file_count; i++) {
		free(chains->files[i].build_id);
		symbols__free(chains->files[i].symbols);
	}
	free(chains->own);
	free(chains->list);
	free(chains->frames);
	free(chains->places);
	free(chains);
}

/* The call of the runtime and that of the driver in it have one correlation id. */
int file_chains__of_launches(const struct report_file *file)
{
	static const char sql[] =
		"CREATE TEMP TABLE IF NOT EXISTS launch_chains (correlation INTEGER, pid INTEGER, "
		"chain INTEGER, PRIMARY KEY (correlation, pid)) WITHOUT ROWID;"
		"INSERT OR IGNORE INTO temp.launch_chains SELECT correlationId, "
		"globalTid / 0x1000000, callchainId FROM main.CUPTI_ACTIVITY_KIND_RUNTIME "
		"WHERE callchainId IS NOT NULL AND correlationId IS NOT NULL "
		"AND globalTid IS NOT NULL";

	/* Without chains nobody needs to look through millions of calls for theirs. */
	if (!report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId") ||
	    report_file__number(file, "SELECT 1 FROM CUDA_CALLCHAINS LIMIT 1", 0) != 1)
		return 0;
	return sqlite3_exec(file->db, sql, NULL, NULL, NULL) ? report_file__complain(file) : 1;
}

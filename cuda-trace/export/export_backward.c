// SPDX-License-Identifier: BSD-2-Clause
/*
 * backward() first fills the gradient that it begins with, by a kernel that the calling thread
 * launches, and then waits. So the call that a kernel of autograd's belongs to is on the stack of
 * its thread's last launch. Where no thread has such a last launch (backward(gradient=...) fills
 * nothing), or several have one, the call is not known. This needs the stacks of all launches.
 */
#include "cuda-trace/export/export_backward.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "cuda-trace/export/export_frames.h"

#define KNOWN	  1024
#define MAX_CALLS 64 /* beyond them none is known: there are several in any case */

enum kind { KIND_OTHER, KIND_PYTHON, KIND_CALL, KIND_AUTOGRAD };

struct known_kind {
	int64_t chain;
	enum kind kind;
	bool is_known;
};

struct call {
	int64_t thread, chain;
};

struct search {
	const struct export_callstacks *callstacks;
	sqlite3_stmt *insert;
	struct known_kind known[KNOWN];
	int64_t pid;
	struct call calls[MAX_CALLS]; /* of that process, that may be under way */
	size_t call_count;
};

static void forget_call(struct search *search, int64_t thread)
{
	for (size_t i = 0; i < search->call_count; i++)
		if (search->calls[i].thread == thread)
			search->calls[i--] = search->calls[--search->call_count];
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text), n = strlen(with);

	return length >= n && !strcmp(text + length - n, with);
}

static enum kind find_kind(const struct export_callstacks *callstacks, int64_t chain)
{
	static const char engine[] = "torch::autograd::Engine::";
	const struct chain_place *places = export_callstacks__places(callstacks, chain);
	size_t count;
	const char *const *frames = export_callstacks__frames(callstacks, chain, &count);
	enum kind kind = KIND_OTHER;
	struct python_frame python;

	for (size_t i = 0; i < count; i++) {
		if (export_frames__python(frames[i], places[i].module, &python)) {
			if (ends(places[i].module, "/torch/autograd/__init__.py") &&
			    (!strcmp(python.function, "backward") ||
			     !strcmp(python.function, "grad")))
				return KIND_CALL;
			kind = KIND_PYTHON;
		} else if (kind == KIND_OTHER && !strncmp(frames[i], engine, strlen(engine))) {
			kind = KIND_AUTOGRAD;
		}
	}
	return kind;
}

static enum kind kind_of(struct search *search, int64_t chain)
{
	struct known_kind *known = &search->known[(uint64_t)chain % KNOWN];

	if (!known->is_known || known->chain != chain)
		*known = (struct known_kind){chain, find_kind(search->callstacks, chain), true};
	return known->kind;
}

static int read_launch(struct search *search, const struct report_file *file, sqlite3_stmt *row)
{
	int64_t thread = sqlite3_column_int64(row, 0), pid = thread / 0x1000000;
	int64_t chain = sqlite3_column_int64(row, 2);
	enum kind kind = kind_of(search, chain);

	if (pid != search->pid)
		search->call_count = 0;
	search->pid = pid;
	if (kind == KIND_CALL || kind == KIND_PYTHON)
		forget_call(search, thread);
	if (kind == KIND_CALL && search->call_count < MAX_CALLS)
		search->calls[search->call_count++] = (struct call){thread, chain};
	if (kind != KIND_AUTOGRAD || search->call_count != 1)
		return 0;
	sqlite3_bind_int64(search->insert, 1, search->calls[0].chain);
	sqlite3_bind_int64(search->insert, 2, sqlite3_column_int64(row, 1));
	sqlite3_bind_int64(search->insert, 3, pid);
	if (sqlite3_step(search->insert) != SQLITE_DONE)
		return report_file__complain(file);
	sqlite3_reset(search->insert);
	return 0;
}

int export_backward__find_calls(const struct report_file *file,
				const struct export_callstacks *callstacks)
{
	static const char table[] =
		"DROP TABLE IF EXISTS temp.backward_calls; CREATE TEMP TABLE backward_calls "
		"(correlation INTEGER, pid INTEGER, chain INTEGER, PRIMARY KEY (correlation, pid)) "
		"WITHOUT ROWID";
	struct search search = {.callstacks = callstacks};
	sqlite3_stmt *rows = NULL;
	int code = SQLITE_DONE, err = 0;

	if (sqlite3_exec(file->db, table, NULL, NULL, NULL))
		return report_file__complain(file);
	if (export_callstacks__period(callstacks) > 1)
		return 0;
	if (sqlite3_prepare_v2(file->db,
			       "SELECT globalTid, correlationId, callchainId FROM "
			       "main.CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL AND "
			       "correlationId IS NOT NULL ORDER BY globalTid / 0x1000000, start",
			       -1, &rows, NULL) ||
	    sqlite3_prepare_v2(file->db,
			       "INSERT OR IGNORE INTO temp.backward_calls VALUES (?2, ?3, ?1)", -1,
			       &search.insert, NULL) ||
	    sqlite3_exec(file->db, "BEGIN", NULL, NULL, NULL)) {
		err = report_file__complain(file);
	} else {
		while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW)
			err = read_launch(&search, file, rows);
		if (!err && code != SQLITE_DONE)
			err = report_file__complain(file);
		sqlite3_reset(rows);
		sqlite3_exec(file->db, "COMMIT", NULL, NULL, NULL);
	}
	sqlite3_finalize(search.insert);
	sqlite3_finalize(rows);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Strings and processes of a file. */
#include "cuda-trace/export/export_names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/report/report_index.h"
#include "cuda-trace/report/report_strings.h"
#include "cuda-trace/recording/store_text.h"

#define MAX_PROCESSES 65536

struct process_name {
	int64_t global;
	char *command, *label;
};

struct names_of_file {
	const struct report_file *file;
	char **strings;
	size_t count;
	struct process_name *processes;
	size_t process_count;
	struct key_index index, rows; /* of them, and of the table PROCESSES */
};

int export_names__open(struct names_of_file **result, const struct report_file *file)
{
	struct names_of_file *names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	names->file = file;
	err = report_strings__read(file, store__clean_text, &names->strings, &names->count);
	if (!err)
		err = report_index__read(&names->rows, file, "PROCESSES", MAX_PROCESSES);
	if (err) {
		export_names__close(names);
		return err;
	}
	*result = names;
	return 0;
}

const char *export_names__string(const struct names_of_file *names, int64_t id)
{
	if (id < 0 || (size_t)id >= names->count || !names->strings[id])
		return "[unknown]";
	return names->strings[id][0] ? names->strings[id] : "[no name]";
}

static char *read_command(const struct names_of_file *names, int64_t global)
{
	ssize_t row = key_index__find(&names->rows, global);
	sqlite3_stmt *statement = NULL;
	char *command = NULL;

	if (row >= 0 &&
	    !sqlite3_prepare_v2(names->file->db, "SELECT name FROM PROCESSES WHERE rowid = ?", -1,
				&statement, NULL)) {
		sqlite3_bind_int64(statement, 1, row);
		if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
			command = store__clean_text((const char *)sqlite3_column_text(statement, 0),
						    256);
	}
	sqlite3_finalize(statement);
	return command ? command : strdup("process");
}

static struct process_name *find(struct names_of_file *names, int64_t global)
{
	int64_t key = global & ~0xffffffll;
	ssize_t known = key_index__find(&names->index, key);
	struct process_name *process;

	if (known >= 0)
		return &names->processes[known];
	if (names->process_count == MAX_PROCESSES ||
	    !array_grow__counted(names->processes, names->process_count) ||
	    !key_index__add(&names->index, key, names->process_count))
		return NULL;
	process = &names->processes[names->process_count++];
	process->global = key;
	process->command = read_command(names, key);
	if (!process->command || asprintf(&process->label, "%s (%lld)", process->command,
					  (long long)(key >> 24 & 0xffffff)) < 0)
		process->label = NULL;
	return process;
}

const char *export_names__process(struct names_of_file *names, int64_t global)
{
	const struct process_name *process = find(names, global);

	return process && process->label ? process->label : "[process]";
}

const char *export_names__command(struct names_of_file *names, int64_t global)
{
	const struct process_name *process = find(names, global);

	return process && process->command ? process->command : "[process]";
}

size_t export_names__process_index(struct names_of_file *names, int64_t global)
{
	const struct process_name *process = find(names, global);

	return process ? (size_t)(process - names->processes) : 0;
}

size_t export_names__process_count(const struct names_of_file *names)
{
	return names->process_count;
}

int64_t export_names__process_at(const struct names_of_file *names, size_t n)
{
	return names->processes[n].global;
}

void export_names__close(struct names_of_file *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->process_count; i++) {
		free(names->processes[i].command);
		free(names->processes[i].label);
	}
	report_strings__free(names->strings, names->count);
	key_index__free(&names->index);
	key_index__free(&names->rows);
	free(names->processes);
	free(names);
}

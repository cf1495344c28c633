// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small file may hold large strings: a column's default stands in it once and is in every row.
 */
#include "cuda-trace/report/report_strings.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"

#define MAX_STRINGS (1 << 22)
#define MAX_BYTES   (1ul << 30)
#define LONGEST	    8192

static int refuse(const struct report_file *file)
{
	char shown[512];

	fprintf(stderr, "cuda-trace: %s: more than 1 GiB of names (StringIds)\n",
		text__show(shown, sizeof(shown), file->path, 120));
	return -E2BIG;
}

int report_strings__read(const struct report_file *file, char *(*copy)(const char *, size_t),
			 char ***strings, size_t *count)
{
	int64_t most = report_file__number(file, "SELECT max(id) FROM StringIds", 0);
	sqlite3_stmt *statement;
	size_t bytes = 0;
	int code;

	if (most < 0 || most >= MAX_STRINGS)
		most = MAX_STRINGS - 1;
	*count = most + 1;
	*strings = calloc(*count, sizeof(**strings));
	if (!*strings)
		return -ENOMEM;
	if (sqlite3_prepare_v2(file->db, "SELECT id, value FROM StringIds", -1, &statement, NULL))
		return report_file__complain(file);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && bytes <= MAX_BYTES) {
		int64_t id = sqlite3_column_int64(statement, 0);
		const char *text = (const char *)sqlite3_column_text(statement, 1);

		if (id < 0 || id > most || !text || (*strings)[id])
			continue;
		(*strings)[id] = copy(text, LONGEST);
		bytes += (*strings)[id] ? strlen((*strings)[id]) : 0;
	}
	sqlite3_finalize(statement);
	if (code == SQLITE_ROW)
		return refuse(file);
	return code == SQLITE_DONE ? 0 : report_file__complain(file);
}

void report_strings__free(char **strings, size_t count)
{
	for (size_t i = 0; strings && i < count; i++)
		free(strings[i]);
	free(strings);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_index.h"

#include <errno.h>
#include <stdio.h>
#include "cuda-trace/report/report_file.h"

int report_index__read(struct key_index *index, const struct report_file *file, const char *table,
		       uint32_t most)
{
	sqlite3_stmt *statement = NULL;
	char sql[128];
	int err = 0;

	snprintf(sql, sizeof(sql), "SELECT globalPid, rowid FROM %s ORDER BY rowid LIMIT %u", table,
		 most);
	/* A damaged file has no such rows: as if they were not there. */
	if (!sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		while (!err && sqlite3_step(statement) == SQLITE_ROW) {
			int64_t key = sqlite3_column_int64(statement, 0),
				row = sqlite3_column_int64(statement, 1);

			if (row >= 0 && row < UINT32_MAX && key_index__find(index, key) < 0 &&
			    !key_index__add(index, key, row))
				err = -ENOMEM;
		}
	sqlite3_finalize(statement);
	return err;
}

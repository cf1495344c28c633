// SPDX-License-Identifier: BSD-2-Clause
/*
 * Open addressing, half full at most. The keys are another process's: the worst that they can do by
 * falling together is to be as slow as a list.
 */
#include "cuda-trace/report/report_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/report/report_file.h"

static size_t place_of(const struct report_index *index, int64_t key)
{
	size_t i = ((uint64_t)key * 0x9e3779b97f4a7c15ull) >> 32 & (index->capacity - 1);

	while (index->numbers[i] && index->keys[i] != key)
		i = (i + 1) & (index->capacity - 1);
	return i;
}

ssize_t report_index__find(const struct report_index *index, int64_t key)
{
	size_t i = index->capacity ? place_of(index, key) : 0;

	return index->capacity && index->numbers[i] ? (ssize_t)index->numbers[i] - 1 : -ENOENT;
}

static int grow(struct report_index *index)
{
	struct report_index larger = {.count = index->count,
				      .capacity = index->capacity ? index->capacity * 2 : 64};

	larger.keys = calloc(larger.capacity, sizeof(*larger.keys));
	larger.numbers = calloc(larger.capacity, sizeof(*larger.numbers));
	if (!larger.keys || !larger.numbers) {
		report_index__free(&larger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < index->capacity; i++) {
		if (index->numbers[i]) {
			size_t place = place_of(&larger, index->keys[i]);

			larger.keys[place] = index->keys[i];
			larger.numbers[place] = index->numbers[i];
		}
	}
	report_index__free(index);
	*index = larger;
	return 0;
}

int report_index__add(struct report_index *index, int64_t key, uint32_t number)
{
	size_t place;

	if (index->count * 2 >= index->capacity && grow(index))
		return -ENOMEM;
	place = place_of(index, key);
	if (index->numbers[place])
		return 0;
	index->keys[place] = key;
	index->numbers[place] = number + 1;
	index->count++;
	return 0;
}

int report_index__read(struct report_index *index, const struct report_file *file,
		       const char *table, uint32_t most)
{
	sqlite3_stmt *statement = NULL;
	char sql[128];
	int err = 0;

	snprintf(sql, sizeof(sql), "SELECT globalPid, rowid FROM %s ORDER BY rowid LIMIT %u", table,
		 most);
	/* A damaged file has no such rows: as if they were not there. */
	if (!sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		while (!err && sqlite3_step(statement) == SQLITE_ROW) {
			int64_t row = sqlite3_column_int64(statement, 1);

			if (row >= 0 && row < UINT32_MAX)
				err = report_index__add(index, sqlite3_column_int64(statement, 0),
							row);
		}
	sqlite3_finalize(statement);
	return err;
}

void report_index__free(struct report_index *index)
{
	free(index->keys);
	free(index->numbers);
	*index = (struct report_index){};
}

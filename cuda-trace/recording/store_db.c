// SPDX-License-Identifier: BSD-2-Clause
/*
 * Filling an SQLite file as fast as SQLite goes: one transaction without a journal, because the
 * spool stays until the file is complete, so that nothing is lost if this dies half way.
 */
#include "cuda-trace/recording/store_db.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "embedded/schema.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/recording/store_table.h"
#include "cuda-trace/recording/store_text.h"

struct db {
	sqlite3 *handle;
	struct table tables[DB_TABLE_COUNT];
	sqlite3_stmt *insert_string;
	char **texts; /* by id in StringIds */
	size_t text_capacity, text_count;
	struct key_index index; /* of texts, by hash */
	char *path;
};

static int complain(struct db *db, const char *what)
{
	int code = sqlite3_errcode(db->handle);

	fprintf(stderr, "cuda-trace: cannot %s %s: %s\n", what, db->path,
		sqlite3_errmsg(db->handle));
	return code == SQLITE_FULL ? -ENOSPC : code == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

static int open_tables(struct db *db)
{
	for (int i = 0; i < DB_TABLE_COUNT; i++)
		if (table__open(&db->tables[i], db->handle, &record_tables[i]))
			return complain(db, "prepare");
	if (sqlite3_prepare_v3(db->handle, "INSERT INTO StringIds VALUES (?,?)", -1,
			       SQLITE_PREPARE_PERSISTENT, &db->insert_string, NULL))
		return complain(db, "prepare");
	return 0;
}

static int create_tables(struct db *db)
{
	int code = SQLITE_OK;

	for (int i = 0; !code && i < DB_TABLE_COUNT; i++) {
		char *sql = record_columns__declaration(i);

		code = sql ? sqlite3_exec(db->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	if (!code)
		code = sqlite3_exec(db->handle, embedded_tables_sql, NULL, NULL, NULL);
	return code ? code : sqlite3_exec(db->handle, embedded_enums_sql, NULL, NULL, NULL);
}

static int open_handle(struct db *db)
{
	/* A file of ours alone, so that nobody's link or file is written to; SQLite takes it on. */
	int fd = open(db->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		int err = -errno;

		fprintf(stderr, "cuda-trace: cannot make %s: %s\n", db->path, strerror(errno));
		return err;
	}
	close(fd);
	if (sqlite3_open_v2(db->path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL))
		return complain(db, "open");
	if (sqlite3_exec(db->handle,
			 "PRAGMA page_size=4096; PRAGMA journal_mode=OFF;"
			 "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
			 "PRAGMA secure_delete=OFF; PRAGMA cache_size=-16384; BEGIN",
			 NULL, NULL, NULL) ||
	    create_tables(db))
		return complain(db, "prepare");
	return 0;
}

/* SQLite takes "file:" names as URIs where it is built so, and may look for links. */
static char *plain_path(const char *path)
{
	char *plain;

	if (path[0] == '/')
		return strdup(path);
	return asprintf(&plain, "./%s", path) < 0 ? NULL : plain;
}

int db__create(struct db **result, const char *path)
{
	struct db *db = calloc(1, sizeof(*db));
	int err = -ENOMEM;

	if (!db)
		return -ENOMEM;
	db->path = plain_path(path);
	if (!db->path)
		goto cleanup;
	err = open_handle(db);
	if (!err)
		err = open_tables(db);
	/* Id 0 is the empty name, as in Nsight's files. */
	if (!err && db__string(db, "", 0) != 0)
		err = -EIO;
	if (err)
		goto cleanup;
	*result = db;
	return 0;
cleanup:
	db__close(db);
	return err;
}

int db__insert(struct db *db, enum db_table table, const int64_t *values)
{
	return table__insert(&db->tables[table], values) ? complain(db, "write") : 0;
}

int64_t db__string(struct db *db, const char *value, size_t length)
{
	char *clean = store__clean_text(value, length);
	uint64_t key = clean ? key_index__mix_text(0, clean) : 0;
	ssize_t id =
		clean ? key_index__match(&db->index, key, i, !strcmp(db->texts[i], clean)) : -1;

	if (id >= 0) {
		free(clean);
		return id;
	}
	if (!clean || !array_grow__for_one(db->texts, db->text_capacity, db->text_count) ||
	    !key_index__add(&db->index, key, db->text_count)) {
		free(clean);
		return -ENOMEM;
	}
	id = db->text_count++;
	db->texts[id] = clean;
	sqlite3_bind_int64(db->insert_string, 1, id);
	sqlite3_bind_text(db->insert_string, 2, clean, -1, SQLITE_STATIC);
	if (sqlite3_step(db->insert_string) != SQLITE_DONE)
		return complain(db, "write");
	sqlite3_reset(db->insert_string);
	return id;
}

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, column, store__clean_text(text, strlen(text)), -1,
				  free);
}

int db__run(struct db *db, const char *sql, const char *format, ...)
{
	sqlite3_stmt *statement;
	va_list values;
	int err = 0;

	if (sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL))
		return complain(db, "prepare");
	va_start(values, format);
	for (int i = 0; format[i]; i++) {
		if (format[i] == 'i') {
			int64_t value = va_arg(values, int64_t);

			if (value != DB_NULL)
				sqlite3_bind_int64(statement, i + 1, value);
		} else {
			bind_text(statement, i + 1, va_arg(values, const char *));
		}
	}
	va_end(values);
	if (sqlite3_step(statement) != SQLITE_DONE)
		err = complain(db, "write");
	sqlite3_finalize(statement);
	return err;
}

sqlite3 *db__handle(struct db *db)
{
	return db->handle;
}

/* Scripts written for Nsight's export look for the names of ranges and domains in `text`. */
static int put_nvtx_text(struct db *db)
{
	return sqlite3_exec(db->handle,
			    "UPDATE NVTX_EVENTS SET text = (SELECT value FROM StringIds WHERE id = "
			    "textId) WHERE textId IS NOT NULL",
			    NULL, NULL, NULL);
}

int db__finish(struct db *db)
{
	int fd, err = 0;

	for (int i = 0; i < DB_TABLE_COUNT; i++)
		if (table__finish(&db->tables[i]))
			return complain(db, "finish");
	if (put_nvtx_text(db))
		return complain(db, "finish");
	if (sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL))
		return complain(db, "finish");
	/* synchronous=OFF: the one sync that counts is ours, before the spool goes. */
	fd = open(db->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

void db__close(struct db *db)
{
	if (!db)
		return;
	for (int i = 0; i < DB_TABLE_COUNT; i++)
		table__close(&db->tables[i]);
	sqlite3_finalize(db->insert_string);
	sqlite3_close(db->handle);
	for (size_t i = 0; i < db->text_count; i++)
		free(db->texts[i]);
	free(db->texts);
	key_index__free(&db->index);
	free(db->path);
	free(db);
}

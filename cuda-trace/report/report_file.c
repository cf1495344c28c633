// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening. SQLite is reported to distrust the file: its schema may call no function of ours,
 * nothing in it can write, cells that lie about their size are refused, and what is read is a
 * table: a view of a few bytes can have rows without end, and the modules of virtual ones have had
 * their faults.
 */
#include "cuda-trace/report/report_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "cuda-trace/report/report_foreign.h"
#include "cuda-trace/report/report_group.h"
#include "cuda-trace/report/report_progress.h"
#include "cuda-trace/recording/store_import.h"
#include "cuda-trace/recording/store_spool.h"
#include "cuda-trace/base/text.h"

#define SQLITE_MAGIC "SQLite format 3"

/* A gzip stream may be this much larger unpacked: unlimited at first, then so many times. */
#define UNPACKED_AT_EASE (64ull << 20)
#define MAX_PACKED	 200

enum kind { KIND_MISSING, KIND_SQLITE, KIND_GZIP, KIND_SPOOL, KIND_OTHER };

static enum kind kind_of(const char *path)
{
	static const uint64_t magic = SPOOL_MAGIC;
	char head[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? KIND_MISSING : KIND_OTHER;
	/* A FIFO or a device would block or never end. */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return KIND_OTHER;
	}
	n = read(fd, head, sizeof(head));
	close(fd);
	if (n == sizeof(head) && !memcmp(head, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)))
		return KIND_SQLITE;
	if (n >= 2 && !memcmp(head, "\x1f\x8b", 2))
		return KIND_GZIP;
	if (n >= 8 && !memcmp(head, &magic, 8))
		return KIND_SPOOL;
	return KIND_OTHER;
}

static int refuse(const char *path)
{
	char shown[512];
	int err = access(path, R_OK) ? errno : 0;

	text__show(shown, sizeof(shown), path, 120);
	if (err)
		fprintf(stderr, "cuda-trace: cannot read %s: %s\n", shown, strerror(err));
	else
		fprintf(stderr,
			"cuda-trace: %s is neither a recording of cuda-trace nor an SQLite export "
			"of Nsight Systems (nsys export --type sqlite)\n",
			shown);
	return err ? -err : -EINVAL;
}

/* Unpacked files are nameless once they are open: so many more handles are opened with the first.
 */
struct report_spares {
	sqlite3 *free[REPORT_HANDLES];
	int count;
};

static int open_handle(struct report_file *file, const char *path)
{
	int code =
		sqlite3_open_v2(path, &file->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (code)
		return report_file__complain(file);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_drop_modules(file->db, NULL);
	sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(file->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_exec(file->db,
		     "PRAGMA cell_size_check=ON; PRAGMA cache_size=-32768; PRAGMA temp_store=FILE;"
		     "PRAGMA temp.cache_size=-16384",
		     NULL, NULL, NULL);
	return 0;
}

/* SQLite may take "file:..." as a URI with parameters; a path with a slash is always a path. */
static int open_named(struct report_file *file, const char *path)
{
	struct stat st;
	int err;

	if (asprintf(&file->opened, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
		file->opened = NULL;
		return -ENOMEM;
	}
	err = open_handle(file, file->opened);
	if (err || stat(file->opened, &st))
		return err ? err : -errno;
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return 0;
}

static int open_spares(struct report_file *file, const char *path)
{
	file->spares = calloc(1, sizeof(*file->spares));
	if (!file->spares)
		return -ENOMEM;
	for (int i = 0; i < REPORT_HANDLES; i++) {
		struct report_file spare = {.path = file->path};
		int err = open_handle(&spare, path);

		/* SQLite opens the file at its first use. */
		if (!err)
			report_file__number(&spare, "SELECT count(*) FROM sqlite_master", 0);
		file->spares->free[file->spares->count++] = spare.db;
		if (err)
			return err;
	}
	return 0;
}

/* A few megabytes may unpack to more than there are disks. Recordings of one kernel shrink to less
 * than half.
 */
static bool is_bomb(gzFile in, uint64_t unpacked)
{
	return unpacked > UNPACKED_AT_EASE && unpacked / MAX_PACKED > (uint64_t)gzoffset(in);
}

static int unpack(gzFile in, int fd)
{
	static char buffer[1 << 17];
	uint64_t unpacked = 0;
	int n;

	while ((n = gzread(in, buffer, sizeof(buffer))) > 0) {
		if (!unpacked && (n < (int)sizeof(SQLITE_MAGIC) ||
				  memcmp(buffer, SQLITE_MAGIC, sizeof(SQLITE_MAGIC))))
			return -EMEDIUMTYPE;
		if (is_bomb(in, unpacked += n))
			return -EFBIG;
		if (write(fd, buffer, n) != n)
			return -ENOSPC;
	}
	return n < 0 || !unpacked ? -EIO : 0;
}

/* Unpacks to a file that has no name any more once SQLite has it open. */
static int open_gzip(struct report_file *file, const char *path)
{
	const char *folder = getenv("TMPDIR");
	char *name = NULL;
	gzFile in = gzopen(path, "rbe");
	int fd = -1, err = -EIO;

	if (asprintf(&name, "%s/cuda-trace.XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		name = NULL;
	if (in && name)
		fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		goto cleanup;
	err = unpack(in, fd);
	if (err == -EMEDIUMTYPE)
		err = refuse(path);
	else if (!err)
		err = open_handle(file, name);
	if (!err)
		report_file__number(file, "SELECT count(*) FROM sqlite_master", 0);
	if (!err)
		err = open_spares(file, name);
	unlink(name);
cleanup:
	if (err == -ENOSPC || err == -EIO || err == -EFBIG)
		fprintf(stderr, "cuda-trace: cannot unpack the recording: %s\n",
			err == -EIO	 ? "it is damaged"
			: err == -ENOSPC ? "no space for temporary files (TMPDIR)"
					 : "unpacked, it is larger than the limit");
	if (fd >= 0)
		close(fd);
	if (in)
		gzclose(in);
	free(name);
	return err;
}

/* A recorder holds a lock on its spool while it lives. */
static bool in_use(const char *spool)
{
	int fd = open(spool, O_RDONLY | O_CLOEXEC);
	bool used = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return used;
}

static int recover(const char *spool, const char *path)
{
	struct import_options options = {
		.spool = spool,
		.path = path,
		.progress = isatty(STDERR_FILENO),
	};
	struct import_result result = {0};
	int err;

	if (in_use(spool)) {
		fprintf(stderr,
			"cuda-trace: %s is still being recorded; to see what there is so far: "
			"cuda-trace report --import %s --output COPY\n",
			path, spool);
		return -EBUSY;
	}
	fprintf(stderr, "cuda-trace: %s was left by a recorder that did not finish: importing\n",
		spool);
	err = import__run(&options, &result);
	if (!err && result.damaged_bytes)
		fprintf(stderr, "cuda-trace: %llu bytes of it were unreadable and were skipped\n",
			(unsigned long long)result.damaged_bytes);
	return err;
}

static void read_version(struct report_file *file)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(file->db,
			       "SELECT name, value FROM META_DATA_EXPORT WHERE name IN "
			       "('EXPORT_PRODUCT_NAME', 'EXPORT_SCHEMA_VERSION')",
			       -1, &statement, NULL))
		return;
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);
		const char *value = (const char *)sqlite3_column_text(statement, 1);

		if (!name || !value)
			continue;
		if (!strcmp(name, "EXPORT_PRODUCT_NAME"))
			file->ours = !strcmp(value, "cuda-trace");
		else
			text__show(file->version, sizeof(file->version), value, 24);
	}
	sqlite3_finalize(statement);
}

/* Is it readable at all, and does it look like a recording? */
static int examine(struct report_file *file)
{
	char shown[512];

	if (report_file__number(file, "SELECT count(*) FROM sqlite_master", -1) < 0)
		return report_file__complain(file);
	if (!report_file__has(file, "StringIds", "value")) {
		fprintf(stderr,
			"cuda-trace: %s is an SQLite file, but not a recording: it has no table "
			"StringIds\n",
			text__show(shown, sizeof(shown), file->path, 120));
		return -EINVAL;
	}
	read_version(file);
	/* NVIDIA changes the major number when all queries break. */
	if (file->version[0] && atoi(file->version) != 3) {
		fprintf(stderr,
			"cuda-trace: %s has schema version %s; this cuda-trace reads version 3\n",
			text__show(shown, sizeof(shown), file->path, 120), file->version);
		return -EPROTO;
	}
	return 0;
}

int report_file__open(struct report_file *file, const char *path)
{
	enum kind kind = kind_of(path);
	char *spool = NULL;
	int err = -ENOMEM;

	*file = (struct report_file){
		.path = path, .command = "report", .kept = calloc(1, sizeof(*file->kept))};
	if (!file->kept || asprintf(&spool, "%s.part", path) < 0)
		return -ENOMEM;
	if (kind == KIND_MISSING && kind_of(spool) == KIND_SPOOL) {
		err = recover(spool, path);
		if (err)
			goto cleanup;
		kind = kind_of(path);
	}
	if (kind == KIND_SQLITE)
		err = open_named(file, path);
	else if (kind == KIND_GZIP)
		err = open_gzip(file, path);
	else
		err = refuse(path);
	if (!err)
		err = examine(file);
	if (!err)
		err = report_foreign__adapt(file);
	file->progress = progress__new(path);
cleanup:
	free(spool);
	if (err)
		report_file__close(file);
	return err;
}

bool report_file__has(const struct report_file *file, const char *table, const char *column)
{
	sqlite3_stmt *statement;
	bool has;

	if (sqlite3_prepare_v2(file->db,
			       "SELECT 1 FROM pragma_table_info(?1, 'main') WHERE ?2 IS NULL OR "
			       "name = ?2",
			       -1, &statement, NULL))
		return false;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	if (column)
		sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
	has = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return has;
}

int report_file__any(const struct report_file *file, const char *table)
{
	sqlite3_stmt *statement;
	char sql[160];
	int code;

	if (!report_file__has(file, table, NULL))
		return 0;
	snprintf(sql, sizeof(sql), "SELECT 1 FROM \"%.100s\" LIMIT 1", table);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		report_file__complain(file);
	sqlite3_finalize(statement);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -EIO;
}

bool report_file__is_sample(const struct report_file *file)
{
	return report_file__any(file, "CUDA_TRACE_SAMPLES") > 0;
}

int64_t report_file__number(const struct report_file *file, const char *sql, int64_t fallback)
{
	sqlite3_stmt *statement;
	int64_t number = fallback;

	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return fallback;
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) != SQLITE_NULL)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return second && !sqlite3_stricmp(second, "load_extension") ? SQLITE_DENY
									    : SQLITE_OK;
	case SQLITE_PRAGMA:
		return first && (!sqlite3_stricmp(first, "table_info") ||
				 !sqlite3_stricmp(first, "table_xinfo") ||
				 !sqlite3_stricmp(first, "table_list"))
			       ? SQLITE_OK
			       : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

void report_file__restrict(struct report_file *file)
{
	/* Whoever writes statements may have made a view for them. */
	report_foreign__undo(file);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
	sqlite3_set_authorizer(file->db, authorize, NULL);
}

int report_file__complain(const struct report_file *file)
{
	char path[512], message[512];

	fprintf(stderr, "cuda-trace: %s: %s\n", text__show(path, sizeof(path), file->path, 120),
		text__show(message, sizeof(message), sqlite3_errmsg(file->db), 240));
	return -EIO;
}

int report_file__lend(const struct report_file *file, struct report_file *lent)
{
	struct stat st;
	int err;

	*lent = *file;
	lent->db = NULL;
	lent->progress = NULL;
	lent->kept = NULL;
	if (!file->opened) {
		if (!file->spares || !file->spares->count)
			return -EMFILE;
		lent->db = file->spares->free[--file->spares->count];
		err = report_foreign__adapt(lent);
		if (err)
			file->spares->free[file->spares->count++] = lent->db;
		return err;
	}
	err = open_handle(lent, file->opened);
	/* Half of a report from one recording and half from the next would be worse than none. */
	if (!err &&
	    (stat(file->opened, &st) || st.st_dev != file->device || st.st_ino != file->inode)) {
		char shown[512];

		fprintf(stderr, "cuda-trace: %s was replaced while it was read\n",
			text__show(shown, sizeof(shown), file->path, 120));
		err = -ESTALE;
	}
	if (err)
		sqlite3_close(lent->db);
	else /* who reads a table once from end to end gains nothing by a cache */
		sqlite3_exec(lent->db, "PRAGMA cache_size=-1024", NULL, NULL, NULL);
	if (!err) {
		err = report_foreign__adapt(lent);
		if (err)
			sqlite3_close(lent->db);
	}
	return err;
}

void report_file__return(const struct report_file *file, struct report_file *lent)
{
	if (file->opened)
		sqlite3_close(lent->db);
	else
		file->spares->free[file->spares->count++] = lent->db;
	lent->db = NULL;
}

void report_file__close(struct report_file *file)
{
	for (int i = 0; file->spares && i < file->spares->count; i++)
		sqlite3_close(file->spares->free[i]);
	free(file->spares);
	groups__forget(file);
	progress__free(file->progress);
	free(file->opened);
	sqlite3_close(file->db);
	*file = (struct report_file){.path = file->path};
}

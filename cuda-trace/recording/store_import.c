// SPDX-License-Identifier: BSD-2-Clause
/*
 * The spool is read twice: names and processes first, so that a name which came late still reaches
 * the rows that carry its id. The unfinished file has its own name until it is complete and synced.
 */
#include "cuda-trace/base/clock.h"
#include "cuda-trace/recording/store_import.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/recording/older_recording.h"
#include "cuda-trace/recording/store_begin.h"
#include "cuda-trace/recording/store_origin.h"
#include "cuda-trace/recording/store_rows.h"
#include "cuda-trace/recording/store_text.h"
#include "cuda-trace/recording/store_trigger.h"

#define NS_PER_S 1000000000ull

/* Each reads the spool: all but events, which launches have stacks, events. */
enum pass { PASS_FACTS, PASS_SAMPLES, PASS_EVENTS };

struct import {
	const struct import_options *options;
	struct spool_reader *reader;
	struct db *db;
	struct rows *rows;
	char *partial; /* the file while it is being made */
	struct spool_session session;
	char *facts; /* "key=value\0key=value\0\0" of the session */
	struct spool_lost lost;
	struct spool_begin begin; /* .monotonic 0 = that of the session */
	struct store_trigger trigger;
	bool has_lost, has_session, mps;
	uint64_t first, last, finished; /* times of blocks, of the proper end (0 = none) */
	uint64_t shown;			/* when the progress line was last written */
};

static void show_progress(struct import *import, bool done)
{
	uint64_t now = monotonic__ns(), size = spool_reader__size(import->reader);
	unsigned int percent = size ? spool_reader__position(import->reader) * 100 / size : 100;

	if (!import->options->progress || (!done && now - import->shown < NS_PER_S / 5))
		return;
	import->shown = now;
	if (done)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\rwriting %.60s: %3u %%, %llu rows ", import->options->path,
			percent, (unsigned long long)store_rows__count(import->rows));
	fflush(stderr);
}

/* A fact of the session, NULL if it has none of that name. */
static const char *fact(const struct import *import, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = import->facts; *at; at += strlen(at) + 1)
		if (!strncmp(at, key, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static int import_session(struct import *import, const uint8_t *data, size_t size)
{
	if (import->has_session || size < sizeof(import->session))
		return 0;
	memcpy(&import->session, data, sizeof(import->session));
	if (import->session.version != SPOOL_VERSION ||
	    import->session.probes_version != CUDA_PROBES_VERSION) {
		fprintf(stderr,
			"cuda-trace: %s was written by another version of cuda-trace (format %u, "
			"probes %u): import it with that one\n",
			import->options->spool, import->session.version,
			import->session.probes_version);
		return -EPROTO;
	}
	size -= sizeof(import->session);
	import->facts = calloc(1, size + 2);
	if (!import->facts)
		return -ENOMEM;
	memcpy(import->facts, data + sizeof(import->session), size);
	import->has_session = true;
	if (import->begin.monotonic) {
		import->session.boottime += import->begin.monotonic - import->session.monotonic;
		import->session.monotonic = import->begin.monotonic;
		import->session.utc = import->begin.utc;
	}
	return store_rows__new(&import->rows, import->db, import->session.monotonic,
			       fact(import, "gaps") != NULL);
}

static int import_name(struct import *import, uint32_t process, const uint8_t *data, size_t size)
{
	uint32_t head[2];

	if (size < sizeof(head))
		return 0;
	memcpy(head, data, sizeof(head));
	if (head[1] > size - sizeof(head))
		return 0;
	return store_rows__name(import->rows, process, head[0], (const char *)data + sizeof(head),
				head[1]);
}

/* Entries of the first pass: everything but events. */
static int import_fact(struct import *import, const struct spool_entry *entry, size_t size)
{
	struct spool_process process;
	struct cuda_status status = {0};
	uint64_t time = 0;

	if (entry->kind == SPOOL_SESSION)
		return import_session(import, entry->data, size);
	if (!import->has_session)
		return 0;
	switch (entry->kind) {
	case SPOOL_PROCESS:
		/* Older spools have no ranks. */
		process.rank = (struct rank){.size = -1, .local = -1};
		if (size < offsetof(struct spool_process, rank))
			return 0;
		memcpy(&process, entry->data, size < sizeof(process) ? size : sizeof(process));
		return store_rows__process(import->rows, entry->process, &process);
	case SPOOL_NAME:
		return import_name(import, entry->process, entry->data, size);
	case SPOOL_STATUS:
		memcpy(&status, entry->data, size < sizeof(status) ? size : sizeof(status));
		return store_rows__status(import->rows, entry->process, &status);
	case SPOOL_SOURCE:
		return store_rows__source(import->rows, entry->process, entry->data, size);
	case SPOOL_COMM:
		return store_rows__comm(import->rows, entry->process, entry->data, size);
	case SPOOL_TEXT:
		return store_rows__text(import->rows, entry->data, size);
	case SPOOL_MPS:
		import->mps = true;
		return 0;
	case SPOOL_TRIGGER:
		return store_trigger__read(&import->trigger, entry->data, size);
	case SPOOL_ORIGIN:
		return store_rows__origin(import->rows, entry->process, entry->data, size);
	case SPOOL_LOST:
		memcpy(&import->lost, entry->data,
		       size < sizeof(import->lost) ? size : sizeof(import->lost));
		import->has_lost = true;
		return 0;
	case SPOOL_ENDED:
	case SPOOL_FINISHED:
		memcpy(&time, entry->data, size < sizeof(time) ? size : sizeof(time));
		if (entry->kind == SPOOL_FINISHED)
			import->finished = time;
		return store_rows__ended(import->rows, entry->process, time);
	default:
		return store_rows__chain(import->rows, entry->kind, entry->data, size);
	}
}

static int import_block(struct import *import, const struct spool_block *block,
			const uint8_t *payload, enum pass pass)
{
	for (size_t at = 0; at + sizeof(struct spool_entry) <= block->bytes;) {
		const struct spool_entry *entry = (const struct spool_entry *)(payload + at);
		size_t size = entry->size - sizeof(*entry);
		int err = 0;

		if (entry->size < sizeof(*entry) || entry->size % 8 ||
		    at + entry->size > block->bytes)
			break;
		if (pass == PASS_EVENTS && entry->kind == SPOOL_RECORD)
			err = store_rows__record(import->rows, entry->process, entry->group,
						 (const struct cuda_record *)entry->data, size);
		else if (pass == PASS_SAMPLES && entry->kind == SPOOL_RECORD)
			err = store_rows__sample(import->rows, entry->process,
						 (const struct cuda_record *)entry->data, size);
		else if (pass == PASS_FACTS)
			err = import_fact(import, entry, size);
		if (err)
			return err;
		at += entry->size;
	}
	return 0;
}

static bool wanted(const struct import *import, const struct spool_block *block, bool events)
{
	uint64_t keep = import->options->since_last;

	uint32_t flags = block->flags;

	if (flags & SPOOL_DROPPED || events != !!(flags & (SPOOL_EVENTS | SPOOL_GRAPHS)))
		return false;
	return !(flags & SPOOL_EVENTS) || !keep || block->time + keep >= import->last;
}

static int read_pass(struct import *import, enum pass pass)
{
	bool events = pass != PASS_FACTS;
	struct spool_block block;
	const uint8_t *payload;
	int err = spool_reader__open(&import->reader, import->options->spool);

	if (err) {
		fprintf(stderr, "cuda-trace: cannot read %s: %s\n", import->options->spool,
			strerror(-err));
		return err;
	}
	while ((err = spool_reader__next(import->reader, &block, &payload)) > 0) {
		if (!import->first)
			import->first = block.time;
		if (block.time > import->last)
			import->last = block.time;
		err = wanted(import, &block, events) ? import_block(import, &block, payload, pass)
						     : 0;
		if (err)
			break;
		if (pass == PASS_EVENTS)
			show_progress(import, false);
	}
	if (pass == PASS_EVENTS)
		show_progress(import, true);
	return err;
}

static int put_lost(struct import *import, const char *stage, const char *reason, const char *text,
		    uint64_t count)
{
	char message[256];
	int err;

	if (!count)
		return 0;
	err = db__run(import->db, "INSERT INTO CUDA_TRACE_LOST VALUES (?,?,?,?)", "ttti", stage,
		      reason, text, (int64_t)count);
	if (err)
		return err;
	snprintf(message, sizeof(message), "%llu lost (%s): %s", (unsigned long long)count, reason,
		 text);
	return db__run(import->db, "INSERT INTO DIAGNOSTIC_EVENT VALUES (?,1,1,2,?,NULL)", "it",
		       (int64_t)(import->last - import->session.monotonic), message);
}

static int put_losses(struct import *import, const struct spool_damage *damage)
{
	static const struct {
		const char *key, *text;
	} agent[] =
		{
#define ROW(name, key, text) {key, text},
			CUDA_LOST_REASONS(ROW)},
	  session[] = {SESSION_LOST_REASONS(ROW)
#undef ROW
	  };
	const struct spool_lost *lost =
		import->options->lost ? import->options->lost : &import->lost;
	int err = 0;

	for (int i = 0; !err && i < CUDA_LOST_COUNT; i++)
		err = put_lost(import, "process", agent[i].key, agent[i].text, lost->agent[i]);
	for (int i = 0; !err && i < SESSION_LOST_COUNT; i++)
		err = put_lost(import, "collect", session[i].key, session[i].text,
			       lost->session[i]);
	if (!err)
		err = put_lost(import, "store", "disk", "the file could not grow", lost->spool);
	if (!err)
		err = put_lost(import, "store", "damaged_bytes",
			       "bytes of the file that were unreadable: events in them are missing",
			       damage->bytes);
	if (!err && !import->finished)
		err = put_lost(import, "store", "recorder_died",
			       "the recorder ended without finishing: its last second is missing",
			       1);
	return err;
}

static int put_begin(struct import *import)
{
	char utc[24], monotonic[24];
	const char *rows[][2] = {
		{"AT", fact(import, "at")},
		{"BEGIN_UTC_NS", utc},
		{"BEGIN_MONOTONIC_NS", monotonic},
	};
	int err = 0;

	snprintf(utc, sizeof(utc), "%llu", (unsigned long long)import->begin.utc);
	snprintf(monotonic, sizeof(monotonic), "%llu", (unsigned long long)import->begin.monotonic);
	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (i ? import->begin.monotonic : rows[0][1] != NULL)
			err = db__run(import->db, "INSERT INTO META_DATA_CAPTURE VALUES (?,?)",
				      "tt", rows[i][0], rows[i][1]);
	return err;
}

static int put_time(struct import *import)
{
	int64_t stop = import->finished ? import->finished : import->last;
	int64_t start = import->session.boottime;
	int64_t duration = stop - (int64_t)import->session.monotonic;
	time_t seconds = import->session.utc / NS_PER_S;
	char utc[32] = "", local[32] = "";
	struct tm tm;
	int err;

	if (gmtime_r(&seconds, &tm))
		strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%S", &tm);
	if (localtime_r(&seconds, &tm))
		strftime(local, sizeof(local), "%Y-%m-%dT%H:%M:%S", &tm);
	err = db__run(import->db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?,?,?,?)",
		      "itti", (int64_t)import->session.utc, utc, local, start);
	if (err)
		return err;
	return db__run(import->db, "INSERT INTO ANALYSIS_DETAILS VALUES (?,?,?,?)", "iiii",
		       1ll << 48, duration, start, start + duration);
}

static int put_meta(struct import *import)
{
	static const char *const env[] = {"Hostname", "KernelVersion", "CpuCores"};
	char major[16], minor[16], micro[16], schema[64];
	const char *rows[][2] = {
		{"EXPORT_PRODUCT_NAME", "cuda-trace"},
		{"EXPORT_PRODUCT_VERSION", fact(import, "version")},
		{"EXPORT_SCHEMA_VERSION", schema},
		{"EXPORT_SCHEMA_VERSION_MAJOR", major},
		{"EXPORT_SCHEMA_VERSION_MINOR", minor},
		{"EXPORT_SCHEMA_VERSION_MICRO", micro},
		{"EXPORT_HOST", fact(import, "Hostname")},
	};
	int err = 0;

	snprintf(major, sizeof(major), "%d", DB_SCHEMA_MAJOR);
	snprintf(minor, sizeof(minor), "%d", DB_SCHEMA_MINOR);
	snprintf(micro, sizeof(micro), "%d", DB_SCHEMA_MICRO);
	snprintf(schema, sizeof(schema), "%s.%s.%s", major, minor, micro);
	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(rows[0]); i++)
		err = db__run(import->db, "INSERT INTO META_DATA_EXPORT VALUES (?,?)", "tt",
			      rows[i][0], rows[i][1] ? rows[i][1] : "");
	for (size_t i = 0; !err && i < sizeof(env) / sizeof(env[0]); i++)
		if (fact(import, env[i]))
			err = db__run(import->db,
				      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?,?,?,0,?)",
				      "ittt", 1ll << 48, env[i], env[i], fact(import, env[i]));
	/* The command line only: the environment would be a leak of secrets. */
	if (!err && fact(import, "command"))
		err = db__run(import->db, "INSERT INTO META_DATA_CAPTURE VALUES (?,?)", "tt",
			      "COMMAND", fact(import, "command"));
	if (!err && fact(import, "windows"))
		err = db__run(import->db, "INSERT INTO META_DATA_CAPTURE VALUES (?,?)", "tt",
			      "WINDOWS", fact(import, "windows"));
	if (!err && import->mps)
		err = db__run(import->db, "INSERT INTO META_DATA_CAPTURE VALUES ('MPS','1')", "");
	if (!err && fact(import, "collectives"))
		err = db__run(import->db, "INSERT INTO META_DATA_CAPTURE VALUES (?,?)", "tt",
			      "COLLECTIVES", fact(import, "collectives"));
	return err;
}

/* gzip beside the file, then in its place. Reports read both. */
static int compress_file(const char *path)
{
	static char buffer[1 << 16];
	char *packed = NULL;
	gzFile out = NULL;
	FILE *in = fopen(path, "re");
	size_t n;
	int fd = -1, err = -ENOMEM;

	if (!in || asprintf(&packed, "%s.gz", path) < 0)
		goto cleanup;
	unlink(packed);
	fd = open(packed, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : gzdopen(fd, "wb3");
	err = out ? 0 : -errno;
	while (!err && (n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (gzwrite(out, buffer, n) != (int)n)
			err = -ENOSPC;
	if (out) {
		int sync_fd = dup(fd);

		if (gzclose(out) != Z_OK && !err)
			err = -ENOSPC;
		if (sync_fd >= 0 && fsync(sync_fd) && !err)
			err = -errno;
		close(sync_fd);
	}
	if (!err && rename(packed, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(packed);
cleanup:
	if (in)
		fclose(in);
	free(packed);
	return err;
}

static int fill(struct import *import)
{
	struct spool_damage damage;
	int err = store_begin__find(&import->begin, import->options->spool);

	if (!err)
		err = read_pass(import, PASS_FACTS);
	if (!err && !import->has_session) {
		fprintf(stderr, "cuda-trace: %s is not a recording of cuda-trace\n",
			import->options->spool);
		err = -EPROTO;
	}
	if (err)
		return err;
	spool_reader__close(import->reader);
	import->reader = NULL;
	if (store_rows__want_samples(import->rows)) {
		err = read_pass(import, PASS_SAMPLES);
		spool_reader__close(import->reader);
		import->reader = NULL;
		if (err)
			return err;
	}
	err = read_pass(import, PASS_EVENTS);
	if (err)
		return err;
	spool_reader__damage(import->reader, &damage);
	err = store_rows__finish(import->rows);
	if (!err)
		err = put_losses(import, &damage);
	if (!err)
		err = put_time(import);
	if (!err)
		err = put_meta(import);
	if (!err)
		err = put_begin(import);
	if (!err)
		err = store_trigger__put(&import->trigger, import->db, import->session.monotonic);
	return err ? err : db__finish(import->db);
}

static int settle(struct import *import)
{
	const struct import_options *options = import->options;
	int err = options->compress ? compress_file(import->partial) : 0;

	if (!err)
		err = older_recording__replace(import->partial, options->path);
	if (err)
		fprintf(stderr, "cuda-trace: cannot finish %s: %s\n", options->path,
			strerror(-err));
	else if (!options->keep_spool) {
		/* The spool may go once the file is sure to have its name. */
		spool__sync_folder(options->path);
		unlink(options->spool);
	}
	return err;
}

int import__check_path(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	fprintf(stderr, "cuda-trace: %s is not a regular file: a recording would replace it\n",
		path);
	return -EINVAL;
}

int import__run(const struct import_options *options, struct import_result *result)
{
	struct import import = {.options = options};
	bool made = false;
	int err = -ENOMEM;

	if (import__check_path(options->path))
		return -EINVAL;
	if (asprintf(&import.partial, "%s.unfinished", options->path) < 0)
		return -ENOMEM;
	/* Left by an import that died: worthless, its spool is still there. */
	unlink(import.partial);
	err = db__create(&import.db, import.partial);
	made = !err;
	if (!err)
		err = fill(&import);
	db__close(import.db);
	if (!err)
		err = settle(&import);
	if (!err && result) {
		struct spool_damage damage;

		spool_reader__damage(import.reader, &damage);
		result->rows = store_rows__count(import.rows);
		result->damaged_bytes = damage.bytes;
		result->unfinished = !import.finished;
	}
	if (err && made)
		unlink(import.partial);
	spool_reader__close(import.reader);
	store_rows__free(import.rows);
	free(import.facts);
	store_trigger__free(&import.trigger);
	free(import.partial);
	return err;
}

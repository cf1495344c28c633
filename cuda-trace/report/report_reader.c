// SPDX-License-Identifier: BSD-2-Clause
/*
 * A circle of batches between the thread that scans and the caller. A caller that has enough closes
 * the reader: the thread ends at its next batch.
 */
#include "cuda-trace/report/report_reader.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report/report_scan.h"

#define BATCHES 4
#define ROWS	512
#define COLUMNS 24

struct reader {
	struct report_file file; /* with the thread's handle */
	const struct report_file *lender;
	char *sql;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t full, empty; /* batches filled and returned so far */
	bool done, stop;
	int err;
	int columns;
	int rows[BATCHES];
	int at; /* the caller's row in its batch */
	int64_t values[BATCHES][ROWS][COLUMNS];
};

/* The thread: the batch that it fills is complete; waits for the next one. */
static int hand_over(struct reader *reader)
{
	bool stop;

	pthread_mutex_lock(&reader->lock);
	reader->full++;
	pthread_cond_signal(&reader->filled);
	while (!reader->stop && reader->full - reader->empty == BATCHES)
		pthread_cond_wait(&reader->emptied, &reader->lock);
	reader->rows[reader->full % BATCHES] = 0;
	stop = reader->stop;
	pthread_mutex_unlock(&reader->lock);
	return stop ? -ECANCELED : 0;
}

static int add_row(void *context, int columns, sqlite3_value **values)
{
	struct reader *reader = context;
	int batch = reader->full % BATCHES;
	int64_t *row = reader->values[batch][reader->rows[batch]++];

	for (int i = 0; i < columns; i++)
		row[i] = sqlite3_value_int64(values[i]);
	return reader->rows[batch] == ROWS ? hand_over(reader) : 0;
}

static void *read_all(void *context)
{
	struct reader *reader = context;
	int err = scan__run(&reader->file, reader->sql, add_row, reader);

	pthread_mutex_lock(&reader->lock);
	reader->err = err == -ECANCELED ? 0 : err;
	if (!err && reader->rows[reader->full % BATCHES])
		reader->full++;
	reader->done = true;
	pthread_cond_signal(&reader->filled);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

static int fits(struct reader *reader)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(reader->file.db, reader->sql, -1, &statement, NULL))
		return -ENOENT;
	reader->columns = sqlite3_column_count(statement);
	sqlite3_finalize(statement);
	return reader->columns <= COLUMNS ? 0 : -EINVAL;
}

int reader__open(struct reader **result, const struct report_file *file, const char *sql)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err = -ENOMEM;

	if (!reader)
		return -ENOMEM;
	reader->lender = file;
	reader->sql = strdup(sql);
	if (reader->sql)
		err = report_file__lend(file, &reader->file);
	if (err)
		goto cleanup;
	err = fits(reader);
	if (err)
		goto end_reader;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->filled, NULL);
	pthread_cond_init(&reader->emptied, NULL);
	err = -pthread_create(&reader->thread, NULL, read_all, reader);
	if (err)
		fprintf(stderr, "cuda-trace: cannot start a thread: %s\n", strerror(-err));
	if (!err) {
		*result = reader;
		return 0;
	}
end_reader:
	report_file__return(file, &reader->file);
cleanup:
	free(reader->sql);
	free(reader);
	return err;
}

/* The caller's batch is used up: gives it back and waits for the next one. */
static bool next_batch(struct reader *reader)
{
	bool any;

	pthread_mutex_lock(&reader->lock);
	if (reader->at) {
		reader->empty++;
		reader->at = 0;
		pthread_cond_signal(&reader->emptied);
	}
	while (reader->empty == reader->full && !reader->done)
		pthread_cond_wait(&reader->filled, &reader->lock);
	any = reader->empty < reader->full;
	pthread_mutex_unlock(&reader->lock);
	return any;
}

const int64_t *reader__next(struct reader *reader)
{
	int batch = reader->empty % BATCHES;

	if (!reader->at || reader->at == reader->rows[batch]) {
		if (!next_batch(reader))
			return NULL;
		batch = reader->empty % BATCHES;
	}
	return reader->values[batch][reader->at++];
}

int reader__close(struct reader *reader)
{
	int err;

	if (!reader)
		return 0;
	pthread_mutex_lock(&reader->lock);
	reader->stop = true;
	pthread_cond_signal(&reader->emptied);
	pthread_mutex_unlock(&reader->lock);
	pthread_join(reader->thread, NULL);
	err = reader->err;
	report_file__return(reader->lender, &reader->file);
	pthread_mutex_destroy(&reader->lock);
	pthread_cond_destroy(&reader->filled);
	pthread_cond_destroy(&reader->emptied);
	free(reader->sql);
	free(reader);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* A damaged file may contain anything. */
#include "cuda-trace/recording/store_threads.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

#define MAX_TEXTS (1u << 17)

static int note_missing(struct rows *rows, const uint8_t *text, size_t size)
{
	char *copy = strndup((const char *)text, size);

	if (!copy)
		return -ENOMEM;
	free(rows->threads);
	rows->threads = copy;
	return 0;
}

int store_threads__text(struct rows *rows, const uint8_t *data, size_t size)
{
	uint32_t number;
	int64_t id;

	if (size < sizeof(number))
		return 0;
	memcpy(&number, data, sizeof(number));
	data += sizeof(number);
	size -= sizeof(number);
	if (!number)
		return note_missing(rows, data, size);
	if (number >= MAX_TEXTS)
		return 0;
	if (!array_grow__zeroed(rows->thread_texts, rows->thread_text_capacity, (size_t)number + 1))
		return -ENOMEM;
	/* Entries are padded with zeros. */
	id = db__string(rows->db, (const char *)data, strnlen((const char *)data, size));
	if (id < 0)
		return (int)id;
	rows->thread_texts[number] = id;
	return 0;
}

static int64_t text_of(const struct rows *rows, uint32_t number)
{
	return number < rows->thread_text_capacity && rows->thread_texts[number]
		       ? rows->thread_texts[number]
		       : DB_NULL;
}

int store_threads__state(struct rows *rows, const union any_record *record)
{
	const struct spool_thread *thread = &record->thread;
	union record_row row;

	record_columns__to_row(DB_THREAD_STATES, thread, rows->epoch,
			       store_objects__global_pid(thread->pid), &row);
	row.THREAD_STATES.waitsFor = text_of(rows, thread->text);
	row.THREAD_STATES.function = text_of(rows, thread->function);
	row.THREAD_STATES.waker = text_of(rows, thread->waker);
	row.THREAD_STATES.rival = text_of(rows, thread->rival);
	if (thread->waker_tid)
		row.THREAD_STATES.wakerGlobalTid = store_objects__global_pid(thread->waker_pid) |
						   (thread->waker_tid & 0xffffff);
	rows->count++;
	return db__insert(rows->db, DB_THREAD_STATES, row.values);
}

int store_threads__finish(struct rows *rows)
{
	if (!rows->threads)
		return 0;
	return db__run(rows->db, "INSERT INTO META_DATA_CAPTURE VALUES ('THREAD_STATES', ?)", "t",
		       *rows->threads ? rows->threads : "complete");
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the disk is full, or the folder is gone: items stay in memory while there is
 * space, and the next ones are tried on the disk again. 2. the tool or the machine dies while a
 * file is written: it has its final name only when it is complete. 3. a file is damaged: its
 * checksum shows that, and it is counted. 4. two tools use one folder: the second one is refused.
 */
#include "cuda-trace/push/push_queue.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/base/trusted_folder.h"
#include "cuda-trace/push/push_file.h"

#define MAX_ITEMS 100000 /* a little memory each */

struct push_queue {
	int folder; /* -1 = in memory */
	int lock;
	uint64_t max_bytes, bytes, memory;
	uint64_t last_number;
	uint32_t count;
	struct push_item *first, *last;
	struct push_counts *counts;
	bool write_failed; /* it was printed */
};

static void name_file(char name[32], uint64_t number)
{
	snprintf(name, 32, "%020llu" PUSH_FILE_ENDING, (unsigned long long)number);
}

static void append(struct push_queue *queue, struct push_item *item)
{
	*(queue->last ? &queue->last->next : &queue->first) = item;
	queue->last = item;
	queue->count++;
	if (item->on_disk)
		queue->bytes += item->size;
	else
		queue->memory += item->size;
}

/* It leaves the list, and its file is deleted. */
static void drop(struct push_queue *queue, struct push_item *item)
{
	struct push_item **at = &queue->first, *before = NULL;
	char name[32];

	while (*at != item) {
		before = *at;
		at = &before->next;
	}
	*at = item->next;
	if (queue->last == item)
		queue->last = before;
	queue->count--;
	if (item->on_disk) {
		name_file(name, item->number);
		unlinkat(queue->folder, name, 0);
		queue->bytes -= item->size;
	} else {
		queue->memory -= item->size;
	}
	push_item__free(item);
}

static struct push_item *oldest(const struct push_queue *queue, bool on_disk)
{
	struct push_item *item = queue->first;

	while (item && (item->in_flight || item->on_disk != on_disk))
		item = item->next;
	return item;
}

static bool drop_oldest(struct push_queue *queue, bool on_disk, enum push_lost reason)
{
	struct push_item *item = oldest(queue, on_disk);

	if (!item)
		return false;
	push_counts__lost(queue->counts, item, reason);
	drop(queue, item);
	return true;
}

/* The numbers are the order; a file that cannot be read is lost, and goes. */
static void read_queued(struct push_queue *queue, const char *name)
{
	uint64_t number = strtoull(name, NULL, 10);
	struct push_item *item = NULL, damaged = {.profiles = 1};
	int err = push_file__read(queue->folder, name, false, &item);

	if (err || queue->count == MAX_ITEMS) {
		push_counts__found(queue->counts, item ? item : &damaged);
		push_counts__lost(queue->counts, item ? item : &damaged,
				  err ? PUSH_LOST_DAMAGED : PUSH_LOST_QUEUE_FULL);
		push_item__free(item);
		unlinkat(queue->folder, name, 0);
		return;
	}
	item->number = number;
	item->on_disk = true;
	if (number > queue->last_number)
		queue->last_number = number;
	push_counts__found(queue->counts, item);
	append(queue, item);
}

static int is_ours(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), ending = strlen(PUSH_FILE_ENDING);

	return length == 20 + ending && strspn(entry->d_name, "0123456789") == 20 &&
	       !strcmp(entry->d_name + 20, PUSH_FILE_ENDING);
}

static int find_files(struct push_queue *queue)
{
	struct dirent **names;
	int count = scandirat(queue->folder, ".", &names, is_ours, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		read_queued(queue, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	while (queue->bytes > queue->max_bytes && drop_oldest(queue, true, PUSH_LOST_QUEUE_FULL))
		;
	return 0;
}

/* 0 or -errno, or a reason. */
static int open_folder(struct push_queue *queue, const char *path, const char **reason)
{
	char *whole = NULL, here[PATH_MAX];
	struct stat st;

	if (*path == '/')
		whole = strdup(path);
	else if (getcwd(here, sizeof(here)) && asprintf(&whole, "%s/%s", here, path) < 0)
		whole = NULL;
	if (!whole)
		return -ENOMEM;
	queue->folder = trusted_folder__open(whole, true);
	free(whole);
	if (queue->folder == TRUSTED_FOLDER_FOREIGN) {
		*reason = "a folder or link on the way belongs to another user";
		return -EPERM;
	}
	if (queue->folder < 0)
		return queue->folder;
	if (fstat(queue->folder, &st))
		return -errno;
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		*reason = "other users can write there (chmod go-w)";
		return -EPERM;
	}
	queue->lock =
		openat(queue->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (queue->lock < 0)
		return -errno;
	if (flock(queue->lock, LOCK_EX | LOCK_NB)) {
		*reason = "another cuda-trace push uses it";
		return -EBUSY;
	}
	return find_files(queue);
}

static void release(struct push_queue *queue)
{
	if (queue->lock >= 0)
		close(queue->lock);
	if (queue->folder >= 0)
		close(queue->folder);
	while (queue->first) {
		struct push_item *item = queue->first;

		queue->first = item->next;
		push_item__free(item);
	}
	free(queue);
}

int push_queue__open(struct push_queue **result, const char *folder, uint64_t max_bytes,
		     struct push_counts *counts)
{
	struct push_queue *queue = calloc(1, sizeof(*queue));
	const char *reason = NULL;
	char shown[256];
	int err;

	if (!queue)
		return -ENOMEM;
	queue->folder = queue->lock = -1;
	queue->max_bytes = max_bytes;
	queue->counts = counts;
	err = folder ? open_folder(queue, folder, &reason) : 0;
	if (!err) {
		*result = queue;
		return 0;
	}
	fprintf(stderr, "cuda-trace push: --queue %s: %s\n",
		text__show(shown, sizeof(shown), folder, 60), reason ? reason : strerror(-err));
	release(queue);
	return err;
}

static bool write_file(struct push_queue *queue, struct push_item *item)
{
	char name[32];
	int err;

	name_file(name, item->number);
	err = push_file__write(queue->folder, name, item);
	if (!err) {
		queue->write_failed = false;
		return true;
	}
	queue->counts->write_errors++;
	if (!queue->write_failed)
		fprintf(stderr,
			"cuda-trace push: --queue: cannot write a file: %s; profiles wait in "
			"memory\n",
			strerror(-err));
	queue->write_failed = true;
	return false;
}

void push_queue__add(struct push_queue *queue, struct push_item *item)
{
	uint64_t memory_max = queue->folder < 0 ? queue->max_bytes : PUSH_MEMORY_MAX;

	if (item->size > queue->max_bytes || item->size > PUSH_BODY_MAX) {
		push_counts__lost(queue->counts, item, PUSH_LOST_TOO_LARGE);
		push_item__free(item);
		return;
	}
	item->number = ++queue->last_number;
	while ((queue->folder >= 0 && queue->bytes + item->size > queue->max_bytes) ||
	       queue->count >= MAX_ITEMS)
		if (!drop_oldest(queue, queue->folder >= 0, PUSH_LOST_QUEUE_FULL))
			break;
	item->on_disk = queue->folder >= 0 && write_file(queue, item);
	if (item->on_disk) {
		free(item->body);
		item->body = NULL;
	}
	while (!item->on_disk && queue->memory + item->size > memory_max)
		if (!drop_oldest(queue, false,
				 queue->folder < 0 ? PUSH_LOST_QUEUE_FULL : PUSH_LOST_DISK))
			break;
	append(queue, item);
}

/* With its body. */
static int load(struct push_queue *queue, struct push_item *item)
{
	struct push_item *read = NULL;
	char name[32];
	int err;

	if (item->body)
		return 0;
	name_file(name, item->number);
	err = push_file__read(queue->folder, name, true, &read);
	if (!err) {
		item->body = read->body;
		read->body = NULL;
	}
	push_item__free(read);
	return err;
}

struct push_item *push_queue__first(struct push_queue *queue)
{
	while (queue->first && load(queue, queue->first)) {
		push_counts__lost(queue->counts, queue->first, PUSH_LOST_DAMAGED);
		drop(queue, queue->first);
	}
	if (queue->first)
		queue->first->in_flight = true;
	return queue->first;
}

void push_queue__retry(struct push_queue *queue)
{
	struct push_item *item = queue->first;

	item->in_flight = false;
	if (!item->on_disk)
		return;
	free(item->body);
	item->body = NULL;
}

void push_queue__done(struct push_queue *queue)
{
	drop(queue, queue->first);
}

void push_queue__close(struct push_queue *queue)
{
	if (!queue)
		return;
	for (struct push_item *item = queue->first; item; item = item->next) {
		if (item->on_disk)
			push_counts__queued(queue->counts, item);
		else
			push_counts__lost(queue->counts, item,
					  queue->folder < 0 ? PUSH_LOST_UNSENT : PUSH_LOST_DISK);
	}
	release(queue);
}

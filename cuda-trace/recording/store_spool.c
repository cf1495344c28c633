// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writing the spool. The caller fills a block in memory; full or old blocks go to the writer thread
 * through a short queue. A second thread syncs more than once a second, which a power cut costs,
 * and fdatasync on a slow disk must not hold up the writes behind it.
 */
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/recording/store_spool.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFERS	    16
#define GRAPH_BYTES (64ull << 20)
#define NS_PER_S    1000000000ull
/* Together, with the time that a sync takes, less than the second that a power cut may cost. */
#define FLUSH_NS   250000000ull
#define SYNC_EVERY 400000000ull

struct buffer {
	struct spool_block head; /* must stand in front of the payload: written as one */
	uint8_t data[SPOOL_BLOCK];
};

/* A block of events in the file, remembered so that a ring can drop it. */
struct extent {
	off_t offset;
	struct spool_block head;
};

struct spool {
	int fd;
	pthread_t writer, syncer;
	pthread_mutex_t lock;
	pthread_cond_t filled, written, stop;
	struct buffer *buffers; /* BUFFERS of them, a circle: [done, queued) wait for the writer */
	uint64_t queued, done;
	bool closing;
	int error; /* -errno of the first write that failed */
	off_t offset;
	uint64_t refused;
	uint64_t graph_bytes_left; /* for records of graphs that a ring keeps */
	struct extent *extents;	   /* kept by the writer, consumed by drop_before */
	size_t extent_count, extent_first, extent_capacity;
};

static int write_all(int fd, const void *data, size_t bytes, off_t offset)
{
	const uint8_t *at = data;

	while (bytes) {
		ssize_t n = pwrite(fd, at, bytes, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		offset += n;
		bytes -= n;
	}
	return 0;
}

static uint32_t block_crc(const struct spool_block *head, const void *payload)
{
	struct spool_block copy = *head;
	uint32_t crc;

	copy.crc = 0;
	crc = crc32(0, (const Bytef *)&copy, sizeof(copy));
	if (!(head->flags & SPOOL_DROPPED))
		crc = crc32(crc, payload, head->bytes);
	return crc;
}

/* Writer thread: remembers where a block of events went, for a ring. Losing that on a failed
 * allocation only makes the file longer. */
static void remember(struct spool *spool, const struct spool_block *head, off_t offset)
{
	if (array_grow__for_one(spool->extents, spool->extent_capacity, spool->extent_count))
		spool->extents[spool->extent_count++] =
			(struct extent){.offset = offset, .head = *head};
}

/* Writer thread, without the lock: one block to the end of the file. */
static int write_block(struct spool *spool, struct buffer *buffer, off_t offset)
{
	struct spool_block *head = &buffer->head;
	int err;

	head->crc = block_crc(head, buffer->data);
	err = write_all(spool->fd, buffer, sizeof(*head) + head->bytes, offset);
	/* A half-written block would only be skipped by readers; cut it off while we can. */
	if (err && ftruncate(spool->fd, offset))
		return err;
	return err;
}

static void *writer_main(void *arg)
{
	struct spool *spool = arg;

	pthread_mutex_lock(&spool->lock);
	for (;;) {
		struct buffer *buffer = &spool->buffers[spool->done % BUFFERS];
		off_t offset = spool->offset;
		int err = spool->error;

		if (spool->done == spool->queued) {
			if (spool->closing)
				break;
			pthread_cond_wait(&spool->filled, &spool->lock);
			continue;
		}
		pthread_mutex_unlock(&spool->lock);
		if (!err)
			err = write_block(spool, buffer, offset);
		pthread_mutex_lock(&spool->lock);
		if (err) {
			spool->error = err;
			spool->refused += buffer->head.records;
		} else {
			if (buffer->head.flags & SPOOL_EVENTS)
				remember(spool, &buffer->head, offset);
			spool->offset = offset + sizeof(buffer->head) + buffer->head.bytes;
		}
		spool->done++;
		pthread_cond_broadcast(&spool->written);
	}
	pthread_mutex_unlock(&spool->lock);
	return NULL;
}

static void *syncer_main(void *arg)
{
	struct spool *spool = arg;
	struct timespec until;
	off_t synced = 0;

	pthread_mutex_lock(&spool->lock);
	while (!spool->closing) {
		off_t offset = spool->offset;

		if (offset != synced) {
			pthread_mutex_unlock(&spool->lock);
			fdatasync(spool->fd);
			pthread_mutex_lock(&spool->lock);
			synced = offset;
		}
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += SYNC_EVERY;
		until.tv_sec += until.tv_nsec / (long)NS_PER_S;
		until.tv_nsec %= NS_PER_S;
		if (!spool->closing)
			pthread_cond_timedwait(&spool->stop, &spool->lock, &until);
	}
	pthread_mutex_unlock(&spool->lock);
	return NULL;
}

/* Signals are the main thread's business. */
static int start_thread(pthread_t *thread, void *(*entry)(void *), struct spool *spool)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = -pthread_create(thread, NULL, entry, spool);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static void init_locks(struct spool *spool)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&spool->lock, NULL);
	pthread_cond_init(&spool->filled, &attr);
	pthread_cond_init(&spool->written, &attr);
	pthread_cond_init(&spool->stop, &attr);
	pthread_condattr_destroy(&attr);
}

static void close_queue(struct spool *spool)
{
	pthread_mutex_lock(&spool->lock);
	spool->closing = true;
	pthread_cond_broadcast(&spool->filled);
	pthread_cond_broadcast(&spool->stop);
	pthread_mutex_unlock(&spool->lock);
}

static void release(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->buffers);
	free(spool->extents);
	free(spool);
}

void spool__sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash - path + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* Some file systems cannot, and need not. */
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

void spool__say_taken(const char *recording)
{
	fprintf(stderr,
		"cuda-trace: %s.part exists: another recorder is writing it (several ranks: -o "
		"'rank%%r.db', or %%p, %%h, %%c), or one died (cuda-trace report %s)\n",
		recording, recording);
}

int spool__create(struct spool **result, const char *path)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int err;

	if (!spool)
		return -ENOMEM;
	spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (spool->fd < 0) {
		err = -errno;
		goto cleanup;
	}
	spool__sync_folder(path);
	/* Held until this process ends: who finds the file can tell a living recorder's. */
	flock(spool->fd, LOCK_EX | LOCK_NB);
	err = -ENOMEM;
	spool->buffers = calloc(BUFFERS, sizeof(*spool->buffers));
	if (!spool->buffers)
		goto cleanup;
	init_locks(spool);
	err = start_thread(&spool->writer, writer_main, spool);
	if (err)
		goto cleanup;
	err = start_thread(&spool->syncer, syncer_main, spool);
	if (err) {
		close_queue(spool);
		pthread_join(spool->writer, NULL);
		goto cleanup;
	}
	*result = spool;
	return 0;
cleanup:
	if (spool->fd >= 0)
		unlink(path);
	release(spool);
	return err;
}

/* Hands the current block over and waits until the next buffer of the circle is free. */
static int hand_over(struct spool *spool)
{
	struct buffer *next;
	int err;

	pthread_mutex_lock(&spool->lock);
	spool->queued++;
	pthread_cond_signal(&spool->filled);
	while (spool->queued - spool->done >= BUFFERS)
		pthread_cond_wait(&spool->written, &spool->lock);
	err = spool->error;
	pthread_mutex_unlock(&spool->lock);
	next = &spool->buffers[spool->queued % BUFFERS];
	memset(&next->head, 0, sizeof(next->head));
	return err;
}

/* Graphs are mostly captured when a program begins, and replayed to its end. */
static uint32_t flags_of(struct spool *spool, const struct spool_entry *head, const void *data,
			 size_t size)
{
	const struct cuda_record *record = data;

	if (head->kind != SPOOL_RECORD)
		return 0;
	if (record->kind != CUDA_RECORD_GRAPH_NODE && record->kind != CUDA_RECORD_GRAPH_CHANGE &&
	    !(record->kind == SPOOL_SAMPLE && size == sizeof(struct spool_sample)))
		return SPOOL_EVENTS;
	if (spool->graph_bytes_left < sizeof(*head) + size)
		return SPOOL_EVENTS;
	spool->graph_bytes_left -= sizeof(*head) + size;
	return SPOOL_GRAPHS;
}

void spool__keep_graphs(struct spool *spool)
{
	spool->graph_bytes_left = GRAPH_BYTES;
}

static int put_entry(struct spool *spool, const struct spool_entry *head, const void *data,
		     size_t size, const void *more, size_t more_size)
{
	struct buffer *buffer = &spool->buffers[spool->queued % BUFFERS];
	size_t total = (sizeof(struct spool_entry) + size + more_size + 7) & ~7ul;
	uint32_t flags = flags_of(spool, head, data, size);
	struct spool_entry *entry;

	if (total > UINT16_MAX)
		return -E2BIG;
	/* Names must outlive the events of a ring, so they never share a block with them. */
	if (buffer->head.bytes &&
	    (buffer->head.flags != flags || buffer->head.bytes + total > SPOOL_BLOCK)) {
		int err = hand_over(spool);

		if (err)
			return err;
		buffer = &spool->buffers[spool->queued % BUFFERS];
	}
	if (!buffer->head.bytes) {
		buffer->head.magic = SPOOL_MAGIC;
		buffer->head.time = monotonic__ns();
		buffer->head.flags = flags;
	}
	entry = (struct spool_entry *)(buffer->data + buffer->head.bytes);
	memset((uint8_t *)entry + total - 8, 0, 8);
	entry->kind = head->kind;
	entry->group = head->group;
	entry->process = head->process;
	entry->size = total;
	memcpy(entry->data, data, size);
	if (more_size)
		memcpy(entry->data + size, more, more_size);
	buffer->head.bytes += total;
	buffer->head.records += head->kind == SPOOL_RECORD;
	return 0;
}

int spool__put(struct spool *spool, enum spool_kind kind, uint32_t process, const void *data,
	       size_t size, const void *more, size_t more_size)
{
	struct spool_entry head = {.kind = kind, .process = process};

	return put_entry(spool, &head, data, size, more, more_size);
}

int spool__put_record(struct spool *spool, uint8_t group, uint32_t process,
		      const struct cuda_record *record)
{
	struct spool_entry head = {.kind = SPOOL_RECORD, .group = group, .process = process};

	return put_entry(spool, &head, record, record->size, NULL, 0);
}

int spool__tick(struct spool *spool, uint64_t now)
{
	struct buffer *buffer = &spool->buffers[spool->queued % BUFFERS];

	if (buffer->head.bytes && now - buffer->head.time >= FLUSH_NS)
		return hand_over(spool);
	return __atomic_load_n(&spool->error, __ATOMIC_RELAXED);
}

int spool__flush(struct spool *spool)
{
	int err = 0;

	if (spool->buffers[spool->queued % BUFFERS].head.bytes)
		hand_over(spool);
	pthread_mutex_lock(&spool->lock);
	while (spool->done != spool->queued)
		pthread_cond_wait(&spool->written, &spool->lock);
	err = spool->error;
	pthread_mutex_unlock(&spool->lock);
	return err;
}

/* Marks the block first, so that a reader never takes the hole's zeros for events. */
static int drop(struct spool *spool, struct extent *extent)
{
	int err;

	extent->head.flags |= SPOOL_DROPPED;
	extent->head.crc = block_crc(&extent->head, NULL);
	err = write_all(spool->fd, &extent->head, sizeof(extent->head), extent->offset);
	if (err)
		return err;
	if (fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      extent->offset + sizeof(extent->head), extent->head.bytes))
		return -errno;
	return 0;
}

int spool__drop_before(struct spool *spool, uint64_t time)
{
	int err = 0;

	pthread_mutex_lock(&spool->lock);
	/* A block is as old as its last event, which is before the first of the next block. */
	while (!err && spool->extent_first + 1 < spool->extent_count &&
	       spool->extents[spool->extent_first + 1].head.time < time)
		err = drop(spool, &spool->extents[spool->extent_first++]);
	if (spool->extent_first > 4096) {
		spool->extent_count -= spool->extent_first;
		memmove(spool->extents, spool->extents + spool->extent_first,
			spool->extent_count * sizeof(*spool->extents));
		spool->extent_first = 0;
	}
	pthread_mutex_unlock(&spool->lock);
	return err;
}

uint64_t spool__bytes(const struct spool *spool)
{
	return __atomic_load_n(&spool->offset, __ATOMIC_RELAXED);
}

uint64_t spool__refused(const struct spool *spool)
{
	return __atomic_load_n(&spool->refused, __ATOMIC_RELAXED);
}

int spool__close(struct spool *spool)
{
	int err = spool__flush(spool);

	close_queue(spool);
	pthread_join(spool->writer, NULL);
	pthread_join(spool->syncer, NULL);
	if (fdatasync(spool->fd) && !err)
		err = -errno;
	release(spool);
	return err;
}

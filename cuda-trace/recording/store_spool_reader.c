// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading a spool, also one whose writer died or whose disk lost something: what has no valid
 * checksum is skipped up to the next block that has one, and counted.
 */
#include "cuda-trace/recording/store_spool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct spool_reader {
	int fd;
	uint64_t size, at;
	struct spool_damage damage;
	bool in_damage;
	/* Entries are read where they lie. */
	_Alignas(8) uint8_t payload[SPOOL_BLOCK];
};

int spool_reader__open(struct spool_reader **result, const char *path)
{
	struct spool_reader *reader = calloc(1, sizeof(*reader));
	struct stat st;

	if (!reader)
		return -ENOMEM;
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 || fstat(reader->fd, &st)) {
		int err = -errno;

		spool_reader__close(reader);
		return err;
	}
	reader->size = st.st_size;
	*result = reader;
	return 0;
}

/* Bytes read, fewer only at the end of the file; -errno. */
static ssize_t read_at(const struct spool_reader *reader, void *data, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(reader->fd, (uint8_t *)data + done, bytes - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* 1 if a whole valid block stands at `at`, 0 if not, -errno. */
static int read_block(struct spool_reader *reader, uint64_t at, struct spool_block *block)
{
	struct spool_block copy;
	uint32_t crc;
	ssize_t n = read_at(reader, block, sizeof(*block), at);

	if (n < 0)
		return n;
	if (n < (ssize_t)sizeof(*block) || block->magic != SPOOL_MAGIC || block->bytes % 8 ||
	    block->bytes > SPOOL_BLOCK)
		return 0;
	copy = *block;
	copy.crc = 0;
	crc = crc32(0, (const Bytef *)&copy, sizeof(copy));
	if (!(block->flags & SPOOL_DROPPED)) {
		n = read_at(reader, reader->payload, block->bytes, at + sizeof(*block));
		if (n < 0)
			return n;
		if ((size_t)n < block->bytes)
			return 0;
		crc = crc32(crc, reader->payload, block->bytes);
	}
	return crc == block->crc;
}

/* The next place where a block's magic stands, from `at` on; the size of the file if none. */
static int64_t find_magic(struct spool_reader *reader, uint64_t at)
{
	const uint64_t magic = SPOOL_MAGIC;

	while (at < reader->size) {
		ssize_t n = read_at(reader, reader->payload, sizeof(reader->payload), at);
		const uint8_t *hit;

		if (n < 0)
			return n;
		if (n < (ssize_t)sizeof(magic))
			break;
		hit = memmem(reader->payload, n, &magic, sizeof(magic));
		if (hit)
			return at + (hit - reader->payload);
		at += n - (sizeof(magic) - 1);
	}
	return reader->size;
}

int spool_reader__next(struct spool_reader *reader, struct spool_block *block,
		       const uint8_t **payload)
{
	while (reader->at < reader->size) {
		int64_t next;
		int ok = read_block(reader, reader->at, block);

		if (ok < 0)
			return ok;
		if (ok) {
			reader->at += sizeof(*block) + block->bytes;
			reader->in_damage = false;
			*payload = block->flags & SPOOL_DROPPED ? NULL : reader->payload;
			return 1;
		}
		next = find_magic(reader, reader->at + 1);
		if (next < 0)
			return next;
		reader->damage.torn = (uint64_t)next == reader->size;
		reader->damage.places += !reader->in_damage;
		reader->damage.bytes += next - reader->at;
		reader->in_damage = true;
		reader->at = next;
	}
	return 0;
}

void spool_reader__damage(const struct spool_reader *reader, struct spool_damage *damage)
{
	*damage = reader->damage;
}

uint64_t spool_reader__size(const struct spool_reader *reader)
{
	return reader->size;
}

uint64_t spool_reader__position(const struct spool_reader *reader)
{
	return reader->at;
}

void spool_reader__close(struct spool_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}

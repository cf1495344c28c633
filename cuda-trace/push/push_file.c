// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FIRST_LINE "cuda-trace push 1"
#define HEAD_MAX   16384
#define SAMPLES	   "samples " /* a line that files without samples do not have */

static int write_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		size -= n;
	}
	return 0;
}

static int write_parts(int fd, const struct push_item *item)
{
	char *head, samples[40] = "";
	int length, err;

	if (item->samples)
		snprintf(samples, sizeof(samples), SAMPLES "%llu\n",
			 (unsigned long long)item->samples);
	length = asprintf(&head,
			  FIRST_LINE "\nprofiles %llu\nkernels %llu\n%ssize %zu\ncrc %lu\n"
				     "zipped %d\ntype %s\ntarget %s\n\n",
			  (unsigned long long)item->profiles, (unsigned long long)item->kernels,
			  samples, item->size, crc32(0, item->body, item->size), item->zipped,
			  item->type, item->target);

	if (length < 0)
		return -ENOMEM;
	err = length > HEAD_MAX ? -E2BIG : write_all(fd, head, length);
	free(head);
	return err ? err : write_all(fd, item->body, item->size);
}

int push_file__write(int folder, const char *name, const struct push_item *item)
{
	int fd = openat(folder, "new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = write_parts(fd, item);
	/* Some file systems report a full disk only now. */
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(folder, "new", folder, name))
		err = -errno;
	if (err)
		unlinkat(folder, "new", 0);
	return err;
}

/* The value of the line that begins with the key, ended by a NUL; *at is moved behind it. */
static char *read_line(char **at, const char *key)
{
	size_t length = strlen(key);
	char *value = *at + length, *end = strchr(*at, '\n');

	if (!end || strncmp(*at, key, length) || value > end)
		return NULL;
	*end = 0;
	*at = end + 1;
	return value;
}

static bool read_number(char **at, const char *key, uint64_t *number)
{
	char *text = read_line(at, key), *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* They may be missing. */
static bool read_samples(char **at, uint64_t *samples)
{
	return strncmp(*at, SAMPLES, sizeof(SAMPLES) - 1) || read_number(at, SAMPLES, samples);
}

/* The head's length; 0 = it is none. */
static size_t read_head(char *head, struct push_item *item, uint64_t *crc)
{
	uint64_t size, zipped;
	char *at = head, *type, *target;

	if (!read_line(&at, FIRST_LINE) || !read_number(&at, "profiles ", &item->profiles) ||
	    !read_number(&at, "kernels ", &item->kernels) || !read_samples(&at, &item->samples) ||
	    !read_number(&at, "size ", &size) || !read_number(&at, "crc ", crc) ||
	    !read_number(&at, "zipped ", &zipped))
		return 0;
	type = read_line(&at, "type ");
	target = type ? read_line(&at, "target ") : NULL;
	if (!target || *at != '\n' || size > PUSH_BODY_MAX)
		return 0;
	item->size = size;
	item->zipped = zipped;
	item->type = strdup(type);
	item->target = strdup(target);
	return item->type && item->target ? at + 1 - head : 0;
}

static int read_file(int fd, bool body, struct push_item *item)
{
	char head[HEAD_MAX + 1];
	ssize_t n = pread(fd, head, HEAD_MAX, 0);
	struct stat st;
	uint64_t crc;
	size_t length;

	if (n < 0 || fstat(fd, &st))
		return -errno;
	head[n] = 0;
	length = read_head(head, item, &crc);
	if (!length || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != length + item->size)
		return -EBADMSG;
	if (!body)
		return 0;
	item->body = malloc(item->size + 1);
	if (!item->body)
		return -ENOMEM;
	for (size_t done = 0; done < item->size; done += n) {
		n = pread(fd, item->body + done, item->size - done, length + done);
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
	}
	return crc32(0, item->body, item->size) == crc ? 0 : -EBADMSG;
}

int push_file__read(int folder, const char *name, bool body, struct push_item **result)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct push_item *item;
	int err;

	*result = NULL;
	if (fd < 0)
		return -errno;
	item = calloc(1, sizeof(*item));
	err = item ? read_file(fd, body, item) : -ENOMEM;
	close(fd);
	/* What a damaged head says is not believed. */
	if (err && item && !item->target) {
		free(item->type);
		free(item);
		item = NULL;
	}
	*result = item;
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * New files have names of their own until all of them are complete. What an older export left, and
 * one that was killed, is removed after that.
 */
#include "cuda-trace/columns/parquet_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/temporary_file.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/columns/parquet_writer.h"

#define SUFFIX ".parquet"
#define TAIL   4096 /* of a file, in which the creator's name is */

struct output {
	char *partial, *name;
};

struct parquet_folder {
	const char *path;
	int fd;
	bool made;
	struct output *outputs;
	char **older;
	uint32_t count, capacity, older_count, older_capacity;
};

static int complain(const struct parquet_folder *folder, int err)
{
	char shown[512];

	fprintf(stderr, "cuda-trace report: cannot write %s: %s\n",
		text__show(shown, sizeof(shown), folder->path, 120), strerror(-err));
	return err;
}

static int refuse(const struct parquet_folder *folder, const char *name)
{
	char shown[512], shown_name[512];

	fprintf(stderr,
		"cuda-trace report: %s has a file that --parquet did not write, %s: nothing is "
		"overwritten (name another folder)\n",
		text__show(shown, sizeof(shown), folder->path, 120),
		text__show(shown_name, sizeof(shown_name), name, 120));
	return -EEXIST;
}

/* NAME.parquet and sixteen digits: left by an export that was killed. */
static bool is_partial(const char *name)
{
	size_t length = strlen(name), digits = TEMPORARY_TAG_SIZE - 1;
	const char *tag = name + length - digits;

	return length > digits + sizeof(SUFFIX) && strspn(tag, "0123456789abcdef") == digits &&
	       tag[-1] == '.' && !strncmp(tag - sizeof(SUFFIX), SUFFIX, sizeof(SUFFIX) - 1);
}

static bool is_our_parquet(int fd)
{
	char tail[TAIL];
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n = size < 12 ? -1 : pread(fd, tail, TAIL, size > TAIL ? size - TAIL : 0);

	return n > 4 && !memcmp(tail + n - 4, "PAR1", 4) &&
	       memmem(tail, n, PARQUET_CREATOR, strlen(PARQUET_CREATOR));
}

static bool is_ours(const struct parquet_folder *folder, const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);
	struct stat st;
	bool ours;
	int fd;

	if (fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	if (is_partial(name))
		return true;
	if (length <= suffix || strcmp(name + length - suffix, SUFFIX) != 0)
		return false;
	fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ours = fd >= 0 && is_our_parquet(fd);
	if (fd >= 0)
		close(fd);
	return ours;
}

static int add_older(struct parquet_folder *folder, const char *name)
{
	char *copy;

	if (!is_ours(folder, name))
		return refuse(folder, name);
	copy = strdup(name);
	if (!copy ||
	    !array_grow__for_one(folder->older, folder->older_capacity, folder->older_count)) {
		free(copy);
		return complain(folder, -ENOMEM);
	}
	folder->older[folder->older_count++] = copy;
	return 0;
}

static int examine(struct parquet_folder *folder)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!entries) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return complain(folder, err);
	}
	while (!err && (entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = add_older(folder, entry->d_name);
	closedir(entries);
	return err;
}

static int open_folder(struct parquet_folder *folder)
{
	folder->made = !mkdir(folder->path, 0777);
	if (!folder->made && errno != EEXIST)
		return complain(folder, -errno);
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return complain(folder, -errno);
	/* Two exports would take each other's files for left ones. */
	if (flock(folder->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return complain(folder, -EBUSY);
	return examine(folder);
}

static void free_folder(struct parquet_folder *folder)
{
	for (uint32_t i = 0; i < folder->count; i++) {
		free(folder->outputs[i].partial);
		free(folder->outputs[i].name);
	}
	for (uint32_t i = 0; i < folder->older_count; i++)
		free(folder->older[i]);
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder->outputs);
	free(folder->older);
	free(folder);
}

int parquet_folder__open(struct parquet_folder **result, const char *path)
{
	struct parquet_folder *folder = calloc(1, sizeof(*folder));
	int err;

	if (!folder)
		return -ENOMEM;
	folder->path = path;
	folder->fd = -1;
	err = open_folder(folder);
	if (err)
		free_folder(folder);
	else
		*result = folder;
	return err;
}

FILE *parquet_folder__create(struct parquet_folder *folder, const char *name)
{
	struct output *output;
	FILE *file = NULL;
	int fd;

	if (!array_grow__for_one(folder->outputs, folder->capacity, folder->count)) {
		complain(folder, -ENOMEM);
		return NULL;
	}
	output = &folder->outputs[folder->count];
	*output = (struct output){0};
	if (asprintf(&output->name, "%s" SUFFIX, name) < 0) {
		complain(folder, -ENOMEM);
		return NULL;
	}
	fd = temporary_file__open(folder->fd, output->name, 0666, &output->partial);
	if (fd < 0) {
		complain(folder, fd);
		free(output->name);
		return NULL;
	}
	folder->count++;
	file = fdopen(fd, "w");
	if (!file) {
		complain(folder, -errno);
		close(fd);
	}
	return file;
}

int parquet_folder__close_file(struct parquet_folder *folder, FILE *file, int err)
{
	if ((fflush(file) || ferror(file)) && (!err || err == -EIO))
		err = errno ? -errno : -EIO;
	if (fclose(file) && !err)
		err = -errno;
	return err ? complain(folder, err) : 0;
}

static bool is_new(const struct parquet_folder *folder, const char *name)
{
	for (uint32_t i = 0; i < folder->count; i++)
		if (!strcmp(folder->outputs[i].name, name))
			return true;
	return false;
}

int parquet_folder__finish(struct parquet_folder *folder, int err)
{
	for (uint32_t i = 0; i < folder->count && !err; i++) {
		const struct output *output = &folder->outputs[i];

		if (renameat(folder->fd, output->partial, folder->fd, output->name))
			err = complain(folder, -errno);
	}
	/* Those that were renamed are not there any more by this name. */
	for (uint32_t i = 0; i < folder->count && err; i++)
		unlinkat(folder->fd, folder->outputs[i].partial, 0);
	for (uint32_t i = 0; i < folder->older_count && !err; i++)
		if (!is_new(folder, folder->older[i]))
			unlinkat(folder->fd, folder->older[i], 0);
	if (err && folder->made)
		rmdir(folder->path);
	free_folder(folder);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * A file is examined through the descriptor that it will be written by, and emptied only then, so
 * that nothing can be put in its place between.
 */
#include "cuda-trace/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "cuda-trace/base/temporary_file.h"
#include "cuda-trace/base/text.h"

#define HEAD	     16
#define SQLITE_MAGIC "SQLite format 3" /* with its terminating NUL 16 bytes */
#define SPOOL_HEAD   "cdstblck"	       /* SPOOL_MAGIC in the order of bytes of a file */

static bool is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

static bool is_sqlite(const char *head, ssize_t n)
{
	return n == HEAD && !memcmp(head, SQLITE_MAGIC, HEAD);
}

/* pprof's profiles are compressed, too, and may be replaced. */
static bool is_packed_sqlite(int fd)
{
	char head[HEAD];
	int copy = dup(fd), n;
	gzFile in;

	if (copy < 0)
		return true;
	in = gzdopen(copy, "rb");
	if (!in) {
		close(copy);
		return true;
	}
	n = gzread(in, head, sizeof(head));
	gzclose(in);
	return is_sqlite(head, n);
}

/* Leaves the position of `fd` at its start. */
static bool is_recording(int fd)
{
	char head[HEAD];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	bool yes = is_sqlite(head, n) || (n >= 8 && !memcmp(head, SPOOL_HEAD, 8));

	if (!yes && n > 2 && !memcmp(head, "\x1f\x8b", 2)) {
		lseek(fd, 0, SEEK_SET);
		yes = is_packed_sqlite(fd);
	}
	lseek(fd, 0, SEEK_SET);
	return yes;
}

bool output_file__is_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool yes = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && is_recording(fd);

	if (fd >= 0)
		close(fd);
	return yes;
}

static bool is_input(const struct stat *st, const char *const *inputs)
{
	struct stat input;

	for (; inputs && *inputs; inputs++)
		if (!stat(*inputs, &input) && input.st_dev == st->st_dev &&
		    input.st_ino == st->st_ino)
			return true;
	return false;
}

static int refuse(const char *command, const char *path, const char *what)
{
	char shown[512];

	fprintf(stderr, "cuda-trace %s: %s is %s: it is not overwritten (name another output)\n",
		command, text__show(shown, sizeof(shown), path, 120), what);
	return -EEXIST;
}

/* Devices, FIFOs and terminals hold nothing that could be lost. */
static int examine(const char *command, const char *path, int fd, const char *const *inputs)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (is_input(&st, inputs))
		return refuse(command, path, "the input");
	return is_recording(fd) ? refuse(command, path, "a recording") : 0;
}

int output_file__check(const char *command, const char *path, const char *const *inputs)
{
	int fd, err;

	if (is_stdout(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	err = examine(command, path, fd, inputs);
	close(fd);
	return err == -EEXIST ? err : 0;
}

static FILE *complain(const char *command, const char *path, int err)
{
	char shown[512];

	fprintf(stderr, "cuda-trace %s: cannot write %s: %s\n", command,
		text__show(shown, sizeof(shown), path, 120), strerror(err));
	return NULL;
}

/* Opened for reading as well, where that is allowed: what is in it decides. */
static int open_in_place(const char *command, const char *path, const char *const *inputs)
{
	struct stat st;
	int fd, err;

	/* Opening a FIFO for reading as well would not wait for its reader. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EACCES)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	err = examine(command, path, fd, inputs);
	if (!err && !ftruncate(fd, 0))
		return fd;
	if (!err)
		err = -errno;
	close(fd);
	errno = -err;
	return -1;
}

FILE *output_file__open_stream(const char *command, const char *path, const char *const *inputs)
{
	FILE *file;
	int fd;

	if (is_stdout(path))
		return stdout;
	fd = open_in_place(command, path, inputs);
	if (fd < 0)
		/* EEXIST was reported: opening without O_EXCL has no such error. */
		return errno == EEXIST ? NULL : complain(command, path, errno);
	file = fdopen(fd, "w");
	if (!file) {
		complain(command, path, errno);
		close(fd);
	}
	return file;
}

/* Not to be replaced by a file of that name: a device, a FIFO, what a link leads to. */
static bool is_special(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode);
}

int output_file__open(struct output_file *output, const char *command, const char *path,
		      const char *const *inputs)
{
	int fd, err = output_file__check(command, path, inputs);

	*output = (struct output_file){.command = command, .path = path};
	if (err)
		return err;
	if (is_stdout(path) || is_special(path)) {
		output->file = output_file__open_stream(command, path, inputs);
		return output->file ? 0 : -EIO;
	}
	/* In a folder that others may write to, a link could stand under a known name. */
	fd = temporary_file__open(AT_FDCWD, path, 0666, &output->partial);
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->file)
		return 0;
	err = fd < 0 ? fd : -errno;
	complain(command, path, -err);
	if (fd >= 0) {
		close(fd);
		unlink(output->partial);
	}
	free(output->partial);
	output->partial = NULL;
	return err;
}

int output_file__close(struct output_file *output, int err)
{
	bool is_broken = fflush(output->file) || ferror(output->file);
	int code = is_broken ? (errno ? errno : EIO) : 0;

	if (output->file != stdout && fclose(output->file) && !code)
		code = errno;
	if (code == EPIPE && !output->partial)
		code = 0;
	if (!err && !code && output->partial && rename(output->partial, output->path))
		code = errno;
	if (!err && code)
		complain(output->command, is_stdout(output->path) ? "stdout" : output->path, code);
	if ((err || code) && output->partial)
		unlink(output->partial);
	free(output->partial);
	output->partial = NULL;
	return err ? err : -code;
}

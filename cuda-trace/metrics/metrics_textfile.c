// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes beside the file and renames. Called by the command's main loop.
 */
#include "cuda-trace/metrics/metrics_textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/temporary_file.h"
#include "cuda-trace/metrics/metrics_exporter.h"

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t written = write(fd, text, size);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			size -= written;
		}
	}
	return 0;
}

static int replace(const char *path, const char *text, size_t size)
{
	char *beside;
	/* Not *.prom: the collector would read it half written. */
	int fd = temporary_file__open(AT_FDCWD, path, 0644, &beside), err;

	if (fd < 0)
		return fd;
	err = write_all(fd, text, size);
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	free(beside);
	return err;
}

int textfile__write(struct exporter *exporter, const char *path)
{
	char *text = NULL;
	size_t size = 0;
	int err = exporter__scrape(exporter, EXPOSITION_TEXT, true, &text, &size);

	if (!err)
		err = strcmp(path, "-") ? replace(path, text, size)
					: write_all(STDOUT_FILENO, text, size);
	free(text);
	if (err)
		fprintf(stderr, "cuda-trace metrics: cannot write %s: %s\n", path, strerror(-err));
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 16384

/* -EINVAL = it is no regular file, -E2BIG. */
static int read_file(const char *path, char text[FILE_MAX + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = 0;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (st.st_size > FILE_MAX)
		err = -E2BIG;
	else
		n = read(fd, text, FILE_MAX);
	if (n < 0)
		err = -errno;
	close(fd);
	text[err ? 0 : n] = 0;
	return err;
}

static bool fail(char error[256], const char *option, const char *what)
{
	snprintf(error, 256, "%s: %s", option, what);
	return false;
}

/* One line of visible ASCII characters and blanks: everything else could end the header. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

bool push_secrets__token(const char *path, bool (*add)(void *context, const char *line),
			 void *context, char error[256])
{
	char text[FILE_MAX + 1], line[FILE_MAX + 64];
	bool added;
	int err;

	if (!path)
		return true;
	err = read_file(path, text);
	if (err)
		return fail(error, "--token-file", strerror(-err));
	text[strcspn(text, "\r\n")] = 0;
	if (!*text || !is_plain(text) || strchr(text, ' '))
		return fail(error, "--token-file", "its first line is no token");
	snprintf(line, sizeof(line), "Authorization: Bearer %s", text);
	added = add(context, line);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(line, sizeof(line));
	return added;
}

static bool is_header(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon && colon > line && is_plain(line) && !memchr(line, ' ', colon - line);
}

bool push_secrets__headers(const char *header, bool (*add)(void *context, const char *line),
			   void *context, char error[256])
{
	char text[FILE_MAX + 1], *line, *rest = NULL;
	bool added = true;
	int err;

	if (!header)
		return true;
	if (*header != '@')
		return is_header(header) ? add(context, header)
					 : fail(error, "--header", "it is not NAME: VALUE");
	err = read_file(header + 1, text);
	if (err)
		return fail(error, "--header @FILE", strerror(-err));
	for (line = strtok_r(text, "\r\n", &rest); line && added;
	     line = strtok_r(NULL, "\r\n", &rest))
		added = is_header(line)
				? add(context, line)
				: fail(error, "--header @FILE", "a line of it is not NAME: VALUE");
	explicit_bzero(text, sizeof(text));
	return added;
}

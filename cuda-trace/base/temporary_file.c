// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

#define MAX_TRIES 16

void temporary_file__tag(char tag[TEMPORARY_TAG_SIZE])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = monotonic__ns() ^ (uint64_t)getpid() << 40;
	snprintf(tag, TEMPORARY_TAG_SIZE, "%016" PRIx64, number);
}

int temporary_file__open(int folder, const char *prefix, mode_t mode, char **name)
{
	char tag[TEMPORARY_TAG_SIZE];
	int fd = -EEXIST;

	*name = NULL;
	for (int i = 0; i < MAX_TRIES && fd == -EEXIST; i++) {
		free(*name);
		temporary_file__tag(tag);
		if (asprintf(name, "%s.%s", prefix, tag) < 0) {
			*name = NULL;
			return -ENOMEM;
		}
		fd = openat(folder, *name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    mode);
		if (fd < 0)
			fd = -errno;
	}
	if (fd < 0) {
		free(*name);
		*name = NULL;
	}
	return fd;
}

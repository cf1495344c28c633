/* SPDX-License-Identifier: BSD-2-Clause */
/* What the targets of `make check-fuzz` share: libFuzzer's entry, and input as a file. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a file: its descriptor, which is used again. */
static inline int fuzz__file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static inline const char *fuzz__path(const uint8_t *data, size_t size)
{
	static char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fuzz__file(data, size));
	return path;
}

static inline int fuzz__null(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fd;
}

#endif

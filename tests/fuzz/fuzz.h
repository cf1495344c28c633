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
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/wanted_addresses.h"

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

/* A parser of debug information, to which the input is a file and all addresses in its first pages
 * are wanted. */
static inline int fuzz__debug_information(foreign_job job, const uint8_t *data, size_t size)
{
	static uint64_t addresses[0x4000];
	const struct wanted_addresses wanted = {addresses,
						sizeof(addresses) / sizeof(addresses[0])};

	for (size_t i = 0; i < wanted.count; i++)
		addresses[i] = i;
	job(fuzz__file(data, size), size, &wanted, foreign_output__to(fuzz__null(), SIZE_MAX));
	return 0;
}

#endif

// SPDX-License-Identifier: BSD-2-Clause
/*
 * By system calls, as another thread may hold the lock of the allocator. Not for programs that
 * forbid some (sandbox.h). What fails is left out: then the thread stays where it is.
 */
#include "libcupti-usdt/control/cpus.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPUS_MAX    8192 /* as many as Linux knows */
#define THREADS_MAX 1024
#define WORD_BITS   (8 * sizeof(unsigned long))

struct cpus {
	unsigned long words[CPUS_MAX / WORD_BITS];
};

/* What getdents64() writes. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static void add(struct cpus *cpus, long thread)
{
	struct cpus own;
	long bytes = syscall(SYS_sched_getaffinity, thread, sizeof(own), &own);

	for (size_t i = 0; bytes > 0 && i < bytes / sizeof(*own.words); i++)
		cpus->words[i] |= own.words[i];
}

/* How many threads are in a part of the folder. */
static unsigned int add_part(struct cpus *cpus, const char *part, long length)
{
	unsigned int threads = 0;

	for (long at = 0; at < length;) {
		const struct entry *entry = (const void *)(part + at);

		if (*entry->name != '.') {
			add(cpus, strtol(entry->name, NULL, 10));
			threads++;
		}
		at += entry->length;
	}
	return threads;
}

void cpus__spread(void)
{
	int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct entry) char part[2048];
	struct cpus cpus = {{0}};
	unsigned int threads = 0;
	long length;

	/* The first thread, should there be no /proc. */
	add(&cpus, getpid());
	while (folder >= 0 && threads < THREADS_MAX) {
		length = syscall(SYS_getdents64, folder, part, sizeof(part));
		if (length <= 0)
			break;
		threads += add_part(&cpus, part, length);
	}
	if (folder >= 0)
		close(folder);
	syscall(SYS_sched_setaffinity, 0, sizeof(cpus), &cpus);
}

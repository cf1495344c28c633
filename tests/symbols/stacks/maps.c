// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process with thousands of mappings, as the recorder reads them: `maps dying ROUNDS` kills it
 * just then and asks for the last one; `maps texts FILE` maps that over and over and says what
 * memory its names take. Built by tests/symbols/stacks.bats.
 */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/symbols/mappings.h"

#define MAPPINGS 3000
#define PAGE	 4096ul

/* Each from the file's begin, so that none is one with its neighbour. */
static char *map_many(int fd)
{
	char *at = mmap(NULL, MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < MAPPINGS; i++)
		if (mmap(at + i * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			exit(2);
	return at;
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static int texts(int fd)
{
	struct modules *modules = modules__new();
	struct mappings *mappings;
	uint64_t first = (uint64_t)map_many(fd), address;
	size_t before = allocated();

	mappings = mappings__new(getpid(), modules);
	printf("first=%u KiB=%zu\n", mappings__find(mappings, first, &address) > 0,
	       (allocated() - before) >> 10);
	mappings__free(mappings);
	modules__free(modules);
	return 0;
}

/* Whether the mapping that comes last is known, too, when the process is gone. */
static bool knows_last(uint64_t last, pid_t child)
{
	struct modules *modules = modules__new();
	struct mappings *mappings = mappings__new(child, modules);
	uint64_t address;
	bool known;

	kill(child, SIGKILL);
	/* Nothing is there: it is looked for in the file again. */
	for (int i = 0; i < 32; i++)
		mappings__find(mappings, 1, &address);
	known = mappings__find(mappings, last, &address) > 0;
	mappings__free(mappings);
	modules__free(modules);
	return known;
}

static int dying(int fd, unsigned long rounds)
{
	uint64_t last = (uint64_t)map_many(fd) + (MAPPINGS - 1) * PAGE;
	unsigned long unknown = 0;

	for (unsigned long i = 0; i < rounds; i++) {
		pid_t child = fork();

		if (!child)
			for (;;)
				pause();
		unknown += !knows_last(last, child);
		waitpid(child, NULL, 0);
	}
	printf("unknown=%lu\n", unknown);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_dying = argc == 3 && !strcmp(argv[1], "dying");
	int fd = argc == 3 ? open(is_dying ? "/proc/self/exe" : argv[2], O_RDONLY) : -1;

	if (fd < 0)
		return 2;
	return is_dying ? dying(fd, strtoul(argv[2], NULL, 10)) : texts(fd);
}

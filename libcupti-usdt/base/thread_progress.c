// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which threads of the process have run since a moment, from /proc/self/task. No allocation, no
 * stdio: this is somebody else's process.
 *
 * Failure modes: 1. no /proc, or a kernel without schedstat: unknown, and the caller waits for a
 * fixed time. 2. more threads than the table has: the same. 3. a thread that never gets a CPU: the
 * time is limited.
 */
#include "libcupti-usdt/base/thread_progress.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/threads.h"

#define THREADS	    1024
#define SLEEPERS    512	   /* threads that sleep are noted among the first so many only */
#define RUN_NS	    200000 /* more than the dispatcher takes */
#define TURN_US	    250	   /* at first */
#define TURN_MAX_US 2000
#define ENTRY_BYTES 4096

struct progress {
	int id;
	uint64_t ran; /* ns */
};

struct entry { /* of getdents64 */
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static char *put(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	*at = '\0';
	return at;
}

/* The first bytes of /proc/self/task/ID/NAME. */
static bool read_file(int folder, int id, const char *name, char *text, size_t size)
{
	char path[64], digits[12], *digit = digits + sizeof(digits) - 1;
	ssize_t length;
	int file;

	*digit = '\0';
	do
		*--digit = '0' + id % 10;
	while (id /= 10);
	put(put(path, digit), name);
	file = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	length = read(file, text, size - 1);
	close(file);
	text[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

/* Also one that a tracer has stopped, as a tool that attaches does. The state follows the name,
 * which may contain anything. */
static bool wants_to_run(int folder, int id)
{
	char text[256];
	const char *end;

	if (!read_file(folder, id, "/stat", text, sizeof(text)))
		return false;
	end = strrchr(text, ')');
	return end && end[1] && (end[2] == 'R' || end[2] == 't');
}

static bool read_run_time(int folder, int id, uint64_t *ran)
{
	char text[64];

	if (!read_file(folder, id, "/schedstat", text, sizeof(text)))
		return false;
	*ran = 0;
	for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
		*ran = *ran * 10 + (*digit - '0');
	return true;
}

static int number(const char *text)
{
	int value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (*text++ - '0');
	return value;
}

/* Notes the threads but this one: how many; -1 if that is not known. */
static int note_all(int folder, struct progress threads[THREADS])
{
	char entries[ENTRY_BYTES] __attribute__((aligned(8)));
	int count = 0, self = syscall(SYS_gettid);
	long size;

	while ((size = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
		for (long at = 0; at < size;) {
			struct entry *entry = (struct entry *)(entries + at);
			int id = number(entry->name);

			at += entry->size;
			if (!id || id == self)
				continue;
			if (count >= SLEEPERS && !wants_to_run(folder, id))
				continue;
			if (count == THREADS)
				return -1;
			if (read_run_time(folder, id, &threads[count].ran))
				threads[count++].id = id;
			else if (wants_to_run(folder, id))
				return -1; /* or it has ended */
		}
	return size < 0 ? -1 : count;
}

/*
 * Keeps those that have not run since. How many of them want to. One that sleeps now may be woken
 * by one that is waited for: by the holder of a lock, inside the driver.
 */
static int keep_waiting(int folder, struct progress threads[THREADS], int *count)
{
	int left = 0, waiting = 0;

	for (int i = 0; i < *count; i++) {
		uint64_t ran;

		if (!read_run_time(folder, threads[i].id, &ran) || ran - threads[i].ran >= RUN_NS)
			continue;
		waiting += wants_to_run(folder, threads[i].id);
		threads[left++] = threads[i];
	}
	*count = left;
	return waiting;
}

enum thread_progress thread_progress__wait(uint32_t milliseconds)
{
	static struct progress threads[THREADS]; /* on the agent's own thread alone */
	uint64_t until = clock__now() + milliseconds * 1000000ULL;
	int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = folder < 0 ? -1 : note_all(folder, threads), waiting = 0;
	uint32_t turn = TURN_US;

	while (count > 0 && (waiting = keep_waiting(folder, threads, &count)) &&
	       clock__now() < until) {
		thread__rest(turn);
		turn = turn * 2 < TURN_MAX_US ? turn * 2 : TURN_MAX_US;
	}
	if (folder >= 0)
		close(folder);
	return count < 0 ? THREADS_UNKNOWN : waiting ? THREADS_WAIT : THREADS_RAN;
}

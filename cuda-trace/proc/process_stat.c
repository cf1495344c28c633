// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/process_stat.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda-trace/base/clock.h"

#define LINE_SIZE 1024

/* What follows the name, which may hold anything; NULL = it has gone. */
static const char *read_fields(const char *path, char line[LINE_SIZE])
{
	FILE *stat = fopen(path, "re");
	const char *end;

	if (!stat)
		return NULL;
	line[fread(line, 1, LINE_SIZE - 1, stat)] = 0;
	fclose(stat);
	end = strrchr(line, ')');
	return end && end[1] ? end + 2 : NULL;
}

static char state_in(const char *path)
{
	char line[LINE_SIZE];
	const char *fields = read_fields(path, line);

	return fields ? *fields : 0;
}

char process_stat__state(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return state_in(path);
}

char process_stat__thread_state(uint32_t pid, uint32_t thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, thread);
	return state_in(path);
}

bool process_stat__is_end(char state)
{
	return !state || strchr("ZXx", state);
}

bool process_stat__is_stop(char state)
{
	return state == 'T' || state == 't';
}

uint64_t process_stat__start(uint32_t pid)
{
	unsigned long long start = 0;
	char path[64], line[LINE_SIZE];
	const char *fields;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fields = read_fields(path, line);
	if (!fields || sscanf(fields,
			      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			      "%*d %*d %llu",
			      &start) != 1)
		return 0;
	return start;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

uint64_t process_stat__tick_ns(void)
{
	return 1000000000ull / sysconf(_SC_CLK_TCK);
}

uint64_t process_stat__start_ns(uint32_t pid)
{
	/*
	 * That clock stands still while the machine is suspended. Read first, it is never ahead.
	 * Both the start and CLOCK_BOOTTIME have the boottime offset of the tool's time namespace.
	 */
	uint64_t now = monotonic__ns();
	uint64_t suspended = read_clock(CLOCK_BOOTTIME) - now;
	uint64_t start = process_stat__start(pid) * process_stat__tick_ns();

	if (!start)
		return 0;
	return start > suspended ? start - suspended : 1;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether a filter came after cuInit() cannot be found out here without a system call that it may
 * forbid. So the tool compares the number of filters with that at the start, and raises the
 * semaphore of cuda:sandboxed in such a process before any other: see control__follow().
 */
#include "libcupti-usdt/control/sandbox.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/emit/probe_sites.h"

#define STATUS	"/proc/thread-self/status"
#define FILTERS "\nSeccomp_filters:"

static uint32_t count_filters(void)
{
	char text[4096], *line;
	int file = open(STATUS, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;

	if (file >= 0)
		close(file);
	if (length < 0)
		return UINT32_MAX;
	text[length] = '\0';
	line = strstr(text, FILTERS);
	return line ? (uint32_t)strtoul(line + sizeof(FILTERS) - 1, NULL, 10) + 1 : UINT32_MAX;
}

static uint32_t noted;

void sandbox__note(void)
{
	noted = count_filters();
	probe_sites__set_filters(noted);
}

bool sandbox__is_free(void)
{
	return noted == 1;
}

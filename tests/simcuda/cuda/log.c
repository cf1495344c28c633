// SPDX-License-Identifier: BSD-2-Clause
// The state log for tests: whole lines appended with one write each to the file that SIMCUDA_LOG
// names, so that many processes may share it. Never stdout or stderr: those are the program's.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/simcuda/cuda/driver.h"

void log__line(const char *format, ...)
{
	const char *path = getenv("SIMCUDA_LOG");
	char line[1024];
	int saved = errno, fd, length;
	va_list list;

	if (!path || !*path)
		return;
	length = snprintf(line, sizeof(line), "%llu %d ", (unsigned long long)clock__now(),
			  (int)getpid());
	va_start(list, format);
	length += vsnprintf(line + length, sizeof(line) - length - 1, format, list);
	va_end(list);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		if (write(fd, line, length) < 0)
			errno = saved;
		close(fd);
	}
	errno = saved;
}

// SPDX-License-Identifier: BSD-2-Clause
// What kernels consume, for the simulated NVML of another process: see tests/simcuda/energy.h.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/simcuda/cuda/driver.h"
#include "tests/simcuda/energy.h"

/* Of "name=watts,name=watts"; 300 for others. */
static uint32_t watts_of(const char *kernel)
{
	const char *list = getenv("SIMCUDA_WATTS");
	size_t length = strlen(kernel);

	for (; list && *list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, kernel, length) && list[length] == '=')
			return strtoul(list + length + 1, NULL, 10);
	return 300;
}

void energy_log__kernel(const char *kernel, int device, uint64_t start, uint64_t end)
{
	const char *path = getenv("SIMCUDA_ENERGY_LOG");
	struct simcuda_energy line = {.device = device, .start = start, .end = end};
	int saved = errno, fd;

	if (!path || !*path)
		return;
	line.watts = watts_of(kernel);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		if (write(fd, &line, sizeof(line)) < 0)
			errno = saved;
		close(fd);
	}
	errno = saved;
}

// SPDX-License-Identifier: BSD-2-Clause
// A libnvidia-ml whose energy counters follow the simulated kernels of other processes, in steps of
// 20 ms: idle watts since the start, and each kernel's beyond them while it ran.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/energy.h"

#define EXPORT	      __attribute__((visibility("default")))
#define STEP_NS	      20000000ull
#define UNINITIALIZED 1
#define INVALID	      2
#define NOT_SUPPORTED 3
#define LOST	      15

static unsigned long long started; /* ns; 0 = not initialised */

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned int *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned int size);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

int nvmlInit_v2(void)
{
	if (getenv("SIMNVML_INIT"))
		return atoi(getenv("SIMNVML_INIT"));
	started = now() / STEP_NS * STEP_NS;
	return 0;
}

int nvmlShutdown(void)
{
	started = 0;
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = number("SIMCUDA_DEVICES", 1);
	return started ? 0 : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	if (index >= number("SIMCUDA_DEVICES", 1))
		return INVALID;
	*device = (void *)(unsigned long)(index + 1);
	return 0;
}

/* As cuDeviceGetUuid() has it. */
int nvmlDeviceGetUUID(void *device, char *text, unsigned int size)
{
	if (size < 41)
		return INVALID;
	snprintf(text, size, "GPU-51515151-5151-5151-5151-5151515151%02x",
		 (unsigned int)((unsigned long)device - 1));
	return 0;
}

static double kernels(unsigned int device, unsigned long long until)
{
	const char *path = getenv("SIMCUDA_ENERGY_LOG");
	struct simcuda_energy line;
	double joules = 0;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	while (fd >= 0 && read(fd, &line, sizeof(line)) == sizeof(line)) {
		unsigned long long end = line.end < until ? line.end : until;

		if (line.device == device && end > line.start)
			joules += line.watts * 1e-9 * (end - line.start);
	}
	if (fd >= 0)
		close(fd);
	return joules;
}

/* SIMNVML_FAIL=N: each N-th reading fails. SIMNVML_NO_METER=1: the GPUs have no counter. */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
	static unsigned long readings;
	unsigned long long until = now() / STEP_NS * STEP_NS;
	double joules;

	if (!started)
		return UNINITIALIZED;
	if (getenv("SIMNVML_NO_METER"))
		return NOT_SUPPORTED;
	if (number("SIMNVML_FAIL", 0) && ++readings % number("SIMNVML_FAIL", 0) == 0)
		return LOST;
	joules = 1e6 + (until - started) * 1e-9 * number("SIMNVML_IDLE_WATTS", 70) +
		 kernels((unsigned long)device - 1, until);
	*millijoules = joules * 1000;
	return 0;
}

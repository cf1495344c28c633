// SPDX-License-Identifier: BSD-2-Clause
// The kernels whose effect the simulation knows by name, so that a program's own check of its
// results passes; and how long a kernel takes.
#include <string.h>
#include "tests/simcuda/cuda/driver.h"
#include "tests/simcuda/nccl.h"

/* saxpy(u32 n, f32 a, const f32 *x, f32 *y): y = a * x + y */
static void run_saxpy(void **parameters, uint64_t threads)
{
	uint32_t n = *(uint32_t *)parameters[0];
	float a = *(float *)parameters[1], *x = *(float **)parameters[2],
	      *y = *(float **)parameters[3];

	for (uint64_t i = 0; i < n && i < threads; i++)
		y[i] = a * x[i] + y[i];
}

/* increment(u32 n, u32 *p): every element one more */
static void run_increment(void **parameters, uint64_t threads)
{
	uint32_t n = *(uint32_t *)parameters[0], *p = *(uint32_t **)parameters[1];

	memory__touch((uintptr_t)p, (size_t)n * sizeof(*p));
	for (uint64_t i = 0; i < n && i < threads; i++)
		p[i]++;
}

/* spin(u64 ns): takes that long */
static uint64_t spin_duration(void **parameters)
{
	return *(uint64_t *)parameters[0];
}

static const struct kernel known[] = {
	{"saxpy", 4, {4, 4, 8, 8}, run_saxpy, NULL},
	{"increment", 2, {4, 8}, run_increment, NULL},
	{"spin", 1, {8}, NULL, spin_duration},
};

const struct kernel *kernel__find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static uint64_t launch__threads(const struct launch *launch)
{
	return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] * launch->block[0] *
	       launch->block[1] * launch->block[2];
}

bool launch__is_collective(const struct launch *launch)
{
	return !strncmp(launch->function->name, NCCL_KERNEL, strlen(NCCL_KERNEL));
}

bool kernel__meets(const struct launch *launch, uint64_t start, uint64_t *ns)
{
	const struct nccl_meeting *meeting;

	if (!launch__is_collective(launch) || !launch->parameters)
		return false;
	meeting = *(const struct nccl_meeting **)launch->parameters[0];
	*ns = meeting->duration(meeting, start);
	return true;
}

uint64_t kernel__duration(const struct launch *launch)
{
	const struct kernel *kernel = launch->function->kernel;

	if (kernel && kernel->duration && launch->parameters)
		return kernel->duration(launch->parameters);
	if (settings__get()->kernel_ns)
		return settings__get()->kernel_ns;
	return 200 + launch__threads(launch) / 100;
}

void kernel__run(const struct launch *launch)
{
	const struct kernel *kernel = launch->function->kernel;

	if (kernel && kernel->run && launch->parameters)
		kernel->run(launch->parameters, launch__threads(launch));
}

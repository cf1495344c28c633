// SPDX-License-Identifier: BSD-2-Clause
// Maps libcuda long before it calls cuInit(), as PyTorch, CuPy and Triton do; then launches.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: late-init [MILLISECONDS [LAUNCHES]]\n"
			   "Sleeps so long between mapping libcuda and cuInit().\n";

int main(int argc, char **argv)
{
	uint64_t pause = argc > 1 ? strtoul(argv[1], NULL, 10) : 2500;
	uint64_t launches = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;
	struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	struct program program;
	CUfunction empty;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	usleep(pause * 1000);
	program__start(&program);
	empty = program__kernel(&program, "empty");
	for (uint64_t i = 0; i < launches; i++)
		program__check(counted__launch(empty, &shape, NULL, NULL), "cuLaunchKernel");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__expect();
	return 0;
}

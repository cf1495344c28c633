// SPDX-License-Identifier: BSD-2-Clause
// What nvcc makes of a launch: the function that launches calls one that has the kernel's name,
// whose line is that of the kernel; this calls a stub in a temporary file; and the stub calls CUDA.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: nvcc-stubs [-n LAUNCHES] [--linger]\n"
	"Launches a kernel as a program of nvcc's does, and says on which of its lines.\n"
	"--linger waits until its input ends.\n";

/* The optimiser may not fold a function into its caller. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

static struct program program;
static CUfunction kernel;
static CUstream stream;

void stub(unsigned long ns) __asm__("_Z22__device_stub__Z4spinmm");
void named(unsigned long ns) __asm__("_Z4spinm");
FUNCTION void launching(uint64_t launches);

FUNCTION void named(unsigned long ns)
{
	stub(ns);
}

static int line;

void launching(uint64_t launches)
{
	for (uint64_t i = 0; i < launches; i++) {
		line = __LINE__ + 1;
		named(1000);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"linger", 0, NULL, 'l'}, {"help", 0, NULL, 'h'}, {0}};
	uint64_t launches = 5;
	bool linger = false;
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			launches = program__number(optarg, "-n");
		else if (option == 'l')
			linger = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	program__start(&program);
	kernel = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	launching(launches);
	program__check(cuStreamSynchronize(stream), "cuStreamSynchronize");
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	printf("expect line=%d\n", line);
	fflush(stdout);
	while (linger && getchar() != EOF)
		;
	return 0;
}

#line 15 "nvcc-stubs.cudafe1.stub.c"
FUNCTION void stub(unsigned long ns)
{
	void *parameters[] = {&ns};

	program__check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL),
		       "cuLaunchKernel");
}

// SPDX-License-Identifier: BSD-2-Clause
// The plainest CUDA program: two arrays to the GPU, y = a * x + y some times over, and back.
#include <getopt.h>
#include <stdlib.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: saxpy [--size ELEMENTS] [--repeat LAUNCHES] [--cooperative]\n"
	"Computes y = a * x + y on the first GPU and checks the result. Cooperative launches want\n"
	"all blocks on the GPU at once: 65536 elements fit.\n";

static CUdeviceptr to_gpu(const float *values, size_t bytes)
{
	CUdeviceptr there;

	program__check(counted__alloc(cuMemAlloc_v2(&there, bytes), bytes), "cuMemAlloc");
	program__check(counted__copy(cuMemcpyHtoD_v2(there, values, bytes), bytes), "cuMemcpyHtoD");
	return there;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"size", 1, NULL, 's'},
						{"repeat", 1, NULL, 'r'},
						{"cooperative", 0, NULL, 'c'},
						{"help", 0, NULL, 'h'},
						{0}};
	uint32_t n = 1 << 20, repeat = 10;
	bool cooperative = false;
	struct program program;
	struct shape shape = {{0, 1, 1}, {256, 1, 1}, 0};
	CUdeviceptr x_there, y_there;
	float a = 2, *x, *y;
	CUfunction saxpy;
	size_t bytes;
	int option;

	while ((option = getopt_long(argc, argv, "s:r:ch", options, NULL)) != -1) {
		if (option == 's')
			n = program__number(optarg, "--size");
		else if (option == 'r')
			repeat = program__number(optarg, "--repeat");
		else if (option == 'c')
			cooperative = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	bytes = n * sizeof(*x);
	x = malloc(bytes);
	y = malloc(bytes);
	if (!n || !x || !y)
		program__fail("no memory for %u elements", n);
	for (uint32_t i = 0; i < n; i++) {
		x[i] = i % 100;
		y[i] = 1;
	}
	program__start(&program);
	saxpy = program__kernel(&program, "saxpy");
	x_there = to_gpu(x, bytes);
	y_there = to_gpu(y, bytes);
	shape.grid[0] = (n + 255) / 256;
	for (uint32_t i = 0; i < repeat; i++) {
		void *parameters[] = {&n, &a, &x_there, &y_there};

		program__check((cooperative ? counted__launch_cooperative
					    : counted__launch)(saxpy, &shape, NULL, parameters),
			       "cuLaunchKernel");
	}
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__check(counted__copy(cuMemcpyDtoH_v2(y, y_there, bytes), bytes), "cuMemcpyDtoH");
	for (uint32_t i = 0; i < n; i++)
		if (y[i] != 1 + repeat * a * x[i])
			program__fail("y[%u] is %f", i, y[i]);
	program__check(counted__free(cuMemFree_v2(x_there), bytes), "cuMemFree");
	program__check(counted__free(cuMemFree_v2(y_there), bytes), "cuMemFree");
	free(x);
	free(y);
	printf("saxpy: %u elements, %u launches, result right\n", n, repeat);
	program__expect();
	return 0;
}

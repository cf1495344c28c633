// SPDX-License-Identifier: BSD-2-Clause
// Keeps the GPU busy: threads with streams of their own, each of which waits for its kernels.
#include <pthread.h>
#include "tests/workloads/idle/idle_program.h"

#define THREADS 4

static struct program program;
static CUfunction spin;
static uint64_t steps;

static void *work(void *unused)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	uint64_t ns = 10000000;
	void *parameters[] = {&ns};
	CUstream stream;

	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (uint64_t i = 0; i < steps; i++) {
		program__check(counted__launch(spin, &shape, stream, parameters), "launch");
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	steps = idle_program__steps(argc, argv, 50, "Threads that take turns.");
	program__start(&program);
	spin = program__kernel(&program, "spin");
	idle_program__come_first(1);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, work, NULL);
		idle_program__spin(2500000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	idle_program__expect("none");
	return 0;
}

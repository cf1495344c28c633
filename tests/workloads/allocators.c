// SPDX-License-Identifier: BSD-2-Clause
// Threads that allocate and free device memory at the same time, each with a block that it keeps to
// the end.
#include <pthread.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: allocators [THREADS [ROUNDS]]\n"
			   "THREADS (8) threads allocate and free ROUNDS (1000) times each.\n";

static struct program program;
static uint64_t rounds;

static void *allocate(void *number)
{
	size_t bytes = 4096 * (1 + (uintptr_t)number);
	CUdeviceptr kept, memory;

	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	program__check(counted__alloc(cuMemAlloc_v2(&kept, bytes), bytes), "cuMemAlloc");
	for (uint64_t i = 0; i < rounds; i++) {
		program__check(counted__alloc(cuMemAlloc_v2(&memory, bytes), bytes), "cuMemAlloc");
		program__check(counted__free(cuMemFree_v2(memory), bytes), "cuMemFree");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	uint64_t count;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	count = argc > 1 ? program__number(argv[1], "THREADS") : 8;
	rounds = argc > 2 ? program__number(argv[2], "ROUNDS") : 1000;
	if (!count || count > 64)
		program__fail("allocators: 1 to 64 threads");
	program__start(&program);
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, allocate, (void *)i))
			program__fail("allocators: cannot start thread %llu",
				      (unsigned long long)i);
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	program__expect();
	return 0;
}

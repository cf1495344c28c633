// SPDX-License-Identifier: BSD-2-Clause
// Threads that come and go, each with a few launches on a stream of its own, some on small stacks.
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: threads [COUNT [AT-ONCE [LAUNCHES]]]\n"
	"COUNT threads (200), AT-ONCE of them together (20), make LAUNCHES launches each (5).\n";

static struct program program;
static CUfunction empty;
static uint64_t launches;

static void *launch_some(void *nothing)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	CUstream stream;

	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (uint64_t i = 0; i < launches; i++)
		program__check(counted__launch(empty, &shape, stream, NULL), "cuLaunchKernel");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	return nothing;
}

int main(int argc, char **argv)
{
	uint64_t count, at_once;
	pthread_attr_t small;
	pthread_t threads[1024];

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	count = argc > 1 ? program__number(argv[1], "COUNT") : 200;
	at_once = argc > 2 ? program__number(argv[2], "AT-ONCE") : 20;
	launches = argc > 3 ? program__number(argv[3], "LAUNCHES") : 5;
	if (!at_once || at_once > 1024)
		program__fail("threads: 1 to 1024 at once");
	program__start(&program);
	empty = program__kernel(&program, "empty");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (uint64_t done = 0; done < count; done += at_once) {
		uint64_t now = count - done < at_once ? count - done : at_once;

		for (uint64_t i = 0; i < now; i++)
			if (pthread_create(&threads[i], i % 2 ? &small : NULL, launch_some, NULL))
				program__fail("threads: cannot start thread %llu",
					      (unsigned long long)(done + i));
		for (uint64_t i = 0; i < now; i++)
			pthread_join(threads[i], NULL);
	}
	pthread_attr_destroy(&small);
	program__expect();
	return 0;
}

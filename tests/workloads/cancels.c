// SPDX-License-Identifier: BSD-2-Clause
// Threads that launch without a pause and are cancelled at any instruction.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: cancels [COUNT [AT-ONCE [US]]]\n"
			   "COUNT threads (200), AT-ONCE of them together (4), launch on streams "
			   "of their own without a pause\n"
			   "and are cancelled asynchronously after some US microseconds (2000). "
			   "Those that are in the middle of\n"
			   "a launch then may have made it or not: launches_begun says how many "
			   "launches began, launches how many\n"
			   "returned.\n";

static struct program program;
static CUfunction empty;
static _Atomic uint64_t begun, returned;

static void *launch(void *stream)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	int before;

	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	for (;;) {
		begun++;
		if (cuLaunchKernel(empty, shape.grid[0], 1, 1, shape.block[0], 1, 1, 0, stream,
				   NULL, NULL))
			abort();
		returned++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t count, at_once, us;
	pthread_t threads[64];

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	count = argc > 1 ? program__number(argv[1], "COUNT") : 200;
	at_once = argc > 2 ? program__number(argv[2], "AT-ONCE") : 4;
	us = argc > 3 ? program__number(argv[3], "US") : 2000;
	if (!at_once || at_once > 64)
		program__fail("cancels: 1 to 64 at once");
	program__start(&program);
	empty = program__kernel(&program, "empty");
	for (uint64_t done = 0; done < count; done += at_once) {
		struct timespec pause = {0, 1000 * (us / 2 + random() % us)};

		for (uint64_t i = 0; i < at_once; i++) {
			CUstream stream;

			program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
				       "cuStreamCreate");
			if (pthread_create(&threads[i], NULL, launch, stream))
				program__fail("cancels: cannot start a thread");
		}
		nanosleep(&pause, NULL);
		for (uint64_t i = 0; i < at_once; i++)
			pthread_cancel(threads[i]);
		for (uint64_t i = 0; i < at_once; i++)
			pthread_join(threads[i], NULL);
	}
	program__also("launches_begun", begun);
	truth.launches = returned;
	program__expect();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Waits for contexts, streams and events while kernels of a known length run. The last line also
// has waited_ns, the host time spent in those calls.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: syncs [ROUNDS [MICROSECONDS]]\n"
	"ROUNDS (10) of waits of each kind, for kernels of MICROSECONDS (1000).\n";

static struct program program;
static CUfunction spin;
static CUstream one, two;
static CUevent event;
static uint64_t ns, waited, launched;

static void launch(CUstream stream)
{
	const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	void *parameters[] = {&ns};

	launched = program__now();
	program__check(counted__launch(spin, &shape, stream, parameters), "cuLaunchKernel");
}

static void wait_for(CUresult (*wait)(void))
{
	uint64_t start = program__now(), end;

	program__check(wait(), "synchronise");
	end = program__now();
	waited += end - start;
	/* From the launch on: on a busy machine, the kernel may have ended before the wait begins.
	 */
	if (end - launched < ns / 10 * 9)
		program__fail("waited until %llu ns after the launch only",
			      (unsigned long long)(end - launched));
}

static CUresult wait_context(void)
{
	return counted__context_synchronize();
}

static CUresult wait_stream(void)
{
	return counted__stream_synchronize(one);
}

static CUresult wait_event(void)
{
	return counted__event_synchronize(event);
}

int main(int argc, char **argv)
{
	uint64_t rounds;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	ns = (argc > 2 ? program__number(argv[2], "MICROSECONDS") : 1000) * 1000;
	program__start(&program);
	spin = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	launch(one); /* the first launch loads the kernel, which takes its own time */
	program__check(counted__stream_synchronize(one), "cuStreamSynchronize");
	for (uint64_t i = 0; i < rounds; i++) {
		launch(one);
		wait_for(wait_stream);
		launch(one);
		program__check(cuEventRecord(event, one), "cuEventRecord");
		wait_for(wait_event);
		launch(one);
		program__check(cuEventRecord(event, one), "cuEventRecord");
		program__check(cuStreamWaitEvent(two, event, 0), "cuStreamWaitEvent");
		wait_for(wait_context);
	}
	program__check(cuEventDestroy_v2(event), "cuEventDestroy");
	program__also("waited_ns", waited);
	program__expect();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Captures graphs all the time, slowly, and launches each: what a tool does must break none.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: captures [SECONDS [MS [beside|nested|long|left FILE]]]\n"
	"Says \"ready\"; for SECONDS (1), captures a graph of 2 kernels, which takes MS (50), and "
	"launches it;\n"
	"beside: another thread launches kernels meanwhile; nested: each graph contains the\n"
	"first one, whose launch is captured, too; long: kernels take 3 ms, not next to nothing;\n"
	"left: as soon as FILE is there, one more capture is begun, which never ends.\n";

static const struct shape shape = {{64, 1, 1}, {128, 1, 1}, 0};
static uint64_t kernel_ns = 3000000; /* of those that are long */
static void *parameters[] = {&kernel_ns};

/* inner: a graph whose launch is captured as well, or NULL. */
static CUgraphExec capture(CUfunction kernel, CUstream stream, uint64_t ms, CUgraphExec inner)
{
	const struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
	CUgraphExec exec;
	CUgraph plan;

	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_GLOBAL), "begin capture");
	for (int i = 0; i < 2; i++) {
		program__check(counted__captured(cuLaunchKernel(kernel, 64, 1, 1, 128, 1, 1, 0,
								stream, parameters, NULL)),
			       "launch into a capture");
		nanosleep(&rest, NULL);
	}
	if (inner)
		program__check(cuGraphLaunch(inner, stream), "launch of a graph into a capture");
	program__check(cuStreamEndCapture(stream, &plan), "cuStreamEndCapture");
	program__check(cuGraphInstantiateWithFlags(&exec, plan, 0), "cuGraphInstantiate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	return exec;
}

/* Once there is a reason to: somebody has come who sees it begin. */
static void leave_one(const char *reason)
{
	static bool left;
	CUstream stream;

	if (left || access(reason, F_OK))
		return;
	left = true;
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_RELAXED), "begin capture");
}

static atomic_bool ended;
static CUfunction other_kernel;

static void *launch_beside(void *context)
{
	const struct timespec rest = {0, 2000000};
	CUstream stream;

	program__check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	while (!ended) {
		program__check(counted__launch(other_kernel, &shape, stream, parameters),
			       "cuLaunchKernel");
		nanosleep(&rest, NULL);
	}
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seconds, ms, end, graphs = 0;
	struct program program;
	CUfunction kernel;
	CUstream stream;
	CUcontext context;
	pthread_t thread;
	const char *reason;
	bool beside, nested;
	CUgraphExec first = NULL;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	seconds = argc > 1 ? program__number(argv[1], "SECONDS") : 1;
	ms = argc > 2 ? program__number(argv[2], "MS") : 50;
	beside = argc > 3 && !strcmp(argv[3], "beside");
	nested = argc > 3 && !strcmp(argv[3], "nested");
	reason = argc > 4 && !strcmp(argv[3], "left") ? argv[4] : NULL;
	program__start(&program);
	kernel = program__kernel(&program, argc > 3 && !strcmp(argv[3], "long") ? "spin" : "empty");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	other_kernel = kernel;
	program__check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
	if (beside && pthread_create(&thread, NULL, launch_beside, context))
		return 1;
	puts("ready");
	fflush(stdout);
	if (nested)
		first = capture(kernel, stream, ms / 2, NULL);
	end = program__now() + seconds * 1000000000;
	do {
		CUgraphExec exec;

		if (reason)
			leave_one(reason);
		program__check(counted__launch(kernel, &shape, stream, parameters),
			       "cuLaunchKernel");
		exec = capture(kernel, stream, ms / 2, first);
		program__check(counted__graph_launch(exec, stream, nested ? 4 : 2, 0, 0, 0),
			       "cuGraphLaunch");
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
		program__check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
		graphs++;
	} while (program__now() < end);
	ended = true;
	if (beside)
		pthread_join(thread, NULL);
	program__also("graphs", graphs);
	program__expect();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Launches, prints its truth, and ends without ceremony.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: early-exit [MODE [LAUNCHES]]\n"
	"Launches LAUNCHES kernels (1000), waits for them, prints its truth and ends by MODE:\n"
	"  return        from main (the default)\n"
	"  running       from main, while a kernel of two seconds runs; it counts as executed\n"
	"  endless       from main, two seconds after the launch of a kernel that never ends\n"
	"  unsynced      from main, without having waited for the kernels\n"
	"  exit, _exit   with status 0\n"
	"  signal        by SIGTERM; kill: by SIGKILL; abort: by SIGABRT; crash: by SIGSEGV\n"
	"  exec          becomes /bin/true\n"
	"  pthread_exit  the main thread ends before another one ends the process\n"
	"  destroy       destroys the context first, as a careful program does\n";

static void *outlive(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	exit(0);
}

static void leave_to_another_thread(void)
{
	static pthread_t self;
	pthread_t other;

	self = pthread_self();
	if (!pthread_create(&other, NULL, outlive, &self))
		pthread_exit(NULL);
}

static int end(const char *mode)
{
	if (!strcmp(mode, "exit"))
		exit(0);
	if (!strcmp(mode, "_exit"))
		_exit(0);
	if (!strcmp(mode, "signal"))
		raise(SIGTERM);
	if (!strcmp(mode, "kill"))
		raise(SIGKILL);
	if (!strcmp(mode, "abort"))
		abort();
	if (!strcmp(mode, "crash"))
		raise(SIGSEGV);
	if (!strcmp(mode, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(mode, "pthread_exit"))
		leave_to_another_thread();
	if (!strcmp(mode, "return") || !strcmp(mode, "running") || !strcmp(mode, "unsynced") ||
	    !strcmp(mode, "endless") || !strcmp(mode, "destroy"))
		return 0;
	fprintf(stderr, "early-exit: no mode %s\n", mode);
	return 2;
}

/* For eleven days, to be exact. */
static void launch_endless(CUfunction spin, CUfunction empty, CUstream stream)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	uint64_t for_ever = 1000000000000000;
	void *parameters[] = {&for_ever};
	CUstream other;

	program__check(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(counted__launch(spin, &shape, stream, parameters), "cuLaunchKernel");
	for (int i = 0; i < 200; i++) {
		program__check(counted__launch(empty, &shape, other, NULL), "cuLaunchKernel");
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "return";
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	uint64_t two_seconds = 2000000000, launches;
	void *parameters[] = {&two_seconds};
	struct program program;
	CUfunction empty, spin;
	CUstream stream;

	if (!strcmp(mode, "--help"))
		return fputs(help, stdout), 0;
	launches = argc > 2 ? program__number(argv[2], "LAUNCHES") : 1000;
	program__start(&program);
	empty = program__kernel(&program, "empty");
	spin = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (uint64_t i = 0; i < launches; i++)
		program__check(counted__launch(empty, &shape, stream, NULL), "cuLaunchKernel");
	if (strcmp(mode, "unsynced"))
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	if (!strcmp(mode, "running"))
		program__check(counted__launch(spin, &shape, stream, parameters), "cuLaunchKernel");
	if (!strcmp(mode, "endless"))
		launch_endless(spin, empty, stream);
	if (!strcmp(mode, "destroy"))
		program__check(cuDevicePrimaryCtxReset_v2(program.device),
			       "cuDevicePrimaryCtxReset");
	program__expect();
	return end(mode);
}

// SPDX-License-Identifier: BSD-2-Clause
// Forks after cuInit, as data loaders do. CUDA does not work in the children; they must still be
// able to do plain things, to start threads, to end in every way, and to exec. The parent launches
// before, between and after.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: forks\n"
			   "Launches 100 kernels before, between and after forks.\n";

static struct program program;
static CUfunction empty;
static CUstream stream;

static void launch_some(void)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	for (int i = 0; i < 100; i++)
		program__check(counted__launch(empty, &shape, stream, NULL), "cuLaunchKernel");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

#ifdef __SANITIZE_ADDRESS__
/* Nothing: another thread may have held the locks of its allocator, which threads take to start,
 * while this child was made (gcc 12). */
static int use_memory(void)
{
	return 0;
}
#else
static void *fill(void *block)
{
	return memset(block, 1, 1 << 20);
}

static int use_memory(void)
{
	char *block = malloc(1 << 20);

	if (!block)
		return 1;
#ifdef __SANITIZE_THREAD__ /* it allows no thread in a child of a process with threads */
	fill(block);
#else
	pthread_t thread;

	if (pthread_create(&thread, NULL, fill, block) || pthread_join(thread, NULL))
		return 1;
#endif
	free(block);
	return 0;
}
#endif

/* exit(), so that the atexit handlers of the parent's libraries run in the child as well */
static int child_exits(void)
{
	if (use_memory())
		return 1;
	exit(7);
}

static int child_calls_cuda(void)
{
	int count;

	return cuDeviceGetCount(&count) == CUDA_SUCCESS;
}

static int child_launches(void)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	return counted__launch(empty, &shape, stream, NULL) == CUDA_SUCCESS;
}

static int child_execs(void)
{
	execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
	return 127;
}

static int child_is_killed(void)
{
	return raise(SIGKILL);
}

static int child_forks(void)
{
	int status;
	pid_t grandchild = fork();

	if (!grandchild)
		exit(5);
	return waitpid(grandchild, &status, 0) != grandchild || WEXITSTATUS(status) != 5;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		int (*run)(void);
		int status;
	} children[] = {
		{"a child that exits", child_exits, 7 << 8},
		{"a child that calls CUDA", child_calls_cuda, 0},
		{"a child that launches", child_launches, 0},
		{"a child that execs", child_execs, 3 << 8},
		{"a child that is killed", child_is_killed, SIGKILL},
		{"a child that forks", child_forks, 0},
	};

	if (argc > 1)
		return fputs(help, stdout), 0;
	program__start(&program);
	empty = program__kernel(&program, "empty");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	launch_some();
	for (size_t i = 0; i < sizeof(children) / sizeof(*children); i++) {
		pid_t child = fork();
		int status = 0;

		if (!child)
			_exit(children[i].run());
		if (waitpid(child, &status, 0) != child || status != children[i].status)
			program__fail("%s: status %#x", children[i].what, status);
		launch_some();
	}
	program__expect();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * ends HOW N: launches N kernels and ends: return, _exit (7), kill, exec (/bin/true), fork (a child
 * tries CUDA and exits), vfork (a child ends by _exit, then N more), threads (N threads of 64 KiB
 * that launch 20 each), names (N hostile ones). Prints how long cuInit() took and when main() ends,
 * in ms.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/simcuda/cuda.h"

#define LONG_NAME 100000
#define EACH	  20

static const char head[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry ";
static const char tail[] = "()\n{\nret;\n}\n";
static CUcontext context;
static CUfunction kernel;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

static CUfunction load(const char *name)
{
	size_t size = sizeof(head) + strlen(name) + sizeof(tail);
	char *ptx = malloc(size);
	CUfunction function = NULL;
	CUmodule module;

	snprintf(ptx, size, "%s%s%s", head, name, tail);
	if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&function, module, name))
		fprintf(stderr, "ends: %.40s does not load\n", name);
	free(ptx);
	return function;
}

static void launch(CUfunction function, int n)
{
	while (n-- > 0)
		cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void *launch_some(void *unused)
{
	cuCtxSetCurrent(context);
	launch(kernel, EACH);
	return unused;
}

static void use_threads(int n)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	for (int i = 0; i < n; i++)
		if (!pthread_create(&thread, &attributes, launch_some, NULL))
			pthread_join(thread, NULL);
	printf("expect launches=%d\n", n * EACH);
}

static void use_names(int n)
{
	char *name = malloc(LONG_NAME + 1);

	memset(name, 'k', LONG_NAME);
	name[LONG_NAME] = '\0';
	launch(load(name), n);
	launch(load("$weird$_\xc3"), n);
	free(name);
}

static void use_fork(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		launch(kernel, 10);
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

static void use_vfork(int n)
{
	int status = 0;
	pid_t child = vfork();

	if (!child)
		_exit(9);
	waitpid(child, &status, 0);
	launch(kernel, n);
	cuCtxSynchronize();
	printf("child %d\n", WEXITSTATUS(status));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	long before = now_ms();
	CUdevice device;

	if (cuInit(0))
		return 1;
	printf("init=%ld\n", now_ms() - before);
	if (cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context))
		return 1;
	kernel = load("empty_kernel");
	if (!strcmp(how, "threads")) {
		use_threads(n);
	} else if (!strcmp(how, "names")) {
		use_names(n);
	} else {
		launch(kernel, n);
		cuCtxSynchronize();
	}
	printf("left=%ld\n", now_ms());
	fflush(stdout);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "vfork"))
		use_vfork(n);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(how, "fork"))
		use_fork();
	return 0;
}

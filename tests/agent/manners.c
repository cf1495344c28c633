// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints what a library in a process may change behind its back: errno after calls that succeed,
 * the signal mask, the working folder, the number of open files, the locale, child processes.
 */
#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/simcuda/cuda.h"

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry empty_kernel()\n{\nret;\n}\n";
static int errno_changes;
static int checks, first_change, first_errno;

static void check(void)
{
	checks++;
	if (errno != E2BIG && !errno_changes++) {
		first_change = checks;
		first_errno = errno;
	}
	errno = E2BIG;
}

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static void report(int files_before)
{
	char folder[4096];
	sigset_t mask;
	int blocked = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < NSIG; i++)
		blocked += sigismember(&mask, i) == 1;
	printf("errno %d", errno_changes);
	if (errno_changes)
		printf(", first to %d at check %d", first_errno, first_change);
	printf("\nmask %d\ncwd %s\nfds %d\nlocale %s\n", blocked, getcwd(folder, sizeof(folder)),
	       open_files() - files_before, setlocale(LC_ALL, NULL));
	printf("children %d\n", waitpid(-1, NULL, WNOHANG) > 0);
}

int main(void)
{
	int files = open_files();
	CUfunction kernel;
	CUcontext context;
	CUdeviceptr memory;
	CUdevice device;
	CUmodule module;

	errno = E2BIG;
	cuInit(0);
	check();
	cuDeviceGet(&device, 0);
	cuDevicePrimaryCtxRetain(&context, device);
	cuCtxSetCurrent(context);
	cuModuleLoadData(&module, ptx);
	cuModuleGetFunction(&kernel, module, "empty_kernel");
	check();
	for (int i = 0; i < 1000; i++) {
		cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		check();
	}
	cuMemAlloc_v2(&memory, 1 << 20);
	cuMemFree_v2(memory);
	cuCtxSynchronize();
	check();
	usleep(400000);
	report(files);
	return 0;
}

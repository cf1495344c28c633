// SPDX-License-Identifier: BSD-2-Clause
// A program that never calls CUDA; with `dlopen` it loads libcuda all the same. It runs for 300 ms.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char help[] = "usage: no-cuda [dlopen]\n";

int main(int argc, char **argv)
{
	struct timespec while_watched = {0, 300000000};

	if (argc > 1 && strcmp(argv[1], "dlopen"))
		return fputs(help, stdout), strcmp(argv[1], "--help") ? 2 : 0;
	if (argc > 1 && !dlopen("libcuda.so.1", RTLD_NOW)) {
		fprintf(stderr, "no-cuda: %s\n", dlerror());
		return 1;
	}
	nanosleep(&while_watched, NULL);
	puts("expect launches=0 kernels=0 launch_errors=0 graph_launches=0 memcpys=0 "
	     "memcpy_bytes=0 "
	     "memsets=0 allocs=0 frees=0 live_bytes=0 syncs=0 api_errors=0");
	return 0;
}

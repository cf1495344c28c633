// SPDX-License-Identifier: BSD-2-Clause
// Launches through a libcuda that it is not linked with: loads it late, for itself alone, and lets
// go of it before it ends, as Python's bindings and plug-ins do.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: dlopened [LAUNCHES [MICROSECONDS]]\n"
	"LAUNCHES (1000) of a kernel, with a pause of MICROSECONDS (0) behind each.\n";

static void *library;

static void *call(const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		fprintf(stderr, "dlopened: %s\n", dlerror());
		exit(1);
	}
	return function;
}

static void check(CUresult result, const char *what)
{
	if (result) {
		fprintf(stderr, "dlopened: %s: error %d\n", what, result);
		exit(1);
	}
}

#define CALL(name, ...) check(((__typeof__(&name))call(#name))(__VA_ARGS__), #name)

int main(int argc, char **argv)
{
	unsigned long launches = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned int pause = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	__typeof__(&cuLaunchKernel) launch;
	CUfunction empty;
	CUcontext context;
	CUmodule module;
	CUdevice device;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	usleep(200000); /* whoever looks at what is mapped finds nothing yet */
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "dlopened: %s\n", dlerror());
		return 1;
	}
	CALL(cuInit, 0);
	CALL(cuDeviceGet, &device, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, device);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoadData, &module, program_kernels);
	CALL(cuModuleGetFunction, &empty, module, "empty");
	launch = (__typeof__(launch))call("cuLaunchKernel");
	for (unsigned long i = 0; i < launches; i++) {
		check(launch(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
		if (pause)
			usleep(pause);
	}
	CALL(cuCtxSynchronize);
	dlclose(library);
	printf("expect launches=%lu kernels=%lu launch_errors=0 graph_launches=0 memcpys=0 "
	       "memcpy_bytes=0 memsets=0 allocs=0 frees=0 live_bytes=0 syncs=1 api_errors=0\n",
	       launches, launches);
	return 0;
}

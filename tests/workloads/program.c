// SPDX-License-Identifier: BSD-2-Clause
// What every test program shares, see program.h. The counters may be used from any thread.
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/workloads/program.h"

struct truth truth;

void program__fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

void program__check(CUresult result, const char *what)
{
	const char *name = NULL;

	if (!result)
		return;
	cuGetErrorName(result, &name);
	program__fail("%s: error %d (%s)", what, result, name ? name : "?");
}

uint64_t program__now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

uint64_t program__number(const char *text, const char *option)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || !*text || *end || *text == '-') {
		fprintf(stderr, "%s: not a number: %s\n", option, text);
		exit(2);
	}
	return number;
}

/* Blocks until somebody opens it for writing. */
static void wait_at_gate(const char *gate)
{
	FILE *file = gate ? fopen(gate, "r") : NULL;

	if (file)
		fclose(file);
}

void program__start(struct program *program)
{
	const char *device = getenv("PROGRAM_DEVICE");

	program__check(cuInit(0), "cuInit");
	program__check(cuDeviceGet(&program->device, device ? atoi(device) : 0), "cuDeviceGet");
	program__check(cuDevicePrimaryCtxRetain(&program->context, program->device),
		       "cuDevicePrimaryCtxRetain");
	program__check(cuCtxSetCurrent(program->context), "cuCtxSetCurrent");
	program__check(cuModuleLoadData(&program->module, program_kernels), "cuModuleLoadData");
	wait_at_gate(getenv("PROGRAM_GATE"));
}

CUfunction program__kernel(struct program *program, const char *name)
{
	CUfunction kernel;

	program__check(cuModuleGetFunction(&kernel, program->module, name), name);
	return kernel;
}

static char extra[256];

void program__also(const char *key, uint64_t value)
{
	size_t used = strlen(extra);

	snprintf(extra + used, sizeof(extra) - used, " %s=%llu", key, (unsigned long long)value);
}

void program__expect(void)
{
#define KEY(name)   " " #name "=%llu"
#define VALUE(name) (unsigned long long)atomic_load(&truth.name)
	printf("expect" KEY(launches) KEY(kernels) KEY(launch_errors) KEY(graph_launches)
		       KEY(memcpys) KEY(memcpy_bytes) KEY(memsets) KEY(allocs) KEY(frees)
			       KEY(live_bytes) KEY(syncs) KEY(api_errors) "%s\n",
	       VALUE(launches), VALUE(kernels), VALUE(launch_errors), VALUE(graph_launches),
	       VALUE(memcpys), VALUE(memcpy_bytes), VALUE(memsets), VALUE(allocs), VALUE(frees),
	       VALUE(live_bytes), VALUE(syncs), VALUE(api_errors), extra);
	fflush(stdout);
	wait_at_gate(getenv("PROGRAM_LAST_GATE"));
#undef KEY
#undef VALUE
}

static void count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

CUresult counted__result(CUresult result)
{
	if (result)
		count(&truth.api_errors, 1);
	return result;
}

static CUresult counted__launched(CUresult result)
{
	count(&truth.launches, 1);
	count(result ? &truth.launch_errors : &truth.kernels, 1);
	return counted__result(result);
}

CUresult counted__launch(CUfunction kernel, const struct shape *s, CUstream stream,
			 void **parameters)
{
	return counted__launched(cuLaunchKernel(kernel, s->grid[0], s->grid[1], s->grid[2],
						s->block[0], s->block[1], s->block[2], s->shared,
						stream, parameters, NULL));
}

CUresult counted__launch_cooperative(CUfunction kernel, const struct shape *s, CUstream stream,
				     void **parameters)
{
	return counted__launched(
		cuLaunchCooperativeKernel(kernel, s->grid[0], s->grid[1], s->grid[2], s->block[0],
					  s->block[1], s->block[2], s->shared, stream, parameters));
}

CUresult counted__launch_ex(CUfunction kernel, const struct shape *s, CUstream stream,
			    void **parameters, CUlaunchAttribute *attributes, unsigned int number)
{
	CUlaunchConfig config = {
		s->grid[0],  s->grid[1], s->grid[2], s->block[0], s->block[1],
		s->block[2], s->shared,	 stream,     attributes,  number,
	};

	return counted__launched(cuLaunchKernelEx(&config, kernel, parameters, NULL));
}

static CUresult (*graph_launch)(CUgraphExec, CUstream) = cuGraphLaunch;

void program__launch_graphs_by_runtime(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW);

	*(void **)&graph_launch = runtime ? dlsym(runtime, "cudaGraphLaunch") : NULL;
	if (!graph_launch)
		program__fail("%s", dlerror());
}

CUresult counted__graph_launch(CUgraphExec exec, CUstream stream, uint64_t kernels, uint64_t copies,
			       uint64_t bytes, uint64_t sets)
{
	CUresult result = graph_launch(exec, stream);

	count(&truth.graph_launches, 1);
	if (result) {
		count(&truth.launch_errors, 1);
		return counted__result(result);
	}
	count(&truth.kernels, kernels);
	count(&truth.memcpys, copies);
	count(&truth.memcpy_bytes, bytes);
	count(&truth.memsets, sets);
	return result;
}

CUresult counted__captured(CUresult result)
{
	count(&truth.launches, 1);
	if (result)
		count(&truth.launch_errors, 1);
	return counted__result(result);
}

CUresult counted__wait(CUresult result)
{
	count(&truth.syncs, 1);
	return counted__result(result);
}

CUresult counted__context_synchronize(void)
{
	return counted__wait(cuCtxSynchronize());
}

CUresult counted__stream_synchronize(CUstream stream)
{
	return counted__wait(cuStreamSynchronize(stream));
}

CUresult counted__event_synchronize(CUevent event)
{
	return counted__wait(cuEventSynchronize(event));
}

CUresult counted__copy(CUresult result, uint64_t bytes)
{
	if (!result) {
		count(&truth.memcpys, 1);
		count(&truth.memcpy_bytes, bytes);
	}
	return counted__result(result);
}

CUresult counted__set(CUresult result)
{
	if (!result)
		count(&truth.memsets, 1);
	return counted__result(result);
}

CUresult counted__alloc(CUresult result, uint64_t bytes)
{
	if (!result) {
		count(&truth.allocs, 1);
		count(&truth.live_bytes, bytes);
	}
	return counted__result(result);
}

CUresult counted__free(CUresult result, uint64_t bytes)
{
	if (!result) {
		count(&truth.frees, 1);
		atomic_fetch_sub_explicit(&truth.live_bytes, bytes, memory_order_relaxed);
	}
	return counted__result(result);
}

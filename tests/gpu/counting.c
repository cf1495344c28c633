// SPDX-License-Identifier: BSD-2-Clause
// What CUPTI alone takes to count kernels one by one with its range profiler, without the agent:
// what `profile --counters` is compared with. Prints nanoseconds of a launch, the mean of all but
// the first.
//
//   counting LIBCUPTI LAUNCHES NANOSECONDS [METRIC...]    of a kernel that takes so long
//
// Without metrics it only launches. Built where it runs:
//   gcc -I. -I/usr/local/cuda/include counting.c -l:libcuda.so.1 -ldl
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libcupti-usdt/cupti/cupti_range.h"

#define RANGES	    8
#define METRICS_MAX 64

/* Until the GPU's clock of nanoseconds says so. */
static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
			  ".visible .entry spin(.param .u64 nanoseconds)\n{\n"
			  "\t.reg .u64 %rd<5>;\n\t.reg .pred %p;\n"
			  "\tld.param.u64 %rd1, [nanoseconds];\n\tmov.u64 %rd2, %globaltimer;\n"
			  "again:\n\tmov.u64 %rd3, %globaltimer;\n\tsub.u64 %rd4, %rd3, %rd2;\n"
			  "\tsetp.lt.u64 %p, %rd4, %rd1;\n\t@%p bra again;\n\tret;\n}\n";

static CUcontext context;
static CUfunction kernel;
static uint64_t nanoseconds;

static struct cupti_range cupti;
static const char *metrics[METRICS_MAX];
static size_t count, passes, config_size, data_size, used;
static uint8_t *config, *data;
static void *host, *profiler;

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "counting: %s: error %d\n", what, result);
	exit(1);
}

#define CALL(name, parameters) check(cupti.name(parameters), "cupti" #name)
/* P(structure, its last field, further fields): the parameters of a call. */
#define P(type, last, ...)                                     \
	{                                                      \
		.size = CUPTI_SIZE_OF(type, last), __VA_ARGS__ \
	}

static void open_context(void)
{
	CUmodule module;
	CUdevice device;

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
	check(cuModuleGetFunction(&kernel, module, "spin"), "cuModuleGetFunction");
}

static void open_library(const char *file)
{
	void *library = dlopen(file, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "counting: %s\n", dlerror());
		exit(1);
	}
#define FIND(name, type)                                       \
	*(void **)&cupti.name = dlsym(library, "cupti" #name); \
	check(!cupti.name, "cupti" #name);
	CUPTI_RANGE_FUNCTIONS(FIND)
#undef FIND
}

/* The metrics at once, as they share passes then. */
static void make_config(void)
{
	struct cupti_profiler_initialize begin = P(cupti_profiler_initialize, private);
	struct cupti_chip_name chip = P(cupti_chip_name, name);
	struct cupti_host_initialize open =
		P(cupti_host_initialize, host, .type = CUPTI_TYPE_RANGE_PROFILER);
	struct cupti_host_metrics add =
		P(cupti_host_metrics, count, .names = metrics, .count = count);
	struct cupti_host_image_size size = P(cupti_host_image_size, image_size);
	struct cupti_host_image image = P(cupti_host_image, image);
	struct cupti_host_passes ask = P(cupti_host_passes, passes);

	CALL(ProfilerInitialize, &begin);
	CALL(DeviceGetChipName, &chip);
	open.chip = chip.name;
	CALL(ProfilerHostInitialize, &open);
	host = add.host = size.host = image.host = open.host;
	CALL(ProfilerHostConfigAddMetrics, &add);
	CALL(ProfilerHostGetConfigImageSize, &size);
	config_size = image.image_size = ask.image_size = size.image_size;
	config = image.image = ask.image = calloc(1, config_size);
	CALL(ProfilerHostGetConfigImage, &image);
	CALL(ProfilerHostGetNumOfPasses, &ask);
	passes = ask.passes;
}

static void set_config(void)
{
	struct cupti_range_data clear =
		P(cupti_range_data, data, .object = profiler, .data_size = data_size, .data = data);
	struct cupti_range_config set =
		P(cupti_range_config, target_level, .object = profiler, .image_size = config_size,
		  .image = config, .data_size = data_size, .data = data, .range = CUPTI_RANGE_AUTO,
		  .replay = CUPTI_REPLAY_KERNEL, .ranges = RANGES, .levels = 1, .lowest_level = 1);

	CALL(RangeProfilerCounterDataImageInitialize, &clear);
	CALL(RangeProfilerSetConfig, &set);
	used = 0;
}

static void open_profiler(void)
{
	struct cupti_range_enable enable = P(cupti_range_enable, object, .context = context);
	struct cupti_range_data_size size = P(cupti_range_data_size, data_size, .names = metrics,
					      .count = count, .ranges = RANGES, .nodes = RANGES);

	CALL(RangeProfilerEnable, &enable);
	profiler = size.object = enable.object;
	CALL(RangeProfilerGetCounterDataSize, &size);
	data_size = size.data_size;
	data = calloc(1, data_size);
	set_config();
}

static void launch(void)
{
	void *parameters[] = {&nanoseconds};

	check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
	      "cuLaunchKernel");
}

static void launch_counted(double *values)
{
	struct cupti_range_plain start = P(cupti_range_plain, object, .object = profiler);
	struct cupti_range_stop stop = P(cupti_range_stop, all_submitted, .object = profiler);
	struct cupti_range_decode decode = P(cupti_range_decode, dropped, .object = profiler);
	struct cupti_host_evaluate ask =
		P(cupti_host_evaluate, values, .host = host, .data = data, .data_size = data_size,
		  .names = metrics, .count = count, .values = values);

	if (used == RANGES)
		set_config();
	CALL(RangeProfilerStart, &start);
	launch();
	CALL(RangeProfilerStop, &stop);
	CALL(RangeProfilerDecodeData, &decode);
	ask.range = used++;
	CALL(ProfilerHostEvaluateToGpuValues, &ask);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t took = 0;
	double values[METRICS_MAX] = {0};
	int launches = argc > 3 ? atoi(argv[2]) : 0;

	if (launches < 2 || argc - 4 > METRICS_MAX)
		return 2;
	nanoseconds = strtoull(argv[3], NULL, 10);
	while (argv[4 + count]) {
		metrics[count] = argv[4 + count];
		count++;
	}
	open_context();
	if (count) {
		open_library(argv[1]);
		make_config();
		open_profiler();
	}
	for (int i = 0; i < launches; i++) {
		uint64_t start = now();

		if (count)
			launch_counted(values);
		else
			launch();
		took += i ? now() - start : 0;
		check(cuCtxSynchronize(), "cuCtxSynchronize");
	}
	printf("expect launches=%d passes=%zu ns=%llu value=%.0f\n", launches, passes,
	       (unsigned long long)(took / (launches - 1)), values[0]);
	return 0;
}

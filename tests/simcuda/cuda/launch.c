// SPDX-License-Identifier: BSD-2-Clause
// Kernel launches: what the driver checks, then a place on the stream's timeline.
#include "tests/simcuda/cuda/driver.h"

static _Atomic uint64_t attempts, good;

bool launch__fails(void)
{
	uint64_t every = settings__get()->fail_launch;

	return every && atomic_fetch_add(&attempts, 1) % every == every - 1;
}

CUresult launch__check(const struct launch *launch)
{
	uint64_t block = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];

	if (!function__valid(launch->function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2] || !block)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->grid[0] > 2147483647U || launch->grid[1] > 65535 || launch->grid[2] > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 64 ||
	    block > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->shared > launch->function->max_dynamic_shared)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->function->kernel && !launch->parameters)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch__fails())
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (settings__get()->gone_after && ++good == settings__get()->gone_after)
		wrapper__end();
	return CUDA_SUCCESS;
}

/* graph 0: a launch of its own. With whole graphs traced, their nodes give no record. */
void launch__push(CUstream stream, const struct launch *launch, uint32_t graph, uint64_t node)
{
	const struct simcuda_hooks *hooks =
		atomic_load_explicit(&simcuda_bridge.hooks, memory_order_relaxed);
	struct simcuda_record record = {0};
	uint64_t start, ns;

	if (hooks) {
		record__place(&record, KIND_KERNEL, stream);
		if (record__wanted(KIND_SERIAL_KERNEL))
			record.kind = KIND_SERIAL_KERNEL;
		if (launch->of_body)
			record.correlation = 0;
		record.graph = graph;
		record.graph_node = node;
		record.kernel.name = launch->function->name;
		record.kernel.remembered = record__wanted(KIND_KERNEL)
						   ? function__remembered(launch->function)
						   : record.kernel.name;
		for (int i = 0; i < 3; i++) {
			record.kernel.grid[i] = launch->grid[i];
			record.kernel.block[i] = launch->block[i];
			record.kernel.cluster[i] = launch->cluster[i];
		}
		record.kernel.static_shared = launch->function->static_shared;
		record.kernel.dynamic_shared = launch->shared;
		record.kernel.registers = REGISTERS;
		record.kernel.launch_type = launch->type;
		if (graph && record__wanted(KIND_GRAPH))
			record.kind = 0;
	}
	kernel__run(launch);
	start = stream__next_start(stream);
	if (kernel__meets(launch, start, &ns))
		record.start = start;
	else
		ns = kernel__duration(launch);
	stream__push(stream, ns, &record);
	if (hooks)
		hooks->ran(launch->function->name, record.end);
	energy_log__kernel(launch->function->name, stream->context->device, record.start,
			   record.end);
}

/* A launch that costs the host as much as a real one does. */
static void burn(uint64_t ns)
{
	uint64_t end = ns ? clock__now() + ns : 0;

	while (ns && clock__now() < end)
		;
}

/* The first launch of a kernel loads it. */
static void function__load(CUfunction function)
{
	uint64_t start;

	if (atomic_load_explicit(&function->loaded, memory_order_relaxed) ||
	    atomic_exchange(&function->loaded, true))
		return;
	start = clock__now();
	overhead__report(OVERHEAD_FUNCTION_LOADING, start, start + 1000);
}

static CUresult launch_locked(const struct launch *launch, CUstream handle)
{
	const struct simcuda_hooks *hooks =
		atomic_load_explicit(&simcuda_bridge.hooks, memory_order_relaxed);
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	burn(settings__get()->launch_ns);
	if (record__wanted(KIND_KERNEL))
		burn(settings__get()->record_ns);
	if (!result)
		result = launch__check(launch);
	if (result)
		return result;
	function__load(launch->function);
	if (stream->capture)
		return graph__add_kernel(stream->capture, launch, NULL);
	launch__push(stream, launch, 0, 0);
	burn(settings__get()->return_ns);
	if (hooks)
		hooks->resource(RESOURCE_MODULE_PROFILED, stream->context, NULL, NULL);
	return CUDA_SUCCESS;
}

static CUresult launch(const struct launch *launch, CUstream handle)
{
	CUresult result;

	starving__enter();
	result = launch_locked(launch, handle);
	starving__leave();
	return result;
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **parameters, void **extra)
{
	struct launch one = {f, {gx, gy, gz}, {bx, by, bz}, {0}, shared, 0, parameters, false};

	return launch(&one, stream);
}

CUresult sim_cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				 unsigned int bx, unsigned int by, unsigned int bz,
				 unsigned int shared, CUstream stream, void **parameters,
				 void **extra)
{
	return sim_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared,
				  stream ? stream : CU_STREAM_PER_THREAD, parameters, extra);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
				       unsigned int gz, unsigned int bx, unsigned int by,
				       unsigned int bz, unsigned int shared, CUstream stream,
				       void **parameters)
{
	struct launch one = {f, {gx, gy, gz}, {bx, by, bz}, {0}, shared, 1, parameters, false};

	return launch(&one, stream);
}

CUresult sim_cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy,
					    unsigned int gz, unsigned int bx, unsigned int by,
					    unsigned int bz, unsigned int shared, CUstream stream,
					    void **parameters)
{
	return sim_cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared,
					     stream ? stream : CU_STREAM_PER_THREAD, parameters);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **parameters,
			      void **extra)
{
	struct launch one = {.function = f, .parameters = parameters};

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	one.grid[0] = config->gridDimX;
	one.grid[1] = config->gridDimY;
	one.grid[2] = config->gridDimZ;
	one.block[0] = config->blockDimX;
	one.block[1] = config->blockDimY;
	one.block[2] = config->blockDimZ;
	one.shared = config->sharedMemBytes;
	for (unsigned int i = 0; i < config->numAttrs; i++) {
		if (config->attrs[i].id == CU_LAUNCH_COOPERATIVE)
			one.type = config->attrs[i].value.cooperative != 0;
		if (config->attrs[i].id == CU_LAUNCH_CLUSTER)
			for (int d = 0; d < 3; d++)
				one.cluster[d] = config->attrs[i].value.cluster[d];
	}
	return launch(&one, config->hStream);
}

CUresult sim_cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **parameters,
				   void **extra)
{
	CUlaunchConfig own;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	own = *config;
	if (!own.hStream)
		own.hStream = CU_STREAM_PER_THREAD;
	return sim_cuLaunchKernelEx(&own, f, parameters, extra);
}

/* Called at once rather than when the stream gets there: nobody here could tell. */
CUresult sim_cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (!result && !function)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result)
		function(data);
	return result;
}

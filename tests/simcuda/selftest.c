// SPDX-License-Identifier: BSD-2-Clause
// A plain CUPTI client that runs in one process with the program that it watches: it launches,
// copies and synchronises and checks what callbacks and records say about it. It passes on the
// simulated driver and on a real one alike, which is what makes the simulation worth believing.
//   selftest [PATH-OF-LIBCUPTI]
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cupti.h"
#include "tests/workloads/program.h"

#define LAUNCHES   1000
#define GRAPHS	   10
#define NODES	   3
#define BUFFER	   (1 << 20)
#define COPY_BYTES 4096

#define FUNCTIONS(X)                         \
	X(cuptiGetVersion)                   \
	X(cuptiSubscribe)                    \
	X(cuptiUnsubscribe)                  \
	X(cuptiEnableCallback)               \
	X(cuptiActivityRegisterCallbacks)    \
	X(cuptiActivityEnable)               \
	X(cuptiActivityDisable)              \
	X(cuptiActivityFlushAll)             \
	X(cuptiActivityGetNextRecord)        \
	X(cuptiActivityGetNumDroppedRecords) \
	X(cuptiGetTimestamp)                 \
	X(cuptiGetDeviceId)                  \
	X(cuptiGetContextId)                 \
	X(cuptiGetStreamIdEx)

static struct {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;

static struct {
	_Atomic uint64_t enter, leave, failed, symbols, parameters, graphs;
	_Atomic uint32_t first_correlation, last_correlation;
} seen;

static struct {
	uint64_t kernels, graph_kernels, wrong, copies, copy_bytes, sets, syncs, apis, memory;
	uint64_t previous_end, gpu_before_launch;
	uint32_t stream, device, context, correlations;
} got;

static int failures;

static void check(bool condition, const char *what, uint64_t is, uint64_t wanted)
{
	printf("%s %s: %llu, wanted %llu\n", condition ? "ok" : "FAIL", what,
	       (unsigned long long)is, (unsigned long long)wanted);
	failures += !condition;
}

static void equal(const char *what, uint64_t is, uint64_t wanted)
{
	check(is == wanted, what, is, wanted);
}

static void requested(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*records = 0;
}

static void check_kernel(const CUpti_Kernel *kernel)
{
	if (kernel->graph_node) {
		got.graph_kernels++;
		return;
	}
	got.kernels++;
	got.wrong += kernel->grid[0] != 2 || kernel->block[0] != 32 ||
		     kernel->dynamic_shared != 64 || strcmp(kernel->name, "empty") ||
		     !kernel->start || kernel->end < kernel->start;
	got.wrong += kernel->start < got.previous_end;
	got.previous_end = kernel->end;
	got.stream = kernel->stream;
	got.device = kernel->device;
	got.context = kernel->context;
	got.correlations += kernel->correlation >= atomic_load(&seen.first_correlation) &&
			    kernel->correlation <= atomic_load(&seen.last_correlation);
}

static void take(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		check_kernel((const CUpti_Kernel *)record);
		break;
	case CUPTI_KIND_MEMCPY:
		got.copies++;
		got.copy_bytes += ((const CUpti_Memcpy *)record)->bytes;
		break;
	case CUPTI_KIND_MEMSET:
		got.sets++;
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		got.syncs++;
		break;
	case CUPTI_KIND_MEMORY2:
		got.memory++;
		break;
	case CUPTI_KIND_DRIVER:
		got.apis++;
		break;
	}
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
		      size_t valid)
{
	CUpti_Activity *record = NULL;

	while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		take(record);
	free(buffer);
}

static void callback(void *data, int domain, uint32_t cbid, const void *pointer)
{
	const CUpti_CallbackData *call = pointer;
	uint32_t zero = 0;

	if (domain != CUPTI_DOMAIN_DRIVER)
		return;
	if (cbid == 514) {
		seen.graphs += call->site;
		return;
	}
	if (!call->site) {
		struct {
			CUfunction f;
			unsigned int grid[3], block[3], shared;
			CUstream stream;
		} const *p = call->functionParams;

		seen.enter++;
		seen.symbols += call->symbolName && !strcmp(call->symbolName, "empty");
		seen.parameters += p->grid[0] == 2 && p->block[0] == 32 && p->shared == 64;
		atomic_compare_exchange_strong(&seen.first_correlation, &zero, call->correlationId);
		atomic_store(&seen.last_correlation, call->correlationId);
		return;
	}
	seen.leave++;
	seen.failed += *(CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		program__fail("%s", dlerror());
#define LOAD(name)                                                  \
	cupti.name = (__typeof__(cupti.name))dlsym(library, #name); \
	if (!cupti.name)                                            \
		program__fail("%s has no " #name, path);
	FUNCTIONS(LOAD)
#undef LOAD
}

static void must(CUptiResult result, const char *what)
{
	if (result)
		program__fail("%s: CUPTI error %d", what, result);
}

static CUgraphExec make_graph(CUfunction empty)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = empty,
					.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 1,
					.blockDimY = 1,
					.blockDimZ = 1};
	CUgraphExec exec;
	CUgraphNode last;
	CUgraph plan;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	for (int i = 0; i < NODES; i++)
		program__check(cuGraphAddKernelNode_v2(&last, plan, NULL, 0, &node), "add node");
	program__check(cuGraphInstantiateWithFlags(&exec, plan, 0), "cuGraphInstantiate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	return exec;
}

static void work(struct program *program)
{
	const struct shape shape = {{2, 1, 1}, {32, 1, 1}, 64};
	CUfunction empty = program__kernel(program, "empty");
	CUgraphExec graph = make_graph(empty);
	static char bytes[COPY_BYTES];
	CUdeviceptr there;
	CUstream stream;
	uint32_t id = 0;

	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (int i = 0; i < LAUNCHES; i++)
		program__check(counted__launch(empty, &shape, stream, NULL), "cuLaunchKernel");
	check(cuLaunchKernel(empty, 1, 1, 1, 4096, 1, 1, 0, stream, NULL, NULL) ==
		      CUDA_ERROR_INVALID_VALUE,
	      "too large a block is refused", 1, 1);
	for (int i = 0; i < GRAPHS; i++)
		program__check(cuGraphLaunch(graph, stream), "cuGraphLaunch");
	program__check(cuMemAlloc_v2(&there, COPY_BYTES), "cuMemAlloc");
	program__check(cuMemcpyHtoD_v2(there, bytes, COPY_BYTES), "cuMemcpyHtoD");
	program__check(cuMemsetD8_v2(there, 1, COPY_BYTES), "cuMemsetD8");
	program__check(cuMemcpyDtoH_v2(bytes, there, COPY_BYTES), "cuMemcpyDtoH");
	program__check(cuMemFree_v2(there), "cuMemFree");
	program__check(cuStreamSynchronize(stream), "cuStreamSynchronize");
	check(bytes[0] == 1 && bytes[COPY_BYTES - 1] == 1, "bytes came back", bytes[0], 1);
	must(cupti.cuptiGetStreamIdEx(program->context, stream, 0, &id), "cuptiGetStreamIdEx");
	must(cupti.cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
	equal("stream id", got.stream, id);
	must(cupti.cuptiGetContextId(program->context, &id), "cuptiGetContextId");
	equal("context id", got.context, id);
	must(cupti.cuptiGetDeviceId(program->context, &id), "cuptiGetDeviceId");
	equal("device id", got.device, id);
}

static void check_all(void)
{
	size_t dropped = 0;

	must(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), "dropped");
	equal("launch entries", seen.enter, LAUNCHES + 1);
	equal("launch exits", seen.leave, LAUNCHES + 1);
	equal("failed launches", seen.failed, 1);
	equal("symbol names", seen.symbols, LAUNCHES + 1);
	equal("launch parameters", seen.parameters, LAUNCHES);
	equal("graph launches", seen.graphs, GRAPHS);
	equal("kernels", got.kernels, LAUNCHES);
	equal("kernels that are wrong", got.wrong, 0);
	equal("kernels tied to a launch", got.correlations, LAUNCHES);
	equal("kernels of graphs", got.graph_kernels, GRAPHS * NODES);
	equal("copies", got.copies, 2);
	equal("bytes copied", got.copy_bytes, 2 * COPY_BYTES);
	equal("fills", got.sets, 1);
	check(got.syncs >= 1, "synchronisations", got.syncs, 1);
	equal("allocations and frees", got.memory, 2);
	equal("dropped", dropped, 0);
}

int main(int argc, char **argv)
{
	static const uint32_t kinds[] = {CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,
					 CUPTI_KIND_MEMSET, CUPTI_KIND_SYNCHRONIZATION,
					 CUPTI_KIND_MEMORY2};
	CUpti_SubscriberHandle subscriber, second;
	struct program program;
	uint32_t version;
	uint64_t time;

	load(argc > 1 ? argv[1] : "libcupti.so.13");
	program__start(&program);
	must(cupti.cuptiGetVersion(&version), "cuptiGetVersion");
	printf("version %u\n", version);
	must(cupti.cuptiGetTimestamp(&time), "cuptiGetTimestamp");
	must(cupti.cuptiSubscribe(&subscriber, callback, NULL), "cuptiSubscribe");
	equal("second subscriber", cupti.cuptiSubscribe(&second, callback, NULL),
	      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS);
	must(cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER, 307), "enable 307");
	must(cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER, 514), "enable 514");
	must(cupti.cuptiActivityRegisterCallbacks(requested, completed), "register");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		must(cupti.cuptiActivityEnable(kinds[i]), "cuptiActivityEnable");
	work(&program);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		must(cupti.cuptiActivityDisable(kinds[i]), "cuptiActivityDisable");
	must(cupti.cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
	must(cupti.cuptiUnsubscribe(subscriber), "cuptiUnsubscribe");
	check_all();
	printf("%s\n", failures ? "FAILED" : "passed");
	return failures != 0;
}

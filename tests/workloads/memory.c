// SPDX-License-Identifier: BSD-2-Clause
// Allocates and frees every kind of memory that CUDA has, fails to allocate some, and leaves a
// known amount unfreed.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: memory [ROUNDS [LEAKED-BYTES]]\n"
	"ROUNDS (10) of allocations; at the end LEAKED-BYTES (1048576) each of device\n"
	"and of pinned memory stay allocated.\n";

#define DEVICE_BYTES  (1 << 20)
#define PINNED_BYTES  (1 << 16)
#define MANAGED_BYTES (1 << 18)
#define POOL_BYTES    (1 << 19)

static struct program program;
static CUstream stream;

static void allocated(CUresult result, uint64_t bytes, const char *what)
{
	program__check(counted__alloc(result, bytes), what);
}

static void freed(CUresult result, uint64_t bytes, const char *what)
{
	program__check(counted__free(result, bytes), what);
}

static void plain(void)
{
	CUdeviceptr device[3], managed;
	void *pinned, *portable;

	for (int i = 0; i < 3; i++)
		allocated(cuMemAlloc_v2(&device[i], DEVICE_BYTES << i), DEVICE_BYTES << i,
			  "cuMemAlloc");
	allocated(cuMemAllocHost_v2(&pinned, PINNED_BYTES), PINNED_BYTES, "cuMemAllocHost");
	allocated(cuMemHostAlloc(&portable, PINNED_BYTES, CU_MEMHOSTALLOC_PORTABLE), PINNED_BYTES,
		  "cuMemHostAlloc");
	allocated(cuMemAllocManaged(&managed, MANAGED_BYTES, CU_MEM_ATTACH_GLOBAL), MANAGED_BYTES,
		  "cuMemAllocManaged");
	memset(pinned, 1, PINNED_BYTES);
	memset(portable, 1, PINNED_BYTES);
	for (int i = 0; i < 3; i++)
		freed(cuMemFree_v2(device[i]), DEVICE_BYTES << i, "cuMemFree");
	freed(cuMemFreeHost(pinned), PINNED_BYTES, "cuMemFreeHost");
	freed(cuMemFreeHost(portable), PINNED_BYTES, "cuMemFreeHost");
	freed(cuMemFree_v2(managed), MANAGED_BYTES, "cuMemFree");
}

static void from_pools(CUmemoryPool pool)
{
	CUdeviceptr one, two;

	allocated(cuMemAllocAsync(&one, POOL_BYTES, stream), POOL_BYTES, "cuMemAllocAsync");
	allocated(cuMemAllocFromPoolAsync(&two, POOL_BYTES, pool, stream), POOL_BYTES,
		  "cuMemAllocFromPoolAsync");
	freed(cuMemFreeAsync(one, stream), POOL_BYTES, "cuMemFreeAsync");
	freed(cuMemFreeAsync(two, stream), POOL_BYTES, "cuMemFreeAsync");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	program__check(cuMemPoolTrimTo(pool, 0), "cuMemPoolTrimTo");
}

/* CUPTI reports the variables of a module as memory, but nobody allocated them. */
static void load_variables(void)
{
	static const char text[] = ".version 7.0\n"
				   ".target sm_52\n"
				   ".address_size 64\n"
				   ".visible .global .align 4 .b8 table[65536];\n"
				   ".visible .entry nothing()\n"
				   "{\n"
				   "	ret;\n"
				   "}\n";
	CUmodule module;

	program__check(cuModuleLoadData(&module, text), "cuModuleLoadData");
}

static void failing(void)
{
	CUdeviceptr memory;

	if (!counted__alloc(cuMemAlloc_v2(&memory, 1ULL << 46), 0))
		program__fail("64 TiB were allocated");
}

int main(int argc, char **argv)
{
	CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_PINNED,
				     .location = {CU_MEM_LOCATION_DEVICE, 0}};
	uint64_t rounds, leaked;
	CUdeviceptr device;
	CUmemoryPool pool;
	void *pinned;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	leaked = argc > 2 ? program__number(argv[2], "LEAKED-BYTES") : 1 << 20;
	program__start(&program);
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
	load_variables();
	for (uint64_t i = 0; i < rounds; i++) {
		plain();
		from_pools(pool);
		failing();
	}
	program__check(cuMemPoolDestroy(pool), "cuMemPoolDestroy");
	if (leaked) {
		allocated(cuMemAlloc_v2(&device, leaked), leaked, "cuMemAlloc");
		allocated(cuMemAllocHost_v2(&pinned, leaked), leaked, "cuMemAllocHost");
	}
	program__expect();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Copies, fills and prefetches that fail among some that do not, as often as the last line says by
// their direction (h2d, d2h, d2d, sets, prefetches).
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: badcopies [ROUNDS]\n"
	"In each of ROUNDS (10) one copy succeeds; three to the device fail, two "
	"from it, one on it, four fills and five prefetches.\n";

static void must_fail(CUresult result, const char *what, uint64_t *count)
{
	if (counted__result(result) != CUDA_ERROR_INVALID_VALUE)
		program__fail("%s: error %d", what, result);
	++*count;
}

int main(int argc, char **argv)
{
	const CUmemLocation gpu = {CU_MEM_LOCATION_DEVICE, 0};
	uint64_t rounds, h2d = 0, d2h = 0, d2d = 0, sets = 0, prefetches = 0;
	struct program program;
	char here[64] = {};
	CUdeviceptr memory, none = (uintptr_t)here;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	program__start(&program);
	program__check(counted__alloc(cuMemAlloc_v2(&memory, 64), 64), "cuMemAlloc");
	for (uint64_t i = 0; i < rounds; i++) {
		program__check(counted__copy(cuMemcpyHtoD_v2(memory, here, 64), 64),
			       "cuMemcpyHtoD");
		must_fail(cuMemcpyHtoD_v2(none, here, 64), "cuMemcpyHtoD", &h2d);
		must_fail(cuMemcpyHtoDAsync_v2(none, here, 64, NULL), "cuMemcpyHtoDAsync", &h2d);
		must_fail(cuMemcpyHtoDAsync_v2(none, here, 64, NULL), "cuMemcpyHtoDAsync", &h2d);
		must_fail(cuMemcpyDtoH_v2(here, none, 64), "cuMemcpyDtoH", &d2h);
		must_fail(cuMemcpyDtoHAsync_v2(here, none, 64, NULL), "cuMemcpyDtoHAsync", &d2h);
		must_fail(cuMemcpyDtoD_v2(none, memory, 64), "cuMemcpyDtoD", &d2d);
		for (int n = 0; n < 4; n++)
			must_fail(cuMemsetD8_v2(none, 0, 64), "cuMemsetD8", &sets);
		for (int n = 0; n < 5; n++)
			must_fail(cuMemPrefetchAsync_v2(none, 64, gpu, 0, NULL),
				  "cuMemPrefetchAsync", &prefetches);
	}
	program__check(counted__free(cuMemFree_v2(memory), 64), "cuMemFree");
	program__also("h2d", h2d);
	program__also("d2h", d2h);
	program__also("d2d", d2d);
	program__also("sets", sets);
	program__also("prefetches", prefetches);
	program__expect();
	return 0;
}

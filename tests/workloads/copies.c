// SPDX-License-Identifier: BSD-2-Clause
// Copies in every direction, from pageable, pinned and managed memory, with and without waiting,
// and fills of every width; each result is checked.
// The last line also has the copies by direction (h2d, d2h, d2d) and set_bytes.
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: copies [ROUNDS [BYTES]]\n"
			   "ROUNDS (10) times, copies of BYTES (1048576) each.\n";

static size_t bytes;
static unsigned char *pageable, *pinned;
static CUdeviceptr one, other, managed;
static CUstream stream;

static uint64_t h2d, d2h, d2d, set_bytes;

static void copied(CUresult result, const char *what)
{
	program__check(counted__copy(result, bytes), what);
	if (strstr(what, "HtoD"))
		h2d++;
	else if (strstr(what, "DtoH"))
		d2h++;
	else
		d2d++;
}

static void filled(CUresult result, const char *what)
{
	program__check(counted__set(result), what);
	set_bytes += bytes;
}

static void expect_bytes(const unsigned char *memory, const char *pattern, size_t length,
			 const char *what)
{
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != (unsigned char)pattern[i % length])
			program__fail("%s: byte %zu is %d", what, i, memory[i]);
}

static void synchronous(int round)
{
	char value = round;

	memset(pageable, round, bytes);
	copied(cuMemcpyHtoD_v2(one, pageable, bytes), "cuMemcpyHtoD");
	copied(cuMemcpyDtoD_v2(other, one, bytes), "cuMemcpyDtoD");
	copied(cuMemcpy(managed, other, bytes), "cuMemcpy");
	memset(pinned, 0, bytes);
	copied(cuMemcpyDtoH_v2(pinned, managed, bytes), "cuMemcpyDtoH");
	expect_bytes(pinned, &value, 1, "synchronous copies");
}

static void asynchronous(int round)
{
	char value = round + 100;

	memset(pinned, value, bytes);
	memset(pageable, 0, bytes);
	copied(cuMemcpyHtoDAsync_v2(one, pinned, bytes, stream), "cuMemcpyHtoDAsync");
	copied(cuMemcpyDtoDAsync_v2(other, one, bytes, stream), "cuMemcpyDtoDAsync");
	copied(cuMemcpyAsync(one, other, bytes, stream), "cuMemcpyAsync");
	copied(cuMemcpyDtoHAsync_v2(pageable, one, bytes, stream), "cuMemcpyDtoHAsync");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	expect_bytes(pageable, &value, 1, "asynchronous copies");
}

static void fills(void)
{
	filled(cuMemsetD8_v2(one, 0x11, bytes), "cuMemsetD8");
	copied(cuMemcpyDtoH_v2(pageable, one, bytes), "cuMemcpyDtoH");
	expect_bytes(pageable, "\x11", 1, "cuMemsetD8");
	filled(cuMemsetD16_v2(one, 0x3322, bytes / 2), "cuMemsetD16");
	copied(cuMemcpyDtoH_v2(pageable, one, bytes), "cuMemcpyDtoH");
	expect_bytes(pageable, "\x22\x33", 2, "cuMemsetD16");
	filled(cuMemsetD32_v2(one, 0x77665544, bytes / 4), "cuMemsetD32");
	copied(cuMemcpyDtoH_v2(pageable, one, bytes), "cuMemcpyDtoH");
	expect_bytes(pageable, "\x44\x55\x66\x77", 4, "cuMemsetD32");
	filled(cuMemsetD8Async(one, 0x19, bytes, stream), "cuMemsetD8Async");
	filled(cuMemsetD32Async(one, 0x1a1a1a1a, bytes / 4, stream), "cuMemsetD32Async");
	copied(cuMemcpyDtoHAsync_v2(pinned, one, bytes, stream), "cuMemcpyDtoHAsync");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	expect_bytes(pinned, "\x1a", 1, "cuMemsetD32Async");
}

static void allocate(void)
{
	void *memory;

	pageable = malloc(bytes);
	if (!pageable)
		program__fail("no memory");
	program__check(counted__alloc(cuMemAllocHost_v2(&memory, bytes), bytes), "cuMemAllocHost");
	pinned = memory;
	program__check(counted__alloc(cuMemAlloc_v2(&one, bytes), bytes), "cuMemAlloc");
	program__check(counted__alloc(cuMemAlloc_v2(&other, bytes), bytes), "cuMemAlloc");
	program__check(
		counted__alloc(cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL), bytes),
		"cuMemAllocManaged");
}

static void release(void)
{
	free(pageable);
	program__check(counted__free(cuMemFreeHost(pinned), bytes), "cuMemFreeHost");
	program__check(counted__free(cuMemFree_v2(one), bytes), "cuMemFree");
	program__check(counted__free(cuMemFree_v2(other), bytes), "cuMemFree");
	program__check(counted__free(cuMemFree_v2(managed), bytes), "cuMemFree");
}

int main(int argc, char **argv)
{
	struct program program;
	uint64_t rounds;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	bytes = argc > 2 ? program__number(argv[2], "BYTES") & ~3ULL : 1 << 20;
	program__start(&program);
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	allocate();
	for (uint64_t i = 0; i < rounds; i++) {
		synchronous(i % 100);
		asynchronous(i % 100);
		fills();
	}
	release();
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	program__also("h2d", h2d);
	program__also("d2h", d2h);
	program__also("d2d", d2d);
	program__also("set_bytes", set_bytes);
	program__expect();
	return 0;
}

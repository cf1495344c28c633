// SPDX-License-Identifier: BSD-2-Clause
/* Mappings are made by the agent's thread or inside InitializeInjection(), one at a time. */
#include "libcupti-usdt/base/memory.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPINGS 12
#define PAGES	 4096 /* per mincore() call */

static struct {
	uint8_t *start;
	size_t size;
} mappings[MAPPINGS];
static _Atomic(unsigned int) mapped;

void *memory__map(size_t size)
{
	unsigned int i = atomic_load(&mapped);
	void *memory;

	if (i >= MAPPINGS)
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	mappings[i].start = memory;
	mappings[i].size = size;
	atomic_store(&mapped, i + 1);
	return memory;
}

static size_t resident_pages(uint8_t *start, size_t size, size_t page)
{
	static unsigned char present[PAGES]; /* a racing caller only miscounts */
	size_t count = 0;

	for (size_t at = 0; at < size; at += PAGES * page) {
		size_t part = size - at < PAGES * page ? size - at : PAGES * page;

		if (mincore(start + at, part, present))
			continue;
		for (size_t i = 0; i < (part + page - 1) / page; i++)
			count += present[i] & 1;
	}
	return count;
}

uint32_t memory__resident_kib(void)
{
	size_t page = sysconf(_SC_PAGESIZE), pages = 0;

	for (unsigned int i = 0; i < atomic_load(&mapped); i++)
		pages += resident_pages(mappings[i].start, mappings[i].size, page);
	return pages * (page / 1024);
}

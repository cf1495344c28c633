// SPDX-License-Identifier: BSD-2-Clause
/*
 * For each object, libbpf reads the kernel's types (BTF, 5 MB) into one block, copies them into
 * another, and frees both. malloc() maps such blocks and unmaps them again, and each of their pages
 * costs a fault: a quarter of the CPU time that `stat` needed to start. Here they come from a part
 * of the heap whose pages the kernel provides in one call.
 */
#include "cuda-trace/attach/object_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/attach/multi_link.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define AHEAD (16 << 20) /* bytes: twice a kernel's types, and what is made of them */

static void populate_heap(void)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), from, to;
	char *block;

	/* Else it is mapped, and unmapped again. 32 MB is the most that glibc allows. */
	mallopt(M_MMAP_THRESHOLD, 2 * AHEAD);
	mallopt(M_TRIM_THRESHOLD, 2 * AHEAD);
	block = malloc(AHEAD);
	if (!block)
		return;
	from = ((uintptr_t)block + page - 1) & -page;
	to = ((uintptr_t)block + AHEAD) & -page;
	madvise((void *)from, to - from, MADV_HUGEPAGE);
	madvise((void *)from, to - from, MADV_POPULATE_WRITE);
	free(block);
}

/* Few of the thousands of elements of such a map are ever used, so the kernel allocates each when
 * it is added. Not where Linux may be older than 6.1, whose eBPF programs cannot always get memory:
 * this looks for links that came with 6.6. */
static void allocate_at_once(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, object) {
		__u32 flags = bpf_map__map_flags(map);

		if (flags & BPF_F_NO_PREALLOC && bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			bpf_map__set_map_flags(map, flags & ~BPF_F_NO_PREALLOC);
	}
}

int object_load__skeleton(struct bpf_object_skeleton *skeleton)
{
	int err;

	if (!multi_link__supported())
		allocate_at_once(*skeleton->obj);
	populate_heap();
	err = bpf_object__load_skeleton(skeleton);
	malloc_trim(0);
	/* libbpf remembers it: later it may not be able to open the file any more. */
	if (!err && libbpf_num_possible_cpus() < 0)
		err = libbpf_num_possible_cpus();
	return err;
}

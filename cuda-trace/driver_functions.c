// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the driver API → where they are in a libcuda. The library may be anybody's file: libelf
 * checks it, and everything here is bounded by what it says of itself.
 */
#include "cuda-trace/driver_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/elf_segments.h"

enum { HTOD = 1, DTOH = 2, DTOD = 8 };			    /* CUpti_ActivityMemcpyKind */
enum { PINNED = 2, DEVICE = 3, MANAGED = 5 };		    /* CUpti_ActivityMemoryKind */
enum { EVENT_WAIT = 1, STREAM_WAIT = 3, CONTEXT_WAIT = 4 }; /* as struct cuda_sync has it */

/* Each also with _ptsz or _ptds at its end: the same, on the thread's own default stream. */
static const struct {
	const char *name;
	uint8_t shape; /* enum driver_shape */
	uint8_t detail;
} functions[] = {
	{"cuLaunchKernel", DRIVER_LAUNCH, 0},
	{"cuLaunchCooperativeKernel", DRIVER_LAUNCH, 0},
	{"cuLaunchKernelEx", DRIVER_LAUNCH_EX, 0},
	{"cuGraphLaunch", DRIVER_GRAPH, 0},
	{"cuMemAlloc_v2", DRIVER_ALLOC, DEVICE},
	{"cuMemAllocAsync", DRIVER_ALLOC, DEVICE},
	{"cuMemAllocFromPoolAsync", DRIVER_ALLOC, DEVICE},
	{"cuMemAllocManaged", DRIVER_ALLOC, MANAGED},
	{"cuMemAllocHost_v2", DRIVER_ALLOC, PINNED},
	{"cuMemHostAlloc", DRIVER_ALLOC, PINNED},
	{"cuMemFree_v2", DRIVER_FREE, DEVICE},
	{"cuMemFreeAsync", DRIVER_FREE, DEVICE},
	{"cuMemFreeHost", DRIVER_FREE, PINNED},
	{"cuMemcpyHtoD_v2", DRIVER_COPY, HTOD},
	{"cuMemcpyHtoDAsync_v2", DRIVER_COPY, HTOD},
	{"cuMemcpyDtoH_v2", DRIVER_COPY, DTOH},
	{"cuMemcpyDtoHAsync_v2", DRIVER_COPY, DTOH},
	{"cuMemcpyDtoD_v2", DRIVER_COPY, DTOD},
	{"cuMemcpyDtoDAsync_v2", DRIVER_COPY, DTOD},
	{"cuMemcpy", DRIVER_COPY, 0},
	{"cuMemcpyAsync", DRIVER_COPY, 0},
	{"cuEventSynchronize", DRIVER_SYNC, EVENT_WAIT},
	{"cuStreamSynchronize", DRIVER_SYNC, STREAM_WAIT},
	{"cuCtxSynchronize", DRIVER_SYNC, CONTEXT_WAIT},
	{"cuModuleGetFunction", DRIVER_NAME, 0},
	{"cuLibraryGetKernel", DRIVER_NAME, 0},
	{"cuKernelGetFunction", DRIVER_ALIAS, 0},
};

#define FUNCTIONS   (sizeof(functions) / sizeof(functions[0]))
#define MOST_PROBES (3 * FUNCTIONS)

const char *driver_functions__name(uint32_t function)
{
	return function < FUNCTIONS ? functions[function].name : NULL;
}

static int find_function(const char *symbol)
{
	size_t length = strlen(symbol);

	if (length > 5 &&
	    (!strcmp(symbol + length - 5, "_ptsz") || !strcmp(symbol + length - 5, "_ptds")))
		length -= 5;
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (strlen(functions[i].name) == length &&
		    !strncmp(functions[i].name, symbol, length))
			return i;
	return -1;
}

static void add_probe(struct driver_probes *probes, uint64_t offset, int function)
{
	/* Two names of one place would be told twice. */
	for (uint32_t i = 0; i < probes->count; i++)
		if (probes->offsets[i] == offset)
			return;
	if (!offset || probes->count == MOST_PROBES)
		return;
	probes->offsets[probes->count] = offset;
	probes->cookies[probes->count++] = functions[function].shape |
					   functions[function].detail << 8 |
					   (uint64_t)function << 16;
}

static void scan_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 struct driver_probes *probes)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;
		int function;

		if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name || strncmp(name, "cu", 2))
			continue;
		function = find_function(name);
		if (function >= 0)
			add_probe(probes, elf_segments__offset(elf, symbol.st_value, PF_X),
				  function);
	}
}

int driver_functions__find(const char *path, struct driver_probes *probes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf *elf;

	memset(probes, 0, sizeof(*probes));
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	probes->offsets = calloc(MOST_PROBES, sizeof(*probes->offsets));
	probes->cookies = calloc(MOST_PROBES, sizeof(*probes->cookies));
	while (elf && probes->offsets && probes->cookies && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			scan_symbols(elf, section, &header, probes);
	elf_end(elf);
	close(fd);
	return probes->count ? 0 : -ENOENT;
}

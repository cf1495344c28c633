// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the driver API → where they are in a libcuda. The library may be anybody's file: libelf
 * checks it, and everything here is bounded by what it says of itself.
 */
#include "cuda-trace/driver_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/driver_failures.h"
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
	{"cuCtxSynchronize_v2", DRIVER_SYNC, CONTEXT_WAIT},
	{"cuModuleGetFunction", DRIVER_NAME, 0},
	{"cuLibraryGetKernel", DRIVER_NAME, 0},
	{"cuKernelGetFunction", DRIVER_ALIAS, 0},
};

struct scan {
	Elf *elf;
	const uint8_t *image; /* NULL = launches are told when they return */
	size_t size;
	struct driver_probes *probes;
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
_Static_assert(3 * FUNCTIONS <= DRIVER_POINTS_MOST, "each name and its two endings");

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

static bool is_launch(int function)
{
	return functions[function].shape == DRIVER_LAUNCH ||
	       functions[function].shape == DRIVER_LAUNCH_EX ||
	       functions[function].shape == DRIVER_GRAPH;
}

bool driver_functions__is_launch(uint64_t cookie)
{
	uint32_t function = cookie >> 16 & 0xffff;

	return function < FUNCTIONS && is_launch(function);
}

static bool add_point(struct driver_points *points, uint64_t offset, uint64_t cookie)
{
	if (points->count == DRIVER_POINTS_MOST)
		return false;
	points->offsets[points->count] = offset;
	points->cookies[points->count++] = cookie;
	return true;
}

/* False: there is none that is known to be one; then no point was added. */
static bool add_failures(struct scan *scan, const GElf_Sym *symbol, uint64_t offset,
			 uint64_t cookie)
{
	struct driver_points *points = &scan->probes->failures;
	struct driver_failure found[DRIVER_FAILURES_MOST];
	uint32_t count;

	if (!scan->image || offset > scan->size || symbol->st_size > scan->size - offset)
		return false;
	count = driver_failures__find(scan->image + offset, symbol->st_size, found);
	if (!count || points->count + count > DRIVER_POINTS_MOST)
		return false;
	for (uint32_t i = 0; i < count; i++)
		add_point(points, offset + found[i].at, cookie | DRIVER_RESULT(found[i].result));
	return true;
}

static void add_function(struct scan *scan, const GElf_Sym *symbol, int function)
{
	uint64_t offset = elf_segments__offset(scan->elf, symbol->st_value, PF_X);
	uint64_t cookie = functions[function].shape | functions[function].detail << 8 |
			  (uint64_t)function << 16;
	struct driver_probes *probes = scan->probes;

	/* Two names of one place would be told twice. */
	for (uint32_t i = 0; i < probes->entries.count; i++)
		if (probes->entries.offsets[i] == offset)
			return;
	if (!offset || probes->entries.count == DRIVER_POINTS_MOST)
		return;
	probes->launches += is_launch(function);
	if (is_launch(function) &&
	    add_failures(scan, symbol, offset, cookie | DRIVER_TOLD_AT_ENTRY)) {
		cookie |= DRIVER_TOLD_AT_ENTRY;
		probes->told_at_entry++;
	} else {
		add_point(&probes->returns, offset, cookie);
	}
	add_point(&probes->entries, offset, cookie);
}

static void scan_symbols(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
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
		name = elf_strptr(scan->elf, header->sh_link, symbol.st_name);
		if (!name || strncmp(name, "cu", 2))
			continue;
		function = find_function(name);
		if (function >= 0)
			add_function(scan, &symbol, function);
	}
}

/* The file as it is mapped; NULL if its instructions are none that we read. */
static const uint8_t *image_of(Elf *elf, size_t *size)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return NULL;
	return (const uint8_t *)elf_rawfile(elf, size);
}

int driver_functions__find(const char *path, bool at_entry, struct driver_probes *probes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct scan scan = {.probes = probes};
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	memset(probes, 0, sizeof(*probes));
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	scan.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (scan.elf && at_entry)
		scan.image = image_of(scan.elf, &scan.size);
	while (scan.elf && (section = elf_nextscn(scan.elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			scan_symbols(&scan, section, &header);
	elf_end(scan.elf);
	close(fd);
	return probes->entries.count ? 0 : -ENOENT;
}

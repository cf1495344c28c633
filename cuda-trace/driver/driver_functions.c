// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the driver API → where they are in a libcuda. The library may be anybody's file: libelf
 * checks it, and everything here is bounded by what it says of itself.
 */
#include "cuda-trace/driver/driver_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/driver/driver_failures.h"
#include "cuda-trace/driver/driver_layouts.h"
#include "cuda-trace/symbols/elf_segments.h"
#include "cuda-trace/base/api_names.h"
#include "libcupti-usdt/probes.h"

#define LONGEST_NAME 127

struct scan {
	Elf *elf;
	const uint8_t *image; /* NULL = launches are told when they return */
	size_t size;
	struct driver_probes *probes;
};

/* Of all libraries together, by the number in cookies; never let go. */
static struct function {
	char *name;
	uint16_t cbid; /* of a launch; 0 = not known */
	uint8_t shape;
} functions[DRIVER_FUNCTIONS_MOST];
static uint32_t function_count;

const char *driver_functions__name(uint32_t function)
{
	return function < function_count ? functions[function].name : NULL;
}

uint16_t driver_functions__cbid(uint32_t function)
{
	return function < function_count ? functions[function].cbid : 0;
}

/* Its number; below 0: there is no room. */
static int intern(const char *symbol, size_t length, uint8_t shape)
{
	struct function *function = &functions[function_count];

	for (uint32_t i = 0; i < function_count; i++)
		if (strlen(functions[i].name) == length &&
		    !strncmp(functions[i].name, symbol, length))
			return i;
	if (function_count == DRIVER_FUNCTIONS_MOST || length > LONGEST_NAME)
		return -1;
	function->name = strndup(symbol, length);
	function->shape = shape;
	if (function->name)
		function->cbid = store__call_number(CUDA_DOMAIN_DRIVER, function->name);
	return function->name ? (int)function_count++ : -1;
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

	return function < function_count && is_launch(function);
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

static bool is_there(const struct driver_points *entries, uint64_t offset)
{
	for (uint32_t i = 0; i < entries->count; i++)
		if (entries->offsets[i] == offset)
			return true;
	return false;
}

static void note_unknown(struct driver_probes *probes, int function)
{
	for (uint32_t i = 0; i < probes->unknown_count; i++)
		if (probes->unknown[i] == function)
			return;
	if (probes->unknown_count < DRIVER_POINTS_MOST)
		probes->unknown[probes->unknown_count++] = function;
}

static void add_function(struct scan *scan, const GElf_Sym *symbol,
			 const struct driver_layout_of *of, int function)
{
	uint64_t offset = elf_segments__offset(scan->elf, symbol->st_value, PF_X);
	uint64_t cookie =
		of->shape | of->detail << 8 | (uint64_t)function << 16 | DRIVER_LAYOUT(of->layout);
	struct driver_probes *probes = scan->probes;

	/* Two names of one place would be told twice. */
	if (!offset || is_there(&probes->entries, offset))
		return;
	if (probes->entries.count == DRIVER_POINTS_MOST) {
		probes->refused++;
		return;
	}
	probes->launches += is_launch(function);
	if (of->layout == DRIVER_UNKNOWN)
		note_unknown(probes, function);
	if (is_launch(function) &&
	    add_failures(scan, symbol, offset, cookie | DRIVER_TOLD_AT_ENTRY)) {
		cookie |= DRIVER_TOLD_AT_ENTRY;
		probes->told_at_entry++;
	} else {
		add_point(&probes->returns, offset, cookie);
	}
	add_point(&probes->entries, offset, cookie);
}

static void take_symbol(struct scan *scan, const GElf_Sym *symbol, const char *name)
{
	struct driver_layout_of of = driver_layouts__of(name);
	int function = of.shape ? intern(name, of.length, of.shape) : -1;

	if (function >= 0)
		add_function(scan, symbol, &of, function);
	else if (of.shape || of.refused)
		scan->probes->refused++;
}

static void scan_symbols(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(scan->elf, header->sh_link, symbol.st_name);
		if (name && !strncmp(name, "cu", 2))
			take_symbol(scan, &symbol, name);
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

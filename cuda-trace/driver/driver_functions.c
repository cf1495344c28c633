// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the driver API → where they are in a libcuda. The library may be anybody's file: a
 * process without privileges reads it, with limits for bytes and time (foreign_job.h), and its
 * answer is checked here.
 */
#include "cuda-trace/driver/driver_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/driver/driver_failures.h"
#include "cuda-trace/driver/driver_layouts.h"
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/base/api_names.h"
#include "libcupti-usdt/probes.h"

#define LONGEST_NAME 127
#define MAX_MS	     800
#define MAX_CODE     1024 /* bytes of a function that failures are looked for in */
/* Of all libraries together. Names whose arguments are known are few; others may be invented. */
#define MAX_UNKNOWN_NAMES (DRIVER_FUNCTIONS_MAX / 2)

/* An entry point, as the process without privileges sends it. */
struct found_function {
	char name[LONGEST_NAME + 1];
	uint64_t offset;
	uint8_t shape, detail, layout, failure_count;
	struct driver_failure failures[DRIVER_FAILURES_MAX];
};

struct found {
	uint32_t count, refused;
	struct found_function functions[DRIVER_POINTS_MAX];
};

struct scan {
	struct foreign_elf *elf;
	bool at_entry; /* failures are looked for */
	struct found *found;
};

/* Of all libraries together, by the number in cookies; never freed. */
static struct function {
	char *name;
	uint16_t cbid; /* of a launch; 0 = not known */
	uint8_t shape;
} functions[DRIVER_FUNCTIONS_MAX];
static uint32_t function_count, unknown_names;

const char *driver_functions__name(uint32_t function)
{
	return function < function_count ? functions[function].name : NULL;
}

uint16_t driver_functions__cbid(uint32_t function)
{
	return function < function_count ? functions[function].cbid : 0;
}

/* Its number; below 0: there are too many. */
static int intern(const char *name, uint8_t shape, bool is_known)
{
	struct function *function = &functions[function_count];

	for (uint32_t i = 0; i < function_count; i++)
		if (!strcmp(functions[i].name, name))
			return i;
	if (function_count == DRIVER_FUNCTIONS_MAX ||
	    (!is_known && unknown_names == MAX_UNKNOWN_NAMES))
		return -1;
	function->name = strdup(name);
	if (!function->name)
		return -1;
	function->shape = shape;
	function->cbid = store__call_number(CUDA_DOMAIN_DRIVER, function->name);
	unknown_names += !is_known;
	return function_count++;
}

static bool launches(uint8_t shape)
{
	return shape == DRIVER_LAUNCH || shape == DRIVER_LAUNCH_EX || shape == DRIVER_GRAPH;
}

static bool is_launch(int function)
{
	return launches(functions[function].shape);
}

bool driver_functions__is_launch(uint64_t cookie)
{
	uint32_t function = cookie >> 16 & 0xffff;

	return function < function_count && is_launch(function);
}

static bool add_point(struct driver_points *points, uint64_t offset, uint64_t cookie)
{
	if (points->count == DRIVER_POINTS_MAX)
		return false;
	points->offsets[points->count] = offset;
	points->cookies[points->count++] = cookie;
	return true;
}

static void add_failures(struct driver_probes *probes, const struct found_function *found,
			 uint64_t cookie)
{
	for (uint32_t i = 0; i < found->failure_count; i++)
		add_point(&probes->failures, found->offset + found->failures[i].at,
			  cookie | DRIVER_RESULT(found->failures[i].result));
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
	if (probes->unknown_count < DRIVER_POINTS_MAX)
		probes->unknown[probes->unknown_count++] = function;
}

static void add_function(struct driver_probes *probes, const struct found_function *found)
{
	int function = intern(found->name, found->shape,
			      found->layout != DRIVER_UNKNOWN && found->shape != DRIVER_SYNC);
	uint64_t cookie = found->shape | found->detail << 8 | (uint64_t)function << 16 |
			  DRIVER_LAYOUT(found->layout & 0xf);

	/* Two names of one place would be counted twice. */
	if (function >= 0 && is_there(&probes->entries, found->offset))
		return;
	if (function < 0 || probes->entries.count == DRIVER_POINTS_MAX) {
		probes->refused++;
		return;
	}
	probes->launches += is_launch(function);
	if (found->layout == DRIVER_UNKNOWN)
		note_unknown(probes, function);
	if (is_launch(function) && found->failure_count &&
	    probes->failures.count + found->failure_count <= DRIVER_POINTS_MAX) {
		cookie |= DRIVER_REPORTED_AT_ENTRY;
		add_failures(probes, found, cookie);
		probes->reported_at_entry++;
	} else {
		add_point(&probes->returns, found->offset, cookie);
	}
	add_point(&probes->entries, found->offset, cookie);
}

/* ---- in a process without privileges ---- */

static void find_failures(struct scan *scan, const Elf64_Sym *symbol, struct found_function *to)
{
	uint8_t code[MAX_CODE];

	if (scan->at_entry && scan->elf->header.e_machine == EM_X86_64 &&
	    symbol->st_size <= sizeof(code) &&
	    !foreign_elf__read(scan->elf, to->offset, code, symbol->st_size))
		to->failure_count = driver_failures__find(code, symbol->st_size, to->failures);
}

static bool is_found(const struct found *found, uint64_t offset)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (found->functions[i].offset == offset)
			return true;
	return false;
}

static void add_symbol(struct scan *scan, const Elf64_Sym *symbol, const char *name)
{
	struct driver_layout_of of = driver_layouts__of(name);
	uint64_t offset = of.shape ? foreign_elf__offset(scan->elf, symbol->st_value, PF_X) : 0;
	struct found *found = scan->found;
	struct found_function *to = &found->functions[found->count];

	if (of.shape && (!offset || is_found(found, offset)))
		return;
	if (!of.shape || of.length > LONGEST_NAME || found->count == DRIVER_POINTS_MAX) {
		found->refused += of.shape || of.refused;
		return;
	}
	memset(to, 0, sizeof(*to));
	memcpy(to->name, name, of.length);
	to->offset = offset;
	to->shape = of.shape;
	to->detail = of.detail;
	to->layout = of.layout;
	if (launches(of.shape))
		find_failures(scan, symbol, to);
	found->count++;
}

static int scan_symbols(struct scan *scan, uint32_t section)
{
	struct foreign_symbols symbols;
	int err = foreign_elf__symbols(scan->elf, section, &symbols);

	for (size_t i = 0; !err && i < symbols.count; i++) {
		const Elf64_Sym *symbol = &symbols.list[i];
		const char *name = foreign_symbols__name(&symbols, i);

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
		    !strncmp(name, "cu", 2))
			add_symbol(scan, symbol, name);
	}
	foreign_symbols__free(&symbols);
	return err;
}

int driver_functions__send(int fd, uint64_t size, const void *at_entry,
			   struct foreign_output *output)
{
	static struct found found;
	struct foreign_elf elf;
	struct scan scan = {.elf = &elf, .at_entry = *(const bool *)at_entry, .found = &found};
	int err = foreign_elf__open(&elf, fd, size, true);

	if (err)
		return err;
	found.count = found.refused = 0;
	for (uint32_t i = 0; !err && i < elf.section_count; i++)
		if (elf.sections[i].sh_type == SHT_DYNSYM)
			err = scan_symbols(&scan, i);
	foreign_elf__close(&elf);
	if (err || !found.count)
		return err ? err : -ENOENT;
	foreign_output__put(output, &found, sizeof(found));
	return 0;
}

/* ---- the tool ---- */

static bool is_sound(const struct found_function *found)
{
	return memchr(found->name, 0, sizeof(found->name)) && found->shape &&
	       found->shape != DRIVER_TRIAL && found->failure_count <= DRIVER_FAILURES_MAX;
}

int driver_functions__find(const char *path, bool at_entry, struct driver_probes *probes)
{
	struct foreign_answer answer;
	struct foreign_file file;
	const struct found *found;
	int err;

	memset(probes, 0, sizeof(*probes));
	err = foreign_file__open_ours(&file, path);
	if (err)
		return err;
	err = foreign_job__run(driver_functions__send, &file, &at_entry, MAX_MS, sizeof(*found),
			       &answer);
	foreign_file__close(&file);
	if (err)
		return err;
	found = (const void *)answer.bytes;
	if (answer.size == sizeof(*found) && found->count <= DRIVER_POINTS_MAX) {
		probes->refused = found->refused;
		for (uint32_t i = 0; i < found->count; i++)
			if (is_sound(&found->functions[i]))
				add_function(probes, &found->functions[i]);
	}
	free(answer.bytes);
	return probes->entries.count ? 0 : -ENOENT;
}

// SPDX-License-Identifier: BSD-2-Clause
// What a CUPTI of a given version has: the sizes of its records, and its functions. A function that
// the version lacks, or that SIMCUDA_MISSING_SYMBOL names, is taken out of the library's own symbol
// table when it is loaded, so that dlsym() does not find it.
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_sass.h"
#include "tests/simcuda/pm.h"
#include "tests/simcuda/profiler.h"

static const struct {
	uint16_t kind, size, since;
} sizes[] = {
#define SIZE(kind, size, since) {CUPTI_KIND_##kind, size, since},
	CUPTI_SIZES(SIZE)
#undef SIZE
};

static const struct {
	const char *name;
	uint32_t since;
} newer[] = {{"cuptiActivityEnableDriverApi", 1205},
	     {"cuptiActivityEnableRuntimeApi", 1205},
	     {"cuptiActivityEnableAllSyncRecords", 1208},
	     {"cuptiSubscribe_v2", 1300},
#define RANGE_FUNCTION(name, type) {"cupti" #name, 1206},
	     CUPTI_RANGE_FUNCTIONS(RANGE_FUNCTION) SIM_PM_FUNCTIONS(RANGE_FUNCTION)
#undef RANGE_FUNCTION
/* What both have is the range profiler's. */
#define SASS_FUNCTION(name, type) {"cupti" #name, 1202},
		     CUPTI_SASS_FUNCTIONS(SASS_FUNCTION)
#undef SASS_FUNCTION
};

static uint16_t size_of[64]; /* by kind, for the version that this library plays */

size_t version__size(uint32_t kind)
{
	return kind < 64 ? size_of[kind] : 0;
}

static void choose_sizes(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i].since <= settings__get()->version || !size_of[sizes[i].kind])
			size_of[sizes[i].kind] = sizes[i].size;
	size_of[CUPTI_KIND_KERNEL] = size_of[CUPTI_KIND_CONCURRENT_KERNEL];
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = settings__get()->number;
	return CUPTI_SUCCESS;
}

static bool is_missing(const char *name, const char *missing)
{
	if (missing && !strcmp(name, missing))
		return true;
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
		if (!strcmp(name, newer[i].name))
			return newer[i].since > settings__get()->version;
	return false;
}

static void symbol__remove(ElfW(Sym) * symbol)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)symbol & ~(page - 1);
	size_t length = (uintptr_t)(symbol + 1) - start;

	if (mprotect((void *)start, length, PROT_READ | PROT_WRITE))
		abort();
	symbol->st_value = 0;
	symbol->st_shndx = SHN_UNDEF;
}

/* The string table follows the symbol table: that is how far the symbols go. */
static void remove_missing(void)
{
	const char *missing = getenv("SIMCUDA_MISSING_SYMBOL"), *names = NULL;
	ElfW(Sym) *symbols = NULL;

	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols = (ElfW(Sym) *)entry->d_un.d_ptr;
		if (entry->d_tag == DT_STRTAB)
			names = (const char *)entry->d_un.d_ptr;
	}
	if (!symbols || !names || (const char *)symbols > names)
		abort();
	for (ElfW(Sym) *symbol = symbols; (const char *)(symbol + 1) <= names; symbol++)
		if (symbol->st_value && is_missing(names + symbol->st_name, missing))
			symbol__remove(symbol);
}

static void __attribute__((constructor)) become_version(void)
{
	choose_sizes();
	remove_missing();
}

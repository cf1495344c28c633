// SPDX-License-Identifier: BSD-2-Clause
/*
 * libcupti-usdt-nvtx.so, what NVTX_INJECTION64_PATH names: NVTX hands its tables to the one library
 * that is named there, and CUPTI gets ranges only if that is the very libcupti which the agent
 * uses. Which one that is nobody knows before the program runs. So this library searches as the
 * agent does (it is made of the same objects; nothing of the rest ever starts here) and passes on.
 *
 * Failure mode: a second copy of libcupti in one process. The search takes the one that is mapped,
 * and the agent, when it comes later, finds this one mapped.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_search.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/nvtx-entry/nvtx_entry.h"

typedef int (*nvtx_entry)(const void *(*get_table)(uint32_t));

/* What NVTX looks for, at a program's first call of it. 0 = none, and its calls do nothing. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*get_table)(uint32_t));

bool nvtx_entry__is_wanted(void)
{
	settings__read();
	return !getauxval(AT_SECURE) && !settings__get()->off;
}

void *nvtx_entry__of_cupti(const char *function)
{
	Dl_info found;
	void *library;

	if (cupti_search__run() || !dladdr((void *)cupti_api__get()->GetVersion, &found) ||
	    !found.dli_fname)
		return NULL;
	library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, function) : NULL;
}

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t))
{
	int saved = errno, started = 0;

	if (nvtx_entry__is_wanted()) {
		nvtx_entry start = (nvtx_entry)nvtx_entry__of_cupti("InitializeInjectionNvtx2");

		started = start ? start(get_table) : 0;
	}
	errno = saved;
	return started;
}

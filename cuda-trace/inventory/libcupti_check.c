// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a libcupti file is worth: whether it is one at all, whose, of which CUDA, and whether the
 * agent would use it. Called by libcupti_list.c; one thread.
 */
#include <errno.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/inventory/libcupti_owner.h"
#include "cuda-trace/inventory/cuda_release.h"
#include "cuda-trace/inventory/libcupti_version.h"

/* cuptiGetVersion() of CUDA 11.8, the first that the agent uses, and of 13.0 before Update 1. */
#define API_11_8 18
#define API_13_0 130000

/* What the agent cannot do without; the first returns the version. */
static const char *const wanted[] = {
	"cuptiGetVersion",
	"cuptiGetResultString",
	"cuptiGetTimestamp",
	"cuptiSubscribe",
	"cuptiUnsubscribe",
	"cuptiEnableCallback",
	"cuptiEnableDomain",
	"cuptiActivityRegisterCallbacks",
	"cuptiActivityEnable",
	"cuptiActivityDisable",
	"cuptiActivityFlushAll",
	"cuptiActivityGetNextRecord",
	"cuptiActivityGetNumDroppedRecords",
};
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

void library__unopened(struct library *library, const struct libraries *libraries, int err)
{
	int fd;

	switch (err) {
	case -ELOOP:
		library->verdict = LIBRARY_LOOP;
		return;
	case -EINVAL:
		library->verdict = LIBRARY_NOT_FILE;
		return;
	case -EACCES:
	case -EPERM:
		library->verdict = LIBRARY_DENIED;
		return;
	}
	fd = filetree__path(libraries->tree, library->path, true);
	library->verdict = fd < 0 ? LIBRARY_VANISHED : LIBRARY_DANGLING;
	if (fd >= 0)
		close(fd);
}

static enum library_verdict verdict_of_elf(const struct libraries *libraries,
					   const struct elf_facts *elf)
{
	static const enum library_verdict verdicts[] = {
		[ELF_OK] = LIBRARY_USABLE,
		[ELF_EMPTY] = LIBRARY_EMPTY,
		[ELF_NOT_ELF] = LIBRARY_NOT_LIBRARY,
		[ELF_TRUNCATED] = LIBRARY_TRUNCATED,
		[ELF_NOT_SHARED] = LIBRARY_NOT_LIBRARY,
		[ELF_DAMAGED] = LIBRARY_DAMAGED,
		[ELF_UNREADABLE] = LIBRARY_VANISHED,
	};

	if (elf->verdict != ELF_OK)
		return verdicts[elf->verdict];
	if (libraries->machine && elf->machine != libraries->machine)
		return LIBRARY_WRONG_MACHINE;
	if (elf->symbols != (1u << WANTED) - 1)
		return LIBRARY_STUB;
	return LIBRARY_USABLE;
}

void library__inspect(struct library *library, const struct libraries *libraries, int fd)
{
	elf__inspect(fd, wanted, WANTED, &library->elf);
	library->verdict = verdict_of_elf(libraries, &library->elf);
}

/* Of the very file that was looked at, and only if it is what it says. */
static bool may_be_run(const struct library *library, int fd)
{
	struct stat st;

	return library->verdict == LIBRARY_USABLE && library->source != LIBRARY_SOURCE_NSIGHT &&
	       !fstat(fd, &st) && st.st_dev == library->dev && st.st_ino == library->ino;
}

static void find_version(struct library *library, const struct libraries *libraries)
{
	int fd;

	library->api = library->elf.version;
	library->how = library->api ? VERSION_READ : VERSION_UNKNOWN;
	if (!libraries->ask || filetree__exhausted(libraries->tree))
		return;
	fd = filetree__file(libraries->tree, library->path, NULL);
	if (fd < 0)
		return;
	if (may_be_run(library, fd) && !version__ask(fd, "cuptiGetVersion", &library->api))
		library->how = VERSION_CALLED;
	close(fd);
}

static bool too_old(const struct library *library)
{
	if (library->api)
		return library->api < API_11_8;
	if (library->cuda_major == 11)
		return library->minor_known && library->cuda_minor < 8;
	return library->cuda_major && library->cuda_major < 11;
}

void libcupti_check__run(struct library *library, const struct libraries *libraries)
{
	struct release_hints hints;

	library->checked = true;
	owner__find(libraries->tree, libraries->packages, library);
	find_version(library, libraries);
	hints = (struct release_hints){
		.api = library->api,
		.soname = library->elf.soname,
		.real = library->real ?: library->path,
		.path = library->path,
		.owner = library->owner,
	};
	library->minor_known = release__of(&hints, &library->cuda_major, &library->cuda_minor);
	if (library->verdict != LIBRARY_USABLE)
		return;
	if (library->source == LIBRARY_SOURCE_NSIGHT)
		library->verdict = LIBRARY_PRIVATE;
	else if (too_old(library))
		library->verdict = LIBRARY_TOO_OLD;
	else if (library->api == API_13_0)
		library->verdict = LIBRARY_FAULTY;
	else if (libraries->driver_major && library->cuda_major > libraries->driver_major)
		library->verdict = LIBRARY_TOO_NEW;
}

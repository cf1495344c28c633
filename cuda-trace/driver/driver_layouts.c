// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of libcuda's API by stem and version: cuMemcpyHtoD_v2_ptds is the second version of
 * cuMemcpyHtoD, on the thread's own default stream. A library has old versions beside the new ones,
 * and a later driver has versions and functions that this table does not know.
 *
 * Three ways this can go wrong: arguments of an unknown version are read as those of a known one,
 * and sums are made up; a function that the table lacks is not seen, and its calls are missing
 * without a word; something that only sounds alike is counted. So a layout is used for the versions
 * that it was read from in cuda.h (11.8 to 13.0); other versions, and other functions of the
 * families below, are counted and nothing of them is read; what sounds alike is named here.
 */
#include "cuda-trace/driver/driver_layouts.h"

#include <ctype.h>
#include <string.h>
#include "bpf/event.h"

enum {
	HTOD = 1,
	DTOH,
	HTOA,
	ATOH,
	ATOA,
	ATOD,
	DTOA,
	DTOD,
	PTOP = 10
};							    /* CUpti_ActivityMemcpyKind */
enum { PINNED = 2, DEVICE = 3, MANAGED = 5 };		    /* CUpti_ActivityMemoryKind */
enum { EVENT_WAIT = 1, STREAM_WAIT = 3, CONTEXT_WAIT = 4 }; /* as struct cuda_sync has it */

#define ANY 255

static const struct row {
	const char *stem;
	uint8_t first, last; /* versions of this layout */
	uint8_t shape, detail, layout;
} rows[] = {
	{"cuLaunchKernel", 1, 1, DRIVER_LAUNCH, 0, 0},
	{"cuLaunchCooperativeKernel", 1, 1, DRIVER_LAUNCH, 0, 0},
	{"cuLaunchKernelEx", 1, 1, DRIVER_LAUNCH_EX, 0, 0},
	{"cuLaunchHostFunc", 1, ANY, 0, 0, 0}, /* nothing for the GPU */
	{"cuGraphLaunch", 1, 1, DRIVER_GRAPH, 0, 0},
	{"cuMemAlloc", 2, 2, DRIVER_ALLOC, DEVICE, 0},
	{"cuMemAllocPitch", 2, 2, DRIVER_ALLOC, DEVICE, DRIVER_PITCH},
	{"cuMemAllocAsync", 1, 1, DRIVER_ALLOC, DEVICE, 0},
	{"cuMemAllocFromPoolAsync", 1, 1, DRIVER_ALLOC, DEVICE, 0},
	{"cuMemAllocManaged", 1, 1, DRIVER_ALLOC, MANAGED, 0},
	{"cuMemAllocHost", 2, 2, DRIVER_ALLOC, PINNED, 0},
	{"cuMemHostAlloc", 1, 1, DRIVER_ALLOC, PINNED, 0},
	{"cuMemFree", 2, 2, DRIVER_FREE, DEVICE, 0},
	{"cuMemFreeAsync", 1, 1, DRIVER_FREE, DEVICE, 0},
	{"cuMemFreeHost", 1, 1, DRIVER_FREE, PINNED, 0},
	{"cuMemcpyHtoD", 2, 2, DRIVER_COPY, HTOD, 0},
	{"cuMemcpyHtoDAsync", 2, 2, DRIVER_COPY, HTOD, 0},
	{"cuMemcpyDtoH", 2, 2, DRIVER_COPY, DTOH, 0},
	{"cuMemcpyDtoHAsync", 2, 2, DRIVER_COPY, DTOH, 0},
	{"cuMemcpyDtoD", 2, 2, DRIVER_COPY, DTOD, 0},
	{"cuMemcpyDtoDAsync", 2, 2, DRIVER_COPY, DTOD, 0},
	{"cuMemcpyHtoA", 2, 2, DRIVER_COPY, HTOA, DRIVER_FOURTH},
	{"cuMemcpyHtoAAsync", 2, 2, DRIVER_COPY, HTOA, DRIVER_FOURTH},
	{"cuMemcpyAtoH", 2, 2, DRIVER_COPY, ATOH, DRIVER_FOURTH},
	{"cuMemcpyAtoHAsync", 2, 2, DRIVER_COPY, ATOH, DRIVER_FOURTH},
	{"cuMemcpyAtoD", 2, 2, DRIVER_COPY, ATOD, DRIVER_FOURTH},
	{"cuMemcpyDtoA", 2, 2, DRIVER_COPY, DTOA, DRIVER_FOURTH},
	{"cuMemcpyAtoA", 2, 2, DRIVER_COPY, ATOA, DRIVER_FIFTH},
	{"cuMemcpyPeer", 1, 1, DRIVER_COPY, PTOP, DRIVER_FIFTH},
	{"cuMemcpyPeerAsync", 1, 1, DRIVER_COPY, PTOP, DRIVER_FIFTH},
	{"cuMemcpy", 1, 1, DRIVER_COPY, 0, 0},
	{"cuMemcpyAsync", 1, 1, DRIVER_COPY, 0, 0},
	{"cuMemcpyBatchAsync", 1, 2, DRIVER_COPY, 0, DRIVER_BATCH},
	{"cuMemcpy2D", 2, 2, DRIVER_COPY, 0, DRIVER_RECTANGLE},
	{"cuMemcpy2DUnaligned", 2, 2, DRIVER_COPY, 0, DRIVER_RECTANGLE},
	{"cuMemcpy2DAsync", 2, 2, DRIVER_COPY, 0, DRIVER_RECTANGLE},
	{"cuMemcpy3D", 2, 2, DRIVER_COPY, 0, DRIVER_BOX},
	{"cuMemcpy3DAsync", 2, 2, DRIVER_COPY, 0, DRIVER_BOX},
	{"cuMemcpy3DPeer", 1, 1, DRIVER_COPY, 0, DRIVER_BOX},
	{"cuMemcpy3DPeerAsync", 1, 1, DRIVER_COPY, 0, DRIVER_BOX},
	/* No argument of a wait is read. */
	{"cuEventSynchronize", 1, ANY, DRIVER_SYNC, EVENT_WAIT, 0},
	{"cuStreamSynchronize", 1, ANY, DRIVER_SYNC, STREAM_WAIT, 0},
	{"cuCtxSynchronize", 1, ANY, DRIVER_SYNC, CONTEXT_WAIT, 0},
	{"cuModuleGetFunction", 1, 1, DRIVER_NAME, 0, 0},
	{"cuLibraryGetKernel", 1, 1, DRIVER_NAME, 0, 0},
	{"cuKernelGetName", 1, 1, DRIVER_NAME, 0, DRIVER_GIVEN},
	{"cuFuncGetName", 1, 1, DRIVER_NAME, 0, DRIVER_GIVEN},
	{"cuKernelGetFunction", 1, 1, DRIVER_ALIAS, 0, 0},
};

/* How functions begin that do such a thing, whatever else they do; then comes a new word. */
static const struct {
	const char *stem;
	uint8_t shape;
} families[] = {
	{"cuLaunch", DRIVER_LAUNCH}, {"cuGraphLaunch", DRIVER_GRAPH}, {"cuMemAlloc", DRIVER_ALLOC},
	{"cuMemFree", DRIVER_FREE},  {"cuMemcpy", DRIVER_COPY},
};

/* The length of what comes before the ending _v and a number, which is `version` then; else 1. */
static size_t cut_version(const char *name, size_t length, unsigned int *version)
{
	size_t at = length;

	*version = 1;
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	if (at == length || length - at > 3 || at < 3 || name[at - 1] != 'v' || name[at - 2] != '_')
		return length;
	*version = 0;
	for (size_t i = at; i < length; i++)
		*version = *version * 10 + (name[i] - '0');
	return at - 2;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
	size_t of_end = strlen(end);

	return length > of_end && !strncmp(name + length - of_end, end, of_end);
}

static struct driver_layout_of of_row(const struct row *row, unsigned int version)
{
	bool known = version >= row->first && (version <= row->last || row->last == ANY);

	if (!known && (row->shape == DRIVER_NAME || row->shape == DRIVER_ALIAS))
		return (struct driver_layout_of){.refused = true};
	return (struct driver_layout_of){.shape = row->shape,
					 .detail = row->detail,
					 .layout = known ? row->layout : DRIVER_UNKNOWN};
}

static struct driver_layout_of of_family(const char *name, size_t length)
{
	struct driver_layout_of unknown = {.layout = DRIVER_UNKNOWN};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		size_t stem = strlen(families[i].stem);

		if (length >= stem && !strncmp(name, families[i].stem, stem) &&
		    (length == stem || !islower((unsigned char)name[stem])))
			unknown.shape = families[i].shape;
	}
	if (ends_with(name, length, "Synchronize") || ends_with(name, length, "SynchronizeEx"))
		return (struct driver_layout_of){.shape = DRIVER_SYNC};
	return unknown;
}

static struct driver_layout_of of_stem(const char *name, size_t length, unsigned int version)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].stem) == length && !strncmp(rows[i].stem, name, length))
			return of_row(&rows[i], version);
	return of_family(name, length);
}

struct driver_layout_of driver_layouts__of(const char *symbol)
{
	size_t length = strlen(symbol), stem;
	struct driver_layout_of of;
	unsigned int version;

	if (ends_with(symbol, length, "_ptsz") || ends_with(symbol, length, "_ptds"))
		length -= 5;
	stem = cut_version(symbol, length, &version);
	of = of_stem(symbol, stem, version);
	of.length = length;
	return of;
}

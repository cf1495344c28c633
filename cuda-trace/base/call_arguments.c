// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/call_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/event_keys.h"

static void put_launch(FILE *out, const struct cuda_api *call, const char *kernel)
{
	const uint32_t *grid = call->arguments.launch.grid, *block = call->arguments.launch.block;

	fprintf(out, "%s", kernel);
	if (!call_arguments__has_grid(call))
		return;
	fprintf(out, "%sgrid %ux%ux%u, block %ux%ux%u", *kernel ? ", " : "", grid[0], grid[1],
		grid[2], block[0], block[1], block[2]);
	if (call->arguments.launch.dynamic_shared)
		fprintf(out, ", %u bytes of shared memory", call->arguments.launch.dynamic_shared);
}

static void put_call(FILE *out, const struct cuda_api *call)
{
	const char *between = "";

	if (call->flags & CUDA_API_BYTES) {
		fprintf(out, "%" PRIu64 " bytes", (uint64_t)call->arguments.call.bytes);
		between = " ";
	}
	if (call->flags & CUDA_API_COPY_KIND)
		fprintf(out, "%s%s", between,
			stat_events__copy_key(call->arguments.call.copy_kind));
	if (call->flags & CUDA_API_VALUE)
		fprintf(out, "%sto 0x%x", between, call->arguments.call.value);
	if (call->flags & CUDA_API_ADDRESS) {
		fprintf(out, "%sat 0x%" PRIx64, between, (uint64_t)call->arguments.call.address);
		between = " ";
	}
	if (call->flags & CUDA_API_DEVICE)
		fprintf(out, "%sdevice %d", *between ? ", " : "", (int)call->arguments.call.device);
}

void call_arguments__text(char *out, size_t size, const struct cuda_api *call, const char *kernel)
{
	FILE *file = fmemopen(out, size, "w");

	*out = 0;
	if (!file)
		return;
	if (call->flags & CUDA_API_LAUNCH)
		put_launch(file, call, kernel);
	else
		put_call(file, call);
	fclose(file);
	out[size - 1] = 0; /* a text that fills it all */
}

void call_arguments__of_launch(struct cuda_api *call, const struct cuda_launch *launch)
{
	if (launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH)
		return;
	call->flags |= CUDA_API_LAUNCH;
	memcpy(call->arguments.launch.grid, launch->grid, sizeof(launch->grid));
	memcpy(call->arguments.launch.block, launch->block, sizeof(launch->block));
	call->arguments.launch.dynamic_shared = launch->dynamic_shared;
	call->arguments.launch.kernel = launch->name;
}

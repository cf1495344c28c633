// SPDX-License-Identifier: BSD-2-Clause
/* No state. */
#include "cuda-trace/stat/stat_sums.h"

void stat_sums__add(struct stat_sums *to, const struct stat_sums *from)
{
	to->launches += from->launches;
	to->launch_errors += from->launch_errors;
	to->untimed += from->untimed;
	to->graph_launches += from->graph_launches;
	to->graph_launch_errors += from->graph_launch_errors;
	to->kernels += from->kernels;
	to->graph_kernels += from->graph_kernels;
	to->gpu_ns += from->gpu_ns;
	to->sampled_kernels += from->sampled_kernels;
	to->unsampled_launches += from->unsampled_launches;
	to->gpu_error2 += from->gpu_error2;
	to->memcpys += from->memcpys;
	to->memcpy_bytes += from->memcpy_bytes;
	to->memsets += from->memsets;
	to->allocs += from->allocs;
	to->frees += from->frees;
	to->live_bytes += from->live_bytes;
	to->untracked += from->untracked;
	to->syncs += from->syncs;
	to->sync_ns += from->sync_ns;
	to->api_errors += from->api_errors;
}

void stat_sums__set_events(struct stat_sums *sums, const struct stat_events *events)
{
	sums->memcpys = events->memcpys;
	sums->memcpy_bytes = events->memcpy_bytes;
	sums->memsets = events->memsets;
	sums->allocs = events->allocs;
	sums->frees = events->frees;
	sums->live_bytes = events->live_bytes;
	sums->untracked = events->untracked;
	sums->syncs = events->waits;
	sums->sync_ns = events->wait_ns;
	sums->api_errors = events->errors.total;
}

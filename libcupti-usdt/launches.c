// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launch calls. The parameters are read through own declarations of what CUPTI passes: the
 * arguments of the call, in order (generated_cuda_meta.h, generated_cuda_runtime_api_meta.h).
 * They are valid during the callback only. A pointer among them comes from the program: a call
 * that failed may have passed anything, so a launch's config is looked at only after success.
 */
#include "libcupti-usdt/launches.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/names.h"
#include "libcupti-usdt/sites.h"

/* cuLaunchKernel, cuLaunchCooperativeKernel */
struct launch_params {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	uint64_t stream;
};

/* cuLaunchKernelEx, cudaLaunchKernelExC: the first argument points to this */
struct launch_config {
	uint32_t grid[3];
	uint32_t block[3];
	union {
		uint32_t shared;	 /* CUlaunchConfig */
		uint64_t runtime_shared; /* cudaLaunchConfig_t */
	};
	uint64_t stream;
};

struct launch_ex_params {
	const struct launch_config *config;
};

/* cuGraphLaunch, cudaGraphLaunch */
struct graph_params {
	void *graph;
	uint64_t stream;
};

/* cudaLaunchKernel, cudaLaunchCooperativeKernel, __cudaLaunchKernel */
struct runtime_params {
	const void *function;
	uint32_t grid[3];
	uint32_t block[3];
	void **arguments;
	uint64_t shared;
	uint64_t stream;
};

enum shape { SHAPE_NONE, SHAPE_PLAIN, SHAPE_EX, SHAPE_RUNTIME, SHAPE_GRAPH, SHAPE_BARE };

static const uint16_t driver_cbids[] = {
	307, /* cuLaunchKernel */
	442, /* cuLaunchKernel_ptsz */
	652, /* cuLaunchKernelEx */
	653, /* cuLaunchKernelEx_ptsz */
	477, /* cuLaunchCooperativeKernel */
	478, /* cuLaunchCooperativeKernel_ptsz */
	480, /* cuLaunchCooperativeKernelMultiDevice */
	514, /* cuGraphLaunch */
	515, /* cuGraphLaunch_ptsz */
	115, /* cuLaunch */
	116, /* cuLaunchGrid */
	117, /* cuLaunchGridAsync */
	0,
};

static const uint16_t runtime_cbids[] = {
	13,  /* cudaLaunch */
	211, /* cudaLaunchKernel */
	213, /* cudaLaunch_ptsz */
	214, /* cudaLaunchKernel_ptsz */
	269, /* cudaLaunchCooperativeKernel */
	270, /* cudaLaunchCooperativeKernel_ptsz */
	272, /* cudaLaunchCooperativeKernelMultiDevice */
	311, /* cudaGraphLaunch */
	312, /* cudaGraphLaunch_ptsz */
	430, /* cudaLaunchKernelExC */
	431, /* cudaLaunchKernelExC_ptsz */
	505, /* __cudaLaunchKernel */
	506, /* __cudaLaunchKernel_ptsz */
	0,
};

const uint16_t *launches__cbids(int domain)
{
	return domain == CUPTI_DOMAIN_DRIVER ? driver_cbids : runtime_cbids;
}

static enum shape driver_shape(uint32_t cbid)
{
	switch (cbid) {
	case 307:
	case 442:
	case 477:
	case 478:
		return SHAPE_PLAIN;
	case 652:
	case 653:
		return SHAPE_EX;
	case 514:
	case 515:
		return SHAPE_GRAPH;
	case 480:
	case 115:
	case 116:
	case 117:
		return SHAPE_BARE;
	}
	return SHAPE_NONE;
}

static enum shape runtime_shape(uint32_t cbid)
{
	switch (cbid) {
	case 211:
	case 214:
	case 269:
	case 270:
	case 505:
	case 506:
		return SHAPE_RUNTIME;
	case 430:
	case 431:
		return SHAPE_EX;
	case 311:
	case 312:
		return SHAPE_GRAPH;
	case 13:
	case 213:
	case 272:
		return SHAPE_BARE;
	}
	return SHAPE_NONE;
}

static enum shape shape_of(int domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_DRIVER ? driver_shape(cbid) : runtime_shape(cbid);
}

bool launches__is_launch(int domain, uint32_t cbid)
{
	return shape_of(domain, cbid) != SHAPE_NONE;
}

static void read_ex(struct cuda_launch *to, const struct launch_ex_params *params)
{
	const struct launch_config *config = params->config;

	if (to->result || !config)
		return;
	memcpy(to->grid, config->grid, sizeof(to->grid));
	memcpy(to->block, config->block, sizeof(to->block));
	to->dynamic_shared = config->shared;
	to->stream = config->stream;
}

static void read_params(struct cuda_launch *to, enum shape shape, const void *params)
{
	const struct launch_params *plain = params;
	const struct runtime_params *runtime = params;

	switch (shape) {
	case SHAPE_PLAIN:
		memcpy(to->grid, plain->grid, sizeof(to->grid));
		memcpy(to->block, plain->block, sizeof(to->block));
		to->dynamic_shared = plain->shared;
		to->stream = plain->stream;
		break;
	case SHAPE_RUNTIME:
		memcpy(to->grid, runtime->grid, sizeof(to->grid));
		memcpy(to->block, runtime->block, sizeof(to->block));
		to->dynamic_shared = runtime->shared;
		to->stream = runtime->stream;
		break;
	case SHAPE_EX:
		read_ex(to, params);
		break;
	case SHAPE_GRAPH:
		to->stream = ((const struct graph_params *)params)->stream;
		break;
	case SHAPE_BARE:
	case SHAPE_NONE:
		break;
	}
}

void launches__record(struct ring *ring, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	enum shape shape = shape_of(domain, cbid);
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	struct cuda_launch to = {
		.head = {.kind = shape == SHAPE_GRAPH ? CUDA_RECORD_GRAPH_LAUNCH
						      : CUDA_RECORD_LAUNCH,
			 .size = sizeof(to),
			 .correlation = data->correlation},
		.start = start,
		.end = end,
		.tid = ring__tid(ring),
		.context = data->context_id,
		.result = data->return_value ? *(const int *)data->return_value : 0,
		.cbid = cbid,
		.domain = domain,
	};

	if (data->params)
		read_params(&to, shape, data->params);
	if (shape != SHAPE_GRAPH)
		to.name = names__intern(data->symbol_name);
	if (sites__batch_wanted(group))
		ring__append(ring, group, &to.head);
	if (group == CUDA_GROUP_LAUNCH && site_wanted(kernel_launch))
		site__kernel_launch(&to, names__text(to.name));
	else if (group == CUDA_GROUP_RUNTIME && site_wanted(runtime_launch))
		site__runtime_launch(&to, names__text(to.name));
}

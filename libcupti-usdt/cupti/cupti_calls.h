/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launch calls as CUPTI numbers them (numbers are never reused), and what it passes with them: the
 * arguments of the call, in order. Valid during a callback only. `make check-layout` compares
 * both with a toolkit's headers; __cudaLaunchKernel is in none of them, and has the arguments of
 * cudaLaunchKernel.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_CALLS_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* X(CUPTI's name, number, shape of the parameters) */
#define DRIVER_LAUNCHES(X)                                 \
	X(cuLaunchKernel, 307, PLAIN)                      \
	X(cuLaunchKernel_ptsz, 442, PLAIN)                 \
	X(cuLaunchKernelEx, 652, EX)                       \
	X(cuLaunchKernelEx_ptsz, 653, EX)                  \
	X(cuLaunchCooperativeKernel, 477, PLAIN)           \
	X(cuLaunchCooperativeKernel_ptsz, 478, PLAIN)      \
	X(cuLaunchCooperativeKernelMultiDevice, 480, BARE) \
	X(cuGraphLaunch, 514, GRAPH)                       \
	X(cuGraphLaunch_ptsz, 515, GRAPH)                  \
	X(cuLaunch, 115, BARE)                             \
	X(cuLaunchGrid, 116, BARE)                         \
	X(cuLaunchGridAsync, 117, BARE)

/* Driver calls that end a context, as a rule. X(CUPTI's name, number) */
#define DRIVER_CONTEXT_ENDS(X)               \
	X(cuCtxDestroy, 11)                  \
	X(cuCtxDestroy_v2, 322)              \
	X(cuCtxDetach, 13)                   \
	X(cuDevicePrimaryCtxRelease, 387)    \
	X(cuDevicePrimaryCtxRelease_v2, 544) \
	X(cuDevicePrimaryCtxReset, 389)      \
	X(cuDevicePrimaryCtxReset_v2, 545)

/* Driver calls that take kernels away. */
#define DRIVER_UNLOADS(X)       \
	DRIVER_CONTEXT_ENDS(X)  \
	X(cuModuleUnload, 22)   \
	X(cuLibraryUnload, 680) \
	X(cuGreenCtxDestroy, 744)

/* Driver calls that make a graph ready to be launched. X(CUPTI's name, number) */
#define DRIVER_INSTANTIATIONS(X)             \
	X(cuGraphInstantiate, 513)           \
	X(cuGraphInstantiate_v2, 578)        \
	X(cuGraphInstantiateWithFlags, 643)  \
	X(cuGraphInstantiateWithParams, 656) \
	X(cuGraphInstantiateWithParams_ptsz, 657)

#define RUNTIME_LAUNCHES(X)                                        \
	X(cudaLaunch_v3020, 13, BARE)                              \
	X(cudaLaunchKernel_v7000, 211, RUNTIME)                    \
	X(cudaLaunch_ptsz_v7000, 213, BARE)                        \
	X(cudaLaunchKernel_ptsz_v7000, 214, RUNTIME)               \
	X(cudaLaunchCooperativeKernel_v9000, 269, RUNTIME)         \
	X(cudaLaunchCooperativeKernel_ptsz_v9000, 270, RUNTIME)    \
	X(cudaLaunchCooperativeKernelMultiDevice_v9000, 272, BARE) \
	X(cudaGraphLaunch_v10000, 311, GRAPH)                      \
	X(cudaGraphLaunch_ptsz_v10000, 312, GRAPH)                 \
	X(cudaLaunchKernelExC_v11060, 430, EX)                     \
	X(cudaLaunchKernelExC_ptsz_v11060, 431, EX)                \
	X(__cudaLaunchKernel_v13000, 505, RUNTIME)                 \
	X(__cudaLaunchKernel_ptsz_v13000, 506, RUNTIME)

/* CUlaunchConfig; cudaLaunchConfig_t differs in nothing but the width of shared. */
struct launch_config {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	uint64_t stream;
};

/* PLAIN: cuLaunchKernel, cuLaunchCooperativeKernel; behind the function the same as of a config. */
struct launch_params {
	void *function;
	struct launch_config config;
};

/* EX: cuLaunchKernelEx, cudaLaunchKernelExC */
struct launch_ex_params {
	const struct launch_config *config;
	void *function;
};

/* GRAPH: cuGraphLaunch, cudaGraphLaunch */
struct graph_params {
	void *graph;
	uint64_t stream;
};

/* cuGraphAddKernelNode, cuGraphAddNode and their _v2, of which cuGraphAddNode_v2 has one more */
struct graph_add_params {
	void *node, *graph, *dependencies;
	uint64_t count;
	const void *about;
	const void *about_v2;
};

/* CUDA_KERNEL_NODE_PARAMS_v2 and _v3; the first version has the function alone. */
struct graph_kernel {
	void *function; /* CUfunction; NULL = kernel says it */
	uint32_t grid[3], block[3], shared, pad;
	void *parameters, *extra;
	void *kernel; /* CUkernel */
	void *context;
};

/* CUgraphNodeParams */
struct graph_node_params {
	int32_t type, reserved[3]; /* of CUgraphNodeType: 0 = a kernel */
	struct graph_kernel kernel;
};

static inline const struct graph_kernel *graph_node__kernel(const struct graph_node_params *params)
{
	return params && !params->type ? &params->kernel : NULL;
}

/* cuGraphExecUpdate and _v2 */
struct graph_update_params {
	void *exec, *graph;
};

/* cuGraphKernelNodeSetParams, cuGraphNodeSetParams and their _v2 */
struct graph_set_params {
	void *node;
	const void *about;
};

/* cuGraphExecKernelNodeSetParams, cuGraphExecNodeSetParams and their _v2 */
struct graph_exec_set_params {
	void *exec, *node;
	const void *about;
};

/* RUNTIME: cudaLaunchKernel, cudaLaunchCooperativeKernel, __cudaLaunchKernel */
struct runtime_params {
	const void *function;
	uint32_t grid[3];
	uint32_t block[3];
	void **arguments;
	uint64_t shared;
	uint64_t stream;
};

/* NVTX calls. X(name without nvtx, number) */
#define NVTX_CALLS(X)                \
	X(MarkA, 1)                  \
	X(MarkW, 2)                  \
	X(MarkEx, 3)                 \
	X(RangeStartA, 4)            \
	X(RangeStartW, 5)            \
	X(RangeStartEx, 6)           \
	X(RangeEnd, 7)               \
	X(RangePushA, 8)             \
	X(RangePushW, 9)             \
	X(RangePushEx, 10)           \
	X(RangePop, 11)              \
	X(NameCategoryA, 12)         \
	X(NameCategoryW, 13)         \
	X(DomainMarkEx, 30)          \
	X(DomainRangeStartEx, 31)    \
	X(DomainRangeEnd, 32)        \
	X(DomainRangePushEx, 33)     \
	X(DomainRangePop, 34)        \
	X(DomainNameCategoryA, 37)   \
	X(DomainNameCategoryW, 38)   \
	X(DomainRegisterStringA, 39) \
	X(DomainRegisterStringW, 40) \
	X(DomainCreateA, 41)         \
	X(DomainCreateW, 42)

enum nvtx_cbid {
#define NVTX_CBID(name, number) NVTX_##name = number,
	NVTX_CALLS(NVTX_CBID)
#undef NVTX_CBID
};

/* nvtxEventAttributes_t */
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

#define NVTX_MESSAGE_ASCII	1
#define NVTX_MESSAGE_WIDE	2
#define NVTX_MESSAGE_REGISTERED 3

/* Without a domain, and of nvtxDomainCreateA and ...W. */
union nvtx_params {
	const char *text;
	const wchar_t *wide;
	const struct nvtx_attributes *attributes;
	uint64_t range;
};

/* nvtxNameCategoryA and ...W */
struct nvtx_category_params {
	uint32_t category;
	union {
		const char *text;
		const wchar_t *wide;
	};
};

/* nvtxDomainNameCategoryA and ...W */
struct nvtx_domain_category_params {
	uint64_t domain;
	uint32_t category;
	union {
		const char *text;
		const wchar_t *wide;
	};
};

struct nvtx_domain_params {
	uint64_t domain;
	union {
		const struct nvtx_attributes *attributes;
		const char *text; /* nvtxDomainRegisterStringA */
		const wchar_t *wide;
		uint64_t range;
	};
};

#endif

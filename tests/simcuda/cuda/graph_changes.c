// SPDX-License-Identifier: BSD-2-Clause
// Graphs that are changed after they were created, and conditional nodes, as an H200 (driver 580,
// libcupti 13.0) was seen to treat them: a node that does something else keeps its id, and no
// callback says so before CUPTI 13; the nodes of child graphs and of conditional bodies become
// nodes of the executable graph, with the next numbers, in the order in which these inner graphs
// were copied. CUPTI does not report those nodes, but the nodes that the driver adds behind them,
// and that the inner graphs end. What a conditional body launches has no correlation id.
#include <string.h>
#include "tests/simcuda/cuda/graph.h"

#define CONDITIONAL 13 /* CU_GRAPH_NODE_TYPE_CONDITIONAL */
#define LOOP	    1  /* CU_GRAPH_COND_TYPE_WHILE */

CUresult sim_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, void *result)
{
	CUgraphNode own, node;

	if (!exec || exec->magic != MAGIC_EXEC || !graph__valid(graph) ||
	    exec->graph->nodes != graph->nodes)
		return CUDA_ERROR_INVALID_VALUE;
	for (own = exec->graph->first, node = graph->first; node;
	     own = own->next, node = node->next) {
		if (own->kind != KIND_KERNEL || node->kind != KIND_KERNEL)
			return CUDA_ERROR_NOT_SUPPORTED;
		own->launch = node->launch;
		node__keep_parameters(own);
	}
	return CUDA_SUCCESS;
}

static CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct launch launch;
	CUresult result;

	if (!node || node->magic != MAGIC_NODE || node->kind != KIND_KERNEL || !p)
		return CUDA_ERROR_INVALID_VALUE;
	result = graph__launch_of(p, &launch);
	if (result)
		return result;
	node->launch = launch;
	node__keep_parameters(node);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
	if (!node || node->magic != MAGIC_NODE || node->kind != KIND_KERNEL || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = (CUDA_KERNEL_NODE_PARAMS){.func = node->launch.function,
				       .gridDimX = node->launch.grid[0],
				       .gridDimY = node->launch.grid[1],
				       .gridDimZ = node->launch.grid[2],
				       .blockDimX = node->launch.block[0],
				       .blockDimY = node->launch.block[1],
				       .blockDimZ = node->launch.block[2],
				       .sharedMemBytes = node->launch.shared,
				       .kernelParams = node->launch.parameters};
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return set_kernel(node, p);
}

/* The node is that of the graph that was instantiated; the copy of it is meant. */
CUresult sim_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
					       const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUgraphNode own;

	if (!exec || exec->magic != MAGIC_EXEC || !node || node->magic != MAGIC_NODE)
		return CUDA_ERROR_INVALID_VALUE;
	for (own = exec->graph->first; own; own = own->next)
		if ((uint32_t)own->id == (uint32_t)node->id)
			return set_kernel(own, p);
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphConditionalHandleCreate(uint64_t *handle, CUgraph graph, CUcontext context,
					    unsigned int value, unsigned int flags)
{
	struct condition *condition;

	if (!handle || !graph__valid(graph))
		return CUDA_ERROR_INVALID_VALUE;
	condition = object__new(sizeof(*condition));
	condition->value = value;
	*handle = (uintptr_t)condition;
	return CUDA_SUCCESS;
}

static CUresult add_conditional(CUgraph graph, CUDA_CONDITIONAL_NODE_PARAMS *p, CUgraphNode *handle)
{
	CUgraphNode node = graph__append(graph);

	node->condition = (struct condition *)(uintptr_t)p->handle;
	node->condition->is_loop = p->type == LOOP;
	for (unsigned int i = 0; i < p->size && i < 2; i++)
		node->inner[i] = graph__new();
	p->phGraph_out = node->inner;
	*handle = node;
	graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = graph, .node = node});
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			       const void *data, size_t count, CUgraphNodeParams *p)
{
	struct launch launch;
	CUresult result;

	if (!node || !graph__valid(graph) || !p)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->type == CONDITIONAL)
		return add_conditional(graph, &p->conditional, node);
	if (p->type)
		return CUDA_ERROR_NOT_SUPPORTED;
	result = graph__launch_of(&p->kernel, &launch);
	return result ? result : graph__add_kernel(graph, &launch, node);
}

/* All inner graphs in the order in which they were copied: one before those within it. */
static void end_inner(CUgraph exec, CUgraphNode first, bool of_body)
{
	for (CUgraphNode node = first; node; node = node->next)
		for (int i = 0; i < 2; i++) {
			CUgraph inner = node->inner[i];

			if (!inner)
				continue;
			graph__tell(RESOURCE_GRAPH_DESTROY, (struct graph_data){.graph = inner});
			node->inner[i] = NULL;
			node->own[i] = inner->first;
			for (CUgraphNode own = inner->first; own; own = own->next) {
				own->id = (uint64_t)exec->id << 32 | exec->nodes++;
				own->launch.of_body = of_body || node->condition;
			}
			inner->magic = 0;
			object__free(inner);
			end_inner(exec, node->own[i], of_body || node->condition);
		}
}

void graph__adopt_inner(CUgraph exec)
{
	uint32_t before = exec->nodes;

	end_inner(exec, exec->first, false);
	/* The driver's own. */
	if (exec->nodes != before)
		graph__tell(RESOURCE_NODE_CREATED,
			    (struct graph_data){.graph = exec, .node = graph__append(exec)});
}

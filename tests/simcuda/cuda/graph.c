// SPDX-License-Identifier: BSD-2-Clause
// Graphs: nodes run one after the other in the order in which they were added, which every set of
// dependencies allows that only points backwards. A launch gives each node's record the launch's
// correlation id, or one record of the whole graph when graphs are traced as wholes.
#include <signal.h>
#include <string.h>
#include <time.h>
#include "tests/simcuda/cuda/driver.h"
#include "tests/simcuda/cuda/graph.h"

static _Atomic uint32_t last_id;

void graph__tell(uint32_t cbid, struct graph_data data)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	CUgraphNode node = data.node;

	if (!hooks)
		return;
	data.node_type = !node || node->kind == KIND_KERNEL ? 0
			 : node->kind == KIND_MEMSET	    ? 2
			 : node->kind			    ? 1
							    : 5;
	hooks->resource(cbid, context__peek(), NULL, &data);
}

bool graph__valid(CUgraph graph)
{
	return graph && graph->magic == MAGIC_GRAPH;
}

CUgraph graph__new(void)
{
	CUgraph graph = object__new(sizeof(*graph));

	graph->magic = MAGIC_GRAPH;
	graph->id = atomic_fetch_add(&last_id, 1) + 1;
	graph->last = &graph->first;
	graph__tell(RESOURCE_GRAPH_CREATED, (struct graph_data){.graph = graph});
	return graph;
}

static void graph__free(CUgraph graph);

static void free_nodes(CUgraphNode first)
{
	while (first) {
		CUgraphNode node = first;

		first = node->next;
		for (int i = 0; i < 2; i++) {
			if (node->inner[i])
				graph__free(node->inner[i]);
			free_nodes(node->own[i]);
		}
		node->magic = 0;
		object__free(node);
	}
}

static void graph__free(CUgraph graph)
{
	graph__tell(RESOURCE_GRAPH_DESTROY, (struct graph_data){.graph = graph});
	free_nodes(graph->first);
	graph->magic = 0;
	object__free(graph);
}

CUgraphNode graph__append(CUgraph graph)
{
	CUgraphNode node = object__new(sizeof(*node));

	node->magic = MAGIC_NODE;
	node->id = (uint64_t)graph->id << 32 | graph->nodes++;
	*graph->last = node;
	graph->last = &node->next;
	return node;
}

void node__keep_parameters(CUgraphNode node)
{
	const struct kernel *kernel = node->launch.function->kernel;
	void **parameters = node->launch.parameters;
	unsigned int count = kernel ? kernel->parameters : 0;

	if (parameters && launch__is_collective(&node->launch))
		count = 1;
	if (!parameters || !count)
		return;
	for (unsigned int i = 0; i < count; i++) {
		memcpy(&node->values[i], parameters[i], kernel ? kernel->sizes[i] : sizeof(void *));
		node->parameters[i] = &node->values[i];
	}
	node->launch.parameters = node->parameters;
}

CUresult graph__add_kernel(CUgraph graph, const struct launch *launch, CUgraphNode *handle)
{
	CUgraphNode node = graph__append(graph);

	node->kind = KIND_KERNEL;
	node->launch = *launch;
	node__keep_parameters(node);
	if (handle)
		*handle = node;
	graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = graph, .node = node});
	return CUDA_SUCCESS;
}

CUresult graph__add_copy(CUgraph graph, const struct simcuda_record *record, void *target,
			 const void *source, CUgraphNode *handle)
{
	CUgraphNode node = graph__append(graph);

	node->kind = record->kind;
	node->record = *record;
	node->target = target;
	node->source = source;
	if (handle)
		*handle = node;
	graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = graph, .node = node});
	return CUDA_SUCCESS;
}

CUresult graph__add_set(CUgraph graph, const struct simcuda_record *record, void *target,
			size_t element, CUgraphNode *handle)
{
	graph__add_copy(graph, record, target, NULL, handle);
	((CUgraphNode)((char *)graph->last - offsetof(struct CUgraphNode_st, next)))->element =
		element;
	return CUDA_SUCCESS;
}

uint64_t graph__node_id(CUgraphNode node)
{
	return node && node->magic == MAGIC_NODE ? node->id : 0;
}

uint32_t graph__id(CUgraph graph)
{
	return graph__valid(graph) ? graph->id : 0;
}

uint32_t graph__exec_id(CUgraphExec exec)
{
	return exec && exec->magic == MAGIC_EXEC ? exec->graph->id : 0;
}

CUresult sim_cuGraphCreate(CUgraph *handle, unsigned int flags)
{
	if (!handle || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*handle = graph__new();
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroy(CUgraph graph)
{
	if (!graph__valid(graph))
		return CUDA_ERROR_INVALID_VALUE;
	graph__free(graph);
	return CUDA_SUCCESS;
}

CUresult graph__launch_of(const CUDA_KERNEL_NODE_PARAMS *p, struct launch *launch)
{
	*launch = (struct launch){.function = p->func ? p->func : (CUfunction)p->kern,
				  .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
				  .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
				  .shared = p->sharedMemBytes,
				  .parameters = p->kernelParams};
	return launch__check(launch);
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph,
				     const CUgraphNode *dependencies, size_t count,
				     const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct launch launch;
	CUresult result;

	if (!node || !graph__valid(graph) || !p)
		return CUDA_ERROR_INVALID_VALUE;
	result = graph__launch_of(p, &launch);
	return result ? result : graph__add_kernel(graph, &launch, node);
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
				  size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
	struct simcuda_record record = {.kind = KIND_MEMSET};
	uint32_t device = 0;

	if (!node || !graph__valid(graph) || !p || p->height != 1)
		return CUDA_ERROR_INVALID_VALUE;
	record.set.bytes = p->width * p->elementSize;
	record.set.value = p->value;
	record.set.memory = memory__kind(p->dst, &device);
	return graph__add_set(graph, &record, (void *)(uintptr_t)p->dst, p->elementSize, node);
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
				 size_t count)
{
	if (!node || !graph__valid(graph))
		return CUDA_ERROR_INVALID_VALUE;
	*node = graph__append(graph);
	graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = graph, .node = *node});
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	size_t i = 0;

	if (!graph__valid(graph) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (CUgraphNode node = graph->first; nodes && node && i < *count; node = node->next)
		nodes[i++] = node;
	*count = nodes ? i : graph->nodes;
	return CUDA_SUCCESS;
}

static CUgraph graph__copy(CUgraph graph);

static void graph__copy_nodes(CUgraph copy, CUgraph graph)
{
	for (CUgraphNode node = graph->first; node; node = node->next) {
		CUgraphNode own = graph__append(copy), next = own->next;
		uint64_t id = own->id;

		*own = *node;
		own->id = id;
		own->next = next;
		if (own->kind == KIND_KERNEL)
			node__keep_parameters(own);
		/* What is in a child graph, or in a body, is reported before the node that it is.
		 */
		for (int i = 0; i < 2; i++)
			if (own->inner[i])
				own->inner[i] = graph__copy(node->inner[i]);
		graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = copy, .node = own});
		graph__tell(RESOURCE_NODE_CLONED, (struct graph_data){.graph = copy,
								      .original_graph = graph,
								      .node = own,
								      .original_node = node});
	}
}

static CUgraph graph__copy(CUgraph graph)
{
	CUgraph copy = graph__new();

	graph__copy_nodes(copy, graph);
	return copy;
}

CUresult sim_cuGraphClone(CUgraph *clone, CUgraph graph)
{
	if (!clone || !graph__valid(graph))
		return CUDA_ERROR_INVALID_VALUE;
	*clone = graph__copy(graph);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
				      const CUgraphNode *dependencies, size_t count, CUgraph child)
{
	if (!node || !graph__valid(graph) || !graph__valid(child))
		return CUDA_ERROR_INVALID_VALUE;
	*node = graph__append(graph);
	(*node)->inner[0] = graph__copy(child);
	graph__tell(RESOURCE_NODE_CREATED, (struct graph_data){.graph = graph, .node = *node});
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph graph,
					 unsigned long long flags)
{
	CUgraphExec exec;

	if (!handle || !graph__valid(graph))
		return CUDA_ERROR_INVALID_VALUE;
	exec = object__new(sizeof(*exec));
	exec->magic = MAGIC_EXEC;
	exec->graph = graph__new();
	exec->traced = record__wanted(KIND_GRAPH);
	graph__copy_nodes(exec->graph, graph);
	graph__tell(RESOURCE_EXEC_CREATE, (struct graph_data){.graph = graph});
	graph__adopt_inner(exec->graph);
	graph__tell(
		RESOURCE_EXEC_CREATED,
		(struct graph_data){.graph = exec->graph, .original_graph = graph, .exec = exec});
	*handle = exec;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecDestroy(CUgraphExec exec)
{
	if (!exec || exec->magic != MAGIC_EXEC)
		return CUDA_ERROR_INVALID_VALUE;
	graph__tell(RESOURCE_EXEC_DESTROY, (struct graph_data){.graph = exec->graph, .exec = exec});
	graph__free(exec->graph);
	exec->magic = 0;
	object__free(exec);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	return exec && exec->magic == MAGIC_EXEC ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void node__run(CUgraphNode node, CUstream stream, uint32_t graph);

static void run_inner(CUgraphNode node, CUstream stream, uint32_t graph)
{
	const struct condition *condition = node->condition;
	unsigned int times = condition && condition->is_loop ? condition->value : 1;
	int which = condition && !condition->is_loop && !condition->value;

	for (unsigned int i = 0; i < times; i++)
		for (CUgraphNode inner = node->own[which]; inner; inner = inner->next)
			node__run(inner, stream, graph);
}

static void node__run(CUgraphNode node, CUstream stream, uint32_t graph)
{
	struct simcuda_record record = node->record;

	if (node->own[0] || node->condition) {
		run_inner(node, stream, graph);
		return;
	}
	if (node->kind == KIND_KERNEL) {
		launch__push(stream, &node->launch, graph, node->id);
		return;
	}
	if (!node->kind)
		return;
	record__place(&record, record__wanted(KIND_GRAPH) ? 0 : node->kind, stream);
	record.graph = graph;
	record.graph_node = node->id;
	if (node->kind == KIND_MEMSET)
		copy__fill(node->target, record.set.value, node->element,
			   record.set.bytes / node->element);
	else
		memmove(node->target, node->source, record.copy.bytes);
	stream__push(stream, copy__duration(record.copy.bytes), &record);
}

/* What CUPTI does to programs. */
static CUresult graph__harm(CUgraphExec exec)
{
	static _Atomic uint64_t timed;
	uint64_t limit = settings__get()->graph_fault;

	if (record__wanted(KIND_GRAPH) && !exec->traced)
		raise(SIGSEGV);
	if (limit && record__wanted(KIND_KERNEL) && !record__wanted(KIND_GRAPH))
		atomic_fetch_add(&timed, 1);
	return limit && atomic_load(&timed) >= limit ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

static CUresult graph__launch(CUgraphExec exec, CUstream handle)
{
	struct simcuda_record whole = {0};
	uint64_t start;
	CUgraphNode child;
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!exec || exec->magic != MAGIC_EXEC)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return sim_cuGraphAddChildGraphNode(&child, stream->capture, NULL, 0, exec->graph);
	result = launch__fails() ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : graph__harm(exec);
	if (result)
		return result;
	start = clock__now() + settings__get()->latency_ns;
	pthread_mutex_lock(&stream->lock);
	whole.start = stream->end > start ? stream->end : start;
	pthread_mutex_unlock(&stream->lock);
	for (CUgraphNode node = exec->graph->first; node; node = node->next)
		node__run(node, stream, exec->graph->id);
	record__place(&whole, KIND_GRAPH, stream);
	whole.graph = exec->graph->id;
	pthread_mutex_lock(&stream->lock);
	whole.end = stream->end > whole.start ? stream->end : whole.start;
	pthread_mutex_unlock(&stream->lock);
	if (record__wanted(KIND_GRAPH))
		record__send(&whole);
	return CUDA_SUCCESS;
}

/* CUPTI takes it while it switches, and is called with it held: SIMCUDA_INVERSION_MS. */
static pthread_mutex_t launch_lock = PTHREAD_MUTEX_INITIALIZER;

void graph__wait_lock(void)
{
	pthread_mutex_lock(&launch_lock);
	pthread_mutex_unlock(&launch_lock);
}

CUresult sim_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	uint64_t ms = settings__get()->graph_ms;
	struct timespec slow = {ms / 1000, ms % 1000 * 1000000};
	bool locks = ms || (hooks && hooks->graph);
	CUresult result;

	starving__enter();
	if (locks)
		pthread_mutex_lock(&launch_lock);
	if (ms)
		nanosleep(&slow, NULL);
	hooks = atomic_load(&simcuda_bridge.hooks); /* they may have come meanwhile */
	if (hooks && hooks->graph && locks)
		hooks->graph();
	result = graph__launch(exec, stream);
	if (locks)
		pthread_mutex_unlock(&launch_lock);
	starving__leave();
	return result;
}

CUresult sim_cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	return sim_cuGraphLaunch(exec, stream ? stream : CU_STREAM_PER_THREAD);
}

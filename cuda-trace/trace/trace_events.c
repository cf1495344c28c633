// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of `trace` for copies, memory, waits, graphs, calls, unified memory, NVTX, overhead and
 * objects. Called for each record that is to be shown; the tool's one thread.
 */
#include "cuda-trace/trace/trace_columns.h"

#include <inttypes.h>
#include <string.h>
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/base/result_names.h"
#include "cuda-trace/base/event_keys.h"
#include "cuda-trace/base/payload_parts.h"

/* Everything is text of our own but for names, which the writer escapes. */
#define what(text, ...) snprintf((text)->what, sizeof((text)->what), __VA_ARGS__)

static void fill_gpu(struct cell *cells, uint64_t start, uint64_t end, bool json)
{
	cells[TIMESTAMP] = cell_clock(start);
	cells[GPU_START] = json ? cell_number(start) : cell_clock(start);
	cells[GPU_END] = json ? cell_number(end) : cell_clock(end);
	cells[GPU] = cell_ns(end > start ? end - start : 0);
}

static void fill_place(struct cell *cells, uint32_t device, uint32_t context, uint32_t stream)
{
	cells[DEVICE] = cell_number(device);
	cells[CONTEXT] = cell_number(context);
	cells[STREAM] = cell_number(stream);
}

static void fill_node(struct cell *cells, uint32_t graph, uint64_t node)
{
	if (graph)
		cells[GRAPH] = cell_number(graph);
	if (node)
		cells[GRAPH_NODE] = cell_number(node);
}

const char *trace_events__result(int32_t result, const char *name, bool json)
{
	static const char *const beginnings[] = {"CUDA_ERROR_", "cudaError"};

	if (!result)
		return "ok";
	for (int i = 0; name && !json && i < 2; i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return name + strlen(beginnings[i]);
	return name ? name : "unknown";
}

static void fill_result(struct cell *cells, int domain, int32_t result, bool json)
{
	const char *name = result_names__name(domain, result);

	cells[RESULT_CODE] = cell_signed(result);
	cells[RESULT] = cell_text(trace_events__result(result, name, json));
}

/* Seen at the driver: only the call is timed. */
static void fill_driver_memcpy(struct cell *cells, struct trace_text *text,
			       const struct cuda_memcpy *copy)
{
	cells[EVENT] = cell_text("memcpy");
	cells[TIMESTAMP] = cell_clock(copy->start);
	cells[LAUNCH_START] = cell_number(copy->start);
	cells[LAUNCH] = cell_ns(copy->end > copy->start ? copy->end - copy->start : 0);
	cells[DIRECTION] = cell_text(stat_events__copy_key(copy->copy_kind));
	cells[BYTES] = cell_number(copy->bytes);
	cells[COPIES] = cell_number(copy->copies);
	what(text, "[memcpy %s] %" PRIu64 " bytes", stat_events__copy_key(copy->copy_kind),
	     (uint64_t)copy->bytes);
}

static void fill_memcpy(struct cell *cells, struct trace_text *text, const struct cuda_memcpy *copy,
			bool json)
{
	uint64_t ns = copy->end > copy->start ? copy->end - copy->start : 0;
	const char *from = stat_events__memory_key(copy->src_kind);
	const char *to = stat_events__memory_key(copy->dst_kind);

	cells[EVENT] = cell_text("memcpy");
	fill_gpu(cells, copy->start, copy->end, json);
	fill_place(cells, copy->device, copy->context, copy->stream);
	fill_node(cells, copy->graph, copy->graph_node);
	cells[DIRECTION] = cell_text(stat_events__copy_key(copy->copy_kind));
	cells[FROM] = cell_text(from);
	cells[TO] = cell_text(to);
	cells[BYTES] = cell_number(copy->bytes);
	cells[COPIES] = cell_number(copy->copies ? copy->copies : 1);
	if (ns)
		cells[RATE] = cell_number((uint64_t)(copy->bytes * 1e9 / ns));
	cells[ASYNCHRONOUS] = cell_bool(copy->flags & 1);
	if (copy->copy_kind == 10) {
		cells[FROM_DEVICE] = cell_number(copy->src_device);
		cells[TO_DEVICE] = cell_number(copy->dst_device);
	}
	what(text, "[memcpy %s] %s to %s, %" PRIu64 " bytes, %.2f GB/s",
	     stat_events__copy_key(copy->copy_kind), from, to, (uint64_t)copy->bytes,
	     ns ? (double)copy->bytes / ns : 0);
}

static void fill_memset(struct cell *cells, struct trace_text *text, const struct cuda_memset *set,
			bool json)
{
	cells[EVENT] = cell_text("memset");
	fill_gpu(cells, set->start, set->end, json);
	fill_place(cells, set->device, set->context, set->stream);
	fill_node(cells, set->graph, set->graph_node);
	cells[TO] = cell_text(stat_events__memory_key(set->memory_kind));
	cells[BYTES] = cell_number(set->bytes);
	cells[VALUE] = cell_number(set->value);
	cells[ASYNCHRONOUS] = cell_bool(set->flags & 1);
	what(text, "[memset] %s, %" PRIu64 " bytes to 0x%x",
	     stat_events__memory_key(set->memory_kind), (uint64_t)set->bytes, set->value);
}

static void fill_memory(struct cell *cells, struct trace_text *text,
			const struct cuda_memory *memory)
{
	/* Variables that come and go with a module were allocated by nobody. */
	const char *event = memory->kind >= 6	     ? "static"
			    : memory->operation == 2 ? "free"
						     : "alloc";

	cells[EVENT] = cell_text(event);
	cells[TIMESTAMP] = cell_clock(memory->time);
	cells[DEVICE] = cell_number(memory->device);
	cells[CONTEXT] = cell_number(memory->context);
	if (memory->asynchronous)
		cells[STREAM] = cell_number(memory->stream);
	cells[BYTES] = cell_number(memory->bytes);
	snprintf(text->number, sizeof(text->number), "0x%" PRIx64, (uint64_t)memory->address);
	cells[ADDRESS] = cell_text(text->number);
	cells[KIND] = cell_text(stat_events__memory_key(memory->kind));
	cells[ASYNCHRONOUS] = cell_bool(memory->asynchronous);
	what(text, "[%s] %s, %" PRIu64 " bytes at 0x%" PRIx64 "%s", event,
	     stat_events__memory_key(memory->kind), (uint64_t)memory->bytes,
	     (uint64_t)memory->address, memory->pool ? ", of a pool" : "");
}

static void fill_pool(struct cell *cells, struct trace_text *text,
		      const struct cuda_memory_pool *pool)
{
	static const char *const operations[] = {"unknown", "created", "destroyed", "trimmed"};
	const char *operation = operations[pool->operation < 4 ? pool->operation : 0];
	const char *kind = pool->type == 2 ? "imported" : "local";

	cells[EVENT] = cell_text("pool");
	cells[TIMESTAMP] = cell_clock(pool->time);
	cells[DEVICE] = cell_number(pool->device);
	snprintf(text->number, sizeof(text->number), "0x%" PRIx64, (uint64_t)pool->address);
	cells[ADDRESS] = cell_text(text->number);
	cells[OPERATION] = cell_text(operation);
	cells[KIND] = cell_text(kind);
	cells[BYTES] = cell_number(pool->size);
	cells[USED] = cell_number(pool->used);
	if (pool->operation == 3)
		cells[KEPT] = cell_number(pool->keep);
	what(text, "[pool %s] %s, %" PRIu64 " bytes at 0x%" PRIx64, operation, kind,
	     (uint64_t)pool->size, (uint64_t)pool->address);
}

static void fill_sync(struct cell *cells, struct trace_text *text, const struct cuda_sync *sync,
		      bool json)
{
	const char *kind = stat_events__sync_key(sync->type < STAT_SYNC_TYPES ? sync->type : 0);

	cells[EVENT] = cell_text("sync");
	cells[TIMESTAMP] = cell_clock(sync->start);
	cells[LAUNCH_START] = cell_number(sync->start);
	cells[LAUNCH] = cell_ns(sync->end > sync->start ? sync->end - sync->start : 0);
	cells[CONTEXT] = cell_number(sync->context);
	if (sync->stream != UINT32_MAX)
		cells[STREAM] = cell_number(sync->stream);
	cells[KIND] = cell_text(kind);
	fill_result(cells, CUDA_DOMAIN_DRIVER, sync->result, json);
	what(text, sync->type == 2 ? "[%s]" : "[wait] for %s", kind);
}

static void fill_graph(struct cell *cells, struct trace_text *text, const struct cuda_graph *graph,
		       bool json)
{
	cells[EVENT] = cell_text("graph");
	fill_gpu(cells, graph->start, graph->end, json);
	fill_place(cells, graph->device, graph->context, graph->stream);
	cells[GRAPH] = cell_number(graph->graph);
	what(text, "[graph %u]", graph->graph);
}

/* In JSON only: each node of a graph would be up to three lines of text. */
static void fill_graph_node(struct cell *cells, const struct cuda_graph_node *node)
{
	cells[EVENT] = cell_text("graph_node");
	cells[TIMESTAMP] = cell_clock(node->start);
	cells[TID] = cell_number(node->tid);
	cells[LAUNCH_START] = cell_number(node->start);
	fill_node(cells, node->graph, node->node);
	if (node->original)
		cells[ORIGINAL_NODE] = cell_number(node->original);
}

static void fill_launch_arguments(struct cell *cells, const struct cuda_api *call)
{
	if (!call_arguments__has_grid(call))
		return;
	cells[GRID] = cell_triple(call->arguments.launch.grid);
	cells[BLOCK] = cell_triple(call->arguments.launch.block);
	cells[DYNAMIC_SHARED] = cell_number(call->arguments.launch.dynamic_shared);
}

/* Of a call that failed: its arguments. */
static void fill_arguments(struct cell *cells, struct trace_text *text, const struct cuda_api *call)
{
	if (call->flags & CUDA_API_LAUNCH) {
		fill_launch_arguments(cells, call);
		return;
	}
	if (call->flags & CUDA_API_BYTES)
		cells[BYTES] = cell_number(call->arguments.call.bytes);
	if (call->flags & CUDA_API_COPY_KIND)
		cells[DIRECTION] = cell_text(stat_events__copy_key(call->arguments.call.copy_kind));
	if (call->flags & CUDA_API_VALUE)
		cells[VALUE] = cell_number(call->arguments.call.value);
	if (call->flags & CUDA_API_DEVICE)
		cells[DEVICE] = cell_signed((int32_t)call->arguments.call.device);
	if (call->flags & CUDA_API_ADDRESS) {
		snprintf(text->number, sizeof(text->number), "0x%" PRIx64,
			 (uint64_t)call->arguments.call.address);
		cells[ADDRESS] = cell_text(text->number);
	}
}

static void fill_call(struct cell *cells, struct trace_text *text, struct process *process,
		      const struct cuda_api *call, bool json)
{
	const char *name = process__name(process, call->name), *kernel = "";
	bool instantiates = call->head.kind == CUDA_RECORD_GRAPH_INSTANTIATE;
	char arguments[256];

	if (call->flags & CUDA_API_LAUNCH && call->arguments.launch.kernel)
		kernel = process__pretty_name(process, call->arguments.launch.kernel);
	cells[EVENT] = cell_text(instantiates				  ? "graph_instantiate"
				 : process->group == CUDA_GROUP_API_ERROR ? "error"
									  : "api");
	cells[TIMESTAMP] = cell_clock(call->start);
	cells[TID] = cell_number(call->tid);
	cells[CONTEXT] = cell_number(call->context);
	cells[LAUNCH_START] = cell_number(call->start);
	cells[LAUNCH] = cell_ns(call->end > call->start ? call->end - call->start : 0);
	cells[CALL] = cell_text(name ? name : "[unknown call]");
	cells[DOMAIN] = cell_text(call->domain == CUDA_DOMAIN_RUNTIME ? "runtime" : "driver");
	fill_result(cells, call->domain, call->result, json);
	fill_arguments(cells, text, call);
	if (*kernel)
		cells[KERNEL] = cell_text(kernel);
	call_arguments__text(arguments, sizeof(arguments), call, kernel);
	what(text, "[%s] %s%s%s",
	     call->result   ? "failed"
	     : instantiates ? "graph instantiation"
			    : "call",
	     name ? name : "[unknown call]", *arguments ? ": " : "", arguments);
}

static void fill_uvm(struct cell *cells, struct trace_text *text, const struct cuda_uvm *uvm)
{
	const char *kind =
		stat_events__uvm_key(uvm->counter < STAT_UVM_COUNTERS ? uvm->counter : 0);

	cells[EVENT] = cell_text("unified");
	cells[TIMESTAMP] = cell_clock(uvm->start);
	if (uvm->end > uvm->start)
		cells[GPU] = cell_ns(uvm->end - uvm->start);
	cells[KIND] = cell_text(kind);
	cells[VALUE] = cell_number(uvm->value);
	snprintf(text->number, sizeof(text->number), "0x%" PRIx64, (uint64_t)uvm->address);
	cells[ADDRESS] = cell_text(text->number);
	what(text, "[unified memory] %s %" PRIu64 " at 0x%" PRIx64, kind, (uint64_t)uvm->value,
	     (uint64_t)uvm->address);
}

/* `out`: the same as text, "" = none. */
static void fill_payload(struct cell *cells, struct trace_text *text, const struct process *process,
			 const struct cuda_nvtx *nvtx, char out[200])
{
	int64_t whole;
	double real;

	*out = 0;
	if (nvtx->payload_kind == CUDA_NVTX_SCHEMA) {
		text->payload = payload_parts__json(process->payloads, process->names, nvtx);
		cells[PAYLOAD] = cell_json(text->payload ? text->payload : "null");
		snprintf(out, 200, "%.199s", text->payload ? text->payload : "[incomplete]");
	} else if (payload_parts__is_real(nvtx, &real)) {
		cells[PAYLOAD] = cell_real(real);
		snprintf(out, 200, "%g", real);
	} else if (payload_parts__is_whole(nvtx, &whole)) {
		cells[PAYLOAD] = cell_signed(whole);
		snprintf(out, 200, "%" PRId64, whole);
	} else if (nvtx->payload_kind) {
		cells[PAYLOAD] = cell_number(nvtx->payload);
		snprintf(out, 200, "%" PRIu64, (uint64_t)nvtx->payload);
	}
}

static void fill_nvtx(struct cell *cells, struct trace_text *text, struct process *process,
		      const struct cuda_nvtx *nvtx)
{
	const char *name = process__name(process, nvtx->text);
	const char *domain = process__name(process, nvtx->domain);
	const char *category = process__name(process, nvtx->category_name);
	char payload[200];

	cells[EVENT] = cell_text(nvtx->kind == 1 ? "mark" : "range");
	cells[TIMESTAMP] = cell_clock(nvtx->start);
	cells[TID] = cell_number(nvtx->start_tid ? nvtx->start_tid : nvtx->tid);
	if (nvtx->kind == 3 && nvtx->start_tid)
		cells[END_TID] = cell_number(nvtx->tid);
	if (nvtx->kind != 1) {
		cells[LAUNCH_START] = cell_number(nvtx->start);
		cells[LAUNCH] = cell_ns(nvtx->end > nvtx->start ? nvtx->end - nvtx->start : 0);
	}
	cells[NAME] = cell_text(name ? name : "");
	cells[DOMAIN] = cell_text(domain ? domain : "");
	if (nvtx->color) {
		snprintf(text->number, sizeof(text->number), "#%08x", nvtx->color);
		cells[COLOR] = cell_text(text->number);
	}
	if (nvtx->category)
		cells[CATEGORY] = cell_number(nvtx->category);
	if (category)
		cells[CATEGORY_NAME] = cell_text(category);
	fill_payload(cells, text, process, nvtx, payload);
	/* What identifies comes first: the end of a long line is cut. */
	what(text, "[%s] %.200s%s%.60s%s%s%s%.40s%s%s", nvtx->kind == 1 ? "mark" : "range",
	     name ? name : "", domain ? ", domain " : "", domain ? domain : "",
	     nvtx->color ? ", " : "", nvtx->color ? text->number : "",
	     category ? ", category " : "", category ? category : "", *payload ? ", payload " : "",
	     payload);
}

static void fill_overhead(struct cell *cells, struct trace_text *text,
			  const struct cuda_overhead *overhead)
{
	const char *kind = stat_events__overhead_key(stat_events__overhead_index(overhead->kind));

	cells[EVENT] = cell_text("overhead");
	cells[TIMESTAMP] = cell_clock(overhead->start);
	cells[LAUNCH_START] = cell_number(overhead->start);
	cells[LAUNCH] =
		cell_ns(overhead->end > overhead->start ? overhead->end - overhead->start : 0);
	if (overhead->object_kind == 2)
		cells[TID] = cell_number(overhead->object[1]);
	cells[KIND] = cell_text(kind);
	what(text, "[overhead] %s", kind);
}

static void fill_jit(struct cell *cells, struct trace_text *text, const struct cuda_jit *jit)
{
	const char *kind =
		stat_events__jit_key(jit->operation < STAT_JIT_KINDS ? jit->operation : 0);

	cells[EVENT] = cell_text("jit");
	cells[TIMESTAMP] = cell_clock(jit->start);
	cells[LAUNCH_START] = cell_number(jit->start);
	cells[LAUNCH] = cell_ns(jit->end > jit->start ? jit->end - jit->start : 0);
	cells[DEVICE] = cell_number(jit->device);
	if (jit->tid)
		cells[TID] = cell_number(jit->tid);
	cells[KIND] = cell_text(kind);
	what(text, "[jit] %s", kind);
}

static void fill_device(struct cell *cells, struct trace_text *text, struct process *process,
			const struct cuda_device *device)
{
	const char *name = process__name(process, device->name);

	stat_objects__uuid(text->uuid, "GPU", device->uuid);
	snprintf(text->capability, sizeof(text->capability), "%u.%u", device->major % 1000,
		 device->minor % 1000);
	snprintf(text->number, sizeof(text->number), "%.16s", device->pci);
	cells[EVENT] = cell_text("device");
	cells[DEVICE] = cell_number(device->device);
	cells[NAME] = cell_text(name ? name : "");
	cells[UUID] = cell_text(text->uuid);
	cells[PCI] = cell_text(text->number);
	cells[CAPABILITY] = cell_text(text->capability);
	cells[MEMORY] = cell_number(device->memory);
	what(text, "[device] %.200s, %s, compute capability %s, %s", name ? name : "", text->uuid,
	     text->capability, text->number);
}

static void fill_context(struct cell *cells, struct trace_text *text,
			 const struct cuda_context *context)
{
	cells[EVENT] = cell_text("context");
	cells[DEVICE] = cell_number(context->device);
	cells[CONTEXT] = cell_number(context->context);
	cells[KIND] = cell_text(context->green ? "green" : "context");
	if (context->green)
		cells[PARENT] = cell_number(context->parent);
	what(text, "[%scontext %u]", context->green ? "green " : "", context->context);
}

static void fill_stream(struct cell *cells, struct trace_text *text,
			const struct cuda_stream *stream)
{
	cells[EVENT] = cell_text("stream");
	cells[CONTEXT] = cell_number(stream->context);
	cells[STREAM] = cell_number(stream->stream);
	cells[KIND] = cell_text(stat_objects__stream_key(stream->flag));
	cells[PRIORITY] = cell_signed(stream->priority);
	what(text, "[stream %u] priority %d", stream->stream, stream->priority);
}

static bool fill_object(struct cell *cells, struct trace_text *text, struct process *process,
			const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_DEVICE:
		fill_device(cells, text, process, (const void *)record);
		return true;
	case CUDA_RECORD_CONTEXT:
		fill_context(cells, text, (const void *)record);
		return true;
	case CUDA_RECORD_STREAM:
		fill_stream(cells, text, (const void *)record);
		return true;
	default:
		return false;
	}
}

static bool fill_known(struct cell *cells, struct trace_text *text, struct process *process,
		       const struct cuda_record *record, bool json)
{
	switch (record->kind) {
	case CUDA_RECORD_MEMCPY:
		if (process->source == EVENT_SOURCE_DRIVER)
			fill_driver_memcpy(cells, text, (const void *)record);
		else
			fill_memcpy(cells, text, (const void *)record, json);
		return true;
	case CUDA_RECORD_MEMSET:
		fill_memset(cells, text, (const void *)record, json);
		return true;
	case CUDA_RECORD_MEMORY:
		fill_memory(cells, text, (const void *)record);
		return true;
	case CUDA_RECORD_MEMORY_POOL:
		fill_pool(cells, text, (const void *)record);
		return true;
	case CUDA_RECORD_SYNC:
		fill_sync(cells, text, (const void *)record, json);
		return true;
	case CUDA_RECORD_GRAPH:
		fill_graph(cells, text, (const void *)record, json);
		return true;
	case CUDA_RECORD_GRAPH_NODE:
		fill_graph_node(cells, (const void *)record);
		return json;
	case CUDA_RECORD_API:
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		fill_call(cells, text, process, (const void *)record, json);
		return true;
	case CUDA_RECORD_UVM:
		fill_uvm(cells, text, (const void *)record);
		return true;
	case CUDA_RECORD_NVTX_PAYLOAD:
		payload_parts__add(&process->payloads, (const void *)record);
		return false;
	case CUDA_RECORD_NVTX:
		fill_nvtx(cells, text, process, (const void *)record);
		return true;
	case CUDA_RECORD_OVERHEAD:
		fill_overhead(cells, text, (const void *)record);
		return true;
	case CUDA_RECORD_JIT:
		fill_jit(cells, text, (const void *)record);
		return true;
	default:
		return fill_object(cells, text, process, record);
	}
}

bool trace_events__fill(struct cell *cells, struct trace_text *text, struct process *process,
			const struct cuda_record *record, bool json)
{
	if (!fill_known(cells, text, process, record, json))
		return false;
	if (record->correlation)
		cells[CORRELATION] = cell_number(record->correlation);
	if (!json)
		cells[KERNEL] = cell_text(text->what);
	return true;
}

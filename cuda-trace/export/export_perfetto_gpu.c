// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perfetto's slices of the GPUs: kernels, copies, fills and whole graphs, each stream a hardware
 * queue, and the counters of report --device.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/export/export_perfetto.h"
#include "cuda-trace/report/report_device_samples.h"

#define API_CUDA    4
#define MAX_WORK    (8u << 20) /* whose launches are linked: 192 MiB */
#define FIRST_QUEUE 16	       /* interned ids; those before are of stages */

enum stage { KERNEL, COPY, FILL, GRAPH, STAGES };
enum argument { REGISTERS, STATIC_SHARED, DYNAMIC_SHARED, ARGUMENTS };

enum column {
	GLOBAL,
	DEVICE,
	STREAM,
	START,
	END,
	CONTEXT,
	CORRELATION,
	STAGE,
	NAME,
	GRID,
	BLOCK = GRID + 3,
	ARGUMENT = BLOCK + 3,
	NODE = ARGUMENT + ARGUMENTS,
	BYTES,
	KIND,
};

/* The stream that rows are of at present: they come by process, GPU, stream and start. */
struct queue {
	int64_t global, device, stream, context;
	bool open;
	int gpu;
	uint64_t first; /* interned id of its first lane; the next free one is in `next` */
	uint64_t next;
	uint64_t ids[PERFETTO_LANES];
	struct perfetto_lanes lanes;
	uint64_t events;
};

static void put_stages(struct perfetto *perfetto)
{
	static const char *const names[STAGES] = {"Kernel", "Copy", "Fill", "Graph"};
	static const char *const arguments[ARGUMENTS] = {"registers_per_thread",
							 "shared_mem_static", "shared_mem_dynamic"};
	Perfetto__InternedGpuRenderStageSpecification stages[STAGES];
	Perfetto__InternedGpuRenderStageSpecification *stage_list[STAGES];
	Perfetto__InternedName named[ARGUMENTS], *name_list[ARGUMENTS];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (int i = 0; i < STAGES; i++) {
		stage_list[i] = &stages[i];
		perfetto__interned_gpu_render_stage_specification__init(&stages[i]);
		stages[i].has_iid = stages[i].has_category = true;
		stages[i].iid = i + 1;
		stages[i].name = (char *)names[i];
		stages[i].category = i == KERNEL || i == GRAPH ? 2 : 0;
	}
	for (int i = 0; i < ARGUMENTS; i++) {
		name_list[i] = &named[i];
		perfetto__interned_name__init(&named[i]);
		named[i].has_iid = true;
		named[i].iid = i + 1;
		named[i].name = (char *)arguments[i];
	}
	data.n_gpu_specifications = STAGES;
	data.gpu_specifications = stage_list;
	data.n_compute_arg_names = ARGUMENTS;
	data.compute_arg_names = name_list;
	perfetto__intern(perfetto, &data);
}

/* The kernel, and the name of its slices. */
static void put_kernel_name(struct perfetto *perfetto, sqlite3_stmt *row, void *unused)
{
	Perfetto__InternedComputeKernel kernel = PERFETTO__INTERNED_COMPUTE_KERNEL__INIT;
	Perfetto__InternedComputeKernel *kernels = &kernel;
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT, *names = &name;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	int64_t demangled = sqlite3_column_int64(row, 0);

	(void)unused;
	kernel.has_iid = name.has_iid = true;
	kernel.iid = name.iid = perfetto__name(demangled);
	kernel.demangled_name = (char *)export_names__string(perfetto->names, demangled);
	kernel.name = (char *)export_names__string(perfetto->names, sqlite3_column_int64(row, 1));
	name.name = kernel.demangled_name;
	data.n_compute_kernels = data.n_event_names = 1;
	data.compute_kernels = &kernels;
	data.event_names = &names;
	perfetto__intern(perfetto, &data);
}

static uint64_t context_id(struct perfetto *perfetto, const struct queue *queue)
{
	return (export_names__process_index(perfetto->names, queue->global) + 1) << 32 |
	       (queue->context & 0xffffffff);
}

static void put_context(struct perfetto *perfetto, const struct queue *queue)
{
	Perfetto__InternedGraphicsContext context = PERFETTO__INTERNED_GRAPHICS_CONTEXT__INIT;
	Perfetto__InternedGraphicsContext *contexts = &context;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	context.has_iid = context.has_pid = context.has_api = true;
	context.iid = context_id(perfetto, queue);
	context.pid = queue->global >> 24 & 0xffffff;
	context.api = API_CUDA;
	data.n_graphics_contexts = 1;
	data.graphics_contexts = &contexts;
	perfetto__intern(perfetto, &data);
}

static void put_lane(struct perfetto *perfetto, struct queue *queue, int lane)
{
	Perfetto__InternedGpuRenderStageSpecification spec =
		PERFETTO__INTERNED_GPU_RENDER_STAGE_SPECIFICATION__INIT;
	Perfetto__InternedGpuRenderStageSpecification *specs = &spec;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	char text[256];

	snprintf(text, sizeof(text), "stream %" PRId64 " of %.200s", queue->stream,
		 export_names__process(perfetto->names, queue->global));
	spec.has_iid = true;
	spec.iid = queue->ids[lane] = queue->next++;
	spec.name = text;
	data.n_gpu_specifications = 1;
	data.gpu_specifications = &specs;
	perfetto__intern(perfetto, &data);
}

static void enter(struct perfetto *perfetto, struct queue *queue, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, GLOBAL);
	int64_t device = sqlite3_column_int64(row, DEVICE);
	int64_t stream = sqlite3_column_int64(row, STREAM);
	int64_t context = sqlite3_column_int64(row, CONTEXT);
	bool same = queue->open && queue->global == global && queue->device == device;

	if (!same || queue->stream != stream)
		queue->lanes.count = 0;
	if (!same)
		queue->gpu = report_gpus__find(perfetto->gpus, global, device);
	if (same && queue->stream == stream && queue->context == context)
		return;
	queue->open = true;
	queue->global = global;
	queue->device = device;
	queue->stream = stream;
	if (!same || queue->context != context) {
		queue->context = context;
		put_context(perfetto, queue);
	}
}

static void link_work(struct perfetto *perfetto, int64_t global, int64_t correlation,
		      uint64_t event)
{
	if (!correlation)
		return;
	if (perfetto->work_count >= MAX_WORK ||
	    !array_grow__for_one(perfetto->work, perfetto->work_capacity, perfetto->work_count)) {
		perfetto->unlinked++;
		return;
	}
	perfetto->work[perfetto->work_count++] = (struct perfetto_work){
		.global = global,
		.correlation = correlation,
		.event = event,
	};
}

static void read_size(Perfetto__GpuRenderStageEvent__Dim3 *size, sqlite3_stmt *row, int column)
{
	perfetto__gpu_render_stage_event__dim3__init(size);
	size->has_x = size->has_y = size->has_z = true;
	size->x = sqlite3_column_int64(row, column);
	size->y = sqlite3_column_int64(row, column + 1);
	size->z = sqlite3_column_int64(row, column + 2);
}

static void put_kernel(struct perfetto *perfetto, sqlite3_stmt *row, Perfetto__TracePacket *packet)
{
	Perfetto__GpuRenderStageEvent__ComputeKernelLaunch launch =
		PERFETTO__GPU_RENDER_STAGE_EVENT__COMPUTE_KERNEL_LAUNCH__INIT;
	Perfetto__GpuRenderStageEvent__ExtraComputeArg values[ARGUMENTS];
	Perfetto__GpuRenderStageEvent__ExtraComputeArg *list[ARGUMENTS];
	Perfetto__GpuRenderStageEvent__Dim3 grid, block;
	Perfetto__GpuRenderStageEvent *event = packet->gpu_render_stage_event;

	read_size(&grid, row, GRID);
	read_size(&block, row, BLOCK);
	for (int i = 0; i < ARGUMENTS; i++) {
		list[i] = &values[i];
		perfetto__gpu_render_stage_event__extra_compute_arg__init(&values[i]);
		values[i].has_name_iid = values[i].has_uint_value = true;
		values[i].name_iid = i + 1;
		values[i].uint_value = sqlite3_column_int64(row, ARGUMENT + i);
	}
	launch.grid_size = &grid;
	launch.workgroup_size = &block;
	launch.n_args = ARGUMENTS;
	launch.args = list;
	event->launch = &launch;
	event->has_kernel_iid = event->has_name_iid = true;
	event->kernel_iid = event->name_iid = perfetto__name(sqlite3_column_int64(row, NAME));
	perfetto__put(perfetto, sqlite3_column_int64(row, START), packet);
}

static const char *direction(int64_t kind)
{
	static const char *const kinds[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

	return kinds[kind > 0 && kind <= 10 ? kind : 0];
}

static void put_other(struct perfetto *perfetto, sqlite3_stmt *row, Perfetto__TracePacket *packet,
		      enum stage stage)
{
	Perfetto__GpuRenderStageEvent__ExtraData bytes =
		PERFETTO__GPU_RENDER_STAGE_EVENT__EXTRA_DATA__INIT;
	Perfetto__GpuRenderStageEvent__ExtraData *list = &bytes;
	Perfetto__GpuRenderStageEvent *event = packet->gpu_render_stage_event;
	char text[64], number[32];

	if (stage == COPY)
		snprintf(text, sizeof(text), "Memcpy %s",
			 direction(sqlite3_column_int64(row, KIND)));
	else if (stage == FILL)
		snprintf(text, sizeof(text), "Memset");
	else
		snprintf(text, sizeof(text), "CUDA graph %lld",
			 (long long)sqlite3_column_int64(row, NAME));
	event->name = text;
	if (stage != GRAPH) {
		snprintf(number, sizeof(number), "%lld",
			 (long long)sqlite3_column_int64(row, BYTES));
		bytes.name = (char *)"bytes";
		bytes.value = number;
		event->n_extra_data = 1;
		event->extra_data = &list;
	}
	perfetto__put(perfetto, sqlite3_column_int64(row, START), packet);
}

static void put_row(struct perfetto *perfetto, sqlite3_stmt *row, void *context)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__GpuRenderStageEvent event = PERFETTO__GPU_RENDER_STAGE_EVENT__INIT;
	int64_t start = sqlite3_column_int64(row, START), end = sqlite3_column_int64(row, END);
	int64_t stage = sqlite3_column_int64(row, STAGE);
	struct queue *queue = context;
	unsigned int known;
	int lane;

	if (!perfetto__is_span(perfetto, start, end))
		return;
	enter(perfetto, queue, row);
	known = queue->lanes.count;
	lane = perfetto__lane(perfetto, &queue->lanes, start, end);
	if (lane < 0)
		return;
	if (queue->lanes.count > known)
		put_lane(perfetto, queue, lane);
	event.has_event_id = event.has_duration = event.has_context = event.has_hw_queue_iid =
		event.has_stage_iid = true;
	event.event_id = ++queue->events;
	event.duration = end - start;
	event.context = context_id(perfetto, queue);
	event.hw_queue_iid = queue->ids[lane];
	event.stage_iid = stage + 1;
	event.has_gpu_id = queue->gpu >= 0;
	event.gpu_id = queue->gpu;
	packet.gpu_render_stage_event = &event;
	link_work(perfetto, queue->global, sqlite3_column_int64(row, CORRELATION), event.event_id);
	if (stage == KERNEL)
		put_kernel(perfetto, row, &packet);
	else
		put_other(perfetto, row, &packet, stage);
}

/* Tables that the file lacks are left out. */
static bool select_rows(const struct report_file *file, char *sql, size_t size)
{
#define FIRST                                                                               \
	"SELECT globalPid AS g, deviceId AS d, streamId AS s, start AS t, end, contextId, " \
	"correlationId, "
	static const struct {
		const char *table, *select;
	} parts[] = {
		{"CUPTI_ACTIVITY_KIND_KERNEL",
		 FIRST "0, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, "
		       "registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId, "
		       "0, 0"},
		{"CUPTI_ACTIVITY_KIND_MEMCPY",
		 FIRST "1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, graphNodeId, bytes, copyKind"},
		{"CUPTI_ACTIVITY_KIND_MEMSET",
		 FIRST "2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, graphNodeId, bytes, 0"},
		{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		 FIRST "3, graphExecId, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"},
	};
#undef FIRST
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!report_file__has(file, parts[i].table, "globalPid"))
			continue;
		used += snprintf(sql + used, size - used, "%s%s FROM %s", used ? " UNION ALL " : "",
				 parts[i].select, parts[i].table);
	}
	if (!used)
		return false;
	snprintf(sql + used, size - used, " ORDER BY g, d, s, t, end DESC");
	return true;
}

/* Counter tracks below the processes: Perfetto's own GPU counters have no names of ours. */
struct counters {
	struct perfetto *perfetto;
	struct {
		char *name;
		size_t gpu;
		uint64_t track;
	} known[256];
	size_t count;
};

static uint64_t counter_track(struct counters *counters, const struct samples_row *row,
			      const char *key)
{
	char shown[80], text[128];

	for (size_t i = 0; i < counters->count; i++)
		if (counters->known[i].gpu == row->gpu_index &&
		    !strcmp(counters->known[i].name, key))
			return counters->known[i].track;
	if (counters->count == sizeof(counters->known) / sizeof(counters->known[0]))
		return 0;
	counters->known[counters->count].name = strdup(key);
	if (!counters->known[counters->count].name)
		return 0;
	snprintf(text, sizeof(text), "GPU %" PRId64 " %s", row->gpu->number,
		 text__show(shown, sizeof(shown), key, 0));
	counters->known[counters->count].gpu = row->gpu_index;
	counters->known[counters->count].track =
		perfetto__new_track(counters->perfetto, text, 0, true);
	return counters->known[counters->count++].track;
}

static bool put_sample(void *context, const struct samples_row *row)
{
	struct counters *counters = context;

	if (row->start < 0)
		return false;
	json_object_object_foreach(row->columns, key, column)
	{
		Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
		Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
		struct sampled_value value;

		if (!device_samples__value(column, &value))
			continue;
		event.has_track_uuid = true;
		event.track_uuid = counter_track(counters, row, key);
		if (!event.track_uuid)
			continue;
		event.has_type = event.has_double_counter_value = true;
		event.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
		event.double_counter_value = value.mean;
		packet.track_event = &event;
		perfetto__put(counters->perfetto, row->start, &packet);
	}
	return true;
}

static int put_samples(struct perfetto *perfetto)
{
	struct counters *counters;
	int err;

	if (!perfetto->file->samples)
		return 0;
	counters = calloc(1, sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	counters->perfetto = perfetto;
	err = device_samples__read(perfetto->file, put_sample, counters);
	for (size_t i = 0; i < counters->count; i++)
		free(counters->known[i].name);
	free(counters);
	return err;
}

int perfetto__put_gpu(struct perfetto *perfetto)
{
	struct queue queue = {.next = FIRST_QUEUE};
	char sql[2048];
	int err = 0;

	put_stages(perfetto);
	if (report_file__has(perfetto->file, "CUPTI_ACTIVITY_KIND_KERNEL", "mangledName"))
		err = perfetto__each(perfetto,
				     "SELECT demangledName, max(coalesce(mangledName, "
				     "demangledName)) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1",
				     put_kernel_name, NULL);
	if (!err && select_rows(perfetto->file, sql, sizeof(sql)))
		err = perfetto__each(perfetto, sql, put_row, &queue);
	return err ? err : put_samples(perfetto);
}

// SPDX-License-Identifier: BSD-2-Clause
/* One function for each kind of row, and the statements that read them. */
#include "cuda-trace/report/report_record_rows.h"
#include <errno.h>
#include <string.h>
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/capture/record_sizes.h"
#include "cuda-trace/report/report_gpus.h"
#include "cuda-trace/base/names.h"
#include "cuda-trace/base/api_names.h"

/* A string as a name of that process: 0 where there is none. */
static uint32_t name_of(struct replay *replay, size_t process, int64_t string)
{
	uint8_t *known = replay->known[process];
	const char *text;

	if (string <= 0 || (size_t)string >= replay->string_count)
		return 0;
	text = replay->strings[string];
	if (text && !(known[string / 8] & 1 << string % 8)) {
		known[string / 8] |= 1 << string % 8;
		names__put(replay->processes[process]->names, string, text, strlen(text));
	}
	return string;
}

static void play(struct replay *replay, const struct replay_row *row,
		 const struct cuda_record *record)
{
	replay->sink->record(replay->sink->context, replay->processes[row->process], record);
}

static void play_record(struct replay *replay, struct replay_row *row)
{
	play(replay, row, &row->record.head);
}

static void play_kernel(struct replay *replay, struct replay_row *row)
{
	struct cuda_kernel *kernel = &row->record.KERNEL;

	kernel->name = name_of(replay, row->process, row->row.KERNEL.demangledName);
	kernel->graph = kernel->graph_node != 0;
	if (kernel->end >= kernel->start)
		play_record(replay, row);
}

/* By which call, where it failed: nobody needs it else. */
static uint16_t call_number(const struct replay *replay, const struct cuda_api *call, int64_t name)
{
	const char *text = NULL;

	if (call->result && name > 0 && (size_t)name < replay->string_count)
		text = replay->strings[name];
	return text ? store__call_number(call->domain, text) : 0;
}

static void play_launch(struct replay *replay, struct replay_row *row)
{
	const struct cuda_api *call = &row->record.API;
	bool graph = row->row.RUNTIME.launchName == 0;
	int64_t shape_id = row->row.RUNTIME.launchShape;
	struct cuda_launch launch = {
		.head = {graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH, sizeof(launch),
			 call->head.correlation},
		.start = call->start,
		.end = call->end,
		.tid = call->tid,
		.result = call->result,
		.domain = call->domain,
		.name = name_of(replay, row->process, row->row.RUNTIME.launchName),
		.cbid = call_number(replay, call, row->row.RUNTIME.nameId),
		.context = call->context,
		.stream = row->row.RUNTIME.streamHandle == DB_NULL ? 0
								   : row->row.RUNTIME.streamHandle,
		.flags = row->row.RUNTIME.timed == 1 ? CUDA_LAUNCH_TIMED : 0,
	};

	if (shape_id > 0 && (size_t)shape_id <= replay->shape_count) {
		const struct cuda_launch *shape = &replay->shapes[shape_id - 1];

		memcpy(launch.grid, shape->grid, sizeof(launch.grid));
		memcpy(launch.block, shape->block, sizeof(launch.block));
		launch.dynamic_shared = shape->dynamic_shared;
	}
	if (replay->ranged)
		launch.flags |= CUDA_LAUNCH_RANGES |
				report_record_ranges__depth(replay, row->values[0], launch.start)
					<< 2;
	play(replay, row, &launch.head);
}

static void play_memcpy(struct replay *replay, struct replay_row *row)
{
	struct cuda_memcpy *copy = &row->record.MEMCPY;
	struct cuda_uvm migration = {
		.head = {CUDA_RECORD_UVM, sizeof(migration), 0},
		.start = copy->start,
		.end = copy->end,
		.value = copy->bytes,
		/* Copies of kind 11, 12, 13 are CUPTI's counters 1, 2, 8. */
		.counter = copy->copy_kind == 13 ? 8 : copy->copy_kind - 10,
	};

	/* Older files do not say how many. */
	copy->copies = copy->copies ? copy->copies : 1;
	play(replay, row, copy->copy_kind > 10 ? &migration.head : &copy->head);
}

static void play_requested_copy(struct replay *replay, struct replay_row *row)
{
	row->record.MEMCPY.device = ~0u;
	play_memcpy(replay, row);
}

static void play_memory(struct replay *replay, struct replay_row *row)
{
	struct cuda_memory *memory = &row->record.MEMORY;

	memory->operation = memory->operation > 1 ? 2 : 1;
	memory->pool_type = 1;
	play_record(replay, row);
}

static void play_context(struct replay *replay, struct replay_row *row)
{
	struct cuda_context context = {
		.head = {CUDA_RECORD_CONTEXT, sizeof(context), 0},
		.context = row->values[2],
		.device = row->values[3],
		.parent = row->values[4],
		.green = row->values[5],
		.multiprocessors = row->values[6],
		.null_stream = row->values[7],
	};

	play(replay, row, &context.head);
}

static void play_stream(struct replay *replay, struct replay_row *row)
{
	struct cuda_stream stream = {
		.head = {CUDA_RECORD_STREAM, sizeof(stream), 0},
		.context = row->values[2],
		.stream = row->values[3],
		.priority = row->values[4],
		.flag = row->values[5],
	};

	play(replay, row, &stream.head);
}

/* Only what distinguishes GPUs. */
static void play_device(struct replay *replay, struct replay_row *row)
{
	struct cuda_device device = {
		.head = {CUDA_RECORD_DEVICE, sizeof(device), 0},
		.device = row->values[2],
	};
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(replay->file->db,
			       "SELECT uuid FROM TARGET_INFO_CUDA_DEVICE WHERE rowid = ?", -1,
			       &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, row->values[3]);
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
		report_gpus__parse_uuid(device.uuid,
					(const char *)sqlite3_column_text(statement, 0));
		play(replay, row, &device.head);
	}
	sqlite3_finalize(statement);
}

static void play_overhead(struct replay *replay, struct replay_row *row)
{
	/* Of what object is not in a row. */
	row->record.OVERHEAD.object[1] = 0;
	play_record(replay, row);
}

static void play_range(struct replay *replay, struct replay_row *row)
{
	struct cuda_nvtx *range = &row->record.NVTX;

	range->text = name_of(replay, row->process, range->text);
	range->domain = name_of(replay, row->process, range->domain);
	range->kind = row->row.NVTX.eventType == 60 ? 3 : 2;
	if (range->kind == 2)
		report_record_ranges__begin(replay, row->process, row->values[0], range);
	else
		play_record(replay, row);
}

static uint8_t flag_of(int64_t argument, uint8_t flag)
{
	return argument == DB_NULL ? 0 : flag;
}

static uint32_t size_of(int64_t value)
{
	return value == DB_NULL ? 0 : value;
}

/* The arguments of a call, where the recording has them. */
static void fill_arguments(struct replay *replay, struct replay_row *row, struct cuda_api *call)
{
	const int64_t grid[] = {row->row.ERRORS.gridX, row->row.ERRORS.gridY,
				row->row.ERRORS.gridZ};
	const int64_t block[] = {row->row.ERRORS.blockX, row->row.ERRORS.blockY,
				 row->row.ERRORS.blockZ};

	if (row->row.ERRORS.kernelName != DB_NULL || grid[0] != DB_NULL) {
		call->flags = CUDA_API_LAUNCH;
		for (int i = 0; i < 3; i++) {
			call->arguments.launch.grid[i] = size_of(grid[i]);
			call->arguments.launch.block[i] = size_of(block[i]);
		}
		call->arguments.launch.dynamic_shared =
			size_of(row->row.ERRORS.dynamicSharedMemory);
		call->arguments.launch.kernel =
			name_of(replay, row->process, row->row.ERRORS.kernelName);
		return;
	}
	call->flags = flag_of(row->row.ERRORS.bytes, CUDA_API_BYTES) |
		      flag_of(row->row.ERRORS.address, CUDA_API_ADDRESS) |
		      flag_of(row->row.ERRORS.copyKind, CUDA_API_COPY_KIND) |
		      flag_of(row->row.ERRORS.value, CUDA_API_VALUE) |
		      flag_of(row->row.ERRORS.deviceId, CUDA_API_DEVICE);
	call->arguments.call.bytes = row->row.ERRORS.bytes;
	call->arguments.call.address = row->row.ERRORS.address;
	call->arguments.call.copy_kind = row->row.ERRORS.copyKind;
	call->arguments.call.value = row->row.ERRORS.value;
	call->arguments.call.device = row->row.ERRORS.deviceId;
}

static void play_error(struct replay *replay, struct replay_row *row)
{
	struct cuda_api *call = &row->record.API;

	call->name = name_of(replay, row->process, call->name);
	call->group = row->row.ERRORS.launch & 1 ? CUDA_GROUP_API_LAUNCH : CUDA_GROUP_API_OTHER;
	fill_arguments(replay, row, call);
	replay->processes[row->process]->group = CUDA_GROUP_API_ERROR;
	play_record(replay, row);
}

/* What the communicator is comes before: see replay_sources. */
static void play_collective(struct replay *replay, struct replay_row *row)
{
	struct event_collective *call = &row->record.collective.call;
	int64_t node = row->row.COLLECTIVES.graphNodeId;
	const struct recorded_kernel kernel = {
		.correlation = row->record.head.correlation,
		.graph_node = node == DB_NULL ? 0 : node,
	};

	/* It was captured, not executed. */
	if (kernel.graph_node && !kernel.correlation)
		return;
	call->known = row->row.COLLECTIVES.number != DB_NULL;
	call->sequence = call->known ? row->row.COLLECTIVES.number : 0;
	if (replay->sink->collective && call->function < NCCL_OPERATIONS)
		replay->sink->collective(replay->sink->context, replay->processes[row->process],
					 call, &kernel);
}

static void play_communicator(struct replay *replay, struct replay_row *row)
{
	const struct event_collective made = {
		.time = REPLAY_EPOCH + row->values[1],
		.comm = row->values[2],
		.id = row->values[3],
		.parent = row->values[4],
		.size = row->values[5],
		.rank = row->values[6],
		.function = row->values[7]   ? NCCL_FOUND
			    : row->values[4] ? NCCL_SPLIT
					     : NCCL_INIT_RANK,
	};

	if (replay->sink->collective)
		replay->sink->collective(replay->sink->context, replay->processes[row->process],
					 &made, &(struct recorded_kernel){});
}

static void play_uvm(struct replay *replay, struct replay_row *row)
{
	row->record.UVM.end = 0;
	play_record(replay, row);
}

static void play_cpu_fault(struct replay *replay, struct replay_row *row)
{
	row->record.UVM.counter = 3;
	row->record.UVM.value = 1;
	play_record(replay, row);
}

static void play_gpu_faults(struct replay *replay, struct replay_row *row)
{
	row->record.UVM.counter = 4;
	play_uvm(replay, row);
}

/* These have a pid alone: of several processes that had it they are the first one's. */
#define OF_PROCESS                                                                   \
	"JOIN (SELECT pid, min(globalPid) AS globalPid FROM PROCESSES GROUP BY pid)" \
	" ON pid = processId"

#define ROWS_OF(name, record, from, function)                                       \
	{                                                                           \
		.source = from, .columns = DB_##name, .kind = CUDA_RECORD_##record, \
		.play = function                                                    \
	}
#define ROWS(name, record, function) ROWS_OF(name, record, NULL, function)
#define OBJECTS(of, sql, function)                                                      \
	{                                                                               \
		.table = of, .source = sql, .columns = DB_TABLE_COUNT, .play = function \
	}

#define COMMUNICATORS                                                           \
	"SELECT globalPid, start, communicator, communicatorId, parent, size, " \
	"coalesce(rank, -1), "

static const struct replay_source replay_sources[] = {
	OBJECTS("CUDA_TRACE_COMMUNICATORS",
		COMMUNICATORS "found FROM CUDA_TRACE_COMMUNICATORS ORDER BY start",
		play_communicator),
	/* Recordings made before 2026-11-27. */
	OBJECTS("CUDA_TRACE_COMMUNICATORS",
		COMMUNICATORS "0 FROM CUDA_TRACE_COMMUNICATORS WHERE NOT EXISTS (SELECT 1 FROM "
			      "pragma_table_info('CUDA_TRACE_COMMUNICATORS', 'main') WHERE name = "
			      "'found') ORDER BY start",
		play_communicator),
	ROWS(COLLECTIVES, OTHER, play_collective),
	/* Before the launches: of those that failed these know more, and the first one counts. */
	ROWS(ERRORS, API, play_error),
	ROWS_OF(RUNTIME, LAUNCH, "CUPTI_ACTIVITY_KIND_RUNTIME WHERE launchName IS NOT NULL",
		play_launch),
	/* Recordings made before 2026-11-25. */
	ROWS_OF(RUNTIME, LAUNCH,
		"(SELECT *, kernelName AS launchName FROM CUPTI_ACTIVITY_KIND_RUNTIME) "
		"WHERE launchName IS NOT NULL AND EXISTS (SELECT 1 FROM CUDA_TRACE_PROCESSES)",
		play_launch),
	/* Nsight's do not say which calls are launches, nor of what. */
	ROWS_OF(RUNTIME, LAUNCH,
		"(SELECT globalTid, start, end, correlationId, returnValue, nameId, 1 AS "
		"eventClass, CASE WHEN value LIKE '%GraphLaunch%' THEN 0 ELSE -1 END AS "
		"launchName FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE "
		"value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%' OR value LIKE "
		"'%LaunchCooperative%')",
		play_launch),
	ROWS(KERNEL, KERNEL, play_kernel),
	ROWS(MEMCPY, MEMCPY, play_memcpy),
	ROWS(COPIES, MEMCPY, play_requested_copy),
	ROWS(SYNC, SYNC, play_record),
	ROWS(MEMORY, MEMORY, play_memory),
	/* Before all work. */
	OBJECTS("TARGET_INFO_CUDA_DEVICE",
		"SELECT globalPid, -4611686018427387904, cudaId, d.rowid FROM "
		"TARGET_INFO_CUDA_DEVICE AS d JOIN (SELECT pid AS p, min(globalPid) AS globalPid "
		"FROM PROCESSES GROUP BY pid) ON p = d.pid",
		play_device),
	OBJECTS("TARGET_INFO_CUDA_CONTEXT_INFO",
		"SELECT globalPid, 0, contextId, deviceId, parentContextId, isGreenContext, "
		"numMultiprocessors, nullStreamId FROM TARGET_INFO_CUDA_CONTEXT_INFO " OF_PROCESS,
		play_context),
	OBJECTS("TARGET_INFO_CUDA_STREAM",
		"SELECT globalPid, 0, contextId, streamId, priority, flag FROM "
		"TARGET_INFO_CUDA_STREAM " OF_PROCESS,
		play_stream),
	ROWS(JIT, JIT, play_record),
	ROWS(OVERHEAD, OVERHEAD, play_overhead),
	ROWS_OF(NVTX, NVTX, "NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL",
		play_range),
	ROWS(UVM, UVM, play_uvm),
	ROWS(CPU_FAULT, UVM, play_cpu_fault),
	ROWS(GPU_FAULT, UVM, play_gpu_faults),
};

#define SOURCES (sizeof(replay_sources) / sizeof(replay_sources[0]))

_Static_assert(SOURCES + DB_TABLE_COUNT <= REPLAY_SOURCES, "sources");

size_t report_record_rows__sources(struct replay_source *sources)
{
	size_t count = SOURCES;

	memcpy(sources, replay_sources, sizeof(replay_sources));
	for (int i = 0; i < DB_TABLE_COUNT; i++)
		if (record_tables[i].kind)
			sources[count++] = (struct replay_source){
				.columns = i, .kind = record_tables[i].kind, .play = play_record};
	return count;
}

const char *report_record_rows__table(const struct replay_source *source)
{
	return source->table ? source->table : record_tables[source->columns].name;
}

/*
 * Of one process, rows are stored nearly in order. Of several, CUPTI may hold back those of one of
 * them for seconds, longer than the sums of all of them wait for.
 */
static bool is_stored_late(const struct replay *replay, enum db_table table)
{
	return replay->count > 1 && (table == DB_KERNEL || table == DB_MEMCPY ||
				     table == DB_MEMSET || table == DB_GRAPH);
}

int report_record_rows__open(const struct replay *replay, struct replay_source *source)
{
	bool of_record = source->columns != DB_TABLE_COUNT;
	/* Launches and ranges of a thread are distinguished by nothing but their order; the calls
	 * of a group come before their kernel. */
	bool sorted =
		source->columns == DB_COLLECTIVES || is_stored_late(replay, source->columns) ||
		(replay->ranged && (source->columns == DB_NVTX || source->columns == DB_RUNTIME));
	char *sql = NULL, *ordered;
	int err;

	if (!of_record)
		return reader__open(&source->reader, replay->file, source->source);
	err = record_columns__select(replay->file->db, source->columns,
				     source->source ? source->source
						    : report_record_rows__table(source),
				     COLUMN_REPLAY, &source->selection, &sql);
	if (err)
		return err;
	ordered = sqlite3_mprintf("%s%s", sql, sorted ? " ORDER BY start" : "");
	err = ordered ? reader__open(&source->reader, replay->file, ordered) : -ENOMEM;
	sqlite3_free(ordered);
	sqlite3_free(sql);
	return err;
}

void report_record_rows__play(struct replay *replay, const struct replay_source *source,
			      size_t process)
{
	struct replay_row row = {.values = source->row, .process = process};

	if (source->columns != DB_TABLE_COUNT) {
		record_columns__from_row(&source->selection, row.values, REPLAY_EPOCH, &row.row,
					 &row.record);
		row.record.head.kind = source->kind;
		row.record.head.size = record_sizes__known(source->kind);
	}
	source->play(replay, &row);
}

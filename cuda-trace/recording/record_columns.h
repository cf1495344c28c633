/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * The columns of the tables that hold records, described once: the SQL of a new recording, the
 * values that the import writes, and what reports and exports read back all come from these lists.
 * Names, order and types are those of Nsight Systems' SQLite export (schema 3.25) wherever that has
 * the table; CUDA_TRACE_* are our own. docs/reference/schema.md explains both.
 *
 *   F(column, type, use, conversion, record's structure, field)   a field of the record
 *   O(column, type, use)                                          any other column
 *
 * `type` is SQL, where INT and REQ are INTEGER and INTEGER NOT NULL; `use` is enum column_use,
 * `conversion` enum column_conversion. Names are StringIds in a row and ids of cuda:name in a
 * record: code replaces them, and any other value that no conversion brings about.
 */
#ifndef CUDA_TRACE_RECORDING_RECORD_COLUMNS_H
#define CUDA_TRACE_RECORDING_RECORD_COLUMNS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/recording/store_spool.h"
#include "libcupti-usdt/probes.h"

#define COLUMNS_SPAN(F, record) \
	F(start, REQ, REPLAY, TIME, record, start) F(end, REQ, REPLAY, TIME, record, end)

/* A call. Launches have launchName (0 for a graph) and launchShape; and where kernels are of windows
 * only, what their work can be followed by. These columns are ours. */
#define COLUMNS_RUNTIME(F, O) \
	COLUMNS_SPAN(F, cuda_api) \
	F(eventClass, REQ, REPLAY, DOMAIN, cuda_api, domain) \
	F(globalTid, INT, REPLAY, THREAD, cuda_api, tid) \
	F(correlationId, INT, REPLAY, OPTIONAL, cuda_api, head.correlation) \
	O(nameId, REQ, REPLAY) \
	F(returnValue, REQ, REPLAY, NUMBER, cuda_api, result) \
	O(callchainId, INT, STORED) O(launchName, INT, REPLAY) O(launchShape, INT, REPLAY) \
	F(contextId, INT, REPLAY, OPTIONAL, cuda_api, context) \
	O(streamHandle, INT, REPLAY) O(timed, INT, REPLAY)

/* What the rows of all work on a GPU begin with. */
#define COLUMNS_GPU(F, O, record, stream_use) \
	COLUMNS_SPAN(F, record) \
	F(deviceId, REQ, REPLAY, NUMBER, record, device) \
	F(contextId, REQ, REPLAY, NUMBER, record, context) \
	O(greenContextId, INT, EMPTY) \
	F(streamId, REQ, stream_use, NUMBER, record, stream) \
	F(correlationId, INT, REPLAY, NUMBER, record, head.correlation) \
	F(globalPid, INT, REPLAY, PROCESS, record, head.correlation)

#define COLUMNS_KERNEL(F, O) \
	COLUMNS_GPU(F, O, cuda_kernel, REPLAY) \
	F(demangledName, REQ, REPLAY, NUMBER, cuda_kernel, name) \
	O(shortName, REQ, STORED) O(mangledName, INT, STORED) \
	F(launchType, INT, STORED, FROM_1, cuda_kernel, launch_type) \
	O(cacheConfig, INT, EMPTY) \
	F(registersPerThread, REQ, STORED, NUMBER, cuda_kernel, registers) \
	F(gridX, REQ, REPLAY, NUMBER, cuda_kernel, grid[0]) \
	F(gridY, REQ, REPLAY, NUMBER, cuda_kernel, grid[1]) \
	F(gridZ, REQ, REPLAY, NUMBER, cuda_kernel, grid[2]) \
	F(blockX, REQ, REPLAY, NUMBER, cuda_kernel, block[0]) \
	F(blockY, REQ, REPLAY, NUMBER, cuda_kernel, block[1]) \
	F(blockZ, REQ, REPLAY, NUMBER, cuda_kernel, block[2]) \
	F(staticSharedMemory, REQ, STORED, NUMBER, cuda_kernel, static_shared) \
	F(dynamicSharedMemory, REQ, STORED, NUMBER, cuda_kernel, dynamic_shared) \
	F(localMemoryPerThread, REQ, STORED, NUMBER, cuda_kernel, local_per_thread) \
	O(localMemoryTotal, REQ, ZERO) O(gridId, REQ, ZERO) \
	O(sharedMemoryExecuted, INT, EMPTY) \
	F(graphNodeId, INT, REPLAY, OPTIONAL, cuda_kernel, graph_node) \
	O(sharedMemoryLimitConfig, INT, EMPTY) O(qmdBulkReleaseDone, INT, EMPTY) \
	O(qmdPreexitDone, INT, EMPTY) O(qmdLastCtaDone, INT, EMPTY) \
	F(graphId, INT, STORED, OPTIONAL, cuda_kernel, graph) \
	O(clusterX, INT, EMPTY) O(clusterY, INT, EMPTY) O(clusterZ, INT, EMPTY) \
	O(clusterSchedulingPolicy, INT, EMPTY) O(maxPotentialClusterSize, INT, EMPTY) \
	O(maxActiveClusters, INT, EMPTY) O(sharedMemoryRequestedPercentage, INT, EMPTY) \
	O(tensorSizeMinusOneElements, "TEXT NOT NULL DEFAULT '[]'", EMPTY)

/* Migrations of managed memory are in this table, too. */
#define COLUMNS_MEMCPY(F, O) \
	COLUMNS_GPU(F, O, cuda_memcpy, REPLAY) \
	F(bytes, REQ, REPLAY, NUMBER, cuda_memcpy, bytes) \
	F(copyKind, REQ, REPLAY, NUMBER, cuda_memcpy, copy_kind) \
	O(deprecatedSrcId, INT, EMPTY) \
	F(srcKind, INT, REPLAY, MEMORY, cuda_memcpy, src_kind) \
	F(dstKind, INT, REPLAY, MEMORY, cuda_memcpy, dst_kind) \
	F(srcDeviceId, INT, STORED, NUMBER, cuda_memcpy, src_device) \
	F(srcContextId, INT, STORED, NUMBER, cuda_memcpy, src_context) \
	F(dstDeviceId, INT, STORED, NUMBER, cuda_memcpy, dst_device) \
	F(dstContextId, INT, STORED, NUMBER, cuda_memcpy, dst_context) \
	O(migrationCause, INT, STORED) \
	F(graphNodeId, INT, STORED, OPTIONAL, cuda_memcpy, graph_node) \
	O(virtualAddress, INT, STORED) \
	F(copyCount, INT, REPLAY, NUMBER, cuda_memcpy, copies)

#define COLUMNS_MEMSET(F, O) \
	COLUMNS_GPU(F, O, cuda_memset, STORED) \
	F(value, REQ, STORED, NUMBER, cuda_memset, value) \
	F(bytes, REQ, REPLAY, NUMBER, cuda_memset, bytes) \
	F(graphNodeId, INT, STORED, OPTIONAL, cuda_memset, graph_node) \
	F(memKind, INT, REPLAY, MEMORY, cuda_memset, memory_kind)

#define COLUMNS_SYNC(F, O) \
	COLUMNS_SPAN(F, cuda_sync) \
	O(deviceId, REQ, STORED) \
	F(contextId, REQ, STORED, NUMBER, cuda_sync, context) \
	O(greenContextId, INT, EMPTY) \
	F(streamId, REQ, STORED, NUMBER, cuda_sync, stream) \
	F(correlationId, INT, REPLAY, NUMBER, cuda_sync, head.correlation) \
	F(globalPid, INT, REPLAY, PROCESS, cuda_sync, head.correlation) \
	O(deprecatedSyncType, INT, EMPTY) \
	F(syncType, REQ, REPLAY, NUMBER, cuda_sync, type) \
	F(eventId, REQ, STORED, NUMBER, cuda_sync, event) \
	F(eventSyncId, INT, STORED, OPTIONAL, cuda_sync, event_sync)

/* An event that was put into a stream, for the waits with its eventId. */
#define COLUMNS_EVENT_RECORD(F, O) \
	F(globalPid, REQ, STORED, PROCESS, cuda_event_record, head.correlation) \
	F(contextId, REQ, STORED, NUMBER, cuda_event_record, context) \
	F(streamId, REQ, STORED, NUMBER, cuda_event_record, stream) \
	F(correlationId, REQ, STORED, NUMBER, cuda_event_record, head.correlation) \
	F(eventId, REQ, STORED, NUMBER, cuda_event_record, event)

#define COLUMNS_GRAPH(F, O) \
	COLUMNS_GPU(F, O, cuda_graph, STORED) \
	F(graphId, REQ, STORED, NUMBER, cuda_graph, graph) \
	F(graphExecId, REQ, REPLAY, NUMBER, cuda_graph, graph)

/* The call that created a node is the one of its thread that spans its start. */
#define COLUMNS_GRAPH_NODE(F, O) \
	COLUMNS_SPAN(F, cuda_graph_node) \
	O(eventClass, REQ, STORED) \
	F(globalTid, INT, STORED, THREAD, cuda_graph_node, tid) \
	O(nameId, REQ, STORED) \
	F(graphNodeId, REQ, STORED, NUMBER, cuda_graph_node, node) \
	F(originalGraphNodeId, INT, STORED, OPTIONAL, cuda_graph_node, original)

/* A call after which nodes do something else: docs/internals/graphs.md. */
#define COLUMNS_GRAPH_CHANGE(F, O) \
	COLUMNS_SPAN(F, cuda_graph_change) \
	F(globalTid, REQ, STORED, THREAD, cuda_graph_change, tid) \
	F(correlationId, REQ, STORED, NUMBER, cuda_graph_change, head.correlation) \
	F(graphExecId, INT, STORED, OPTIONAL, cuda_graph_change, exec) \
	F(graphNodeId, INT, STORED, OPTIONAL, cuda_graph_change, node) \
	F(graphId, INT, STORED, OPTIONAL, cuda_graph_change, graph)

/* A call that created nodes of graphs, or gave some another kernel, and its call stack. */
#define COLUMNS_GRAPH_CALL(F, O) \
	COLUMNS_SPAN(F, spool_sample) \
	F(globalTid, REQ, STORED, THREAD, spool_sample, tid) \
	F(correlationId, REQ, STORED, NUMBER, spool_sample, head.correlation) \
	O(callchainId, INT, STORED)

#define COLUMNS_OVERHEAD(F, O) \
	COLUMNS_SPAN(F, cuda_overhead) \
	O(eventClass, REQ, STORED) \
	F(globalTid, INT, REPLAY, THREAD, cuda_overhead, object[1]) \
	F(correlationId, INT, STORED, NUMBER, cuda_overhead, head.correlation) \
	O(nameId, INT, EMPTY) \
	F(overheadType, REQ, REPLAY, OVERHEAD, cuda_overhead, kind)

#define COLUMNS_MEMORY(F, O) \
	F(start, REQ, REPLAY, TIME, cuda_memory, time) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_memory, head.correlation) \
	F(deviceId, REQ, REPLAY, NUMBER, cuda_memory, device) \
	F(contextId, REQ, REPLAY, NUMBER, cuda_memory, context) \
	F(address, REQ, REPLAY, NUMBER, cuda_memory, address) \
	F(pc, REQ, STORED, NUMBER, cuda_memory, pc) \
	F(bytes, REQ, REPLAY, NUMBER, cuda_memory, bytes) \
	F(memKind, REQ, REPLAY, MEMORY, cuda_memory, kind) \
	F(memoryOperationType, REQ, REPLAY, FROM_MINUS_1, cuda_memory, operation) \
	O(name, "TEXT", EMPTY) \
	F(correlationId, INT, REPLAY, NUMBER, cuda_memory, head.correlation) \
	F(streamId, INT, STORED, NUMBER, cuda_memory, stream) \
	F(localMemoryPoolAddress, INT, REPLAY, OPTIONAL, cuda_memory, pool) \
	O(localMemoryPoolReleaseThreshold, INT, EMPTY) \
	F(localMemoryPoolSize, INT, REPLAY, NUMBER, cuda_memory, pool_size) \
	F(localMemoryPoolUtilizedSize, INT, REPLAY, NUMBER, cuda_memory, pool_used) \
	O(importedMemoryPoolAddress, INT, EMPTY) O(importedMemoryPoolProcessId, INT, EMPTY)

#define COLUMNS_POOL(F, O) \
	F(start, REQ, REPLAY, TIME, cuda_memory_pool, time) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_memory_pool, head.correlation) \
	F(deviceId, REQ, REPLAY, NUMBER, cuda_memory_pool, device) \
	F(address, REQ, REPLAY, NUMBER, cuda_memory_pool, address) \
	F(operationType, REQ, REPLAY, NUMBER, cuda_memory_pool, operation) \
	F(poolType, REQ, REPLAY, NUMBER, cuda_memory_pool, type) \
	F(correlationId, INT, REPLAY, NUMBER, cuda_memory_pool, head.correlation) \
	F(minBytesToKeep, INT, STORED, NUMBER, cuda_memory_pool, keep) \
	F(localMemoryPoolReleaseThreshold, INT, REPLAY, NUMBER, cuda_memory_pool, threshold) \
	F(localMemoryPoolSize, INT, REPLAY, NUMBER, cuda_memory_pool, size) \
	F(localMemoryPoolUtilizedSize, INT, REPLAY, NUMBER, cuda_memory_pool, used)

#define COLUMNS_CPU_FAULT(F, O) \
	F(start, REQ, REPLAY, TIME, cuda_uvm, start) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_uvm, head.correlation) \
	F(address, REQ, STORED, NUMBER, cuda_uvm, address) \
	O(originalFaultPc, INT, EMPTY) O(CpuInstruction, REQ, ZERO) O(module, REQ, ZERO) \
	O(unresolvedFaultPc, INT, EMPTY) O(sourceFile, INT, EMPTY) O(sourceLine, INT, EMPTY)

#define COLUMNS_GPU_FAULT(F, O) \
	COLUMNS_SPAN(F, cuda_uvm) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_uvm, head.correlation) \
	O(deviceId, REQ, STORED) \
	F(address, REQ, STORED, NUMBER, cuda_uvm, address) \
	F(numberOfPageFaults, REQ, REPLAY, NUMBER, cuda_uvm, value) \
	F(faultAccessType, REQ, STORED, NUMBER, cuda_uvm, flags)

#define COLUMNS_JIT(F, O) \
	COLUMNS_SPAN(F, cuda_jit) \
	O(eventClass, REQ, STORED) \
	F(globalTid, INT, REPLAY, THREAD, cuda_jit, tid) \
	F(correlationId, INT, REPLAY, NUMBER, cuda_jit, head.correlation) \
	O(nameId, INT, EMPTY) O(overheadType, REQ, STORED) \
	F(jitEntryType, REQ, STORED, NUMBER, cuda_jit, entry) \
	F(jitOperationType, REQ, REPLAY, NUMBER, cuda_jit, operation) \
	F(deviceId, INT, REPLAY, NUMBER, cuda_jit, device) \
	F(jitOperationCorrelationId, INT, STORED, NUMBER, cuda_jit, operation_id) \
	F(cacheSize, INT, STORED, NUMBER, cuda_jit, cache_bytes) \
	O(cachePath, "TEXT", STORED)

#define COLUMNS_CALLCHAIN(F, O) \
	O(id, REQ, STORED) O(symbol, REQ, STORED) O(module, REQ, STORED) \
	O(unresolved, INT, STORED) O(originalIP, INT, EMPTY) O(stackDepth, REQ, STORED) \
	O(moduleAddress, INT, STORED) /* ours, as the next */             \
	O(buildId, INT, STORED) O(sourceFile, INT, STORED) O(sourceLine, INT, STORED) \
	O(inlined, INT, STORED)

#define COLUMNS_NVTX(F, O) \
	F(start, REQ, REPLAY, TIME, cuda_nvtx, start) \
	F(end, INT, REPLAY, TIME, cuda_nvtx, end) O(eventType, REQ, REPLAY) \
	F(rangeId, INT, STORED, OPTIONAL, cuda_nvtx, range) \
	F(category, INT, STORED, OPTIONAL, cuda_nvtx, category) \
	F(color, INT, STORED, OPTIONAL, cuda_nvtx, color) \
	O(text, "TEXT", EMPTY) /* filled from textId at the end */        \
	F(globalTid, INT, REPLAY, THREAD, cuda_nvtx, tid) \
	O(endGlobalTid, INT, STORED) F(textId, INT, REPLAY, NUMBER, cuda_nvtx, text) \
	F(domainId, INT, REPLAY, NUMBER, cuda_nvtx, domain) \
	O(uint64Value, INT, STORED) O(int64Value, INT, STORED) O(doubleValue, "REAL", STORED) \
	O(uint32Value, INT, STORED) O(int32Value, INT, STORED) O(floatValue, "REAL", STORED) \
	O(jsonTextId, INT, EMPTY) O(jsonText, "TEXT", STORED) O(binaryData, "TEXT", EMPTY)

/* A call that failed, and its arguments as far as they are known. */
#define COLUMNS_ERRORS(F, O) \
	COLUMNS_SPAN(F, cuda_api) \
	F(eventClass, REQ, REPLAY, DOMAIN, cuda_api, domain) \
	F(globalTid, REQ, REPLAY, THREAD, cuda_api, tid) \
	F(correlationId, REQ, REPLAY, NUMBER, cuda_api, head.correlation) \
	F(nameId, REQ, REPLAY, NUMBER, cuda_api, name) \
	F(returnValue, REQ, REPLAY, NUMBER, cuda_api, result) \
	O(launch, REQ, REPLAY) O(bytes, INT, REPLAY) O(address, INT, REPLAY) \
	O(copyKind, INT, REPLAY) O(value, INT, REPLAY) O(deviceId, INT, REPLAY) \
	O(kernelName, INT, REPLAY) O(gridX, INT, REPLAY) O(gridY, INT, REPLAY) \
	O(gridZ, INT, REPLAY) O(blockX, INT, REPLAY) O(blockY, INT, REPLAY) \
	O(blockZ, INT, REPLAY) O(dynamicSharedMemory, INT, REPLAY)

/* A copy as the host requested it, from start to end of the call. */
#define COLUMNS_COPIES(F, O) \
	COLUMNS_SPAN(F, cuda_memcpy) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_memcpy, head.correlation) \
	F(bytes, REQ, REPLAY, NUMBER, cuda_memcpy, bytes) \
	F(copyKind, REQ, REPLAY, NUMBER, cuda_memcpy, copy_kind) \
	F(copyCount, REQ, REPLAY, NUMBER, cuda_memcpy, copies)

#define COLUMNS_PC_SAMPLES(F, O) \
	O(samples, REQ, STORED) O(functionId, REQ, STORED) O(cubin, REQ, STORED) \
	O(offset, REQ, STORED) O(fileId, INT, STORED) O(line, INT, STORED) \
	O(reasonId, REQ, STORED) O(sassId, INT, STORED)

#define COLUMNS_PC_STACKS(F, O) \
	O(id, REQ, STORED) O(parentId, REQ, STORED) O(nameId, REQ, STORED) \
	O(samples, REQ, STORED)

#define COLUMNS_UVM(F, O) \
	COLUMNS_SPAN(F, cuda_uvm) \
	F(globalPid, REQ, REPLAY, PROCESS, cuda_uvm, head.correlation) \
	F(counter, REQ, REPLAY, NUMBER, cuda_uvm, counter) \
	F(value, REQ, REPLAY, NUMBER, cuda_uvm, value) \
	F(address, REQ, STORED, NUMBER, cuda_uvm, address) \
	F(source, REQ, STORED, NUMBER, cuda_uvm, source) \
	F(destination, REQ, STORED, NUMBER, cuda_uvm, destination)

/* A call of NCCL, or what a replay of a graph does of it. Its kernel is the row with the process,
 * the correlation id and the node. A call that was captured has a node and no kernel. */
#define COLUMNS_COLLECTIVES(F, O) \
	F(start, REQ, REPLAY, TIME, spool_collective, call.time) \
	F(globalTid, REQ, REPLAY, THREAD, spool_collective, call.tid) \
	F(operation, REQ, REPLAY, NUMBER, spool_collective, call.function) \
	F(communicator, REQ, REPLAY, NUMBER, spool_collective, call.comm) \
	O(communicatorId, INT, STORED) O(size, INT, STORED) O(rank, INT, STORED) \
	O(number, INT, REPLAY) \
	F(elements, REQ, REPLAY, NUMBER, spool_collective, call.count) \
	F(dataType, REQ, REPLAY, NUMBER, spool_collective, call.type) \
	O(bytes, INT, STORED) \
	F(reduction, INT, STORED, NUMBER, spool_collective, call.reduce) \
	F(peer, INT, STORED, NUMBER, spool_collective, call.peer) \
	F(groupDepth, REQ, STORED, NUMBER, spool_collective, call.depth) \
	F(stream, REQ, STORED, NUMBER, spool_collective, call.stream) \
	F(correlationId, INT, REPLAY, OPTIONAL, spool_collective, head.correlation) \
	O(graphNodeId, INT, REPLAY)

/* What a thread did. */
#define COLUMNS_THREAD_STATES(F, O) \
	COLUMNS_SPAN(F, spool_thread) \
	F(globalTid, REQ, STORED, THREAD, spool_thread, tid) \
	F(state, REQ, STORED, NUMBER, spool_thread, state) \
	F(cause, REQ, STORED, NUMBER, spool_thread, cause) \
	O(waitsFor, INT, STORED) O(function, INT, STORED) \
	F(offNs, REQ, STORED, NUMBER, spool_thread, off_ns) \
	F(delayNs, REQ, STORED, NUMBER, spool_thread, delay_ns) \
	O(wakerGlobalTid, INT, STORED) O(waker, INT, STORED) O(rival, INT, STORED)

/* What a meter of energy counted. */
#define COLUMNS_ENERGY(F, O) \
	COLUMNS_SPAN(F, spool_energy) \
	F(millijoules, REQ, STORED, NUMBER, spool_energy, millijoules) \
	O(uuidId, REQ, STORED) \
	F(failedReadings, REQ, STORED, NUMBER, spool_energy, failed)

/* X(enumerator, table, what follows the columns, kind of record). A record of that kind is a row of
 * the table, and the other way round, by nothing but the columns. OTHER: code decides. */
#define RECORD_TABLES(X)                                      \
	X(RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME, "", OTHER)           \
	X(KERNEL, CUPTI_ACTIVITY_KIND_KERNEL, "", OTHER)             \
	X(MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY, "", OTHER)             \
	X(MEMSET, CUPTI_ACTIVITY_KIND_MEMSET, "", MEMSET)             \
	X(SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "", OTHER)      \
	X(GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "", GRAPH)         \
	X(GRAPH_NODE, CUDA_GRAPH_NODE_EVENTS, "", OTHER)             \
	X(GRAPH_CHANGE, CUDA_TRACE_GRAPH_CHANGES, "", GRAPH_CHANGE)  \
	X(GRAPH_CALL, CUDA_TRACE_GRAPH_CALLS, "", OTHER)             \
	X(OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, "", OTHER)         \
	X(MEMORY, CUDA_GPU_MEMORY_USAGE_EVENTS, "", OTHER)           \
	X(POOL, CUDA_GPU_MEMORY_POOL_EVENTS, "", MEMORY_POOL)              \
	X(CPU_FAULT, CUDA_UM_CPU_PAGE_FAULT_EVENTS, "", OTHER)       \
	X(GPU_FAULT, CUDA_UM_GPU_PAGE_FAULT_EVENTS, "", OTHER)       \
	X(JIT, CUPTI_ACTIVITY_KIND_JIT, "", OTHER)                   \
	X(CALLCHAIN, CUDA_CALLCHAINS, ", PRIMARY KEY (id, stackDepth)", OTHER) \
	X(NVTX, NVTX_EVENTS, "", OTHER)                              \
	X(ERRORS, CUDA_TRACE_ERRORS, "", OTHER)                      \
	X(COPIES, CUDA_TRACE_COPIES, "", OTHER)                      \
	X(PC_SAMPLES, CUDA_TRACE_PC_SAMPLES, "", OTHER)              \
	X(PC_STACKS, CUDA_TRACE_PC_STACKS, "", OTHER)                \
	X(EVENT_RECORD, CUDA_TRACE_EVENT_RECORDS, "", EVENT_RECORD) \
	X(UVM, CUDA_TRACE_UNIFIED_MEMORY, "", OTHER) \
	X(COLLECTIVES, CUDA_TRACE_COLLECTIVES, "", OTHER) \
	X(THREAD_STATES, CUDA_TRACE_THREAD_STATES, "", OTHER) \
	X(ENERGY, CUDA_TRACE_ENERGY, "", OTHER)
/* clang-format on */

enum db_table {
#define RECORD_TABLE_ENUMERATOR(name, table, tail, kind) DB_##name,
	RECORD_TABLES(RECORD_TABLE_ENUMERATOR)
#undef RECORD_TABLE_ENUMERATOR
		DB_TABLE_COUNT
};

#define RECORD_COLUMNS_MAX 48

/* What a value in a column is when there is none. */
#define DB_NULL INT64_MIN

/* The values of a row: all of them, and by name, as in row.KERNEL.gridX. That of a column of type
 * TEXT is the address of the text, that of REAL the bits of a double. */
union record_row {
	int64_t values[RECORD_COLUMNS_MAX];
#define RECORD_ROW_VALUE(column, ...) int64_t column;
#define RECORD_ROW(name, table, tail, kind)                        \
	struct {                                                   \
		COLUMNS_##name(RECORD_ROW_VALUE, RECORD_ROW_VALUE) \
	} name;
	RECORD_TABLES(RECORD_ROW)
#undef RECORD_ROW
#undef RECORD_ROW_VALUE
};

union any_record {
	struct cuda_record head;
#define RECORD_STRUCTURE(name, number, structure, times) struct structure name;
	CUDA_RECORDS(RECORD_STRUCTURE)
#undef RECORD_STRUCTURE
	struct spool_sample sample;
	struct spool_collective collective;
	struct spool_thread thread;
	struct spool_energy energy;
};

enum column_use {
	COLUMN_EMPTY,  /* NULL, or its default */
	COLUMN_ZERO,   /* 0 */
	COLUMN_STORED, /* has values, which exports may read */
	COLUMN_REPLAY, /* likewise, and a report reads them back into records */
};

/* Field in a record ↔ value in a row. */
enum column_conversion {
	AS_NONE,
	AS_NUMBER,
	AS_OPTIONAL,	 /* 0 ↔ NULL */
	AS_TIME,	 /* ns on the machine's clock ↔ ns since the recording began */
	AS_PROCESS,	 /* no field: globalPid */
	AS_THREAD,	 /* tid ↔ globalTid */
	AS_DOMAIN,	 /* enum cuda_domain ↔ ENUM_NSYS_EVENT_CLASS */
	AS_MEMORY,	 /* CUpti_ActivityMemoryKind ↔ ENUM_CUDA_MEM_KIND */
	AS_OVERHEAD,	 /* CUpti_ActivityOverheadKind ↔ ENUM_CUPTI_OVERHEAD_TYPE */
	AS_FROM_1,	 /* enumerators are one larger in the row */
	AS_FROM_MINUS_1, /* and one smaller */
};

struct record_column {
	const char *name, *type;
	uint8_t use, conversion; /* enum column_use, enum column_conversion */
	uint8_t size;		 /* of the field, with its sign */
	bool negative;
	uint16_t offset;
};

struct record_table {
	const char *name, *tail;
	uint16_t kind; /* enum cuda_record_kind, or 0 */
	const struct record_column *columns;
	int count;
};

#define CUDA_RECORD_OTHER 0

extern const struct record_table record_tables[DB_TABLE_COUNT];

/* CREATE TABLE; NULL without memory. For sqlite3_free(). */
char *record_columns__declaration(enum db_table table);
/* A row of what the columns say; NULL in all others. */
void record_columns__to_row(enum db_table table, const void *record, uint64_t epoch,
			    int64_t global_pid, union record_row *row);

/* Which columns a statement selects, in its order: process or thread, start, others. */
struct record_selection {
	enum db_table table;
	int count;
	uint8_t columns[RECORD_COLUMNS_MAX];
};

/* The SELECT of all columns with that use, or more, from `source`: the table itself, or a query in
 * parentheses, and conditions. What code reads is DB_NULL where it is NULL; other NULLs are 0.
 * Columns may be missing; -ENOENT if one of the first two is, or `source` does not fit the file.
 * For sqlite3_free(). */
int record_columns__select(sqlite3 *db, enum db_table table, const char *source,
			   enum column_use use, struct record_selection *selection, char **sql);
/* What such a statement returned as a row, and as a record without names, kind and size
 * (NULL = not needed). */
void record_columns__from_row(const struct record_selection *selection, const int64_t *values,
			      uint64_t epoch, union record_row *row, union any_record *record);

#endif

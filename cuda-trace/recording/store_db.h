/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as an SQLite file, while it is being filled: tables, interned strings, inserts.
 * Used by the import only; reports read finished files by SQL.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_DB_H
#define CUDA_TRACE_RECORDING_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#define DB_SCHEMA_MAJOR 3
#define DB_SCHEMA_MINOR 25
#define DB_SCHEMA_MICRO 0

/* What a value in a column is when there is none. */
#define DB_NULL INT64_MIN

struct db;

/* X(enumerator, table, columns that are bound, in the order of the values) */
#define DB_TABLES(X)                                                                             \
	X(RUNTIME, "CUPTI_ACTIVITY_KIND_RUNTIME",                                                \
	  "start,end,eventClass,globalTid,correlationId,nameId,returnValue,callchainId,"         \
	  "launchName,launchShape")                                                              \
	X(KERNEL, "CUPTI_ACTIVITY_KIND_KERNEL",                                                  \
	  "start,end,deviceId,contextId,streamId,correlationId,globalPid,demangledName,"         \
	  "shortName,mangledName,launchType,registersPerThread,gridX,gridY,gridZ,blockX,blockY," \
	  "blockZ,staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,localMemoryTotal," \
	  "gridId,graphNodeId,graphId")                                                          \
	X(MEMCPY, "CUPTI_ACTIVITY_KIND_MEMCPY",                                                  \
	  "start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind,"        \
	  "srcKind,dstKind,srcDeviceId,srcContextId,dstDeviceId,dstContextId,migrationCause,"    \
	  "graphNodeId,virtualAddress,copyCount")                                                \
	X(MEMSET, "CUPTI_ACTIVITY_KIND_MEMSET",                                                  \
	  "start,end,deviceId,contextId,streamId,correlationId,globalPid,value,bytes,"           \
	  "graphNodeId,memKind")                                                                 \
	X(SYNC, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",                                           \
	  "start,end,deviceId,contextId,streamId,correlationId,globalPid,syncType,eventId,"      \
	  "eventSyncId")                                                                         \
	X(GRAPH, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",                                              \
	  "start,end,deviceId,contextId,streamId,correlationId,globalPid,graphId,graphExecId")   \
	X(OVERHEAD, "CUPTI_ACTIVITY_KIND_OVERHEAD",                                              \
	  "start,end,eventClass,globalTid,correlationId,nameId,overheadType")                    \
	X(ERRORS, "CUDA_TRACE_ERRORS",                                                           \
	  "start,end,eventClass,globalTid,correlationId,nameId,returnValue,launch,bytes,"        \
	  "address,copyKind,value,deviceId,kernelName,gridX,gridY,gridZ,blockX,blockY,blockZ,"   \
	  "dynamicSharedMemory")                                                                 \
	X(COPIES, "CUDA_TRACE_COPIES", "start,end,globalPid,bytes,copyKind,copyCount")           \
	X(UVM, "CUDA_TRACE_UNIFIED_MEMORY",                                                      \
	  "start,end,globalPid,counter,value,address,source,destination")                        \
	X(MEMORY, "CUDA_GPU_MEMORY_USAGE_EVENTS",                                                \
	  "start,globalPid,deviceId,contextId,address,pc,bytes,memKind,memoryOperationType,"     \
	  "correlationId,streamId,localMemoryPoolAddress,localMemoryPoolSize,"                   \
	  "localMemoryPoolUtilizedSize")                                                         \
	X(POOL, "CUDA_GPU_MEMORY_POOL_EVENTS",                                                   \
	  "start,globalPid,deviceId,address,operationType,poolType,correlationId,"               \
	  "minBytesToKeep,localMemoryPoolReleaseThreshold,localMemoryPoolSize,"                  \
	  "localMemoryPoolUtilizedSize")                                                         \
	X(CPU_FAULT, "CUDA_UM_CPU_PAGE_FAULT_EVENTS",                                            \
	  "start,globalPid,address,CpuInstruction,module")                                       \
	X(GPU_FAULT, "CUDA_UM_GPU_PAGE_FAULT_EVENTS",                                            \
	  "start,end,globalPid,deviceId,address,numberOfPageFaults,faultAccessType")             \
	X(CALLCHAIN, "CUDA_CALLCHAINS",                                                          \
	  "id,symbol,module,unresolved,stackDepth,moduleAddress,buildId")                        \
	X(PC_SAMPLES, "CUDA_TRACE_PC_SAMPLES",                                                   \
	  "samples,functionId,cubin,offset,fileId,line,reasonId,sassId")                         \
	X(PC_STACKS, "CUDA_TRACE_PC_STACKS", "id,parentId,nameId,samples")                       \
	X(NVTX, "NVTX_EVENTS",                                                                   \
	  "start,end,eventType,rangeId,category,color,globalTid,textId,domainId")

enum db_table {
#define DB_TABLE_ENUMERATOR(name, table, columns) DB_##name,
	DB_TABLES(DB_TABLE_ENUMERATOR)
#undef DB_TABLE_ENUMERATOR
		DB_TABLE_COUNT
};

/* Makes the file and its tables; the file must not exist. Errors are printed. */
int db__create(struct db **db, const char *path);
/* One row; `values` has as many as DB_TABLES names columns. */
int db__insert(struct db *db, enum db_table table, const int64_t *values);
/* The StringIds id of a text (untrusted: it is cleaned first); -errno. */
int64_t db__string(struct db *db, const char *text, size_t length);
/* Anything rare: SQL with ? bound to `count` values of the format 'i' (int64_t), 't' (const char *,
 * cleaned, NULL allowed). DB_NULL binds NULL. */
int db__run(struct db *db, const char *sql, const char *format, ...);
sqlite3 *db__handle(struct db *db);
/* Adds the columns that no row needed, commits, syncs. */
int db__finish(struct db *db);
/* Forgets an unfinished file's contents; the file stays. */
void db__close(struct db *db);

#endif

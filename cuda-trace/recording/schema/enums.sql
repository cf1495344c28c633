-- SPDX-License-Identifier: BSD-2-Clause
-- What the numbers in the tables mean; ids as in Nsight Systems' export.

CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
	(0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
	(1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
	(2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
	(3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
	(4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'),
	(5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
	(6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'),
	(7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
	(8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
	(9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
	(10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'),
	(11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device'),
	(12, 'CUDA_MEMCPY_KIND_UVM_DTOH', 'Unified Device-to-Host'),
	(13, 'CUDA_MEMCPY_KIND_UVM_DTOD', 'Unified Device-to-Device');

CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES
	(0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
	(1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
	(2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
	(3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
	(4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
	(5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
	(6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'),
	(7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');

CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES
	(0, NULL, 'Unknown'),
	(1, NULL, 'Event sync'),
	(2, NULL, 'Stream wait sync'),
	(3, NULL, 'Stream sync'),
	(4, NULL, 'Context sync');

CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_KERNEL_LAUNCH_TYPE VALUES
	(0, NULL, 'Unknown'),
	(1, NULL, 'Regular'),
	(2, NULL, 'Coop Single Device'),
	(3, NULL, 'Coop Multi Device');

CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES
	(0, NULL, 'Allocation'),
	(1, NULL, 'Deallocation');

CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES
	(0, NULL, 'Undefined'),
	(1, NULL, 'Unknown'),
	(2, NULL, 'Driver JIT compiler'),
	(3, NULL, 'Buffer flush'),
	(4, NULL, 'Instrumentation'),
	(5, NULL, 'Resource creation/destruction'),
	(6, NULL, 'Runtime module loading'),
	(7, NULL, 'Lazy function loading'),
	(8, NULL, 'Command buffer full'),
	(9, NULL, 'Activity buffer request'); -- ours: CUPTI's 7 << 16

CREATE TABLE ENUM_CUPTI_STREAM_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_STREAM_TYPE VALUES
	(0, NULL, 'Unknown'),
	(1, NULL, 'Default'),
	(2, NULL, 'Non-blocking'),
	(3, NULL, 'Null');

CREATE TABLE ENUM_CUDA_UNIF_MEM_MIGRATION (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_UNIF_MEM_MIGRATION VALUES
	(0, NULL, 'Unknown'),
	(1, NULL, 'User prefetch'),
	(2, NULL, 'Page fault'),
	(3, NULL, 'Speculative prefetch'),
	(4, NULL, 'Eviction'),
	(5, NULL, 'Access counters');

CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES
	(1, NULL, 'Info'),
	(2, NULL, 'Warning'),
	(3, NULL, 'Error'),
	(4, NULL, 'Verbose');

CREATE TABLE ENUM_DIAGNOSTIC_SOURCE_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_DIAGNOSTIC_SOURCE_TYPE VALUES
	(1, NULL, 'Recorder'); -- ours: cuda-trace record

CREATE TABLE ENUM_NSYS_EVENT_CLASS (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES
	(0, NULL, 'CUDA runtime'),
	(1, NULL, 'CUDA driver'),
	(26, NULL, 'CUDA API'),
	(67, NULL, 'CUDA backtrace'),
	(77, NULL, 'CUDA graph node creation'),
	(102, NULL, 'JIT'),
	(103, NULL, 'CUDA overhead');

CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES
	(33, 'NvtxCategory', 'Category'),
	(34, 'NvtxMark', 'Mark'),
	(39, 'NvtxThread', 'Thread name'),
	(59, 'NvtxPushPopRange', 'Push/Pop range'),
	(60, 'NvtxStartEndRange', 'Start/End range'),
	(75, 'NvtxDomainCreate', 'Domain create'),
	(76, 'NvtxDomainDestroy', 'Domain destroy');

CREATE TABLE ENUM_CUDA_MEMPOOL_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMPOOL_OPER VALUES
	(1, NULL, 'Created'),
	(2, NULL, 'Destroyed'),
	(3, NULL, 'Trimmed');

CREATE TABLE ENUM_CUDA_MEMPOOL_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMPOOL_TYPE VALUES
	(1, NULL, 'Local'),
	(2, NULL, 'Imported');

CREATE TABLE ENUM_CUDA_UNIF_MEM_ACCESS_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_UNIF_MEM_ACCESS_TYPE VALUES
	(0, NULL, 'Unknown'),
	(1, NULL, 'Read'),
	(2, NULL, 'Write'),
	(3, NULL, 'Atomic'),
	(4, NULL, 'Prefetch');

CREATE TABLE ENUM_CUDA_FUNC_CACHE_CONFIG (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_FUNC_CACHE_CONFIG VALUES
	(0, NULL, 'None'),
	(1, NULL, 'Shared'),
	(2, NULL, 'L1'),
	(3, NULL, 'Equal');

CREATE TABLE ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG (id INTEGER NOT NULL PRIMARY KEY, name TEXT,
	label TEXT);
INSERT INTO ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG VALUES
	(0, NULL, 'Default'),
	(1, NULL, 'Opt-in');

CREATE TABLE ENUM_CUDA_TRACE_COLLECTIVE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_TRACE_COLLECTIVE VALUES
	(1, 'all_reduce', 'ncclAllReduce'),
	(2, 'broadcast', 'ncclBroadcast'),
	(3, 'reduce', 'ncclReduce'),
	(4, 'all_gather', 'ncclAllGather'),
	(5, 'reduce_scatter', 'ncclReduceScatter'),
	(6, 'all_to_all', 'ncclAlltoAll'),
	(7, 'gather', 'ncclGather'),
	(8, 'scatter', 'ncclScatter'),
	(9, 'send', 'ncclSend'),
	(10, 'recv', 'ncclRecv');

CREATE TABLE ENUM_CUDA_TRACE_DATA_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_TRACE_DATA_TYPE VALUES
	(0, 'int8', 'ncclInt8'),
	(1, 'uint8', 'ncclUint8'),
	(2, 'int32', 'ncclInt32'),
	(3, 'uint32', 'ncclUint32'),
	(4, 'int64', 'ncclInt64'),
	(5, 'uint64', 'ncclUint64'),
	(6, 'float16', 'ncclFloat16'),
	(7, 'float32', 'ncclFloat32'),
	(8, 'float64', 'ncclFloat64'),
	(9, 'bfloat16', 'ncclBfloat16'),
	(10, 'float8e4m3', 'ncclFloat8e4m3'),
	(11, 'float8e5m2', 'ncclFloat8e5m2');

CREATE TABLE ENUM_CUDA_TRACE_THREAD_STATE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_TRACE_THREAD_STATE VALUES
	(0, 'running', 'On the CPU: a sample'),
	(1, 'runnable', 'Runnable: another task had the CPU'),
	(2, 'blocked', 'Blocked'),
	(3, 'disk', 'Blocked, and counted as I/O'),
	(4, 'gil', 'Waiting for the GIL'),
	(5, 'lost', 'Waits of threads were lost');

CREATE TABLE ENUM_CUDA_TRACE_WAIT_CAUSE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_TRACE_WAIT_CAUSE VALUES
	(0, 'unexplained', 'Unexplained'),
	(1, 'cpu', 'On the CPU'),
	(2, 'preempted', 'Another task had its CPU'),
	(3, 'lock', 'A lock or a condition'),
	(4, 'gil', 'The GIL'),
	(5, 'io', 'I/O'),
	(6, 'process', 'Another process or thread'),
	(9, 'no_work', 'A request'),
	(10, 'sleep', 'Asleep on purpose');

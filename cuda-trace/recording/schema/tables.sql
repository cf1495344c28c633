-- SPDX-License-Identifier: BSD-2-Clause
-- The tables of a recording. Names, columns and units are those of Nsight Systems' SQLite export
-- (schema 3.25) wherever that has a table; CUDA_TRACE_* are our own. docs/reference/schema.md explains both.
-- Columns that are the same in all rows of a file, or that we never fill, are stored as their
-- default in the file's own definition (store_table.c), so that the order of columns varies.

CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
	eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
	nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER,
	launchName INTEGER, launchShape INTEGER); -- the launched kernel's, and its shape: ours

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
	streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
	launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,
	gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
	blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
	staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
	localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
	gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER,
	sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER,
	qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER,
	clusterZ INTEGER, clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER,
	maxActiveClusters INTEGER, sharedMemoryRequestedPercentage INTEGER,
	tensorSizeMinusOneElements TEXT NOT NULL DEFAULT '[]');

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
	streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER,
	srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER,
	dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,
	virtualAddress INTEGER, copyCount INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
	streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
	streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL,
	eventSyncId INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
	streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);

CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL,
	eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,
	overheadType INTEGER NOT NULL);

-- The profiler's own part of it.
CREATE VIEW PROFILER_OVERHEAD AS SELECT start, end, globalTid, nameId, overheadType
	FROM CUPTI_ACTIVITY_KIND_OVERHEAD WHERE overheadType IN (0, 1, 3, 4, 5, 9);

CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL,
	pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
	memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER,
	localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER,
	localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER,
	importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER);

CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,
	deviceId INTEGER NOT NULL, address INTEGER NOT NULL, operationType INTEGER NOT NULL,
	poolType INTEGER NOT NULL, correlationId INTEGER, minBytesToKeep INTEGER,
	localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER,
	localMemoryPoolUtilizedSize INTEGER);

CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,
	address INTEGER NOT NULL, originalFaultPc INTEGER, CpuInstruction INTEGER NOT NULL,
	module INTEGER NOT NULL, unresolvedFaultPc INTEGER, sourceFile INTEGER,
	sourceLine INTEGER);

CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,
	globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, address INTEGER NOT NULL,
	numberOfPageFaults INTEGER NOT NULL, faultAccessType INTEGER NOT NULL);

CREATE TABLE CUPTI_ACTIVITY_KIND_JIT (start INTEGER NOT NULL, end INTEGER NOT NULL,
	eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,
	overheadType INTEGER NOT NULL, jitEntryType INTEGER NOT NULL,
	jitOperationType INTEGER NOT NULL, deviceId INTEGER, jitOperationCorrelationId INTEGER,
	cacheSize INTEGER, cachePath TEXT);

CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL,
	module INTEGER NOT NULL, unresolved INTEGER, originalIP INTEGER,
	stackDepth INTEGER NOT NULL,
	moduleAddress INTEGER, buildId INTEGER, -- ours
	PRIMARY KEY (id, stackDepth));

CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
	rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
	endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
	int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,
	floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);

CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);

CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,
	busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER,
	memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT,
	luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT,
	revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER,
	maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER,
	maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER,
	asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER,
	maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY INTEGER,
	maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER,
	computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER);

CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL,
	pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL,
	vmId INTEGER NOT NULL, processId INTEGER NOT NULL, deviceId INTEGER NOT NULL,
	contextId INTEGER NOT NULL, parentContextId INTEGER, isGreenContext INTEGER,
	numMultiprocessors INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER NOT NULL, hwId INTEGER NOT NULL,
	vmId INTEGER NOT NULL, processId INTEGER NOT NULL, contextId INTEGER NOT NULL,
	priority INTEGER NOT NULL, flag INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT,
	systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL,
	name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL,
	startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL,
	source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL,
	globalPid INTEGER);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT NOT NULL);

-- Empty: who made a graph's nodes is not recorded. Statements that join it run, and find none.
CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER NOT NULL, end INTEGER,
	eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER,
	graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER);

CREATE TABLE CUDA_TRACE_PROCESSES (globalPid INTEGER NOT NULL, instance INTEGER NOT NULL,
	pid INTEGER NOT NULL, uid INTEGER NOT NULL, cgroup INTEGER NOT NULL, name TEXT NOT NULL,
	start INTEGER NOT NULL, end INTEGER, state INTEGER, reason INTEGER, cuptiVersion INTEGER,
	driverVersion INTEGER, cuptiPath TEXT, holder TEXT, message TEXT, source TEXT,
	rank INTEGER, localRank INTEGER, worldSize INTEGER);
CREATE TABLE CUDA_TRACE_SAMPLES (globalPid INTEGER NOT NULL, start INTEGER NOT NULL,
	onNs INTEGER NOT NULL, periodNs INTEGER NOT NULL, windows INTEGER NOT NULL,
	openNs INTEGER NOT NULL, watchedNs INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_ERRORS (start INTEGER NOT NULL, end INTEGER NOT NULL,
	eventClass INTEGER NOT NULL, globalTid INTEGER NOT NULL, correlationId INTEGER NOT NULL,
	nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, launch INTEGER NOT NULL,
	bytes INTEGER, address INTEGER, copyKind INTEGER, value INTEGER, deviceId INTEGER,
	kernelName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
	blockY INTEGER, blockZ INTEGER, dynamicSharedMemory INTEGER); -- what was asked for
CREATE TABLE CUDA_TRACE_COPIES (start INTEGER NOT NULL, end INTEGER NOT NULL, -- of the call
	globalPid INTEGER NOT NULL, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
	copyCount INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_LAUNCH_SHAPES (id INTEGER NOT NULL PRIMARY KEY, gridX INTEGER, gridY INTEGER,
	gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, dynamicSharedMemory INTEGER);
CREATE TABLE CUDA_TRACE_LOST (stage TEXT NOT NULL, reason TEXT NOT NULL, text TEXT NOT NULL,
	count INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_PC_SAMPLES (samples INTEGER NOT NULL, functionId INTEGER NOT NULL,
	cubin INTEGER NOT NULL, offset INTEGER NOT NULL, fileId INTEGER, line INTEGER,
	reasonId INTEGER NOT NULL, sassId INTEGER);
CREATE TABLE CUDA_TRACE_PC_STACKS (id INTEGER NOT NULL, parentId INTEGER NOT NULL,
	nameId INTEGER NOT NULL, samples INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_UNIFIED_MEMORY (start INTEGER NOT NULL, end INTEGER NOT NULL,
	globalPid INTEGER NOT NULL, counter INTEGER NOT NULL, value INTEGER NOT NULL,
	address INTEGER NOT NULL, source INTEGER NOT NULL, destination INTEGER NOT NULL);

-- SPDX-License-Identifier: BSD-2-Clause
-- The tables of a recording that hold no records; record_columns.h has those. Names, columns and
-- units are those of Nsight Systems' SQLite export (schema 3.25) wherever that has a table;
-- CUDA_TRACE_* are our own. docs/reference/schema.md explains both.

CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);

-- The profiler's own part of it.
CREATE VIEW PROFILER_OVERHEAD AS SELECT start, end, globalTid, nameId, overheadType
	FROM CUPTI_ACTIVITY_KIND_OVERHEAD WHERE overheadType IN (0, 1, 3, 4, 5, 9);

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

CREATE TABLE CUDA_TRACE_PROCESSES (globalPid INTEGER NOT NULL, instance INTEGER NOT NULL,
	pid INTEGER NOT NULL, uid INTEGER NOT NULL, cgroup INTEGER NOT NULL, name TEXT NOT NULL,
	start INTEGER NOT NULL, end INTEGER, state INTEGER, reason INTEGER, cuptiVersion INTEGER,
	driverVersion INTEGER, cuptiPath TEXT, holder TEXT, message TEXT, source TEXT,
	rank INTEGER, localRank INTEGER, worldSize INTEGER);
CREATE TABLE CUDA_TRACE_ORIGINS (globalPid INTEGER NOT NULL, instance INTEGER NOT NULL,
	cgroup TEXT NOT NULL, container TEXT, k8s_namespace_name TEXT, k8s_pod_name TEXT,
	k8s_container_name TEXT, container_name TEXT, slurm_job_id TEXT, slurm_step_id TEXT,
	systemd_unit TEXT);
CREATE TABLE CUDA_TRACE_SAMPLES (globalPid INTEGER NOT NULL, start INTEGER NOT NULL,
	onNs INTEGER NOT NULL, periodNs INTEGER NOT NULL, windows INTEGER NOT NULL,
	openNs INTEGER NOT NULL, watchedNs INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_LAUNCH_SHAPES (id INTEGER NOT NULL PRIMARY KEY, gridX INTEGER, gridY INTEGER,
	gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, dynamicSharedMemory INTEGER);
CREATE TABLE CUDA_TRACE_COMMUNICATORS (globalPid INTEGER NOT NULL, start INTEGER NOT NULL,
	communicator INTEGER NOT NULL, communicatorId INTEGER, parent INTEGER, parentId INTEGER,
	size INTEGER, rank INTEGER, found INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_LOST (stage TEXT NOT NULL, reason TEXT NOT NULL, text TEXT NOT NULL,
	count INTEGER NOT NULL);

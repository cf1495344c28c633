-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Memory, by process, device and kind
-- Needs: CUDA_GPU_MEMORY_USAGE_EVENTS
-- What was freed without an allocation in the recording was allocated before it: it counts as a
-- free, but not against what is live. So live and peak are of what was allocated while recording.
-- Table:
WITH events AS (
	SELECT globalPid, start, rowid AS seq, memoryOperationType AS freed, bytes, address,
		iif(memoryOperationType AND NOT lag(memoryOperationType) OVER again,
			lag(deviceId) OVER again, deviceId) AS deviceId,
		iif(memoryOperationType AND NOT lag(memoryOperationType) OVER again,
			lag(memKind) OVER again, memKind) AS memKind,
		lag(memoryOperationType) OVER again AS before, lag(bytes) OVER again AS had
	FROM CUDA_GPU_MEMORY_USAGE_EVENTS
	WINDOW again AS (PARTITION BY globalPid, address ORDER BY start, rowid)
), steps AS (
	SELECT *, CASE WHEN freed = 0 THEN bytes WHEN before = 0 THEN -had ELSE 0 END AS step
	FROM events
), levels AS (
	SELECT *, sum(step) OVER (PARTITION BY globalPid, deviceId, memKind
		ORDER BY start, seq ROWS UNBOUNDED PRECEDING) AS live
	FROM steps
)
SELECT globalPid / 0x1000000 % 0x1000000 AS pid, nullif(deviceId, 4294967295) AS device,
	CASE memKind WHEN 0 THEN 'pageable' WHEN 1 THEN 'pinned' WHEN 2 THEN 'device'
		WHEN 3 THEN 'array' WHEN 4 THEN 'managed' WHEN 5 THEN 'device static'
		WHEN 6 THEN 'managed static' ELSE 'unknown' END AS memory,
	sum(freed = 0) AS allocations, sum(freed <> 0) AS frees,
	sum(CASE WHEN freed = 0 THEN bytes ELSE 0 END) AS allocated_bytes,
	max(live) AS peak_bytes, sum(step) AS live_at_end_bytes,
	sum(freed = 0) - sum(freed <> 0 AND before = 0) AS live_at_end
FROM levels GROUP BY globalPid, deviceId, memKind ORDER BY max(live) DESC, 1, 2, 3;

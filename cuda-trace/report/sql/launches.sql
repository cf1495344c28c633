-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Launches whose GPU time is not known (source driver), by kernel
-- Recorded: launches are in --kernels unless they were recorded by --source driver
-- Needs: CUDA_TRACE_LAUNCH_SHAPES
-- Group: launch_sums
SELECT launchName AS name, launchShape AS shape, returnValue <> 0 AS failed, end - start AS ns
FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE launchShape IS NOT NULL;
-- Table:
-- Several ids may mean one shape.
SELECT sum(count) AS launches, sum(CASE WHEN failed THEN count ELSE 0 END) AS failed,
	sum(total_ns) AS host_ns, cast(sum(total_ns) / nullif(sum(count), 0) AS INTEGER) AS mean_ns,
	min(min_ns) AS min_ns, max(max_ns) AS max_ns,
	gridX || 'x' || gridY || 'x' || gridZ AS grid, blockX || 'x' || blockY || 'x' || blockZ AS block,
	dynamicSharedMemory AS shared_bytes, coalesce(value, '[string ' || name || ']') AS kernel
FROM temp.launch_sums LEFT JOIN CUDA_TRACE_LAUNCH_SHAPES AS s ON s.id = shape
	LEFT JOIN StringIds AS n ON n.id = name
GROUP BY name, gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedMemory
ORDER BY launches DESC, kernel;

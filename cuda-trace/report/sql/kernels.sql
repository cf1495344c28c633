-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Kernels, by time on the GPU
-- Needs: CUPTI_ACTIVITY_KIND_KERNEL
-- Sampled: yes
-- Group: kernel_sums
SELECT demangledName AS name, end - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL;
-- Table:
SELECT round(100.0 * total_ns / nullif(sum(total_ns) OVER (), 0), 2) AS time_pct,
	total_ns, count AS kernels, mean_ns, p50_ns, p99_ns, min_ns, max_ns, stddev_ns,
	coalesce(value, '[string ' || name || ']') AS kernel
FROM temp.kernel_sums LEFT JOIN StringIds ON id = name
ORDER BY total_ns DESC, kernel;

-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Memsets, by kind of memory
-- Needs: CUPTI_ACTIVITY_KIND_MEMSET
-- Sampled: yes
-- Group: memset_sums
SELECT memKind AS kind, end - start AS ns, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET;
-- Table:
SELECT total_ns, count AS memsets, bytes AS total_bytes,
	CASE WHEN total_ns > 0 THEN round(1.0 * bytes / total_ns, 3) END AS GB_per_s,
	mean_ns, min_ns, max_ns,
	CASE kind WHEN 0 THEN 'pageable' WHEN 1 THEN 'pinned' WHEN 2 THEN 'device'
		WHEN 3 THEN 'array' WHEN 4 THEN 'managed' WHEN 5 THEN 'device static'
		WHEN 6 THEN 'managed static' ELSE 'unknown' END AS memory
FROM temp.memset_sums ORDER BY total_ns DESC, kind;

-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Copies, by direction
-- Needs: CUPTI_ACTIVITY_KIND_MEMCPY
-- Sampled: yes
-- Group: copy_sums
SELECT copyKind AS kind, srcKind AS source, dstKind AS target, end - start AS ns, bytes
FROM CUPTI_ACTIVITY_KIND_MEMCPY;
-- Table:
SELECT round(100.0 * total_ns / nullif(sum(total_ns) OVER (), 0), 2) AS time_pct,
	total_ns, count AS copies, bytes AS total_bytes,
	CASE WHEN total_ns > 0 THEN round(1.0 * bytes / total_ns, 3) END AS GB_per_s,
	mean_ns, min_ns, max_ns,
	CASE kind WHEN 0 THEN 'unknown' WHEN 1 THEN 'host to device' WHEN 2 THEN 'device to host'
		WHEN 3 THEN 'host to array' WHEN 4 THEN 'array to host' WHEN 5 THEN 'array to array'
		WHEN 6 THEN 'array to device' WHEN 7 THEN 'device to array'
		WHEN 8 THEN 'device to device' WHEN 9 THEN 'host to host'
		WHEN 10 THEN 'peer to peer' WHEN 11 THEN 'unified, host to device'
		WHEN 12 THEN 'unified, device to host' WHEN 13 THEN 'unified, device to device'
		ELSE 'kind ' || kind END AS direction,
	CASE source WHEN 0 THEN 'pageable' WHEN 1 THEN 'pinned' WHEN 2 THEN 'device'
		WHEN 3 THEN 'array' WHEN 4 THEN 'managed' WHEN 5 THEN 'device static'
		WHEN 6 THEN 'managed static' ELSE 'unknown' END AS from_memory,
	CASE target WHEN 0 THEN 'pageable' WHEN 1 THEN 'pinned' WHEN 2 THEN 'device'
		WHEN 3 THEN 'array' WHEN 4 THEN 'managed' WHEN 5 THEN 'device static'
		WHEN 6 THEN 'managed static' ELSE 'unknown' END AS to_memory
FROM temp.copy_sums ORDER BY total_ns DESC, kind;

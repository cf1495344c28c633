-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Waiting of the host, by kind
-- Needs: CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
-- Group: sync_sums
SELECT syncType AS kind, end - start AS ns FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
-- Table:
SELECT total_ns, count AS waits, mean_ns, p50_ns, p99_ns, min_ns, max_ns,
	CASE kind WHEN 1 THEN 'event' WHEN 2 THEN 'stream waits for event' WHEN 3 THEN 'stream'
		WHEN 4 THEN 'context or device' ELSE 'unknown' END AS waited_for
FROM temp.sync_sums ORDER BY total_ns DESC, kind;

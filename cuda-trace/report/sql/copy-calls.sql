-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Copies whose GPU time is not known (source driver), by direction
-- Recorded: copies are in --copies unless they were recorded by --source driver
-- Needs: CUDA_TRACE_COPIES
-- Group: copy_call_sums
SELECT copyKind AS kind, end - start AS ns, bytes FROM CUDA_TRACE_COPIES;
-- Table:
SELECT count AS calls, bytes AS total_bytes, total_ns AS host_ns, mean_ns, min_ns, max_ns,
	CASE kind WHEN 0 THEN 'unknown' WHEN 1 THEN 'host to device' WHEN 2 THEN 'device to host'
		WHEN 3 THEN 'host to array' WHEN 4 THEN 'array to host' WHEN 5 THEN 'array to array'
		WHEN 6 THEN 'array to device' WHEN 7 THEN 'device to array'
		WHEN 8 THEN 'device to device' WHEN 9 THEN 'host to host'
		WHEN 10 THEN 'peer to peer' ELSE 'kind ' || kind END AS direction
FROM temp.copy_call_sums ORDER BY total_bytes DESC, kind;

-- SPDX-License-Identifier: BSD-2-Clause
-- Title: How busy each GPU was, between its first and its last work
-- Needs: CUPTI_ACTIVITY_KIND_KERNEL
-- Devices are numbered by each process on its own; processes that see different devices under one
-- number are shown as one here.
-- Spans: gpu_spans
SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_KERNEL
UNION ALL SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY
UNION ALL SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_MEMSET
UNION ALL SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
-- Table:
SELECT key AS device, last_ns - first_ns AS span_ns, busy_ns,
	round(100.0 * busy_ns / nullif(last_ns - first_ns, 0), 2) AS busy_pct,
	last_ns - first_ns - busy_ns AS idle_ns, gaps, longest_gap_ns,
	longest_gap_start_ns AS longest_gap_at_ns
FROM temp.gpu_spans ORDER BY key;
